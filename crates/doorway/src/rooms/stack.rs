//! [`Stack`] and [`GrowingStack`].

// What is left is dropped.
#![allow(unsafe_code)]

use super::awaiting::{self, Doors, Ended, TakeTimeoutError, awaiting, doors};
use super::pair::Pair;
use super::store::{Ring, Segmented, put_many, put_one, take_many, take_one};
use super::{Full, RoomsBuildError};
use crate::native::{Native, now, sure};
use doorway_core::memory::{Process, Site};
use doorway_core::rooms::Lit;
use doorway_core::rooms::blelloch_cheng_gibbons_01::{RoomStack, SegmentStack, Segments};
use std::fmt;
use std::time::{Duration, Instant};

/// A bounded stack, last in, first out: those who push are in one room, those who pop in another, and within a room nobody waits for anybody.
///
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
/// A push waits while others pop and the other way round, but not for ever, and never because the stack is full or empty: that is told at once. [`take`](Self::take) and its kin wait for a value.
///
/// Who shares it sends values, so values must be able to be sent:
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
    /// Room for this many values.
    ///
    /// # Errors
    /// If it is 0, or if there is no memory for so many.
    pub fn new(capacity: usize) -> Result<Self, RoomsBuildError> {
        let ring = slots(capacity, Ring::new)?;
        let text = RoomStack::new(&Site::new(&Native::new()), capacity, ring, doors);
        Ok(Self { text })
    }

    /// How many values there is room for.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.text.size()
    }

    /// How many values there are. It may be different when you look at it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.text.len_now(self.anyone())
    }

    /// Puts the first values of a batch on top, one above the other, as many as fit, in one visit; how many. The others stay in the vector: all, if it is closed.
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
    /// If it is full or [closed](Self::close): the value comes back.
    #[inline]
    pub fn push(&self, value: T) -> Result<(), Full<T>> {
        put_one(value, |hand| {
            // If it is closed, nothing is moved.
            let _ = self.text.push_now(self.anyone(), hand, 1);
        })
        .map_err(Full)
    }
}

awaiting! { [T: Send] Stack<T>, "topmost", "Stack"; }

/// What is left is dropped.
impl<T: Send> Drop for Stack<T> {
    fn drop(&mut self) {
        let left = self.len();
        // SAFETY: nobody is inside, so the first `left` slots have values, and nobody uses them afterwards.
        unsafe { self.text.store_mut().drop_values(0, left) };
    }
}

/// A stack that grows: segment after segment, each twice as large as the one before, so that nothing is ever moved. The last one out of the room of those who push makes room for what did not fit.
///
/// ```
/// use doorway::rooms::GrowingStack;
/// let stack = GrowingStack::new();
/// stack.push_all(&mut (0..1000).collect()).unwrap();
/// assert_eq!(stack.pop(), Some(999));
/// assert_eq!(stack.pop_many(2), [997, 998]);
/// ```
///
/// It does not shrink. A batch is one visit, unless the stack has to grow for it: then what did not fit follows
/// in the next turns, one for each segment, and others may have pushed in between.
///
/// Who shares it sends values, so values must be able to be sent:
///
/// ```compile_fail,E0277
/// let stack = doorway::rooms::GrowingStack::new();
/// stack.push(std::rc::Rc::new(1)).unwrap();
/// std::thread::scope(|s| { s.spawn(|| stack.pop()); });
/// ```
pub struct GrowingStack<T: Send> {
    text: SegmentStack<Native, Pair<Segments<Native, Segmented<T>>>>,
}

const AT_FIRST: usize = 64;

impl<T: Send> Default for GrowingStack<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Send> GrowingStack<T> {
    /// A small one.
    ///
    /// # Panics
    /// If there is no memory for it.
    #[must_use]
    pub fn new() -> Self {
        Self::with_capacity(AT_FIRST).expect("there is memory for a few values")
    }

    /// With room for this many values to begin with, rounded up to a power of two.
    ///
    /// # Errors
    /// If it is 0, or if there is no memory for so many.
    pub fn with_capacity(capacity: usize) -> Result<Self, RoomsBuildError> {
        let store = slots(capacity, Segmented::new)?;
        Ok(Self { text: SegmentStack::new(&Site::new(&Native::new()), store, Pair::new) })
    }

    fn segments(&self) -> &Segments<Native, Segmented<T>> {
        self.text.rooms().lights()
    }

    /// How many values there is room for now.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.segments().size_now(self.anyone())
    }

    /// How many values there are. It may be different when you look at it.
    #[must_use]
    pub fn len(&self) -> usize {
        // In this order: it may grow meanwhile, and is not seen to have more than it has room for.
        let len = self.segments().len_now(self.anyone());
        len.min(self.capacity())
    }

    /// Puts the values of a batch on top, one above the other.
    ///
    /// # Errors
    /// If there is no memory for all of them: those that did not fit are in the vector, and here is how many went.
    pub fn push_all(&self, values: &mut Vec<T>) -> Result<(), Full<usize>> {
        if values.is_empty() {
            return Ok(());
        }
        let went = put_many(values, |hand, count| {
            let Ok(_) = self.text.push_now(self.anyone(), hand, count);
        });
        if values.is_empty() { Ok(()) } else { Err(Full(went)) }
    }

    /// Puts a value on top.
    ///
    /// # Errors
    /// If there is no memory: the value comes back.
    #[inline]
    pub fn push(&self, value: T) -> Result<(), Full<T>> {
        put_one(value, |hand| {
            let Ok(_) = self.text.push_now(self.anyone(), hand, 1);
        })
        .map_err(Full)
    }
}

/// What is left is dropped.
impl<T: Send> Drop for GrowingStack<T> {
    fn drop(&mut self) {
        let left = self.len();
        // SAFETY: nobody is inside, so the first `left` slots have values, and nobody uses them afterwards.
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
    ($($name:ident $($doors:ident)?;)*) => {
        $(
            impl<T: Send> $name<T> {
                #[inline(always)]
                fn anyone(&self) -> &Process<Native> {
                    &self.text.rooms()$(.$doors())?.anyone
                }

                /// Whether there are none.
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

                /// Takes up to so many from the top, in one visit, in the order in which they lie: the last one was on top.
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

in_common! { Stack rooms; GrowingStack; }
