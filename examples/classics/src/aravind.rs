//! The process that was inside longest ago goes first.
//!
//! # Source
//! Aravind, *Yet Another Simple Solution for the Concurrent Programming Control Problem*, IEEE
//! Transactions on Parallel and Distributed Systems 22(6), 2011: the algorithm BLRU (bounded, least
//! recently used), in the reading of the mCRL2 examples.
//!
//! # Idea
//! `date` says when a process was inside last. A process waits until all others that compete have
//! later dates, announces that it got through, and starts again if another process did too. The
//! process inside takes a new date. When dates run out, it gives every process a new one.
//!
//! ```text
//! 1  flag[i] := true
//! 2  stage[i] := false
//! 3  for each other j, wait until not flag[j] or date[i] < date[j]
//! 4  stage[i] := true
//! 5  for each other j, if stage[j] go to 2
//!    critical section
//! 6  date[i] := the largest date + 1
//! 7  if date[i] >= 2 n - 1: for each j, date[j] := j
//! 8  stage[i] := false
//! 9  flag[i] := false
//! ```
//! At 3 a process reads all three variables, whatever the first returns, its own date too. At 6 a
//! date beyond the range becomes the largest; only registers weaker than atomic ones can lead
//! there.
//!
//! # Shared variables
//! | name | range | initially | written by |
//! | --- | --- | --- | --- |
//! | `flag[i]`, `stage[i]` | bool | false | i |
//! | `date[i]` | 0 to 2 n - 1 | i | the process inside |
//!
//! # Claims
//! Mutual exclusion without deadlock and starvation. We do not know for which registers.

use crate::{NUMBERS, others};
use doorway_check::prelude::*;

lock! {
    /// BLRU for `n` processes.
    pub struct Blru(n: usize): ReadWrite {
        flag: [bool; n] = false,
        stage: [bool; n] = false,
        date: [u64; n] = for i { decl(i as u64).ranges_over(Domain::Of(&NUMBERS[..2 * n])) },
    }
    acquire(self, p) {
        let (i, n) = (p.pid().index(), self.n);
        p.at(1).write(&self.flag[i], true).await?;
        'two: loop {
            p.at(2).write(&self.stage[i], false).await?;
            for j in others(n, i) {
                loop {
                    let competes = p.at(31).read(&self.flag[j]).await?;
                    let mine = p.at(32).read(&self.date[i]).await?;
                    if !competes | (mine < p.at(33).read(&self.date[j]).await?) {
                        break;
                    }
                }
            }
            p.at(4).write(&self.stage[i], true).await?;
            for j in others(n, i) {
                if p.at(5).read(&self.stage[j]).await? {
                    continue 'two;
                }
            }
            break;
        }
    }
    release(self, p) {
        let (i, n) = (p.pid().index(), self.n);
        let mut latest = 0;
        for j in 0..n {
            latest = latest.max(p.at(61).read(&self.date[j]).await?);
        }
        p.at(62).write(&self.date[i], (latest + 1).min(2 * n as u64 - 1)).await?;
        if p.at(71).read(&self.date[i]).await? + 1 >= 2 * n as u64 {
            for j in 0..n {
                p.at(72).write(&self.date[j], j as u64).await?;
            }
        }
        p.at(8).write(&self.stage[i], false).await?;
        p.at(9).write(&self.flag[i], false).await?;
    }
}
