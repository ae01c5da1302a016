//! A fast path around the arbitration tree: a constant number of remote references for who is alone.
//!
//! # Problem
//! Mutual exclusion for `N` processes from atomic reads and writes, cheap for who meets nobody, and still with local spins and `O(log N)` remote references
//! where many compete.
//!
//! # Source
//! Yang and Anderson, PODC 1993: **Figure 4**, Section 6.1.
//!
//! # Idea
//! ```text
//!   X, Y: alone? ──yes──────────────────────┐ left
//!     └──no──→ arbitration tree (N, 1) ─────┴──→ top → critical section
//!                                       right
//! ```
//! `X` and `Y` are Lamport's: who signs `X`, finds `Y` empty, signs `Y` and still finds itself in `X` was alone in between, and goes straight to the left side of one more
//! [node](Node), the top. Everybody else goes through a tree and comes to its right side. One that goes fast closes the path (`Y`) and opens it on its way out. Those that went slow may have closed it
//! too; the last of them that signed `X` opens it if nobody is on it. To know that, it raises `Z`, which turns newcomers away, and looks at everybody's `B`.
//!
//! # Shared variables
//! | name   | range  | initially | home   | written at    | meaning |
//! |--------|--------|-----------|--------|---------------|---------|
//! | `X`    | pid    | any       | nobody | 1             | who came last |
//! | `Y`    | pid, – | –         | nobody | 3, 8, 26      | –: the fast path is open |
//! | `Z`    | bool   | false     | nobody | 23, 27        | somebody is about to open it: nobody may go fast |
//! | `B[i]` | bool   | false     | `i`    | 5, 9, 21      | `i` may be on the fast path |
//!
//! and those of the top, which is node 0, and of the tree's nodes from 1.
//!
//! # Statements
//! The figure has no numbers. The fast way is 1 to 9 in the order of print; while a process has to do with the top it rests at 10. A slow one rests at 12 in the tree's entry section
//! and at 13 in that of the top and inside; its exit section is 21 to 27, then 28 at the top and 29 in the tree.
//!
//! # Invariants (ours, all checked)
//! - (F1) at most one process is at 10; (F2) at most one at 13 or from 21 to 28: each side of the top is used by one at a time
//! - (F3) whoever is at 10 or 8 finds the path closed: `Y` is not –
//! - (F4) `Z` exactly if somebody is at 24, 26 or 27
//! - (F5) `B[i]` if `i@{6..10}`, and not if `i@{0..5}` or `i@{22..29}`; so that, when all are in their remainders, no `B` is set, and no `Z`
//! - (I0) to (I16) of Figure 1, of every node
//!
//! # Cost, faults, fairness
//! Who is alone and finds the path open: 12 remote references in the DSM model (7 less `B` twice, which lives with its owner, 2 to leave the path, 5 at the top), 14 where `B` is remote
//! too. Who goes slow: at most `10 ceil(log2 N) + 17` if it does not open the path, at most `10 ceil(log2 N) + N + 14` if it does; the `N - 1` are those at 24. (Who opens it after it came past 2
//! met nobody at the top, by (F3); who was turned away at 2, and whose rival at the top signed last, does not find the path free.)
//! No crash is tolerated. Starvation-free.
//!
//! **The path may stay closed** when all have gone: one that was slow between 2 and 3 closes it although it went the other way, and signed `X` too early to open it again. The next
//! passage is slow then, however alone, and opens it, for `5 ceil(log2 N) + N + 10`. So a constant number is what the second passage alone costs at the latest.
//!
//! # Departures from the paper
//! 1. `B[i]` lives with `i`. The paper does not say where.
//! 2. At 24 a process does not look at its own `B`, which it has cleared at 21.

use crate::Failure;
use crate::k_exclusion::KExclusion;
use crate::memory::{Mark, Memory, Pid, Process, ReadWrite, Site, decl, within};
use crate::mutex::{ArbitrationTree, MutualExclusion, Node, Side};
use core::convert::Infallible;
use core::ops::Range;

/// The shared variables of Figure 4, around nodes of any kind.
#[derive(Debug)]
pub struct FastPath<M: Memory, N> {
    part: M::Part,
    n: usize,
    x: M::Var<Pid>,
    y: M::Var<Option<Pid>>,
    z: M::Var<bool>,
    b: M::Row<bool>,
    top: N,
    tree: ArbitrationTree<M, N>,
}

/// Which way a passage went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathTaken {
    /// Straight to the top's left side.
    Fast,
    /// Through the tree, to its right side.
    Slow,
}

impl<M: ReadWrite, N: Node<M>> FastPath<M, N> {
    /// A mutex for `n` processes. Each node is built on a site within this one, for the processes that can come to it.
    pub fn new(site: &Site<'_, M>, n: usize, node: impl Fn(&Site<'_, M>, Range<usize>) -> N) -> Self {
        Self {
            part: site.here(),
            n,
            x: site.var("X", Pid::new(0)),
            y: site.var("Y", None),
            z: site.var("Z", false),
            b: site.row("B", n, |i| decl(false).home(Pid::new(i))),
            top: node(&site.part("node", Some(0)), 0..n),
            tree: ArbitrationTree::new(&site.part("slow", None), n, node),
        }
    }

    /// 1 to 7: whether nobody else was there.
    async fn is_alone(&self, p: &Process<M>) -> Result<bool, M::Error> {
        let p = p.on(self.part);
        let me = p.pid();

        p.at(1).write(&self.x, me).await?;
        if p.at(2).keeping(&()).read(&self.y).await?.is_some() {
            return Ok(false);
        }
        p.at(3).keeping(&()).write(&self.y, Some(me)).await?; // closes the path behind us
        if p.at(4).keeping(&()).read(&self.x).await? != me {
            return Ok(false);
        }
        p.at(5).keeping(&()).write(&self.b[me.index()], true).await?; // Whoever opens the path sees this,
        if p.at(6).keeping(&()).read(&self.z).await? {
            return Ok(false); // or we see that it is about to.
        }
        Ok(p.at(7).keeping(&()).read(&self.y).await? == Some(me)) // Nobody has opened it since 3.
    }

    /// 22 to 27: opens the path, if it is on us to do so and nobody is on it.
    async fn open(&self, p: &Process<M>) -> Result<(), M::Error> {
        let p = p.on(self.part);
        let me = p.pid();

        if p.at(22).keeping(&()).read(&self.x).await? != me {
            return Ok(()); // somebody came after us
        }
        p.at(23).keeping(&()).write(&self.z, true).await?;
        let mut is_free = true;
        for i in (0..self.n).filter(|&i| i != me.index()) {
            is_free &= !p.at(24).keeping(&(i, is_free)).read(&self.b[i]).await?;
        }
        if is_free {
            p.at(26).keeping(&()).write(&self.y, None).await?;
        }
        p.at(27).keeping(&()).write(&self.z, false).await
    }
}

impl<M: ReadWrite, N: Node<M>> MutualExclusion<M> for FastPath<M, N> {}

impl<M: ReadWrite, N: Node<M>> KExclusion<M> for FastPath<M, N> {
    type Held = PathTaken;
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<PathTaken, Failure<M::Error>> {
        let here = p.on(self.part);
        let (way, side) = if self.is_alone(p).await? {
            here.mark(Mark::Rests(10));
            (PathTaken::Fast, Side::Left)
        } else {
            here.mark(Mark::Rests(12));
            here.keep(12, &());
            within!(here, &(), self.tree.acquire(p).await?);
            here.mark(Mark::Rests(13));
            (PathTaken::Slow, Side::Right)
        };
        here.keep(10, &way);
        within!(here, &way, self.top.enter(p, side).await?);
        Ok(way)
    }

    async fn release(&self, p: &Process<M>, way: PathTaken) -> Result<(), M::Error> {
        let here = p.on(self.part);
        let mine = &self.b[p.pid().index()];
        match way {
            PathTaken::Fast => {
                within!(here, &way, self.top.leave(p, Side::Left).await?);
                here.mark(Mark::Rests(8));
                here.at(8).keeping(&way).write(&self.y, None).await?; // Only now: the next one may come to the left side.
                here.at(9).keeping(&way).write(mine, false).await
            }
            PathTaken::Slow => {
                here.at(21).write(mine, false).await?;
                here.part(&way);
                self.open(p).await?; // still inside: one at a time
                here.part_done();
                here.mark(Mark::Rests(28));
                here.keep(28, &way);
                within!(here, &way, self.top.leave(p, Side::Right).await?);
                here.mark(Mark::Rests(29));
                here.keep(29, &());
                within!(here, &(), self.tree.release(p, ()).await?);
                Ok(())
            }
        }
    }
}
