//! The number of shared words of each composition. Tests compare it with what the texts declare.

use super::Stage;
use super::tree::stages;
use crate::registry::Sizes;

fn over_slots(stage: &Stage, slot: impl Fn(u64) -> u64) -> u64 {
    (stage.k..stage.inputs).map(|j| slot(j as u64)).sum()
}

/// A chain of [`CcSlot`](super::CcSlot)s.
#[must_use]
pub fn cc_chain(stage: &Stage) -> u64 {
    over_slots(stage, |_| 2)
}

/// A chain of [`DsmSlot`](super::DsmSlot)s. For a whole solution of `N` processes it grows with the
/// cube of `N`.
#[must_use]
pub fn dsm_chain(stage: &Stage) -> u64 {
    let members = stage.members.len() as u64;
    over_slots(stage, |j| 2 + members * (2 * (j + 2) + 1))
}

/// A chain of [`DsmUnboundedSlot`](super::DsmUnboundedSlot)s with `locations` for each process.
#[must_use]
pub fn dsm_unbounded_chain(stage: &Stage, locations: usize) -> u64 {
    let members = stage.members.len() as u64;
    over_slots(stage, |_| 2 + members * (locations as u64 + 1))
}

/// A [`Tree`](super::Tree) of such blocks.
#[must_use]
pub fn tree(sizes: Sizes, block: fn(&Stage) -> u64) -> u64 {
    stages(sizes.n, sizes.k).iter().flatten().map(block).sum()
}

/// A [`FastPath`](super::FastPath) of such blocks around a tree of them.
#[must_use]
pub fn fast_path(sizes: Sizes, block: fn(&Stage) -> u64) -> u64 {
    1 + block(&Stage::before(sizes, 2 * sizes.k)) + tree(sizes, block)
}

/// [`NestedFastPaths`](super::NestedFastPaths) of such blocks.
#[must_use]
pub fn nested(sizes: Sizes, block: fn(&Stage) -> u64) -> u64 {
    let mut words = 0;
    let mut inputs = sizes.n;
    while inputs > 2 * sizes.k {
        words += 1 + block(&Stage::before(sizes, 2 * sizes.k));
        inputs -= sizes.k;
    }
    words + block(&Stage::before(sizes, inputs))
}
