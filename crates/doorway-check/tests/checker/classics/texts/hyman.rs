//! Hyman, *Comments on a Problem in Concurrent Programming Control*, 1966: two processes, printed
//! as a simplification, and wrong.
//!
//! ```text
//! 1  b[i] := true
//! 2  while k = j
//! 3      wait until not b[j]
//! 4      k := i
//!    critical section
//! 5  b[i] := false
//! ```
//! Claimed for atomic registers; Knuth refuted it in the same year. (In print a raised `b` is
//! *false*.)

use super::{BITS, Registers, names, needs};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Memory, Pid, Process, ReadWrite, Site, decl};
use std::convert::Infallible;

pub(crate) struct Hyman<M: Memory> {
    part: M::Part,
    b: M::Row<bool>,
    k: M::Var<Pid>,
}

impl<M: Memory> Hyman<M> {
    pub(crate) fn new(site: &Site<'_, M>, registers: Registers) -> Self {
        Self {
            part: site.here(),
            b: site.row("b", 2, |i| decl(false).home(Pid::new(i)).needs(needs(registers.one_writer, &BITS))),
            k: site.var("k", decl(Pid::new(0)).needs(needs(registers.many_writers, &names(2)))),
        }
    }
}

impl<M: ReadWrite> KExclusion<M> for Hyman<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let p = p.on(self.part);
        let me = p.pid();
        let (i, j) = (me.index(), 1 - me.index());

        p.at(1).write(&self.b[i], true).await?;
        loop {
            p.keep(2, &());
            if p.at(2).read(&self.k).await? == me {
                return Ok(());
            }
            p.keep(3, &());
            p.at(3).wait_until(&self.b[j], |competes| !competes).await?;
            p.keep(4, &());
            p.at(4).write(&self.k, me).await?;
        }
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        p.on(self.part).at(5).write(&self.b[p.pid().index()], false).await
    }
}
