//! Names of rooms.

use std::fmt;

/// A name of a room: a number, or a variant of an enum made by
/// [`named_rooms!`](crate::named_rooms).
pub trait Room: Copy + fmt::Debug + Send + Sync + 'static {
    /// The number of this room.
    fn index(self) -> usize;
    /// The room with this number.
    fn from_index(index: usize) -> Option<Self>;
}

impl Room for usize {
    #[inline(always)]
    fn index(self) -> usize {
        self
    }
    #[inline(always)]
    fn from_index(index: usize) -> Option<Self> {
        Some(index)
    }
}

/// Rooms that have names, so that their number is known.
pub trait Named: Room {
    /// All rooms. The room with number `i` is at index `i`.
    const ALL: &'static [Self];
}

/// Defines an enum whose variants are rooms.
///
/// # Examples
/// ```
/// doorway::named_rooms! {
///     /// Phases of a hash table.
///     enum Phase { Insert, Delete, Find }
/// }
///
/// let phases = doorway::Rooms::<Phase>::named();
/// let inside = phases.enter(Phase::Find)?;
/// assert_eq!(inside.room(), Phase::Find);
/// # let _ = Phase::Insert; let _ = Phase::Delete;
/// # Ok::<(), doorway::rooms::EnterError>(())
/// ```
#[macro_export]
macro_rules! named_rooms {
    ($(#[$attribute:meta])* $vis:vis enum $name:ident { $($(#[$of_room:meta])* $room:ident),+ $(,)? }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        $vis enum $name { $($(#[$of_room])* $room),+ }

        impl $crate::rooms::Room for $name {
            #[inline(always)]
            fn index(self) -> usize {
                self as usize
            }
            #[inline(always)]
            fn from_index(index: usize) -> Option<Self> {
                <Self as $crate::rooms::Named>::ALL.get(index).copied()
            }
        }

        impl $crate::rooms::Named for $name {
            const ALL: &'static [Self] = &[$(Self::$room),+];
        }
    };
}
