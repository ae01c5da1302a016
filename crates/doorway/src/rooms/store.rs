//! Values of any type in plain memory, and the hands that move them.

// The texts that call this decide which user may touch which slot, and when. The compiler cannot
// know.
#![allow(unsafe_code)]

use crate::native::Native;
use doorway_core::memory::{Here, Label};
use doorway_core::rooms::blelloch_cheng_gibbons_01::{SegmentStore, Store};
use std::cell::UnsafeCell;
use std::convert::Infallible;
use std::fmt;
use std::future::{Future, ready};
use std::mem::MaybeUninit;
use std::panic::RefUnwindSafe;

/// The largest number of slots in a structure, so that positions do not overflow: 2^40, or 2^30
/// where a `usize` has 32 bits. The segments of a stack have twice as many in all.
const MOST_SLOTS: usize = 1 << if usize::BITS > 41 { 40 } else { usize::BITS - 2 };

/// A number of slots, in plain memory. Dropping this drops no values.
struct Cells<T>(Box<[UnsafeCell<MaybeUninit<T>>]>);

impl<T> Cells<T> {
    /// Returns `None` if there is not enough memory.
    fn new(slots: usize) -> Option<Self> {
        let mut cells = Vec::new();
        cells.try_reserve_exact(slots).ok()?;
        // SAFETY: the memory for `slots` slots is reserved, and a slot that may be uninitialized
        // needs no value.
        unsafe { cells.set_len(slots) };
        Some(Self(cells.into_boxed_slice()))
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    /// The address of the value in a slot.
    ///
    /// # Safety
    /// The slot exists, or it is the one after the last.
    #[inline(always)]
    unsafe fn at(&self, slot: usize) -> *mut T {
        debug_assert!(slot <= self.0.len());
        // SAFETY: the address is within the slots, or one after them. A cell has the layout of its
        // value.
        unsafe { self.0.as_ptr().add(slot).cast::<T>().cast_mut() }
    }

    /// Drops the values of these slots.
    ///
    /// # Safety
    /// The slots have values, which are not used any more.
    unsafe fn drop_values(&mut self, slots: std::ops::Range<usize>) {
        let cells = &mut self.0[slots];
        // SAFETY: each slot has a value, and it is dropped once. A cell has the layout of its
        // value. The values form one slice, so the others are dropped even if a destructor panics.
        unsafe { std::ptr::slice_from_raw_parts_mut(cells.as_mut_ptr().cast::<T>(), cells.len()).drop_in_place() };
    }
}

/// Values in a caller's hands, or space for some. Only the functions of this file make it, for one
/// call of a text.
pub(super) struct Hand<T> {
    /// The next value to put, or the next place for a value that is taken.
    next: *mut T,
    /// How many values were put or taken.
    moved: usize,
    /// How many values or places there were.
    all: usize,
}

impl<T> Hand<T> {
    fn new(next: *mut T, all: usize) -> Self {
        Self { next, moved: 0, all }
    }

    /// # Safety
    /// At least `count` values or places are left.
    #[inline(always)]
    unsafe fn moved(&mut self, count: usize) {
        debug_assert!(count <= self.all - self.moved);
        self.moved += count;
        // SAFETY: the caller guarantees that at least `count` were left.
        self.next = unsafe { self.next.add(count) };
    }
}

/// Lets `put` put a value somewhere. Returns the value as an error if `put` did not.
#[inline(always)]
pub(super) fn put_one<T>(value: T, put: impl FnOnce(&mut Hand<T>)) -> Result<(), T> {
    let mut value = MaybeUninit::new(value);
    let mut hand = Hand::new(value.as_mut_ptr(), 1);
    put(&mut hand);
    match hand.moved {
        // SAFETY: the value was not moved, so it is still here.
        0 => Err(unsafe { value.assume_init() }),
        _ => Ok(()),
    }
}

/// Lets `put` put the first values of a vector somewhere; it decides how many. The others move up.
/// Returns how many were put.
pub(super) fn put_many<T>(values: &mut Vec<T>, put: impl FnOnce(&mut Hand<T>, usize)) -> usize {
    /// Restores the vector, even if `put` panics.
    struct Rest<'a, T>(&'a mut Vec<T>, Hand<T>);

    impl<T> Drop for Rest<'_, T> {
        fn drop(&mut self) {
            let (left, to) = (self.1.all - self.1.moved, self.0.as_mut_ptr());
            // SAFETY: `left` values begin at `next`, after those that were moved, all within the
            // vector.
            unsafe {
                to.copy_from(self.1.next, left);
                self.0.set_len(left);
            }
        }
    }

    let all = values.len();
    let hand = Hand::new(values.as_mut_ptr(), all);
    // SAFETY: a length of 0 is always valid. Until `Rest` restores it, the vector does not drop
    // values that may have been moved.
    unsafe { values.set_len(0) };
    let mut rest = Rest(values, hand);
    put(&mut rest.1, all);
    rest.1.moved
}

/// Lets `take` take a value from somewhere. Returns `None` if it did not.
#[inline(always)]
pub(super) fn take_one<T>(take: impl FnOnce(&mut Hand<T>)) -> Option<T> {
    let mut value = MaybeUninit::uninit();
    let mut hand = Hand::new(value.as_mut_ptr(), 1);
    take(&mut hand);
    // SAFETY: a value was moved here.
    (hand.moved == 1).then(|| unsafe { value.assume_init() })
}

/// Lets `take` take up to `most` values from somewhere, to the end of a vector. Returns how many
/// were taken.
pub(super) fn take_many<T>(values: &mut Vec<T>, most: usize, take: impl FnOnce(&mut Hand<T>)) -> usize {
    values.reserve(most);
    let before = values.len();
    // SAFETY: there is space for `most` more.
    let mut hand = Hand::new(unsafe { values.as_mut_ptr().add(before) }, most);
    take(&mut hand);
    // SAFETY: `hand.moved` values were moved there.
    unsafe { values.set_len(before + hand.moved) };
    hand.moved
}

fn done() -> impl Future<Output = Result<(), Infallible>> {
    ready(Ok(()))
}

/// Slots in a ring: for a queue, or for a stack that does not grow.
pub(super) struct Ring<T>(Cells<T>);

// SAFETY: only the texts of the stack and the queue reach the slots. They give a slot to one user
// at a time: to write it in a turn of one room, and to read it in a turn of the other. A turn
// happens after everything that was done in earlier turns. So sharing this sends each value from
// the thread that puts it to the thread that takes it, and shares none.
unsafe impl<T: Send> Sync for Ring<T> {}

/// Values are moved in and out whole, and no user code runs meanwhile.
impl<T> RefUnwindSafe for Ring<T> {}

impl<T> Ring<T> {
    /// Returns `None` if this number of slots is not possible, or if there is not enough memory.
    pub(super) fn new(slots: usize) -> Option<Self> {
        if slots > MOST_SLOTS { None } else { Cells::new(slots).map(Self) }
    }

    /// Drops `count` values, from this slot on.
    ///
    /// # Safety
    /// The slots have values, which are not used any more.
    pub(super) unsafe fn drop_values(&mut self, slot: usize, count: usize) {
        let before_end = count.min(self.0.len() - slot);
        let cells = Rest(&mut self.0, 0..count - before_end);
        // SAFETY: the same condition. The others are dropped after these, even if a destructor
        // panics.
        unsafe { cells.0.drop_values(slot..slot + before_end) };
    }
}

/// Values that are dropped with this. It is made only of slots that have values.
struct Rest<'a, T>(&'a mut Cells<T>, std::ops::Range<usize>);

impl<T> Drop for Rest<'_, T> {
    fn drop(&mut self) {
        // SAFETY: the slots have values, as the maker of this knows, and they are not used any
        // more.
        unsafe { self.0.drop_values(self.1.clone()) };
    }
}

impl<T> Store<Native> for Ring<T> {
    type Hand = Hand<T>;

    #[inline(always)]
    fn told(_: &Hand<T>) -> impl fmt::Debug {}

    #[inline(always)]
    fn put(
        &self,
        _: Here<'_, Native>,
        _: Label,
        slot: usize,
        count: usize,
        hand: &mut Hand<T>,
    ) -> impl Future<Output = Result<(), Infallible>> {
        // SAFETY: the text names slots that exist, and which this user alone has until the turn is
        // over. It asks for no more values than the hand has.
        unsafe {
            let before_end = count.min(self.0.len() - slot);
            if count == 1 {
                self.0.at(slot).copy_from_nonoverlapping(hand.next, 1);
            } else {
                self.0.at(slot).copy_from_nonoverlapping(hand.next, before_end);
            }
            hand.moved(before_end);
            if before_end < count {
                self.0.at(0).copy_from_nonoverlapping(hand.next, count - before_end);
                hand.moved(count - before_end);
            }
        }
        done()
    }

    #[inline(always)]
    fn take(
        &self,
        _: Here<'_, Native>,
        _: Label,
        slot: usize,
        count: usize,
        hand: &mut Hand<T>,
    ) -> impl Future<Output = Result<(), Infallible>> {
        // SAFETY: as above; and the slots have values from an earlier turn, which no other user
        // takes.
        unsafe {
            let before_end = count.min(self.0.len() - slot);
            if count == 1 {
                hand.next.copy_from_nonoverlapping(self.0.at(slot), 1);
            } else {
                hand.next.copy_from_nonoverlapping(self.0.at(slot), before_end);
            }
            hand.moved(before_end);
            if before_end < count {
                hand.next.copy_from_nonoverlapping(self.0.at(0), count - before_end);
                hand.moved(count - before_end);
            }
        }
        done()
    }
}

const SEGMENTS: usize = 40;

/// Slots in segments, each twice as long as the one before: for stacks that grow.
pub(super) struct Segmented<T> {
    /// The number of slots in the first segment: a power of two.
    first: usize,
    segments: [UnsafeCell<Option<Cells<T>>>; SEGMENTS],
}

// SAFETY: as for `Ring`. The table is changed only by the last user to leave a room, when no user
// is inside. That happens after everything that was done inside, and before everything that will be
// done inside.
unsafe impl<T: Send> Sync for Segmented<T> {}

/// As for `Ring`.
impl<T> RefUnwindSafe for Segmented<T> {}

impl<T> Segmented<T> {
    /// Makes a first segment with this many slots, rounded up to a power of two. Returns `None` if
    /// this number is not possible, or if there is not enough memory.
    pub(super) fn new(slots: usize) -> Option<Self> {
        let first = slots.checked_next_power_of_two().filter(|&first| first <= MOST_SLOTS)?;
        let mut segments = [const { UnsafeCell::new(None) }; SEGMENTS];
        *segments[0].get_mut() = Some(Cells::new(first)?);
        Some(Self { first, segments })
    }

    /// The segment of a slot, and the slot's index in it.
    #[inline(always)]
    fn locate(&self, slot: usize) -> (usize, usize) {
        let from_first = slot + self.first;
        let segment = from_first.ilog2() - self.first.ilog2();
        (segment as usize, from_first - (self.first << segment))
    }

    /// # Safety
    /// The caller is inside a room, and the segment exists.
    #[inline(always)]
    unsafe fn segment(&self, segment: usize) -> &Cells<T> {
        // SAFETY: only the last user to leave changes the table, and no user is inside then.
        match unsafe { &*self.segments[segment].get() } {
            Some(cells) => cells,
            None => unreachable!("slots below the limit have a segment"),
        }
    }

    /// Calls `each` for the pieces of `count` slots from `slot` on, each piece in one segment, with
    /// its address and its length.
    ///
    /// # Safety
    /// The caller is inside a room, and the slots exist.
    #[inline(always)]
    unsafe fn pieces(&self, slot: usize, count: usize, mut each: impl FnMut(*mut T, usize)) {
        let mut done = 0;
        while done < count {
            let (segment, at) = self.locate(slot + done);
            // SAFETY: the slots exist, so this segment exists, and the slot is in it.
            unsafe {
                let cells = self.segment(segment);
                let piece = (count - done).min(cells.len() - at);
                each(cells.at(at), piece);
                done += piece;
            }
        }
    }

    /// Drops the first `left` values.
    ///
    /// # Safety
    /// The slots have values, which are not used any more.
    pub(super) unsafe fn drop_values(&self, mut left: usize) {
        let mut all = Vec::new();
        for segment in &self.segments {
            // SAFETY: the segment is not used any more, so this is the only reference.
            let Some(cells) = (unsafe { &mut *segment.get() }) else { break };
            let here = left.min(cells.len());
            left -= here;
            // Of the slots from here on, the first `left` have values.
            all.push(Rest(cells, 0..here));
        }
        // All of them are dropped, even if a destructor panics.
    }
}

impl<T> Store<Native> for Segmented<T> {
    type Hand = Hand<T>;

    #[inline(always)]
    fn told(_: &Hand<T>) -> impl fmt::Debug {}

    #[inline(always)]
    fn put(
        &self,
        _: Here<'_, Native>,
        _: Label,
        slot: usize,
        count: usize,
        hand: &mut Hand<T>,
    ) -> impl Future<Output = Result<(), Infallible>> {
        // SAFETY: as for a ring.
        unsafe {
            self.pieces(slot, count, |to, piece| {
                to.copy_from_nonoverlapping(hand.next, piece);
                hand.moved(piece);
            });
        }
        done()
    }

    #[inline(always)]
    fn take(
        &self,
        _: Here<'_, Native>,
        _: Label,
        slot: usize,
        count: usize,
        hand: &mut Hand<T>,
    ) -> impl Future<Output = Result<(), Infallible>> {
        // SAFETY: as for a ring.
        unsafe {
            self.pieces(slot, count, |from, piece| {
                hand.next.copy_from_nonoverlapping(from, piece);
                hand.moved(piece);
            });
        }
        done()
    }
}

impl<T> SegmentStore<Native> for Segmented<T> {
    #[inline(always)]
    fn most_segments(&self) -> usize {
        SEGMENTS
    }

    #[inline(always)]
    fn slots(&self, segments: usize) -> usize {
        (self.first << segments) - self.first
    }

    fn grow(&self, segment: usize) -> bool {
        // `MOST_SLOTS` for each segment is beyond any memory. Values without a size need none.
        let slots = Some(segment).filter(|&segment| segment < SEGMENTS && self.first <= MOST_SLOTS >> segment);
        let Some(cells) = slots.and_then(|segment| Cells::new(self.first << segment)) else { return false };
        // SAFETY: the last user to leave calls this, no user is inside, and users that come later
        // see it.
        unsafe { *self.segments[segment].get() = Some(cells) };
        true
    }
}
