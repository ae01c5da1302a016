//! Places for values, of which only those inside the right room know which are taken.

// Whoever writes a place and whoever reads it are in different rooms: the compiler cannot know.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;

/// So many places. They are plain memory; dropping this drops no values.
pub(super) struct Cells<T>(Box<[UnsafeCell<MaybeUninit<T>>]>);

impl<T> Cells<T> {
    /// `None` if there is no memory for so many.
    pub(super) fn new(places: usize) -> Option<Self> {
        let mut cells = Vec::new();
        cells.try_reserve_exact(places).ok()?;
        // SAFETY: there is memory for so many, and a place that may be uninitialised needs no value.
        unsafe { cells.set_len(places) };
        Some(Self(cells.into_boxed_slice()))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Moves `count` values from `from` to the places that begin at `place`.
    ///
    /// # Safety
    /// There are as many places, nobody else touches them meanwhile, and as many values lie at `from`, which are not used from there any more.
    #[inline(always)]
    pub(super) unsafe fn put(&self, place: usize, from: *const T, count: usize) {
        debug_assert!(place + count <= self.0.len());
        // SAFETY: there are as many places, and they are ours; a cell has the layout of its value.
        unsafe {
            let to = self.0.as_ptr().add(place).cast::<T>().cast_mut();
            to.copy_from_nonoverlapping(from, count);
        }
    }

    /// Moves `count` values from the places that begin at `place` to `to`.
    ///
    /// # Safety
    /// As many values lie there, nobody else touches them meanwhile nor reads them again, and there is room for as many at `to`.
    #[inline(always)]
    pub(super) unsafe fn take(&self, place: usize, to: *mut T, count: usize) {
        debug_assert!(place + count <= self.0.len());
        // SAFETY: as above, the other way round.
        unsafe { to.copy_from_nonoverlapping(self.0.as_ptr().add(place).cast::<T>(), count) };
    }

    /// Drops the values of these places.
    ///
    /// # Safety
    /// There are values there.
    pub(super) unsafe fn drop_values(&mut self, places: std::ops::Range<usize>) {
        for cell in &mut self.0[places] {
            // SAFETY: there is a value, and it is dropped once, for nobody knows of it any more.
            unsafe { cell.get_mut().assume_init_drop() };
        }
    }
}

/// The first values of a batch go somewhere else, and the rest move up.
pub(super) struct Batch<'a, T> {
    values: &'a mut Vec<T>,
    all: usize,
    gone: usize,
}

impl<'a, T> Batch<'a, T> {
    pub(super) fn new(values: &'a mut Vec<T>) -> Self {
        let all = values.len();
        // SAFETY: none are fewer. Should somebody panic, values are leaked and not dropped twice.
        unsafe { values.set_len(0) };
        Self { values, all, gone: 0 }
    }

    /// How many have not gone.
    pub(super) fn left(&self) -> usize {
        self.all - self.gone
    }

    /// Where they begin.
    pub(super) fn next(&self) -> *const T {
        // SAFETY: within the vector, for no more have gone than there were.
        unsafe { self.values.as_ptr().add(self.gone) }
    }

    /// So many went.
    ///
    /// # Safety
    /// Their values are not used from here any more, and there were as many.
    pub(super) unsafe fn went(&mut self, count: usize) {
        debug_assert!(count <= self.left());
        self.gone += count;
    }

    /// How many went; the others are in the vector.
    pub(super) fn end(self) -> usize {
        self.gone
    }
}

impl<T> Drop for Batch<'_, T> {
    fn drop(&mut self) {
        let left = self.left();
        let values = self.values.as_mut_ptr();
        // SAFETY: `left` values begin after those that are gone, all within the vector.
        unsafe {
            values.copy_from(values.add(self.gone), left);
            self.values.set_len(left);
        }
    }
}
