//! Sticky names, at more sizes than the registry's: unique, and refused only if all of them were
//! taken at one moment.

use doorway_check::sim::Rules;
use doorway_check::{Explorer, Property, Report, subject};
use doorway_core::registry::Sizes;

fn explore((n, k): (usize, usize), passages: u32, crashes: usize, more: Option<Property>) -> Report {
    let (subject, sizes) = (subject::find("sticky-names").unwrap(), Sizes::new(n, k).unwrap());
    let rules = Rules { crashes, ..Rules::with_passages(Some(passages)) };
    let world = subject.world(sizes, rules).unwrap();
    let properties = subject.claims(sizes).into_iter().chain(more);
    Explorer::new(n).believe_keep(true).properties(properties).max_states(2_000_000).explore(world).unwrap()
}

/// The same if others die: a dead process keeps its name, and there is a name for every process.
#[test]
fn nobody_is_refused_while_there_are_enough() {
    for (n, passages, crashes) in [(1, 3, 0), (2, 4, 1), (3, 2, 0), (3, 1, 2)] {
        explore((n, n), passages, crashes, None).assert_holds();
    }
    explore((2, 3), 3, 1, None).assert_holds();
}

#[test]
fn one_too_many_can_be_refused_and_names_are_still_unique() {
    for (n, k) in [(2, 1), (3, 2)] {
        let refused =
            |v: &doorway_check::property::View<'_>| v.processes().any(|p| v.shown::<bool>(p, "turned away").is_some());
        explore((n, k), 2, 0, Some(Property::sometimes("refused", refused))).assert_holds();
    }
}
