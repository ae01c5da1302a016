//! What the words of the universal construction are made of.

use crate::memory::{Field, Nobody, Word};
use core::fmt;

/// As many names as there can be: their cells must fit a [`Hazard`].
pub const MOST_NAMES: usize = 8;

/// Buffers have numbers of so many bits, and the last stands for none.
const BUFFER: u32 = 9;
const NO_BUFFER: u64 = (1 << BUFFER) - 1;
/// Cells have numbers of so many bits.
const CELL: u32 = 3;

/// As many buffers as there can be.
pub const MOST_BUFFERS: usize = NO_BUFFER as usize;

fn low(word: u64, bits: u32) -> u64 {
    word & ((1 << bits) - 1)
}

/// One of the buffers that states are built in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Buffer(pub u16);

impl Buffer {
    /// For rows with an entry for each.
    #[must_use]
    #[inline(always)]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b{}", self.0)
    }
}

impl Word for Buffer {
    type Waiters = Nobody;
    const WHOLE: bool = true;

    #[inline(always)]
    fn pack(self) -> u64 {
        u64::from(self.0)
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self(low(word, BUFFER) as u16)
    }
}

fn pack_buffer(b: Option<Buffer>) -> u64 {
    b.map_or(NO_BUFFER, Buffer::pack)
}

fn unpack_buffer(word: u64) -> Option<Buffer> {
    (low(word, BUFFER) != NO_BUFFER).then_some(Buffer::unpack(word))
}

/// `head`: which buffer holds the state. The version tells two lives of one buffer apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    /// Grows by one with each change.
    pub version: u64,
    /// Where the state is.
    pub buffer: Buffer,
}

impl Word for Head {
    type Waiters = Nobody;
    const WHOLE: bool = true;
    const FIELDS: &'static [Field] = &[Field::new("version", BUFFER, 64 - BUFFER), Field::new("buffer", 0, BUFFER)];

    #[inline(always)]
    fn pack(self) -> u64 {
        self.version << BUFFER | self.buffer.pack()
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self { version: word >> BUFFER, buffer: Buffer::unpack(word) }
    }
}

impl Head {
    /// The one that follows.
    #[must_use]
    #[inline(always)]
    pub fn next(self, buffer: Buffer) -> Self {
        Self { version: low(self.version + 1, 64 - BUFFER), buffer }
    }
}

/// `ann[p]`: the last operation that `p` has announced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Announced {
    /// Which of `p`'s operations it is, counted from 1.
    pub seq: u64,
    /// In which cell it is.
    pub cell: u8,
}

impl Word for Announced {
    type Waiters = Nobody;
    const WHOLE: bool = true;
    const FIELDS: &'static [Field] = &[Field::new("seq", BUFFER, 64 - BUFFER), Field::new("cell", 0, CELL)];

    #[inline(always)]
    fn pack(self) -> u64 {
        self.seq << BUFFER | u64::from(self.cell)
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self { seq: word >> BUFFER, cell: low(word, CELL) as u8 }
    }
}

/// `app[b][p]`: how many of `p`'s operations the state in a buffer has seen, and where the last one's response is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Applied {
    /// How many.
    pub seq: u64,
    /// In which buffer the last one was applied; `None` if there was none.
    pub loc: Option<Buffer>,
}

impl Word for Applied {
    type Waiters = Nobody;
    const WHOLE: bool = true;
    const FIELDS: &'static [Field] = &[Field::new("seq", BUFFER, 64 - BUFFER), Field::new("loc", 0, BUFFER)];

    #[inline(always)]
    fn pack(self) -> u64 {
        self.seq << BUFFER | pack_buffer(self.loc)
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self { seq: word >> BUFFER, loc: unpack_buffer(word) }
    }
}

impl Applied {
    /// The number of the operation that comes next.
    #[must_use]
    #[inline(always)]
    pub fn next(self) -> u64 {
        low(self.seq + 1, 64 - BUFFER)
    }

    /// Whether this operation comes next.
    #[must_use]
    #[inline(always)]
    pub fn is_followed_by(self, announced: Announced) -> bool {
        self.next() == announced.seq
    }
}

/// `hz[p]`: what must not be rewritten because `p` may be reading it. One word, so that one look at `head` tells whether all of it was in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hazard {
    /// A buffer.
    pub buffer: Option<Buffer>,
    /// Of each name, a cell.
    cells: u32,
}

impl Word for Hazard {
    type Waiters = Nobody;
    const WHOLE: bool = true;
    const FIELDS: &'static [Field] = &[Field::new("cells", BUFFER, 32), Field::new("buffer", 0, BUFFER)];

    #[inline(always)]
    fn pack(self) -> u64 {
        u64::from(self.cells) << BUFFER | pack_buffer(self.buffer)
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self { buffer: unpack_buffer(word), cells: (word >> BUFFER) as u32 }
    }
}

impl Hazard {
    /// No buffer, and everybody's first cell.
    pub const NONE: Self = Self { buffer: None, cells: 0 };

    /// Only this buffer, and everybody's first cell.
    #[must_use]
    #[inline(always)]
    pub fn of(buffer: Buffer) -> Self {
        Self { buffer: Some(buffer), cells: 0 }
    }

    /// And this cell of that name, of whom it had the first.
    #[must_use]
    #[inline(always)]
    pub fn and(self, name: usize, cell: u8) -> Self {
        Self { cells: self.cells | u32::from(cell) << (name as u32 * CELL), ..self }
    }

    /// The cell of that name.
    #[must_use]
    #[inline(always)]
    pub fn cell(self, name: usize) -> u8 {
        low(u64::from(self.cells) >> (name as u32 * CELL), CELL) as u8
    }
}

macro_rules! private_words {
    ($($(#[$doc:meta])* $name:ident($of:ty), $pack:expr, $unpack:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $name(pub $of);
        impl Word for $name {
            type Waiters = Nobody;
            const WHOLE: bool = true;
            #[inline(always)]
            fn pack(self) -> u64 {
                $pack(self.0)
            }
            #[inline(always)]
            fn unpack(word: u64) -> Self {
                Self($unpack(word))
            }
        }
    )*};
}

private_words! {
    /// `free[p]`: a set of the buffers of one name, as bits.
    Buffers(u64), |bits| bits, |word| word;
    /// `orphan[p]`: whether an announced operation was left behind.
    Orphan(bool), u64::from, |word| word != 0;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comes_back<T: Word>(x: T) {
        assert_eq!(T::unpack(x.pack()), x);
    }

    #[test]
    fn words_come_back_as_they_were() {
        comes_back(Head { version: (1 << (64 - BUFFER)) - 1, buffer: Buffer(510) });
        comes_back(Announced { seq: 77, cell: 7 });
        comes_back(Applied { seq: 77, loc: None });
        comes_back(Applied { seq: 0, loc: Some(Buffer(0)) });
        let hazard = (0..MOST_NAMES).fold(Hazard::of(Buffer(3)), |hazard, q| hazard.and(q, (q as u8 * 3) % 8));
        comes_back(hazard);
        assert!((0..MOST_NAMES).all(|q| hazard.cell(q) == (q as u8 * 3) % 8));
        comes_back(Hazard::NONE);
    }

    #[test]
    fn versions_and_numbers_wrap() {
        let last = (1 << (64 - BUFFER)) - 1;
        assert_eq!(Head { version: last, buffer: Buffer(1) }.next(Buffer(2)), Head { version: 0, buffer: Buffer(2) });
        assert!(Applied { seq: last, loc: None }.is_followed_by(Announced { seq: 0, cell: 1 }));
    }
}
