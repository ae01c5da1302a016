//! Its entries in the catalogue.

use super::{Affine, Calls, Combining, FastPath, TwoProcess, map_of};
use crate::mutex::arbitration_tree::{ArbitrationTree, height, nodes, spins};
use crate::registry::prelude::*;

/// The source of these algorithms.
pub const PAPER: Paper = Paper {
    short: "Yang & Anderson 1993",
    title: "Fast, Scalable Synchronization with Minimal Hardware Support",
    venue: "PODC 1993",
};

entries! {
    /// Yang and Anderson's [two-process mutex](crate::mutex::yang_anderson_93::TwoProcess): each
    /// process spins on its own memory.
    YaTwo: TwoProcess<M>, |site, _sizes| TwoProcess::new(site), Info {
        properties: of_a_mutex![
            "starvation-free", "I0", "I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9",
            "I10", "I11", "I12", "I13", "I14", "I15", "I16", "L0", "L1", "L2", "L3",
        ],
        fairness: "starvation-free",
        rmr: &[
            (CcWriteBack, Bound::AtMost { formula: "11", at: |_, c| if c <= 1 { 5 } else { 11 } }),
            (Dsm, Bound::AtMost { formula: "10", at: |_, c| if c <= 1 { 5 } else { 10 } }),
        ],
        words: |_, _| 5,
        fits: Fits::TwoProcesses,
        defaults: Defaults { n: 2, k: 1, passages: None },
        ..Info::mutex("ya-two", "Yang and Anderson's two-process mutex", PAPER, "1")
    };

    /// Yang and Anderson's [arbitration tree](crate::mutex::ArbitrationTree): each process spins on
    /// its own memory.
    YaTree: ArbitrationTree<M, TwoProcess<M>>, |site, sizes| ArbitrationTree::new(site, sizes.n, TwoProcess::between), Info {
        properties: of_a_mutex![
            "starvation-free", "S", "I0", "I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9",
            "I10", "I11", "I12", "I13", "I14", "I15", "I16", "L0", "L1", "L2", "L3",
        ],
        fairness: "starvation-free",
        rmr: &[
            (CcWriteBack, Bound::AtMost {
                formula: "11 ceil(log2 N)",
                at: |s, c| height(s) * if c <= 1 { 5 } else { 11 },
            }),
            (Dsm, Bound::AtMost { formula: "10 ceil(log2 N)", at: |s, c| height(s) * if c <= 1 { 5 } else { 10 } }),
        ],
        words: |s, _| tree_words(s),
        ..Info::mutex("ya-tree", "Yang and Anderson's arbitration tree", PAPER, "1, Section 3")
    };

    /// The maps with which the checker searches software combining, as passages. For study; to use
    /// combining, take `doorway::Combining`.
    YaCombining: Calls<M, Affine<5>>, |site, sizes| Calls::new(Combining::new(site, sizes.n, 0), map_of), Info {
        properties: &[
            "never-stuck", "k-enter-together", "deadlock-free", "starvation-free",
            "linearizable", "C1", "C2",
        ],
        rmr: &[
            (Cc, Bound::Order("O(log N)")),
            (Dsm, Bound::AtMost {
                formula: "15 ceil(log2 N)+2",
                at: |s, c| height(s) * if c <= 1 { 7 } else { 15 } + 2,
            }),
        ],
        words: |s, _| tree_words(s) + 3 * s.n as u64 * height(s) + 1,
        ..Info::fetch_and_op(
            "ya-combining",
            "software combining over Yang and Anderson's arbitration tree",
            PAPER,
            "none, Section 6.2",
        )
    };

    /// Yang and Anderson's tree with a [fast path](crate::mutex::yang_anderson_93::FastPath) for a
    /// process that is alone.
    YaFast: FastPath<M, TwoProcess<M>>, |site, sizes| FastPath::new(site, sizes.n, TwoProcess::between), Info {
        properties: of_a_mutex![
            "starvation-free", "F1", "F2", "F3", "F4", "F5", "S", "I0", "I1", "I2", "I3", "I4",
            "I5", "I6", "I7", "I8", "I9", "I10", "I11", "I12", "I13", "I14", "I15", "I16",
            "L0", "L1", "L2", "L3",
        ],
        fairness: "starvation-free",
        rmr: &[
            (Cc, Bound::Order("O(N)")),
            (Dsm, Bound::AtMost {
                formula: "12 alone on the open path, else 10 ceil(log2 N)+max(N,3)+14",
                at: |s, c| if c <= 1 { 12.max(5 * height(s) + s.n as u64 + 10) } else { 10 * height(s) + 14 + 3.max(s.n as u64) },
            }),
        ],
        words: |s, _| 3 + s.n as u64 + 3 + s.n as u64 + tree_words(s),
        defaults: Defaults { n: 2, k: 1, passages: None },
        ..Info::mutex("ya-fast", "Yang and Anderson's arbitration tree with a fast path", PAPER, "4")
    };
}

/// The words of an arbitration tree: three for each node, and one for each process and level.
pub(crate) fn tree_words(sizes: Sizes) -> u64 {
    3 * nodes(sizes.n) as u64 + spins(sizes.n) as u64
}
