//! Its entries in the catalogue.

use super::TwoSides;
use crate::mutex::arbitration_tree::{ArbitrationTree, height, nodes};
use crate::registry::prelude::*;

/// The source of these algorithms.
pub const PAPER: Paper = Paper {
    short: "Kessels 1982",
    title: "Arbitration Without Common Modifiable Variables",
    venue: "Acta Informatica 17(2)",
};

entries! {
    /// Kessels' tree of [mutexes without variables that both sides
    /// write](crate::mutex::kessels_82::TwoSides).
    KesselsTree: ArbitrationTree<M, TwoSides<M>>, |site, sizes| ArbitrationTree::new(site, sizes.n, TwoSides::between), Info {
        properties: of_a_mutex!["starvation-free", "S", "Q", "G", "X"],
        fairness: "starvation-free",
        rmr: &[
            (Cc, Bound::AtMost { formula: "8 ceil(log2 N)", at: |s, c| height(s) * if c <= 1 { 5 } else { 8 } }),
            (Dsm, Bound::Unbounded),
        ],
        words: |s, _| 4 * nodes(s.n) as u64,
        ..Info::mutex("kessels-tree", "Kessels' arbitration tree", PAPER, "two processes, and the tree")
    };
}
