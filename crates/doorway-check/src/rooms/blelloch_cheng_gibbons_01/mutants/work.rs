//! A stack of work with faults, over the shipped rooms and segments.

use crate::rooms::blelloch_cheng_gibbons_01::worlds::{Reply, UNWRITTEN, Wish, segments, workers};
use crate::sim::{Part, Rules, Sim, SimVar, TextError, World};
use doorway_core::memory::{Memory, Process, Site};
use doorway_core::registry::Sizes;
use doorway_core::rooms::blelloch_cheng_gibbons_01::{IN, InSegments, News, OUT, Rooms, Segments, Whole, Width};
use doorway_core::rooms::{LastOut, Lit, Refusal};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    None,
    CountsLate,
    ReturnsEarly,
    DecidesInside,
    OnlyAfterPushes,
    OnlyAfterPops,
}

type Store = InSegments<Sim>;

pub(crate) struct Work {
    part: Part,
    segments: Segments<Sim, Store>,
    lent: SimVar<Whole>,
    news: SimVar<News>,
    fault: Fault,
}

impl Work {
    async fn look_round(&self, process: &Process<Sim>, room: usize) -> Result<(), Infallible> {
        let p = process.on(self.part);
        let decides = match self.fault {
            Fault::OnlyAfterPushes => room == IN,
            Fault::OnlyAfterPops => room == OUT,
            _ => true,
        };
        p.keep(31, &room);
        if p.at(31).read(self.segments.top()).await?.0 == 0 {
            if decides {
                p.keep(31, &"nothing");
                if p.at(31).read(&self.lent).await? == Whole(0) {
                    p.keep(32, &());
                    p.at(32).write(&self.news, News::AllDone).await?;
                }
            }
            return Ok(());
        }
        if room == IN {
            p.keep(33, &());
            let news = p.at(33).read(&self.news).await?;
            if news == News::Nothing {
                p.keep(34, &());
                p.at(34).write(&self.news, News::Look).await?;
            }
        }
        Ok(())
    }

    pub(crate) async fn is_done(&self, p: &Process<Sim>) -> Result<bool, Infallible> {
        Ok(p.on(self.part).at(35).read(&self.news).await? == News::AllDone)
    }
}

impl LastOut<Sim> for Work {
    async fn last_out(&self, p: &Process<Sim>, room: usize) -> Result<(), Infallible> {
        let here = p.on(self.part);
        here.part(&room);
        self.segments.last_out(p, room).await?;
        here.part_done();
        self.look_round(p, room).await
    }
}

pub(crate) struct WorkStack {
    part: Part,
    rooms: Rooms<Sim, Work>,
    fault: Fault,
}

type Answer<T> = Result<Result<T, Refusal>, Infallible>;

/// Enters, or returns the refusal.
macro_rules! go {
    ($entry:expr) => {
        match $entry.await {
            Ok(inside) => inside,
            Err(doorway_core::Failure::Refused(refusal)) => return Ok(Err(refusal)),
            Err(doorway_core::Failure::Memory(e)) => return Err(e),
        }
    };
}

impl WorkStack {
    pub(crate) fn new(site: &Site<'_, Sim>, store: Store, width: Width, fault: Fault) -> Self {
        let work = Work {
            part: site.here(),
            segments: Segments::new(site, store),
            lent: site.var("lent", Whole(0)),
            news: site.var("news", News::Look),
            fault,
        };
        Self { part: site.here(), rooms: Rooms::with(&site.part("rooms", None), 2, width, work), fault }
    }

    pub(crate) fn rooms(&self) -> &Rooms<Sim, Work> {
        &self.rooms
    }

    pub(crate) async fn take(&self, p: &Process<Sim>, hand: &mut Vec<u64>, count: usize) -> Answer<usize> {
        let (here, work) = (p.on(self.part), self.rooms.lights());
        loop {
            here.keep(20, &(count, &*hand));
            if here.at(20).read(&work.news).await? == News::AllDone {
                return Ok(Ok(0));
            }
            here.part(&(count, &*hand));
            let inside = go!(self.rooms.enter(p, OUT));
            here.part_done();
            here.part(&count);
            let got = work.segments.take(here, &inside, hand, count).await?;
            here.part_done();
            if got > 0 {
                if self.fault != Fault::CountsLate {
                    here.keep(21, &(&inside, got, &*hand));
                    here.at(21).fetch_add(&work.lent, Whole(1)).await?;
                    here.shows("loot", got as u64);
                }
            } else {
                here.keep(22, &(&inside, count, &*hand));
                let news = here.at(22).read(&work.news).await?;
                if self.fault == Fault::DecidesInside {
                    here.keep(23, &(&inside, count, &*hand));
                    let lent = here.at(23).read(&work.lent).await?;
                    here.keep(23, &(&inside, count, &*hand, lent));
                    let all_done = if lent == Whole(0) { News::AllDone } else { News::Nothing };
                    here.at(23).write(&work.news, all_done).await?;
                } else if news == News::Look {
                    here.keep(23, &(&inside, count, &*hand));
                    here.at(23).write(&work.news, News::Nothing).await?;
                }
            }
            here.part(&(got, count, &*hand));
            self.rooms.exit(p, inside).await?;
            here.part_done();
            if got > 0 {
                if self.fault == Fault::CountsLate {
                    here.keep(21, &(got, &*hand));
                    here.at(21).fetch_add(&work.lent, Whole(1)).await?;
                    here.shows("loot", got as u64);
                }
                return Ok(Ok(got));
            }
            here.keep(24, &(count, &*hand));
            here.at(24).wait_until(&work.news, |news| news != News::Nothing).await?;
        }
    }

    pub(crate) async fn give(
        &self,
        p: &Process<Sim>,
        hand: &mut Vec<u64>,
        count: usize,
        returns: bool,
    ) -> Answer<Option<usize>> {
        let (here, work) = (p.on(self.part), self.rooms.lights());
        if returns && self.fault == Fault::ReturnsEarly {
            here.keep(26, &(count, &*hand));
            here.at(26).fetch_add(&work.lent, Whole(u64::MAX)).await?;
            here.hides("loot");
        }
        here.part(&(count, returns, &*hand));
        let mut inside = go!(self.rooms.enter(p, IN));
        here.part_done();
        let mut went = None;
        here.keep(25, &(&inside, count, returns, &*hand));
        if here.at(25).read(&work.news).await? != News::AllDone {
            here.part(&returns);
            let put = work.segments.put(p, &self.rooms, inside, hand, count).await?;
            here.part_done();
            inside = match put {
                Ok((inside, all)) => {
                    went = Some(all);
                    inside
                }
                Err((refusal, _)) => return Ok(Err(refusal)),
            };
            if returns && self.fault != Fault::ReturnsEarly {
                here.keep(26, &(&inside, went, &*hand));
                here.at(26).fetch_add(&work.lent, Whole(u64::MAX)).await?;
                here.hides("loot");
            }
        }
        here.part(&(went, &*hand));
        self.rooms.exit(p, inside).await?;
        here.part_done();
        here.hides("retries");
        Ok(Ok(went))
    }
}

/// A machine that runs it.
pub(super) fn world(sizes: Sizes, rules: Rules, fault: Fault) -> Result<World, TextError> {
    let (width, (first, segments)) = (Width::for_users(sizes.n, 0), segments(sizes));
    workers!(sizes, rules, |site: &Site<'_, Sim>| {
        let store = InSegments::new(site, first, segments, UNWRITTEN).that_runs_out();
        WorkStack::new(site, store, width, fault)
    })
}
