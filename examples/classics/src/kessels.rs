//! Peterson's algorithm with one writer for each variable, and a relative of it.
//!
//! # Source
//! - [`Kessels`]: Kessels, *Arbitration without Common Modifiable Variables*, Acta Informatica
//!   17(2), 1982. The catalogue has his tree (`kessels-tree`).
//! - [`Anderson`]: J. H. Anderson, *A Fine-Grained Solution to the Mutual Exclusion Problem*, Acta
//!   Informatica 30(3), 1993, Figure 2, in the reading of the mCRL2 examples.
//!
//! # Idea
//! Two bits stand for Peterson's `last`: if they are equal, process 0 came last. Each process
//! writes its own, after a look at the other's. Anderson's processes do the same with `t`. Then
//! each of them waits on one bit of the other: which of its bits `p` and `q` that is, `t` decides.
//!
//! ```text
//! Kessels                                            Anderson
//! 1  q[i] := true                                    1  p[i] := false; q[i] := false
//! 2  r[i] := r[j] for i = 0, not r[j] for i = 1      2  t := t[j] for i = 0, not t[j] for i = 1
//! 3  wait until not q[j], or r[0] /= r[1] for i = 0, 3  t[i] := t
//!        r[0] = r[1] for i = 1                       4  if t: (i = 0: p[0], i = 1: q[1]) := true
//!    critical section                                       wait until p[j]
//! 4  q[i] := false                                      else: (i = 0: q[0], i = 1: p[1]) := true
//!                                                           wait until q[j]
//!                                                       critical section
//!                                                    5  p[i] := true; q[i] := true
//! ```
//!
//! # Shared variables
//! | name | range | initially | written by |
//! | --- | --- | --- | --- |
//! | `q[i]`, `r[i]` of Kessels | bool | false | i |
//! | `p[i]`, `q[i]`, `t[i]` of Anderson | bool | true | i |
//!
//! # Claims
//! Mutual exclusion without deadlock and starvation. Kessels: for atomic registers, as far as we
//! know. Anderson: we do not know for which registers.

use doorway_check::prelude::*;

lock! {
    /// Kessels' algorithm for two processes.
    pub struct Kessels: ReadWrite { q: [bool; 2] = false, r: [bool; 2] = false }
    acquire(self, p) {
        let (i, j) = (p.pid().index(), 1 - p.pid().index());
        // The value of r[i] while process i is the one that came last.
        let came_last = |rival: bool| rival != (i == 1);

        p.at(1).write(&self.q[i], true).await?;
        let mine = came_last(p.at(21).read(&self.r[j]).await?);
        p.at(22).write(&self.r[i], mine).await?;
        while p.at(31).read(&self.q[j]).await? && mine == came_last(p.at(32).read(&self.r[j]).await?) {}
    }
    release(self, p) {
        p.at(4).write(&self.q[p.pid().index()], false).await?;
    }
}

lock! {
    /// Anderson's algorithm for two processes: after a bounded number of accesses, each waits for
    /// one bit.
    pub struct Anderson: ReadWrite { p: [bool; 2] = true, q: [bool; 2] = true, t: [bool; 2] = true }
    acquire(self, p) {
        let (i, j) = (p.pid().index(), 1 - p.pid().index());
        p.at(11).write(&self.p[i], false).await?;
        p.at(12).write(&self.q[i], false).await?;
        let t = p.at(2).read(&self.t[j]).await? != (i == 1);
        p.at(3).write(&self.t[i], t).await?;
        let opens = if t == (i == 0) { &self.p[i] } else { &self.q[i] };
        p.at(41).write(opens, true).await?;
        let waits_for = if t { &self.p[j] } else { &self.q[j] };
        p.at(42).wait_until(waits_for, |open| open).await?;
    }
    release(self, p) {
        let i = p.pid().index();
        p.at(51).write(&self.p[i], true).await?;
        p.at(52).write(&self.q[i], true).await?;
    }
}
