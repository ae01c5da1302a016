//! `(N, k)`-exclusion: a chain of slots.
//!
//! # Problem
//! k-exclusion for any `N` and `k`.
//!
//! # Source
//! Anderson and Moir, PODC 1994: **Figure 2** with its statements 1 and 8 unfolded, Theorem 1; the
//! same with **Figure 5** and **Figure 6**, Theorem 5.
//!
//! # Idea
//! ```text
//!   N processes → slot N-1 → slot N-2 → … → slot k → critical section
//!                 N-1 pass   N-2 pass         k pass
//! ```
//! Slot `j` lets `j` of at most `j + 1` processes pass, so each slot holds back one. The exit
//! section runs through the same slots in reverse order: every slot before `j` must still count a
//! process that occupies slot `j`.
//!
//! # Shared variables
//! Those of each [slot](super::Slot).
//!
//! # Cost, faults, fairness
//! - Of [`CcSlot`]s: at most `7(N-k)` remote references a passage in the CC model (Theorem 1);
//!   `6(N-k)` where a write leaves the writer a valid copy; `3(N-k)` while at most `k` processes
//!   compete. Unbounded in DSM.
//! - Of [`DsmSlot`]s: at most `14(N-k)` in DSM (Theorem 5), and `7(N-k)` while at most `k`
//!   processes compete. They take `Θ(N³)` spin locations in all.
//! - Of [`DsmUnboundedSlot`]s: at most `8(N-k)` in DSM.
//!
//! Starvation-free while at most `k - 1` processes crash, anywhere: a process that stops in slot
//! `j` takes one place there, and one place in each slot before.
//!
//! # Departures from the paper
//! `k >= N` is legal: there are no slots, and no process waits. If a slot refuses a process, that
//! process gives back the slots it already has.

use super::{CcSlot, DsmSlot, DsmUnboundedSlot, Slot, Stage};
use crate::Failure;
use crate::k_exclusion::KExclusion;
use crate::memory::{CompareSwap, FetchAdd, Memory, Process, Site, within};
use alloc::vec::Vec;

/// Slots `N-1`, `N-2`, …, `k`, of one kind.
#[derive(Debug)]
pub struct Chain<M: Memory, S = CcSlot<M>> {
    part: M::Part,
    slots: Vec<S>,
}

impl<M: Memory, S: Slot<M>> Chain<M, S> {
    /// A chain that lets `k` of `n` processes in. `slot` builds the slot for each `j`, on a site
    /// within this one.
    pub fn of(site: &Site<'_, M>, n: usize, k: usize, slot: impl Fn(&Site<'_, M>, usize) -> S) -> Self {
        let slots = (k..n).rev().map(|j| slot(&site.part("slot", Some(j)), j)).collect();
        Self { part: site.here(), slots }
    }
}

impl<M: FetchAdd> Chain<M> {
    /// A chain of [`CcSlot`]s that lets `k` of `n` processes in.
    pub fn new(site: &Site<'_, M>, n: usize, k: usize) -> Self {
        Self::of(site, n, k, CcSlot::new)
    }
}

impl<M: FetchAdd + CompareSwap> Chain<M, DsmSlot<M>> {
    /// A chain of [`DsmSlot`]s for this stage.
    pub fn dsm(site: &Site<'_, M>, stage: &Stage) -> Self {
        Self::of(site, stage.inputs, stage.k, |site, j| DsmSlot::new(site, stage, j))
    }
}

impl<M: FetchAdd + CompareSwap> Chain<M, DsmUnboundedSlot<M>> {
    /// A chain of [`DsmUnboundedSlot`]s for this stage.
    pub fn dsm_unbounded(site: &Site<'_, M>, stage: &Stage) -> Self {
        Self::of(site, stage.inputs, stage.k, |site, j| DsmUnboundedSlot::new(site, stage, j))
    }
}

impl<M: Memory, S: Slot<M>> Chain<M, S> {
    /// Gives back the first `slots` slots, the last one first.
    async fn release_slots(&self, p: &Process<M>, slots: usize) -> Result<(), M::Error> {
        let here = p.on(self.part);
        for slot in self.slots[..slots].iter().rev() {
            here.keep(8, &slot.part());
            within!(here, &slot.part(), slot.release(p).await?);
        }
        Ok(())
    }
}

impl<M: Memory, S: Slot<M>> KExclusion<M> for Chain<M, S> {
    type Held = ();
    type Refusal = S::Refusal;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error, S::Refusal>> {
        let here = p.on(self.part);
        for (i, slot) in self.slots.iter().enumerate() {
            here.keep(1, &slot.part());
            let acquired = within!(here, &slot.part(), slot.acquire(p).await);
            if let Err(Failure::Refused(why)) = acquired {
                self.release_slots(p, i).await?;
                return Err(Failure::Refused(why));
            }
            acquired?;
        }
        Ok(())
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        self.release_slots(p, self.slots.len()).await
    }
}
