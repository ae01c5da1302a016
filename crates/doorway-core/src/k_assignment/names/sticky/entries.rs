//! The catalogue entry of the sticky names.

use crate::registry::prelude::*;

objects! {
    /// Names that stick: each process first asks for the one that it had last.
    StickyNames: Info {
        instructions: &[Read, Write, CompareSwap],
        properties: &["k-exclusion", "k-enter-together", "unique-names", "S1", "S2"],
        fairness: "lock-free; a process that finds all names taken is turned away",
        rmr: &[],
        words: |s, _| s.k as u64,
        defaults: Defaults { n: 3, k: 3, passages: Some(2) },
        ..Info::k_assignment(
            "sticky-names",
            "names; each process first asks for the one that it had last",
            Paper::DOORWAY,
            "",
        )
    };
}
