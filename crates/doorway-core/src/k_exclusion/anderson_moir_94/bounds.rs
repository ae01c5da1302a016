//! The theorems: upper bounds on the remote references of a passage while at most `c` processes
//! compete.
//!
//! Theorems 1 to 4 and 9 are about cache-coherent machines
//! ([`Cc`](crate::registry::CostModel::Cc)). Theorems 5 to 8 and 10 are about distributed shared
//! memory ([`Dsm`](crate::registry::CostModel::Dsm)). Quotients are rounded up here. The paper
//! prints `N/k` and, in Theorem 8, `c/k` rounded down; with these the bounds fail for `N = 3`,
//! `k = 2` and for `c < k`.
//!
//! ```
//! use doorway_core::k_exclusion::anderson_moir_94::bounds;
//! use doorway_core::registry::Sizes;
//! let sizes = Sizes { n: 64, k: 8 };
//! assert_eq!(bounds::theorem_1(sizes, 64), 7 * 56);
//! assert_eq!(bounds::theorem_2(sizes, 64), 7 * 8 * 3);
//! assert_eq!(bounds::theorem_4(sizes, 17), 3 * (7 * 8 + 2));
//! ```

use crate::registry::Sizes;

/// Remote references of one slot of [Figure 2](super::CcSlot), CC.
const CC_SLOT: u64 = 7;
/// Remote references of one slot of [Figure 6](super::DsmSlot), DSM.
const DSM_SLOT: u64 = 14;
/// Remote references of one slot of [Figure 5](super::DsmUnboundedSlot), DSM.
const DSM_UNBOUNDED_SLOT: u64 = 8;

/// `ceil(log2(ceil(N/k)))`: the levels of a [tree](super::Tree).
fn levels(Sizes { n, k }: Sizes) -> u64 {
    u64::from(n.div_ceil(k).next_power_of_two().ilog2())
}

fn chain(slot: u64, Sizes { n, k }: Sizes) -> u64 {
    slot * n.saturating_sub(k) as u64
}

fn tree(slot: u64, sizes: Sizes) -> u64 {
    slot * sizes.k as u64 * levels(sizes)
}

fn fast(slot: u64, sizes: Sizes, c: usize) -> u64 {
    let block = slot * sizes.k as u64;
    if c <= sizes.k { block + 2 } else { block * (levels(sizes) + 1) + 2 }
}

fn nested(slot: u64, sizes: Sizes, c: usize) -> u64 {
    c.div_ceil(sizes.k) as u64 * (slot * sizes.k as u64 + 2)
}

/// `7(N-k)`: a chain, CC.
#[must_use]
pub fn theorem_1(sizes: Sizes, _c: usize) -> u64 {
    chain(CC_SLOT, sizes)
}

/// `7k ceil(log2(ceil(N/k)))`: a tree, CC.
#[must_use]
pub fn theorem_2(sizes: Sizes, _c: usize) -> u64 {
    tree(CC_SLOT, sizes)
}

/// `7k + 2` if `c <= k`, else `7k (ceil(log2(ceil(N/k))) + 1) + 2`: a fast path around a tree, CC.
#[must_use]
pub fn theorem_3(sizes: Sizes, c: usize) -> u64 {
    fast(CC_SLOT, sizes, c)
}

/// `ceil(c/k) (7k + 2)`: nested fast paths, CC.
#[must_use]
pub fn theorem_4(sizes: Sizes, c: usize) -> u64 {
    nested(CC_SLOT, sizes, c)
}

/// `14(N-k)`: a chain, DSM.
#[must_use]
pub fn theorem_5(sizes: Sizes, _c: usize) -> u64 {
    chain(DSM_SLOT, sizes)
}

/// `14k ceil(log2(ceil(N/k)))`: a tree, DSM.
#[must_use]
pub fn theorem_6(sizes: Sizes, _c: usize) -> u64 {
    tree(DSM_SLOT, sizes)
}

/// `14k + 2` if `c <= k`, else `14k (ceil(log2(ceil(N/k))) + 1) + 2`: a fast path around a tree,
/// DSM.
#[must_use]
pub fn theorem_7(sizes: Sizes, c: usize) -> u64 {
    fast(DSM_SLOT, sizes, c)
}

/// `ceil(c/k) (14k + 2)`: nested fast paths, DSM.
#[must_use]
pub fn theorem_8(sizes: Sizes, c: usize) -> u64 {
    nested(DSM_SLOT, sizes, c)
}

/// Theorem 3 and `k`: names over a fast path around a tree, CC.
#[must_use]
pub fn theorem_9(sizes: Sizes, c: usize) -> u64 {
    theorem_3(sizes, c) + renaming(sizes)
}

/// Theorem 7 and `k`: names over a fast path around a tree, DSM.
#[must_use]
pub fn theorem_10(sizes: Sizes, c: usize) -> u64 {
    theorem_7(sizes, c) + renaming(sizes)
}

/// `k`: what names cost on top of k-exclusion, in both machine models.
#[must_use]
pub fn renaming(sizes: Sizes) -> u64 {
    sizes.k as u64
}

/// `8(N-k)`: a chain of Figure 5, DSM. This bound is ours: the paper gives none for this figure.
#[must_use]
pub fn unbounded_chain(sizes: Sizes, _c: usize) -> u64 {
    chain(DSM_UNBOUNDED_SLOT, sizes)
}

/// The upper bound of [`NestedFastPaths`](super::NestedFastPaths) as they are laid out, CC. It is
/// less than Theorem 4 at full contention, because the bottom needs no fast path of its own.
#[must_use]
pub fn nested_layout_cc(sizes: Sizes) -> u64 {
    nested_layout(CC_SLOT, sizes)
}

/// The same, DSM.
#[must_use]
pub fn nested_layout_dsm(sizes: Sizes) -> u64 {
    nested_layout(DSM_SLOT, sizes)
}

fn nested_layout(slot: u64, Sizes { n, k }: Sizes) -> u64 {
    let depths = n.saturating_sub(2 * k).div_ceil(k);
    let bottom = (n - depths * k).saturating_sub(k);
    // Going deeper costs one reference and that depth's block. A process with a place before the
    // bottom also gives that place back.
    let through = |depths: usize| depths as u64 * (1 + slot * k as u64);
    (through(depths) + slot * bottom as u64).max(if depths > 0 { through(depths) + 1 } else { 0 })
}
