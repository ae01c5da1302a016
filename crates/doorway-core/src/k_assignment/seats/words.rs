//! The words that processes meet at: a slot, and what the owner of a seat wants.

use crate::memory::Word;
use core::fmt;

/// How many seats there can be: so many that the number of one fits a slot.
pub const MOST_SEATS: usize = 1 << OWNER;
/// How many slots there can be: so many that the number of one fits an offer.
pub const MOST_SLOTS: usize = 1 << SLOT;
/// The last fence of a slot. A slot that has come so far is never taken again.
pub const LAST_FENCE: u64 = (1 << (64 - SEQ)) - 1;

const OWNER: u32 = 12;
const SLOT: u32 = 11;
/// Where the fence begins, in both words.
const SEQ: u32 = 14;

/// A slot: whether it is held, by which seat, its fence, and whether an owner died that nobody was told of.
///
/// | bits | |
/// |---|---|
/// | 0 | held |
/// | 1 | died |
/// | 2 to 13 | the seat of its owner; 0 while it is free |
/// | 14 to 63 | the fence: larger by one for each owner |
///
/// ```
/// use doorway_core::k_assignment::seats::Slot;
/// let free = Slot::FRESH;
/// let held = free.taken_by(3).unwrap();
/// assert_eq!((held.owner(), held.fence(), held.died()), (Some(3), 1, false));
/// assert_eq!(held.freed(false).owner(), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Slot(u64);

impl Slot {
    /// One that was never taken.
    pub const FRESH: Self = Self(0);

    const fn new(owner: Option<usize>, fence: u64, died: bool) -> Self {
        let (held, owner) = match owner {
            Some(owner) => (1, owner as u64),
            None => (0, 0),
        };
        Self(held | (died as u64) << 1 | owner << 2 | fence << SEQ)
    }

    /// Held by this seat.
    #[must_use]
    #[inline(always)]
    pub const fn held(owner: usize, fence: u64, died: bool) -> Self {
        Self::new(Some(owner), fence, died)
    }

    /// The seat that holds it; `None` while it is free.
    #[must_use]
    #[inline(always)]
    pub const fn owner(self) -> Option<usize> {
        if self.0 & 1 == 1 { Some((self.0 >> 2) as usize & (MOST_SEATS - 1)) } else { None }
    }

    /// The fence of its owner, or of the last one.
    #[must_use]
    #[inline(always)]
    pub const fn fence(self) -> u64 {
        self.0 >> SEQ
    }

    /// Whether an owner died that no owner since was told of.
    #[must_use]
    #[inline(always)]
    pub const fn died(self) -> bool {
        self.0 >> 1 & 1 == 1
    }

    /// Whether it is held in this epoch, by any seat.
    #[must_use]
    #[inline(always)]
    pub const fn is_held_at(self, fence: u64) -> bool {
        self.0 & 1 == 1 && self.fence() == fence
    }

    /// With the next owner; `None` if there are no more fences. It says `died` as it did.
    #[must_use]
    #[inline(always)]
    pub const fn taken_by(self, seat: usize) -> Option<Self> {
        self.given_to(seat, self.died())
    }

    /// With the next owner, and with this to say; `None` if there are no more fences.
    #[must_use]
    #[inline(always)]
    pub const fn given_to(self, seat: usize, died: bool) -> Option<Self> {
        if self.fence() >= LAST_FENCE { None } else { Some(Self::held(seat, self.fence() + 1, died)) }
    }

    /// Free, and with this to say.
    #[must_use]
    #[inline(always)]
    pub const fn freed(self, died: bool) -> Self {
        Self::new(None, self.fence(), died)
    }
}

impl Word for Slot {
    const WHOLE: bool = true;
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

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let died = if self.died() { ",died" } else { "" };
        match self.owner() {
            Some(owner) => write!(f, "H({owner},{}{died})", self.fence()),
            None => write!(f, "F({}{died})", self.fence()),
        }
    }
}

/// What the owner of a seat wants, or is offered.
///
/// | bits | |
/// |---|---|
/// | 0 and 1 | 0 nothing, 1 it waits, 2 it is offered a slot; 3 is no value |
/// | 2 to 63 | of one that waits: its ticket |
/// | 2 | of an offer: whether an owner died |
/// | 3 to 13 | of an offer: the slot |
/// | 14 to 63 | of an offer: the fence of the slot's owner, who offers it |
///
/// What kind it is stands in the lower half, at which sleepers look.
///
/// ```
/// use doorway_core::k_assignment::seats::Want;
/// use doorway_core::memory::Word;
/// let offer = Want::Offered { slot: 2, fence: 7, died: true };
/// assert_eq!(Want::unpack(offer.pack()), offer);
/// assert_eq!(Want::unpack(3), Want::Damaged(3));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Want {
    /// Nothing.
    Nothing,
    /// It waits with this ticket.
    Waits(u64),
    /// It is offered a slot in the epoch of this fence, which is that of the process that offers it.
    Offered {
        /// Which slot.
        slot: usize,
        /// Its fence.
        fence: u64,
        /// Whether an owner died that no owner since was told of.
        died: bool,
    },
    /// What no process writes.
    Damaged(u64),
}

impl Want {
    /// The last ticket that fits.
    pub const LAST_TICKET: u64 = (1 << 62) - 1;
}

impl Word for Want {
    const WHOLE: bool = true;

    #[inline(always)]
    fn pack(self) -> u64 {
        match self {
            Self::Nothing => 0,
            Self::Waits(ticket) => ticket << 2 | 1,
            Self::Offered { slot, fence, died } => fence << SEQ | (slot as u64) << 3 | u64::from(died) << 2 | 2,
            Self::Damaged(word) => word,
        }
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        match word & 3 {
            0 if word == 0 => Self::Nothing,
            1 => Self::Waits(word >> 2),
            2 => Self::Offered {
                slot: (word >> 3) as usize & (MOST_SLOTS - 1),
                fence: word >> SEQ,
                died: word >> 2 & 1 == 1,
            },
            _ => Self::Damaged(word),
        }
    }
}

impl fmt::Debug for Want {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("0"),
            Self::Waits(ticket) => write!(f, "W({ticket})"),
            Self::Offered { slot, fence, died: false } => write!(f, "G({slot},{fence})"),
            Self::Offered { slot, fence, died: true } => write!(f, "G({slot},{fence},died)"),
            Self::Damaged(word) => write!(f, "?({word:#x})"),
        }
    }
}
