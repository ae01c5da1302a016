//! Mellor-Crummey and Scott's queue lock with faults, with and without compare-and-swap.

use crate::sim::{Part, Sim, SimCell, SimVar};
use doorway_core::Failure;
use doorway_core::k_exclusion::{AtOnce, KExclusion};
use doorway_core::memory::{Mark, Pid, Process, Site, decl};
use std::convert::Infallible;

/// How the exit finds out that nobody has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Exit {
    CompareSwap,
    Swap,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    NoOne,
    TwoSplit,
    LinksFirst,
    NoThree,
    NoFive,
    NoEight,
    EightSplit,
    /// The other exit in place of one's own.
    NoCompareSwap,
    NeverPutsBack,
    NeverLooksForUsurpers,
    NoNine,
    NoTen,
    StartsTaken,
    AttemptWithoutOne,
    AttemptSplit,
    AttemptSwaps,
}

pub(super) struct QueueLock {
    part: Part,
    tail: SimVar<Option<Pid>>,
    next: Vec<SimCell<Option<Pid>>>,
    locked: Vec<SimCell<bool>>,
    exit: Exit,
    fault: Fault,
}

impl QueueLock {
    pub(super) fn new(site: &Site<'_, Sim>, n: usize, exit: Exit, fault: Fault) -> Self {
        Self {
            part: site.here(),
            tail: site.var("Tail", (fault == Fault::StartsTaken).then_some(Pid::new(0))),
            next: site.row("Next", n, |p| decl(None).home(Pid::new(p))),
            locked: site.row("Locked", n, |p| decl(false).home(Pid::new(p))),
            exit: if fault == Fault::NoCompareSwap { Exit::Swap } else { exit },
            fault,
        }
    }
}

impl KExclusion<Sim> for QueueLock {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        let p = p.on(self.part);
        let (me, f) = (p.pid(), self.fault);
        if f != Fault::NoOne {
            p.at(1).write(&self.next[me.index()], None).await?;
            p.keep(2, &());
        }
        let before = if f == Fault::TwoSplit {
            let before = p.at(2).read(&self.tail).await?;
            p.keep(2, &("split", before));
            p.at(2).write(&self.tail, Some(me)).await?;
            before
        } else {
            p.at(2).swap(&self.tail, Some(me)).await?
        };
        p.mark(Mark::DoorwayEnds);
        if let Some(before) = before {
            if f == Fault::LinksFirst {
                p.keep(4, &before);
                p.at(4).write(&self.next[before.index()], Some(me)).await?;
            }
            if f != Fault::NoThree {
                p.keep(3, &before);
                p.at(3).write(&self.locked[me.index()], true).await?;
            }
            if f != Fault::LinksFirst {
                p.keep(4, &before);
                p.at(4).write(&self.next[before.index()], Some(me)).await?;
            }
            if f != Fault::NoFive {
                p.keep(5, &());
                p.at(5).wait_until(&self.locked[me.index()], |locked| !locked).await?;
            }
        }
        p.mark(Mark::Rests(6));
        Ok(())
    }

    async fn release(&self, p: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        let p = p.on(self.part);
        let (me, f) = (p.pid(), self.fault);
        let mut next = p.at(7).read(&self.next[me.index()]).await?;
        let mut usurper = None;
        if next.is_none() {
            if f == Fault::NoEight {
                return Ok(());
            }
            p.keep(8, &());
            match self.exit {
                Exit::CompareSwap if f == Fault::EightSplit => {
                    if p.at(8).read(&self.tail).await? == Some(me) {
                        p.keep(8, &"split");
                        return p.at(8).write(&self.tail, None).await;
                    }
                }
                Exit::CompareSwap => {
                    if p.at(8).compare_swap(&self.tail, Some(me), None).await?.is_ok() {
                        return Ok(());
                    }
                }
                Exit::Swap => {
                    let last = p.at(8).swap(&self.tail, None).await?;
                    if last == Some(me) {
                        return Ok(());
                    }
                    if f != Fault::NeverPutsBack {
                        p.keep(81, &last);
                        usurper = p.at(81).swap(&self.tail, last).await?;
                    }
                }
            }
            if f == Fault::NeverLooksForUsurpers {
                usurper = None;
            }
            if f != Fault::NoNine {
                p.keep(9, &usurper);
                next = p.at(9).wait_until(&self.next[me.index()], |next| next.is_some()).await?;
            }
        }
        match (next, usurper) {
            _ if f == Fault::NoTen => Ok(()),
            (Some(_), Some(usurper)) => {
                p.keep(91, &(next, usurper));
                p.at(91).write(&self.next[usurper.index()], next).await
            }
            (Some(next), None) => {
                p.keep(10, &next);
                p.at(10).write(&self.locked[next.index()], false).await
            }
            (None, _) => Ok(()),
        }
    }
}

impl AtOnce<Sim> for QueueLock {
    async fn acquire_at_once(&self, p: &Process<Sim>) -> Result<Option<()>, Failure<Infallible>> {
        let p = p.on(self.part);
        let (me, f) = (p.pid(), self.fault);
        if f != Fault::AttemptWithoutOne {
            p.at(1).write(&self.next[me.index()], None).await?;
            p.keep(11, &());
        }
        let before = match f {
            Fault::AttemptSplit => {
                let before = p.at(11).read(&self.tail).await?;
                if before.is_none() {
                    p.keep(11, &"free");
                    p.at(11).write(&self.tail, Some(me)).await?;
                }
                before
            }
            Fault::AttemptSwaps => {
                let before = p.at(11).swap(&self.tail, Some(me)).await?;
                if before.is_some() {
                    p.keep(11, &before);
                    p.at(11).write(&self.tail, before).await?;
                }
                before
            }
            _ => p.at(11).compare_swap(&self.tail, None, Some(me)).await?.err().flatten(),
        };
        if before.is_some() {
            return Ok(None);
        }
        p.mark(Mark::DoorwayEnds);
        p.mark(Mark::Rests(6));
        Ok(Some(()))
    }
}
