//! Knuth's algorithm.

use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Here, Memory, Pid, Process, ReadWrite, Site, decl};
use std::convert::Infallible;

pub(crate) struct Knuth<M: Memory> {
    part: M::Part,
    n: usize,
    control: M::Row<u64>,
    k: M::Var<Pid>,
}

impl<M: Memory> Knuth<M> {
    pub(crate) fn new(site: &Site<'_, M>, n: usize) -> Self {
        let control = |i| decl(0).home(Pid::new(i));
        Self { part: site.here(), n, control: site.row("control", n, control), k: site.var("k", Pid::new(0)) }
    }
}

impl<M: ReadWrite> Knuth<M> {
    /// One turn of statement 2: whether no process from `k` around to us competes.
    async fn is_next(&self, p: Here<'_, M>) -> Result<bool, M::Error> {
        let i = p.pid().index();
        let k = p.at(21).read(&self.k).await?.index();
        for j in (0..=k).rev().chain((0..self.n).rev()) {
            if j == i {
                break;
            }
            if p.at(22).read(&self.control[j]).await? != 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Statement 4: whether another process got to 3 as well.
    async fn has_a_rival(&self, p: Here<'_, M>) -> Result<bool, M::Error> {
        let i = p.pid().index();
        for j in (0..self.n).rev().filter(|&j| j != i) {
            p.keep(4, &j);
            if p.at(4).read(&self.control[j]).await? == 2 {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl<M: ReadWrite> KExclusion<M> for Knuth<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let p = p.on(self.part);
        let i = p.pid().index();

        loop {
            p.keep(1, &());
            p.at(1).write(&self.control[i], 1).await?;
            p.keep(2, &());
            p.spin_until(|| async { Ok(self.is_next(p).await?.then_some(())) }).await?;
            p.keep(3, &());
            p.at(3).write(&self.control[i], 2).await?;
            if !self.has_a_rival(p).await? {
                break;
            }
        }
        p.keep(5, &());
        p.at(5).write(&self.k, p.pid()).await?;
        Ok(())
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        let p = p.on(self.part);
        let i = p.pid().index();

        p.at(6).write(&self.k, Pid::new((i + self.n - 1) % self.n)).await?;
        p.keep(7, &());
        p.at(7).write(&self.control[i], 0).await
    }
}
