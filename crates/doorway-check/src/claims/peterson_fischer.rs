//! The invariants of Peterson and Fischer's two-process mutex, as its file states them.

use crate::Property;
use doorway_core::mutex::peterson_fischer_77::Sign;

pub(super) fn two_process() -> Vec<Property> {
    vec![
        Property::always("Q", |v| v.processes().all(|i| (v.get_at::<Sign>("q", i) == Sign::Nil) == v.at(i, 0..=2))),
        Property::always("G", |v| {
            let q = |i| v.get_at::<Sign>("q", i);
            !v.any(6, |i| v.at(1 - i, 5) && q(i) == q(1 - i).gives_way(i))
        }),
    ]
}
