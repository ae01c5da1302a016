//! Mutual exclusion for `N` processes by a tree of two-process solutions.
//!
//! # Problem
//! Mutual exclusion for any number of processes, built from a solution for two.
//!
//! # Source
//! Kessels 1982, for his own two-process solution; Yang and Anderson, PODC 1993, Sections 3 and 7,
//! for any two-process solution.
//!
//! # Idea
//! ```text
//!   p0 ─┬─ node 4 ─┐
//!   p1 ─┘          ├─ node 2 ─┐            each node lets one of its two sides pass
//!   p2 ─┬─ node 5 ─┘          │
//!   p3 ─┘                     ├─ node 1 → critical section
//!   p4 ─┬─ node 6 ────────────┘
//!   p5 ─┘
//! ```
//! Processes are the leaves. The winner of a node goes on to the next node, on the side from which
//! it comes. A process keeps every node it has won until it has left all nodes above. At most one
//! process at a time therefore uses a side of a node, and a two-process solution suffices. For the
//! same reason the exit section runs **from the root down**: a process that gave back a lower node
//! first would let another process onto its side of a node that it has not left.
//!
//! # Shared variables
//! Those of each [node](Node). A node knows which processes can come to it, and has spin locations
//! for exactly these: one for each process and level.
//!
//! # Cost, faults, fairness
//! `ceil(log2 N)` times the cost of a node. No crash is tolerated. Starvation-free if the nodes
//! are.
//!
//! # Departures from the paper
//! 1. `N` is arbitrary. Where no process could come to the other side, there is no node.
//! 2. Nodes are numbered as in a heap: the root is 1, and below node `v` are `2v` and `2v+1`. The
//!    number of a node therefore tells what is above and below it.

use crate::Failure;
use crate::k_exclusion::KExclusion;
use crate::memory::{Anybody, Memory, Process, Site, Word, within};
use crate::mutex::MutualExclusion;
use alloc::vec::Vec;
use core::convert::Infallible;
use core::ops::Range;

/// One of the two sides of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The first side. In a tree, it is the side of the smaller process names.
    Left,
    /// The second side.
    Right,
}

impl Side {
    /// The opposite side.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }

    /// 0 or 1, for rows of variables with one entry per side.
    #[must_use]
    #[inline(always)]
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl Word for Side {
    type Waiters = Anybody;
    fn pack(self) -> u64 {
        self as u64
    }
    fn unpack(word: u64) -> Self {
        if word == 0 { Self::Left } else { Self::Right }
    }
}

/// Mutual exclusion between two sides.
///
/// Many processes may come to a node, but **at most one at a time on each side**: from the
/// beginning of `enter` to the end of `leave`, no other process uses that side. The caller that
/// composes nodes must guarantee this; an [`ArbitrationTree`] does. The next process on a side may
/// be a different one, so a text that needs the name of its rival must find it out anew in each
/// passage.
///
/// For an algorithm `XTree` for `N` processes, implement this trait for the two-process text and
/// pass its constructor to [`ArbitrationTree::new`].
pub trait Node<M: Memory> {
    /// The entry section.
    ///
    /// # Errors
    /// Returns an error if an access failed. `p` then stays at the statement it had reached, as
    /// after a crash.
    fn enter(&self, p: &Process<M>, side: Side) -> impl Future<Output = Result<(), M::Error>>;

    /// The exit section.
    ///
    /// # Errors
    /// The same as for [`enter`](Self::enter).
    fn leave(&self, p: &Process<M>, side: Side) -> impl Future<Output = Result<(), M::Error>>;
}

/// Nodes in levels.
#[derive(Debug)]
pub struct ArbitrationTree<M: Memory, N> {
    part: M::Part,
    /// Leaves first. `None` where no process could come to the right side.
    levels: Vec<Vec<Option<N>>>,
}

impl<M: Memory, N: Node<M>> ArbitrationTree<M, N> {
    /// A tree for `n` processes. Each node is built on a site within this one, for the processes
    /// that can come to it.
    pub fn new(site: &Site<'_, M>, n: usize, node: impl Fn(&Site<'_, M>, Range<usize>) -> N) -> Self {
        let height = levels(n);
        let build = |level: usize| {
            let width = 2 << level;
            let here = |v: usize| {
                let members = v * width..n.min((v + 1) * width);
                let is_contested = members.len() > width / 2;
                is_contested.then(|| node(&site.part("node", Some((1 << (height - 1 - level)) + v)), members))
            };
            (0..n.div_ceil(width)).map(here).collect()
        };
        Self { part: site.here(), levels: (0..height).map(build).collect() }
    }

    /// The nodes on the path of a process, leaf first, each with its level and the side from which
    /// the process comes.
    pub(super) fn path(&self, p: usize) -> impl DoubleEndedIterator<Item = (usize, &N, Side)> {
        self.levels.iter().enumerate().filter_map(move |(level, nodes)| {
            let side = if p >> level & 1 == 0 { Side::Left } else { Side::Right };
            nodes.get(p >> (level + 1))?.as_ref().map(|node| (level, node, side))
        })
    }
}

/// The number of levels of a tree for `n` processes: `ceil(log2 n)`.
///
/// ```
/// use doorway_core::mutex::levels;
/// assert_eq!([1, 2, 3, 4, 5, 1024].map(levels), [0, 1, 2, 2, 3, 10]);
/// ```
#[must_use]
pub const fn levels(n: usize) -> usize {
    if n <= 1 { 0 } else { (n - 1).ilog2() as usize + 1 }
}

/// The number of nodes: each node merges two subtrees, until one is left.
#[must_use]
pub const fn nodes(n: usize) -> usize {
    n.saturating_sub(1)
}

/// The number of spin locations, if a node has one for each process that can come to it.
#[must_use]
pub fn spins(n: usize) -> usize {
    let at = |level: usize| {
        let alone = n % (2 << level);
        if alone > 1 << level { n } else { n - alone }
    };
    (0..levels(n)).map(at).sum()
}

impl<M: Memory, N: Node<M>> MutualExclusion<M> for ArbitrationTree<M, N> {}

impl<M: Memory, N: Node<M>> KExclusion<M> for ArbitrationTree<M, N> {
    /// Nothing: the path follows from the name of the process.
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let here = p.on(self.part);
        for (level, node, side) in self.path(p.pid().index()) {
            here.keep(1, &level);
            within!(here, &level, node.enter(p, side).await?);
        }
        Ok(())
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        let here = p.on(self.part);
        for (level, node, side) in self.path(p.pid().index()).rev() {
            here.keep(2, &level);
            within!(here, &level, node.leave(p, side).await?);
        }
        Ok(())
    }
}

/// The number of levels of a tree, for costs that grow with it.
pub(crate) fn height(sizes: crate::registry::Sizes) -> u64 {
    levels(sizes.n) as u64
}
