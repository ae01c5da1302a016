//! Burns and Lynch's algorithm with one bit.

use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Here, Memory, Pid, Process, ReadWrite, Site, decl};
use std::convert::Infallible;

pub(crate) struct BurnsLynch<M: Memory> {
    part: M::Part,
    n: usize,
    flag: M::Row<bool>,
}

impl<M: Memory> BurnsLynch<M> {
    pub(crate) fn new(site: &Site<'_, M>, n: usize) -> Self {
        let bit = |i| decl(false).home(Pid::new(i));
        Self { part: site.here(), n, flag: site.row("flag", n, bit) }
    }
}

impl<M: ReadWrite> BurnsLynch<M> {
    /// Statement 4: whether some flag with a smaller name is up.
    async fn must_give_way(&self, p: Here<'_, M>) -> Result<bool, M::Error> {
        for j in 0..p.pid().index() {
            p.keep(4, &j);
            if p.at(4).read(&self.flag[j]).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl<M: ReadWrite> KExclusion<M> for BurnsLynch<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let p = p.on(self.part);
        let i = p.pid().index();

        loop {
            p.keep(1, &());
            p.at(1).write(&self.flag[i], false).await?;
            for j in 0..i {
                p.keep(2, &j);
                p.at(2).wait_until(&self.flag[j], |up| !up).await?;
            }
            p.keep(3, &());
            p.at(3).write(&self.flag[i], true).await?;
            if !self.must_give_way(p).await? {
                break;
            }
        }
        for j in i + 1..self.n {
            p.keep(5, &j);
            p.at(5).wait_until(&self.flag[j], |up| !up).await?;
        }
        Ok(())
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        p.on(self.part).at(6).write(&self.flag[p.pid().index()], false).await
    }
}
