//! Names `0..k` by themselves, and k-assignment made of them and any solution of k-exclusion.

mod bits;
mod flags;
pub mod sticky;

pub use bits::BitNames;
pub use flags::{FlagNames, Taken};
pub use sticky::StickyNames;

use crate::Failure;
use crate::k_assignment::KAssignment;
use crate::k_assignment::anderson_moir_94::Named;
use crate::k_exclusion::{Abortable, KExclusion};
use crate::memory::{Here, Immediate, Mark, Memory, Process, Site};
use core::fmt::Debug;

/// Names `0..k`, for at most `k` processes at a time, each of which holds at most one for each of its units.
pub trait Names<M: Memory>: Sized {
    /// All of them are free.
    fn new(site: &Site<'_, M>, k: usize) -> Self;

    /// Takes the lowest free name: 2, 3. `live` is what the caller knows of its own. `None` only if more than `k` names are wanted at a time.
    fn take(&self, p: Here<'_, M>, live: &impl Debug) -> impl Future<Output = Result<Option<usize>, M::Error>>;

    /// Gives a name back that was taken: 4.
    fn give_back(&self, p: Here<'_, M>, name: usize) -> impl Future<Output = Result<(), M::Error>>;

    /// [`take`](Self::take), as a plain function.
    fn take_now(&self, p: Here<'_, M>) -> Option<usize>
    where
        M: Immediate;

    /// [`give_back`](Self::give_back), as a plain function.
    fn give_back_now(&self, p: Here<'_, M>, name: usize)
    where
        M: Immediate;

    /// Whether somebody has this name.
    fn is_taken(&self, p: Here<'_, M>, name: usize) -> impl Future<Output = Result<bool, M::Error>>;
}

/// Names around a solution of k-exclusion.
#[derive(Debug)]
pub struct WithNames<M: Memory, N, Inner> {
    part: M::Part,
    names: N,
    inner: Inner,
}

impl<M: Memory, N: Names<M>, Inner> WithNames<M, N, Inner> {
    /// Names for a solution that lets `k` in. It is built on a site within this one.
    pub fn new(site: &Site<'_, M>, k: usize, inner: impl FnOnce(&Site<'_, M>) -> Inner) -> Self {
        Self { part: site.here(), names: N::new(site, k), inner: inner(&site.part("exclusion", None)) }
    }

    async fn named<H: Debug>(&self, p: Here<'_, M>, inner: H) -> Result<Named<H>, M::Error> {
        let name = self.names.take(p, &inner).await?.expect("at most k are past the k-exclusion");
        p.holds("name", name as u64);
        p.mark(Mark::Rests(4));
        Ok(Named { name, inner })
    }
}

impl<M: Memory, N: Names<M>, Inner: KExclusion<M>> KExclusion<M> for WithNames<M, N, Inner> {
    type Held = Named<Inner::Held>;
    type Refusal = Inner::Refusal;

    async fn acquire(&self, p: &Process<M>) -> Result<Self::Held, Failure<M::Error, Self::Refusal>> {
        let here = p.on(self.part);
        here.part(&());
        let inner = self.inner.acquire(p).await?; // 1
        here.part_done();
        Ok(self.named(here, inner).await?)
    }

    async fn release(&self, p: &Process<M>, Named { name, inner }: Self::Held) -> Result<(), M::Error> {
        let here = p.on(self.part);
        self.names.give_back(here, name).await?;
        here.hides("name"); // who was let in while it gave up has it in its exit section
        here.mark(Mark::Rests(5));
        here.keep(5, &inner);
        here.part(&());
        self.inner.release(p, inner).await?;
        here.part_done();
        Ok(())
    }
}

impl<M: Memory, N: Names<M>, Inner: Abortable<M>> Abortable<M> for WithNames<M, N, Inner> {
    type Attempt = Inner::Attempt;

    async fn try_acquire(
        &self,
        p: &Process<M>,
        attempt: &mut Self::Attempt,
    ) -> Result<Option<Self::Held>, Failure<M::Error, Self::Refusal>> {
        let here = p.on(self.part);
        here.part(&());
        let inner = self.inner.try_acquire(p, attempt).await?; // 1
        here.part_done();
        Ok(match inner {
            Some(inner) => Some(self.named(here, inner).await?),
            None => None,
        })
    }

    async fn leave(&self, p: &Process<M>, attempt: Self::Attempt) -> Result<Option<Self::Held>, M::Error> {
        Ok(match self.inner.leave(p, attempt).await? {
            Some(inner) => Some(self.named(p.on(self.part), inner).await?),
            None => None,
        })
    }
}

impl<M: Memory, N: Names<M>, Inner: KExclusion<M>> KAssignment<M> for WithNames<M, N, Inner> {
    fn name(held: &Self::Held) -> usize {
        held.name
    }
}
