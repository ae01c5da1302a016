//! The endless line: its invariants, and its hard cases step by step. Rings begin with one place,
//! so that tickets collide and rings are made all the time.
//!
//! The first waiter makes a ring: 1, 2, 3, 51, 56, 51, 52, 54, 5, 6, 7, 8. An exit that helps it is
//! 9, 10, 50, 13, 14, 15, 10, 29. Giving up is 20, 21, and sweeping 58, 10, 50, 13, 16 to 19, 10,
//! 50, 13, 29.

use super::more::{Role, explore_world, rules, world_with_rings};
use super::{explore, give_ups, run};
use crate::common::{ask, inside, tolerates_k_minus_1_crashes, values};
use doorway_check::sim::{Keep, Rules};
use doorway_check::{Explorer, subject};
use doorway_core::registry::Sizes;

fn passages(passages: u32, rules: Rules) -> Rules {
    Rules { passages: Some(passages), ..rules }
}

// If a number of states changes, exploration has changed: look before you update it.

#[test]
fn all_claims_hold() {
    explore("turnstile-line", (2, 1), passages(2, Rules::default()), 3_420);
    explore("turnstile-line", (2, 1), passages(3, give_ups()), 651_277);
    explore("turnstile-line", (2, 2), passages(3, Rules { crashes: 1, ..give_ups() }), 988);
    explore("turnstile-line-many", (2, 2), passages(2, give_ups()), 182_891);
}

/// Explores all states with all claims; they hold.
fn explore_all(id: &str, (n, k): (usize, usize), rules: Rules) {
    let (subject, sizes) = (subject::find(id).unwrap(), Sizes { n, k });
    let claims = subject.claims(sizes);
    let world = subject.world(sizes, rules.for_properties(&claims)).unwrap();
    let report = Explorer::new(n).believe_keep(true).properties(claims).explore(world).unwrap();
    report.assert_holds();
    println!("{id} ({n},{k}): {} states", report.states);
    assert!(report.complete);
}

#[test]
fn all_claims_hold_without_a_bound_on_passages() {
    explore("turnstile-line", (2, 1), Rules::default(), 2_470);
    explore("turnstile-line", (2, 1), give_ups(), 150_560);
    explore("turnstile-line", (2, 2), Rules { crashes: 1, ..Rules::default() }, 406);
    explore("turnstile-line-many", (2, 2), Rules::default(), 13_107);
}

#[test]
#[ignore = "takes minutes; ci/long-searches.sh runs it"]
fn all_claims_hold_in_the_large_without_a_bound_on_passages() {
    explore("turnstile-line", (3, 1), Rules::default(), 1_887_118);
    explore_all("turnstile-line-many", (2, 2), give_ups());
}

/// States that differ only in the names of processes are one. So the claims that follow one process
/// are not decided.
#[test]
#[ignore = "takes minutes; ci/long-searches.sh runs it"]
fn claims_about_states_hold_with_two_places_and_without_a_bound_on_passages() {
    let (subject, sizes) = (subject::find("turnstile-line").unwrap(), Sizes { n: 3, k: 2 });
    let claims: Vec<_> = subject.claims(sizes).into_iter().filter(|claim| !claim.needs_graph()).collect();
    let world = subject.world(sizes, Rules::default().for_properties(&claims)).unwrap();
    let report = Explorer::new(3).properties(claims).symmetric(true).explore(world).unwrap();
    report.assert_holds();
    println!("(3,2): {} states, {:?} with all names", report.states, report.with_all_names);
    assert!(report.complete);
}

#[test]
#[ignore = "takes minutes; ci/long-searches.sh runs it"]
fn all_claims_hold_in_the_large() {
    explore("turnstile-line", (3, 2), passages(1, Rules { crashes: 1, ..give_ups() }), 1_570_526);
    explore("turnstile-line", (2, 1), passages(4, give_ups()), 5_573_158);
    explore("turnstile-line", (3, 1), passages(1, give_ups()), 9_664_019);
    explore("turnstile-line", (3, 1), passages(2, Rules::default()), 7_293_413);
}

#[test]
fn k_minus_1_crashes_anywhere_are_tolerated_and_k_are_not() {
    tolerates_k_minus_1_crashes("turnstile-line", 2, 1, Some(2));
    tolerates_k_minus_1_crashes("turnstile-line", 3, 2, Some(1));
    // No number of crashes and give-ups lets too many processes in.
    let rules = |crashes, n| passages(n, Rules { crashes, ..give_ups() });
    let safe = ["k-exclusion", "T1", "T3", "L1", "L2", "L4"];
    ask("turnstile-line", (2, 1), rules(2, 2), &safe).assert_holds();
    ask("turnstile-line-many", (2, 2), rules(2, 2), &["units-inside", "T1", "T3", "L1", "L2", "L4"]).assert_holds();
}

#[test]
fn what_is_kept_is_all_that_matters() {
    for (id, n, k) in [("turnstile-line", 2, 1), ("turnstile-line", 2, 2), ("turnstile-line-many", 2, 2)] {
        let rules = passages(1, Rules { keep: Keep::CrossChecked, ..give_ups() });
        let subject = subject::find(id).unwrap();
        let sizes = Sizes { n, k };
        let claims = subject.claims(sizes);
        let world = subject.world(sizes, rules.for_properties(&claims)).unwrap();
        Explorer::new(n).believe_keep(true).properties(claims).explore(world).unwrap().assert_holds();
    }
}

// Growing.

#[test]
fn nothing_is_made_before_somebody_waits() {
    let mut r = run("turnstile-line", 3, 2);
    r.follow("p0>in  p1>in  p0>out  p1>out  p1>in  p2>in").unwrap();
    assert_eq!(values(&r, ["next", "top"]), ["4", "0"]);
}

#[test]
fn a_place_that_is_needed_is_not_taken_but_a_ring_is_made() {
    let mut r = run("turnstile-line", 3, 1);
    r.follow("p0>in  p1.1.2.3.51.56.51.52.54.5.6.7.8~").unwrap();
    assert_eq!(values(&r, ["top", "rec[0]"]), ["1", "1 Waits"]);
    // The only place is p1's. p1 is not enabled yet, so p2 makes a ring of two; there the place is
    // free.
    r.follow("p2.1.2.3.51.52.55.52.56.51.52.54.5.8~").unwrap();
    assert_eq!(values(&r, ["top", "rec[0]", "rec[1]", "rec[2]"]), ["2", "1 Waits", "2 Waits", "free"]);
    // p0 looks for ticket 1 in both rings, the newest first.
    r.follow("p0.9.10.50.13.13.14.15.10.29  p1.8").unwrap();
    assert_eq!((values(&r, ["rec[0]"]), inside(&r)), (["1 Signalled".to_owned()], vec![1]));
    r.follow("p1.9.10.50.13.14.15.10.29  p2.8").unwrap();
    assert_eq!((values(&r, ["gate", "front"]), inside(&r)), (["3/1", "3"].map(str::to_owned), vec![2]));
}

#[test]
fn a_place_whose_ticket_was_signalled_is_taken() {
    let mut r = run("turnstile-line", 3, 1);
    r.follow("p0>in  p1.1.2.3.51.56.51.52.54.5.6.7.8~  p0.9.10.50.13.14").unwrap();
    r.follow("p2.1.2.3.51.52.54.5.8~").unwrap();
    assert_eq!(values(&r, ["top", "rec[0]"]), ["1", "2 Waits"]);
    r.follow("p1.8").unwrap(); // a later ticket has its place: it was signalled
    assert_eq!(inside(&r), [1]);
}

#[test]
fn a_process_enabled_long_ago_makes_no_ring() {
    let mut r = run("turnstile-line", 3, 1);
    r.follow("p0>in  p1.1.2.3  p0.9  p0.1.2.3.51.56.51.52.54.5.6.7.8~").unwrap(); // p0 comes again, and has ticket 2
    r.follow("p1.51.52.55").unwrap(); // a later ticket has the place: it looks whether it is enabled, and is
    assert_eq!(values(&r, ["top", "rec[0]"]), ["1", "2 Waits"]);
    r.follow("p1>in").unwrap();
}

#[test]
fn two_that_make_a_ring_at_once_make_one() {
    let mut r = run("turnstile-line", 3, 1);
    r.follow("p0>in  p1.1.2.3.51  p2.1.2.3.51  p1.56  p2.56  p2.51.52.54  p1.51.52.55.52.56").unwrap();
    assert_eq!(values(&r, ["top", "rec[0]"]), ["2", "2 Waits"]);
}

/// If there is no memory for a second ring, a claimer asks again and again until it is enabled, or
/// the place is free.
#[test]
fn without_memory_for_a_ring_everybody_enters_all_the_same() {
    use Role::Passes;
    for (k, roles, passages) in [(1, &[Passes, Passes, Passes][..], 1), (1, &[Passes, Passes], 3)] {
        let world = world_with_rings(1, k, roles, Rules { give_ups: false, ..rules(passages) });
        explore_world(world, k, []).assert_holds();
    }
    // There is no memory for the first ring either.
    let world = world_with_rings(0, 1, &[Passes, Passes], rules(2));
    explore_world(world, 1, []).assert_holds();
}

// Ghosts.

#[test]
fn a_ghost_before_which_nobody_waits_is_exited_at_once() {
    let mut r = run("turnstile-line", 2, 1);
    r.follow("p0>in  p1.1.2.3.51.56.51.52.54.5.6.7.8?.20.21").unwrap();
    assert_eq!(values(&r, ["gate", "front", "rec[0]"]), ["1/1", "1", "1 Gone"]);
    r.follow("p1.58.10.50.13.16.17.18.19.10.50.13.29.80.81.86.85.81.84.84").unwrap();
    assert_eq!(values(&r, ["gate", "front"]), ["2*/0", "2+1"]);
    // p0 is stuck inside, and p1 comes and gives up again and again: nothing is left behind.
    for _ in 0..15 {
        r.follow("p1.1.2.3.51.52.53.54.5.6.8?.20.21.58.10.50.13.16.17.18.19.10.50.13.29.80.81.86.85.81.84.84").unwrap();
    }
    assert_eq!(values(&r, ["next", "top"]), ["17", "1"]);
    r.follow("p0>out  p1>in").unwrap();
}

#[test]
fn one_that_waits_changes_places_with_a_ghost_behind_it() {
    let mut r = run("turnstile-line", 3, 1);
    r.follow("p0>in  p1.1.2.3.51.56.51.52.54.5.6.7.8~  p2.1.2.3.51.52.55.52.56.51.52.54.5.8?.20.21").unwrap();
    r.follow("p2.58.10.50.13.13.29.80.81.86.85.50.87.50.87.87.88.89.84.84").unwrap();
    assert_eq!(values(&r, ["pass", "rec[0]", "rec[1]"]), ["Asked 1>2+1", "1 Nudged", "2 Gone"]);
    r.follow("p1.8.90.91.50.92.93.94.95.96.31.85.98").unwrap();
    assert_eq!(values(&r, ["gate", "rec[0]", "rec[1]"]), ["1/2", "1 Gone", "2 Waits"]);
    r.follow("p1.58.10.50.13.13.16.17.18.19.10.50.13.29.80.8~").unwrap(); // no process waits before the ghost any more
    assert_eq!(values(&r, ["gate", "front"]), ["2*/1", "2+1"]);
    r.follow("p0>out  p1.8").unwrap();
    assert_eq!(inside(&r), [1]);
}

#[test]
fn a_ghost_behind_one_that_does_not_move_keeps_its_place_until_its_turn_comes() {
    let mut r = run("turnstile-line", 3, 1);
    r.follow("p0>in  p1.1.2.3.51.56.51.52.54.5.6.7.8~  p2.1.2.3.51.52.55.52.56.51.52.54.5.8?.20.21").unwrap();
    r.follow("p2.58.10.50.13.13.29").unwrap(); // p1 waits at the front, so there is nothing to sweep
    assert_eq!(values(&r, ["gate", "rec[0]", "rec[1]"]), ["1/2", "1 Waits", "2 Gone"]);
    r.follow("p0>out  p1.8").unwrap();
    r.follow("p1>out").unwrap(); // it exits the ghost too, and passes ticket 3, which is not drawn
    assert_eq!(values(&r, ["gate", "front"]), ["4*/0", "4+1"]);
}

// Closing.

#[test]
fn nobody_waits_for_ever_when_it_is_closed() {
    use Role::{Asks, Closes, Passes};
    let all: [(usize, &'static [Role], u32); 4] = [
        (1, &[Closes, Passes], 2),
        (1, &[Closes, Passes, Passes], 1),
        (2, &[Closes, Passes, Passes], 1),
        (2, &[Closes, Passes, Asks(2)], 1),
    ];
    for (k, roles, passages) in all {
        let inside = if roles.len() == 2 || roles.contains(&Asks(2)) { 1 } else { k };
        let world = world_with_rings(4, k, roles, Rules { give_ups: false, ..rules(passages) });
        explore_world(world, inside, []).assert_holds();
    }
    let world = world_with_rings(4, 1, &[Closes, Passes], rules(3));
    explore_world(world, 1, []).assert_holds();
}
