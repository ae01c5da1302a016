//! Room synchronization: any number of users inside one room, and no two users in different rooms.
//!
//! # Problem
//! There are `m` rooms. A user enters one of them, is inside, and exits. **Mutual exclusion among
//! rooms** (safety): no two users are in different rooms at the same time. **Concurrent access**:
//! any number of users can be in the same room. **Lockout freedom** (progress): if every user
//! inside leaves again, every user that asks for a room gets in, and every user that exits gets
//! out. The safety problem is also known as *group mutual exclusion*. With `m = 1` there is nothing
//! to exclude. A room with a mutex in it and a room without one make a reader-writer lock.
//!
//! | in which order | users get in |
//! |---|---|
//! | a *turn* of a room | from an opening of the room until the last user that was let in has left; users that were let in may arrive slowly, so a room can be empty within its turn |
//! | a user that asks for a room during its own turn | waits for the next one, unless this kind of rooms lets latecomers [join](blelloch_cheng_gibbons_01::LateJoin) |
//!
//! # Which to take
//! Use [`Rooms`](blelloch_cheng_gibbons_01::Rooms), whose waiting users can give up. Use
//! [`LateJoin`](blelloch_cheng_gibbons_01::LateJoin) if turns are long and latecomers to an open
//! room should not wait for the next turn; its users cannot give up. Use
//! [`Strict`](blelloch_cheng_gibbons_01::Strict) if users may fail to alternate between entering
//! and exiting.

pub mod blelloch_cheng_gibbons_01;
mod visits;

pub use visits::{Changes, Misuses, NotNow, Tries, Visits};

use crate::Failure;
use crate::memory::{Immediate, Memory, Process};
use core::fmt::{self, Debug};
use core::future::Future;

/// A solution of room synchronization on the memory `M`.
///
/// ```
/// use doorway_core::memory::spinning::{Spinning, now};
/// use doorway_core::memory::{Pid, Process, Site};
/// use doorway_core::rooms::{RoomSynchronization, blelloch_cheng_gibbons_01::Rooms};
///
/// let rooms = Rooms::new(&Site::new(&Spinning), 2);
/// let p = Process::new(Pid::new(0), Spinning);
/// let inside = now(RoomSynchronization::enter(&rooms, &p, 1)).unwrap();
/// assert!(now(RoomSynchronization::exit(&rooms, &p, inside)).unwrap()); // it was the last one in there
/// assert!(now(RoomSynchronization::enter(&rooms, &p, 2)).is_err()); // there are rooms 0 and 1
/// ```
pub trait RoomSynchronization<M: Memory> {
    /// What a user carries from entry to exit. Checkers distinguish values by their `Debug` output.
    type Inside: Debug;
    /// Why a user may be turned away.
    type Refusal: Debug;

    /// The number of rooms.
    fn rooms(&self) -> usize;

    /// Enters a room. Returns when the user is inside.
    ///
    /// # Errors
    /// [`Failure::Memory`] leaves `p` at the statement it had reached, as a crash does.
    /// [`Failure::Refused`] leaves it outside all rooms.
    fn enter(
        &self,
        p: &Process<M>,
        room: usize,
    ) -> impl Future<Output = Result<Self::Inside, Failure<M::Error, Self::Refusal>>>;

    /// Exits. Returns whether the user was the last one of its turn.
    ///
    /// # Errors
    /// Returns an error if an access failed. `p` then stays at the statement it had reached, as
    /// after a crash.
    fn exit(&self, p: &Process<M>, inside: Self::Inside) -> impl Future<Output = Result<bool, M::Error>>;

    /// The plain-function form of [`enter`](Self::enter).
    ///
    /// # Errors
    /// Returns an error if the user is turned away.
    #[inline(always)]
    fn enter_now(&self, p: &Process<M>, room: usize) -> Result<Self::Inside, Self::Refusal>
    where
        M: Immediate,
    {
        M::now(or_refused(self.enter(p, room)))
    }

    /// The plain-function form of [`exit`](Self::exit).
    #[inline(always)]
    fn exit_now(&self, p: &Process<M>, inside: Self::Inside) -> bool
    where
        M: Immediate,
    {
        M::now(self.exit(p, inside))
    }
}

/// Turns a refusal into a value, so that only accesses can fail.
pub(crate) async fn or_refused<T, E, R>(
    entry: impl Future<Output = Result<T, Failure<E, R>>>,
) -> Result<Result<T, R>, E> {
    match entry.await {
        Ok(inside) => Ok(Ok(inside)),
        Err(Failure::Refused(refusal)) => Ok(Err(refusal)),
        Err(Failure::Memory(e)) => Err(e),
    }
}

/// Rooms for structures that grow. Users see the state that the [last one out](LastOut) maintains,
/// and can exit and enter again without missing a turn.
pub trait Lit<M: Memory>: RoomSynchronization<M> {
    /// The state that the last one out maintains.
    type Lights;

    /// That state for these rooms.
    fn lights(&self) -> &Self::Lights;

    /// Exits, and enters another room or the same one again. If that room is the next to be opened,
    /// the user is let in.
    ///
    /// # Errors
    /// The same as for [`enter`](RoomSynchronization::enter). A user that is turned away has left
    /// its old room all the same.
    fn change(
        &self,
        p: &Process<M>,
        inside: Self::Inside,
        to: usize,
    ) -> impl Future<Output = Result<Self::Inside, Failure<M::Error, Self::Refusal>>>;

    /// The plain-function form of [`change`](Self::change).
    ///
    /// # Errors
    /// Returns an error if the user is turned away; it has left its old room all the same.
    #[inline(always)]
    fn change_now(&self, p: &Process<M>, inside: Self::Inside, to: usize) -> Result<Self::Inside, Self::Refusal>
    where
        M: Immediate,
    {
        M::now(or_refused(self.change(p, inside, to)))
    }
}

/// Rooms whose users wait with a ticket. A user can take a ticket while it is inside another room,
/// and can give it back.
///
/// [`Rooms`](blelloch_cheng_gibbons_01::Rooms) documents these methods.
#[expect(missing_docs, reason = "one text documents them")]
pub trait Tickets<M: Memory>: RoomSynchronization<M, Refusal = Refusal> {
    type Ticket: Debug;

    fn draw(
        &self,
        p: &Process<M>,
        room: usize,
    ) -> impl Future<Output = Result<Self::Ticket, Failure<M::Error, Refusal>>>;

    fn wait(&self, p: &Process<M>, ticket: Self::Ticket) -> impl Future<Output = Result<Self::Inside, M::Error>>;

    fn wait_unless_given_up(
        &self,
        p: &Process<M>,
        ticket: &Self::Ticket,
    ) -> impl Future<Output = Result<Option<Self::Inside>, M::Error>>;

    fn withdraw(
        &self,
        p: &Process<M>,
        ticket: Self::Ticket,
    ) -> impl Future<Output = Result<Option<Self::Inside>, M::Error>>;

    fn change_ticket(
        &self,
        p: &Process<M>,
        inside: Self::Inside,
        to: usize,
    ) -> impl Future<Output = Result<Self::Ticket, Failure<M::Error, Refusal>>>;

    fn try_enter(
        &self,
        p: &Process<M>,
        room: usize,
    ) -> impl Future<Output = Result<Option<Self::Inside>, Failure<M::Error, Refusal>>>;
}

/// What the last user to leave a room does before another room is opened, like turning off the
/// lights.
///
/// It runs once for each turn, in the process of the last user that left. At that time no user is
/// inside any room, no user has been let in, and no user can be let in until it is done. Its
/// effects come after everything that was done inside, and before everything that will be done
/// inside. It must not use the same rooms. The user that runs it is already outside.
///
/// While it has not ended, no user gets in anywhere. Dropping the future of an exit in the middle
/// of it is a crash. A hook that can panic must catch the panic itself.
pub trait LastOut<M: Memory> {
    /// Runs after a turn of `room`.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    fn last_out(&self, p: &Process<M>, room: usize) -> impl Future<Output = Result<(), M::Error>>;

    /// The plain-function form of [`last_out`](Self::last_out).
    #[inline(always)]
    fn last_out_now(&self, p: &Process<M>, room: usize)
    where
        M: Immediate,
    {
        M::now(self.last_out(p, room));
    }
}

/// Does nothing.
impl<M: Memory> LastOut<M> for () {
    #[inline(always)]
    async fn last_out(&self, _: &Process<M>, _: usize) -> Result<(), M::Error> {
        Ok(())
    }
}

/// Why a user was turned away. It is outside all rooms, and nothing has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// There is no such room.
    NoSuchRoom {
        /// The requested room.
        room: usize,
        /// The number of rooms.
        rooms: usize,
    },
    /// So many users have given up waiting for this room since it was last opened that tickets
    /// could run out.
    TooManyGaveUp {
        /// The room.
        room: usize,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchRoom { room, rooms } => write!(f, "there is no room {room}; use one of 0..{rooms}"),
            Self::TooManyGaveUp { room } => {
                write!(
                    f,
                    "too many users gave up waiting for room {room} since it was opened; try again after its next turn"
                )
            }
        }
    }
}
impl core::error::Error for Refusal {}
