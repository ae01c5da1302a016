//! Anderson and Moir 1994, Figures 1 to 4: the queue, the chain, the tree and the fast paths on
//! cache-coherent machines. The paper's invariants, and the hard cases step by step.

mod dsm;

use crate::common::{ask, explore, inside, run, run_by, run_mutant, slots, tolerates_k_minus_1_crashes, values};
use doorway_check::sim::{Rules, Sections};
use doorway_check::trace::Trace;
use doorway_check::{Explorer, Property, subject};
use doorway_core::k_exclusion::anderson_moir_94::{Chain, bounds};
use doorway_core::registry::CostModel::{Cc, CcWriteBack, Dsm};
use doorway_core::registry::{self, Sizes};
use std::collections::BTreeSet;

// If a number of states changes, exploration has changed: look before you update it.

#[test]
fn a_queue_in_atomic_blocks_does_all_it_claims() {
    for (n, k, states) in [(2, 1, 9), (3, 1, 31), (3, 2, 64), (4, 2, 283), (5, 2, 1_456), (5, 3, 2_276)] {
        explore("am-queue", n, k, None, states);
    }
    for (n, k, states) in [(1, 1, 2), (2, 2, 4), (2, 3, 4)] {
        explore("am-queue", n, k, None, states); // no process waits
    }
}

#[test]
fn paper_invariants_hold_in_every_slot_of_a_chain() {
    let sizes = [(2, 1, 58), (3, 2, 543), (4, 3, 4_316), (5, 4, 31_685), (3, 1, 6_867), (4, 2, 161_880)];
    let nobody_waits = [(2, 2, 4), (3, 7, 8)];
    for (n, k, states) in sizes.into_iter().chain(nobody_waits) {
        explore("am-chain", n, k, None, states);
    }
}

#[test]
fn paper_invariants_hold_in_every_slot_of_a_tree() {
    // (3, 2) and (4, 3) are one block, and so a chain; an odd leaf goes up alone at (3, 1).
    for (n, k, states) in [(2, 1, 58), (3, 1, 1_882), (4, 1, 74_296), (3, 2, 543), (4, 3, 4_316)] {
        explore("am-tree", n, k, None, states);
    }
    explore("am-tree", 5, 1, Some(1), 866_557); // and so does an odd block above the leaves
    for (n, k, states) in [(1, 1, 2), (2, 2, 4), (3, 7, 8)] {
        explore("am-tree", n, k, None, states);
    }
}

#[test]
fn paper_invariants_hold_around_a_fast_path() {
    for (n, k, states) in [(1, 1, 2), (2, 1, 752), (3, 2, 36_936), (3, 1, 46_310), (2, 3, 4)] {
        explore("am-fast", n, k, None, states);
    }
}

#[test]
fn paper_invariants_hold_around_nested_fast_paths() {
    // With at most 2k processes there is no path to nest, and this is a chain.
    for (n, k, states) in [(2, 1, 58), (3, 1, 14_046), (3, 2, 543), (4, 3, 4_316)] {
        explore("am-graceful", n, k, None, states);
    }
    explore("am-graceful", 4, 1, Some(1), 764_081);
    for (n, k, states) in [(1, 1, 2), (2, 2, 4), (2, 3, 4)] {
        explore("am-graceful", n, k, None, states);
    }
}

#[test]
fn there_is_something_to_wait_for() {
    let sometimes = |name, label: u16| Property::sometimes(name, move |v| v.count(label) > 0).each("slot");
    let spared = Property::sometimes("someone is spared", |v| v.count(4) > 0 && v.get::<i64>("X") >= 0).each("slot");
    let report = Explorer::new(3)
        .believe_keep(true)
        .properties([sometimes("someone announces itself", 3), sometimes("someone waits", 5), spared])
        .run(|site| Chain::new(site, 3, 1))
        .unwrap();
    report.assert_holds();
}

#[test]
fn the_initial_value_of_q_is_arbitrary() {
    for (n, k) in [(2, 1), (3, 2)] {
        for q in 0..n as u64 {
            let claims = subject::find("am-chain").unwrap().claims(Sizes { n, k });
            let path = format!("slot{k}.Q");
            let report = Explorer::new(n)
                .believe_keep(true)
                .properties(claims)
                .initially(&path, q)
                .run(|site| Chain::new(site, n, k));
            report.unwrap().assert_holds();
        }
    }
}

#[test]
fn an_invariant_that_is_one_off_fails() {
    let wrong = Property::always("I4, one off", |v| v.count(6) < v.index()).each("slot");
    let report = Explorer::new(2).believe_keep(true).property(wrong).run(|site| Chain::new(site, 2, 1)).unwrap();
    assert_eq!(report.verdict("I4, one off").trace.as_ref().map(Trace::len), Some(1));
}

/// The number of steps until some slot's `X` is below -1.
fn steps_until_a_slot_is_crowded(id: &str) -> Option<usize> {
    let subject = subject::find(id).unwrap();
    let sizes = Sizes { n: 3, k: 1 };
    let world = subject.world(sizes, Rules::with_passages(Some(2))).unwrap();
    let range = Property::always("X >= -1", |v| v.get::<i64>("X") >= -1).each("slot");
    let report = Explorer::new(3).believe_keep(true).property(range).explore(world).unwrap();
    report.failure().map(|v| v.trace.as_ref().unwrap().len())
}

#[test]
fn x_is_below_minus_1_only_in_a_slot_that_too_many_have_entered() {
    for id in ["am-chain", "am-tree", "am-fast", "am-graceful"] {
        assert_eq!(steps_until_a_slot_is_crowded(id), None, "{id}");
    }
    // Three come to a slot that is made for two, at once or because a process gave back its place
    // on the way too early.
    for id in ["am-chain-lacks-a-slot", "am-tree-skips-the-leaf", "am-tree-crowds-a-leaf"] {
        assert_eq!(steps_until_a_slot_is_crowded(&format!("mutant:{id}")), Some(3), "{id}");
    }
    for id in ["am-chain-exits-outermost-first", "am-tree-exits-leaf-first", "am-graceful-returns-its-place-first"] {
        assert!(steps_until_a_slot_is_crowded(&format!("mutant:{id}")).is_some(), "{id}");
    }
}

#[test]
fn a_slot_that_too_many_enter_lets_the_third_one_in_without_a_word() {
    let mut r = run_mutant("am-chain-lacks-a-slot");
    r.follow("p0.2  p1.2  p2.2").unwrap(); // p2 finds -1, which is not 0
    assert_eq!(values(&r, ["slot1.X"]), ["-2"]);
    assert_eq!(inside(&r), [0, 2]);
}

// Figure 1.

#[test]
fn whoever_leaves_the_queue_lets_its_head_in() {
    let mut r = run("am-queue", 3, 1);
    r.follow("p0.1  p1.1.2~").unwrap();
    assert_eq!(values(&r, ["X", "place[1]", "place[2]"]), ["-1", "1", "0"]);
    r.follow("p2.1.2~").unwrap();
    assert_eq!(values(&r, ["X", "place[1]", "place[2]"]), ["-2", "1", "2"]);
    assert_eq!(inside(&r), [0]);
    r.follow("p0.3  p2.2~  p1.2").unwrap();
    assert_eq!(values(&r, ["X", "place[1]", "place[2]"]), ["-1", "0", "1"]);
    assert_eq!(inside(&r), [1]);
    r.follow("p1.3  p2.2").unwrap();
    assert_eq!((values(&r, ["X"]), inside(&r)), (["0".to_owned()], vec![2]));
    r.follow("p2.3").unwrap();
    assert_eq!(values(&r, ["X"]), ["1"]);
}

#[test]
fn a_death_in_the_queue_costs_a_place_and_holds_up_nobody() {
    let mut r = run_by(Rules { crashes: 1, ..Rules::default() }, "am-queue", 4, 2);
    r.follow("p0.1  p1.1  p2.1  p3.1  p2!  p0.3").unwrap();
    assert_eq!(values(&r, ["X", "place[2]", "place[3]"]), ["-1", "0", "1"]); // p0's place went to dead p2
    r.follow("p3.2~  p1.3  p3.2").unwrap();
    assert_eq!((values(&r, ["X"]), inside(&r)), (["0".to_owned()], vec![3]));
    // The others take turns at the place that is left.
    r.follow("p0.1.2~  p3.3  p0.2").unwrap();
    assert_eq!(inside(&r), [0]);
}

#[test]
fn the_queue_is_k_minus_1_resilient_if_its_blocks_are_atomic() {
    tolerates_k_minus_1_crashes("am-queue", 3, 2, None);
    tolerates_k_minus_1_crashes("am-queue", 4, 2, None);
    tolerates_k_minus_1_crashes("am-queue", 4, 3, None);
}

// Figure 2.

#[test]
fn whoever_leaves_wakes_the_waiter() {
    let mut r = run("am-chain", 2, 1);
    r.follow("p0.2  p1.2.3.4.5~").unwrap();
    assert_eq!(values(&r, ["slot1.X", "slot1.Q"]), ["-1", "p1"]);
    r.follow("p0.6.7  p1.5").unwrap();
    assert_eq!(values(&r, ["slot1.X", "slot1.Q"]), ["0", "p0"]);
    assert_eq!(inside(&r), [1]);
}

#[test]
fn a_release_overtakes_the_announcement() {
    let mut r = run("am-chain", 2, 1);
    r.follow("p0.2  p1.2.3  p0.6  p1.4").unwrap(); // p1 reads 0 at 4 and need not wait
    assert_eq!((values(&r, ["slot1.X"]), inside(&r)), (["0".to_owned()], vec![1]));
    r.follow("p0.7  p1.6.7").unwrap();
}

#[test]
fn one_dead_process_costs_one_place_and_no_more() {
    let mut r = run_by(Rules { crashes: 1, ..Rules::default() }, "am-chain", 3, 2);
    r.follow("p0.2  p0!  p1.2  p2.2.3.4.5~").unwrap();
    assert_eq!(values(&r, ["slot2.X", "slot2.Q"]), ["-1", "p2"]);
    r.follow("p1.6.7  p2.5").unwrap();
    assert_eq!(inside(&r), [0, 2]); // p0 died there
    r.follow("p1.2.3.4.5~").unwrap();
    assert_eq!(values(&r, ["slot2.X", "slot2.Q"]), ["-1", "p1"]);
    r.follow("p2.6.7  p1.5").unwrap();
    assert_eq!(inside(&r), [0, 1]);
}

#[test]
fn fails_when_the_load_of_4_comes_before_the_store_of_3() {
    let mut r = run_mutant("am-chain-swaps-3-and-4");
    r.follow("p0.2  p1.2.4  p0.6.7  p1.3.5~").unwrap();
    assert_eq!(values(&r, ["slot1.X", "slot1.Q"]), ["0", "p1"]); // the slot is free, and p1 waits for ever
    assert!(r.is_deadlock().unwrap());
}

#[test]
fn fails_when_6_and_7_are_swapped() {
    let mut r = run_mutant("am-chain-swaps-6-and-7");
    r.follow("p0.2  p0.7  p1.2.3.4  p0.6  p1.5~").unwrap();
    assert_eq!(values(&r, ["slot1.X", "slot1.Q"]), ["0", "p1"]);
    assert!(r.is_deadlock().unwrap());
}

// Figure 3(a).

/// The parts that a process passes on its way in and out when it runs alone.
fn way_of(id: &str, (n, k): (usize, usize), p: usize) -> BTreeSet<String> {
    let mut r = run(id, n, k);
    r.follow(&format!("p{p}>in  p{p}>out")).unwrap();
    r.trace().unwrap().steps.into_iter().map(|step| step.part).collect()
}

#[test]
fn a_tree_has_blocks_where_more_than_k_can_come() {
    assert_eq!(slots("am-tree", 3, 1), ["level0.block0.slot1", "level1.block0.slot1"]);
    assert_eq!(slots("am-tree", 5, 2), ["level0.block0.slot3", "level0.block0.slot2", "level1.block0.slot2"]);
    let eight = slots("am-tree", 8, 2);
    assert_eq!(eight.len(), 6);
    assert_eq!(eight[4..], ["level1.block0.slot3", "level1.block0.slot2"]);
    // At most 2k processes make one block, and at most k make none.
    assert_eq!(slots("am-tree", 4, 2), ["level0.block0.slot3", "level0.block0.slot2"]);
    assert!(slots("am-tree", 3, 3).is_empty());
}

#[test]
fn a_process_pays_for_the_slots_on_its_way() {
    let worst = |(n, k), p| 7 * way_of("am-tree", (n, k), p).len() as u64;
    // p4 has a leaf of its own, which does nothing.
    assert_eq!([0, 1, 2, 3, 4].map(|p| worst((5, 2), p)), [21, 21, 21, 21, 7]);
    assert_eq!((0..8).map(|p| worst((8, 2), p)).collect::<BTreeSet<_>>(), BTreeSet::from([28]));
    assert_eq!([0, 1, 2].map(|p| worst((3, 1), p)), [14, 14, 7]);
    // No size within reach, a power of two or not, exceeds Theorem 2.
    for (n, k) in (1..=13).flat_map(|n| (1..=5).map(move |k| (n, k))) {
        let most = (0..n).map(|p| if n <= k { 0 } else { worst((n, k), p) }).max();
        assert!(most <= Some(bounds::theorem_2(Sizes { n, k }, n)), "({n},{k}): {most:?}");
    }
}

#[test]
fn a_tree_holds_back_one_at_its_leaf_and_one_at_its_root() {
    let mut r = run("am-tree", 3, 1);
    r.follow("p0.2.2  p1.2.3.4.5~  p2.2.3.4.5~").unwrap();
    let counters = ["level0.block0.slot1.X", "level1.block0.slot1.X", "level1.block0.slot1.Q"];
    assert_eq!(values(&r, counters), ["-1", "-1", "p2"]);
    r.follow("p0.6.7  p2.5").unwrap(); // the root is given back first,
    assert_eq!((values(&r, counters), inside(&r)), (["-1", "0", "p0"].map(str::to_owned), vec![2]));
    r.follow("p1.5~  p0.6.7  p1.5").unwrap(); // then the leaf.
    r.follow("p1.2.3.4.5~  p2.6.7  p1.5").unwrap();
    assert_eq!(inside(&r), [1]);
}

#[test]
fn fails_when_the_leaf_is_given_back_before_the_root() {
    // p1 comes up from the leaf while p0, which has left it, and p2 are still in the root: three
    // processes where two may be.
    let mut r = run_mutant("am-tree-exits-leaf-first");
    r.follow("p0.2.2  p2.2  p0.6.7  p1>in").unwrap();
    assert_eq!(values(&r, ["level1.block0.slot1.X"]), ["-2"]);
    assert_eq!(inside(&r), [1]);
}

// Figure 4.

#[test]
fn the_fast_path_as_printed_breaks_on_a_plain_fetch_and_add() {
    let mut r = run_mutant("am-fast-as-printed-on-plain-add");
    r.follow("p0>in  p2.2.2.2  p1.2.2").unwrap();
    assert_eq!(values(&r, ["X", "block.slot1.X"]), ["-2", "-2"]);
    assert_eq!(inside(&r), [0, 1]);
    // These are ten steps if leaving the remainder counts as one.
    let subject = subject::find("mutant:am-fast-as-printed-on-plain-add").unwrap();
    let sizes = Sizes { n: 3, k: 1 };
    let rules = Rules { sections: Sections::Explicit, ..Rules::default() };
    let world = subject.world(sizes, rules).unwrap();
    let report = Explorer::new(3).believe_keep(true).properties(subject.claims(sizes)).explore(world).unwrap();
    assert_eq!(report.failure().and_then(|v| v.trace.as_ref()).map(Trace::len), Some(10));
}

#[test]
fn of_all_readings_on_a_plain_fetch_and_add_only_those_with_room_for_all_on_the_slow_path_are_safe() {
    for (id, safe) in [
        ("mutant:am-fast-as-printed-on-plain-add", false),
        ("mutant:am-fast-never-restores", false),
        ("mutant:am-fast-undoes-at-once", false),
        ("mutant:am-fast-undoes-at-once-sized-n", true),
        ("mutant:am-fast-slow-path-too-small", false),
        ("am-fast", true),
        ("mutant:am-fast-on-bounded-decrement", true),
        // The repair that is safe by itself is not safe when it is nested.
        ("mutant:am-graceful-as-printed-on-plain-add", false),
        ("mutant:am-graceful-every-exit-increments", false),
        ("am-graceful", true),
    ] {
        let report = ask(id, (3, 1), Rules::with_passages(Some(3)), &["k-exclusion"]);
        assert_eq!(report.verdict("k-exclusion").holds, Some(safe), "{id}");
    }
}

#[test]
fn a_slow_path_that_restores_nothing_loses_the_fast_one_for_good() {
    let mut r = run_mutant("am-fast-never-restores");
    r.follow("p0>in  p1.2  p0>out  p1>in  p1>out").unwrap();
    assert_eq!(values(&r, ["X"]), ["0"]); // all processes are outside
    r.follow("p2>in  p2>out").unwrap();
    assert_eq!(values(&r, ["X"]), ["-1"]);
}

#[test]
fn the_exact_fast_path_hands_its_place_on() {
    // On the footnote's instruction: p1 goes slow and waits in the block for p0; then p2 is fast
    // again.
    let mut r = run_mutant("am-fast-on-bounded-decrement");
    r.follow("p0>in  p1>5  p1.5~").unwrap();
    assert_eq!(values(&r, ["X bounded", "slow.slot1.X", "block.slot1.X"]), ["0", "0", "-1"]);
    r.follow("p0.6.7  p1>in").unwrap();
    assert_eq!((values(&r, ["X bounded"]), inside(&r)), (["0".to_owned()], vec![1]));
    r.follow("p0.9").unwrap();
    assert_eq!(values(&r, ["X bounded"]), ["1"]);
    r.follow("p2.2").unwrap();
    assert_eq!((values(&r, ["X bounded"]), r.view().label(2)), (["0".to_owned()], 5));
}

#[test]
fn a_newcomer_goes_slow_while_a_slow_one_is_inside() {
    // The price of the repair: p0 leaves and comes back while p1, which went slow, is on its way
    // in.
    let mut r = run("am-fast", 3, 1);
    r.follow("p0>in  p1.2").unwrap();
    assert_eq!(values(&r, ["X"]), ["-1"]);
    r.follow("p0>out").unwrap();
    assert_eq!(values(&r, ["X"]), ["0"]);
    r.follow("p0.2").unwrap();
    assert_eq!((values(&r, ["X"]), r.view().label(0)), (["-1".to_owned()], 4));
}

#[test]
fn fails_when_the_fast_place_is_returned_before_the_block() {
    // p1 gets p0's fast place while p0 is still in the block, and p2 comes from the slow side. p0's
    // 7 then wakes p2 for nothing.
    let mut r = run_mutant("am-fast-returns-its-place-first");
    r.follow("p0.2.2.9.6  p1.2.2  p2.2.2.2.3  p0.7  p2.4.5").unwrap();
    assert_eq!(inside(&r), [1, 2]);
}

// Figure 3(b).

#[test]
fn a_fast_path_is_nested_while_more_than_2k_can_come() {
    assert_eq!(slots("am-graceful", 2, 1), ["bottom.slot1"]);
    assert_eq!(slots("am-graceful", 3, 1), ["depth0.block.slot1", "bottom.slot1"]);
    assert_eq!(slots("am-graceful", 4, 1), ["depth0.block.slot1", "depth1.block.slot1", "bottom.slot1"]);
    // Five processes, two at a time: three are left at the bottom.
    assert_eq!(slots("am-graceful", 5, 2), ["depth0.block.slot3", "depth0.block.slot2", "bottom.slot2"]);
    assert!(slots("am-graceful", 3, 3).is_empty());
}

#[test]
fn nobody_goes_deeper_while_a_place_is_free() {
    let mut r = run("am-graceful", 3, 1);
    let watched = ["depth0.X", "depth0.block.slot1.X", "bottom.slot1.X"];
    r.follow("p0>in").unwrap();
    assert_eq!(values(&r, watched), ["0", "0", "1"]);
    r.follow("p1>5  p2>5").unwrap(); // p1 waits in the block, and p2 at the bottom.
    assert_eq!(values(&r, watched), ["0", "-1", "-1"]);
    r.follow("p0.6.7.9  p1.5").unwrap();
    assert_eq!((values(&r, watched), inside(&r)), (["1", "0", "-1"].map(str::to_owned), vec![1]));
    r.follow("p0.2").unwrap();
    assert_eq!(values(&r, watched), ["0", "0", "-1"]); // p0 is fast again, and comes to the block
    assert_eq!(way_of("am-graceful", (4, 1), 0), ["depth0", "depth0.block.slot1"].map(str::to_owned).into());
}

#[test]
fn nested_fast_paths_are_safe_without_an_instruction_that_stops_at_zero() {
    let rules = Rules { bounded_decrement: false, ..Rules::default() };
    let report = ask("am-graceful", (3, 1), rules, &["k-exclusion", "never-stuck", "deadlock-free", "G1", "G2", "G3"]);
    report.assert_holds();
    // A lost exchange costs one step more: p0 has read 1, and finds 0.
    let mut r = run_by(rules, "am-graceful", 3, 1);
    r.follow("p0.2  p1.2.2  p0.2").unwrap();
    assert_eq!(r.trace().unwrap().end[0].part, "bottom.slot1");
}

#[test]
fn without_that_instruction_a_process_that_always_loses_the_exchange_goes_nowhere() {
    // This needs two places: with one, a process that loses has seen 0, and goes slow.
    let mut r = run_by(Rules { bounded_decrement: false, ..Rules::default() }, "am-graceful", 5, 2);
    r.follow("p0.2").unwrap();
    for _ in 0..5 {
        r.follow("p1>in  p0.2  p1>out  p0.2").unwrap();
        assert_eq!(r.trace().unwrap().end[0].part, "depth0");
    }
}

#[test]
fn k_minus_1_crashes_anywhere_are_tolerated_and_k_are_not() {
    // At (3, 2) tree and nested fast paths are one block; at (4, 2) the tree's block has two slots.
    for (id, n, passages) in [
        ("am-chain", 3, None),
        ("am-tree", 3, None),
        ("am-tree", 4, Some(1)),
        ("am-fast", 3, None),
        ("am-graceful", 3, None),
    ] {
        tolerates_k_minus_1_crashes(id, n, 2, passages);
    }
    // With k = 1 no crash is tolerated, whatever is built around the slots.
    for id in ["am-queue", "am-chain", "am-tree", "am-fast", "am-graceful"] {
        tolerates_k_minus_1_crashes(id, 3, 1, None);
    }
}

#[test]
fn bounds_are_those_of_the_theorems() {
    let bound = |id: &str, model, n, k, contention| {
        registry::find(id).unwrap().bound(model).unwrap().at(Sizes { n, k }, contention)
    };
    assert_eq!(bound("am-chain", Cc, 64, 8, 64), Some(7 * 56));
    assert_eq!(bound("am-chain", Cc, 2, 5, 2), Some(0));
    assert_eq!([1, 2, 3].map(|c| bound("am-chain", CcWriteBack, 3, 1, c)), [Some(6), Some(12), Some(12)]);
    assert_eq!(bound("am-tree", Cc, 64, 8, 64), Some(7 * 8 * 3));
    // Rounded down, 3/2 would be one, and the tree would cost nothing.
    assert_eq!([(5, 2), (8, 2), (3, 2), (3, 3)].map(|(n, k)| bound("am-tree", Cc, n, k, n)), [28, 28, 14, 0].map(Some));
    assert_eq!(bound("am-fast", Cc, 64, 8, 8), Some(7 * 8 + 2));
    assert_eq!(bound("am-fast", Cc, 64, 8, 9), Some(7 * 8 * (3 + 1) + 2));
    assert_eq!([1, 8, 9, 64].map(|c| bound("am-graceful", Cc, 64, 8, c)), [1, 1, 2, 8].map(|d| Some(d * (7 * 8 + 2))));
    for id in ["am-chain", "am-tree", "am-fast", "am-graceful"] {
        assert_eq!(bound(id, Dsm, 3, 1, 3), None, "{id}");
    }
}
