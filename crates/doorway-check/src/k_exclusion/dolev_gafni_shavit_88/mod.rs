//! What Dolev, Gafni and Shavit's proofs rest on, as the files of `dolev_gafni_shavit_88` state it.

pub(crate) mod mutants;

use crate::Property;
use crate::checked::{Checked, Merges, checked_entry};
use crate::claims::together;
use crate::property::View;
use crate::sim::Rules;
use crate::sim::{Canon, Facts, Layout, Phase, Shift, VarId};
use doorway_core::k_exclusion::dolev_gafni_shavit_88::Mine;
use doorway_core::registry::{Dgs, DgsAsPrinted, DgsUnfair, Sizes};

impl Checked for Dgs {
    checked_entry!();

    fn claims(_: Sizes) -> Vec<Property> {
        invariants()
    }

    const MERGES: Merges = Merges::IfAsked;

    fn canon(layout: &Layout, _: Sizes, _: Rules) -> Option<Box<dyn Canon>> {
        Some(Box::new(Forks::new(layout)))
    }
}

impl Checked for DgsUnfair {
    checked_entry!();

    fn claims(_: Sizes) -> Vec<Property> {
        together([vec![largest_id_enters()], invariants()])
    }

    const MERGES: Merges = Merges::IfAsked;

    fn canon(layout: &Layout, _: Sizes, _: Rules) -> Option<Box<dyn Canon>> {
        Some(Box::new(Forks::new(layout)))
    }

    fn asked_of_any_text(_: Sizes) -> Vec<Property> {
        vec![largest_id_enters()]
    }
}

impl Checked for DgsAsPrinted {
    checked_entry!();

    fn claims(_: Sizes) -> Vec<Property> {
        invariants()
    }

    const MERGES: Merges = Merges::IfAsked;

    fn canon(layout: &Layout, _: Sizes, _: Rules) -> Option<Box<dyn Canon>> {
        Some(Box::new(Forks::new(layout)))
    }
}

/// (X), (W), (H) and (CL5).
fn invariants() -> Vec<Property> {
    let of_each_fork = [
        Property::always("W", |v| {
            sides(v).all(|(s, owner)| {
                let Mine { f, w } = v.get_at("mine", s);
                let bits = [("f", f), ("wp", w), ("wq", w)];
                v.label(owner) != 0
                    || v.has_crashed(owner)
                    || bits.iter().all(|&(bit, is)| v.get_at::<bool>(bit, s) == is)
            })
        }),
        Property::always("H", |v| {
            let f = [0, 1].map(|s| v.get_at::<Mine>("mine", s).f);
            let holder = usize::from(f[0] == f[1]);
            sides(v).all(|(s, owner)| {
                v.label(owner) != 0 || v.has_crashed(owner) || !v.get_at::<Mine>("mine", s).w || s == holder
            })
        }),
    ];
    let mut claims = vec![Property::always("X", |v| {
        v.processes().all(|p| !v.at(p, 2..=10) || v.has_crashed(p) || v.get_at("x", p))
    })];
    claims.extend(of_each_fork.map(|claim| claim.each("fork")));
    claims.push(Property::always("CL5", |v| {
        let inside: u64 = v.processes().filter(|&p| v.phase(p) == Phase::Inside).map(|p| 1u64 << p).sum();
        let reached = |p: usize| v.shown::<u64>(p, "S").unwrap_or(0);
        inside == 0 || v.processes().any(|p| inside >> p & 1 == 1 && inside & !reached(p) == 0)
    }));
    claims
}

/// Corollary 2: the process with the largest id among those alive outside their remainders enters,
/// unless a larger one comes.
fn largest_id_enters() -> Property {
    fn is_largest(v: &View<'_>, p: usize) -> bool {
        let competes = |q: usize| !v.has_crashed(q) && v.phase(q) != Phase::Remainder;
        v.phase(p) == Phase::Entry && !(p + 1..v.processes().end).any(competes)
    }
    Property::leads_to("largest-id-enters", is_largest, |v, p| !is_largest(v, p))
}

/// Both sides of the fork in view, and their processes.
fn sides<'a>(v: &'a View<'_>) -> impl Iterator<Item = (usize, usize)> + 'a {
    (0..2).map(|s| (s, v.home_of("mine", s)))
}

/// Which states are alike. It only matters whether the two `f` of a fork are equal. So each fork
/// can be written in two ways, and the one whose `f[0]` has its initial value stands for both.
#[derive(Debug)]
struct Forks {
    /// For each variable: the fork whose `f`, or copy of it, is in its lowest bit.
    has_f: Vec<Option<usize>>,
    /// For each fork: its `f[0]`.
    first: Vec<usize>,
}

impl Forks {
    fn new(layout: &Layout) -> Self {
        let mut has_f = vec![None; layout.vars().len()];
        let mut first = Vec::new();
        for part in layout.parts_of_kind("fork") {
            for (name, side) in [("f", 0), ("f", 1), ("mine", 0), ("mine", 1)] {
                let Some(v) = layout.find(part, name, side) else { continue };
                if (name, side) == ("f", 0) {
                    first.push(v as usize);
                }
                has_f[v as usize] = Some(first.len() - 1);
            }
        }
        // A shift has this many bits.
        first.truncate(64);
        has_f.iter_mut().for_each(|fork| *fork = fork.filter(|&fork| fork < first.len()));
        Self { has_f, first }
    }
}

impl Canon for Forks {
    fn settle(&self, _: &mut [u64]) {}

    fn is_stale(&self, _: &[u64], _: &Facts) -> bool {
        false
    }

    fn base(&self, vars: &[u64]) -> Shift {
        let flipped = self.first.iter().zip(0..).filter(|(v, _)| vars[**v] == 0);
        [flipped.map(|(_, fork)| 1u64 << fork).sum(), 0, 0]
    }

    fn of_process(&self, vars: &[u64], _: &Facts) -> Shift {
        self.base(vars)
    }

    fn shift(&self, vars: &mut [u64], by: Shift) {
        for (v, word) in (0..).zip(vars) {
            *word = self.moved(v, *word, by);
        }
    }

    fn moved(&self, var: VarId, word: u64, [flipped, ..]: Shift) -> u64 {
        word ^ self.has_f[var as usize].map_or(0, |fork| flipped >> fork & 1)
    }

    fn waiting(&self, _: &[u64]) -> i64 {
        0
    }

    fn of_the_dead(&self, facts: &Facts) -> u64 {
        facts.get("S").unwrap_or(0)
    }
}
