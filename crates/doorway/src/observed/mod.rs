//! [`Slots`], [`Pool`]s and [`Managed`] pools that report their holders, their waiters, and how
//! long everything takes.
//!
//! ```
//! let gpus = doorway::Slots::new(2)?.observed("gpus");
//! let _mine = gpus.acquire()?;
//! let status = gpus.status();
//! assert_eq!((status.places, status.available, status.waiters), (2, 1, 0));
//! let holder = &status.holders[0];
//! assert_eq!(holder.slot, 0);
//! println!("slot {} is held for {:?} by {}, {}", holder.slot, holder.held_for, holder.caller, holder.site);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Observed objects have the methods of the plain objects, by the same names. Each method calls the
//! plain object and records what happened. An object that is not observed pays nothing, whatever
//! other objects of the program do.
//!
//! With the feature `serde`, a status can be serialized. Call sites and thread numbers become text,
//! and times have `serde`'s own form.
//!
//! With the feature `tracing`, observed objects also emit spans and events of that crate, with the
//! target `doorway`:
//!
//! | what | level | fields |
//! |---|---|---|
//! | span `wait`: from when a caller gets in line until it has its answer | debug | `slots`, `site`; at the end `waited_seconds`, `outcome`, and `slot` and `fence` if it got a place |
//! | `granted` after a wait; `cancelled`; `refused` | debug | `waited_seconds`, and `slot` and `fence` if it got a place |
//! | `timed out` | info | `waited_seconds` |
//! | `closed` | info | |
//! | `granted` at once; `no place`; `left` | trace | `slot` and `fence`; of `left`, `held_seconds` |

// Every function that calls plain slots is generic or `inline`. So a program that observes nothing
// compiles none of it. Otherwise the compiler would see more callers of the plain methods, and
// would inline those differently.

mod asking;
mod book;
mod guard;
mod managed;
mod pool;
mod status;
mod trace;

pub use asking::{Acquire, AcquireMany, AcquireManyOwned, AcquireOwned, Asks};
pub use book::Book;
pub use guard::{Held, Leased, Lent, OwnedLeased, OwnedLent, OwnedSlotGuard, SlotGuard};
pub use managed::Managed;
pub use pool::Pool;
pub use status::{Caller, Histogram, Holder, Site, Status, WaitingAt};

use crate::Closed;
use crate::slots::{AcquireError, AcquireTimeoutError, KnowsSlots, Numbered, TooMany, TryAcquireError};
use asking::ask;
use std::borrow::Cow;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Observed [`Slots`](crate::Slots). This is a handle: clones refer to the same slots.
///
/// # Fairness
/// The same as for the plain slots. A thread tries first, as with
/// [`acquire_timeout`](crate::Slots::acquire_timeout), and gets in line if that fails.
///
/// # Cost
/// Each acquisition and each release reads the clock once and takes a lock once. If there are at
/// most 16 slots, callers with different slots share no lock. A wait allocates. An object takes
/// about 12 KiB, and 48 to 96 bytes for each slot that was ever used.
///
/// The time that [`status`](Self::status) takes is proportional to the number of places that were
/// ever used and to the number of call sites that wait. It does not depend on the number of
/// waiters. No caller waits for it longer than it takes to copy 256 records.
///
/// With a [bypass](crate::Slots::bypass), the type is `observed::Slots<Passing>`. Slots
/// [without numbers](crate::Slots::without_numbers) cannot be observed: holders are recorded by
/// slot number.
pub struct Slots<N: KnowsSlots = Numbered> {
    slots: Arc<crate::Slots<N>>,
    book: Arc<Book>,
}

impl<N: KnowsSlots> Clone for Slots<N> {
    fn clone(&self) -> Self {
        Self { slots: Arc::clone(&self.slots), book: Arc::clone(&self.book) }
    }
}

impl<N: KnowsSlots> fmt::Debug for Slots<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slots").field("slots", &self.slots).field("book", &self.book).finish()
    }
}

impl<N: KnowsSlots> crate::Slots<N> {
    /// Makes the slots observable, so that they can report their [status](Slots::status). The name
    /// is for people, and for programs that collect figures.
    ///
    /// Configure the slots ([`unfair`](Self::unfair), [`bypass`](Self::bypass),
    /// [`room_for`](Self::room_for)) before this call.
    ///
    /// # Examples
    /// ```
    /// use std::sync::LazyLock;
    ///
    /// static GPUS: LazyLock<doorway::observed::Slots> =
    ///     LazyLock::new(|| doorway::Slots::const_new(4).observed("gpus"));
    ///
    /// assert!(GPUS.try_acquire().is_ok());
    /// assert_eq!(GPUS.status().granted, 1);
    /// ```
    #[inline]
    #[must_use]
    pub fn observed(self, name: impl Into<Cow<'static, str>>) -> Slots<N> {
        Slots::of(Arc::new(self), name.into())
    }
}

impl<N: KnowsSlots> Slots<N> {
    #[inline]
    fn of(slots: Arc<crate::Slots<N>>, name: Cow<'static, str>) -> Self {
        Self { slots, book: Arc::new(Book::new(name)) }
    }

    /// Takes a status. Any number of threads may do so at any time.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// let slots = doorway::Slots::new(1)?.observed("gpus");
    /// let _held = slots.acquire()?;
    /// assert!(slots.acquire_timeout(Duration::from_millis(1)).is_err());
    /// let status = slots.status();
    /// assert_eq!((status.granted, status.timed_out, status.waiters), (1, 1, 0));
    /// assert!(status.given_up.max >= Duration::from_millis(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn status(&self) -> Status {
        self.book.status(&self.slots)
    }

    /// The name of these slots.
    #[must_use]
    pub fn name(&self) -> &str {
        self.book.name()
    }

    /// See [`places`](crate::Slots::places).
    #[inline]
    #[must_use]
    pub fn places(&self) -> usize {
        self.slots.places()
    }

    /// See [`available`](crate::Slots::available).
    #[inline]
    #[must_use]
    pub fn available(&self) -> usize {
        self.slots.available()
    }

    /// See [`add`](crate::Slots::add).
    ///
    /// # Errors
    /// The same as for [`add`](crate::Slots::add).
    #[inline]
    pub fn add(&self, places: usize) -> Result<(), TooMany> {
        self.slots.add(places)
    }

    /// See [`forget`](crate::Slots::forget). This does not count as a granted call.
    #[inline]
    pub fn forget(&self, places: usize) -> usize {
        self.slots.forget(places)
    }

    /// See [`close`](crate::Slots::close).
    #[inline]
    pub fn close(&self) {
        self.slots.close();
        trace::closed(self.name());
    }

    /// See [`is_closed`](crate::Slots::is_closed).
    #[inline]
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.slots.is_closed()
    }
}

/// The methods for threads. Each has a form whose guard borrows and one whose guard owns a
/// reference, and names the method that it tries first.
macro_rules! ways_in {
    ($($borrowed:ident, $owned:ident($($argument:ident: $type:ty),*) -> $error:ty, first $first:ident, $first_owned:ident($($places:ident)?);)*) => {
        impl<N: KnowsSlots> Slots<N> {
            $(
                #[doc = concat!("See [`", stringify!($borrowed), "`](crate::Slots::", stringify!($borrowed), ").")]
                ///
                /// # Errors
                /// The same.
                #[track_caller]
                #[inline] // see the module
                pub fn $borrowed(&self, $($argument: $type),*) -> Result<SlotGuard<'_, N>, $error> {
                    let (at_once, waits) = (|| self.slots.$first($($places)?), || self.slots.$borrowed($($argument),*));
                    ask(&*self.book, Location::caller(), at_once, waits)
                }

                #[doc = concat!("See [`", stringify!($owned), "`](crate::Slots::", stringify!($owned), ").")]
                ///
                /// # Errors
                /// The same.
                #[track_caller]
                #[inline] // see the module
                pub fn $owned(&self, $($argument: $type),*) -> Result<OwnedSlotGuard<N>, $error> {
                    let (at_once, waits) = (|| self.slots.$first_owned($($places)?), || self.slots.$owned($($argument),*));
                    ask(Arc::clone(&self.book), Location::caller(), at_once, waits)
                }
            )*
        }
    };
}

ways_in! {
    acquire, acquire_owned() -> Closed, first try_acquire, try_acquire_owned();
    try_acquire, try_acquire_owned() -> TryAcquireError, first try_acquire, try_acquire_owned();
    acquire_timeout, acquire_timeout_owned(timeout: Duration) -> AcquireTimeoutError, first try_acquire, try_acquire_owned();
    acquire_deadline, acquire_deadline_owned(deadline: Instant) -> AcquireTimeoutError, first try_acquire, try_acquire_owned();
    acquire_many, acquire_many_owned(places: usize) -> AcquireError, first try_acquire_many, try_acquire_many_owned(places);
    try_acquire_many, try_acquire_many_owned(places: usize) -> TryAcquireError, first try_acquire_many, try_acquire_many_owned(places);
    acquire_many_timeout, acquire_many_timeout_owned(places: usize, timeout: Duration) -> AcquireTimeoutError, first try_acquire_many, try_acquire_many_owned(places);
    acquire_many_deadline, acquire_many_deadline_owned(places: usize, deadline: Instant) -> AcquireTimeoutError, first try_acquire_many, try_acquire_many_owned(places);
}

/// The methods for tasks. They are those of the plain slots: the first poll tells whether the task
/// has to wait.
macro_rules! ways_in_of_tasks {
    ($($borrowed:ident -> $future:ident, $owned:ident -> $owned_future:ident($($places:ident)?);)*) => {
        impl<N: KnowsSlots> Slots<N> {
            $(
                #[doc = concat!("See [`", stringify!($borrowed), "`](crate::Slots::", stringify!($borrowed), ").")]
                ///
                /// # Errors
                /// The same.
                #[track_caller]
                #[inline] // see the module
                pub fn $borrowed(&self, $($places: usize)?) -> $future<'_, N> {
                    Asks::new(&*self.book, Location::caller(), self.slots.$borrowed($($places)?))
                }

                #[doc = concat!("See [`", stringify!($owned), "`](crate::Slots::", stringify!($owned), ").")]
                ///
                /// # Errors
                /// The same.
                #[track_caller]
                #[inline] // see the module
                pub fn $owned(&self, $($places: usize)?) -> $owned_future<N>
                where
                    N: 'static,
                {
                    Asks::new(Arc::clone(&self.book), Location::caller(), self.slots.$owned($($places)?))
                }
            )*
        }
    };
}

ways_in_of_tasks! {
    acquire_async -> Acquire, acquire_owned_async -> AcquireOwned();
    acquire_many_async -> AcquireMany, acquire_many_owned_async -> AcquireManyOwned(places);
}
