//! Lamport's fast mutex with faults.

use crate::sim::{Part, Sim, SimCell, SimVar};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Here, Mark, Pid, Process, Site, decl};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    NoOne,
    ThreeBeforeTwo,
    NoThree,
    NoFour,
    NoFive,
    SevenBeforeSix,
    NoSeven,
    NoEight,
    NoNine,
    NoTen,
    NoThirteen,
    NoFourteen,
    StartsTaken,
    WaitsToLeave,
}

pub(super) struct FastMutex {
    part: Part,
    b: Vec<SimCell<bool>>,
    x: SimVar<Pid>,
    y: SimVar<Option<Pid>>,
    fault: Fault,
}

impl FastMutex {
    pub(super) fn new(site: &Site<'_, Sim>, n: usize, fault: Fault) -> Self {
        Self {
            part: site.here(),
            b: site.row("B", n, |i| decl(false).home(Pid::new(i))),
            x: site.var("x", Pid::new(0)),
            y: site.var("y", (fault == Fault::StartsTaken).then_some(Pid::new(0))),
            fault,
        }
    }

    async fn enters(&self, p: Here<'_, Sim>) -> Result<bool, Infallible> {
        let (me, f) = (p.pid(), self.fault);
        let i = me.index();
        if f != Fault::NoOne {
            p.keep(1, &());
            p.at(1).write(&self.b[i], true).await?;
        }
        let mut y = None;
        if f == Fault::ThreeBeforeTwo {
            p.keep(3, &());
            y = p.at(3).read(&self.y).await?;
        }
        p.keep(2, &y);
        p.at(2).write(&self.x, me).await?;
        if !matches!(f, Fault::ThreeBeforeTwo | Fault::NoThree) {
            p.keep(3, &());
            y = p.at(3).read(&self.y).await?;
        }
        if y.is_some() {
            if f != Fault::NoFour {
                p.keep(4, &());
                p.at(4).write(&self.b[i], false).await?;
            }
            p.keep(5, &());
            if f == Fault::NoFive {
                return Ok(true);
            }
            p.at(5).wait_until(&self.y, |y| y.is_none()).await?;
            return Ok(false);
        }
        let mut x = me;
        if f == Fault::SevenBeforeSix {
            p.keep(7, &());
            x = p.at(7).read(&self.x).await?;
        }
        p.keep(6, &x);
        p.at(6).write(&self.y, Some(me)).await?;
        if !matches!(f, Fault::SevenBeforeSix | Fault::NoSeven) {
            p.keep(7, &());
            x = p.at(7).read(&self.x).await?;
        }
        if x == me {
            return Ok(true);
        }
        if f != Fault::NoEight {
            p.keep(8, &());
            p.at(8).write(&self.b[i], false).await?;
        }
        for j in (0..self.b.len()).filter(|&j| j != i && f != Fault::NoNine) {
            p.keep(9, &j);
            p.at(9).wait_until(&self.b[j], |b| !b).await?;
        }
        p.keep(10, &());
        if f == Fault::NoTen || p.at(10).read(&self.y).await? == Some(me) {
            return Ok(true);
        }
        p.keep(11, &());
        p.at(11).wait_until(&self.y, |y| y.is_none()).await?;
        Ok(false)
    }
}

impl KExclusion<Sim> for FastMutex {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        let p = p.on(self.part);
        while !self.enters(p).await? {}
        p.mark(Mark::Rests(12));
        Ok(())
    }

    async fn release(&self, p: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        let p = p.on(self.part);
        let (i, f) = (p.pid().index(), self.fault);
        if f == Fault::WaitsToLeave {
            p.at(13).wait_until(&self.b[(i + 1) % self.b.len()], |b| !b).await?;
            p.keep(13, &"waited");
        }
        if f != Fault::NoThirteen {
            p.at(13).write(&self.y, None).await?;
            p.keep(14, &());
        }
        if f != Fault::NoFourteen {
            p.at(14).write(&self.b[i], false).await?;
        }
        Ok(())
    }
}
