//! The catalogue entries of Anderson and Moir's figures.

use super::{Chain, DsmSlot, DsmUnboundedSlot, FastPath, NestedFastPaths, Queue, Stage, Tree, bounds, space};
use crate::registry::prelude::*;

/// The paper these come from.
pub const PAPER: Paper = Paper {
    short: "Anderson & Moir 1994",
    title: "Using k-Exclusion to Implement Resilient, Scalable Shared Objects",
    venue: "PODC 1994",
};

entries! {
    /// Anderson and Moir's [queue](crate::k_exclusion::anderson_moir_94::Queue) in atomic blocks,
    /// which a spin lock provides here. For comparison.
    AmQueue: Queue<M>, |site, sizes| Queue::new(site, sizes.n, sizes.k), Info {
        instructions: &[Read, Write, FetchAdd, AtomicBlock],
        properties: of_k_exclusion!["first-in-first-enabled", "Q1", "Q2", "Q3"],
        fairness: "first in, first enabled",
        rmr: &[
            (Cc, Bound::Order("O(N)")),
            (Dsm, Bound::Order("O(N)")),
        ],
        orders: Some(("O(N)", "O(N)")),
        words: |s, _| 1 + s.n as u64,
        defaults: Defaults { n: 4, k: 2, passages: None },
        ..Info::k_exclusion(
            "am-queue",
            "a counter and a queue in atomic blocks, for comparison",
            PAPER,
            "1",
        )
    };

    /// Anderson and Moir's [chain](crate::k_exclusion::anderson_moir_94::Chain), which tolerates
    /// `k - 1` crashes.
    AmChain: Chain<M>, |site, sizes| Chain::new(site, sizes.n, sizes.k), Info {
        instructions: READ_WRITE_ADD,
        properties: of_k_exclusion!["I1", "I2", "I3", "I4", "U1"],
        rmr: &[
            (Cc, Bound::AtMost { formula: "7(N-k)", at: bounds::theorem_1 }),
            (CcWriteBack, Bound::AtMost {
                formula: "6(N-k); 3(N-k) if c <= k",
                at: |s, c| if c <= s.k { 3 * levels(s) } else { 6 * levels(s) },
            }),
            (Dsm, Bound::Unbounded),
        ],
        orders: Some(("O(N-k)", "O(N-k)")),
        words: |s, _| space::cc_chain(&Stage::whole(s.n, s.k)),
        defaults: Defaults { n: 4, k: 2, passages: None },
        ..Info::k_exclusion("am-chain", "Anderson and Moir's chain of slots", PAPER, "2")
    };

    /// Anderson and Moir's [tree](crate::k_exclusion::anderson_moir_94::Tree) of chains. Its cost
    /// grows with `k log(N/k)`.
    AmTree: CcTree<M>, |site, sizes| cc_tree(site, sizes), Info {
        instructions: READ_WRITE_ADD,
        properties: of_k_exclusion!["I1", "I2", "I3", "I4", "U1"],
        rmr: &[
            (Cc, Bound::AtMost { formula: "7k ceil(log2(ceil(N/k)))", at: bounds::theorem_2 }),
            (Dsm, Bound::Unbounded),
        ],
        orders: Some(("O(k log(N/k))", "O(k log(N/k))")),
        words: |s, _| space::tree(s, space::cc_chain),
        defaults: Defaults { n: 4, k: 1, passages: None },
        ..Info::k_exclusion("am-tree", "Anderson and Moir's tree of chains", PAPER, "3(a)")
    };

    /// Anderson and Moir's [fast path](crate::k_exclusion::anderson_moir_94::FastPath) around a
    /// tree, cheap while at most `k` processes compete.
    AmFast: CcFast<M>, |site, sizes| cc_fast(site, sizes), Info {
        instructions: READ_WRITE_ADD,
        properties: of_k_exclusion!["I1", "I2", "I3", "I4", "U1", "F1", "F2"],
        rmr: &[
            (Cc, Bound::AtMost {
                formula: "7k+2 if c <= k, else 7k(ceil(log2(ceil(N/k)))+1)+2",
                at: bounds::theorem_3,
            }),
            (Dsm, Bound::Unbounded),
        ],
        orders: Some(("O(k log(N/k))", "O(k)")),
        words: |s, _| space::fast_path(s, space::cc_chain),
        defaults: Defaults { n: 3, k: 1, passages: None },
        ..Info::k_exclusion("am-fast", "Anderson and Moir's fast path around a tree", PAPER, "4")
    };

    /// Anderson and Moir's [nested fast
    /// paths](crate::k_exclusion::anderson_moir_94::NestedFastPaths), whose cost grows with
    /// contention. Here they run on compare-and-swap, so they are lock-free and not wait-free.
    AmGraceful: NestedFastPaths<M, Chain<M>>, |site, sizes| NestedFastPaths::new(site, sizes.n, sizes.k, cc_chain), Info {
        instructions: &[Read, Write, FetchAdd, BoundedDecrement],
        properties: of_k_exclusion!["I1", "I2", "I3", "I4", "U1", "G1", "G2", "G3"],
        rmr: &[
            (Cc, Bound::AtMost { formula: "ceil(c/k)(7k+2)", at: bounds::theorem_4 }),
            (Dsm, Bound::Unbounded),
        ],
        orders: Some(("O(c)", "O(k)")),
        words: |s, _| space::nested(s, space::cc_chain),
        defaults: Defaults { n: 3, k: 1, passages: None },
        ..Info::k_exclusion("am-graceful", "Anderson and Moir's nested fast paths", PAPER, "3(b)")
    };

    /// A chain of Anderson and Moir's [Figure
    /// 5](crate::k_exclusion::anderson_moir_94::DsmUnboundedSlot). It refuses a process that has
    /// waited 4095 times. For study.
    AmDsmUnbounded: Chain<M, DsmUnboundedSlot<M>>, |site, sizes| Chain::dsm_unbounded(site, &Stage::whole(sizes.n, sizes.k)), Info {
        instructions: &[Read, Write, FetchAdd, CompareSwap],
        properties: of_k_exclusion!["I1", "I5", "I6", "I7", "I8", "I9", "I10", "U2"],
        rmr: &[
            (Cc, Bound::Order("bounded")),
            (Dsm, Bound::AtMost { formula: "8(N-k)", at: bounds::unbounded_chain }),
        ],
        orders: Some(("O(N-k)", "O(N-k)")),
        words: |s, plenty| space::dsm_unbounded_chain(&Stage::whole(s.n, s.k), plenty),
        defaults: Defaults { n: 2, k: 1, passages: Some(2) },
        ..Info::k_exclusion(
            "am-dsm-unbounded",
            "Anderson and Moir's chain for distributed memory, with new locations for each wait",
            PAPER,
            "5",
        )
    };

    /// A chain of Anderson and Moir's [Figure 6](crate::k_exclusion::anderson_moir_94::DsmSlot).
    /// Each process spins on its own memory.
    AmDsmChain: DsmChain<M>, |site, sizes| Chain::dsm(site, &Stage::whole(sizes.n, sizes.k)), Info {
        instructions: &[Read, Write, FetchAdd, CompareSwap],
        properties: of_k_exclusion!["D0", "D1", "D2", "D3", "D4", "D5", "D6"],
        rmr: &[
            (Cc, Bound::Order("bounded")),
            (Dsm, Bound::AtMost { formula: "14(N-k)", at: bounds::theorem_5 }),
        ],
        orders: Some(("O(N-k)", "O(N-k)")),
        words: |s, _| space::dsm_chain(&Stage::whole(s.n, s.k)),
        defaults: Defaults { n: 2, k: 1, passages: None },
        ..Info::k_exclusion("am-dsm-chain", "Anderson and Moir's chain for distributed memory", PAPER, "6")
    };

    /// [`AmTree`] where each process spins on its own memory.
    AmDsmTree: DsmTree<M>, |site, sizes| dsm_tree(site, sizes), Info {
        instructions: &[Read, Write, FetchAdd, CompareSwap],
        properties: of_k_exclusion!["D0", "D1", "D2", "D3", "D4", "D5", "D6"],
        rmr: &[
            (Cc, Bound::Order("bounded")),
            (Dsm, Bound::AtMost { formula: "14k ceil(log2(ceil(N/k)))", at: bounds::theorem_6 }),
        ],
        orders: Some(("O(k log(N/k))", "O(k log(N/k))")),
        words: |s, _| space::tree(s, space::dsm_chain),
        defaults: Defaults { n: 3, k: 1, passages: Some(1) },
        ..Info::k_exclusion(
            "am-dsm-tree",
            "Anderson and Moir's tree for distributed memory",
            PAPER,
            "3(a) with 6",
        )
    };

    /// [`AmFast`] where each process spins on its own memory.
    AmDsmFast: DsmFast<M>, |site, sizes| dsm_fast(site, sizes), Info {
        instructions: &[Read, Write, FetchAdd, CompareSwap],
        properties: of_k_exclusion!["D0", "D1", "D2", "D3", "D4", "D5", "D6", "F1", "F2"],
        rmr: &[
            (Cc, Bound::Order("bounded")),
            (Dsm, Bound::AtMost {
                formula: "14k+2 if c <= k, else 14k(ceil(log2(ceil(N/k)))+1)+2",
                at: bounds::theorem_7,
            }),
        ],
        orders: Some(("O(k log(N/k))", "O(k)")),
        words: |s, _| space::fast_path(s, space::dsm_chain),
        defaults: Defaults { n: 3, k: 1, passages: Some(1) },
        ..Info::k_exclusion(
            "am-dsm-fast",
            "Anderson and Moir's fast path for distributed memory",
            PAPER,
            "4 with 6",
        )
    };

    /// [`AmGraceful`] where each process spins on its own memory.
    AmDsmGraceful: NestedFastPaths<M, DsmChain<M>>, |site, sizes| NestedFastPaths::new(site, sizes.n, sizes.k, Chain::dsm), Info {
        instructions: &[Read, Write, FetchAdd, BoundedDecrement, CompareSwap],
        properties: of_k_exclusion!["D0", "D1", "D2", "D3", "D4", "D5", "D6", "G1", "G2", "G3"],
        rmr: &[
            (Cc, Bound::Order("bounded")),
            (Dsm, Bound::AtMost { formula: "ceil(c/k)(14k+2)", at: bounds::theorem_8 }),
        ],
        orders: Some(("O(c)", "O(k)")),
        words: |s, _| space::nested(s, space::dsm_chain),
        defaults: Defaults { n: 3, k: 1, passages: Some(1) },
        ..Info::k_exclusion(
            "am-dsm-graceful",
            "Anderson and Moir's nested fast paths for distributed memory",
            PAPER,
            "3(b) with 6",
        )
    };
}

pub(crate) type CcTree<M> = Tree<M, Chain<M>>;

pub(crate) type CcFast<M> = FastPath<M, Chain<M>, CcTree<M>>;

pub(crate) type DsmChain<M> = Chain<M, DsmSlot<M>>;

pub(crate) type DsmTree<M> = Tree<M, DsmChain<M>>;

pub(crate) type DsmFast<M> = FastPath<M, DsmChain<M>, DsmTree<M>>;

pub(crate) fn cc_chain<M: Machine>(site: &Site<'_, M>, stage: &Stage) -> Chain<M> {
    Chain::new(site, stage.inputs, stage.k)
}

pub(crate) fn cc_tree<M: Machine>(site: &Site<'_, M>, sizes: Sizes) -> CcTree<M> {
    Tree::new(site, sizes.n, sizes.k, cc_chain)
}

pub(crate) fn cc_fast<M: Machine>(site: &Site<'_, M>, sizes: Sizes) -> CcFast<M> {
    FastPath::new(site, sizes.n, sizes.k, cc_chain, |slow| cc_tree(slow, sizes))
}

pub(crate) fn dsm_tree<M: Machine>(site: &Site<'_, M>, sizes: Sizes) -> DsmTree<M> {
    Tree::new(site, sizes.n, sizes.k, Chain::dsm)
}

pub(crate) fn dsm_fast<M: Machine>(site: &Site<'_, M>, sizes: Sizes) -> DsmFast<M> {
    FastPath::new(site, sizes.n, sizes.k, Chain::dsm, |slow| dsm_tree(slow, sizes))
}

/// The number of slots in a chain.
pub(crate) fn levels(sizes: Sizes) -> u64 {
    sizes.n.saturating_sub(sizes.k) as u64
}
