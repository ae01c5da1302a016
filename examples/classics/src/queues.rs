//! A queue without pointers to follow: each process waits for the one before it.
//!
//! # Source
//! Craig, *Building FIFO and Priority-Queuing Spin Locks from Atomic Swap*, 1993, and Magnusson,
//! Landin and Hagersten, *Queue Locks on Cache Coherent Multiprocessors*, 1994, independently: the
//! CLH lock. The catalogue has the other locks with strong instructions: `tas`, `ticket`, `mcs` and
//! more.
//!
//! # Idea
//! A process brings a node that says *wait*, swaps it with the tail, and waits until the node that
//! it got says *go*. It leaves its own node behind, for the process after it, and keeps the one it
//! got.
//!
//! ```text
//! 1  waits[mine] := true
//! 2  before := swap(tail, mine)
//!    the doorway ends
//! 3  wait until not waits[before]
//!    critical section
//! 4  waits[mine] := false
//! 5  mine := before
//! ```
//!
//! # Shared variables
//! | name | range | initially | written by |
//! | --- | --- | --- | --- |
//! | `tail` | nodes 0 to n | n | all |
//! | `waits[node]` | bool | false | the process that brought the node |
//! | `mine[i]` | nodes | i | i, private |
//!
//! # Claims
//! Mutual exclusion, first come, first served. It needs an atomic swap, so other registers are not
//! asked about.

use doorway_check::prelude::*;

lock! {
    /// The CLH lock for `n` processes. A passage carries its node and the one before it.
    pub struct Clh(n: usize): Swap {
        tail: u64 = n as u64,
        waits: [bool; n + 1] = false,
        mine: [u64; n] = for i { decl(i as u64).private(Pid::new(i)) },
    }
    acquire(self, p) -> (u64, u64) {
        let mine = p.at(11).read(&self.mine[p.pid().index()]).await?;
        p.at(12).write(&self.waits[mine as usize], true).await?;
        let before = p.at(2).swap(&self.tail, mine).await?;
        p.mark(Mark::DoorwayEnds);
        p.at(3).wait_until(&self.waits[before as usize], |waits| !waits).await?;
        (mine, before)
    }
    release(self, p, (mine, before)) {
        p.at(4).write(&self.waits[mine as usize], false).await?;
        p.at(5).write(&self.mine[p.pid().index()], before).await?;
    }
}
