//! Its entries in the catalogue.

use super::TwoSides;
use crate::mutex::arbitration_tree::{ArbitrationTree, height, nodes};
use crate::registry::prelude::*;

/// The source of these algorithms.
pub const PAPER: Paper = Paper {
    short: "Peterson 1981",
    title: "Myths about the Mutual Exclusion Problem",
    venue: "Information Processing Letters 12(3)",
};

entries! {
    /// A tree of Peterson's [two-process mutexes](crate::mutex::peterson_81::TwoSides): few
    /// accesses, and local spins where caches are coherent.
    PetersonTree: ArbitrationTree<M, TwoSides<M>>, |site, sizes| ArbitrationTree::new(site, sizes.n, TwoSides::between), Info {
        properties: of_a_mutex!["starvation-free", "S", "Q", "G", "X"],
        fairness: "starvation-free",
        rmr: &[
            (Cc, Bound::AtMost { formula: "7 ceil(log2 N)", at: |s, c| height(s) * if c <= 1 { 4 } else { 7 } }),
            (Dsm, Bound::Unbounded),
        ],
        words: |s, _| 3 * nodes(s.n) as u64,
        defaults: Defaults { n: 4, k: 1, passages: None },
        ..Info::mutex(
            "peterson-tree",
            "an arbitration tree of Peterson's mutexes",
            PAPER,
            "two processes, in a tree",
        )
    };
}
