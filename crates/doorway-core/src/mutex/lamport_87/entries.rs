//! Its entries in the catalogue.

use super::FastMutex;
use crate::registry::prelude::*;

/// The source of these algorithms.
pub const PAPER: Paper = Paper {
    short: "Lamport 1987",
    title: "A Fast Mutual Exclusion Algorithm",
    venue: "ACM Transactions on Computer Systems 5(1)",
};

entries! {
    /// Lamport's [fast mutex](crate::mutex::lamport_87::FastMutex): seven accesses alone, from
    /// reads and writes, and no fairness.
    LamportFast: FastMutex<M>, |site, sizes| FastMutex::new(site, sizes.n), Info {
        properties: of_a_mutex!["Y", "B", "X"],
        words: |s, _| 2 + s.n as u64,
        ..Info::mutex("lamport-fast", "Lamport's fast mutex", PAPER, "Algorithm 2")
    };
}
