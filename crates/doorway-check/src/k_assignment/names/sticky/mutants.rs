//! Faults in names that stick.

use super::passages::{Sticky, world};
use crate::mutants::rows::*;
use crate::sim::{Rules, Sim, TextError, World};
use doorway_core::k_assignment::names::sticky::{StickyNames, Taken};
use doorway_core::memory::Here;
use doorway_core::registry::Sizes;
use std::convert::Infallible;

/// Why no memory can seed it.
const BEGINS: &str = "begins its search elsewhere";

#[rustfmt::skip] // a table
pub(crate) const MUTANTS: &[Mutant] = &[
    mutant(row("sticky-names", "blind:2"), (2, 2, Some(3)), Some(("unique-names", 4)), "sticky-names-writes-blindly", "2 is a write: two that found a name free have it"),
    mutant(row("sticky-names", "read:1#process=0,blind:2"), (2, 2, Some(3)), Some(("unique-names", 4)), "sticky-names-takes-what-is-taken", "1 takes a name even if another process has it"),
    mutant(row("sticky-names", "drop:1x4..=16777217"), (2, 2, Some(3)), Some(("S2", 8)), "sticky-names-looks-once", "a process that found all names taken, one after the other, is turned away"),
    mutant(row("sticky-names", "write:2#times=old,write:4#times-1"), (2, 2, Some(4)), Some(("S2", 16)), "sticky-names-never-counts", "2 leaves the number as it was: changes between two looks are not seen"),
    mutant(row("sticky-names", "write:4#times=0"), (2, 2, Some(4)), Some(("S2", 16)), "sticky-names-counts-anew", "4 restarts the number"),
    mutant(row("sticky-names", "drop:4"), (2, 2, Some(3)), Some(("S2", 10)), "sticky-names-never-gives-back", "4 dropped"),
    mutant(row("sticky-names", "to:4:[+1]"), (2, 2, Some(3)), Some(("unique-names", 7)), "sticky-names-gives-another-back", "4 writes the next name's word"),
    mutant(own("sticky-names", SIZES, one_name_too_many), (2, 1, Some(2)), Some(("k-exclusion", 6)), "sticky-names-one-too-many", "there is one name too many"),
    mutant(row("sticky-names", "init:holder[1]#process=256"), (2, 2, Some(3)), Some(("S2", 7)), "sticky-names-starts-taken", "the last name is taken, but no process has it"),
    mutant(own("sticky-names", BEGINS, searches_from_zero), (2, 2, Some(3)), HOLDS, "sticky-names-searches-from-zero", "begins with name 0, not with the one that it had last (control: it is only slower)"),
];

fn one_name_too_many(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
    world(sizes, rules, |site| StickyNames::new(site, sizes.k + 1))
}

/// Every process begins with name 0.
struct FromZero(StickyNames<Sim>);

impl Sticky for FromZero {
    type Taken = Taken;

    async fn take(&self, p: Here<'_, Sim>, me: u64, _: usize) -> Result<Option<Taken>, Infallible> {
        self.0.take(p, me, 0).await
    }

    async fn is_taken(&self, p: Here<'_, Sim>, name: usize) -> Result<bool, Infallible> {
        self.0.is_taken(p, name).await
    }

    async fn give_back(&self, p: Here<'_, Sim>, taken: Taken) -> Result<(), Infallible> {
        self.0.give_back(p, taken).await
    }

    fn name(taken: &Taken) -> usize {
        taken.name()
    }
}

fn searches_from_zero(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
    world(sizes, rules, |site| FromZero(StickyNames::new(site, sizes.k)))
}
