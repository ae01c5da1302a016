//! What the fast mutex claims, as its file states it.

pub(crate) mod mutants;

use crate::Property;
use crate::checked::{Checked, checked_entry};
use doorway_core::memory::Pid;
use doorway_core::registry::{LamportFast, Sizes};

impl Checked for LamportFast {
    checked_entry!();

    fn claims(_: Sizes) -> Vec<Property> {
        invariants()
    }
}

fn invariants() -> Vec<Property> {
    vec![
        Property::always("Y", |v| v.count(12) == 0 || v.get::<Option<Pid>>("y").is_some()),
        Property::always("B", |v| {
            v.processes().all(|i| match v.label(i) {
                2..=4 | 6..=8 => v.get_at("B", i),
                0 | 1 | 5 | 9..=11 => !v.get_at::<bool>("B", i),
                _ => true,
            })
        }),
        Property::always("X", |v| {
            !v.any(12, |i| v.get_at("B", i)) || !v.any(10, |j| v.get::<Option<Pid>>("y") == Some(Pid::new(j)))
        }),
    ]
}
