//! k-assignment around any solution of k-exclusion: long-lived renaming.
//!
//! # Problem
//! [k-assignment](crate::k_assignment): each process inside holds a name of `0..k` that no other
//! process inside holds.
//!
//! # Source
//! Anderson and Moir, PODC 1994: **Figure 7**, Theorems 9 and 10.
//!
//! # Idea
//! At most `k` processes are past the k-exclusion. Each tries the bits `X[0]`, `X[1]`, … until it
//! sets one that was clear, and has that name. A process that finds all `k - 1` bits set takes the
//! last name without a bit: the `k - 1` others hold the names before it.
//!
//! # Shared variables
//! | name          | range | initially | home   | written at | meaning |
//! |---------------|-------|-----------|--------|------------|---------|
//! | `X[0..k-1]`   | bool  | clear     | nobody | 2, 3       | whether the name is held |
//!
//! and those of the k-exclusion inside.
//!
//! # Invariants (all checked)
//! - assumed: at most `k` processes are at 2 or 3
//! - (N1) the names of processes inside are different, and below `k`: this is "unique names"
//! - (N2) `X[i]` is set exactly while some process inside has the name `i`
//! - (N3) when a process is about to try `X[i]`, there is a name `j >= i` that no process holds
//!
//! # Cost, faults, fairness
//! `k` more remote references than the k-exclusion, in both machine models: `k - 1` to find a name,
//! one to give it back. A crashed holder keeps its name for ever, as it keeps its place; `k - 1` of
//! them are tolerated. No process waits here.
//!
//! # Departures from the paper
//! Statement 3 of the paper clears `X[name]` also for the name `k - 1`, which has no bit. This text
//! does not.

use crate::Failure;
use crate::k_assignment::KAssignment;
use crate::k_exclusion::KExclusion;
use crate::memory::{Mark, Memory, Process, Site, TestAndSet, within};

/// Figure 7 around a solution of k-exclusion.
#[derive(Debug)]
pub struct Renaming<M: Memory, Inner> {
    part: M::Part,
    x: M::Row<bool>,
    last: usize,
    inner: Inner,
}

/// A name, and what the k-exclusion holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Named<H> {
    /// The name.
    pub name: usize,
    /// What the k-exclusion holds.
    pub inner: H,
}

impl<M: TestAndSet, Inner> Renaming<M, Inner> {
    /// Names for a solution that lets `k` processes in. `inner` builds it on a site within this
    /// one.
    pub fn new(site: &Site<'_, M>, k: usize, inner: impl FnOnce(&Site<'_, M>) -> Inner) -> Self {
        let last = k - 1;
        Self {
            part: site.here(),
            x: site.row("X", last, |_| false.into()),
            last,
            inner: inner(&site.part("exclusion", None)),
        }
    }
}

impl<M: TestAndSet, Inner: KExclusion<M>> KExclusion<M> for Renaming<M, Inner> {
    type Held = Named<Inner::Held>;
    type Refusal = Inner::Refusal;

    async fn acquire(&self, p: &Process<M>) -> Result<Self::Held, Failure<M::Error, Self::Refusal>> {
        let here = p.on(self.part);
        here.part(&());
        let inner = self.inner.acquire(p).await?; // 1
        here.part_done();
        let mut name = 0;
        while name < self.last {
            here.shows("tries", name as u64);
            if !here.at(2).keeping(&(name, &inner)).test_and_set(&self.x[name]).await? {
                break;
            }
            name += 1;
        }
        here.hides("tries");
        here.holds("name", name as u64);
        here.mark(Mark::Rests(3));
        Ok(Named { name, inner })
    }

    async fn release(&self, p: &Process<M>, Named { name, inner }: Self::Held) -> Result<(), M::Error> {
        let here = p.on(self.part);
        if name < self.last {
            here.at(3).write(&self.x[name], false).await?;
        }
        here.mark(Mark::Rests(4));
        here.keep(4, &inner);
        within!(here, &(), self.inner.release(p, inner).await?);
        Ok(())
    }
}

impl<M: TestAndSet, Inner: KExclusion<M>> KAssignment<M> for Renaming<M, Inner> {
    fn name(held: &Self::Held) -> usize {
        held.name
    }
}
