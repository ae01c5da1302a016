//! Yang and Anderson's Figure 1 with faults.

use crate::sim::Part;
use crate::sim::{Sim, SimCell, SimVar};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Mark, Pid, Process, Site, decl};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    ThirteenBeforeTwelve,
    FourBeforeOne,
    FourBeforeTwo,
    FourBeforeThree,
    NoTwo,
    NoThree,
    NoSix,
    NoSeven,
    NoEight,
    NoNine,
    NoTen,
    NoTwelve,
    NoFourteen,
    AlwaysWaits,
    WaitsToLeave,
}

pub(super) struct TwoProcess {
    part: Part,
    c: Vec<SimCell<Option<Pid>>>,
    t: SimVar<Pid>,
    p: Vec<SimCell<u64>>,
    fault: Fault,
}

impl TwoProcess {
    pub(super) fn new(site: &Site<'_, Sim>, fault: Fault) -> Self {
        Self {
            part: site.here(),
            c: site.row("C", 2, |_| decl(None)),
            t: site.var("T", Pid::new(if fault == Fault::NoTwo { 7 } else { 0 })),
            p: site.row("P", 2, |i| decl(0).home(Pid::new(i))),
            fault,
        }
    }
}

impl KExclusion<Sim> for TwoProcess {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        let p = p.on(self.part);
        let me = p.pid();
        let (i, j) = (me.index(), 1 - me.index());
        let f = self.fault;
        let mut rival = None;
        if f == Fault::FourBeforeOne {
            rival = p.at(4).read(&self.c[j]).await?;
        }
        p.keep(1, &rival);
        p.at(1).write(&self.c[i], Some(me)).await?;
        if f == Fault::FourBeforeTwo {
            p.keep(4, &());
            rival = p.at(4).read(&self.c[j]).await?;
        }
        if f != Fault::NoTwo {
            p.keep(2, &rival);
            p.at(2).write(&self.t, me).await?;
        }
        if f == Fault::FourBeforeThree {
            p.keep(4, &());
            rival = p.at(4).read(&self.c[j]).await?;
        }
        if f != Fault::NoThree {
            p.keep(3, &rival);
            p.at(3).write(&self.p[i], 0).await?;
        }
        if !matches!(f, Fault::FourBeforeOne | Fault::FourBeforeTwo | Fault::FourBeforeThree) {
            p.keep(4, &());
            rival = p.at(4).read(&self.c[j]).await?;
        }
        let always = f == Fault::AlwaysWaits;
        if rival.is_some() || always {
            p.keep(5, &());
            if p.at(5).read(&self.t).await? == me || always {
                if f != Fault::NoSeven {
                    p.keep(6, &());
                    if f == Fault::NoSix || p.at(6).read(&self.p[j]).await? == 0 {
                        p.keep(7, &());
                        p.at(7).write(&self.p[j], 1).await?;
                    }
                }
                if f != Fault::NoEight {
                    p.keep(8, &());
                    p.at(8).wait_until(&self.p[i], |x| x != 0).await?;
                }
                p.keep(9, &());
                if f == Fault::NoNine || always || p.at(9).read(&self.t).await? == me {
                    p.keep(10, &());
                    if f != Fault::NoTen {
                        p.at(10).wait_until(&self.p[i], |x| x > 1).await?;
                    }
                }
            }
        }
        p.mark(Mark::Rests(11));
        Ok(())
    }

    async fn release(&self, p: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        let p = p.on(self.part);
        let me = p.pid();
        let (i, j) = (me.index(), 1 - me.index());
        let f = self.fault;
        let mut last = me;
        if f == Fault::WaitsToLeave {
            p.at(12).wait_until(&self.c[j], |c| c.is_none()).await?;
            p.keep(12, &"waited");
        }
        if f == Fault::ThirteenBeforeTwelve {
            last = p.at(13).read(&self.t).await?;
            p.keep(12, &last);
        }
        if f != Fault::NoTwelve {
            p.at(12).write(&self.c[i], None).await?;
        }
        if f != Fault::ThirteenBeforeTwelve {
            p.keep(13, &());
            last = p.at(13).read(&self.t).await?;
        }
        if last != me && f != Fault::NoFourteen {
            p.keep(14, &());
            p.at(14).write(&self.p[j], 2).await?;
        }
        Ok(())
    }
}
