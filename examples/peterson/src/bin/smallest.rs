//! The smallest program that checks a lock. A test counts the lines around its text.

use doorway_check::prelude::*;

lock! {
    struct Peterson: ReadWrite { flag: [bool; 2] = false, turn: Pid = Pid::new(0) }
    acquire(self, p) {
        let (me, rival) = (p.pid().index(), 1 - p.pid().index());
        p.at(1).write(&self.flag[me], true).await?;
        p.at(2).write(&self.turn, Pid::new(rival)).await?;
        while p.at(3).read(&self.flag[rival]).await? && p.at(4).read(&self.turn).await? != p.pid() {}
    }
    release(self, p) {
        p.at(5).write(&self.flag[p.pid().index()], false).await?;
    }
}

fn main() -> std::process::ExitCode {
    doorway_check::main([Check::lock("peterson", 2, Peterson::new).mutex()])
}
