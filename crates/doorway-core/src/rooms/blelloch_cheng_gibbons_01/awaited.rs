//! Waiting until there is an element, and closing: for any structure in two rooms.
//!
//! # Problem
//! A user that finds a stack or a queue empty wants to wait until somebody puts something there, to give up waiting, or to
//! be told that nothing will come any more. Structures that have no such users should pay nothing for it.
//!
//! # Source
//! Our own. Statement numbers are ours, from 60 on, beside those of the structure.
//!
//! # Idea
//! Every put is in a turn of the room [`IN`], and the [last one out](LastOut) of the turn is alone. So it tells the waiters: by
//! turning a number, if a flag beside it says that somebody waits. A waiter raises the flag *before* it looks into the
//! structure for the last time, and then waits for the word to change. Closing is a visit to the room [`OUT`], where nobody
//! puts anything; a put looks inside its room whether it may.
//!
//! # Shared variables
//! | name   | range                       | initially   | home   | written at | meaning |
//! |--------|-----------------------------|-------------|--------|------------|---------|
//! | `news` | `(turns, wanted, closed)`   | `(0, 0, 0)` | nobody | 62, 64, 67 | [what waiters wait for](Heard) |
//!
//! `turns` has 62 bits, and turns once for each turn of `IN` in which somebody waits. A waiter would miss news if it
//! slept while all of them went by.
//!
//! # Statements
//! | statement | what |
//! |---|---|
//! | 60 | a user that wants to put something looks, inside `IN`, whether it is closed |
//! | 61, 62 | a waiter raises the flag |
//! | 63, 64 | the last one out of `IN` turns the number, if the flag is up, and takes it down |
//! | 65 | a waiter waits for the word to change |
//! | 66, 67 | a user that closes does so inside `OUT` |
//!
//! # Why
//! - *the flag before the look (61)*: if the look finds nothing, each later turn of `IN` ends with 63, which sees the flag, or
//!   sees that another last one out has taken it down and turned the number since.
//! - *64 is a plain write*: while the flag is up, no waiter writes the word (62 wants it down), and nobody closes, since
//!   nobody is inside any room.
//! - *inside (60, 67)*: a put and a closing never overlap. So once a waiter has seen that it is closed (61), and then finds
//!   nothing, nothing will ever come.
//!
//! # Claims (checked by search, with a fault for each)
//! - (A1) linearizable: puts fit, take effect or are refused because it was closed before; a waiter gets an element, or
//!   learns that it is closed and nothing is left
//! - (A2) when all others rest or wait, a waiter that nothing wakes waits for a structure that is empty and not closed
//! - (A3) once closed, it stays closed
//!
//! # Cost, faults, fairness
//! Two reads more for each put that is alone in its turn, and one for each in a crowd; nothing for a take that finds
//! something. All waiters are woken by one put, and those that find nothing wait again: nobody is promised an order. A user
//! that gives up leaves nothing behind but the flag, which costs the next turn a write.

use super::{IN, OUT};
use crate::Failure;
use crate::memory::{
    Anybody, CompareSwap, Field, Here, Immediate, Memory, Process, ReadWrite, Site, Word, in_both_forms, within,
};
use crate::rooms::{LastOut, Lit, RoomSynchronization, or_refused};
use core::fmt::Debug;
use core::future::Future;

/// What waiters wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Heard {
    /// How many turns of `IN` ended while somebody waited, modulo 2^62.
    pub turns: u64,
    /// Whether somebody waits.
    pub wanted: bool,
    /// Whether nothing may be put any more.
    pub closed: bool,
}

impl Word for Heard {
    type Waiters = Anybody;
    const WHOLE: bool = true;
    const FIELDS: &'static [Field] =
        &[Field::new("turns", 2, 62), Field::new("wanted", 1, 1), Field::new("closed", 0, 1)];

    #[inline(always)]
    fn pack(self) -> u64 {
        self.turns << 2 | u64::from(self.wanted) << 1 | u64::from(self.closed)
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self { turns: word >> 2, wanted: word & 2 != 0, closed: word & 1 != 0 }
    }
}

/// What the last one out looks after.
#[derive(Debug)]
pub struct Tidings<M: Memory> {
    part: M::Part,
    news: M::Var<Heard>,
}

impl<M: Memory> Tidings<M> {
    /// Nobody waits, and it is not closed.
    pub fn new(site: &Site<'_, M>) -> Self {
        let news = site.var("news", Heard { turns: 0, wanted: false, closed: false });
        Self { part: site.here(), news }
    }
}

impl<M: ReadWrite> Tidings<M> {
    in_both_forms! {
        /// After a turn of [`IN`]: 63, 64.
        #[inline(always)]
        fn tell, tell_now(&self, p: &Process<M>) -> () {
            let here = p.on(self.part);
            let heard = access!(here.at(63).keeping(&()).read(&self.news));
            if heard.wanted {
                let turned = Heard { turns: heard.turns.wrapping_add(1), wanted: false, ..heard };
                access!(here.at(64).keeping(&heard).write(&self.news, turned));
            }
        }
    }
}

impl<M: ReadWrite> LastOut<M> for Tidings<M> {
    async fn last_out(&self, p: &Process<M>, room: usize) -> Result<(), M::Error> {
        if room == IN { self.tell(p).await } else { Ok(()) }
    }

    #[inline(always)]
    fn last_out_now(&self, p: &Process<M>, room: usize)
    where
        M: Immediate,
    {
        if room == IN {
            self.tell_now(p);
        }
    }
}

/// Why a user is not let in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotLetIn<R> {
    /// Nothing may be put any more.
    Closed,
    /// The rooms turned it away.
    Refused(R),
}

/// What comes of waiting for an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Awaited<T> {
    /// Here it is.
    Got(T),
    /// It is closed, and nothing is left.
    Ended,
    /// The process was asked to give up.
    GaveUp,
}

/// Two rooms whose users can wait for each other, and be shut out of [`IN`].
#[derive(Debug)]
pub struct AwaitedRooms<M: Memory, R> {
    part: M::Part,
    rooms: R,
}

impl<M: Memory, R: Lit<M, Lights = Tidings<M>>> AwaitedRooms<M, R> {
    /// `rooms` builds two rooms, whose last one out looks after the tidings.
    pub fn new(site: &Site<'_, M>, rooms: impl FnOnce(&Site<'_, M>, Tidings<M>) -> R) -> Self {
        Self { part: site.here(), rooms: rooms(&site.part("doors", None), Tidings::new(site)) }
    }

    /// The rooms themselves.
    pub fn rooms(&self) -> &R {
        &self.rooms
    }

    fn news(&self) -> &M::Var<Heard> {
        &self.rooms.lights().news
    }
}

impl<M: ReadWrite + CompareSwap, R: Lit<M, Lights = Tidings<M>>> AwaitedRooms<M, R> {
    /// Waits until `look` finds something: 61, 62 and 65. Each look is a visit to [`OUT`].
    ///
    /// # Errors
    /// If an access failed.
    pub async fn wait_for<T, F>(
        &self,
        p: &Process<M>,
        may_give_up: bool,
        mut look: impl FnMut() -> F,
    ) -> Result<Awaited<T>, M::Error>
    where
        F: Future<Output = Result<Option<T>, M::Error>>,
    {
        let here = p.on(self.part);
        if let Some(found) = within!(here, &(), look().await?) {
            return Ok(Awaited::Got(found));
        }
        loop {
            let seen = self.ask(here).await?;
            if let Some(found) = within!(here, &seen, look().await?) {
                return Ok(Awaited::Got(found));
            }
            if seen.closed {
                return Ok(Awaited::Ended);
            }
            here.shows("waits for", seen);
            here.keep(65, &seen);
            let changed = |heard| heard != seen;
            if !may_give_up {
                here.at(65).wait_until(self.news(), changed).await?;
            } else if here.at(65).wait_unless_given_up(self.news(), changed).await?.is_none() {
                here.hides("waits for");
                return Ok(Awaited::GaveUp);
            }
            here.hides("waits for");
        }
    }

    /// Raises the flag: 61, 62. What the word says then.
    async fn ask(&self, here: Here<'_, M>) -> Result<Heard, M::Error> {
        loop {
            let heard = here.at(61).keeping(&()).read(self.news()).await?;
            let asked = Heard { wanted: true, ..heard };
            if heard == asked
                || heard.closed
                || here.at(62).keeping(&heard).compare_swap(self.news(), heard, asked).await?.is_ok()
            {
                return Ok(if heard.closed { heard } else { asked });
            }
        }
    }

    /// Lets nobody put anything any more, and tells all that wait: 66, 67.
    ///
    /// # Errors
    /// If an access failed. The inner error says why the rooms turned it away.
    pub async fn close(&self, p: &Process<M>) -> Result<Result<(), R::Refusal>, M::Error> {
        let here = p.on(self.part);
        let inside = match within!(here, &(), or_refused(self.rooms.enter(p, OUT)).await?) {
            Ok(inside) => inside,
            Err(refusal) => return Ok(Err(refusal)),
        };
        loop {
            let heard = here.at(66).keeping(&&inside).read(self.news()).await?;
            let closed = Heard { closed: true, ..heard };
            here.keep(67, &(&inside, heard));
            if heard.closed || here.at(67).compare_swap(self.news(), heard, closed).await?.is_ok() {
                break;
            }
        }
        within!(here, &(), self.rooms.exit(p, inside).await?);
        Ok(Ok(()))
    }

    /// Whether it is closed: 61.
    ///
    /// # Errors
    /// If an access failed.
    pub async fn is_closed(&self, p: &Process<M>) -> Result<bool, M::Error> {
        Ok(p.on(self.part).at(61).keeping(&()).read(self.news()).await?.closed)
    }
}

impl<M: ReadWrite + CompareSwap, R: Lit<M, Lights = Tidings<M>>> RoomSynchronization<M> for AwaitedRooms<M, R> {
    type Inside = R::Inside;
    type Refusal = NotLetIn<R::Refusal>;

    fn rooms(&self) -> usize {
        self.rooms.rooms()
    }

    /// The rooms' own entry, and 60.
    async fn enter(&self, p: &Process<M>, room: usize) -> Result<R::Inside, Failure<M::Error, Self::Refusal>> {
        let here = p.on(self.part);
        let inside = match within!(here, &room, or_refused(self.rooms.enter(p, room)).await?) {
            Ok(inside) => inside,
            Err(refusal) => return Err(Failure::Refused(NotLetIn::Refused(refusal))),
        };
        if room == IN && here.at(60).keeping(&&inside).read(self.news()).await?.closed {
            within!(here, &(), self.rooms.exit(p, inside).await?);
            return Err(Failure::Refused(NotLetIn::Closed));
        }
        Ok(inside)
    }

    async fn exit(&self, p: &Process<M>, inside: R::Inside) -> Result<bool, M::Error> {
        self.rooms.exit(p, inside).await
    }

    #[inline(always)]
    fn enter_now(&self, p: &Process<M>, room: usize) -> Result<R::Inside, Self::Refusal>
    where
        M: Immediate,
    {
        let inside = self.rooms.enter_now(p, room).map_err(NotLetIn::Refused)?;
        if room == IN && M::now(p.on(self.part).at(60).read(self.news())).closed {
            self.rooms.exit_now(p, inside);
            return Err(NotLetIn::Closed);
        }
        Ok(inside)
    }

    #[inline(always)]
    fn exit_now(&self, p: &Process<M>, inside: R::Inside) -> bool
    where
        M: Immediate,
    {
        self.rooms.exit_now(p, inside)
    }
}
