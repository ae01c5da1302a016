//! Its entries in the catalogue.

use super::in_words::{self, ResilientCalls};
use super::{MOST_NAMES, Pool};
use crate::k_assignment::Slots;
use crate::k_assignment::anderson_moir_94::Renaming;
use crate::k_assignment::anderson_moir_94::entries::AmAssign;
use crate::k_assignment::names::FlagNames;
use crate::k_assignment::slots::entries::TurnstileSlots;
use crate::k_exclusion::anderson_moir_94::bounds;
use crate::k_exclusion::anderson_moir_94::entries::{CcFast, PAPER};
use crate::mutex::yang_anderson_93::{Affine, map_of};
use crate::registry::prelude::*;

entries! {
    /// [`Universal`](crate::resilient::Universal), of affine maps modulo 5
    Universal: in_words::Calls<M, Affine<5>>, |site, sizes| in_words::Calls::new(site, sizes.k, Pool::least(sizes.k), map_of), Info {
        instructions: &[Read, Write, CompareSwap],
        properties: &[
            "never-stuck", "k-enter-together", "deadlock-free", "starvation-free",
            "linearizable", "R2", "R3", "R4", "R5", "R6",
        ],
        fairness: "wait-free",
        rmr: &[
            (Cc, Bound::AtMost { formula: "25k+15; 4k+8 alone", at: |s, c| universal_cost(s.k, c) }),
            (Dsm, Bound::AtMost { formula: "25k+15; 4k+8 alone", at: |s, c| universal_cost(s.k, c) }),
        ],
        words: |s, _| universal_words(s.k),
        fits: Fits::AllInsideOf(MOST_NAMES),
        defaults: Defaults { n: 2, k: 2, passages: Some(2) },
        ..Info::resilient(
            "universal",
            "any object, wait-free for k processes: copy, apply what is announced, swing a pointer",
            Paper::DOORWAY,
            "",
        )
    };

    /// [`Resilient`](crate::resilient::Resilient) within [`TurnstileSlots`]
    Resilient: ResilientCalls<M, Slots<M, FlagNames<M>>, Affine<5>>, |site, sizes| ResilientCalls::new(site, sizes.k, Pool::least(sizes.k), map_of, |names| TurnstileSlots::build(names, sizes)), Info {
        instructions: &[Read, Write, FetchAdd, Swap, CompareSwap],
        properties: &[
            "k-exclusion", "never-stuck", "k-enter-together", "deadlock-free",
            "starvation-free", "linearizable", "R2", "R3", "R4", "R5", "R6",
        ],
        fairness: "first in, first enabled",
        rmr: &[
            (Cc, Bound::Order("O(k+s)")),
            (Dsm, Bound::Unbounded),
        ],
        words: |s, p| universal_words(s.k) + (TurnstileSlots::INFO.words)(s, p),
        fits: Fits::UpTo(MOST_NAMES),
        defaults: Defaults { n: 2, k: 2, passages: Some(1) },
        ..Info::resilient(
            "resilient",
            "any object for any number of processes, of which k-1 may die: `universal` within `turnstile-slots`",
            PAPER,
            "none, Section 1; with our parts",
        )
    };

    /// [`Resilient`](crate::resilient::Resilient) within [`AmAssign`]
    ResilientAm: ResilientCalls<M, Renaming<M, CcFast<M>>, Affine<5>>, |site, sizes| ResilientCalls::new(site, sizes.k, Pool::least(sizes.k), map_of, |names| AmAssign::build(names, sizes)), Info {
        instructions: &[Read, Write, FetchAdd, TestAndSet, CompareSwap],
        properties: &[
            "k-exclusion", "never-stuck", "k-enter-together", "deadlock-free",
            "starvation-free", "linearizable", "R2", "R3", "R4", "R5", "R6",
        ],
        fairness: "starvation-free",
        rmr: &[
            (Cc, Bound::AtMost {
                formula: "those of `am-assign` and 25k+15",
                at: |s, c| bounds::theorem_9(s, c) + universal_cost(s.k, c.max(2)),
            }),
            (Dsm, Bound::Unbounded),
        ],
        words: |s, p| universal_words(s.k) + (AmAssign::INFO.words)(s, p),
        fits: Fits::UpTo(MOST_NAMES),
        defaults: Defaults { n: 2, k: 2, passages: Some(1) },
        ..Info::resilient(
            "resilient-am",
            "the same with Anderson and Moir's names: `universal` within `am-assign`",
            PAPER,
            "none, Section 1; over 7",
        )
    };
}

/// The accesses of an operation, if states, operations and responses have one word each and `c`
/// processes are executing one. An attempt makes up to `8k + 4` accesses: one at 1, `k` at 2,
/// `k - 1` each at 3 and at 6, two at 4 and 5, two at 7, four for each operation at 8, `k` at 9,
/// and one at 10. There are three attempts; the first has its own operation at hand. Then there are
/// `k + 1` accesses to announce, and 14 to 16.
pub(crate) fn universal_cost(k: usize, c: usize) -> u64 {
    let k = k as u64;
    if c <= 1 { 4 * k + 8 } else { 3 * (8 * k + 4) - 1 + (k + 1) + 3 }
}

/// The words of a universal construction for `k` names, if states, operations and responses have
/// one word each.
pub(crate) fn universal_words(k: usize) -> u64 {
    let (k, buffers) = (k as u64, (k * Pool::least(k).buffers) as u64);
    1 + 2 * k + k * buffers + buffers + k * buffers + k * k
}

objects! {
    /// `universal` with copies and operations that can fail, and with looks; it remembers free
    /// buffers.
    UniversalInUse: Info {
        instructions: &[Read, Write, CompareSwap],
        properties: &["never-stuck", "deadlock-free", "starvation-free", "linearizable", "R2", "R3", "R4", "R5"],
        fairness: "wait-free",
        rmr: &[],
        words: |s, _| universal_words(s.k) + 2 * s.k as u64,
        fits: Fits::AllInsideOf(MOST_NAMES),
        defaults: Defaults { n: 2, k: 2, passages: Some(2) },
        ..Info::resilient(
            "universal-in-use",
            "`universal` with copies and operations that can fail, read-only looks, and remembered free buffers",
            Paper::DOORWAY,
            "",
        )
    };
}
