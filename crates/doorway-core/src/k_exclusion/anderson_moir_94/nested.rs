//! Fast paths within fast paths: cost that grows with contention, gracefully.
//!
//! # Problem
//! k-exclusion whose cost depends on the number of competitors, and not on `N`.
//!
//! # Source
//! Anderson and Moir, PODC 1994: **Figure 3(b)**, that is, **Figure 4** whose slow path
//! `Acquire(N-k, k)` is Figure 4 again; Theorems 4 and 8.
//!
//! # Idea
//! ```text
//!   X0: fast? ──yes─────────────────────────────────────────────────┐
//!     └──no──→ X1: fast? ──yes───────────────────────┐              │
//!                └──no──→ … ──→ (r, k), r <= 2k ──→ block 1 ──→ block 0 ──→ critical section
//! ```
//! Each depth has `k` fast places and a block for `2k` processes. A process goes deeper only while
//! `k` others hold the places of a depth. So with `c` competitors no process comes deeper than
//! `c / k`. On its way out a process goes from the outermost depth inwards, and at each depth gives
//! back the block before the place.
//!
//! # Shared variables
//! | name        | range    | initially | home   | written at | meaning |
//! |-------------|----------|-----------|--------|------------|---------|
//! | `X` (each depth) | `0..=k` | `k`   | nobody | 2, 9       | fast places of this depth that are free |
//!
//! and those of the blocks.
//!
//! # Invariants (of each depth `d`; all checked)
//! - (G1) `X = k - |{p : p has a fast place here}|`
//! - (G2) at most `2k` processes are at 5 or 6
//! - (G3) at most `N - (d+1)k` processes are between 4 and 8 without a fast place
//!
//! # Cost, faults, fairness
//! At contention `c`, at most `ceil(c/k) (7k+2)` remote references in the CC model (Theorem 4) and
//! `ceil(c/k) (14k+2)` in DSM (Theorem 8), where a bounded decrement is one step. Tolerates what
//! the blocks tolerate, `k - 1` crashes. Starvation-free if they are.
//!
//! # Departures from the paper
//! 1. The innermost solution is a block alone as soon as at most `2k` processes can come to it.
//! 2. The text needs the instruction of footnote 2, which does not change zero. Some memories can
//!    only loop on compare-and-swap ([`BoundedDecrement::WAIT_FREE`] is false:
//!    [`Native`](https://docs.rs/doorway)). There each exchange that a process loses costs 1 more
//!    reference, and a process that always loses starves. The wait-free repair of
//!    [`FastPath`](super::FastPath) cannot be nested: it sends processes to the slow path although
//!    a place is free, and with `k + 1` competitors they drift to the bottom.

use super::Stage;
use crate::Failure;
use crate::k_exclusion::KExclusion;
use crate::memory::{BoundedDecrement, FetchAdd, Mark, Memory, Process, Site, within};
use crate::registry::Sizes;
use alloc::vec::Vec;
use core::convert::Infallible;

/// The depths, the outermost first, and the block at the bottom.
#[derive(Debug)]
pub struct NestedFastPaths<M: Memory, Block> {
    depths: Vec<Depth<M, Block>>,
    part: M::Part,
    bottom: Block,
}

#[derive(Debug)]
struct Depth<M: Memory, Block> {
    part: M::Part,
    x: M::Var<u64>,
    block: Block,
}

/// How deep a passage went, with what the blocks hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Went<H> {
    /// What the bottom holds; `None` if the passage found a fast place before it.
    pub bottom: Option<H>,
    /// What each block holds, the innermost first.
    pub blocks: Vec<H>,
}

impl<M: BoundedDecrement, Block> NestedFastPaths<M, Block> {
    /// Fast paths for `n` processes, `k` at a time. `block` builds each block for its stage, on a
    /// site within this one.
    pub fn new(site: &Site<'_, M>, n: usize, k: usize, block: impl Fn(&Site<'_, M>, &Stage) -> Block) -> Self {
        let mut depths = Vec::new();
        let mut inputs = n;
        while inputs > 2 * k {
            let site = site.part("depth", Some(depths.len()));
            depths.push(Depth {
                part: site.here(),
                x: site.var("X", k as u64),
                block: block(&site.part("block", None), &Stage::before(Sizes { n, k }, 2 * k)),
            });
            inputs -= k;
        }
        let bottom = block(&site.part("bottom", None), &Stage::before(Sizes { n, k }, inputs));
        Self { depths, part: site.here(), bottom }
    }
}

impl<M, Block> KExclusion<M> for NestedFastPaths<M, Block>
where
    M: FetchAdd + BoundedDecrement,
    Block: KExclusion<M, Refusal = Infallible>,
{
    type Held = Went<Block::Held>;
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<Self::Held, Failure<M::Error>> {
        let here = p.on(self.part);
        // 2, at each depth, until the process gets a place.
        let mut deepest = self.depths.len();
        for (d, depth) in self.depths.iter().enumerate() {
            let there = p.on(depth.part);
            if there.at(2).keeping(&()).bounded_decrement(&depth.x).await? > 0 {
                there.shows("fast", true);
                deepest = d;
                break;
            }
            there.mark(Mark::Rests(4));
        }
        let mut went = Went { bottom: None, blocks: Vec::new() };
        if deepest == self.depths.len() {
            here.keep(4, &());
            here.part(&());
            went.bottom = Some(self.bottom.acquire(p).await?); // 4, at the bottom
            here.part_done();
        }
        // 5, from there outwards.
        for (d, depth) in self.depths.iter().enumerate().take(deepest + 1).rev() {
            let there = p.on(depth.part);
            there.mark(Mark::Rests(5));
            there.keep(5, &(d, &went));
            let got = within!(there, &(d, &went), depth.block.acquire(p).await?);
            there.mark(Mark::Rests(6));
            went.blocks.push(got);
        }
        Ok(went)
    }

    async fn release(&self, p: &Process<M>, mut held: Self::Held) -> Result<(), M::Error> {
        for (d, depth) in self.depths.iter().enumerate() {
            let Some(got) = held.blocks.pop() else { break };
            let there = p.on(depth.part);
            there.keep(6, &(d, &got, &held));
            within!(there, &(d, &held), depth.block.release(p, got).await?);
            if held.blocks.is_empty() && held.bottom.is_none() {
                there.mark(Mark::Rests(9));
                there.at(9).keeping(&()).fetch_add(&depth.x, 1).await?;
                there.hides("fast");
            } else {
                there.mark(Mark::Rests(8)); // the depths further in follow
            }
        }
        if let Some(got) = held.bottom {
            let here = p.on(self.part);
            here.keep(8, &got);
            within!(here, &(), self.bottom.release(p, got).await?);
        }
        Ok(())
    }
}
