//! Guards: what a user holds inside.

use super::held::Left;
use super::{ByAnyone, ByThread, EnterError, HeldBy, LastExit, Nothing, Room, Rooms};
use crate::native::WaysIn;
use doorway_core::rooms::blelloch_cheng_gibbons_01::Inside;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A thread's visit to a room. It cannot move to another thread, so the rooms know which threads
/// are inside, and refuse a thread that would wait for itself.
///
/// # Examples
/// A guard cannot move to another thread:
///
/// ```compile_fail,E0277
/// let rooms = doorway::Rooms::new(2).unwrap();
/// let inside = rooms.enter(0).unwrap();
/// std::thread::scope(|s| { s.spawn(move || drop(inside)); });
/// ```
pub type RoomGuard<'a, R = usize, X = Nothing> = Visit<&'a Rooms<R, X>, R, X, ByThread>;
/// A task's visit to a room. It can move to any thread.
pub type TaskRoomGuard<'a, R = usize, X = Nothing> = Visit<&'a Rooms<R, X>, R, X, ByAnyone>;
/// A visit to a room of shared [`Rooms`]. A task's visit can move anywhere. A thread's visit cannot
/// move to another thread until [`by_anyone`](Visit::by_anyone) frees it; so the rooms refuse a
/// thread that would wait for itself.
///
/// # Examples
/// A thread's guard cannot move to another thread:
///
/// ```compile_fail,E0277
/// let rooms = std::sync::Arc::new(doorway::Rooms::new(2).unwrap());
/// let inside = rooms.enter_owned(0).unwrap();
/// std::thread::spawn(move || drop(inside));
/// ```
pub type OwnedRoomGuard<R = usize, X = Nothing, W = ByAnyone> = Visit<Arc<Rooms<R, X>>, R, X, W>;

/// A user's visit to a room. The user leaves when this is dropped, even while a panic unwinds.
///
/// If this is forgotten (`mem::forget`), the user stays inside for ever, and no user gets into
/// another room any more.
#[must_use = "the room is left as soon as this is dropped"]
pub struct Visit<S: Deref<Target = Rooms<R, X>>, R: Room, X: LastExit<R>, W: HeldBy> {
    rooms: S,
    inside: Option<Inside>,
    room: R,
    who: W,
}

impl<S: Deref<Target = Rooms<R, X>>, R: Room, X: LastExit<R>, W: HeldBy> Visit<S, R, X, W> {
    #[inline(always)]
    pub(super) fn new(rooms: S, inside: Inside, room: R) -> Self {
        let who = W::enters(rooms.id.number());
        Self { rooms, inside: Some(inside), room, who }
    }

    /// The room.
    #[must_use]
    pub fn room(&self) -> R {
        self.room
    }

    /// Leaves, and waits until the user is inside another room of the same object, or the same one
    /// again.
    ///
    /// If that room is the next to be opened, the user is let in. A user that leaves and then
    /// enters might come too late.
    ///
    /// # Errors
    /// Returns an error if there is no such room, or if too many users gave up waiting for it. The
    /// user has left its old room all the same.
    ///
    /// # Examples
    /// ```
    /// let rooms = doorway::Rooms::new(3)?;
    /// let inside = rooms.enter(0)?.change(2)?;
    /// assert_eq!(inside.room(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn change(mut self, to: R) -> Result<Self, EnterError> {
        // `inside` is put back only once the user is in again: a user that panics or is refused has
        // left.
        let Some(inside) = self.inside.take() else { unreachable!("only `drop` and those that consume it take it") };
        self.inside = Some(self.rooms.change_room(inside, to)?);
        self.room = to;
        Ok(self)
    }
}

impl<S: Deref<Target = Rooms<R, X>> + Clone, R: Room, X: LastExit<R>> Visit<S, R, X, ByThread> {
    /// Turns this into a visit that any thread may end.
    ///
    /// From then on, the rooms do not know which thread has it. A thread that keeps it and enters
    /// the same rooms waits for itself.
    ///
    /// # Examples
    /// ```
    /// use doorway::rooms::EnterError;
    /// use std::{sync::Arc, thread};
    /// let rooms = Arc::new(doorway::Rooms::new(2)?);
    /// let inside = rooms.enter_owned(0)?;
    /// assert_eq!(rooms.enter(1).unwrap_err(), EnterError::InsideAlready { call: "enter" });
    /// let inside = inside.by_anyone();
    /// let other = thread::spawn(move || drop(inside));
    /// drop(rooms.enter(1)?); // waits for the other thread
    /// # other.join().unwrap();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn by_anyone(mut self) -> Visit<S, R, X, ByAnyone> {
        let Some(inside) = self.inside.take() else { unreachable!("only `drop` and those that consume it take it") };
        Visit::new(self.rooms.clone(), inside, self.room)
    }
}

impl<S: Deref<Target = Rooms<R, X>>, R: Room, X: LastExit<R>> Visit<S, R, X, ByAnyone> {
    /// [`change`](Self::change) for tasks.
    ///
    /// # Cancel safety
    /// Dropping the future gives up: the user leaves the room that it is in, or the line in which
    /// it waits.
    ///
    /// # Errors
    /// Returns an error if there is no such room, or if too many users gave up waiting for it. The
    /// user has left its old room all the same.
    pub async fn change_async(mut self, to: R) -> Result<Self, EnterError> {
        let Some(inside) = self.inside.take() else { unreachable!("only `drop` and those that consume it take it") };
        self.inside = Some(self.rooms.change_room_async(inside, to).await?);
        self.room = to;
        Ok(self)
    }
}

impl<S: Deref<Target = Rooms<R, X>>, R: Room, X: LastExit<R>, W: HeldBy> Drop for Visit<S, R, X, W> {
    #[inline(always)]
    fn drop(&mut self) {
        let left = Left(&self.who, &self.rooms.id);
        if let Some(inside) = self.inside.take() {
            self.rooms.leave(inside);
        }
        drop(left);
    }
}

impl<S: Deref<Target = Rooms<R, X>>, R: Room, X: LastExit<R>, W: HeldBy> fmt::Debug for Visit<S, R, X, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Visit").field("room", &self.room).finish_non_exhaustive()
    }
}
