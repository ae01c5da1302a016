//! Rooms that turn away users that do not alternate between entering and exiting.
//!
//! # Problem
//! [Room synchronization](crate::rooms) in which at most one room is open even if some users enter
//! twice, or exit where they are not inside.
//!
//! # Source
//! Blelloch, Cheng and Gibbons, 2.3, *Variants*: a vector of states of users. Statement numbers are
//! ours.
//!
//! # Idea
//! Each user has a state, and a request that does not follow from the state is refused. In print
//! each room has such a vector, so a user inside room 0 may enter room 1. The state is also read
//! and then written, so two callers that claim to be the same user may both pass. Here there is one
//! vector, and a state is changed by a compare-and-swap from its only possible predecessor.
//!
//! # Shared variables
//! | name         | range           | initially | home   | written at       | meaning |
//! |--------------|-----------------|-----------|--------|------------------|---------|
//! | `V[0..p]`    | [`Status`]      | outside   | nobody | 1, 3, 4, 6, 7, 9, 10 | where the user is |
//! | `held[0..p]` | a room, a grant | none      | nobody | 2                | what it takes to exit |
//!
//! # Invariants (checked)
//! - (V) a process that shows a ticket of the rooms does so for a user whose state is not outside,
//!   and no two do so for one user
//!
//! # Cost, faults, fairness
//! As for [`Rooms`], and six more accesses. A user is identified by a number, which a caller must
//! not make up. A caller that gives another user's number can harm that user, and no other.

use super::{Inside, Rooms};
use crate::Failure;
use crate::memory::{CompareSwap, FetchAdd, Memory, Nobody, Process, Site, Word, decl, within};
use crate::rooms::{LastOut, Refusal};
use core::fmt;

/// Where a user is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Outside all rooms.
    Outside,
    /// On its way in.
    Enters,
    /// Inside a room.
    Inside,
    /// On its way out.
    Exits,
}

impl Word for Status {
    type Waiters = Nobody;
    const WHOLE: bool = true;

    #[inline(always)]
    fn pack(self) -> u64 {
        self as u64
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        match word {
            1 => Self::Enters,
            2 => Self::Inside,
            3 => Self::Exits,
            _ => Self::Outside,
        }
    }
}

/// What a user does not carry itself: the room it is inside, and the grant that let it in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kept {
    /// The room.
    pub room: usize,
    /// The last ticket up to which users were let in.
    pub grant: u64,
}

impl Word for Kept {
    type Waiters = Nobody;
    const WHOLE: bool = true;

    #[inline(always)]
    fn pack(self) -> u64 {
        self.grant | (self.room as u64) << 32
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self { grant: word & u64::from(u32::MAX), room: (word >> 32) as usize }
    }
}

impl From<&Inside> for Kept {
    fn from(inside: &Inside) -> Self {
        Self { room: inside.room, grant: inside.grant }
    }
}

/// A caller that makes one up is not inside, and breaks the rooms.
impl From<Kept> for Inside {
    fn from(Kept { room, grant }: Kept) -> Self {
        Self { room, grant }
    }
}

/// Why a request was refused. Nothing has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Misuse {
    /// There is no such user.
    NoSuchUser {
        /// The given number.
        user: usize,
        /// The number of users.
        users: usize,
    },
    /// The user cannot do this in its present state.
    Is(Status),
    /// The rooms refused, as they may refuse any user.
    Refused(Refusal),
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchUser { user, users } => write!(f, "there is no user {user}; use one of 0..{users}"),
            Self::Is(Status::Outside) => f.write_str("the user is outside all rooms; enter one first"),
            Self::Is(Status::Inside) => f.write_str("the user is inside a room; exit first, or change rooms"),
            Self::Is(_) => f.write_str("the user is on its way in or out; wait until that is done"),
            Self::Refused(refusal) => refusal.fmt(f),
        }
    }
}
impl core::error::Error for Misuse {}

/// [`Rooms`], and the state of each user.
pub struct Strict<M: Memory, X = ()> {
    part: M::Part,
    users: usize,
    rooms: Rooms<M, X>,
    status: M::Row<Status>,
    held: M::Row<Kept>,
}

impl<M: Memory, X> fmt::Debug for Strict<M, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Strict").field("users", &self.users).field("rooms", &self.rooms).finish_non_exhaustive()
    }
}

impl<M: Memory, X> Strict<M, X> {
    /// Rooms for `users` users; `rooms` builds them.
    pub fn new(site: &Site<'_, M>, users: usize, rooms: impl FnOnce(&Site<'_, M>) -> Rooms<M, X>) -> Self {
        Self {
            part: site.here(),
            users,
            rooms: rooms(&site.part("rooms", None)),
            status: site.row("V", users, |_| decl(Status::Outside)),
            held: site.row("held", users, |_| decl(Kept { room: 0, grant: 0 })),
        }
    }

    /// The number of rooms.
    #[must_use]
    pub fn rooms(&self) -> usize {
        self.rooms.rooms()
    }
}

impl<M: FetchAdd + CompareSwap, X: LastOut<M>> Strict<M, X> {
    /// Enters `room` as this user: 1 to 4.
    ///
    /// # Errors
    /// Returns an error if an access failed, if the user is not outside, or if the room refuses.
    pub async fn enter(&self, p: &Process<M>, user: usize, room: usize) -> Result<(), Failure<M::Error, Misuse>> {
        let here = p.on(self.part);
        within!(here, &room, self.moves(p, user, (Status::Outside, Status::Enters), 1).await?);
        let entered = within!(here, &user, self.rooms.enter(p, room).await);
        match entered {
            Ok(inside) => Ok(self.is_inside(p, user, inside).await?),
            Err(Failure::Memory(e)) => Err(Failure::Memory(e)),
            Err(Failure::Refused(refusal)) => {
                here.at(4).keeping(&(user, refusal)).write(&self.status[user], Status::Outside).await?;
                here.hides("user");
                Err(Failure::Refused(Misuse::Refused(refusal)))
            }
        }
    }

    /// Exits as this user: 6 to 8. Returns whether it was the last one of its turn.
    ///
    /// # Errors
    /// Returns an error if an access failed, or if the user is not inside.
    pub async fn exit(&self, p: &Process<M>, user: usize) -> Result<bool, Failure<M::Error, Misuse>> {
        self.moves(p, user, (Status::Inside, Status::Exits), 6).await?;
        let here = p.on(self.part);
        let inside = self.held(p, user).await?;
        let last = within!(here, &user, self.rooms.exit(p, inside).await?);
        here.at(7).keeping(&(user, last)).write(&self.status[user], Status::Outside).await?;
        here.hides("user");
        Ok(last)
    }

    /// Changes rooms as this user: 2, 3, 6, 8, 9 and 10.
    ///
    /// # Errors
    /// Returns an error if an access failed, if the user is not inside, or if the room refuses. If
    /// the room refuses, the user is outside.
    pub async fn change(&self, p: &Process<M>, user: usize, to: usize) -> Result<(), Failure<M::Error, Misuse>> {
        let here = p.on(self.part);
        here.part(&to);
        self.moves(p, user, (Status::Inside, Status::Exits), 6).await?;
        let inside = self.held(p, user).await?;
        here.part_done();
        let ticket = within!(here, &user, self.rooms.change_ticket(p, inside, to).await);
        match ticket {
            Ok(ticket) => {
                here.at(9).keeping(&(user, &ticket)).write(&self.status[user], Status::Enters).await?;
                let inside = within!(here, &user, self.rooms.wait(p, ticket).await?);
                Ok(self.is_inside(p, user, inside).await?)
            }
            Err(Failure::Memory(e)) => Err(Failure::Memory(e)),
            Err(Failure::Refused(refusal)) => {
                here.at(10).keeping(&(user, refusal)).write(&self.status[user], Status::Outside).await?;
                here.hides("user");
                Err(Failure::Refused(Misuse::Refused(refusal)))
            }
        }
    }

    /// Moves from one state to the next, if the user is in the first.
    async fn moves(
        &self,
        p: &Process<M>,
        user: usize,
        (from, to): (Status, Status),
        label: u16,
    ) -> Result<(), Failure<M::Error, Misuse>> {
        if user >= self.users {
            return Err(Failure::Refused(Misuse::NoSuchUser { user, users: self.users }));
        }
        let p = p.on(self.part);
        match p.at(label).keeping(&(user, from, to)).compare_swap(&self.status[user], from, to).await? {
            Ok(_) => {
                p.shows("user", user as u64);
                Ok(())
            }
            Err(is) => Err(Failure::Refused(Misuse::Is(is))),
        }
    }

    /// Statements 2 and 3.
    async fn is_inside(&self, p: &Process<M>, user: usize, inside: Inside) -> Result<(), M::Error> {
        let p = p.on(self.part);
        p.at(2).keeping(&(user, &inside)).write(&self.held[user], Kept::from(&inside)).await?;
        p.at(3).keeping(&user).write(&self.status[user], Status::Inside).await
    }

    /// Statement 8.
    async fn held(&self, p: &Process<M>, user: usize) -> Result<Inside, M::Error> {
        let p = p.on(self.part);
        Ok(p.at(8).keeping(&user).read(&self.held[user]).await?.into())
    }
}
