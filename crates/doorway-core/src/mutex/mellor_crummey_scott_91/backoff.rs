//! Mutual exclusion by test-and-set, with a pause after each try that failed.
//!
//! # Problem
//! Mutual exclusion for any number of processes, with one bit, and with fewer tries than the [plain lock](crate::mutex::TestAndSetLock) makes.
//!
//! # Source
//! Mellor-Crummey and Scott 1991, the test-and-set lock with exponential backoff; T. E. Anderson 1990 had measured pauses of several kinds before. Written down as textbooks have
//! it, not compared with the first print. Statement numbers are ours.
//!
//! # Idea
//! Whoever finds the bit clear while setting it is inside. Whoever does not pauses before it tries again, twice as long each time: where many compete, tries become rare.
//!
//! # Shared variables
//! | name       | range          | initially | home   | written at | meaning |
//! |------------|----------------|-----------|--------|------------|---------|
//! | `Taken`    | bool           | false     | nobody | 1, 4       | someone is inside |
//! | `Delay[p]` | 1..=[`LONGEST`] | 1        | `p`, private | 1, 2 | how long `p` pauses next |
//! | `Idle[p]`  | bool           | false     | `p`    | never      | what `p` looks at while it pauses |
//!
//! # Invariants (checked)
//! - (T) `Taken` exactly if someone is at 4
//! - (D) `1 <= Delay[p] <= LONGEST`, and a pause (3) has at most as many accesses left
//! - (quiet waits) a turn that changes nothing writes nothing
//!
//! # Cost, faults, fairness
//! Unbounded remote references in every model: pauses make tries rare, not few. No crash is tolerated. Not starvation-free: the checker shows a process
//! that is passed for ever.
//!
//! # Departures from the paper
//! 1. A pause is time in the paper. Here it is a number of accesses to a word of one's own, which cost no remote reference; what it shortens, the checker can see.
//! 2. Pauses stop growing at [`LONGEST`], and 2 then writes nothing. Natively a process that has come to that also
//!    [waits](crate::memory::Here::go_round_until) as its policy says, until `Taken` changes. If 2 wrote, each of its
//!    turns would change a variable that it has read, and it would go round for ever.

use crate::Failure;
use crate::k_exclusion::{AtOnce, KExclusion};
use crate::memory::{Mark, Memory, Pid, Process, Site, TestAndSet, decl};
use crate::mutex::MutualExclusion;
use core::convert::Infallible;

/// The longest pause, in accesses.
pub const LONGEST: u64 = 4;

/// The bit, and what is done with it. Where a process pauses is its own affair.
#[derive(Debug)]
pub struct BackoffBit<M: Memory> {
    part: M::Part,
    taken: M::Var<bool>,
}

impl<M: Memory> BackoffBit<M> {
    /// Made of a bit that is there already, and clear: for who needs it before the program runs.
    pub const fn over(part: M::Part, taken: M::Var<bool>) -> Self {
        Self { part, taken }
    }
}

impl<M: TestAndSet> BackoffBit<M> {
    /// The entry section, by a process that has these two variables for itself.
    ///
    /// # Errors
    /// If an access failed; `p` then stands where it stood, as after a crash.
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

    /// One try, and no pause. Whether it is inside.
    ///
    /// # Errors
    /// As [`set`](Self::set).
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
    /// As [`set`](Self::set).
    pub async fn clear(&self, p: &Process<M>) -> Result<(), M::Error> {
        p.on(self.part).at(4).write(&self.taken, false).await
    }
}

/// One bit, and a pause for each process.
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
