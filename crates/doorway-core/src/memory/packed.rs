//! Several values in one word, beside each other: tuples, arrays, and types with `#[derive(Word)]`.
//!
//! A value has as many bits as the [largest word](Word::MAX) of its type. So no value runs into its
//! neighbour, and values that need more than 64 bits together do not compile.

use super::{Anybody, Pid, Word};

/// The number of bits that any word up to this one needs.
#[must_use]
pub const fn bits(largest: u64) -> u32 {
    u64::BITS - largest.leading_zeros()
}

/// The largest word with this many bits.
///
/// # Panics
/// Panics if these are more than 64: in a constant, so that it does not compile.
const fn ones(bits: u32) -> u64 {
    assert!(bits <= 64, "these values need more than 64 bits together; a word has 64");
    if bits == 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The largest word of values beside each other, by the largest word of each.
///
/// # Panics
/// Panics if they need more than 64 bits: in a constant, so that it does not compile.
#[must_use]
pub const fn together(largest: &[u64]) -> u64 {
    let (mut i, mut sum) = (0, 0);
    while i < largest.len() {
        sum += bits(largest[i]);
        i += 1;
    }
    ones(sum)
}

/// The largest word of one of several variants, by the largest word of each.
///
/// # Panics
/// The same as for [`together`].
#[must_use]
pub const fn one_of(largest: &[u64]) -> u64 {
    let (mut i, mut widest) = (0, 0);
    while i < largest.len() {
        if bits(largest[i]) > widest {
            widest = bits(largest[i]);
        }
        i += 1;
    }
    let tags = largest.len() as u64 - 1;
    if widest == 0 { tags } else { ones(bits(tags) + widest) }
}

/// Puts values beside each other, beginning with the lowest bits.
#[derive(Default, Debug)]
pub struct Packer {
    word: u64,
    used: u32,
}

impl Packer {
    /// No value yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { word: 0, used: 0 }
    }

    /// Adds a value.
    ///
    /// # Panics
    /// Panics if its word is larger than its type says: the type is wrong.
    #[inline]
    pub fn add<T: Word>(&mut self, value: T) {
        let word = value.pack();
        assert!(
            word <= T::MAX,
            "{value:?} packs into {word}, and its type says that no word is larger than {}",
            T::MAX
        );
        self.push(word, bits(T::MAX));
    }

    /// Adds the number of a variant, among this many.
    #[inline]
    pub fn add_tag(&mut self, tag: u64, many: u64) {
        self.push(tag, bits(many - 1));
    }

    #[inline]
    fn push(&mut self, word: u64, bits: u32) {
        // A value without bits may lie beyond the last one.
        self.word |= word.checked_shl(self.used).unwrap_or(0);
        self.used += bits;
    }

    /// All of them.
    #[must_use]
    pub const fn word(&self) -> u64 {
        self.word
    }
}

/// Takes values apart, beginning with the lowest bits.
#[derive(Debug)]
pub struct Unpacker {
    word: u64,
}

impl Unpacker {
    /// Of this word.
    #[must_use]
    pub const fn new(word: u64) -> Self {
        Self { word }
    }

    /// The next value.
    #[inline]
    pub fn take<T: Word>(&mut self) -> T {
        T::unpack(self.pop(bits(T::MAX)))
    }

    /// The number of a variant, among this many.
    #[inline]
    pub fn take_tag(&mut self, many: u64) -> u64 {
        self.pop(bits(many - 1))
    }

    #[inline]
    fn pop(&mut self, bits: u32) -> u64 {
        let word = self.word & ones(bits);
        self.word = self.word.checked_shr(bits).unwrap_or(0);
        word
    }
}

macro_rules! tuples {
    ($($value:ident $number:tt),*) => {
        /// Values beside each other.
        ///
        /// ```
        /// use doorway_core::memory::{Pid, Word};
        /// let pair = (true, Some(Pid::new(4)));
        /// assert_eq!(<(bool, Option<Pid>)>::unpack(pair.pack()), pair);
        /// ```
        ///
        /// ```compile_fail,E0080
        /// use doorway_core::memory::Word;
        /// let too_much = (7u64, true).pack();
        /// ```
        impl<$($value: Word),*> Word for ($($value,)*) {
            type Waiters = Anybody;
            const MAX: u64 = together(&[$($value::MAX),*]);
            fn pack(self) -> u64 {
                const { assert!(bits(Self::MAX) <= 64) };
                let mut word = Packer::new();
                $(word.add(self.$number);)*
                word.word()
            }
            fn unpack(word: u64) -> Self {
                let mut word = Unpacker::new(word);
                ($(word.take::<$value>(),)*)
            }
            fn renamed(self, name: &dyn Fn(Pid) -> Pid) -> Self {
                ($(self.$number.renamed(name),)*)
            }
        }
    };
}

tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);

/// Values of one type beside each other.
///
/// ```
/// use doorway_core::memory::Word;
/// assert_eq!([true, false, true].pack(), 0b101);
/// ```
impl<T: Word, const N: usize> Word for [T; N] {
    type Waiters = Anybody;
    const MAX: u64 = together(&[T::MAX; N]);

    fn pack(self) -> u64 {
        const { assert!(bits(Self::MAX) <= 64) };
        let mut word = Packer::new();
        self.into_iter().for_each(|value| word.add(value));
        word.word()
    }

    fn unpack(word: u64) -> Self {
        let mut word = Unpacker::new(word);
        core::array::from_fn(|_| word.take())
    }

    fn renamed(self, name: &dyn Fn(Pid) -> Pid) -> Self {
        self.map(|value| value.renamed(name))
    }
}

/// A value or none, which is the word 0. For names of processes this is what the papers write.
///
/// ```
/// use doorway_core::memory::{Pid, Word};
/// assert_eq!(Some(Pid::new(0)).pack(), 1);
/// assert_eq!(<Option<bool>>::MAX, 2);
/// ```
///
/// ```compile_fail,E0080
/// use doorway_core::memory::Word;
/// let every_word_is_taken = Some(7u64).pack();
/// ```
impl<T: Word> Word for Option<T> {
    type Waiters = Anybody;
    const MAX: u64 = match T::MAX.checked_add(1) {
        Some(max) => max,
        None => panic!("every word stands for a value already, so none is left for `None`"),
    };

    #[inline(always)]
    fn pack(self) -> u64 {
        const { assert!(Self::MAX > 0) };
        self.map_or(0, |value| value.pack() + 1)
    }

    #[inline(always)]
    fn unpack(word: u64) -> Self {
        word.checked_sub(1).map(T::unpack)
    }

    fn renamed(self, name: &dyn Fn(Pid) -> Pid) -> Self {
        self.map(|value| value.renamed(name))
    }
}

macro_rules! numbers {
    ($($number:ty, $bits:ty);*) => {$(
        impl Word for $number {
            type Waiters = Anybody;
            const MAX: u64 = <$bits>::MAX as u64;
            #[inline(always)]
            fn pack(self) -> u64 {
                u64::from(self as $bits)
            }
            #[inline(always)]
            fn unpack(word: u64) -> Self {
                word as $bits as Self
            }
        }
    )*};
}

numbers!(u8, u8; u16, u16; u32, u32; i8, u8; i16, u16; i32, u32);
