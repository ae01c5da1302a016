//! Names from a row of flags, the lowest that is free first: for few.
//!
//! # Problem
//! [k-assignment](crate::k_assignment): whoever is inside holds a name of `0..k` that nobody else inside holds.
//!
//! # Source
//! Anderson and Moir's Figure 7 ([`Renaming`](crate::k_assignment::anderson_moir_94::Renaming)), with a look at each flag before it is tried.
//!
//! # Idea
//! As there. The look spares an exchange for each name that is held, and giving a name back is a plain write: so a name costs one read-modify-write and not two.
//!
//! # Shared variables
//! | name            | range | initially | home   | written at | meaning |
//! |-----------------|-------|-----------|--------|------------|---------|
//! | `taken[0..k]`   | bool  | clear     | nobody | 3, 4       | whether the name is held |
//!
//! # Invariants (all checked)
//! - assumed: at most `k` processes are at 2 to 4
//! - unique names: the names of processes inside are different, and below `k`
//! - (B1) a flag is set exactly while some process has its name
//! - (B2) when a process is about to try the names from `low` on, one of them is held by nobody
//!
//! # Cost, faults, fairness
//! One read-modify-write to take a name while nobody else does, and as many loads as there are lower names; at most `k` of each. One write to give it back. A crashed holder
//! keeps its name for ever, as it keeps its place. Nobody waits here.

use super::Names;
use crate::memory::{Here, Immediate, Memory, Site, Swap, Word, in_both_forms};
use core::fmt::Debug;

/// Whether a name is held. Nobody waits for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Taken(pub bool);

impl Word for Taken {
    const WHOLE: bool = true;
    const AWAITED: bool = false;
    const SPREAD: bool = true;

    #[inline(always)]
    fn pack(self) -> u64 {
        u64::from(self.0)
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self(word != 0)
    }
}

/// Names `0..k` in flags, for at most `k` processes at a time.
#[derive(Debug)]
pub struct FlagNames<M: Memory> {
    taken: M::Row<Taken>,
    k: usize,
}

impl<M: Swap> FlagNames<M> {
    in_both_forms! {
        /// Takes the lowest free name: 2, 3.
        #[inline(always)]
        fn find, find_now<D: Debug>(&self, p: Here<'_, M>, live: &D) -> Option<usize> {'text: {
            for name in 0..self.k {
                let flag = &self.taken[name];
                p.shows("low", name as u64);
                p.keep(2, &(name, live));
                if access!(p.at(2).read(flag)).0 {
                    continue;
                }
                p.keep(3, &(name, live));
                if !access!(p.at(3).swap(flag, Taken(true))).0 {
                    p.hides("low");
                    break 'text Some(name);
                }
            }
            p.hides("low");
            None
        }}

        /// Gives it back: 4.
        #[inline(always)]
        fn free, free_now(&self, p: Here<'_, M>, name: usize) -> () {
            access!(p.at(4).write_in_passing(&self.taken[name], Taken(false)));
        }
    }
}

impl<M: Swap> Names<M> for FlagNames<M> {
    fn new(site: &Site<'_, M>, k: usize) -> Self {
        Self { taken: site.row("taken", k, |_| Taken(false).into()), k }
    }

    fn take(&self, p: Here<'_, M>, live: &impl Debug) -> impl Future<Output = Result<Option<usize>, M::Error>> {
        self.find(p, live)
    }

    fn give_back(&self, p: Here<'_, M>, name: usize) -> impl Future<Output = Result<(), M::Error>> {
        self.free(p, name)
    }

    #[inline(always)]
    fn take_now(&self, p: Here<'_, M>) -> Option<usize>
    where
        M: Immediate,
    {
        self.find_now(p, &())
    }

    #[inline(always)]
    fn give_back_now(&self, p: Here<'_, M>, name: usize)
    where
        M: Immediate,
    {
        self.free_now(p, name);
    }

    async fn is_taken(&self, p: Here<'_, M>, name: usize) -> Result<bool, M::Error> {
        Ok(p.at(2).read(&self.taken[name]).await?.0)
    }
}
