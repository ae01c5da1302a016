//! Dijkstra, *Solution of a Problem in Concurrent Programming Control*, 1965: the first solution
//! for n processes.
//!
//! ```text
//! 1  b[i] := true
//! 2  if k /= i
//! 3      c[i] := false
//! 4      if not b[k] then k := i; go to 2
//!    otherwise
//! 5      c[i] := true; for each other j, if c[j] go to 2
//!    critical section
//! 6  c[i] := false
//! 7  b[i] := false
//! ```
//! Claimed for atomic registers. (In print a raised `b` or `c` is *false*.) `k` has n writers.

use super::{BITS, Registers, names, needs, others};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Here, Memory, Pid, Process, ReadWrite, Site, decl};
use std::convert::Infallible;

pub(crate) struct Dijkstra<M: Memory> {
    part: M::Part,
    n: usize,
    b: M::Row<bool>,
    c: M::Row<bool>,
    k: M::Var<Pid>,
}

impl<M: Memory> Dijkstra<M> {
    pub(crate) fn new(site: &Site<'_, M>, n: usize, registers: Registers) -> Self {
        let bit = |i| decl(false).home(Pid::new(i)).needs(needs(registers.one_writer, &BITS));
        Self {
            part: site.here(),
            n,
            b: site.row("b", n, bit),
            c: site.row("c", n, bit),
            k: site.var("k", decl(Pid::new(0)).needs(needs(registers.many_writers, &names(n)))),
        }
    }
}

impl<M: ReadWrite> Dijkstra<M> {
    /// Statement 5: whether no other `c` is up, after raising our own.
    async fn is_alone(&self, p: Here<'_, M>) -> Result<bool, M::Error> {
        let i = p.pid().index();
        p.keep(51, &());
        p.at(51).write(&self.c[i], true).await?;
        for j in others(self.n, i) {
            p.keep(52, &j);
            if p.at(52).read(&self.c[j]).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl<M: ReadWrite> KExclusion<M> for Dijkstra<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let p = p.on(self.part);
        let me = p.pid();

        p.at(1).write(&self.b[me.index()], true).await?;
        loop {
            p.keep(2, &());
            if p.at(2).read(&self.k).await? == me {
                if self.is_alone(p).await? {
                    return Ok(());
                }
            } else {
                p.keep(3, &());
                p.at(3).write(&self.c[me.index()], false).await?;
                p.keep(41, &());
                let k = p.at(41).read(&self.k).await?;
                p.keep(42, &k);
                if !p.at(42).read(&self.b[k.index()]).await? {
                    p.keep(43, &());
                    p.at(43).write(&self.k, me).await?;
                }
            }
        }
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        let p = p.on(self.part);
        let i = p.pid().index();

        p.at(6).write(&self.c[i], false).await?;
        p.keep(7, &());
        p.at(7).write(&self.b[i], false).await
    }
}
