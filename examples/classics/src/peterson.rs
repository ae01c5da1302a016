//! Two processes in four lines, a famous mistake in them, and a form with local spinning.
//!
//! # Source
//! - [`Peterson`]: Peterson, *Myths about the Mutual Exclusion Problem*, Information Processing
//!   Letters 12(3), 1981. [`TurnFirst`] swaps two of its lines.
//! - [`Tsay`]: Tsay, *Deriving a Scalable Algorithm for Mutual Exclusion*, DISC 1998, as given in
//!   Buhr, Dice and Hesselink's collection of locks.
//!
//! # Idea
//! A process raises its flag and then writes its name into `last`. It may pass if the rival's flag
//! is down, or if the rival wrote `last` later. Before it raises its flag, a name in `last` says
//! nothing: the rival may have passed already. In Tsay's form a process that leaves writes `last`
//! too, so that the rival waits on `last` alone.
//!
//! ```text
//! Peterson                                      Tsay
//! 1  flag[i] := true                            1  flag[i] := true
//! 2  last := i                                  2  last := i
//! 3  wait until not flag[j] or last /= i        3  if flag[j] wait until last /= i
//!    critical section                              critical section
//! 4  flag[i] := false                           4  flag[i] := false
//!                                               5  last := i
//! ```
//!
//! # Shared variables
//! | name | range | initially | written by |
//! | --- | --- | --- | --- |
//! | `flag[i]` | bool | false | i |
//! | `last` | 0, 1 | 0 | both |
//!
//! # Claims
//! Mutual exclusion without deadlock and starvation, for atomic registers. For Peterson's text, it
//! is enough that `last` is atomic.

use doorway_check::prelude::*;

lock! {
    /// Peterson's algorithm for two processes.
    pub struct Peterson: ReadWrite {
        flag: [bool; 2] = decl(false).needs(Needs::Safe(Domain::Of(&[false, true]))),
        last: Pid = Pid::new(0),
    }
    acquire(self, p) {
        let (i, j) = (p.pid().index(), 1 - p.pid().index());
        p.at(1).write(&self.flag[i], true).await?;
        p.at(2).write(&self.last, p.pid()).await?;
        while p.at(31).read(&self.flag[j]).await? && p.at(32).read(&self.last).await? == p.pid() {}
    }
    release(self, p) {
        p.at(4).write(&self.flag[p.pid().index()], false).await?;
    }
}

lock! {
    /// With statements 1 and 2 the other way round, the well-known mistake.
    pub struct TurnFirst: ReadWrite { flag: [bool; 2] = false, last: Pid = Pid::new(0) }
    acquire(self, p) {
        let (i, j) = (p.pid().index(), 1 - p.pid().index());
        p.at(2).write(&self.last, p.pid()).await?;
        p.at(1).write(&self.flag[i], true).await?;
        while p.at(31).read(&self.flag[j]).await? && p.at(32).read(&self.last).await? == p.pid() {}
    }
    release(self, p) {
        p.at(4).write(&self.flag[p.pid().index()], false).await?;
    }
}

lock! {
    /// Tsay's algorithm for two processes: each waits on one variable.
    pub struct Tsay: ReadWrite { flag: [bool; 2] = false, last: Pid = Pid::new(0) }
    acquire(self, p) {
        let (i, j) = (p.pid().index(), 1 - p.pid().index());
        p.at(1).write(&self.flag[i], true).await?;
        p.at(2).write(&self.last, p.pid()).await?;
        if p.at(31).read(&self.flag[j]).await? {
            p.at(32).wait_until(&self.last, |last| last != p.pid()).await?;
        }
    }
    release(self, p) {
        p.at(4).write(&self.flag[p.pid().index()], false).await?;
        p.at(5).write(&self.last, p.pid()).await?;
    }
}
