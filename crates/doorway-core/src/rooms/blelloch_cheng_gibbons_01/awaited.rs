//! Waiting until there is an element, and closing: for any structure in two rooms.
//!
//! # Problem
//! A user that finds a stack or a queue empty wants to wait until another user puts an element
//! there, to give up waiting, or to learn that nothing will come any more. Structures without such
//! users should pay nothing for it.
//!
//! # Source
//! Our own. Statement numbers are ours, from 60 on, beside those of the structure.
//!
//! # Idea
//! Every put is in a turn of the room [`IN`], and exactly one process is the last of the turn. Once
//! it has left, it tells the waiters: it turns a number, if a flag beside the number says that a
//! process waits. A waiter raises the flag *before* it looks into the structure for the last time,
//! and then waits for the word to change. Closing is a visit to the room [`OUT`], in which no
//! process puts anything. A put checks inside its room whether the structure is closed.
//!
//! # Shared variables
//! | name     | range             | initially | home   | written at | meaning |
//! |----------|-------------------|-----------|--------|------------|---------|
//! | `news`   | `(turns, wanted)` | `(0, 0)`  | nobody | 62, 64     | [what waiters wait for](Heard) |
//! | `closed` | bool              | false     | nobody | 67         | whether nothing may be put any more |
//!
//! `turns` has 63 bits, and turns once for each turn of `IN` during which a process waits. A waiter
//! would miss news if it slept while all of these values went by.
//!
//! # Statements
//! | statement | what |
//! |---|---|
//! | 60 | a user that wants to put something checks, inside `IN`, whether the structure is closed |
//! | 61, 62 | a waiter raises the flag |
//! | 63, 64 | the last process of a turn of `IN` has left; it turns the number, if the flag is up, and takes the flag down |
//! | 65 | a waiter waits for the word to change |
//! | 66 | a waiter that has raised the flag checks whether the structure is closed |
//! | 67 | a user closes the structure inside `OUT`; it leaves, and continues with 63 |
//! | 68 | a user that has changed to the next turn of `IN` checks whether the structure is closed |
//!
//! # Why
//! - *the flag before the look (61)*: suppose that the look finds nothing. Each later turn of `IN`
//!   is followed by 63. It sees the flag, or sees that another process has taken the flag down and
//!   turned the number since. The same holds for closing (66, 67).
//! - *outside (64)*: a change of `news` wakes waiters, and a waker may run foreign code that uses
//!   the same rooms. No process therefore changes `news` while it is inside, or while it opens a
//!   room.
//! - *inside (60, 67)*: a put and a closing never overlap. Once a waiter has seen that the
//!   structure is closed (66), and then finds nothing, nothing will ever come. A put that changes
//!   from [`IN`] to [`IN`], because the structure has to grow, therefore checks again (68).
//! - *a change is not announced*: if the last user of a turn of [`IN`] leaves by a change, no
//!   process executes 63 after this turn. That user is in the next turn of [`IN`], after which one
//!   does.
//!
//! # Claims (checked by search, with a fault for each)
//! - (A1) linearizable: a put fits, takes effect, or is refused because the structure was closed
//!   before; a waiter gets an element, or learns that the structure is closed and nothing is left
//! - (A2) when all others rest or wait, a waiter that nothing wakes waits for a structure that is
//!   empty and not closed
//! - (A3) a closed structure stays closed
//! - (A4) when every process rests, waits, or tells the waiters (63, 64), no room is active: a
//!   process that wakes others is outside, and keeps no room from being opened
//! - (A5) once a waiter has learnt that the structure is closed and nothing is left, nothing is
//!   put, even by a batch for which the structure has to grow several times
//!
//! # Cost, faults, fairness
//! Two more reads for each put that is alone in its turn, and one for each put in a crowd; nothing
//! for a take that finds an element. One put wakes all waiters, and those that find nothing wait
//! again: no order is promised. A user that gives up leaves nothing behind but the flag, which
//! costs the next turn a write.

use super::{IN, OUT};
use crate::Failure;
use crate::memory::{
    Anybody, CompareSwap, Field, Here, Immediate, Memory, Process, ReadWrite, Site, Word, in_both_forms, within,
};
use crate::rooms::{Lit, RoomSynchronization, or_refused};
use core::fmt::Debug;
use core::future::Future;

/// The word for which waiters wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Heard {
    /// The number of turns of `IN` that ended while a process waited, modulo 2^63.
    pub turns: u64,
    /// Whether a process waits.
    pub wanted: bool,
}

impl Word for Heard {
    type Waiters = Anybody;
    const WHOLE: bool = true;
    const FIELDS: &'static [Field] = &[Field::new("turns", 1, 63), Field::new("wanted", 0, 1)];

    #[inline(always)]
    fn pack(self) -> u64 {
        self.turns << 1 | u64::from(self.wanted)
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self { turns: word >> 1, wanted: word & 1 != 0 }
    }
}

/// Why a user is not let in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotLetIn<R> {
    /// The structure is closed: nothing may be put any more.
    Closed,
    /// The rooms turned the user away.
    Refused(R),
}

/// The outcome of waiting for an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Awaited<T> {
    /// An element.
    Got(T),
    /// The structure is closed, and nothing is left.
    Ended,
    /// The process was asked to give up.
    GaveUp,
}

/// Proof that a user is inside one of [`AwaitedRooms`].
#[must_use = "no user gets into another room until this one has exited"]
#[derive(PartialEq, Eq, Debug)]
pub struct Visit<I> {
    inside: I,
    room: usize,
}

/// Two rooms whose users can wait for each other, and can be shut out of [`IN`].
#[derive(Debug)]
pub struct AwaitedRooms<M: Memory, R> {
    part: M::Part,
    rooms: R,
    news: M::Var<Heard>,
    closed: M::Var<bool>,
}

impl<M: Memory, R: RoomSynchronization<M>> AwaitedRooms<M, R> {
    /// Builds the structure; `rooms` builds two rooms.
    pub fn new(site: &Site<'_, M>, rooms: impl FnOnce(&Site<'_, M>) -> R) -> Self {
        Self {
            part: site.here(),
            rooms: rooms(&site.part("doors", None)),
            news: site.var("news", Heard { turns: 0, wanted: false }),
            closed: site.var("closed", false),
        }
    }

    /// The underlying rooms.
    pub fn rooms(&self) -> &R {
        &self.rooms
    }
}

impl<M: ReadWrite + CompareSwap, R: RoomSynchronization<M>> AwaitedRooms<M, R> {
    /// Waits until `look` finds something: 61, 62, 65 and 66. Each look is a visit to [`OUT`].
    ///
    /// # Errors
    /// Returns an error if an access failed.
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
            let closed = here.at(66).keeping(&seen).read(&self.closed).await?;
            if let Some(found) = within!(here, &(seen, closed), look().await?) {
                return Ok(Awaited::Got(found));
            }
            if closed {
                return Ok(Awaited::Ended);
            }
            here.shows("waits for", seen);
            here.keep(65, &seen);
            let changed = |heard| heard != seen;
            if !may_give_up {
                here.at(65).wait_until(&self.news, changed).await?;
            } else if here.at(65).wait_unless_given_up(&self.news, changed).await?.is_none() {
                here.hides("waits for");
                return Ok(Awaited::GaveUp);
            }
            here.hides("waits for");
        }
    }

    /// Raises the flag: 61, 62. Returns the word with the flag raised.
    async fn ask(&self, here: Here<'_, M>) -> Result<Heard, M::Error> {
        loop {
            let heard = here.at(61).keeping(&()).read(&self.news).await?;
            let asked = Heard { wanted: true, ..heard };
            if heard == asked || here.at(62).keeping(&heard).compare_swap(&self.news, heard, asked).await?.is_ok() {
                return Ok(asked);
            }
        }
    }

    /// Closes the structure, so that nothing can be put any more, and tells all waiters: 67, and
    /// then 63, 64.
    ///
    /// # Errors
    /// Returns an error if an access failed. The inner error says why the rooms turned the user
    /// away.
    pub async fn close(&self, p: &Process<M>) -> Result<Result<(), R::Refusal>, M::Error> {
        let here = p.on(self.part);
        let inside = match within!(here, &(), or_refused(self.rooms.enter(p, OUT)).await?) {
            Ok(inside) => inside,
            Err(refusal) => return Ok(Err(refusal)),
        };
        here.at(67).keeping(&&inside).write(&self.closed, true).await?;
        within!(here, &(), self.rooms.exit(p, inside).await?);
        self.tell(here).await?;
        Ok(Ok(()))
    }

    /// Whether the structure is closed: 66.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn is_closed(&self, p: &Process<M>) -> Result<bool, M::Error> {
        p.on(self.part).at(66).keeping(&()).read(&self.closed).await
    }

    in_both_forms! {
        /// The rooms' own entry, and 60.
        #[inline(always)]
        fn go_in, go_in_now(&self, p: &Process<M>, room: usize) -> Result<Visit<R::Inside>, NotLetIn<R::Refusal>> {'text: {
            let here = p.on(self.part);
            here.part(&room);
            let entered = either!(or_refused(self.rooms.enter(p, room)), self.rooms.enter_now(p, room));
            here.part_done();
            let visit = match entered {
                Ok(inside) => Visit { inside, room },
                Err(refusal) => break 'text Err(NotLetIn::Refused(refusal)),
            };
            if room == IN && access!(here.at(60).keeping(&&visit).read(&self.closed)) {
                either!(self.go_out(p, visit), self.go_out_now(p, visit));
                break 'text Err(NotLetIn::Closed);
            }
            Ok(visit)
        }}

        /// The rooms' own exit, and 63, 64 after a turn of [`IN`].
        #[inline(always)]
        fn go_out, go_out_now(&self, p: &Process<M>, visit: Visit<R::Inside>) -> bool {
            let here = p.on(self.part);
            let Visit { inside, room } = visit;
            let last = within!(here, &room, either!(self.rooms.exit(p, inside), self.rooms.exit_now(p, inside)));
            if last && room == IN {
                either!(self.tell(here), self.tell_now(here));
            }
            last
        }

        /// 63, 64, by a process that is outside.
        #[inline(always)]
        fn tell, tell_now(&self, here: Here<'_, M>) -> () {
            here.shows("tells", true);
            loop {
                let heard = access!(here.at(63).keeping(&()).read(&self.news));
                if !heard.wanted {
                    break;
                }
                let turned = Heard { turns: heard.turns.wrapping_add(1), wanted: false };
                if access!(here.at(64).keeping(&heard).compare_swap(&self.news, heard, turned)).is_ok() {
                    break;
                }
            }
            here.hides("tells");
        }
    }
}

impl<M: ReadWrite + CompareSwap, R: RoomSynchronization<M>> RoomSynchronization<M> for AwaitedRooms<M, R> {
    type Inside = Visit<R::Inside>;
    type Refusal = NotLetIn<R::Refusal>;

    fn rooms(&self) -> usize {
        self.rooms.rooms()
    }

    async fn enter(&self, p: &Process<M>, room: usize) -> Result<Self::Inside, Failure<M::Error, Self::Refusal>> {
        self.go_in(p, room).await?.map_err(Failure::Refused)
    }

    async fn exit(&self, p: &Process<M>, visit: Self::Inside) -> Result<bool, M::Error> {
        self.go_out(p, visit).await
    }

    #[inline(always)]
    fn enter_now(&self, p: &Process<M>, room: usize) -> Result<Self::Inside, Self::Refusal>
    where
        M: Immediate,
    {
        self.go_in_now(p, room)
    }

    #[inline(always)]
    fn exit_now(&self, p: &Process<M>, visit: Self::Inside) -> bool
    where
        M: Immediate,
    {
        self.go_out_now(p, visit)
    }
}

impl<M: ReadWrite + CompareSwap, R: Lit<M>> AwaitedRooms<M, R> {
    in_both_forms! {
        /// The rooms' own change, from [`IN`] to [`IN`], and 68.
        #[inline(always)]
        fn go_round, go_round_now(&self, p: &Process<M>, visit: Visit<R::Inside>) -> Result<Visit<R::Inside>, NotLetIn<R::Refusal>> {'text: {
            let here = p.on(self.part);
            here.part(&());
            let changed = either!(
                or_refused(self.rooms.change(p, visit.inside, IN)),
                self.rooms.change_now(p, visit.inside, IN)
            );
            here.part_done();
            let visit = match changed {
                Ok(inside) => Visit { inside, room: IN },
                Err(refusal) => {
                    // The user has left, and may have been the last one of its turn.
                    either!(self.tell(here), self.tell_now(here));
                    break 'text Err(NotLetIn::Refused(refusal));
                }
            };
            if access!(here.at(68).keeping(&&visit).read(&self.closed)) {
                either!(self.go_out(p, visit), self.go_out_now(p, visit));
                break 'text Err(NotLetIn::Closed);
            }
            Ok(visit)
        }}
    }
}

/// For structures that grow. Their users change only from [`IN`] to [`IN`].
impl<M: ReadWrite + CompareSwap, R: Lit<M>> Lit<M> for AwaitedRooms<M, R> {
    type Lights = R::Lights;

    #[inline(always)]
    fn lights(&self) -> &R::Lights {
        self.rooms.lights()
    }

    async fn change(
        &self,
        p: &Process<M>,
        visit: Self::Inside,
        to: usize,
    ) -> Result<Self::Inside, Failure<M::Error, Self::Refusal>> {
        assert!((visit.room, to) == (IN, IN), "users change only from `IN` to `IN`");
        self.go_round(p, visit).await?.map_err(Failure::Refused)
    }

    fn change_now(&self, p: &Process<M>, visit: Self::Inside, to: usize) -> Result<Self::Inside, Self::Refusal>
    where
        M: Immediate,
    {
        assert!((visit.room, to) == (IN, IN), "users change only from `IN` to `IN`");
        self.go_round_now(p, visit)
    }
}
