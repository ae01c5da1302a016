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
//!
//! and those of the k-exclusion inside.
//!
//! # Invariants (all checked)
//! - assumed: at most `k` processes are at 2 to 4
//! - unique names: the names of processes inside are different, and below `k`
//! - (B1) a bit is set exactly while some process has its name
//! - (B2) when a process is about to try the names from `low` on, one of them is held by nobody
//!
//! # Cost, faults, fairness
//! One load and one read-modify-write to take a name while nobody else does, at most `k` of each; one to give it back. A crashed holder keeps its name for ever, as it keeps its
//! place. Nobody waits here.

use super::Names;
use crate::memory::{FetchAdd, FetchOr, Here, Immediate, Memory, Site};
use core::fmt::Debug;

/// Names `0..k` in a bitmap, for at most `k` processes at a time.
#[derive(Debug)]
pub struct BitNames<M: Memory> {
    taken: M::Row<u64>,
    k: usize,
}

impl<M: FetchOr + FetchAdd> Names<M> for BitNames<M> {
    fn new(site: &Site<'_, M>, k: usize) -> Self {
        Self { taken: site.row("taken", k.div_ceil(64), |_| 0.into()), k }
    }

    #[inline(always)]
    async fn take(&self, p: Here<'_, M>, live: &impl Debug) -> Result<Option<usize>, M::Error> {
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
                return Ok(Some(name));
            }
            low = name + 1;
        }
        p.hides("low");
        Ok(None)
    }

    #[inline(always)]
    async fn give_back(&self, p: Here<'_, M>, name: usize) -> Result<(), M::Error> {
        let bit = 1u64 << (name % 64);
        p.at(4).fetch_add(&self.taken[name / 64], bit.wrapping_neg()).await?; // the bit is set, and nobody else clears it
        Ok(())
    }

    fn take_now(&self, p: Here<'_, M>) -> Option<usize>
    where
        M: Immediate,
    {
        M::now(self.take(p, &()))
    }

    fn give_back_now(&self, p: Here<'_, M>, name: usize)
    where
        M: Immediate,
    {
        M::now(self.give_back(p, name));
    }

    async fn is_taken(&self, p: Here<'_, M>, name: usize) -> Result<bool, M::Error> {
        Ok(p.at(2).read(&self.taken[name / 64]).await? >> (name % 64) & 1 == 1)
    }
}
