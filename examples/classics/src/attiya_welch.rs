//! A textbook's algorithm for two processes, in two forms.
//!
//! # Source
//! Attiya and Welch, *Distributed Computing*, 2nd edition, 2004 (the form with a jump), and the
//! form with a loop of a later paper; both in the reading of the mCRL2 examples, which cite van
//! Glabbeek, Luttik and Spronck, *Just Verification of Mutual Exclusion Algorithms*, CONCUR 2025.
//!
//! # Idea
//! `turn` names the process that was inside last, which gives way: it raises its flag only while
//! the other's is down, and starts again if it finds the other's up after all. The other insists.
//!
//! ```text
//! The book                                       The loop
//! 1  flag[i] := false                            1  flag[i] := false
//! 2  wait until not flag[j] or turn = j          2  wait until not flag[j] or turn = j
//! 3  flag[i] := true                             3  flag[i] := true
//! 4  if turn = i                                 4  until turn = j or not flag[j]: go to 1
//! 5      if flag[j] go to 1                      5  if turn = j
//!    otherwise                                   6      wait until not flag[j]
//! 6      wait until not flag[j]                     critical section
//!    critical section                            7  turn := i
//! 7  turn := i                                   8  flag[i] := false
//! 8  flag[i] := false
//! ```
//! Both reads of a test are made, whatever the first returns.
//!
//! # Shared variables
//! | name | range | initially | written by |
//! | --- | --- | --- | --- |
//! | `flag[i]` | bool | false | i |
//! | `turn` | 0, 1 | 0 | both |
//!
//! # Claims
//! Mutual exclusion without deadlock and starvation, for atomic registers.

use doorway_check::prelude::*;

lock! {
    /// The form of the book.
    pub struct Book: ReadWrite { flag: [bool; 2] = false, turn: Pid = Pid::new(0) }
    acquire(self, p) {
        let (i, j) = (p.pid().index(), 1 - p.pid().index());
        loop {
            p.at(1).write(&self.flag[i], false).await?;
            while p.at(21).read(&self.flag[j]).await? & (p.at(22).read(&self.turn).await? == p.pid()) {}
            p.at(3).write(&self.flag[i], true).await?;
            if p.at(4).read(&self.turn).await? != p.pid() {
                p.at(6).wait_until(&self.flag[j], |up| !up).await?;
                break;
            }
            if !p.at(5).read(&self.flag[j]).await? {
                break;
            }
        }
    }
    release(self, p) {
        p.at(7).write(&self.turn, p.pid()).await?;
        p.at(8).write(&self.flag[p.pid().index()], false).await?;
    }
}

lock! {
    /// The form with a loop.
    pub struct Loop: ReadWrite { flag: [bool; 2] = false, turn: Pid = Pid::new(0) }
    acquire(self, p) {
        let (i, j) = (p.pid().index(), 1 - p.pid().index());
        loop {
            p.at(1).write(&self.flag[i], false).await?;
            while p.at(21).read(&self.flag[j]).await? & (p.at(22).read(&self.turn).await? == p.pid()) {}
            p.at(3).write(&self.flag[i], true).await?;
            if (p.at(41).read(&self.turn).await? != p.pid()) | !p.at(42).read(&self.flag[j]).await? {
                break;
            }
        }
        if p.at(5).read(&self.turn).await? != p.pid() {
            p.at(6).wait_until(&self.flag[j], |up| !up).await?;
        }
    }
    release(self, p) {
        p.at(7).write(&self.turn, p.pid()).await?;
        p.at(8).write(&self.flag[p.pid().index()], false).await?;
    }
}
