//! The invariants of Lamport's Bakery and of his fast mutex, as their files state them.

use crate::Property;
use doorway_core::memory::Pid;

pub(super) fn bakery() -> Vec<Property> {
    vec![
        Property::always("T", |v| {
            v.processes().all(|p| (v.get_at::<u64>("Ticket", p) == 0) == v.at(p, [0, 3, 41, 42, 51]))
        }),
        Property::always("D", |v| v.processes().all(|p| v.get_at::<bool>("Doorway", p) == v.at(p, [41, 42, 5, 51]))),
        Property::always("U", |v| {
            let place = |p| (v.get_at::<u64>("Ticket", p), p);
            v.processes()
                .filter(|&p| v.at(p, 9))
                .all(|p| v.processes().filter(|&q| v.past_doorway(q) && !v.at(q, 10)).all(|q| place(p) <= place(q)))
        }),
    ]
}

pub(super) fn fast() -> Vec<Property> {
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
