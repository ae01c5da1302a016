//! `(j+1, j)`-exclusion on a cache-coherent machine: one slot of the chain.
//!
//! # Problem
//! The stage before lets in at most `j + 1` processes: hold back one whenever `j` are inside.
//!
//! # Source
//! Anderson and Moir, PODC 1994: **Figure 2**, Lemma 1, Theorem 1. Statements 1 and 8 (the stage
//! before) belong to [`Chain`](super::Chain).
//!
//! # Idea
//! `X` counts free slots. With only `j + 1` competitors at most one must wait, so the "queue" is a
//! single word: `Q` names the waiter. A waiter announces itself in `Q`, looks at `X` again, and
//! waits while `Q` is still its own name. A process that leaves, or that arrives and must wait,
//! overwrites `Q` and so wakes the waiter before it. A crashed process costs a slot but never
//! blocks a queue, because there is no queue to block.
//!
//! # Shared variables
//! | name | range    | initially | home   | written at | meaning |
//! |------|----------|-----------|--------|------------|---------|
//! | `X`  | `-1..=j` | `j`       | nobody | 2, 6       | free slots; `-1`: one process too many |
//! | `Q`  | pid      | any       | nobody | 3, 7       | the process that may still be waiting |
//!
//! # Invariants (`p@{3..6}`: `p`'s next statement is one of 3..6; all checked)
//! - assumed (I1): `|{p : p@{2..7}}| <= j + 1` (the paper counts 8 too, which is the stage before)
//! - (I2) `X = j - |{p : p@{3..6}}|`
//! - (I3) `X < 0` implies some `p@3`, or some `p@{4,5}` with `Q = p`
//! - (I4) `|{p : p@6}| <= j` — this is k-exclusion
//! - (U1) `p@5` and `Q != p` lasts until `p@6`: no other process writes the name `p` into `Q`
//!
//! # Cost, faults, fairness
//! At most 7 remote references a passage in the CC model (5 in, 2 out; Theorem 1), and 6 where a
//! write leaves the writer a valid copy. Unbounded in DSM. Starvation-free while at most `j - 1`
//! processes crash, anywhere. The slot promises no order of arrival.
//!
//! # Departures from the paper
//! None.

use super::Slot;
use crate::Failure;
use crate::memory::{FetchAdd, Mark, Memory, Pid, Process, Site};
use core::convert::Infallible;

/// The shared variables of Figure 2.
#[derive(Debug)]
pub struct CcSlot<M: Memory> {
    part: M::Part,
    x: M::Var<i64>,
    q: M::Var<Pid>,
}

impl<M: FetchAdd> CcSlot<M> {
    /// A slot that lets `j` of `j + 1` processes pass.
    pub fn new(site: &Site<'_, M>, j: usize) -> Self {
        Self { part: site.here(), x: site.var("X", j as i64), q: site.var("Q", Pid::new(0)) }
    }
}

impl<M: FetchAdd> Slot<M> for CcSlot<M> {
    type Refusal = Infallible;

    fn part(&self) -> M::Part {
        self.part
    }

    #[inline]
    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let p = p.on(self.part);
        if p.at(2).fetch_add(&self.x, -1).await? == 0 {
            // No slot was free,
            p.at(3).keeping(&()).write(&self.q, p.pid()).await?; // so announce that we may wait,
            if p.at(4).keeping(&()).read(&self.x).await? < 0 {
                // and if there is still none,
                p.at(5).keeping(&()).wait_until(&self.q, |q| q != p.pid()).await?; // wait to be overwritten.
            }
        }
        p.mark(Mark::Rests(6));
        Ok(())
    }

    #[inline]
    async fn release(&self, p: &Process<M>) -> Result<(), M::Error> {
        let p = p.on(self.part);
        p.at(6).fetch_add(&self.x, 1).await?; // Free the slot first, so that a process at 4 sees it,
        p.at(7).keeping(&()).write(&self.q, p.pid()).await // then wake the waiter that already looked.
    }
}
