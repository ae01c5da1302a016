//! Anderson and Moir's invariants, as the files of `anderson_moir_94` state them.

pub(crate) mod mutants;

use crate::Property;
use crate::checked::{Checked, checked_entry};
use crate::claims::together;
use crate::property::View;
use doorway_core::k_exclusion::anderson_moir_94::Loc;
use doorway_core::memory::Pid;
use doorway_core::registry::{
    AmChain, AmDsmChain, AmDsmFast, AmDsmGraceful, AmDsmTree, AmDsmUnbounded, AmFast, AmGraceful, AmQueue, AmTree,
    Sizes,
};

impl Checked for AmQueue {
    checked_entry!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        queue(sizes)
    }
}

impl Checked for AmChain {
    checked_entry!();

    fn claims(_: Sizes) -> Vec<Property> {
        cc_slots()
    }
}

impl Checked for AmTree {
    checked_entry!();

    fn claims(_: Sizes) -> Vec<Property> {
        cc_slots()
    }
}

impl Checked for AmFast {
    checked_entry!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        together([cc_slots(), fast_path(sizes, "")])
    }
}

impl Checked for AmGraceful {
    checked_entry!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        together([cc_slots(), nested(sizes)])
    }
}

impl Checked for AmDsmUnbounded {
    checked_entry!();

    fn claims(_: Sizes) -> Vec<Property> {
        dsm_unbounded_slots()
    }
}

impl Checked for AmDsmChain {
    checked_entry!();

    fn claims(_: Sizes) -> Vec<Property> {
        dsm_slots()
    }
}

impl Checked for AmDsmTree {
    checked_entry!();

    fn claims(_: Sizes) -> Vec<Property> {
        dsm_slots()
    }
}

impl Checked for AmDsmFast {
    checked_entry!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        together([dsm_slots(), fast_path(sizes, "")])
    }
}

impl Checked for AmDsmGraceful {
    checked_entry!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        together([dsm_slots(), nested(sizes)])
    }
}

/// (Q1) to (Q3).
fn queue(sizes: Sizes) -> Vec<Property> {
    let Sizes { n, k } = sizes;
    vec![
        Property::always("Q1", move |v| v.get::<i64>("X") == k as i64 - v.count(2..=3) as i64),
        Property::always("Q2", move |v| {
            let mut places: Vec<u64> = (0..n).map(|p| v.get_at("place", p)).filter(|&place| place > 0).collect();
            places.sort_unstable();
            places.into_iter().map(|place| place as i64).eq(1..=-v.get::<i64>("X"))
        }),
        Property::always("Q3", move |v| {
            v.processes().filter(|&p| v.at(p, 3) || v.at(p, 2) && v.get_at::<u64>("place", p) == 0).count() <= k
        }),
    ]
}

/// (I1) to (I4) and (U1), of every slot. The index of a slot is its capacity.
pub(crate) fn cc_slots() -> Vec<Property> {
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

/// (I5) to (I10) and (U2), of every slot.
fn dsm_unbounded_slots() -> Vec<Property> {
    fn next(v: &View<'_>, p: usize) -> Loc {
        Loc { pid: Pid::new(p), loc: v.get_at("next", p - v.rows_of("P").start) }
    }
    fn is_released(v: &View<'_>, p: usize) -> bool {
        v.get_in("P", next(v, p).at())
    }
    fn nobody_has(v: &View<'_>, loc: Loc) -> bool {
        v.processes().all(|q| v.shown::<Loc>(q, "v") != Some(loc))
    }
    /// A, B, C and D together.
    fn is_about_to_wait(v: &View<'_>, p: usize) -> bool {
        let finds_itself_alone = !v.at(p, 6..=7) || v.shown(p, "v") == Some(v.get::<Loc>("Q"));
        v.at(p, 3..=4) || v.at(p, 5..=9) && !is_released(v, p) && finds_itself_alone
    }
    let claims = [
        Property::always("I1", |v| v.count(2..=12) <= v.index() + 1),
        Property::always("I5", |v| v.get::<i64>("X") == v.index() as i64 - v.count(3..=10) as i64),
        Property::always("I6", |v| !v.any(4..=7, |p| v.get::<Loc>("Q") == next(v, p) || !nobody_has(v, next(v, p)))),
        Property::always("I7", |v| !v.any(5..=7, |p| is_released(v, p))),
        Property::always("I8", |v| {
            let needed = v.get::<i64>("X") < 0 && v.count(6..=7) > 0;
            !needed || v.any(3..=9, |r| is_about_to_wait(v, r) && (v.at(r, 3..=7) || nobody_has(v, next(v, r))))
        }),
        Property::always("I9", |v| v.get::<i64>("X") >= 0 || v.any(3..=9, |p| is_about_to_wait(v, p))),
        Property::always("I10", |v| v.count(10) <= v.index()),
        Property::unless("U2", |v, p| v.at(p, 5..=9) && is_released(v, p), |v, p| v.at(p, 10)),
    ];
    claims.map(|claim| claim.each("slot")).into()
}

/// (D0), which is assumed, to (D6), of every slot.
pub(crate) fn dsm_slots() -> Vec<Property> {
    fn next(v: &View<'_>, p: usize) -> Loc {
        v.shown(p, "next").expect("a process that looks for a location shows which")
    }
    let claims = [
        Property::always("D0", |v| v.count(2..=21) <= v.index() + 1),
        Property::always("D1", |v| v.get::<i64>("X") == v.index() as i64 - v.count(3..=16) as i64),
        Property::always("D2", |v| {
            v.rows_of("R").all(|p| {
                (0..v.index() + 2).all(|loc| {
                    let here = Loc { pid: Pid::new(p), loc: loc as u64 };
                    let pins = |&q: &usize| v.at(q, (9..=15, 19..=21)) && v.shown(q, "u") == Some(here);
                    v.get_in::<i64>("R", here.at()) == v.processes().filter(pins).count() as i64
                })
            })
        }),
        Property::always("D3", |v| !v.any(6..=11, |p| v.get::<Loc>("Q") == next(v, p))),
        Property::always("D4", |v| !v.any(7..=11, |p| v.get_in("P", next(v, p).at()))),
        Property::always("D5", |v| !v.any(4, |p| next(v, p).loc == v.get_at::<u64>("last", p - v.rows_of("P").start))),
        Property::always("D6", |v| v.count(16) <= v.index()),
    ];
    claims.map(|claim| claim.each("slot")).into()
}

/// (F1) and (F2), of the fast path, which is a part of this kind.
pub(crate) fn fast_path(sizes: Sizes, kind: &'static str) -> Vec<Property> {
    let k = sizes.k;
    let claims = [
        Property::always("F1", move |v| v.get::<i64>("X") == k as i64 - v.count(4..=9) as i64),
        Property::always("F2", move |v| v.count(5..=6) <= 2 * k),
    ];
    claims.map(|claim| claim.each(kind)).into()
}

/// (G1) to (G3), of every depth. The index of a depth is the number of depths around it.
fn nested(sizes: Sizes) -> Vec<Property> {
    fn is_fast(v: &View<'_>, p: usize) -> bool {
        v.shown(p, "fast") == Some(true)
    }
    let Sizes { n, k } = sizes;
    let claims = [
        Property::always("G1", move |v| {
            k.checked_sub(v.processes().filter(|&p| is_fast(v, p)).count()) == Some(v.get::<u64>("X") as usize)
        }),
        Property::always("G2", move |v| v.count(5..=6) <= 2 * k),
        Property::always("G3", move |v| {
            let slow = v.processes().filter(|&p| v.at(p, 4..=8) && !is_fast(v, p)).count();
            slow + (v.index() + 1) * k <= n
        }),
    ];
    claims.map(|claim| claim.each("depth")).into()
}
