//! Mutual exclusion between two sides by two flags and a turn.
//!
//! # Problem
//! Mutual exclusion from atomic reads and writes, short enough to remember.
//!
//! # Source
//! Peterson 1981, the algorithm for two processes. The text follows textbooks; statement numbers
//! are ours.
//!
//! # Idea
//! A process announces that it competes (`q`) and then signs `turn`. If both sides compete, the one
//! that signed last waits until its rival has left, or has come back and signed after it.
//!
//! # Shared variables
//! | name   | range       | initially | home   | written at | meaning |
//! |--------|-------------|-----------|--------|------------|---------|
//! | `q[s]` | bool        | false     | nobody | 1, 6       | a process competes on side `s` |
//! | `turn` | Left, Right | any       | nobody | 2          | which side signed last |
//!
//! # Invariants (checked for every node and for both assignments of the sides `i` and `j`)
//! - (Q) `q[i]` exactly if `i@{2..6}`
//! - (G) if `i@5` and `j@{3,4}`, then `turn = j`: the waiter is the one that gives way
//! - (X) not both at 5
//!
//! # Cost, faults, fairness
//! At most 7 remote references per passage with coherent caches, 6 if the caches are write-back, 4
//! alone. Unbounded in the DSM model: a waiter reads variables that live with no process. No crash
//! is tolerated. Starvation-free: the process that signed first goes first.
//!
//! # Departures from the paper
//! The paper's two processes are two sides here, as a [node](Node) requires. The variables record
//! only sides, so it does not matter which processes come to them.

use crate::memory::{Domain, Mark, Memory, Process, ReadWrite, Site, decl};
use crate::mutex::{Node, Side};
use core::ops::Range;

/// The shared variables.
#[derive(Debug)]
pub struct TwoSides<M: Memory> {
    part: M::Part,
    q: M::Row<bool>,
    turn: M::Var<Side>,
}

impl<M: ReadWrite> TwoSides<M> {
    /// A mutex between two sides. It does not matter which processes come to them.
    pub fn between(site: &Site<'_, M>, _members: Range<usize>) -> Self {
        let turn = decl(Side::Left).ranges_over(Domain::Of(&[Side::Left, Side::Right]));
        Self { part: site.here(), q: site.row("q", 2, |_| decl(false)), turn: site.var("turn", turn) }
    }
}

impl<M: ReadWrite> Node<M> for TwoSides<M> {
    async fn enter(&self, p: &Process<M>, side: Side) -> Result<(), M::Error> {
        let p = p.on(self.part);
        let (mine, rivals) = (&self.q[side.index()], &self.q[side.other().index()]);

        p.at(1).write(mine, true).await?; // first, so that a later rival waits for us or signs after us
        p.at(2).keeping(&()).write(&self.turn, side).await?;
        p.keep(3, &());
        let may_pass = || async {
            let passes = !p.at(3).read(rivals).await? || p.at(4).read(&self.turn).await? != side;
            Ok(passes.then_some(()))
        };
        p.spin_until(may_pass).await?;
        p.mark(Mark::Rests(5));
        Ok(())
    }

    async fn leave(&self, p: &Process<M>, side: Side) -> Result<(), M::Error> {
        p.on(self.part).at(6).write(&self.q[side.index()], false).await
    }
}
