//! `doorway::Mutex` under shuttle: its own files, on shuttle's atomics, locks, threads and
//! thread-locals.
//!
//! Threads come and go, and each has one of two process numbers while it is in a passage. Every
//! schedule checks three things: no two threads have the same number at a time, a number comes back
//! when its passage ends, and the data belongs to the thread that holds the guard. The algorithms
//! are `ticket`, which does not use numbers, and `mcs`, which breaks if two threads have the same
//! number.

mod second_opinion;

/// What the files of the mutex import from their crate.
mod tools {
    pub(crate) use shuttle::thread_local;
}

mod native {
    pub(crate) use doorway::native::now;
    use doorway_core::registry::{Entry, SizeError, Sizes};

    pub(crate) fn sizes<E: Entry>(n: usize, k: usize) -> Result<Sizes, SizeError> {
        E::INFO.sizes(Some(n), Some(k))
    }

    pub(crate) type Native = super::second_opinion::ToolMemory<shuttle::sync::atomic::AtomicU64>;
}

mod waiting {
    pub(crate) use doorway::waiting::Policy;
}

mod algorithm {
    use super::native::Native;
    use doorway_core::memory::Site;
    use doorway_core::registry::{self, Entry, Sizes};

    /// As in the library.
    ///
    /// # Safety
    /// As in the library.
    pub(crate) unsafe trait Exclusive: Entry {
        fn build_for_threads(site: &Site<'_, Native>, sizes: Sizes) -> Self::On<Native> {
            Self::build(site, sizes)
        }
    }

    // SAFETY: as in the library.
    unsafe impl Exclusive for registry::Ticket {}
    // SAFETY: as in the library.
    unsafe impl Exclusive for registry::Mcs {}
    // SAFETY: not satisfied: it lets all threads in. The data below consists of atomics, so nothing
    // worse than a wrong number can result.
    unsafe impl Exclusive for super::Open {}
}

#[path = "../../doorway/src/threads.rs"]
#[allow(dead_code, unreachable_pub, missing_docs, private_interfaces, private_bounds)]
mod threads;

#[path = "../../doorway/src/mutex.rs"]
#[allow(dead_code, unreachable_pub, missing_docs, private_interfaces, private_bounds)]
mod mutex;

use algorithm::Exclusive;
use doorway_core::Failure;
use doorway_core::k_exclusion::{AtOnce, KExclusion};
use doorway_core::memory::{Machine, Process, ReadWrite, Site};
use doorway_core::registry::{Entry, Info, Listed, Mcs, Sizes, Ticket};
use mutex::{LockError, Mutex};
use native::Native;
use second_opinion::{complaint, words_of};
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::sync::atomic::AtomicU64;
use shuttle::thread;
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

words_of!(shuttle);

impl Native {
    /// Shuttle decides how threads wait.
    fn with_policy(self, _: doorway::waiting::Policy) -> Self {
        self
    }
}

const SCHEDULES: usize = 2_000;
/// Fixed, so that a failure can be reproduced; `SHUTTLE_RANDOM_SEED` sets another.
const SEED: u64 = 1994;
/// One more than the number of priority changes in a schedule.
const DEPTH: usize = 20;

/// In schedules drawn at random, and by priorities.
fn in_many_schedules(execution: impl Fn() + Clone + Send + Sync + 'static) {
    let config = || {
        let mut config = Config::new();
        config.max_steps = MaxSteps::FailAfter(50_000);
        config.failure_persistence = FailurePersistence::None;
        config.silence_warnings = true; // that it treats all orderings as `SeqCst`
        config
    };
    let ran = Runner::new(RandomScheduler::new_from_seed(SEED, SCHEDULES), config()).run(execution.clone());
    assert_eq!(ran, SCHEDULES);
    let ran = Runner::new(PctScheduler::new_from_seed(SEED, DEPTH, SCHEDULES), config()).run(execution);
    assert_eq!(ran, SCHEDULES);
}

/// Data that reveals concurrent use: other threads may run between its read and its write.
#[derive(Default)]
struct Counter(AtomicU64);

impl Counter {
    fn add_one(&self) {
        let seen = self.0.load(Ordering::SeqCst);
        self.0.store(seen + 1, Ordering::SeqCst);
    }
}

/// Two threads live at a time, four in all, and each passes twice. The next begins when one has
/// ended.
fn threads_come_and_go<E: Exclusive + 'static>()
where
    E::On<Native>: AtOnce<Native> + Send + Sync,
{
    let mutex = Arc::new(Mutex::<Counter, E>::new(2, Counter::default()).unwrap());
    let passes = |tries: bool| {
        let mutex = Arc::clone(&mutex);
        thread::spawn(move || {
            for _ in 0..2 {
                let guard = loop {
                    let entered = if tries { mutex.try_lock() } else { mutex.lock().map(Some) };
                    if let Some(guard) = entered.expect("two threads are there at a time, and there are two numbers") {
                        break guard;
                    }
                    thread::yield_now();
                };
                guard.add_one();
            }
        })
    };
    let (a, b) = (passes(false), passes(true));
    a.join().unwrap();
    let c = passes(true);
    b.join().unwrap();
    let d = passes(false);
    c.join().unwrap();
    d.join().unwrap();
    assert!(format!("{mutex:?}").contains("in_use: 0"), "all numbers are back: {mutex:?}");
    let mut mutex = Arc::into_inner(mutex).expect("all threads have ended");
    assert_eq!(mutex.get_mut().0.load(Ordering::SeqCst), 8, "each passage counts");
}

#[test]
fn numbers_come_back_and_data_is_protected() {
    in_many_schedules(threads_come_and_go::<Ticket>);
    in_many_schedules(threads_come_and_go::<Mcs>);
}

#[test]
fn a_third_thread_is_told_if_two_are_there_and_only_then() {
    let told = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&told);
    in_many_schedules(move || {
        let mutex = Arc::new(Mutex::<(), Mcs>::new(2, ()).unwrap());
        let alive: Vec<_> = (0..3)
            .map(|_| {
                let (mutex, counts) = (Arc::clone(&mutex), Arc::clone(&counts));
                thread::spawn(move || match mutex.lock() {
                    Ok(guard) => drop(guard),
                    Err(error) => {
                        assert_eq!(error, LockError::TooManyThreads { most: 2 });
                        counts.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        alive.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(mutex.lock().is_ok(), "they have left");
    });
    let told = told.load(Ordering::Relaxed);
    assert!(told > 0 && told < 2 * SCHEDULES, "{told} were told in {} schedules", 2 * SCHEDULES);
}

/// No algorithm at all.
#[derive(Clone, Copy, Debug)]
struct Open;

/// Its variables: it has none.
#[derive(Debug)]
struct NoLock;

impl Listed for Open {
    const INFO: Info = Ticket::INFO;
}

impl Entry for Open {
    type On<M: Machine> = NoLock;
    fn build<M: Machine>(_: &Site<'_, M>, _: Sizes) -> NoLock {
        NoLock
    }
}

impl<M: ReadWrite> KExclusion<M> for NoLock {
    type Held = ();
    type Refusal = Infallible;
    async fn acquire(&self, _: &Process<M>) -> Result<(), Failure<M::Error>> {
        Ok(())
    }
    async fn release(&self, _: &Process<M>, (): ()) -> Result<(), M::Error> {
        Ok(())
    }
}

impl<M: ReadWrite> AtOnce<M> for NoLock {
    async fn acquire_at_once(&self, _: &Process<M>) -> Result<Option<()>, Failure<M::Error>> {
        Ok(Some(()))
    }
}

#[test]
fn data_that_is_not_protected_is_noticed() {
    let noticed = complaint(|| in_many_schedules(threads_come_and_go::<Open>)).expect("some passage is not counted");
    assert!(noticed.contains("each passage counts"), "{noticed}");
}
