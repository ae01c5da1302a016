//! The contents of the variables of rooms.

use crate::memory::{Additive, Anybody, Field, Nobody, Word, fit};
use core::fmt;

/// A counter that processes read but never wait for: `wait[i]` and `done[i]`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Count(pub u64);

impl Word for Count {
    // Waiters watch `grant` and `activeRoom`, not this. But a counter may be narrow, and a variable
    // that is not whole has a bell.
    type Waiters = Anybody;
    const AWAITED: bool = false;

    #[inline(always)]
    fn pack(self) -> u64 {
        self.0
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self(word)
    }
}
impl Additive for Count {}

impl fmt::Debug for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

const HALF: u32 = 32;

/// `grant[i]`: the last ticket up to which users were let in, and the number of tickets after it
/// that were given up.
///
/// Neither field overflows into the other. `ticket` is only ever replaced, by a number of at most
/// [32 bits](Width). `ghosts` is added to and subtracted from at the upper end of the word.
///
/// ```
/// use doorway_core::memory::Word;
/// use doorway_core::rooms::blelloch_cheng_gibbons_01::Grant;
/// let grant = Grant { ticket: 7, ghosts: 2 };
/// assert_eq!(Grant::unpack(grant.pack()), grant);
/// assert_eq!(Grant::unpack(grant.pack().wrapping_add(Grant::GIVEN_UP.pack())).ghosts, 3);
/// assert_eq!(Grant::unpack(grant.pack().wrapping_add(Grant::UNDONE.pack())).ghosts, 1);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Grant {
    /// The last ticket that was let in.
    pub ticket: u64,
    /// The number of tickets after it with which no user waits any more.
    pub ghosts: u64,
}

impl Grant {
    /// Added by a user that gives up.
    pub const GIVEN_UP: Self = Self { ticket: 0, ghosts: 1 };
    /// Added by a user that gave up too late.
    pub const UNDONE: Self = Self { ticket: 0, ghosts: u64::MAX };
}

impl Word for Grant {
    type Waiters = Anybody;
    const WHOLE: bool = true;
    const FIELDS: &'static [Field] = &[Field::new("ticket", 0, HALF), Field::new("ghosts", HALF, HALF)];

    // The ghosts are in the upper half, so that subtracting one borrows from no other field.
    #[inline(always)]
    fn pack(self) -> u64 {
        self.ticket | self.ghosts << HALF
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self { ticket: word & (u64::MAX >> HALF), ghosts: word >> HALF }
    }
}
impl Additive for Grant {}

impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ghosts {
            0 => write!(f, "{}", self.ticket),
            ghosts => write!(f, "{}+{ghosts} gone", self.ticket),
        }
    }
}

/// `activeRoom`: the only room that may be open, or none.
///
/// ```
/// use doorway_core::memory::Word;
/// use doorway_core::rooms::blelloch_cheng_gibbons_01::Active;
/// assert_eq!(Active::unpack(Active::room(3).pack()), Active::room(3));
/// assert_eq!(format!("{:?} {:?}", Active::NONE, Active::room(0)), "-1 0");
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Active(Option<usize>);

impl Active {
    /// No room is open, and none is about to be.
    pub const NONE: Self = Self(None);

    /// This room is open, or is about to be.
    #[must_use]
    #[inline(always)]
    pub const fn room(room: usize) -> Self {
        Self(Some(room))
    }

    /// The room, if there is one.
    #[must_use]
    #[inline(always)]
    pub const fn is_room(self) -> Option<usize> {
        self.0
    }
}

impl Word for Active {
    type Waiters = Anybody;
    const WHOLE: bool = true;

    #[inline(always)]
    fn pack(self) -> u64 {
        self.0.map_or(0, |room| room as u64 + 1)
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self(word.checked_sub(1).map(|room| room as usize))
    }
}

impl fmt::Debug for Active {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("-1"),
            Some(room) => write!(f, "{room}"),
        }
    }
}

/// How far counters count before they wrap, and how many users may give up.
///
/// Counters are compared by their difference, as a signed number of `bits` bits. That is correct
/// while no two counters that are compared differ by `2^(bits-1)` or more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Width {
    /// Counters are modulo `2^bits`.
    pub bits: u32,
    /// The number of users that may give up waiting for a room between two openings of it. Beyond
    /// it, users are turned away.
    pub ghosts: u64,
}

impl Width {
    /// The largest width that fits a machine word, for up to `2^30` users.
    pub const MACHINE: Self = Self { bits: HALF, ghosts: 1 << 30 };

    /// Just wide enough for `n` users, of which `ghosts` may give up.
    ///
    /// After `ghosts` users have given up, each user that is not turned away adds at most one
    /// ticket, and one more may open the room itself. A room therefore never has more than
    /// `n + ghosts` tickets that were not let in.
    ///
    /// ```
    /// use doorway_core::rooms::blelloch_cheng_gibbons_01::Width;
    /// assert_eq!([1, 2, 3, 4, 7].map(|n| Width::for_users(n, 0).bits), [2, 3, 3, 4, 4]);
    /// assert_eq!(Width::for_users(2, 2).bits, 4);
    /// ```
    #[must_use]
    pub const fn for_users(n: usize, ghosts: u64) -> Self {
        let apart = (n as u64).saturating_add(ghosts);
        let mut bits = 2;
        while bits < HALF && apart > (1 << (bits - 1)) - 1 {
            bits += 1;
        }
        Self { bits, ghosts: if ghosts == 0 { 1 } else { ghosts } }
    }

    /// `count + more`.
    #[must_use]
    #[inline(always)]
    pub const fn add(self, count: u64, more: u64) -> u64 {
        fit::<u64>(count.wrapping_add(more), self.bits)
    }

    /// How far `a` is after `b`; negative if it is before `b`.
    #[must_use]
    #[inline(always)]
    pub const fn after(self, a: u64, b: u64) -> i64 {
        fit::<i64>(a.wrapping_sub(b), self.bits) as i64
    }
}

/// The type of the counters of structures.
pub trait Number: Additive {
    /// The number with this value.
    fn of(value: u64) -> Self;
    /// Its value.
    fn value(self) -> u64;
}

impl Number for Count {
    #[inline(always)]
    fn of(value: u64) -> Self {
        Self(value)
    }
    #[inline(always)]
    fn value(self) -> u64 {
        self.0
    }
}

/// A counter of all 64 bits for which no process waits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Whole(pub u64);

impl Word for Whole {
    type Waiters = Nobody;
    const WHOLE: bool = true;

    #[inline(always)]
    fn pack(self) -> u64 {
        self.0
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self(word)
    }
}
impl Additive for Whole {}

impl Number for Whole {
    #[inline(always)]
    fn of(value: u64) -> Self {
        Self(value)
    }
    #[inline(always)]
    fn value(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// The number of elements of a stack; for a moment it may be larger or smaller. It has all 64 bits,
/// and no process waits for it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Top(pub i64);

impl Word for Top {
    type Waiters = Nobody;
    const SIGNED: bool = true;
    const WHOLE: bool = true;

    #[inline(always)]
    fn pack(self) -> u64 {
        self.0 as u64
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self(word as i64)
    }
}
impl Additive for Top {}

impl fmt::Debug for Top {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}
