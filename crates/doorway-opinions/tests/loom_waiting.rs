//! The wait layer under loom: every race of a process that waits with a process that wakes it.
//!
//! A process that sleeps through a change sleeps forever, and loom reports a deadlock. At the end
//! of each execution the table of wakers must be empty. Two processes are interleaved in all ways,
//! three and four in all ways with few preemptions. Beyond that, loom does not finish in minutes.
//!
//! | race                   | preemptions | executions |
//! |------------------------|-------------|------------|
//! | `thread`               | all         | 356        |
//! | `task`                 | all         | 212        |
//! | `new wakers`           | all         | 406        |
//! | `cancelled`            | all         | 123        |
//! | `thread, thread`       | 3           | 5,744      |
//! | `task, task`           | 3           | 4,321      |
//! | `thread, task`         | 3           | 3,342      |
//! | `cancelled, task`      | 3           | 2,704      |
//! | `cancelled, thread`    | 3           | 2,240      |
//! | `timed thread`         | 3           | 1,807      |
//! | `timed task`           | 3           | 1,278      |
//! | `either`               | 3           | 8,300      |
//! | `both`                 | 3           | 10,326     |
//! | `thread, two changers` | 4           | 57,835     |
//! | `task, two changers`   | 4           | 24,846     |
//! | `timed thread, thread` | 2           | 9,369      |
//! | `timed task, task`     | 2           | 4,304      |
//!
//! The value of these races shows when the protocol is changed for the worse: each [`Fault`] is
//! found, and one change that looks like a fault is harmless. Some faults only show when one
//! changer is halfway through its wake-up while another comes and goes. They take four preemptions,
//! and only the two races with two changers find them.

mod waiting_kit;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::time::Instant;
use waiting_kit::{Fault, Layer, Rewritten, Role, Shipped, World, complaint, platform_of};

platform_of!(loom, loom::thread::JoinHandle<()>, loom::thread::spawn, |thread: loom::thread::JoinHandle<()>| thread
    .join()
    .unwrap());

/// The processes that meet. The first runs on loom's main thread, which leaves one thread fewer to
/// interleave.
struct Race<L: Layer> {
    name: &'static str,
    variables: usize,
    /// The bound on preemptions in an execution, if searching all executions takes too long.
    preemptions: Option<usize>,
    roles: &'static [Role<L>],
}

impl<L: Layer> Race<L> {
    const ALL: [Self; 17] = [
        Self::all("thread", &[|w| w.thread_waits(0, 1), |w| w.add(0)]),
        Self::all("task", &[|w| w.task_waits(0, 1), |w| w.add(0)]),
        Self::all("new wakers", &[|w| w.task_waits_with_new_wakers(0, 1), |w| w.add(0)]),
        Self::all("cancelled", &[|w| w.task_is_cancelled(0, 1), |w| w.add(0)]),
        Self::some(3, "thread, thread", &[|w| w.thread_waits(0, 1), |w| w.thread_waits(0, 1), |w| w.add(0)]),
        Self::some(3, "task, task", &[|w| w.task_waits(0, 1), |w| w.task_waits(0, 1), |w| w.add(0)]),
        Self::some(3, "thread, task", &[|w| w.thread_waits(0, 1), |w| w.task_waits(0, 1), |w| w.add(0)]),
        Self::some(3, "cancelled, task", &[|w| w.task_is_cancelled(0, 1), |w| w.task_waits(0, 1), |w| w.add(0)]),
        Self::some(3, "cancelled, thread", &[|w| w.task_is_cancelled(0, 1), |w| w.thread_waits(0, 1), |w| w.add(0)]),
        Self::some(3, "timed thread", &[|w| w.thread_waits_in_time(0, 1), |w| w.time_comes(), |w| w.add(0)]),
        Self::some(3, "timed task", &[|w| w.task_waits_in_time(0, 1), |w| w.time_comes(), |w| w.add(0)]),
        Self::some(3, "either", &[|w| w.waits_for_any(&[0, 1], 1), |w| w.add(0), |w| w.add(1)]).with_variables(2),
        Self::some(3, "both", &[|w| w.waits_for_any(&[0, 1], 2), |w| w.add(0), |w| w.add(1)]).with_variables(2),
        Self::some(4, "thread, two changers", &[|w| w.thread_waits(0, 2), |w| w.add(0), |w| w.add(0)]),
        Self::some(4, "task, two changers", &[|w| w.task_waits(0, 2), |w| w.add(0), |w| w.add(0)]),
        Self::some(
            2,
            "timed thread, thread",
            &[|w| w.thread_waits_in_time(0, 1), |w| w.thread_waits(0, 1), |w| w.time_comes(), |w| w.add(0)],
        ),
        Self::some(
            2,
            "timed task, task",
            &[|w| w.task_waits_in_time(0, 1), |w| w.task_waits(0, 1), |w| w.time_comes(), |w| w.add(0)],
        ),
    ];

    const fn all(name: &'static str, roles: &'static [Role<L>]) -> Self {
        Self { name, variables: 1, preemptions: None, roles }
    }

    const fn some(preemptions: usize, name: &'static str, roles: &'static [Role<L>]) -> Self {
        Self { preemptions: Some(preemptions), ..Self::all(name, roles) }
    }

    const fn with_variables(self, variables: usize) -> Self {
        Self { variables, ..self }
    }

    /// Runs the race in every way that loom distinguishes within the bound. Returns the number of
    /// executions.
    fn run(&self, fault: Option<Fault>) -> usize {
        let &Self { variables, preemptions, roles, .. } = self;
        let executions = Arc::new(AtomicUsize::new(0));
        let mut loom = loom::model::Builder::new();
        (loom.max_permutations, loom.max_duration, loom.preemption_bound) = (None, None, preemptions);
        (loom.checkpoint_file, loom.max_branches) = (None, 3_000);
        loom.check({
            let executions = Arc::clone(&executions);
            move || {
                executions.fetch_add(1, Relaxed);
                World::<L>::new(fault, variables).together(roles);
            }
        });
        executions.load(Relaxed)
    }
}

fn in_all_races<L: Layer>(fault: Option<Fault>) {
    for race in Race::<L>::ALL {
        let executions = race.run(fault);
        assert!(executions > 1, "{}: nothing was interleaved", race.name);
        println!("{fault:?}, {}: {executions} executions", race.name);
    }
}

#[test]
fn nobody_sleeps_through_a_change() {
    in_all_races::<Shipped<Simulated>>(None);
}

#[test]
#[ignore = "takes a minute; ci/long-searches.sh runs it"]
fn nor_do_they_when_the_protocol_is_told_once_more() {
    in_all_races::<Rewritten<Simulated>>(None);
}

#[test]
#[ignore = "takes a minute; ci/long-searches.sh runs it"]
fn what_looks_like_a_fault_and_is_none() {
    for fault in Fault::HARMLESS {
        in_all_races::<Rewritten<Simulated>>(Some(fault));
    }
}

/// The races that find it.
fn found_by(fault: Fault) -> &'static [&'static str] {
    const SLEEPERS: &[&str] =
        &["thread", "thread, thread", "thread, task", "cancelled, thread", "thread, two changers"];
    const TASKS: &[&str] = &["task", "task, task", "thread, task", "new wakers", "cancelled, task", "either", "both"];
    const ALL: &[&str] =
        &["thread", "task", "new wakers", "timed thread, thread", "timed task, task", "either", "both"];
    match fault {
        Fault::NoFlag | Fault::LookThenFlag | Fault::FlagsThenChange | Fault::NeverRings => ALL,
        Fault::FlagThenSequence | Fault::BumpThenClear => &["thread, two changers"],
        Fault::NoBump => SLEEPERS,
        Fault::ClearAfterLock | Fault::FlagBeforeLock => &["task, two changers"],
        Fault::WakeThenNotified => TASKS,
        Fault::FirstWakerStays => &["new wakers"],
        Fault::WakesOne => &["thread, thread", "task, task", "cancelled, task"],
        Fault::WakesOneKind => &["thread, task"],
        Fault::TimeoutClears => &["timed thread, thread"],
        Fault::RemoveClears | Fault::RemoveTakesAll => &["cancelled, task", "timed task, task"],
        Fault::ClearBeforeLock => &[],
    }
}

#[test]
fn every_fault_is_found() {
    for fault in Fault::FATAL {
        assert!(!found_by(fault).is_empty(), "{fault:?}");
        for race in Race::<Rewritten<Simulated>>::ALL.iter().filter(|race| found_by(fault).contains(&race.name)) {
            let complaint = complaint(|| {
                race.run(Some(fault));
            });
            let is_deadlock = complaint.as_ref().is_some_and(|text| text.starts_with("deadlock"));
            assert!(is_deadlock, "{fault:?}, {}: {complaint:?}", race.name);
            println!("{fault:?}: found by {}", race.name);
        }
    }
}
