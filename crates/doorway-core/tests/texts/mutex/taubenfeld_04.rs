//! Taubenfeld 2004: numbers are bounded if, and only if, colour and number share a register.

use crate::common::{explore, run};
use doorway_check::property::View;
use doorway_check::sim::Rules;
use doorway_check::{Explorer, Property, subject};
use doorway_core::mutex::taubenfeld_04::{BlackWhiteBakery, ColouredTicket};

#[test]
fn everything_holds_for_ever() {
    // Passages are unlimited: with bounded numbers there are finitely many states.
    explore("black-white-bakery", 2, 1, None, 1_348);
}

/// Three processes with unlimited passages; numbers do reach three.
#[test]
fn numbers_of_three_go_up_to_three() {
    let number = |v: &View<'_>, p| v.get_at::<ColouredTicket>("Ticket", p).number;
    let report = Explorer::new(3)
        .believe_keep(true)
        .property(Property::exclusion("mutual-exclusion", 1))
        .property(Property::always("at most three", move |v| v.processes().all(|p| number(v, p) <= 3)))
        .property(Property::sometimes("three", move |v| v.processes().any(|p| number(v, p) == 3)))
        .run(|site| BlackWhiteBakery::new(site, 3))
        .unwrap();
    report.assert_holds();
}

/// Whether numbers in two registers stay within `most`. Every run is searched, unless one shows
/// that they do not.
fn stay_within(most: u64, n: usize, passages: Option<u32>) -> bool {
    let bounded = move |v: &View<'_>| v.processes().all(|p| v.get_at::<u64>("Number", p) <= most);
    let mut explorer = Explorer::new(n).believe_keep(true).property(Property::always("bounded", bounded));
    if let Some(passages) = passages {
        explorer = explorer.passages(passages);
    }
    let report = explorer.run(|site| BlackWhiteBakery::in_two_registers(site, n)).unwrap();
    report.verdict("bounded").holds.expect("nothing ends the search")
}

#[test]
fn in_two_registers_numbers_grow() {
    // Two processes: one more than the bound, and no more.
    assert!(!stay_within(2, 2, None) && stay_within(3, 2, None));
    // Three processes: more passages give larger numbers. (With three passages each, some run
    // reaches 6.)
    assert!(stay_within(3, 3, Some(1)));
    assert!(!stay_within(4, 3, Some(2)));
}

#[test]
fn in_two_registers_the_bound_fails_with_a_run() {
    let subject = subject::find("black-white-bakery-in-two").unwrap();
    let sizes = subject.sizes(None, None).unwrap();
    let mut claims = subject.askable(sizes);
    claims.retain(|claim| claim.name() == "N");
    let world = subject.world(sizes, Rules::with_passages(Some(3))).unwrap();
    let report = Explorer::new(2).believe_keep(true).properties(claims).explore(world).unwrap();
    assert_eq!(report.verdict("N").holds, Some(false));
}

/// A process that draws while the other is inside goes after it, because of the colour.
#[test]
fn tickets_of_the_colour_that_is_not_shown_go_first() {
    let mut r = run("black-white-bakery", 2, 1);
    // p0 is inside with white 1; p1 draws white 2 and waits.
    r.follow("p0>in  p1.1.2.31.32.4.6.7.8~").unwrap();
    assert_eq!(r.view().inside(), 1);
    // p0 leaves, shows black, comes back with black 1, and waits for white 2.
    r.follow("p0.10.11.1.2.31.32.4.6.7.91.92~  p1.8").unwrap();
    assert_eq!((r.view().inside(), r.view().label(1)), (1, 10));
}
