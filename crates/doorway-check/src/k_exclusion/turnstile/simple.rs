//! The invariants of the simple turnstile, as its file states them, and which of its states are
//! alike.

use crate::Property;
use crate::checked::{Checked, Merges, checked_entry};
use crate::sim::{Canon, Facts, Layout, Rules, Shift, VarId};
use doorway_core::k_exclusion::turnstile::{Next, Signal, simple_ring};
use doorway_core::registry::{Sizes, TurnstileSimple};

impl Checked for TurnstileSimple {
    checked_entry!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        invariants(sizes)
    }

    const MERGES: Merges = Merges::Always { lags: false };

    fn canon(layout: &Layout, sizes: Sizes, _: Rules) -> Option<Box<dyn Canon>> {
        Some(Box::new(Simple::new(layout, sizes)))
    }
}

fn difference(a: u64, b: u64) -> i64 {
    a.wrapping_sub(b) as i64
}

/// (S1) and (S2).
fn invariants(sizes: Sizes) -> Vec<Property> {
    let (ring, k) = (simple_ring(sizes.n, sizes.k), sizes.k as i64);
    vec![
        Property::always("S1", |v| {
            let counts = v.processes().filter(|&p| v.shown::<bool>(p, "counts").is_some()).count();
            difference(v.get::<Next>("next").0, v.get::<Next>("served").0) == counts as i64
        }),
        Property::always("S2", move |v| {
            let cell = |i: i64| v.get_at::<Signal>("cell", i as usize & (ring - 1)).0;
            let served = v.get::<Next>("served").0 as i64;
            // Signals minus served tickets: the last of them determines the others.
            let last = (0..ring as i64).map(|i| cell(i).wrapping_sub(served)).max().unwrap_or(0);
            let open = last.wrapping_add(served);
            last <= k && (0..ring as i64).all(|i| cell(open.wrapping_sub(1 + i)) == open.wrapping_sub(i))
        }),
    ]
}

/// Which states of a simple turnstile are alike.
///
/// Tickets are counted from the first that is not signalled, and the ring is turned with it. A
/// process that remembers only earlier tickets finds all of them signalled, wherever they are: the
/// last of them becomes the one just before the first.
#[derive(Debug)]
struct Simple {
    next: usize,
    served: usize,
    cell: usize,
    ring: usize,
    k: i64,
}

impl Simple {
    fn new(layout: &Layout, sizes: Sizes) -> Self {
        let find = |name: &str| {
            let known = layout.names().iter().position(|known| known.split('[').next() == Some(name));
            known.expect("a simple turnstile has all three")
        };
        let (next, served, cell) = (find("next"), find("served"), find("cell"));
        Self { next, served, cell, ring: simple_ring(sizes.n, sizes.k), k: sizes.k as i64 }
    }

    /// The first ticket that is not signalled. Mutants signal later ones too.
    fn first(&self, vars: &[u64]) -> u64 {
        let cells = &vars[self.cell..self.cell + self.ring];
        let least = cells.iter().map(|&signal| difference(signal, cells[0])).min().unwrap_or(0);
        cells[0].wrapping_add(least as u64).wrapping_add(self.ring as u64 - 1)
    }
}

impl Canon for Simple {
    fn settle(&self, _vars: &mut [u64]) {}

    fn is_stale(&self, _vars: &[u64], _facts: &Facts) -> bool {
        false
    }

    fn base(&self, vars: &[u64]) -> Shift {
        [self.first(vars), 0, 0]
    }

    fn of_process(&self, vars: &[u64], facts: &Facts) -> Shift {
        let first = self.first(vars);
        // These are the largest numbers that it remembers.
        let last = facts.get("ticket").or(facts.get("upto")).map_or(0, |t| difference(t, first) + 1);
        [first.wrapping_add(last.min(0) as u64), 0, 0]
    }

    fn shift(&self, vars: &mut [u64], by: Shift) {
        for word in vars.iter_mut() {
            *word = word.wrapping_sub(by[0]);
        }
        vars[self.cell..self.cell + self.ring].rotate_left(by[0] as usize & (self.ring - 1));
    }

    fn moved(&self, _var: VarId, word: u64, by: Shift) -> u64 {
        word.wrapping_sub(by[0])
    }

    fn waiting(&self, vars: &[u64]) -> i64 {
        difference(vars[self.next], vars[self.served]) - self.k
    }

    fn of_the_dead(&self, facts: &Facts) -> u64 {
        facts.get("counts").unwrap_or(0)
    }
}
