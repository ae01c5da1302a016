//! A search that looks up the steps it has made before says the same as one that makes each again:
//! the same states, verdicts, traces, tokens, and even the same number of bytes.

use doorway_check::prelude::*;
use doorway_check::property::{Monitor, Seen};
use doorway_check::sim::{Deaths, Keep, Rules};
use doorway_check::{Report, subject};
use doorway_core::memory::Register;
use doorway_core::registry::{CostModel, Sizes};
use std::time::Duration;

/// Everything that a report says, except how long it took.
fn said(report: Report) -> String {
    format!("{:?}", Report { searching: Duration::ZERO, judging: Duration::ZERO, ..report })
}

/// Searches with and without, with one thread and with two. Returns how many states there were.
fn compare(what: &str, search: impl Fn() -> (Explorer<'static>, doorway_check::sim::World)) -> usize {
    let run = |recall: bool, threads: usize| {
        let (explorer, world) = search();
        explorer.recall(recall).threads(threads).explore(world).unwrap()
    };
    let made = run(false, 1);
    let states = made.states;
    let made = said(made);
    assert!(made == said(run(true, 1)), "{what}");
    assert!(made == said(run(true, 2)), "{what} with two threads");
    states
}

/// Compares with all that the algorithm claims, and with few questions, none of which is about a
/// step: then steps are looked up in searches with these rules, if in any.
fn compare_both(id: &str, n: usize, k: usize, rules: Rules) {
    let (subject, sizes) = (subject::find(id).unwrap(), Sizes { n, k });
    let few = || {
        [
            Property::exclusion("exclusion", k),
            Property::never_stuck("never-stuck"),
            Property::starvation_free("starvation-free"),
            Property::sometimes("all wait", move |v| v.processes().all(|p| v.phase(p) == Phase::Entry)),
        ]
    };
    for claims in [true, false] {
        compare(&format!("{id} ({n},{k}) {rules:?}, claims: {claims}"), || {
            let properties = if claims { subject.claims(sizes) } else { few().into() };
            let world = subject.world(sizes, rules.for_properties(&properties)).unwrap();
            (Explorer::new(n).believe_keep(true).properties(properties).keep_going(true).max_states(20_000), world)
        });
    }
}

#[test]
fn steps_that_depend_on_little_are_the_same() {
    let unbounded = Rules::default();
    let passages = |most| Rules::with_passages(Some(most));
    compare_both("am-chain", 3, 1, unbounded);
    compare_both("am-chain", 3, 2, Rules { crashes: 2, ..unbounded });
    compare_both("am-chain", 3, 2, Rules { crashes: 1, ..passages(2) });
    compare_both("am-tree", 4, 2, unbounded);
    compare_both("bakery", 3, 1, passages(1));
    compare_both("bakery", 3, 1, passages(3));
    // With four processes the counts of passages are kept once for all states that have them.
    compare_both("bakery", 4, 1, passages(2));
    compare_both("ya-tree", 3, 1, Rules { keep: Keep::CrossChecked, ..unbounded });
    compare_both("ya-tree", 3, 1, Rules { keep: Keep::Ignored, ..passages(1) });
    compare_both("turnstile-simple", 2, 1, passages(3));
    compare_both("turnstile", 2, 1, Rules { give_ups: true, crashes: 1, ..passages(2) });
    compare_both("turnstile", 3, 2, Rules { give_ups: true, ..passages(1) });
    compare_both("mutant:am-chain-without-7", 3, 1, unbounded);
}

#[test]
fn steps_that_depend_on_more_are_the_same() {
    let unbounded = Rules::default();
    let passages = |most| Rules::with_passages(Some(most));
    let deaths = Deaths { restarts: 1, suspects: false, ..Deaths::default() };
    // Writes in progress.
    compare_both("bakery", 2, 1, Rules { registers: Register::Safe, ..passages(1) });
    compare_both("bakery", 2, 1, Rules { registers: Register::Regular, crashes: 1, ..passages(2) });
    // What no process watches is forgotten.
    compare_both("am-dsm-chain", 2, 1, unbounded);
    // A canon, and numbers.
    compare_both("turnstile", 3, 1, Rules { give_ups: true, line: Some(2), ..unbounded });
    compare_both("seats", 2, 1, Rules { alike: true, ..unbounded });
    compare_both("seats", 2, 1, Rules { crashes: 1, deaths, alike: true, ..passages(1) });
    // Sleep, order, switches, and the cache of one process.
    compare_both("am-chain", 3, 2, Rules { wakes: true, crashes: 1, ..unbounded });
    compare_both("am-chain", 3, 2, Rules { order: true, ..unbounded });
    compare_both("am-chain", 3, 2, Rules { switches: Some(3), ..unbounded });
    compare_both("am-chain", 3, 2, Rules { measure: Some((0, CostModel::Cc)), ..unbounded });
    compare_both("bakery", 3, 1, Rules { normalise: true, ..unbounded });
}

#[test]
fn names_of_processes_and_bits_of_states_are_the_same() {
    let (subject, sizes) = (subject::find("am-chain").unwrap(), Sizes { n: 3, k: 2 });
    let search = || {
        let explorer =
            Explorer::new(3).believe_keep(true).property(Property::exclusion("exclusion", 2)).max_states(20_000);
        (explorer.property(Property::never_stuck("never-stuck")), subject.world(sizes, Rules::default()).unwrap())
    };
    let all = compare("all names", search);
    let few = compare("symmetric", || {
        let (explorer, world) = search();
        (explorer.symmetric(true), world)
    });
    assert!(few < all);
    compare("bits", || {
        let (explorer, world) = search();
        (explorer.bitstate(1 << 12), world)
    });
}

/// Counts the steps of a process, modulo something that no variable knows.
struct Steps;

impl Monitor for Steps {
    type State = u8;
    fn initial(&self) -> u8 {
        0
    }
    fn step(&self, steps: u8, seen: &Seen<'_>) -> Option<u8> {
        let steps = (steps + u8::from(seen.process() == 0)) % 5;
        (steps != 4 || !seen.enters()).then_some(steps)
    }
}

#[test]
fn monitors_and_questions_about_steps_are_the_same() {
    let (subject, sizes) = (subject::find("am-chain").unwrap(), Sizes { n: 3, k: 2 });
    for keep_going in [false, true] {
        compare("monitor", || {
            let explorer =
                Explorer::new(3).believe_keep(true).property(Property::monitor("steps", Steps)).keep_going(keep_going);
            (explorer.max_states(20_000), subject.world(sizes, Rules::default()).unwrap())
        });
        compare("steps", || {
            let inside = |v: &View<'_>, p: usize| v.phase(p) == Phase::Inside;
            let another = |v: &View<'_>, p: usize| v.phase((p + 1) % 3) == Phase::Inside;
            let counted = |before: &View<'_>, after: &View<'_>| before.phase(0) != after.phase(0);
            let explorer = Explorer::new(3)
                .believe_keep(true)
                .property(Property::unless("unless", inside, another))
                .property(Property::at_most("phases of the first", 2, inside, counted));
            (explorer.keep_going(keep_going).max_states(20_000), subject.world(sizes, Rules::default()).unwrap())
        });
    }
}
