//! What names around Anderson and Moir's fast paths claim, as their files state it.

pub(crate) mod mutants;

use crate::Property;
use crate::checked::{Checked, checked_entry};
use crate::claims::{holders, together};
use crate::k_exclusion::anderson_moir_94::{cc_slots, dsm_slots, fast_path};
use doorway_core::registry::{AmAssign, AmDsmAssign, Sizes};

impl Checked for AmAssign {
    checked_entry!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        together([cc_slots(), fast_path(sizes, "exclusion"), names(sizes)])
    }
}

impl Checked for AmDsmAssign {
    checked_entry!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        together([dsm_slots(), fast_path(sizes, "exclusion"), names(sizes)])
    }
}

/// (N2) and (N3); (N1) is the problem's.
fn names(sizes: Sizes) -> Vec<Property> {
    let k = sizes.k as u64;
    vec![
        Property::always("N2", move |v| (0..k - 1).all(|i| v.get_at::<bool>("X", i as usize) == (holders(v, i) > 0))),
        Property::always("N3", move |v| {
            v.processes().filter_map(|p| v.shown(p, "tries")).all(|i: u64| (i..k).any(|j| holders(v, j) == 0))
        }),
    ]
}
