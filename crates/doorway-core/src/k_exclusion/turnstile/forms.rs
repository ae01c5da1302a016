//! Another form of the turnstile: several units at once. (The unfair form is made of
//! [slots](crate::k_assignment::Unfair).)

use super::{Attempt, Endless, Held, Limits, Line, Refused, Ring, Turnstile};
use crate::Failure;
use crate::k_exclusion::{Abortable, KExclusion};
use crate::memory::{CompareSwap, FetchAdd, LateRows, Memory, Pid, Process, Site};

/// A [turnstile](Turnstile) at which process 0 asks for two units at once, and all others for one.
#[derive(Debug)]
pub struct Many<M: Memory, L = Ring<M>> {
    inner: Turnstile<M, L>,
    most: u64,
}

impl<M: Memory> Many<M> {
    /// For `n` processes and `k` units.
    pub fn new(site: &Site<'_, M>, n: usize, k: usize) -> Self {
        let limits = Limits::for_processes(n + 1, k);
        Self { inner: Turnstile::with_limits(site, k, limits, 0), most: k.min(2) as u64 }
    }
}

impl<M: LateRows> Many<M, Endless<M>> {
    /// The same with an endless line.
    pub fn endless(site: &Site<'_, M>, n: usize, k: usize) -> Self {
        let limits = Limits::for_growing(n + 1, k);
        Self { inner: Turnstile::endless(site, k, limits, limits.rings(n + 1), 0), most: k.min(2) as u64 }
    }
}

impl<M: Memory, L> Many<M, L> {
    /// The number of units a process asks for.
    fn units(&self, p: Pid) -> u64 {
        if p.index() == 0 { self.most } else { 1 }
    }
}

impl<M: FetchAdd + CompareSwap, L: Line<M>> KExclusion<M> for Many<M, L> {
    type Held = Held;
    type Refusal = Refused;

    async fn acquire(&self, p: &Process<M>) -> Result<Held, Failure<M::Error, Refused>> {
        self.inner.acquire_units(p, self.units(p.pid())).await
    }

    async fn release(&self, p: &Process<M>, held: Held) -> Result<(), M::Error> {
        self.inner.release(p, held).await
    }
}

impl<M: FetchAdd + CompareSwap, L: Line<M>> Abortable<M> for Many<M, L> {
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
