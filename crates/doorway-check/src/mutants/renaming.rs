//! Anderson and Moir's renaming with faults, around any k-exclusion.

use crate::sim::{Part, Sim, SimCell};
use doorway_core::Failure;
use doorway_core::k_assignment::anderson_moir_94::Named;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Mark, Process, Site};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    TestThenSet,
    NeverSets,
    NeverClears,
    ClearsLate,
    /// There is no bit for the last name: the one before is cleared.
    ClearsUnguarded,
    StartsAtOne,
}

pub(super) struct Renaming<Inner> {
    part: Part,
    x: Vec<SimCell<bool>>,
    last: usize,
    inner: Inner,
    fault: Fault,
}

impl<Inner> Renaming<Inner> {
    pub(super) fn new(
        site: &Site<'_, Sim>,
        k: usize,
        fault: Fault,
        inner: impl FnOnce(&Site<'_, Sim>) -> Inner,
    ) -> Self {
        let last = k - 1;
        Self {
            part: site.here(),
            x: site.row("X", last, |_| false.into()),
            last,
            inner: inner(&site.part("exclusion", None)),
            fault,
        }
    }

    /// The bit to clear for a name.
    fn bit(&self, name: usize) -> Option<&SimCell<bool>> {
        match self.fault {
            Fault::NeverClears => None,
            Fault::ClearsUnguarded => self.x.get(name).or(self.x.last()),
            _ => self.x.get(name),
        }
    }
}

impl<Inner: KExclusion<Sim>> KExclusion<Sim> for Renaming<Inner> {
    type Held = Named<Inner::Held>;
    type Refusal = Inner::Refusal;

    async fn acquire(&self, p: &Process<Sim>) -> Result<Self::Held, Failure<Infallible, Self::Refusal>> {
        let here = p.on(self.part);
        here.part(&());
        let inner = self.inner.acquire(p).await?;
        here.part_done();
        let mut name = if self.fault == Fault::StartsAtOne { self.last.min(1) } else { 0 };
        while name < self.last {
            here.shows("tries", name as u64);
            here.keep(2, &(name, &inner));
            let was_set = match self.fault {
                Fault::NeverSets => here.at(2).read(&self.x[name]).await?,
                Fault::TestThenSet => {
                    let was_set = here.at(2).read(&self.x[name]).await?;
                    if !was_set {
                        here.keep(2, &("was clear", name, &inner));
                        here.at(2).write(&self.x[name], true).await?;
                    }
                    was_set
                }
                _ => here.at(2).test_and_set(&self.x[name]).await?,
            };
            if !was_set {
                break;
            }
            name += 1;
        }
        here.hides("tries");
        here.holds("name", name as u64);
        here.mark(Mark::Rests(3));
        Ok(Named { name, inner })
    }

    async fn release(&self, p: &Process<Sim>, Named { name, inner }: Self::Held) -> Result<(), Infallible> {
        let here = p.on(self.part);
        let late = self.fault == Fault::ClearsLate;
        if !late && let Some(bit) = self.bit(name) {
            here.at(3).write(bit, false).await?;
        }
        here.mark(Mark::Rests(4));
        here.keep(4, &(late.then_some(name), &inner));
        here.part(&late.then_some(name));
        self.inner.release(p, inner).await?;
        here.part_done();
        if late && let Some(bit) = self.bit(name) {
            here.keep(3, &name);
            here.at(3).write(bit, false).await?;
        }
        Ok(())
    }
}
