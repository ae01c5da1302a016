//! Anderson and Moir's queue with faults.

use crate::sim::{Part, Rules, Sim, SimCell, SimVar, TextError, World};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Mark, Pid, Process, Site, decl};
use doorway_core::registry::Sizes;
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    OneSplit,
    DequeuesAll,
    LastInFirstOut,
    WaitsToLeave,
}

pub(super) fn world(Sizes { n, k }: Sizes, rules: Rules, fault: Fault) -> Result<World, TextError> {
    World::new(n, rules, |site| Queue::new(site, n, k, fault))
}

struct Queue {
    part: Part,
    x: SimVar<i64>,
    place: Vec<SimCell<u64>>,
    k: i64,
    fault: Fault,
}

impl Queue {
    fn new(site: &Site<'_, Sim>, n: usize, k: usize, fault: Fault) -> Self {
        let k = k as i64;
        Self {
            part: site.here(),
            x: site.var("X", k),
            place: site.row("place", n, |p| decl(0).home(Pid::new(p))),
            k,
            fault,
        }
    }

    /// `Dequeue(Q)`, within a block.
    async fn dequeue(&self, p: &Process<Sim>) -> Result<(), Infallible> {
        let p = p.on(self.part);
        let mut longest = 0;
        if self.fault == Fault::LastInFirstOut {
            for q in 0..self.place.len() {
                p.keep(3, &("looks", q, longest));
                longest = longest.max(p.at(3).read(&self.place[q]).await?);
            }
        }
        for q in 0..self.place.len() {
            p.keep(3, &(q, longest));
            let place = p.at(3).read(&self.place[q]).await?;
            let moved = match self.fault {
                Fault::DequeuesAll => 0,
                Fault::LastInFirstOut => {
                    if place == longest {
                        0
                    } else {
                        place
                    }
                }
                _ => place.saturating_sub(1),
            };
            if moved != place {
                p.at(3).write(&self.place[q], moved).await?;
            }
        }
        Ok(())
    }
}

impl KExclusion<Sim> for Queue {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        let p = p.on(self.part);
        let mine = &self.place[p.pid().index()];
        p.block_begins(&()).await?;
        let x = p.at(1).fetch_add(&self.x, -1).await?;
        if self.fault == Fault::OneSplit {
            p.block_ends(&());
            p.keep(1, &x);
        }
        if x <= 0 {
            p.at(1).write(mine, 1 + x.unsigned_abs()).await?;
        }
        if self.fault != Fault::OneSplit {
            p.block_ends(&());
        }
        p.mark(Mark::DoorwayEnds);
        if x <= 0 {
            p.keep(2, &());
            p.at(2).wait_until(mine, |place| place == 0).await?;
        }
        p.mark(Mark::Rests(3));
        Ok(())
    }

    async fn release(&self, process: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        let p = process.on(self.part);
        p.block_begins(&()).await?;
        self.dequeue(process).await?;
        p.keep(3, &self.place.len());
        p.at(3).fetch_add(&self.x, 1).await?;
        p.block_ends(&());
        if self.fault == Fault::WaitsToLeave {
            p.keep(3, &"left");
            p.at(3).wait_until(&self.x, |x| x == self.k).await?;
        }
        Ok(())
    }
}
