//! Other forms of the turnstile: several units at once, and unfair ones.

use super::{Attempt, Held, Limits, Refused, Tried, Turnstile};
use crate::Failure;
use crate::k_exclusion::{Abortable, KExclusion};
use crate::memory::{CompareSwap, FetchAdd, Memory, Pid, Process, Site};

/// A [turnstile](Turnstile) at which process 0 asks for two units at once, and all others for one.
#[derive(Debug)]
pub struct Many<M: Memory> {
    inner: Turnstile<M>,
    most: u64,
}

impl<M: Memory> Many<M> {
    /// For `n` processes and `k` units.
    pub fn new(site: &Site<'_, M>, n: usize, k: usize) -> Self {
        let limits = Limits::for_processes(n + 1, k);
        Self { inner: Turnstile::with_limits(site, k, limits, 0), most: k.min(2) as u64 }
    }

    /// How many units a process asks for.
    fn units(&self, p: Pid) -> u64 {
        if p.index() == 0 { self.most } else { 1 }
    }
}

impl<M: FetchAdd + CompareSwap> KExclusion<M> for Many<M> {
    type Held = Held;
    type Refusal = Refused;

    async fn acquire(&self, p: &Process<M>) -> Result<Held, Failure<M::Error, Refused>> {
        self.inner.acquire_units(p, self.units(p.pid())).await
    }

    async fn release(&self, p: &Process<M>, held: Held) -> Result<(), M::Error> {
        self.inner.release(p, held).await
    }
}

impl<M: FetchAdd + CompareSwap> Abortable<M> for Many<M> {
    type Attempt = Attempt;

    async fn try_acquire(
        &self,
        p: &Process<M>,
        attempt: &mut Attempt,
    ) -> Result<Option<Held>, Failure<M::Error, Refused>> {
        self.inner.try_acquire_units(p, self.units(p.pid()), attempt).await
    }

    async fn leave(&self, p: &Process<M>, attempt: Attempt) -> Result<Option<Held>, M::Error> {
        self.inner.leave(p, attempt).await
    }
}

/// A [turnstile](Turnstile) at which newcomers try a few times to take what is free before they draw a ticket.
///
/// Nothing is free while somebody is in line, so nobody in line is ever passed: bypassing ends with the last of these tries.
#[derive(Debug)]
pub struct Unfair<M: Memory> {
    inner: Turnstile<M>,
    tries: u32,
}

impl<M: Memory> Unfair<M> {
    /// For `n` processes and `k` units.
    pub fn new(site: &Site<'_, M>, n: usize, k: usize, tries: u32) -> Self {
        Self { inner: Turnstile::new(site, n, k), tries }
    }
}

impl<M: FetchAdd + CompareSwap> Unfair<M> {
    async fn barge(&self, p: &Process<M>) -> Result<Option<Held>, Failure<M::Error, Refused>> {
        let mut attempt = Attempt::default();
        for tried in 0..self.tries {
            let here = p.on(self.inner.part);
            here.part(&tried);
            let tried = self.inner.draw_if_enabled(p, 1, true).await?;
            here.part_done();
            match tried {
                Tried::Drawn(drawn) => return self.inner.enter(p, drawn, 1, &mut attempt, false).await,
                Tried::NoPlace => {}
                Tried::Closed => return Err(Failure::Refused(Refused::Closed)),
            }
        }
        Ok(None)
    }
}

impl<M: FetchAdd + CompareSwap> KExclusion<M> for Unfair<M> {
    type Held = Held;
    type Refusal = Refused;

    async fn acquire(&self, p: &Process<M>) -> Result<Held, Failure<M::Error, Refused>> {
        match self.barge(p).await? {
            Some(held) => Ok(held),
            None => self.inner.acquire(p).await,
        }
    }

    async fn release(&self, p: &Process<M>, held: Held) -> Result<(), M::Error> {
        self.inner.release(p, held).await
    }
}

impl<M: FetchAdd + CompareSwap> Abortable<M> for Unfair<M> {
    type Attempt = Attempt;

    async fn try_acquire(
        &self,
        p: &Process<M>,
        attempt: &mut Attempt,
    ) -> Result<Option<Held>, Failure<M::Error, Refused>> {
        match self.barge(p).await? {
            Some(held) => Ok(Some(held)),
            None => self.inner.try_acquire(p, attempt).await,
        }
    }

    async fn leave(&self, p: &Process<M>, attempt: Attempt) -> Result<Option<Held>, M::Error> {
        self.inner.leave(p, attempt).await
    }
}
