//! Why a user is not let in, and what cannot be built.

use doorway_core::rooms::Refusal;
use doorway_core::rooms::blelloch_cheng_gibbons_01::Misuse;
use std::fmt;

/// Why an object was not built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RoomsBuildError {
    /// No rooms were asked for.
    NoRoom,
    /// More rooms were asked for than there can be.
    TooManyRooms {
        /// The number of rooms that was asked for.
        asked: usize,
        /// The largest possible number of rooms.
        most: usize,
    },
    /// The capacity is 0, so nothing would ever fit.
    NoCapacity,
    /// There is not enough memory for this capacity.
    TooLarge {
        /// The capacity that was asked for.
        asked: usize,
    },
    /// The number of users is 0, so no thread could use it.
    NoUser,
}

impl fmt::Display for RoomsBuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRoom => f.write_str("0 rooms would let no caller in; ask for at least one room"),
            Self::TooManyRooms { asked, most } => {
                write!(f, "{asked} rooms are too many; ask for at most {most}")
            }
            Self::NoCapacity => f.write_str("the capacity is 0, so nothing would ever fit; use at least 1"),
            Self::TooLarge { asked } => write!(f, "there is no memory for {asked} values; use a smaller capacity"),
            Self::NoUser => f.write_str("with 0 users no thread could enter; ask for at least one user"),
        }
    }
}
impl std::error::Error for RoomsBuildError {}

/// Why a user is not let into a room. Nothing has changed, except that a user that wanted to change
/// rooms has left its old one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum EnterError {
    /// There is no such room.
    NoSuchRoom {
        /// The room that was asked for.
        room: usize,
        /// The number of rooms.
        rooms: usize,
    },
    /// Since this room was last opened, 2^30 users gave up waiting for it. If more did, tickets
    /// could run out.
    TooManyGaveUp {
        /// The room.
        room: usize,
    },
    /// This thread is already inside one of these rooms, and would wait for itself.
    InsideAlready {
        /// The method that the thread called.
        call: &'static str,
    },
}

impl From<Refusal> for EnterError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NoSuchRoom { room, rooms } => Self::NoSuchRoom { room, rooms },
            Refusal::TooManyGaveUp { room } => Self::TooManyGaveUp { room },
        }
    }
}

impl fmt::Display for EnterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoSuchRoom { room, rooms } => Refusal::NoSuchRoom { room, rooms }.fmt(f),
            Self::TooManyGaveUp { room } => Refusal::TooManyGaveUp { room }.fmt(f),
            Self::InsideAlready { call } => write!(
                f,
                "this thread is already inside one of these rooms, so `{call}` cannot let it in; drop that guard first, or `change` rooms"
            ),
        }
    }
}
impl std::error::Error for EnterError {}

/// Why an attempt without waiting failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TryEnterError {
    /// Some room is open or about to open. It may be the room that was asked for.
    Busy,
    /// The request itself was refused.
    Refused(EnterError),
}

/// Why waiting with a time limit failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum EnterTimeoutError {
    /// The time ran out.
    TimedOut,
    /// The request itself was refused.
    Refused(EnterError),
}

macro_rules! error {
    ($($name:ident: $variant:ident, $text:literal;)*) => {
        $(
            impl From<EnterError> for $name {
                fn from(refused: EnterError) -> Self {
                    Self::Refused(refused)
                }
            }

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    match self {
                        Self::$variant => f.write_str($text),
                        Self::Refused(refused) => refused.fmt(f),
                    }
                }
            }
            impl std::error::Error for $name {}
        )*
    };
}

error! {
    TryEnterError: Busy, "a room is open now; try again later, or wait";
    EnterTimeoutError: TimedOut, "the room was not opened in time; wait longer, or try again";
}

/// Why a request to strict rooms was refused. Nothing has changed, unless the variant says so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StrictError {
    /// The user is outside all rooms, and cannot leave one.
    Outside,
    /// The user is inside a room, and can only leave it, or change.
    Inside,
    /// The user is entering or leaving: another thread uses the same handle.
    Busy,
    /// There is no such room. A user that wanted to change rooms has left its old one.
    NoSuchRoom {
        /// The room that was asked for.
        room: usize,
        /// The number of rooms.
        rooms: usize,
    },
    /// All users have joined already.
    NoMoreUsers {
        /// The largest number of users.
        most: usize,
    },
}

impl From<Misuse> for StrictError {
    fn from(misuse: Misuse) -> Self {
        use doorway_core::rooms::blelloch_cheng_gibbons_01::Status;
        match misuse {
            Misuse::Is(Status::Outside) => Self::Outside,
            Misuse::Is(Status::Inside) => Self::Inside,
            Misuse::Is(Status::Enters | Status::Exits) => Self::Busy,
            Misuse::NoSuchUser { users, .. } => Self::NoMoreUsers { most: users },
            Misuse::Refused(Refusal::NoSuchRoom { room, rooms }) => Self::NoSuchRoom { room, rooms },
            Misuse::Refused(Refusal::TooManyGaveUp { .. }) => unreachable!("users never give up in strict rooms"),
        }
    }
}

impl fmt::Display for StrictError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Outside => f.write_str("the user is outside all rooms; enter one first"),
            Self::Inside => f.write_str("the user is inside a room; exit first, or change rooms"),
            Self::Busy => f.write_str("the user is entering or leaving; wait until that is done"),
            Self::NoSuchRoom { room, rooms } => Refusal::NoSuchRoom { room, rooms }.fmt(f),
            Self::NoMoreUsers { most: 1 } => {
                f.write_str("the only user has joined already; drop it, or build for more users")
            }
            Self::NoMoreUsers { most } => {
                write!(f, "all {most} users have joined already; drop one, or build for more")
            }
        }
    }
}
impl std::error::Error for StrictError {}

/// A value that did not fit, or that came after a queue or stack was closed. It is handed back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Full<T>(pub T);

impl<T> fmt::Debug for Full<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Full(..)")
    }
}

impl<T> fmt::Display for Full<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("full or closed; check `is_closed` before you try again, and build it larger if it is too small")
    }
}
impl<T> std::error::Error for Full<T> {}
