//! The invariants of the endless line, as its file states them.

use super::growing::Growing;
use super::{counts, difference, door_opens, records, units_inside};
use crate::Property;
use crate::checked::{Checked, Merges, checked_abortable};
use crate::claims::together;
use crate::property::View;
use crate::sim::{Canon, Layout, Rules};
use doorway_core::k_exclusion::turnstile::{Fate, Front, Gate, Limits, Next, Record, Rings};
use doorway_core::registry::{Sizes, TurnstileLine, TurnstileLineMany};

impl Checked for TurnstileLine {
    checked_abortable!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        line(Limits::for_growing(sizes.n, sizes.k), sizes.n, "")
    }

    fn asked_of_any_text(_: Sizes) -> Vec<Property> {
        vec![door_opens("")]
    }

    const MERGES: Merges = Merges::Always { lags: true };

    fn canon(layout: &Layout, sizes: Sizes, rules: Rules) -> Option<Box<dyn Canon>> {
        Some(Box::new(Growing::new(layout, Limits::for_growing(sizes.n, sizes.k), sizes.n, rules)))
    }
}

impl Checked for TurnstileLineMany {
    checked_abortable!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        let (n, k) = (sizes.n + 1, sizes.k);
        together([vec![units_inside(k)], line(Limits::for_growing(n, k), n, "")])
    }

    fn asked_of_any_text(sizes: Sizes) -> Vec<Property> {
        vec![units_inside(sizes.k), door_opens("")]
    }

    const MERGES: Merges = Merges::Always { lags: true };

    fn canon(layout: &Layout, sizes: Sizes, rules: Rules) -> Option<Box<dyn Canon>> {
        let (n, k) = (sizes.n + 1, sizes.k);
        Some(Box::new(Growing::new(layout, Limits::for_growing(n, k), n, rules)))
    }
}

/// The tickets that a process waits with, or is about to give up: the first and the last.
fn in_line(v: &View<'_>, p: usize) -> Option<(u64, u64)> {
    Some((v.shown(p, "waits")?, v.shown(p, "ticket")?))
}

/// Whether a place has this ticket, and it still waits.
fn waits(v: &View<'_>, places: usize, t: u64) -> bool {
    (0..places).any(|i| {
        let record = v.get_at::<Record>("rec", i);
        record.is_of(t) && (record.fate().is_open() || matches!(record.fate(), Fate::Shut | Fate::Moving))
    })
}

/// (T1) to (T5), (L1), (L2), (L4), and that the door opens, where `kind` is the part that the
/// turnstile is.
pub(crate) fn line(limits: Limits, n: usize, kind: &'static str) -> Vec<Property> {
    let rings = limits.rings(n);
    let places = (limits.ring << rings) - limits.ring;
    let claims = [
        Property::always("T5", move |v| {
            let gate = v.get::<Gate>("gate");
            v.processes()
                .filter(|&p| !v.has_crashed(p))
                .filter_map(|p| in_line(v, p))
                .all(|(first, _)| gate.distance(first) >= -(limits.places as i64) || !waits(v, places, first))
        }),
        Property::always("L1", move |v| {
            let mut tickets: Vec<u64> = records(v, places).map(Record::ticket).collect();
            tickets.sort_unstable();
            tickets.windows(2).all(|two| two[0] != two[1])
        }),
        Property::always("L2", move |v| {
            let front = v.get::<Front>("front").ticket;
            let has_a_place = |t: u64| (0..places).any(|i| v.get_at::<Record>("rec", i).is_of(t));
            let alive = v.processes().filter(|&p| !v.has_crashed(p));
            let mut tickets = alive.filter_map(|p| in_line(v, p)).flat_map(|(first, last)| first..=last);
            tickets.all(|t| difference(front, t) >= 0 || has_a_place(t))
        }),
        Property::always("L4", move |v| {
            let next = v.get::<Next>("next").ticket();
            v.get::<Rings>("top").rings <= rings as u64
                && v.processes().filter(|&p| !v.has_crashed(p)).all(|p| {
                    let Some(made) = v.shown::<u64>(p, "grows") else { return true };
                    let newest = if made == 0 { 0 } else { (limits.ring << (made - 1)) as i64 };
                    let saw = Gate { open: v.shown(p, "saw open").unwrap_or(0), ..v.get::<Gate>("gate") };
                    made < rings as u64 && newest < saw.distance(next) + limits.places as i64
                })
        }),
        door_opens(kind),
    ];
    counts(places, |_| 0).into_iter().chain(claims).map(|claim| claim.each(kind)).collect()
}
