//! A simplification for two processes, printed and wrong.
//!
//! # Source
//! Hyman, *Comments on a Problem in Concurrent Programming Control*, Communications of the ACM
//! 9(1),
//! 1966. Knuth refuted it in the same year.
//!
//! # Idea
//! A process makes itself the favourite `k` as soon as it sees that the other does not compete. But
//! between its look and its write the other may have come, and may have found itself the favourite.
//!
//! ```text
//! 1  b[i] := true
//! 2  while k = j
//! 3      wait until not b[j]
//! 4      k := i
//!    critical section
//! 5  b[i] := false
//! ```
//!
//! # Shared variables
//! | name | range | initially | written by |
//! | --- | --- | --- | --- |
//! | `b[i]` | bool (in print, *false* means raised) | false | i |
//! | `k` | 0, 1 | 0 | both |
//!
//! # Claims
//! Mutual exclusion, for atomic registers. It does not hold.

use doorway_check::prelude::*;

lock! {
    /// Hyman's algorithm, which lets both processes in.
    pub struct Hyman: ReadWrite { b: [bool; 2] = false, k: Pid = Pid::new(0) }
    acquire(self, p) {
        let (i, j) = (p.pid().index(), 1 - p.pid().index());
        p.at(1).write(&self.b[i], true).await?;
        while p.at(2).read(&self.k).await? != p.pid() {
            p.at(3).wait_until(&self.b[j], |competes| !competes).await?;
            p.at(4).write(&self.k, p.pid()).await?;
        }
    }
    release(self, p) {
        p.at(5).write(&self.b[p.pid().index()], false).await?;
    }
}
