//! Rows that are made when they are needed, and may go back.

#![allow(unsafe_code)]

use super::cells::{Cell, Spread};
use super::handle::Native;
use doorway_core::memory::{Decl, LateRows, Name, Unused, Word};
use std::marker::PhantomData;
use std::ops::Index;
use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::SeqCst;

/// Rows of variables, each twice as long as the one before it. A row is allocated when it is
/// needed, and freed when it is given back, or with the object.
pub struct Late<T: Word> {
    /// The first of `most` pointers, one for each row; null until a row is made.
    rows: AtomicPtr<Row<T>>,
    /// The initial value.
    init: u64,
    first: u32,
    most: u32,
    owns: PhantomData<Spread<T>>,
}

/// The first variable of a row, or null if the row is not there.
type Row<T> = AtomicPtr<Cell<T>>;

/// The largest number of rows of one object. The last one would have more variables than a machine
/// has memory.
const MOST_ROWS: usize = 32;

impl<T: Word> Late<T> {
    /// Rows of which none is made yet, for use before the program runs. Their variables will have
    /// this word.
    pub(crate) const fn of_word_early(first: u32, most: u32, init: u64) -> Self {
        assert!(most as usize <= MOST_ROWS, "there are too many rows");
        Self { rows: AtomicPtr::new(ptr::null_mut()), init, first, most, owns: PhantomData }
    }

    /// The number of variables of a row.
    #[inline(always)]
    fn size(&self, number: usize) -> usize {
        (self.first as usize) << number
    }

    /// Where the rows are; nothing before a row is made.
    #[inline(always)]
    fn rows(&self) -> &[Row<T>] {
        let rows = self.rows.load(SeqCst);
        if rows.is_null() {
            return &[];
        }
        // SAFETY: a pointer that is not null came from a box of `most` pointers, which `rows_made`
        // left there. They are freed only when `self` is dropped.
        unsafe { std::slice::from_raw_parts(rows, self.most as usize) }
    }

    /// The same after they are allocated.
    fn rows_made(&self) -> &[Row<T>] {
        if self.rows.load(SeqCst).is_null() {
            let rows: Box<[Row<T>]> = (0..self.most).map(|_| AtomicPtr::default()).collect();
            let rows = Box::into_raw(rows);
            if self.rows.compare_exchange(ptr::null_mut(), rows.cast(), SeqCst, SeqCst).is_err() {
                // SAFETY: the pointer came from `Box::into_raw` just now, and no other thread has
                // seen it.
                drop(unsafe { Box::from_raw(rows) });
            }
        }
        self.rows()
    }

    /// Frees a row with this number that was made by `make_row`.
    ///
    /// # Safety
    /// The row must have been taken out of `rows`, and no thread may use it.
    unsafe fn free(&self, number: usize, row: *mut Cell<T>) {
        if !row.is_null() {
            // SAFETY: `make_row` took the pointer from a box of this size. The caller says that
            // nothing else leads there.
            drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(row, self.size(number))) });
        }
    }
}

impl<T: Word> Index<(usize, usize)> for Late<T> {
    type Output = Cell<T>;
    #[inline(always)]
    fn index(&self, (number, i): (usize, usize)) -> &Cell<T> {
        let row = self.rows().get(number).map_or(ptr::null_mut(), |row| row.load(SeqCst));
        if row.is_null() {
            not_made(number);
        }
        let place = Spread::<T>::place_among(self.size(number), i);
        // SAFETY: `row` leads to as many variables as `size` says, and `place` is less. The row is
        // freed when `self` is dropped, or when a text says that no process uses it until it is
        // made again.
        unsafe { &*row.add(place) }
    }
}

#[cold]
#[inline(never)]
fn not_made(number: usize) -> ! {
    panic!("row {number} is not made yet");
}

impl<T: Word> std::fmt::Debug for Late<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let made = self.rows().iter().filter(|row| !row.load(SeqCst).is_null()).count();
        f.debug_struct("Late").field("made", &made).field("of", &self.most).finish_non_exhaustive()
    }
}

impl<T: Word> Drop for Late<T> {
    fn drop(&mut self) {
        let rows = *self.rows.get_mut();
        if rows.is_null() {
            return;
        }
        // SAFETY: the pointer came from `Box::into_raw` of a box of `most` pointers, and `&mut
        // self` proves that no other thread uses the box.
        let mut rows = unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(rows, self.most as usize)) };
        for (number, row) in rows.iter_mut().enumerate() {
            // SAFETY: for the same reason, no other thread uses the row.
            unsafe { self.free(number, *row.get_mut()) };
        }
    }
}

impl LateRows for Native {
    type Late<T: Word> = Late<T>;

    fn late_rows<T: Word>(&self, _: Name<()>, first: usize, rows: usize, decl: Decl<'_, T>) -> Late<T> {
        assert!(decl.width == 64, "variables of rows that are made late have 64 bits");
        let small = |n: usize| u32::try_from(n).expect("rows begin small");
        Late::of_word_early(small(first), small(rows.min(MOST_ROWS)), decl.init.pack())
    }

    #[cold]
    fn make_row<T: Word>(&self, late: &Late<T>, number: usize) -> bool {
        let Some(place) = late.rows_made().get(number) else { return false };
        if place.load(SeqCst).is_null() {
            let row = Spread::new((0..late.size(number)).map(|_| T::unpack(late.init).into()));
            let row: *mut Cell<T> = Box::into_raw(row.into_cells()).cast();
            if place.compare_exchange(ptr::null_mut(), row, SeqCst, SeqCst).is_err() {
                // SAFETY: the pointer came from `Box::into_raw` just now, and no other thread has
                // seen it.
                unsafe { late.free(number, row) };
            }
        }
        true // this process's row, or another's
    }

    fn give_rows_back<T: Word>(&self, late: &Late<T>, kept: usize, _: Unused) -> bool {
        for (number, row) in late.rows().iter().enumerate().skip(kept) {
            // SAFETY: a text of the core says by `Unused` that no process uses a variable of these
            // rows until it has seen that the row is made again. Only this thread has taken the
            // pointer out.
            unsafe { late.free(number, row.swap(ptr::null_mut(), SeqCst)) };
        }
        true
    }
}
