//! What Dolev, Gafni and Shavit's proofs rest on, as the files of `dolev_gafni_shavit_88` state it.

use crate::Property;
use crate::property::View;
use crate::sim::Phase;
use doorway_core::k_exclusion::dolev_gafni_shavit_88::Mine;

/// (X), (W), (H) and (CL5).
pub(super) fn invariants() -> Vec<Property> {
    let of_each_fork = [
        Property::always("W", |v| {
            sides(v).all(|(s, owner)| {
                let Mine { f, w } = v.get_at("mine", s);
                let bits = [("f", f), ("wp", w), ("wq", w)];
                v.label(owner) != 0 || bits.iter().all(|&(bit, is)| v.get_at::<bool>(bit, s) == is)
            })
        }),
        Property::always("H", |v| {
            let f = [0, 1].map(|s| v.get_at::<Mine>("mine", s).f);
            let holder = usize::from(f[0] == f[1]);
            sides(v).all(|(s, owner)| v.label(owner) != 0 || !v.get_at::<Mine>("mine", s).w || s == holder)
        }),
    ];
    let mut claims = vec![Property::always("X", |v| v.processes().all(|p| !v.at(p, 2..=10) || v.get_at("x", p)))];
    claims.extend(of_each_fork.map(|claim| claim.each("fork")));
    claims.push(Property::always("CL5", |v| {
        let inside: u64 = v.processes().filter(|&p| v.phase(p) == Phase::Inside).map(|p| 1u64 << p).sum();
        let reached = |p: usize| v.shown::<u64>(p, "S").unwrap_or(0);
        inside == 0 || v.processes().any(|p| inside >> p & 1 == 1 && inside & !reached(p) == 0)
    }));
    claims
}

/// Corollary 2: whoever has the largest id among those alive outside their remainders enters, unless a larger one comes.
pub(super) fn largest_id_enters() -> Property {
    fn is_largest(v: &View<'_>, p: usize) -> bool {
        let competes = |q: usize| !v.has_crashed(q) && v.phase(q) != Phase::Remainder;
        v.phase(p) == Phase::Entry && !(p + 1..v.processes().end).any(competes)
    }
    Property::leads_to("largest-id-enters", is_largest, |v, p| !is_largest(v, p))
}

/// Both sides of the fork in view, and whose they are.
fn sides<'a>(v: &'a View<'_>) -> impl Iterator<Item = (usize, usize)> + 'a {
    (0..2).map(|s| (s, v.home_of("mine", s)))
}
