//! Anderson and Moir's tree with faults, of any blocks.

use crate::sim::{Part, Sim};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::k_exclusion::anderson_moir_94::Stage;
use doorway_core::memory::{Process, Site};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    None,
    LeafFirst,
    CrowdedLeaf,
}

pub(super) struct Tree<Block> {
    part: Part,
    leaf: usize,
    levels: Vec<Vec<Block>>,
    fault: Fault,
}

impl<Block> Tree<Block> {
    pub(super) fn new(
        site: &Site<'_, Sim>,
        n: usize,
        k: usize,
        fault: Fault,
        block: impl Fn(&Site<'_, Sim>, &Stage) -> Block,
    ) -> Self {
        // The block of a leaf is made for 2k, however many processes share it.
        let leaf = if fault == Fault::CrowdedLeaf { 2 * k + 1 } else { 2 * k };
        let mut stages: Vec<Stage> = (0..n.div_ceil(leaf))
            .map(|g| {
                let members = leaf * g..n.min(leaf * (g + 1));
                Stage { inputs: members.len().min(2 * k), members, k }
            })
            .collect();
        let mut levels = Vec::new();
        loop {
            let level = site.part("level", Some(levels.len()));
            let blocks = stages.iter().enumerate().map(|(i, stage)| block(&level.part("block", Some(i)), stage));
            levels.push(blocks.collect());
            if stages.len() <= 1 {
                return Self { part: site.here(), leaf, levels, fault };
            }
            stages = stages.chunks(2).map(|feeding| merge(feeding, k)).collect();
        }
    }

    /// The blocks on a process's way, leaf first.
    fn path(&self, p: usize) -> impl DoubleEndedIterator<Item = (usize, &Block)> {
        let leaf = p / self.leaf;
        self.levels.iter().enumerate().map(move |(height, blocks)| (height, &blocks[leaf >> height]))
    }
}

/// The stage that these two feed, or this one.
fn merge(feeding: &[Stage], k: usize) -> Stage {
    let members = feeding[0].members.start..feeding[feeding.len() - 1].members.end;
    Stage { members, inputs: feeding.iter().map(|stage| stage.inputs.min(k)).sum(), k }
}

impl<Block: KExclusion<Sim, Refusal = Infallible>> KExclusion<Sim> for Tree<Block> {
    type Held = Vec<Block::Held>;
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<Self::Held, Failure<Infallible>> {
        let here = p.on(self.part);
        let mut held = Vec::new();
        for (height, block) in self.path(p.pid().index()) {
            here.keep(1, &(height, &held));
            here.part(&(height, &held));
            let got = block.acquire(p).await?;
            here.part_done();
            held.push(got);
        }
        Ok(held)
    }

    async fn release(&self, p: &Process<Sim>, mut held: Self::Held) -> Result<(), Infallible> {
        let here = p.on(self.part);
        let mut path: Vec<_> = self.path(p.pid().index()).collect();
        if self.fault == Fault::LeafFirst {
            path.reverse();
            held.reverse();
        }
        while let (Some((height, block)), Some(got)) = (path.pop(), held.pop()) {
            here.keep(2, &(height, &got, &held));
            here.part(&(height, &held));
            block.release(p, got).await?;
            here.part_done();
        }
        Ok(())
    }
}
