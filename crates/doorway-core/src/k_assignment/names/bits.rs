//! Names from a bitmap, the lowest free one first: for many names.
//!
//! # Problem
//! [k-assignment](crate::k_assignment): each process inside holds a name of `0..k` that no other
//! process inside holds.
//!
//! # Source
//! Our own, after Anderson and Moir's Figure 7 ([`Renaming`](super::anderson_moir_94::Renaming)): a
//! process tries sixty-four of its bits at a time.
//!
//! # Idea
//! At most `k` processes are past the k-exclusion. Each reads a word of the bitmap, takes the
//! lowest free name at or above the last one it tried, and sets its bit. If another process was
//! faster, it goes on above that name. Other processes have the names below, or these were free
//! when it read them; so a free name at or above remains.
//!
//! # Shared variables
//! | name              | range   | initially | home   | written at | meaning |
//! |-------------------|---------|-----------|--------|------------|---------|
//! | `taken[0..k/64]`  | 64 bits | 0         | nobody | 3, 4       | which names are held |
//! | `after[0..k]`     | `0..k`  | 0         | its holder | 8      | which of its names comes next |
//! | `last[0..k]`      | number  | 0         | its holder | 7      | the largest fence number of its holders |
//!
//! and those of the k-exclusion inside.
//!
//! # Invariants (all checked)
//! - assumed: at most `k` processes are at 2 to 4
//! - unique names: the names of processes inside are different, and below `k`
//! - (B1) a bit is set exactly while some process has its name
//! - (F) the fence number of a holder is larger than that of every earlier holder of the same name
//! - (B2) when a process is about to try the names from `low` on, there is one among them that no
//!   process holds
//!
//! # Cost, faults, fairness
//! One load and one read-modify-write to take a name while no other process does, at most `k` of
//! each; one read-modify-write to give it back. A crashed holder keeps its name for ever, as it
//! keeps its place. No process waits here.

use super::{Names, Notes, Taken};
use crate::memory::{FetchAdd, FetchOr, Here, Immediate, LateRows, Site, in_both_forms};
use core::fmt::Debug;

/// Names `0..k` in a bitmap, for at most `k` processes at a time.
#[derive(Debug)]
pub struct BitNames<M: LateRows> {
    taken: M::Row<Taken>,
    notes: Notes<M>,
    k: usize,
}

impl<M: FetchOr + FetchAdd + LateRows> BitNames<M> {
    in_both_forms! {
        /// Takes the lowest free name: 2, 3.
        #[inline(always)]
        fn find, find_now<D: Debug>(&self, p: Here<'_, M>, live: &D) -> Option<u32> {'text: {
            let mut low = 0;
            while low < self.k {
                let word = low / 64;
                p.shows("low", low as u64);
                let Taken(taken) = access!(p.at(2).keeping(&(low, live)).read(&self.taken[word]));
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
                if access!(p.at(3).fetch_or(&self.taken[word], Taken(bit))).0 & bit == 0 {
                    p.hides("low");
                    break 'text Some(name as u32);
                }
                low = name + 1;
            }
            p.hides("low");
            None
        }}

        /// Gives a name back: 4.
        #[inline(always)]
        fn free, free_now(&self, p: Here<'_, M>, name: u32) -> () {
            let bit = 1u64 << (name % 64);
            // The bit is set, and no other process clears it.
            access!(p.at(4).fetch_add(&self.taken[name as usize / 64], Taken(bit.wrapping_neg())));
        }
    }
}

impl<M: FetchOr + FetchAdd + LateRows> Names<M> for BitNames<M> {
    fn new(site: &Site<'_, M>, k: usize, fences: Option<u64>) -> Self {
        Self { taken: site.row("taken", k.div_ceil(64), |_| Taken(0).into()), notes: Notes::new(site, k, fences), k }
    }

    fn take(&self, p: Here<'_, M>, live: &impl Debug) -> impl Future<Output = Result<Option<u32>, M::Error>> {
        self.find(p, live)
    }

    fn give_back(&self, p: Here<'_, M>, name: u32) -> impl Future<Output = Result<(), M::Error>> {
        self.free(p, name)
    }

    #[inline(always)]
    fn take_now(&self, p: Here<'_, M>) -> Option<u32>
    where
        M: Immediate,
    {
        self.find_now(p, &())
    }

    #[inline(always)]
    fn give_back_now(&self, p: Here<'_, M>, name: u32)
    where
        M: Immediate,
    {
        self.free_now(p, name);
    }

    async fn is_taken(&self, p: Here<'_, M>, name: usize) -> Result<bool, M::Error> {
        Ok(p.at(2).read(&self.taken[name / 64]).await?.0 >> (name % 64) & 1 == 1)
    }

    fn notes(&self) -> Option<&Notes<M>> {
        Some(&self.notes)
    }
}
