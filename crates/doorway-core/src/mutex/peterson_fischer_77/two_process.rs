//! Mutual exclusion for two processes with one variable of three values each.
//!
//! # Problem
//! Mutual exclusion from atomic reads and writes, with one writer for each variable.
//!
//! # Source
//! Peterson and Fischer 1977, for two processes. **Reconstructed**: the idea and the values are
//! theirs. The order of the accesses is the one that has been handed down; we did not compare it
//! with the original print. What we claim about this text is what the checker finds. Statement
//! numbers are ours.
//!
//! # Idea
//! A process that competes shows `F` or `T`. Process 0 tries to show the same as its rival, and
//! process 1 the opposite, so the process that moved last gives way. Process 0 waits while both
//! signs are equal, and process 1 while they differ. A process looks twice, because the rival may
//! have moved between the first look and the first write.
//!
//! # Shared variables
//! | name   | range   | initially | home | written at | meaning |
//! |--------|---------|-----------|------|------------|---------|
//! | `q[i]` | –, F, T | –         | `i`  | 2, 4, 7    | –: `i` does not compete; otherwise its sign |
//!
//! # Invariants (checked)
//! - (Q) `q[i] = –` exactly if `i@{0,1,2}`
//! - (G) if a process is at 6 and its rival is at 5, then the process at 6 is not the one that
//!   gives way
//!
//! # Cost, faults, fairness
//! Unbounded remote references in the DSM model, because a process waits for its rival's variable.
//! At most 8 with coherent caches. No crash is tolerated. Starvation-free.
//!
//! # Departures from the paper
//! The paper extends the algorithm to `N` processes by a tree in which variables belong to
//! processes. That form is not here.

use crate::Failure;
use crate::k_exclusion::KExclusion;
use crate::memory::{Anybody, Domain, Mark, Memory, Pid, Process, ReadWrite, Site, Word, decl};
use crate::mutex::MutualExclusion;
use core::convert::Infallible;
use core::fmt;

/// What a process shows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// It does not compete.
    Nil,
    /// `F`
    F,
    /// `T`
    T,
}

impl fmt::Debug for Sign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nil => "–",
            Self::F => "F",
            Self::T => "T",
        })
    }
}

impl Word for Sign {
    type Waiters = Anybody;
    fn pack(self) -> u64 {
        self as u64
    }
    fn unpack(word: u64) -> Self {
        match word {
            0 => Self::Nil,
            1 => Self::F,
            _ => Self::T,
        }
    }
}

impl Sign {
    /// The sign by which a process gives way to a rival that shows this one: process 0 shows the
    /// same, process 1 the opposite.
    ///
    /// ```
    /// use doorway_core::mutex::peterson_fischer_77::Sign;
    /// assert_eq!([0, 1].map(|i| Sign::F.gives_way(i)), [Sign::F, Sign::T]);
    /// assert_eq!([0, 1].map(|i| Sign::Nil.gives_way(i)), [Sign::F, Sign::F]); // nobody to give way to
    /// ```
    #[must_use]
    pub const fn gives_way(self, i: usize) -> Self {
        match (self, i) {
            (Self::T, 0) | (Self::F, 1) => Self::T,
            _ => Self::F,
        }
    }
}

/// The shared variables, for the processes 0 and 1.
#[derive(Debug)]
pub struct TwoProcess<M: Memory> {
    part: M::Part,
    q: M::Row<Sign>,
}

impl<M: ReadWrite> TwoProcess<M> {
    /// A mutex for the processes 0 and 1.
    pub fn new(site: &Site<'_, M>) -> Self {
        let sign = decl(Sign::Nil).ranges_over(Domain::Of(&[Sign::Nil, Sign::F, Sign::T]));
        Self { part: site.here(), q: site.row("q", 2, |i| sign.home(Pid::new(i))) }
    }
}

impl<M: ReadWrite> MutualExclusion<M> for TwoProcess<M> {}

impl<M: ReadWrite> KExclusion<M> for TwoProcess<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let p = p.on(self.part);
        let (i, j) = (p.pid().index(), 1 - p.pid().index());

        let mut mine = p.at(1).read(&self.q[j]).await?.gives_way(i);
        p.at(2).keeping(&mine).write(&self.q[i], mine).await?;
        let rival = p.at(3).keeping(&mine).read(&self.q[j]).await?; // the rival may have come or moved since 1
        if rival != Sign::Nil {
            mine = rival.gives_way(i);
            p.at(4).keeping(&mine).write(&self.q[i], mine).await?;
        }
        p.at(5).keeping(&mine).wait_until(&self.q[j], |rival| rival == Sign::Nil || rival.gives_way(i) != mine).await?;
        p.mark(Mark::Rests(6));
        Ok(())
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        p.on(self.part).at(7).write(&self.q[p.pid().index()], Sign::Nil).await
    }
}
