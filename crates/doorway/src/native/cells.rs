//! Words, and where they lie: each variable in a cache line of its own, rows by home.

use crate::tools::AtomicU64;
use crate::waiting::{Bell, Threads};
use crossbeam_utils::CachePadded;
use doorway_core::memory::{Decl, Home, Pid, Word};
use std::collections::HashMap;
use std::marker::PhantomData;
use std::ops::{Deref, Index, Range};

/// One shared word.
///
/// A variable of fewer than 64 bits lies in the *upper* bits of the word: the processor's wrap-around at 64 bits is then
/// exactly its own, and comparing words compares values.
pub struct Cell<T> {
    pub(super) word: AtomicU64,
    /// In the same cache line; its tag is the number of bits that the variable does not use.
    pub(super) bell: Bell<Threads>,
    of: PhantomData<fn() -> T>,
}

impl<T: Word> Cell<T> {
    fn new(decl: &Decl<'_, T>) -> Self {
        let unused = 64 - decl.width;
        Self { word: AtomicU64::new(decl.init.pack() << unused), bell: Bell::new(unused as u8), of: PhantomData }
    }

    fn unused() -> Self {
        Self { word: AtomicU64::new(0), bell: Bell::new(0), of: PhantomData }
    }

    #[inline(always)]
    pub(super) fn encode(&self, x: T) -> u64 {
        if T::WHOLE { x.pack() } else { x.pack() << self.bell.tag() }
    }

    #[inline(always)]
    pub(super) fn decode(&self, word: u64) -> T {
        if T::WHOLE {
            return T::unpack(word);
        }
        let unused = self.bell.tag();
        T::unpack(if T::SIGNED { (word as i64 >> unused) as u64 } else { word >> unused })
    }
}

impl<T: Word> std::fmt::Debug for Cell<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.decode(self.word.load(std::sync::atomic::Ordering::SeqCst)).fmt(f)
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

impl<T: Word> Var<T> {
    /// A variable of all 64 bits whose word is zero, before the program runs.
    ///
    /// ```
    /// use doorway::native::Var;
    /// static TAKEN: Var<bool> = Var::zero();
    /// assert_eq!(format!("{TAKEN:?}"), "Var(CachePadded { value: false })");
    /// ```
    #[must_use]
    pub const fn zero() -> Self {
        Self(CachePadded::new(Cell { word: AtomicU64::new(0), bell: Bell::silent(0), of: PhantomData }))
    }
}

impl<T: Word> Deref for Var<T> {
    type Target = Cell<T>;
    #[inline(always)]
    fn deref(&self) -> &Cell<T> {
        &self.0
    }
}

const PER_LINE: usize = 8;

/// A row of variables. Those that live with the same process share cache lines; all others have one each, so that
/// nobody's spinning is disturbed by a write to somebody else's variable. Those that are [spread](Word::SPREAD) go round all lines, before a line gets a second one.
#[derive(Debug)]
pub struct Row<T: Word> {
    lines: Box<[Line<T>]>,
    /// Where each is, unless they are spread, or each has a line.
    places: Box<[u32]>,
    /// Of what is spread: as many bits as the number of lines has.
    shift: u32,
}

type Line<T> = CachePadded<[Cell<T>; PER_LINE]>;

impl<T: Word> Row<T> {
    pub(super) fn new<'a>(decls: impl ExactSizeIterator<Item = Decl<'a, T>>) -> Self {
        if T::SPREAD { Self::spread(decls) } else { Self::by_home(decls) }
    }

    fn spread<'a>(decls: impl ExactSizeIterator<Item = Decl<'a, T>>) -> Self {
        let count = decls.len().div_ceil(PER_LINE).next_power_of_two();
        let lines = (0..count).map(|_| unused_line()).collect();
        let mut row = Self { lines, places: Box::default(), shift: count.trailing_zeros() };
        for (i, decl) in decls.enumerate() {
            let (line, at) = row.place(i);
            row.lines[line][at] = Cell::new(&decl);
        }
        row
    }

    fn by_home<'a>(decls: impl Iterator<Item = Decl<'a, T>>) -> Self {
        let mut shared = false;
        let mut lines = Vec::new();
        // Of each process, the line that may still have room: which, and how many are in it.
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
        Self { lines: lines.into(), places: if shared { places } else { Box::default() }, shift: 0 }
    }

    #[inline(always)]
    fn place(&self, i: usize) -> (usize, usize) {
        if T::SPREAD {
            // Beyond all lines the second is no place in a line: whoever asks for it is stopped there.
            (i & (self.lines.len() - 1), i >> self.shift)
        } else if self.places.is_empty() {
            (i, 0)
        } else {
            let place = self.places[i] as usize;
            (place / PER_LINE, place % PER_LINE)
        }
    }
}

fn unused_line<T: Word>() -> Line<T> {
    CachePadded::new(std::array::from_fn(|_| Cell::unused()))
}

impl<T: Word> Index<usize> for Row<T> {
    type Output = Cell<T>;
    #[inline(always)]
    fn index(&self, i: usize) -> &Cell<T> {
        let (line, at) = self.place(i);
        &self.lines[line][at]
    }
}

/// A table of variables: each row has cache lines of its own.
#[derive(Debug)]
pub struct Table<T: Word> {
    first: usize,
    columns: usize,
    /// Of a row.
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
