//! `(N, k)`-exclusion on a cache-coherent machine: a chain of slots.
//!
//! # Problem
//! k-exclusion for any `N` and `k`.
//!
//! # Source
//! Anderson and Moir, PODC 1994: **Figure 2** with its statements 1 and 8 unfolded, Theorem 1.
//!
//! # Idea
//! ```text
//!   N processes → slot N-1 → slot N-2 → … → slot k → critical section
//!                 N-1 pass   N-2 pass         k pass
//! ```
//! Slot `j` lets `j` of at most `j + 1` pass, so each holds back one. The exit runs the same slots the other way round:
//! whoever still occupies slot `j` must be counted by all slots before it.
//!
//! # Shared variables
//! Those of each [slot](super::CcSlot).
//!
//! # Cost, faults, fairness
//! At most `7(N-k)` remote references a passage in the CC model (Theorem 1), `6(N-k)` where a write leaves the writer a valid copy, and
//! `3(N-k)` while at most `k` compete; unbounded in DSM. Starvation-free while at most `k - 1` crash, anywhere: a process that
//! stops in slot `j` takes one place there, and one place in each slot before.
//!
//! # Departures from the paper
//! `k >= N` is legal: there are no slots, and nobody waits.

use super::CcSlot;
use crate::Failure;
use crate::k_exclusion::KExclusion;
use crate::memory::{FetchAdd, Memory, Process, Site};
use alloc::vec::Vec;
use core::convert::Infallible;

/// Slots `N-1`, `N-2`, …, `k`.
#[derive(Debug)]
pub struct Chain<M: Memory> {
    part: M::Part,
    slots: Vec<CcSlot<M>>,
}

impl<M: FetchAdd> Chain<M> {
    /// A chain that lets `k` of `n` processes in.
    pub fn new(site: &Site<'_, M>, n: usize, k: usize) -> Self {
        let slots = (k..n).rev().map(|j| CcSlot::new(&site.part("slot", Some(j)), j)).collect();
        Self { part: site.here(), slots }
    }
}

impl<M: FetchAdd> KExclusion<M> for Chain<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let here = p.on(self.part);
        for slot in &self.slots {
            here.keep(1, &slot.part());
            here.part(&slot.part());
            slot.acquire(p).await?;
            here.part_done();
        }
        Ok(())
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        let here = p.on(self.part);
        for slot in self.slots.iter().rev() {
            here.keep(8, &slot.part());
            here.part(&slot.part());
            slot.release(p).await?;
            here.part_done();
        }
        Ok(())
    }
}
