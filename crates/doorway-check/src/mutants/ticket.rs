//! The ticket lock with faults.

use crate::sim::{Part, Sim, SimVar};
use doorway_core::Failure;
use doorway_core::k_exclusion::{AtOnce, KExclusion};
use doorway_core::memory::{Mark, Process, Site, decl, fit};
use doorway_core::mutex::mellor_crummey_scott_91::ticket_bits;
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    ReadsThenAdds,
    OneBitLess,
    WaitsForTheNext,
    NeverServes,
    ServesTwo,
    ServesTheSame,
    WaitsToLeave,
    AttemptEntersUnseen,
    AttemptDrawsWhatIsNext,
    AttemptKeepsItsTicket,
}

pub(super) struct TicketLock {
    part: Part,
    bits: u32,
    next: SimVar<u64>,
    serving: SimVar<u64>,
    fault: Fault,
}

impl TicketLock {
    pub(super) fn new(site: &Site<'_, Sim>, n: usize, fault: Fault) -> Self {
        let bits = ticket_bits(n) - u32::from(fault == Fault::OneBitLess);
        Self {
            part: site.here(),
            bits,
            next: site.var("Next", decl(0).wraps_at(bits)),
            serving: site.var("Serving", decl(0).wraps_at(bits)),
            fault,
        }
    }

    fn after(&self, ticket: u64, by: u64) -> u64 {
        fit::<u64>(ticket + by, self.bits)
    }
}

impl KExclusion<Sim> for TicketLock {
    type Held = u64;
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<u64, Failure<Infallible>> {
        let p = p.on(self.part);
        let mine = if self.fault == Fault::ReadsThenAdds {
            let mine = p.at(1).read(&self.next).await?;
            p.keep(1, &mine);
            p.at(1).write(&self.next, self.after(mine, 1)).await?;
            mine
        } else {
            p.at(1).fetch_add(&self.next, 1).await?
        };
        p.mark(Mark::DoorwayEnds);
        p.holds("ticket", mine);
        p.keep(2, &mine);
        let awaited = self.after(mine, u64::from(self.fault == Fault::WaitsForTheNext));
        p.at(2).wait_until(&self.serving, |turn| turn == awaited).await?;
        p.mark(Mark::Rests(3));
        Ok(mine)
    }

    async fn release(&self, p: &Process<Sim>, mine: u64) -> Result<(), Infallible> {
        let p = p.on(self.part);
        let by = match self.fault {
            Fault::NeverServes => return Ok(()),
            Fault::ServesTwo => 2,
            Fault::ServesTheSame => 0,
            Fault::WaitsToLeave => {
                p.at(4).wait_until(&self.next, |next| next == self.after(mine, 1)).await?;
                p.keep(4, &("waited", mine));
                1
            }
            _ => 1,
        };
        p.at(4).write(&self.serving, self.after(mine, by)).await
    }
}

impl AtOnce<Sim> for TicketLock {
    async fn acquire_at_once(&self, p: &Process<Sim>) -> Result<Option<u64>, Failure<Infallible>> {
        let p = p.on(self.part);
        let f = self.fault;
        let turn = match f {
            Fault::AttemptDrawsWhatIsNext => p.at(5).read(&self.next).await?,
            _ => p.at(5).read(&self.serving).await?,
        };
        p.keep(6, &turn);
        let drawn = match f {
            Fault::AttemptKeepsItsTicket => {
                let drawn = p.at(6).fetch_add(&self.next, 1).await?;
                if drawn == turn { Ok(drawn) } else { Err(drawn) }
            }
            _ => p.at(6).compare_swap(&self.next, turn, self.after(turn, 1)).await?,
        };
        if drawn.is_err() {
            return Ok(None);
        }
        p.mark(Mark::DoorwayEnds);
        p.holds("ticket", turn);
        if !matches!(f, Fault::AttemptEntersUnseen | Fault::AttemptDrawsWhatIsNext) {
            p.keep(2, &turn);
            p.at(2).wait_until(&self.serving, |now| now == turn).await?;
        }
        p.mark(Mark::Rests(3));
        Ok(Some(turn))
    }
}
