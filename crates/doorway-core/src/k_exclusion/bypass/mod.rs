//! `(N, k)`-exclusion with bounded barging: newcomers pass a waiter a bounded number of times.
//!
//! # Problem
//! Once there are more threads than processors, strict order makes every passage a change of
//! threads. Without any order, a waiter can wait for ever. This text is between the two: newcomers
//! may pass a waiter, and a number `B` limits how often.
//!
//! # Source
//! Our own, around the [turnstile](super::turnstile). The basic idea is old: a waiter that was
//! woken competes with newcomers. Once it has lost for too long, the place is handed over to it.
//! Go's `sync.Mutex` does so after a millisecond; `parking_lot` and WebKit do so at random, about
//! twice in a millisecond. This text counts passages and not time, so its bound can be checked.
//!
//! # Idea
//! The turnstile keeps the line, and does not change. A holder that leaves while a waiter is in
//! line does not exit. It leaves its place in the *tray*, and *calls* the first in line. Newcomers
//! may take places from the tray, until `B` of them have. Once the first in line runs, it *moves* a
//! place from the tray to the turnstile: it exits with that place, and so lets itself in. Once `B`
//! newcomers have passed, a holder that leaves moves its place at once. Then the place belongs to
//! the first waiter, and no newcomer can take it.
//!
//! # Shared variables
//! Those of the turnstile, and
//!
//! | name     | range                     | initially   | home   | written at     | meaning |
//! |----------|---------------------------|-------------|--------|----------------|---------|
//! | `tray`   | `(loose, moving, passed)` | `(0, 0, 0)` | nobody | 61, 63, 69, 70 | [places that were left](Left), places on their way to the turnstile, newcomers that took one since a place was last moved |
//! | `rec[t]` | as there                  | as there    | nobody | also 67, 72    | a waiter [listens](Fate::Listens) there, and is [called](Fate::Called) there |
//! | `stamp`  | number                    | 0           | nobody | 76             | how many processes were let in without a ticket of their own, or out of the line, if that is to be noted |
//!
//! # Statements
//! Besides those of the turnstile:
//!
//! | statement | what |
//! |---|---|
//! | 60, 61 | a newcomer takes a place from the tray |
//! | 62, 63 | a holder leaves: if the line is empty it exits, otherwise the place goes to the tray |
//! | 64 to 67 | it calls the first in line. If that is no waiter which listens, it moves the place |
//! | 68, 69, 9, 70 | moving a place: from the tray, by an exit, to the first in line |
//! | 71, 72, 73 | a waiter listens, then looks whether a place is in the tray |
//! | 74 | a waiter that was called looks at the tray `tries` times, and moves a place that it finds there at two looks in a row |
//! | 75 | a process that comes out of the line, let in or not, looks whether it must call the next one; if that one does not listen, it gets all places that are in the tray |
//! | 76, 78 | a process that took a place from the tray, or comes out of the line, counts itself, and reads the next ticket: the sum is its stamp |
//! | 79 | a process whose ticket was enabled at once reads that count: its stamp is the sum of the ticket and the count |
//! | 77 | a process that exits looks whether newcomers are kept out (29) |
//!
//! # Why
//! - *At most `B` newcomers pass the first in line.* A newcomer gets in past a line only by 61, and
//!   61 needs `moving = 0` and `passed < B`. Only 69 resets `passed`, and it makes `moving`
//!   positive. There is an exit (9) between a 69 and the 70 that makes `moving` zero again. So
//!   between two exits, and hence while one ticket is the first that is not enabled, `passed` is
//!   reset at most before the first of these newcomers. **While a waiter is first in line, at most
//!   `B` newcomers get in before it. So a waiter with `m` waiters before it is passed at most
//!   `(m + 1) B` times.** This counts tickets. A waiter that asks for `u` units has `u` tickets, so
//!   it counts as `u` waiters.
//! - *No place is left over.* If a place is in the tray and the first waiter listens, then some
//!   process is on its way to call it. The process that left the place called the waiter that was
//!   first then, after it left the place (63 before 64). That waiter moves a place, or finds none
//!   after it listens again (72 before 73), or comes out of the line and looks (75). A waiter that
//!   becomes first without having been called listened after that (73), or will be called by the
//!   waiter before it (75).
//! - *A move that fails (69) is tried again* while there is a place in the tray. If a process left
//!   the move to a faster one, then with several places some would be lost: each of two processes
//!   would leave the last place to the other.
//! - *A process that has moved a place looks again (75)*. It moves as many places as were in the
//!   tray then, until it finds a waiter that listens. So no place is left in the tray when all
//!   processes are gone, and a waiter for several places gets them.
//! - *The door (77).* A process that waited is no longer counted in line once it is inside, so that
//!   `line` says whether there is a waiter (62). So every exit looks whether newcomers may draw
//!   again, not only the exit of a process that waited.
//! - *A waiter is woken once.* A waiter that was called is not called again until it has listened
//!   again.
//! - *A waiter that was called and finds nothing* has been passed, and listens again. It keeps its
//!   place in line, and its count.
//!
//! - *Stamps grow.* Every process that is let in has made `next` or `stamp` one larger, at 27 or
//!   76, while it held a place. So the sum of the two grows with each process that is let in. A
//!   stamp is at least the sum when its process asked, because both parts were read later. And it
//!   is less than the sum once it is known, because one part is the number before the process added
//!   to it. **So a stamp is larger than that of every process that had its stamp when this one
//!   asked.** The ticket of a process in line is too small for that, because others have passed
//!   since. So a process that comes out of the line counts itself again. Only these processes, and
//!   processes that pass, need the read-modify-write (76). Without contention, a stamp costs one
//!   load.
//!
//! # Invariants (all checked)
//! - stamps grow, as above, where they are noted: (2,1) with two passages each, (2,2) with three,
//!   and (3,1) with one; the fence numbers made of them also for (3,2) with one, where no process
//!   passes
//! - those of the turnstile, where a place in the tray counts as held: (T1) to (T6), door opens
//! - (Y1) `moving` is the number of processes between 69 and 70
//! - (Y2) `passed <= B`
//! - (Y3) no place is in the tray while all processes are in their remainders
//! - bypass-bound: while the ticket of a waiter is the first that is not enabled, 61 succeeds at
//!   most `B` times
//!
//! Complete without crashes, for `B = 1`: (2,1) 9,761 states and (2,2) 380, with unbounded
//! passages; (3,2) with one passage each 1,353,809. With give-ups: (2,1) 74,950; (3,1) and (3,2)
//! with one passage each 980,828 and 3,692,972. (`doorway check bypass --n 3 --k 1`, and so on.)
//! With `B - 1` in place of `B`, the search finds that the bound fails.
//!
//! # Cost, faults, fairness
//! Without contention, a passage makes two loads more than the turnstile. A passage past a line
//! makes two read-modify-writes on the tray and a few loads. Leaving is lock-free: a process tries
//! 69 again only if another one took, left or moved a place meanwhile. **So an exit has no bound if
//! others begin passages without end.** `bounded-exit`, and `starvation-free`, which also asks that
//! exits end, hold for two processes. They fail for three processes with one place and unbounded
//! passages. The text claims `every-entry-ends`.
//!
//! **A crash costs more than in the turnstile.** All claims are made, and checked, without crashes.
//! With a crash:
//!
//! - inside: the process costs one place, as everywhere;
//! - between 63 and 67: it costs one place, until another holder leaves, or a newcomer takes it;
//! - between 69 and 9: it costs one place. From 69 up to 70, no newcomer passes any more: strict
//!   order, for ever;
//! - in line: it costs one place, when its turn comes. If it was called or will be, only newcomers
//!   can take places from the tray, until `B` newcomers have come. If none comes, the waiters in
//!   line wait for ever, however many places are in the tray.
//!
//! So use strict order if waiters can die: the [turnstile](super::turnstile) tolerates `k - 1`
//! crashes.

pub mod entries;
mod words;

pub use words::Left;

use super::turnstile::{
    Attempt, Drawn, Fate, Found, Held, Line, Next, Record, Refused, Ring, Stands, Turnstile, Unsettled,
};
use super::{Abortable, KExclusion};
use crate::Failure;
use crate::memory::{CompareSwap, FetchAdd, Mark, Memory, Near, Process, Site, in_both_forms, within};
use core::fmt::Debug;

/// Places that were left for newcomers, beside a turnstile.
#[derive(Debug)]
#[repr(C)]
pub struct Tray<M: Memory> {
    tray: Near<M, Left>,
    stamp: Near<M, Next>,
    part: M::Part,
    most: u32,
    tries: u8,
    notes: bool,
}

impl<M: Memory> Tray<M> {
    /// A tray in the same part as its turnstile. At most `most` newcomers pass the first in line,
    /// and a waiter that was called looks `tries` times before it listens again. This number makes
    /// a difference only to speed.
    pub fn new(site: &Site<'_, M>, most: u32, tries: u8) -> Self {
        Self {
            part: site.here(),
            tray: site.near("tray", Left::NOTHING),
            stamp: site.near("no stamp", Next(0)),
            most,
            tries,
            notes: false,
        }
    }

    /// The same, but a passage knows its [stamp](Held::ticket): how many processes were let in
    /// before, and perhaps more. The turnstile must note tickets. The count begins with `first`.
    ///
    /// A count that grows for ever cannot be searched without a bound on passages.
    #[must_use]
    pub fn noting_stamps(self, site: &Site<'_, M>, first: u64) -> Self {
        Self { notes: true, stamp: site.near("stamp", Next(first)), ..self }
    }

    /// The same with another bound. The places that lie there stay.
    #[must_use]
    pub fn with_bound(self, most: u32) -> Self {
        Self { most, ..self }
    }

    /// The number of newcomers that may pass the first in line.
    pub fn most(&self) -> u32 {
        self.most
    }
}

/// How far a process that leaves has come without calling a waiter.
#[must_use = "those in line wait for the rest of the exit section"]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rest {
    /// Nothing is left to do.
    Nothing,
    /// It exited from the turnstile, and newcomers are kept out, perhaps for no reason any more.
    Door,
    /// It exited from the turnstile, and there is more to do.
    Settle(Unsettled),
    /// It left its place in the tray. The first in line must be called, or gets the place if it was
    /// passed as often as allowed.
    Left(Left),
}

impl<M: FetchAdd + CompareSwap> Tray<M> {
    in_both_forms! {
        /// Takes a place that was left, if a newcomer may: 60, 61. With `once` it does not try
        /// again if the tray changed meanwhile.
        #[inline(always)]
        pub fn take, take_now(&self, p: &Process<M>, once: bool) -> bool {
            let p = p.on(self.part);
            loop {
                let left = access!(p.at(60).keeping(&()).read(&self.tray));
                let Some(taken) = left.taken(u64::from(self.most)) else { break false };
                let swapped = access!(p.at(61).keeping(&left).compare_swap(&self.tray, left, taken));
                if swapped.is_ok() {
                    p.shows("units", 1u64);
                }
                if swapped.is_ok() || once {
                    break swapped.is_ok();
                }
            }
        }

        /// The exit section of a process that holds one unit and is not counted in line, up to
        /// where it calls: 62, 63, or the turnstile's.
        #[inline(always)]
        pub fn give_back, give_back_now<L: Line<M>>(&self, p: &Process<M>, line: &Turnstile<M, L>, held: Held) -> Rest {'text: {
            let here = p.on(self.part);
            let g = access!(here.at(62).keeping(&held).read(&line.gate));
            if g.line == 0 {
                let unsettled = either!(line.give_back(p, held), line.give_back_now(p, held));
                if let Some(unsettled) = unsettled {
                    break 'text Rest::Settle(unsettled);
                }
                let door = access!(here.at(77).keeping(&()).read(&line.door));
                break 'text if door.is_open() || door.is_shut() { Rest::Nothing } else { Rest::Door };
            }
            let left = access!(here.at(63).keeping(&held).fetch_add(&self.tray, Left::ONE));
            here.hides("units");
            Rest::Left(left)
        }}

        /// The stamp of a process whose ticket was enabled at once: 79. Zero unless tickets or
        /// stamps are noted.
        #[inline(always)]
        pub fn stamped_at_once, stamped_at_once_now(&self, p: &Process<M>, held: Held) -> Held {
            // Read even if the tray notes no stamps: it is 0 then, and the shortest way has one
            // branch less.
            let here = p.on(self.part);
            let Next(counted) = access!(here.at(79).keeping(&held).read(&self.stamp));
            here.mark(Mark::Rests(9));
            Held { ticket: held.ticket.wrapping_add(counted), ..held }
        }

        /// The stamp of any other process that was let in: 76, 78. Zero unless the tray notes
        /// stamps.
        #[inline(always)]
        pub fn stamped, stamped_now<L: Line<M>>(&self, p: &Process<M>, line: &Turnstile<M, L>, held: Held) -> Held {
            let here = p.on(self.part);
            let ticket = if self.notes {
                let Next(before) = access!(here.at(76).keeping(&held).fetch_add(&self.stamp, Next(1)));
                access!(here.at(78).keeping(&(held, before)).read(&line.next)).ticket().wrapping_add(before)
            } else {
                0
            };
            Held { ticket, ..held }
        }
    }

    /// What this tray adds to tickets, if it notes stamps: 76.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn stamps(&self, p: &Process<M>) -> Result<u64, M::Error> {
        Ok(p.on(self.part).at(76).keeping(&()).read(&self.stamp).await?.0)
    }

    /// The number of places that are in the tray: 60.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn loose(&self, p: &Process<M>) -> Result<u64, M::Error> {
        Ok(p.on(self.part).at(60).keeping(&()).read(&self.tray).await?.loose)
    }

    /// The rest of the exit section.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn settle<L: Line<M>>(&self, p: &Process<M>, line: &Turnstile<M, L>, rest: Rest) -> Result<(), M::Error> {
        match rest {
            Rest::Nothing => Ok(()),
            Rest::Door => line.see_to_the_door(p).await,
            Rest::Settle(unsettled) => line.settle(p, Held::of(1, false), unsettled).await,
            Rest::Left(left) => {
                let has_moved = if left.passed < u64::from(self.most) {
                    self.call(p, line, &()).await?
                } else {
                    self.move_one(p, line, &()).await?
                };
                // Another process may have left its move to this one. With one place, nothing else
                // lies there.
                if has_moved && line.limits.places > 1 {
                    self.look_after(p, line, &()).await?;
                }
                line.see_to_the_door(p).await
            }
        }
    }

    /// The exit section. Several units at once exit from the turnstile: they go to the line.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn release<L: Line<M>>(
        &self,
        p: &Process<M>,
        line: &Turnstile<M, L>,
        held: Held,
    ) -> Result<(), M::Error> {
        if held.units != 1 {
            return line.release(p, held).await;
        }
        let held = within!(p.on(self.part), &(), line.leave_line(p, held).await?);
        let rest = self.give_back(p, line, held).await?;
        self.settle(p, line, rest).await
    }

    /// Makes sure that the first in line looks at the tray: 64 to 67. If it is no waiter that
    /// listens, it gets a place: `true`.
    async fn call<L: Line<M>, K: Debug>(
        &self,
        p: &Process<M>,
        line: &Turnstile<M, L>,
        live: &K,
    ) -> Result<bool, M::Error> {
        let here = p.on(self.part);
        let mut has_moved = false;
        let g = here.at(64).keeping(live).read(&line.gate).await?;
        here.shows("upto", g.open);
        let front = here.at(65).keeping(&(live, g.open)).read(&line.front).await?;
        let behind = front.behind(g.open);
        if behind < 0 {
            // Others were enabled meanwhile. The process that is first now may have given up, or
            // looked, before the place lay there.
            here.hides("upto");
            has_moved = self.move_one(p, line, live).await?;
        } else {
            let t = Record::new(front.ticket.wrapping_add(behind.unsigned_abs()), Fate::Called).ticket();
            let found = within!(here, live, L::find(line, here, 66, t, t).await?);
            let counted = found.as_ref().is_some_and(|found| found.counted);
            let is_called = match found {
                Some(Found { fate: Fate::Called, .. }) => true,
                Some(Found { fate: Fate::Listens, ring, cell, record, .. }) => {
                    // If this fails, the waiter was let in, has given up, or was called. In each
                    // case it looks at the tray.
                    here.keep(67, &(live, ring, record));
                    let _ = here.at(67).compare_swap(cell, record, record.with(Fate::Called)).await?;
                    true
                }
                _ => false,
            };
            within!(here, live, L::lets_go(line, here, counted, &is_called).await?);
            if !is_called {
                // A signalled ticket too: perhaps no process has drawn it yet, and so none would
                // look.
                here.hides("upto");
                has_moved = self.move_one(p, line, live).await?;
            }
        }
        here.hides("upto");
        Ok(has_moved)
    }

    /// Moves a place from the tray to the turnstile, if there is one: 68, 69, 9, 70. The place is
    /// then the first waiter's. Returns `false` if there was none, or another process sees to it.
    async fn move_one<L: Line<M>, K: Debug>(
        &self,
        p: &Process<M>,
        line: &Turnstile<M, L>,
        live: &K,
    ) -> Result<bool, M::Error> {
        let here = p.on(self.part);
        let mut left = here.at(68).keeping(live).read(&self.tray).await?;
        loop {
            let Some(moved) = left.moved() else { return Ok(false) };
            match here.at(69).keeping(&(live, left)).compare_swap(&self.tray, left, moved).await? {
                Ok(_) => break,
                Err(now) => left = now,
            }
        }
        here.shows("moves", true);
        here.part(live);
        let duty = line.give_another_back(here).await?;
        here.shows("moves", false);
        here.at(70).keeping(&duty).fetch_add(&self.tray, Left::ARRIVED).await?;
        here.hides("moves");
        if let Some(duty) = duty {
            line.help_before(here, duty).await?;
            here.hides("upto");
        }
        here.part_done();
        Ok(true)
    }

    /// Calls the next in line, if a place is in the tray: 75.
    ///
    /// If the next is no waiter that listens, it gets all places that lay there. It may need
    /// several; and if the line is empty, no other process moves them. A holder that leaves a place
    /// there later sees to that place itself.
    async fn look_after<L: Line<M>, K: Debug>(
        &self,
        p: &Process<M>,
        line: &Turnstile<M, L>,
        live: &K,
    ) -> Result<(), M::Error> {
        let mut more = p.on(self.part).at(75).keeping(live).read(&self.tray).await?.loose;
        while more > 0 && self.call(p, line, &(more, live)).await? {
            more -= 1;
        }
        Ok(())
    }

    /// What a process does once it was let in from the line: it leaves the count of the line, and
    /// calls the next one if need be.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn arrive<L: Line<M>>(
        &self,
        p: &Process<M>,
        line: &Turnstile<M, L>,
        held: Held,
    ) -> Result<Held, M::Error> {
        let held = within!(p.on(self.part), &held, line.leave_line(p, held).await?);
        self.look_after(p, line, &held).await?;
        Ok(held)
    }

    /// The entry section of a process that has drawn `drawn`. Returns `None` if the process was
    /// asked to give up; [`leave`](Self::leave) must then run with the attempt.
    ///
    /// # Errors
    /// Returns an error if an access failed, if the turnstile is closed, or if it has fewer than
    /// `units` places.
    pub async fn go_on<L: Line<M>>(
        &self,
        p: &Process<M>,
        line: &Turnstile<M, L>,
        drawn: Drawn,
        units: u64,
        attempt: &mut Attempt,
        may_give_up: bool,
    ) -> Result<Option<Held>, Failure<M::Error, Refused>> {
        let let_in = match line.stand(p, drawn, units, attempt, may_give_up).await {
            Ok(Stands::Inside(held)) => Ok(Some(held)),
            Ok(Stands::GivesUp) => return Ok(None),
            Ok(Stands::InLine { t, record, units, far }) => {
                let here = p.on(self.part);
                let told = if units > 1 || far {
                    line.watch(here, (t, record), units, far, may_give_up).await?
                } else {
                    self.listen(p, line, (t, record), attempt, may_give_up).await?.map(Ok)
                };
                match told {
                    None => return Ok(None),
                    Some(told) => line.enter_in_turn(p, attempt, told).await.map(Some),
                }
            }
            Err(why) => Err(why),
        };
        self.let_in(p, line, let_in).await
    }

    /// Completes a wait that is over.
    ///
    /// # Errors
    /// The same.
    pub async fn let_in<L: Line<M>>(
        &self,
        p: &Process<M>,
        line: &Turnstile<M, L>,
        let_in: Result<Option<Held>, Failure<M::Error, Refused>>,
    ) -> Result<Option<Held>, Failure<M::Error, Refused>> {
        match let_in {
            Ok(Some(held)) => Ok(Some(self.arrive(p, line, held).await?)),
            Err(Failure::Refused(why)) => {
                self.look_after(p, line, &()).await?;
                line.see_to_the_door(p).await?;
                Err(Failure::Refused(why))
            }
            other => other,
        }
    }

    /// The wait of a process that asked for one unit: 71 to 74, and 8.
    async fn listen<L: Line<M>>(
        &self,
        p: &Process<M>,
        line: &Turnstile<M, L>,
        (mut t, mut record): (u64, &M::Cell<Record>),
        attempt: &mut Attempt,
        may_give_up: bool,
    ) -> Result<Option<Fate>, M::Error> {
        let here = p.on(self.part);
        loop {
            match self.turn(p, line, (t, record), attempt, u32::from(self.tries)).await? {
                Some(Fate::Nudged) => {
                    (t, record) = line.move_up(p, attempt).await?;
                    continue;
                }
                Some(fate) => return Ok(Some(fate)),
                None => {}
            }
            let is_called = |record: Record| record.fate_of(t) != Fate::Listens;
            here.keep(8, &*attempt);
            if !may_give_up {
                here.at(8).wait_until(record, is_called).await?;
            } else if here.at(8).wait_unless_given_up(record, is_called).await?.is_none() {
                return Ok(None);
            }
        }
    }

    /// One turn of that wait. Returns `Some` if the wait is over, or if the process is to
    /// [move](Turnstile::move_up). Otherwise the process listens, and no place has lain in the tray
    /// since.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn turn<L: Line<M>>(
        &self,
        p: &Process<M>,
        line: &Turnstile<M, L>,
        (t, record): (u64, &M::Cell<Record>),
        attempt: &Attempt,
        tries: u32,
    ) -> Result<Option<Fate>, M::Error> {
        let here = p.on(self.part);
        'turn: loop {
            let now = here.at(71).keeping(attempt).read(record).await?;
            let fate = now.fate_of(t);
            match fate {
                Fate::Signalled | Fate::Shut | Fate::Nudged => return Ok(Some(fate)),
                Fate::Listens => return Ok(None),
                _ => {}
            }
            let was_called = fate == Fate::Called;
            if was_called {
                // A place that is gone at the next look was taken by a newcomer that comes and
                // goes. Such a newcomer may go on.
                let mut before = Left::NOTHING;
                for tried in 0..tries {
                    here.pauses(tried);
                    let left = here.at(74).keeping(&(attempt, now, tried, before)).read(&self.tray).await?;
                    if left.loose > 0 && core::mem::replace(&mut before, left) == left {
                        self.move_one(p, line, attempt).await?;
                        continue 'turn;
                    }
                }
            }
            let listens = if now.is_of(t) { now.with(Fate::Listens) } else { Record::new(t, Fate::Listens) };
            if here.at(72).keeping(&(attempt, now)).compare_swap(record, now, listens).await?.is_err()
                || here.at(73).keeping(&(attempt, was_called)).read(&self.tray).await?.loose == 0
            {
                continue;
            }
            if was_called {
                self.move_one(p, line, attempt).await?;
            } else {
                self.call(p, line, attempt).await?;
            }
        }
    }

    /// Withdraws an attempt: the turnstile's statements, and 75. Returns `Some` if the process was
    /// let in before.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn leave<L: Line<M>>(
        &self,
        p: &Process<M>,
        line: &Turnstile<M, L>,
        attempt: Attempt,
    ) -> Result<Option<Held>, M::Error> {
        if attempt == Attempt::Outside {
            return Ok(None);
        }
        match line.leave(p, attempt).await? {
            Some(held) => Ok(Some(self.arrive(p, line, held).await?)),
            None => {
                self.look_after(p, line, &()).await?;
                line.see_to_the_door(p).await?;
                Ok(None)
            }
        }
    }
}

/// A turnstile and a tray.
#[derive(Debug)]
pub struct Bypass<M: Memory, L = Ring<M>> {
    line: Turnstile<M, L>,
    tray: Tray<M>,
}

impl<M: Memory> Bypass<M> {
    /// For `n` processes and `k` places: at most `most` newcomers pass the first in line.
    pub fn new(site: &Site<'_, M>, n: usize, k: usize, most: u32) -> Self {
        Self::looking(site, n, k, most, 0)
    }

    /// The same, but a waiter that was called looks `tries` times before it listens again.
    pub fn looking(site: &Site<'_, M>, n: usize, k: usize, most: u32, tries: u8) -> Self {
        Self { line: Turnstile::new(site, n, k), tray: Tray::new(site, most, tries) }
    }
}

impl<M: Memory, L> Bypass<M, L> {
    /// The turnstile.
    pub fn line(&self) -> &Turnstile<M, L> {
        &self.line
    }
}

impl<M: FetchAdd + CompareSwap, L: Line<M>> Bypass<M, L> {
    async fn enter(
        &self,
        p: &Process<M>,
        attempt: &mut Attempt,
        may_give_up: bool,
    ) -> Result<Option<Held>, Failure<M::Error, Refused>> {
        if self.tray.take(p, true).await? {
            return Ok(Some(Held::of(1, false)));
        }
        let drawn = self.line.draw(p, 1).await?;
        self.tray.go_on(p, &self.line, drawn, 1, attempt, may_give_up).await
    }
}

impl<M: FetchAdd + CompareSwap, L: Line<M>> KExclusion<M> for Bypass<M, L> {
    type Held = Held;
    type Refusal = Refused;

    async fn acquire(&self, p: &Process<M>) -> Result<Held, Failure<M::Error, Refused>> {
        match self.enter(p, &mut Attempt::default(), false).await? {
            Some(held) => Ok(held),
            None => unreachable!("only a process that may give up is asked to"),
        }
    }

    async fn release(&self, p: &Process<M>, held: Held) -> Result<(), M::Error> {
        self.tray.release(p, &self.line, held).await
    }
}

impl<M: FetchAdd + CompareSwap, L: Line<M>> Abortable<M> for Bypass<M, L> {
    type Attempt = Attempt;

    async fn try_acquire(
        &self,
        p: &Process<M>,
        attempt: &mut Attempt,
    ) -> Result<Option<Held>, Failure<M::Error, Refused>> {
        self.enter(p, attempt, true).await
    }

    async fn leave(&self, p: &Process<M>, attempt: Attempt) -> Result<Option<Held>, M::Error> {
        self.tray.leave(p, &self.line, attempt).await
    }
}
