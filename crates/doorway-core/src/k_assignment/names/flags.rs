//! Names from a row of flags, the lowest free one first: for few names.
//!
//! # Problem
//! [k-assignment](crate::k_assignment): each process inside holds a name of `0..k` that no other
//! process inside holds.
//!
//! # Source
//! Anderson and Moir's Figure 7 ([`Renaming`](crate::k_assignment::anderson_moir_94::Renaming)),
//! with a look at each flag before a process tries it.
//!
//! # Idea
//! As there. In addition a process looks at each flag first, which spares an exchange for each name
//! that is held. Giving a name back is a plain write. So a name costs one read-modify-write and not
//! two. All set flags look alike, so a process that comes too late changes nothing when it sets one
//! again.
//!
//! # Shared variables
//! | name            | range | initially | home   | written at | meaning |
//! |-----------------|-------|-----------|--------|------------|---------|
//! | `taken[0..k]`   | [flag](super::Flag) | clear | nobody | 3, 4 | whether the name is held |
//! | `after[0..k]`   | `0..k` | 0        | its holder | 8 | which of its names comes next |
//! | `last[0..k]`    | number | 0        | its holder | 7 | the largest fence number of its holders |
//!
//! # Invariants (all checked)
//! - assumed: at most `k` processes are at 2 to 4
//! - unique names: the names of processes inside are different, and below `k`
//! - (B1) a flag is set exactly while some process has its name
//! - (F) the fence number of a holder is larger than that of every earlier holder of the same name
//! - (B2) when a process is about to try the names from `low` on, there is one among them that no
//!   process holds
//!
//! # Cost, faults, fairness
//! One read-modify-write to take a name while no other process does, and one load for each lower
//! name; at most `k` of each. One write to give it back. A crashed holder keeps its name for ever,
//! as it keeps its place. No process waits here.

use super::{Flag, Names, Notes};
use crate::memory::{Here, Immediate, LateRows, Memory, Site, Swap, in_both_forms};
use core::fmt::Debug;
use core::marker::PhantomData;
use core::num::NonZeroU32;
use core::ops::Index;

/// The largest number of flags that lie [together](Together).
pub const FEW: usize = 16;

/// How flags are laid out in memory.
pub trait Lie<M: Memory>: Debug {
    /// The type that holds the flags.
    type Flags: Index<usize, Output = M::Cell<Flag>> + Debug;

    /// Makes `k` flags.
    fn flags(site: &Site<'_, M>, k: usize) -> Self::Flags;
}

/// In a row of their own.
#[derive(Clone, Copy, Debug)]
pub enum Apart {}

/// In the object itself: at most [`FEW`].
#[derive(Clone, Copy, Debug)]
pub enum Together {}

impl<M: Memory> Lie<M> for Apart {
    type Flags = M::Row<Flag>;
    fn flags(site: &Site<'_, M>, k: usize) -> M::Row<Flag> {
        site.row("taken", k, |_| Flag::FREE.into())
    }
}

impl<M: Memory> Lie<M> for Together {
    type Flags = M::Group<Flag, FEW>;
    fn flags(site: &Site<'_, M>, k: usize) -> M::Group<Flag, FEW> {
        site.few("taken", k, |_| Flag::FREE.into())
    }
}

/// Names `0..k` in flags, for at most `k` processes at a time.
#[derive(Debug)]
#[repr(C)] // the flags first: the lowest are in the same cache line as what is before them
pub struct FlagNames<M: LateRows, W: Lie<M> = Apart> {
    taken: W::Flags,
    notes: Notes<M>,
    lie: PhantomData<fn() -> W>,
    /// Never 0, so that it also tells flags from [a bitmap](super::EitherNames): no tag takes room
    /// before the flags.
    k: NonZeroU32,
}

const fn at_least_one(k: usize) -> NonZeroU32 {
    match NonZeroU32::new(k as u32) {
        Some(k) => k,
        None => NonZeroU32::MIN,
    }
}

impl<M: LateRows, W: Lie<M>> FlagNames<M, W> {
    /// Puts names together before the program runs, from flags that are clear.
    pub const fn of_parts(taken: W::Flags, notes: Notes<M>, k: usize) -> Self {
        Self { taken, notes, lie: PhantomData, k: at_least_one(k) }
    }
}

impl<M: Swap + LateRows, W: Lie<M>> FlagNames<M, W> {
    in_both_forms! {
        /// Takes the lowest free name: 2, 3.
        #[inline(always)]
        fn find, find_now<D: Debug>(&self, p: Here<'_, M>, live: &D) -> Option<u32> {'text: {
            for name in 0..self.k.get() as usize {
                let flag = &self.taken[name];
                p.shows("low", name as u64);
                if access!(p.at(2).keeping(&(name, live)).read(flag)).is_taken() {
                    continue;
                }
                if !access!(p.at(3).keeping(&(name, live)).swap(flag, Flag::TAKEN)).is_taken() {
                    p.hides("low");
                    break 'text Some(name as u32);
                }
            }
            p.hides("low");
            None
        }}

        /// Gives a name back: 4.
        #[inline(always)]
        fn free, free_now(&self, p: Here<'_, M>, name: u32) -> () {
            access!(p.at(4).write_in_passing(&self.taken[name as usize], Flag::FREE));
        }
    }
}

impl<M: Swap + LateRows, W: Lie<M>> Names<M> for FlagNames<M, W> {
    fn new(site: &Site<'_, M>, k: usize, fences: Option<u64>) -> Self {
        Self::of_parts(W::flags(site, k), Notes::new(site, k, fences), k)
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
        Ok(p.at(2).read(&self.taken[name]).await?.is_taken())
    }

    fn notes(&self) -> Option<&Notes<M>> {
        Some(&self.notes)
    }
}
