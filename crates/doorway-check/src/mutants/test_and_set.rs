//! The test-and-set lock with faults.

use crate::sim::{Sim, SimVar};
use doorway_core::Failure;
use doorway_core::k_exclusion::{AtOnce, KExclusion};
use doorway_core::memory::{Mark, Process, Site};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    TestThenSet,
    NeverSets,
    NeverClears,
    StartsTaken,
    WaitsToLeave,
    AttemptTestsThenSets,
    AttemptClears,
}

pub(super) struct TestAndSetLock {
    part: crate::sim::Part,
    taken: SimVar<bool>,
    fault: Fault,
}

impl TestAndSetLock {
    pub(super) fn new(site: &Site<'_, Sim>, fault: Fault) -> Self {
        Self { part: site.here(), taken: site.var("Taken", fault == Fault::StartsTaken), fault }
    }
}

impl KExclusion<Sim> for TestAndSetLock {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        let p = p.on(self.part);
        match self.fault {
            Fault::TestThenSet => {
                p.at(1).wait_until(&self.taken, |taken| !taken).await?;
                p.keep(1, &"free");
                p.at(1).write(&self.taken, true).await?;
            }
            Fault::NeverSets => {
                p.at(1).wait_until(&self.taken, |taken| !taken).await?;
            }
            _ => p.spin_until(|| async { Ok((!p.at(1).test_and_set(&self.taken).await?).then_some(())) }).await?,
        }
        p.mark(Mark::Rests(2));
        Ok(())
    }

    async fn release(&self, p: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        let p = p.on(self.part);
        match self.fault {
            Fault::NeverClears => p.at(2).write(&self.taken, true).await,
            Fault::WaitsToLeave => {
                p.at(2).wait_until(&self.taken, |taken| !taken).await?;
                p.keep(2, &"waited");
                p.at(2).write(&self.taken, false).await
            }
            _ => p.at(2).write(&self.taken, false).await,
        }
    }
}

impl AtOnce<Sim> for TestAndSetLock {
    async fn acquire_at_once(&self, p: &Process<Sim>) -> Result<Option<()>, Failure<Infallible>> {
        let p = p.on(self.part);
        let taken = if self.fault == Fault::AttemptTestsThenSets {
            let taken = p.at(1).read(&self.taken).await?;
            if !taken {
                p.keep(1, &"free");
                p.at(1).write(&self.taken, true).await?;
            }
            taken
        } else {
            p.at(1).test_and_set(&self.taken).await?
        };
        if taken {
            if self.fault == Fault::AttemptClears {
                p.keep(1, &"clears");
                p.at(1).write(&self.taken, false).await?;
            }
            return Ok(None);
        }
        p.mark(Mark::Rests(2));
        Ok(Some(()))
    }
}
