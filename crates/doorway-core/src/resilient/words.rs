//! The contents of the words of the universal construction.

use crate::memory::{Field, Nobody, Word};
use core::fmt;

/// The largest number of names: their cells must fit into a [`Hazard`].
pub const MOST_NAMES: usize = 8;

/// The number of bits of a buffer number. The last number stands for none.
const BUFFER: u32 = 9;
const NO_BUFFER: u64 = (1 << BUFFER) - 1;
/// The number of bits of a cell number.
const CELL: u32 = 3;

/// The largest number of buffers.
pub const MOST_BUFFERS: usize = NO_BUFFER as usize;

fn low(word: u64, bits: u32) -> u64 {
    word & ((1 << bits) - 1)
}

/// One of the buffers in which states are built.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Buffer(pub u16);

impl Buffer {
    /// The index, for rows with one entry per buffer.
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

/// `head`: the buffer that holds the state. The version distinguishes two lives of one buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    /// Grows by one with each change.
    pub version: u64,
    /// The buffer that holds the state.
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
    /// The next value of `head`.
    #[must_use]
    #[inline(always)]
    pub fn next(self, buffer: Buffer) -> Self {
        Self { version: low(self.version + 1, 64 - BUFFER), buffer }
    }
}

/// `ann[p]`: the last operation that `p` has announced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Announced {
    /// Its number among `p`'s operations, counted from 1.
    pub seq: u64,
    /// The cell that holds it.
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

/// `app[b][p]`: how many of `p`'s operations the state in a buffer has seen, and where the response
/// of the last one is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Applied {
    /// The number of operations.
    pub seq: u64,
    /// The buffer in which the last one was applied, or `None` if there was none.
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
    /// The number of the next operation.
    #[must_use]
    #[inline(always)]
    pub fn next(self) -> u64 {
        low(self.seq + 1, 64 - BUFFER)
    }

    /// Whether this operation is the next one.
    #[must_use]
    #[inline(always)]
    pub fn is_followed_by(self, announced: Announced) -> bool {
        self.next() == announced.seq
    }
}

/// `hz[p]`: what must not be rewritten because `p` may be reading it. It is one word, so that a
/// single look at `head` tells whether all of it was written in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hazard {
    /// A buffer.
    pub buffer: Option<Buffer>,
    /// One cell for each name.
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
    /// No buffer, and the first cell of every name.
    pub const NONE: Self = Self { buffer: None, cells: 0 };

    /// Only this buffer, and the first cell of every name.
    #[must_use]
    #[inline(always)]
    pub fn of(buffer: Buffer) -> Self {
        Self { buffer: Some(buffer), cells: 0 }
    }

    /// Adds this cell of that name, for which the hazard had the first cell.
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
