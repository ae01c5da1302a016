//! Kessels, *Arbitration without Common Modifiable Variables*, 1982: Peterson's algorithm with one
//! writer for each variable.
//!
//! ```text
//! 1  q[i] := true
//! 2  r[i] := r[j] for process 0, not r[j] for process 1
//! 3  wait until not q[j], or r[0] /= r[1] for process 0, r[0] = r[1] for process 1
//!    critical section
//! 4  q[i] := false
//! ```
//! The two bits `r` stand for Peterson's `turn`: if they are equal, process 0 came last. Claimed
//! for atomic registers, as far as we know.

use super::{BITS, Registers, needs};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Memory, Pid, Process, ReadWrite, Site, decl};
use std::convert::Infallible;

pub(crate) struct Kessels<M: Memory> {
    part: M::Part,
    q: M::Row<bool>,
    r: M::Row<bool>,
}

impl<M: Memory> Kessels<M> {
    pub(crate) fn new(site: &Site<'_, M>, registers: Registers) -> Self {
        let bit = |i| decl(false).home(Pid::new(i)).needs(needs(registers.one_writer, &BITS));
        Self { part: site.here(), q: site.row("q", 2, bit), r: site.row("r", 2, bit) }
    }
}

impl<M: ReadWrite> KExclusion<M> for Kessels<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let p = p.on(self.part);
        let (i, j) = (p.pid().index(), 1 - p.pid().index());
        // The value of r[i] while process i is the one that came last.
        let came_last = |rival: bool| rival != (i == 1);

        p.at(1).write(&self.q[i], true).await?;
        p.keep(21, &());
        let mine = came_last(p.at(21).read(&self.r[j]).await?);
        p.keep(22, &mine);
        p.at(22).write(&self.r[i], mine).await?;
        p.keep(3, &mine);
        let may_pass = || async {
            let passes = !p.at(31).read(&self.q[j]).await? || mine != came_last(p.at(32).read(&self.r[j]).await?);
            Ok(passes.then_some(()))
        };
        Ok(p.spin_until(may_pass).await?)
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        p.on(self.part).at(4).write(&self.q[p.pid().index()], false).await
    }
}
