//! What resilient objects claim: (R1) to (R6) of the universal construction, as its file states
//! them.

pub(crate) mod in_use;
pub(crate) mod mutants;

use crate::Property;
use crate::checked::{Checked, checked_entry};
use crate::claims::together;
use crate::property::View;
use crate::sim::{Phase, Rules, Sequential, TextError, World};
use doorway_core::memory::Word;
use doorway_core::mutex::yang_anderson_93::{Affine, Combinable};
use doorway_core::registry::{Resilient, ResilientAm, Sizes, Universal, UniversalInUse};
use doorway_core::resilient::in_words::{FAILED, Request};
use doorway_core::resilient::{Announced, Applied, Buffer, Buffers, Hazard, Head};
use std::marker::PhantomData;

impl Checked for Universal {
    checked_entry!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        together([vec![linearizable()], invariants(sizes, "")])
    }

    fn asked_of_any_text(sizes: Sizes) -> Vec<Property> {
        relied_on(linearizable(), sizes, "")
    }
}

impl Checked for Resilient {
    checked_entry!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        together([vec![linearizable()], invariants(sizes, "inside")])
    }

    fn asked_of_any_text(sizes: Sizes) -> Vec<Property> {
        relied_on(linearizable(), sizes, "inside")
    }
}

impl Checked for ResilientAm {
    checked_entry!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        together([vec![linearizable()], invariants(sizes, "inside")])
    }

    fn asked_of_any_text(sizes: Sizes) -> Vec<Property> {
        relied_on(linearizable(), sizes, "inside")
    }
}

impl Checked for UniversalInUse {
    fn world(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
        if rules.give_ups { Err(TextError::CannotGiveUp) } else { in_use::shipped(sizes, rules) }
    }

    fn claims(sizes: Sizes) -> Vec<Property> {
        together([vec![linearizable_although_some_fail()], invariants(sizes, "")])
    }

    fn asked_of_any_text(sizes: Sizes) -> Vec<Property> {
        relied_on(linearizable_although_some_fail(), sizes, "")
    }
}

fn linearizable_although_some_fail() -> Property {
    Property::linearizable("linearizable", Maps::<Affine<5>>::that_fail(in_use::fails))
}

/// What the memory of its users relies on, whatever the text.
fn relied_on(linearizable: Property, sizes: Sizes, part: &'static str) -> Vec<Property> {
    let relied_on = |claim: &Property| matches!(claim.name(), "R3" | "R4");
    std::iter::once(linearizable).chain(invariants(sizes, part).into_iter().filter(relied_on)).collect()
}

/// Maps on a value, one after the other, as in
/// [`InWords`](doorway_core::resilient::in_words::InWords). Some may fail on some values; then they
/// have no effect.
pub struct Maps<F: Combinable> {
    fails: fn(F::Op, u64) -> bool,
    of: PhantomData<fn() -> F>,
}

impl<F: Combinable> std::fmt::Debug for Maps<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Maps")
    }
}

impl<F: Combinable<Value = u64>> Maps<F> {
    /// On the value 0; these maps fail.
    #[must_use]
    pub fn that_fail(fails: fn(F::Op, u64) -> bool) -> Self {
        Self { fails, of: PhantomData }
    }
}

impl<F: Combinable<Value = u64>> Default for Maps<F> {
    fn default() -> Self {
        Self::that_fail(|_, _| false)
    }
}

impl<F: Combinable<Value = u64>> Sequential for Maps<F> {
    type State = u64;
    type Op = u64;
    type Response = u64;

    fn initial(&self) -> u64 {
        0
    }

    fn apply(&self, value: &u64, tag: u64) -> (u64, u64) {
        match Request::<F::Op>::unpack(tag).0 {
            None => (*value, *value),
            Some(op) if (self.fails)(op, *value) => (*value, FAILED),
            Some(op) => (F::apply(op, *value), *value),
        }
    }
}

/// As the registry runs it.
fn linearizable() -> Property {
    Property::linearizable("linearizable", Maps::<Affine<5>>::default())
}

/// Steps of an operation: three attempts with up to `4k + 4` steps each, `k + 1` to announce, and
/// three to find and take the response.
fn steps(k: usize) -> usize {
    3 * (4 * k + 4) + (k + 1) + 3
}

/// (R2) to (R6), of the part of this kind.
fn invariants(sizes: Sizes, part: &'static str) -> Vec<Property> {
    let k = sizes.k;
    // If nothing comes before an operation, it has begun when its first step is done.
    let steps = steps(k) as u32 - u32::from(part.is_empty());
    let properties = vec![
        Property::always("R2", move |v| v.processes().all(|p| !v.at(p, 10) || adds_once(v, p, k))),
        Property::always("R3", |v| v.processes().all(|p| writes_alone(v, p))),
        Property::always("R4", |v| {
            let free = |p| v.shown::<Buffers>(p, "free").is_none_or(|free| free.0 != 0);
            v.processes().all(|p| free(p) && v.shown::<u64>(p, "cells").is_none_or(|cells| cells != 0))
        }),
        Property::always("R5", |v| v.processes().all(|p| v.shown::<bool>(p, "found").is_none_or(|found| found))),
        Property::own_steps("R6", steps, |v, p| v.phase(p) != Phase::Remainder && v.shown::<u64>(p, "p").is_some()),
    ];
    properties.into_iter().map(|property| property.each(part)).collect()
}

/// A process that swings `head` adds at most one operation of each name, which was not applied
/// before.
fn adds_once(v: &View<'_>, p: usize, k: usize) -> bool {
    let (Some(b), Some(w)) = (v.shown::<Buffer>(p, "b"), v.shown::<Buffer>(p, "w")) else { return false };
    let (Some(me), Some(s)) = (v.shown::<u64>(p, "p"), v.shown::<u64>(p, "s")) else { return false };
    let head = v.get::<Head>("head");
    if head.buffer != b || v.shown(p, "version") != Some(head.version) {
        return true; // it will not swing
    }
    let applied = |b: Buffer, q| v.get_in::<Applied>("app", (b.index(), q));
    (0..k).all(|q| {
        let (old, new) = (applied(b, q), applied(w, q));
        let asked = if q as u64 == me { s } else { v.get_at::<Announced>("ann", q).seq };
        new == old && q as u64 != me || new == Applied { seq: old.next(), loc: Some(w) } && new.seq == asked
    })
}

/// No process writes a buffer or a cell that another reads or writes.
fn writes_alone(v: &View<'_>, p: usize) -> bool {
    let others = || v.processes().filter(move |&q| q != p);
    let w = v.shown::<Buffer>(p, "w").filter(|_| v.at(p, 7..=10));
    let in_place = w.is_none_or(|w| {
        let copies = |q| v.at(q, ([17, 18], 6..=8)) && v.shown::<Buffer>(q, "b") == Some(w);
        let takes = |q| v.at(q, 16) && v.shown::<Buffer>(q, "l") == Some(w);
        let looks = |q| v.shown::<Buffer>(q, "looks at") == Some(w);
        let builds = |q| v.at(q, 7..=10) && v.shown::<Buffer>(q, "w") == Some(w);
        v.get::<Head>("head").buffer != w && !others().any(|q| copies(q) || takes(q) || looks(q) || builds(q))
    });
    let c = v.shown::<u64>(p, "c").filter(|_| v.at(p, 12));
    let cell_is_mine = c.is_none_or(|c| {
        let me = v.shown::<u64>(p, "p").unwrap_or(0) as usize;
        let applies = |q| {
            let pending = v.shown::<u64>(q, "pending").unwrap_or(0) >> me & 1 == 1;
            let hazard = v.shown::<Hazard>(q, "hazard").map(|hazard| u64::from(hazard.cell(me)));
            v.at(q, ([17, 18], 6..=8)) && pending && hazard == Some(c)
        };
        !others().any(applies)
    });
    in_place && cell_is_mine
}
