//! Peterson and Fischer's two-process mutex with faults.

use crate::sim::{Part, Sim, SimCell};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Mark, Pid, Process, Site, decl};
use doorway_core::mutex::peterson_fischer_77::Sign;
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    NoOne,
    LooksOnce,
    NoFour,
    NoFive,
    BothTheSame,
    WaitsForNobody,
    WaitsForItself,
    NoSeven,
    WaitsToLeave,
}

pub(super) struct TwoProcess {
    part: Part,
    q: Vec<SimCell<Sign>>,
    fault: Fault,
}

impl TwoProcess {
    pub(super) fn new(site: &Site<'_, Sim>, fault: Fault) -> Self {
        Self { part: site.here(), q: site.row("q", 2, |i| decl(Sign::Nil).home(Pid::new(i))), fault }
    }
}

impl KExclusion<Sim> for TwoProcess {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        let p = p.on(self.part);
        let (i, j) = (p.pid().index(), 1 - p.pid().index());
        let f = self.fault;
        let gives_way = |rival: Sign| rival.gives_way(if f == Fault::BothTheSame { 0 } else { i });

        let mut mine = Sign::F;
        if f != Fault::NoOne {
            mine = gives_way(p.at(1).read(&self.q[j]).await?);
            p.keep(2, &mine);
        }
        p.at(2).write(&self.q[i], mine).await?;
        if f != Fault::LooksOnce {
            p.keep(3, &mine);
            let rival = p.at(3).read(&self.q[j]).await?;
            if rival != Sign::Nil {
                mine = gives_way(rival);
                if f != Fault::NoFour {
                    p.keep(4, &mine);
                    p.at(4).write(&self.q[i], mine).await?;
                }
            }
        }
        if f == Fault::WaitsForItself {
            p.keep(5, &());
            p.at(5).wait_until(&self.q[i], |own| own == Sign::Nil).await?;
        } else if f != Fault::NoFive {
            p.keep(5, &mine);
            let nobody = f != Fault::WaitsForNobody;
            let clear = |rival| nobody && rival == Sign::Nil || rival != Sign::Nil && gives_way(rival) != mine;
            p.at(5).wait_until(&self.q[j], clear).await?;
        }
        p.mark(Mark::Rests(6));
        Ok(())
    }

    async fn release(&self, p: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        let p = p.on(self.part);
        let i = p.pid().index();
        match self.fault {
            Fault::NoSeven => return Ok(()),
            Fault::WaitsToLeave => {
                p.at(7).wait_until(&self.q[1 - i], |rival| rival == Sign::Nil).await?;
                p.keep(7, &"waited");
            }
            _ => {}
        }
        p.at(7).write(&self.q[i], Sign::Nil).await
    }
}
