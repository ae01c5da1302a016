//! Anderson and Moir's nested fast paths with faults, of any blocks.

use crate::sim::{Part, Sim, SimVar};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::k_exclusion::anderson_moir_94::{Stage, Went};
use doorway_core::memory::{Mark, Process, Site};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    None,
    AsPrinted,
    EveryExitIncrements,
    PlaceFirst,
    OutermostBlockFirst,
}

pub(super) struct NestedFastPaths<Block> {
    depths: Vec<Depth<Block>>,
    part: Part,
    bottom: Block,
    fault: Fault,
}

struct Depth<Block> {
    part: Part,
    x: SimVar<u64>,
    block: Block,
}

/// The operand with which a plain fetch-and-add subtracts one.
const MINUS_ONE: u64 = u64::MAX;

impl<Block: KExclusion<Sim, Refusal = Infallible>> NestedFastPaths<Block> {
    pub(super) fn new(
        site: &Site<'_, Sim>,
        n: usize,
        k: usize,
        fault: Fault,
        block: impl Fn(&Site<'_, Sim>, &Stage) -> Block,
    ) -> Self {
        let mut depths = Vec::new();
        let mut inputs = n;
        while inputs > 2 * k {
            let site = site.part("depth", Some(depths.len()));
            depths.push(Depth {
                part: site.here(),
                x: site.var("X", k as u64),
                block: block(&site.part("block", None), &Stage { members: 0..n, inputs: 2 * k, k }),
            });
            inputs -= k;
        }
        let bottom = block(&site.part("bottom", None), &Stage { members: 0..n, inputs, k });
        Self { depths, part: site.here(), bottom, fault }
    }

    /// Statement 2, at one depth: whether the process has a place.
    async fn is_fast(&self, p: &Process<Sim>, depth: &Depth<Block>) -> Result<bool, Infallible> {
        let at = p.on(depth.part).at(2);
        Ok(match self.fault {
            Fault::AsPrinted => at.fetch_add(&depth.x, MINUS_ONE).await? != 0,
            Fault::EveryExitIncrements => at.fetch_add(&depth.x, MINUS_ONE).await?.cast_signed() > 0,
            _ => at.bounded_decrement(&depth.x).await? > 0,
        })
    }

    /// Statement 4, at the bottom.
    async fn take_bottom(&self, p: &Process<Sim>, went: &mut Went<Block::Held>) -> Result<(), Failure<Infallible>> {
        let here = p.on(self.part);
        here.keep(4, &went);
        here.part(&went);
        went.bottom = Some(self.bottom.acquire(p).await?);
        here.part_done();
        Ok(())
    }

    /// Statement 5, at one depth.
    async fn take_block(
        &self,
        p: &Process<Sim>,
        d: usize,
        went: &Went<Block::Held>,
    ) -> Result<Block::Held, Failure<Infallible>> {
        let there = p.on(self.depths[d].part);
        there.mark(Mark::Rests(5));
        there.keep(5, &(d, &went));
        there.part(&(d, &went));
        let got = self.depths[d].block.acquire(p).await?;
        there.part_done();
        there.mark(Mark::Rests(6));
        Ok(got)
    }

    /// Statement 9, at one depth.
    async fn return_place(&self, p: &Process<Sim>, d: usize, live: &dyn std::fmt::Debug) -> Result<(), Infallible> {
        let there = p.on(self.depths[d].part);
        there.mark(Mark::Rests(9));
        there.keep(9, &(d, live));
        there.at(9).fetch_add(&self.depths[d].x, 1).await?;
        there.hides("fast");
        Ok(())
    }
}

impl<Block: KExclusion<Sim, Refusal = Infallible>> KExclusion<Sim> for NestedFastPaths<Block> {
    type Held = Went<Block::Held>;
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<Self::Held, Failure<Infallible>> {
        let mut deepest = self.depths.len();
        for (d, depth) in self.depths.iter().enumerate() {
            let there = p.on(depth.part);
            there.keep(2, &());
            if self.is_fast(p, depth).await? {
                there.shows("fast", true);
                deepest = d;
                break;
            }
            there.mark(Mark::Rests(4));
        }
        let to_the_bottom = deepest == self.depths.len();
        let mut went = Went { bottom: None, blocks: Vec::new() };
        let outwards = (0..self.depths.len()).take(deepest + 1).rev();
        if self.fault == Fault::OutermostBlockFirst {
            for d in outwards.rev() {
                let got = self.take_block(p, d, &went).await?;
                went.blocks.insert(0, got);
            }
            if to_the_bottom {
                self.take_bottom(p, &mut went).await?;
            }
            return Ok(went);
        }
        if to_the_bottom {
            self.take_bottom(p, &mut went).await?;
        }
        for d in outwards {
            let got = self.take_block(p, d, &went).await?;
            went.blocks.push(got);
        }
        Ok(went)
    }

    async fn release(&self, p: &Process<Sim>, mut held: Self::Held) -> Result<(), Infallible> {
        let blocks = held.blocks.len();
        for (d, depth) in self.depths.iter().enumerate() {
            let Some(got) = held.blocks.pop() else { break };
            let there = p.on(depth.part);
            let was_fast = held.blocks.is_empty() && held.bottom.is_none();
            if was_fast && self.fault == Fault::PlaceFirst {
                self.return_place(p, d, &got).await?;
            }
            there.keep(6, &(d, &got, &held));
            there.part(&(d, &held));
            depth.block.release(p, got).await?;
            there.part_done();
            match self.fault {
                Fault::PlaceFirst if was_fast => {}
                Fault::EveryExitIncrements => there.mark(Mark::Rests(8)),
                _ if was_fast => self.return_place(p, d, &()).await?,
                _ => there.mark(Mark::Rests(8)),
            }
        }
        if let Some(got) = held.bottom {
            let here = p.on(self.part);
            here.keep(8, &got);
            here.part(&blocks);
            self.bottom.release(p, got).await?;
            here.part_done();
        }
        if self.fault == Fault::EveryExitIncrements {
            for d in (0..blocks).rev() {
                self.return_place(p, d, &()).await?;
            }
        }
        Ok(())
    }
}
