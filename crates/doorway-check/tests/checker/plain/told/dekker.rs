//! Dekker's algorithm.

use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Memory, Pid, Process, ReadWrite, Site, decl};
use std::convert::Infallible;

pub(crate) struct Dekker<M: Memory> {
    part: M::Part,
    flag: M::Row<bool>,
    turn: M::Var<Pid>,
}

impl<M: Memory> Dekker<M> {
    pub(crate) fn new(site: &Site<'_, M>) -> Self {
        Self {
            part: site.here(),
            flag: site.row("flag", 2, |i| decl(false).home(Pid::new(i))),
            turn: site.var("turn", Pid::new(0)),
        }
    }
}

impl<M: ReadWrite> KExclusion<M> for Dekker<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let p = p.on(self.part);
        let me = p.pid();
        let (i, j) = (me.index(), 1 - me.index());

        p.at(1).write(&self.flag[i], true).await?;
        loop {
            p.keep(2, &());
            if !p.at(2).read(&self.flag[j]).await? {
                return Ok(());
            }
            p.keep(3, &());
            if p.at(3).read(&self.turn).await? != me {
                p.keep(4, &());
                p.at(4).write(&self.flag[i], false).await?;
                p.keep(5, &());
                p.at(5).wait_until(&self.turn, |turn| turn == me).await?;
                p.keep(6, &());
                p.at(6).write(&self.flag[i], true).await?;
            }
        }
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        let p = p.on(self.part);
        let i = p.pid().index();

        p.at(7).write(&self.turn, Pid::new(1 - i)).await?;
        p.keep(8, &());
        p.at(8).write(&self.flag[i], false).await
    }
}
