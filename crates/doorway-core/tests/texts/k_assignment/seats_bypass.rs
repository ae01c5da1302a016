//! Seats where newcomers may pass the first in line: how often, and that nothing else is lost.

use doorway_check::claims::SeatsInUse;
use doorway_check::schedule::Runner;
use doorway_check::sim::{Deaths, Rules};
use doorway_check::{Explorer, Report, subject};
use doorway_core::registry::Sizes;

fn rules(passages: u32, crashes: usize, restarts: usize) -> Rules {
    let deaths = Deaths { restarts, ..Deaths::DEFAULT };
    Rules { crashes, deaths, ..Rules::with_passages(Some(passages)) }
}

fn search((n, k): (usize, usize), rules: Rules) -> Report {
    let (subject, sizes) = (subject::find("seats-bypass").unwrap(), Sizes { n, k });
    let claims = subject.claims(sizes);
    let rules = rules.for_properties(&claims);
    let world = subject.world(sizes, rules).unwrap();
    Explorer::new(n).believe_keep(true).properties(claims).max_states(3_000_000).explore(world).unwrap()
}

fn holds(sizes: (usize, usize), rules: Rules) -> usize {
    let report = search(sizes, rules);
    report.assert_holds();
    assert!(report.complete);
    report.states
}

#[test]
fn nothing_is_lost_and_the_bound_holds() {
    let give_ups = |passages| Rules { give_ups: true, ..rules(passages, 0, 0) };
    assert_eq!(holds((2, 1), rules(3, 0, 0)), 25_944);
    assert_eq!(holds((2, 1), give_ups(2)), 9_632);
    assert_eq!(holds((3, 1), give_ups(1)), 96_233);
    assert_eq!(holds((3, 2), rules(1, 0, 0)), 9_818);
}

#[test]
fn passages_need_no_bound() {
    let alike = Rules { alike: true, give_ups: true, ..Rules::default() };
    assert_eq!(holds((2, 1), alike), 4_014);
}

/// A death costs the bound, and nothing else.
#[test]
fn what_the_dead_held_comes_back() {
    assert_eq!(holds((3, 2), rules(1, 1, 0)), 74_048);
    assert_eq!(holds((2, 1), rules(1, 2, 1)), 50_145);
}

/// The bound is reached: with one less the claim fails. It is shared between the slots, in powers
/// of two.
#[test]
fn the_bound_is_reached() {
    let most = |bypass: u32, bound: u32, passages: u32| {
        let (in_use, sizes) = (SeatsInUse { bypass, ..SeatsInUse::default() }, Sizes { n: 2, k: 1 });
        let world = in_use.world(sizes, rules(passages, 0, 0)).unwrap();
        let bound = SeatsInUse::bypass_bound(sizes, bound);
        let report = Explorer::new(2).believe_keep(true).property(bound).max_states(3_000_000).explore(world).unwrap();
        assert!(report.complete || report.failure().is_some());
        report.verdict("bypass-bound").holds
    };
    for (bypass, bound) in [(2, 2), (3, 2), (4, 4)] {
        assert_eq!(most(bypass, bound, bound + 2), Some(true), "bypass {bypass}");
        assert_eq!(most(bypass, bound - 1, bound + 2), Some(false), "bypass {bypass}");
    }
}

fn words(run: &Runner, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| run.value(name).unwrap()).collect()
}

/// The first owner frees its slot and calls the waiter. A newcomer takes the slot before the waiter
/// looks, and hands it over: its fence is even.
#[test]
fn a_waiter_that_is_called_is_passed_once_more_and_then_served() {
    let world = subject::find("seats-bypass").unwrap().world(Sizes { n: 3, k: 1 }, rules(1, 0, 0)).unwrap();
    let mut run = Runner::new(world);
    run.follow("p0>in  p1>9 p1.9~  p0>out").unwrap();
    assert_eq!(words(&run, &["slot[0]", "want[1]"]), ["F(1)", "C(0)"]);
    run.follow("p2>in").unwrap();
    assert_eq!(words(&run, &["slot[0]", "want[1]"]), ["H(2,2)", "C(0)"]);
    run.follow("p1>9 p1.9~").unwrap();
    assert_eq!(words(&run, &["slot[0]", "want[1]"]), ["H(2,2)", "W(0)"]);
    run.follow("p2>out").unwrap();
    assert_eq!(words(&run, &["slot[0]", "want[1]"]), ["H(1,3)", "G(0,2)"]);
    run.follow("p1>in p1>out").unwrap();
}

/// A waiter that is called and gives up passes the call on.
#[test]
fn a_waiter_that_is_called_and_gives_up_passes_the_call_on() {
    let rules = Rules { give_ups: true, ..rules(1, 0, 0) };
    let world = subject::find("seats-bypass").unwrap().world(Sizes { n: 3, k: 1 }, rules).unwrap();
    let mut run = Runner::new(world);
    run.follow("p0>in  p1>9 p1.9~  p2>9 p2.9~  p0>39").unwrap(); // and has not woken it yet
    assert_eq!(words(&run, &["slot[0]", "want[1]", "want[2]"]), ["F(1)", "C(0)", "W(1)"]);
    run.follow("p1.9?  p1>out").unwrap();
    assert_eq!(words(&run, &["slot[0]", "want[1]", "want[2]"]), ["F(1)", "0", "C(1)"]);
    run.follow("p2>in").unwrap();
}
