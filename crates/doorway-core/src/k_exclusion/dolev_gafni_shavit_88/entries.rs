//! The catalogue entries of Dolev, Gafni and Shavit's constructions.

use super::{DgsAsPrinted as AsPrinted, DgsUnfair as Unfair};
use crate::registry::prelude::*;

/// The paper these come from.
pub const PAPER: Paper = Paper {
    short: "Dolev, Gafni & Shavit 1988",
    title: "Toward a Non-Atomic Era: l-Exclusion as a Test Case",
    venue: "STOC 1988",
};

entries! {
    /// Dolev, Gafni and Shavit's [l-exclusion from safe
    /// bits](crate::k_exclusion::dolev_gafni_shavit_88). It is starvation-free and tolerates
    /// `k - 1` crashes, from nothing but reads and writes. For study, and for machines without
    /// read-modify-write: each turn of a wait reads the bits of all pairs.
    Dgs: super::Dgs<M>, |site, sizes| super::Dgs::new(site, sizes.n, sizes.k), Info {
        properties: of_k_exclusion!["X", "W", "H", "CL5"],
        registers: Register::Safe,
        rmr: &[
            (Cc, Bound::Order("98 if N=2")),
            (Dsm, Bound::Unbounded),
        ],
        words: |s, _| super::words(s.n, true),
        defaults: Defaults { n: 2, k: 1, passages: None },
        ..Info::k_exclusion(
            "dgs",
            "Dolev, Gafni and Shavit's l-exclusion from safe bits, repaired",
            PAPER,
            "Construction 8",
        )
    };

    /// The same with fixed ids: of the processes that wait, the largest is served. For study.
    DgsUnfair: Unfair<M>, |site, sizes| Unfair::new(site, sizes.n, sizes.k), Info {
        properties: &[
            "k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "bounded-exit",
            "largest-id-enters", "X", "W", "CL5",
        ],
        fairness: "the largest id is served",
        registers: Register::Safe,
        rmr: &[
            (Cc, Bound::Unbounded),
            (Dsm, Bound::Unbounded),
        ],
        words: |s, _| super::words(s.n, false),
        defaults: Defaults { n: 2, k: 1, passages: None },
        ..Info::k_exclusion(
            "dgs-unfair",
            "the same with fixed ids: the largest is served",
            PAPER,
            "Construction 6",
        )
    };

    /// The same to the letter of the paper, where a process can be passed for ever. For study.
    DgsAsPrinted: AsPrinted<M>, |site, sizes| AsPrinted::new(site, sizes.n, sizes.k), Info {
        properties: &[
            "k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "bounded-exit",
            "X", "W", "H", "CL5",
        ],
        fairness: "nothing promised",
        tolerates: Tolerates::None,
        registers: Register::Safe,
        rmr: &[
            (Cc, Bound::Unbounded),
            (Dsm, Bound::Unbounded),
        ],
        words: |s, _| super::words(s.n, true),
        defaults: Defaults { n: 2, k: 1, passages: None },
        ..Info::k_exclusion(
            "dgs-as-printed",
            "the same exactly as printed, where a process can be overtaken for ever",
            PAPER,
            "Construction 8",
        )
    };
}
