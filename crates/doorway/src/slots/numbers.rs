//! Whether guards know their slots.

use super::sure;
use crate::native::{Native, now};
use doorway_core::k_assignment::names::{BitNames, FlagNames, Names};
use doorway_core::memory::{Process, Site};
use std::fmt::Debug;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;

/// Whether guards know their slots: [`Numbered`] or [`Unnumbered`].
pub trait Numbering: Sized + private::Sealed {
    /// Who has which.
    #[doc(hidden)]
    type Names: Debug + Send + Sync;
    /// What a guard has. Nothing that must be dropped: the compiler keeps guards in registers then.
    #[doc(hidden)]
    type Numbers: Copy + Send + Sync;

    #[doc(hidden)]
    fn names(site: &Site<'_, Native>, room: usize) -> Self::Names;
    #[doc(hidden)]
    fn take(names: &Self::Names, p: &Process<Native>) -> Self::Numbers;
    #[doc(hidden)]
    fn take_many(names: &Self::Names, p: &Process<Native>, units: u64) -> Self::Numbers;
    #[doc(hidden)]
    fn give_back_at_once(names: &Self::Names, p: &Process<Native>, number: Self::Numbers) -> bool;
    #[doc(hidden)]
    fn give_many_back(names: &Self::Names, p: &Process<Native>, numbers: Self::Numbers, units: u64);
    /// What is left of these without the first `units`.
    #[doc(hidden)]
    fn after(names: &Self::Names, numbers: Self::Numbers, units: u64) -> Self::Numbers;
    /// The slots of a guard.
    #[doc(hidden)]
    fn all(names: &Self::Names, numbers: Self::Numbers, units: u64) -> Option<Vec<usize>>;
    /// The slots of all guards.
    #[doc(hidden)]
    fn taken(names: &Self::Names, p: &Process<Native>, room: usize) -> Option<Vec<usize>>;
}

mod private {
    pub trait Sealed {}
    impl Sealed for super::Numbered {}
    impl Sealed for super::Unnumbered {}
}

/// Guards know their slots.
#[derive(Clone, Copy, Debug)]
pub struct Numbered;

/// Guards have no slots.
#[derive(Clone, Copy, Debug)]
pub struct Unnumbered;

/// Who has which slot.
#[doc(hidden)]
#[derive(Debug)]
pub struct SlotNames {
    names: Either,
    /// The next slot of a guard that holds several, for each of its slots but the last. Only whoever has a slot touches its entry. Made when somebody asks for several.
    next: OnceLock<Box<[AtomicU32]>>,
    room: usize,
}

/// Flags are faster, a bitmap is smaller.
#[derive(Debug)]
enum Either {
    Few(FlagNames<Native>),
    Many(BitNames<Native>),
}

/// Where flags end and bitmaps begin.
const FEW: usize = 64;

/// The lowest slot of a guard.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct First(pub(super) u32);

impl SlotNames {
    #[inline(always)]
    fn take(&self, p: &Process<Native>) -> u32 {
        let name = match &self.names {
            Either::Few(names) => names.take_now(p.on(())),
            Either::Many(names) => take_of_many(names, p),
        };
        name.unwrap_or_else(missing) as u32
    }

    #[inline(always)]
    fn give_back(&self, p: &Process<Native>, name: u32) {
        match &self.names {
            Either::Few(names) => names.give_back_now(p.on(()), name as usize),
            Either::Many(names) => give_back_to_many(names, p, name),
        }
    }

    fn next(&self) -> &[AtomicU32] {
        self.next.get_or_init(|| (0..self.room).map(|_| AtomicU32::new(0)).collect())
    }

    /// The slots of a guard that holds so many.
    fn of(&self, First(first): First, units: u64) -> impl Iterator<Item = u32> {
        (0..units).scan(None, move |last, _| {
            *last = Some(last.map_or(first, |name: u32| self.next()[name as usize].load(SeqCst)));
            *last
        })
    }
}

impl Numbered {
    /// A name that nobody has, and that is taken, is free.
    pub(super) fn free(names: &SlotNames, p: &Process<Native>, name: u32) {
        names.give_back(p, name);
    }
}

// Guards are inlined wherever they are used, and large ones are not: the bitmap is called.

#[inline(never)]
fn take_of_many(names: &BitNames<Native>, p: &Process<Native>) -> Option<usize> {
    names.take_now(p.on(()))
}

#[inline(never)]
fn give_back_to_many(names: &BitNames<Native>, p: &Process<Native>, name: u32) {
    names.give_back_now(p.on(()), name as usize);
}

#[cold]
fn missing() -> usize {
    unreachable!("there are as many names as places, and only who holds a place takes one")
}

impl Numbering for Numbered {
    type Names = SlotNames;
    type Numbers = First;

    fn names(site: &Site<'_, Native>, room: usize) -> SlotNames {
        let few = room <= FEW;
        let names = if few { Either::Few(FlagNames::new(site, room)) } else { Either::Many(BitNames::new(site, room)) };
        SlotNames { names, next: OnceLock::new(), room }
    }

    #[inline(always)]
    fn take(names: &SlotNames, p: &Process<Native>) -> First {
        First(names.take(p))
    }

    #[cold]
    fn take_many(names: &SlotNames, p: &Process<Native>, units: u64) -> First {
        let mut all: Vec<u32> = (0..units).map(|_| names.take(p)).collect();
        all.sort_unstable();
        for pair in all.windows(2) {
            names.next()[pair[0] as usize].store(pair[1], SeqCst);
        }
        First(all.first().copied().unwrap_or(0))
    }

    #[inline(always)]
    fn give_back_at_once(names: &SlotNames, p: &Process<Native>, First(name): First) -> bool {
        let Either::Few(few) = &names.names else { return false };
        few.give_back_now(p.on(()), name as usize);
        true
    }

    fn give_many_back(names: &SlotNames, p: &Process<Native>, first: First, units: u64) {
        // Somebody else may change an entry as soon as its name is back.
        let all: Vec<u32> = names.of(first, units).collect();
        all.into_iter().for_each(|name| names.give_back(p, name));
    }

    fn after(names: &SlotNames, first: First, units: u64) -> First {
        First(names.of(first, units + 1).last().unwrap_or(0))
    }

    fn all(names: &SlotNames, first: First, units: u64) -> Option<Vec<usize>> {
        Some(names.of(first, units).map(|name| name as usize).collect())
    }

    fn taken(names: &SlotNames, p: &Process<Native>, room: usize) -> Option<Vec<usize>> {
        let is_taken = |&name: &usize| match &names.names {
            Either::Few(names) => sure(now(names.is_taken(p.on(()), name))),
            Either::Many(names) => sure(now(names.is_taken(p.on(()), name))),
        };
        Some((0..room).filter(is_taken).collect())
    }
}

impl Numbering for Unnumbered {
    type Names = ();
    type Numbers = ();

    fn names(_: &Site<'_, Native>, _: usize) {}
    #[inline(always)]
    fn take((): &(), _: &Process<Native>) {}
    fn take_many((): &(), _: &Process<Native>, _: u64) {}
    #[inline(always)]
    fn give_back_at_once((): &(), _: &Process<Native>, (): ()) -> bool {
        true
    }
    fn give_many_back((): &(), _: &Process<Native>, (): (), _: u64) {}
    fn after((): &(), (): (), _: u64) {}
    fn all((): &(), (): (), _: u64) -> Option<Vec<usize>> {
        None
    }
    fn taken((): &(), _: &Process<Native>, _: usize) -> Option<Vec<usize>> {
        None
    }
}
