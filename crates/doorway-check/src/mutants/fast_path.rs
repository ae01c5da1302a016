//! Anderson and Moir's fast path with faults: the ways to read Figure 4 without the instruction its footnote assumes.

use super::chain::{self, Chain};
use crate::sim::Part;
use crate::sim::{Sim, SimVar};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Mark, Process, Site};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    AsPrinted,
    NeverRestores,
    UndoesAtOnce,
    UndoesAtOnceSizedN,
    SlowTooSmall,
    PlaceFirst,
    Exact,
    /// The fault is in the slots of block and slow path.
    InSlots(chain::Fault),
}

pub(super) struct FastPath {
    part: Part,
    x: SimVar<i64>,
    /// `X` again, for the instruction that stops at zero.
    bounded: Option<SimVar<u64>>,
    block: Chain,
    slow: Chain,
    fault: Fault,
}

impl FastPath {
    pub(super) fn new(site: &Site<'_, Sim>, n: usize, k: usize, fault: Fault) -> Self {
        let slow_inputs = match fault {
            Fault::None | Fault::PlaceFirst | Fault::UndoesAtOnceSizedN | Fault::InSlots(_) => n,
            _ => n.saturating_sub(k),
        };
        let in_slots = if let Fault::InSlots(fault) = fault { fault } else { chain::Fault::None };
        Self {
            part: site.here(),
            x: site.var("X", k as i64),
            bounded: (fault == Fault::Exact).then(|| site.var("X bounded", k as u64)),
            block: Chain::new(&site.part("block", None), n.min(2 * k), k, in_slots),
            slow: Chain::new(&site.part("slow", None), slow_inputs, k, in_slots),
            fault,
        }
    }

    /// Statement 2: whether to go slow.
    async fn is_slow(&self, p: &Process<Sim>) -> Result<bool, Infallible> {
        let here = p.on(self.part);
        if let Some(x) = &self.bounded {
            return Ok(here.at(2).bounded_decrement(x).await? == 0);
        }
        let old = here.at(2).fetch_add(&self.x, -1).await?;
        let slow = if self.fault == Fault::AsPrinted { old == 0 } else { old <= 0 };
        if slow && matches!(self.fault, Fault::UndoesAtOnce | Fault::UndoesAtOnceSizedN) {
            here.keep(2, &"undo");
            here.at(2).fetch_add(&self.x, 1).await?;
        }
        Ok(slow)
    }

    fn slow_ones_return_a_place_too(&self) -> bool {
        matches!(self.fault, Fault::None | Fault::SlowTooSmall | Fault::PlaceFirst | Fault::InSlots(_))
    }

    /// Statement 9.
    async fn return_place(&self, p: &Process<Sim>, slow: bool) -> Result<(), Infallible> {
        let here = p.on(self.part);
        here.keep(9, &(slow && self.fault == Fault::PlaceFirst));
        here.mark(Mark::Rests(9));
        match &self.bounded {
            _ if slow && !self.slow_ones_return_a_place_too() => {}
            Some(x) => drop(here.at(9).fetch_add(x, 1).await?),
            None => drop(here.at(9).fetch_add(&self.x, 1).await?),
        }
        Ok(())
    }
}

impl KExclusion<Sim> for FastPath {
    type Held = bool;
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<bool, Failure<Infallible>> {
        let here = p.on(self.part);
        let slow = self.is_slow(p).await?;
        if slow {
            here.mark(Mark::Rests(4));
            here.keep(4, &());
            here.part(&());
            self.slow.acquire(p).await?;
            here.part_done();
        }
        here.mark(Mark::Rests(5));
        here.keep(5, &slow);
        here.part(&slow);
        self.block.acquire(p).await?;
        here.part_done();
        here.mark(Mark::Rests(6));
        Ok(slow)
    }

    async fn release(&self, p: &Process<Sim>, slow: bool) -> Result<(), Infallible> {
        let here = p.on(self.part);
        if self.fault == Fault::PlaceFirst {
            self.return_place(p, slow).await?;
        }
        here.part(&slow);
        self.block.release(p, ()).await?;
        here.part_done();
        if slow {
            here.mark(Mark::Rests(8));
            here.keep(8, &());
            here.part(&());
            self.slow.release(p, ()).await?;
            here.part_done();
        }
        if self.fault != Fault::PlaceFirst {
            self.return_place(p, slow).await?;
        }
        Ok(())
    }
}
