//! Taubenfeld 2004: numbers are bounded if colour and number are one register, and only then.

mod common;

use common::{explore, run};
use doorway_check::sim::Rules;
use doorway_check::{Explorer, Property, subject};
use doorway_core::mutex::taubenfeld_04::{BlackWhiteBakery, Ticket};

#[test]
fn everything_holds_for_ever() {
    // Passages are unbounded: with bounded numbers there are finitely many states.
    explore("black-white-bakery", 2, 1, None, 1_348);
}

/// Three processes, for ever, and numbers do come up to three.
#[test]
fn numbers_of_three_go_up_to_three() {
    let number = |v: &doorway_check::property::View<'_>, p| v.get_at::<Ticket>("Ticket", p).number;
    let report = Explorer::new(3)
        .property(Property::exclusion("mutual-exclusion", 1))
        .property(Property::always("at most three", move |v| v.processes().all(|p| number(v, p) <= 3)))
        .property(Property::sometimes("three", move |v| v.processes().any(|p| number(v, p) == 3)))
        .run(|site| BlackWhiteBakery::new(site, 3))
        .unwrap();
    report.assert_holds();
}

/// The largest number that two processes draw in so many passages each.
fn largest_in_two_registers(passages: u32) -> u64 {
    let exceeds = |most: u64| {
        Explorer::new(2)
            .passages(passages)
            .property(Property::always("bounded", move |v| v.processes().all(|p| v.get_at::<u64>("Number", p) <= most)))
            .run(|site| BlackWhiteBakery::in_two_registers(site, 2))
            .unwrap()
            .failure()
            .is_some()
    };
    (1..).find(|&most| !exceeds(most)).unwrap()
}

#[test]
fn in_two_registers_numbers_grow_with_passages() {
    let largest: Vec<u64> = [1, 3, 5].map(largest_in_two_registers).into();
    assert!(largest[0] <= 2 && largest[1] > 2 && largest[2] > largest[1], "{largest:?}");
}

#[test]
fn in_two_registers_the_bound_fails_with_a_run() {
    let subject = subject::find("black-white-bakery-in-two").unwrap();
    let sizes = subject.sizes(None, None).unwrap();
    let mut claims = subject.askable(sizes);
    claims.retain(|claim| claim.name() == "N");
    let world = subject.world(sizes, Rules::with_passages(Some(3))).unwrap();
    let report = Explorer::new(2).properties(claims).explore(world).unwrap();
    assert_eq!(report.verdict("N").holds, Some(false));
}

/// A process that draws while the other one is inside goes after it, by the colour.
#[test]
fn tickets_of_the_colour_that_is_not_shown_go_first() {
    let mut r = run("black-white-bakery", 2, 1);
    // p0 is inside with white 1; p1 draws white 2 and waits.
    r.follow("p0>in  p1.1.2.31.32.4.6.7.8~").unwrap();
    assert_eq!(r.view().inside(), 1);
    // p0 leaves, shows black, comes again with black 1, and waits for white 2.
    r.follow("p0.10.11.1.2.31.32.4.6.7.91.92~  p1.8").unwrap();
    assert_eq!((r.view().inside(), r.view().label(1)), (1, 10));
}
