//! [`StrictRooms`]: rooms without guards, which check each request.

use super::last_exit::Hook;
use super::{LastExit, Nothing, PATIENT, RoomsBuildError, StrictError, check_rooms};
use crate::native::{Native, now, refused, someone};
use crate::waiting::Policy;
use doorway_core::Failure;
use doorway_core::memory::{Process, Site};
use doorway_core::rooms::LastOut;
use doorway_core::rooms::blelloch_cheng_gibbons_01::{Misuse, Rooms as Text, Strict, Width};
use std::convert::Infallible;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Rooms for users that enter and exit by separate calls, as bindings for other languages must.
///
/// A request that is not valid in the user's state is refused. At most one room is open, whatever
/// the users do. Within Rust, [`Rooms`](super::Rooms) are cheaper, because guards cannot be used
/// wrongly.
///
/// # Examples
/// ```
/// use doorway::rooms::{StrictError, StrictRooms};
/// let rooms = StrictRooms::new(2, 8)?; // two rooms, up to eight users
/// let me = rooms.join()?;
/// assert_eq!(me.exit(), Err(StrictError::Outside));
/// me.enter(0)?;
/// assert_eq!(me.enter(1), Err(StrictError::Inside));
/// me.change(1)?;
/// assert!(me.exit()?); // it was the last one inside
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StrictRooms<X = Nothing> {
    text: Strict<Native, Shared<X>>,
    hook: Shared<X>,
    free: Mutex<Vec<usize>>,
    users: usize,
    policy: Policy,
}

/// Shares the hook: this module asks it for panics, and the text has the other reference.
struct Shared<X>(Arc<Hook<usize, X>>);

impl<X: LastExit<usize>> LastOut<Native> for Shared<X> {
    async fn last_out(&self, p: &Process<Native>, room: usize) -> Result<(), Infallible> {
        self.0.last_out(p, room).await
    }
}

impl StrictRooms {
    /// Makes this many rooms, for this many users at a time.
    ///
    /// # Errors
    /// Returns an error if there are no rooms or too many, or if there are no users.
    pub fn new(rooms: usize, users: usize) -> Result<Self, RoomsBuildError> {
        Self::with_last_exit(rooms, users, Nothing)
    }
}

impl<X: LastExit<usize>> StrictRooms<X> {
    /// The same, with code for the last user to leave; see
    /// [`Rooms::on_last_exit`](super::Rooms::on_last_exit).
    ///
    /// # Errors
    /// Returns an error if there are no rooms or too many, or if there are no users.
    pub fn with_last_exit(rooms: usize, users: usize, code: X) -> Result<Self, RoomsBuildError> {
        check_rooms(rooms)?;
        if users == 0 {
            return Err(RoomsBuildError::NoUser);
        }
        let hook = Arc::new(Hook::new(code));
        let (memory, shared) = (Native::new(), Shared(Arc::clone(&hook)));
        let text = Strict::new(&Site::new(&memory), users, |site| Text::with(site, rooms, Width::MACHINE, shared));
        let free = Mutex::new((0..users).rev().collect());
        Ok(Self { text, hook: Shared(hook), free, users, policy: PATIENT })
    }

    /// Sets how threads wait.
    #[must_use]
    pub fn with_policy(self, policy: Policy) -> Self {
        Self { policy, ..self }
    }

    /// Makes the caller one of the users.
    ///
    /// # Errors
    /// Returns an error if all users have joined already.
    pub fn join(&self) -> Result<User<'_, X>, StrictError> {
        let number = self.free().pop().ok_or(StrictError::NoMoreUsers { most: self.users })?;
        Ok(User { rooms: self, number })
    }

    /// Whether the [code of the last exit](Self::with_last_exit) panicked.
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.hook.0.is_poisoned()
    }

    fn free(&self) -> MutexGuard<'_, Vec<usize>> {
        // A panic cannot poison this: the list is consistent between any two operations on it.
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn done<T>(&self, result: Result<T, Failure<Infallible, Misuse>>) -> Result<T, StrictError> {
        self.hook.0.resume();
        result.map_err(|failure| refused(failure).into())
    }
}

impl<X> fmt::Debug for StrictRooms<X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StrictRooms").field("text", &self.text).finish_non_exhaustive()
    }
}

/// A user of strict rooms.
///
/// Several threads may share it, but then they get in each other's way: a request that is not valid
/// in the user's state is refused. A user that is dropped inside exits. Do not enter as one user on
/// a thread that is inside as another: the thread would wait for itself. Users are not tied to
/// threads, so this cannot be detected.
pub struct User<'a, X: LastExit<usize> = Nothing> {
    rooms: &'a StrictRooms<X>,
    number: usize,
}

impl<X: LastExit<usize>> User<'_, X> {
    /// Waits until the user is inside `room`.
    ///
    /// # Errors
    /// Returns an error if the user is not outside, or if there is no such room.
    pub fn enter(&self, room: usize) -> Result<(), StrictError> {
        let entered = now(self.rooms.text.enter(&someone(self.rooms.policy), self.number, room));
        self.rooms.done(entered)
    }

    /// Exits. Returns whether the user was the last one to leave its room.
    ///
    /// # Errors
    /// Returns an error if the user is not inside.
    pub fn exit(&self) -> Result<bool, StrictError> {
        let exited = now(self.rooms.text.exit(&someone(self.rooms.policy), self.number));
        self.rooms.done(exited)
    }

    /// Exits, and waits until the user is inside another room, or the same one again. If that room
    /// is the next to be opened, the user is let in.
    ///
    /// # Errors
    /// Returns an error if the user is not inside, or if there is no such room. In the second case,
    /// it has left its old room.
    pub fn change(&self, to: usize) -> Result<(), StrictError> {
        let changed = now(self.rooms.text.change(&someone(self.rooms.policy), self.number, to));
        self.rooms.done(changed)
    }
}

impl<X: LastExit<usize>> Drop for User<'_, X> {
    fn drop(&mut self) {
        let number = Number(self);
        let _ = self.exit(); // the user may be outside
        drop(number);
    }
}

/// Gives the number back, even if the code of the last exit panics.
struct Number<'a, 'r, X: LastExit<usize>>(&'a User<'r, X>);

impl<X: LastExit<usize>> Drop for Number<'_, '_, X> {
    fn drop(&mut self) {
        self.0.rooms.free().push(self.0.number);
    }
}

impl<X: LastExit<usize>> fmt::Debug for User<'_, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User").field("number", &self.number).finish_non_exhaustive()
    }
}
