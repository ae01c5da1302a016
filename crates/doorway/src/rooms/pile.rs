//! What stacks are made of: places one above the other, and how many are taken.

// As `cells`.
#![allow(unsafe_code)]

use super::cells::{Batch, Cells};
use crossbeam_utils::CachePadded;
use std::cell::UnsafeCell;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize};

const SEGMENTS: usize = 40;
/// So many can be put in one visit. It keeps `top` from running over, however many visit at a time.
const MOST_AT_ONCE: usize = 1 << 40;

/// A pile of values. All methods with `&self` are for those who are inside a room, or the last one out of it.
///
/// Segment `s` has `first * 2^s` places, and nothing ever moves from one to another.
pub(super) struct Pile<T, const GROWS: bool> {
    /// How many values there are; while visitors find that theirs do not fit, or that there are too few, for a moment more or less.
    top: CachePadded<AtomicIsize>,
    /// How many places. Changed by the last one out alone.
    places: CachePadded<AtomicUsize>,
    /// How many values did not fit in this turn.
    short: AtomicUsize,
    /// There was no memory for them.
    failed: AtomicBool,
    /// Of the first segment: a power of two, or more than all places.
    first: usize,
    segments: [UnsafeCell<Option<Cells<T>>>; SEGMENTS],
}

// SAFETY: values are moved in by some and out by others, never shared; which places are whose is decided by atomics, and the table is changed only by the last one out of a room, when nobody is inside: what it
// does happens after all that was done inside, and before all that will be.
unsafe impl<T: Send, const GROWS: bool> Sync for Pile<T, GROWS> {}

impl<T, const GROWS: bool> Pile<T, GROWS> {
    /// So many places to begin with; `None` if there is no memory for them.
    pub(super) fn new(places: usize) -> Option<Self> {
        let first = places.checked_next_power_of_two()?;
        let cells = Cells::new(if GROWS { first } else { places })?;
        let places = cells.len();
        let segments = [const { UnsafeCell::new(None) }; SEGMENTS];
        let mut pile = Self {
            top: CachePadded::new(AtomicIsize::new(0)),
            places: CachePadded::new(AtomicUsize::new(places)),
            short: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
            first,
            segments,
        };
        *pile.segments[0].get_mut() = Some(cells);
        Some(pile)
    }

    /// How many places there are.
    pub(super) fn places(&self) -> usize {
        self.places.load(SeqCst)
    }

    /// How many values there are, if nobody is inside.
    pub(super) fn len(&self) -> usize {
        usize::try_from(self.top.load(SeqCst)).unwrap_or(0)
    }

    /// In which segment a place is, and where there.
    #[inline(always)]
    fn locate(&self, place: usize) -> (usize, usize) {
        if !GROWS {
            return (0, place);
        }
        let from_first = place + self.first;
        let segment = from_first.ilog2() - self.first.ilog2();
        (segment as usize, from_first - (self.first << segment))
    }

    /// # Safety
    /// The caller is inside a room, or the last one out, and does not change the table; and there is such a segment.
    #[inline(always)]
    unsafe fn segment(&self, segment: usize) -> &Cells<T> {
        // SAFETY: only the last one out changes the table, and nobody is inside then.
        match unsafe { &*self.segments[segment].get() } {
            Some(cells) => cells,
            None => unreachable!("places below the limit have a segment"),
        }
    }

    /// Pieces of `count` places from `place` on: each in one segment.
    fn pieces(&self, place: usize, count: usize, mut each: impl FnMut(&Cells<T>, usize, usize, usize)) {
        let mut done = 0;
        while done < count {
            let (segment, at) = self.locate(place + done);
            // SAFETY: as `put` and `take` say.
            let cells = unsafe { self.segment(segment) };
            let piece = (count - done).min(cells.len() - at);
            each(cells, at, done, piece);
            done += piece;
        }
    }

    /// Puts as many as there is room for, the first ones; how many.
    ///
    /// # Safety
    /// The caller is inside the room of those who put, and `count` values lie at `from`. Those that were put are not used from there any more.
    #[inline(always)]
    pub(super) unsafe fn put(&self, from: *const T, count: usize) -> usize {
        let count = count.min(MOST_AT_ONCE);
        let top = self.top.fetch_add(count as isize, SeqCst) as usize;
        // Nobody takes in this turn, so `top` is not negative; what it is too large by others give back.
        let fits = self.places().saturating_sub(top).min(count);
        if fits < count {
            self.give_back(count - fits);
        }
        // SAFETY: places `top..top + fits` were given to this visit alone: `top` grew beyond them, and shrinks in this turn only by what did not fit. Nobody takes before the turn is over.
        self.pieces(top, fits, |cells, at, done, piece| unsafe { cells.put(at, from.add(done), piece) });
        fits
    }

    #[cold]
    fn give_back(&self, count: usize) {
        self.top.fetch_sub(count as isize, SeqCst);
        if GROWS {
            self.short.fetch_add(count, SeqCst);
        }
    }

    /// Takes up to `count` from the top, in the order in which they lie; how many.
    ///
    /// # Safety
    /// The caller is inside the room of those who take, and there is room for `count` values at `to`.
    #[inline(always)]
    pub(super) unsafe fn take(&self, to: *mut T, count: usize) -> usize {
        let count = count.min(MOST_AT_ONCE);
        let top = self.top.fetch_sub(count as isize, SeqCst);
        let got = usize::try_from(top).unwrap_or(0).min(count);
        if got < count {
            self.top.fetch_add((count - got) as isize, SeqCst);
        }
        // SAFETY: there are values at places `top - got..top`, put in an earlier turn, and they were given to this visit alone, as above.
        self.pieces(top.max(0) as usize - got, got, |cells, at, done, piece| unsafe {
            cells.take(at, to.add(done), piece);
        });
        got
    }

    /// Puts as many values of a batch as there is room for.
    ///
    /// # Safety
    /// The caller is inside the room of those who put.
    pub(super) unsafe fn put_batch(&self, batch: &mut Batch<'_, T>) {
        // SAFETY: the batch has as many values, and is told how many went.
        unsafe {
            let fits = self.put(batch.next(), batch.left());
            batch.went(fits);
        }
    }

    /// Whether there was no memory the last time that more was needed.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(SeqCst)
    }

    /// Makes room for what did not fit in the turn that is over.
    ///
    /// # Safety
    /// The caller is the last one out.
    pub(super) unsafe fn grow_if_short(&self) {
        if self.short.load(SeqCst) > 0 {
            // SAFETY: the same.
            unsafe { self.grow() };
        } else if self.has_failed() {
            self.failed.store(false, SeqCst);
        }
    }

    #[cold]
    unsafe fn grow(&self) {
        let needed = self.len().saturating_add(self.short.swap(0, SeqCst));
        self.failed.store(false, SeqCst);
        while self.places() < needed {
            let (segment, _) = self.locate(self.places());
            let size = self.first.checked_shl(segment as u32).filter(|_| segment < SEGMENTS);
            let Some(cells) = size.and_then(Cells::new) else {
                self.failed.store(true, SeqCst);
                return;
            };
            self.places.fetch_add(cells.len(), SeqCst);
            // SAFETY: nobody is inside, and whoever comes sees this.
            unsafe { *self.segments[segment].get() = Some(cells) };
        }
    }
}

/// What is left is dropped.
impl<T, const GROWS: bool> Drop for Pile<T, GROWS> {
    fn drop(&mut self) {
        let mut left = self.len();
        for segment in &mut self.segments {
            let Some(cells) = segment.get_mut() else { return };
            let here = left.min(cells.len());
            // SAFETY: the lowest `len` places have values, and nobody is inside.
            unsafe { cells.drop_values(0..here) };
            left -= here;
        }
    }
}
