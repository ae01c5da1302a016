//! Rows that are made when they are needed: boxes, of which the newest knows all others.

#![allow(unsafe_code)]

use super::cells::{Cell, Spread};
use super::handle::Native;
use doorway_core::memory::{Decl, LateRows, Name, Word};
use std::marker::PhantomData;
use std::ops::Index;
use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::SeqCst;

/// Rows of variables, each twice as long as the one before it. A row is allocated when it is
/// needed, and all rows are freed together.
pub struct Late<T: Word> {
    newest: AtomicPtr<Made<T>>,
    /// The initial value.
    init: u64,
    first: u32,
    rows: u32,
    owns: PhantomData<Spread<T>>,
}

/// The largest number of rows of one object. The last one would have more variables than a machine
/// has memory.
const MOST_ROWS: usize = 32;

/// A row that was made. It is constant, except for its variables.
struct Made<T: Word> {
    number: usize,
    /// All rows that were made before this one, by number, so that finding a row takes no search.
    older: [*const Made<T>; MOST_ROWS],
    row: Spread<T>,
}

impl<T: Word> Late<T> {
    /// Rows of which none is made yet, for use before the program runs. Their variables will have
    /// this word.
    pub(crate) const fn of_word_early(first: u32, rows: u32, init: u64) -> Self {
        Self { newest: AtomicPtr::new(ptr::null_mut()), init, first, rows, owns: PhantomData }
    }

    #[inline(always)]
    fn newest(&self) -> Option<&Made<T>> {
        // SAFETY: the pointer in `newest` is null, or it came from a complete box that `make_row`
        // left there. The box is freed only when `self` is dropped.
        unsafe { self.newest.load(SeqCst).as_ref() }
    }
}

impl<T: Word> Made<T> {
    /// The row with this number, if it is this one or was made before it.
    fn row(&self, number: usize) -> Option<&Spread<T>> {
        if number == self.number {
            return Some(&self.row);
        }
        // SAFETY: the pointer is null, or it was taken from `newest` when this row was made. The
        // rows are freed only together.
        let made: Option<&Self> = unsafe { self.older.get(number)?.as_ref() };
        made.map(|made| &made.row)
    }
}

impl<T: Word> Index<(usize, usize)> for Late<T> {
    type Output = Cell<T>;
    #[inline(always)]
    fn index(&self, (number, i): (usize, usize)) -> &Cell<T> {
        match self.newest() {
            Some(newest) if newest.number == number => &newest.row[i],
            newest => older(newest, number, i),
        }
    }
}

/// A variable of a row that is not the newest.
#[cold]
#[inline(never)]
fn older<T: Word>(newest: Option<&Made<T>>, number: usize, i: usize) -> &Cell<T> {
    match newest.and_then(|newest| newest.row(number)) {
        Some(row) => &row[i],
        None => panic!("row {number} is not made yet"),
    }
}

impl<T: Word> std::fmt::Debug for Late<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let made = self.newest().map_or(0, |row| row.number + 1);
        f.debug_struct("Late").field("made", &made).field("of", &self.rows).finish_non_exhaustive()
    }
}

impl<T: Word> Drop for Late<T> {
    fn drop(&mut self) {
        let newest = *self.newest.get_mut();
        if newest.is_null() {
            return;
        }
        // SAFETY: the pointer came from `Box::into_raw`, and `&mut self` proves that no other
        // thread uses it.
        let newest = unsafe { Box::from_raw(newest) };
        for made in newest.older.into_iter().filter(|made| !made.is_null()) {
            // SAFETY: the same. Each row has its own number, so each occurs here once.
            drop(unsafe { Box::from_raw(made.cast_mut()) });
        }
    }
}

impl LateRows for Native {
    type Late<T: Word> = Late<T>;

    fn late_rows<T: Word>(&self, _: Name<()>, first: usize, rows: usize, decl: Decl<'_, T>) -> Late<T> {
        assert!(decl.width == 64, "variables of rows that are made late have 64 bits");
        let small = |n: usize| u32::try_from(n).expect("rows begin small");
        let (first, rows) = (small(first), small(rows.min(MOST_ROWS)));
        Late { newest: AtomicPtr::new(ptr::null_mut()), first, rows, init: decl.init.pack(), owns: PhantomData }
    }

    #[cold]
    fn make_row<T: Word>(&self, late: &Late<T>, number: usize) -> bool {
        let newest = late.newest();
        if newest.is_some_and(|made| made.number >= number) {
            return true;
        }
        if number >= late.rows as usize {
            return false;
        }
        let mut older = newest.map_or([ptr::null(); MOST_ROWS], |newest| newest.older);
        let before = newest.map_or(ptr::null(), ptr::from_ref);
        if let Some(newest) = newest {
            older[newest.number] = before;
        }
        let row = Spread::new((0..(late.first as usize) << number).map(|_| T::unpack(late.init).into()));
        let made = Box::into_raw(Box::new(Made { number, older, row }));
        if late.newest.compare_exchange(before.cast_mut(), made, SeqCst, SeqCst).is_err() {
            // SAFETY: the pointer came from `Box::into_raw` just now, and no other thread has seen
            // it.
            drop(unsafe { Box::from_raw(made) });
        }
        true // this process's row, or another's
    }
}
