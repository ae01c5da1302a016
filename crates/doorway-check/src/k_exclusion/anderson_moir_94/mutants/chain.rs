//! Anderson and Moir's chain with faults, of any slots.

use crate::sim::{Part, Sim};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::k_exclusion::anderson_moir_94::Slot;
use doorway_core::memory::{Process, Site};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    None,
    OutermostFirst,
}

pub(super) struct Chain<S> {
    part: Part,
    slots: Vec<S>,
    fault: Fault,
}

impl<S: Slot<Sim>> Chain<S> {
    pub(super) fn of(
        site: &Site<'_, Sim>,
        n: usize,
        k: usize,
        fault: Fault,
        slot: impl Fn(&Site<'_, Sim>, usize) -> S,
    ) -> Self {
        let slots = (k..n).rev().map(|j| slot(&site.part("slot", Some(j)), j)).collect();
        Self { part: site.here(), slots, fault }
    }

    /// Gives back this many of the first slots, the last one first.
    async fn release_slots(&self, p: &Process<Sim>, slots: usize) -> Result<(), Infallible> {
        let here = p.on(self.part);
        for i in 0..slots {
            let at = if self.fault == Fault::OutermostFirst { i } else { slots - 1 - i };
            let slot = &self.slots[at];
            here.keep(8, &slot.part());
            here.part(&slot.part());
            slot.release(p).await?;
            here.part_done();
        }
        Ok(())
    }
}

impl<S: Slot<Sim>> KExclusion<Sim> for Chain<S> {
    type Held = ();
    type Refusal = S::Refusal;

    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible, S::Refusal>> {
        let here = p.on(self.part);
        for (i, slot) in self.slots.iter().enumerate() {
            here.keep(1, &slot.part());
            here.part(&slot.part());
            let acquired = slot.acquire(p).await;
            here.part_done();
            if let Err(Failure::Refused(why)) = acquired {
                self.release_slots(p, i).await?;
                return Err(Failure::Refused(why));
            }
            acquired?;
        }
        Ok(())
    }

    async fn release(&self, p: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        self.release_slots(p, self.slots.len()).await
    }
}
