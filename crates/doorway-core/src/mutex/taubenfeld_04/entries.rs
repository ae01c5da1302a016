//! Its entries in the catalogue.

use crate::registry::prelude::*;

/// The source of these algorithms.
pub const PAPER: Paper = Paper {
    short: "Taubenfeld 2004",
    title: "The Black-White Bakery Algorithm and Related Bounded-Space, Adaptive, Local-Spinning and FIFO Algorithms",
    venue: "DISC 2004",
};

entries! {
    /// The [Black-White Bakery](super::BlackWhiteBakery): first come, first served, from reads and
    /// writes, with numbers up to `N`.
    BlackWhiteBakery: super::BlackWhiteBakery<M>, |site, sizes| super::BlackWhiteBakery::new(site, sizes.n), Info {
        properties: of_a_mutex!["starvation-free", "first-come-first-served", "N", "T", "D"],
        fairness: "first come, first served",
        rmr: &[
            (Cc, Bound::Order("bounded")),
            (Dsm, Bound::Unbounded),
        ],
        words: |s, _| 1 + 2 * s.n as u64,
        defaults: Defaults { n: 2, k: 1, passages: None },
        ..Info::mutex("black-white-bakery", "Taubenfeld's Black-White Bakery, whose numbers are bounded", PAPER, "Black-White Bakery")
    };

    /// The same with [one register for the colour and another for the
    /// number](super::BlackWhiteBakery::in_two_registers). Its numbers are not bounded. For study.
    BlackWhiteBakeryInTwo: super::BlackWhiteBakery<M>, |site, sizes| super::BlackWhiteBakery::in_two_registers(site, sizes.n), Info {
        properties: of_a_mutex!["starvation-free", "first-come-first-served", "T", "D"],
        fairness: "first come, first served",
        rmr: &[
            (Cc, Bound::Order("bounded")),
            (Dsm, Bound::Unbounded),
        ],
        words: |s, _| 1 + 3 * s.n as u64,
        defaults: Defaults { n: 2, k: 1, passages: Some(3) },
        ..Info::mutex(
            "black-white-bakery-in-two",
            "the same with a register for the colour and one for the number, whose numbers are not bounded",
            PAPER,
            "Black-White Bakery, in two registers",
        )
    };
}
