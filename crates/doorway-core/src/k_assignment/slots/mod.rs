//! Slots: a turnstile with names, and everything its users can do with them.
//!
//! # Problem
//! [k-assignment](crate::k_assignment) in which processes can ask for several places at once, give
//! up, divide the places that they hold, add and remove places, and close the slots.
//!
//! # Source
//! Our own: the [turnstile](crate::k_exclusion::turnstile) and [names](super::names).
//! `doorway::Slots` and `doorway::Pool` run this text.
//!
//! # Idea
//! A process passes the turnstile, and only then takes a name for each of its units. At most `k`
//! processes look for names at a time, so there is one for each. A process gives its names back
//! before it leaves.
//!
//! # Shared variables
//! Those of the turnstile, in a part of its own, and those of the names.
//!
//! # Operations
//! | operation | statements |
//! |---|---|
//! | [acquire](Slots::acquire), [release](KExclusion::release) | 1: the turnstile; 2, 3: a name; 4: it goes back; 5: the turnstile |
//! | several at once | the same, with 2, 3 and 8 for each name: its holder notes in it which name comes next |
//! | [try](Slots::try_acquire_now) | 1 only if that is possible at once |
//! | newcomers first | `tries` times, 1 only if that is possible at once; then as usual |
//! | [forget](Slots::forget) | 4, then the turnstile's `forget` instead of 5 |
//! | [retire](Slots::retire) | the turnstile's `forget` alone: the name stays taken, and no process has it |
//! | [revive](Slots::revive) | 4 for such a name, then a place more |
//! | [merge](Slots::merge) | both parts leave the line; 9 and 8: the last name of the first notes that the names of the second come next; 7: the larger number |
//! | [split](Slots::split) | the number; 9: looks where the second part begins. Each name keeps its holder, so no other process can tell |
//! | [number](Slots::fence) | 10, 6, 11, 7: see `fences.rs` |
//! | [add](Slots::add), [close](Slots::close), [look](Slots::look) | the turnstile's |
//! | [unless closed](Slots::go_on_unless_closed) | the turnstile's 31 after an entry that was not possible at once; 4 and 5, if it is closed |
//!
//! # Invariants (all checked)
//! Those of the turnstile, (T1) to (T6), and of the names, (B1) and (B2), and of `fences.rs`.
//!
//! # Cost, faults, fairness
//! Those of the turnstile; a name costs one more read-modify-write and one more write. A process
//! that dies inside keeps its places and their names.

mod closing;
pub mod entries;
mod fences;
mod passing;

pub use fences::Fence;
pub use passing::Passing;

use super::KAssignment;
use super::names::{Names, NoNames};
use crate::Failure;
use crate::k_exclusion::bypass::Tray;
use crate::k_exclusion::turnstile::{
    Attempt, Drawn, DrawnTickets, Fate, Held, Line, LinedUp, Look, Record, Refused, Ring, Spot, Stands, TooMany, Tried,
    Turnstile, Unsettled,
};
use crate::k_exclusion::{Abortable, AtOnce, KExclusion};
use crate::memory::{
    CompareSwap, FetchAdd, Here, Immediate, LateRows, Mark, Memory, Nobody, Process, Site, Word, in_both_forms, within,
};
use core::fmt::{self, Debug};
use core::mem::offset_of;
use core::num::NonZeroU64;
use fences::LAST_FENCE;

/// Names around a turnstile. In memory, the names follow what passages write of the turnstile.
#[derive(Debug)]
#[repr(C)]
pub struct Slots<M: Memory, N, L = Ring<M>, X = ()> {
    line: Turnstile<M, L>,
    /// What the owner of the slots keeps beside them, in the same cache line as the gate.
    beside: X,
    names: N,
    part: M::Part,
    room: u64,
    /// The last ticket that fits a fence number,
    last: u64,
    /// with this many bits below it: enough to count the places.
    below: u32,
}

/// What a passage carries from entry to exit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grant {
    /// What it holds.
    pub holding: Holding,
    /// Its ticket, or its [stamp](crate::k_exclusion::bypass). Its [fence number](Fence) is made
    /// from that.
    pub ticket: u64,
}

/// What a process holds: its units, and the first of their names.
///
/// This is one word, because a value that is written in pieces and moved as a whole takes longer
/// than all the rest of a passage. It is never zero, so that a grant or a refusal together are two
/// words, and are returned in registers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Holding {
    /// The name, 32 bits; the units, 30 bits; whether they were announced; and a bit that is always
    /// set.
    packed: NonZeroU64,
}

impl Debug for Holding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Holding").field("held", &self.held()).field("name", &self.name()).finish()
    }
}

/// A holder can tell another thread what it holds.
impl Word for Holding {
    type Waiters = Nobody;
    const WHOLE: bool = true;

    fn pack(self) -> u64 {
        self.packed.get()
    }
    fn unpack(word: u64) -> Self {
        Self { packed: NonZeroU64::MIN | word }
    }
}

impl Holding {
    #[inline(always)]
    fn new(held: Held, name: u32) -> Self {
        // No process holds more units than there are places.
        let packed = u64::from(name) << 32 | held.units << 2 | u64::from(held.announced) << 1;
        Self { packed: NonZeroU64::MIN | packed }
    }

    /// What it holds of the turnstile.
    #[must_use]
    #[inline(always)]
    pub fn held(self) -> Held {
        Held::of(self.units() as u64, self.packed.get() >> 1 & 1 == 1)
    }

    /// The number of units.
    #[must_use]
    #[inline(always)]
    pub fn units(self) -> usize {
        (self.packed.get() as u32 >> 2) as usize
    }

    /// Which of the names `0..k`. If there are several, the first: it knows the next.
    #[must_use]
    #[inline(always)]
    pub fn name(self) -> u32 {
        (self.packed.get() >> 32) as u32
    }

    /// Whether it is one unit for which the process did not wait.
    #[must_use]
    #[inline(always)]
    pub fn is_one_at_once(self) -> bool {
        self.packed.get() as u32 == 1 << 2 | 1
    }

    /// The same with no units: its units are held elsewhere.
    #[must_use]
    pub fn of_nothing(self) -> Self {
        Self { packed: NonZeroU64::MIN | self.packed.get() >> 32 << 32 }
    }
}

/// How far a process has come without waiting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entered {
    /// Inside.
    Inside(Grant),
    /// Not inside: the process has drawn tickets, and goes on [from there](Slots::go_on).
    Not(Drawn),
    /// There is no place for it now.
    NoPlace,
    /// No process is let in any more, or there are too few places.
    Refused(Refused),
}

impl Entered {
    /// Sorts the result of a try: units that still need names, or a final answer.
    #[inline(always)]
    fn by<M: Memory>(here: Here<'_, M>, tried: Tried) -> Result<Held, Self> {
        let not = match tried {
            Tried::Drawn(Drawn::Inside(held)) => return Ok(held),
            Tried::Drawn(drawn) => return Err(Self::Not(drawn)),
            Tried::NoPlace => Self::NoPlace,
            Tried::Closed => Self::Refused(Refused::Closed),
            Tried::TooMany(too_many) => Self::Refused(Refused::TooMany(too_many)),
        };
        here.part_done();
        Err(not)
    }
}

/// A name whose place was taken away: it stays taken, and no process holds it. The value cannot be
/// copied, so that the name is revived once.
#[must_use = "its slot is of no use until it is revived"]
#[derive(PartialEq, Eq, Debug)]
pub struct Retired(u32);

impl Retired {
    /// The slot.
    #[must_use]
    pub fn slot(&self) -> usize {
        self.0 as usize
    }
}

impl<M: LateRows, N: Names<M>, L> Slots<M, N, L> {
    /// Names for up to `room` places, and a turnstile, which `line` builds on a site within this
    /// one.
    ///
    /// If there are to be [fence numbers](Fence), they are larger than `fences`, and the
    /// turnstile must note tickets. (If there were other slots before, it must go on with their
    /// tickets.)
    pub fn new(
        site: &Site<'_, M>,
        room: usize,
        fences: Option<u64>,
        line: impl FnOnce(&Site<'_, M>) -> Turnstile<M, L>,
    ) -> Self {
        let names = N::new(site, room, fences);
        Self::of_parts(site.here(), names, line(&site.part("exclusion", None)), room, ())
    }

    /// The same, and what the owner keeps beside them.
    pub fn with<X>(self, beside: X) -> Slots<M, N, L, X> {
        let Self { part, names, line, room, below, last, beside: () } = self;
        Slots { part, names, line, room, below, last, beside }
    }
}

impl<M: Memory, N, L, X> Slots<M, N, L, X> {
    /// The same, with something else beside them.
    pub fn with_other<Y>(self, other: impl FnOnce(X) -> Y) -> Slots<M, N, L, Y> {
        let Self { part, names, line, room, below, last, beside } = self;
        Slots { part, names, line, room, below, last, beside: other(beside) }
    }
}

impl<M: LateRows, N: Names<M>, L, X> Slots<M, N, L, X> {
    /// What the owner keeps beside the slots.
    #[inline(always)]
    pub fn beside(&self) -> &X {
        &self.beside
    }

    /// The same turnstile with other names. No process may hold a name.
    pub fn with_names<Other: Names<M>>(self, site: &Site<'_, M>, fences: Option<u64>) -> Slots<M, Other, L, X> {
        let Self { part, line, room, below, last, beside, names: _ } = self;
        Slots { part, names: Other::new(site, room as usize, fences), line, room, below, last, beside }
    }

    /// Whether giving a name back takes few instructions.
    #[inline(always)]
    pub fn has_few_names(&self) -> bool {
        self.names.are_few()
    }

    /// The largest number of places.
    pub fn room(&self) -> u64 {
        self.room
    }
}

impl<M: Memory, N, L, X> Slots<M, N, L, X> {
    /// The offset, within the object, of the variables that each passage writes. They should be at
    /// the beginning of a cache line.
    pub const WRITTEN: usize = Turnstile::<M, L>::WRITTEN; // the turnstile is the first field

    /// The offset of the names. Their first variables should be in the same cache line.
    pub const NAMES: usize = offset_of!(Self, names);

    /// Puts slots together before the program runs.
    pub const fn of_parts(part: M::Part, names: N, line: Turnstile<M, L>, room: usize, beside: X) -> Self {
        let below = room.next_power_of_two().trailing_zeros();
        Self { part, names, line, room: room as u64, below, last: LAST_FENCE >> below, beside }
    }
}

/// What a process holds that did not have to wait in line.
fn inside<M: Memory>(stands: Stands<'_, M>) -> Option<Held> {
    match stands {
        Stands::Inside(held) => Some(held),
        Stands::InLine { .. } | Stands::GivesUp => None,
    }
}

#[cold]
#[inline(never)]
pub(super) fn missing() -> u32 {
    unreachable!("there are as many names as places, and only a process that holds a place takes one")
}

impl<M: FetchAdd + CompareSwap + LateRows, N: Names<M>, L: Line<M>, X> Slots<M, N, L, X> {
    in_both_forms! {
        /// The entry section, as far as it goes without waiting: 1 to 3.
        #[inline(always)]
        pub fn begin, begin_now(&self, p: &Process<M>, units: u64) -> Entered {'text: {
            let here = p.on(self.part);
            here.part(&());
            let drawn = either!(self.line.draw(p, units), self.line.draw_now(p, units));
            let Drawn::Inside(held) = drawn else { break 'text Entered::Not(drawn) };
            here.part_done();
            Entered::Inside(either!(self.named(here, held), self.named_now(here, held)))
        }}

        /// The entry section, if it is possible at once. With `once` it does not try again if
        /// another process drew a ticket meanwhile.
        #[inline(always)]
        pub fn begin_at_once, begin_at_once_now(&self, p: &Process<M>, units: u64, once: bool) -> Entered {'text: {
            let here = p.on(self.part);
            here.part(&());
            let tried = either!(self.line.draw_if_enabled(p, units, once), self.line.draw_if_enabled_now(p, units, once));
            let held = match Entered::by(here, tried) {
                Ok(held) => held,
                Err(entered) => break 'text entered,
            };
            here.part_done();
            Entered::Inside(either!(self.named(here, held), self.named_now(here, held)))
        }}

        /// The exit section of a process that holds one unit: 4, and the part of 5 that every
        /// process does. Returns `Some` if [the rest](Self::settle) is needed.
        #[inline(always)]
        pub fn end, end_now(&self, p: &Process<M>, holding: Holding) -> Option<Unsettled> {
            let here = p.on(self.part);
            let held = holding.held();
            either!(self.names.give_back(here, holding.name()), self.names.give_back_now(here, holding.name()));
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
                either!(self.names.take(p, &held), self.names.take_now(p)).unwrap_or_else(missing)
            } else {
                either!(self.take_many(p, held), self.take_many_now(p, held))
            };
            p.holds("name", u64::from(name));
            p.mark(Mark::Rests(4));
            Grant { holding: Holding::new(held, name), ticket: held.ticket }
        }
    }

    async fn take_many(&self, p: Here<'_, M>, held: Held) -> Result<u32, M::Error> {
        Ok(self.names.take_many(p, held.units, &held).await?.unwrap_or_else(missing))
    }

    /// Not inlined. The text that takes one name is small, and is inlined wherever it is used.
    #[cold]
    #[inline(never)]
    fn take_many_now(&self, p: Here<'_, M>, held: Held) -> u32
    where
        M: Immediate,
    {
        M::now(self.take_many(p, held))
    }

    /// Shows that the names are back.
    #[inline(always)]
    fn is_nameless(&self, p: Here<'_, M>, held: Held) {
        p.hides("name"); // a process that was let in while it gave up has the name in its exit section
        p.hides("names");
        p.hides("gone");
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

    /// The rest of the entry section, for a process that has drawn `drawn`. Returns `None` if the
    /// process was asked to give up; [`leave`](Abortable::leave) must then run with the attempt.
    ///
    /// # Errors
    /// Returns an error if an access failed, if the slots are closed, or if there are too few
    /// places.
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

    /// [`go_on`](Self::go_on), unless the slots are closed meanwhile: see `closing.rs`. With a
    /// tray, newcomers pass.
    ///
    /// # Errors
    /// The same as for [`go_on`](Self::go_on).
    pub async fn go_on_unless_closed(
        &self,
        p: &Process<M>,
        tray: Option<&Tray<M>>,
        drawn: Drawn,
        units: u64,
        attempt: &mut Attempt,
        may_give_up: bool,
    ) -> Result<Option<Grant>, Failure<M::Error, Refused>> {
        let here = p.on(self.part);
        here.shows("looks again", true);
        let entered = match tray {
            Some(tray) => self.go_on_passing(p, tray, drawn, units, attempt, may_give_up).await,
            None => self.go_on(p, drawn, units, attempt, may_give_up).await,
        };
        let entered = self.if_any_unless_closed(p, tray, entered).await;
        here.hides("looks again");
        entered
    }

    /// [`go_on`](Self::go_on) up to its wait. It waits for nothing, unless no process may draw a
    /// ticket now.
    ///
    /// # Errors
    /// The same as for [`go_on`](Self::go_on).
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

    /// The ticket of a process in line for one unit, and the record that tells it that its wait is
    /// over.
    #[inline(always)]
    pub fn place(&self, spot: Spot) -> (u64, &M::Cell<Record>) {
        self.line.place(spot)
    }

    /// Moves a process in line for one unit that was [asked to](Fate::Nudged).
    ///
    /// # Errors
    /// If an access failed.
    pub async fn move_up(&self, p: &Process<M>, spot: Spot) -> Result<Spot, M::Error> {
        L::move_on(&self.line, p, spot).await
    }

    in_both_forms! {
        /// The first part of [`stand`](Self::stand), for tickets that are drawn and not enabled. If
        /// they turn out to be enabled, the process goes on from there.
        #[inline(always)]
        pub fn line_up, line_up_now(&self, p: &Process<M>, tickets: DrawnTickets) -> LinedUp<'_, M> {
            either!(self.line.line_up(p, tickets), self.line.line_up_now(p, tickets))
        }

        /// One turn of that wait. `Some` if it is over; then the process
        /// [enters](Self::enter_in_turn). `Nudged` if the process is to [move](Self::move_up).
        #[inline(always)]
        pub fn turn, turn_now(&self, p: &Process<M>, t: u64, record: &M::Cell<Record>) -> Option<Fate> {
            either!(self.line.turn(p, t, record), self.line.turn_now(p, t, record))
        }

        /// Gives up, as [`leave`](Abortable::leave) does. Returns `Some` if the process was let in
        /// before.
        #[inline(always)]
        pub fn withdraw, withdraw_now(&self, p: &Process<M>, attempt: Attempt) -> Option<Grant> {'text: {
            let withdrawn = either!(self.line.withdraw(p, attempt), self.line.withdraw_now(p, attempt));
            let Some(held) = withdrawn else { break 'text None };
            let here = p.on(self.part);
            Some(either!(self.named(here, held), self.named_now(here, held)))
        }}

        /// The end of the entry section of a process that was told that its wait is over. If it was
        /// told that the slots are closed, it is refused.
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

    /// Tries to take free units, before the process draws a ticket. No unit is free while a process
    /// is in line, so this passes no process in line. With a tray it may: a newcomer that asks for
    /// one unit takes it from the tray.
    ///
    /// # Errors
    /// Returns an error if an access failed, or if the slots are closed.
    pub async fn barge(
        &self,
        p: &Process<M>,
        tray: Option<&Tray<M>>,
        units: u64,
        tries: core::ops::Range<u32>,
    ) -> Result<Option<Grant>, Failure<M::Error, Refused>> {
        let here = p.on(self.part);
        for tried in tries {
            if tried > 0 {
                here.pauses(tried);
            }
            here.part(&tried);
            let entered = match tray {
                Some(tray) => self.begin_passing(p, tray, units, true).await?,
                None => self.begin_at_once(p, units, true).await?,
            };
            here.part_done();
            match entered {
                Entered::Inside(grant) => return Ok(Some(grant)),
                Entered::Not(drawn) => {
                    let attempt = &mut Attempt::default();
                    return match tray {
                        Some(tray) => self.go_on_passing(p, tray, drawn, units, attempt, false).await,
                        None => self.go_on(p, drawn, units, attempt, false).await,
                    };
                }
                Entered::NoPlace => {}
                Entered::Refused(why) => return Err(Failure::Refused(why)),
            }
        }
        Ok(None)
    }

    /// The entry section for `units` units, with `tries` tries before the doorway. Returns `None`
    /// if the process was asked to give up; [`leave`](Abortable::leave) must then run with the
    /// attempt.
    ///
    /// # Errors
    /// Returns an error if an access failed, if the slots are closed, or if there are too few
    /// places.
    pub async fn acquire(
        &self,
        p: &Process<M>,
        units: u64,
        tries: u32,
        attempt: &mut Attempt,
        may_give_up: bool,
    ) -> Result<Option<Grant>, Failure<M::Error, Refused>> {
        if let Some(grant) = self.barge(p, None, units, 0..tries).await? {
            return Ok(Some(grant));
        }
        self.acquire_in_turn(p, units, attempt, may_give_up).await
    }

    /// The same without tries.
    ///
    /// # Errors
    /// The same as for [`acquire`](Self::acquire).
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

    /// Enters if that is possible at once, and otherwise says why not.
    ///
    /// # Errors
    /// Returns an error if an access failed, or if the slots are closed.
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

    async fn give_names_back(&self, p: Here<'_, M>, holding: Holding) -> Result<(), M::Error> {
        let (held, name) = (holding.held(), holding.name());
        if held.units == 1 {
            self.names.give_back(p, name).await?;
        } else {
            self.names.give_many_back(p, name, held.units, &held).await?;
        }
        self.is_nameless(p, held);
        Ok(())
    }

    /// The exit section: [`release`](KExclusion::release).
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn give_holding_back(&self, p: &Process<M>, holding: Holding) -> Result<(), M::Error> {
        let here = p.on(self.part);
        self.give_names_back(here, holding).await?;
        within!(here, &(), self.line.release(p, holding.held()).await?);
        Ok(())
    }

    /// An exit that removes its places, so there are fewer from now on. Its names are free.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn forget(&self, p: &Process<M>, holding: Holding) -> Result<(), M::Error> {
        let here = p.on(self.part);
        // Names first: as soon as there are fewer places, there may be room for others, which need
        // names.
        self.give_names_back(here, holding).await?;
        within!(here, &(), self.line.forget(p, holding.held()).await?);
        Ok(())
    }

    /// An exit that removes its one place, and leaves its name taken.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn retire(&self, p: &Process<M>, holding: Holding) -> Result<Retired, M::Error> {
        let here = p.on(self.part);
        let name = holding.name();
        here.shows("name", u64::from(name));
        within!(here, &name, self.line.forget(p, holding.held()).await?);
        Ok(Retired(name))
    }

    /// Adds a place again for a name that was retired: 4, and the turnstile's `add`.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn revive(&self, p: &Process<M>, Retired(name): Retired) -> Result<(), M::Error> {
        let here = p.on(self.part);
        self.names.give_back(here, name).await?;
        here.hides("name");
        here.part(&());
        // There is room: no other process can have added the place that was taken away with the
        // name, as long as `room` counts names.
        let _ = self.line.add(p, 1, u64::MAX).await?;
        here.part_done();
        Ok(())
    }

    /// Adds places, as long as there is room for them.
    ///
    /// # Errors
    /// Returns an error if an access failed. The inner error says that there is no room.
    pub async fn add(&self, p: &Process<M>, units: u64) -> Result<Result<(), TooMany>, M::Error> {
        let here = p.on(self.part);
        let added = within!(here, &(), self.line.add(p, units, self.room).await?);
        Ok(added)
    }

    /// Closes the slots: no process gets in any more.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn close(&self, p: &Process<M>) -> Result<(), M::Error> {
        let here = p.on(self.part);
        within!(here, &(), self.line.close(p).await?);
        Ok(())
    }

    in_both_forms! {
        /// Whether the slots were closed.
        #[inline(always)]
        pub fn is_closed, is_closed_now(&self, p: &Process<M>) -> bool {
            let here = p.on(self.part);
            within!(here, &(), either!(self.line.is_closed(p), self.line.is_closed_now(p)))
        }
    }

    /// The state of the turnstile.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn look(&self, p: &Process<M>) -> Result<Look, M::Error> {
        let here = p.on(self.part);
        let look = within!(here, &(), self.line.look(p).await?);
        Ok(look)
    }

    /// The number of units that a look found waiting and that were [given up](Turnstile::ghosts).
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn ghosts(&self, p: &Process<M>, look: &Look) -> Result<u64, M::Error> {
        let here = p.on(self.part);
        let ghosts = within!(here, &(), self.line.ghosts(p, look).await?);
        Ok(ghosts)
    }

    /// The number of places.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn places(&self, p: &Process<M>) -> Result<u64, M::Error> {
        self.line.places(p).await
    }

    /// Divides what a process holds: the second part holds `units`. Both have the
    /// [number](Self::fence) of the whole, which is made now. Returns `None` unless both parts then
    /// hold something.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn split(
        &self,
        p: &Process<M>,
        holding: Holding,
        own: &M::Cell<Fence>,
        units: u64,
    ) -> Result<Option<(Holding, Holding, Fence)>, M::Error> {
        let held = holding.held();
        let Some(left) = held.units.checked_sub(units).filter(|&left| left > 0 && units > 0) else {
            return Ok(None);
        };
        let here = p.on(self.part);
        let number = within!(here, &(holding, units), self.fence(p, holding, own).await?);
        let name = self.names.after(here, holding.name(), left, &(holding, number)).await?;
        let part = |units, name| Holding::new(Held { units, ..held }, name);
        Ok(Some((part(left, holding.name()), part(units, name), Fence::Is(number))))
    }

    /// Makes one grant of two that the same process holds. Its number is the larger of the two.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn merge(
        &self,
        p: &Process<M>,
        (first, own): (Holding, &M::Cell<Fence>),
        (second, other): (Holding, &M::Cell<Fence>),
    ) -> Result<(Holding, Fence), M::Error> {
        let here = p.on(self.part);
        let number = within!(here, &(first, second), self.fence(p, first, own).await?);
        let number = number.max(within!(here, &(first, second, number), self.fence(p, second, other).await?));
        // Two parts can leave together only if both are in line, or neither is.
        let one = within!(here, &(first, second, number), self.line.leave_line(p, first.held()).await?);
        let two = within!(here, &(one, first, second, number), self.line.leave_line(p, second.held()).await?);
        let whole = Holding::new(Held::of(one.units + two.units, false), first.name());
        self.names.join(here, (first.name(), one.units), second.name(), &(whole, number)).await?;
        self.names.note(here, whole.name(), whole.units() as u64, number, &whole).await?;
        Ok((whole, Fence::Is(number)))
    }

    /// Whether some process has this name.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn is_taken(&self, p: &Process<M>, slot: usize) -> Result<bool, M::Error> {
        self.names.is_taken(p.on(self.part), slot).await
    }

    /// Takes each name that is taken in `old`, for its holder, which will not give it back. No
    /// other process may use either of the two objects meanwhile. There must be room here for all
    /// names of `old`.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn keep_names_of<K: Line<M>, Y>(&self, p: &Process<M>, old: &Slots<M, N, K, Y>) -> Result<(), M::Error> {
        let here = p.on(self.part);
        let mut end = 0;
        let room = old.room;
        for slot in 0..room as usize {
            if old.is_taken(p, slot).await? {
                end = slot + 1;
            }
        }
        // The lowest first: all below the end. Then those go back that are not to be kept.
        for name in 0..end {
            self.names.take(here, &name).await?.unwrap_or_else(missing);
        }
        for name in 0..end {
            if !old.is_taken(p, name).await? {
                self.names.give_back(here, name as u32).await?;
            }
        }
        Ok(())
    }

    /// The name that comes next after this one, for a process that holds both: 9.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn next_name(&self, p: &Process<M>, name: u32) -> Result<u32, M::Error> {
        self.names.after(p.on(self.part), name, 1, &()).await
    }
}

impl<M: FetchAdd + CompareSwap + LateRows, N: Names<M>, L: Line<M>, X> KExclusion<M> for Slots<M, N, L, X> {
    type Held = Grant;
    type Refusal = Refused;

    async fn acquire(&self, p: &Process<M>) -> Result<Grant, Failure<M::Error, Refused>> {
        match self.acquire_in_turn(p, 1, &mut Attempt::default(), false).await? {
            Some(grant) => Ok(grant),
            None => unreachable!("only a process that may give up is asked to"),
        }
    }

    async fn release(&self, p: &Process<M>, grant: Grant) -> Result<(), M::Error> {
        self.give_holding_back(p, grant.holding).await
    }
}

impl<M: FetchAdd + CompareSwap + LateRows, N: Names<M>, L: Line<M>, X> AtOnce<M> for Slots<M, N, L, X> {
    async fn acquire_at_once(&self, p: &Process<M>) -> Result<Option<Grant>, Failure<M::Error, Refused>> {
        self.try_acquire_now(p, 1, true).await
    }
}

impl<M: FetchAdd + CompareSwap + LateRows, N: Names<M>, L: Line<M>, X> Abortable<M> for Slots<M, N, L, X> {
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

impl<M: FetchAdd + CompareSwap + LateRows, N: Names<M>, L: Line<M>, X> KAssignment<M> for Slots<M, N, L, X> {
    fn name(held: &Grant) -> usize {
        held.holding.name() as usize
    }
}

/// Slots without names, whose newcomers try a few times to take free units before they draw a
/// ticket: `doorway::Slots::unfair` without its names.
///
/// No unit is free while a process is in line, so no process in line is ever passed: barging ends
/// with the last of these tries.
#[derive(Debug)]
pub struct Unfair<M: Memory> {
    inner: Slots<M, NoNames>,
    tries: u32,
}

impl<M: LateRows> Unfair<M> {
    /// For `n` processes and `k` units.
    pub fn new(site: &Site<'_, M>, n: usize, k: usize, tries: u32) -> Self {
        Self { inner: Slots::new(site, k, None, |site| Turnstile::new(site, n, k)), tries }
    }
}

impl<M: FetchAdd + CompareSwap + LateRows> KExclusion<M> for Unfair<M> {
    type Held = Grant;
    type Refusal = Refused;

    async fn acquire(&self, p: &Process<M>) -> Result<Grant, Failure<M::Error, Refused>> {
        match self.inner.acquire(p, 1, self.tries, &mut Attempt::default(), false).await? {
            Some(grant) => Ok(grant),
            None => unreachable!("only a process that may give up is asked to"),
        }
    }

    async fn release(&self, p: &Process<M>, grant: Grant) -> Result<(), M::Error> {
        self.inner.release(p, grant).await
    }
}

impl<M: FetchAdd + CompareSwap + LateRows> Abortable<M> for Unfair<M> {
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
