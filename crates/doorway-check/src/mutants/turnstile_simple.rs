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
    /// 1 is a read and a write.
    OneSplit,
    /// 2 waits in the cell before its own.
    WrongCell,
    /// 2 does not go by laps: any signal in its cell will do.
    AnyLap,
    /// 3 is a read and a write.
    ThreeSplit,
    /// 3 counts two exits.
    CountsTwice,
    /// After 3, enables one ticket more.
    EnablesMore,
    /// 4 dropped: signals its own ticket only.
    NoWalk,
    /// 4 goes one further back than it must.
    WalksFurther,
    /// 5 from the newest to the oldest.
    NewestFirst,
    /// 5 does not signal what is not drawn.
    SkipsUndrawn,
    /// 5 leaves out its own ticket.
    NotItsOwn,
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
        if self.fault == Fault::NoWalk {
            return Ok(y);
        }
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
        let t = if self.fault == Fault::OneSplit {
            let t = p.at(1).read(&self.next).await?;
            p.keep(1, &t);
            p.at(1).write(&self.next, Next(t.0.wrapping_add(1))).await?;
            t.0 as i64
        } else {
            p.at(1).fetch_add(&self.next, Next(1)).await?.0 as i64
        };
        p.mark(Mark::DoorwayEnds);
        p.shows("ticket", t);
        p.shows("counts", true);
        p.keep(2, &t);
        let awaited = if self.fault == Fault::WrongCell { t.wrapping_sub(1) } else { t };
        let enough = if self.fault == Fault::AnyLap { t.wrapping_sub(self.ring as i64) } else { awaited };
        p.at(2).wait_until(self.cell(awaited), |signal: Signal| signal.reaches(enough)).await?;
        p.hides("ticket");
        p.mark(Mark::Rests(3));
        Ok(())
    }

    async fn release(&self, process: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        let p = process.on(self.part);
        p.keep(3, &());
        let x = if self.fault == Fault::ThreeSplit {
            let x = p.at(3).read(&self.served).await?;
            p.keep(3, &x);
            p.at(3).write(&self.served, Next(x.0.wrapping_add(1))).await?;
            x.0 as i64
        } else {
            let exits = if self.fault == Fault::CountsTwice { 2 } else { 1 };
            p.at(3).fetch_add(&self.served, Next(exits)).await?.0 as i64
        };
        p.hides("counts");
        let c = x.wrapping_add(self.k).wrapping_add(i64::from(self.fault == Fault::EnablesMore));
        if self.fault != Fault::Blind {
            // With that fault it matters how far behind it is.
            p.shows("upto", c);
        }
        let first = self.walk_back(process, c).await?;
        let mut y = first;
        loop {
            let z = if self.fault == Fault::NewestFirst { first.wrapping_add(c.wrapping_sub(y)) } else { y };
            if z != c || self.fault != Fault::NotItsOwn {
                let live = (c, y, (self.fault == Fault::NewestFirst).then_some(first));
                self.signal(process, z, live).await?;
            }
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
