//! Lamport 1974: exclusion and the Bakery's invariants, its doorway step by step, and what happens
//! when tickets run out.

use crate::common::{explore, run, run_mutant};
use doorway_check::{Explorer, Property, claims};
use doorway_core::mutex::lamport_74::Bakery;
use doorway_core::registry::{self, Sizes};

#[test]
fn exclusion_and_invariants_hold() {
    // The order of arrival is part of these states. A change in their numbers means that
    // exploration changed.
    for (n, passages, states) in [(1, 3, 13), (2, 1, 107), (2, 3, 1_935), (3, 1, 6_591), (3, 2, 127_097)] {
        explore("bakery", n, 1, Some(passages), states);
    }
}

#[test]
fn someone_waits_at_the_doorway_and_someone_for_a_ticket() {
    let report = Explorer::new(2)
        .believe_keep(true)
        .passages(2)
        .property(Property::sometimes("waits at 7", |v| v.any(7, |p| v.get_at("Doorway", 1 - p))))
        .property(Property::sometimes("waits at 8", |v| v.any(8, |p| v.get_at::<u64>("Ticket", 1 - p) == 1)))
        .property(Property::sometimes("equal tickets", |v| {
            v.get_at::<u64>("Ticket", 0) == 1 && v.get_at::<u64>("Ticket", 1) == 1
        }))
        .run(|site| Bakery::new(site, 2))
        .unwrap();
    report.assert_holds();
}

#[test]
fn equal_tickets_go_by_name() {
    let mut r = run("bakery", 2, 1);
    r.follow("p0.3.41  p1.3.41.42.5  p0.42.5  p1.7.8~  p0.7.8").unwrap();
    assert_eq!((r.view().inside(), r.view().label(0)), (1, 9));
    r.follow("p0.10  p1.8").unwrap();
    assert_eq!((r.view().inside(), r.view().label(1)), (1, 9));
}

#[test]
fn fails_without_the_wait_at_7() {
    // p1 passes p0, which is still drawing and ends up with the same ticket and the smaller name.
    let mut r = run_mutant("bakery-never-waits-at-7");
    r.follow("p0.3.41  p1>in  p0>in").unwrap();
    assert_eq!(r.view().inside(), 2);
}

#[test]
fn a_process_that_finds_no_larger_ticket_withdraws() {
    // Ticket[1] is the largest possible ticket. p0 must neither wrap round to 0 nor leave its
    // doorway open.
    let claims = claims::of(registry::find("bakery").unwrap(), Sizes { n: 2, k: 1 });
    let report = Explorer::new(2)
        .believe_keep(true)
        .passages(2)
        .initially("Ticket[1]", u64::MAX)
        .properties(claims.into_iter().filter(|c| ["mutual-exclusion", "D"].contains(&c.name())))
        .property(Property::sometimes("p0 withdraws", |v| v.at(0, 51) && v.get_at::<u64>("Ticket", 0) == 0))
        .run(|site| Bakery::new(site, 2))
        .unwrap();
    report.assert_holds();
}
