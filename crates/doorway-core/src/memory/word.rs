//! Values that fit into one machine word.

use super::{Anybody, Waiters};
use core::fmt::Debug;

/// A process of an algorithm: one of `0..N`.
///
/// ```
/// use doorway_core::memory::Pid;
/// assert_eq!(Pid::new(3).index(), 3);
/// assert_eq!(Pid::new(3).to_string(), "p3");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pid(u16);

impl Pid {
    /// The largest number of processes that an algorithm can have.
    pub const LIMIT: usize = u16::MAX as usize;

    /// The process with this index.
    ///
    /// # Panics
    /// Panics if `index` is not below [`Pid::LIMIT`]. [`Sizes::new`](crate::registry::Sizes::new)
    /// rejects such sizes earlier.
    #[must_use]
    pub const fn new(index: usize) -> Self {
        assert!(index < Self::LIMIT, "a process index must be below 65535");
        Self(index as u16)
    }

    /// The index, for rows of variables with one entry per process.
    #[must_use]
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Debug for Pid {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Display::fmt(self, f)
    }
}

impl core::fmt::Display for Pid {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "p{}", self.0)
    }
}

/// A value that a shared variable can hold: anything that packs into 64 bits.
///
/// Variables are typed. `Q = p` compares processes with processes, and "no process" is a value of
/// the type rather than a number to remember.
///
/// ```
/// use doorway_core::memory::{Pid, Word};
/// assert_eq!(i64::unpack((-1i64).pack()), -1);
/// assert_eq!(Option::<Pid>::unpack(Some(Pid::new(7)).pack()), Some(Pid::new(7)));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a word, so no shared variable can hold it",
    label = "not a word",
    note = "for a number, take `u64`, `u8` to `u32`, `i8` to `i64`; `usize` has no fixed width",
    note = "a struct or an enum of words becomes a word by `#[derive(Clone, Copy, PartialEq, Debug, Word)]`"
)]
pub trait Word: Copy + PartialEq + Debug + 'static {
    /// Whether a narrow variable of this type extends its sign when it is read (see [`fit`]).
    const SIGNED: bool = false;

    /// Whether variables of this type always have all 64 bits. A memory then need not check their
    /// width.
    const WHOLE: bool = false;

    /// The largest word that a value packs into. So its bits are known, and values can lie
    /// [beside each other](super::packed).
    const MAX: u64 = u64::MAX;

    /// How many processes wait for a variable of this type at a time: [`Anybody`](super::Anybody),
    /// unless a stricter bound is known.
    type Waiters: Waiters;

    /// Whether any process ever waits for a variable of this type to change. If not, a write need
    /// not wake any process. (Types that are not [whole](Self::WHOLE), and for whose variables no
    /// process waits, say so here.)
    const AWAITED: bool = <Self::Waiters as Waiters>::AWAITED;

    /// Whether rows of variables of this type are long, while only a few neighbouring variables are
    /// in use at a time. Variables of such a row may share cache lines, but neighbours should not.
    const SPREAD: bool = false;

    /// The fields of a word that has several, so that tools can refer to each by name.
    const FIELDS: &'static [Field] = &[];

    /// Packs the value into one word.
    fn pack(self) -> u64;

    /// The value that a word stands for. For a word into which no value packs, it may return any
    /// value.
    fn unpack(word: u64) -> Self;

    /// The value that this one would be if each process had another name. A type whose values name
    /// no process keeps the default; `#[derive(Word)]`, tuples, arrays and options rename their
    /// parts.
    ///
    /// A checker uses it to find out which states differ only in the names of processes.
    ///
    /// ```
    /// use doorway_core::memory::{Pid, Word};
    /// let swapped = |p: Pid| Pid::new(1 - p.index());
    /// assert_eq!((true, Some(Pid::new(0))).renamed(&swapped), (true, Some(Pid::new(1))));
    /// assert_eq!(7u64.renamed(&swapped), 7);
    /// ```
    #[must_use]
    fn renamed(self, _name: &dyn Fn(Pid) -> Pid) -> Self {
        self
    }
}

/// A field of a word: bits beside each other.
///
/// ```
/// use doorway_core::k_exclusion::turnstile::Front;
/// use doorway_core::memory::Word;
/// let ghosts = Front::FIELDS.iter().find(|field| field.name == "ghosts").unwrap();
/// let word = Front { ticket: 7, ghosts: 3 }.pack();
/// assert_eq!(word >> ghosts.lowest & ((1 << ghosts.bits) - 1), 3);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its lowest bit.
    pub lowest: u32,
    /// Its number of bits.
    pub bits: u32,
}

impl Field {
    /// The field that begins with this bit.
    #[must_use]
    pub const fn new(name: &'static str, lowest: u32, bits: u32) -> Self {
        Self { name, lowest, bits }
    }
}

/// Values that are sets of bits, so that fetch-and-or makes sense for them.
pub trait Bits: Word {}

/// Values whose sum is the sum of their words, so that fetch-and-add makes sense for them.
///
/// Numbers have this property. A struct packed into fields has it as long as no field overflows
/// into the next: adding `{ tickets: 1, exits: 0 }` adds to one field only.
pub trait Additive: Word {}

impl Word for u64 {
    type Waiters = Anybody;
    #[inline(always)]
    fn pack(self) -> u64 {
        self
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        word
    }
}
impl Additive for u64 {}
impl Bits for u64 {}

impl Word for i64 {
    type Waiters = Anybody;
    const SIGNED: bool = true;
    #[inline(always)]
    fn pack(self) -> u64 {
        self as u64
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        word as i64
    }
}
impl Additive for i64 {}

impl Word for bool {
    type Waiters = Anybody;
    const MAX: u64 = 1;
    #[inline(always)]
    fn pack(self) -> u64 {
        u64::from(self)
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        word != 0
    }
}

impl Word for Pid {
    type Waiters = Anybody;
    const MAX: u64 = Self::LIMIT as u64 - 1;
    #[inline(always)]
    fn pack(self) -> u64 {
        u64::from(self.0)
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self(word as u16)
    }
    fn renamed(self, name: &dyn Fn(Self) -> Self) -> Self {
        name(self)
    }
}

/// Reduces a word to what a variable of `width` bits holds: modulo `2^width`, and sign-extended for
/// signed types.
///
/// ```
/// use doorway_core::memory::fit;
/// assert_eq!(fit::<u64>(17, 4), 1);
/// assert_eq!(fit::<i64>(0b1111, 4) as i64, -1);
/// assert_eq!(fit::<u64>(17, 64), 17);
/// ```
#[must_use]
#[inline(always)]
pub const fn fit<T: Word>(word: u64, width: u32) -> u64 {
    let unused = 64 - width;
    if T::SIGNED { (((word << unused) as i64) >> unused) as u64 } else { (word << unused) >> unused }
}
