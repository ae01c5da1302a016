//! Its entries in the catalogue.

use super::{BackoffLock, QueueLock, SwapQueueLock, TicketLock};
use crate::registry::prelude::*;

/// The source of these algorithms.
pub const PAPER: Paper = Paper {
    short: "Mellor-Crummey & Scott 1991",
    title: "Algorithms for Scalable Synchronization on Shared-Memory Multiprocessors",
    venue: "ACM Transactions on Computer Systems 9(1)",
};

entries! {
    /// The [test-and-set lock with exponential
    /// backoff](crate::mutex::mellor_crummey_scott_91::BackoffLock): fewer tries, and no fairness.
    TasBackoff: BackoffLock<M>, |site, sizes| BackoffLock::new(site, sizes.n), Info {
        instructions: &[Read, Write, TestAndSet],
        properties: &[
            "mutual-exclusion", "never-stuck", "quiet-waits", "someone-enters", "deadlock-free", "bounded-exit", "T", "D",
        ],
        words: |s, _| 1 + 2 * s.n as u64,
        ..Info::mutex(
            "tas-backoff",
            "the test-and-set lock with exponential backoff",
            PAPER,
            "test-and-set with backoff",
        )
    };

    /// The [ticket lock](crate::mutex::mellor_crummey_scott_91::TicketLock): first come, first
    /// served, with two words.
    Ticket: TicketLock<M>, |site, sizes| TicketLock::new(site, sizes.n), Info {
        instructions: READ_WRITE_ADD,
        properties: of_a_mutex!["starvation-free", "first-come-first-served", "C", "U"],
        fairness: "first come, first served",
        rmr: &[
            (Cc, Bound::AtMost { formula: "c+2", at: |_, c| c as u64 + 2 }),
            (Dsm, Bound::Unbounded),
        ],
        words: |_, _| 2,
        ..Info::mutex("ticket", "the ticket lock", PAPER, "ticket lock")
    };

    /// Mellor-Crummey and Scott's [queue lock](crate::mutex::mellor_crummey_scott_91::QueueLock):
    /// first come, first served; each process spins on its own memory.
    Mcs: QueueLock<M>, |site, sizes| QueueLock::new(site, sizes.n), Info {
        instructions: &[Read, Write, Swap, CompareSwap],
        properties: &[
            "mutual-exclusion", "never-stuck", "someone-enters", "deadlock-free",
            "starvation-free", "first-come-first-served", "E", "H", "N",
        ],
        fairness: "first come, first served",
        rmr: &[
            (Cc, Bound::AtMost { formula: "10", at: |_, _| 10 }),
            (Dsm, Bound::AtMost { formula: "4", at: |_, c| if c <= 1 { 2 } else { 4 } }),
        ],
        words: |s, _| 1 + 2 * s.n as u64,
        ..Info::mutex(
            "mcs",
            "Mellor-Crummey and Scott's queue lock",
            PAPER,
            "list-based queue lock",
        )
    };

    /// The same [without compare-and-swap](crate::mutex::mellor_crummey_scott_91::SwapQueueLock): a
    /// waiter can be overtaken forever. For comparison.
    McsSwap: SwapQueueLock<M>, |site, sizes| SwapQueueLock::new(site, sizes.n), Info {
        instructions: &[Read, Write, Swap],
        properties: &["mutual-exclusion", "never-stuck", "someone-enters", "deadlock-free", "H", "N"],
        rmr: &[
            (Cc, Bound::AtMost { formula: "11", at: |_, _| 11 }),
            (Dsm, Bound::AtMost { formula: "5", at: |_, c| if c <= 1 { 2 } else { 5 } }),
        ],
        words: |s, _| 1 + 2 * s.n as u64,
        ..Info::mutex(
            "mcs-swap",
            "the same without compare-and-swap, where a process can be overtaken for ever",
            PAPER,
            "the same, exit without compare-and-swap",
        )
    };
}
