//! The turnstile under shuttle, with the real wait layer: more processes, and more passages, than
//! loom can interleave.
//!
//! Four threads and tasks pass two places, again and again. Some give up instead of waiting, some
//! are dropped, and some reach their deadline. The ring is short, so that its places are reused.
//! Other crowds are turned away, or wait in front of a short line. 16,000 schedules take about two
//! seconds, and each flaw shows after at most 51 random schedules. Shuttle reports a lost wake-up
//! as a deadlock. The participants notice a lost place, or one process too many inside.

mod second_opinion;
mod turnstile_kit;
mod waiting_kit;

use second_opinion::words_of;
use shuttle::future::{JoinHandle, block_on, spawn_local};
use shuttle::rand::Rng;
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::sync::atomic::AtomicU64;
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering, Ordering::Relaxed, Ordering::SeqCst};
use std::time::Instant;
use turnstile_kit::{Flaw, Part, Scene};
use waiting_kit::{Fault, Layer, Rewritten, Shipped, complaint, platform_of};

words_of!(shuttle);
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
const PASSAGES: usize = 4;
/// For four processes, each of which may leave behind a ticket that has not been passed yet.
const RING: usize = 64;

/// Comes in one of all ways, several times.
fn comes_in_any_way<L: Layer>(scene: &Scene<L, AtomicU64>) {
    for _ in 0..PASSAGES {
        match shuttle::rand::thread_rng().gen_range(0..5) {
            0 => scene.thread_passes(),
            1 => scene.task_passes(),
            2 => scene.thread_gives_up(),
            3 => scene.task_is_dropped(),
            _ => scene.thread_passes_in_time(),
        }
    }
}

fn comes_often<L: Layer>(scene: &Scene<L, AtomicU64>) {
    (0..PASSAGES).for_each(|_| scene.thread_passes());
}

/// Comes several times, and then closes the turnstile.
fn comes_and_closes<L: Layer>(scene: &Scene<L, AtomicU64>) {
    comes_often(scene);
    scene.somebody_closes();
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Crowd {
    /// Some processes give up.
    GivesUp,
    /// The turnstile is closed while processes come and go.
    IsTurnedAway,
    /// The turnstile is closed while one process is inside and stays: no other gets in.
    WaitsInVain,
    /// The line is so short that most processes wait in front of it.
    Camps,
}

impl Crowd {
    const ALL: [Self; 4] = [Self::GivesUp, Self::IsTurnedAway, Self::WaitsInVain, Self::Camps];

    fn parts<L: Layer>(self) -> &'static [Part<L, AtomicU64>] {
        match self {
            Self::GivesUp | Self::Camps => {
                &[comes_in_any_way, comes_in_any_way, comes_in_any_way, comes_often, Scene::time_comes]
            }
            Self::IsTurnedAway => &[comes_in_any_way, comes_in_any_way, comes_often, comes_often, comes_and_closes],
            Self::WaitsInVain => &[comes_in_any_way, comes_in_any_way, comes_often, Scene::somebody_closes],
        }
    }

    fn meets<L: Layer>(self, flaw: Option<Flaw>, fault: Option<Fault>) {
        match self {
            Self::GivesUp | Self::IsTurnedAway => {
                let closed = self == Self::IsTurnedAway;
                Scene::<L, _>::new(2, RING, flaw, fault).together(self.parts(), None, closed);
            }
            Self::Camps => Scene::<L, _>::with_a_short_line(2, RING, flaw, fault).together(self.parts(), None, false),
            Self::WaitsInVain => {
                let scene = Scene::<L, _>::new(1, RING, flaw, fault).with_one_inside();
                scene.together(self.parts(), Some(Scene::first_exits), true);
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scheduler {
    /// Any process, at each step.
    Random,
    /// The process with the highest priority. Priorities change at a few random steps.
    Priorities,
}

/// The complaint of shuttle, if there was one, and the number of schedules begun.
fn run<L: Layer>(
    crowd: Crowd,
    scheduler: Scheduler,
    flaw: Option<Flaw>,
    fault: Option<Fault>,
) -> (Option<String>, usize) {
    let mut config = Config::new();
    config.max_steps = MaxSteps::FailAfter(20_000);
    config.failure_persistence = FailurePersistence::None;
    config.silence_warnings = true; // that it treats all orderings as `SeqCst`
    let begun = Arc::new(AtomicUsize::new(0));
    let execution = {
        let begun = Arc::clone(&begun);
        move || {
            begun.fetch_add(1, Relaxed);
            crowd.meets::<L>(flaw, fault);
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
fn a_crowd_of_which_some_give_up_loses_nothing() {
    for crowd in Crowd::ALL {
        for scheduler in [Scheduler::Random, Scheduler::Priorities] {
            let ran = run::<Shipped<Simulated>>(crowd, scheduler, None, None);
            assert_eq!(ran, (None, SCHEDULES), "{crowd:?}, {scheduler:?}");
        }
    }
}

#[test]
fn every_flaw_shows_in_a_crowd() {
    for flaw in Flaw::ALL {
        let crowd = match flaw {
            Flaw::CloseSkips | Flaw::CloseSignals => Crowd::WaitsInVain,
            Flaw::DoorStays => Crowd::Camps,
            _ => Crowd::GivesUp,
        };
        let (complaint, schedules) = run::<Shipped<Simulated>>(crowd, Scheduler::Random, Some(flaw), None);
        println!("{flaw:?}: schedule {schedules}: {complaint:?}");
        assert!(complaint.is_some(), "{flaw:?}");
    }
}

#[test]
fn a_signal_that_wakes_nobody_shows_in_a_crowd() {
    for fault in [Fault::NeverRings, Fault::NoFlag, Fault::LookThenFlag] {
        let (complaint, schedules) = run::<Rewritten<Simulated>>(Crowd::GivesUp, Scheduler::Random, None, Some(fault));
        println!("{fault:?}: schedule {schedules}: {complaint:?}");
        assert!(complaint.is_some_and(|text| text.starts_with("deadlock")), "{fault:?}");
    }
    let ran = run::<Rewritten<Simulated>>(Crowd::GivesUp, Scheduler::Random, None, None);
    assert_eq!(ran, (None, SCHEDULES));
}
