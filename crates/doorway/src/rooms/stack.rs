//! [`Stack`] and [`GrowingStack`].

// As `cells`.
#![allow(unsafe_code)]

use super::cells::Batch;
use super::names::Side;
use super::pile::Pile;
use super::{BuildError, Full, LastExit, PATIENT, Rooms};
use std::fmt;
use std::mem::MaybeUninit;

/// The pile is what the last one out looks after.
struct Lights<T, const GROWS: bool>(Pile<T, GROWS>);

impl<T: Send, const GROWS: bool> LastExit<Side> for Lights<T, GROWS> {
    const DOES_SOMETHING: bool = GROWS;

    #[inline(always)]
    fn last_exit(&self, side: Side) {
        if side == Side::Push {
            // SAFETY: this is the last one out.
            unsafe { self.0.grow_if_short() };
        }
    }
}

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
/// # Ok::<(), doorway::rooms::BuildError>(())
/// ```
///
/// A push waits while others pop and the other way round, but not for ever, and never because the stack is full or empty: that is told at once.
///
/// Who shares it sends values, so values must be able to be sent:
///
/// ```compile_fail,E0277
/// let stack = doorway::rooms::Stack::new(1).unwrap();
/// stack.push(std::rc::Rc::new(1)).unwrap();
/// std::thread::scope(|s| { s.spawn(|| stack.pop()); });
/// ```
pub struct Stack<T: Send> {
    rooms: Rooms<Side, Lights<T, false>>,
}

impl<T: Send> Stack<T> {
    /// Room for this many values.
    ///
    /// # Errors
    /// If it is 0, or if there is no memory for so many.
    pub fn new(capacity: usize) -> Result<Self, BuildError> {
        Ok(Self { rooms: Rooms::build(2, Lights(pile(capacity)?), PATIENT) })
    }

    /// Puts the first values of a batch on top, one above the other, as many as fit, in one visit; how many. The others stay in the vector.
    pub fn push_all(&self, values: &mut Vec<T>) -> usize {
        if values.is_empty() {
            return 0;
        }
        let mut batch = Batch::new(values);
        let inside = self.rooms.visit(Side::Push);
        // SAFETY: inside the room of those who push.
        unsafe { self.pile().put_batch(&mut batch) };
        self.rooms.leave(inside);
        batch.end()
    }

    /// Puts a value on top.
    ///
    /// # Errors
    /// If it is full: the value comes back.
    #[inline]
    pub fn push(&self, value: T) -> Result<(), Full<T>> {
        let value = MaybeUninit::new(value);
        let inside = self.rooms.visit(Side::Push);
        // SAFETY: inside the room of those who push, with one value.
        let fits = unsafe { self.pile().put(value.as_ptr(), 1) };
        self.rooms.leave(inside);
        // SAFETY: it did not go, so it is here.
        if fits == 1 { Ok(()) } else { Err(Full(unsafe { value.assume_init() })) }
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
/// It does not shrink. A batch is one visit, unless the stack has to grow for it: then what did not fit follows in the next turn, and others may have pushed in between.
///
/// Who shares it sends values, so values must be able to be sent:
///
/// ```compile_fail,E0277
/// let stack = doorway::rooms::GrowingStack::new();
/// stack.push(std::rc::Rc::new(1)).unwrap();
/// std::thread::scope(|s| { s.spawn(|| stack.pop()); });
/// ```
pub struct GrowingStack<T: Send> {
    rooms: Rooms<Side, Lights<T, true>>,
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
    pub fn with_capacity(capacity: usize) -> Result<Self, BuildError> {
        Ok(Self { rooms: Rooms::build(2, Lights(pile(capacity)?), PATIENT) })
    }

    /// Puts the values of a batch on top, one above the other.
    ///
    /// # Errors
    /// If there is no memory for all of them: those that did not fit are in the vector, and here is how many went.
    pub fn push_all(&self, values: &mut Vec<T>) -> Result<(), Full<usize>> {
        if values.is_empty() {
            return Ok(());
        }
        let mut batch = Batch::new(values);
        let mut inside = self.rooms.visit(Side::Push);
        // SAFETY: inside the room of those who push.
        unsafe { self.pile().put_batch(&mut batch) };
        while batch.left() > 0 {
            inside = self.rooms.visit_again(inside);
            // SAFETY: the same.
            unsafe { self.pile().put_batch(&mut batch) };
            if batch.left() > 0 && self.pile().has_failed() {
                break;
            }
        }
        self.rooms.leave(inside);
        match batch.left() {
            0 => Ok(()),
            _ => Err(Full(batch.end())),
        }
    }

    /// Puts a value on top.
    ///
    /// # Errors
    /// If there is no memory: the value comes back.
    #[inline]
    pub fn push(&self, value: T) -> Result<(), Full<T>> {
        let value = MaybeUninit::new(value);
        let mut inside = self.rooms.visit(Side::Push);
        let mut tried = false;
        // SAFETY: inside the room of those who push, with one value.
        while unsafe { self.pile().put(value.as_ptr(), 1) } == 0 {
            if tried && self.pile().has_failed() {
                self.rooms.leave(inside);
                // SAFETY: it did not go, so it is here.
                return Err(Full(unsafe { value.assume_init() }));
            }
            tried = true;
            inside = self.rooms.visit_again(inside);
        }
        self.rooms.leave(inside);
        Ok(())
    }
}

fn pile<T, const GROWS: bool>(capacity: usize) -> Result<Pile<T, GROWS>, BuildError> {
    match capacity {
        0 => Err(BuildError::NoCapacity),
        asked => Pile::new(asked).ok_or(BuildError::TooLarge { asked }),
    }
}

macro_rules! in_common {
    ($($name:ident, $grows:literal;)*) => {
        $(
            impl<T: Send> $name<T> {
                fn pile(&self) -> &Pile<T, $grows> {
                    &self.rooms.code().0
                }

                /// How many values there is room for now.
                #[must_use]
                pub fn capacity(&self) -> usize {
                    self.pile().places()
                }

                /// How many values there are. It may be different when you look at it.
                #[must_use]
                pub fn len(&self) -> usize {
                    self.pile().len().min(self.capacity())
                }

                /// Whether there are none.
                #[must_use]
                pub fn is_empty(&self) -> bool {
                    self.len() == 0
                }

                /// Takes the value on top.
                #[inline]
                pub fn pop(&self) -> Option<T> {
                    let mut value = MaybeUninit::uninit();
                    let inside = self.rooms.visit(Side::Pop);
                    // SAFETY: inside the room of those who pop, with room for one.
                    let got = unsafe { self.pile().take(value.as_mut_ptr(), 1) };
                    self.rooms.leave(inside);
                    // SAFETY: there is one if there was one.
                    (got == 1).then(|| unsafe { value.assume_init() })
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
                    values.reserve(most);
                    let inside = self.rooms.visit(Side::Pop);
                    // SAFETY: inside the room of those who pop, with room for as many.
                    let got = unsafe { self.pile().take(values.as_mut_ptr().add(values.len()), most) };
                    self.rooms.leave(inside);
                    // SAFETY: so many were moved there.
                    unsafe { values.set_len(values.len() + got) };
                    got
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

in_common! {
    Stack, false;
    GrowingStack, true;
}
