//! Names from a bitmap, the lowest that is free first: for many.
//!
//! # Problem
//! [k-assignment](crate::k_assignment): whoever is inside holds a name of `0..k` that nobody else inside holds.
//!
//! # Source
//! Our own, after Anderson and Moir's Figure 7 ([`Renaming`](super::anderson_moir_94::Renaming)): sixty-four of its bits are tried at a time.
//!
//! # Idea
//! At most `k` processes are past the k-exclusion. Each reads a word of the bitmap, takes the lowest name that is free at or above the last one it tried, and sets its bit; if
//! another one was faster, it goes on above that name. Names below are taken by others or were free when it read them, so that a free one at or above remains.
//!
//! # Shared variables
//! | name              | range   | initially | home   | written at | meaning |
//! |-------------------|---------|-----------|--------|------------|---------|
//! | `taken[0..k/64]`  | 64 bits | 0         | nobody | 3, 4       | which names are held |
//! | `mark[0..k]`      | [mark](super::Mark) | clear, 0 | its holder | 7, 8 | the number of its last holder; while it is held, which comes next |
//!
//! and those of the k-exclusion inside.
//!
//! # Invariants (all checked)
//! - assumed: at most `k` processes are at 2 to 4
//! - unique names: the names of processes inside are different, and below `k`
//! - (B1) a bit is set exactly while some process has its name
//! - (F) the fence number of a holder is larger than that of every earlier holder of the same name
//! - (B2) when a process is about to try the names from `low` on, one of them is held by nobody
//!
//! # Cost, faults, fairness
//! One load and one read-modify-write to take a name while nobody else does, at most `k` of each; one to give it back. A load and a
//! store more for its fence number. A crashed holder keeps its name for ever, as it keeps its
//! place. Nobody waits here.

use super::{Mark, Name, Names};
use crate::memory::{FetchAdd, FetchOr, Here, Immediate, Memory, Site};
use core::fmt::Debug;

/// Names `0..k` in a bitmap, for at most `k` processes at a time.
#[derive(Debug)]
pub struct BitNames<M: Memory> {
    taken: M::Row<u64>,
    mark: M::Row<Mark>,
    k: usize,
    fences: bool,
}

impl<M: FetchOr + FetchAdd> BitNames<M> {
    #[inline(always)]
    async fn find(&self, p: Here<'_, M>, live: &impl Debug) -> Result<Option<u32>, M::Error> {
        let mut low = 0;
        while low < self.k {
            let word = low / 64;
            p.shows("low", low as u64);
            p.keep(2, &(low, live));
            let taken = p.at(2).read(&self.taken[word]).await?;
            let free = !taken & u64::MAX << (low % 64);
            if free == 0 {
                low = 64 * (word + 1);
                continue;
            }
            let name = 64 * word + free.trailing_zeros() as usize;
            if name >= self.k {
                break;
            }
            p.shows("low", name as u64);
            p.keep(3, &(name, live));
            let bit = 1 << (name % 64);
            if p.at(3).fetch_or(&self.taken[word], bit).await? & bit == 0 {
                p.hides("low");
                return Ok(Some(name as u32));
            }
            low = name + 1;
        }
        p.hides("low");
        Ok(None)
    }
}

impl<M: FetchOr + FetchAdd> Names<M> for BitNames<M> {
    fn new(site: &Site<'_, M>, k: usize, fences: Option<u64>) -> Self {
        Self {
            taken: site.row("taken", k.div_ceil(64), |_| 0.into()),
            mark: site.row("mark", k, |_| Mark::free(fences.unwrap_or(0)).into()),
            k,
            fences: fences.is_some(),
        }
    }

    #[inline(always)]
    async fn take(&self, p: Here<'_, M>, fence: u64, live: &impl Debug) -> Result<Option<Name>, M::Error> {
        let Some(slot) = self.find(p, live).await? else { return Ok(None) };
        if !self.fences {
            return Ok(Some(Name { slot, fence: 0 }));
        }
        p.shows("takes", u64::from(slot));
        p.keep(6, &(slot, fence, live));
        let last = p.at(6).read(&self.mark[slot as usize]).await?.last().unwrap_or(0);
        p.hides("takes");
        Ok(Some(Name { slot, fence: last.wrapping_add(1).max(fence) }))
    }

    #[inline(always)]
    async fn give_back(&self, p: Here<'_, M>, name: Name) -> Result<(), M::Error> {
        let slot = name.slot as usize;
        if self.fences {
            p.at(7).write_in_passing(&self.mark[slot], Mark::free(name.fence)).await?;
        }
        let bit = 1u64 << (slot % 64);
        p.at(4).fetch_add(&self.taken[slot / 64], bit.wrapping_neg()).await?; // the bit is set, and nobody else clears it
        Ok(())
    }

    fn take_now(&self, p: Here<'_, M>, fence: u64) -> Option<Name>
    where
        M: Immediate,
    {
        M::now(self.take(p, fence, &()))
    }

    fn give_back_now(&self, p: Here<'_, M>, name: Name)
    where
        M: Immediate,
    {
        M::now(self.give_back(p, name));
    }

    fn link(&self, p: Here<'_, M>, slot: u32, next: u32) -> impl Future<Output = Result<(), M::Error>> {
        p.at(8).write_in_passing(&self.mark[slot as usize], Mark::taken(next))
    }

    async fn linked(&self, p: Here<'_, M>, slot: u32) -> Result<u32, M::Error> {
        Ok(p.at(9).read(&self.mark[slot as usize]).await?.next())
    }

    async fn is_taken(&self, p: Here<'_, M>, slot: usize) -> Result<bool, M::Error> {
        Ok(p.at(2).read(&self.taken[slot / 64]).await? >> (slot % 64) & 1 == 1)
    }
}
