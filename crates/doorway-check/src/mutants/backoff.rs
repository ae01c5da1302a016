//! The test-and-set lock with backoff, with faults.

use crate::sim::{Part, Sim, SimCell, SimVar};
use doorway_core::Failure;
use doorway_core::k_exclusion::{AtOnce, KExclusion};
use doorway_core::memory::{Mark, Pid, Process, Site, decl};
use doorway_core::mutex::mellor_crummey_scott_91::LONGEST;
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    TestThenSet,
    EntersAfterPause,
    NeverClears,
    ClearsOnFailure,
    StartsTaken,
    DoublesTooOften,
    NeverSleeps,
    WaitsToLeave,
    AttemptClears,
    AttemptEntersAfterASecondLook,
}

pub(super) struct BackoffLock {
    part: Part,
    taken: SimVar<bool>,
    delay: Vec<SimCell<u64>>,
    idle: Vec<SimCell<bool>>,
    fault: Fault,
}

impl BackoffLock {
    pub(super) fn new(site: &Site<'_, Sim>, n: usize, fault: Fault) -> Self {
        Self {
            part: site.here(),
            taken: site.var("Taken", fault == Fault::StartsTaken),
            delay: site.row("Delay", n, |p| decl(1).private(Pid::new(p))),
            idle: site.row("Idle", n, |p| decl(false).home(Pid::new(p))),
            fault,
        }
    }
}

impl KExclusion<Sim> for BackoffLock {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        let p = p.on(self.part);
        let me = p.pid().index();
        let f = self.fault;
        let turn = || async {
            p.keep(1, &());
            let taken = if f == Fault::TestThenSet {
                let taken = p.at(1).read(&self.taken).await?;
                if !taken {
                    p.keep(1, &"free");
                    p.at(1).write(&self.taken, true).await?;
                }
                taken
            } else {
                p.at(1).test_and_set(&self.taken).await?
            };
            if !taken {
                return Ok(Some(()));
            }
            let delay = p.at(2).read(&self.delay[me]).await?;
            let longest = if f == Fault::DoublesTooOften { 2 * LONGEST } else { LONGEST };
            if delay < longest || f == Fault::NeverSleeps {
                p.at(2).write(&self.delay[me], (2 * delay).min(longest)).await?;
            }
            let enters = f == Fault::EntersAfterPause && delay == LONGEST;
            for left in (1..=delay).rev() {
                p.shows("left", left);
                p.keep(3, &(left, enters));
                p.at(3).read(&self.idle[me]).await?;
            }
            p.hides("left");
            if f == Fault::ClearsOnFailure {
                p.keep(1, &"clears");
                p.at(1).write(&self.taken, false).await?;
            }
            Ok(enters.then_some(()))
        };
        p.at(1).write(&self.delay[me], 1).await?;
        p.go_round_until(turn).await?;
        p.mark(Mark::Rests(4));
        Ok(())
    }

    async fn release(&self, p: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        let p = p.on(self.part);
        if self.fault == Fault::WaitsToLeave {
            p.at(4).wait_until(&self.taken, |taken| !taken).await?;
            p.keep(4, &"waited");
        }
        p.at(4).write(&self.taken, self.fault == Fault::NeverClears).await
    }
}

impl AtOnce<Sim> for BackoffLock {
    async fn acquire_at_once(&self, p: &Process<Sim>) -> Result<Option<()>, Failure<Infallible>> {
        let p = p.on(self.part);
        if p.at(1).test_and_set(&self.taken).await? {
            match self.fault {
                Fault::AttemptClears => {
                    p.keep(1, &"clears");
                    p.at(1).write(&self.taken, false).await?;
                    return Ok(None);
                }
                Fault::AttemptEntersAfterASecondLook => {
                    p.keep(1, &"looks");
                    if p.at(1).read(&self.taken).await? {
                        return Ok(None);
                    }
                }
                _ => return Ok(None),
            }
        }
        p.mark(Mark::Rests(4));
        Ok(Some(()))
    }
}
