//! Its entries in the catalogue.

use super::{ArrayLock, TestAndSetLock, slots};
use crate::registry::prelude::*;

/// The source of these algorithms.
pub const PAPER: Paper = Paper {
    short: "T. Anderson 1990",
    title: "The Performance of Spin Lock Alternatives for Shared-Memory Multiprocessors",
    venue: "IEEE Transactions on Parallel and Distributed Systems 1(1)",
};

entries! {
    /// The [test-and-set lock](crate::mutex::TestAndSetLock): one bit, and no fairness.
    Tas: TestAndSetLock<M>, |site, _sizes| TestAndSetLock::new(site), Info {
        instructions: &[Write, TestAndSet],
        properties: of_a_mutex![],
        words: |_, _| 1,
        ..Info::mutex("tas", "the test-and-set lock", PAPER, "test-and-set")
    };

    /// T. Anderson's [queue in an array](crate::mutex::anderson_90::ArrayLock): first come, first
    /// served; each process waits at a slot of its own.
    AndersonArray: ArrayLock<M>, |site, sizes| ArrayLock::new(site, sizes.n), Info {
        instructions: READ_WRITE_ADD,
        properties: of_a_mutex!["starvation-free", "first-come-first-served", "O", "P"],
        fairness: "first come, first served",
        rmr: &[
            (Cc, Bound::AtMost { formula: "5", at: |_, _| 5 }),
            (Dsm, Bound::Unbounded),
        ],
        words: |s, _| 1 + slots(s.n) as u64,
        ..Info::mutex("anderson-array", "T. Anderson's queue lock in an array", PAPER, "array queue")
    };
}
