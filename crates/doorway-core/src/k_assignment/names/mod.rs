//! Names `0..k` by themselves, for at most `k` processes at a time. A process holds one name for
//! each of its units.
//!
//! [`FlagNames`] are for few names and [`BitNames`] for many. [`EitherNames`] chooses between them,
//! and [`NoNames`] gives none. [`Slots`](super::Slots) put names around a turnstile.
//!
//! # Fence numbers
//! Beside each name stands the largest number that one of its holders made. A holder that asks for
//! its number gets a larger one, and at least the number that it says: [slots](super::Slots) say a
//! multiple of the holder's ticket. The holder leaves its number beside the name. Holders that
//! never ask pay nothing, and leave nothing. It makes no difference when a holder asks, because no
//! other process changes what stands there before the name comes back. A process that holds several
//! names has one number, larger than those beside all of them, and leaves it beside all of them.
//! Numbers have 63 bits.

mod bits;
mod either;
mod flags;
mod notes;
pub mod sticky;

pub use bits::BitNames;
pub use either::{EitherNames, NoNames};
pub use flags::{Apart, FEW, FlagNames, Lie, Together};
pub use notes::{Next, Notes};
pub use sticky::StickyNames;

use crate::memory::{Additive, Bits, Byte, Here, Immediate, LateRows, Nobody, Site, Word};
use core::fmt::{self, Debug};

/// Whether a process has a name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Flag(bool);

impl Flag {
    /// No process has it.
    pub const FREE: Self = Self(false);
    /// A process has it.
    pub const TAKEN: Self = Self(true);

    /// Whether a process has it.
    #[must_use]
    #[inline(always)]
    pub const fn is_taken(self) -> bool {
        self.0
    }
}

/// No process waits for it.
impl Word for Flag {
    type Waiters = Byte;
    const WHOLE: bool = true;
    const MAX: u64 = 1;

    #[inline(always)]
    fn pack(self) -> u64 {
        self.0.into()
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self(word != 0)
    }
}

impl Debug for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0 { "taken" } else { "free" })
    }
}

/// Sixty-four names: the bit of a name is set while a process has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Taken(pub u64);

/// The largest [fence number](self#fence-numbers) that a holder of a name made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Number(pub u64);

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
        )*
    };
}
number!(Taken Number);
impl Additive for Taken {}
impl Bits for Taken {}

/// Names `0..k`, for at most `k` processes at a time. Each process holds at most one name for each
/// of its units.
pub trait Names<M: LateRows>: Sized {
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

    /// Takes the lowest free name: 2, 3. `live` is what the caller knows of its own. Returns `None`
    /// only if more than `k` names are wanted at a time.
    fn take(&self, p: Here<'_, M>, live: &impl Debug) -> impl Future<Output = Result<Option<u32>, M::Error>>;

    /// Gives back a name that was taken: 4.
    fn give_back(&self, p: Here<'_, M>, name: u32) -> impl Future<Output = Result<(), M::Error>>;

    /// [`take`](Self::take), as a plain function.
    fn take_now(&self, p: Here<'_, M>) -> Option<u32>
    where
        M: Immediate;

    /// [`give_back`](Self::give_back), as a plain function.
    fn give_back_now(&self, p: Here<'_, M>, name: u32)
    where
        M: Immediate;

    /// Whether a process has this name.
    fn is_taken(&self, p: Here<'_, M>, name: usize) -> impl Future<Output = Result<bool, M::Error>>;

    /// What holders note in their names, if there are any.
    fn notes(&self) -> Option<&Notes<M>>;

    /// Takes `units` names: 2, 3 and 8 for each. The first is the lowest, and each knows the next.
    fn take_many(
        &self,
        p: Here<'_, M>,
        units: u64,
        live: &impl Debug,
    ) -> impl Future<Output = Result<Option<u32>, M::Error>> {
        async move {
            let Some(mut first) = self.take(p, live).await? else { return Ok(None) };
            let Some(notes) = self.notes() else { return Ok(Some(first)) };
            let mut last = first;
            // The name after the first, if there is one.
            let mut second = None;
            p.shows("names", 1u64 << (first % 64));
            let mut names = 1u64 << (first % 64);
            for taken in 1..units {
                let Some(name) = self.take(p, &(first, last, second, taken, live)).await? else {
                    return Ok(None);
                };
                names |= 1 << (name % 64);
                p.shows("names", names);
                // Nearly always the new name is higher than all before. If not, it becomes the
                // first, or comes after the first.
                let (from, to) = if name > last {
                    (last, name)
                } else if name < first {
                    (name, first)
                } else {
                    (first, name)
                };
                p.keep(8, &(first, last, second, taken, name, live));
                notes.link(p, from, to).await?;
                if name > last {
                    second = second.or(Some(name));
                    last = name;
                } else if name < first {
                    second = Some(first);
                    first = name;
                } else if let Some(next) = second.replace(name) {
                    p.keep(8, &(first, last, second, taken, next, live));
                    notes.link(p, name, next).await?;
                }
            }
            Ok(Some(first))
        }
    }

    /// Gives back `units` names that are held together: 9 and 4 for each.
    fn give_many_back(
        &self,
        p: Here<'_, M>,
        mut name: u32,
        units: u64,
        live: &impl Debug,
    ) -> impl Future<Output = Result<(), M::Error>> {
        async move {
            let Some(notes) = self.notes() else { return Ok(()) };
            let mut gone = 0u64;
            for left in (0..units).rev() {
                // Another process may change the note as soon as the name is back.
                let next = if left == 0 {
                    0
                } else {
                    p.keep(9, &(name, left, live));
                    notes.linked(p, name).await?
                };
                self.give_back(p, name).await?;
                gone |= 1 << (name % 64);
                p.shows("gone", gone);
                name = next;
            }
            p.hides("gone");
            Ok(())
        }
    }

    /// The name after the first `units` of names that are held together: 9 for each.
    fn after(
        &self,
        p: Here<'_, M>,
        mut name: u32,
        units: u64,
        live: &impl Debug,
    ) -> impl Future<Output = Result<u32, M::Error>> {
        async move {
            if let Some(notes) = self.notes() {
                for left in (0..units).rev() {
                    p.keep(9, &(name, left, live));
                    name = notes.linked(p, name).await?;
                }
            }
            Ok(name)
        }
    }

    /// Notes that the names of `second` come after those of `first`, which are `units`: 9, 8.
    fn join(
        &self,
        p: Here<'_, M>,
        (first, units): (u32, u64),
        second: u32,
        live: &impl Debug,
    ) -> impl Future<Output = Result<(), M::Error>> {
        async move {
            let last = self.after(p, first, units - 1, &(second, live)).await?;
            p.keep(8, &(last, second, live));
            match self.notes() {
                Some(notes) => notes.link(p, last, second).await,
                None => Ok(()),
            }
        }
    }

    /// A number for the holder of `units` names, larger than those of all earlier holders, and at
    /// least `least`: 6, and 9, for each.
    fn number(
        &self,
        p: Here<'_, M>,
        mut name: u32,
        units: u64,
        least: u64,
        live: &impl Debug,
    ) -> impl Future<Output = Result<u64, M::Error>> {
        async move {
            let mut number = least;
            if let Some(notes) = self.notes().filter(|notes| notes.have_numbers()) {
                for left in (0..units).rev() {
                    p.keep(6, &(name, left, number, live));
                    number = number.max(notes.number(p, name).await? + 1);
                    if left > 0 {
                        p.keep(9, &(name, left, number, live));
                        name = notes.linked(p, name).await?;
                    }
                }
            }
            Ok(number)
        }
    }

    /// Leaves the number of the holder of `units` names beside all of them: 7, and 9, for each.
    fn note(
        &self,
        p: Here<'_, M>,
        mut name: u32,
        units: u64,
        number: u64,
        live: &impl Debug,
    ) -> impl Future<Output = Result<(), M::Error>> {
        async move {
            if let Some(notes) = self.notes().filter(|notes| notes.have_numbers()) {
                for left in (0..units).rev() {
                    p.keep(7, &(name, left, number, live));
                    notes.note(p, name, number).await?;
                    if left > 0 {
                        p.keep(9, &(name, left, number, live));
                        name = notes.linked(p, name).await?;
                    }
                }
            }
            Ok(())
        }
    }
}
