//! What the Black-White Bakery claims, as its file states it.

use crate::Property;
use crate::checked::{Checked, checked_entry};
use crate::property::View;
use doorway_core::mutex::taubenfeld_04::Ticket;
use doorway_core::registry::{BlackWhiteBakery, BlackWhiteBakeryInTwo, Sizes};

impl Checked for BlackWhiteBakery {
    checked_entry!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        invariants(sizes, |v, p| v.get_at::<Ticket>("Ticket", p).number)
    }
}

impl Checked for BlackWhiteBakeryInTwo {
    checked_entry!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        invariants(sizes, |v, p| v.get_at::<u64>("Number", p))
    }
}

/// (N), (T) and (D).
fn invariants(sizes: Sizes, number: fn(&View<'_>, usize) -> u64) -> Vec<Property> {
    vec![
        Property::always("N", move |v| v.processes().all(|p| number(v, p) <= sizes.n as u64)),
        Property::always("T", move |v| v.processes().all(|p| (number(v, p) == 0) == v.at(p, [0, 1, 2, 21, 31, 32]))),
        Property::always("D", |v| {
            v.processes().all(|p| v.get_at::<bool>("Choosing", p) == v.at(p, [2, 21, 31, 32, 4]))
        }),
    ]
}
