//! What slots claim, as their files state it.

pub(crate) mod mutants;

use crate::Property;
use crate::checked::{Checked, Merges, checked_abortable};
use crate::claims::{holders, together};
use crate::k_exclusion::turnstile::line::line;
use crate::k_exclusion::turnstile::{Alike, door_opens, limits, turnstile};
use crate::property::View;
use crate::sim::{Canon, Layout, Rules};
use doorway_core::k_assignment::names::{Flag, Taken};
use doorway_core::k_exclusion::turnstile::Limits;
use doorway_core::registry::{Sizes, TurnstileBits, TurnstileLineSlots, TurnstileSlots};

impl Checked for TurnstileSlots {
    checked_abortable!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        together([turnstile(limits(sizes), "exclusion"), names(sizes, false)])
    }

    fn asked_of_any_text(_: Sizes) -> Vec<Property> {
        vec![door_opens("exclusion")]
    }

    const MERGES: Merges = Merges::Always { lags: true };

    fn canon(layout: &Layout, sizes: Sizes, rules: Rules) -> Option<Box<dyn Canon>> {
        Some(Box::new(Alike::new(layout, limits(sizes), rules.lag)))
    }
}

impl Checked for TurnstileLineSlots {
    checked_abortable!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        let limits = Limits::for_growing(sizes.n, sizes.k);
        together([line(limits, sizes.n, "exclusion"), names(sizes, false)])
    }

    fn asked_of_any_text(_: Sizes) -> Vec<Property> {
        vec![door_opens("exclusion")]
    }
}

impl Checked for TurnstileBits {
    checked_abortable!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        together([turnstile(limits(sizes), "exclusion"), names(sizes, true)])
    }

    fn asked_of_any_text(_: Sizes) -> Vec<Property> {
        vec![door_opens("exclusion")]
    }

    const MERGES: Merges = Merges::Always { lags: true };

    fn canon(layout: &Layout, sizes: Sizes, rules: Rules) -> Option<Box<dyn Canon>> {
        Some(Box::new(Alike::new(layout, limits(sizes), rules.lag)))
    }
}

/// (B1) and (B2), of names in a bitmap or in flags.
fn names(sizes: Sizes, bitmap: bool) -> Vec<Property> {
    let k = sizes.k;
    let is_taken = move |v: &View<'_>, name: usize| match bitmap {
        true => v.get_at::<Taken>("taken", name / 64).0 >> (name % 64) & 1 == 1,
        false => v.get_at::<Flag>("taken", name).is_taken(),
    };
    let beyond = if bitmap { k..k.next_multiple_of(64) } else { 0..0 };
    vec![
        Property::always("B1", move |v| {
            (0..k).all(|name| is_taken(v, name) == (holders(v, name as u64) == 1))
                && !beyond.clone().any(|name| is_taken(v, name))
        }),
        Property::always("B2", move |v| {
            let looks = |p: usize| v.shown::<u64>(p, "low").filter(|_| !v.has_crashed(p));
            v.processes().filter_map(looks).all(|low| (low as usize..k).any(|name| holders(v, name as u64) == 0))
        }),
    ]
}
