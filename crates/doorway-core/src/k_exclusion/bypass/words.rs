//! The word that the tray is made of.

use crate::memory::{Additive, Field, Nobody, Word};
use core::fmt;

/// The number of bits of each count of places: enough for all places there can be.
const COUNT: u32 = 16;

/// Places that were left, and the number of newcomers that took one since the line last moved.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// Places that are in the tray.
    pub loose: u64,
    /// Places on their way from the tray to the turnstile.
    pub moving: u64,
    /// The number of newcomers that took a place since one was last moved to the turnstile.
    pub passed: u64,
}

impl Word for Left {
    type Waiters = Nobody;
    const WHOLE: bool = true;
    const FIELDS: &'static [Field] = &[
        Field::new("passed", 2 * COUNT, 64 - 2 * COUNT),
        Field::new("moving", COUNT, COUNT),
        Field::new("loose", 0, COUNT),
    ];

    #[inline(always)]
    fn pack(self) -> u64 {
        (self.passed << (2 * COUNT)).wrapping_add(self.moving << COUNT).wrapping_add(self.loose)
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        let count = (1 << COUNT) - 1;
        Self { loose: word & count, moving: word >> COUNT & count, passed: word >> (2 * COUNT) }
    }
}
impl Additive for Left {}

impl fmt::Debug for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}/{}", self.loose, self.moving, self.passed)
    }
}

impl Left {
    pub(super) const NOTHING: Self = Self { loose: 0, moving: 0, passed: 0 };
    /// What a process adds when it leaves a place.
    pub(super) const ONE: Self = Self { loose: 1, ..Self::NOTHING };
    /// What a process adds when a place has arrived at the turnstile.
    pub(super) const ARRIVED: Self = Self { moving: 1u64.wrapping_neg(), ..Self::NOTHING };

    /// A newcomer takes a place, if there is one and it may pass the waiters in line.
    #[inline(always)]
    pub(super) fn taken(self, most: u64) -> Option<Self> {
        let may = self.loose > 0 && self.moving == 0 && self.passed < most;
        may.then(|| Self { loose: self.loose - 1, passed: self.passed + 1, ..self })
    }

    /// Sets one place aside for the line. From here on, newcomers are counted against the next in
    /// line.
    pub(super) fn moved(self) -> Option<Self> {
        let loose = self.loose.checked_sub(1)?;
        Some(Self { loose, moving: self.moving + 1, passed: 0 })
    }
}
