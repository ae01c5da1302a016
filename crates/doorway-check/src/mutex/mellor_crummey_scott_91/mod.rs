//! What these locks claim, as their files state it.

pub(crate) mod mutants;

use crate::Property;
use crate::checked::{Checked, Machine, checked_entry, world_at_once};
use crate::mutex::differ;
use crate::property::Labels;
use doorway_core::memory::{Pid, fit};
use doorway_core::mutex::mellor_crummey_scott_91::{LONGEST, ticket_bits};
use doorway_core::registry::{Mcs, McsSwap, Sizes, TasBackoff, Ticket};

impl Checked for TasBackoff {
    checked_entry!();
    const AT_ONCE: Option<Machine> = Some(world_at_once::<Self>);

    fn claims(_: Sizes) -> Vec<Property> {
        backoff()
    }
}

impl Checked for Ticket {
    checked_entry!();
    const AT_ONCE: Option<Machine> = Some(world_at_once::<Self>);

    fn claims(sizes: Sizes) -> Vec<Property> {
        ticket(sizes)
    }
}

impl Checked for Mcs {
    checked_entry!();
    const AT_ONCE: Option<Machine> = Some(world_at_once::<Self>);

    fn claims(_: Sizes) -> Vec<Property> {
        queue()
    }
}

impl Checked for McsSwap {
    checked_entry!();

    fn claims(_: Sizes) -> Vec<Property> {
        queue_without_compare_swap()
    }
}

/// (T) and (D).
fn backoff() -> Vec<Property> {
    vec![
        Property::always("T", |v| v.get::<bool>("Taken") == (v.count(4) > 0)),
        Property::always("D", |v| {
            v.processes().all(|p| {
                let left = v.shown::<u64>(p, "left").unwrap_or(0);
                (1..=LONGEST).contains(&v.get_at("Delay", p)) && left <= v.get_at("Delay", p)
            })
        }),
    ]
}

/// (C) and (U).
fn ticket(sizes: Sizes) -> Vec<Property> {
    let bits = ticket_bits(sizes.n);
    vec![
        Property::always("C", move |v| {
            let out = v.get::<u64>("Next").wrapping_sub(v.get("Serving"));
            fit::<u64>(out, bits) == fit::<u64>(v.count([2, 3]) as u64, bits)
        }),
        Property::always("U", |v| {
            differ(v, [2, 3], "ticket") && !v.any(3, |p| v.shown(p, "ticket") != Some(v.get::<u64>("Serving")))
        }),
    ]
}

/// (E), (H) and (N).
fn queue() -> Vec<Property> {
    let empty = Property::always("E", |v| v.get::<Option<Pid>>("Tail").is_none() == (v.count((3..=6, 8..=10)) == 0));
    vec![empty, one_has_it((6, 8..=10)), followers_wait()]
}

/// (H) and (N).
fn queue_without_compare_swap() -> Vec<Property> {
    vec![one_has_it([6, 8, 10]), followers_wait()]
}

fn one_has_it(labels: impl Labels + Clone + Send + Sync + 'static) -> Property {
    Property::always("H", move |v| {
        let called = v.processes().filter(|&p| v.at(p, 5) && !v.get_at::<bool>("Locked", p)).count();
        v.count(labels.clone()) + called <= 1
    })
}

fn followers_wait() -> Property {
    Property::always("N", |v| {
        !v.any((3..=6, (8..=10, [81, 91])), |p| {
            let next = v.get_at::<Option<Pid>>("Next", p).map(Pid::index);
            next.is_some_and(|q| !v.at(q, 5) || !v.get_at::<bool>("Locked", q))
        })
    })
}
