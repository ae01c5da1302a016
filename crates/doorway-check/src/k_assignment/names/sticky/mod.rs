//! What names that stick claim, as their file states it.

pub(crate) mod mutants;
pub(crate) mod passages;

use crate::Property;
use crate::checked::Checked;
use crate::property::View;
use crate::sim::{Rules, TextError, World};
use doorway_core::k_assignment::names::sticky::Holder;
use doorway_core::registry::{Sizes, StickyNames};

impl Checked for StickyNames {
    fn world(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
        if rules.give_ups { Err(TextError::CannotGiveUp) } else { passages::shipped(sizes, rules) }
    }

    fn claims(sizes: Sizes) -> Vec<Property> {
        invariants(sizes)
    }

    fn asked_of_any_text(sizes: Sizes) -> Vec<Property> {
        vec![nobody_is_turned_away(sizes)]
    }
}

/// The name that a process holds.
fn name(v: &View<'_>, p: usize) -> Option<u64> {
    v.shown::<u64>(p, "name").filter(|_| v.at(p, 4))
}

/// No process is turned away while there are as many names as processes. (With fewer names, the
/// last one that comes may be, while all names are taken.)
fn nobody_is_turned_away(Sizes { n, k }: Sizes) -> Property {
    Property::always("S2", move |v| n > k || v.processes().all(|p| v.shown::<bool>(p, "turned away").is_none()))
}

/// (S1) and (S2).
fn invariants(sizes: Sizes) -> Vec<Property> {
    let said = move |v: &View<'_>| {
        let holder = |i| v.get_at::<Holder>("holder", i).process;
        v.processes().all(|p| (0..sizes.k).all(|i| (holder(i) == p as u64 + 1) == (name(v, p) == Some(i as u64))))
    };
    vec![Property::always("S1", said), nobody_is_turned_away(sizes)]
}
