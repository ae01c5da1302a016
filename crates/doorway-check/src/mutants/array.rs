//! T. Anderson's queue lock in an array, with faults.

use crate::sim::{Part, Sim, SimCell, SimVar};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Mark, Process, Site, decl};
use doorway_core::mutex::anderson_90::slots;
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    ReadsThenAdds,
    RingTooSmall,
    LeavesItsSlotSet,
    StartsWithTwo,
    StartsWithNone,
    SkipsOne,
    KeepsTheLock,
    WaitsToLeave,
}

pub(super) struct ArrayLock {
    part: Part,
    slots: usize,
    next: SimVar<u64>,
    slot: Vec<SimCell<bool>>,
    fault: Fault,
}

impl ArrayLock {
    pub(super) fn new(site: &Site<'_, Sim>, n: usize, fault: Fault) -> Self {
        // Those of the ring that are not used stay, so that properties find them.
        let all = slots(n);
        let slots = if fault == Fault::RingTooSmall { all / 2 } else { all };
        let full = match fault {
            Fault::StartsWithNone => 0,
            Fault::StartsWithTwo => 2,
            _ => 1,
        };
        Self {
            part: site.here(),
            slots,
            next: site.var("Next", decl(0).wraps_at(slots.trailing_zeros())),
            slot: site.row("Slot", all, |i| decl(i < full)),
            fault,
        }
    }
}

impl KExclusion<Sim> for ArrayLock {
    type Held = usize;
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<usize, Failure<Infallible>> {
        let p = p.on(self.part);
        let mine = if self.fault == Fault::ReadsThenAdds {
            let mine = p.at(1).read(&self.next).await?;
            p.keep(1, &mine);
            p.at(1).write(&self.next, (mine + 1) % self.slots as u64).await?;
            mine
        } else {
            p.at(1).fetch_add(&self.next, 1).await?
        } as usize;
        p.mark(Mark::DoorwayEnds);
        p.holds("slot", mine as u64);
        p.keep(2, &mine);
        p.at(2).wait_until(&self.slot[mine], |here| here).await?;
        if self.fault != Fault::LeavesItsSlotSet {
            p.keep(3, &mine);
            p.at(3).write(&self.slot[mine], false).await?;
        }
        p.mark(Mark::Rests(4));
        Ok(mine)
    }

    async fn release(&self, p: &Process<Sim>, mine: usize) -> Result<(), Infallible> {
        let p = p.on(self.part);
        let by = match self.fault {
            Fault::SkipsOne => 2,
            Fault::KeepsTheLock => return p.at(5).write(&self.slot[(mine + 1) % self.slots], false).await,
            Fault::WaitsToLeave => {
                p.at(5).wait_until(&self.next, |next| next as usize == (mine + 1) % self.slots).await?;
                p.keep(5, &("waited", mine));
                1
            }
            _ => 1,
        };
        p.at(5).write(&self.slot[(mine + by) % self.slots], true).await
    }
}
