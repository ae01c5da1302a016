//! The words that processes meet at: a slot, and what the owner of a seat wants.

use crate::memory::{Anybody, Nobody, Word};
use core::fmt;

/// The largest number of seats: the number of a seat must fit a slot.
pub const MOST_SEATS: usize = 1 << OWNER;
/// The largest number of slots: the number of a slot must fit an offer.
pub const MOST_SLOTS: usize = 1 << SLOT;
/// The last fence of a slot. A slot that has reached it is never taken again.
pub const LAST_FENCE: u64 = (1 << (64 - SEQ)) - 1;

const OWNER: u32 = 12;
const SLOT: u32 = 11;
/// Where the fence begins, in both words.
const SEQ: u32 = 15;
/// The bits of a slot that say whether it is held, and by which seat.
const OWNED: u64 = 1 | ((1 << OWNER) - 1) << 3;

/// What became of the last owner of a slot, for the next one: two bits.
///
/// ```
/// use doorway_core::k_assignment::seats::News;
/// assert_eq!(News::of(News::Broken.bits()), News::Broken);
/// assert_eq!(News::of(0), News::None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum News {
    /// The owner left, or there was none.
    #[default]
    None,
    /// The owner died.
    Died,
    /// The slot was taken away from its owner.
    Broken,
}

impl News {
    /// As two bits: 0, 1 or 2.
    #[must_use]
    #[inline(always)]
    pub const fn bits(self) -> u64 {
        self as u64
    }

    /// The news that these bits say; only the lowest two matter. No process writes 3.
    #[must_use]
    #[inline(always)]
    pub const fn of(bits: u64) -> Self {
        // In this order, because nearly always there is no news.
        if bits & 3 == 0 {
            Self::None
        } else if bits & 1 == 1 {
            Self::Died
        } else {
            Self::Broken
        }
    }

    /// Whether there is any news.
    #[must_use]
    #[inline(always)]
    pub const fn is_any(self) -> bool {
        !matches!(self, Self::None)
    }

    fn text(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Died => ",died",
            Self::Broken => ",broken",
        }
    }
}

/// A slot: whether it is held, by which seat, its fence, and what the next owner is to be told of
/// earlier owners.
///
/// | bits | |
/// |---|---|
/// | 0 | held |
/// | 1 and 2 | what the next owner is to be told: 0 nothing, 1 an owner died, 2 it was taken away from one |
/// | 3 to 14 | the seat of its owner; 0 while it is free |
/// | 15 to 63 | the fence: larger by one for each owner |
///
/// ```
/// use doorway_core::k_assignment::seats::{News, Slot};
/// let free = Slot::FRESH;
/// let held = free.taken_by(3).unwrap();
/// assert_eq!((held.owner(), held.fence(), held.news()), (Some(3), 1, News::None));
/// assert_eq!(held.freed(News::None).owner(), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Slot(u64);

impl Slot {
    /// A slot that was never taken.
    pub const FRESH: Self = Self(0);

    const fn new(owner: Option<usize>, fence: u64, news: News) -> Self {
        let (held, owner) = match owner {
            Some(owner) => (1, owner as u64),
            None => (0, 0),
        };
        Self(held | news.bits() << 1 | owner << 3 | fence << SEQ)
    }

    /// Held by this seat.
    #[must_use]
    #[inline(always)]
    pub const fn held(owner: usize, fence: u64, news: News) -> Self {
        Self::new(Some(owner), fence, news)
    }

    /// The seat that holds it; `None` while it is free.
    #[must_use]
    #[inline(always)]
    pub const fn owner(self) -> Option<usize> {
        if self.0 & 1 == 1 { Some((self.0 >> 3) as usize & (MOST_SEATS - 1)) } else { None }
    }

    /// The fence of its owner, or of the last one.
    #[must_use]
    #[inline(always)]
    pub const fn fence(self) -> u64 {
        self.0 >> SEQ
    }

    /// What the next owner is to be told of earlier owners.
    #[must_use]
    #[inline(always)]
    pub const fn news(self) -> News {
        News::of(self.0 >> 1)
    }

    /// Whether it is held in this epoch, by any seat.
    #[must_use]
    #[inline(always)]
    pub const fn is_held_at(self, fence: u64) -> bool {
        self.0 & 1 == 1 && self.fence() == fence
    }

    /// The same slot with the next owner, and the same news; `None` if there are no more fences.
    #[must_use]
    #[inline(always)]
    pub const fn taken_by(self, seat: usize) -> Option<Self> {
        if self.fence() >= LAST_FENCE {
            return None;
        }
        // The fence is the upper part, so this adds one to it, and the news stay.
        Some(Self(((self.0 & !OWNED) | 1 | (seat as u64) << 3) + (1 << SEQ)))
    }

    /// The same slot with the next owner, and with these news; `None` if there are no more fences.
    #[must_use]
    #[inline(always)]
    pub const fn given_to(self, seat: usize, news: News) -> Option<Self> {
        if self.fence() >= LAST_FENCE { None } else { Some(Self::held(seat, self.fence() + 1, news)) }
    }

    /// The same slot, free, and with these news.
    #[must_use]
    #[inline(always)]
    pub const fn freed(self, news: News) -> Self {
        Self::new(None, self.fence(), news)
    }
}

impl Word for Slot {
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

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (fence, news) = (self.fence(), self.news().text());
        match self.owner() {
            Some(owner) => write!(f, "H({owner},{fence}{news})"),
            None => write!(f, "F({fence}{news})"),
        }
    }
}

/// What the owner of a seat wants, or is offered.
///
/// | bits | |
/// |---|---|
/// | 0 and 1 | 0 nothing, 1 it waits, 2 it is offered a slot, 3 it waits and is called |
/// | 2 to 63 | of one that waits: its ticket |
/// | 2 and 3 | of an offer: what the next owner is to be told; 3 is no value |
/// | 4 to 14 | of an offer: the slot |
/// | 15 to 63 | of an offer: the fence of the slot's owner, which offers it |
///
/// The lower half of the word, at which sleepers look, says what kind it is.
///
/// ```
/// use doorway_core::k_assignment::seats::{News, Want};
/// use doorway_core::memory::Word;
/// let offer = Want::Offered { slot: 2, fence: 7, news: News::Died };
/// assert_eq!(Want::unpack(offer.pack()), offer);
/// assert_eq!(Want::unpack(Want::Called(5).pack()), Want::Called(5));
/// assert_eq!(Want::unpack(4), Want::Damaged(4));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Want {
    /// Nothing.
    Nothing,
    /// The process waits with this ticket.
    Waits(u64),
    /// The process waits with this ticket, and is to look whether a slot is free.
    Called(u64),
    /// The process is offered a slot in the epoch of this fence, which is that of the process that
    /// offers it.
    Offered {
        /// The slot.
        slot: usize,
        /// Its fence.
        fence: u64,
        /// What the next owner is to be told of earlier owners.
        news: News,
    },
    /// A word that no process writes.
    Damaged(u64),
}

impl Want {
    /// The last ticket that fits.
    pub const LAST_TICKET: u64 = (1 << 62) - 1;
}

impl Word for Want {
    type Waiters = Anybody;
    const WHOLE: bool = true;

    #[inline(always)]
    fn pack(self) -> u64 {
        match self {
            Self::Nothing => 0,
            Self::Waits(ticket) => ticket << 2 | 1,
            Self::Called(ticket) => ticket << 2 | 3,
            Self::Offered { slot, fence, news } => fence << SEQ | (slot as u64) << 4 | news.bits() << 2 | 2,
            Self::Damaged(word) => word,
        }
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        match word & 3 {
            0 if word == 0 => Self::Nothing,
            1 => Self::Waits(word >> 2),
            3 => Self::Called(word >> 2),
            2 if word >> 2 & 3 != 3 => Self::Offered {
                slot: (word >> 4) as usize & (MOST_SLOTS - 1),
                fence: word >> SEQ,
                news: News::of(word >> 2),
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
            Self::Called(ticket) => write!(f, "C({ticket})"),
            Self::Offered { slot, fence, news } => write!(f, "G({slot},{fence}{})", news.text()),
            Self::Damaged(word) => write!(f, "?({word:#x})"),
        }
    }
}
