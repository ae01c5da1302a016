//! Records in one ring of a fixed size: record `t mod R` is that of ticket `t`, whether it waits or
//! not.

use super::line::{Claimed, Found, Line};
use super::words::{after, is_before};
use super::{DrawnTickets, Fate, Gate, Limits, Record, Turnstile};
use crate::memory::{CompareSwap, FetchAdd, Here, Immediate, Label, Memory, Site, in_both_forms};
use core::fmt::{self, Debug};

/// One ring.
pub struct Ring<M: Memory> {
    rec: M::Row<Record>,
    size: usize,
}

impl<M: Memory> Debug for Ring<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").field("size", &self.size).finish_non_exhaustive()
    }
}

impl<M: Memory> Ring<M> {
    pub(super) fn new(site: &Site<'_, M>, size: usize, first: u64) -> Self {
        let older = |i: usize| {
            // The last ticket before `first` that has this place.
            let place = (i as u64).wrapping_sub(first) & (size as u64 - 1);
            Record::new(first.wrapping_add(place).wrapping_sub(size as u64), Fate::Signalled).into()
        };
        Self { rec: site.row("rec", size, older), size }
    }
}

impl<M: FetchAdd + CompareSwap> Turnstile<M, Ring<M>> {
    in_both_forms! {
    /// There is one place for it.
    #[inline(always)]
    fn look_for, look_for_now<K: Debug>(&self, p: Here<'_, M>, at: Label, t: u64, live: K) -> Option<Found<'_, M>> {
        let cell = self.line.record(0, t);
        let record = access!(p.at(at).keeping(&live).read(cell));
        Some(Found { ring: 0, cell, record, fate: record.fate_of(t), counted: false })
    }
    }
}

impl<M: FetchAdd + CompareSwap> Line<M> for Ring<M> {
    const SWEEPS: bool = false;

    fn kept(tickets: DrawnTickets) -> impl Debug {
        tickets.first
    }

    fn remembers(_: bool) -> bool {
        true
    }

    async fn claim<'a>(
        of: &'a Turnstile<M, Self>,
        _: Here<'_, M>,
        tickets: DrawnTickets,
    ) -> Result<Claimed<'a, M>, M::Error> {
        Ok(Claimed::In(0, of.line.record(0, tickets.last())))
    }

    #[inline(always)]
    fn claim_now<'a>(of: &'a Turnstile<M, Self>, _: Here<'_, M>, tickets: DrawnTickets) -> Claimed<'a, M>
    where
        M: Immediate,
    {
        Claimed::In(0, of.line.record(0, tickets.last()))
    }

    #[inline(always)]
    fn record(&self, _: u32, t: u64) -> &M::Cell<Record> {
        &self.rec[t as usize & (self.size - 1)]
    }

    async fn find<'a, K: Debug>(
        of: &'a Turnstile<M, Self>,
        p: Here<'_, M>,
        at: Label,
        t: u64,
        live: K,
    ) -> Result<Option<Found<'a, M>>, M::Error> {
        of.look_for(p, at, t, live).await
    }

    #[inline(always)]
    fn find_now<'a, K: Debug>(
        of: &'a Turnstile<M, Self>,
        p: Here<'_, M>,
        at: Label,
        t: u64,
        live: K,
    ) -> Option<Found<'a, M>>
    where
        M: Immediate,
    {
        of.look_for_now(p, at, t, live)
    }

    fn is_far(limits: &Limits, g: Gate, t: u64) -> bool {
        g.distance(t) + limits.places as i64 >= limits.ring as i64
    }

    async fn shut(of: &Turnstile<M, Self>, p: Here<'_, M>, gate: Gate) -> Result<(), M::Error> {
        // A ticket that was announced before closing lies between the front and `next`.
        let next = p.at(33).keeping(&gate).read(&of.next).await?.ticket();
        let front = p.at(34).keeping(&(gate, next)).read(&of.front).await?.ticket;
        // No ticket further back waits (T5). Tickets a ring further on are far: they watch the
        // door.
        let oldest = after(gate.open_near(next).wrapping_sub(of.limits.places), 0);
        let mut t = if is_before(front, oldest) { oldest } else { front };
        let a_ring_on = after(t, of.limits.ring as u64);
        let end = if is_before(a_ring_on, next) { a_ring_on } else { next };
        while is_before(t, end) {
            let cell = of.line.record(0, t);
            let record = p.at(35).keeping(&(t, end)).read(cell).await?;
            if record.fate_of(t).is_open()
                && p.at(36)
                    .keeping(&(t, end, record))
                    .compare_swap(cell, record, Record::new(t, Fate::Shut))
                    .await?
                    .is_err()
            {
                continue;
            }
            t = after(t, 1);
        }
        Ok(())
    }
}
