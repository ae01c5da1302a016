//! From freedom of deadlock to freedom of starvation.
//!
//! # Source
//! Raynal, *Concurrent Programming: Algorithms, Principles, and Foundations*, 2013, chapter 2, as
//! given in the mCRL2 examples, where it is applied to Lamport's one bit.
//!
//! # Idea
//! A turn belongs to one process. A process waits before the lock until the turn is its own, or
//! until the owner of the turn does not compete. The process inside moves the turn on if its owner
//! does not compete. So the lock need not be fair: in the end only the owner of the turn is let
//! through to it.
//!
//! ```text
//! 1  flag[i] := true
//! 2  wait until turn = i or not flag[turn]
//! 3  enter Lamport's one bit
//!    critical section
//! 4  flag[i] := false
//! 5  if not flag[turn]
//! 6      turn := turn + 1, cyclically
//! 7  leave Lamport's one bit
//! ```
//! At 2 a process reads the flag even if the turn is its own.
//!
//! # Shared variables
//! | name | range | initially | written by |
//! | --- | --- | --- | --- |
//! | `flag[i]` | bool | false | i |
//! | `turn` | names | 0 | the process inside |
//! | `lock.x[i]` | bool | false | i |
//!
//! # Claims
//! Mutual exclusion without deadlock and starvation, for atomic registers; the mCRL2 examples ask
//! about others.

use crate::lamport::OneBit;
use doorway_check::prelude::*;
use std::convert::Infallible;

/// Lamport's one bit for `n` processes, made fair by turns.
#[derive(Debug)]
pub struct ByTurns<M: Memory> {
    part: M::Part,
    n: usize,
    flag: M::Row<bool>,
    turn: M::Var<Pid>,
    lock: OneBit<M>,
}

impl<M: ReadWrite> ByTurns<M> {
    /// Declares its variables.
    pub fn new(site: &Site<'_, M>, n: usize) -> Self {
        Self {
            part: site.here(),
            n,
            flag: site.row("flag", n, |_| decl(false)),
            turn: site.var("turn", Pid::new(0)),
            lock: OneBit::new(&site.part("lock", None), n),
        }
    }
}

impl<M: ReadWrite> KExclusion<M> for ByTurns<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, process: &Process<M>) -> Result<(), Failure<M::Error>> {
        let p = process.on(self.part);
        p.at(1).write(&self.flag[p.pid().index()], true).await?;
        loop {
            let turn = p.at(21).read(&self.turn).await?;
            if !p.at(22).read(&self.flag[turn.index()]).await? | (turn == p.pid()) {
                break;
            }
        }
        self.lock.acquire(process).await
    }

    async fn release(&self, process: &Process<M>, (): ()) -> Result<(), M::Error> {
        let p = process.on(self.part);
        p.at(4).write(&self.flag[p.pid().index()], false).await?;
        let turn = p.at(51).read(&self.turn).await?.index();
        if !p.at(52).read(&self.flag[turn]).await? {
            p.at(6).write(&self.turn, Pid::new((turn + 1) % self.n)).await?;
        }
        self.lock.release(process, ()).await
    }
}
