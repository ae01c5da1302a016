//! Dekker's algorithm, the first solution for two processes, as Dijkstra tells it in *Cooperating
//! Sequential Processes*, 1965.
//!
//! ```text
//! 1  flag[i] := true
//! 2  while flag[j]
//! 3      if turn = j
//! 4          flag[i] := false
//! 5          wait until turn = i
//! 6          flag[i] := true
//!    critical section
//! 7  turn := j
//! 8  flag[i] := false
//! ```
//! Claimed for atomic registers. `turn` has two writers.
//!
//! Buhr, Dice and Hesselink (*Dekker's Mutual Exclusion Algorithm Made RW-Safe*, 2016) make it work
//! with safe registers: 5 also ends when `flag[j]` is down, and 7 writes `turn` only if it is `i`.
//! Their paper was not at hand; this is the reading of the mCRL2 examples.

use super::{BITS, Registers, names, needs};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Memory, Pid, Process, ReadWrite, Site, decl};
use std::convert::Infallible;

pub(crate) struct Dekker<M: Memory> {
    part: M::Part,
    flag: M::Row<bool>,
    turn: M::Var<Pid>,
    rw_safe: bool,
}

impl<M: Memory> Dekker<M> {
    pub(crate) fn new(site: &Site<'_, M>, registers: Registers) -> Self {
        Self {
            part: site.here(),
            flag: site.row("flag", 2, |i| decl(false).home(Pid::new(i)).needs(needs(registers.one_writer, &BITS))),
            turn: site.var("turn", decl(Pid::new(0)).needs(needs(registers.many_writers, &names(2)))),
            rw_safe: false,
        }
    }

    pub(crate) fn made_rw_safe(site: &Site<'_, M>, registers: Registers) -> Self {
        Self { rw_safe: true, ..Self::new(site, registers) }
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
                let may_try_again = || async {
                    let ours = p.at(51).read(&self.turn).await? == me;
                    Ok((ours || self.rw_safe && !p.at(52).read(&self.flag[j]).await?).then_some(()))
                };
                p.spin_until(may_try_again).await?;
                p.keep(6, &());
                p.at(6).write(&self.flag[i], true).await?;
            }
        }
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        let p = p.on(self.part);
        let i = p.pid().index();

        if !self.rw_safe || p.at(71).read(&self.turn).await? == p.pid() {
            p.keep(7, &());
            p.at(7).write(&self.turn, Pid::new(1 - i)).await?;
        }
        p.keep(8, &());
        p.at(8).write(&self.flag[i], false).await
    }
}
