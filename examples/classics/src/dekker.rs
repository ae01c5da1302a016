//! Dekker's algorithm, the first solution for two processes, and two later forms of it.
//!
//! # Source
//! - [`Dekker`]: Dijkstra, *Cooperating Sequential Processes*, EWD 123, 1965; he credits Dekker.
//! - [`DoranThomas`]: Doran and Thomas, *Variants of the Software Solution to Mutual Exclusion*,
//!   Information Processing Letters 10(4/5), 1980, Figure 1, as given in Buhr, Dice and Hesselink's
//!   collection of locks.
//! - [`RwSafe`]: Buhr, Dice and Hesselink, *Dekker's Mutual Exclusion Algorithm Made RW-Safe*,
//!   2016, in the reading of the mCRL2 examples.
//!
//! # Idea
//! A process raises its flag. If both flags are up, `turn` says which process insists; the other
//! lowers its flag and waits for its turn. A process that leaves gives the turn away.
//!
//! ```text
//! Dekker                              Doran and Thomas                RW-safe, where it differs
//! 1  flag[i] := true                  1  flag[i] := true
//! 2  while flag[j]                    2  if flag[j]
//! 3      if turn = j                  3      if turn = j
//! 4          flag[i] := false         4          flag[i] := false
//! 5          wait until turn = i      5          wait until turn = i  5  ... or not flag[j]
//! 6          flag[i] := true          6          flag[i] := true
//!    critical section                 7      wait until not flag[j]
//! 7  turn := j                           critical section            71 if turn = i
//! 8  flag[i] := false                 8  turn := j                   7      turn := j
//!                                     9  flag[i] := false
//! ```
//!
//! # Shared variables
//! | name | range | initially | written by |
//! | --- | --- | --- | --- |
//! | `flag[i]` | bool | false | i |
//! | `turn` | 0, 1 | 0 | both |
//!
//! # Claims
//! Dekker, Doran and Thomas: mutual exclusion without deadlock and starvation, for atomic
//! registers. The RW-safe form claims the same for safe registers.

use doorway_check::prelude::*;

lock! {
    /// Dekker's algorithm, as Dijkstra tells it.
    pub struct Dekker: ReadWrite { flag: [bool; 2] = false, turn: Pid = Pid::new(0) }
    acquire(self, p) {
        let (i, j) = (p.pid().index(), 1 - p.pid().index());
        p.at(1).write(&self.flag[i], true).await?;
        while p.at(2).read(&self.flag[j]).await? {
            if p.at(3).read(&self.turn).await? != p.pid() {
                p.at(4).write(&self.flag[i], false).await?;
                p.at(5).wait_until(&self.turn, |turn| turn == p.pid()).await?;
                p.at(6).write(&self.flag[i], true).await?;
            }
        }
    }
    release(self, p) {
        let (i, j) = (p.pid().index(), 1 - p.pid().index());
        p.at(7).write(&self.turn, Pid::new(j)).await?;
        p.at(8).write(&self.flag[i], false).await?;
    }
}

lock! {
    /// Doran and Thomas: the loop of Dekker's algorithm is not needed.
    pub struct DoranThomas: ReadWrite { flag: [bool; 2] = false, turn: Pid = Pid::new(0) }
    acquire(self, p) {
        let (i, j) = (p.pid().index(), 1 - p.pid().index());
        p.at(1).write(&self.flag[i], true).await?;
        if p.at(2).read(&self.flag[j]).await? {
            if p.at(3).read(&self.turn).await? != p.pid() {
                p.at(4).write(&self.flag[i], false).await?;
                p.at(5).wait_until(&self.turn, |turn| turn == p.pid()).await?;
                p.at(6).write(&self.flag[i], true).await?;
            }
            p.at(7).wait_until(&self.flag[j], |up| !up).await?;
        }
    }
    release(self, p) {
        let (i, j) = (p.pid().index(), 1 - p.pid().index());
        p.at(8).write(&self.turn, Pid::new(j)).await?;
        p.at(9).write(&self.flag[i], false).await?;
    }
}

lock! {
    /// Dekker's algorithm, made to work with safe registers: a wait for a variable that may be
    /// written at any time also ends when the rival is gone, and a process does not write `turn` if
    /// it has its value already.
    pub struct RwSafe: ReadWrite {
        flag: [bool; 2] = decl(false).needs(Needs::Safe(Domain::Of(&[false, true]))),
        turn: Pid = decl(Pid::new(0)).needs(Needs::Safe(Domain::Of(&[Pid::new(0), Pid::new(1)]))),
    }
    acquire(self, p) {
        let (i, j) = (p.pid().index(), 1 - p.pid().index());
        p.at(1).write(&self.flag[i], true).await?;
        while p.at(2).read(&self.flag[j]).await? {
            if p.at(3).read(&self.turn).await? != p.pid() {
                p.at(4).write(&self.flag[i], false).await?;
                while p.at(51).read(&self.turn).await? != p.pid() && p.at(52).read(&self.flag[j]).await? {}
                p.at(6).write(&self.flag[i], true).await?;
            }
        }
    }
    release(self, p) {
        let (i, j) = (p.pid().index(), 1 - p.pid().index());
        if p.at(71).read(&self.turn).await? == p.pid() {
            p.at(7).write(&self.turn, Pid::new(j)).await?;
        }
        p.at(8).write(&self.flag[i], false).await?;
    }
}
