//! Anderson and Moir's invariants, as the files of `anderson_moir_94` state them.

use crate::Property;
use doorway_core::memory::Pid;
use doorway_core::registry::Sizes;

/// (I1) to (I4) and (U1), of every slot. A slot's index is its capacity.
pub(super) fn slots() -> Vec<Property> {
    let claims = [
        Property::always("I1", |v| v.count(2..=7) <= v.index() + 1),
        Property::always("I2", |v| v.get::<i64>("X") == v.index() as i64 - v.count(3..=6) as i64),
        Property::always("I3", |v| {
            v.get::<i64>("X") >= 0 || v.count(3) > 0 || v.any(4..=5, |p| v.get::<Pid>("Q").index() == p)
        }),
        Property::always("I4", |v| v.count(6) <= v.index()),
        Property::unless("U1", |v, p| v.at(p, 5) && v.get::<Pid>("Q").index() != p, |v, p| v.at(p, 6)),
    ];
    claims.map(|claim| claim.each("slot")).into()
}

/// (F1) and (F2).
pub(super) fn fast_path(sizes: Sizes) -> Vec<Property> {
    let k = sizes.k;
    vec![
        Property::always("F1", move |v| v.get::<i64>("X") == k as i64 - v.count(4..=9) as i64),
        Property::always("F2", move |v| v.count(5..=6) <= 2 * k),
    ]
}
