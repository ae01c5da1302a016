//! Its entries in the catalogue.

use crate::registry::prelude::*;

/// The source of these algorithms.
pub const PAPER: Paper = Paper {
    short: "Lamport 1974",
    title: "A New Solution of Dijkstra's Concurrent Programming Problem",
    venue: "Communications of the ACM 17(8)",
};

entries! {
    /// Lamport's [Bakery](crate::mutex::lamport_74::Bakery): first come, first served, from reads
    /// and writes.
    Bakery: super::Bakery<M>, |site, sizes| super::Bakery::new(site, sizes.n), Info {
        properties: of_a_mutex!["starvation-free", "first-come-first-served", "T", "D", "U"],
        fairness: "first come, first served",
        registers: Register::Safe,
        rmr: &[
            (Cc, Bound::Order("bounded")),
            (Dsm, Bound::Unbounded),
        ],
        words: |s, _| 2 * s.n as u64,
        defaults: Defaults { n: 3, k: 1, passages: Some(2) },
        ..Info::mutex("bakery", "Lamport's Bakery", PAPER, "1 of Danek 2010")
    };
}
