//! The faulty locks as plain Rust on atomics, for loom and shuttle, and what both share.

mod am_chain;
mod hyman;
mod peterson_turn_first;
mod szymanski_three_bits;
mod turnstile_simple;

pub(super) use am_chain::Swapped;
pub(super) use hyman::Hyman;
pub(super) use peterson_turn_first::TurnFirst;
pub(super) use szymanski_three_bits::ThreeBits;
pub(super) use turnstile_simple::{Blind, Split};

use super::Found;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::time::Duration;

/// The number of accesses of the current execution.
static STEPS: AtomicUsize = AtomicUsize::new(0);
/// The number of executions so far.
static TRIES: AtomicUsize = AtomicUsize::new(0);

/// A tool's atomic word. Loom takes `SeqCst` loads and stores for weaker ones, and would find
/// faults where there are none; so all accesses are read-modify-writes, which see the last value.
pub(super) trait Word: Send + Sync + 'static {
    fn new(value: i64) -> Self;
    fn add(&self, value: i64) -> i64;
    fn swap(&self, value: i64) -> i64;
    fn compare_swap(&self, old: i64, new: i64);
    /// Lets other threads run. Loops that wait call this.
    fn pause();

    fn read(&self) -> i64 {
        self.add(0)
    }
    fn write(&self, value: i64) {
        self.swap(value);
    }
    fn is_set(&self) -> bool {
        self.read() != 0
    }
}

macro_rules! words_of {
    ($tool:ident) => {
        impl Word for $tool::sync::atomic::AtomicI64 {
            fn new(value: i64) -> Self {
                Self::new(value)
            }
            fn add(&self, value: i64) -> i64 {
                STEPS.fetch_add(1, Relaxed);
                self.fetch_add(value, SeqCst)
            }
            fn swap(&self, value: i64) -> i64 {
                STEPS.fetch_add(1, Relaxed);
                self.swap(value, SeqCst)
            }
            fn compare_swap(&self, old: i64, new: i64) {
                STEPS.fetch_add(1, Relaxed);
                let _ = self.compare_exchange(old, new, SeqCst, SeqCst);
            }
            fn pause() {
                $tool::thread::yield_now();
            }
        }
    };
}
words_of!(loom);
words_of!(shuttle);

/// A lock.
pub(super) trait Lock<W>: Send + Sync + 'static {
    const N: usize;
    const K: i64 = 1;
    fn new() -> Self;
    fn enter(&self, me: usize);
    fn leave(&self, me: usize);
}

fn words<W: Word, const N: usize>() -> [W; N] {
    std::array::from_fn(|_| W::new(0))
}

/// One process.
fn passes<W: Word, L: Lock<W>>(lock: &(L, W), me: usize, passages: usize) {
    for _ in 0..passages {
        lock.0.enter(me);
        assert!(lock.1.add(1) < L::K, "too many are inside");
        lock.1.add(-1);
        lock.0.leave(me);
    }
}

fn begins<W: Word, L: Lock<W>>() -> Arc<(L, W)> {
    TRIES.fetch_add(1, Relaxed);
    STEPS.store(0, Relaxed);
    Arc::new((L::new(), W::new(0)))
}

/// Runs `search`, which panics if it finds something.
fn found(search: impl FnOnce()) -> Found {
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let failed = catch_unwind(AssertUnwindSafe(search)).is_err();
    std::panic::set_hook(quiet);
    let steps = failed.then(|| STEPS.load(Relaxed));
    Found { states: None, steps, tries: Some(TRIES.load(Relaxed)) }
}

/// Tries all executions, as far as the time allows. An endless wait shows as an execution with too
/// many branches.
pub(super) fn loom<L: Lock<loom::sync::atomic::AtomicI64>>(passages: usize, most: Duration) -> Found {
    let mut builder = loom::model::Builder::new();
    (builder.max_permutations, builder.max_duration, builder.preemption_bound) = (None, Some(most), None);
    // Loom looks at the clock only when it could write a checkpoint.
    (builder.checkpoint_interval, builder.max_branches) = (100, 10_000);
    found(move || {
        builder.check(move || {
            let lock = begins::<_, L>();
            let others: Vec<_> = (1..L::N)
                .map(|p| {
                    let lock = Arc::clone(&lock);
                    loom::thread::spawn(move || passes(&lock, p, passages))
                })
                .collect();
            passes(&lock, 0, passages);
            others.into_iter().for_each(|other| other.join().unwrap());
        });
    })
}

/// How shuttle draws schedules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Drawn {
    AtRandom,
    /// By priorities, which change this often, plus one.
    ByPriorities(usize),
}

/// Draws schedules and runs them, until one fails or the time is over. An endless wait shows as an
/// execution that is too long.
pub(super) fn shuttle<L: Lock<shuttle::sync::atomic::AtomicI64>>(
    passages: usize,
    most: Duration,
    drawn: Drawn,
    seed: u64,
) -> Found {
    use shuttle::scheduler::{PctScheduler, RandomScheduler};
    use shuttle::{Config, FailurePersistence, MaxSteps, Runner};
    let mut config = Config::new();
    config.max_steps = MaxSteps::FailAfter(5_000);
    config.max_time = Some(most);
    config.failure_persistence = FailurePersistence::None;
    config.silence_warnings = true;
    let execution = move || {
        let lock = begins::<_, L>();
        let all: Vec<_> = (0..L::N)
            .map(|p| {
                let lock = Arc::clone(&lock);
                shuttle::thread::spawn(move || passes(&lock, p, passages))
            })
            .collect();
        all.into_iter().for_each(|one| one.join().unwrap());
    };
    let ever = usize::MAX;
    found(move || {
        match drawn {
            Drawn::AtRandom => Runner::new(RandomScheduler::new_from_seed(seed, ever), config).run(execution),
            Drawn::ByPriorities(depth) => {
                Runner::new(PctScheduler::new_from_seed(seed, depth, ever), config).run(execution)
            }
        };
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use am_chain::Chain;
    use turnstile_simple::Turnstile;

    /// What is found is the fault: without it, the same search finds nothing.
    fn finds_nothing<L: Lock<loom::sync::atomic::AtomicI64>, S: Lock<shuttle::sync::atomic::AtomicI64>>() {
        let briefly = Duration::from_millis(300);
        for found in [
            loom::<L>(2, briefly),
            shuttle::<S>(2, briefly, Drawn::AtRandom, 1),
            shuttle::<S>(2, briefly, Drawn::ByPriorities(3), 1),
        ] {
            assert!(found.steps.is_none() && found.tries > Some(10), "{found:?}");
        }
    }

    #[test]
    fn without_its_fault_no_lock_fails() {
        finds_nothing::<Chain<_, false>, Chain<_, false>>();
        finds_nothing::<Turnstile<_, 0>, Turnstile<_, 0>>();
        assert!(loom::<Swapped<_>>(1, Duration::from_secs(20)).steps.is_some());
        assert!(shuttle::<Split<_>>(4, Duration::from_secs(20), Drawn::AtRandom, 1).steps.is_some());
    }
}
