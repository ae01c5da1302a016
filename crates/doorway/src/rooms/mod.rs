//! [`Rooms`]: any number of users inside one room, and never users in two rooms at once. Also the
//! queues and stacks that are built from them.
//!
//! | type | what it is | text |
//! |---|---|---|
//! | [`Rooms`] | rooms by number or by name, for threads and tasks, with code for the last user to leave | [`Rooms`](doorway_core::rooms::blelloch_cheng_gibbons_01::Rooms) |
//! | [`LateRooms`] | rooms that can be joined while they are open | [`LateJoin`](doorway_core::rooms::blelloch_cheng_gibbons_01::LateJoin) |
//! | [`StrictRooms`] | rooms without guards, which refuse invalid requests | [`Strict`](doorway_core::rooms::blelloch_cheng_gibbons_01::Strict) |
//! | [`Queue`] | a bounded queue: enqueuers in one room, dequeuers in the other | [`RoomQueue`](doorway_core::rooms::blelloch_cheng_gibbons_01::RoomQueue) |
//! | [`Stack`] | a bounded stack, with batches | [`RoomStack`](doorway_core::rooms::blelloch_cheng_gibbons_01::RoomStack) |
//! | [`GrowingStack`] | a stack without a bound, with batches | [`SegmentStack`](doorway_core::rooms::blelloch_cheng_gibbons_01::SegmentStack) |
//! | [`WorkStack`] | a stack of work that knows when all work is done | [`WorkStack`](doorway_core::rooms::blelloch_cheng_gibbons_01::WorkStack) |
//!
//! In [`Queue`], [`Stack`] and [`GrowingStack`], threads and tasks can wait for a value, and all
//! three can be closed. This is the text of
//! [`AwaitedRooms`](doorway_core::rooms::blelloch_cheng_gibbons_01::AwaitedRooms). The workers of a
//! [`WorkStack`], threads or tasks, wait for work, until all work is done.
//!
//! The algorithms are those of [Blelloch, Cheng and
//! Gibbons](doorway_core::rooms::blelloch_cheng_gibbons_01), and each type runs the text that is
//! checked. This module adds guards, waiting and storage.

mod awaiting;
mod bookkeeping;
mod entering;
mod errors;
mod guard;
mod held;
mod last_exit;
mod late;
mod names;
mod outside;
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

use crate::native::{Native, WaysIn, enter_as_task, now, sure, ways_in};
use crate::waiting::Policy;
use bookkeeping::Id;
use doorway_core::memory::{Pid, Process, Site};
use doorway_core::rooms::blelloch_cheng_gibbons_01::{Rooms as Text, Users, Width};
use entering::Request;
use last_exit::Hook;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Rooms: any number of users may be in one room, and while a user is in it, no user is in another
/// room.
///
/// Threads and tasks may share one object, on any executor.
///
/// # Fairness
/// A room is opened for all users that wait for it, and the rooms take turns. With `m` rooms, a
/// waiter is let in at the latest by the `m + 1`st opening after it came, however many other users
/// come. A user that asks for a room that is open waits for its next turn; in [`LateRooms`] it may
/// join.
///
/// # Giving up
/// A timeout and a dropped future give up exactly: no other user waits for the one that has gone.
/// If a waiter is let in just as it gives up, it either returns the guard or leaves properly.
///
/// # Panics and deaths
/// A guard that is dropped while a panic unwinds leaves its room. If it is the last one out, it
/// also runs the code of the last exit. [`is_poisoned`](Self::is_poisoned) tells that there was a
/// panic. If a guard is forgotten (`mem::forget`), its user stays inside for ever: no user gets
/// into another room any more, and no newcomer gets into this one.
///
/// # Memory ordering
/// Everything that was done inside a room *happens before* everything that is done inside a room
/// that is opened later. The [code](Self::on_last_exit) of the last exit runs in between, and is
/// ordered with both.
///
/// # Looking
/// `{rooms:?}` shows which room is open, how many users are inside, and how many wait for each
/// room. Users that come and go meanwhile may be counted or not.
///
/// ```
/// use doorway::Rooms;
/// # use std::{future::Future, pin::pin, task::{Context, Waker}};
/// doorway::named_rooms! { enum Phase { Count, Report } }
///
/// let phases = Rooms::<Phase>::named();
/// let inside = phases.enter(Phase::Count)?;
/// let mut waits = pin!(phases.enter_async(Phase::Report));
/// # assert!(waits.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
/// // ... and a task polls it
/// assert_eq!(format!("{phases:?}"), "Rooms { rooms: 2, open: Some(Count), inside: 1, waiting: {Report: 1} }");
/// drop(inside);
/// # assert!(waits.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # When not to use this
/// If only one thread can do the work at a time, use a mutex. If the sections are a few
/// instructions long, getting in and out takes most of the time. See `docs/rooms.md`.
///
/// # Examples
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
///             assert!(count.load(Ordering::Relaxed) > 0); // no thread counts now
///         });
///     }
/// });
/// ```
pub struct Rooms<R: Room = usize, X = Nothing> {
    text: Text<Native, Hook<R, X>>,
    /// Makes all accesses that do not wait. The algorithm does not tell processes apart.
    anyone: Process<Native>,
    id: Id,
    policy: Policy,
}

/// How threads wait by default. Visits are short, and a user that opens a room waits for the users
/// it let in, so a sleep makes all of them wait for the kernel. So a waiter spins for about as long
/// as a sleep would take. It does not yield: where other threads want the core, a yield would last
/// a whole time slice.
const PATIENT: Policy = Policy::SLEEP.turns(10, 0);

impl Rooms {
    /// The largest number of rooms.
    pub const MOST: usize = Pid::LIMIT;

    /// Makes rooms with the numbers `0..rooms`.
    ///
    /// # Errors
    /// Returns an error if `rooms` is 0 or more than [`MOST`](Self::MOST).
    ///
    /// # Examples
    /// ```
    /// use doorway::{Rooms, rooms::RoomsBuildError, rooms::EnterError};
    /// assert_eq!(Rooms::new(0).unwrap_err(), RoomsBuildError::NoRoom);
    /// let two = Rooms::new(2)?;
    /// assert_eq!(two.enter(2).unwrap_err(), EnterError::NoSuchRoom { room: 2, rooms: 2 });
    /// # Ok::<(), RoomsBuildError>(())
    /// ```
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
    /// Makes one room for each name; see [`named_rooms!`](crate::named_rooms).
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

    /// Adds code that the last user to leave a room runs before another room is opened, once for
    /// each turn.
    ///
    /// No user is inside any room while the code runs. It happens after everything that was done
    /// inside, and before everything that will be done inside.
    ///
    /// The code must not enter these rooms. From a thread's guard, it would get an
    /// [error](EnterError::InsideAlready); from a task's guard, it would wait for itself. The user
    /// that runs it is already outside, so a cancelled wait may run it, too.
    ///
    /// If the code panics, the next room is opened all the same. Then the panic continues in the
    /// thread that dropped the guard, and the rooms are [poisoned](Self::is_poisoned).
    ///
    /// The code is a part of the type. To name the type, in a field for instance, box the code:
    /// `Rooms<usize, Box<dyn Fn(usize) + Send + Sync>>`.
    ///
    /// # Examples
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
        // No user is inside, because a user inside borrows the rooms. So they may be built again.
        Rooms::build(self.text.rooms(), code, self.policy)
    }

    /// Sets how threads wait. The default spins for a few microseconds and then sleeps.
    #[must_use]
    pub fn with_policy(self, policy: Policy) -> Self {
        Self { policy, ..self }
    }

    /// The number of rooms.
    #[must_use]
    pub fn rooms(&self) -> usize {
        self.text.rooms()
    }

    /// Whether a guard was dropped while a panic unwound, or the [code of the last
    /// exit](Self::on_last_exit) panicked, since the poison was last [cleared](Self::clear_poison).
    ///
    /// Poison keeps no user out. To learn that work may be half done, call this.
    ///
    /// # Examples
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

    /// Clears the poison.
    pub fn clear_poison(&self) {
        self.text.last_out().poison(false);
    }
}

ways_in! {
    impl [R: Room, X: LastExit<R>] Rooms<R, X> as rooms;
    RoomGuard<'_, R, X>, OwnedRoomGuard<R, X, ByThread>: "The guard stays in its thread, unless [`by_anyone`](Visit::by_anyone) frees it.";

    /// Waits until the user is inside `room`.
    ///
    /// | | |
    /// |---|---|
    /// | fairness | with `m` rooms, the user gets in by the `m + 1`st opening of a room at the latest |
    /// | blocking | spins briefly, then sleeps; in a task, use [`enter_async`](Self::enter_async) |
    /// | cost | entering and leaving: five read-modify-writes for a lone user, two if other users open and close the room |
    ///
    /// # Errors
    /// Returns an error if there is no such room, if this thread is already inside, or if [too many
    /// users gave up](EnterError::TooManyGaveUp) waiting for the room.
    ///
    /// # Examples
    /// ```
    /// let rooms = doorway::Rooms::new(2)?;
    /// let inside = rooms.enter(1)?;
    /// assert_eq!(inside.room(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    enter, enter_owned(room: R) -> EnterError = |call| {
        let inside = rooms.enter_as_thread(Request::of_thread(room, call))?;
        Ok(Visit::new(rooms, inside, room))
    };

    /// Enters if no room is open, not even this one.
    ///
    /// # Errors
    /// Returns an error if a room is open, if there is no such room, or if this thread is already
    /// inside.
    ///
    /// # Examples
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
    try_enter, try_enter_owned(room: R) -> TryEnterError = |call| {
        let inside = rooms.at_once(Request::of_thread(room, call))?.ok_or(TryEnterError::Busy)?;
        Ok(Visit::new(rooms, inside, room))
    };

    /// Waits until the user is inside `room`, but no longer than `timeout`. A timeout of zero is
    /// [`try_enter`](Self::try_enter).
    ///
    /// A timeout is exact: no other user waits for the one that gave up. If the waiter is let in
    /// just as it gives up, it returns the guard.
    ///
    /// # Errors
    /// Returns an error if the time runs out, and in the cases of [`enter`](Self::enter).
    ///
    /// # Examples
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
    enter_timeout, enter_timeout_owned(room: R, timeout: Duration) -> EnterTimeoutError = |call| {
        let inside = rooms.enter_within(Request::of_thread(room, call), timeout)?.ok_or(EnterTimeoutError::TimedOut)?;
        Ok(Visit::new(rooms, inside, room))
    };

    /// [`enter_timeout`](Self::enter_timeout) with a point in time.
    ///
    /// # Errors
    /// Returns an error if the deadline passes, and in the cases of [`enter`](Self::enter).
    enter_deadline, enter_deadline_owned(room: R, deadline: Instant) -> EnterTimeoutError = |call| {
        let inside = rooms.enter_until(Request::of_thread(room, call), deadline)?.ok_or(EnterTimeoutError::TimedOut)?;
        Ok(Visit::new(rooms, inside, room))
    };
}

impl<R: Room, X: LastExit<R>> Rooms<R, X> {
    /// [`enter`](Self::enter) for tasks, on any executor.
    ///
    /// A task that is inside must not enter the same rooms again: it would wait for itself, and
    /// tasks cannot be told apart. The same holds for a thread that has a task's guard.
    ///
    /// # Cancel safety
    /// Cancel safe. Dropping the future gives up exactly, at any point. If the task had been let
    /// in, it leaves, and may have to run the [code of the last exit](Self::on_last_exit).
    ///
    /// # Errors
    /// Returns an error if there is no such room, or if too many users gave up waiting for it.
    ///
    /// # Examples
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
    pub async fn enter_async(&self, room: R) -> Result<TaskRoomGuard<'_, R, X>, EnterError> {
        let inside = enter_as_task(self, Request::of_anyone(room)).await?;
        Ok(Visit::new(self, inside, room))
    }

    /// [`enter_async`](Self::enter_async) with a guard that owns a reference to the rooms.
    ///
    /// # Errors
    /// The same as for [`enter_async`](Self::enter_async).
    pub async fn enter_owned_async(self: &Arc<Self>, room: R) -> Result<OwnedRoomGuard<R, X>, EnterError> {
        let inside = enter_as_task(&**self, Request::of_anyone(room)).await?;
        Ok(Visit::new(Arc::clone(self), inside, room))
    }
}

/// How many users wait for each room, of the rooms for which any waits.
struct Waiting<'a, R>(&'a [(R, Users)]);

impl<R: fmt::Debug> fmt::Debug for Waiting<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let awaited = self.0.iter().filter(|(_, users)| users.waiting > 0);
        f.debug_map().entries(awaited.map(|(room, users)| (room, users.waiting))).finish()
    }
}

impl<R: Room, X> fmt::Debug for Rooms<R, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let active = sure(now(self.text.look_at_active(&self.anyone)));
        let look = |index| Some((R::from_index(index)?, sure(now(self.text.look_at_room(&self.anyone, index)))?));
        let users: Vec<_> = (0..self.rooms()).filter_map(look).collect();
        let mut all = f.debug_struct("Rooms");
        all.field("rooms", &self.rooms());
        all.field("open", &active.is_room().and_then(R::from_index));
        all.field("inside", &users.iter().map(|(_, users)| users.inside).sum::<usize>());
        all.field("waiting", &Waiting(&users));
        if self.is_poisoned() {
            all.field("poisoned", &true);
        }
        all.finish()
    }
}

const _: () = {
    const fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Rooms>();
    is_send_and_sync::<OwnedRoomGuard>();
    is_send_and_sync::<TaskRoomGuard<'_>>();
};
