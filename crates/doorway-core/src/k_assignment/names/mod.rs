//! Names `0..k` by themselves, for at most `k` processes at a time. A process holds one name for
//! each of its units.
//!
//! [`FlagNames`] are for few names and [`BitNames`] for many. [`EitherNames`] chooses between them,
//! and [`NoNames`] gives none. [`Slots`](super::Slots) put names around a turnstile.
//!
//! # Fence numbers
//! A name remembers the number of its last holder. The next holder gets a larger number, and at
//! least the number that it asks for: [slots](super::Slots) ask for a multiple of the holder's
//! ticket. The number is fixed when a process takes the name, because no other process changes it
//! before the name comes back. Holders that never ask for it pay nothing. A process that takes
//! several names at once has one number, the largest of theirs, and leaves it to all of them.
//! Numbers have 63 bits.

mod bits;
mod either;
mod flags;
pub mod sticky;

pub use bits::BitNames;
pub use either::{EitherNames, NoNames};
pub use flags::{Apart, FEW, FlagNames, Lie, Together};
pub use sticky::StickyNames;

use crate::memory::{Additive, Bits, Here, Immediate, LateRows, Memory, Nobody, Site, Word};
use core::fmt::{self, Debug};

/// A name, and the number of its holder.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Name {
    /// Which of `0..k`. If there are several, the first: it knows the next.
    pub slot: u32,
    /// The [fence number](self#fence-numbers).
    pub fence: u64,
}

impl Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.fence == 0 { write!(f, "{}", self.slot) } else { write!(f, "{}#{}", self.slot, self.fence) }
    }
}

/// What stands in the word of a name: that it is taken, or that it is free and the number of its
/// last holder.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Mark(u64);

impl Mark {
    /// A name that is held.
    pub const TAKEN: Self = Self(1);

    /// A name that is free, and the number of its last holder.
    #[must_use]
    #[inline(always)]
    pub const fn free(last: u64) -> Self {
        Self(last << 1)
    }

    /// The number of the last holder of a free name.
    #[must_use]
    #[inline(always)]
    pub const fn last(self) -> Option<u64> {
        if self.0 & 1 == 0 { Some(self.0 >> 1) } else { None }
    }
}

/// No process waits for it.
impl Word for Mark {
    type Waiters = Nobody;
    const WHOLE: bool = true;
    const SPREAD: bool = true;

    #[inline(always)]
    fn pack(self) -> u64 {
        self.0
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self(word)
    }
}

impl Debug for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.last() {
            Some(0) => f.write_str("free"),
            Some(last) => write!(f, "free#{last}"),
            None => f.write_str("taken"),
        }
    }
}

/// The name that comes next, as the holder of several names notes it. No other process reads it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Next(pub u32);

impl Word for Next {
    type Waiters = Nobody;
    const WHOLE: bool = true;

    #[inline(always)]
    fn pack(self) -> u64 {
        self.0.into()
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self(word as u32)
    }
}

/// Sixty-four names: the bit of a name is set while a process has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Taken(pub u64);

/// The last fence number that was given out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Given(pub u64);

macro_rules! number {
    ($($name:ident)*) => {
        $(
            impl Word for $name {
                type Waiters = Nobody;
                const WHOLE: bool = true;
                const SPREAD: bool = true;

                #[inline(always)]
                fn pack(self) -> u64 {
                    self.0
                }
                #[inline(always)]
                fn unpack(word: u64) -> Self {
                    Self(word)
                }
            }
            impl Additive for $name {}
        )*
    };
}
number!(Taken Given);
impl Bits for Taken {}

/// For each name of a process that holds several, the name that comes next.
///
/// The row is made when a process first holds several names.
#[derive(Debug)]
pub(super) struct Links<M: LateRows>(M::Late<Next>);

impl<M: LateRows> Links<M> {
    fn new(site: &Site<'_, M>, k: usize) -> Self {
        Self(site.late_rows("after", k.next_power_of_two(), 1, Next(0)))
    }

    /// Notes which name of the same holder comes next: 8. Only the holder will look there, so no
    /// other process needs to be told that there is room now.
    fn link(&self, p: Here<'_, M>, slot: u32, next: u32) -> impl Future<Output = Result<(), M::Error>> {
        let is_there = p.make_row(&self.0, 0);
        debug_assert!(is_there, "the only row can be made");
        p.at(8).write_in_passing(&self.0[(0, slot as usize)], Next(next))
    }

    /// The name that its holder noted: 9.
    async fn linked(&self, p: Here<'_, M>, slot: u32) -> Result<u32, M::Error> {
        Ok(p.at(9).read(&self.0[(0, slot as usize)]).await?.0)
    }
}

/// Names `0..k`, for at most `k` processes at a time. Each process holds at most one name for each
/// of its units.
pub trait Names<M: Memory>: Sized {
    /// Whether there are any.
    const NAMED: bool = true;

    /// Whether giving a name back takes few instructions, so that it is worth inlining.
    #[inline(always)]
    fn are_few(&self) -> bool {
        true
    }

    /// Names that are all free. If there are to be [fence numbers](self#fence-numbers), they are
    /// larger than `fences`.
    fn new(site: &Site<'_, M>, k: usize, fences: Option<u64>) -> Self;

    /// Takes the lowest free name: 2, 3. Its number is at least `fence`. `live` is what the caller
    /// knows of its own. Returns `None` only if more than `k` names are wanted at a time.
    fn take(
        &self,
        p: Here<'_, M>,
        fence: u64,
        live: &impl Debug,
    ) -> impl Future<Output = Result<Option<Name>, M::Error>>;

    /// Gives back a name that was taken: 4.
    fn give_back(&self, p: Here<'_, M>, name: Name) -> impl Future<Output = Result<(), M::Error>>;

    /// [`take`](Self::take), as a plain function.
    fn take_now(&self, p: Here<'_, M>, fence: u64) -> Option<Name>
    where
        M: Immediate;

    /// [`give_back`](Self::give_back), as a plain function.
    fn give_back_now(&self, p: Here<'_, M>, name: Name)
    where
        M: Immediate;

    /// Notes, for the holder of a name, which of its names comes next: 8.
    fn link(&self, p: Here<'_, M>, slot: u32, next: u32) -> impl Future<Output = Result<(), M::Error>>;

    /// The name that comes next, as its holder noted: 9.
    fn linked(&self, p: Here<'_, M>, slot: u32) -> impl Future<Output = Result<u32, M::Error>>;

    /// Whether a process has this name.
    fn is_taken(&self, p: Here<'_, M>, slot: usize) -> impl Future<Output = Result<bool, M::Error>>;

    /// Takes `units` names: 2, 3 and 8 for each. The first is the lowest, and each knows the next.
    fn take_many(
        &self,
        p: Here<'_, M>,
        units: u64,
        fence: u64,
        live: &impl Debug,
    ) -> impl Future<Output = Result<Option<Name>, M::Error>> {
        async move {
            let Some(mut first) = self.take(p, fence, live).await? else { return Ok(None) };
            if !Self::NAMED {
                return Ok(Some(first));
            }
            let mut last = first.slot;
            // The name after the first, if there is one.
            let mut second = None;
            p.shows("names", 1u64 << (first.slot % 64));
            let mut names = 1u64 << (first.slot % 64);
            for taken in 1..units {
                let Some(Name { slot, fence: number }) =
                    self.take(p, fence, &(first, last, second, taken, live)).await?
                else {
                    return Ok(None);
                };
                first.fence = first.fence.max(number);
                names |= 1 << (slot % 64);
                p.shows("names", names);
                // Nearly always the new name is higher than all before. If not, it becomes the
                // first, or comes after the first.
                let (from, to) = if slot > last {
                    (last, slot)
                } else if slot < first.slot {
                    (slot, first.slot)
                } else {
                    (first.slot, slot)
                };
                p.keep(8, &(first, last, second, taken, slot, live));
                self.link(p, from, to).await?;
                if slot > last {
                    second = second.or(Some(slot));
                    last = slot;
                } else if slot < first.slot {
                    second = Some(first.slot);
                    first.slot = slot;
                } else if let Some(next) = second.replace(slot) {
                    p.keep(8, &(first, last, second, taken, next, live));
                    self.link(p, slot, next).await?;
                }
            }
            Ok(Some(first))
        }
    }

    /// Gives back `units` names that were taken together: 9 and 4 for each. All of them get their
    /// holder's number.
    fn give_many_back(
        &self,
        p: Here<'_, M>,
        mut first: Name,
        units: u64,
        live: &impl Debug,
    ) -> impl Future<Output = Result<(), M::Error>> {
        async move {
            if !Self::NAMED {
                return Ok(());
            }
            let mut gone = 0u64;
            for left in (0..units).rev() {
                // Another process may change the word as soon as the name is back.
                let next = if left == 0 {
                    0
                } else {
                    p.keep(9, &(first, left, live));
                    self.linked(p, first.slot).await?
                };
                self.give_back(p, first).await?;
                gone |= 1 << (first.slot % 64);
                p.shows("gone", gone);
                first.slot = next;
            }
            p.hides("gone");
            Ok(())
        }
    }

    /// The rest of names that were taken together, without the first `units` of them: 9 for each.
    fn after(&self, p: Here<'_, M>, mut first: Name, units: u64) -> impl Future<Output = Result<Name, M::Error>> {
        async move {
            if Self::NAMED {
                for left in (0..units).rev() {
                    p.keep(9, &(first, left));
                    first.slot = self.linked(p, first.slot).await?;
                }
            }
            Ok(first)
        }
    }
}
