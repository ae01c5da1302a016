//! Names in flags or in a bitmap with faults, around any k-exclusion.

use crate::sim::{Part, Sim, SimCell};
use doorway_core::Failure;
use doorway_core::k_assignment::anderson_moir_94::Named;
use doorway_core::k_assignment::names::Mark as Flag;
use doorway_core::k_exclusion::{Abortable, KExclusion};
use doorway_core::memory::{Here, Mark, Process, Site, decl};
use std::convert::Infallible;
use std::fmt::Debug;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    /// 3 reads again, and writes.
    TestThenSet,
    /// 3 does not look whether it was faster.
    NeverLooks,
    /// 4 clears nothing.
    NeverGivesBack,
    /// 4 clears too much: the whole word of the bitmap, or the first flag.
    ClearsOthers,
    /// 2 and 3 before 1.
    NamedEarly,
    /// 4 after 5.
    NamelessLate,
    /// After 3 failed, begins with the same name again.
    LowStays,
    /// After 3 failed, leaves one name out.
    LowSkips,
}

const FREE: Flag = Flag::free(0);
const TAKEN: Flag = Flag::TAKEN;

/// How names are kept.
enum Row {
    Flags(Vec<SimCell<Flag>>),
    Bits(Vec<SimCell<u64>>),
}

pub(super) struct WithNames<Inner> {
    part: Part,
    taken: Row,
    k: usize,
    inner: Inner,
    fault: Fault,
}

impl<Inner> WithNames<Inner> {
    pub(super) fn new(
        site: &Site<'_, Sim>,
        k: usize,
        bitmap: bool,
        fault: Fault,
        inner: impl FnOnce(&Site<'_, Sim>) -> Inner,
    ) -> Self {
        let taken = if bitmap {
            Row::Bits(site.row("taken", k.div_ceil(64), |_| 0.into()))
        } else {
            Row::Flags(site.row("taken", k, |_| decl(FREE)))
        };
        Self { part: site.here(), taken, k, inner: inner(&site.part("exclusion", None)), fault }
    }

    async fn take(&self, p: Here<'_, Sim>, live: &dyn Debug) -> Result<usize, Infallible> {
        let name = match &self.taken {
            Row::Flags(flags) => self.take_flag(p, flags, live).await?,
            Row::Bits(words) => self.take_bit(p, words, live).await?,
        };
        p.hides("low");
        Ok(name.unwrap_or(self.k - 1)) // there is one, except with a fault
    }

    /// Where to go on after another one was faster.
    fn after(&self, name: usize) -> usize {
        match self.fault {
            Fault::LowStays => name,
            Fault::LowSkips => name + 2,
            _ => name + 1,
        }
    }

    async fn take_flag(
        &self,
        p: Here<'_, Sim>,
        flags: &[SimCell<Flag>],
        live: &dyn Debug,
    ) -> Result<Option<usize>, Infallible> {
        let mut name = 0;
        while name < self.k {
            let flag = &flags[name];
            p.shows("low", name as u64);
            p.keep(2, &(name, live));
            if p.at(2).read(flag).await? != FREE {
                name += 1;
                continue;
            }
            p.keep(3, &(name, live));
            let was_free = if self.fault == Fault::TestThenSet {
                let was = p.at(3).read(flag).await?;
                if was == FREE {
                    p.keep(3, &("was free", name, live));
                    p.at(3).write(flag, TAKEN).await?;
                }
                was == FREE
            } else {
                p.at(3).swap(flag, TAKEN).await? == FREE
            };
            if was_free || self.fault == Fault::NeverLooks {
                return Ok(Some(name));
            }
            name = self.after(name);
        }
        Ok(None)
    }

    async fn take_bit(
        &self,
        p: Here<'_, Sim>,
        words: &[SimCell<u64>],
        live: &dyn Debug,
    ) -> Result<Option<usize>, Infallible> {
        let mut low = 0;
        while low < self.k {
            let word = low / 64;
            p.shows("low", low as u64);
            p.keep(2, &(low, live));
            let taken = p.at(2).read(&words[word]).await?;
            let free = !taken & u64::MAX << (low % 64);
            if free == 0 {
                low = 64 * (word + 1);
                continue;
            }
            let name = 64 * word + free.trailing_zeros() as usize;
            if name >= self.k {
                break;
            }
            p.shows("low", name as u64);
            p.keep(3, &(name, live));
            let bit = 1 << (name % 64);
            let was = if self.fault == Fault::TestThenSet {
                let was = p.at(3).read(&words[word]).await?;
                if was & bit == 0 {
                    p.keep(3, &("was free", name, was, live));
                    p.at(3).write(&words[word], was | bit).await?;
                }
                was
            } else {
                p.at(3).fetch_or(&words[word], bit).await?
            };
            if was & bit == 0 || self.fault == Fault::NeverLooks {
                return Ok(Some(name));
            }
            low = self.after(name);
        }
        Ok(None)
    }

    async fn give_back(&self, p: Here<'_, Sim>, name: usize) -> Result<(), Infallible> {
        match (&self.taken, self.fault) {
            (Row::Flags(flags), Fault::NeverGivesBack) => p.at(4).write(&flags[name], TAKEN).await,
            (Row::Flags(flags), Fault::ClearsOthers) => p.at(4).write(&flags[0], FREE).await,
            (Row::Flags(flags), _) => p.at(4).write(&flags[name], FREE).await,
            (Row::Bits(words), Fault::NeverGivesBack) => p.at(4).fetch_add(&words[name / 64], 0).await.map(drop),
            (Row::Bits(words), Fault::ClearsOthers) => p.at(4).write(&words[name / 64], 0).await,
            (Row::Bits(words), _) => {
                let bit = 1u64 << (name % 64);
                p.at(4).fetch_add(&words[name / 64], bit.wrapping_neg()).await.map(drop)
            }
        }
    }

    async fn named<H: Debug>(&self, p: Here<'_, Sim>, early: Option<usize>, inner: H) -> Result<Named<H>, Infallible> {
        let name = match early {
            Some(name) => name,
            None => self.take(p, &inner).await?,
        };
        p.holds("name", name as u64);
        p.mark(Mark::Rests(4));
        Ok(Named { name, inner })
    }

    async fn name_early(&self, p: Here<'_, Sim>) -> Result<Option<usize>, Infallible> {
        Ok(if self.fault == Fault::NamedEarly { Some(self.take(p, &"early").await?) } else { None })
    }
}

impl<Inner: KExclusion<Sim>> KExclusion<Sim> for WithNames<Inner> {
    type Held = Named<Inner::Held>;
    type Refusal = Inner::Refusal;

    async fn acquire(&self, p: &Process<Sim>) -> Result<Self::Held, Failure<Infallible, Self::Refusal>> {
        let here = p.on(self.part);
        let early = self.name_early(here).await?;
        here.part(&early);
        let inner = self.inner.acquire(p).await?;
        here.part_done();
        Ok(self.named(here, early, inner).await?)
    }

    async fn release(&self, p: &Process<Sim>, Named { name, inner }: Self::Held) -> Result<(), Infallible> {
        let here = p.on(self.part);
        let late = (self.fault == Fault::NamelessLate).then_some(name);
        if late.is_none() {
            self.give_back(here, name).await?;
            here.hides("name");
            here.mark(Mark::Rests(5));
            here.keep(5, &inner);
        }
        here.part(&late);
        self.inner.release(p, inner).await?;
        here.part_done();
        if late.is_some() {
            here.keep(4, &late);
            self.give_back(here, name).await?;
        }
        Ok(())
    }
}

impl<Inner: Abortable<Sim>> Abortable<Sim> for WithNames<Inner> {
    type Attempt = Inner::Attempt;

    async fn try_acquire(
        &self,
        p: &Process<Sim>,
        attempt: &mut Self::Attempt,
    ) -> Result<Option<Self::Held>, Failure<Infallible, Self::Refusal>> {
        let here = p.on(self.part);
        let early = self.name_early(here).await?;
        here.part(&early);
        let inner = self.inner.try_acquire(p, attempt).await?;
        here.part_done();
        Ok(match inner {
            Some(inner) => Some(self.named(here, early, inner).await?),
            None => None,
        })
    }

    async fn leave(&self, p: &Process<Sim>, attempt: Self::Attempt) -> Result<Option<Self::Held>, Infallible> {
        Ok(match self.inner.leave(p, attempt).await? {
            Some(inner) => Some(self.named(p.on(self.part), None, inner).await?),
            None => None,
        })
    }
}
