//! [`Mutex`]: data behind an algorithm of the catalogue, used like any other mutex.

// Only the holder of a guard touches the data, and the algorithm admits one holder at a time. The
// compiler cannot know either.
#![allow(unsafe_code)]

use crate::algorithm::Exclusive;
use crate::native::{Native, now, sizes};
use crate::threads::{NoNumber, Number, ProcessNumbers, TooManyThreads};
use crate::waiting::Policy;
use doorway_core::Failure;
use doorway_core::k_exclusion::{AtOnce, KExclusion};
use doorway_core::memory::Site;
use doorway_core::registry::{Entry, Fits, SizeError};
use std::cell::UnsafeCell;
use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// Data behind one of the catalogue's algorithms. The holder of the guard has exclusive access to
/// it.
///
/// Threads need not join. A thread takes one of the algorithm's process numbers when it starts to
/// wait, and keeps it until it drops the guard. Any number of threads may come and go. The size
/// given at construction bounds how many of them wait or hold the guard at the same time.
///
/// # Panics and deaths
/// A guard that is dropped while a panic unwinds lets the next waiter in. The data stays as it is:
/// there is no poisoning. A guard that is forgotten (`mem::forget`) keeps every other thread out
/// for ever, because mutual exclusion tolerates no crash inside.
///
/// # When not to use this
/// To protect data in a program, use `std::sync::Mutex` or `parking_lot`. This type is for a
/// program that wants one particular algorithm: to study it, to measure it, or to run on a machine
/// that offers only the instructions which that algorithm needs.
///
/// # Examples
/// ```
/// use doorway::{Mutex, algorithm::Bakery};
///
/// let count = Mutex::<_, Bakery>::new(4, 0)?; // for up to four threads
/// std::thread::scope(|s| {
///     for _ in 0..4 {
///         s.spawn(|| *count.lock().expect("four threads") += 1);
///     }
/// });
/// assert_eq!(count.into_inner(), 4);
/// # Ok::<(), doorway::SizeError>(())
/// ```
pub struct Mutex<T: ?Sized, E: Exclusive> {
    algorithm: E::On<Native>,
    numbers: ProcessNumbers,
    value: UnsafeCell<T>,
}

// SAFETY: the value is touched only through a guard, through `&mut self`, or by value. At most one
// guard exists at a time, because the algorithm is `Exclusive` and no two threads have the same
// number. Each entry happens after the exit before it, because the algorithm's accesses are
// sequentially consistent. So sharing a mutex only ever sends the value from one thread to another.
unsafe impl<T: ?Sized + Send, E: Exclusive> Sync for Mutex<T, E> where E::On<Native>: Sync {}

impl<T, E: Exclusive> Mutex<T, E> {
    /// Puts a value behind the algorithm, built for `threads` threads at a time.
    ///
    /// # Errors
    /// Returns an error if the algorithm does not support this number of threads, or if it would
    /// take more than a gigabyte or two.
    ///
    /// # Examples
    /// ```
    /// use doorway::{Mutex, SizeError, algorithm::YaTwo};
    /// assert!(Mutex::<_, YaTwo>::new(2, "data").is_ok());
    /// assert!(matches!(Mutex::<_, YaTwo>::new(3, "data"), Err(SizeError::OnlyTwoProcesses { .. })));
    /// ```
    pub fn new(threads: usize, value: T) -> Result<Self, SizeError> {
        let sizes = sizes::<E>(threads, 1)?;
        Ok(Self {
            algorithm: E::build_for_threads(&Site::new(&Native::default()), sizes),
            numbers: ProcessNumbers::new(threads),
            value: UnsafeCell::new(value),
        })
    }

    /// Sets how the threads wait.
    #[must_use]
    pub fn with_policy(self, policy: Policy) -> Self {
        Self { numbers: self.numbers.with_policy(policy), ..self }
    }

    /// Returns the data.
    #[must_use]
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

/// How many threads a mutex is built for by default.
const THREADS: usize = 32;

/// For up to 32 threads at a time, or fewer if the algorithm supports only fewer.
///
/// # Examples
/// ```
/// use doorway::{Mutex, algorithm::{Ticket, YaTwo}};
/// assert_eq!(Mutex::<_, Ticket>::from(7).into_inner(), 7);
/// assert!(format!("{:?}", Mutex::<_, YaTwo>::from(7)).contains("threads: 2"));
/// ```
impl<T, E: Exclusive> From<T> for Mutex<T, E> {
    fn from(value: T) -> Self {
        let threads = if E::INFO.fits == Fits::TwoProcesses { 2 } else { THREADS };
        Self::new(threads, value).expect("an algorithm that lets one in fits some number of threads")
    }
}

/// The same size as with [`From`].
impl<T: Default, E: Exclusive> Default for Mutex<T, E> {
    fn default() -> Self {
        T::default().into()
    }
}

impl<T: ?Sized, E: Exclusive> Mutex<T, E> {
    /// Waits until no other thread is inside.
    ///
    /// # Errors
    /// Returns an error if all process numbers are in use by other threads, if this thread already
    /// holds the mutex, or if the algorithm can admit no more threads. See [`LockError`].
    ///
    /// # Examples
    /// ```
    /// use doorway::{LockError, Mutex, algorithm::Tas};
    /// let data = Mutex::<_, Tas>::new(1, vec![1])?;
    /// data.lock()?.push(2);
    /// let held = data.lock()?;
    /// assert_eq!(*held, [1, 2]);
    /// assert_eq!(data.lock().unwrap_err(), LockError::HeldByThisThread);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lock(&self) -> Result<MutexGuard<'_, T, E>, LockError> {
        let me = self.numbers.take()?;
        let entered = now(self.algorithm.acquire(self.numbers.process(&me)));
        self.inside(me, entered.map(Some))?.ok_or(LockError::Refused)
    }

    /// Enters if this is possible without waiting. Returns `None` if another thread is inside or
    /// about to enter.
    ///
    /// Only algorithms that support [entering at once](AtOnce) have this method:
    /// [`Tas`](crate::algorithm::Tas), [`TasBackoff`](crate::algorithm::TasBackoff),
    /// [`Ticket`](crate::algorithm::Ticket), [`Mcs`](crate::algorithm::Mcs) and
    /// [`Turnstile`](crate::algorithm::Turnstile). [The others
    /// cannot](doorway_core::mutex#at-once-or-not-at-all): a thread that enters them makes other
    /// threads depend on it before it knows whether it must wait.
    ///
    /// # Errors
    /// Returns an error if all process numbers are in use by other threads, or if the algorithm can
    /// admit no more threads.
    ///
    /// # Examples
    /// ```
    /// use doorway::{Mutex, algorithm::Mcs};
    /// let data = Mutex::<_, Mcs>::new(2, 1)?;
    /// let held = data.try_lock()?.expect("no other thread is there");
    /// std::thread::scope(|s| s.spawn(|| assert!(data.try_lock().expect("two threads").is_none())).join()).unwrap();
    /// # assert_eq!(*held, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// ```compile_fail,E0277
    /// # use doorway::{Mutex, algorithm::Bakery};
    /// let data = Mutex::<_, Bakery>::new(2, 1).unwrap();
    /// let _ = data.try_lock(); // a ticket that is drawn cannot be put back
    /// ```
    pub fn try_lock(&self) -> Result<Option<MutexGuard<'_, T, E>>, LockError>
    where
        E::On<Native>: AtOnce<Native>,
    {
        let me = match self.numbers.take() {
            Err(NoNumber::HasOne) => return Ok(None),
            taken => taken?,
        };
        let entered = now(self.algorithm.acquire_at_once(self.numbers.process(&me)));
        self.inside(me, entered)
    }

    /// Turns the outcome of an entry section into a guard or an error.
    fn inside(&self, me: Number, entered: Entered<E>) -> Result<Option<MutexGuard<'_, T, E>>, LockError> {
        match entered {
            Ok(Some(held)) => Ok(Some(MutexGuard { mutex: self, inside: Some((me, held)), not_send: PhantomData })),
            Ok(None) => {
                self.numbers.give_back(me);
                Ok(None)
            }
            Err(Failure::Memory(impossible)) => match impossible {},
            Err(Failure::Refused(_)) => {
                self.numbers.give_back(me);
                Err(LockError::Refused)
            }
        }
    }

    /// The data. `&mut self` proves that no other thread holds it.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

/// Why a thread did not get in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LockError {
    /// All process numbers are in use: that many other threads hold the mutex or wait for it.
    TooManyThreads {
        /// The number of threads that the mutex was built for.
        most: usize,
    },
    /// This thread already holds a guard, and would wait for itself.
    HeldByThisThread,
    /// The algorithm has used up its tickets, and can admit no more threads.
    Refused,
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyThreads { most } => TooManyThreads { most: *most }.fmt(f),
            Self::HeldByThisThread => f.write_str("this thread already holds the mutex; drop that guard first"),
            Self::Refused => f.write_str("the algorithm has no ticket left; make a new mutex"),
        }
    }
}
impl std::error::Error for LockError {}

impl From<NoNumber> for LockError {
    fn from(why: NoNumber) -> Self {
        match why {
            NoNumber::TooManyThreads(TooManyThreads { most }) => Self::TooManyThreads { most },
            NoNumber::HasOne => Self::HeldByThisThread,
        }
    }
}

type HeldOf<E> = <<E as Entry>::On<Native> as KExclusion<Native>>::Held;
type Entered<E> =
    Result<Option<HeldOf<E>>, Failure<Infallible, <<E as Entry>::On<Native> as KExclusion<Native>>::Refusal>>;

/// Keeps its thread inside, with exclusive access to the data. The thread leaves when this is
/// dropped.
///
/// # Examples
/// The guard cannot move to another thread, because its thread owns the process number:
///
/// ```compile_fail,E0277
/// let data = doorway::Mutex::<_, doorway::algorithm::Tas>::new(2, 0).unwrap();
/// let guard = data.lock().unwrap();
/// std::thread::scope(|s| { s.spawn(move || drop(guard)); });
/// ```
#[must_use = "the mutex is free again as soon as this is dropped"]
pub struct MutexGuard<'a, T: ?Sized, E: Exclusive> {
    mutex: &'a Mutex<T, E>,
    inside: Option<(Number, HeldOf<E>)>,
    not_send: PhantomData<*const ()>,
}

impl<T: ?Sized, E: Exclusive> Deref for MutexGuard<'_, T, E> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: this guard's thread is inside, and no other thread is; see `Sync` of the mutex.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T: ?Sized, E: Exclusive> DerefMut for MutexGuard<'_, T, E> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard's thread is inside, and no other thread is. The guard is mutably
        // borrowed, so no other reference to the value exists.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T: ?Sized, E: Exclusive> Drop for MutexGuard<'_, T, E> {
    fn drop(&mut self) {
        if let Some((me, held)) = self.inside.take() {
            let Ok(()) = now(self.mutex.algorithm.release(self.mutex.numbers.process(&me), held));
            self.mutex.numbers.give_back(me);
        }
    }
}

impl<T: ?Sized + fmt::Debug, E: Exclusive> fmt::Debug for MutexGuard<'_, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized, E: Exclusive> fmt::Debug for Mutex<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = f.debug_struct("Mutex");
        all.field("algorithm", &E::INFO.id).field("threads", &self.numbers.len());
        all.field("in_use", &self.numbers.in_use()).finish_non_exhaustive()
    }
}
