//! The locks with which Yang and Anderson compare theirs: the properties they have and lack, and
//! their hard cases step by step.

use crate::common::{ask, explore, inside, run, run_mutant, values};
use doorway_check::sim::Rules;
use doorway_check::{Explorer, Property, subject};
use doorway_core::registry::Sizes;

#[test]
fn what_they_claim_holds() {
    // The order of arrival is part of the states of locks that serve in order.
    let sizes = [
        ("tas-backoff", [111, 1_557, 19_599]),
        ("ticket", [18, 124, 516]),
        ("anderson-array", [26, 184, 772]),
        ("mcs", [50, 1_280, 56_444]),
        ("mcs-swap", [56, 980, 23_492]),
        ("lamport-fast", [300, 9_615, 289_020]),
    ];
    for (id, states) in sizes {
        for (n, states) in (2..).zip(states) {
            explore(id, n, 1, None, states);
        }
    }
    explore("peterson-fischer", 2, 1, None, 127);
}

#[test]
fn one_process_needs_nobody() {
    for id in ["tas-backoff", "ticket", "anderson-array", "mcs", "mcs-swap", "lamport-fast"] {
        ask(id, (1, 1), Rules::default(), &["mutual-exclusion", "starvation-free", "bounded-exit"]).assert_holds();
    }
}

/// The run that shows this is fair: all processes on their way take steps in its cycle, and one of
/// them never gets in.
#[test]
fn three_of_them_let_a_process_starve() {
    for (id, n) in [("tas-backoff", 2), ("lamport-fast", 2), ("lamport-fast", 3), ("mcs-swap", 3)] {
        let report = ask(id, (n, 1), Rules::default(), &["starvation-free"]);
        let verdict = report.verdict("starvation-free");
        assert_eq!(verdict.holds, Some(false), "{id} {n}");
        assert!(verdict.trace.as_ref().is_some_and(|trace| trace.repeats_from.is_some()), "{id} {n}");
    }
    // Two processes are too few for usurpers.
    ask("mcs-swap", (2, 1), Rules::default(), &["starvation-free"]).assert_holds();
}

#[test]
fn no_crash_is_tolerated() {
    let ids = ["tas-backoff", "ticket", "anderson-array", "mcs", "mcs-swap", "lamport-fast", "peterson-fischer"];
    for id in ids {
        let rules = Rules { crashes: 1, ..Rules::default() };
        let report = ask(id, (2, 1), rules, &["never-stuck"]);
        assert_eq!(report.verdict("never-stuck").holds, Some(false), "{id}");
        ask(id, (2, 1), rules, &["mutual-exclusion"]).assert_holds();
    }
}

#[test]
fn every_statement_is_reached() {
    let statements: [(&str, usize, &[u16]); 7] = [
        ("tas-backoff", 2, &[1, 3, 4]),
        ("ticket", 3, &[2, 3]),
        ("anderson-array", 3, &[2, 3, 4]),
        ("mcs", 3, &[2, 3, 4, 5, 6, 8, 9, 10]),
        ("mcs-swap", 3, &[2, 3, 4, 5, 6, 8, 81, 9, 91, 10]),
        ("lamport-fast", 3, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14]),
        ("peterson-fischer", 2, &[2, 3, 4, 5, 6]),
    ];
    for (id, n, labels) in statements {
        let world = subject::find(id).unwrap().world(Sizes { n, k: 1 }, Rules::default()).unwrap();
        let reached = labels
            .iter()
            .map(|&label| Property::sometimes(format!("{id}: someone at {label}"), move |v| v.count(label) > 0));
        Explorer::new(n).believe_keep(true).properties(reached).explore(world).unwrap().assert_holds();
    }
}

#[test]
fn pauses_double_up_to_the_longest() {
    let mut r = run("tas-backoff", 2, 1);
    r.follow("p0.1  p1.1.3.1.3.3.1.3.3.3.3.1").unwrap();
    assert_eq!((inside(&r), values(&r, ["Delay[1]"])), (vec![0], ["4".to_owned()]));
    r.follow("p0.4  p1.3.3.3.3.1").unwrap();
    assert_eq!(inside(&r), [1]);
    r.follow("p1.4  p0.1  p1.1").unwrap(); // each passage begins with the shortest pause
    assert_eq!(values(&r, ["Delay[1]"]), ["2"]);
}

#[test]
fn tickets_are_served_in_order_and_wrap() {
    let mut r = run("ticket", 3, 1);
    r.follow("p2.1.2  p0.1.2~  p1.1.2~").unwrap();
    for (p, next) in [(2, 0), (0, 1)] {
        assert_eq!(inside(&r), [p]);
        r.follow(&format!("p{p}.4  p{next}.2")).unwrap();
    }
    r.follow("p0.1.2~").unwrap(); // the fourth ticket: two bits are full
    assert_eq!(values(&r, ["Next", "Serving"]), ["0", "2"]);
    r.follow("p1.4  p0.2.4").unwrap();
    assert_eq!(values(&r, ["Next", "Serving"]), ["0", "0"]);
}

#[test]
fn the_lock_goes_round_the_ring() {
    let mut r = run("anderson-array", 2, 1);
    r.follow("p0.1.2.3  p1.1.2~  p0.5").unwrap();
    assert_eq!(values(&r, ["Slot[0]", "Slot[1]", "Next"]), ["false", "true", "0"]);
    r.follow("p0.1.2~  p1.2.3.5  p0.2.3").unwrap(); // the same slot as before, a round later
    assert_eq!(inside(&r), [0]);
}

#[test]
fn a_slot_that_stays_set_lets_two_in() {
    let mut r = run_mutant("anderson-array-leaves-its-slot-set");
    r.follow("p0.1.2  p0.5  p0.1.2  p1.1.2").unwrap(); // slot 1, and slot 0 where the lock lay before
    assert_eq!(inside(&r), [0, 1]);
}

#[test]
fn the_second_is_handed_the_lock() {
    for id in ["mcs", "mcs-swap"] {
        let mut r = run(id, 2, 1);
        r.follow("p0.1.2  p1.1.2.3.4.5~").unwrap();
        assert_eq!(values(&r, ["Tail", "Next[0]", "Locked[1]"]), ["p1", "p1", "true"]);
        r.follow("p0.7.10  p1.5").unwrap();
        assert_eq!(inside(&r), [1]);
        r.follow("p1.7.8").unwrap();
        assert_eq!(values(&r, ["Tail"]), ["–"]);
    }
}

#[test]
fn the_exit_waits_for_a_successor_that_has_not_linked_itself() {
    let mut r = run("mcs", 2, 1);
    r.follow("p0.1.2.7  p1.1.2  p0.8.9~").unwrap(); // the compare-and-swap fails
    r.follow("p1.3.4  p0.9.10  p1.5").unwrap();
    assert_eq!(inside(&r), [1]);
    let mut r = run("mcs-swap", 2, 1);
    r.follow("p0.1.2.7  p1.1.2  p0.8.81.9~").unwrap(); // no usurper
    assert_eq!(values(&r, ["Tail"]), ["p1"]);
    r.follow("p1.3.4  p0.9.10  p1.5").unwrap();
    assert_eq!(inside(&r), [1]);
}

#[test]
fn a_usurper_passes_a_waiter() {
    let mut r = run("mcs-swap", 3, 1);
    r.follow("p0.1.2.7  p1.1.2.3  p0.8").unwrap(); // p1 has come, but Tail says that the list is empty
    r.follow("p2.1.2").unwrap();
    assert_eq!(inside(&r), [2]);
    r.follow("p0.81  p1.4.5~  p0.9.91").unwrap(); // p1 now follows the usurper
    assert_eq!(values(&r, ["Tail", "Next[2]"]), ["p1", "p1"]);
    r.follow("p2.7.10  p1.5").unwrap();
    assert_eq!(inside(&r), [1]);
}

#[test]
fn fails_when_the_link_comes_first() {
    let mut r = run_mutant("mcs-4-before-3");
    r.follow("p0.1.2  p1.1.2.4  p0.7.10  p1.3.5~").unwrap(); // p0 unlocks p1, and p1 locks itself again
    assert!(r.is_deadlock().unwrap());
}

#[test]
fn the_short_way_has_seven_accesses() {
    let mut r = run("lamport-fast", 3, 1);
    r.follow("p1.1.2.3.6.7").unwrap();
    assert_eq!((inside(&r), values(&r, ["x", "y"])), (vec![1], ["p1".to_owned(), "p1".to_owned()]));
    r.follow("p1.13.14").unwrap();
    assert_eq!(r.view().label(1), 0);
}

#[test]
fn whoever_signed_y_last_enters_by_the_long_way() {
    // Both find y free; p1 signs x last, p0 signs y last.
    let mut r = run("lamport-fast", 2, 1);
    r.follow("p0.1.2.3  p1.1.2.3.6  p0.6.7.8.9~").unwrap();
    r.follow("p1.7").unwrap(); // x is still p1: the short way, although y says p0
    assert_eq!((inside(&r), values(&r, ["y"])), (vec![1], ["p0".to_owned()]));
    r.follow("p1.13.14  p0.9.10").unwrap(); // y is free again, so p0 was not the last to get in
    assert_eq!(r.view().label(0), 11);
    r.follow("p0.11.1.2.3.6.7").unwrap();
    assert_eq!(inside(&r), [0]);
}

#[test]
fn peterson_and_fischers_process_0_gives_way_by_the_same_sign() {
    let mut r = run("peterson-fischer", 2, 1);
    r.follow("p1.1.2.3.5").unwrap();
    assert_eq!((inside(&r), values(&r, ["q[0]", "q[1]"])), (vec![1], ["–".to_owned(), "F".to_owned()]));
    r.follow("p0.1.2.3.4.5~").unwrap();
    assert_eq!(values(&r, ["q[0]", "q[1]"]), ["F", "F"]);
    r.follow("p1.7.1.2.3.4.5~  p0.5").unwrap(); // p1 comes back with the opposite sign, and waits in its turn
    assert_eq!((inside(&r), values(&r, ["q[0]", "q[1]"])), (vec![0], ["F".to_owned(), "T".to_owned()]));
}

#[test]
fn fails_when_it_looks_once() {
    let mut r = run_mutant("peterson-fischer-looks-once");
    r.follow("p1.1  p0.1.2.5  p1.2.5").unwrap();
    assert_eq!(inside(&r), [0, 1]);
}
