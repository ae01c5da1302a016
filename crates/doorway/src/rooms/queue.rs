//! [`Queue`]: a bounded queue in two rooms.

// For dropping the values that are left.
#![allow(unsafe_code)]

use super::awaiting::{self, Doors, Ended, TakeTimeoutError, awaiting, doors};
use super::store::{Ring, put_many, put_one, take_many, take_one};
use super::{Full, RoomsBuildError};
use crate::native::{Native, now, sure};
use doorway_core::memory::{Process, Site};
use doorway_core::rooms::blelloch_cheng_gibbons_01::{RoomQueue, Whole};
use std::fmt;
use std::time::{Duration, Instant};

/// A bounded queue, first in, first out. Threads that push are in one room and threads that pop in
/// another, and within a room no thread waits for another.
///
/// A push waits while other threads pop, and the other way round, but never for ever. Neither waits
/// because the queue is full or empty: it returns at once. [`take`](Self::take) and its variants
/// wait for a value. A batch is one visit: its values are adjacent in the queue.
///
/// # When not to use this
/// For one value at a time, `crossbeam_queue::ArrayQueue` takes a fraction of the time. See
/// `docs/rooms.md`.
///
/// # Examples
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
/// # Ok::<(), doorway::rooms::RoomsBuildError>(())
/// ```
///
/// Sharing the queue sends values between threads, so the values must be `Send`:
///
/// ```compile_fail,E0277
/// let queue = doorway::rooms::Queue::new(1).unwrap();
/// queue.push(std::rc::Rc::new(1)).unwrap();
/// std::thread::scope(|s| { s.spawn(|| queue.pop()); });
/// ```
pub struct Queue<T> {
    text: RoomQueue<Native, Doors, Ring<T>, Whole>,
}

impl<T> Queue<T> {
    /// Makes a queue for this many values, rounded up to a power of two. Positions wrap around
    /// where the machine's numbers do, and must then continue without a gap.
    ///
    /// # Errors
    /// Returns an error if `capacity` is 0, or if there is not enough memory.
    pub fn new(capacity: usize) -> Result<Self, RoomsBuildError> {
        if capacity == 0 {
            return Err(RoomsBuildError::NoCapacity);
        }
        let too_large = RoomsBuildError::TooLarge { asked: capacity };
        let slots = capacity.checked_next_power_of_two().ok_or(too_large)?;
        let (memory, ring) = (Native::new(), Ring::new(slots).ok_or(too_large)?);
        let text = RoomQueue::new(&Site::new(&memory), slots, u64::BITS, ring, doors);
        Ok(Self { text })
    }

    #[inline(always)]
    fn anyone(&self) -> &Process<Native> {
        &self.text.rooms().rooms().anyone
    }

    /// The number of values that fit.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.text.size()
    }

    /// The number of values. It may have changed by the time you look at it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.text.extent_now(self.anyone()).1
    }

    /// Whether the queue is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts a value at the end.
    ///
    /// # Errors
    /// Gives the value back if the queue is full or [closed](Self::close).
    #[inline]
    pub fn push(&self, value: T) -> Result<(), Full<T>> {
        put_one(value, |hand| {
            // If the queue is closed, nothing is moved.
            let _ = self.text.enqueue_now(self.anyone(), hand, 1);
        })
        .map_err(Full)
    }

    /// Puts the first values of a batch at the end, in one visit, until the queue is full. Returns
    /// how many were put. The others stay in the vector; if the queue is closed, all of them do.
    pub fn push_all(&self, values: &mut Vec<T>) -> usize {
        if values.is_empty() {
            return 0;
        }
        put_many(values, |hand, count| {
            let _ = self.text.enqueue_now(self.anyone(), hand, count);
        })
    }

    /// Takes the first value.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        take_one(|hand| {
            let _ = self.text.dequeue_now(self.anyone(), hand, 1);
        })
    }

    /// Takes up to `most` of the first values, in one visit.
    #[must_use]
    pub fn pop_many(&self, most: usize) -> Vec<T> {
        let mut values = Vec::new();
        self.pop_into(&mut values, most);
        values
    }

    /// [`pop_many`](Self::pop_many) to the end of a vector. Returns how many values were taken.
    pub fn pop_into(&self, values: &mut Vec<T>, most: usize) -> usize {
        let most = most.min(self.capacity());
        take_many(values, most, |hand| {
            let _ = self.text.dequeue_now(self.anyone(), hand, most);
        })
    }
}

awaiting! { [T] Queue<T>, "first", "Queue::new"; }

/// Drops the values that are left.
impl<T> Drop for Queue<T> {
    fn drop(&mut self) {
        let (slot, count) = self.text.extent_now(self.anyone());
        // SAFETY: no thread is inside, so `count` slots from `slot` on have values. They are not
        // used afterwards.
        unsafe { self.text.store_mut().drop_values(slot, count) };
    }
}

impl<T> fmt::Debug for Queue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("capacity", &self.capacity()).field("len", &self.len()).finish_non_exhaustive()
    }
}
