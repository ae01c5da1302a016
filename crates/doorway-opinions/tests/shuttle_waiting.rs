//! The wait layer under shuttle: more waiters, and more variables, than loom can interleave.
//!
//! Eight processes wait, each in its own way, for four variables that three others change. Two more
//! repeatedly begin to wait and are cancelled, and once the deadline comes. A process that sleeps
//! through a change sleeps forever, and shuttle reports a deadlock. Each fault shows after at most
//! 544 random schedules.

mod waiting_kit;

use shuttle::future::{JoinHandle, block_on, spawn_local};
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::time::Instant;
use waiting_kit::{Fault, Layer, Rewritten, Role, Shipped, World, complaint, platform_of};

// As futures: shuttle's threads would have to be `Send`, and a layer that is known only by its
// trait does not promise that. They still run on stacks of their own.
platform_of!(shuttle, JoinHandle<()>, spawn, join);

fn spawn(run: impl FnOnce() + 'static) -> JoinHandle<()> {
    spawn_local(async move { run() })
}

fn join(task: JoinHandle<()>) {
    block_on(task).unwrap();
}

const SCHEDULES: usize = 2_000;
/// Fixed, so that a failure can be reproduced; `SHUTTLE_RANDOM_SEED` sets another.
const SEED: u64 = 1994;
/// One more than the number of priority changes in a schedule.
const DEPTH: usize = 20;
const VARIABLES: usize = 4;

fn changes<L: Layer>(world: &World<L>, order: [usize; VARIABLES]) {
    order.into_iter().for_each(|variable| world.add(variable));
}

fn is_cancelled_often<L: Layer>(world: &World<L>, order: [usize; VARIABLES]) {
    order.into_iter().for_each(|variable| world.task_is_cancelled(variable, 3));
}

fn crowd<L: Layer>() -> [Role<L>; 14] {
    [
        |w| w.thread_waits(0, 3),
        |w| w.thread_waits(1, 3),
        |w| w.task_waits(1, 3),
        |w| w.task_waits_with_new_wakers(2, 3),
        |w| w.waits_for_any(&[0, 1, 2, 3], 12),
        |w| w.waits_for_any(&[3, 2], 4),
        |w| w.thread_waits_in_time(0, 3),
        |w| w.task_waits_in_time(2, 3),
        |w| is_cancelled_often(w, [0, 1, 2, 3]),
        |w| is_cancelled_often(w, [3, 2, 1, 0]),
        |w| w.time_comes(),
        |w| changes(w, [0, 1, 2, 3]),
        |w| changes(w, [1, 3, 0, 2]),
        |w| changes(w, [3, 2, 1, 0]),
    ]
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scheduler {
    /// Any process, at each step.
    Random,
    /// The process with the highest priority. Priorities change at a few random steps.
    Priorities,
}

/// The complaint of shuttle, if there was one, and the number of schedules begun.
fn run<L: Layer>(scheduler: Scheduler, fault: Option<Fault>) -> (Option<String>, usize) {
    let mut config = Config::new();
    config.max_steps = MaxSteps::FailAfter(20_000);
    config.failure_persistence = FailurePersistence::None;
    config.silence_warnings = true; // that it treats all orderings as `SeqCst`
    let begun = Arc::new(AtomicUsize::new(0));
    let execution = {
        let begun = Arc::clone(&begun);
        move || {
            begun.fetch_add(1, Relaxed);
            World::<L>::new(fault, VARIABLES).together(&crowd());
        }
    };
    let complaint = complaint(|| {
        let ran = match scheduler {
            Scheduler::Random => Runner::new(RandomScheduler::new_from_seed(SEED, SCHEDULES), config).run(execution),
            Scheduler::Priorities => {
                Runner::new(PctScheduler::new_from_seed(SEED, DEPTH, SCHEDULES), config).run(execution)
            }
        };
        assert_eq!(ran, SCHEDULES, "only the number of schedules may end the run");
    });
    (complaint, begun.load(Relaxed))
}

#[test]
fn nobody_in_a_crowd_sleeps_through_a_change() {
    for scheduler in [Scheduler::Random, Scheduler::Priorities] {
        assert_eq!(run::<Shipped<Simulated>>(scheduler, None), (None, SCHEDULES), "{scheduler:?}");
        assert_eq!(run::<Rewritten<Simulated>>(scheduler, None), (None, SCHEDULES), "{scheduler:?}, once more");
    }
}

/// The same number of schedules by priorities misses one of them, [`Fault::BumpThenClear`].
#[test]
fn every_fault_shows_in_a_crowd_at_random() {
    for fault in Fault::FATAL {
        let (complaint, schedules) = run::<Rewritten<Simulated>>(Scheduler::Random, Some(fault));
        assert!(complaint.is_some_and(|text| text.starts_with("deadlock")), "{fault:?}");
        println!("{fault:?}: found in schedule {schedules}");
    }
    for fault in Fault::HARMLESS {
        assert_eq!(run::<Rewritten<Simulated>>(Scheduler::Random, Some(fault)), (None, SCHEDULES), "{fault:?}");
    }
}
