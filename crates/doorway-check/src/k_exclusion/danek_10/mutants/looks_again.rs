//! The k-Bakery from atomic registers, where 19 may start with all processes in `pred` at each
//! turn.

use crate::sim::{Part, Rules, Sim, SimCell, SimTable, TextError, World};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::k_exclusion::danek_10::{NoTicketLeft, Wants};
use doorway_core::memory::{Mark, Pid, Process, decl};
use doorway_core::registry::Sizes;
use std::convert::Infallible;

struct KBakery {
    part: Part,
    n: usize,
    k: usize,
    want: SimTable<Wants>,
    ticket: Vec<SimCell<u64>>,
    own: Vec<SimCell<u64>>,
    looks_again: bool,
}

pub(super) fn world(Sizes { n, k }: Sizes, rules: Rules, looks_again: bool) -> Result<World, TextError> {
    World::new(n, rules, |site| KBakery {
        part: site.here(),
        n,
        k,
        want: site.table("Want", 0..n, n, Wants::NOTHING),
        ticket: site.row("Ticket", n, |p| decl(0).home(Pid::new(p))),
        own: site.row("own", n, |p| decl(0).private(Pid::new(p))),
        looks_again,
    })
}

impl KBakery {
    fn others(&self, me: usize) -> impl Iterator<Item = usize> + use<> {
        (0..self.n).filter(move |&i| i != me)
    }
}

impl KExclusion<Sim> for KBakery {
    type Held = ();
    type Refusal = NoTicketLeft;

    async fn acquire(&self, process: &Process<Sim>) -> Result<(), Failure<Infallible, NoTicketLeft>> {
        let p = process.on(self.part);
        let me = p.pid().index();
        let old = p.at(14).read(&self.own[me]).await?;
        for i in self.others(me) {
            p.at(14).keeping(&(i, old)).write(&self.want[(i, me)], Wants::ticket(old)).await?;
        }
        let mut max = old;
        for i in self.others(me) {
            max = max.max(p.at(151).keeping(&(i, max)).read(&self.ticket[i]).await?);
        }
        let mine = max + 1;
        p.shows("draws", mine);
        p.at(152).keeping(&mine).write(&self.ticket[me], mine).await?;
        p.at(152).write(&self.own[me], mine).await?;
        p.hides("draws");
        p.mark(Mark::DoorwayEnds);
        for i in self.others(me) {
            p.at(16).keeping(&(i, mine)).write(&self.want[(i, me)], Wants::ticket(mine)).await?;
        }
        let mut pred: Vec<usize> = self.others(me).collect();
        while pred.len() >= self.k {
            let before = &pred;
            let turn = || async move {
                p.shows("pred", bits(before));
                let mut gone = Vec::new();
                for &i in before {
                    p.keep(21, &(i, mine, without(before, &gone), gone.is_empty()));
                    if (Wants::ticket(mine), me) < (p.at(21).read(&self.want[(me, i)]).await?, i) {
                        gone.push(i);
                        p.shows("pred", bits(&without(before, &gone)));
                    }
                }
                let goes_on = match self.looks_again {
                    true => before.len() - gone.len() < self.k,
                    false => !gone.is_empty(),
                };
                Ok(goes_on.then_some(gone))
            };
            let gone = p.spin_until(turn).await?;
            pred.retain(|i| !gone.contains(i));
        }
        p.hides("pred");
        p.mark(Mark::Rests(24));
        Ok(())
    }

    async fn release(&self, p: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        let (p, me) = (p.on(self.part), p.pid().index());
        for i in self.others(me) {
            p.at(25).keeping(&i).write(&self.want[(i, me)], Wants::NOTHING).await?;
        }
        Ok(())
    }
}

/// A set of processes as bits.
fn bits(set: &[usize]) -> u64 {
    set.iter().map(|&i| 1 << i).sum()
}

/// `set` without the processes in `gone`.
fn without(set: &[usize], gone: &[usize]) -> Vec<usize> {
    set.iter().copied().filter(|i| !gone.contains(i)).collect()
}
