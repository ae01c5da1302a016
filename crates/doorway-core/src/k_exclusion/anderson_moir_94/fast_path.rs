//! A fast path around two solutions of k-exclusion: cheap while at most `k` compete.
//!
//! # Problem
//! k-exclusion whose cost, while at most `k` processes compete, does not depend on `N`.
//!
//! # Source
//! Anderson and Moir, PODC 1994: **Figure 4**, Theorem 3, in a form that does not need the
//! footnote's assumption about fetch-and-increment (see Departures).
//!
//! # Idea
//! ```text
//!   X: fast? ──yes─────────────┐
//!     └──no──→ slow (N, k) ────┴──→ block (2k, k) → critical section
//! ```
//! `X` counts `k` fast places. A process that gets one goes straight to the block; the others pass
//! the slow solution first. At most `k` processes come from either side, so the block need only be
//! sized for `2k`. A process that leaves gives back the block **before** its fast place or the
//! slow solution. In the other order, more than `2k` processes could get into the block.
//!
//! # Shared variables
//! | name | range     | initially | home   | written at | meaning |
//! |------|-----------|-----------|--------|------------|---------|
//! | `X`  | `k-N..=k` | `k`       | nobody | 2, 9       | `k` less the number of processes between 2 and 9 |
//!
//! and those of the block and of the slow solution.
//!
//! # Invariants (all checked)
//! - (F1) `X = k - |{p : p@{4..9}}|`
//! - (F2) at most `2k` processes are at 5 or 6
//!
//! # Cost, faults, fairness
//! The cost of the block plus 2 while at most `k` processes compete; otherwise that of the slow
//! solution too. With slots in both places this is `7k + 2`, Theorem 3's figure. Tolerates what
//! block and slow solution tolerate, `k - 1` crashes. Starvation-free if they are.
//!
//! # Departures from the paper
//! 1. The paper's X never falls below 0, because its footnote 2 assumes an instruction that does
//!    not decrement zero. With plain fetch-and-add the text as printed lets two processes into the
//!    critical section (`N = 3`, `k = 1`, seven accesses: the checker's
//!    `mutant:am-fast-as-printed-on-plain-add`). Here *every* process increments at 9, and `<= 0`
//!    means slow. The slow solution is sized `N` instead of `N - k`, because a process may be sent
//!    there although a fast place is free. Theorem 3's bound is computed with size `N` and stands.
//! 2. The price: while slow processes are inside, newcomers go slow too, until fewer than `k` are
//!    active.

use super::Stage;
use crate::Failure;
use crate::k_exclusion::KExclusion;
use crate::memory::{FetchAdd, Mark, Memory, Process, Site, within};
use crate::registry::Sizes;
use core::convert::Infallible;

/// Figure 4 around `block`, which admits `k` of `2k`, and `slow`, which admits `k` of `N`.
#[derive(Debug)]
pub struct FastPath<M: Memory, Block, Slow> {
    part: M::Part,
    x: M::Var<i64>,
    block: Block,
    slow: Slow,
}

/// Which way a passage went, with what the inner solutions hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passed<B, S> {
    /// What the slow solution holds; `None` on the fast path.
    pub slow: Option<S>,
    /// What the block holds.
    pub block: B,
}

impl<M: FetchAdd, Block, Slow> FastPath<M, Block, Slow> {
    /// A fast path for `k` of `n` processes. `block` and `slow` build the inner solutions on sites
    /// within this one: `block` for its stage, `slow` for all processes.
    pub fn new(
        site: &Site<'_, M>,
        n: usize,
        k: usize,
        block: impl FnOnce(&Site<'_, M>, &Stage) -> Block,
        slow: impl FnOnce(&Site<'_, M>) -> Slow,
    ) -> Self {
        let stage = Stage::before(Sizes { n, k }, 2 * k);
        Self {
            part: site.here(),
            x: site.var("X", k as i64),
            block: block(&site.part("block", None), &stage),
            slow: slow(&site.part("slow", None)),
        }
    }
}

impl<M, B, S> KExclusion<M> for FastPath<M, B, S>
where
    M: FetchAdd,
    B: KExclusion<M, Refusal = Infallible>,
    S: KExclusion<M, Refusal = Infallible>,
{
    type Held = Passed<B::Held, S::Held>;
    /// Neither the block nor the slow solution may refuse: the process would have to give back the
    /// other one.
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<Self::Held, Failure<M::Error>> {
        let here = p.on(self.part);
        let mut slow = None;
        if here.at(2).fetch_add(&self.x, -1).await? <= 0 {
            here.mark(Mark::Rests(4));
            here.keep(4, &());
            here.part(&());
            slow = Some(self.slow.acquire(p).await?);
            here.part_done();
        }
        here.mark(Mark::Rests(5));
        here.keep(5, &slow);
        let block = within!(here, &slow, self.block.acquire(p).await?);
        here.mark(Mark::Rests(6));
        Ok(Passed { slow, block })
    }

    async fn release(&self, p: &Process<M>, held: Self::Held) -> Result<(), M::Error> {
        let here = p.on(self.part);
        within!(here, &held.slow, self.block.release(p, held.block).await?);
        if let Some(held) = held.slow {
            here.mark(Mark::Rests(8));
            here.keep(8, &held);
            within!(here, &(), self.slow.release(p, held).await?);
        }
        here.keep(9, &());
        here.mark(Mark::Rests(9));
        here.at(9).fetch_add(&self.x, 1).await?; // Last: the block and the slow solution are free by now.
        Ok(())
    }
}
