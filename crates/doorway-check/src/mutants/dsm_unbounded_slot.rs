//! Anderson and Moir's Figure 5, one slot, with faults.

use crate::sim::{Part, Sim, SimCell, SimTable, SimVar};
use doorway_core::Failure;
use doorway_core::k_exclusion::anderson_moir_94::{Loc, LocationsExhausted, Slot, Stage};
use doorway_core::memory::{Mark, Memory, Pid, Process, Site, decl};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    OneTooMany,
    OneTooFew,
    NoThree,
    NoFour,
    NoSix,
    SevenWrites,
    EightBeforeSeven,
    NoEight,
    ElevenBeforeTen,
    NoTwelve,
    TwelveWritesFalse,
    WaitsToLeave,
}

pub(super) struct DsmUnboundedSlot {
    part: Part,
    x: SimVar<i64>,
    q: SimVar<Loc>,
    p: SimTable<bool>,
    next: Vec<SimCell<u64>>,
    first: usize,
    fault: Fault,
}

impl DsmUnboundedSlot {
    pub(super) fn new(site: &Site<'_, Sim>, stage: &Stage, j: usize, fault: Fault) -> Self {
        let members = stage.members.clone();
        let first = members.start;
        let free = match fault {
            Fault::OneTooMany => j + 1,
            Fault::OneTooFew => j - 1,
            _ => j,
        };
        // Without 4 the first value matters, which is arbitrary.
        let spin = if fault == Fault::NoFour { decl(true) } else { decl(false).only_while_watched() };
        Self {
            part: site.here(),
            x: site.var("X", free as i64),
            q: site.var("Q", Loc { pid: Pid::new(first), loc: 0 }),
            p: site.table("P", members.clone(), Sim::PLENTY, spin),
            next: site.row("next", members.len(), |i| decl(0).private(Pid::new(first + i))),
            first,
            fault,
        }
    }
}

impl Slot<Sim> for DsmUnboundedSlot {
    type Refusal = LocationsExhausted;

    fn part(&self) -> Part {
        self.part
    }

    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible, LocationsExhausted>> {
        let p = p.on(self.part);
        let f = self.fault;
        let mine = &self.next[p.pid().index() - self.first];
        let used = p.at(2).read(mine).await?;
        let next = Loc { pid: p.pid(), loc: if f == Fault::NoThree { used } else { used + 1 } };
        if next.loc as usize == Sim::PLENTY {
            return Err(Failure::Refused(LocationsExhausted));
        }
        p.keep(2, &next);
        if p.at(2).fetch_add(&self.x, -1).await? == 0 {
            if f != Fault::NoThree {
                p.at(3).write(mine, next.loc).await?;
            }
            if f != Fault::NoFour {
                p.keep(4, &next);
                p.at(4).write(&self.p[next.at()], false).await?;
            }
            p.watches(&self.p[next.at()]);
            p.keep(5, &next);
            let v = p.at(5).read(&self.q).await?;
            p.shows("v", v);
            if f != Fault::NoSix {
                p.keep(6, &(next, v));
                p.at(6).write(&self.p[v.at()], true).await?;
            }
            let mut wait = true;
            if f == Fault::EightBeforeSeven {
                p.keep(8, &(next, v));
                wait = p.at(8).read(&self.x).await? < 0;
            }
            p.keep(7, &(next, v, wait));
            let swapped = if f == Fault::SevenWrites {
                p.at(7).write(&self.q, next).await?;
                true
            } else {
                p.at(7).compare_swap(&self.q, v, next).await?.is_ok()
            };
            p.hides("v");
            if swapped {
                if !matches!(f, Fault::EightBeforeSeven | Fault::NoEight) {
                    p.keep(8, &next);
                    wait = p.at(8).read(&self.x).await? < 0;
                }
                if wait {
                    p.keep(9, &next);
                    p.at(9).wait_until(&self.p[next.at()], |released| released).await?;
                }
            }
            p.watches_no_more(&self.p[next.at()]);
        }
        p.mark(Mark::Rests(10));
        Ok(())
    }

    async fn release(&self, p: &Process<Sim>) -> Result<(), Infallible> {
        let p = p.on(self.part);
        let looks_first = self.fault == Fault::ElevenBeforeTen;
        if !looks_first {
            p.at(10).fetch_add(&self.x, 1).await?;
            p.keep(11, &());
        }
        let v = p.at(11).read(&self.q).await?;
        p.shows("v", v);
        if looks_first {
            p.keep(10, &v);
            p.at(10).fetch_add(&self.x, 1).await?;
        }
        if self.fault != Fault::NoTwelve {
            p.keep(12, &v);
            p.at(12).write(&self.p[v.at()], self.fault != Fault::TwelveWritesFalse).await?;
        }
        if self.fault == Fault::WaitsToLeave {
            p.keep(12, &("wrote", v));
            p.at(12).wait_until(&self.q, |q| q != v).await?;
        }
        p.hides("v");
        Ok(())
    }
}
