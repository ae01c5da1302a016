//! `(N, k)`-exclusion by a tree of smaller solutions.
//!
//! # Problem
//! k-exclusion whose cost grows with `k log(N/k)`, not with `N`.
//!
//! # Source
//! Anderson and Moir, PODC 1994: **Figure 3(a)**, Theorems 2 (with [`CcSlot`](super::CcSlot)s) and
//! 6 (with [`DsmSlot`](super::DsmSlot)s).
//!
//! # Idea
//! ```text
//!   2k processes → block ─┐                        each block lets k of at most 2k pass
//!   2k processes → block ─┴→ block ─┐
//!   2k processes → block ─┐         ├→ block → critical section
//!   2k processes → block ─┴→ block ─┘
//! ```
//! Processes `2kg .. 2k(g+1)` share leaf `g`. Two blocks feed one block on the next level, so that
//! one has at most `2k` processes in it. The exit section runs from the root down: the blocks below
//! must still count a process that occupies a block above them.
//!
//! # Shared variables
//! Those of each block.
//!
//! # Cost, faults, fairness
//! There are `ceil(log2(ceil(N/k)))` levels, and a block that `m` processes can reach holds back at
//! most `m - k`. With slots this costs `7k` (CC) or `14k` (DSM) remote references a level. The tree
//! tolerates what its blocks tolerate, `k - 1` crashes: a dead process takes one place in each
//! block of its path. Starvation-free if the blocks are.
//!
//! # Departures from the paper
//! 1. `N` and `k` are arbitrary: the last leaf may have fewer processes, an odd block goes up
//!    alone, and a block that at most `k` processes can reach does nothing. The paper leaves this
//!    to the reader; its bound needs the outer rounding up.
//! 2. In DSM a block has spin locations only for the processes that can come to it.

use super::Stage;
use crate::Failure;
use crate::k_exclusion::KExclusion;
use crate::memory::{Memory, Process, Site, within};
use alloc::vec::Vec;
use core::convert::Infallible;

/// Blocks, leaves first.
#[derive(Debug)]
pub struct Tree<M: Memory, Block> {
    part: M::Part,
    /// How many processes share a leaf.
    leaf: usize,
    levels: Vec<Vec<Block>>,
}

impl<M: Memory, Block> Tree<M, Block> {
    /// A tree that lets `k` of `n` processes in. `block` builds each block for its stage, on a site
    /// within this one.
    pub fn new(site: &Site<'_, M>, n: usize, k: usize, block: impl Fn(&Site<'_, M>, &Stage) -> Block) -> Self {
        let build = |(height, stages): (usize, Vec<Stage>)| {
            let level = site.part("level", Some(height));
            stages.iter().enumerate().map(|(i, stage)| block(&level.part("block", Some(i)), stage)).collect()
        };
        Self { part: site.here(), leaf: 2 * k, levels: stages(n, k).into_iter().enumerate().map(build).collect() }
    }

    /// The blocks on a process's way, leaf first.
    fn path(&self, p: usize) -> impl DoubleEndedIterator<Item = (usize, &Block)> {
        let leaf = p / self.leaf;
        self.levels.iter().enumerate().map(move |(height, blocks)| (height, &blocks[leaf >> height]))
    }
}

/// The stages of a tree, leaves first.
pub(super) fn stages(n: usize, k: usize) -> Vec<Vec<Stage>> {
    let leaf = 2 * k;
    let leaves = (0..n.div_ceil(leaf)).map(|g| {
        let members = leaf * g..n.min(leaf * (g + 1));
        Stage { inputs: members.len(), members, k }
    });
    let mut levels: Vec<Vec<Stage>> = Vec::from([leaves.collect()]);
    while let Some(level) = levels.last().filter(|level| level.len() > 1) {
        levels.push(level.chunks(2).map(|feeding| merge(feeding, k)).collect());
    }
    levels
}

/// The stage that one or two stages feed.
fn merge(feeding: &[Stage], k: usize) -> Stage {
    let members = feeding[0].members.start..feeding[feeding.len() - 1].members.end;
    Stage { members, inputs: feeding.iter().map(|stage| stage.inputs.min(k)).sum(), k }
}

impl<M: Memory, Block: KExclusion<M, Refusal = Infallible>> KExclusion<M> for Tree<M, Block> {
    /// What each block holds, leaf first.
    type Held = Vec<Block::Held>;
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<Self::Held, Failure<M::Error>> {
        let here = p.on(self.part);
        let mut held = Vec::new();
        for (height, block) in self.path(p.pid().index()) {
            here.keep(1, &(height, &held));
            let got = within!(here, &(height, &held), block.acquire(p).await?);
            held.push(got);
        }
        Ok(held)
    }

    async fn release(&self, p: &Process<M>, mut held: Self::Held) -> Result<(), M::Error> {
        let here = p.on(self.part);
        for (height, block) in self.path(p.pid().index()).rev() {
            let Some(got) = held.pop() else { return Ok(()) };
            here.keep(2, &(height, &got, &held));
            within!(here, &(height, &held), block.release(p, got).await?);
        }
        Ok(())
    }
}
