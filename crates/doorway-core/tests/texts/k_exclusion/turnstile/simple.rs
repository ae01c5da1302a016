//! The simple turnstile: its invariants, and the hard interleavings step by step.
//!
//! An entry is 1, 2. An exit is 3, then a 4 for each ticket that it walks back over and one more,
//! and then a 5 for each that it signals.

use crate::common::{ask, inside, tolerates_k_minus_1_crashes, values};
use doorway_check::schedule::{Runner, ScheduleError};
use doorway_check::sim::{Keep, Rules, Sim, World};
use doorway_check::{Explorer, subject};
use doorway_core::k_exclusion::turnstile::Simple;
use doorway_core::registry::Sizes;

const ID: &str = "turnstile-simple";

/// Explores with all claims; they hold, and there are this many states.
fn explore((n, k): (usize, usize), rules: Rules, states: usize) {
    let subject = subject::find(ID).unwrap();
    let sizes = Sizes { n, k };
    let claims = subject.claims(sizes);
    let world = subject.world(sizes, rules.for_properties(&claims)).unwrap();
    let report = Explorer::new(n).believe_keep(true).properties(claims).explore(world).unwrap();
    report.assert_holds();
    assert_eq!(report.states, states, "({n},{k}) {rules:?}");
}

/// A machine to walk by hand. Passages are bounded, so that tickets stay what they are.
fn run(id: &str, n: usize, k: usize) -> Runner {
    let rules = Rules { crashes: n, passages: Some(20), ..Rules::default() };
    Runner::new(subject::find(id).unwrap().world(Sizes { n, k }, rules).unwrap())
}

// If a number of states changes, exploration has changed: look before you update it.

#[test]
fn all_claims_hold() {
    explore((1, 1), Rules::default(), 6);
    explore((2, 1), Rules::default(), 18);
    explore((2, 2), Rules::default(), 109);
    explore((3, 1), Rules::default(), 62);
    explore((3, 2), Rules::default(), 1_397);
    explore((4, 2), Rules::default(), 14_868);
    explore((4, 3), Rules::default(), 78_376);
    explore((5, 2), Rules::default(), 145_217);
}

#[test]
fn all_claims_hold_when_k_minus_1_may_die() {
    let crashes = |crashes| Rules { crashes, ..Rules::default() };
    explore((2, 2), crashes(1), 209);
    explore((3, 2), crashes(1), 3_176);
    explore((3, 3), crashes(2), 9_354);
    explore((4, 2), crashes(1), 39_524);
}

#[test]
fn what_is_kept_is_all_that_matters() {
    for (n, k, passages) in [(2, 1, None), (2, 2, None), (3, 2, None), (2, 2, Some(3)), (3, 2, Some(1))] {
        let rules = Rules { keep: Keep::CrossChecked, passages, ..Rules::default() };
        let subject = subject::find(ID).unwrap();
        let sizes = Sizes { n, k };
        let claims = subject.claims(sizes);
        let world = subject.world(sizes, rules.for_properties(&claims)).unwrap();
        Explorer::new(n).believe_keep(true).properties(claims).explore(world).unwrap().assert_holds();
    }
}

#[test]
fn k_minus_1_crashes_anywhere_are_tolerated_and_k_are_not() {
    for (n, k) in [(2, 1), (3, 1), (3, 2), (4, 2), (4, 3)] {
        tolerates_k_minus_1_crashes(ID, n, k, None);
    }
    // No number of crashes makes the counts wrong.
    ask(ID, (3, 2), Rules { crashes: 3, ..Rules::default() }, &["k-exclusion", "S1", "S2"]).assert_holds();
    // Two processes die in their exits, among two places: no process signals what they enabled.
    let mut r = run(ID, 3, 2);
    r.follow("p0>in  p1>in  p2.1.2~  p0.3  p0!  p1.3  p1!  p2.2~").unwrap();
    assert!(r.is_deadlock().unwrap());
}

#[test]
fn an_exit_before_the_ticket_is_drawn_is_found_by_whoever_draws_it() {
    let mut r = run(ID, 2, 1);
    r.follow("p0.1.2.3.4.5").unwrap();
    assert_eq!(values(&r, ["next", "served", "cell[0]", "cell[1]", "cell[2]"]), ["1", "1", "1", "2", "-5"]);
    r.follow("p1.1.2").unwrap();
    assert_eq!(inside(&r), [1]);
}

/// p0 and p1 have exited, p0 sleeps or dies before it signals, and p2 and p3 wait with the tickets
/// that they enabled.
const ONE_SLEEPS: &str = "p0>in  p1>in  p2.1.2~  p3.1.2~  p0.3  p1.3";

#[test]
fn a_process_that_exits_signals_what_others_left() {
    let mut r = run(ID, 4, 2);
    r.follow(ONE_SLEEPS).unwrap();
    r.follow("p0!  p1.4.4  p2.2~  p1.5  p2.2  p3.2~  p1.5  p3.2").unwrap(); // back over one, and both, oldest first
    assert_eq!((values(&r, ["cell[2]", "cell[3]"]), inside(&r)), (["3", "4"].map(str::to_owned), vec![2, 3]));
}

#[test]
fn a_process_that_comes_too_late_changes_nothing() {
    let mut r = run(ID, 4, 2);
    r.follow(ONE_SLEEPS).unwrap();
    r.follow("p0.4  p1.4.4.5.5  p2.2  p3.2").unwrap();
    // A whole lap of the ring later, p0's signal must not take back what was signalled in its cell
    // since.
    for _ in 0..16 {
        r.follow("p2>out  p2>in").unwrap();
    }
    let before = values(&r, ["next", "served", "cell[2]"]);
    assert_eq!(before, ["20", "18", "19"]);
    r.follow("p0.5").unwrap();
    assert_eq!(values(&r, ["next", "served", "cell[2]"]), before);
}

#[test]
fn fails_when_nobody_walks_back() {
    let mut r = run("mutant:turnstile-simple-never-walks-back", 4, 2);
    r.follow(ONE_SLEEPS).unwrap();
    r.follow("p0!  p1.5  p2.2~  p3.2").unwrap(); // p3, which came later, is inside
    assert_eq!(inside(&r), [3]);
    assert_eq!(r.follow("p2>in").unwrap_err(), ScheduleError::Never { word: "p2>in".to_owned() });
}

#[test]
fn fails_when_the_newest_is_signalled_first() {
    let mut r = run("mutant:turnstile-simple-newest-first", 4, 2);
    r.follow(ONE_SLEEPS).unwrap();
    r.follow("p1.4.4.5  p2.2~  p3.2").unwrap();
    assert_eq!(inside(&r), [3]);
}

/// Tickets may begin anywhere, also where numbers wrap.
#[test]
fn numbers_may_wrap() {
    let states = |first: i64| {
        let (subject, sizes) = (subject::find(ID).unwrap(), Sizes { n: 2, k: 2 });
        let claims = subject.claims(sizes);
        let rules = Rules { crashes: 1, passages: Some(3), ..Rules::default() }.for_properties(&claims);
        let build = |site: &doorway_core::memory::Site<'_, Sim>| Simple::starting_at(site, 2, 2, first);
        let report = Explorer::new(2)
            .believe_keep(true)
            .properties(claims)
            .explore(World::new(2, rules, build).unwrap())
            .unwrap();
        report.assert_holds();
        report.states
    };
    let expected = states(0);
    for first in [5, -3, i64::MAX, i64::MAX - 3, i64::MIN] {
        assert_eq!(states(first), expected, "{first}");
    }
}
