//! What the Bakery claims, as its file states it.

pub(crate) mod mutants;

use crate::Property;
use crate::checked::{Checked, checked_entry};
use doorway_core::registry::{Bakery, Sizes};

impl Checked for Bakery {
    checked_entry!();

    fn claims(_: Sizes) -> Vec<Property> {
        invariants()
    }
}

fn invariants() -> Vec<Property> {
    vec![
        Property::always("T", |v| {
            v.processes().all(|p| (v.get_at::<u64>("Ticket", p) == 0) == v.at(p, [0, 3, 41, 42, 51]))
        }),
        Property::always("D", |v| v.processes().all(|p| v.get_at::<bool>("Doorway", p) == v.at(p, [41, 42, 5, 51]))),
        Property::always("U", |v| {
            let place = |p| (v.get_at::<u64>("Ticket", p), p);
            v.processes()
                .filter(|&p| v.at(p, 9))
                .all(|p| v.processes().filter(|&q| v.past_doorway(q) && !v.at(q, 10)).all(|q| place(p) <= place(q)))
        }),
    ]
}
