//! Anderson and Moir's Figure 2, one slot, with faults.

use crate::sim::{Part, Sim, SimVar};
use doorway_core::Failure;
use doorway_core::k_exclusion::anderson_moir_94::Slot;
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
    WaitsToLeave,
}

pub(super) struct CcSlot {
    part: Part,
    x: SimVar<i64>,
    q: SimVar<Pid>,
    fault: Fault,
}

impl CcSlot {
    pub(super) fn new(site: &Site<'_, Sim>, j: usize, fault: Fault) -> Self {
        let free = match fault {
            Fault::OneTooMany => j + 1,
            Fault::OneTooFew => j - 1,
            _ => j,
        };
        Self { part: site.here(), x: site.var("X", free as i64), q: site.var("Q", Pid::new(0)), fault }
    }
}

impl Slot<Sim> for CcSlot {
    type Refusal = Infallible;

    fn part(&self) -> Part {
        self.part
    }

    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
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
