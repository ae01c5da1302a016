//! Words, and their layout: each variable in its own cache line, rows by home.

use super::bits::Bits;
use crate::waiting::{Alarm, Bell, Threads};
use crossbeam_utils::CachePadded;
use doorway_core::memory::{Anybody, Byte, Decl, Home, Nobody, Pid, Waiters, Word};
use std::collections::HashMap;
use std::marker::PhantomData;
use std::ops::{Deref, Index, Range};
use std::sync::atomic::Ordering::SeqCst;

/// What is beside a word in the same cache line: nothing, an alarm, or a bell. The tag of a bell
/// is the number of bits that the variable does not use.
pub(super) type Beside<T> = <<T as Word>::Waiters as Waiters>::Choose<(), Alarm<Threads>, Bell<Threads>>;

/// One shared word.
///
/// A variable of fewer than 64 bits is in the *upper* bits of the word. Then the processor's
/// wrap-around at 64 bits is exactly that of the variable, and comparing words compares values.
pub struct Cell<T: Word> {
    pub(super) word: Bits<T>,
    pub(super) beside: Beside<T>,
    of: PhantomData<fn() -> T>,
}

impl<T: Word> Cell<T> {
    /// Whether there is a bell to hold the tag.
    const TAGGED: bool = <T::Waiters as Waiters>::AWAITED && !T::Waiters::ONE;

    pub(super) fn new(decl: &Decl<'_, T>) -> Self {
        const {
            assert!(T::WHOLE || Self::TAGGED, "variables that no process, or one process, waits for are whole");
            assert!(size_of::<Bits<T>>() > 1 || T::MAX <= u8::MAX as u64, "a word of this type does not fit a byte");
        };
        Self::of_word(decl.init.pack() << (64 - decl.width), (64 - decl.width) as u8)
    }

    pub(super) fn unused() -> Self {
        Self::of_word(0, 0)
    }

    fn of_word(word: u64, unused: u8) -> Self {
        let beside = T::Waiters::make(|| (), Alarm::default, || Bell::new(unused));
        Self { word: Bits::new(word), beside, of: PhantomData }
    }

    /// The alarm, if one process waits at a time.
    #[inline(always)]
    pub(crate) fn alarm(&self) -> Option<&Alarm<Threads>> {
        T::Waiters::either(&self.beside, |()| None, Some, |_| None)
    }

    /// The bell, if any process may wait.
    #[inline(always)]
    pub(super) fn bell(&self) -> Option<&Bell<Threads>> {
        T::Waiters::either(&self.beside, |()| None, |_| None, Some)
    }

    /// The number of bits that the variable does not use.
    #[inline(always)]
    fn unused_bits(&self) -> u8 {
        if T::WHOLE { 0 } else { self.bell().map_or(0, Bell::tag) }
    }

    /// The value now, for tools and for owners.
    pub(crate) fn value(&self) -> T {
        self.decode(self.word.load(SeqCst))
    }

    #[inline(always)]
    pub(super) fn encode(&self, x: T) -> u64 {
        x.pack() << self.unused_bits()
    }

    #[inline(always)]
    pub(super) fn decode(&self, word: u64) -> T {
        let unused = self.unused_bits();
        T::unpack(if T::SIGNED { (word as i64 >> unused) as u64 } else { word >> unused })
    }
}

impl<T: Word<Waiters = Nobody>> Cell<T> {
    /// A 64-bit variable with this word, made before the program runs.
    pub(crate) const fn of_word_early(word: u64) -> Self {
        Self { word: Bits::of_word_early(word), beside: (), of: PhantomData }
    }
}

impl<T: Word<Waiters = Byte>> Cell<T> {
    /// The same for a variable of a byte.
    pub(crate) const fn of_byte_early(byte: u8) -> Self {
        Self { word: Bits::of_byte_early(byte), beside: (), of: PhantomData }
    }
}

impl<T: Word<Waiters = Anybody>> Cell<T> {
    /// The same for a variable that any process may wait for.
    pub(crate) const fn of_word_awaited(word: u64) -> Self {
        Self { word: Bits::of_word_awaited(word), beside: Bell::silent(0), of: PhantomData }
    }
}

impl<T: Word> std::fmt::Debug for Cell<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.value().fmt(f)
    }
}

/// A variable that stands alone: no other word is in its cache line.
#[derive(Debug)]
pub struct Var<T: Word>(CachePadded<Cell<T>>);

impl<T: Word> Var<T> {
    pub(super) fn new(decl: &Decl<'_, T>) -> Self {
        Self(CachePadded::new(Cell::new(decl)))
    }
}

impl<T: Word<Waiters = Anybody>> Var<T> {
    /// A 64-bit variable whose word is zero, made before the program runs.
    #[allow(dead_code, reason = "only the raw mutexes of the feature `lock_api` are made so")]
    pub(crate) const fn zero() -> Self {
        Self(CachePadded::new(Cell::of_word_awaited(0)))
    }
}

impl<T: Word> Deref for Var<T> {
    type Target = Cell<T>;
    #[inline(always)]
    fn deref(&self) -> &Cell<T> {
        &self.0
    }
}

/// The distance between variables that are kept apart.
const LINE: usize = size_of::<CachePadded<u8>>();
const PER_LINE: usize = 8;

/// A row of variables.
///
/// Variables whose home is the same process share cache lines. All others have a line each, so that
/// a write to another variable never disturbs a spinning waiter. Variables that are
/// [spread](Word::SPREAD) share lines, but neighbours are more than a line apart.
#[derive(Debug)]
pub struct Row<T: Word>(Layout<T>);

#[derive(Debug)]
enum Layout<T: Word> {
    Spread(Spread<T>),
    /// One variable in each line, or where `places` says.
    ByHome {
        lines: Box<[Line<T>]>,
        places: Box<[u32]>,
    },
}

type Line<T> = CachePadded<[Cell<T>; PER_LINE]>;

/// Variables without a gap between them. If they are spread, neighbours are more than a line apart.
#[derive(Debug)]
pub(super) struct Spread<T: Word> {
    /// If they are spread, their number is a power of two.
    cells: Box<[Cell<T>]>,
}

impl<T: Word> Spread<T> {
    /// How far apart neighbours are. It is odd, so each place of a power of two is reached once.
    const STRIDE: usize = if T::SPREAD { (LINE / size_of::<Cell<T>>() + 1) | 1 } else { 1 };

    pub(super) fn new<'a>(decls: impl ExactSizeIterator<Item = Decl<'a, T>>) -> Self {
        let room = if T::SPREAD { decls.len().next_power_of_two() } else { decls.len() };
        let mut spread = Self { cells: (0..room).map(|_| Cell::unused()).collect() };
        for (i, decl) in decls.enumerate() {
            let place = spread.place(i);
            spread.cells[place] = Cell::new(&decl);
        }
        spread
    }

    #[inline(always)]
    fn place(&self, i: usize) -> usize {
        Self::place_among(self.cells.len(), i)
    }

    /// The place of variable `i` of a row of `size`, which is a power of two if variables are
    /// spread.
    #[inline(always)]
    pub(super) fn place_among(size: usize, i: usize) -> usize {
        // An index beyond the end would reach another variable, so it is rejected.
        assert!(i < size, "the row has no such variable");
        if T::SPREAD { i.wrapping_mul(Self::STRIDE) & (size - 1) } else { i }
    }

    pub(super) fn into_cells(self) -> Box<[Cell<T>]> {
        self.cells
    }
}

impl<T: Word> Index<usize> for Spread<T> {
    type Output = Cell<T>;
    #[inline(always)]
    fn index(&self, i: usize) -> &Cell<T> {
        &self.cells[self.place(i)]
    }
}

impl<T: Word> Row<T> {
    pub(super) fn new<'a>(decls: impl ExactSizeIterator<Item = Decl<'a, T>>) -> Self {
        Self(if T::SPREAD { Layout::Spread(Spread::new(decls)) } else { Self::by_home(decls) })
    }

    fn by_home<'a>(decls: impl Iterator<Item = Decl<'a, T>>) -> Layout<T> {
        let mut shared = false;
        let mut lines = Vec::new();
        // For each process, the line that may still have room, and how many variables it has.
        let mut open: HashMap<Pid, (usize, usize)> = HashMap::new();
        let places = decls
            .map(|decl| {
                let mut new_line = || {
                    lines.push(unused_line());
                    (lines.len() - 1, 0)
                };
                let (line, at) = match decl.home {
                    Home::Nobody => new_line(),
                    Home::Of(p) => {
                        let last = open.get(&p).filter(|(_, used)| *used < PER_LINE).copied();
                        shared |= last.is_some();
                        let (line, used) = last.unwrap_or_else(new_line);
                        open.insert(p, (line, used + 1));
                        (line, used)
                    }
                };
                lines[line][at] = Cell::new(&decl);
                u32::try_from(line * PER_LINE + at).expect("a row has at most one entry for each pair of processes")
            })
            .collect();
        Layout::ByHome { lines: lines.into(), places: if shared { places } else { Box::default() } }
    }
}

fn unused_line<T: Word>() -> Line<T> {
    CachePadded::new(std::array::from_fn(|_| Cell::unused()))
}

impl<T: Word> Index<usize> for Row<T> {
    type Output = Cell<T>;
    #[inline(always)]
    fn index(&self, i: usize) -> &Cell<T> {
        match &self.0 {
            Layout::Spread(spread) => &spread[i],
            Layout::ByHome { lines, places } if places.is_empty() => &lines[i][0],
            Layout::ByHome { lines, places } => &lines[places[i] as usize / PER_LINE][places[i] as usize % PER_LINE],
        }
    }
}

/// A table of variables. Each row has its own cache lines.
#[derive(Debug)]
pub struct Table<T: Word> {
    first: usize,
    columns: usize,
    /// The number of lines of a row.
    lines_each: usize,
    lines: Box<[Line<T>]>,
}

impl<T: Word> Table<T> {
    pub(super) fn new(rows: Range<usize>, columns: usize, decl: &Decl<'_, T>) -> Self {
        let lines_each = columns.div_ceil(PER_LINE);
        let line = |_| CachePadded::new(std::array::from_fn(|_| Cell::new(decl)));
        Self { first: rows.start, columns, lines_each, lines: (0..rows.len() * lines_each).map(line).collect() }
    }
}

impl<T: Word> Index<(usize, usize)> for Table<T> {
    type Output = Cell<T>;
    #[inline(always)]
    fn index(&self, (row, column): (usize, usize)) -> &Cell<T> {
        assert!(column < self.columns, "the table has no such column");
        &self.lines[(row - self.first) * self.lines_each + column / PER_LINE][column % PER_LINE]
    }
}
