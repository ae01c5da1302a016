//! The Bakery with faults.

use crate::sim::Part;
use crate::sim::{Sim, SimCell};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Mark, Process, Site, decl};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    NoWaitAt7,
    NoDoorway,
    ClosesEarly,
    TiesEnter,
    TiesWait,
    DrawsMax,
    KeepsTicket,
    WaitsForItself,
    WaitsToLeave,
}

pub(super) struct Bakery {
    part: Part,
    doorway: Vec<SimCell<bool>>,
    ticket: Vec<SimCell<u64>>,
    fault: Fault,
}

impl Bakery {
    pub(super) fn new(site: &Site<'_, Sim>, n: usize, fault: Fault) -> Self {
        Self {
            part: site.here(),
            doorway: site.row("Doorway", n, |_| decl(false)),
            ticket: site.row("Ticket", n, |_| decl(0)),
            fault,
        }
    }

    fn others(&self, me: usize) -> impl Iterator<Item = usize> {
        (0..self.ticket.len()).filter(move |&i| i != me)
    }
}

impl KExclusion<Sim> for Bakery {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        let p = p.on(self.part);
        let me = p.pid().index();
        if self.fault != Fault::NoDoorway {
            p.at(3).write(&self.doorway[me], true).await?;
        }
        let mut max = 0;
        for i in self.others(me) {
            p.keep(41, &(i, max));
            max = max.max(p.at(41).read(&self.ticket[i]).await?);
        }
        let mine = if self.fault == Fault::DrawsMax { max } else { max + 1 };
        if self.fault == Fault::ClosesEarly {
            p.keep(5, &mine);
            p.at(5).write(&self.doorway[me], false).await?;
        }
        p.keep(42, &mine);
        p.at(42).write(&self.ticket[me], mine).await?;
        if !matches!(self.fault, Fault::ClosesEarly | Fault::NoDoorway) {
            p.keep(5, &mine);
            p.at(5).write(&self.doorway[me], false).await?;
        }
        p.mark(Mark::DoorwayEnds);
        for i in (0..self.ticket.len()).filter(|&i| i != me || self.fault == Fault::WaitsForItself) {
            if self.fault != Fault::NoWaitAt7 {
                p.keep(7, &(i, mine));
                p.at(7).wait_until(&self.doorway[i], |drawing| !drawing).await?;
            }
            p.keep(8, &(i, mine));
            let after_us = |t| match self.fault {
                Fault::TiesEnter => t >= mine,
                Fault::TiesWait => t > mine,
                Fault::WaitsForItself => (t, i) > (mine, me),
                _ => (t, i) >= (mine, me),
            };
            p.at(8).wait_until(&self.ticket[i], |t| t == 0 || after_us(t)).await?;
        }
        p.mark(Mark::Rests(9));
        Ok(())
    }

    async fn release(&self, p: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        if self.fault == Fault::KeepsTicket {
            return Ok(());
        }
        let me = p.pid().index();
        if self.fault == Fault::WaitsToLeave {
            p.on(self.part).at(10).wait_until(&self.ticket[(me + 1) % self.ticket.len()], |t| t == 0).await?;
            p.on(self.part).keep(10, &"waited");
        }
        p.on(self.part).at(10).write(&self.ticket[me], 0).await
    }
}
