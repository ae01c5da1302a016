//! Blelloch, Cheng and Gibbons, *Room Synchronizations*, SPAA 2001: rooms by tickets, a grant for
//! all ticket holders, and a count of those that are done.
//!
//! # Problem
//! [Room synchronization](crate::rooms), with waiting that does not depend on the number of users.
//!
//! # Source
//! Figure 2, with its statement numbers; 15, 16 and 18 to 25 are its exit. 1, 30 to 33 and 40 to 42
//! are ours, for users that give up. The algorithm as printed is `rooms-as-printed`; its text is in
//! the checker.
//!
//! | in the paper | here |
//! |---|---|
//! | Enter Room, Exit Room (Figure 2) | [`Rooms::enter`], [`Rooms::exit`]; as printed: `rooms-as-printed`, in the checker |
//! | Change Room, without a text | [`Rooms::change`] |
//! | Assign Exit Code | [`LastOut`] |
//! | the vector `V` (2.3, Variants) | [`Strict`] |
//! | a stack (Figure 1), a queue (Figure 3), a stack that grows (Figure 4) | [`RoomStack`], [`RoomQueue`], [`DynamicStack`] |
//! | not in the paper | [`Rooms::try_enter`], [`Rooms::withdraw`], [`LateJoin`], [`SegmentStack`], [`WorkStack`] |
//!
//! # Idea
//! A user draws a ticket of its room. Opening a room lets in *all* tickets drawn so far, by copying
//! `wait` to `grant`: this begins a turn. A user that exits adds itself to `done`. The user that
//! makes `done` equal to `grant` is the *last done*. It is alone in the whole object. It looks for
//! the next room with tickets, in order, beginning behind its own, and opens that room. If it finds
//! none, no room is active, and a user that waits opens its own room.
//!
//! # Shared variables
//! | name         | range            | initially | home   | written at    | meaning |
//! |--------------|------------------|-----------|--------|---------------|---------|
//! | `wait[0..m]` | number           | 0         | nobody | 2             | the last ticket drawn |
//! | `grant[0..m]`| `(ticket, ghosts)`| `(0, 0)` | nobody | 33, 40, 41    | [the last ticket let in](Grant), and how many after it were given up |
//! | `done[0..m]` | number           | 0         | nobody | 14, 32        | the tickets up to `grant` that need not be waited for any more |
//! | `activeRoom` | a room or -1     | -1        | nobody | 5, 19, 24     | [the only room](Active) that may be open |
//!
//! Numbers are modulo a [power of two](Width) and compared by their difference.
//!
//! # Why
//! - *the grant is remembered (15)*: `grant[i]` cannot change while a user holds a ticket of `i`
//!   that was let in, because only the last done changes it. The value that let a user in is
//!   therefore still the value at its exit, and need not be read again. In print it is read again,
//!   after `done` was counted up. By then other users may have passed so often that `grant` has
//!   come round to the same number, and *two* users are last (`rooms-as-printed`).
//! - *19 before 33*: otherwise the users that were let in could come and go, and another room could
//!   be opened, before a delayed 19 makes the wrong room active forever.
//! - *giving up (40)*: a ticket cannot be handed back, because later tickets may exist. A user that
//!   gives up becomes a *ghost*. `ghosts` is in the word that lets users in. Either the opener
//!   counts the ghost (32), or the user sees that it was let in after all, takes the mark back (41)
//!   and exits as every user does. No user can count the mark meanwhile, because its ticket holds
//!   the turn.
//! - *`grant` before `wait` (18, 30)*: a ghost that was seen has drawn its ticket before. In the
//!   opposite order, a ghost could be counted as done although its ticket is not let in.
//! - *ghosts are done before any user is let in (32)*: while a room is being opened, no user holds
//!   a ticket that was let in, so no user compares. A room that has only ghosts is cleared of them,
//!   and the next room is examined.
//! - *too many ghosts (1)*: tickets are compared by their difference, and ghosts can accumulate
//!   while no user leaves a room. Users are then turned away until some user was last done. If no
//!   room is active, there may never be such a user. A user that comes then opens the room before
//!   it draws, as a user that tries does.
//!
//! # No user sleeps through its turn
//! One iteration of the wait reads `grant[i]` and, if that does not let the user in, `activeRoom`.
//! Whatever ends the wait changes one of the two. A memory that puts waiters to sleep wakes those
//! that have read a variable when it changes, and lets no waiter sleep if one of these variables
//! has changed since it was read. Let `j` sleep with ticket `t`.
//! - (a) If `t` is let in, `grant[i]` changes after `j` read it.
//! - (b) If the last done misses `t` and stores -1 (24), then `activeRoom` changes after `j` read
//!   it, or `j` reads -1 and opens the room itself. If its compare-and-swap fails, `activeRoom` has
//!   changed again.
//! - (c) Otherwise some room is active. Its turn ends, and its last done finds `t` or opens another
//!   room, and so on.
//!
//! If waiters slept on `grant[i]` alone, each room would need a bell, and the user that stores -1
//! would have to look at `wait` a second time. Here neither is necessary. The price is that an
//! opening also wakes the waiters of other rooms, at most `m+1` times for each of them.
//!
//! # Invariants (checked)
//! A ticket is `blocked` if it comes after `grant` and is not a ghost. It is `let in` if it does
//! not come after `grant` and its user has not done 14. The *advance region* extends from the
//! success of 5 to 33, and from the test at 15 to 33 or 24.
//! - (L1) a user has at most one ticket; while it [changes](Rooms::change) rooms, one that is let
//!   in and one that is blocked
//! - (L2) a user inside `i` has a ticket of `i` that is let in
//! - (L3.1) `wait[i] - grant[i] - ghosts` is the number of blocked tickets of `i`, and
//!   `grant[i] - done[i]` is the number of tickets that are let in (not counting marks about to be
//!   taken back, nor the room being opened)
//! - (L3.2) at most one user is in the advance region; if one is, a room is active, no user is
//!   inside, and `grant = done` everywhere except in the room being opened
//! - (L3.3) if a ticket of `i` is let in, or `i` is being opened, then `activeRoom = i`
//!
//! # Cost, faults, fairness
//! Three read-modify-writes for a passage among others. A ticket is let in at the latest by the
//! `m+1`st opening after it was drawn: one opener may have read `wait` just before, and then rooms
//! come round in order. Waiting therefore depends on `m` and on how long users stay, not on their
//! number. Exits take a bounded number of steps, except that each user that gives up while its room
//! is being opened makes the opener look again. No crash is tolerated: a user that stops inside
//! keeps all users out of all other rooms.
//!
//! # Departures
//! A ticket's grant is remembered (above); giving up, the refusals, `try_enter`. Nothing else: in
//! runs in which no user gives up, openings happen as in the figure.

mod awaited;
mod dynamic_stack;
pub mod entries;
mod late_join;
mod queue;
mod segment_stack;
mod stack;
mod store;
mod strict;
mod words;
mod work_stack;

pub use awaited::{Awaited, AwaitedRooms, Heard, NotLetIn, Visit};
pub use dynamic_stack::{DynamicStack, Grows};
pub use late_join::{LateJoin, Turn};
pub use queue::{RoomQueue, bits_of_a_queue};
pub use segment_stack::{SegmentStack, Segments};
pub use stack::{IN, OUT, RoomStack};
pub use store::{InSegments, InWords, SegmentStore, Store, place};
pub use strict::{Kept, Misuse, Status, Strict};
pub use words::{Active, Count, Grant, Number, Top, Whole, Width};
pub use work_stack::{News, Work, WorkStack};

use super::{LastOut, Refusal, RoomSynchronization, Tickets};
use crate::Failure;
use crate::memory::{CompareSwap, FetchAdd, Here, Mark, Memory, Process, ReadWrite, Site, decl, in_both_forms, within};
use core::fmt;

/// The shared variables of a rooms object, and the action of the last one out of a room.
pub struct Rooms<M: Memory, X = ()> {
    part: M::Part,
    rooms: usize,
    width: Width,
    wait: M::Row<Count>,
    grant: M::Row<Grant>,
    done: M::Row<Count>,
    active: M::Var<Active>,
    last_out: X,
}

impl<M: Memory, X> fmt::Debug for Rooms<M, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rooms").field("rooms", &self.rooms).field("activeRoom", &self.active).finish_non_exhaustive()
    }
}

/// A ticket for a room. Its holder waits until it is let in, or [gives it back](Rooms::withdraw).
#[must_use = "the turn of the room will wait for the holder of this ticket"]
#[derive(PartialEq, Eq, Debug)]
pub struct RoomTicket {
    room: usize,
    number: u64,
}

impl RoomTicket {
    /// The room for which it was drawn.
    #[must_use]
    pub fn room(&self) -> usize {
        self.room
    }
}

/// Proof that a user is inside a room.
#[must_use = "no user gets into another room until this one has exited"]
#[derive(PartialEq, Eq, Debug)]
pub struct Inside {
    room: usize,
    /// The grant that let the user in.
    grant: u64,
}

impl Inside {
    /// The room.
    #[must_use]
    pub fn room(&self) -> usize {
        self.room
    }
}

/// How many users are in a room and wait for it; see [`Rooms::look_at_room`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Users {
    /// Users that were let in and have not left.
    pub inside: usize,
    /// Users that are not let in yet and have not given up.
    pub waiting: usize,
}

/// How a wait ended.
enum Waited {
    LetIn(u64),
    Opens,
}

impl<M: Memory> Rooms<M> {
    /// `m` rooms, with counters of the largest width.
    pub fn new(site: &Site<'_, M>, m: usize) -> Self {
        Self::with(site, m, Width::MACHINE, ())
    }
}

impl<M: Memory, X> Rooms<M, X> {
    /// `m` rooms. `last_out` runs after each turn.
    pub fn with(site: &Site<'_, M>, m: usize, width: Width, last_out: X) -> Self {
        let count = |_| decl(Count(0)).wraps_at(width.bits);
        Self {
            part: site.here(),
            rooms: m,
            width,
            wait: site.row("wait", m, count),
            grant: site.row("grant", m, |_| decl(Grant { ticket: 0, ghosts: 0 })),
            done: site.row("done", m, count),
            active: site.var("activeRoom", Active::NONE),
            last_out,
        }
    }

    /// The action that runs after each turn.
    pub fn last_out(&self) -> &X {
        &self.last_out
    }

    /// The number of rooms.
    #[must_use]
    pub fn rooms(&self) -> usize {
        self.rooms
    }

    fn is_room<E>(&self, room: usize) -> Result<(), Failure<E, Refusal>> {
        if room < self.rooms { Ok(()) } else { Err(Failure::Refused(Refusal::NoSuchRoom { room, rooms: self.rooms })) }
    }
}

impl<M: ReadWrite, X> Rooms<M, X> {
    /// The room that is open or about to be, for inspection.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn look_at_active(&self, p: &Process<M>) -> Result<Active, M::Error> {
        p.on(self.part).at(4).read(&self.active).await
    }

    /// How many users are in a room and wait for it, for inspection; `None` if there is no such
    /// room. The variables are read one after the other, so users that come and go meanwhile may be
    /// counted or not.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn look_at_room(&self, p: &Process<M>, room: usize) -> Result<Option<Users>, M::Error> {
        if room >= self.rooms {
            return Ok(None);
        }
        let p = p.on(self.part);
        let done = p.at(14).read(&self.done[room]).await?.0;
        let grant = p.at(18).read(&self.grant[room]).await?;
        let last = p.at(18).read(&self.wait[room]).await?.0;
        // Negative if ghosts are being counted as done, or if users came meanwhile.
        let number = |difference: i64| usize::try_from(difference).unwrap_or(0);
        Ok(Some(Users {
            inside: number(self.width.after(grant.ticket, done)),
            waiting: number(self.width.after(last, self.width.add(grant.ticket, grant.ghosts))),
        }))
    }
}

impl<M: FetchAdd + CompareSwap, X: LastOut<M>> Rooms<M, X> {
    /// Enters `room`. Returns when the user is inside: 1 to 11.
    ///
    /// # Cancel safety
    /// Dropping this future after it has waited **is a crash**. To cancel safely, use
    /// [`draw`](Self::draw), [`wait_unless_given_up`](Self::wait_unless_given_up) and
    /// [`withdraw`](Self::withdraw).
    ///
    /// # Errors
    /// Returns an error if an access failed, if there is no such room, or if too many users gave up
    /// waiting for it.
    pub async fn enter(&self, p: &Process<M>, room: usize) -> Result<Inside, Failure<M::Error, Refusal>> {
        let ticket = self.draw(p, room).await?;
        Ok(self.wait(p, ticket).await?)
    }

    /// Draws a ticket: 1, 2. Never waits.
    ///
    /// # Errors
    /// Returns an error if an access failed, if there is no such room, or if too many users gave up
    /// waiting for it.
    pub async fn draw(&self, p: &Process<M>, room: usize) -> Result<RoomTicket, Failure<M::Error, Refusal>> {
        self.is_room(room)?;
        let p = p.on(self.part);
        if p.at(1).keeping(&room).read(&self.grant[room]).await?.ghosts >= self.width.ghosts {
            // Unless this user opens the room itself, it may never be opened.
            let (ticket, _) =
                self.opens_itself(p, room).await?.ok_or(Failure::Refused(Refusal::TooManyGaveUp { room }))?;
            return Ok(ticket);
        }
        let number = self.width.add(p.at(2).keeping(&room).fetch_add(&self.wait[room], Count(1)).await?.0, 1);
        p.mark(Mark::DoorwayEnds);
        p.shows("room", room as u64);
        p.shows("ticket", number);
        Ok(RoomTicket { room, number })
    }

    /// Waits with a ticket: 3 to 11.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn wait(&self, p: &Process<M>, ticket: RoomTicket) -> Result<Inside, M::Error> {
        let here = p.on(self.part);
        here.keep(3, &ticket);
        let waited = here.spin_until(|| self.look(here, &ticket)).await?;
        self.goes_in(here, ticket.room, waited).await
    }

    /// Like [`wait`](Self::wait), for a user that may be asked to give up. Returns `None` if it was
    /// asked. In that case, or if this future is dropped while it waits, the ticket must be
    /// [withdrawn](Self::withdraw).
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn wait_unless_given_up(&self, p: &Process<M>, ticket: &RoomTicket) -> Result<Option<Inside>, M::Error> {
        let here = p.on(self.part);
        here.keep(3, ticket);
        match here.spin_unless_given_up(|| self.look(here, ticket)).await? {
            Some(waited) => Ok(Some(self.goes_in(here, ticket.room, waited).await?)),
            None => Ok(None),
        }
    }

    /// One iteration of the wait: 3 to 5.
    async fn look(&self, p: Here<'_, M>, ticket: &RoomTicket) -> Result<Option<Waited>, M::Error> {
        let granted = p.at(3).read(&self.grant[ticket.room]).await?.ticket;
        if self.width.after(ticket.number, granted) <= 0 {
            return Ok(Some(Waited::LetIn(granted)));
        }
        if p.at(4).keeping(&ticket).read(&self.active).await? != Active::NONE {
            return Ok(None);
        }
        // If this user was let in meanwhile, its own ticket keeps the room active, and this fails.
        let opens =
            p.at(5).keeping(&ticket).compare_swap(&self.active, Active::NONE, Active::room(ticket.room)).await?.is_ok();
        if opens {
            p.shows("opens", ticket.room as u64);
        }
        Ok(opens.then_some(Waited::Opens))
    }

    /// 6 and 7, if the user has to open the room itself.
    async fn goes_in(&self, p: Here<'_, M>, room: usize, waited: Waited) -> Result<Inside, M::Error> {
        let grant = match waited {
            Waited::LetIn(grant) => grant,
            Waited::Opens => self.opens(p, room).await?,
        };
        Ok(self.is_inside(p, room, grant))
    }

    fn is_inside(&self, p: Here<'_, M>, room: usize, grant: u64) -> Inside {
        p.hides("opens");
        p.mark(Mark::Rests(14));
        p.shows("inside", room as u64);
        Inside { room, grant }
    }

    // In both forms, because every user that is alone runs these.
    in_both_forms! {
        /// Like [`try_enter`](Self::try_enter), for a caller that knows that the room exists.
        #[inline(always)]
        pub fn enter_at_once, enter_at_once_now(&self, p: &Process<M>, room: usize) -> Option<Inside> {
            let p = p.on(self.part);
            let opened = either!(self.opens_itself(p, room), self.opens_itself_now(p, room));
            opened.map(|(_, grant)| self.is_inside(p, room, grant))
        }

        /// Returns a ticket that is let in, if no room is active: 5, 2, and 30 to 33.
        #[inline(always)]
        fn opens_itself, opens_itself_now(&self, p: Here<'_, M>, room: usize) -> Option<(RoomTicket, u64)> {'text: {
            if access!(p.at(5).keeping(&room).compare_swap(&self.active, Active::NONE, Active::room(room))).is_err() {
                break 'text None;
            }
            p.shows("opens", room as u64);
            let number = self.width.add(access!(p.at(2)
                .keeping(&("opens", room))
                .fetch_add(&self.wait[room], Count(1))).0, 1);
            p.mark(Mark::DoorwayEnds);
            p.shows("room", room as u64);
            p.shows("ticket", number);
            let grant = within!(p, &number, either!(self.opens(p, room), self.opens_now(p, room)));
            p.hides("opens");
            Some((RoomTicket { room, number }, grant))
        }}

        /// 6, by a user that has a ticket for the room.
        #[inline(always)]
        fn opens, opens_now(&self, p: Here<'_, M>, room: usize) -> u64 {
            // Its own ticket is not a ghost, so there is one to let in. If users broke the rules of
            // the rooms there may be none, and then no number is right.
            let opened = either!(self.open(p, room, None), self.open_now(p, room, None));
            opened.unwrap_or_default()
        }

        /// Lets in all tickets of `room`, which this process has made the active one: 30 to 33.
        /// Returns `None` if no user was left to let in; there are no ghosts then either. `scanned`
        /// is the position in the scan that found the room.
        #[inline(always)]
        fn open, open_now(&self, p: Here<'_, M>, room: usize, scanned: Option<(usize, usize)>) -> Option<u64> {'text: {
            loop {
                let old = access!(p.at(30).keeping(&(room, scanned)).read(&self.grant[room]));
                let last = access!(p.at(31).keeping(&(room, scanned, old)).read(&self.wait[room])).0;
                let nobody = self.is_nobody(last, old);
                if nobody && old.ghosts == 0 {
                    break 'text None;
                }
                if old.ghosts > 0 {
                    access!(p.at(32)
                        .keeping(&(room, scanned, old, last))
                        .write(&self.done[room], Count(self.width.add(old.ticket, old.ghosts))));
                }
                p.keep(33, &(room, scanned, old, last));
                let new = Grant { ticket: last, ghosts: 0 };
                if access!(p.at(33).compare_swap(&self.grant[room], old, new)).is_ok() {
                    break 'text (!nobody).then_some(last);
                }
            }
        }}

        /// Exits: 13 to 27. Returns whether the user was the last done of its turn.
        #[inline(always)]
        pub fn exit, exit_now(&self, p: &Process<M>, inside: Inside) -> bool {'text: {
            let here = p.on(self.part);
            let last = either!(self.leave(here, inside, None), self.leave_now(here, inside, None));
            let Some(room) = last else { break 'text false };
            either!(self.advance(p, room, None), self.advance_now(p, room, None));
            true
        }}

        /// 13 to 15. Returns the room if this was the last done of its turn.
        #[inline(always)]
        fn leave, leave_now(&self, p: Here<'_, M>, inside: Inside, next: Option<&RoomTicket>) -> Option<usize> {
            let room = inside.room;
            let done = self.width.add(access!(p.at(14)
                .keeping(&(&inside, room, next))
                .fetch_add(&self.done[room], Count(1))).0, 1);
            p.hides("room");
            p.hides("ticket");
            p.hides("inside");
            p.hides("from");
            (done == inside.grant).then_some(room)
        }

        /// The action of the last done of a turn: 15 to 25.
        #[inline(always)]
        fn advance, advance_now(&self, process: &Process<M>, room: usize, next: Option<&RoomTicket>) -> () {'text: {
            let p = process.on(self.part);
            p.mark(Mark::Rests(15));
            within!(p, &(room, next), either!(self.last_out.last_out(process, room), self.last_out.last_out_now(process, room)));
            // The room itself comes last.
            for k in 1..=self.rooms {
                // (room + k) mod m, without a division.
                let r = if room + k < self.rooms { room + k } else { room + k - self.rooms };
                p.part(&next);
                let opened =
                    either!(self.open_if_awaited(p, r, (room, k)), self.open_if_awaited_now(p, r, (room, k)));
                p.part_done();
                if opened {
                    break 'text;
                }
            }
            access!(p.at(24).keeping(&next).write(&self.active, Active::NONE));
        }}

        /// Makes `r` the active room if a user waits for it: 18 to 20.
        #[inline(always)]
        fn open_if_awaited, open_if_awaited_now(&self, p: Here<'_, M>, r: usize, scanned: (usize, usize)) -> bool {'text: {
            let grant = access!(p.at(18).keeping(&scanned).read(&self.grant[r]));
            let last = access!(p.at(18).keeping(&(scanned, grant)).read(&self.wait[r])).0;
            if self.is_nobody(last, grant) && grant.ghosts == 0 {
                break 'text false;
            }
            access!(p.at(19).keeping(&scanned).write(&self.active, Active::room(r)));
            p.shows("opens", r as u64);
            let opened = access!(self.open(p, r, Some(scanned))).is_some();
            p.hides("opens");
            opened
        }}
    }

    /// Whether no ticket up to `last` waits to be let in.
    fn is_nobody(&self, last: u64, grant: Grant) -> bool {
        self.width.after(last, self.width.add(grant.ticket, grant.ghosts)) <= 0
    }

    /// Exits, and enters another room or the same one again. If that room is the next to be opened,
    /// the user is let in. It draws the new ticket before it leaves the room.
    ///
    /// # Errors
    /// The same as for [`enter`](Self::enter). A user that is turned away has left its old room all
    /// the same.
    pub async fn change(
        &self,
        p: &Process<M>,
        inside: Inside,
        to: usize,
    ) -> Result<Inside, Failure<M::Error, Refusal>> {
        let ticket = self.change_ticket(p, inside, to).await?;
        Ok(self.wait(p, ticket).await?)
    }

    /// The part of [`change`](Self::change) that never waits: 1, 2, and 13 to 27.
    ///
    /// # Errors
    /// The same as for [`change`](Self::change).
    pub async fn change_ticket(
        &self,
        p: &Process<M>,
        inside: Inside,
        to: usize,
    ) -> Result<RoomTicket, Failure<M::Error, Refusal>> {
        let here = p.on(self.part);
        let from = inside.room;
        let ticket = match self.draw_inside(here, &inside, to).await {
            Ok(ticket) => ticket,
            Err(Failure::Memory(e)) => return Err(Failure::Memory(e)),
            Err(refused) => {
                self.exit(p, inside).await?;
                return Err(refused);
            }
        };
        let last = self.leave(here, inside, Some(&ticket)).await?;
        here.shows("room", ticket.room as u64);
        here.shows("ticket", ticket.number);
        here.shows("from", from as u64);
        here.hides("next room");
        here.hides("next ticket");
        if let Some(room) = last {
            self.advance(p, room, Some(&ticket)).await?;
        }
        Ok(ticket)
    }

    /// 1 and 2, inside another room.
    async fn draw_inside(
        &self,
        p: Here<'_, M>,
        inside: &Inside,
        to: usize,
    ) -> Result<RoomTicket, Failure<M::Error, Refusal>> {
        self.is_room(to)?;
        if p.at(1).keeping(&(inside, to)).read(&self.grant[to]).await?.ghosts >= self.width.ghosts {
            return Err(Failure::Refused(Refusal::TooManyGaveUp { room: to }));
        }
        let number = self.width.add(p.at(2).keeping(&(inside, to)).fetch_add(&self.wait[to], Count(1)).await?.0, 1);
        p.shows("next room", to as u64);
        p.shows("next ticket", number);
        Ok(RoomTicket { room: to, number })
    }

    /// Enters if no room is active: 5, 2, and 30 to 33. Otherwise draws no ticket.
    ///
    /// # Errors
    /// Returns an error if an access failed, or if there is no such room.
    pub async fn try_enter(&self, p: &Process<M>, room: usize) -> Result<Option<Inside>, Failure<M::Error, Refusal>> {
        self.is_room(room)?;
        Ok(self.enter_at_once(p, room).await?)
    }

    /// Gives a ticket back: 40, 41. Never waits. Returns `Some` if the ticket was let in before
    /// that. The user is then inside, and must exit.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn withdraw(&self, p: &Process<M>, ticket: RoomTicket) -> Result<Option<Inside>, M::Error> {
        let RoomTicket { room, number } = ticket;
        let p = p.on(self.part);
        let old = p.at(40).keeping(&(room, number)).fetch_add(&self.grant[room], Grant::GIVEN_UP).await?;
        if self.width.after(number, old.ticket) > 0 {
            p.hides("room");
            p.hides("ticket");
            return Ok(None);
        }
        p.shows("misfiled", room as u64);
        p.at(41).keeping(&(room, old.ticket)).fetch_add(&self.grant[room], Grant::UNDONE).await?;
        p.hides("misfiled");
        p.mark(Mark::Rests(14));
        Ok(Some(Inside { room, grant: old.ticket }))
    }
}

impl<M: FetchAdd + CompareSwap, X: LastOut<M>> Tickets<M> for Rooms<M, X> {
    type Ticket = RoomTicket;

    async fn draw(&self, p: &Process<M>, room: usize) -> Result<RoomTicket, Failure<M::Error, Refusal>> {
        self.draw(p, room).await
    }

    async fn wait_unless_given_up(&self, p: &Process<M>, ticket: &RoomTicket) -> Result<Option<Inside>, M::Error> {
        self.wait_unless_given_up(p, ticket).await
    }

    async fn withdraw(&self, p: &Process<M>, ticket: RoomTicket) -> Result<Option<Inside>, M::Error> {
        self.withdraw(p, ticket).await
    }

    async fn change_ticket(
        &self,
        p: &Process<M>,
        inside: Inside,
        to: usize,
    ) -> Result<RoomTicket, Failure<M::Error, Refusal>> {
        self.change_ticket(p, inside, to).await
    }

    async fn wait(&self, p: &Process<M>, ticket: RoomTicket) -> Result<Inside, M::Error> {
        self.wait(p, ticket).await
    }

    async fn try_enter(&self, p: &Process<M>, room: usize) -> Result<Option<Inside>, Failure<M::Error, Refusal>> {
        self.try_enter(p, room).await
    }
}

impl<M: FetchAdd + CompareSwap, X: LastOut<M>> RoomSynchronization<M> for Rooms<M, X> {
    type Inside = Inside;
    type Refusal = Refusal;

    fn rooms(&self) -> usize {
        self.rooms
    }

    async fn enter(&self, p: &Process<M>, room: usize) -> Result<Inside, Failure<M::Error, Refusal>> {
        self.enter(p, room).await
    }

    async fn exit(&self, p: &Process<M>, inside: Inside) -> Result<bool, M::Error> {
        self.exit(p, inside).await
    }
}
