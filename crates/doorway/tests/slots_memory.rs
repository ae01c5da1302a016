//! What `Slots` allocate: nothing before a caller waits, then memory in proportion to the callers
//! that wait at a time, and no more for any number of callers that came and gave up.

use doorway::{AcquireTimeoutError, Slots};
use std::alloc::{GlobalAlloc, Layout, System};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// Counts the allocations of everything that runs in this process. So there is one test.
struct Counting;

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
static CALLS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: this is the system's allocator, and it counts.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, SeqCst);
        ALLOCATED.fetch_add(layout.size(), SeqCst);
        // SAFETY: the caller's promises are those that the system's allocator requires.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), SeqCst);
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// How many bytes are allocated after `what` and were not before, and how many allocations it made.
fn costs<T>(what: impl FnOnce() -> T) -> (isize, usize, T) {
    let (bytes, calls) = (ALLOCATED.load(SeqCst), CALLS.load(SeqCst));
    let out = what();
    (ALLOCATED.load(SeqCst).wrapping_sub(bytes) as isize, CALLS.load(SeqCst) - calls, out)
}

fn is_pending<F: Future + Unpin>(future: &mut F) -> bool {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop())).is_pending()
}

#[test]
fn memory_follows_those_that_wait() {
    // The first wait of a process allocates what all waits share.
    let warm = Slots::new(1).unwrap();
    let _held = warm.acquire().unwrap();
    assert_eq!(warm.acquire_timeout(Duration::from_millis(1)).unwrap_err(), AcquireTimeoutError::TimedOut);

    for places in [1, 16, 17, 64] {
        let (bytes, calls, slots) = costs(|| Slots::new(places).unwrap());
        // More than 16 names are a bitmap: one word.
        let words = if places <= 16 { 0 } else { 8 };
        assert_eq!((bytes, calls), (words, usize::from(words > 0)), "{places} places");
        let (bytes, calls, ()) = costs(|| {
            let all: [_; 1] = [slots.acquire().unwrap()];
            drop(all);
            (0..1000).for_each(|_| drop(slots.try_acquire().unwrap()));
        });
        assert_eq!((bytes, calls), (0, 0), "{places} places, and nobody waits");
    }
    let (bytes, _, _many) = costs(|| Slots::new(4096).unwrap());
    assert!(bytes <= 4096 / 8, "a bit for each place, and not {bytes} bytes");

    // Callers that wait. Rings for up to 262,128 of them stay, and longer ones go back when all
    // have gone.
    let slots = Arc::new(Slots::new(1).unwrap());
    let held = slots.acquire().unwrap();
    let mut stays = 0;
    for many in [1, 100, 10_000, 300_000, 10_000, 300_000] {
        let mut waiting: Vec<_> = (0..many as usize).map(|_| slots.acquire_owned_async()).collect();
        let (bytes, calls, ()) = costs(|| assert!(waiting.iter_mut().all(is_pending)));
        println!("{many} wait: {bytes} bytes more in {calls} allocations");
        assert!(bytes <= 1024 + 128 * many, "{bytes} bytes for {many} that wait");
        let futures = size_of_val(&waiting[..]) as isize;
        let (freed, _, ()) = costs(|| drop(waiting));
        let left = stays + bytes + freed + futures;
        println!("{many} gave up: {left} bytes stay");
        assert!(left >= stays && left <= 1024 + 262_128 * 32, "{left} bytes stay");
        stays = left;
    }
    // What stays is used again.
    let mut waiting: Vec<_> = (0..1_000).map(|_| slots.acquire_owned_async()).collect();
    let (bytes, calls, ()) = costs(|| assert!(waiting.iter_mut().all(is_pending)));
    assert_eq!((bytes, calls), (0, 0));
    drop(waiting);
    // The same if they are let in, and leave.
    let (bytes, _, ()) = costs(|| {
        let mut waiting: Vec<_> = (0..300_000).map(|_| slots.acquire_owned_async()).collect();
        assert!(waiting.iter_mut().all(is_pending));
        drop(held);
        for mut one in waiting {
            let Poll::Ready(guard) = Pin::new(&mut one).poll(&mut Context::from_waker(Waker::noop())) else {
                panic!("its turn has come")
            };
            drop(guard);
        }
    });
    assert_eq!(bytes, 0);
    let held = slots.acquire().unwrap();

    // Very many callers come and give up while one is stuck inside: ten million, if asked.
    let many = std::env::var("DOORWAY_GIVE_UPS").map_or(100_000, |many| many.parse().unwrap());
    let (bytes, calls, ()) = costs(|| {
        for _ in 0..many {
            assert!(is_pending(&mut slots.acquire_async()));
        }
    });
    println!("{many} gave up: {bytes} bytes more in {calls} allocations"); // the harness may say that it takes long
    assert_eq!(bytes, 0, "nothing is left of those that gave up");
    assert!(format!("{slots:?}").contains("waiting: 0"));
    drop(held);
    assert!(slots.try_acquire().is_ok());

    // Behind a caller that asks for several places they pile up, as far as the line goes, and go
    // when that caller goes.
    let slots = Slots::new(2).unwrap();
    let held = slots.acquire().unwrap();
    let mut both = slots.acquire_many_async(2);
    assert!(is_pending(&mut both));
    let (bytes, _, ()) = costs(|| (0..many).for_each(|_| assert!(is_pending(&mut slots.acquire_async()))));
    println!("{many} gave up behind one that asks for two: {bytes} bytes more");
    assert!(bytes <= (1024 + 128 * many as isize).min(135_000_000), "{bytes} bytes");
    let (freed, _, ()) = costs(|| drop(both));
    assert!(bytes + freed <= 8_400_000, "{} bytes stay", bytes + freed);
    assert_eq!(slots.available(), 1);
    drop(held);

    // The same behind callers that wait patiently: one, or several; and where the last in line is
    // never the one that gives up.
    for (patient, overlap) in [(1, 0), (1, 3), (10, 0), (10, 3), (100, 50)] {
        gives_up_behind(Slots::new(1).unwrap(), patient, overlap, many);
        gives_up_behind(Slots::new(1).unwrap().bypass(2), patient, overlap, many / 10);
    }
}

/// A task that is polled when it was woken.
struct Patient<F> {
    future: F,
    woken: Arc<Woken>,
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, SeqCst);
    }
}

impl<F: Future + Unpin> Patient<F> {
    fn new(future: F) -> Self {
        Self { future, woken: Arc::new(Woken(AtomicBool::new(true))) }
    }

    /// Runs it if it was woken. Returns what it got.
    fn run(&mut self) -> Option<F::Output> {
        if !self.woken.0.swap(false, SeqCst) {
            return None;
        }
        let waker = Waker::from(Arc::clone(&self.woken));
        match Pin::new(&mut self.future).poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(out) => Some(out),
            Poll::Pending => None,
        }
    }
}

/// Very many callers give up behind some that do not, while the only place is held. In each round
/// one comes and the one that came `overlap` rounds ago gives up.
fn gives_up_behind<N: doorway::slots::Numbering + 'static>(
    slots: Slots<N>,
    patient: usize,
    overlap: usize,
    many: usize,
) {
    let slots = Arc::new(slots);
    let held = slots.try_acquire().unwrap();
    let mut waits: Vec<_> = (0..patient).map(|_| Patient::new(slots.acquire_owned_async())).collect();
    assert!(waits.iter_mut().all(|one| one.run().is_none()));
    let mut impatient = std::collections::VecDeque::with_capacity(overlap + 1);
    let mut round = || {
        let mut newest = Patient::new(slots.acquire_owned_async());
        assert!(newest.run().is_none());
        impatient.push_back(newest);
        if impatient.len() > overlap {
            drop(impatient.pop_front());
        }
        // Runs all tasks that were woken, until none is.
        while waits.iter().chain(&impatient).any(|one| one.woken.0.load(SeqCst)) {
            assert!(waits.iter_mut().chain(&mut impatient).all(|one| one.run().is_none()));
        }
    };
    let (bytes, _, ()) = costs(|| (0..1000).for_each(|_| round()));
    let most = 4096 + 256 * (patient + overlap) as isize; // some of it is the callers' own
    assert!(bytes <= most, "{bytes} bytes for {patient} that wait and {overlap} that will not");
    let (bytes, _, ()) = costs(|| (0..many).for_each(|_| round()));
    println!("{many} gave up behind {patient}, {overlap} at a time: {bytes} bytes more");
    assert_eq!(bytes, 0, "nothing is left of those that gave up behind {patient}");
    drop(impatient);
    // Then all are served in the order of arrival.
    drop(held);
    for i in 0..patient {
        let mut served: Vec<_> = waits.iter_mut().map(Patient::run).collect();
        assert!(served.iter().skip(1).all(Option::is_none), "the first is served, {i} were before");
        assert!(served.swap_remove(0).unwrap().is_ok());
        waits.remove(0);
    }
    assert!(slots.try_acquire().is_ok());
}
