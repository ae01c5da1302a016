//! The invariants of the locks that Mellor-Crummey and Scott compare, as their files state them.

use crate::Property;
use crate::property::{Labels, View};
use doorway_core::memory::{Pid, fit};
use doorway_core::mutex::anderson_90::slots;
use doorway_core::mutex::mellor_crummey_scott_91::{LONGEST, ticket_bits};
use doorway_core::registry::Sizes;

/// (T) and (D).
pub(super) fn backoff() -> Vec<Property> {
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

/// Whether no two processes at these statements show the same value under this name.
fn differ(v: &View<'_>, labels: impl Labels + Copy, name: &str) -> bool {
    let shown = |p| v.shown::<u64>(p, name);
    let all = || v.processes().filter(|&p| v.at(p, labels));
    all().all(|p| all().filter(|&q| shown(q) == shown(p)).count() == 1)
}

/// (C) and (U).
pub(super) fn ticket(sizes: Sizes) -> Vec<Property> {
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

/// (O) and (P).
pub(super) fn array(sizes: Sizes) -> Vec<Property> {
    let slots = slots(sizes.n);
    vec![
        Property::always("O", move |v| (0..slots).filter(|&s| v.get_at::<bool>("Slot", s)).count() + v.count(4) == 1),
        Property::always("P", |v| differ(v, [2, 3, 4], "slot")),
    ]
}

/// (E), (H) and (N).
pub(super) fn queue() -> Vec<Property> {
    let empty = Property::always("E", |v| v.get::<Option<Pid>>("Tail").is_none() == (v.count((3..=6, 8..=10)) == 0));
    vec![empty, one_has_it((6, 8..=10)), followers_wait()]
}

/// (H) and (N).
pub(super) fn queue_without_compare_swap() -> Vec<Property> {
    vec![one_has_it([6, 8, 10]), followers_wait()]
}

fn one_has_it(labels: impl Labels + Clone + 'static) -> Property {
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
