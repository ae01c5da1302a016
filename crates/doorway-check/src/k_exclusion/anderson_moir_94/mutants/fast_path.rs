//! Anderson and Moir's fast path with faults: the ways to read Figure 4 without the instruction
//! that its footnote assumes.

use crate::sim::{Part, Sim, SimVar};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::k_exclusion::anderson_moir_94::{Passed, Stage};
use doorway_core::memory::{Mark, Process, Site};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    None,
    NeverRestores,
    UndoesAtOnce,
    UndoesAtOnceSizedN,
    SlowTooSmall,
    PlaceFirst,
    Exact,
}

impl Fault {
    /// Whether the slow path is for `N` processes, not for `N - k` as in the figure.
    pub(super) fn slow_is_for_all(self) -> bool {
        matches!(self, Self::None | Self::PlaceFirst | Self::UndoesAtOnceSizedN)
    }

    fn slow_ones_return_a_place_too(self) -> bool {
        matches!(self, Self::None | Self::SlowTooSmall | Self::PlaceFirst)
    }
}

pub(super) struct FastPath<Block, Slow> {
    part: Part,
    x: SimVar<i64>,
    /// `X` again, for the instruction that stops at zero.
    bounded: Option<SimVar<u64>>,
    block: Block,
    slow: Slow,
    fault: Fault,
}

impl<Block, Slow> FastPath<Block, Slow> {
    pub(super) fn new(
        site: &Site<'_, Sim>,
        n: usize,
        k: usize,
        fault: Fault,
        block: impl FnOnce(&Site<'_, Sim>, &Stage) -> Block,
        slow: impl FnOnce(&Site<'_, Sim>) -> Slow,
    ) -> Self {
        let stage = Stage { members: 0..n, inputs: n.min(2 * k), k };
        Self {
            part: site.here(),
            x: site.var("X", k as i64),
            bounded: (fault == Fault::Exact).then(|| site.var("X bounded", k as u64)),
            block: block(&site.part("block", None), &stage),
            slow: slow(&site.part("slow", None)),
            fault,
        }
    }

    /// Statement 2: whether to go slow.
    async fn is_slow(&self, p: &Process<Sim>) -> Result<bool, Infallible> {
        let here = p.on(self.part);
        if let Some(x) = &self.bounded {
            return Ok(here.at(2).bounded_decrement(x).await? == 0);
        }
        let old = here.at(2).fetch_add(&self.x, -1).await?;
        let slow = old <= 0;
        if slow && matches!(self.fault, Fault::UndoesAtOnce | Fault::UndoesAtOnceSizedN) {
            here.keep(2, &"undo");
            here.at(2).fetch_add(&self.x, 1).await?;
        }
        Ok(slow)
    }

    /// Statement 9.
    async fn return_place(&self, p: &Process<Sim>, was_slow: bool) -> Result<(), Infallible> {
        let here = p.on(self.part);
        here.mark(Mark::Rests(9));
        match &self.bounded {
            _ if was_slow && !self.fault.slow_ones_return_a_place_too() => {}
            Some(x) => drop(here.at(9).fetch_add(x, 1).await?),
            None => drop(here.at(9).fetch_add(&self.x, 1).await?),
        }
        Ok(())
    }
}

impl<B, S> KExclusion<Sim> for FastPath<B, S>
where
    B: KExclusion<Sim, Refusal = Infallible>,
    S: KExclusion<Sim, Refusal = Infallible>,
{
    type Held = Passed<B::Held, S::Held>;
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<Self::Held, Failure<Infallible>> {
        let here = p.on(self.part);
        let mut slow = None;
        if self.is_slow(p).await? {
            here.mark(Mark::Rests(4));
            here.keep(4, &());
            here.part(&());
            slow = Some(self.slow.acquire(p).await?);
            here.part_done();
        }
        here.mark(Mark::Rests(5));
        here.keep(5, &slow);
        here.part(&slow);
        let block = self.block.acquire(p).await?;
        here.part_done();
        here.mark(Mark::Rests(6));
        Ok(Passed { slow, block })
    }

    async fn release(&self, p: &Process<Sim>, held: Self::Held) -> Result<(), Infallible> {
        let here = p.on(self.part);
        let was_slow = held.slow.is_some();
        if self.fault == Fault::PlaceFirst {
            self.return_place(p, was_slow).await?;
            here.keep(6, &held);
        }
        here.part(&held.slow);
        self.block.release(p, held.block).await?;
        here.part_done();
        if let Some(held) = held.slow {
            here.mark(Mark::Rests(8));
            here.keep(8, &held);
            here.part(&());
            self.slow.release(p, held).await?;
            here.part_done();
        }
        if self.fault != Fault::PlaceFirst {
            here.keep(9, &(was_slow && !self.fault.slow_ones_return_a_place_too()));
            self.return_place(p, was_slow).await?;
        }
        Ok(())
    }
}
