//! What rooms are called by.

use std::fmt;

/// What rooms are called by: numbers, or an enum made by [`named_rooms!`](crate::named_rooms).
pub trait Room: Copy + fmt::Debug + Send + Sync + 'static {
    /// Its number.
    fn index(self) -> usize;
    /// The one with this number.
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

/// Rooms that have names, so that it is known how many there are.
pub trait Named: Room {
    /// All of them: the one with number `i` at place `i`.
    const ALL: &'static [Self];
}

/// An enum whose variants are rooms.
///
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
