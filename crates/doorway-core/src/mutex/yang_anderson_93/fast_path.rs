//! A fast path around the arbitration tree: a constant number of remote references for a process
//! that is alone.
//!
//! # Problem
//! Mutual exclusion for `N` processes from atomic reads and writes. It is cheap for a process that
//! meets no rival, and still has local spins and `O(log N)` remote references under contention.
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
//! `X` and `Y` are Lamport's. A process that signs `X`, finds `Y` empty, signs `Y` and still finds
//! its name in `X` was alone in between. It goes straight to the left side of one more
//! [node](Node), the top. All other processes go through a tree and come to the right side of the
//! top. A fast process closes the path (`Y`) and opens it on its way out. Slow processes may have
//! closed it too. The last of them that signed `X` opens the path if no process is on it. To find
//! that out, it raises `Z`, which turns newcomers away, and reads every process's `B`.
//!
//! # Shared variables
//! | name   | range  | initially | home   | written at    | meaning |
//! |--------|--------|-----------|--------|---------------|---------|
//! | `X`    | pid    | any       | nobody | 1             | the process that came last |
//! | `Y`    | pid, – | –         | nobody | 3, 8, 26      | –: the fast path is open |
//! | `Z`    | bool   | false     | nobody | 23, 27        | a process is about to open the path: no other may take it |
//! | `B[i]` | bool   | false     | `i`    | 5, 9, 21      | `i` may be on the fast path |
//!
//! and the variables of the top, which is node 0, and of the tree's nodes from 1.
//!
//! # Statements
//! The figure has no numbers. The fast path is 1 to 9 in the order of print; a process rests at 10
//! while it uses the top. A slow process rests at 12 in the tree's entry section, and at 13 in the
//! entry section of the top and inside. Its exit section is 21 to 27, then 28 at the top and 29 in
//! the tree.
//!
//! # Invariants (ours, all checked)
//! - (F1) at most one process is at 10; (F2) at most one is at 13 or from 21 to 28: each side of
//!   the top is used by one process at a time
//! - (F3) a process at 10 or 8 finds the path closed: `Y` is not –
//! - (F4) `Z` exactly if a process is at 24, 26 or 27
//! - (F5) `B[i]` if `i@{6..10}`, and not if `i@{0..5}` or `i@{22..29}`. When all processes are in
//!   their remainder sections, no `B` and no `Z` is therefore set
//! - (I0) to (I16) of Figure 1, for every node
//!
//! # Cost, faults, fairness
//! A process that is alone and finds the path open makes 12 remote references in the DSM model: 7
//! to take the path, 2 to leave it and 5 at the top, less the 2 accesses to its own `B`. It makes
//! 14 where `B` is remote too. A slow process makes at most `10 ceil(log2 N) + 17` if it does not
//! open the path, and at most `10 ceil(log2 N) + N + 14` if it does; `N - 1` of these are at 24. (A
//! process that came past 2 and opens the path met no rival at the top, by (F3). A process that was
//! turned away at 2, and whose rival at the top signed last, does not find the path free.) No crash
//! is tolerated. Starvation-free.
//!
//! **The path may stay closed** when all processes have gone. A process that was slow between 2 and
//! 3 closes the path although it went the other way, and it signed `X` too early to open the path
//! again. The next passage is then slow even if it is alone. It opens the path, for
//! `5 ceil(log2 N) + N + 10`. A constant number is therefore what a process pays, at the latest,
//! for its second passage alone.
//!
//! # Departures from the paper
//! 1. `B[i]` lives with `i`. The paper does not say where it lives.
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

/// The path that a passage took.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathTaken {
    /// Straight to the left side of the top.
    Fast,
    /// Through the tree, to the right side of the top.
    Slow,
}

impl<M: ReadWrite, N: Node<M>> FastPath<M, N> {
    /// A mutex for `n` processes. Each node is built on a site within this one, for the processes
    /// that can come to it.
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

    /// Statements 1 to 7. Returns whether the process was alone.
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
        p.at(5).keeping(&()).write(&self.b[me.index()], true).await?; // The process that opens the path sees this,
        if p.at(6).keeping(&()).read(&self.z).await? {
            return Ok(false); // or we see that it is about to open it.
        }
        Ok(p.at(7).keeping(&()).read(&self.y).await? == Some(me)) // No process has opened it since 3.
    }

    /// Statements 22 to 27: opens the path if we signed `X` last and no process is on the path.
    async fn open(&self, p: &Process<M>) -> Result<(), M::Error> {
        let p = p.on(self.part);
        let me = p.pid();

        if p.at(22).keeping(&()).read(&self.x).await? != me {
            return Ok(()); // another process came after us
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
                here.at(8).keeping(&way).write(&self.y, None).await?; // Only now may the next one come to the left.
                here.at(9).keeping(&way).write(mine, false).await
            }
            PathTaken::Slow => {
                here.at(21).write(mine, false).await?;
                here.part(&way);
                self.open(p).await?; // still inside: one process at a time
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
