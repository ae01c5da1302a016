//! Anderson and Moir's chain with faults.

use crate::sim::Part;
use crate::sim::{Sim, SimVar};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Mark, Pid, Process, Site};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    FourBeforeThree,
    SevenBeforeSix,
    NoThree,
    NoFour,
    FourAtMostZero,
    NoSeven,
    SevenIfAnother,
    TwoBelowZero,
    OneTooMany,
    OneTooFew,
    SevenNamesP0,
    OutermostFirst,
    LacksASlot,
    WaitsToLeave,
    ASlotTooMany,
}

struct Slot {
    part: Part,
    x: SimVar<i64>,
    q: SimVar<Pid>,
    fault: Fault,
}

impl Slot {
    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Infallible> {
        let p = p.on(self.part);
        let f = self.fault;
        let old = p.at(2).fetch_add(&self.x, -1).await?;
        if if f == Fault::TwoBelowZero { old < 0 } else { old == 0 } {
            let must_wait = |x: i64| if f == Fault::FourAtMostZero { x <= 0 } else { x < 0 };
            let mut wait = true;
            if f == Fault::FourBeforeThree {
                p.keep(4, &());
                wait = must_wait(p.at(4).read(&self.x).await?);
            }
            if f != Fault::NoThree {
                p.keep(3, &wait);
                p.at(3).write(&self.q, p.pid()).await?;
            }
            if !matches!(f, Fault::FourBeforeThree | Fault::NoFour) {
                p.keep(4, &());
                wait = must_wait(p.at(4).read(&self.x).await?);
            }
            if wait {
                p.keep(5, &());
                p.at(5).wait_until(&self.q, |q| q != p.pid()).await?;
            }
        }
        p.mark(Mark::Rests(6));
        Ok(())
    }

    async fn release(&self, p: &Process<Sim>) -> Result<(), Infallible> {
        let p = p.on(self.part);
        match self.fault {
            Fault::SevenBeforeSix => {
                p.at(7).write(&self.q, p.pid()).await?;
                p.keep(6, &());
                p.at(6).fetch_add(&self.x, 1).await?;
            }
            Fault::NoSeven => {
                p.at(6).fetch_add(&self.x, 1).await?;
            }
            _ => {
                p.at(6).fetch_add(&self.x, 1).await?;
                p.keep(7, &());
                if self.fault == Fault::SevenIfAnother {
                    if p.at(7).read(&self.q).await? == p.pid() {
                        return Ok(());
                    }
                    p.keep(7, &"another");
                }
                let name = if self.fault == Fault::SevenNamesP0 { Pid::new(0) } else { p.pid() };
                p.at(7).write(&self.q, name).await?;
                if self.fault == Fault::WaitsToLeave {
                    p.keep(7, &"wrote");
                    p.at(7).wait_until(&self.q, |q| q != p.pid()).await?;
                }
            }
        }
        Ok(())
    }
}

pub(super) struct Chain {
    part: Part,
    slots: Vec<Slot>,
    fault: Fault,
}

impl Chain {
    pub(super) fn new(site: &Site<'_, Sim>, n: usize, k: usize, fault: Fault) -> Self {
        let innermost = if fault == Fault::ASlotTooMany { k - 1 } else { k };
        let outermost = if fault == Fault::LacksASlot { n - 1 } else { n };
        let slot = |j: usize| {
            let at = site.part("slot", Some(j));
            let free = match fault {
                Fault::OneTooMany => j + 1,
                Fault::OneTooFew => j - 1,
                _ => j,
            };
            Slot { part: at.here(), x: at.var("X", free as i64), q: at.var("Q", Pid::new(0)), fault }
        };
        Self { part: site.here(), slots: (innermost..outermost).rev().map(slot).collect(), fault }
    }
}

impl KExclusion<Sim> for Chain {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        let here = p.on(self.part);
        for (at, slot) in self.slots.iter().enumerate() {
            here.keep(1, &at);
            here.part(&at);
            slot.acquire(p).await?;
            here.part_done();
        }
        Ok(())
    }

    async fn release(&self, p: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        let here = p.on(self.part);
        for i in 0..self.slots.len() {
            let at = if self.fault == Fault::OutermostFirst { i } else { self.slots.len() - 1 - i };
            here.keep(8, &at);
            here.part(&at);
            self.slots[at].release(p).await?;
            here.part_done();
        }
        Ok(())
    }
}
