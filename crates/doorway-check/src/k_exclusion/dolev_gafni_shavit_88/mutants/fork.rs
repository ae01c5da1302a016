//! The fork of Dolev, Gafni and Shavit with faults, and the arrow made of it.

use crate::sim::{Part, Sim, SimCell};
use doorway_core::k_exclusion::dolev_gafni_shavit_88::{ForkState, Mine, safe_bit};
use doorway_core::memory::{Here, Label, Pid, Process, Site, decl};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    WBeforeF,
    TakesItsOwn,
}

pub(super) struct Fork {
    part: Part,
    first: Label,
    mutators: [Pid; 2],
    f: Vec<SimCell<bool>>,
    wp: Vec<SimCell<bool>>,
    wq: Vec<SimCell<bool>>,
    mine: Vec<SimCell<Mine>>,
    fault: Fault,
}

impl Fork {
    pub(super) fn new(site: &Site<'_, Sim>, first: Label, one: Pid, another: Pid, fault: Fault) -> Self {
        let mutators = if one < another { [one, another] } else { [another, one] };
        let begins = |side: usize| Mine { f: side == 0, w: false };
        Self {
            part: site.here(),
            first,
            mutators,
            f: site.row("f", 2, |s| safe_bit(begins(s).f, mutators[s])),
            wp: site.row("wp", 2, |s| safe_bit(begins(s).w, mutators[1 - s])),
            wq: site.row("wq", 2, |s| safe_bit(begins(s).w, mutators[s])),
            mine: site.row("mine", 2, |s| decl(begins(s)).private(mutators[s]).wraps_at(2)),
            fault,
        }
    }

    fn other(&self, p: Pid) -> Pid {
        self.mutators[usize::from(p == self.mutators[0])]
    }

    fn side(&self, p: Pid) -> Option<usize> {
        self.mutators.iter().position(|&mutator| mutator == p)
    }

    fn holder(f: [bool; 2]) -> usize {
        usize::from(f[0] == f[1])
    }

    fn seen(&self, holder: usize, w: bool) -> ForkState {
        if w { ForkState::InUse(self.mutators[holder]) } else { ForkState::Offered(self.mutators[holder]) }
    }

    async fn own(&self, here: Here<'_, Sim>, s: usize) -> Result<Mine, Infallible> {
        here.keep(self.first, &());
        here.at(self.first).read(&self.mine[s]).await
    }

    pub(super) async fn read(&self, p: &Process<Sim>) -> Result<ForkState, Infallible> {
        let here = p.on(self.part);
        let Some(s) = self.side(p.pid()) else {
            here.keep(self.first + 1, &());
            let low = here.at(self.first + 1).read(&self.f[0]).await?;
            here.keep(self.first + 2, &low);
            let holder = Self::holder([low, here.at(self.first + 2).read(&self.f[1]).await?]);
            here.keep(self.first + 3, &holder);
            return Ok(self.seen(holder, here.at(self.first + 3).read(&self.wq[holder]).await?));
        };
        let mine = self.own(here, s).await?;
        if mine.w {
            return Ok(self.seen(s, true));
        }
        let mut early = None;
        if self.fault == Fault::WBeforeF {
            here.keep(self.first + 3, &("early", mine.f));
            early = Some(here.at(self.first + 3).read(&self.wp[1 - s]).await?);
        }
        here.keep(self.first + 2, &(mine.f, early));
        let f = here.at(self.first + 2).read(&self.f[1 - s]).await?;
        let holder = Self::holder(if s == 0 { [mine.f, f] } else { [f, mine.f] });
        if holder == s {
            return Ok(self.seen(s, false));
        }
        if let Some(w) = early {
            return Ok(self.seen(holder, w));
        }
        here.keep(self.first + 3, &());
        Ok(self.seen(holder, here.at(self.first + 3).read(&self.wp[holder]).await?))
    }

    pub(super) async fn take(&self, p: &Process<Sim>) -> Result<(), Infallible> {
        let here = p.on(self.part);
        let Some(s) = self.side(p.pid()) else { return Ok(()) };
        here.part(&"take");
        let seen = self.read(p).await?;
        here.part_done();
        let takes = match seen {
            ForkState::Offered(holder) => holder != p.pid() || self.fault == Fault::TakesItsOwn,
            ForkState::InUse(_) => false,
        };
        if !takes {
            return Ok(());
        }
        let flips = seen != ForkState::Offered(p.pid());
        here.keep(self.first + 4, &flips);
        here.at(self.first + 4).write(&self.wp[s], true).await?;
        here.keep(self.first + 5, &flips);
        here.at(self.first + 5).write(&self.wq[s], true).await?;
        here.part(&("flips", flips));
        let f = self.own(here, s).await?.f != flips;
        here.part_done();
        if flips {
            here.keep(self.first + 6, &f);
            here.at(self.first + 6).write(&self.f[s], f).await?;
        }
        here.keep(self.first + 9, &f);
        here.at(self.first + 9).write(&self.mine[s], Mine { f, w: true }).await
    }

    pub(super) async fn offer(&self, p: &Process<Sim>) -> Result<(), Infallible> {
        let here = p.on(self.part);
        let Some(s) = self.side(p.pid()) else { return Ok(()) };
        here.part(&"offer");
        let mine = self.own(here, s).await?;
        here.part_done();
        if !mine.w {
            return Ok(());
        }
        here.keep(self.first + 7, &mine.f);
        here.at(self.first + 7).write(&self.wp[s], false).await?;
        here.keep(self.first + 8, &mine.f);
        here.at(self.first + 8).write(&self.wq[s], false).await?;
        here.keep(self.first + 9, &mine);
        here.at(self.first + 9).write(&self.mine[s], Mine { w: false, ..mine }).await
    }
}

pub(super) struct Arrow(Fork);

impl Arrow {
    pub(super) fn new(site: &Site<'_, Sim>, first: Label, one: Pid, another: Pid, fault: Fault) -> Self {
        Self(Fork::new(site, first, one, another, fault))
    }

    pub(super) async fn read(&self, p: &Process<Sim>) -> Result<Pid, Infallible> {
        Ok(match self.0.read(p).await? {
            ForkState::InUse(holder) => holder,
            ForkState::Offered(holder) => self.0.other(holder),
        })
    }

    pub(super) async fn redirect(&self, p: &Process<Sim>) -> Result<(), Infallible> {
        self.0.take(p).await?;
        self.0.offer(p).await
    }
}
