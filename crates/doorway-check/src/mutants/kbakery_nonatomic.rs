//! The k-Bakery from registers that are not atomic, with faults.

use super::kbakery::{bits, without};
use crate::sim::{Part, Sim, SimCell, SimTable};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::k_exclusion::danek_10::{NoTicketLeft, Wants};
use doorway_core::memory::{Domain, Here, Label, Mark, Needs, Pid, Process, Site, Word, decl};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    OnlyTicketsTorn,
    NoOld,
    NoNew,
    WritesTwoFirst,
    ReadsOneFirst,
    OneLook,
    DrawsMax,
    TiesStay,
    OneTooMany,
    OneTooFew,
    NoExit,
    WaitsToLeave,
    AlwaysCaptures,
    OneLookForCaptures,
    CapturesReadOneFirst,
    CapturesTies,
    CapturesTooHigh,
}

pub(super) struct Nonatomic {
    part: Part,
    n: usize,
    k: usize,
    want: [SimTable<Wants>; 2],
    ticket: Vec<SimCell<u64>>,
    capture: [SimTable<u64>; 2],
    own: Vec<SimCell<u64>>,
    shadow: SimTable<u64>,
    fault: Fault,
}

impl Nonatomic {
    pub(super) fn new(site: &Site<'_, Sim>, n: usize, k: usize, as_printed: bool, fault: Fault) -> Self {
        let tickets = || match as_printed {
            true => Needs::Safe(Domain::Naturals),
            false => Needs::Monotone(Domain::Naturals),
        };
        let domain = [Wants::ticket(0), Wants::NOTHING];
        let mut want = decl(Wants::NOTHING).needs(Needs::Safe(Domain::Of(&domain)));
        let mut capture = decl(0).needs(Needs::Safe(Domain::Of(&[0, u64::MAX])));
        if fault == Fault::OnlyTicketsTorn {
            (want.needs, capture.needs) = (Needs::Atomic, Needs::Atomic);
        }
        Self {
            part: site.here(),
            n,
            k,
            want: ["Want1", "Want2"].map(|name| site.table(name, 0..n, n, want)),
            ticket: site.row("Ticket", n, |p| decl(0).home(Pid::new(p)).needs(tickets())),
            capture: ["Capture1", "Capture2"].map(|name| site.table(name, 0..n, n, capture)),
            own: site.row("own", n, |p| decl(0).private(Pid::new(p))),
            shadow: site.table("shadow", 0..n, n, decl(0).private(Pid::new(0))),
            fault,
        }
    }

    fn others(&self, me: usize) -> impl Iterator<Item = usize> + use<> {
        (0..self.n).filter(move |&i| i != me)
    }

    async fn tell<T: Word>(
        &self,
        p: Here<'_, Sim>,
        copies: &[SimTable<T>; 2],
        (to, x): (usize, T),
        statement: Label,
    ) -> Result<(), Infallible> {
        let me = p.pid().index();
        let order = if self.fault == Fault::WritesTwoFirst { [1, 0] } else { [0, 1] };
        for (copy, turn) in order.into_iter().zip(1..) {
            p.keep(10 * statement + turn, &(to, x));
            p.at(10 * statement + turn).write(&copies[copy][(to, me)], x).await?;
        }
        Ok(())
    }

    async fn wants(&self, p: Here<'_, Sim>, what: Wants, statement: Label) -> Result<(), Infallible> {
        for i in self.others(p.pid().index()) {
            self.tell(p, &self.want, (i, what), statement).await?;
        }
        Ok(())
    }
}

impl KExclusion<Sim> for Nonatomic {
    type Held = ();
    type Refusal = NoTicketLeft;

    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible, NoTicketLeft>> {
        let (p, fault) = (p.on(self.part), self.fault);
        let me = p.pid().index();

        let old = p.at(301).read(&self.own[me]).await?;
        if fault != Fault::NoOld {
            self.wants(p, Wants::ticket(old), 30).await?;
        }
        let mut max = old;
        for i in self.others(me) {
            p.keep(311, &(i, max));
            max = max.max(p.at(311).read(&self.ticket[i]).await?);
        }
        let mine = max + u64::from(fault != Fault::DrawsMax);
        p.shows("draws", mine);
        p.keep(312, &mine);
        p.at(312).write(&self.ticket[me], mine).await?;
        p.at(312).write(&self.own[me], mine).await?;
        p.hides("draws");
        p.mark(Mark::DoorwayEnds);
        if fault != Fault::NoNew {
            self.wants(p, Wants::ticket(mine), 33).await?;
        }

        let enough = match fault {
            Fault::OneTooMany => self.k + 1,
            Fault::OneTooFew => self.k - 1,
            _ => self.k,
        };
        let (first, then) = if fault == Fault::ReadsOneFirst { (0, 1) } else { (1, 0) };
        let (capture_first, capture_then) = if fault == Fault::CapturesReadOneFirst { (0, 1) } else { (1, 0) };
        let captures = |x: u64| if fault == Fault::CapturesTies { mine <= x } else { mine < x };
        let mut pred: Vec<usize> = self.others(me).collect();
        let mut captured = false;
        while pred.len() >= enough && !captured {
            let before = &pred;
            let turn = || async move {
                p.shows("pred", bits(before));
                let (mut gone, mut captured) = (Vec::new(), false);
                for &i in before {
                    let goes_after = |want: Wants| match fault {
                        Fault::TiesStay => Wants::ticket(mine) < want,
                        _ => (Wants::ticket(mine), me) < (want, i),
                    };
                    p.keep(38, &(i, mine, without(before, &gone), gone.is_empty()));
                    if goes_after(p.at(38).read(&self.want[first][(me, i)]).await?) {
                        p.keep(39, &(i, mine, without(before, &gone), gone.is_empty()));
                        if fault == Fault::OneLook || goes_after(p.at(39).read(&self.want[then][(me, i)]).await?) {
                            gone.push(i);
                            p.shows("pred", bits(&without(before, &gone)));
                        }
                    }
                }
                for i in self.others(me) {
                    p.keep(41, &(i, mine, without(before, &gone), gone.is_empty(), captured));
                    if captures(p.at(41).read(&self.capture[capture_first][(me, i)]).await?) {
                        p.keep(42, &(i, mine, without(before, &gone), gone.is_empty(), captured));
                        captured |= fault == Fault::OneLookForCaptures
                            || captures(p.at(42).read(&self.capture[capture_then][(me, i)]).await?);
                    }
                }
                Ok((captured || !gone.is_empty()).then_some((gone, captured)))
            };
            let (gone, was_captured) = p.spin_until(turn).await?;
            pred.retain(|i| !gone.contains(i));
            captured = was_captured;
        }
        p.hides("pred");

        for i in self.others(me) {
            p.keep(44, &(i, mine));
            let theirs = p.at(44).read(&self.ticket[i]).await?;
            if p.at(44).read(&self.shadow[(me, i)]).await? <= theirs || fault == Fault::AlwaysCaptures {
                let x = mine + u64::from(fault == Fault::CapturesTooHigh);
                self.tell(p, &self.capture, (i, x), 45).await?;
                p.at(452).write(&self.shadow[(me, i)], x).await?;
            }
        }
        p.mark(Mark::Rests(46));
        Ok(())
    }

    async fn release(&self, p: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        let (p, me) = (p.on(self.part), p.pid().index());
        if self.fault == Fault::WaitsToLeave {
            p.keep(48, &"waits");
            p.at(48).wait_until(&self.want[0][(me, (me + 1) % self.n)], |want| want == Wants::NOTHING).await?;
        }
        if self.fault != Fault::NoExit {
            self.wants(p, Wants::NOTHING, 48).await?;
        }
        Ok(())
    }
}
