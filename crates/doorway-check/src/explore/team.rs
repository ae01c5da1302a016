//! Threads that wait for work, and do it together.
//!
//! A search has thousands of pieces of work that take less than a millisecond each. To start a
//! thread for each of them, or to wake one that sleeps, would cost a good part of what it saves. So
//! the threads of a team live as long as the team, and look out for work for a while before they
//! sleep.

use std::any::Any;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{JoinHandle, Thread};

/// How often a thread looks before it lets others run, and how often it does that before it sleeps:
/// about a millisecond in all, longer than the work between two pieces of work for all.
const LOOKS: usize = 64;
const TURNS: usize = 1000;

/// What the threads do: each calls it with its own number.
type Work = &'static (dyn Fn(usize) + Sync);
type Panic = Box<dyn Any + Send>;

#[derive(Default)]
pub(super) struct Team {
    /// All but the thread that owns the team, which is the first.
    others: Vec<(Arc<Post>, JoinHandle<()>)>,
}

/// Where a thread gets its work.
#[repr(align(128))] // each thread looks at its own
struct Post {
    /// Whether there is work, or the end of the team. It is set after `orders` is written.
    is_called: AtomicBool,
    orders: Mutex<Option<Orders>>,
}

struct Orders {
    work: Work,
    /// How many other threads have not done their part.
    left: Arc<AtomicUsize>,
    panic: Arc<Mutex<Option<Panic>>>,
    owner: Thread,
}

impl std::fmt::Debug for Team {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Team").field("threads", &self.threads()).finish()
    }
}

/// No thread panics while it holds a lock of a team.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until something is so. The thread that makes it so wakes this one.
fn wait_until(is_so: impl Fn() -> bool) {
    for _ in 0..TURNS {
        for _ in 0..LOOKS {
            if is_so() {
                return;
            }
            spin_loop();
        }
        // Where there are more threads than processors, one of them may be what this one waits for.
        std::thread::yield_now();
    }
    while !is_so() {
        std::thread::park();
    }
}

impl Team {
    pub(super) fn new(threads: usize) -> Self {
        let start = |number| {
            let post = Arc::new(Post { is_called: AtomicBool::new(false), orders: Mutex::new(None) });
            let own = post.clone();
            (post, std::thread::spawn(move || own.serve(number)))
        };
        Self { others: (1..threads).map(start).collect() }
    }

    pub(super) fn threads(&self) -> usize {
        1 + self.others.len()
    }

    /// Does the work of each item, with at most this many threads. With `n` threads, each does
    /// every `n`th item.
    pub(super) fn together<T: Send>(&self, threads: usize, all: &mut [T], work: impl Fn(&mut T) + Sync) {
        self.together_after(threads, all, || (), work);
    }

    /// The same; but first, this thread does something that only it may do.
    pub(super) fn together_after<T: Send>(
        &self,
        threads: usize,
        all: &mut [T],
        first: impl FnOnce(),
        work: impl Fn(&mut T) + Sync,
    ) {
        let threads = threads.min(self.threads()).min(all.len());
        if threads <= 1 {
            first();
            return all.iter_mut().for_each(work);
        }
        let mut shares: Vec<Vec<&mut T>> = (0..threads).map(|_| Vec::new()).collect();
        for (i, one) in all.iter_mut().enumerate() {
            shares[i % threads].push(one);
        }
        // Each is locked once, by its thread.
        let shares: Vec<_> = shares.into_iter().map(Mutex::new).collect();
        self.run(threads, first, &|number| lock(&shares[number]).iter_mut().for_each(|one| work(one)));
    }

    /// The first `threads` threads, which are more than one, do this, and this thread does
    /// something else before. Returns when all have.
    #[allow(unsafe_code)]
    fn run(&self, threads: usize, first: impl FnOnce(), work: &(dyn Fn(usize) + Sync)) {
        // SAFETY: a thread uses the work only before it counts itself out of `left`. This function
        // ends only when `left` is zero: nothing in between can panic, except `first` and the work
        // itself, which are caught. So no thread uses it after what it borrows from has ended.
        let work: Work = unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), Work>(work) };
        let left = Arc::new(AtomicUsize::new(threads - 1));
        let panic = Arc::new(Mutex::new(None));
        for (post, thread) in &self.others[..threads - 1] {
            let owner = std::thread::current();
            *lock(&post.orders) = Some(Orders { work, left: left.clone(), panic: panic.clone(), owner });
            post.is_called.store(true, SeqCst);
            thread.thread().unpark();
        }
        let own = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            first();
            work(0);
        }));
        wait_until(|| left.load(SeqCst) == 0);
        if let Some(panic) = own.err().or_else(|| lock(&panic).take()) {
            std::panic::resume_unwind(panic);
        }
    }
}

impl Post {
    fn serve(&self, number: usize) {
        loop {
            wait_until(|| self.is_called.load(SeqCst));
            self.is_called.store(false, SeqCst);
            let Some(Orders { work, left, panic, owner }) = lock(&self.orders).take() else { return };
            if let Err(why) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(number))) {
                *lock(&panic) = Some(why);
            }
            // The last use of the work was above.
            left.fetch_sub(1, SeqCst);
            owner.unpark();
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        for (post, thread) in &self.others {
            post.is_called.store(true, SeqCst);
            thread.thread().unpark();
        }
        // Each catches the panics of its work, so it ends without one.
        self.others.drain(..).for_each(|(_, thread)| drop(thread.join()));
    }
}
