//! Anderson and Moir 1994, Figure 7: names for the processes inside, over the fast paths of both
//! machine models. The invariants, and the hard cases step by step.
//!
//! On an empty path a passage of `am-assign` does statement 2 of the fast path, 2 of the block's
//! last slot, and then 2 of the figure for each name it tries.

use crate::common::{ask, explore, inside, run, run_by, run_mutant, tolerates_k_minus_1_crashes, values, variables};
use doorway_check::schedule::Runner;
use doorway_check::sim::{Rules, Sim};
use doorway_check::{Explorer, Property, Report, claims};
use doorway_core::k_assignment::anderson_moir_94::Renaming;
use doorway_core::k_exclusion::anderson_moir_94::Chain;
use doorway_core::memory::Site;
use doorway_core::registry::CostModel::{Cc, Dsm};
use doorway_core::registry::{self, Sizes};

/// The name that each process holds.
fn names(r: &Runner) -> Vec<Option<u64>> {
    r.view().processes().map(|p| r.view().shown(p, "name")).collect()
}

/// Explores names for `k` over a chain that lets `passes` of `n` in.
fn over_a_chain(n: usize, k: usize, passes: usize, properties: impl IntoIterator<Item = Property>) -> Report {
    let build = |site: &Site<'_, Sim>| Renaming::new(site, k, |inner| Chain::new(inner, n, passes));
    Explorer::new(n).believe_keep(true).properties(properties).run(build).unwrap()
}

fn of_the_problem(n: usize, k: usize) -> Vec<Property> {
    claims::of_the_problem(registry::find("am-assign").unwrap(), Sizes { n, k })
}

// If a number of states changes, exploration has changed: look before you update it.

#[test]
fn names_are_unique_and_all_claims_hold() {
    explore("am-assign", 3, 2, None, 79_944);
    explore("am-assign", 4, 3, Some(1), 147_667);
    explore("am-dsm-assign", 3, 2, Some(1), 54_564);
    // No process waits, but each gets a name.
    explore("am-assign", 2, 3, None, 31);
    explore("am-assign", 3, 3, None, 273);
    explore("am-dsm-assign", 2, 3, None, 31);
}

#[test]
fn with_one_place_there_is_one_name_and_no_bit() {
    // So nothing is left but the k-exclusion, state for state.
    for (n, passages, states) in [(1, None, 2), (2, None, 752), (3, None, 46_310)] {
        explore("am-fast", n, 1, passages, states);
        explore("am-assign", n, 1, passages, states);
    }
    explore("am-dsm-fast", 2, 1, Some(1), 1_361);
    explore("am-dsm-assign", 2, 1, Some(1), 1_361);
    assert!(!variables("am-assign", 3, 1).iter().any(|name| name.starts_with("X[")));
    let mut r = run("am-assign", 2, 1);
    r.follow("p1.2.2").unwrap();
    assert_eq!(names(&r), [None, Some(0)]);
}

#[test]
fn names_are_unique_over_any_k_exclusion() {
    for (n, k, states) in [(2, 2, 7), (3, 3, 73), (4, 4, 1_065), (3, 2, 1_503), (4, 3, 34_360)] {
        let report = over_a_chain(n, k, k, of_the_problem(n, k));
        report.assert_holds();
        assert_eq!(report.states, states, "({n},{k})");
    }
}

#[test]
fn they_are_not_over_one_that_lets_too_many_in() {
    let names = of_the_problem(3, 2).into_iter().filter(|claim| claim.name() == "unique-names");
    assert_eq!(over_a_chain(3, 2, 3, names).verdict("unique-names").holds, Some(false));
}

#[test]
fn a_name_that_was_given_back_is_taken_again() {
    let mut r = run("am-assign", 4, 3);
    r.follow("p0.2.2.2  p1.2.2.2.2  p2.2.2.2.2").unwrap();
    assert_eq!(names(&r), [Some(0), Some(1), Some(2), None]);
    assert_eq!((values(&r, ["X[0]", "X[1]"]), inside(&r)), (["true", "true"].map(str::to_owned), vec![0, 1, 2]));
    r.follow("p0.3").unwrap();
    assert_eq!(values(&r, ["X[0]", "X[1]"]), ["false", "true"]);
    r.follow("p0>out  p3.2.2.2").unwrap();
    assert_eq!((names(&r), inside(&r)), (vec![None, Some(1), Some(2), Some(0)], vec![1, 2, 3]));
}

#[test]
fn the_last_name_is_not_given_twice() {
    let mut r = run("am-assign", 3, 2);
    r.follow("p0.2.2.2  p1.2.2.2").unwrap();
    assert_eq!(names(&r), [Some(0), Some(1), None]);
    // p0 leaves. p1 still has the name without a bit; a newcomer finds bit 0 clear.
    r.follow("p0>out  p2.2.2.2").unwrap();
    assert_eq!(names(&r), [None, Some(1), Some(0)]);
    // The holder of the last name clears nothing.
    r.follow("p1.6").unwrap();
    assert_eq!(values(&r, ["X[0]"]), ["true"]);
}

#[test]
fn a_long_scan_may_miss_a_name_that_was_free_for_a_while() {
    let mut r = run("am-assign", 4, 3);
    r.follow("p0>in  p1>in  p2.2.2.2").unwrap(); // p2 finds 0 taken,
    assert_eq!((names(&r), r.view().shown(2, "tries")), (vec![Some(0), Some(1), None, None], Some(1u64)));
    r.follow("p0>out").unwrap(); // then it is free,
    assert_eq!(values(&r, ["X[0]"]), ["false"]);
    r.follow("p3>in").unwrap(); // and taken again;
    r.follow("p2.2").unwrap(); // p2 finds 1 taken too, and takes 2.
    assert_eq!((names(&r), inside(&r)), (vec![None, Some(1), Some(2), Some(0)], vec![1, 2, 3]));
}

#[test]
fn nobody_tries_more_than_k_minus_1_names() {
    for (n, k) in [(3, 2), (4, 3)] {
        let last = Property::always("last", move |v| {
            v.processes().filter_map(|p| v.shown(p, "tries")).all(|i: u64| i + 1 < k as u64)
        });
        let reached =
            Property::sometimes("all tried", move |v| v.processes().any(|p| v.shown(p, "name") == Some(k as u64 - 1)));
        over_a_chain(n, k, k, [last, reached]).assert_holds();
    }
}

#[test]
fn fails_when_3_is_not_guarded() {
    // p1 has the last name, which has no bit, and clears p0's.
    let mut r = run_mutant("am-assign-3-unguarded");
    r.follow("p0.2.2.2  p1.2.2.2  p1.6.7.9").unwrap();
    assert_eq!(values(&r, ["X[0]"]), ["false"]);
    r.follow("p1>out  p2.2.2.2").unwrap();
    assert_eq!((names(&r), inside(&r)), (vec![Some(0), None, Some(0)], vec![0, 2]));
}

#[test]
fn fails_when_the_bit_is_cleared_after_the_place_is_given_back() {
    let report = ask("mutant:am-assign-clears-late", (3, 2), Rules::default(), &["unique-names"]);
    assert_eq!(report.verdict("unique-names").holds, Some(false));
}

#[test]
fn a_process_that_dies_inside_keeps_its_name() {
    let mut r = run_by(Rules { crashes: 1, ..Rules::default() }, "am-assign", 3, 2);
    r.follow("p0>in  p0!").unwrap();
    for _ in 0..2 {
        r.follow("p1>in").unwrap();
        assert_eq!(names(&r), [Some(0), Some(1), None]);
        r.follow("p1>out  p2>in").unwrap();
        assert_eq!(names(&r), [Some(0), None, Some(1)]);
        r.follow("p2>out").unwrap();
    }
    assert_eq!(values(&r, ["X[0]"]), ["true"]);
}

#[test]
fn k_minus_1_crashes_anywhere_are_tolerated_and_k_are_not() {
    for (id, passages) in [("am-assign", None), ("am-dsm-assign", Some(1))] {
        tolerates_k_minus_1_crashes(id, 3, 2, passages);
        // However many processes crash, no name is given twice.
        let rules = Rules { crashes: 3, ..Rules::with_passages(Some(1)) };
        ask(id, (3, 2), rules, &["unique-names", "N2", "N3"]).assert_holds();
    }
}

#[test]
fn names_cost_k_more_than_the_fast_path() {
    let bound = |id: &str, model, c| registry::find(id).unwrap().bound(model).unwrap().at(Sizes { n: 64, k: 8 }, c);
    assert_eq!([8, 9].map(|c| bound("am-assign", Cc, c)), [8 * 8 + 2, 7 * 8 * 4 + 8 + 2].map(Some));
    assert_eq!([8, 9].map(|c| bound("am-dsm-assign", Dsm, c)), [15 * 8 + 2, 14 * 8 * 4 + 8 + 2].map(Some));
    assert_eq!((bound("am-assign", Dsm, 1), bound("am-dsm-assign", Cc, 1)), (None, None));
}
