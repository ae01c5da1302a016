//! [`Rooms`]: any number inside one room, nobody in two rooms at once; and what can be built with them.
//!
//! | type | what it is | text |
//! |---|---|---|
//! | [`Rooms`] | rooms by number or by name, for threads and tasks, with code for the last one out | [`Rooms`](doorway_core::rooms::blelloch_cheng_gibbons_01::Rooms) |
//! | [`LateRooms`] | rooms that can be joined while they are open | [`LateJoin`](doorway_core::rooms::blelloch_cheng_gibbons_01::LateJoin) |
//! | [`StrictRooms`] | rooms without guards: requests that make no sense are refused | [`Strict`](doorway_core::rooms::blelloch_cheng_gibbons_01::Strict) |
//! | [`Queue`] | a bounded queue: enqueuers in one room, dequeuers in the other | [`RoomQueue`](doorway_core::rooms::blelloch_cheng_gibbons_01::RoomQueue) |
//! | [`Stack`] | a bounded stack, with batches | [`RoomStack`](doorway_core::rooms::blelloch_cheng_gibbons_01::RoomStack) |
//! | [`GrowingStack`] | a stack without a bound, with batches | [`SegmentStack`](doorway_core::rooms::blelloch_cheng_gibbons_01::SegmentStack) |
//! | [`WorkStack`] | a stack of work that knows when all is done | [`WorkStack`](doorway_core::rooms::blelloch_cheng_gibbons_01::WorkStack) |
//!
//! [`Queue`] and [`Stack`] let users wait for a value, and can be closed, by the text of
//! [`AwaitedRooms`](doorway_core::rooms::blelloch_cheng_gibbons_01::AwaitedRooms).
//!
//! The algorithms are those of [Blelloch, Cheng and Gibbons](doorway_core::rooms::blelloch_cheng_gibbons_01), and each type
//! runs the text that is checked. What is here are guards, waiting, and storage.

mod awaiting;
mod bookkeeping;
mod entering;
mod errors;
mod guard;
mod held;
mod last_exit;
mod late;
mod names;
mod pair;
mod queue;
mod stack;
mod store;
mod strict;
mod work;

pub use awaiting::{Ended, TakeTimeoutError};
pub use errors::{EnterError, EnterTimeoutError, Full, RoomsBuildError, StrictError, TryEnterError};
pub use guard::{OwnedRoomGuard, RoomGuard, TaskRoomGuard, Visit};
use held::Enters;
pub use held::{ByAnyone, ByThread, HeldBy};
pub use last_exit::{LastExit, Nothing};
pub use late::{LateGuard, LateRooms};
pub use names::{Named, Room};
pub use queue::Queue;
pub use stack::{GrowingStack, Stack};
pub use strict::{StrictRooms, User};
pub use work::{Finished, Loot, WorkStack};

use crate::native::{Native, WaysIn, enter_as_task, ways_in};
use crate::waiting::Policy;
use bookkeeping::Id;
use doorway_core::memory::{Pid, Process, Site};
use doorway_core::rooms::blelloch_cheng_gibbons_01::{Rooms as Text, Width};
use entering::Request;
use last_exit::Hook;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Rooms: any number of users may be in the same one, and while anybody is in one nobody is in another. One object for threads and tasks, on any executor.
///
/// ```
/// use doorway::Rooms;
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// doorway::named_rooms! { enum Phase { Count, Report } }
///
/// let phases = Rooms::<Phase>::named();
/// let count = AtomicUsize::new(0);
/// std::thread::scope(|s| {
///     for _ in 0..4 {
///         s.spawn(|| {
///             let inside = phases.enter(Phase::Count).unwrap(); // all four may be in there at a time
///             count.fetch_add(1, Ordering::Relaxed);
///             let _inside = inside.change(Phase::Report).unwrap();
///             assert!(count.load(Ordering::Relaxed) > 0); // nobody counts now
///         });
///     }
/// });
/// ```
///
/// # Fairness
/// A room is opened for all that wait for it, and rooms take turns: who waits is let in at the latest by the `m + 1`st opening after it came, of `m` rooms, however many others come. Who asks for a room
/// that is open waits for its next turn; with [`LateRooms`] it may join.
///
/// # Giving up
/// A timeout that runs out, and a future that is dropped, are exact: nobody waits for who has gone, and who was let in at the last moment gets its guard or leaves properly.
///
/// # Panics and deaths
/// A guard that is dropped while a panic unwinds leaves its room, and the last one out does what it has to. That there was one can be [asked](Self::is_poisoned). A guard that is `mem::forget`-ten stays inside for
/// ever: nobody gets into another room any more, nor into this one again.
///
/// # What happens before what
/// All that was done inside a room *happens before* all that is done by who enters a room that is opened later, and by the [code](Self::on_last_exit) that runs in between.
///
/// # When not to use this
/// If only one can do the work at a time, take a mutex. If sections are a few instructions, what it takes to get in and out is most of the time. See `docs/rooms.md`.
pub struct Rooms<R: Room = usize, X = Nothing> {
    text: Text<Native, Hook<R, X>>,
    /// The one that all accesses are made by that wait for nothing. The algorithm does not tell processes apart.
    anyone: Process<Native>,
    id: Id,
    policy: Policy,
}

/// How threads wait unless told otherwise: visits are short, and who opens a room waits for whom it let in, so that a sleep makes everybody wait for the kernel. It spins for about as long as that would
/// take, and does not yield: where others want the core, that would be for a whole time slice.
const PATIENT: Policy = Policy::SLEEP.turns(10, 0);

impl Rooms {
    /// As many rooms as there can be.
    pub const MOST: usize = Pid::LIMIT;

    /// So many rooms: `0..rooms`.
    ///
    /// ```
    /// use doorway::{Rooms, rooms::RoomsBuildError, rooms::EnterError};
    /// assert_eq!(Rooms::new(0).unwrap_err(), RoomsBuildError::NoRoom);
    /// let two = Rooms::new(2)?;
    /// assert_eq!(two.enter(2).unwrap_err(), EnterError::NoSuchRoom { room: 2, rooms: 2 });
    /// # Ok::<(), RoomsBuildError>(())
    /// ```
    ///
    /// # Errors
    /// If there are none, or more than [`MOST`](Self::MOST).
    pub fn new(rooms: usize) -> Result<Self, RoomsBuildError> {
        check_rooms(rooms)?;
        Ok(Rooms::build(rooms, Nothing, PATIENT))
    }
}

fn check_rooms(rooms: usize) -> Result<(), RoomsBuildError> {
    match rooms {
        0 => Err(RoomsBuildError::NoRoom),
        asked if asked > Rooms::MOST => Err(RoomsBuildError::TooManyRooms { asked, most: Rooms::MOST }),
        _ => Ok(()),
    }
}

impl<R: Named> Rooms<R> {
    /// One room for each name; see [`named_rooms!`](crate::named_rooms).
    #[must_use]
    pub fn named() -> Self {
        Self::build(R::ALL.len(), Nothing, PATIENT)
    }
}

impl<R: Room, X> Rooms<R, X> {
    fn build(rooms: usize, code: X, policy: Policy) -> Self {
        let memory = Native::new();
        Self {
            text: Text::with(&Site::new(&memory), rooms, Width::MACHINE, Hook::new(code)),
            anyone: Process::new(Pid::new(0), Native::new()),
            id: Id::new(),
            policy,
        }
    }

    /// The same, with code that the last one out of a room runs before another one is opened, once for each turn.
    ///
    /// Nobody is inside any room then. It happens after all that was done inside, and before all that will be. It must not enter these rooms: from a thread's guard it gets an
    /// [error](EnterError::InsideAlready), from a task's it waits for itself. Who runs it is outside already, so that a wait that is cancelled may run it too.
    ///
    /// If it panics, the next room is opened all the same; the panic goes on from where the guard was dropped, and the rooms are [poisoned](Self::is_poisoned).
    ///
    /// ```
    /// use doorway::Rooms;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    /// let turns = AtomicUsize::new(0);
    /// let rooms = Rooms::new(2)?.on_last_exit(|room| {
    ///     assert!(room < 2);
    ///     turns.fetch_add(1, Ordering::Relaxed);
    /// });
    /// drop(rooms.enter(0)?.change(1)?);
    /// assert_eq!(turns.load(Ordering::Relaxed), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn on_last_exit<F: Fn(R) + Send + Sync>(self, code: F) -> Rooms<R, F> {
        // Nobody is inside, for whoever is has it borrowed; so it may be built again.
        Rooms::build(self.text.rooms(), code, self.policy)
    }

    /// The same, but threads wait by this policy, and not by one that spins for a few microseconds and then sleeps.
    #[must_use]
    pub fn with_policy(self, policy: Policy) -> Self {
        Self { policy, ..self }
    }

    /// How many rooms there are.
    #[must_use]
    pub fn rooms(&self) -> usize {
        self.text.rooms()
    }

    /// Whether a guard was dropped while a panic unwound, or [the code of the last one out](Self::on_last_exit) panicked, since it was [cleared](Self::clear_poison). Nobody is kept out because of it: who
    /// cares for what was left in the middle asks.
    ///
    /// ```
    /// let rooms = doorway::Rooms::new(1)?;
    /// let _ = std::thread::scope(|s| s.spawn(|| {
    ///     let _inside = rooms.enter(0);
    ///     panic!("inside");
    /// }).join());
    /// assert!(rooms.is_poisoned());
    /// assert!(rooms.try_enter(0).is_ok()); // it was left
    /// # Ok::<(), doorway::rooms::RoomsBuildError>(())
    /// ```
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.text.last_out().is_poisoned()
    }

    /// From now on it is not.
    pub fn clear_poison(&self) {
        self.text.last_out().poison(false);
    }
}

ways_in! {
    impl [R: Room, X: LastExit<R>] Rooms<R, X> as rooms;
    RoomGuard<'_, R, X>, OwnedRoomGuard<R, X, ByThread>: "It stays in its thread, unless it is made one [by anyone](Visit::by_anyone).";

    /// Waits until it is inside `room`.
    ///
    /// | | |
    /// |---|---|
    /// | fairness | let in by the `m + 1`st opening of `m` rooms at the latest |
    /// | blocking | spins briefly, then sleeps; in a task, take [`enter_async`](Self::enter_async) |
    /// | cost | five read-modify-writes in and out if nobody else is there, two if others open and close the room |
    ///
    /// ```
    /// let rooms = doorway::Rooms::new(2)?;
    /// let inside = rooms.enter(1)?;
    /// assert_eq!(inside.room(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such room, or if this thread is inside already.
    enter, enter_owned(room: R) -> EnterError = |call| {
        let inside = rooms.enter_as_thread(Request::of_thread(room, call))?;
        Ok(Visit::new(rooms, inside, room))
    };

    /// Enters if no room is open, not even this one.
    ///
    /// ```
    /// use doorway::rooms::{EnterError, TryEnterError};
    /// let rooms = doorway::Rooms::new(2)?;
    /// let inside = rooms.try_enter(0)?;
    /// std::thread::scope(|s| {
    ///     s.spawn(|| assert_eq!(rooms.try_enter(0).unwrap_err(), TryEnterError::Busy));
    /// });
    /// # drop(inside);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a room is open, if there is no such room, or if this thread is inside already.
    try_enter, try_enter_owned(room: R) -> TryEnterError = |call| {
        let inside = rooms.at_once(Request::of_thread(room, call))?.ok_or(TryEnterError::Busy)?;
        Ok(Visit::new(rooms, inside, room))
    };

    /// Waits until it is inside `room`, but no longer than this. With a timeout of zero it is [`try_enter`](Self::try_enter).
    ///
    /// Running out of time is exact: nobody waits for it any more, and if it was let in at that very moment, it has its guard.
    ///
    /// ```
    /// use doorway::rooms::EnterTimeoutError;
    /// use std::time::Duration;
    /// let rooms = doorway::Rooms::new(2)?;
    /// let inside = rooms.enter(0)?;
    /// std::thread::scope(|s| {
    ///     s.spawn(|| assert_eq!(rooms.enter_timeout(1, Duration::from_millis(1)).unwrap_err(), EnterTimeoutError::TimedOut));
    /// });
    /// # drop(inside);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the time runs out, if there is no such room, or if this thread is inside already.
    enter_timeout, enter_timeout_owned(room: R, timeout: Duration) -> EnterTimeoutError = |call| {
        let inside = rooms.enter_within(Request::of_thread(room, call), timeout)?.ok_or(EnterTimeoutError::TimedOut)?;
        Ok(Visit::new(rooms, inside, room))
    };

    /// [`enter_timeout`](Self::enter_timeout) until a point in time.
    ///
    /// # Errors
    /// If the time comes, if there is no such room, or if this thread is inside already.
    enter_deadline, enter_deadline_owned(room: R, deadline: Instant) -> EnterTimeoutError = |call| {
        let inside = rooms.enter_until(Request::of_thread(room, call), deadline)?.ok_or(EnterTimeoutError::TimedOut)?;
        Ok(Visit::new(rooms, inside, room))
    };
}

impl<R: Room, X: LastExit<R>> Rooms<R, X> {
    /// [`enter`](Self::enter) for tasks, on any executor.
    ///
    /// A task that is inside must not enter the same rooms again: it would wait for itself, and nobody can tell tasks apart.
    /// The same is true of a thread that has a task's guard.
    ///
    /// # Cancel safety
    /// To drop the future is to give up, at any point, and exact. If it had been let in, it leaves, and may have to run the [code of the last one out](Self::on_last_exit).
    ///
    /// ```
    /// # use std::{future::Future, pin::pin, task::{Context, Poll, Waker}};
    /// let rooms = doorway::Rooms::new(2)?;
    /// let inside = rooms.enter(0)?;
    /// let mut context = Context::from_waker(Waker::noop());
    /// {
    ///     let mut cancelled = pin!(rooms.enter_async(1));
    ///     assert!(cancelled.as_mut().poll(&mut context).is_pending());
    /// }
    /// let mut waits = pin!(rooms.enter_async(1));
    /// assert!(waits.as_mut().poll(&mut context).is_pending());
    /// drop(inside);
    /// assert!(waits.as_mut().poll(&mut context).is_ready());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such room.
    pub async fn enter_async(&self, room: R) -> Result<TaskRoomGuard<'_, R, X>, EnterError> {
        let inside = enter_as_task(self, Request::of_anyone(room)).await?;
        Ok(Visit::new(self, inside, room))
    }

    /// [`enter_async`](Self::enter_async) with a guard that owns.
    ///
    /// # Errors
    /// The same.
    pub async fn enter_owned_async(self: &Arc<Self>, room: R) -> Result<OwnedRoomGuard<R, X>, EnterError> {
        let inside = enter_as_task(&**self, Request::of_anyone(room)).await?;
        Ok(Visit::new(Arc::clone(self), inside, room))
    }
}

impl<R: Room, X> fmt::Debug for Rooms<R, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = f.debug_struct("Rooms");
        all.field("text", &self.text);
        if self.is_poisoned() {
            all.field("poisoned", &true);
        }
        all.finish_non_exhaustive()
    }
}

const _: () = {
    const fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Rooms>();
    is_send_and_sync::<OwnedRoomGuard>();
    is_send_and_sync::<TaskRoomGuard<'_>>();
};
