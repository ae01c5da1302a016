//! Kessels' mutex between two sides with faults.

use crate::sim::{Part, Sim, SimCell};
use doorway_core::memory::{Mark, Process, Site, decl};
use doorway_core::mutex::{Node, Side};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    LooksBeforeOne,
    SignsBeforeOne,
    NoOne,
    NoTwo,
    NoThree,
    BothTheSame,
    NoFour,
    NoFive,
    NoWait,
    WaitsForItself,
    NoSeven,
    WaitsToLeave,
}

pub(super) struct TwoSides {
    part: Part,
    q: Vec<SimCell<bool>>,
    r: Vec<SimCell<bool>>,
    fault: Fault,
}

impl TwoSides {
    pub(super) fn new(site: &Site<'_, Sim>, fault: Fault) -> Self {
        Self { part: site.here(), q: site.row("q", 2, |_| decl(false)), r: site.row("r", 2, |_| decl(false)), fault }
    }
}

impl Node<Sim> for TwoSides {
    async fn enter(&self, p: &Process<Sim>, side: Side) -> Result<(), Infallible> {
        let p = p.on(self.part);
        let f = self.fault;
        let (i, j) = (side.index(), side.other().index());
        let signs = |other: bool| other == (side == Side::Left || f == Fault::BothTheSame);

        let mut mine = signs(false);
        if matches!(f, Fault::LooksBeforeOne | Fault::SignsBeforeOne) {
            mine = signs(p.at(2).read(&self.r[j]).await?);
            p.keep(if f == Fault::SignsBeforeOne { 3 } else { 1 }, &mine);
        }
        if f == Fault::SignsBeforeOne {
            p.at(3).write(&self.r[i], mine).await?;
            p.keep(1, &mine);
        }
        if f != Fault::NoOne {
            p.at(1).write(&self.q[i], true).await?;
        }
        if !matches!(f, Fault::NoTwo | Fault::LooksBeforeOne | Fault::SignsBeforeOne) {
            p.keep(2, &());
            mine = signs(p.at(2).read(&self.r[j]).await?);
        }
        if !matches!(f, Fault::NoThree | Fault::SignsBeforeOne) {
            p.keep(3, &mine);
            p.at(3).write(&self.r[i], mine).await?;
        }
        let rivals = &self.q[if f == Fault::WaitsForItself { i } else { j }];
        let (looks_at_q, looks_at_r) = (f != Fault::NoFour, !matches!(f, Fault::NoFive | Fault::WaitsForItself));
        p.keep(4, &mine);
        let may_pass = || async {
            let passes = looks_at_q && !p.at(4).read(rivals).await?
                || looks_at_r && signs(p.at(5).read(&self.r[j]).await?) != mine;
            Ok(passes.then_some(()))
        };
        if f != Fault::NoWait {
            p.spin_until(may_pass).await?;
        }
        p.mark(Mark::Rests(6));
        Ok(())
    }

    async fn leave(&self, p: &Process<Sim>, side: Side) -> Result<(), Infallible> {
        let p = p.on(self.part);
        match self.fault {
            Fault::NoSeven => return Ok(()),
            Fault::WaitsToLeave => {
                p.at(7).wait_until(&self.q[side.other().index()], |rival| !rival).await?;
                p.keep(7, &"waited");
            }
            _ => {}
        }
        p.at(7).write(&self.q[side.index()], false).await
    }
}
