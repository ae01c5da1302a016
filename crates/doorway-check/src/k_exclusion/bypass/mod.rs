//! What the tray claims, as its file states it.

pub(crate) mod mutants;

use crate::Property;
use crate::checked::{Checked, Merges, checked_abortable};
use crate::claims::together;
use crate::k_exclusion::turnstile::{Alike, door_opens, limits, turnstile_with};
use crate::property::View;
use crate::sim::{Canon, Layout, Phase, Rules};
use doorway_core::k_exclusion::bypass::Left;
use doorway_core::k_exclusion::turnstile::Gate;
use doorway_core::registry::{Bypass, Sizes};

impl Checked for Bypass {
    checked_abortable!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        together([passing(1, ""), turnstile_with(limits(sizes), "", in_the_tray)])
    }

    fn asked_of_any_text(_: Sizes) -> Vec<Property> {
        vec![bypass_bound(1, ""), door_opens("")]
    }

    const MERGES: Merges = Merges::Always { lags: true };

    fn canon(layout: &Layout, sizes: Sizes, rules: Rules) -> Option<Box<dyn Canon>> {
        Some(Box::new(Alike::new(layout, limits(sizes), rules.lag)))
    }
}

/// Units that no process holds or moves: those in the tray, and those on their way out of it.
fn in_the_tray(v: &View<'_>) -> u64 {
    v.get::<Left>("tray").loose + v.processes().filter(|&p| v.shown::<bool>(p, "moves") == Some(true)).count() as u64
}

/// (Y1), (Y2) and the bound, where `kind` is the part that the turnstile is.
fn passing(most: u32, kind: &'static str) -> Vec<Property> {
    let claims = [
        Property::always("Y1", |v| {
            let moving = v.processes().filter(|&p| v.shown::<bool>(p, "moves").is_some()).count();
            v.get::<Left>("tray").moving == moving as u64
        }),
        Property::always("Y2", move |v| v.get::<Left>("tray").passed <= u64::from(most)),
        Property::always("Y3", |v| {
            v.get::<Left>("tray").loose == 0 || v.processes().any(|p| v.phase(p) != Phase::Remainder)
        }),
    ];
    claims.into_iter().map(|claim| claim.each(kind)).chain([bypass_bound(most, kind)]).collect()
}

/// While the ticket of a waiter is the first that is not enabled, at most this many newcomers take
/// a place from the tray. This looks at the contents of the tray, not at its own count.
pub fn bypass_bound(most: u32, kind: &'static str) -> Property {
    let is_first = |v: &View<'_>, p: usize| {
        let ticket = v.shown::<u64>(p, "units").and_then(|_| v.shown::<u64>(p, "ticket"));
        ticket.is_some_and(|t| v.get::<Gate>("gate").distance(t) == 0)
    };
    let passes = |before: &View<'_>, after: &View<'_>| {
        let (before, after) = (before.get::<Left>("tray"), after.get::<Left>("tray"));
        after.loose < before.loose && after.moving == before.moving
    };
    Property::at_most("bypass-bound", most, is_first, passes).each(kind)
}
