//! Four attempts that fail, each in its own way.
//!
//! # Source
//! Dijkstra, *Cooperating Sequential Processes*, EWD 123, 1965, tells them on the way to Dekker's
//! algorithm. Textbooks have told them again ever since.
//!
//! # Idea
//! Two processes, and either a variable `turn` or a flag for each. An attempt repairs the failure
//! of the one before it, and buys another.
//!
//! | attempt | text of process i, rival j | what goes wrong |
//! | --- | --- | --- |
//! | 1 | wait until turn = i; inside; turn := j | a process that does not come back stops the other |
//! | 2 | wait until not flag\[j\]; flag\[i\] := true; inside; flag\[i\] := false | both look, then both enter |
//! | 3 | flag\[i\] := true; wait until not flag\[j\]; inside; flag\[i\] := false | both raise, then both wait |
//! | 4 | as 3, but while flag\[j\]: lower and raise flag\[i\] | both can give way, again and again |
//!
//! # Shared variables
//! | name | range | initially | written by |
//! | --- | --- | --- | --- |
//! | `turn` | 0, 1 | 0 | both |
//! | `flag[i]` | bool | false | i |
//!
//! # Claims
//! None. The second breaks mutual exclusion; the others are not free of deadlock.

use doorway_check::prelude::*;

lock! {
    /// The first attempt: strictly by turns.
    pub struct Alternation: ReadWrite { turn: Pid = Pid::new(0) }
    acquire(self, p) {
        p.at(1).wait_until(&self.turn, |turn| turn == p.pid()).await?;
    }
    release(self, p) {
        p.at(2).write(&self.turn, Pid::new(1 - p.pid().index())).await?;
    }
}

lock! {
    /// The second attempt: look, then raise the flag.
    pub struct LookFirst: ReadWrite { flag: [bool; 2] = false }
    acquire(self, p) {
        let (i, j) = (p.pid().index(), 1 - p.pid().index());
        p.at(1).wait_until(&self.flag[j], |up| !up).await?;
        p.at(2).write(&self.flag[i], true).await?;
    }
    release(self, p) {
        p.at(3).write(&self.flag[p.pid().index()], false).await?;
    }
}

lock! {
    /// The third attempt: raise the flag, then look.
    pub struct RaiseFirst: ReadWrite { flag: [bool; 2] = false }
    acquire(self, p) {
        let (i, j) = (p.pid().index(), 1 - p.pid().index());
        p.at(1).write(&self.flag[i], true).await?;
        p.at(2).wait_until(&self.flag[j], |up| !up).await?;
    }
    release(self, p) {
        p.at(3).write(&self.flag[p.pid().index()], false).await?;
    }
}

lock! {
    /// The fourth attempt: raise the flag, and lower it for a moment while the other's is up.
    pub struct GiveWay: ReadWrite { flag: [bool; 2] = false }
    acquire(self, p) {
        let (i, j) = (p.pid().index(), 1 - p.pid().index());
        p.at(1).write(&self.flag[i], true).await?;
        while p.at(2).read(&self.flag[j]).await? {
            p.at(3).write(&self.flag[i], false).await?;
            p.at(4).write(&self.flag[i], true).await?;
        }
    }
    release(self, p) {
        p.at(5).write(&self.flag[p.pid().index()], false).await?;
    }
}
