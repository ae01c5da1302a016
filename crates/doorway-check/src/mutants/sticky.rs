//! Names that stick, with faults.

use crate::k_assignment::names::sticky::passages::Sticky;
use crate::sim::{Sim, SimCell};
use doorway_core::k_assignment::names::sticky::Holder;
use doorway_core::memory::{Here, Site};
use std::convert::Infallible;
use std::fmt::Debug;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    /// 2 is a write.
    WritesBlindly,
    /// 1 takes a name whoever has it.
    TakesWhatIsTaken,
    /// Who found all names taken, one after the other, is turned away.
    LooksOnce,
    /// 2 leaves the number as it was.
    NeverCounts,
    /// 4 begins the number anew.
    CountsAnew,
    /// 4 dropped.
    NeverGivesBack,
    /// 4 writes the next name's word.
    GivesAnotherBack,
    /// There is a name more than there should be.
    OneTooMany,
    /// Nobody has ever taken the last name, and it is taken.
    StartsTaken,
    /// It goes on with the first name, not with the one after that it had.
    SearchesFromZero,
}

#[derive(Debug)]
pub(super) struct Taken {
    name: usize,
    times: u64,
}

pub(super) struct StickyNames {
    holder: Vec<SimCell<Holder>>,
    fault: Fault,
}

impl StickyNames {
    pub(super) fn new(site: &Site<'_, Sim>, k: usize, fault: Fault) -> Self {
        let n = k + usize::from(fault == Fault::OneTooMany);
        let nobody = |i| u64::from(fault == Fault::StartsTaken && i == n - 1) << 8;
        Self { holder: site.row("holder", n, |i| Holder { process: nobody(i), times: 0 }.into()), fault }
    }

    async fn attempt<D: Debug>(
        &self,
        p: Here<'_, Sim>,
        me: u64,
        name: usize,
        live: &D,
    ) -> Result<Result<Taken, u64>, Infallible> {
        let holder = &self.holder[name];
        p.keep(1, &(me, name, live));
        let seen = p.at(1).read(holder).await?;
        if seen.process != 0 && self.fault != Fault::TakesWhatIsTaken {
            return Ok(Err(seen.times));
        }
        let times = seen.times + u64::from(self.fault != Fault::NeverCounts);
        let mine = Holder { process: me, times };
        p.keep(2, &(me, name, live, seen));
        if self.fault == Fault::WritesBlindly {
            p.at(2).write(holder, mine).await?;
            return Ok(Ok(Taken { name, times }));
        }
        Ok(match p.at(2).compare_swap(holder, seen, mine).await? {
            Ok(_) => Ok(Taken { name, times }),
            Err(found) => Err(found.times),
        })
    }
}

impl Sticky for StickyNames {
    type Taken = Taken;

    async fn take(&self, p: Here<'_, Sim>, me: u64, first: usize) -> Result<Option<Taken>, Infallible> {
        if let Ok(taken) = self.attempt(p, me, first, &first).await? {
            return Ok(Some(taken));
        }
        let from = if self.fault == Fault::SearchesFromZero { 0 } else { first };
        let mut before = None;
        loop {
            let mut times = 0;
            for i in 0..self.holder.len() {
                let (name, live) = ((from + i) % self.holder.len(), (first, before, times, i));
                match self.attempt(p, me, name, &live).await? {
                    Ok(taken) => return Ok(Some(taken)),
                    Err(taken) => times += taken,
                }
            }
            if before == Some(times) || self.fault == Fault::LooksOnce {
                return Ok(None);
            }
            before = Some(times);
        }
    }

    async fn is_taken(&self, p: Here<'_, Sim>, name: usize) -> Result<bool, Infallible> {
        Ok(p.at(3).read(&self.holder[name]).await?.process != 0)
    }

    async fn give_back(&self, p: Here<'_, Sim>, Taken { name, times }: Taken) -> Result<(), Infallible> {
        let (name, times) = match self.fault {
            Fault::NeverGivesBack => return p.at(4).read(&self.holder[name]).await.map(drop),
            Fault::GivesAnotherBack => ((name + 1) % self.holder.len(), times),
            Fault::CountsAnew => (name, 0),
            _ => (name, times),
        };
        p.at(4).write(&self.holder[name], Holder { process: 0, times }).await
    }

    fn name(taken: &Taken) -> usize {
        taken.name
    }
}
