//! Flags or a bitmap, depending on the number of names; and no names at all.

use super::{BitNames, FEW, FlagNames, Name, Names, Together};
use crate::k_assignment::slots::missing;
use crate::memory::{FetchAdd, FetchOr, Here, Immediate, LateRows, Memory, Site, Swap};
use core::fmt::Debug;

/// Flags for few names, which are faster; a bitmap for many, which is faster to search.
#[derive(Debug)]
pub enum EitherNames<M: LateRows> {
    /// In flags.
    Few(FlagNames<M, Together>),
    /// In a bitmap.
    Many(BitNames<M>),
}

/// Does the same for both.
macro_rules! either {
    ($self:ident, $names:ident => $of:expr) => {
        match $self {
            EitherNames::Few($names) => $of,
            EitherNames::Many($names) => $of,
        }
    };
}

impl<M: FetchOr + FetchAdd + Swap + LateRows> Names<M> for EitherNames<M> {
    fn new(site: &Site<'_, M>, k: usize, fences: Option<u64>) -> Self {
        if k <= FEW { Self::Few(FlagNames::new(site, k, fences)) } else { Self::Many(BitNames::new(site, k, fences)) }
    }

    #[inline(always)]
    fn are_few(&self) -> bool {
        matches!(self, Self::Few(_))
    }

    async fn take(&self, p: Here<'_, M>, fence: u64, live: &impl Debug) -> Result<Option<Name>, M::Error> {
        either!(self, names => names.take(p, fence, live).await)
    }

    async fn give_back(&self, p: Here<'_, M>, name: Name) -> Result<(), M::Error> {
        either!(self, names => names.give_back(p, name).await)
    }

    #[inline(always)]
    fn take_now(&self, p: Here<'_, M>, fence: u64) -> Option<Name>
    where
        M: Immediate,
    {
        match self {
            Self::Few(names) => names.take_now(p, fence),
            Self::Many(names) => Some(take_of_many(names, p, fence)),
        }
    }

    #[inline(always)]
    fn give_back_now(&self, p: Here<'_, M>, name: Name)
    where
        M: Immediate,
    {
        match self {
            Self::Few(names) => names.give_back_now(p, name),
            Self::Many(names) => give_back_to_many(names, p, name),
        }
    }

    async fn link(&self, p: Here<'_, M>, slot: u32, next: u32) -> Result<(), M::Error> {
        either!(self, names => names.link(p, slot, next).await)
    }

    async fn linked(&self, p: Here<'_, M>, slot: u32) -> Result<u32, M::Error> {
        either!(self, names => names.linked(p, slot).await)
    }

    async fn is_taken(&self, p: Here<'_, M>, slot: usize) -> Result<bool, M::Error> {
        either!(self, names => names.is_taken(p, slot).await)
    }
}

// Guards are inlined wherever they are used, unless they are large: so the bitmap is called. What
// is returned fits registers.

#[inline(never)]
fn take_of_many<M>(names: &BitNames<M>, p: Here<'_, M>, fence: u64) -> Name
where
    M: FetchOr + FetchAdd + LateRows + Immediate,
{
    names.take_now(p, fence).unwrap_or_else(missing)
}

#[inline(never)]
fn give_back_to_many<M>(names: &BitNames<M>, p: Here<'_, M>, name: Name)
where
    M: FetchOr + FetchAdd + LateRows + Immediate,
{
    names.give_back_now(p, name);
}

/// No process learns which name it has. Its number is the one it asks for.
#[derive(Clone, Copy, Debug)]
pub struct NoNames;

impl<M: Memory> Names<M> for NoNames {
    const NAMED: bool = false;

    fn new(_: &Site<'_, M>, _: usize, _: Option<u64>) -> Self {
        Self
    }
    async fn take(&self, _: Here<'_, M>, fence: u64, _: &impl Debug) -> Result<Option<Name>, M::Error> {
        Ok(Some(Name { slot: 0, fence }))
    }
    async fn give_back(&self, _: Here<'_, M>, _: Name) -> Result<(), M::Error> {
        Ok(())
    }
    #[inline(always)]
    fn take_now(&self, _: Here<'_, M>, fence: u64) -> Option<Name>
    where
        M: Immediate,
    {
        Some(Name { slot: 0, fence })
    }
    #[inline(always)]
    fn give_back_now(&self, _: Here<'_, M>, _: Name)
    where
        M: Immediate,
    {
    }
    async fn link(&self, _: Here<'_, M>, _: u32, _: u32) -> Result<(), M::Error> {
        Ok(())
    }
    async fn linked(&self, _: Here<'_, M>, _: u32) -> Result<u32, M::Error> {
        Ok(0)
    }
    async fn is_taken(&self, _: Here<'_, M>, _: usize) -> Result<bool, M::Error> {
        Ok(false)
    }
}
