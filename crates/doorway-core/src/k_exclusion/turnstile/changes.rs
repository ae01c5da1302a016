//! What changes a turnstile as a whole: more places, fewer places, closing; and a look at it.

use super::words::after;
use super::{Door, Duty, Fate, Gate, Held, Line, Places, TooMany, Turnstile};
use crate::k_exclusion::KExclusion;
use crate::memory::{CompareSwap, FetchAdd, Here, Process, in_both_forms, within};

impl<M: FetchAdd + CompareSwap, L: Line<M>> Turnstile<M, L> {
    /// Adds places, as long as there are at most `room` of them then: 41, 42, and an exit. Waiters
    /// are let in.
    ///
    /// # Errors
    /// If an access failed. The inner error says that there would be too many.
    pub async fn add(&self, p: &Process<M>, units: u64, room: u64) -> Result<Result<(), TooMany>, M::Error> {
        let here = p.on(self.part);
        loop {
            let places = here.at(41).keeping(&()).read(&self.places).await?;
            let Some(more) = places.0.checked_add(units).filter(|&more| more <= room) else {
                let (asked, most) = (units as usize, room.saturating_sub(places.0) as usize);
                return Ok(Err(TooMany { asked, most }));
            };
            if here.at(42).keeping(&places).compare_swap(&self.places, places, Places(more)).await?.is_ok() {
                break;
            }
        }
        if units > 0 {
            here.shows("units", units); // as if the process were inside with them, and left
            self.release(p, Held::of(units, false)).await?;
        }
        Ok(Ok(()))
    }

    /// An exit with one unit that is not this process's own, whatever this process holds or waits
    /// for: 9. Returns `Some` if it must [help](Self::help_before) then.
    pub(in crate::k_exclusion) async fn give_another_back(&self, p: Here<'_, M>) -> Result<Option<Duty>, M::Error> {
        let g = p.at(9).keeping(&"another").fetch_add(&self.gate, Gate::exited(1, false)).await?;
        let (upto, far) = (g.opened(1).open, g.passes_a_mark(1));
        let duty = Duty { upto, units: 1, owes: true, line: g.line != 0, far, odd: g.odd, sweeps: false };
        if duty.line || far {
            p.shows("upto", upto);
        }
        Ok((duty.line || far).then_some(duty))
    }

    /// A process inside leaves the line, and stays inside: 43, and the door. From then on it is
    /// like a process that found the line empty.
    ///
    /// # Errors
    /// If an access failed.
    pub async fn leave_line(&self, p: &Process<M>, held: Held) -> Result<Held, M::Error> {
        let here = p.on(self.part);
        if held.announced {
            let g = here.at(43).keeping(&held).fetch_add(&self.gate, Gate::forgotten(held.units)).await?;
            here.hides("in line");
            let emptied = self.line.goes_back() && g.line == held.units;
            here.part(&emptied);
            self.see_to_the_door(p).await?;
            here.part_done();
            if emptied {
                L::gives_back(self, here, &()).await?;
            }
        }
        Ok(Held { announced: false, ..held })
    }

    /// An exit that takes its places along: 43, 44. Its tickets leave the line, and enable no
    /// other.
    ///
    /// # Errors
    /// If an access failed.
    pub async fn forget(&self, p: &Process<M>, held: Held) -> Result<(), M::Error> {
        let here = p.on(self.part);
        let held = within!(here, &held, self.leave_line(p, held).await?);
        here.at(44).keeping(&held).fetch_add(&self.places, Places(held.units.wrapping_neg())).await?;
        here.hides("units");
        Ok(())
    }

    /// Lets no process in any more: 30 to 36. Processes in line are turned away, and those inside
    /// can leave.
    ///
    /// # Errors
    /// If an access failed.
    pub async fn close(&self, p: &Process<M>) -> Result<(), M::Error> {
        let p = p.on(self.part);
        // The gate before the door: a process that is told that it is closed has seen a gate that
        // lets no process in any more, or a door that was shut after that.
        let gate = loop {
            let g = p.at(31).keeping(&()).read(&self.gate).await?;
            if g.closed || p.at(32).keeping(&g).compare_swap(&self.gate, g, Gate { closed: true, ..g }).await?.is_ok() {
                break g;
            }
        };
        p.at(30).keeping(&gate).write(&self.door, Door::SHUT).await?;
        // A process that announces from here on sees that it is closed.
        L::shut(self, p, gate).await
    }

    in_both_forms! {
        /// Whether it was closed: 31.
        #[inline(always)]
        pub fn is_closed, is_closed_now(&self, p: &Process<M>) -> bool {
            let p = p.on(self.part);
            access!(p.at(31).keeping(&()).read(&self.gate)).closed
        }
    }

    /// How many places there are: 41.
    ///
    /// # Errors
    /// If an access failed.
    pub async fn places(&self, p: &Process<M>) -> Result<u64, M::Error> {
        let p = p.on(self.part);
        Ok(p.at(41).keeping(&()).read(&self.places).await?.0)
    }

    /// The state of the turnstile: 37 to 39, 48 and 49.
    ///
    /// - (L1) `free` is a lower bound of what was free when `next` was read (38): the gate was read
    ///   before it. It is exact if the gate did not change in between, and if that many places are
    ///   left in the end.
    /// - (L2) `waiting` is a lower bound of the units that waited when the gate was read again
    ///   (39). It is exact if no process drew a ticket in between.
    /// - (L3) `free` is never more than `places`, which is read at one moment (48).
    ///
    /// # Errors
    /// If an access failed.
    pub async fn look(&self, p: &Process<M>) -> Result<Look, M::Error> {
        let p = p.on(self.part);
        let before = p.at(37).keeping(&()).read(&self.gate).await?;
        p.shows("gate before", before);
        let next = p.at(38).keeping(&before).read(&self.next).await?.ticket();
        let free = (-before.distance(next)).max(0).unsigned_abs();
        p.shows("free", free);
        p.shows("next before", next);
        let g = p.at(39).keeping(&(free, next)).read(&self.gate).await?;
        let waiting = g.distance(next).max(0).unsigned_abs();
        p.hides("gate before");
        p.shows("waiting", waiting);
        let places = p.at(48).keeping(&(free, waiting, next, g.closed)).read(&self.places).await?.0;
        p.hides("next before");
        p.hides("waiting");
        let free = free.min(places);
        p.shows("free", free);
        p.shows("places found", places);
        let door = p.at(49).keeping(&(free, waiting, next, g.closed, places)).read(&self.door).await?;
        p.hides("free");
        p.hides("places found");
        let camping = !door.is_open() && !door.is_shut();
        Ok(Look { places, next, free, waiting, camping, closed: g.closed })
    }

    /// The number of units that a look found waiting and that were given up: 57, for each of them.
    ///
    /// - (L4) Each unit is judged as its record says at that moment. Where no process
    ///   [moves](super::moving), a ticket that was given up is never taken up again. So the waiters
    ///   that are left are an upper bound of those that still wait. They are exact if no process
    ///   came, went or moved.
    ///
    /// It takes a step for each unit that waits, and more where records lie in several rings. It is
    /// meant for inspection.
    ///
    /// # Errors
    /// If an access failed.
    pub async fn ghosts(&self, p: &Process<M>, look: &Look) -> Result<u64, M::Error> {
        let p = p.on(self.part);
        let mut ghosts = 0;
        for back in (1..=look.waiting).rev() {
            let t = after(look.next, back.wrapping_neg());
            p.shows("judges", t);
            p.hides("gone");
            let found = L::find(self, p, 57, t, (ghosts, back, look.next)).await?;
            let gone = found.as_ref().is_some_and(|found| found.fate == Fate::Gone);
            let counted = found.is_some_and(|found| found.counted);
            L::lets_go(self, p, counted, &(ghosts, back, look.next, gone)).await?;
            p.shows("gone", gone); // it stays shown: no step of this text follows the last one
            ghosts += u64::from(gone);
        }
        Ok(ghosts)
    }
}

/// What a [look](Turnstile::look) found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Look {
    /// The number of places.
    pub places: u64,
    /// The next ticket.
    pub next: u64,
    /// Units that no process has asked for; never more than `places`.
    pub free: u64,
    /// Units that have been asked for and were not free. Those that were given up count until their
    /// turn comes; [to count them](Turnstile::ghosts) takes a longer look.
    pub waiting: u64,
    /// Whether the line is too long for newcomers.
    pub camping: bool,
    /// Whether it is closed.
    pub closed: bool,
}
