//! Rows that are made when they are needed, and may go back.

#![allow(unsafe_code)]

use super::cells::{Cell, Spread};
use super::handle::Native;
use doorway_core::memory::{Decl, LateRows, Name, Pid, Process, Word};
use std::marker::PhantomData;
use std::ops::Index;
use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::SeqCst;

/// Rows of variables, each twice as long as the one before it. A row is allocated when it is
/// needed, and freed with the object. If the memory [frees rows](Native::freeing_rows), it is freed
/// when a text gives it back.
pub struct Late<T: Word> {
    /// One pointer for each row; null until a row is made.
    rows: AtomicPtr<Rows<T>>,
    /// The initial value.
    init: u64,
    first: u32,
    most: u16,
    /// Whether rows that a text gives back are freed.
    frees: bool,
    owns: PhantomData<Spread<T>>,
}

/// The first variable of a row, or null if the row is not there.
type Row<T> = AtomicPtr<Cell<T>>;
type Rows<T> = [Row<T>; MOST_ROWS];

/// The largest number of rows of one object. The last one would have more variables than a machine
/// has memory.
const MOST_ROWS: usize = 32;

impl<T: Word> Late<T> {
    /// Rows of which none is made yet, for use before the program runs. Their variables will have
    /// this word.
    pub(crate) const fn of_word_early(first: u32, most: usize, init: u64) -> Self {
        assert!(most <= MOST_ROWS, "there are too many rows");
        let most = most as u16;
        Self { rows: AtomicPtr::new(ptr::null_mut()), init, first, most, frees: false, owns: PhantomData }
    }

    /// The same, of a memory that [frees rows](Native::freeing_rows).
    ///
    /// # Safety
    /// As there.
    const unsafe fn freeing_rows(mut self) -> Self {
        self.frees = true;
        self
    }

    /// The same, for [objects whose callers have guards](OF_GUARDS).
    pub(crate) const fn of_guards(self) -> Self {
        // SAFETY: as for `OF_GUARDS`.
        unsafe { self.freeing_rows() }
    }

    /// The number of variables of a row.
    #[inline(always)]
    fn size(&self, number: usize) -> usize {
        (self.first as usize) << number
    }

    /// Where the rows are; nothing before a row is made.
    #[inline(always)]
    fn rows(&self) -> Option<&Rows<T>> {
        // SAFETY: a pointer that is not null came from a box, which `rows_made` left there. It is
        // freed only when `self` is dropped.
        unsafe { self.rows.load(SeqCst).as_ref() }
    }

    /// The same after they are allocated.
    fn rows_made(&self) -> &Rows<T> {
        self.rows().unwrap_or_else(|| {
            let new = Box::into_raw(Box::new(std::array::from_fn(|_| AtomicPtr::default())));
            let rows = match self.rows.compare_exchange(ptr::null_mut(), new, SeqCst, SeqCst) {
                Ok(_) => new,
                Err(rows) => {
                    // SAFETY: the pointer came from `Box::into_raw` just now, and no other thread
                    // has seen it.
                    drop(unsafe { Box::from_raw(new) });
                    rows
                }
            };
            // SAFETY: as in `rows`.
            unsafe { &*rows }
        })
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
        let row = self.rows().and_then(|rows| rows.get(number)).map_or(ptr::null_mut(), |row| row.load(SeqCst));
        if row.is_null() {
            not_made(number);
        }
        let place = Spread::<T>::place_among(self.size(number), i);
        // SAFETY: `row` leads to as many variables as `size` says, and `place` is less. The row is
        // freed when `self` is dropped, or when a text says that no process uses it until it is
        // made again: see `give_rows_back`.
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
        let made = self.rows().into_iter().flatten().filter(|row| !row.load(SeqCst).is_null()).count();
        f.debug_struct("Late").field("made", &made).field("of", &self.most).finish_non_exhaustive()
    }
}

impl<T: Word> Drop for Late<T> {
    fn drop(&mut self) {
        let rows = *self.rows.get_mut();
        if rows.is_null() {
            return;
        }
        // SAFETY: the pointer came from `Box::into_raw`, and `&mut self` proves that no other
        // thread uses it.
        let mut rows = unsafe { Box::from_raw(rows) };
        for (number, row) in rows.iter_mut().enumerate() {
            // SAFETY: for the same reason, no other thread uses the row.
            unsafe { self.free(number, *row.get_mut()) };
        }
    }
}

/// Builds `Slots`.
// SAFETY: `Slots` run a text of the core that the checker searches with rows that go back. They
// keep the text to themselves. Callers reach it by guards and futures, which give back once what
// they got, when they are dropped. If they are leaked, their process seems to have died in line or
// inside, and then the rows stay.
pub(crate) static OF_GUARDS: Process<Native> = Process::new(Pid::new(0), unsafe { Native::new().freeing_rows() });

impl Native {
    /// The same handle, for objects that free memory under way: rows of variables that a text
    /// [gives back](LateRows::give_rows_back). Without it, they are used again, and freed with the
    /// object.
    ///
    /// # Safety
    /// All texts that are built with this handle are texts of `doorway-core`, with nothing but this
    /// memory below them. Their callers keep to the rules:
    /// - A process that has entered leaves once, with what it got from the entry.
    /// - An attempt that waits is continued, given up or leaked by the process that made it, once.
    /// - A caller that runs the parts of an entry or an exit by themselves runs them in the order
    ///   of the whole. It accesses a record only while its process is in line with the ticket of
    ///   that record, and keeps no reference to the record when it leaves the line.
    /// - No caller calls what the texts call of each other, such as the methods of `Line` and
    ///   [`give_rows_back`](LateRows::give_rows_back).
    #[must_use]
    pub const unsafe fn freeing_rows(mut self) -> Self {
        self.frees_rows = true;
        self
    }
}

impl LateRows for Native {
    type Late<T: Word> = Late<T>;

    fn late_rows<T: Word>(&self, _: Name<()>, first: usize, rows: usize, decl: Decl<'_, T>) -> Late<T> {
        assert!(decl.width == 64, "variables of rows that are made late have 64 bits");
        let small = |n: usize| u32::try_from(n).expect("rows begin small");
        let mut late = Late::of_word_early(small(first), rows.min(MOST_ROWS), decl.init.pack());
        late.frees = self.frees_rows;
        late
    }

    #[cold]
    fn make_row<T: Word>(&self, late: &Late<T>, number: usize) -> bool {
        if number >= usize::from(late.most) {
            return false;
        }
        let place = &late.rows_made()[number];
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

    fn give_rows_back<T: Word>(&self, late: &Late<T>, kept: usize) -> bool {
        if !late.frees {
            return false;
        }
        for (number, row) in late.rows().into_iter().flatten().enumerate().skip(kept) {
            // SAFETY: a text has declared these rows. It says that no process uses a variable of
            // them until it has seen that the row is made again. That is true, because the caller
            // of `freeing_rows` promised that the text is a checked one, and that its callers keep
            // to the rules. Only this thread has taken the pointer out.
            unsafe { late.free(number, row.swap(ptr::null_mut(), SeqCst)) };
        }
        true
    }
}
