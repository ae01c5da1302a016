//! The catalogue entries of the seats.

use crate::registry::prelude::*;

objects! {
    /// Slots for processes that may die, whose slots come back.
    Seats: Info {
        instructions: &[Read, Write, FetchAdd, FetchOr, FetchAnd, CompareSwap],
        // Exits have no bound if others begin passages without end, so the claim is only that every
        // entry ends.
        properties: &[
            "k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "every-entry-ends",
            "first-in-first-enabled", "unique-names", "P1", "P2", "P3", "P4",
        ],
        fairness: "first in, first enabled",
        rmr: &[],
        words: |s, _| (s.n.div_ceil(64) + 1 + s.k + 2 * s.n) as u64,
        can_give_up: true,
        defaults: Defaults { n: 3, k: 2, passages: Some(1) },
        ..Info::k_assignment(
            "seats",
            "slots between processes: a dead owner's slot comes back, and the next owner is told",
            Paper::DOORWAY,
            "",
        )
    };
    /// The same, where newcomers may pass waiters, within a bound.
    SeatsBypass: Info {
        properties: &[
            "k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "every-entry-ends", "unique-names",
            "P1", "P2", "P3", "P4", "bypass-bound",
        ],
        fairness: "the oldest waiter is passed a bounded number of times",
        id: "seats-bypass",
        title: "the same, but newcomers may pass the oldest waiter, a bounded number of times",
        ..Seats::INFO
    };
}
