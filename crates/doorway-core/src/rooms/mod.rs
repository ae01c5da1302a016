//! Room synchronization: any number inside one room, nobody in two rooms at once.
//!
//! # Problem
//! There are `m` rooms. A user enters one of them, is inside, and exits. **Mutual exclusion among rooms** (safety): no two users are in different rooms at the same time.
//! **Concurrent access**: any number can be in the same room. **Lockout freedom** (progress): if whoever is inside leaves again, whoever asks for a room gets in, and whoever exits gets out.
//! The safety problem is also known as *group mutual exclusion*. With `m = 1` there is nothing to exclude; a room with a mutex in it and a room without one make a
//! reader-writer lock.
//!
//! | in which order | who gets in |
//! |---|---|
//! | a *turn* of a room | from an opening of it until the last of those let in has left; users let in may arrive slowly, so a room can be empty within its turn |
//! | whoever asks for a room during its own turn | waits for the next one, unless the kind of rooms lets latecomers [join](blelloch_cheng_gibbons_01::LateJoin) |
//!
//! # Which to take
//! [`Rooms`](blelloch_cheng_gibbons_01::Rooms), whose waiting users can give up. [`LateJoin`](blelloch_cheng_gibbons_01::LateJoin) where turns are long and latecomers to an open room should not wait for the next;
//! nobody can give up there. [`Strict`](blelloch_cheng_gibbons_01::Strict) where users cannot be trusted to enter and exit by turns.

pub mod blelloch_cheng_gibbons_01;
mod visits;

pub use visits::{Changes, Misuses, NotNow, Tries, Visits};

use crate::Failure;
use crate::memory::{At, Immediate, Memory, Process, ReadWrite, Word};
use core::fmt::{self, Debug};
use core::future::Future;

/// A solution of room synchronization on the memory `M`.
///
/// ```
/// use doorway::native::{Native, now};
/// use doorway_core::memory::{Pid, Process, Site};
/// use doorway_core::rooms::{RoomSynchronization, blelloch_cheng_gibbons_01::Rooms};
///
/// let rooms = Rooms::new(&Site::new(&Native::new()), 2);
/// let p = Process::new(Pid::new(0), Native::new());
/// let inside = now(RoomSynchronization::enter(&rooms, &p, 1)).unwrap();
/// assert!(now(RoomSynchronization::exit(&rooms, &p, inside)).unwrap()); // it was the last one in there
/// assert!(now(RoomSynchronization::enter(&rooms, &p, 2)).is_err()); // there are rooms 0 and 1
/// ```
pub trait RoomSynchronization<M: Memory> {
    /// What a user carries from entry to exit. Values are told apart by their `Debug`.
    type Inside: Debug;
    /// Why a user may be turned away.
    type Refusal: Debug;

    /// How many rooms there are.
    fn rooms(&self) -> usize;

    /// Enters a room; returns when inside.
    ///
    /// # Errors
    /// [`Failure::Memory`] leaves `p` where it stood, as a crash does. [`Failure::Refused`] leaves it outside all rooms.
    fn enter(
        &self,
        p: &Process<M>,
        room: usize,
    ) -> impl Future<Output = Result<Self::Inside, Failure<M::Error, Self::Refusal>>>;

    /// Exits. Whether it was the last one of its turn.
    ///
    /// # Errors
    /// If an access failed. `p` then stays at the statement it had reached, as after a crash.
    fn exit(&self, p: &Process<M>, inside: Self::Inside) -> impl Future<Output = Result<bool, M::Error>>;

    /// [`enter`](Self::enter), as a plain function.
    ///
    /// # Errors
    /// If the user is turned away.
    #[inline(always)]
    fn enter_now(&self, p: &Process<M>, room: usize) -> Result<Self::Inside, Self::Refusal>
    where
        M: Immediate,
    {
        M::now(or_refused(self.enter(p, room)))
    }

    /// [`exit`](Self::exit), as a plain function.
    #[inline(always)]
    fn exit_now(&self, p: &Process<M>, inside: Self::Inside) -> bool
    where
        M: Immediate,
    {
        M::now(self.exit(p, inside))
    }
}

/// A refusal as a value: what is left to fail are accesses.
pub(crate) async fn or_refused<T, E, R>(
    entry: impl Future<Output = Result<T, Failure<E, R>>>,
) -> Result<Result<T, R>, E> {
    match entry.await {
        Ok(inside) => Ok(Ok(inside)),
        Err(Failure::Refused(refusal)) => Ok(Err(refusal)),
        Err(Failure::Memory(e)) => Err(e),
    }
}

/// Rooms that structures are built on which grow: users look at what the [last one out](LastOut) looks after, and can
/// go out and come in again without missing a turn.
pub trait Lit<M: Memory>: RoomSynchronization<M> {
    /// What the last one out looks after.
    type Lights;

    /// The one that it looks after here.
    fn lights(&self) -> &Self::Lights;

    /// Exits, and enters another room or the same one again: if that is the next one to be opened, it is let in.
    ///
    /// # Errors
    /// As [`enter`](RoomSynchronization::enter); a user that is turned away has exited all the same.
    fn change(
        &self,
        p: &Process<M>,
        inside: Self::Inside,
        to: usize,
    ) -> impl Future<Output = Result<Self::Inside, Failure<M::Error, Self::Refusal>>>;

    /// [`change`](Self::change), as a plain function.
    ///
    /// # Errors
    /// If the user is turned away; it has exited all the same.
    #[inline(always)]
    fn change_now(&self, p: &Process<M>, inside: Self::Inside, to: usize) -> Result<Self::Inside, Self::Refusal>
    where
        M: Immediate,
    {
        M::now(or_refused(self.change(p, inside, to)))
    }

    /// Waits outside until `v` is as it should be, in the way in which users wait for their rooms.
    #[inline(always)]
    fn wait_now<T: Word>(&self, at: At<'_, M>, v: &M::Cell<T>, ok: impl Fn(T) -> bool) -> T
    where
        M: Immediate + ReadWrite,
    {
        M::now(at.wait_until(v, ok))
    }
}

/// Rooms whose users wait with a ticket, which they can take while they are inside another room, and give back.
///
/// [`Rooms`](blelloch_cheng_gibbons_01::Rooms) says what these do.
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

/// What the last one to leave a room does before another one is opened: the lights.
///
/// It runs once for each turn, by the user who was the last to leave. Nobody is inside any room then, nobody has been let in, and nobody can be until it
/// is done; what it does happens after all that was done inside, and before all that will be. It must not use the same rooms. Whoever runs it is outside already.
///
/// While it has not ended, nobody gets in anywhere: dropping the future of an exit in the middle of it is a crash, and a hook that can panic catches that itself.
pub trait LastOut<M: Memory> {
    /// Runs after a turn of `room`.
    ///
    /// # Errors
    /// If an access failed.
    fn last_out(&self, p: &Process<M>, room: usize) -> impl Future<Output = Result<(), M::Error>>;

    /// [`last_out`](Self::last_out), as a plain function.
    #[inline(always)]
    fn last_out_now(&self, p: &Process<M>, room: usize)
    where
        M: Immediate,
    {
        M::now(self.last_out(p, room));
    }
}

/// Nothing is to be done.
impl<M: Memory> LastOut<M> for () {
    #[inline(always)]
    async fn last_out(&self, _: &Process<M>, _: usize) -> Result<(), M::Error> {
        Ok(())
    }
}

/// Why a user was turned away; it is outside all rooms, and nothing has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// There is no such room.
    NoSuchRoom {
        /// Which one was asked for.
        room: usize,
        /// How many there are.
        rooms: usize,
    },
    /// So many gave up waiting for this room since it was opened last that tickets could run out.
    TooManyGaveUp {
        /// Which room.
        room: usize,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchRoom { room, rooms } => write!(f, "there is no room {room}; take one of 0..{rooms}"),
            Self::TooManyGaveUp { room } => {
                write!(f, "too many gave up waiting for room {room} since it was opened; try again after its next turn")
            }
        }
    }
}
impl core::error::Error for Refusal {}
