//! Rooms that latecomers may join while they are open, a bounded number of times in each turn.
//!
//! # Problem
//! [Room synchronization](crate::rooms) in which a user that asks for an open room need not wait
//! for its next turn: *concurrent entering*.
//!
//! # Source
//! Our own, based on Figure 2 of Blelloch, Cheng and Gibbons, with its statement numbers. 34 and 35
//! are ours.
//!
//! # Idea
//! As in [`Rooms`](super::Rooms), but a user that finds its room in the middle of a turn extends
//! the turn to all tickets drawn so far. A turn that could be extended forever would keep all other
//! users out forever, so it can be extended only `K` times. `grant` grows during the turn, so an
//! exit must learn `grant` and `done` at one instant: they are one word.
//!
//! # Shared variables
//! | name         | range                  | initially   | home   | written at | meaning |
//! |--------------|------------------------|-------------|--------|------------|---------|
//! | `wait[0..m]` | number                 | 0           | nobody | 2          | the last ticket drawn |
//! | `turn[0..m]` | `(grant, joins, done)` | `(0, 0, 0)` | nobody | 6, 14, 20, 35 | [the last ticket let in](Turn), how often this turn was extended, and the tickets that are done |
//! | `activeRoom` | a room or -1           | -1          | nobody | 5, 19, 24  | the only room that may be open |
//!
//! # Why
//! - *35 changes nothing it should not*: a user that tries has a ticket that was not let in when it
//!   read `turn`. Suppose that the turn has ended since. The next opening of the room would have
//!   let its ticket in, and that turn could not end without the user. `turn` can therefore have
//!   come round to the same value only if one turn lets in as many users as there are numbers. `K`
//!   is bounded, and hence so is a turn.
//! - *`done` differs from `grant` (34)*: then some tickets are let in and not done, and the room is
//!   active. If they are equal, the turn is over, and the last done is opening a room.
//!
//! # Invariants (checked)
//! - (L1), (L2), (L3.1) to (L3.3) of [`Rooms`](super::Rooms), without ghosts
//!
//! # Cost, faults, fairness
//! As for [`Rooms`](super::Rooms), with turns up to `K+1` times as long. Each exit from a room
//! wakes the users that sleep on it, because `done` is in the word they watch. Users cannot give
//! up.

use super::{Active, Count, Width};
use crate::Failure;
use crate::memory::{
    Additive, Anybody, CompareSwap, FetchAdd, Field, Here, Mark, Memory, Process, Site, Word, decl, within,
};
use crate::rooms::{LastOut, Refusal, RoomSynchronization};
use core::fmt;

/// `turn[i]`: the progress of the tickets of a room.
///
/// No field overflows into another. `grant`, of at most 28 bits, and `joins`, up to
/// [`MOST_JOINS`](Self::MOST_JOINS), are only ever replaced. `done` is added to at the upper end of
/// the word.
///
/// ```
/// use doorway_core::memory::Word;
/// use doorway_core::rooms::blelloch_cheng_gibbons_01::Turn;
/// let turn = Turn { grant: 7, joins: 1, done: 5 };
/// assert_eq!(Turn::unpack(turn.pack()), turn);
/// assert_eq!(Turn::unpack(turn.pack() + Turn::ONE_DONE.pack()).done, 6);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// The last ticket that was let in.
    pub grant: u64,
    /// How often latecomers have joined in this turn.
    pub joins: u64,
    /// The last ticket that is done.
    pub done: u64,
}

const NUMBER: u32 = 28;
const JOINS: u32 = 8;

impl Turn {
    /// Added by a user that exits.
    pub const ONE_DONE: Self = Self { grant: 0, joins: 0, done: 1 };
    /// The largest number of times that a turn can be extended.
    pub const MOST_JOINS: u64 = (1 << JOINS) - 1;
}

impl Word for Turn {
    type Waiters = Anybody;
    const FIELDS: &'static [Field] = &[
        Field::new("grant", 0, NUMBER),
        Field::new("joins", NUMBER, JOINS),
        Field::new("done", NUMBER + JOINS, 64 - NUMBER - JOINS),
    ];

    // `done` has the uppermost bits, so that it wraps where the variable does.
    #[inline(always)]
    fn pack(self) -> u64 {
        self.grant | self.joins << NUMBER | self.done << (NUMBER + JOINS)
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        let grant = word & ((1 << NUMBER) - 1);
        Self { grant, joins: word >> NUMBER & Self::MOST_JOINS, done: word >> (NUMBER + JOINS) }
    }
}
impl Additive for Turn {}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.done, self.grant)?;
        if self.joins > 0 { write!(f, ", {} joined", self.joins) } else { Ok(()) }
    }
}

/// The shared variables of rooms that can be joined late.
pub struct LateJoin<M: Memory, X = ()> {
    part: M::Part,
    rooms: usize,
    width: Width,
    most_joins: Option<u64>,
    wait: M::Row<Count>,
    turn: M::Row<Turn>,
    active: M::Var<Active>,
    last_out: X,
}

impl<M: Memory, X> fmt::Debug for LateJoin<M, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = f.debug_struct("LateJoin");
        all.field("rooms", &self.rooms).field("activeRoom", &self.active).finish_non_exhaustive()
    }
}

/// Proof that a user is inside a room.
#[must_use = "no user gets into another room until this one has exited"]
#[derive(PartialEq, Eq, Debug)]
pub struct Inside {
    room: usize,
}

impl Inside {
    /// The room.
    #[must_use]
    pub fn room(&self) -> usize {
        self.room
    }
}

/// How a wait ended.
enum Waited {
    LetIn,
    Opens,
}

impl<M: Memory> LateJoin<M> {
    /// `m` rooms, with counters of the largest width. Latecomers can join each room `joins` times
    /// in a turn (up to [`Turn::MOST_JOINS`]).
    pub fn new(site: &Site<'_, M>, m: usize, joins: u64) -> Self {
        Self::with(site, m, Width { bits: NUMBER, ghosts: 0 }, joins, ())
    }

    /// The same without a bound: the users of one room can keep all others out forever.
    pub fn unbounded(site: &Site<'_, M>, m: usize, width: Width) -> Self {
        Self { most_joins: None, ..Self::with(site, m, width, 0, ()) }
    }
}

impl<M: Memory, X> LateJoin<M, X> {
    /// The same for counters of another width (up to 28 bits), and with an action that runs after
    /// each turn.
    pub fn with(site: &Site<'_, M>, m: usize, width: Width, joins: u64, last_out: X) -> Self {
        let width = Width { bits: width.bits.min(NUMBER), ghosts: 0 };
        let none = Turn { grant: 0, joins: 0, done: 0 };
        Self {
            part: site.here(),
            rooms: m,
            width,
            most_joins: Some(joins.min(Turn::MOST_JOINS)),
            wait: site.row("wait", m, |_| decl(Count(0)).wraps_at(width.bits)),
            turn: site.row("turn", m, |_| decl(none).wraps_at(NUMBER + JOINS + width.bits)),
            active: site.var("activeRoom", Active::NONE),
            last_out,
        }
    }

    /// The action that runs after each turn.
    pub fn last_out(&self) -> &X {
        &self.last_out
    }
}

impl<M: FetchAdd + CompareSwap, X: LastOut<M>> LateJoin<M, X> {
    /// One iteration of the wait: 3 to 5, and 34, 35.
    async fn look(&self, p: Here<'_, M>, (room, ticket): (usize, u64)) -> Result<Option<Waited>, M::Error> {
        let turn = p.at(3).read(&self.turn[room]).await?;
        if self.width.after(ticket, turn.grant) <= 0 {
            return Ok(Some(Waited::LetIn));
        }
        if turn.done != turn.grant && self.most_joins.is_none_or(|most| turn.joins < most) {
            let grant = p.at(34).keeping(&(room, ticket, turn)).read(&self.wait[room]).await?.0;
            p.keep(35, &(room, ticket, turn, grant));
            let joins = if self.most_joins.is_some() { turn.joins + 1 } else { 0 };
            let joined = p.at(35).compare_swap(&self.turn[room], turn, Turn { grant, joins, ..turn }).await?;
            return Ok(joined.is_ok().then_some(Waited::LetIn));
        }
        if p.at(4).keeping(&(room, ticket)).read(&self.active).await? != Active::NONE {
            return Ok(None);
        }
        let opens = p
            .at(5)
            .keeping(&(room, ticket))
            .compare_swap(&self.active, Active::NONE, Active::room(room))
            .await?
            .is_ok();
        if opens {
            p.shows("opens", room as u64);
        }
        Ok(opens.then_some(Waited::Opens))
    }

    /// 6 and 20: no other user changes `turn` while none is let in.
    async fn open(&self, p: Here<'_, M>, room: usize, label: u16) -> Result<(), M::Error> {
        let turn = p.at(label).keeping(&room).read(&self.turn[room]).await?;
        let grant = p.at(label).keeping(&(room, turn)).read(&self.wait[room]).await?.0;
        p.at(label)
            .keeping(&(room, turn, grant))
            .write(&self.turn[room], Turn { grant, joins: 0, done: turn.done })
            .await?;
        p.hides("opens");
        Ok(())
    }

    /// The action of the last done of a turn: 15 to 25.
    async fn advance(&self, process: &Process<M>, room: usize) -> Result<(), M::Error> {
        let p = process.on(self.part);
        p.mark(Mark::Rests(15));
        within!(p, &room, self.last_out.last_out(process, room).await?);
        for k in 1..=self.rooms {
            let r = (room + k) % self.rooms;
            let grant = p.at(18).keeping(&(room, k)).read(&self.turn[r]).await?.grant;
            let last = p.at(18).keeping(&(room, k, grant)).read(&self.wait[r]).await?.0;
            if self.width.after(last, grant) > 0 {
                p.at(19).keeping(&r).write(&self.active, Active::room(r)).await?;
                p.shows("opens", r as u64);
                return self.open(p, r, 20).await;
            }
        }
        p.at(24).keeping(&()).write(&self.active, Active::NONE).await
    }
}

impl<M: FetchAdd + CompareSwap, X: LastOut<M>> RoomSynchronization<M> for LateJoin<M, X> {
    type Inside = Inside;
    type Refusal = Refusal;

    fn rooms(&self) -> usize {
        self.rooms
    }

    async fn enter(&self, p: &Process<M>, room: usize) -> Result<Inside, Failure<M::Error, Refusal>> {
        if room >= self.rooms {
            return Err(Failure::Refused(Refusal::NoSuchRoom { room, rooms: self.rooms }));
        }
        let p = p.on(self.part);
        let ticket = self.width.add(p.at(2).keeping(&room).fetch_add(&self.wait[room], Count(1)).await?.0, 1);
        p.mark(Mark::DoorwayEnds);
        p.shows("room", room as u64);
        p.shows("ticket", ticket);
        p.keep(3, &(room, ticket));
        match p.spin_until(|| self.look(p, (room, ticket))).await? {
            Waited::LetIn => {}
            Waited::Opens => self.open(p, room, 6).await?,
        }
        p.mark(Mark::Rests(14));
        p.shows("inside", room as u64);
        Ok(Inside { room })
    }

    async fn exit(&self, p: &Process<M>, Inside { room }: Inside) -> Result<bool, M::Error> {
        let here = p.on(self.part);
        let before = here.at(14).keeping(&room).fetch_add(&self.turn[room], Turn::ONE_DONE).await?;
        here.hides("room");
        here.hides("ticket");
        here.hides("inside");
        if self.width.add(before.done, 1) != before.grant {
            return Ok(false);
        }
        self.advance(p, room).await?;
        Ok(true)
    }
}
