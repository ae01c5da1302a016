//! [`LateRooms`]: rooms that can be joined while they are open.

use super::bookkeeping::Id;
use super::held::Left;
use super::last_exit::Hook;
use super::{ByThread, EnterError, Enters, LastExit, Named, Nothing, PATIENT, Room, RoomsBuildError, check_rooms};
use crate::native::{Native, now, refused, someone, sure};

use crate::waiting::Policy;
use doorway_core::memory::Site;
use doorway_core::rooms::RoomSynchronization;
use doorway_core::rooms::blelloch_cheng_gibbons_01::{LateJoin, Turn, Width};
use std::fmt;

type Text<R, X> = LateJoin<Native, Hook<R, X>>;
type Inside<R, X> = <Text<R, X> as RoomSynchronization<Native>>::Inside;

/// [`Rooms`](super::Rooms) whose open room may be joined, a bounded number of times in each turn.
///
/// A user that asks for the room that is open may join the users inside. This is for long turns,
/// and for users that should not wait for the next turn only because they came a moment late.
///
/// A turn is up to `joins + 1` times as long, and so are the waits for other rooms. No user is kept
/// out for ever, because joins are counted.
///
/// # What it lacks
/// Users cannot give up, so there are neither timeouts nor futures. For giving up, one word would
/// have to hold four numbers: how many tickets of a room were given up, how many users were let in,
/// how often the room was joined, and how many users have left. A machine word is too short for
/// that: with 21 bits for tickets, a thread that is stopped for seconds could find its own ticket
/// number again on another user's ticket.
///
/// # Examples
/// ```
/// use doorway::rooms::LateRooms;
/// let rooms = LateRooms::new(2, 8)?; // up to eight times in a turn
/// std::thread::scope(|s| {
///     let inside = rooms.enter(0).unwrap();
///     let joins = s.spawn(|| drop(rooms.enter(0).unwrap()));
///     joins.join().unwrap(); // it did not have to wait until the first one had left
///     drop(inside);
/// });
/// # Ok::<(), doorway::rooms::RoomsBuildError>(())
/// ```
pub struct LateRooms<R: Room = usize, X = Nothing> {
    text: Text<R, X>,
    id: Id,
    policy: Policy,
}

impl LateRooms {
    /// The largest number of joins in a turn.
    pub const MOST_JOINS: u64 = Turn::MOST_JOINS;

    /// Makes this many rooms, each of which can be joined `joins` times in a turn, up to
    /// [`MOST_JOINS`](Self::MOST_JOINS).
    ///
    /// # Errors
    /// Returns an error if there are no rooms, or too many.
    pub fn new(rooms: usize, joins: u64) -> Result<Self, RoomsBuildError> {
        check_rooms(rooms)?;
        Ok(Self::build(rooms, joins, Nothing))
    }

    /// The same, with code for the last user to leave; see
    /// [`Rooms::on_last_exit`](super::Rooms::on_last_exit).
    ///
    /// # Errors
    /// Returns an error if there are no rooms, or too many.
    pub fn with_last_exit<F: Fn(usize) + Send + Sync>(
        rooms: usize,
        joins: u64,
        code: F,
    ) -> Result<LateRooms<usize, F>, RoomsBuildError> {
        check_rooms(rooms)?;
        Ok(LateRooms::build(rooms, joins, code))
    }
}

impl<R: Named> LateRooms<R> {
    /// Makes one room for each name.
    #[must_use]
    pub fn named(joins: u64) -> Self {
        Self::build(R::ALL.len(), joins, Nothing)
    }
}

impl<R: Room, X> LateRooms<R, X> {
    fn build(rooms: usize, joins: u64, code: X) -> Self {
        let widest = Width { bits: 64, ghosts: 0 };
        let text = LateJoin::with(&Site::new(&Native::new()), rooms, widest, joins, Hook::new(code));
        Self { text, id: Id::new(), policy: PATIENT }
    }

    /// Sets how threads wait.
    #[must_use]
    pub fn with_policy(self, policy: Policy) -> Self {
        Self { policy, ..self }
    }
}

impl<R: Room, X: LastExit<R>> LateRooms<R, X> {
    /// Waits until the user is inside `room`.
    ///
    /// # Errors
    /// Returns an error if there is no such room, or if this thread is already inside.
    ///
    /// # Examples
    /// ```
    /// use doorway::rooms::{EnterError, LateRooms};
    /// let rooms = LateRooms::new(2, 8)?;
    /// let inside = rooms.enter(0)?;
    /// // Even where it might join itself: whether it can depends on the other users.
    /// assert_eq!(rooms.enter(0).unwrap_err(), EnterError::InsideAlready { call: "enter" });
    /// # drop(inside);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn enter(&self, room: R) -> Result<LateGuard<'_, R, X>, EnterError> {
        if room.index() < self.text.rooms() && self.id.is_held() {
            return Err(EnterError::InsideAlready { call: "enter" });
        }
        let inside = now(self.text.enter(&someone(self.policy), room.index())).map_err(refused)?;
        let who = ByThread::enters(self.id.number());
        Ok(LateGuard { rooms: self, inside: Some(inside), room, who })
    }

    /// See [`Rooms::is_poisoned`](super::Rooms::is_poisoned).
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.text.last_out().is_poisoned()
    }
}

impl<R: Room, X> fmt::Debug for LateRooms<R, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LateRooms").field("text", &self.text).finish_non_exhaustive()
    }
}

/// A user's visit to a room that others may join. The user leaves when this is dropped, even while
/// a panic unwinds.
#[must_use = "the room is left as soon as this is dropped"]
pub struct LateGuard<'a, R: Room, X: LastExit<R>> {
    rooms: &'a LateRooms<R, X>,
    inside: Option<Inside<R, X>>,
    room: R,
    who: ByThread,
}

impl<R: Room, X: LastExit<R>> LateGuard<'_, R, X> {
    /// The room.
    #[must_use]
    pub fn room(&self) -> R {
        self.room
    }
}

impl<R: Room, X: LastExit<R>> Drop for LateGuard<'_, R, X> {
    fn drop(&mut self) {
        let left = Left(&self.who, &self.rooms.id);
        let hook = self.rooms.text.last_out();
        if std::thread::panicking() {
            hook.poison(true);
        }
        if let Some(inside) = self.inside.take()
            && sure(now(self.rooms.text.exit(&someone(self.rooms.policy), inside)))
        {
            hook.resume();
        }
        drop(left);
    }
}

impl<R: Room, X: LastExit<R>> fmt::Debug for LateGuard<'_, R, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LateGuard").field("room", &self.room).finish_non_exhaustive()
    }
}
