//! Anderson and Moir's Figure 6, one slot, with faults.

use crate::sim::{Part, Sim, SimCell, SimTable, SimVar};
use doorway_core::Failure;
use doorway_core::k_exclusion::anderson_moir_94::{Loc, Slot, Stage};
use doorway_core::memory::{Mark, Pid, Process, Site, decl};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    OneTooMany,
    OneTooFew,
    /// So many of the locations are never used. All are declared, so that properties find them.
    ///
    /// One too few is harmless: if all `j` others pin locations of `p` other than its last, they have done so since before it announced that
    /// one, so it saw `X < 0`, and waits there until one of them has left and found it.
    LocationsTooFew(usize),
    ThreeTakesLast,
    NoSix,
    NoEight,
    NoFifteen,
    NoPinsIn,
    NoEighteen,
    NoTwentyOne,
    /// Harmless, as are the next two: who is at 17 to 21 is one of at most `j + 1`, so everybody else finds a free slot at 2, and
    /// nobody looks for a location that could be the one about to be written to.
    NoPinsOut,
    NoNineteen,
    NoPinsNorLookOut,
    NineBeforeEight,
    NoNine,
    NoTen,
    ElevenWrites,
    NoTwelve,
    /// Harmless: if 11 failed, another's location is in `Q`, and none of its own.
    TwelveAnyway,
    ThirteenBeforeEleven,
    NoThirteen,
    SeventeenBeforeSixteen,
    NoTwenty,
    WaitsToLeave,
}

impl Fault {
    /// Whether the entry pins at 8.
    fn pins_in(self) -> bool {
        !matches!(self, Self::NoEight | Self::NoPinsIn)
    }

    /// Whether the entry takes its pin back at 15.
    fn unpins_in(self) -> bool {
        !matches!(self, Self::NoFifteen | Self::NoPinsIn)
    }

    /// Whether the exit pins at 18.
    fn pins_out(self) -> bool {
        !matches!(self, Self::NoEighteen | Self::NoPinsOut | Self::NoPinsNorLookOut)
    }

    /// Whether the exit takes its pin back at 21.
    fn unpins_out(self) -> bool {
        !matches!(self, Self::NoTwentyOne | Self::NoPinsOut | Self::NoPinsNorLookOut)
    }
}

pub(super) struct DsmSlot {
    part: Part,
    x: SimVar<i64>,
    q: SimVar<Loc>,
    p: SimTable<bool>,
    r: SimTable<i64>,
    last: Vec<SimCell<u64>>,
    first: usize,
    locations: u64,
    fault: Fault,
}

impl DsmSlot {
    pub(super) fn new(site: &Site<'_, Sim>, stage: &Stage, j: usize, fault: Fault) -> Self {
        let (members, locations) = (stage.members.clone(), j + 2);
        let first = members.start;
        let free = match fault {
            Fault::OneTooMany => j + 1,
            Fault::OneTooFew => j - 1,
            _ => j,
        };
        let used = if let Fault::LocationsTooFew(unused) = fault { locations - unused } else { locations };
        // Without 6 the values of earlier waits matter.
        let spin = if fault == Fault::NoSix { decl(false) } else { decl(false).only_while_watched() };
        Self {
            part: site.here(),
            x: site.var("X", free as i64),
            q: site.var("Q", Loc { pid: Pid::new(first), loc: 0 }),
            p: site.table("P", members.clone(), locations, spin),
            r: site.table("R", members.clone(), locations, 0),
            last: site.row("last", members.len(), |i| decl(0).private(Pid::new(first + i))),
            first,
            locations: used as u64,
            fault,
        }
    }

    fn last(&self, p: Pid) -> &SimCell<u64> {
        &self.last[p.index() - self.first]
    }
}

impl Slot<Sim> for DsmSlot {
    type Refusal = Infallible;

    fn part(&self) -> Part {
        self.part
    }

    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        let p = p.on(self.part);
        let f = self.fault;
        if p.at(2).fetch_add(&self.x, -1).await? == 0 {
            let mut next = Loc { pid: p.pid(), loc: p.at(3).read(self.last(p.pid())).await? };
            if f == Fault::ThreeTakesLast {
                next.loc += self.locations - 1;
            }
            loop {
                next.loc = (next.loc + 1) % self.locations;
                p.shows("next", next);
                p.keep(4, &next);
                if p.at(4).read(&self.r[next.at()]).await? == 0 {
                    break;
                }
            }
            if f != Fault::NoSix {
                p.keep(6, &next);
                p.at(6).write(&self.p[next.at()], false).await?;
            }
            p.watches(&self.p[next.at()]);
            p.keep(7, &next);
            let u = p.at(7).read(&self.q).await?;
            p.shows("u", u);
            let late = f == Fault::NineBeforeEight;
            if f.pins_in() && !late {
                p.keep(8, &(next, u));
                p.at(8).fetch_add(&self.r[u.at()], 1).await?;
            }
            let mut still = true;
            if f != Fault::NoNine {
                p.keep(9, &(next, u));
                still = p.at(9).read(&self.q).await? == u;
            }
            if still && late {
                p.keep(8, &(next, u));
                p.at(8).fetch_add(&self.r[u.at()], 1).await?;
            }
            if still {
                if f != Fault::NoTen {
                    p.keep(10, &(next, u));
                    p.at(10).write(&self.p[u.at()], true).await?;
                }
                let mut wait = true;
                if f == Fault::ThirteenBeforeEleven {
                    p.keep(13, &(next, u));
                    wait = p.at(13).read(&self.x).await? < 0;
                }
                p.keep(11, &(next, u, wait));
                let swapped = if f == Fault::ElevenWrites {
                    p.at(11).write(&self.q, next).await?;
                    true
                } else {
                    p.at(11).compare_swap(&self.q, u, next).await?.is_ok()
                };
                if swapped && f != Fault::NoTwelve || f == Fault::TwelveAnyway {
                    p.at(12).write(self.last(p.pid()), next.loc).await?;
                }
                if swapped {
                    if !matches!(f, Fault::ThirteenBeforeEleven | Fault::NoThirteen) {
                        p.keep(13, &(next, u));
                        wait = p.at(13).read(&self.x).await? < 0;
                    }
                    if wait {
                        p.keep(14, &(next, u));
                        p.at(14).wait_until(&self.p[next.at()], |released| released).await?;
                    }
                }
            }
            p.watches_no_more(&self.p[next.at()]);
            p.hides("next");
            if f.unpins_in() && (still || !late) {
                p.keep(15, &u);
                p.at(15).fetch_add(&self.r[u.at()], -1).await?;
            }
            p.hides("u");
        }
        p.mark(Mark::Rests(16));
        Ok(())
    }

    async fn release(&self, p: &Process<Sim>) -> Result<(), Infallible> {
        let p = p.on(self.part);
        let f = self.fault;
        let looks_first = f == Fault::SeventeenBeforeSixteen;
        if !looks_first {
            p.at(16).fetch_add(&self.x, 1).await?;
            p.keep(17, &());
        }
        let u = p.at(17).read(&self.q).await?;
        p.shows("u", u);
        if looks_first {
            p.keep(16, &u);
            p.at(16).fetch_add(&self.x, 1).await?;
        }
        if f.pins_out() {
            p.keep(18, &u);
            p.at(18).fetch_add(&self.r[u.at()], 1).await?;
        }
        let mut still = true;
        if !matches!(f, Fault::NoNineteen | Fault::NoPinsNorLookOut) {
            p.keep(19, &u);
            still = p.at(19).read(&self.q).await? == u;
        }
        if still && f != Fault::NoTwenty {
            p.keep(20, &u);
            p.at(20).write(&self.p[u.at()], true).await?;
        }
        if f.unpins_out() {
            p.keep(21, &u);
            p.at(21).fetch_add(&self.r[u.at()], -1).await?;
        }
        if f == Fault::WaitsToLeave {
            p.keep(21, &("unpinned", u));
            p.at(21).wait_until(&self.r[u.at()], |pins| pins == 0).await?;
        }
        p.hides("u");
        Ok(())
    }
}
