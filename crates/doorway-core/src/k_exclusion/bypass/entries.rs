//! The catalogue entry of the bypass.

use crate::k_exclusion::turnstile::entries::turnstile_words;
use crate::registry::prelude::*;

entries! {
    /// A [bypass](crate::k_exclusion::bypass): newcomers may pass the first in line, once.
    Bypass: super::Bypass<M>, |site, sizes| super::Bypass::new(site, sizes.n, sizes.k, 1), Info {
        instructions: &[Read, FetchAdd, CompareSwap],
        properties: &[
            "k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "every-entry-ends",
            "bypass-bound", "T1", "T2", "T3", "T4", "T5", "T6", "Y1", "Y2", "Y3", "door-opens",
        ],
        fairness: "while a waiter is first in line, one newcomer gets in before it, or none",
        tolerates: Tolerates::None,
        rmr: &[
            (Cc, Bound::Order("O(1+s)")),
            (Dsm, Bound::Unbounded),
        ],
        orders: Some(("O(1+s)", "O(1)")),
        words: |s, _| turnstile_words(s.n, s.k) + 2,
        can_give_up: true,
        defaults: Defaults { n: 2, k: 1, passages: None },
        ..Info::k_exclusion(
            "bypass",
            "the turnstile with a tray: newcomers pass those in line, a bounded number of times",
            Paper::DOORWAY,
            "",
        )
    };
}

abortable!(Bypass);
