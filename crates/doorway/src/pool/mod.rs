//! [`Pool`]: one value for each place, lent by slot. [`Managed`]: a pool that makes, checks and
//! drops its values.

// A value is lent to the holder of its slot, and no other thread holds that slot. The compiler
// cannot know.
#![allow(unsafe_code)]

mod managed;

pub use managed::{
    FromFn, Lease, Leased, Make, MakeAsync, Managed, ManagedError, Manager, OwnedLeased, Reuse, Statistics, Usage,
};

use crate::slots::{AcquireTimeoutError, OwnedSlotGuard, Permit, SlotGuard, Slots, TryAcquireError};
use crate::{Closed, SizeError};
use doorway_core::k_assignment::Retired;
use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// One value for each place in [`Slots`], lent to one holder at a time: connections, buffers,
/// devices.
///
/// A pool is as fair and as cancel safe as [`Slots`], and serves threads and tasks alike. If a
/// holder panics, its value goes back as it is. A guard that is forgotten (`mem::forget`) keeps its
/// value for ever.
///
/// # Examples
/// ```
/// use doorway::Pool;
///
/// let pool = Pool::new(["first".to_owned(), "second".to_owned()])?;
/// let mut one = pool.acquire()?;
/// one.push_str(" connection");
/// assert_eq!((one.slot(), &**one), (0, "first connection"));
/// assert_eq!(*pool.acquire()?, "second");
/// drop(one);
/// assert_eq!(*pool.acquire()?, "first connection"); // the lowest that is free, so low ones stay warm
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Pool<T> {
    slots: Arc<Slots>,
    values: Box<[UnsafeCell<Option<T>>]>,
    empty: Mutex<Empty>,
}

/// Which slots have no value, and what happens when all of them are empty.
#[derive(Default)]
struct Empty {
    slots: Vec<Retired>,
    /// How many callers drain the pool. While one does, the pool closes when the last value is
    /// taken out.
    drains: usize,
    /// How many values are about to be put into slots that were empty.
    adding: usize,
    /// Whether the last value was taken out of a pool that is being drained.
    drained: bool,
}

// SAFETY: only the holder of a slot touches its value, and each slot has at most one holder. A slot
// passes from one holder to the next by a release and an acquire on its name. So sharing a pool
// only ever sends values from one thread to another.
unsafe impl<T: Send> Sync for Pool<T> {}

/// The pool stays usable after a holder panics: the value is back, as it is. There is no poisoning,
/// so the values themselves must tolerate that.
impl<T: UnwindSafe + RefUnwindSafe> RefUnwindSafe for Pool<T> {}

/// A value that is lent. It goes back to the pool when this is dropped.
pub type Lent<'a, T> = Loan<T, &'a Pool<T>, &'a Slots>;
/// The same, with a reference to a shared pool, so it can move anywhere.
pub type OwnedLent<T> = Loan<T, Arc<Pool<T>>, Arc<Slots>>;

/// A value that is lent; see [`Lent`] and [`OwnedLent`].
#[must_use = "the value goes back as soon as this is dropped"]
pub struct Loan<T, P: Deref<Target = Pool<T>>, S: Deref<Target = Slots>> {
    // The permit is declared first: dropping it admits the next holder, which still needs the pool.
    permit: Permit<S, crate::slots::Numbered>,
    pool: P,
    /// The loan may be shared between threads only if the value may.
    lends: PhantomData<T>,
}

impl<T> Pool<T> {
    /// Makes a pool of these values, one for each place.
    ///
    /// # Errors
    /// Returns an error if there are no values, or more than [`Slots::MOST`].
    pub fn new(values: impl IntoIterator<Item = T>) -> Result<Self, SizeError> {
        let values: Box<[_]> = values.into_iter().map(|value| UnsafeCell::new(Some(value))).collect();
        let slots = Slots::new(values.len())?;
        Ok(Self { slots: Arc::new(slots), values, empty: Mutex::default() })
    }

    /// Makes the pool's slots [unfair](Slots::unfair).
    #[must_use]
    pub fn unfair(self) -> Self {
        let Self { slots, values, empty } = self;
        let slots = Arc::try_unwrap(slots).map_or_else(|shared| shared, |slots| Arc::new(slots.unfair()));
        Self { slots, values, empty }
    }

    /// The number of values, lent or not.
    #[must_use]
    pub fn places(&self) -> usize {
        self.slots.places()
    }

    /// How many values are not lent. Zero while a caller waits.
    #[must_use]
    pub fn available(&self) -> usize {
        self.slots.available()
    }

    /// Closes the pool: it lends no more values, not even to [`drain`](Self::drain).
    ///
    /// To get the values back, call `drain` instead, which also closes the pool; or take the pool
    /// apart with [`into_values`](Self::into_values). See [`Slots::close`].
    pub fn close(&self) {
        self.slots.close();
    }

    /// Whether the pool was closed or drained.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.slots.is_closed()
    }

    pub(crate) fn slots(&self) -> &Arc<Slots> {
        &self.slots
    }

    #[inline(always)]
    pub(crate) fn lend<'a>(&'a self, permit: SlotGuard<'a>) -> Lent<'a, T> {
        Loan { permit, pool: self, lends: PhantomData }
    }

    pub(crate) fn lend_owned(self: &Arc<Self>, permit: OwnedSlotGuard) -> OwnedLent<T> {
        Loan { permit, pool: Arc::clone(self), lends: PhantomData }
    }

    /// Waits for a value. See [`Slots::acquire`].
    ///
    /// # Errors
    /// Returns an error if the pool is closed or drained.
    #[inline(always)] // as in `Slots`
    pub fn acquire(&self) -> Result<Lent<'_, T>, Closed> {
        Ok(self.lend(self.slots.acquire()?))
    }

    /// [`acquire`](Self::acquire) with a guard that owns a reference to the pool.
    ///
    /// # Errors
    /// The same as for [`acquire`](Self::acquire).
    pub fn acquire_owned(self: &Arc<Self>) -> Result<OwnedLent<T>, Closed> {
        Ok(self.lend_owned(self.slots.acquire_owned()?))
    }

    /// Takes a value if one is free. See [`Slots::try_acquire`].
    ///
    /// # Errors
    /// Returns an error if no value is free, or if the pool is closed or drained.
    #[inline(always)]
    pub fn try_acquire(&self) -> Result<Lent<'_, T>, TryAcquireError> {
        Ok(self.lend(self.slots.try_acquire()?))
    }

    /// [`try_acquire`](Self::try_acquire) with a guard that owns a reference to the pool.
    ///
    /// # Errors
    /// The same as for [`try_acquire`](Self::try_acquire).
    pub fn try_acquire_owned(self: &Arc<Self>) -> Result<OwnedLent<T>, TryAcquireError> {
        Ok(self.lend_owned(self.slots.try_acquire_owned()?))
    }

    /// Waits for a value, but no longer than `timeout`. See [`Slots::acquire_timeout`].
    ///
    /// # Errors
    /// Returns an error if the time runs out, or if the pool is closed or drained.
    pub fn acquire_timeout(&self, timeout: Duration) -> Result<Lent<'_, T>, AcquireTimeoutError> {
        Ok(self.lend(self.slots.acquire_timeout(timeout)?))
    }

    /// [`acquire_timeout`](Self::acquire_timeout) with a guard that owns a reference to the pool.
    ///
    /// # Errors
    /// The same as for [`acquire_timeout`](Self::acquire_timeout).
    pub fn acquire_timeout_owned(self: &Arc<Self>, timeout: Duration) -> Result<OwnedLent<T>, AcquireTimeoutError> {
        Ok(self.lend_owned(self.slots.acquire_timeout_owned(timeout)?))
    }

    /// Waits for a value until a point in time. See [`Slots::acquire_deadline`].
    ///
    /// # Errors
    /// Returns an error if the deadline passes, or if the pool is closed or drained.
    pub fn acquire_deadline(&self, deadline: Instant) -> Result<Lent<'_, T>, AcquireTimeoutError> {
        Ok(self.lend(self.slots.acquire_deadline(deadline)?))
    }

    /// [`acquire_deadline`](Self::acquire_deadline) with a guard that owns a reference to the pool.
    ///
    /// # Errors
    /// The same as for [`acquire_deadline`](Self::acquire_deadline).
    pub fn acquire_deadline_owned(self: &Arc<Self>, deadline: Instant) -> Result<OwnedLent<T>, AcquireTimeoutError> {
        Ok(self.lend_owned(self.slots.acquire_deadline_owned(deadline)?))
    }

    /// [`acquire`](Self::acquire) for tasks. It is as cancel safe as [`Slots::acquire_async`].
    ///
    /// # Errors
    /// Returns an error if the pool is closed or drained.
    pub async fn acquire_async(&self) -> Result<Lent<'_, T>, Closed> {
        Ok(self.lend(self.slots.acquire_async().await?))
    }

    /// [`acquire_async`](Self::acquire_async) with a guard that owns a reference to the pool. The
    /// future owns one too, so it can be spawned as it is.
    ///
    /// # Errors
    /// The same as for [`acquire_async`](Self::acquire_async).
    pub fn acquire_owned_async(self: &Arc<Self>) -> impl Future<Output = Result<OwnedLent<T>, Closed>> + use<T> {
        let pool = Arc::clone(self);
        async move {
            // Only a loan keeps a reference to the slots, not a future: it might be leaked.
            let permit = pool.slots.acquire_async().await?.owned(&pool.slots);
            Ok(pool.lend_owned(permit))
        }
    }

    fn empty(&self) -> std::sync::MutexGuard<'_, Empty> {
        // A panic cannot poison this: the list is consistent between any two operations on it.
        self.empty.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a value where one was [taken out](Loan::take). A waiter may get it at once.
    ///
    /// # Errors
    /// Returns the value, as the error, if no slot is empty, or if the pool is closed.
    ///
    /// # Examples
    /// ```
    /// let pool = doorway::Pool::new([1, 2])?;
    /// let broken = pool.acquire()?.take();
    /// assert_eq!((broken, pool.places()), (1, 1));
    /// assert_eq!(pool.add(3), Ok(()));
    /// assert_eq!(pool.add(4), Err(4)); // there is no empty slot
    /// assert_eq!(*pool.acquire()?, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add(&self, value: T) -> Result<(), T> {
        if self.is_closed() {
            return Err(value);
        }
        let Some(slot) = self.begin_to_add() else { return Err(value) };
        // SAFETY: the name of an empty slot is taken but has no holder, so no loan refers to the
        // value. The slot was popped under the lock, so no other thread adds a value there.
        unsafe { *self.values[slot.slot()].get() = Some(value) };
        self.slots.revive(slot);
        self.after_taking(|empty| empty.adding -= 1);
        Ok(())
    }

    /// Takes an empty slot. The pool does not count as drained until the value is there.
    fn begin_to_add(&self) -> Option<Retired> {
        let mut empty = self.empty();
        let slot = if empty.drained { None } else { empty.slots.pop() };
        empty.adding += usize::from(slot.is_some());
        slot
    }

    /// Closes the pool if it is being drained and has no value left. Both conditions change under
    /// the lock, so the later of the two changes sees both.
    fn after_taking(&self, change: impl FnOnce(&mut Empty)) {
        let mut empty = self.empty();
        change(&mut empty);
        let is_drained = empty.drains > 0 && empty.adding == 0 && self.slots.places() == 0;
        empty.drained |= is_drained;
        drop(empty); // a woken thread may ask for the lock
        if is_drained {
            self.slots.close();
        }
    }

    /// Takes every value out as soon as it is back, then closes the pool.
    ///
    /// Until then the pool still lends values to other callers, each in its turn. If another thread
    /// [closes](Self::close) the pool first, this returns the values that it has by then.
    ///
    /// # Examples
    /// ```
    /// let pool = doorway::Pool::new([1, 2, 3])?;
    /// let mut all = pool.drain();
    /// all.sort();
    /// assert_eq!(all, [1, 2, 3]);
    /// assert!(pool.acquire().is_err());
    /// # Ok::<(), doorway::SizeError>(())
    /// ```
    pub fn drain(&self) -> Vec<T> {
        let _drains = Draining::new(self);
        std::iter::from_fn(|| self.acquire().ok().map(Loan::take)).collect()
    }

    /// [`drain`](Self::drain) for tasks.
    ///
    /// # Cancel safety
    /// If the future is dropped before it is ready, it drops the values that it has taken out. The
    /// pool keeps the others, and stays open.
    pub async fn drain_async(&self) -> Vec<T> {
        let _drains = Draining::new(self);
        let mut all = Vec::new();
        while let Ok(lent) = self.acquire_async().await {
            all.push(lent.take());
        }
        all
    }

    /// Returns the values that are left.
    #[must_use]
    pub fn into_values(self) -> Vec<T> {
        self.values.into_iter().filter_map(UnsafeCell::into_inner).collect()
    }
}

/// A caller that drains the pool, until it is done or gives up.
struct Draining<'a, T>(&'a Pool<T>);

impl<'a, T> Draining<'a, T> {
    fn new(pool: &'a Pool<T>) -> Self {
        pool.after_taking(|empty| empty.drains += 1);
        Self(pool)
    }
}

impl<T> Drop for Draining<'_, T> {
    fn drop(&mut self) {
        self.0.empty().drains -= 1;
    }
}

impl<T> fmt::Debug for Pool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("slots", &self.slots).finish_non_exhaustive()
    }
}

impl<T, P: Deref<Target = Pool<T>>, S: Deref<Target = Slots>> Loan<T, P, S> {
    /// The index of the value.
    #[must_use]
    pub fn slot(&self) -> usize {
        self.permit.slot()
    }

    /// See [`Permit::fence`].
    #[must_use]
    pub fn fence(&self) -> u64 {
        self.permit.fence()
    }

    /// The pool that lent the value.
    ///
    /// # Examples
    /// ```
    /// let pool = doorway::Pool::new([1, 2])?;
    /// assert_eq!(pool.acquire()?.issuer().available(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn issuer(&self) -> &P {
        &self.pool
    }

    /// Takes the value out of the pool, because it is broken or needed elsewhere.
    ///
    /// The pool has one place less until another value is [added](Pool::add). To exchange the
    /// value, use `mem::replace` on the guard.
    ///
    /// # Examples
    /// ```
    /// let pool = doorway::Pool::new(["broken"])?;
    /// let mut lent = pool.acquire()?;
    /// assert_eq!(std::mem::replace(&mut *lent, "new"), "broken"); // the place stays
    /// assert_eq!(lent.take(), "new"); // the place goes
    /// assert!(pool.try_acquire().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use = "to give a value back, drop its guard"]
    pub fn take(self) -> T {
        let Self { permit, pool, .. } = self;
        let slot = permit.slot();
        // SAFETY: this guard holds the slot.
        let value = unsafe { (*pool.values[slot].get()).take() };
        let retired = permit.retire();
        pool.after_taking(|empty| empty.slots.push(retired));
        value.expect(WHOLE)
    }
}

const WHOLE: &str = "a slot that is lent has its value";

impl<T, P: Deref<Target = Pool<T>>, S: Deref<Target = Slots>> Deref for Loan<T, P, S> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard holds the slot, and the reference borrows the guard.
        unsafe { (*self.pool.values[self.permit.slot()].get()).as_ref() }.expect(WHOLE)
    }
}

impl<T, P: Deref<Target = Pool<T>>, S: Deref<Target = Slots>> DerefMut for Loan<T, P, S> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard holds the slot, and the reference borrows the guard mutably.
        unsafe { (*self.pool.values[self.permit.slot()].get()).as_mut() }.expect(WHOLE)
    }
}

impl<T: fmt::Debug, P: Deref<Target = Pool<T>>, S: Deref<Target = Slots>> fmt::Debug for Loan<T, P, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loan").field("slot", &self.slot()).field("value", &**self).finish()
    }
}

/// If the values cannot be shared between threads, neither can their guard:
///
/// ```compile_fail,E0277
/// fn is_sync<T: Sync>(_: &T) {}
/// let pool = doorway::Pool::new([std::cell::Cell::new(1)]).unwrap();
/// is_sync(&pool.acquire().unwrap());
/// ```
///
/// A pool cannot be shared if its values cannot be sent:
///
/// ```compile_fail,E0277
/// fn is_sync<T: Sync>(_: &T) {}
/// is_sync(&doorway::Pool::new([std::rc::Rc::new(1)]).unwrap());
/// ```
#[cfg(doctest)]
struct Threads;
