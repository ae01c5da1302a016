//! The simple turnstile with faults.

use crate::sim::{Part, Sim, SimCell, SimVar};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::k_exclusion::turnstile::{Next, Signal, simple_ring};
use doorway_core::memory::{Mark, Process, Site, decl};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    /// 4 goes one further back than it must.
    WalksFurther,
    /// 5 from the newest to the oldest.
    NewestFirst,
    /// 5 does not signal what is not drawn.
    SkipsUndrawn,
    /// 5 is tried again until it succeeds.
    TriesAgain,
    /// 5 is a write.
    Blind,
    OneTooMany,
    OneTooFew,
    /// After 5, waits until its ticket is drawn.
    WaitsToLeave,
}

pub(super) struct Simple {
    part: Part,
    k: i64,
    ring: usize,
    next: SimVar<Next>,
    served: SimVar<Next>,
    cell: Vec<SimCell<Signal>>,
    fault: Fault,
}

impl Simple {
    pub(super) fn new(site: &Site<'_, Sim>, n: usize, k: usize, fault: Fault) -> Self {
        let ring = simple_ring(n, k);
        let k = match fault {
            Fault::OneTooMany => k as i64 + 1,
            Fault::OneTooFew => k as i64 - 1,
            _ => k as i64,
        };
        let signalled = |i: usize| {
            let since = (i as i64).wrapping_sub(k) & (ring as i64 - 1);
            decl(Signal::to(k + since - ring as i64))
        };
        Self {
            part: site.here(),
            k,
            ring,
            next: site.var("next", Next(0)),
            served: site.var("served", Next(0)),
            cell: site.row("cell", ring, signalled),
            fault,
        }
    }

    fn cell(&self, t: i64) -> &SimCell<Signal> {
        &self.cell[t as usize & (self.ring - 1)]
    }

    /// 4: the first ticket to signal.
    async fn walk_back(&self, process: &Process<Sim>, c: i64) -> Result<i64, Infallible> {
        let p = process.on(self.part);
        let mut y = c;
        loop {
            let before = y.wrapping_sub(1);
            p.keep(4, &(c, y));
            if p.at(4).read(self.cell(before)).await?.reaches(before) {
                return Ok(if self.fault == Fault::WalksFurther { before } else { y });
            }
            y = before;
        }
    }

    /// 5, for one ticket.
    async fn signal(&self, process: &Process<Sim>, y: i64, live: (i64, i64, Option<i64>)) -> Result<(), Infallible> {
        let p = process.on(self.part);
        if self.fault == Fault::SkipsUndrawn {
            p.keep(5, &("looks", live));
            if Signal(p.at(5).read(&self.next).await?.0 as i64).reaches(y) {
                p.keep(5, &("drawn", live));
            } else {
                return Ok(());
            }
        } else {
            p.keep(5, &live);
        }
        if self.fault == Fault::Blind {
            return p.at(5).write(self.cell(y), Signal::to(y)).await;
        }
        let a_lap_ago = Signal::to(y.wrapping_sub(self.ring as i64));
        while p.at(5).compare_swap(self.cell(y), a_lap_ago, Signal::to(y)).await?.is_err()
            && self.fault == Fault::TriesAgain
        {
            p.keep(5, &live);
        }
        Ok(())
    }
}

impl KExclusion<Sim> for Simple {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        let p = p.on(self.part);
        p.keep(1, &());
        let t = p.at(1).fetch_add(&self.next, Next(1)).await?.0 as i64;
        p.mark(Mark::DoorwayEnds);
        p.shows("ticket", t);
        p.shows("counts", true);
        p.keep(2, &t);
        p.at(2).wait_until(self.cell(t), |signal: Signal| signal.reaches(t)).await?;
        p.hides("ticket");
        p.mark(Mark::Rests(3));
        Ok(())
    }

    async fn release(&self, process: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        let p = process.on(self.part);
        p.keep(3, &());
        let x = p.at(3).fetch_add(&self.served, Next(1)).await?.0 as i64;
        p.hides("counts");
        let c = x.wrapping_add(self.k);
        if self.fault != Fault::Blind {
            // With that fault it matters how far behind it is.
            p.shows("upto", c);
        }
        let first = self.walk_back(process, c).await?;
        let mut y = first;
        loop {
            let z = if self.fault == Fault::NewestFirst { first.wrapping_add(c.wrapping_sub(y)) } else { y };
            let live = (c, y, (self.fault == Fault::NewestFirst).then_some(first));
            self.signal(process, z, live).await?;
            if y == c {
                break;
            }
            y = y.wrapping_add(1);
        }
        p.hides("upto");
        if self.fault == Fault::WaitsToLeave {
            p.keep(5, &("left", c));
            p.at(5).wait_until(&self.next, |next: Next| Signal(next.0 as i64).reaches(c)).await?;
        }
        Ok(())
    }
}
