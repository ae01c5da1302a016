//! Peterson, *Myths about the Mutual Exclusion Problem*, 1981: two processes.
//!
//! ```text
//! 1  Q[i] := true
//! 2  turn := i
//! 3  wait until not Q[j] or turn = j
//!    critical section
//! 4  Q[i] := false
//! ```
//! Claimed for atomic registers. `turn` has two writers.

use super::{BITS, Registers, names, needs};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Memory, Pid, Process, ReadWrite, Site, decl};
use std::convert::Infallible;

pub(crate) struct Peterson<M: Memory> {
    part: M::Part,
    q: M::Row<bool>,
    turn: M::Var<Pid>,
    turn_first: bool,
}

impl<M: Memory> Peterson<M> {
    pub(crate) fn new(site: &Site<'_, M>, registers: Registers) -> Self {
        Self {
            part: site.here(),
            q: site.row("Q", 2, |i| decl(false).home(Pid::new(i)).needs(needs(registers.one_writer, &BITS))),
            turn: site.var("turn", decl(Pid::new(0)).needs(needs(registers.many_writers, &names(2)))),
            turn_first: false,
        }
    }

    /// With statements 1 and 2 the other way round, the well-known mistake.
    pub(crate) fn with_turn_first(site: &Site<'_, M>, registers: Registers) -> Self {
        Self { turn_first: true, ..Self::new(site, registers) }
    }
}

impl<M: ReadWrite> KExclusion<M> for Peterson<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let p = p.on(self.part);
        let me = p.pid();
        let (i, j) = (me.index(), 1 - me.index());

        if self.turn_first {
            p.at(2).write(&self.turn, me).await?;
            p.keep(1, &());
            p.at(1).write(&self.q[i], true).await?;
        } else {
            p.at(1).write(&self.q[i], true).await?;
            p.keep(2, &());
            p.at(2).write(&self.turn, me).await?;
        }
        p.keep(3, &());
        let may_pass = || async {
            let passes = !p.at(31).read(&self.q[j]).await? || p.at(32).read(&self.turn).await? != me;
            Ok(passes.then_some(()))
        };
        Ok(p.spin_until(may_pass).await?)
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        p.on(self.part).at(4).write(&self.q[p.pid().index()], false).await
    }
}
