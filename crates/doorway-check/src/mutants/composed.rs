//! What Anderson and Moir build of slots, with a fault in one part and the shipped text in all others.

use super::any_slot::Slots;
use super::{cc_slot, chain, dsm_slot, dsm_unbounded_slot, fast_path, nested, renaming, tree};
use crate::sim::{Rules, Sim, TextError, World};
use doorway_core::k_assignment::anderson_moir_94::Renaming;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::k_exclusion::anderson_moir_94::{Chain, FastPath, NestedFastPaths, Stage, Tree};
use doorway_core::memory::Site;
use doorway_core::registry::Sizes;
use std::convert::Infallible;

/// The chain of Figure 5's slots; without a fault of its own, the shipped one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unbounded {
    pub(super) slots: dsm_unbounded_slot::Fault,
    pub(super) chain: Option<chain::Fault>,
}

impl Unbounded {
    pub(super) fn world(self, Sizes { n, k }: Sizes, rules: Rules) -> Result<World, TextError> {
        let stage = Stage::whole(n, k);
        let slot = |site: &Site<'_, Sim>, j| dsm_unbounded_slot::DsmUnboundedSlot::new(site, &stage, j, self.slots);
        match self.chain {
            Some(fault) => World::new(n, rules, |site| chain::Chain::of(site, n, k, fault, slot)),
            None => World::new(n, rules, |site| Chain::of(site, n, k, slot)),
        }
    }
}

/// A composition, as the registry has it for both kinds of slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Whole {
    Chain,
    Tree,
    Fast,
    Graceful,
    Assign,
}

/// Around the slots: the part of the composition that is a copy with a fault, if any is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Around {
    Shipped,
    Chain(chain::Fault),
    Tree(tree::Fault),
    FastPath(fast_path::Fault),
    Nested(nested::Fault),
    Renaming(renaming::Fault),
}

/// A composition with a fault.
#[derive(Clone, Copy, Debug)]
pub(super) struct Composed {
    pub(super) whole: Whole,
    pub(super) slots: Slots,
    pub(super) around: Around,
}

pub(super) const CC: Slots = Slots::Cc(cc_slot::Fault::None);
pub(super) const DSM: Slots = Slots::Dsm(dsm_slot::Fault::None);

impl Composed {
    /// The algorithm it is the text of.
    pub(super) const fn of(self) -> &'static str {
        match (self.slots, self.whole) {
            (Slots::Cc(_), Whole::Chain) => "am-chain",
            (Slots::Cc(_), Whole::Tree) => "am-tree",
            (Slots::Cc(_), Whole::Fast) => "am-fast",
            (Slots::Cc(_), Whole::Graceful) => "am-graceful",
            (Slots::Cc(_), Whole::Assign) => "am-assign",
            (Slots::Dsm(_), Whole::Chain) => "am-dsm-chain",
            (Slots::Dsm(_), Whole::Tree) => "am-dsm-tree",
            (Slots::Dsm(_), Whole::Fast) => "am-dsm-fast",
            (Slots::Dsm(_), Whole::Graceful) => "am-dsm-graceful",
            (Slots::Dsm(_), Whole::Assign) => "am-dsm-assign",
        }
    }

    pub(super) fn world(self, sizes: Sizes, rules: Rules) -> Result<World, TextError> {
        let slots = self.slots;
        match self.around {
            Around::Chain(fault) => self.of_blocks(sizes, rules, move |site, stage| {
                chain::Chain::of(site, stage.inputs, stage.k, fault, |site, j| slots.build(site, stage, j))
            }),
            _ => self.of_blocks(sizes, rules, move |site, stage| {
                Chain::of(site, stage.inputs, stage.k, |site, j| slots.build(site, stage, j))
            }),
        }
    }

    fn of_blocks<B>(
        self,
        sizes: Sizes,
        rules: Rules,
        block: impl Fn(&Site<'_, Sim>, &Stage) -> B + Copy,
    ) -> Result<World, TextError>
    where
        B: KExclusion<Sim, Refusal = Infallible> + 'static,
    {
        let Sizes { n, k } = sizes;
        let tree = |site: &Site<'_, Sim>| Tree::new(site, n, k, block);
        let fast = |site: &Site<'_, Sim>| FastPath::new(site, n, k, block, tree);
        match (self.whole, self.around) {
            (Whole::Chain, _) => World::new(n, rules, |site| block(site, &Stage::whole(n, k))),
            (Whole::Tree, Around::Tree(fault)) => {
                World::new(n, rules, |site| tree::Tree::new(site, n, k, fault, block))
            }
            (Whole::Tree, _) => World::new(n, rules, tree),
            (Whole::Graceful, Around::Nested(fault)) => {
                World::new(n, rules, |site| nested::NestedFastPaths::new(site, n, k, fault, block))
            }
            (Whole::Graceful, _) => World::new(n, rules, |site| NestedFastPaths::new(site, n, k, block)),
            (Whole::Fast | Whole::Assign, Around::FastPath(fault)) => {
                // A tree's leaves go by name, and any N-k of the processes may come: where only they fit, it is one block.
                let some = |site: &Site<'_, Sim>| block(site, &Stage { members: 0..n, inputs: n.saturating_sub(k), k });
                let for_all = |site: &Site<'_, Sim>| fast_path::FastPath::new(site, n, k, fault, block, tree);
                let for_some = |site: &Site<'_, Sim>| fast_path::FastPath::new(site, n, k, fault, block, some);
                match (self.whole, fault.slow_is_for_all()) {
                    (Whole::Assign, true) => World::new(n, rules, |site| Renaming::new(site, k, for_all)),
                    (Whole::Assign, false) => World::new(n, rules, |site| Renaming::new(site, k, for_some)),
                    (_, true) => World::new(n, rules, for_all),
                    (_, false) => World::new(n, rules, for_some),
                }
            }
            (Whole::Fast, _) => World::new(n, rules, fast),
            (Whole::Assign, Around::Renaming(fault)) => {
                World::new(n, rules, |site| renaming::Renaming::new(site, k, fault, fast))
            }
            (Whole::Assign, _) => World::new(n, rules, |site| Renaming::new(site, k, fast)),
        }
    }
}
