//! What Anderson and Moir build of slots, with a fault in one enclosing part and the shipped text
//! in all others.

use super::{chain, fast_path, nested, tree};
use crate::sim::{Rules, Sim, TextError, World};
use doorway_core::k_assignment::anderson_moir_94::Renaming;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::k_exclusion::anderson_moir_94::{Chain, DsmSlot, DsmUnboundedSlot, Stage, Tree};
use doorway_core::memory::Site;
use doorway_core::registry::Sizes;
use std::convert::Infallible;

/// The part with the fault.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    Chain(chain::Fault),
    UnboundedChain(chain::Fault),
    Tree(tree::Fault),
    FastPath(fast_path::Fault),
    Nested(nested::Fault),
    /// A fast path below names.
    Named(fast_path::Fault),
}

/// Built of slots for distributed memory, or of the others.
pub(crate) fn composed(sizes: Sizes, rules: Rules, dsm: bool, part: Part) -> Result<World, TextError> {
    let (Sizes { n, k }, whole) = (sizes, Stage::whole(sizes.n, sizes.k));
    let dsm_slot = |site: &Site<'_, Sim>, j| DsmSlot::new(site, &whole, j);
    let unbounded_slot = |site: &Site<'_, Sim>, j| DsmUnboundedSlot::new(site, &whole, j);
    match part {
        Part::Chain(fault) => World::new(n, rules, |site| chain::Chain::of(site, n, k, fault, dsm_slot)),
        Part::UnboundedChain(fault) => World::new(n, rules, |site| chain::Chain::of(site, n, k, fault, unbounded_slot)),
        _ if dsm => of_blocks(part, sizes, rules, Chain::dsm),
        _ => of_blocks(part, sizes, rules, |site, stage| Chain::new(site, stage.inputs, stage.k)),
    }
}

fn of_blocks<B>(
    part: Part,
    Sizes { n, k }: Sizes,
    rules: Rules,
    block: impl Fn(&Site<'_, Sim>, &Stage) -> B + Copy,
) -> Result<World, TextError>
where
    B: KExclusion<Sim, Refusal = Infallible> + 'static,
{
    let tree = |site: &Site<'_, Sim>| Tree::new(site, n, k, block);
    // A tree assigns its leaves by name, and any N-k of the processes may come: where only these
    // fit, it is one block.
    let some = |site: &Site<'_, Sim>| block(site, &Stage { members: 0..n, inputs: n.saturating_sub(k), k });
    let for_all = |fault| move |site: &Site<'_, Sim>| fast_path::FastPath::new(site, n, k, fault, block, tree);
    let for_some = |fault| move |site: &Site<'_, Sim>| fast_path::FastPath::new(site, n, k, fault, block, some);
    match part {
        Part::Chain(_) | Part::UnboundedChain(_) => World::new(n, rules, |site| block(site, &Stage::whole(n, k))),
        Part::Tree(fault) => World::new(n, rules, |site| tree::Tree::new(site, n, k, fault, block)),
        Part::Nested(fault) => World::new(n, rules, |site| nested::NestedFastPaths::new(site, n, k, fault, block)),
        Part::FastPath(fault) if fault.slow_is_for_all() => World::new(n, rules, for_all(fault)),
        Part::FastPath(fault) => World::new(n, rules, for_some(fault)),
        Part::Named(fault) if fault.slow_is_for_all() => {
            World::new(n, rules, |site| Renaming::new(site, k, for_all(fault)))
        }
        Part::Named(fault) => World::new(n, rules, |site| Renaming::new(site, k, for_some(fault))),
    }
}
