//! Its entries in the catalogue.

use super::TwoProcess;
use crate::registry::prelude::*;

/// The source of these algorithms.
pub const PAPER: Paper = Paper {
    short: "Peterson & Fischer 1977",
    title: "Economical Solutions for the Critical Section Problem in a Distributed System",
    venue: "STOC 1977",
};

entries! {
    /// Peterson and Fischer's [two-process mutex](crate::mutex::peterson_fischer_77::TwoProcess),
    /// reconstructed. For comparison.
    PetersonFischer: TwoProcess<M>, |site, _sizes| TwoProcess::new(site), Info {
        properties: of_a_mutex!["starvation-free", "Q", "G"],
        fairness: "starvation-free",
        rmr: &[
            (Cc, Bound::AtMost { formula: "8", at: |_, _| 8 }),
            (Dsm, Bound::Unbounded),
        ],
        words: |_, _| 2,
        fits: Fits::TwoProcesses,
        defaults: Defaults { n: 2, k: 1, passages: None },
        ..Info::mutex(
            "peterson-fischer",
            "Peterson and Fischer's mutex for two processes, reconstructed",
            PAPER,
            "two processes",
        )
    };
}
