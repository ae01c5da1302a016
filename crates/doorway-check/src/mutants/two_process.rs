//! Yang and Anderson's Figure 1 with faults.

use crate::sim::Part;
use crate::sim::{Sim, SimCell, SimVar};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Mark, Pid, Process, Site, decl};
use doorway_core::mutex::{Node, Side};
use std::convert::Infallible;
use std::ops::Range;
use std::rc::Rc;

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
    first: usize,
    c: Vec<SimCell<Option<Pid>>>,
    t: SimVar<Pid>,
    p: Spins,
    fault: Fault,
}

/// Where processes wait: each at a word of this node, or, with a fault of what is around it, at one for all nodes.
enum Spins {
    Own(Vec<SimCell<u64>>),
    Shared(Rc<[SimCell<u64>]>),
}

impl TwoProcess {
    pub(super) fn new(site: &Site<'_, Sim>, fault: Fault) -> Self {
        Self::between(site, 0..2, None, fault)
    }

    pub(super) fn between(
        site: &Site<'_, Sim>,
        members: Range<usize>,
        shared: Option<Rc<[SimCell<u64>]>>,
        fault: Fault,
    ) -> Self {
        let first = members.start;
        let own = site.row("P", members.len(), |i| decl(0).home(Pid::new(first + i)));
        Self {
            part: site.here(),
            first,
            c: site.row("C", 2, |_| decl(None)),
            t: site.var("T", Pid::new(if fault == Fault::NoTwo { 7 } else { first })),
            p: shared.map_or(Spins::Own(own), Spins::Shared),
            fault,
        }
    }

    /// Who signed last.
    pub(super) fn signed(&self) -> &SimCell<Pid> {
        &self.t
    }

    /// What says more than "the rival has left".
    pub(super) const NEWS: u64 = 3;

    /// Where a process waits, for who puts more into it.
    pub(super) fn spin(&self, p: Pid) -> &SimCell<u64> {
        self.p(p)
    }

    /// Leaves, and says more to one of those that may wait.
    pub(super) async fn leave_with_news(
        &self,
        p: &Process<Sim>,
        side: Side,
        whom: Option<Pid>,
    ) -> Result<(), Infallible> {
        let p = p.on(self.part);
        p.at(12).write(&self.c[side.index()], None).await?;
        p.keep(13, &());
        let last = p.at(13).read(&self.t).await?;
        if last != p.pid() {
            p.keep(14, &last);
            p.at(14).write(self.p(last), if whom == Some(last) { Self::NEWS } else { 2 }).await?;
        }
        Ok(())
    }

    /// Where a process waits. Whom a text without 2 takes for its rival may be nobody who comes here.
    fn p(&self, p: Pid) -> &SimCell<u64> {
        match &self.p {
            Spins::Own(own) => &own[(p.index() - self.first) % own.len()],
            Spins::Shared(shared) => &shared[p.index() % shared.len()],
        }
    }

    /// Whom one signals that always waits, also where nobody is.
    fn next_to(&self, p: Pid) -> Pid {
        let members = match &self.p {
            Spins::Own(own) => own.len(),
            Spins::Shared(shared) => shared.len(),
        };
        Pid::new(self.first + (p.index() - self.first + 1) % members)
    }

    fn side(p: &Process<Sim>) -> Side {
        if p.pid().index() == 0 { Side::Left } else { Side::Right }
    }
}

impl KExclusion<Sim> for TwoProcess {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        Ok(self.enter(p, Self::side(p)).await?)
    }

    async fn release(&self, p: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        self.leave(p, Self::side(p)).await
    }
}

impl Node<Sim> for TwoProcess {
    async fn enter(&self, p: &Process<Sim>, side: Side) -> Result<(), Infallible> {
        let p = p.on(self.part);
        let me = p.pid();
        let (i, j) = (side.index(), side.other().index());
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
            p.at(3).write(self.p(me), 0).await?;
        }
        if !matches!(f, Fault::FourBeforeOne | Fault::FourBeforeTwo | Fault::FourBeforeThree) {
            p.keep(4, &());
            rival = p.at(4).read(&self.c[j]).await?;
        }
        let always = f == Fault::AlwaysWaits;
        if let Some(rival) = rival.or(always.then(|| self.next_to(me))) {
            p.shows("rival", rival);
            p.keep(5, &rival);
            if p.at(5).read(&self.t).await? == me || always {
                if f != Fault::NoSeven {
                    p.keep(6, &rival);
                    if f == Fault::NoSix || p.at(6).read(self.p(rival)).await? == 0 {
                        p.keep(7, &rival);
                        p.at(7).write(self.p(rival), 1).await?;
                    }
                }
                p.hides("rival");
                if f != Fault::NoEight {
                    p.keep(8, &());
                    p.at(8).wait_until(self.p(me), |x| x != 0).await?;
                }
                p.keep(9, &());
                if f == Fault::NoNine || always || p.at(9).read(&self.t).await? == me {
                    p.keep(10, &());
                    if f != Fault::NoTen {
                        p.at(10).wait_until(self.p(me), |x| x > 1).await?;
                    }
                }
            }
        }
        p.hides("rival");
        p.mark(Mark::Rests(11));
        Ok(())
    }

    async fn leave(&self, p: &Process<Sim>, side: Side) -> Result<(), Infallible> {
        let p = p.on(self.part);
        let me = p.pid();
        let (i, j) = (side.index(), side.other().index());
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
            p.keep(14, &last);
            p.at(14).write(self.p(last), 2).await?;
        }
        Ok(())
    }
}
