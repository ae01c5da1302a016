//! What these locks claim, as their files state it.

pub(crate) mod mutants;

use crate::Property;
use crate::checked::{Checked, Machine, checked_entry, world_at_once};
use crate::mutex::differ;
use doorway_core::mutex::anderson_90::slots;
use doorway_core::registry::{AndersonArray, Sizes, Tas};

impl Checked for Tas {
    checked_entry!();
    const AT_ONCE: Option<Machine> = Some(world_at_once::<Self>);
}

impl Checked for AndersonArray {
    checked_entry!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        array(sizes)
    }
}

/// (O) and (P).
fn array(sizes: Sizes) -> Vec<Property> {
    let slots = slots(sizes.n);
    vec![
        Property::always("O", move |v| (0..slots).filter(|&s| v.get_at::<bool>("Slot", s)).count() + v.count(4) == 1),
        Property::always("P", |v| differ(v, [2, 3, 4], "slot")),
    ]
}
