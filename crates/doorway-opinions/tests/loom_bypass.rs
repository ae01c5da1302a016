//! The turnstile with a tray under loom, with the real wait layer: newcomers that may pass a
//! waiter, and waiters that give up.
//!
//! As in `loom_turnstile.rs`, loom reports a lost wake-up as a deadlock. The processes in the race
//! notice a lost place, or one process too many inside. There is one place, and one newcomer may
//! pass the first in line. One process is inside from the beginning, and leaves.
//!
//! | race                  | preemptions | executions | with more | executions |
//! |-----------------------|-------------|------------|-----------|------------|
//! | `waits`               | 3           | 186        | 5         | 4,570      |
//! | `task waits`          | 3           | 176        | 5         | 4,190      |
//! | `gives up`            | 3           | 168        | 5         | 4,470      |
//! | `dropped`             | 3           | 236        | 5         | 8,128      |
//! | `waits, waits`        | 2           | 693        | 3         | 16,121     |
//! | `waits, task waits`   | 2           | 605        | 3         | 12,413     |
//! | `gives up, waits`     | 2           | 526        | 3         | 10,022     |
//! | `dropped, task waits` | 2           | 552        | 3         | 11,592     |
//!
//! The value of these races shows when the text is changed for the worse: each [`Flaw`] of the tray
//! is found.

mod second_opinion;
mod turnstile_kit;
mod waiting_kit;

use doorway_core::k_exclusion::bypass::Bypass;
use loom::sync::atomic::AtomicU64;
use second_opinion::words_of;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering, Ordering::Relaxed, Ordering::SeqCst};
use std::time::Instant;
use turnstile_kit::{Flaw, Model, Part, Scene};
use waiting_kit::{Layer, Shipped, complaint, platform_of};

words_of!(loom);
platform_of!(loom, loom::thread::JoinHandle<()>, loom::thread::spawn, |thread: loom::thread::JoinHandle<()>| thread
    .join()
    .unwrap());

/// The role of a process where newcomers may pass.
type Does<L> = Part<L, AtomicU64, Bypass<Model<L, AtomicU64>>>;

/// The processes that meet, with one inside from the beginning. The first of them runs on loom's
/// main thread.
struct Race<L: Layer> {
    name: &'static str,
    preemptions: usize,
    /// In the large.
    more: usize,
    parts: &'static [Does<L>],
}

impl<L: Layer> Race<L> {
    const ALL: [Self; 8] = [
        Self::of("waits", 3, 5, &[Scene::first_exits, Scene::thread_passes]),
        Self::of("task waits", 3, 5, &[Scene::first_exits, Scene::task_passes]),
        Self::of("gives up", 3, 5, &[Scene::first_exits, Scene::thread_gives_up]),
        Self::of("dropped", 3, 5, &[Scene::first_exits, Scene::task_is_dropped]),
        Self::of("waits, waits", 2, 3, &[Scene::first_exits, Scene::thread_passes, Scene::thread_passes]),
        Self::of("waits, task waits", 2, 3, &[Scene::first_exits, Scene::thread_passes, Scene::task_passes]),
        Self::of("gives up, waits", 2, 3, &[Scene::first_exits, Scene::thread_gives_up, Scene::thread_passes]),
        Self::of("dropped, task waits", 2, 3, &[Scene::first_exits, Scene::task_is_dropped, Scene::task_passes]),
    ];

    const fn of(name: &'static str, preemptions: usize, more: usize, parts: &'static [Does<L>]) -> Self {
        Self { name, preemptions, more, parts }
    }

    fn named(name: &str) -> Self {
        Self::ALL.into_iter().find(|race| race.name == name).expect("there is such a race")
    }

    /// Runs the race in every way that loom distinguishes within the bound. Returns the number of
    /// executions.
    fn run(&self, preemptions: usize, flaw: Option<Flaw>) -> usize {
        let parts = self.parts;
        let executions = Arc::new(AtomicUsize::new(0));
        let mut loom = loom::model::Builder::new();
        (loom.max_permutations, loom.max_duration, loom.preemption_bound) = (None, None, Some(preemptions));
        (loom.checkpoint_file, loom.max_branches) = (None, 3_000);
        loom.check({
            let executions = Arc::clone(&executions);
            move || {
                executions.fetch_add(1, Relaxed);
                let scene = Scene::<L, AtomicU64, _>::with_a_tray(3, 1, 1, flaw);
                scene.with_one_inside().together(parts, None, false);
            }
        });
        executions.load(Relaxed)
    }
}

#[test]
fn no_place_and_no_wake_up_is_lost_where_newcomers_pass() {
    for race in Race::<Shipped<Simulated>>::ALL {
        let executions = race.run(race.preemptions, None);
        assert!(executions > 1, "{}: nothing was interleaved", race.name);
        println!("{}: {executions} executions", race.name);
    }
}

#[test]
#[ignore = "takes minutes; ci/long-searches.sh runs it"]
fn no_place_and_no_wake_up_is_lost_in_the_large() {
    for race in Race::<Shipped<Simulated>>::ALL {
        println!("{}: {} executions", race.name, race.run(race.more, None));
    }
}

/// The possible effects of a flaw.
const HARM: [&str; 3] = ["deadlock", "assertion `left == right` failed: a place was lost", "2 are inside"];

#[test]
fn every_flaw_of_the_tray_is_found() {
    for flaw in Flaw::OF_THE_TRAY {
        let races: &[&str] = match flaw {
            Flaw::CallsNobody => &["waits", "task waits"],
            Flaw::SeesNoPlace => &["waits", "task waits"],
            _ => &["waits", "waits, waits"],
        };
        for &name in races {
            let race = Race::<Shipped<Simulated>>::named(name);
            let complaint = complaint(|| {
                race.run(race.preemptions, Some(flaw));
            });
            let is_harm = complaint.as_ref().is_some_and(|text| HARM.iter().any(|harm| text.starts_with(harm)));
            assert!(is_harm, "{flaw:?}, {name}: {complaint:?}");
            println!("{flaw:?}: found by {name}: {}", complaint.unwrap_or_default());
        }
    }
}
