//! The slots that compositions are made of, with the fault they have.

use super::{cc_slot, dsm_slot};
use crate::sim::{Part, Sim};
use doorway_core::Failure;
use doorway_core::k_exclusion::anderson_moir_94::{Slot, Stage};
use doorway_core::memory::{Process, Site};
use std::convert::Infallible;

/// Which slots, with which fault.
#[derive(Clone, Copy, Debug)]
pub(super) enum Slots {
    Cc(cc_slot::Fault),
    Dsm(dsm_slot::Fault),
}

impl Slots {
    pub(super) fn build(self, site: &Site<'_, Sim>, stage: &Stage, j: usize) -> AnySlot {
        match self {
            Self::Cc(fault) => AnySlot::Cc(cc_slot::CcSlot::new(site, j, fault)),
            Self::Dsm(fault) => AnySlot::Dsm(Box::new(dsm_slot::DsmSlot::new(site, stage, j, fault))),
        }
    }
}

/// A slot that turns nobody away. Figure 5's may, so it is none of these, and only chains are made of it.
pub(super) enum AnySlot {
    Cc(cc_slot::CcSlot),
    Dsm(Box<dsm_slot::DsmSlot>),
}

impl Slot<Sim> for AnySlot {
    type Refusal = Infallible;

    fn part(&self) -> Part {
        match self {
            Self::Cc(slot) => slot.part(),
            Self::Dsm(slot) => slot.part(),
        }
    }

    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        match self {
            Self::Cc(slot) => slot.acquire(p).await,
            Self::Dsm(slot) => slot.acquire(p).await,
        }
    }

    async fn release(&self, p: &Process<Sim>) -> Result<(), Infallible> {
        match self {
            Self::Cc(slot) => slot.release(p).await,
            Self::Dsm(slot) => slot.release(p).await,
        }
    }
}
