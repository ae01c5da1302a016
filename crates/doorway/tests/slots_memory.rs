//! What `Slots` allocate: nothing before a caller waits, then memory in proportion to the callers
//! that wait at a time, and no more for any number of callers that came and gave up.

use doorway::{AcquireTimeoutError, Slots};
use std::alloc::{GlobalAlloc, Layout, System};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Waker};
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

    // Callers that wait.
    let slots = Arc::new(Slots::new(1).unwrap());
    let held = slots.acquire().unwrap();
    for many in [1, 100, 10_000] {
        let mut waiting: Vec<_> = (0..many).map(|_| slots.acquire_owned_async()).collect();
        let (bytes, calls, ()) = costs(|| assert!(waiting.iter_mut().all(is_pending)));
        println!("{many} wait: {bytes} bytes more in {calls} allocations");
        assert!(bytes <= 1024 + 128 * many, "{bytes} bytes for {many} that wait");
    }
    // All of them gave up, and the memory is used again. (The first crowd is in all rings, the
    // second in the newest.)
    for crowd in 2..5 {
        let mut waiting: Vec<_> = (0..10_000).map(|_| slots.acquire_owned_async()).collect();
        let (bytes, calls, ()) = costs(|| assert!(waiting.iter_mut().all(is_pending)));
        assert!((bytes, calls) == (0, 0) || crowd == 2 && bytes <= 64 * 10_000, "crowd {crowd}: {bytes} bytes");
    }

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
}
