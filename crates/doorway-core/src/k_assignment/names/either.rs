//! Flags or a bitmap, depending on the number of names; and no names at all.

use super::{BitNames, FEW, FlagNames, Names, Notes, Together};
use crate::k_assignment::slots::missing;
use crate::memory::{FetchAdd, FetchOr, Here, Immediate, LateRows, Site, Swap};
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

    async fn take(&self, p: Here<'_, M>, live: &impl Debug) -> Result<Option<u32>, M::Error> {
        either!(self, names => names.take(p, live).await)
    }

    async fn give_back(&self, p: Here<'_, M>, name: u32) -> Result<(), M::Error> {
        either!(self, names => names.give_back(p, name).await)
    }

    #[inline(always)]
    fn take_now(&self, p: Here<'_, M>) -> Option<u32>
    where
        M: Immediate,
    {
        match self {
            Self::Few(names) => names.take_now(p),
            Self::Many(names) => Some(take_of_many(names, p)),
        }
    }

    #[inline(always)]
    fn give_back_now(&self, p: Here<'_, M>, name: u32)
    where
        M: Immediate,
    {
        match self {
            Self::Few(names) => names.give_back_now(p, name),
            Self::Many(names) => give_back_to_many(names, p, name),
        }
    }

    async fn is_taken(&self, p: Here<'_, M>, name: usize) -> Result<bool, M::Error> {
        either!(self, names => names.is_taken(p, name).await)
    }

    fn notes(&self) -> Option<&Notes<M>> {
        either!(self, names => names.notes())
    }
}

// Guards are inlined wherever they are used, unless they are large: so the bitmap is called. What
// is returned fits registers.

#[inline(never)]
fn take_of_many<M>(names: &BitNames<M>, p: Here<'_, M>) -> u32
where
    M: FetchOr + FetchAdd + LateRows + Immediate,
{
    names.take_now(p).unwrap_or_else(missing)
}

#[inline(never)]
fn give_back_to_many<M>(names: &BitNames<M>, p: Here<'_, M>, name: u32)
where
    M: FetchOr + FetchAdd + LateRows + Immediate,
{
    names.give_back_now(p, name);
}

/// No process learns which name it has.
#[derive(Clone, Copy, Debug)]
pub struct NoNames;

impl<M: LateRows> Names<M> for NoNames {
    const NAMED: bool = false;

    fn new(_: &Site<'_, M>, _: usize, _: Option<u64>) -> Self {
        Self
    }
    async fn take(&self, _: Here<'_, M>, _: &impl Debug) -> Result<Option<u32>, M::Error> {
        Ok(Some(0))
    }
    async fn give_back(&self, _: Here<'_, M>, _: u32) -> Result<(), M::Error> {
        Ok(())
    }
    #[inline(always)]
    fn take_now(&self, _: Here<'_, M>) -> Option<u32>
    where
        M: Immediate,
    {
        Some(0)
    }
    #[inline(always)]
    fn give_back_now(&self, _: Here<'_, M>, _: u32)
    where
        M: Immediate,
    {
    }
    async fn is_taken(&self, _: Here<'_, M>, _: usize) -> Result<bool, M::Error> {
        Ok(false)
    }
    fn notes(&self) -> Option<&Notes<M>> {
        None
    }
}
