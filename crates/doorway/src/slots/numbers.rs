//! Whether guards know their slots.

use super::sure;
use crate::native::{Native, now};
use doorway_core::k_assignment::names::{BitNames, FlagNames, Names};
use doorway_core::memory::{Process, Site};
use std::fmt::{self, Debug};

/// Whether guards know their slots: [`Numbered`] or [`Unnumbered`].
pub trait Numbering: Sized + private::Sealed {
    /// Who has which.
    #[doc(hidden)]
    type Names: Debug + Send + Sync;
    /// What a guard has.
    #[doc(hidden)]
    type Numbers: Debug + Send + Sync;

    #[doc(hidden)]
    fn names(site: &Site<'_, Native>, room: usize) -> Self::Names;
    #[doc(hidden)]
    fn take(names: &Self::Names, p: &Process<Native>) -> Self::Numbers;
    #[doc(hidden)]
    fn take_many(names: &Self::Names, p: &Process<Native>, units: u64) -> Self::Numbers;
    #[doc(hidden)]
    fn give_back(names: &Self::Names, p: &Process<Native>, numbers: &mut Self::Numbers, units: u64);
    #[doc(hidden)]
    fn split(numbers: &mut Self::Numbers, units: u64, off: u64) -> Self::Numbers;
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

/// Flags are faster, a bitmap is smaller.
#[doc(hidden)]
#[derive(Debug)]
pub enum AnyNames {
    Few(FlagNames<Native>),
    Many(BitNames<Native>),
}

/// Where flags end and bitmaps begin.
const FEW: usize = 64;

/// The lowest slot, and the others of one that holds several.
#[doc(hidden)]
pub struct Numbers {
    pub(super) first: u32,
    /// Behind a pointer, so that guards are small: they are moved about, and most hold one.
    #[expect(clippy::box_collection, reason = "a boxed slice is two words")]
    others: Option<Box<Vec<u32>>>,
}

impl Debug for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entry(&self.first).entries(self.others()).finish()
    }
}

impl Numbers {
    pub(super) fn all(&self, units: u64) -> Vec<usize> {
        let first = (units > 0).then_some(self.first);
        first.into_iter().chain(self.others()).map(|name| name as usize).collect()
    }

    fn others(&self) -> impl Iterator<Item = u32> {
        self.others.iter().flat_map(|names| names.iter().copied())
    }

    fn new(mut names: Vec<u32>) -> Self {
        names.sort_unstable();
        let others = names.split_off(names.len().min(1));
        let others = (!others.is_empty()).then(|| Box::new(others));
        Self { first: names.first().copied().unwrap_or(0), others }
    }
}

impl AnyNames {
    #[inline(always)]
    fn take(&self, p: &Process<Native>) -> u32 {
        let name = match self {
            Self::Few(names) => names.take_now(p.on(())),
            Self::Many(names) => names.take_now(p.on(())),
        };
        name.unwrap_or_else(missing) as u32
    }

    #[inline(always)]
    fn give_back(&self, p: &Process<Native>, name: u32) {
        match self {
            Self::Few(names) => names.give_back_now(p.on(()), name as usize),
            Self::Many(names) => names.give_back_now(p.on(()), name as usize),
        }
    }
}

impl AnyNames {
    #[cold]
    fn give_others_back(&self, p: &Process<Native>, others: Vec<u32>) {
        others.into_iter().for_each(|name| self.give_back(p, name));
    }
}

impl Numbered {
    /// A name that nobody has, and that is taken, is free.
    pub(super) fn free(names: &AnyNames, p: &Process<Native>, name: u32) {
        names.give_back(p, name);
    }
}

#[cold]
fn missing() -> usize {
    unreachable!("there are as many names as places, and only who holds a place takes one")
}

impl Numbering for Numbered {
    type Names = AnyNames;
    type Numbers = Numbers;

    fn names(site: &Site<'_, Native>, room: usize) -> AnyNames {
        if room <= FEW { AnyNames::Few(FlagNames::new(site, room)) } else { AnyNames::Many(BitNames::new(site, room)) }
    }

    #[inline(always)]
    fn take(names: &AnyNames, p: &Process<Native>) -> Numbers {
        Numbers { first: names.take(p), others: None }
    }

    #[cold]
    fn take_many(names: &AnyNames, p: &Process<Native>, units: u64) -> Numbers {
        Numbers::new((0..units).map(|_| names.take(p)).collect())
    }

    #[inline(always)]
    fn give_back(names: &AnyNames, p: &Process<Native>, numbers: &mut Numbers, units: u64) {
        if let Some(others) = numbers.others.take() {
            names.give_others_back(p, *others);
        }
        if units > 0 {
            names.give_back(p, numbers.first);
        }
    }

    fn split(numbers: &mut Numbers, units: u64, off: u64) -> Numbers {
        let mut all: Vec<u32> = (units > 0).then_some(numbers.first).into_iter().chain(numbers.others()).collect();
        let theirs = all.split_off((units - off) as usize);
        *numbers = Numbers::new(all);
        Numbers::new(theirs)
    }

    fn taken(names: &AnyNames, p: &Process<Native>, room: usize) -> Option<Vec<usize>> {
        let is_taken = |&name: &usize| match names {
            AnyNames::Few(names) => sure(now(names.is_taken(p.on(()), name))),
            AnyNames::Many(names) => sure(now(names.is_taken(p.on(()), name))),
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
    fn give_back((): &(), _: &Process<Native>, (): &mut (), _: u64) {}
    fn split((): &mut (), _: u64, _: u64) {}
    fn taken((): &(), _: &Process<Native>, _: usize) -> Option<Vec<usize>> {
        None
    }
}
