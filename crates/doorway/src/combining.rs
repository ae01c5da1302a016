//! [`Combining`]: a value that threads change together, with reads and writes alone.

use crate::native::{Native, now, sizes};
use crate::threads::{NoNumber, ProcessNumbers, TooManyThreads};
use crate::waiting::Policy;
use doorway_core::memory::{Pid, Process, Site};
use doorway_core::mutex::yang_anderson_93;
use doorway_core::registry::{SizeError, Sizes, YaCombining};
use std::fmt;

pub use doorway_core::memory::{Anybody, Word};
pub use doorway_core::mutex::yang_anderson_93::{Add, Affine, Combinable, Map, Max, Min, Store};

/// A value with operations that return its previous value: [`Add`], [`Store`], [`Min`], [`Max`], or
/// any that [compose into one](Combinable).
///
/// Threads that arrive at the same time meet in a tree, and one of them applies the operations of
/// several: software [combining](yang_anderson_93::Combining), over Yang and Anderson's arbitration
/// tree. Each operation takes effect at one moment between its call and its return.
///
/// Threads need not join. A thread has a process number while it is in a call. Any number of
/// threads may come and go; the size given at construction bounds how many are in calls at the same
/// time.
///
/// # An operation of your own
/// This value moves up and down between bounds. No machine has such an instruction.
///
/// ```
/// use doorway::combining::{Anybody, Combinable, Combining, Word};
///
/// /// Adds `by`, and keeps the result between `low` and `high`.
/// #[derive(Clone, Copy, PartialEq, Debug)]
/// struct Move { by: i16, low: i16, high: i16 }
///
/// impl Word for Move {
///     type Waiters = Anybody;
///     fn pack(self) -> u64 {
///         [self.by, self.low, self.high].into_iter().fold(0, |word, x| word << 16 | u64::from(x as u16))
///     }
///     fn unpack(word: u64) -> Self {
///         Self { by: (word >> 32) as i16, low: (word >> 16) as i16, high: word as i16 }
///     }
/// }
///
/// struct Level;
/// impl Combinable for Level {
///     type Op = Move;
///     type Value = i64;
///     fn compose(first: Move, second: Move) -> Move {
///         let bound = |x: i16| x.saturating_add(second.by).clamp(second.low, second.high);
///         Move { by: first.by + second.by, low: bound(first.low), high: bound(first.high) }
///     }
///     fn apply(op: Move, value: i64) -> i64 {
///         (value + i64::from(op.by)).clamp(op.low.into(), op.high.into())
///     }
/// }
///
/// let up = |by| Move { by, low: 0, high: 10 };
/// assert_eq!(Level::apply(Level::compose(up(9), up(-4)), 7), Level::apply(up(-4), Level::apply(up(9), 7)));
///
/// let level = Combining::<Level>::new(0, 2)?;
/// assert_eq!(level.fetch_and_op(up(25))?, 0);
/// assert_eq!(level.fetch_and_op(up(-3))?, 10);
/// assert_eq!(level.load(), 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics and deaths
/// Other threads wait for a thread that is in an operation. If its `compose` or `apply` panics,
/// they wait for ever.
///
/// # When not to use this
/// Where the machine has the instruction, use it: `AtomicU64::fetch_add` is far faster
/// (`doorway-lab bench combining` shows by how much). For any other operation, a mutex around the
/// value is faster, too. This type is for machines that offer only reads and writes, and for study.
///
/// # Examples
/// ```
/// use doorway::combining::{Add, Combining};
///
/// let tickets = Combining::<Add>::new(100, 4)?; // begins at 100, for up to four threads
/// std::thread::scope(|s| {
///     for _ in 0..4 {
///         s.spawn(|| assert!(tickets.fetch_and_op(1).expect("four threads") >= 100));
///     }
/// });
/// assert_eq!(tickets.into_inner(), 104);
/// # Ok::<(), doorway::SizeError>(())
/// ```
pub struct Combining<F: Combinable> {
    object: yang_anderson_93::Combining<Native, F>,
    numbers: ProcessNumbers,
}

impl<F: Combinable> Combining<F> {
    /// Makes an object with this value, for `threads` threads at a time.
    ///
    /// # Errors
    /// Returns an error if this number of threads is not supported, or if it would take more than a
    /// gigabyte or two.
    ///
    /// # Examples
    /// ```
    /// use doorway::SizeError;
    /// use doorway::combining::{Combining, Max};
    /// assert!(Combining::<Max>::new(0, 8).is_ok());
    /// assert_eq!(Combining::<Max>::new(0, 0).unwrap_err(), SizeError::NoProcess);
    /// ```
    pub fn new(value: F::Value, threads: usize) -> Result<Self, SizeError> {
        let Sizes { n, .. } = sizes::<YaCombining>(threads, threads)?;
        Ok(Self {
            object: yang_anderson_93::Combining::new(&Site::new(&Native::new()), n, value),
            numbers: ProcessNumbers::new(n),
        })
    }

    /// Sets how the threads wait.
    #[must_use]
    pub fn with_policy(self, policy: Policy) -> Self {
        Self { numbers: self.numbers.with_policy(policy), ..self }
    }

    /// Applies an operation, and returns the value that it was applied to.
    ///
    /// # Errors
    /// Returns an error if all process numbers are in use by other threads, or if this thread is
    /// already in an operation on this object.
    ///
    /// # Examples
    /// ```
    /// use doorway::combining::{Combining, Store};
    /// let last = Combining::<Store>::new(7, 1)?;
    /// assert_eq!(last.fetch_and_op(8)?, 7);
    /// assert_eq!(last.fetch_and_op(9)?, 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fetch_and_op(&self, op: F::Op) -> Result<F::Value, CallError> {
        let me = self.numbers.take()?;
        let Ok(value) = now(self.object.fetch_and_op(self.numbers.process(&me), op));
        self.numbers.give_back(me);
        Ok(value)
    }

    /// Returns the value that the operations up to some moment during this call have produced.
    #[must_use]
    pub fn load(&self) -> F::Value {
        // A reader leaves no trace, so it need not be one of the processes.
        let Ok(value) = now(self.object.load(&Process::new(Pid::new(0), Native::new())));
        value
    }

    /// Returns the value.
    #[must_use]
    pub fn into_inner(self) -> F::Value {
        self.load()
    }
}

impl<F: Combinable> fmt::Debug for Combining<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = f.debug_struct("Combining");
        all.field("value", &self.load()).field("threads", &self.numbers.len());
        all.field("in_use", &self.numbers.in_use()).finish_non_exhaustive()
    }
}

/// Why an operation was not applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum CallError {
    /// All process numbers are in use: that many other threads are in operations.
    TooManyThreads {
        /// The number of threads that the object was built for.
        most: usize,
    },
    /// This thread is in an operation on the same object, or panicked in one.
    WithinAnother,
}

impl From<NoNumber> for CallError {
    fn from(why: NoNumber) -> Self {
        match why {
            NoNumber::TooManyThreads(TooManyThreads { most }) => Self::TooManyThreads { most },
            NoNumber::HasOne => Self::WithinAnother,
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyThreads { most } => TooManyThreads { most: *most }.fmt(f),
            Self::WithinAnother => {
                f.write_str("this thread is already in an operation on this object; do not call it from within")
            }
        }
    }
}
impl std::error::Error for CallError {}
