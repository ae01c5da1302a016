//! The catalogue entries of the slots.

use super::Slots;
use crate::k_assignment::names::{BitNames, FlagNames};
use crate::k_exclusion::turnstile::entries::{line, line_words, turnstile_words};
use crate::k_exclusion::turnstile::{Endless, Turnstile};
use crate::registry::prelude::*;

entries! {
    /// The turnstile with names, for a known number of processes: the guard says which slot you
    /// got.
    TurnstileSlots: Slots<M, FlagNames<M>>, |site, sizes| Slots::new(site, sizes.k, None, |inner| Turnstile::new(inner, sizes.n, sizes.k)), Info {
        instructions: &[Read, Write, FetchAdd, Swap, CompareSwap],
        properties: of_k_exclusion![
            "first-in-first-enabled", "T1", "T2", "T3", "T4", "T5", "T6", "door-opens",
            "unique-names", "B1", "B2",
        ],
        fairness: "first in, first enabled",
        rmr: &[
            (Cc, Bound::Order("O(k+s)")),
            (Dsm, Bound::Unbounded),
        ],
        orders: Some(("O(k+s)", "O(k)")),
        words: |s, _| turnstile_words(s.n, s.k) + (s.k + s.k.next_power_of_two()) as u64,
        can_give_up: true,
        ..Info::k_assignment("turnstile-slots", "the turnstile with names", Paper::DOORWAY, "")
    };

    /// The turnstile with names and an endless line: what `doorway::Slots` run.
    TurnstileLineSlots: Slots<M, FlagNames<M>, Endless<M>>, |site, sizes| Slots::new(site, sizes.k, None, |inner| line(inner, sizes.n, sizes.k)), Info {
        instructions: &[Read, Write, FetchAdd, Swap, CompareSwap],
        properties: of_k_exclusion![
            "first-in-first-enabled", "T1", "T2", "T3", "T4", "T5", "L1", "L2", "L4", "door-opens",
            "unique-names", "B1", "B2",
        ],
        fairness: "first in, first enabled",
        rmr: &[
            (Cc, Bound::Order("O(k+s)")),
            (Dsm, Bound::Unbounded),
        ],
        orders: Some(("O(k+s)", "O(k)")),
        words: |s, _| line_words(s.n, s.k) + (s.k + s.k.next_power_of_two()) as u64,
        can_give_up: true,
        defaults: Defaults { n: 2, k: 1, passages: Some(2) },
        ..Info::k_assignment(
            "turnstile-line-slots",
            "the turnstile with names and an endless line: what `Slots` are made of",
            Paper::DOORWAY,
            "",
        )
    };

    /// The turnstile with names from a bitmap.
    TurnstileBits: Slots<M, BitNames<M>>, |site, sizes| Slots::new(site, sizes.k, None, |inner| Turnstile::new(inner, sizes.n, sizes.k)), Info {
        instructions: &[Read, FetchAdd, FetchOr, CompareSwap],
        properties: of_k_exclusion![
            "first-in-first-enabled", "T1", "T2", "T3", "T4", "T5", "T6", "door-opens",
            "unique-names", "B1", "B2",
        ],
        fairness: "first in, first enabled",
        rmr: &[
            (Cc, Bound::Order("O(k+s)")),
            (Dsm, Bound::Unbounded),
        ],
        orders: Some(("O(k+s)", "O(k)")),
        words: |s, _| turnstile_words(s.n, s.k) + (s.k.div_ceil(64) + s.k.next_power_of_two()) as u64,
        can_give_up: true,
        ..Info::k_assignment("turnstile-bits", "the turnstile with names from a bitmap, for many places", Paper::DOORWAY, "")
    };
}

abortable!(TurnstileSlots TurnstileLineSlots TurnstileBits);
