//! The turnstile under loom, with the real wait layer: every race of a process that gives up, is
//! dropped or is turned away with the process that lets it in.
//!
//! Loom reports a lost wake-up as a deadlock. The processes in the race notice a lost place, or one
//! process too many inside. There is one place. One process is inside from the beginning, and
//! leaves. With more preemptions than in the tests no race fails either; beyond that, loom does not
//! finish in minutes.
//!
//! | race                     | preemptions | executions | with more | executions |
//! |--------------------------|-------------|------------|-----------|------------|
//! | `waits`                  | 5           | 553        | all       | 7,927      |
//! | `task waits`             | 5           | 481        | all       | 6,877      |
//! | `gives up`               | all         | 843        |           |            |
//! | `dropped`                | 5           | 752        | all       | 27,995     |
//! | `in time`                | 4           | 3,615      | 5         | 18,442     |
//! | `gives up, waits`        | 3           | 1,930      | 4         | 20,178     |
//! | `gives up, task waits`   | 3           | 1,809      | 4         | 18,469     |
//! | `gives up, gives up`     | 3           | 1,204      | 4         | 10,042     |
//! | `dropped, waits`         | 3           | 2,884      | 4         | 38,899     |
//! | `dropped, task waits`    | 3           | 2,443      | 4         | 30,428     |
//! | `in time, waits`         | 2           | 1,712      | 3         | 75,382     |
//! | `closed, waits`          | 3           | 1,105      | 4         | 12,258     |
//! | `closed, task waits`     | 3           | 1,051      | 4         | 11,630     |
//! | `closed, dropped`        | 3           | 867        | 4         | 9,238      |
//! | `closed while one stays` | 3           | 1,443      | 4         | 14,636     |
//! | `in front`               | 2           | 317        | 3         | 9,006      |
//! | `in front, gives up`     | 2           | 178        | 3         | 2,967      |
//! | `in front, closed`       | 2           | 130        | 3         | 2,489      |
//!
//! The value of these races shows when the turnstile is changed for the worse: each [`Flaw`] is
//! found, and so are faults of the wait layer.

mod second_opinion;
mod turnstile_kit;
mod waiting_kit;

use loom::sync::atomic::AtomicU64;
use second_opinion::words_of;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering, Ordering::Relaxed, Ordering::SeqCst};
use std::time::Instant;
use turnstile_kit::{Flaw, Part, Scene};
use waiting_kit::{Fault, Layer, Rewritten, Shipped, complaint, platform_of};

words_of!(loom);
platform_of!(loom, loom::thread::JoinHandle<()>, loom::thread::spawn, |thread: loom::thread::JoinHandle<()>| thread
    .join()
    .unwrap());

/// The processes that meet, with one inside from the beginning. The first runs on loom's main
/// thread, which leaves one thread fewer to interleave.
struct Race<L: Layer> {
    name: &'static str,
    /// The bound on preemptions in an execution, if searching all executions takes too long.
    preemptions: Option<usize>,
    parts: &'static [Part<L, AtomicU64>],
    closed: bool,
    /// Whether the line is so short that others wait in front of it.
    short_line: bool,
    /// Whether the first process leaves only when all others are done.
    stays: bool,
}

impl<L: Layer> Race<L> {
    const ALL: [Self; 18] = [
        Self::some(5, "waits", &[Scene::first_exits, Scene::thread_passes]),
        Self::some(5, "task waits", &[Scene::first_exits, Scene::task_passes]),
        Self::all("gives up", &[Scene::first_exits, Scene::thread_gives_up]),
        Self::some(5, "dropped", &[Scene::first_exits, Scene::task_is_dropped]),
        Self::some(4, "in time", &[Scene::first_exits, Scene::thread_passes_in_time, Scene::time_comes]),
        Self::some(3, "gives up, waits", &[Scene::first_exits, Scene::thread_gives_up, Scene::thread_passes]),
        Self::some(3, "gives up, task waits", &[Scene::first_exits, Scene::thread_gives_up, Scene::task_passes]),
        Self::some(3, "gives up, gives up", &[Scene::first_exits, Scene::thread_gives_up, Scene::thread_gives_up]),
        Self::some(3, "dropped, waits", &[Scene::first_exits, Scene::task_is_dropped, Scene::thread_passes]),
        Self::some(3, "dropped, task waits", &[Scene::first_exits, Scene::task_is_dropped, Scene::task_passes]),
        Self::some(
            2,
            "in time, waits",
            &[Scene::first_exits, Scene::thread_passes_in_time, Scene::thread_passes, Scene::time_comes],
        ),
        Self::some(3, "closed, waits", &[Scene::first_exits, Scene::somebody_closes, Scene::thread_passes])
            .when_closed(),
        Self::some(3, "closed, task waits", &[Scene::first_exits, Scene::somebody_closes, Scene::task_passes])
            .when_closed(),
        Self::some(3, "closed, dropped", &[Scene::first_exits, Scene::somebody_closes, Scene::task_is_dropped])
            .when_closed(),
        Self::some(3, "closed while one stays", &[Scene::somebody_closes, Scene::thread_passes, Scene::task_passes])
            .when_closed()
            .stays(),
        Self::some(2, "in front", &[Scene::first_exits, Scene::thread_passes, Scene::thread_passes])
            .with_a_short_line(),
        Self::some(2, "in front, gives up", &[Scene::first_exits, Scene::thread_passes, Scene::thread_gives_up])
            .with_a_short_line(),
        Self::some(2, "in front, closed", &[Scene::somebody_closes, Scene::thread_passes, Scene::thread_passes])
            .with_a_short_line()
            .when_closed()
            .stays(),
    ];

    const fn all(name: &'static str, parts: &'static [Part<L, AtomicU64>]) -> Self {
        Self { name, preemptions: None, parts, closed: false, stays: false, short_line: false }
    }

    const fn some(preemptions: usize, name: &'static str, parts: &'static [Part<L, AtomicU64>]) -> Self {
        Self { preemptions: Some(preemptions), ..Self::all(name, parts) }
    }

    const fn when_closed(self) -> Self {
        Self { closed: true, ..self }
    }

    const fn stays(self) -> Self {
        Self { stays: true, ..self }
    }

    const fn with_a_short_line(self) -> Self {
        Self { short_line: true, ..self }
    }

    fn named(name: &str) -> Self {
        Self::ALL.into_iter().find(|race| race.name == name).expect("there is such a race")
    }

    /// Runs the race in every way that loom distinguishes within the bound. Returns the number of
    /// executions.
    fn run(&self, flaw: Option<Flaw>, fault: Option<Fault>) -> usize {
        let &Self { preemptions, parts, closed, stays, short_line, .. } = self;
        let last: Option<Part<L, AtomicU64>> = if stays { Some(Scene::first_exits) } else { None };
        let executions = Arc::new(AtomicUsize::new(0));
        let mut loom = loom::model::Builder::new();
        (loom.max_permutations, loom.max_duration, loom.preemption_bound) = (None, None, preemptions);
        (loom.checkpoint_file, loom.max_branches) = (None, 3_000);
        loom.check({
            let executions = Arc::clone(&executions);
            move || {
                executions.fetch_add(1, Relaxed);
                let new = if short_line { Scene::<L, AtomicU64>::with_a_short_line } else { Scene::new };
                new(1, 4, flaw, fault).with_one_inside().together(parts, last, closed);
            }
        });
        executions.load(Relaxed)
    }
}

#[test]
fn no_place_and_no_wake_up_is_lost_whoever_gives_up() {
    for race in Race::<Shipped<Simulated>>::ALL {
        let executions = race.run(None, None);
        assert!(executions > 1, "{}: nothing was interleaved", race.name);
        println!("{}: {executions} executions", race.name);
    }
}

const DEADLOCK: &str = "deadlock";
/// The possible effects of a flaw.
const HARM: [&str; 3] = [DEADLOCK, "assertion `left == right` failed: a place was lost", "2 are inside"];

/// The races that find it.
fn found_by(flaw: Flaw) -> &'static [&'static str] {
    match flaw {
        Flaw::LeaveOverwrites => &["gives up", "gives up, waits", "dropped", "dropped, task waits"],
        Flaw::LeaveForgets => &["gives up", "in time", "gives up, waits", "dropped, task waits"],
        Flaw::DropForgets => &["dropped", "dropped, waits", "dropped, task waits"],
        Flaw::TornAnnouncement => &["waits", "task waits", "gives up"],
        Flaw::TornExit => &["waits", "gives up", "dropped"],
        Flaw::NobodyHelps => &["waits", "task waits", "gives up", "dropped"],
        Flaw::DoorStays => &["in front", "in front, gives up"],
        Flaw::CloseSkips => &["closed while one stays"],
        Flaw::CloseSignals => &["closed while one stays", "closed, waits"],
        Flaw::CallsNobody | Flaw::SeesNoPlace | Flaw::MovesACopy => &[], // of the tray: `loom_bypass.rs`
    }
}

#[test]
fn every_flaw_is_found() {
    for flaw in Flaw::ALL {
        for &name in found_by(flaw) {
            let complaint = complaint(|| {
                Race::<Shipped<Simulated>>::named(name).run(Some(flaw), None);
            });
            let is_harm = complaint.as_ref().is_some_and(|text| HARM.iter().any(|harm| text.starts_with(harm)));
            assert!(is_harm, "{flaw:?}, {name}: {complaint:?}");
            println!("{flaw:?}: found by {name}: {}", complaint.unwrap_or_default());
        }
    }
}

/// Faults of the wait layer: a helper that signals without waking, and waiters that are not seen to
/// wait.
#[test]
fn a_signal_that_wakes_nobody_is_found() {
    for race in ["waits", "task waits", "gives up, waits", "dropped, task waits"] {
        let race = Race::<Rewritten<Simulated>>::named(race);
        assert!(race.run(None, None) > 1);
        for fault in [Fault::NeverRings, Fault::NoFlag, Fault::LookThenFlag] {
            let complaint = complaint(|| {
                race.run(None, Some(fault));
            });
            let is_deadlock = complaint.as_ref().is_some_and(|text| text.starts_with(DEADLOCK));
            assert!(is_deadlock, "{fault:?}, {}: {complaint:?}", race.name);
        }
    }
}
