//! The k-Bakery from atomic registers, with faults.

use crate::sim::{Part, Sim, SimCell, SimTable};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::k_exclusion::danek_10::{NoTicketLeft, Order, Wants};
use doorway_core::memory::{Mark, Pid, Process, Site, decl};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    NoOld,
    DrawsMax,
    LooksAgain,
    WriterHome,
    CapturesByName,
    CapturesEarly,
}

pub(super) struct KBakery {
    part: Part,
    n: usize,
    k: usize,
    want: SimTable<Wants>,
    ticket: Vec<SimCell<u64>>,
    capture: Option<SimTable<u64>>,
    own: Vec<SimCell<u64>>,
    fault: Fault,
}

impl KBakery {
    pub(super) fn new(site: &Site<'_, Sim>, n: usize, k: usize, order: Order, fault: Fault) -> Self {
        Self {
            part: site.here(),
            n,
            k,
            want: site.table("Want", 0..n, n, Wants::NOTHING),
            ticket: site.row("Ticket", n, |p| decl(0).home(Pid::new(p))),
            capture: (order == Order::FirstEnabled).then(|| site.table("Capture", 0..n, n, 0)),
            own: site.row("own", n, |p| decl(0).private(Pid::new(p))),
            fault,
        }
    }

    fn others(&self, me: usize) -> impl Iterator<Item = usize> + use<> {
        (0..self.n).filter(move |&i| i != me)
    }

    /// What `by` tells `to`.
    fn want(&self, to: usize, by: usize) -> &SimCell<Wants> {
        &self.want[if self.fault == Fault::WriterHome { (by, to) } else { (to, by) }]
    }

    async fn capture(&self, p: &Process<Sim>, mine: u64) -> Result<(), Infallible> {
        let (p, me) = (p.on(self.part), p.pid().index());
        if let Some(capture) = &self.capture {
            for i in self.others(me) {
                p.keep(23, &(i, mine));
                p.at(23).write(&capture[(i, me)], mine).await?;
            }
        }
        Ok(())
    }
}

impl KExclusion<Sim> for KBakery {
    type Held = ();
    type Refusal = NoTicketLeft;

    async fn acquire(&self, process: &Process<Sim>) -> Result<(), Failure<Infallible, NoTicketLeft>> {
        let (p, fault) = (process.on(self.part), self.fault);
        let me = p.pid().index();

        let old = p.at(14).read(&self.own[me]).await?;
        for i in self.others(me).filter(|_| fault != Fault::NoOld) {
            p.keep(14, &(i, old));
            p.at(14).write(self.want(i, me), Wants::ticket(old)).await?;
        }
        let mut max = old;
        for i in self.others(me) {
            p.keep(151, &(i, max));
            max = max.max(p.at(151).read(&self.ticket[i]).await?);
        }
        let mine = max + u64::from(fault != Fault::DrawsMax);
        p.shows("draws", mine);
        p.keep(152, &mine);
        p.at(152).write(&self.ticket[me], mine).await?;
        p.at(152).write(&self.own[me], mine).await?;
        p.hides("draws");
        p.mark(Mark::DoorwayEnds);
        for i in self.others(me) {
            p.keep(16, &(i, mine));
            p.at(16).write(self.want(i, me), Wants::ticket(mine)).await?;
        }

        if fault == Fault::CapturesEarly {
            self.capture(process, mine).await?;
        }
        let goes_after = |want: Wants, i: usize| (Wants::ticket(mine), me) < (want, i);
        let captures = |x: u64, i: usize| match fault {
            Fault::CapturesByName => (mine, me) < (x, i),
            _ => mine < x,
        };
        let mut pred: Vec<usize> = self.others(me).collect();
        let mut captured = false;
        while pred.len() >= self.k && !captured {
            let before = &pred;
            let turn = || async move {
                p.shows("pred", bits(before));
                let (mut gone, mut captured) = (Vec::new(), false);
                for &i in before {
                    p.keep(21, &(i, mine, without(before, &gone), gone.is_empty()));
                    if goes_after(p.at(21).read(self.want(me, i)).await?, i) {
                        gone.push(i);
                        p.shows("pred", bits(&without(before, &gone)));
                    }
                }
                if let Some(capture) = &self.capture {
                    for i in self.others(me) {
                        p.keep(22, &(i, mine, without(before, &gone), gone.is_empty(), captured));
                        captured |= captures(p.at(22).read(&capture[(me, i)]).await?, i);
                    }
                }
                let goes_on = match fault {
                    Fault::LooksAgain => before.len() - gone.len() < self.k,
                    _ => !gone.is_empty(),
                };
                Ok((captured || goes_on).then_some((gone, captured)))
            };
            let (gone, was_captured) = p.spin_until(turn).await?;
            pred.retain(|i| !gone.contains(i));
            captured = was_captured;
        }
        p.hides("pred");

        if fault != Fault::CapturesEarly {
            self.capture(process, mine).await?;
        }
        p.mark(Mark::Rests(24));
        Ok(())
    }

    async fn release(&self, p: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        let (p, me) = (p.on(self.part), p.pid().index());
        for i in self.others(me) {
            p.keep(25, &i);
            p.at(25).write(self.want(i, me), Wants::NOTHING).await?;
        }
        Ok(())
    }
}

/// A set of processes as bits.
pub(super) fn bits(set: &[usize]) -> u64 {
    set.iter().map(|&i| 1 << i).sum()
}

/// `set` without those that are `gone`.
pub(super) fn without(set: &[usize], gone: &[usize]) -> Vec<usize> {
    set.iter().copied().filter(|i| !gone.contains(i)).collect()
}
