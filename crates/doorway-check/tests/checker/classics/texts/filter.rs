//! Peterson, *Myths about the Mutual Exclusion Problem*, 1981: any number of processes, the filter.
//!
//! ```text
//! 1  for l := 1 to n - 1:
//! 2      level[i] := l
//! 3      last[l] := i
//! 4      wait until last[l] ≠ i, or level[j] < l for all j ≠ i
//!    critical section
//! 5  level[i] := 0
//! ```
//! Claimed for atomic registers. Each `last[l]` has several writers.

use super::{Registers, names, needs, others};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Memory, Pid, Process, ReadWrite, Site, decl};
use std::convert::Infallible;

pub(crate) struct Filter<M: Memory> {
    part: M::Part,
    n: usize,
    level: M::Row<u64>,
    last: M::Row<Pid>,
}

impl<M: Memory> Filter<M> {
    pub(crate) fn new(site: &Site<'_, M>, n: usize, registers: Registers) -> Self {
        let (levels, names): (Vec<u64>, _) = ((0..n as u64).collect(), names(n));
        let level = |i| decl(0).home(Pid::new(i)).needs(needs(registers.one_writer, &levels));
        let last = |_| decl(Pid::new(0)).needs(needs(registers.many_writers, &names));
        Self { part: site.here(), n, level: site.row("level", n, level), last: site.row("last", n, last) }
    }
}

impl<M: ReadWrite> KExclusion<M> for Filter<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let p = p.on(self.part);
        let me = p.pid();
        for l in 1..self.n {
            p.keep(2, &l);
            p.at(2).write(&self.level[me.index()], l as u64).await?;
            p.keep(3, &l);
            p.at(3).write(&self.last[l], me).await?;
            p.keep(4, &l);
            let may_pass = || async move {
                if p.at(41).read(&self.last[l]).await? != me {
                    return Ok(Some(()));
                }
                for j in others(self.n, me.index()) {
                    if p.at(42).read(&self.level[j]).await? >= l as u64 {
                        return Ok(None);
                    }
                }
                Ok(Some(()))
            };
            p.spin_until(may_pass).await?;
        }
        Ok(())
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        p.on(self.part).at(5).write(&self.level[p.pid().index()], 0).await
    }
}
