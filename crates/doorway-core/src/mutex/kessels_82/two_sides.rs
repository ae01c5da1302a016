//! Mutual exclusion between two sides, with one writer for each variable.
//!
//! # Problem
//! Mutual exclusion from atomic reads and writes, without a variable that both sides write.
//!
//! # Source
//! Kessels 1982, the algorithm for two processes. The text follows textbooks; statement numbers are
//! ours.
//!
//! # Idea
//! Peterson's algorithm with his `turn` made of two bits, one for each side. Equal bits mean that
//! the left side signed last, and different bits that the right side did. To sign, a side reads the
//! other side's bit and sets its own so that both together name it. If both sides sign at the same
//! time they may read old bits. The bits are still either equal or different, so they name one of
//! the two sides whatever was read.
//!
//! # Shared variables
//! | name   | range | initially | home   | written at | meaning |
//! |--------|-------|-----------|--------|------------|---------|
//! | `q[s]` | bool  | false     | nobody | 1, 7       | a process competes on side `s` |
//! | `r[s]` | bool  | any       | nobody | 3          | together with the other side's bit: which side signed last |
//!
//! # Invariants (checked for every node and for both assignments of the sides `i` and `j`)
//! - (Q) `q[i]` exactly if `i@{2..7}`
//! - (G) if `i@6` and `j@{4,5}`, then the bits name `j`: the waiter is the one that gives way
//! - (X) not both at 6
//!
//! # Cost, faults, fairness
//! At most 8 remote references per passage with coherent caches, 5 alone. Unbounded in the DSM
//! model: a waiter reads its rival's variables. (They could live with the rival if its name were
//! known in advance, but that would not help.) No crash is tolerated. Starvation-free.
//!
//! # Departures from the paper
//! The paper's two processes are two sides here, as a [node](Node) requires. A variable then has
//! several writers, but only one at a time: a process that hands its side on has left.

use crate::memory::{Mark, Memory, Process, ReadWrite, Site, decl};
use crate::mutex::{Node, Side};
use core::ops::Range;

/// The shared variables.
#[derive(Debug)]
pub struct TwoSides<M: Memory> {
    part: M::Part,
    q: M::Row<bool>,
    r: M::Row<bool>,
}

impl<M: ReadWrite> TwoSides<M> {
    /// A mutex between two sides. It does not matter which processes come to them.
    pub fn between(site: &Site<'_, M>, _members: Range<usize>) -> Self {
        Self { part: site.here(), q: site.row("q", 2, |_| decl(false)), r: site.row("r", 2, |_| decl(false)) }
    }
}

impl Side {
    /// The bit with which this side signs. Together with the other side's bit it names this side as
    /// the last signer: the left side copies the other bit, and the right side takes its opposite.
    const fn signs(self, other: bool) -> bool {
        match self {
            Self::Left => other,
            Self::Right => !other,
        }
    }
}

impl<M: ReadWrite> Node<M> for TwoSides<M> {
    async fn enter(&self, p: &Process<M>, side: Side) -> Result<(), M::Error> {
        let p = p.on(self.part);
        let (i, j) = (side.index(), side.other().index());

        p.at(1).write(&self.q[i], true).await?;
        let mine = side.signs(p.at(2).keeping(&()).read(&self.r[j]).await?);
        p.at(3).keeping(&mine).write(&self.r[i], mine).await?;
        p.keep(4, &mine);
        let may_pass = || async {
            let passes = !p.at(4).read(&self.q[j]).await? || side.signs(p.at(5).read(&self.r[j]).await?) != mine;
            Ok(passes.then_some(()))
        };
        p.spin_until(may_pass).await?;
        p.mark(Mark::Rests(6));
        Ok(())
    }

    async fn leave(&self, p: &Process<M>, side: Side) -> Result<(), M::Error> {
        p.on(self.part).at(7).write(&self.q[side.index()], false).await
    }
}
