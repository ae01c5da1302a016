//! Peterson's mutex between two sides with faults.

use crate::sim::{Part, Sim, SimCell, SimVar};
use doorway_core::memory::{Mark, Process, Site, decl};
use doorway_core::mutex::{Node, Side};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    TwoBeforeOne,
    NoOne,
    NoTwo,
    SignsForTheRival,
    NoThree,
    NoFour,
    NoWait,
    WaitsForItself,
    NoSix,
    WaitsToLeave,
}

pub(super) struct TwoSides {
    part: Part,
    q: Vec<SimCell<bool>>,
    turn: SimVar<Side>,
    fault: Fault,
}

impl TwoSides {
    pub(super) fn new(site: &Site<'_, Sim>, fault: Fault) -> Self {
        Self { part: site.here(), q: site.row("q", 2, |_| decl(false)), turn: site.var("turn", Side::Left), fault }
    }
}

impl Node<Sim> for TwoSides {
    async fn enter(&self, p: &Process<Sim>, side: Side) -> Result<(), Infallible> {
        let p = p.on(self.part);
        let f = self.fault;
        let (mine, mut rivals) = (&self.q[side.index()], &self.q[side.other().index()]);
        let signs = if f == Fault::SignsForTheRival { side.other() } else { side };

        if f == Fault::TwoBeforeOne {
            p.at(2).write(&self.turn, signs).await?;
            p.keep(1, &());
        }
        if f != Fault::NoOne {
            p.at(1).write(mine, true).await?;
        }
        if !matches!(f, Fault::NoTwo | Fault::TwoBeforeOne) {
            p.keep(2, &());
            p.at(2).write(&self.turn, signs).await?;
        }
        if f == Fault::WaitsForItself {
            rivals = mine;
        }
        let (looks_at_q, looks_at_turn) = (f != Fault::NoThree, !matches!(f, Fault::NoFour | Fault::WaitsForItself));
        p.keep(3, &());
        let may_pass = || async {
            let passes =
                looks_at_q && !p.at(3).read(rivals).await? || looks_at_turn && p.at(4).read(&self.turn).await? != side;
            Ok(passes.then_some(()))
        };
        if f != Fault::NoWait {
            p.spin_until(may_pass).await?;
        }
        p.mark(Mark::Rests(5));
        Ok(())
    }

    async fn leave(&self, p: &Process<Sim>, side: Side) -> Result<(), Infallible> {
        let p = p.on(self.part);
        match self.fault {
            Fault::NoSix => return Ok(()),
            Fault::WaitsToLeave => {
                p.at(6).wait_until(&self.q[side.other().index()], |rival| !rival).await?;
                p.keep(6, &"waited");
            }
            _ => {}
        }
        p.at(6).write(&self.q[side.index()], false).await
    }
}
