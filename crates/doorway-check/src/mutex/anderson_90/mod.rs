//! What these locks claim, as their files state it.

use crate::Property;
use crate::checked::{Checked, checked_entry};
use crate::mutex::differ;
use doorway_core::mutex::anderson_90::slots;
use doorway_core::registry::{AndersonArray, Sizes, Tas};

impl Checked for Tas {
    checked_entry!();
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
