//! Anderson and Moir 1994: the paper's invariants, and the hard cases step by step.

mod common;

use common::{explore, run, run_mutant};
use doorway_check::sim::{Rules, Sections};
use doorway_check::trace::Trace;
use doorway_check::{Explorer, Property, subject};
use doorway_core::k_exclusion::anderson_moir_94::Chain;
use doorway_core::registry::CostModel::{Cc, CcWriteBack, Dsm};
use doorway_core::registry::{self, Sizes};

#[test]
fn paper_invariants_hold_in_every_slot_of_a_chain() {
    // A change in these numbers means that exploration changed: look before you update them.
    let sizes = [(2, 1, 58), (3, 2, 543), (4, 3, 4_316), (5, 4, 31_685), (3, 1, 6_867), (4, 2, 161_880)];
    let nobody_waits = [(2, 2, 4), (3, 7, 8)];
    for (n, k, states) in sizes.into_iter().chain(nobody_waits) {
        explore("am-chain", n, k, None, states);
    }
}

#[test]
fn paper_invariants_hold_around_a_fast_path() {
    for (n, k, states) in [(1, 1, 2), (2, 1, 752), (3, 2, 36_936), (3, 1, 105_510), (2, 3, 4)] {
        explore("am-fast", n, k, None, states);
    }
}

#[test]
fn there_is_something_to_wait_for() {
    let sometimes = |name, label: u16| Property::sometimes(name, move |v| v.count(label) > 0).each("slot");
    let spared = Property::sometimes("someone is spared", |v| v.count(4) > 0 && v.get::<i64>("X") >= 0).each("slot");
    let report = Explorer::new(3)
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
            let report = Explorer::new(n).properties(claims).initially(&path, q).run(|site| Chain::new(site, n, k));
            report.unwrap().assert_holds();
        }
    }
}

#[test]
fn an_invariant_that_is_one_off_fails() {
    let wrong = Property::always("I4, one off", |v| v.count(6) < v.index()).each("slot");
    let report = Explorer::new(2).property(wrong).run(|site| Chain::new(site, 2, 1)).unwrap();
    assert_eq!(report.verdict("I4, one off").trace.as_ref().map(Trace::len), Some(1));
}

#[test]
fn whoever_leaves_wakes_the_waiter() {
    let mut r = run("am-chain", 2, 1);
    r.follow("p0.2  p1.2.3.4.5~  p0.6.7  p1.5").unwrap();
    assert_eq!((r.value("slot1.X").as_deref(), r.value("slot1.Q").as_deref()), (Some("0"), Some("p0")));
    assert_eq!((r.view().inside(), r.view().label(0)), (1, 0));
}

#[test]
fn a_release_overtakes_the_announcement() {
    let mut r = run("am-chain", 2, 1);
    r.follow("p0.2  p1.2.3  p0.6  p1.4").unwrap(); // p1 reads 0 at 4 and need not wait
    assert_eq!(r.view().inside(), 1);
    r.follow("p0.7  p1.6.7").unwrap();
}

#[test]
fn one_dead_process_costs_one_place_and_no_more() {
    // p0 dies inside, that is, it never steps again.
    let mut r = run("am-chain", 3, 2);
    r.follow("p0.2  p1.2  p2.2.3.4.5~  p1.6.7  p2.5").unwrap();
    assert_eq!(r.view().inside(), 2);
    r.follow("p1.2.3.4.5~  p2.6.7  p1.5").unwrap();
    assert_eq!(r.view().inside(), 2);
}

#[test]
fn fails_when_the_load_of_4_comes_before_the_store_of_3() {
    let mut r = run_mutant("am-chain-swaps-3-and-4");
    r.follow("p0.2  p1.2.4  p0.6.7  p1.3.5~").unwrap();
    assert!(r.is_deadlock().unwrap());
}

#[test]
fn fails_when_6_and_7_are_swapped() {
    let mut r = run_mutant("am-chain-swaps-6-and-7");
    r.follow("p0.2  p0.7  p1.2.3.4  p0.6  p1.5~").unwrap();
    assert!(r.is_deadlock().unwrap());
}

#[test]
fn the_fast_path_as_printed_breaks_on_a_plain_fetch_and_add() {
    let mut r = run_mutant("am-fast-as-printed-on-plain-add");
    r.follow("p0>in  p1.2.2.2  p2.2.2").unwrap();
    assert_eq!(r.view().inside(), 2);
    // Counted with a step for leaving the remainder, these are ten.
    let subject = subject::find("mutant:am-fast-as-printed-on-plain-add").unwrap();
    let sizes = Sizes { n: 3, k: 1 };
    let rules = Rules { sections: Sections::Explicit, ..Rules::default() };
    let world = subject.world(sizes, rules).unwrap();
    let report = Explorer::new(3).properties(subject.claims(sizes)).explore(world).unwrap();
    assert_eq!(report.failure().and_then(|v| v.trace.as_ref()).map(Trace::len), Some(10));
}

#[test]
fn the_exact_fast_path_hands_its_place_on() {
    // On the footnote's instruction: p1 goes slow and waits in the block for p0; then p2 is fast again.
    let mut r = run_mutant("am-fast-on-bounded-decrement");
    r.follow("p0>in  p1>5").unwrap();
    assert_eq!(r.value("X bounded").as_deref(), Some("0"));
    r.follow("p0>out  p1>in").unwrap();
    assert_eq!(r.value("X bounded").as_deref(), Some("1"));
    r.follow("p2.2").unwrap();
    assert_eq!((r.value("X bounded").as_deref(), r.view().label(2)), (Some("0"), 5));
}

#[test]
fn a_newcomer_goes_slow_while_a_slow_one_is_inside() {
    // The price of the repair: p0 leaves and comes back while p1, which went slow, is on its way in.
    let mut r = run("am-fast", 3, 1);
    r.follow("p0>in  p1.2").unwrap();
    assert_eq!(r.value("X").as_deref(), Some("-1"));
    r.follow("p0>out  p0.2").unwrap();
    assert_eq!((r.value("X").as_deref(), r.view().label(0)), (Some("-1"), 4));
}

#[test]
fn bounds_are_those_of_the_theorems() {
    let bound = |id: &str, model, n, k, contention| {
        registry::find(id).unwrap().bound(model).unwrap().at(Sizes { n, k }, contention)
    };
    assert_eq!(bound("am-chain", Cc, 64, 8, 64), Some(7 * 56));
    assert_eq!(bound("am-chain", Cc, 2, 5, 2), Some(0));
    assert_eq!([1, 2, 3].map(|c| bound("am-chain", CcWriteBack, 3, 1, c)), [Some(6), Some(12), Some(12)]);
    assert_eq!(bound("am-chain", Dsm, 3, 1, 3), None);
    assert_eq!(bound("am-fast", Cc, 64, 8, 8), Some(7 * 8 + 2));
    assert_eq!(bound("am-fast", Cc, 64, 8, 9), Some(7 * 64 + 2));
}
