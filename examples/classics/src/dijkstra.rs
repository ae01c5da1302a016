//! The first solution for any number of processes.
//!
//! # Source
//! Dijkstra, *Solution of a Problem in Concurrent Programming Control*, Communications of the ACM
//! 8(9), 1965.
//!
//! # Idea
//! First stage: a process makes itself the favourite `k`, once the old favourite no longer
//! competes. Second stage: it announces that it got through, and looks whether another did too. If
//! so, both go back to the first stage, which only the favourite passes.
//!
//! ```text
//! 1  b[i] := true
//! 2  if k /= i
//! 3      c[i] := false
//! 4      if not b[k] then k := i; go to 2
//!    otherwise
//! 5      c[i] := true; for each other j, if c[j] go to 2
//!    critical section
//! 6  c[i] := false
//! 7  b[i] := false
//! ```
//!
//! # Shared variables
//! | name | range | initially | written by | meaning |
//! | --- | --- | --- | --- | --- |
//! | `b[i]` | bool | false | i | i competes (in print, *false* means this) |
//! | `c[i]` | bool | false | i | i got through the first stage (in print, *false* means this) |
//! | `k` | names | 0 | all | the favourite |
//!
//! # Claims
//! Mutual exclusion without deadlock, for atomic registers. Not starvation-free, as Knuth remarked.

use crate::others;
use doorway_check::prelude::*;

lock! {
    /// Dijkstra's algorithm for `n` processes.
    pub struct Dijkstra(n: usize): ReadWrite { b: [bool; n] = false, c: [bool; n] = false, k: Pid = Pid::new(0) }
    acquire(self, p) {
        let i = p.pid().index();
        p.at(1).write(&self.b[i], true).await?;
        'two: loop {
            if p.at(2).read(&self.k).await? != p.pid() {
                p.at(3).write(&self.c[i], false).await?;
                let k = p.at(41).read(&self.k).await?.index();
                if !p.at(42).read(&self.b[k]).await? {
                    p.at(43).write(&self.k, p.pid()).await?;
                }
                continue 'two;
            }
            p.at(51).write(&self.c[i], true).await?;
            for j in others(self.n, i) {
                if p.at(52).read(&self.c[j]).await? {
                    continue 'two;
                }
            }
            break;
        }
    }
    release(self, p) {
        let i = p.pid().index();
        p.at(6).write(&self.c[i], false).await?;
        p.at(7).write(&self.b[i], false).await?;
    }
}
