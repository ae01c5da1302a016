//! Mutual exclusion by test-and-set, with a pause after each failed try.
//!
//! # Problem
//! Mutual exclusion for any number of processes, with one bit, and with fewer tries than the [plain
//! lock](crate::mutex::TestAndSetLock) makes.
//!
//! # Source
//! Mellor-Crummey and Scott 1991, the test-and-set lock with exponential backoff. T. E. Anderson
//! 1990 had measured several kinds of pauses before. This text follows textbooks; we did not
//! compare it with the original print. Statement numbers are ours.
//!
//! # Idea
//! A process that finds the bit clear while setting it is inside. Any other process pauses before
//! it tries again, twice as long each time. Under contention, tries become rare.
//!
//! # Shared variables
//! | name       | range          | initially | home   | written at | meaning |
//! |------------|----------------|-----------|--------|------------|---------|
//! | `Taken`    | bool           | false     | nobody | 1, 4       | a process is inside |
//! | `Delay[p]` | 1..=[`LONGEST`] | 1        | `p`, private | 1, 2 | the length of `p`'s next pause |
//! | `Idle[p]`  | bool           | false     | `p`    | never      | the word `p` reads while it pauses |
//!
//! # Invariants (checked)
//! - (T) `Taken` exactly if a process is at 4
//! - (D) `1 <= Delay[p] <= LONGEST`, and a pause (3) never has more accesses left than `Delay[p]`
//! - (quiet waits) a turn that changes nothing writes nothing
//!
//! # Cost, faults, fairness
//! Unbounded remote references in every model: pauses make tries rare, but do not limit their
//! number. No crash is tolerated. Not starvation-free: the checker shows a process that is
//! overtaken forever.
//!
//! # Departures from the paper
//! 1. In the paper a pause is a time. Here it is a number of accesses to a word of the process's
//!    own, which cost no remote reference. The checker can see what a pause saves.
//! 2. Pauses stop growing at [`LONGEST`], and 2 then writes nothing. Natively a process that has
//!    reached that length also [waits](crate::memory::Here::go_round_until) until `Taken` changes,
//!    as its policy says. If 2 wrote, each of its turns would change a variable that it has read,
//!    and the process would go round forever.

use crate::Failure;
use crate::k_exclusion::{AtOnce, KExclusion};
use crate::memory::{Mark, Memory, Pid, Process, Site, TestAndSet, decl};
use crate::mutex::MutualExclusion;
use core::convert::Infallible;

/// The length of the longest pause, in accesses.
pub const LONGEST: u64 = 4;

/// The bit and the operations on it. Each process brings the words for its own pauses.
#[derive(Debug)]
pub struct BackoffBit<M: Memory> {
    part: M::Part,
    taken: M::Var<bool>,
}

impl<M: Memory> BackoffBit<M> {
    /// Wraps an existing bit, which must be clear: for locks that must exist before the program
    /// runs.
    pub const fn over(part: M::Part, taken: M::Var<bool>) -> Self {
        Self { part, taken }
    }
}

impl<M: TestAndSet> BackoffBit<M> {
    /// The entry section, for a process that has these two variables to itself.
    ///
    /// # Errors
    /// Returns an error if an access failed. `p` then stays at the statement it had reached, as
    /// after a crash.
    pub async fn set(&self, p: &Process<M>, delay: &M::Cell<u64>, idle: &M::Cell<bool>) -> Result<(), M::Error> {
        let p = p.on(self.part);
        let turn = || async {
            if !p.at(1).keeping(&()).test_and_set(&self.taken).await? {
                return Ok(Some(()));
            }
            let pause = p.at(2).read(delay).await?;
            if pause < LONGEST {
                p.at(2).write(delay, (2 * pause).min(LONGEST)).await?;
            }
            for left in (1..=pause).rev() {
                p.shows("left", left);
                p.at(3).keeping(&left).read(idle).await?;
            }
            p.hides("left");
            Ok(None)
        };
        p.at(1).write(delay, 1).await?;
        p.go_round_until(turn).await?;
        p.mark(Mark::Rests(4));
        Ok(())
    }

    /// One try without a pause. Returns whether the process is inside.
    ///
    /// # Errors
    /// The same as for [`set`](Self::set).
    pub async fn set_at_once(&self, p: &Process<M>) -> Result<bool, M::Error> {
        let p = p.on(self.part);
        let taken = p.at(1).test_and_set(&self.taken).await?;
        if !taken {
            p.mark(Mark::Rests(4));
        }
        Ok(!taken)
    }

    /// The exit section.
    ///
    /// # Errors
    /// The same as for [`set`](Self::set).
    pub async fn clear(&self, p: &Process<M>) -> Result<(), M::Error> {
        p.on(self.part).at(4).write(&self.taken, false).await
    }
}

/// One bit, and the words for the pauses of each process.
#[derive(Debug)]
pub struct BackoffLock<M: Memory> {
    bit: BackoffBit<M>,
    delay: M::Row<u64>,
    idle: M::Row<bool>,
}

impl<M: TestAndSet> BackoffLock<M> {
    /// A lock for `n` processes.
    pub fn new(site: &Site<'_, M>, n: usize) -> Self {
        Self {
            bit: BackoffBit::over(site.here(), site.var("Taken", false)),
            delay: site.row("Delay", n, |p| decl(1).private(Pid::new(p))),
            idle: site.row("Idle", n, |p| decl(false).home(Pid::new(p))),
        }
    }
}

impl<M: TestAndSet> MutualExclusion<M> for BackoffLock<M> {}

impl<M: TestAndSet> KExclusion<M> for BackoffLock<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let me = p.pid().index();
        Ok(self.bit.set(p, &self.delay[me], &self.idle[me]).await?)
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        self.bit.clear(p).await
    }
}

impl<M: TestAndSet> AtOnce<M> for BackoffLock<M> {
    async fn acquire_at_once(&self, p: &Process<M>) -> Result<Option<()>, Failure<M::Error>> {
        Ok(self.bit.set_at_once(p).await?.then_some(()))
    }
}
