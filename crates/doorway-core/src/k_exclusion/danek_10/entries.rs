//! The catalogue entries of the k-Bakeries.

use super::{KBakery, NonatomicKBakery, Order};
use crate::registry::prelude::*;

/// The paper these come from.
pub const PAPER: Paper = Paper {
    short: "Danek 2010",
    title: "The k-Bakery: Local-Spin k-Exclusion Using Non-Atomic Reads and Writes",
    venue: "PODC 2010",
};

entries! {
    /// Danek's [k-Bakery](crate::k_exclusion::danek_10::KBakery): k-exclusion from reads and writes
    /// alone. Each process spins on its own memory. For study, and for machines without
    /// read-modify-write instructions; elsewhere `doorway::Slots` cost far less.
    Kbakery: KBakery<M>, |site, sizes| KBakery::new(site, sizes.n, sizes.k, Order::KFirstCome), Info {
        properties: of_k_exclusion!["k-first-come-first-served", "W", "T", "L3"],
        fairness: "k-first come, first served",
        rmr: &[
            (Cc, Bound::AtMost { formula: "8(N-1)+1", at: |s, _| 8 * (s.n as u64 - 1) + 1 }),
            (Dsm, Bound::AtMost { formula: "4(N-1)", at: |s, _| 4 * (s.n as u64 - 1) }),
        ],
        orders: Some(("O(N)", "O(N)")),
        words: |s, _| square(s) + 2 * s.n as u64,
        defaults: Defaults { n: 3, k: 2, passages: Some(1) },
        ..Info::k_exclusion("kbakery", "Danek's k-Bakery", PAPER, "2, unshaded")
    };

    /// The same, but a process that is overtaken can enter by its own steps alone from then on. For
    /// study, and for machines without read-modify-write instructions.
    KbakeryFife: KBakery<M>, |site, sizes| KBakery::new(site, sizes.n, sizes.k, Order::FirstEnabled), Info {
        properties: of_k_exclusion![
            "k-first-come-first-served", "first-in-first-enabled", "W", "T", "L3", "C",
        ],
        fairness: "first in, first enabled",
        rmr: &[
            (Cc, Bound::AtMost { formula: "12(N-1)+1", at: |s, _| 12 * (s.n as u64 - 1) + 1 }),
            (Dsm, Bound::AtMost { formula: "5(N-1)", at: |s, _| 5 * (s.n as u64 - 1) }),
        ],
        orders: Some(("O(N)", "O(N)")),
        words: |s, _| 2 * square(s) + 2 * s.n as u64,
        defaults: Defaults { n: 3, k: 2, passages: Some(1) },
        ..Info::k_exclusion(
            "kbakery-fife",
            "Danek's k-Bakery, in which a process that enters captures those before it",
            PAPER,
            "2, shaded",
        )
    };

    /// Danek's [k-Bakery for registers that are not
    /// atomic](crate::k_exclusion::danek_10::NonatomicKBakery). Here registers are atomic, so it
    /// only costs more than [`KbakeryFife`]. For study, and as the text to carry to a memory whose
    /// words tear.
    KbakeryNonatomic: NonatomicKBakery<M>, |site, sizes| NonatomicKBakery::new(site, sizes.n, sizes.k), Info {
        properties: of_k_exclusion![
            "k-first-come-first-served", "first-in-first-enabled", "W", "T", "L3", "C",
        ],
        fairness: "first in, first enabled",
        registers: Register::Safe,
        rmr: &[
            (Cc, Bound::Order("O(N)")),
            (Dsm, Bound::AtMost { formula: "10(N-1)", at: |s, _| 10 * (s.n as u64 - 1) }),
        ],
        orders: Some(("O(N)", "O(N)")),
        words: |s, _| 5 * square(s) + 2 * s.n as u64,
        defaults: Defaults { n: 3, k: 2, passages: Some(1) },
        ..Info::k_exclusion(
            "kbakery-nonatomic",
            "Danek's k-Bakery for registers that are not atomic, with monotone tickets",
            PAPER,
            "3, repaired",
        )
    };

    /// The same [as printed](crate::k_exclusion::danek_10::NonatomicKBakery::as_printed), which is
    /// wrong on safe registers. On the atomic registers of this machine it behaves as
    /// [`KbakeryNonatomic`]. For study.
    KbakeryNonatomicAsPrinted: NonatomicKBakery<M>, |site, sizes| NonatomicKBakery::as_printed(site, sizes.n, sizes.k), Info {
        id: "kbakery-nonatomic-as-printed",
        title: "the same with safe registers only, which lets two processes into one place",
        figure: "3, as printed",
        ..KbakeryNonatomic::INFO
    };
}

/// The number of words in which every process tells every other one something.
pub(crate) fn square(sizes: Sizes) -> u64 {
    (sizes.n as u64).pow(2)
}
