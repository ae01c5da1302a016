//! Peterson's algorithm for any number of processes: the filter.
//!
//! # Source
//! Peterson, *Myths about the Mutual Exclusion Problem*, Information Processing Letters 12(3),
//! 1981.
//!
//! # Idea
//! There are n - 1 levels, and each holds back one process: the last that came to it waits as long
//! as another process is at this level or above.
//!
//! ```text
//! 1  for l := 1 to n - 1
//! 2      level[i] := l
//! 3      last[l] := i
//! 4      wait until last[l] /= i, or level[j] < l for all other j
//!    critical section
//! 5  level[i] := 0
//! ```
//!
//! # Shared variables
//! | name | range | initially | written by |
//! | --- | --- | --- | --- |
//! | `level[i]` | 0 to n - 1 | 0 | i |
//! | `last[l]` | names | 0 | all |
//!
//! # Claims
//! Mutual exclusion without deadlock and starvation, for atomic registers. It bounds no overtaking.

use crate::{NUMBERS, others};
use doorway_check::prelude::*;

lock! {
    /// The filter for `n` processes.
    pub struct Filter(n: usize): ReadWrite {
        level: [u64; n] = decl(0).ranges_over(Domain::Of(&NUMBERS[..n])),
        last: [Pid; n] = Pid::new(0),
    }
    acquire(self, p) {
        let i = p.pid().index();
        for l in 1..self.n {
            p.at(2).write(&self.level[i], l as u64).await?;
            p.at(3).write(&self.last[l], p.pid()).await?;
            'wait: while p.at(41).read(&self.last[l]).await? == p.pid() {
                for j in others(self.n, i) {
                    if p.at(42).read(&self.level[j]).await? >= l as u64 {
                        continue 'wait;
                    }
                }
                break;
            }
        }
    }
    release(self, p) {
        p.at(5).write(&self.level[p.pid().index()], 0).await?;
    }
}
