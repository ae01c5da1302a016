//! Yang and Anderson 1993: the paper's invariants, and the hard cases step by step. `u` is p0, `v` is p1.

mod common;

use common::{explore, run, run_mutant};
use doorway_check::{Explorer, Property, claims};
use doorway_core::mutex::yang_anderson_93::TwoProcess;
use doorway_core::registry::{self, Sizes};

#[test]
fn paper_invariants_hold() {
    explore("ya-two", 2, 1, None, 672);
}

#[test]
fn the_initial_value_of_t_is_arbitrary() {
    for t in [0, 1] {
        let claims = claims::of(registry::find("ya-two").unwrap(), Sizes { n: 2, k: 1 });
        Explorer::new(2).properties(claims).initially("T", t).run(TwoProcess::new).unwrap().assert_holds();
    }
}

#[test]
fn every_statement_is_reached() {
    let statements = (2..=14).filter(|&s| s != 12).map(|label| {
        // 12 is done straight from the critical section, 11.
        Property::sometimes(format!("someone at {label}"), move |v| v.count(label) > 0)
    });
    let report = Explorer::new(2).properties(statements).run(TwoProcess::new).unwrap();
    report.assert_holds();
}

#[test]
fn alone_it_takes_the_short_way() {
    let mut r = run("ya-two", 2, 1);
    r.follow("p0.1.2.3.4").unwrap();
    assert_eq!(r.view().inside(), 1);
    r.follow("p0.12.13").unwrap();
    assert_eq!(r.view().label(0), 0);
}

#[test]
fn the_second_waits_twice() {
    let mut r = run("ya-two", 2, 1);
    r.follow("p0.1.2.3.4  p1.1.2.3.4.5.6.7.8~  p0.12.13.14  p1.8.9.10").unwrap();
    assert_eq!((r.view().inside(), r.value("P[1]").as_deref()), (1, Some("2")));
}

#[test]
fn the_ambiguous_case_is_settled_by_t() {
    let mut r = run("ya-two", 2, 1);
    r.follow("p1.1  p0.1.2.3.4.5.6.7.8~").unwrap();
    assert_eq!(r.value("P[1]").as_deref(), Some("1"));
    r.follow("p1.2.3").unwrap(); // erases u's signal, which is harmless
    assert_eq!(r.value("P[1]").as_deref(), Some("0"));
    r.follow("p1.4.5.6.7.8~  p0.8.9").unwrap(); // v signed last, so u goes first
    assert_eq!((r.view().inside(), r.view().label(0)), (1, 11));
    r.follow("p0.12.13.14  p1.8.9.10").unwrap();
    assert_eq!((r.view().inside(), r.view().label(1)), (1, 11));
}

#[test]
fn a_late_signal_is_forgotten() {
    let mut r = run("ya-two", 2, 1);
    r.follow("p0.1.2.3.4.12  p1.1.2.3.4  p0.13.14").unwrap(); // v is inside already
    assert_eq!((r.view().inside(), r.value("P[1]").as_deref()), (1, Some("2")));
    r.follow("p1.12.13  p1.1.2.3").unwrap();
    assert_eq!(r.value("P[1]").as_deref(), Some("0"));
}

#[test]
fn fails_when_13_comes_before_12() {
    let mut r = run_mutant("ya-two-13-before-12");
    r.follow("p0.1.2.3.4.13  p1.1.2.3.4.5.6.7.8~  p0.12").unwrap();
    assert!(r.is_deadlock().unwrap());
}

#[test]
fn fails_when_4_comes_before_1() {
    let mut r = run_mutant("ya-two-4-before-1");
    r.follow("p0.4  p1.4  p0.1.2.3  p1.1.2.3").unwrap();
    assert_eq!(r.view().inside(), 2);
}
