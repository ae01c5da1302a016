//! What the mutex for two processes claims, as its file states it.

pub(crate) mod mutants;

use crate::Property;
use crate::checked::{Checked, checked_entry};
use doorway_core::mutex::peterson_fischer_77::Sign;
use doorway_core::registry::{PetersonFischer, Sizes};

impl Checked for PetersonFischer {
    checked_entry!();

    fn claims(_: Sizes) -> Vec<Property> {
        invariants()
    }
}

fn invariants() -> Vec<Property> {
    vec![
        Property::always("Q", |v| v.processes().all(|i| (v.get_at::<Sign>("q", i) == Sign::Nil) == v.at(i, 0..=2))),
        Property::always("G", |v| {
            let q = |i| v.get_at::<Sign>("q", i);
            !v.any(6, |i| v.at(1 - i, 5) && q(i) == q(1 - i).gives_way(i))
        }),
    ]
}
