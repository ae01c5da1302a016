//! Mutual exclusion from reads and writes, with seven accesses for a process that is alone.
//!
//! # Problem
//! Mutual exclusion for `N` processes from atomic reads and writes, at a cost that does not depend
//! on `N` without contention.
//!
//! # Source
//! Lamport 1987, **Algorithm 2**. This text follows textbooks; we did not compare it with the
//! original print. Statement numbers are ours.
//!
//! # Idea
//! A process signs `x`, checks that `y` is free, signs `y`, and checks that `x` still bears its
//! name. If so, every later process finds `y` signed. Otherwise another process interfered. The
//! process then waits until all processes on their way have passed or withdrawn (`B`). If `y` still
//! bears its name, it was the last to sign `y`, and enters.
//!
//! # Shared variables
//! | name   | range  | initially | home   | written at     | meaning |
//! |--------|--------|-----------|--------|----------------|---------|
//! | `B[i]` | bool   | false     | `i`    | 1, 4, 8, 14    | `i` may still enter by the short way |
//! | `x`    | pid    | any       | nobody | 2              | the process that came last |
//! | `y`    | pid, – | –         | nobody | 6, 13          | the process that may be inside |
//!
//! # Invariants (checked)
//! - (Y) if a process is inside, at 12, then `y` is not –
//! - (B) `B[i]` if `i@{2,3,4,6,7,8}`, and not if `i@{0,1,5,9,10,11}`
//! - (X) if a process is inside by the short way, at 12 with `B` set, then no process is at 10 that
//!   `y` names
//!
//! # Cost, faults, fairness
//! Seven accesses alone. Two of them are to the process's own `B`, so there are five remote
//! references in the DSM model. Unbounded under contention in every model: a process that is sent
//! back to the beginning writes again, as often as others enter. No crash is tolerated. Not
//! starvation-free: the checker shows a process that is overtaken forever.
//!
//! # Departures from the paper
//! At 9 a process does not look at its own `B`, which it has just cleared.

use crate::Failure;
use crate::k_exclusion::KExclusion;
use crate::memory::{Here, Mark, Memory, Pid, Process, ReadWrite, Site, decl};
use crate::mutex::MutualExclusion;
use core::convert::Infallible;

/// The shared variables.
#[derive(Debug)]
pub struct FastMutex<M: Memory> {
    part: M::Part,
    n: usize,
    b: M::Row<bool>,
    x: M::Var<Pid>,
    y: M::Var<Option<Pid>>,
}

impl<M: ReadWrite> FastMutex<M> {
    /// A mutex for `n` processes.
    pub fn new(site: &Site<'_, M>, n: usize) -> Self {
        Self {
            part: site.here(),
            n,
            b: site.row("B", n, |i| decl(false).home(Pid::new(i))),
            x: site.var("x", Pid::new(0)),
            y: site.var("y", None),
        }
    }

    /// One try from the beginning. Returns whether it led into the critical section; otherwise the
    /// process must start again.
    async fn enters(&self, p: Here<'_, M>) -> Result<bool, M::Error> {
        let me = p.pid();
        let i = me.index();
        p.at(1).keeping(&()).write(&self.b[i], true).await?;
        p.at(2).keeping(&()).write(&self.x, me).await?;
        if p.at(3).keeping(&()).read(&self.y).await?.is_some() {
            p.at(4).keeping(&()).write(&self.b[i], false).await?;
            p.at(5).keeping(&()).wait_until(&self.y, |y| y.is_none()).await?;
            return Ok(false);
        }
        p.at(6).keeping(&()).write(&self.y, Some(me)).await?;
        if p.at(7).keeping(&()).read(&self.x).await? == me {
            return Ok(true); // the short way: a process that signs x from now on finds y signed
        }
        p.at(8).keeping(&()).write(&self.b[i], false).await?;
        for j in (0..self.n).filter(|&j| j != i) {
            // It has withdrawn, has left, or will find y signed.
            p.at(9).keeping(&j).wait_until(&self.b[j], |b| !b).await?;
        }
        if p.at(10).keeping(&()).read(&self.y).await? == Some(me) {
            return Ok(true);
        }
        p.at(11).keeping(&()).wait_until(&self.y, |y| y.is_none()).await?;
        Ok(false)
    }
}

impl<M: ReadWrite> MutualExclusion<M> for FastMutex<M> {}

impl<M: ReadWrite> KExclusion<M> for FastMutex<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let p = p.on(self.part);
        while !self.enters(p).await? {}
        p.mark(Mark::Rests(12));
        Ok(())
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        let p = p.on(self.part);
        p.at(13).write(&self.y, None).await?;
        p.at(14).keeping(&()).write(&self.b[p.pid().index()], false).await
    }
}
