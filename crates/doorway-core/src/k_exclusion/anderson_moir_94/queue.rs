//! `(N, k)`-exclusion with a queue in atomic blocks: the obvious solution, for comparison.
//!
//! # Problem
//! k-exclusion for any `N` and `k`.
//!
//! # Source
//! Anderson and Moir, PODC 1994: **Figure 1**.
//!
//! # Idea
//! A counter and a queue, as every textbook has them. Each `< >` is one step, and that is the
//! trouble: no machine has such an instruction. If a lock makes the step atomic, a process that
//! dies with the lock blocks all others. With blocks that really are atomic the text *is*
//! `(k-1)`-resilient: a process that leaves removes the head of the queue itself. So a dead waiter
//! is given a place and keeps it, like a process that dies inside.
//!
//! # Shared variables
//! | name       | range       | initially | home   | written at | meaning |
//! |------------|-------------|-----------|--------|------------|---------|
//! | `X`        | `k-N..=k`   | `k`       | nobody | 1, 3       | free slots, less the number of processes in the queue |
//! | `place[p]` | `0..=N-k`   | 0         | `p`    | 1, 3       | where in the queue `p` is, 1 being its head; 0: it is not |
//!
//! # Invariants (all checked)
//! - (Q1) `X = k - |{p : p@{2,3}}|`
//! - (Q2) the places other than 0 are `1, 2, …, -X`, each once
//! - (Q3) at most `k` processes are at 3, or at 2 with `place[p] = 0`
//!
//! # Cost, faults, fairness
//! First in, first enabled: the doorway is statement 1. Waiting is local in both machine models,
//! but a block accesses the whole queue. Tolerates `k - 1` crashes in a memory whose blocks are
//! atomic. Elsewhere it tolerates none inside a block.
//!
//! # Departures from the paper
//! The queue is stored as the place of each process in it. `Enqueue` writes one place, `Dequeue`
//! moves all up by one, and `Element(p, Q)` is `place[p] != 0`.

use crate::Failure;
use crate::k_exclusion::KExclusion;
use crate::memory::{AtomicBlock, FetchAdd, Mark, Pid, Process, Site, decl};
use core::convert::Infallible;

/// The shared variables of Figure 1.
pub struct Queue<M: AtomicBlock> {
    part: M::Part,
    lock: M::Lock,
    x: M::Var<i64>,
    place: M::Row<u64>,
    n: usize,
}

impl<M: AtomicBlock> core::fmt::Debug for Queue<M> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Queue").field("X", &self.x).field("place", &self.place).finish_non_exhaustive()
    }
}

impl<M: AtomicBlock> Queue<M> {
    /// A queue that lets `k` of `n` processes in.
    pub fn new(site: &Site<'_, M>, n: usize, k: usize) -> Self {
        Self {
            part: site.here(),
            lock: site.lock(),
            x: site.var("X", k as i64),
            place: site.row("place", n, |p| decl(0).home(Pid::new(p))),
            n,
        }
    }
}

impl<M: FetchAdd + AtomicBlock> KExclusion<M> for Queue<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let p = p.on(self.part);
        let mine = &self.place[p.pid().index()];
        p.block_begins(&self.lock).await?; // <
        let x = p.at(1).fetch_add(&self.x, -1).await?;
        if x <= 0 {
            p.at(1).write(mine, 1 + x.unsigned_abs()).await?; // Enqueue(p, Q)
        }
        p.block_ends(&self.lock); // >
        p.mark(Mark::DoorwayEnds);
        if x <= 0 {
            p.at(2).keeping(&()).wait_until(mine, |place| place == 0).await?; // while Element(p, Q)
        }
        p.mark(Mark::Rests(3));
        Ok(())
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        let p = p.on(self.part);
        p.block_begins(&self.lock).await?; // <
        for q in 0..self.n {
            let place = p.at(3).keeping(&q).read(&self.place[q]).await?; // Dequeue(Q)
            if place > 0 {
                p.at(3).write(&self.place[q], place - 1).await?;
            }
        }
        p.at(3).keeping(&self.n).fetch_add(&self.x, 1).await?;
        p.block_ends(&self.lock); // >
        Ok(())
    }
}
