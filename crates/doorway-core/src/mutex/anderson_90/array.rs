//! Mutual exclusion by a ring of slots around which the lock travels.
//!
//! # Problem
//! Mutual exclusion, first come, first served, in which waiters do not all wait for the same word.
//!
//! # Source
//! T. E. Anderson 1990, the queue lock in an array. This text follows textbooks; we did not compare
//! it with the original print. Statement numbers are ours.
//!
//! # Idea
//! Fetch-and-add gives each process a slot of a ring. The lock is in one of the slots. A process
//! that finds the lock in its own slot takes it, and on its way out puts it into the next slot.
//!
//! # Shared variables
//! | name           | range  | initially     | home   | written at | meaning |
//! |----------------|--------|---------------|--------|------------|---------|
//! | `Next`         | 0..M   | 0             | nobody | 1          | the next slot to be given out |
//! | `Slot[0..M]`   | bool   | true for 0, otherwise false | nobody | 3, 5 | the lock is here |
//!
//! `M` is the [smallest power of two](slots) that is at least `N`. `Next` may therefore wrap where
//! its word does, and no two waiters have the same slot.
//!
//! # Invariants (checked)
//! - (O) there is one lock, in a slot or with the process inside:
//!   `|{s : Slot[s]}| + |{p : p@4}| = 1`
//! - (P) the slots of the processes at `{2,3,4}` differ
//!
//! # Cost, faults, fairness
//! A constant number of remote references with coherent caches (at most 5; the figure is ours),
//! unbounded in the DSM model: a process does not know in advance at which slot it will wait, so no
//! slot can live with its waiter. No crash is tolerated. First come, first served; the doorway is
//! statement 1.

use crate::Failure;
use crate::k_exclusion::KExclusion;
use crate::memory::{FetchAdd, Mark, Memory, Process, Site, decl};
use crate::mutex::MutualExclusion;
use core::convert::Infallible;

/// A ring of slots.
#[derive(Debug)]
pub struct ArrayLock<M: Memory> {
    part: M::Part,
    slots: usize,
    next: M::Var<u64>,
    slot: M::Row<bool>,
}

/// The number of slots for `n` processes.
///
/// ```
/// assert_eq!([1, 2, 3, 5].map(doorway_core::mutex::anderson_90::slots), [2, 2, 4, 8]);
/// ```
#[must_use]
pub const fn slots(n: usize) -> usize {
    let slots = n.next_power_of_two();
    if slots < 2 { 2 } else { slots }
}

impl<M: FetchAdd> ArrayLock<M> {
    /// A lock for `n` processes.
    pub fn new(site: &Site<'_, M>, n: usize) -> Self {
        let slots = slots(n);
        Self {
            part: site.here(),
            slots,
            next: site.var("Next", decl(0).wraps_at(slots.trailing_zeros())),
            slot: site.row("Slot", slots, |i| decl(i == 0)),
        }
    }
}

impl<M: FetchAdd> MutualExclusion<M> for ArrayLock<M> {}

impl<M: FetchAdd> KExclusion<M> for ArrayLock<M> {
    /// The slot.
    type Held = usize;
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<usize, Failure<M::Error>> {
        let p = p.on(self.part);
        let mine = p.at(1).fetch_add(&self.next, 1).await? as usize;
        p.mark(Mark::DoorwayEnds);
        p.holds("slot", mine as u64);
        p.at(2).keeping(&mine).wait_until(&self.slot[mine], |here| here).await?;
        // Otherwise the process that gets this slot a round later would find the lock in it.
        p.at(3).keeping(&mine).write(&self.slot[mine], false).await?;
        p.mark(Mark::Rests(4));
        Ok(mine)
    }

    async fn release(&self, p: &Process<M>, mine: usize) -> Result<(), M::Error> {
        p.on(self.part).at(5).write(&self.slot[(mine + 1) % self.slots], true).await
    }
}
