//! Mutual exclusion by test-and-set: the simplest lock, and the reason why others were invented.
//!
//! # Problem
//! Mutual exclusion for any number of processes, with one bit.
//!
//! # Source
//! Folklore; measured and analysed in T. E. Anderson, *The Performance of Spin Lock Alternatives
//! for Shared-Memory Multiprocessors*, IEEE Transactions on Parallel and Distributed Systems 1(1),
//! 1990.
//!
//! # Idea
//! A process that finds the bit clear while setting it is inside. The lock remembers nothing about
//! the waiters.
//!
//! # Shared variables
//! | name    | range | initially | home   | written at | meaning |
//! |---------|-------|-----------|--------|------------|---------|
//! | `Taken` | bool  | false     | nobody | 1, 2       | a process is inside |
//!
//! # Cost, faults, fairness
//! Unbounded remote references in every model, because each failed turn writes. No crash is
//! tolerated inside. Not starvation-free: the checker shows a process that is overtaken forever.

use crate::Failure;
use crate::k_exclusion::{AtOnce, KExclusion};
use crate::memory::{Mark, Memory, Process, Site, TestAndSet};
use crate::mutex::MutualExclusion;
use core::convert::Infallible;

/// One bit.
#[derive(Debug)]
pub struct TestAndSetLock<M: Memory> {
    part: M::Part,
    taken: M::Var<bool>,
}

impl<M: TestAndSet> TestAndSetLock<M> {
    /// A lock for any number of processes.
    pub fn new(site: &Site<'_, M>) -> Self {
        Self { part: site.here(), taken: site.var("Taken", false) }
    }
}

impl<M: Memory> TestAndSetLock<M> {
    /// A lock made from an existing bit, which must be clear: for locks that must exist before the
    /// program runs.
    pub const fn over(part: M::Part, taken: M::Var<bool>) -> Self {
        Self { part, taken }
    }
}

impl<M: TestAndSet> MutualExclusion<M> for TestAndSetLock<M> {}

impl<M: TestAndSet> KExclusion<M> for TestAndSetLock<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let p = p.on(self.part);
        p.spin_until(|| async { Ok((!p.at(1).test_and_set(&self.taken).await?).then_some(())) }).await?;
        p.mark(Mark::Rests(2));
        Ok(())
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        p.on(self.part).at(2).write(&self.taken, false).await
    }
}

/// A single turn of the wait.
impl<M: TestAndSet> AtOnce<M> for TestAndSetLock<M> {
    async fn acquire_at_once(&self, p: &Process<M>) -> Result<Option<()>, Failure<M::Error>> {
        let p = p.on(self.part);
        if p.at(1).test_and_set(&self.taken).await? {
            return Ok(None);
        }
        p.mark(Mark::Rests(2));
        Ok(Some(()))
    }
}
