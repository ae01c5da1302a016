//! Anderson and Moir 1994, Figures 5 and 6, and Figures 3 and 4 built of them: machines with
//! distributed shared memory. The invariants, and the hard cases step by step.
//!
//! Private statements are not steps: 3 of Figure 5 happens with 2, 3 and 5 of Figure 6 with the
//! shared access before them, and 12 with 11.

use crate::common::{
    ask, explore, inside, run, run_by, run_mutant, slots, tolerates_k_minus_1_crashes, values, variables,
};
use doorway_check::replay::Token;
use doorway_check::schedule::Runner;
use doorway_check::sim::{Phase, Rules};
use doorway_check::{Explorer, Property, Report, subject};
use doorway_core::k_exclusion::anderson_moir_94::Loc;
use doorway_core::memory::{Pid, Word};
use doorway_core::registry::CostModel::{Cc, Dsm};
use doorway_core::registry::{self, Sizes};

/// A machine to walk by hand, which also shows values that no process watches. One process may
/// crash.
fn run_remembering(id: &str, n: usize, k: usize) -> Runner {
    run_by(Rules { forget: false, crashes: 1, ..Rules::default() }, id, n, k)
}

// If a number of states changes, exploration has changed: look before you update it.

#[test]
fn paper_invariants_hold_while_there_are_new_locations() {
    for (n, k, passages, states) in
        [(2, 1, 1, 108), (2, 1, 3, 5_278), (3, 2, 2, 65_141), (3, 1, 1, 22_771), (4, 3, 1, 4_632)]
    {
        explore("am-dsm-unbounded", n, k, Some(passages), states);
    }
    // No process waits more often than it has locations, so passages need no bound.
    explore("am-dsm-unbounded", 2, 1, None, 3_345);
    for (n, k, states) in [(1, 1, 2), (2, 2, 4), (3, 5, 8)] {
        explore("am-dsm-unbounded", n, k, None, states);
    }
}

#[test]
fn invariants_hold_with_locations_that_are_used_again() {
    explore("am-dsm-chain", 2, 1, None, 7_326);
    for (n, k, passages, states) in [(3, 2, 1, 4_987), (3, 2, 2, 504_194), (3, 1, 1, 172_750), (4, 3, 1, 64_039)] {
        explore("am-dsm-chain", n, k, Some(passages), states);
    }
    for (n, k, states) in [(1, 1, 2), (2, 2, 4), (3, 5, 8)] {
        explore("am-dsm-chain", n, k, None, states);
    }
}

#[test]
fn invariants_hold_in_trees_and_fast_paths_for_distributed_memory() {
    for (id, n, k, passages, states) in [
        ("am-dsm-tree", 3, 1, 1, 51_060),
        ("am-dsm-tree", 3, 2, 1, 4_987),
        ("am-dsm-fast", 2, 1, 2, 19_968),
        ("am-dsm-fast", 3, 1, 1, 270_951),
        ("am-dsm-fast", 3, 2, 1, 31_005),
        ("am-dsm-graceful", 3, 1, 1, 171_248),
        ("am-dsm-graceful", 3, 2, 1, 4_987),
    ] {
        explore(id, n, k, Some(passages), states);
    }
    for id in ["am-dsm-tree", "am-dsm-fast", "am-dsm-graceful"] {
        explore(id, 1, 1, None, 2);
        explore(id, 2, 3, None, 4);
    }
}

#[test]
fn k_minus_1_crashes_anywhere_are_tolerated_and_k_are_not() {
    for id in ["am-dsm-unbounded", "am-dsm-chain", "am-dsm-tree", "am-dsm-fast", "am-dsm-graceful"] {
        tolerates_k_minus_1_crashes(id, 3, 2, Some(1));
    }
    tolerates_k_minus_1_crashes("am-dsm-unbounded", 3, 2, Some(2));
    tolerates_k_minus_1_crashes("am-dsm-chain", 2, 1, None);
}

/// All claims, with a slot whose initial values are not the declared ones.
fn starting_with(id: &str, (n, k): (usize, usize), passages: u32, start: &[(String, u64)]) -> Report {
    let subject = subject::find(id).unwrap();
    let sizes = Sizes { n, k };
    let rules = Rules { forget: false, ..Rules::with_passages(Some(passages)) };
    let start = start
        .iter()
        .fold(Explorer::new(n).believe_keep(true), |explorer, (path, word)| explorer.initially(path, *word));
    start.properties(subject.claims(sizes)).explore(subject.world(sizes, rules).unwrap()).unwrap()
}

fn location(pid: usize, loc: u64) -> u64 {
    Loc { pid: Pid::new(pid), loc }.pack()
}

#[test]
fn the_initial_values_of_p_are_arbitrary_and_q_may_begin_with_anybodys_location_0() {
    for id in ["am-dsm-unbounded", "am-dsm-chain"] {
        for (n, k, passages) in [(2, 1, 2), (3, 2, 1)] {
            let spins = variables(id, n, k).into_iter().filter(|name| name.contains(".P["));
            let all_true: Vec<_> = spins.map(|name| (name, 1)).collect();
            assert!(!all_true.is_empty());
            starting_with(id, (n, k), passages, &all_true).assert_holds();
            for p in 0..n {
                starting_with(id, (n, k), passages, &[(format!("slot{k}.Q"), location(p, 0))]).assert_holds();
            }
        }
    }
}

#[test]
fn q_must_not_begin_with_a_location_that_its_owner_is_about_to_use() {
    // p1 finds itself there, releases itself, and walks in.
    for id in ["am-dsm-unbounded", "am-dsm-chain"] {
        let subject = subject::find(id).unwrap();
        let world = subject.world(Sizes { n: 2, k: 1 }, Rules::default()).unwrap();
        let start = Explorer::new(2).believe_keep(true).initially("slot1.Q", location(1, 1));
        let report = start.property(Property::exclusion("k-exclusion", 1)).explore(world).unwrap();
        assert_eq!(report.verdict("k-exclusion").holds, Some(false), "{id}");
    }
}

#[test]
fn x_is_below_minus_1_only_in_a_slot_that_too_many_have_entered() {
    let crowded = |id: &str| {
        let subject = subject::find(id).unwrap();
        let range = Property::always("X >= -1", |v| v.get::<i64>("X") >= -1).each("slot");
        let world = subject.world(Sizes { n: 3, k: 1 }, Rules::with_passages(Some(1))).unwrap();
        let report = Explorer::new(3).believe_keep(true).property(range).explore(world).unwrap();
        report.failure().map(|v| v.trace.as_ref().unwrap().len())
    };
    for id in ["am-dsm-unbounded", "am-dsm-chain", "am-dsm-tree", "am-dsm-graceful"] {
        assert_eq!(crowded(id), None, "{id}");
    }
    for id in ["am-dsm-unbounded-lacks-a-slot", "am-dsm-chain-lacks-a-slot", "am-dsm-tree-crowds-a-leaf"] {
        assert_eq!(crowded(&format!("mutant:{id}")), Some(3), "{id}");
    }
}

#[test]
fn spin_locations_are_made_for_those_that_can_come() {
    assert_eq!(
        slots("am-dsm-tree", 5, 1),
        ["level0.block0.slot1", "level0.block1.slot1", "level1.block0.slot1", "level2.block0.slot1"]
    );
    let all = variables("am-dsm-tree", 5, 1);
    let spins = |slot: &str| {
        let start = format!("{slot}.P[");
        let owner = |name: &String| name.strip_prefix(&start).map(|rest| rest[..1].parse::<usize>().unwrap());
        all.iter().filter_map(owner).collect::<Vec<_>>()
    };
    assert_eq!(spins("level0.block1.slot1"), [2, 2, 2, 3, 3, 3]); // j + 2 each
    assert_eq!(spins("level2.block0.slot1"), [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]);
    // A slot has locations for its own j: slots of one chain share nothing.
    let chain = variables("am-dsm-chain", 4, 2);
    let spins = |slot| chain.iter().filter(|name| name.starts_with(&format!("slot{slot}.P["))).count();
    assert_eq!([3, 2].map(spins), [4 * 5, 4 * 4]);
}

// Figure 5.

#[test]
fn whoever_leaves_releases_the_location_it_finds() {
    let mut r = run_remembering("am-dsm-unbounded", 2, 1);
    r.follow("p0.2  p1.2").unwrap();
    assert_eq!((values(&r, ["slot1.X", "slot1.next[1]"]), inside(&r)), (["-1", "1"].map(str::to_owned), vec![0]));
    r.follow("p1.4.5.6.7.8.9~").unwrap();
    assert_eq!(values(&r, ["slot1.P[0][0]", "slot1.P[1][1]", "slot1.Q"]), ["true", "false", "(p1, 1)"]);
    r.follow("p0.10").unwrap();
    assert_eq!(values(&r, ["slot1.X"]), ["0"]);
    r.follow("p1.9~  p0.11.12").unwrap();
    assert_eq!(values(&r, ["slot1.P[1][1]"]), ["true"]);
    r.follow("p1.9").unwrap();
    assert_eq!(inside(&r), [1]);
}

#[test]
fn of_two_that_found_the_same_waiter_one_is_let_in() {
    let mut r = run_remembering("am-dsm-unbounded", 3, 2);
    r.follow("p0.2  p0!  p1.2  p2.2.4.5").unwrap(); // p2 has found (p0, 0), and stalls
    assert_eq!(values(&r, ["slot2.X", "slot2.next[2]"]), ["-1", "1"]);
    r.follow("p1.10").unwrap();
    assert_eq!(values(&r, ["slot2.X"]), ["0"]);
    r.follow("p1.11.12  p1.2.4.5.6.7.8.9~").unwrap(); // and so has p1, which is faster
    assert_eq!(values(&r, ["slot2.X", "slot2.next[1]", "slot2.Q"]), ["-1", "1", "(p1, 1)"]);
    r.follow("p2.6.7").unwrap(); // the exchange fails
    assert_eq!(values(&r, ["slot2.Q"]), ["(p1, 1)"]);
    assert_eq!(inside(&r), [0, 2]);
    r.follow("p1.9~  p2.10.11.12  p1.9").unwrap();
    assert_eq!(inside(&r), [0, 1]);
}

#[test]
fn fails_when_x_is_read_before_the_place_in_q_is_taken() {
    let mut r = run_mutant("am-dsm-unbounded-swaps-7-and-8");
    r.follow("p0.2  p1.2.4.5.6.8  p0.10.11.12  p1.7.9~").unwrap();
    assert_eq!(values(&r, ["slot1.X", "slot1.Q"]), ["0", "(p1, 1)"]);
    assert!(r.is_deadlock().unwrap());

    let mut r = run("mutant:am-dsm-unbounded-swaps-7-and-8", 3, 2);
    r.follow("p0.2  p1.2  p2.2.4.5.6.8  p0.10.11.12  p1.10.11.12  p2.7.9~").unwrap();
    assert_eq!(values(&r, ["slot2.X"]), ["1"]); // both places are free
    assert!(r.is_deadlock().unwrap());
}

#[test]
fn fails_when_q_is_read_before_the_slot_is_freed() {
    let mut r = run_mutant("am-dsm-unbounded-swaps-10-and-11");
    r.follow("p0.2  p0.11  p1.2.4.5.6.7.8.9~  p0.10.12  p1.9~").unwrap();
    assert_eq!(values(&r, ["slot1.X", "slot1.Q"]), ["0", "(p1, 1)"]);
    assert!(r.is_deadlock().unwrap());

    let mut r = run("mutant:am-dsm-unbounded-swaps-10-and-11", 3, 2);
    r.follow("p0.2  p1.2  p0.11  p1.11  p2.2.4.5.6.7.8.9~  p0.10.12  p1.10.12  p2.9~").unwrap();
    assert_eq!(values(&r, ["slot2.X"]), ["1"]);
    assert!(r.is_deadlock().unwrap());
}

#[test]
fn fails_when_the_exchange_is_replaced_by_a_write() {
    // p0 leaves, comes back and waits. p1, which found the same location as p0, overwrites p0's:
    // both wait.
    let mut r = run_mutant("am-dsm-unbounded-7-writes");
    r.follow("p0.2  p1.2.4.5  p0.10.11.12  p0.2.4.5.6.7.8.9~  p1.6.7.8.9~").unwrap();
    assert_eq!(values(&r, ["slot1.X", "slot1.Q"]), ["-1", "(p1, 1)"]);
    assert!(r.is_deadlock().unwrap());
}

#[test]
fn a_process_that_has_used_all_its_locations_is_refused_before_it_counts() {
    let mut r = run("am-dsm-unbounded", 2, 1);
    for wait in 1..=4 {
        r.follow("p0>in  p1>9  p0>out  p1>in  p1>out").unwrap();
        assert_eq!(values(&r, ["slot1.next[1]"]), [wait.to_string()]);
    }
    // The fifth wait would need location 5, and there are 0 to 4. Whether p1 must wait this time is
    // known only when it has counted.
    for others in ["p0>in", "p0>out"] {
        r.follow(others).unwrap();
        let before = values(&r, ["slot1.X"]);
        r.follow("p1.2").unwrap();
        assert_eq!((values(&r, ["slot1.X"]), r.view().phase(1)), (before, Phase::Remainder));
    }
    r.follow("p0>in").unwrap(); // p0 has all of its own left
    assert_eq!(inside(&r), [0]);
}

#[test]
fn a_refused_process_gives_back_the_slots_before() {
    let mut r = run("am-dsm-unbounded", 3, 1);
    for _ in 1..=4 {
        r.follow("p0>in  p1>9  p0>out  p1>in  p1>out").unwrap();
    }
    assert_eq!(values(&r, ["slot2.next[1]", "slot1.next[1]", "slot2.X"]), ["0", "4", "2"]);
    r.follow("p1.2").unwrap(); // through slot 2, refused by slot 1
    assert_eq!(values(&r, ["slot2.X", "slot1.X"]), ["1", "1"]);
    r.follow("p1.10.11.12").unwrap();
    assert_eq!((values(&r, ["slot2.X"]), r.view().phase(1)), (["2".to_owned()], Phase::Remainder));
}

// Figure 6.

#[test]
fn locations_are_used_in_turn_while_none_is_pinned() {
    let mut r = run("am-dsm-chain", 2, 1);
    for loc in [1, 2, 0, 1, 2, 0] {
        r.follow("p0>in  p1.2.4.6.7.8.9.10.11.13.14~").unwrap();
        assert_eq!(values(&r, ["slot1.Q", "slot1.last[1]"]), [format!("(p1, {loc})"), loc.to_string()]);
        r.follow("p0.16.17.18.19.20.21  p1.14.15").unwrap();
        assert_eq!(inside(&r), [1]);
        r.follow("p1>out").unwrap();
    }
    let pins = variables("am-dsm-chain", 2, 1).into_iter().filter(|name| name.contains(".R["));
    assert!(pins.map(|name| r.value(&name)).all(|pins| pins.as_deref() == Some("0")));
}

#[test]
fn a_pinned_location_is_skipped() {
    let mut r = run("am-dsm-chain", 3, 2);
    r.follow("p0>in  p2>in  p1>14  p0>out  p1>in").unwrap();
    assert_eq!(values(&r, ["slot2.Q"]), ["(p1, 1)"]);
    r.follow("p0.2.4.6.7.8.9").unwrap(); // p0 is about to write to (p1, 1), and stalls
    assert_eq!(values(&r, ["slot2.R[1][1]"]), ["1"]);
    r.follow("p1>out  p1>14").unwrap();
    assert_eq!(values(&r, ["slot2.Q"]), ["(p1, 2)"]);
    for next in ["(p1, 3)", "(p1, 0)"] {
        r.follow("p2>out  p1>in  p1>out  p2>in  p1>14").unwrap();
        assert_eq!(values(&r, ["slot2.Q"]), [next]);
    }
    r.follow("p2>out  p1>in  p1>out  p2>in  p1.2.4.4.6").unwrap(); // 1 is pinned, so 2
    assert_eq!(values(&r, ["slot2.R[1][1]", "slot2.P[1][1]", "slot2.P[1][2]"]), ["1", "?", "false"]);
    r.follow("p1>14  p0.10").unwrap(); // now p0 writes, where no process waits any more,
    assert_eq!(values(&r, ["slot2.P[1][2]", "slot2.Q"]), ["false", "(p1, 2)"]);
    r.follow("p1.14~  p0.11.15").unwrap(); // and is let in, for Q has changed.
    assert_eq!((values(&r, ["slot2.R[1][1]"]), inside(&r)), (["0".to_owned()], vec![0, 2]));
}

#[test]
fn with_one_place_nobody_finds_a_location_pinned() {
    // A third process must go round while another one stalls. And the one that stalls must be on
    // its way in: a process at 17 to 21 has given its place back but is still one of the j + 1.
    // Then all others find a place at 2 and look for no location.
    let free = Property::always("free", |v| {
        let next = |p| v.shown::<Loc>(p, "next").unwrap();
        !v.any(4, |p| v.get_in::<i64>("R", next(p).at()) != 0)
    });
    let world = subject::find("am-dsm-chain").unwrap().world(Sizes { n: 2, k: 1 }, Rules::default()).unwrap();
    Explorer::new(2).believe_keep(true).property(free.each("slot")).explore(world).unwrap().assert_holds();
}

#[test]
fn a_process_that_finds_q_changed_neither_writes_nor_exchanges() {
    let mut r = run("am-dsm-chain", 2, 1);
    r.follow("p0.2  p1.2.4.6.7.8  p0>out  p0.2.4.6.7.8.9.10.11.13.14~").unwrap();
    assert_eq!(values(&r, ["slot1.X", "slot1.Q", "slot1.R[0][0]"]), ["-1", "(p0, 1)", "2"]);
    r.follow("p1.9.15").unwrap(); // straight in, as if the exchange had failed
    assert_eq!(values(&r, ["slot1.Q", "slot1.R[0][0]", "slot1.last[1]"]), ["(p0, 1)", "1", "0"]);
    assert_eq!(inside(&r), [1]);
    r.follow("p0.14~  p1>out  p0.14.15").unwrap();
    assert_eq!(inside(&r), [0]);
}

#[test]
fn fails_when_x_or_q_is_read_too_early() {
    let mut r = run_mutant("am-dsm-chain-swaps-11-and-13");
    r.follow("p0.2  p1.2.4.6.7.8.9.10.13  p0.16.17.18.19.20.21  p1.11.14~").unwrap();
    assert_eq!(values(&r, ["slot1.X", "slot1.Q"]), ["0", "(p1, 1)"]);
    assert!(r.is_deadlock().unwrap());

    let mut r = run_mutant("am-dsm-chain-swaps-16-and-17");
    r.follow("p0.2  p0.17  p1.2.4.6.7.8.9.10.11.13.14~  p0.16.18.19.21  p1.14~").unwrap();
    assert_eq!(values(&r, ["slot1.X", "slot1.Q"]), ["0", "(p1, 1)"]);
    assert!(r.is_deadlock().unwrap());
}

/// p0 takes a location and is let in before it has to wait there, with p1's help; then p0 is
/// outside and p1 inside again. `pins` is how p0 does 8 and 9.
fn round(pins: &str) -> String {
    format!("p0.2.4.6.7.{pins}.10  p1.16  p0.11.13.15  p0>out  p1>out  p1>in")
}

#[test]
fn fails_when_q_is_looked_at_again_before_the_location_is_pinned() {
    // p2 stalls between 9 and 8 with (p0, 0). Meanwhile p0 goes round its four locations and is
    // about to wait at 0 again. p2 pins it too late, and releases p0 for nothing.
    let mut r = run_mutant("am-dsm-chain-swaps-8-and-9");
    r.follow("p0.2  p1.2  p2.2.4.6.7.9  p0>out").unwrap();
    for loc in 1..=3 {
        r.follow(&round("9.8")).unwrap();
        assert_eq!(values(&r, ["slot2.Q", "slot2.R[0][0]"]), [format!("(p0, {loc})"), "0".to_owned()]);
    }
    r.follow("p0.2.4.6.7.9.8.10  p2.8.10").unwrap();
    assert_eq!(values(&r, ["slot2.P[0][0]"]), ["true"]);
    r.follow("p2.11.15  p0.11.13.14.15").unwrap();
    assert_eq!(inside(&r), [0, 1, 2]);
}

#[test]
fn the_same_stall_is_harmless_when_the_location_is_pinned_first() {
    let mut r = run("am-dsm-chain", 3, 2);
    r.follow("p0.2  p1.2  p2.2.4.6.7.8.9  p0>out").unwrap();
    for loc in 1..=3 {
        r.follow(&round("8.9")).unwrap();
        assert_eq!(values(&r, ["slot2.Q", "slot2.R[0][0]"]), [format!("(p0, {loc})"), "1".to_owned()]);
    }
    r.follow("p0.2.4.4.6.7.8.9.10").unwrap(); // 0 is pinned, so 1
    r.follow("p2.10.11.15  p0.11.13.14~").unwrap();
    assert_eq!((values(&r, ["slot2.Q"]), inside(&r)), (["(p0, 1)".to_owned()], vec![1, 2]));
}

#[test]
fn a_shortest_run_that_breaks_it_has_94_steps() {
    // Found by `doorway check mutant:am-dsm-chain-swaps-8-and-9 --property k-exclusion`.
    let token = "dw1/mutant:am-dsm-chain-swaps-8-and-9/3,2/-/c0/atomic/k-exclusion/\
        0.1.2x5.0x13.1x3.0x9.1x3.0x7.1x2.0x9.1x4.0x7.1x2.0x9.1x4.0x7.2x4.0x4/53b2532e";
    let trace = token.parse::<Token>().unwrap().replay().unwrap();
    assert_eq!(trace.len(), 94);
    assert!(trace.end.iter().all(|p| p.section == "inside"), "{trace}");
}

#[test]
fn nested_fast_paths_are_safe_without_an_instruction_that_stops_at_zero() {
    let rules = Rules { bounded_decrement: false, ..Rules::with_passages(Some(1)) };
    ask("am-dsm-graceful", (3, 1), rules, &["k-exclusion", "never-stuck", "G1"]).assert_holds();
}

#[test]
fn bounds_are_those_of_the_theorems() {
    let bound =
        |id: &str, n, k, contention| registry::find(id).unwrap().bound(Dsm).unwrap().at(Sizes { n, k }, contention);
    assert_eq!(bound("am-dsm-unbounded", 64, 8, 64), Some(8 * 56));
    assert_eq!(bound("am-dsm-chain", 64, 8, 64), Some(14 * 56));
    assert_eq!(bound("am-dsm-chain", 2, 5, 2), Some(0));
    assert_eq!([(64, 8), (5, 2), (3, 2)].map(|(n, k)| bound("am-dsm-tree", n, k, n)), [14 * 8 * 3, 56, 28].map(Some));
    assert_eq!([8, 9].map(|c| bound("am-dsm-fast", 64, 8, c)), [14 * 8 + 2, 14 * 8 * 4 + 2].map(Some));
    assert_eq!([1, 8, 9, 64].map(|c| bound("am-dsm-graceful", 64, 8, c)), [1, 1, 2, 8].map(|d| Some(d * (14 * 8 + 2))));
    // On a cache-coherent machine references are bounded too, but no theorem gives the bound.
    for id in ["am-dsm-unbounded", "am-dsm-chain", "am-dsm-tree", "am-dsm-fast", "am-dsm-graceful"] {
        assert_eq!(registry::find(id).unwrap().bound(Cc).unwrap().at(Sizes { n: 3, k: 1 }, 3), None, "{id}");
    }
}
