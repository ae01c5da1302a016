//! [`Queue`]: a bounded queue in two rooms.

// As `cells`.
#![allow(unsafe_code)]

use super::cells::{Batch, Cells};
use super::names::Side;
use super::{BuildError, Full, Rooms};
use crossbeam_utils::CachePadded;
use std::fmt;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// A bounded queue, first in, first out: those who push are in one room, those who pop in another, and within a room nobody waits for anybody.
///
/// ```
/// use doorway::rooms::Queue;
/// let queue = Queue::new(3)?;
/// assert_eq!(queue.capacity(), 4); // rounded up to a power of two
/// let mut batch = vec![1, 2, 3, 4, 5, 6];
/// assert_eq!(queue.push_all(&mut batch), 4);
/// assert_eq!(batch, [5, 6]); // they did not fit
/// assert_eq!(queue.push(7).unwrap_err().0, 7);
/// assert_eq!(queue.pop(), Some(1));
/// assert_eq!(queue.pop_many(9), [2, 3, 4]);
/// assert_eq!(queue.pop(), None);
/// # Ok::<(), doorway::rooms::BuildError>(())
/// ```
///
/// A push waits while others pop and the other way round, but not for ever, and never because the queue is full or empty: that is told at once. A batch is one visit: its values are neighbours in the queue.
///
/// Who shares it sends values, so values must be able to be sent:
///
/// ```compile_fail,E0277
/// let queue = doorway::rooms::Queue::new(1).unwrap();
/// queue.push(std::rc::Rc::new(1)).unwrap();
/// std::thread::scope(|s| { s.spawn(|| queue.pop()); });
/// ```
///
/// # When not to use this
/// For one value at a time `crossbeam_queue::ArrayQueue` takes a fraction of the time. See `docs/rooms.md`.
pub struct Queue<T> {
    rooms: Rooms<Side>,
    cells: Cells<T>,
    /// How many were ever pushed, and popped; they wrap around. While visitors find it full or empty, for a moment too large.
    top: CachePadded<AtomicUsize>,
    bottom: CachePadded<AtomicUsize>,
}

// SAFETY: values are moved in by some and out by others, never shared; which places are whose is decided by `top` and `bottom`, and those who write a place and those who read it are in different rooms.
unsafe impl<T: Send> Sync for Queue<T> {}

impl<T> Queue<T> {
    /// Room for this many values, rounded up to a power of two: positions wrap where the machine's numbers do, and must then go on without a gap.
    ///
    /// # Errors
    /// If it is 0, or if there is no memory for so many.
    pub fn new(capacity: usize) -> Result<Self, BuildError> {
        if capacity == 0 {
            return Err(BuildError::NoCapacity);
        }
        let too_large = BuildError::TooLarge { asked: capacity };
        // Twice as many must fit a signed number, with what visitors add for a moment.
        let places = capacity.checked_next_power_of_two().filter(|&places| places <= 1 << 40).ok_or(too_large)?;
        Ok(Self {
            rooms: Rooms::named(),
            cells: Cells::new(places).ok_or(too_large)?,
            top: CachePadded::new(AtomicUsize::new(0)),
            bottom: CachePadded::new(AtomicUsize::new(0)),
        })
    }

    /// How many fit.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.cells.len()
    }

    /// How many values there are. It may be different when you look at it.
    #[must_use]
    pub fn len(&self) -> usize {
        let between = self.top.load(SeqCst).wrapping_sub(self.bottom.load(SeqCst)) as isize;
        usize::try_from(between).unwrap_or(0).min(self.capacity())
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts a value at the end.
    ///
    /// # Errors
    /// If it is full: the value comes back.
    #[inline]
    pub fn push(&self, value: T) -> Result<(), Full<T>> {
        let value = MaybeUninit::new(value);
        let inside = self.rooms.visit(Side::Push);
        // SAFETY: inside the room of those who push, with one value.
        let fits = unsafe { self.put(value.as_ptr(), 1) };
        self.rooms.leave(inside);
        // SAFETY: it did not go, so it is here.
        if fits == 1 { Ok(()) } else { Err(Full(unsafe { value.assume_init() })) }
    }

    /// Puts the first values of a batch at the end, as many as fit, in one visit; how many. The others stay in the vector.
    pub fn push_all(&self, values: &mut Vec<T>) -> usize {
        if values.is_empty() {
            return 0;
        }
        let mut batch = Batch::new(values);
        let inside = self.rooms.visit(Side::Push);
        // SAFETY: inside the room of those who push; the batch has as many values, and is told how many went.
        unsafe {
            let fits = self.put(batch.next(), batch.left());
            batch.went(fits);
        }
        self.rooms.leave(inside);
        batch.end()
    }

    /// Takes the first value.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        let mut value = MaybeUninit::uninit();
        let inside = self.rooms.visit(Side::Pop);
        // SAFETY: inside the room of those who pop, with room for one.
        let got = unsafe { self.take(value.as_mut_ptr(), 1) };
        self.rooms.leave(inside);
        // SAFETY: there is one if there was one.
        (got == 1).then(|| unsafe { value.assume_init() })
    }

    /// Takes up to so many of the first values, in one visit.
    #[must_use]
    pub fn pop_many(&self, most: usize) -> Vec<T> {
        let mut values = Vec::new();
        self.pop_into(&mut values, most);
        values
    }

    /// The same, at the end of a vector; how many.
    pub fn pop_into(&self, values: &mut Vec<T>, most: usize) -> usize {
        let most = most.min(self.capacity());
        values.reserve(most);
        let inside = self.rooms.visit(Side::Pop);
        // SAFETY: inside the room of those who pop, with room for as many.
        let got = unsafe { self.take(values.as_mut_ptr().add(values.len()), most) };
        self.rooms.leave(inside);
        // SAFETY: so many were moved there.
        unsafe { values.set_len(values.len() + got) };
        got
    }

    /// # Safety
    /// The caller is inside the room of those who push, and `count` values lie at `from`. Those that were put are not used from there any more.
    #[inline(always)]
    unsafe fn put(&self, from: *const T, count: usize) -> usize {
        // More can never fit, and the sum of what all visitors ask for must not run over.
        let (count, places) = (count.min(self.capacity()), self.capacity());
        let top = self.top.fetch_add(count, SeqCst);
        let taken = top.wrapping_sub(self.bottom.load(SeqCst));
        let fits = places.saturating_sub(taken).min(count);
        if fits < count {
            self.top.fetch_sub(count - fits, SeqCst);
        }
        let at = top & (places - 1);
        let before_end = fits.min(places - at);
        // SAFETY: these places were given to this visit alone: `top` grew beyond them, and once a visitor has found it full, it stays too large for all others until the turn is over. Nobody pops in this turn.
        unsafe {
            self.cells.put(at, from, before_end);
            self.cells.put(0, from.add(before_end), fits - before_end);
        }
        fits
    }

    /// # Safety
    /// The caller is inside the room of those who pop, and there is room for `count` values at `to`.
    #[inline(always)]
    unsafe fn take(&self, to: *mut T, count: usize) -> usize {
        let places = self.capacity();
        let bottom = self.bottom.fetch_add(count, SeqCst);
        // Negative, if others have found it empty and not yet said so.
        let there = self.top.load(SeqCst).wrapping_sub(bottom) as isize;
        let got = usize::try_from(there).unwrap_or(0).min(count);
        if got < count {
            self.bottom.fetch_sub(count - got, SeqCst);
        }
        let at = bottom & (places - 1);
        let before_end = got.min(places - at);
        // SAFETY: there are values at these places, put in an earlier turn, and they were given to this visit alone, as above.
        unsafe {
            self.cells.take(at, to, before_end);
            self.cells.take(0, to.add(before_end), got - before_end);
        }
        got
    }
}

/// What is left is dropped.
impl<T> Drop for Queue<T> {
    fn drop(&mut self) {
        let (places, at) = (self.capacity(), *self.bottom.get_mut() & (self.capacity() - 1));
        let left = self.top.get_mut().wrapping_sub(*self.bottom.get_mut());
        let before_end = left.min(places - at);
        // SAFETY: `left` places from `bottom` on have values, and nobody is inside.
        unsafe {
            self.cells.drop_values(at..at + before_end);
            self.cells.drop_values(0..left - before_end);
        }
    }
}

impl<T> fmt::Debug for Queue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("capacity", &self.capacity()).field("len", &self.len()).finish_non_exhaustive()
    }
}
