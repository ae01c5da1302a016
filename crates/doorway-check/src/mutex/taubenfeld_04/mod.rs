//! What the Black-White Bakery claims, as its file states it.

pub(crate) mod mutants;

use crate::Property;
use crate::checked::{Checked, checked_entry};
use crate::property::View;
use doorway_core::mutex::taubenfeld_04::ColouredTicket;
use doorway_core::registry::{BlackWhiteBakery, BlackWhiteBakeryInTwo, Sizes};

impl Checked for BlackWhiteBakery {
    checked_entry!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        invariants(sizes, in_one)
    }

    fn asked_of_any_text(sizes: Sizes) -> Vec<Property> {
        vec![bounded(sizes, in_one)]
    }
}

impl Checked for BlackWhiteBakeryInTwo {
    checked_entry!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        invariants(sizes, in_two)
    }
}

/// The number that a process has.
type Number = fn(&View<'_>, usize) -> u64;

fn in_one(v: &View<'_>, p: usize) -> u64 {
    v.get_at::<ColouredTicket>("Ticket", p).number
}

fn in_two(v: &View<'_>, p: usize) -> u64 {
    v.get_at("Number", p)
}

/// (N).
fn bounded(sizes: Sizes, number: Number) -> Property {
    Property::always("N", move |v| v.processes().all(|p| number(v, p) <= sizes.n as u64))
}

/// (N), (T) and (D).
fn invariants(sizes: Sizes, number: Number) -> Vec<Property> {
    vec![
        bounded(sizes, number),
        Property::always("T", move |v| v.processes().all(|p| (number(v, p) == 0) == v.at(p, [0, 1, 2, 21, 31, 32]))),
        Property::always("D", |v| {
            v.processes().all(|p| v.get_at::<bool>("Choosing", p) == v.at(p, [2, 21, 31, 32, 4]))
        }),
    ]
}
