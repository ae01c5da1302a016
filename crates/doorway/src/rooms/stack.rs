//! [`Stack`] and [`GrowingStack`].

// For dropping the values that are left.
#![allow(unsafe_code)]

use super::awaiting::{self, Doors, Ended, TakeTimeoutError, awaiting, doors};
use super::store::{Ring, Segmented, put_many, put_one, take_many, take_one};
use super::{Full, RoomsBuildError};
use crate::native::{Native, now, sure};
use doorway_core::memory::{Process, Site};
use doorway_core::rooms::Lit;
use doorway_core::rooms::blelloch_cheng_gibbons_01::{RoomStack, SegmentStack, Segments};
use std::fmt;
use std::time::{Duration, Instant};

/// A bounded stack, last in, first out. Threads that push are in one room and threads that pop in
/// another, and within a room no thread waits for another.
///
/// A push waits while other threads pop, and the other way round, but never for ever. Neither waits
/// because the stack is full or empty: it returns at once. [`take`](Self::take) and its variants
/// wait for a value.
///
/// # Examples
/// ```
/// use doorway::rooms::Stack;
/// let stack = Stack::new(3)?;
/// let mut batch = vec![1, 2, 3, 4];
/// assert_eq!(stack.push_all(&mut batch), 3);
/// assert_eq!(batch, [4]); // it did not fit
/// assert_eq!(stack.push(5).unwrap_err().0, 5);
/// assert_eq!(stack.pop(), Some(3));
/// assert_eq!(stack.pop_many(9), [1, 2]); // as they lay there: the last one was on top
/// assert_eq!(stack.pop(), None);
/// # Ok::<(), doorway::rooms::RoomsBuildError>(())
/// ```
///
/// Sharing the stack sends values between threads, so the values must be `Send`:
///
/// ```compile_fail,E0277
/// let stack = doorway::rooms::Stack::new(1).unwrap();
/// stack.push(std::rc::Rc::new(1)).unwrap();
/// std::thread::scope(|s| { s.spawn(|| stack.pop()); });
/// ```
pub struct Stack<T: Send> {
    text: RoomStack<Native, Doors, Ring<T>>,
}

impl<T: Send> Stack<T> {
    /// Makes a stack for this many values.
    ///
    /// # Errors
    /// Returns an error if `capacity` is 0, or if there is not enough memory.
    pub fn new(capacity: usize) -> Result<Self, RoomsBuildError> {
        let ring = slots(capacity, Ring::new)?;
        let text = RoomStack::new(&Site::new(&Native::new()), capacity, ring, doors);
        Ok(Self { text })
    }

    /// The number of values that fit.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.text.size()
    }

    /// The number of values. It may have changed by the time you look at it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.text.len_now(self.anyone())
    }

    /// Puts the first values of a batch on top, one above the other, in one visit, until the stack
    /// is full. Returns how many were put. The others stay in the vector; if the stack is closed,
    /// all of them do.
    pub fn push_all(&self, values: &mut Vec<T>) -> usize {
        if values.is_empty() {
            return 0;
        }
        put_many(values, |hand, count| {
            let _ = self.text.push_now(self.anyone(), hand, count);
        })
    }

    /// Puts a value on top.
    ///
    /// # Errors
    /// Gives the value back if the stack is full or [closed](Self::close).
    #[inline]
    pub fn push(&self, value: T) -> Result<(), Full<T>> {
        put_one(value, |hand| {
            // If the stack is closed, nothing is moved.
            let _ = self.text.push_now(self.anyone(), hand, 1);
        })
        .map_err(Full)
    }
}

awaiting! {
    [T: Send] Stack<T>, "topmost", "Stack::new";
    [T: Send] GrowingStack<T>, "topmost", "GrowingStack::with_capacity";
}

/// Drops the values that are left.
impl<T: Send> Drop for Stack<T> {
    fn drop(&mut self) {
        let left = self.len();
        // SAFETY: no thread is inside, so the first `left` slots have values. They are not used
        // afterwards.
        unsafe { self.text.store_mut().drop_values(0, left) };
    }
}

/// A stack that grows segment by segment. Each segment is twice as large as the one before, so no
/// value is ever moved. The last thread to leave the room for pushes makes room for the values that
/// did not fit.
///
/// It does not shrink. A batch is one visit, unless the stack has to grow for it. Then the values
/// that did not fit follow in the next turns, one turn for each segment, and other threads may have
/// pushed in between.
///
/// [`pop`](Self::pop) returns at once. [`take`](Self::take) and its variants wait for a value.
///
/// # Examples
/// ```
/// use doorway::rooms::GrowingStack;
/// let stack = GrowingStack::new();
/// stack.push_all(&mut (0..1000).collect()).unwrap();
/// assert_eq!(stack.pop(), Some(999));
/// assert_eq!(stack.pop_many(2), [997, 998]);
/// ```
///
/// Sharing the stack sends values between threads, so the values must be `Send`:
///
/// ```compile_fail,E0277
/// let stack = doorway::rooms::GrowingStack::new();
/// stack.push(std::rc::Rc::new(1)).unwrap();
/// std::thread::scope(|s| { s.spawn(|| stack.pop()); });
/// ```
pub struct GrowingStack<T: Send> {
    text: SegmentStack<Native, Doors<Segments<Native, Segmented<T>>>>,
}

const AT_FIRST: usize = 64;

impl<T: Send> Default for GrowingStack<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Send> GrowingStack<T> {
    /// Makes a small stack.
    ///
    /// # Panics
    /// Panics if there is not enough memory.
    #[must_use]
    pub fn new() -> Self {
        Self::with_capacity(AT_FIRST).expect("there is memory for a few values")
    }

    /// Makes a stack with room for this many values at first, rounded up to a power of two.
    ///
    /// # Errors
    /// Returns an error if `capacity` is 0, or if there is not enough memory.
    pub fn with_capacity(capacity: usize) -> Result<Self, RoomsBuildError> {
        let store = slots(capacity, Segmented::new)?;
        Ok(Self { text: SegmentStack::new(&Site::new(&Native::new()), store, awaiting::doors_with) })
    }

    fn segments(&self) -> &Segments<Native, Segmented<T>> {
        self.text.rooms().lights()
    }

    /// The number of values that fit now.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.segments().size_now(self.anyone())
    }

    /// The number of values. It may have changed by the time you look at it.
    #[must_use]
    pub fn len(&self) -> usize {
        // In this order, because the stack may grow meanwhile: the length never appears to exceed
        // the capacity.
        let len = self.segments().len_now(self.anyone());
        len.min(self.capacity())
    }

    /// Puts the values of a batch on top, one above the other.
    ///
    /// # Errors
    /// Returns how many values were put if there is not enough memory for all, or if the stack is
    /// [closed](Self::close). The others stay in the vector. A stack that is closed while it grows
    /// for a batch keeps the values that fit before.
    pub fn push_all(&self, values: &mut Vec<T>) -> Result<(), Full<usize>> {
        if values.is_empty() {
            return Ok(());
        }
        let went = put_many(values, |hand, count| {
            // If the stack is closed, nothing more is moved.
            let _ = self.text.push_now(self.anyone(), hand, count);
        });
        if values.is_empty() { Ok(()) } else { Err(Full(went)) }
    }

    /// Puts a value on top.
    ///
    /// # Errors
    /// Gives the value back if there is not enough memory, or if the stack is
    /// [closed](Self::close).
    #[inline]
    pub fn push(&self, value: T) -> Result<(), Full<T>> {
        put_one(value, |hand| {
            let _ = self.text.push_now(self.anyone(), hand, 1);
        })
        .map_err(Full)
    }
}

/// Drops the values that are left.
impl<T: Send> Drop for GrowingStack<T> {
    fn drop(&mut self) {
        let left = self.len();
        // SAFETY: no thread is inside, so the first `left` slots have values. They are not used
        // afterwards.
        unsafe { self.segments().store().drop_values(left) };
    }
}

fn slots<S>(capacity: usize, store: fn(usize) -> Option<S>) -> Result<S, RoomsBuildError> {
    match capacity {
        0 => Err(RoomsBuildError::NoCapacity),
        asked => store(asked).ok_or(RoomsBuildError::TooLarge { asked }),
    }
}

macro_rules! in_common {
    ($($name:ident;)*) => {
        $(
            impl<T: Send> $name<T> {
                #[inline(always)]
                fn anyone(&self) -> &Process<Native> {
                    &self.text.rooms().rooms().anyone
                }

                /// Whether the stack is empty.
                #[must_use]
                pub fn is_empty(&self) -> bool {
                    self.len() == 0
                }

                /// Takes the value on top.
                #[inline]
                pub fn pop(&self) -> Option<T> {
                    take_one(|hand| {
                        let _ = self.text.pop_now(self.anyone(), hand, 1);
                    })
                }

                /// Takes up to `most` values from the top, in one visit. They keep their order on
                /// the stack: the last one was on top.
                #[must_use]
                pub fn pop_many(&self, most: usize) -> Vec<T> {
                    let mut values = Vec::new();
                    self.pop_into(&mut values, most);
                    values
                }

                /// [`pop_many`](Self::pop_many) to the end of a vector. Returns how many values
                /// were taken.
                pub fn pop_into(&self, values: &mut Vec<T>, most: usize) -> usize {
                    let most = most.min(self.capacity());
                    take_many(values, most, |hand| {
                        let _ = self.text.pop_now(self.anyone(), hand, most);
                    })
                }
            }

            impl<T: Send> fmt::Debug for $name<T> {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    let mut all = f.debug_struct(stringify!($name));
                    all.field("capacity", &self.capacity()).field("len", &self.len()).finish_non_exhaustive()
                }
            }
        )*
    };
}

in_common! { Stack; GrowingStack; }
