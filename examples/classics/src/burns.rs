//! One bit for each process, and one bit and a name.
//!
//! # Source
//! - [`BurnsLynch`]: Burns and Lynch, *Mutual Exclusion Using Indivisible Reads and Writes*,
//!   Allerton 1980, and *Bounds on Shared Memory for Mutual Exclusion*, 1993, in the reading of the
//!   mCRL2 examples. Lynch's textbook starts again at 1 as soon as 2 finds a flag up, and rescans
//!   where 5 does; the difference is how often a lowered flag is lowered again.
//! - [`Burns`]: Burns, *Symmetry in Systems of Asynchronous Processes*, FOCS 1981, Figure 2, as
//!   given, with small changes, in Buhr, Dice and Hesselink's collection of locks.
//!
//! # Idea
//! Burns and Lynch: a process raises its flag and starts again if a process with a smaller name has
//! raised its own; then it waits for those with larger names. Names break the symmetry, and the
//! process with the smallest can go first for ever. Burns: `turn` breaks it instead, so that no
//! process compares names. A process goes on only while `turn` is its own name and all other flags
//! are down.
//!
//! ```text
//! Burns and Lynch                                 Burns
//! 1  flag[i] := false                             1  flag[i] := true
//! 2  for each j < i, wait until not flag[j]       2  turn := i
//! 3  flag[i] := true                              3  if turn /= i go to 5
//! 4  for each j < i, if flag[j] go to 1           4  for each other j, if flag[j] go to 3
//! 5  for each j > i, wait until not flag[j]          critical section, then 7
//!    critical section                             5  flag[i] := false
//! 6  flag[i] := false                             6  wait until no flag is up, in one scan; go to 1
//!                                                 7  flag[i] := false
//! ```
//!
//! # Shared variables
//! | name | range | initially | written by |
//! | --- | --- | --- | --- |
//! | `flag[i]` | bool | false | i |
//! | `turn` (Burns) | names | 0 | all |
//!
//! # Claims
//! Mutual exclusion without deadlock, for atomic registers. Not starvation-free.

use crate::others;
use doorway_check::prelude::*;

lock! {
    /// Burns and Lynch's algorithm for `n` processes.
    pub struct BurnsLynch(n: usize): ReadWrite { flag: [bool; n] = false }
    acquire(self, p) {
        let i = p.pid().index();
        'one: loop {
            p.at(1).write(&self.flag[i], false).await?;
            for j in 0..i {
                p.at(2).wait_until(&self.flag[j], |up| !up).await?;
            }
            p.at(3).write(&self.flag[i], true).await?;
            for j in 0..i {
                if p.at(4).read(&self.flag[j]).await? {
                    continue 'one;
                }
            }
            break;
        }
        for j in i + 1..self.n {
            p.at(5).wait_until(&self.flag[j], |up| !up).await?;
        }
    }
    release(self, p) {
        p.at(6).write(&self.flag[p.pid().index()], false).await?;
    }
}

lock! {
    /// Burns' symmetric algorithm for `n` processes.
    pub struct Burns(n: usize): ReadWrite { flag: [bool; n] = false, turn: Pid = Pid::new(0) }
    acquire(self, p) {
        let i = p.pid().index();
        'inside: loop {
            p.at(1).write(&self.flag[i], true).await?;
            p.at(2).write(&self.turn, p.pid()).await?;
            'three: while p.at(3).read(&self.turn).await? == p.pid() {
                for j in others(self.n, i) {
                    if p.at(4).read(&self.flag[j]).await? {
                        continue 'three;
                    }
                }
                break 'inside;
            }
            p.at(5).write(&self.flag[i], false).await?;
            'six: loop {
                for j in others(self.n, i) {
                    if p.at(6).read(&self.flag[j]).await? {
                        continue 'six;
                    }
                }
                break;
            }
        }
    }
    release(self, p) {
        p.at(7).write(&self.flag[p.pid().index()], false).await?;
    }
}
