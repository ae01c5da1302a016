//! [`Queue`]: a bounded queue in two rooms.

// What is left is dropped.
#![allow(unsafe_code)]

use super::awaiting::{self, Doors, Ended, TakeTimeoutError, awaiting, doors};
use super::store::{Ring, put_many, put_one, take_many, take_one};
use super::{Full, RoomsBuildError};
use crate::native::{Native, now, sure};
use doorway_core::memory::{Process, Site};
use doorway_core::rooms::blelloch_cheng_gibbons_01::{RoomQueue, Whole};
use std::fmt;
use std::time::{Duration, Instant};

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
/// # Ok::<(), doorway::rooms::RoomsBuildError>(())
/// ```
///
/// A push waits while others pop and the other way round, but not for ever, and never because the queue is full or empty: that is told at once. [`take`](Self::take) and its kin wait for a value. A batch is one visit: its values are neighbours in the queue.
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
    text: RoomQueue<Native, Doors, Ring<T>, Whole>,
}

impl<T> Queue<T> {
    /// Room for this many values, rounded up to a power of two: positions wrap where the machine's numbers do, and must then go on without a gap.
    ///
    /// # Errors
    /// If it is 0, or if there is no memory for so many.
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

    /// How many fit.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.text.size()
    }

    /// How many values there are. It may be different when you look at it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.text.extent_now(self.anyone()).1
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts a value at the end.
    ///
    /// # Errors
    /// If it is full or [closed](Self::close): the value comes back.
    #[inline]
    pub fn push(&self, value: T) -> Result<(), Full<T>> {
        put_one(value, |hand| {
            // If it is closed, nothing is moved.
            let _ = self.text.enqueue_now(self.anyone(), hand, 1);
        })
        .map_err(Full)
    }

    /// Puts the first values of a batch at the end, as many as fit, in one visit; how many. The others stay in the vector: all, if it is closed.
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
        take_many(values, most, |hand| {
            let _ = self.text.dequeue_now(self.anyone(), hand, most);
        })
    }
}

awaiting! { [T] Queue<T>, "first", "Queue"; }

/// What is left is dropped.
impl<T> Drop for Queue<T> {
    fn drop(&mut self) {
        let (slot, count) = self.text.extent_now(self.anyone());
        // SAFETY: nobody is inside, so `count` slots from `slot` on have values, and nobody uses them afterwards.
        unsafe { self.text.store_mut().drop_values(slot, count) };
    }
}

impl<T> fmt::Debug for Queue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("capacity", &self.capacity()).field("len", &self.len()).finish_non_exhaustive()
    }
}
