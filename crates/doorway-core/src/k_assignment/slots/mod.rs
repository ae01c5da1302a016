//! Slots: a turnstile with names, and everything its users can do with them.
//!
//! # Problem
//! [k-assignment](crate::k_assignment) whose processes can ask for several places at once, give up, divide
//! what they hold, take places away or add some, and close it.
//!
//! # Source
//! Our own: the [turnstile](crate::k_exclusion::turnstile) and [names](super::names). This is what `doorway::Slots`
//! and `doorway::Pool` run.
//!
//! # Idea
//! A process passes the turnstile, and only then takes a name for each of its units: at most `k` processes look
//! for names at a time, so that there is one for each. It gives the names back before it leaves.
//!
//! # Shared variables
//! Those of the turnstile, in a part of its own, and those of the names.
//!
//! # Operations
//! | operation | statements |
//! |---|---|
//! | [acquire](Slots::acquire), [release](KExclusion::release) | 1: the turnstile; 2, 3: a name; 4: it goes back; 5: the turnstile |
//! | several at once | the same, with 2, 3 and 8 for each name: its holder notes in it which comes next |
//! | [try](Slots::try_acquire_now) | 1 only if that is possible at once |
//! | newcomers first | as often as `tries` says, 1 only if that is possible at once; then as ever |
//! | [forget](Slots::forget) | 4, then the turnstile's `forget` instead of 5 |
//! | [retire](Slots::retire) | the turnstile's `forget` alone: the name stays taken, and is nobody's |
//! | [revive](Slots::revive) | 4 for such a name, then a place more |
//! | [merge](Slots::merge) | both parts leave the line; 9 and 8: the last name of the first notes that the names of the second come next |
//! | [split](Slots::split) | 9: looks where the second part begins. Who holds which name does not change, so no other process can tell |
//! | [add](Slots::add), [close](Slots::close), [look](Slots::look) | the turnstile's |
//!
//! # Invariants (all checked)
//! Those of the turnstile, (T1) to (T6), and of the names, (B1), (B2) and (F).
//!
//! # Cost, faults, fairness
//! Those of the turnstile; a name costs one read-modify-write and a write more. A process that dies inside keeps its places and their names.

pub mod entries;
mod passing;

pub use passing::Passing;

use super::KAssignment;
use super::names::{Name, Names, NoNames};
use crate::Failure;
use crate::k_exclusion::turnstile::{
    Attempt, Drawn, DrawnTickets, Fate, Held, Line, LinedUp, Look, Record, Refused, Ring, Stands, TooMany, Tried,
    Turnstile, Unsettled,
};
use crate::k_exclusion::{Abortable, AtOnce, KExclusion};
use crate::memory::{CompareSwap, FetchAdd, Here, Immediate, Mark, Memory, Process, Site, in_both_forms, within};
use core::fmt::{self, Debug};
use core::num::NonZeroU64;

/// Names around a turnstile.
#[derive(Debug)]
pub struct Slots<M: Memory, N, L = Ring<M>, X = ()> {
    part: M::Part,
    names: N,
    line: Turnstile<M, L>,
    room: u64,
    /// How many bits are below the ticket in a fence number: as many as it takes to count the places.
    below: u32,
    /// The last ticket that fits there.
    last: u64,
    /// What its owner keeps beside it: in the same cache lines, and not in others.
    beside: X,
}

/// What a passage carries from entry to exit: its units, and the first of their names. Small, for it is moved about wherever guards are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Grant {
    fence: u64,
    /// The slot, 32 bits; the units, 30 bits; whether they were announced; and a bit that is always set. One word,
    /// because what is written in pieces and moved as a whole takes longer than all the rest of a passage. Never
    /// zero, so that a grant or a refusal are two words as well, and are returned in registers.
    packed: NonZeroU64,
}

impl Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grant").field("held", &self.held()).field("name", &self.name()).finish()
    }
}

impl Grant {
    #[inline(always)]
    fn new(held: Held, name: Name) -> Self {
        // Nobody holds more units than there are places.
        let packed = u64::from(name.slot) << 32 | held.units << 2 | u64::from(held.announced) << 1;
        Self { fence: name.fence, packed: NonZeroU64::MIN | packed }
    }

    /// What it holds of the turnstile.
    #[must_use]
    #[inline(always)]
    pub fn held(self) -> Held {
        Held::of(self.units() as u64, self.packed.get() >> 1 & 1 == 1)
    }

    /// How many units it holds.
    #[must_use]
    #[inline(always)]
    pub fn units(self) -> usize {
        (self.packed.get() as u32 >> 2) as usize
    }

    /// The first of its names, with the fence number of the grant: `max(last + 1, K t)`, where `last` is the number of the last holder of the same name, `t` its ticket, and `K` a power of two that
    /// is at least the number of places.
    ///
    /// - It is larger than that of every earlier holder of the same name.
    /// - It is larger than that of every grant whose process was inside before this one drew its ticket. For let `f` be the number of such a grant. Numbers of one name grow by one while older
    ///   tickets follow a newer one there, and at most `k - 1` older tickets can still be granted after a ticket `u` was: so `f < K (u + 1)` for the ticket `u` of an earlier holder of its name, or its own. That
    ///   ticket was drawn before `t`, hence `K t >= K (u + 1)`.
    ///
    /// The second ends when `K t` no longer fits 62 bits (2^54 tickets with up to 256 places, 2^46 with the most places there can be), the first only after as many grants of one name again.
    #[must_use]
    #[inline(always)]
    pub fn name(self) -> Name {
        Name { slot: (self.packed.get() >> 32) as u32, fence: self.fence }
    }

    /// Whether it holds one unit for which it did not wait.
    #[must_use]
    #[inline(always)]
    pub fn is_one_at_once(self) -> bool {
        self.packed.get() as u32 == 1 << 2 | 1
    }

    /// The same, of no units: what it held is held elsewhere.
    #[must_use]
    pub fn of_nothing(self) -> Self {
        Self { packed: NonZeroU64::MIN | self.packed.get() >> 32 << 32, ..self }
    }
}

/// How far a process has come without waiting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entered {
    /// Inside.
    Inside(Grant),
    /// It has drawn this, and goes on [from there](Slots::go_on).
    Not(Drawn),
    /// There is no place for it now.
    NoPlace,
    /// Nobody is let in any more, or there are not as many places.
    Refused(Refused),
}

/// A name whose place was taken away: it stays taken, and nobody holds it. There is one of it, so that it is revived once.
#[must_use = "its slot is of no use until it is revived"]
#[derive(PartialEq, Eq, Debug)]
pub struct Retired(Name);

impl Retired {
    /// Which one.
    #[must_use]
    pub fn slot(&self) -> usize {
        self.0.slot as usize
    }
}

impl<M: Memory, N: Names<M>, L> Slots<M, N, L> {
    /// Names for up to `room` places, and a turnstile, which is built on a site within this one. If there are to be [fence numbers](Grant::name), they are larger than `fences`, and the
    /// turnstile must note tickets. (If there were others before, it must go on with their tickets.)
    pub fn new(
        site: &Site<'_, M>,
        room: usize,
        fences: Option<u64>,
        line: impl FnOnce(&Site<'_, M>) -> Turnstile<M, L>,
    ) -> Self {
        let names = N::new(site, room, fences);
        Self::of_parts(site.here(), names, line(&site.part("exclusion", None)), room, ())
    }

    /// The same, and what its owner keeps beside it.
    pub fn with<X>(self, beside: X) -> Slots<M, N, L, X> {
        let Self { part, names, line, room, below, last, beside: () } = self;
        Slots { part, names, line, room, below, last, beside }
    }
}

impl<M: Memory, N, L, X> Slots<M, N, L, X> {
    /// The same, with something else beside it.
    pub fn with_other<Y>(self, other: impl FnOnce(X) -> Y) -> Slots<M, N, L, Y> {
        let Self { part, names, line, room, below, last, beside } = self;
        Slots { part, names, line, room, below, last, beside: other(beside) }
    }
}

impl<M: Memory, N: Names<M>, L, X> Slots<M, N, L, X> {
    /// What its owner keeps beside it.
    #[inline(always)]
    pub fn beside(&self) -> &X {
        &self.beside
    }

    /// The same, to be changed.
    pub fn beside_mut(&mut self) -> &mut X {
        &mut self.beside
    }

    /// The same turnstile without its names. Nobody may hold one.
    pub fn with_names<Other: Names<M>>(self, site: &Site<'_, M>, fences: Option<u64>) -> Slots<M, Other, L, X> {
        let Self { part, line, room, below, last, beside, names: _ } = self;
        Slots { part, names: Other::new(site, room as usize, fences), line, room, below, last, beside }
    }

    /// Whether little is done to give a name back.
    #[inline(always)]
    pub fn has_few_names(&self) -> bool {
        self.names.are_few()
    }

    /// How many places there can be.
    pub fn room(&self) -> u64 {
        self.room
    }
}

impl<M: Memory, N, L, X> Slots<M, N, L, X> {
    /// Puts them together before the program runs.
    pub const fn of_parts(part: M::Part, names: N, line: Turnstile<M, L>, room: usize, beside: X) -> Self {
        let below = room.next_power_of_two().trailing_zeros();
        Self { part, names, line, room: room as u64, below, last: LAST_FENCE >> below, beside }
    }

    /// The least fence number for one that holds this: [a multiple of its ticket](Grant::name).
    #[inline(always)]
    fn fence(&self, held: Held) -> u64 {
        held.ticket.min(self.last) << self.below
    }

    /// No fence number so far is larger, if this is the next ticket.
    pub fn largest_fence(&self, next: u64) -> u64 {
        self.fence(Held { ticket: next, ..Held::of(1, false) })
    }
}

/// A name has room for numbers up to this one.
const LAST_FENCE: u64 = u64::MAX >> 2;

/// What a process holds that did not have to wait in line.
fn inside<M: Memory>(stands: Stands<'_, M>) -> Option<Held> {
    match stands {
        Stands::Inside(held) => Some(held),
        Stands::InLine { .. } | Stands::GivesUp => None,
    }
}

#[cold]
#[inline(never)]
fn missing() -> Name {
    unreachable!("there are as many names as places, and only a process that holds a place takes one")
}

impl<M: FetchAdd + CompareSwap, N: Names<M>, L: Line<M>, X> Slots<M, N, L, X> {
    in_both_forms! {
        /// The entry section, as far as nobody waits: 1 to 3.
        #[inline(always)]
        pub fn begin, begin_now(&self, p: &Process<M>, units: u64) -> Entered {'text: {
            let here = p.on(self.part);
            here.part(&());
            let drawn = either!(self.line.draw(p, units), self.line.draw_now(p, units));
            let Drawn::Inside(held) = drawn else { break 'text Entered::Not(drawn) };
            here.part_done();
            Entered::Inside(either!(self.named(here, held), self.named_now(here, held)))
        }}

        /// The entry section if it is possible at once. With `once` it does not try again if another process drew a ticket meanwhile.
        #[inline(always)]
        pub fn begin_at_once, begin_at_once_now(&self, p: &Process<M>, units: u64, once: bool) -> Entered {'text: {
            let here = p.on(self.part);
            here.part(&());
            let tried = either!(self.line.draw_if_enabled(p, units, once), self.line.draw_if_enabled_now(p, units, once));
            let held = match tried {
                Tried::Drawn(Drawn::Inside(held)) => held,
                Tried::Drawn(drawn) => break 'text Entered::Not(drawn),
                Tried::NoPlace => {
                    here.part_done();
                    break 'text Entered::NoPlace;
                }
                Tried::Closed => {
                    here.part_done();
                    break 'text Entered::Refused(Refused::Closed);
                }
                Tried::TooMany(too_many) => {
                    here.part_done();
                    break 'text Entered::Refused(Refused::TooMany(too_many));
                }
            };
            here.part_done();
            Entered::Inside(either!(self.named(here, held), self.named_now(here, held)))
        }}

        /// The exit section of a process that holds one unit: 4, and 5 as far as everybody goes. `Some` if [the rest](Self::settle) is needed.
        #[inline(always)]
        pub fn end, end_now(&self, p: &Process<M>, grant: Grant) -> Option<Unsettled> {
            let here = p.on(self.part);
            let held = grant.held();
            either!(self.names.give_back(here, grant.name()), self.names.give_back_now(here, grant.name()));
            self.is_nameless(here, held);
            here.part(&());
            let unsettled = either!(self.line.give_back(p, held), self.line.give_back_now(p, held));
            if unsettled.is_none() {
                here.part_done();
            }
            unsettled
        }

        /// Takes a name for each unit: 2, 3.
        #[inline(always)]
        fn named, named_now(&self, p: Here<'_, M>, held: Held) -> Grant {
            let name = if held.units == 1 {
                let fence = self.fence(held);
                either!(self.names.take(p, fence, &held), self.names.take_now(p, fence))
            } else {
                either!(self.names.take_many(p, held.units, self.fence(held), &held), self.take_many_now(p, held))
            };
            let name = name.unwrap_or_else(missing);
            p.holds("name", u64::from(name.slot));
            p.holds("fence", name.fence);
            p.mark(Mark::Rests(4));
            Grant::new(held, name)
        }
    }

    /// Not inlined: what takes one name is small, and is inlined wherever it is used.
    #[cold]
    #[inline(never)]
    fn take_many_now(&self, p: Here<'_, M>, held: Held) -> Option<Name>
    where
        M: Immediate,
    {
        M::now(self.names.take_many(p, held.units, self.fence(held), &held))
    }

    /// The names are back.
    #[inline(always)]
    fn is_nameless(&self, p: Here<'_, M>, held: Held) {
        p.hides("name"); // a process that was let in while it gave up has it in its exit section
        p.hides("names");
        p.hides("gone");
        p.hides("fence");
        p.mark(Mark::Rests(5));
        p.keep(5, &held);
    }

    in_both_forms! {
        /// The rest of the exit section.
        #[inline(always)]
        pub fn settle, settle_now(&self, p: &Process<M>, held: Held, unsettled: Unsettled) -> () {
            either!(self.line.settle(p, held, unsettled), self.line.settle_now(p, held, unsettled));
            p.on(self.part).part_done();
        }
    }

    /// The rest of the entry section, for a process that has drawn this. `None` if the process was asked to give up: then [`leave`](Abortable::leave) must run with the attempt.
    ///
    /// # Errors
    /// If an access failed, if it is closed, or if there are not as many places.
    pub async fn go_on(
        &self,
        p: &Process<M>,
        drawn: Drawn,
        units: u64,
        attempt: &mut Attempt,
        may_give_up: bool,
    ) -> Result<Option<Grant>, Failure<M::Error, Refused>> {
        let here = p.on(self.part);
        let held = self.line.enter(p, drawn, units, attempt, may_give_up).await?;
        here.part_done();
        Ok(match held {
            Some(held) => Some(self.named(here, held).await?),
            None => None,
        })
    }

    /// [`go_on`](Self::go_on) up to its wait. It waits for nothing, unless nobody may draw a ticket now.
    ///
    /// # Errors
    /// As [`go_on`](Self::go_on).
    pub async fn stand(
        &self,
        p: &Process<M>,
        drawn: Drawn,
        units: u64,
        attempt: &mut Attempt,
    ) -> Result<Option<Grant>, Failure<M::Error, Refused>> {
        Ok(match inside(self.line.stand(p, drawn, units, attempt, true).await?) {
            Some(held) => {
                p.on(self.part).part_done();
                Some(self.named(p.on(self.part), held).await?)
            }
            None => None,
        })
    }

    /// What tells a process with one unit, which stands in line, that its wait is over.
    #[inline(always)]
    pub fn place(&self, attempt: &Attempt) -> Option<(u64, &M::Cell<Record>)> {
        self.line.place(attempt)
    }

    in_both_forms! {
        /// What [`stand`](Self::stand) does first with tickets that are drawn and not enabled. If
        /// they turn out to be enabled, the process goes on from there.
        #[inline(always)]
        pub fn line_up, line_up_now(&self, p: &Process<M>, tickets: DrawnTickets, attempt: &mut Attempt) -> LinedUp {
            either!(self.line.line_up(p, tickets, attempt), self.line.line_up_now(p, tickets, attempt))
        }

        /// One turn of that wait. `Some` if it is over; then the process
        /// [enters](Self::enter_in_turn).
        #[inline(always)]
        pub fn turn, turn_now(&self, p: &Process<M>, t: u64, record: &M::Cell<Record>) -> Option<Fate> {
            either!(self.line.turn(p, t, record), self.line.turn_now(p, t, record))
        }

        /// What [`leave`](Abortable::leave) does: the process gives up. `Some` if it was let in before.
        #[inline(always)]
        pub fn withdraw, withdraw_now(&self, p: &Process<M>, attempt: Attempt) -> Option<Grant> {'text: {
            let withdrawn = either!(self.line.withdraw(p, attempt), self.line.withdraw_now(p, attempt));
            let Some(held) = withdrawn else { break 'text None };
            let here = p.on(self.part);
            Some(either!(self.named(here, held), self.named_now(here, held)))
        }}

        /// The end of the entry section of a process that was told that its wait is over. It is
        /// refused if it was told that it is closed.
        #[inline(always)]
        pub fn enter_in_turn, enter_in_turn_now(&self, p: &Process<M>, attempt: &mut Attempt, told: Fate) -> Result<Grant, Refused> {'text: {
            let here = p.on(self.part);
            let held = match either!(self.line.in_turn(p, attempt, Ok(told)), self.line.in_turn_now(p, attempt, Ok(told))) {
                Ok(held) => held,
                Err(why) => break 'text Err(why),
            };
            here.part_done();
            Ok(either!(self.named(here, held), self.named_now(here, held)))
        }}
    }

    /// Tries to take what is free, before it draws a ticket. Nothing is free while somebody is in line, so nobody in line is ever passed.
    ///
    /// # Errors
    /// If an access failed, or if it is closed.
    pub async fn barge(
        &self,
        p: &Process<M>,
        units: u64,
        tries: core::ops::Range<u32>,
    ) -> Result<Option<Grant>, Failure<M::Error, Refused>> {
        let here = p.on(self.part);
        for tried in tries {
            if tried > 0 {
                here.pauses(tried);
            }
            let entered = within!(here, &tried, self.begin_at_once(p, units, true).await?);
            match entered {
                Entered::Inside(grant) => return Ok(Some(grant)),
                Entered::Not(drawn) => return self.go_on(p, drawn, units, &mut Attempt::default(), false).await,
                Entered::NoPlace => {}
                Entered::Refused(why) => return Err(Failure::Refused(why)),
            }
        }
        Ok(None)
    }

    /// The entry section for so many units, with so many tries before the doorway. `None` if the process was asked to give up: then [`leave`](Abortable::leave) must run with the attempt.
    ///
    /// # Errors
    /// If an access failed, if it is closed, or if there are not as many places.
    pub async fn acquire(
        &self,
        p: &Process<M>,
        units: u64,
        tries: u32,
        attempt: &mut Attempt,
        may_give_up: bool,
    ) -> Result<Option<Grant>, Failure<M::Error, Refused>> {
        if let Some(grant) = self.barge(p, units, 0..tries).await? {
            return Ok(Some(grant));
        }
        self.acquire_in_turn(p, units, attempt, may_give_up).await
    }

    /// The same without tries.
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire).
    pub async fn acquire_in_turn(
        &self,
        p: &Process<M>,
        units: u64,
        attempt: &mut Attempt,
        may_give_up: bool,
    ) -> Result<Option<Grant>, Failure<M::Error, Refused>> {
        let drawn = match self.begin(p, units).await? {
            Entered::Not(drawn) => drawn,
            Entered::Inside(grant) => return Ok(Some(grant)),
            Entered::NoPlace | Entered::Refused(_) => unreachable!("only a try ends so"),
        };
        self.go_on(p, drawn, units, attempt, may_give_up).await
    }

    /// Enters if it is possible at once; says why if not.
    ///
    /// # Errors
    /// If an access failed, or if it is closed.
    pub async fn try_acquire_now(
        &self,
        p: &Process<M>,
        units: u64,
        once: bool,
    ) -> Result<Option<Grant>, Failure<M::Error, Refused>> {
        match self.begin_at_once(p, units, once).await? {
            Entered::Inside(grant) => Ok(Some(grant)),
            Entered::Not(drawn) => self.go_on(p, drawn, units, &mut Attempt::default(), false).await,
            Entered::NoPlace => Ok(None),
            Entered::Refused(why) => Err(Failure::Refused(why)),
        }
    }

    async fn give_names_back(&self, p: Here<'_, M>, grant: Grant) -> Result<(), M::Error> {
        let (held, name) = (grant.held(), grant.name());
        if held.units == 1 {
            self.names.give_back(p, name).await?;
        } else {
            self.names.give_many_back(p, name, held.units, &held).await?;
        }
        self.is_nameless(p, held);
        Ok(())
    }

    /// An exit that takes its places along: there are fewer from now on. Its names are free.
    ///
    /// # Errors
    /// If an access failed.
    pub async fn forget(&self, p: &Process<M>, grant: Grant) -> Result<(), M::Error> {
        let here = p.on(self.part);
        // Names first: as soon as there are fewer places, there may be room for others, which need names.
        self.give_names_back(here, grant).await?;
        within!(here, &(), self.line.forget(p, grant.held()).await?);
        Ok(())
    }

    /// An exit that takes its one place along, and leaves its name taken.
    ///
    /// # Errors
    /// If an access failed.
    pub async fn retire(&self, p: &Process<M>, grant: Grant) -> Result<Retired, M::Error> {
        let here = p.on(self.part);
        here.shows("name", u64::from(grant.name().slot));
        within!(here, &grant.name(), self.line.forget(p, grant.held()).await?);
        Ok(Retired(grant.name()))
    }

    /// There is a place again for a name that was retired: 4, and the turnstile's `add`.
    ///
    /// # Errors
    /// If an access failed.
    pub async fn revive(&self, p: &Process<M>, Retired(name): Retired) -> Result<(), M::Error> {
        let here = p.on(self.part);
        self.names.give_back(here, name).await?;
        here.hides("name");
        here.hides("fence");
        here.part(&());
        // There is room: the place that was taken away with the name can have been added by nobody else, as long as `room` counts names.
        let _ = self.line.add(p, 1, u64::MAX).await?;
        here.part_done();
        Ok(())
    }

    /// More places, as long as there is room for them.
    ///
    /// # Errors
    /// If an access failed. The inner error says that there is no room.
    pub async fn add(&self, p: &Process<M>, units: u64) -> Result<Result<(), TooMany>, M::Error> {
        let here = p.on(self.part);
        let added = within!(here, &(), self.line.add(p, units, self.room).await?);
        Ok(added)
    }

    /// Lets nobody in any more.
    ///
    /// # Errors
    /// If an access failed.
    pub async fn close(&self, p: &Process<M>) -> Result<(), M::Error> {
        let here = p.on(self.part);
        within!(here, &(), self.line.close(p).await?);
        Ok(())
    }

    in_both_forms! {
        /// Whether it was closed.
        #[inline(always)]
        pub fn is_closed, is_closed_now(&self, p: &Process<M>) -> bool {
            let here = p.on(self.part);
            within!(here, &(), either!(self.line.is_closed(p), self.line.is_closed_now(p)))
        }
    }

    /// How it is.
    ///
    /// # Errors
    /// If an access failed.
    pub async fn look(&self, p: &Process<M>) -> Result<Look, M::Error> {
        let here = p.on(self.part);
        let look = within!(here, &(), self.line.look(p).await?);
        Ok(look)
    }

    /// How many of those that a look found waiting had [given up](Turnstile::ghosts).
    ///
    /// # Errors
    /// If an access failed.
    pub async fn ghosts(&self, p: &Process<M>, look: &Look) -> Result<u64, M::Error> {
        let here = p.on(self.part);
        let ghosts = within!(here, &(), self.line.ghosts(p, look).await?);
        Ok(ghosts)
    }

    /// How many places there are.
    ///
    /// # Errors
    /// If an access failed.
    pub async fn places(&self, p: &Process<M>) -> Result<u64, M::Error> {
        self.line.places(p).await
    }

    /// Divides what a process holds: the second part holds `units`. `None` unless both hold something then.
    ///
    /// # Errors
    /// If an access failed.
    pub async fn split(&self, p: &Process<M>, grant: Grant, units: u64) -> Result<Option<(Grant, Grant)>, M::Error> {
        let held = grant.held();
        let Some(left) = held.units.checked_sub(units).filter(|&left| left > 0 && units > 0) else {
            return Ok(None);
        };
        let name = self.names.after(p.on(self.part), grant.name(), left).await?;
        let part = |units, name| Grant::new(Held { units, ..held }, name);
        Ok(Some((part(left, grant.name()), part(units, name))))
    }

    /// One of two that the same process holds. Its number is the larger of the two.
    ///
    /// # Errors
    /// If an access failed.
    pub async fn merge(&self, p: &Process<M>, first: Grant, second: Grant) -> Result<Grant, M::Error> {
        let here = p.on(self.part);
        // Only what is in line altogether, or not at all, can leave it together.
        let one = within!(here, &(first, second), self.line.leave_line(p, first.held()).await?);
        let other = within!(here, &(one, first, second), self.line.leave_line(p, second.held()).await?);
        if N::NAMED {
            let last = self.names.after(here, first.name(), one.units - 1).await?;
            here.keep(8, &(last, first, second));
            self.names.link(here, last.slot, second.name().slot).await?;
        }
        let fence = first.fence.max(second.fence);
        Ok(Grant::new(Held::of(one.units + other.units, false), Name { fence, ..first.name() }))
    }

    /// Whether somebody has this name.
    ///
    /// # Errors
    /// If an access failed.
    pub async fn is_taken(&self, p: &Process<M>, slot: usize) -> Result<bool, M::Error> {
        self.names.is_taken(p.on(self.part), slot).await
    }

    /// The name after this one, of a process that holds both: 9.
    ///
    /// # Errors
    /// If an access failed.
    pub async fn next_slot(&self, p: &Process<M>, slot: u32) -> Result<u32, M::Error> {
        self.names.linked(p.on(self.part), slot).await
    }
}

impl<M: FetchAdd + CompareSwap, N: Names<M>, L: Line<M>, X> KExclusion<M> for Slots<M, N, L, X> {
    type Held = Grant;
    type Refusal = Refused;

    async fn acquire(&self, p: &Process<M>) -> Result<Grant, Failure<M::Error, Refused>> {
        match self.acquire_in_turn(p, 1, &mut Attempt::default(), false).await? {
            Some(grant) => Ok(grant),
            None => unreachable!("nobody is asked to give up who may not"),
        }
    }

    async fn release(&self, p: &Process<M>, grant: Grant) -> Result<(), M::Error> {
        let here = p.on(self.part);
        self.give_names_back(here, grant).await?;
        within!(here, &(), self.line.release(p, grant.held()).await?);
        Ok(())
    }
}

impl<M: FetchAdd + CompareSwap, N: Names<M>, L: Line<M>, X> AtOnce<M> for Slots<M, N, L, X> {
    async fn acquire_at_once(&self, p: &Process<M>) -> Result<Option<Grant>, Failure<M::Error, Refused>> {
        self.try_acquire_now(p, 1, true).await
    }
}

impl<M: FetchAdd + CompareSwap, N: Names<M>, L: Line<M>, X> Abortable<M> for Slots<M, N, L, X> {
    type Attempt = Attempt;

    async fn try_acquire(
        &self,
        p: &Process<M>,
        attempt: &mut Attempt,
    ) -> Result<Option<Grant>, Failure<M::Error, Refused>> {
        self.acquire_in_turn(p, 1, attempt, true).await
    }

    async fn leave(&self, p: &Process<M>, attempt: Attempt) -> Result<Option<Grant>, M::Error> {
        self.withdraw(p, attempt).await
    }
}

impl<M: FetchAdd + CompareSwap, N: Names<M>, L: Line<M>, X> KAssignment<M> for Slots<M, N, L, X> {
    fn name(held: &Grant) -> usize {
        held.name().slot as usize
    }
}

/// Slots without names, whose newcomers try a few times to take what is free before they draw a ticket: `doorway::Slots::unfair` without its names.
///
/// Nothing is free while somebody is in line, so nobody in line is ever passed: bypassing ends with the last of these tries.
#[derive(Debug)]
pub struct Unfair<M: Memory> {
    inner: Slots<M, NoNames>,
    tries: u32,
}

impl<M: Memory> Unfair<M> {
    /// For `n` processes and `k` units.
    pub fn new(site: &Site<'_, M>, n: usize, k: usize, tries: u32) -> Self {
        Self { inner: Slots::new(site, k, None, |site| Turnstile::new(site, n, k)), tries }
    }
}

impl<M: FetchAdd + CompareSwap> KExclusion<M> for Unfair<M> {
    type Held = Grant;
    type Refusal = Refused;

    async fn acquire(&self, p: &Process<M>) -> Result<Grant, Failure<M::Error, Refused>> {
        match self.inner.acquire(p, 1, self.tries, &mut Attempt::default(), false).await? {
            Some(grant) => Ok(grant),
            None => unreachable!("nobody is asked to give up who may not"),
        }
    }

    async fn release(&self, p: &Process<M>, grant: Grant) -> Result<(), M::Error> {
        self.inner.release(p, grant).await
    }
}

impl<M: FetchAdd + CompareSwap> Abortable<M> for Unfair<M> {
    type Attempt = Attempt;

    async fn try_acquire(
        &self,
        p: &Process<M>,
        attempt: &mut Attempt,
    ) -> Result<Option<Grant>, Failure<M::Error, Refused>> {
        self.inner.acquire(p, 1, self.tries, attempt, true).await
    }

    async fn leave(&self, p: &Process<M>, attempt: Attempt) -> Result<Option<Grant>, M::Error> {
        self.inner.leave(p, attempt).await
    }
}
