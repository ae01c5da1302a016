//! Admission control for threads, tasks and processes: at most `k` get in, and each knows its slot.
//!
//! | you want | use | its guards and errors |
//! |---|---|---|
//! | at most `k` holders, in order, each with a slot | [`Slots`] | [`SlotGuard`], [`OwnedSlotGuard`]; [`Closed`], [`AcquireError`], [`TryAcquireError`], [`AcquireTimeoutError`] |
//! | `k` values, lent by slot | [`Pool`] | [`Lent`], [`OwnedLent`]; the errors of [`Slots`] |
//! | values that are made on demand, checked and dropped: connections | [`pool::Managed`] | [`pool::Leased`], [`pool::OwnedLeased`]; [`pool::ManagedError`] |
//! | any number of users in one room, and never users in two rooms at once | [`Rooms`]; queues and stacks made of them are in [`rooms`] | [`RoomGuard`], [`TaskRoomGuard`], [`OwnedRoomGuard`]; [`EnterError`], [`TryEnterError`], [`EnterTimeoutError`] |
//! | any object, some of whose callers may stop half-way | [`Resilient`] | [`ResilientBuildError`] |
//! | slots between processes that survive `kill -9` | [`shared::Slots`] (Linux) | [`shared::Guard`], [`shared::OwnedGuard`]; [`shared::Error`] |
//! | data behind one algorithm of the catalogue | [`Mutex`] over an [`algorithm`] | [`MutexGuard`]; [`LockError`] |
//! | a value that threads change together, with reads and writes alone | [`Combining`] | [`CallError`] |
//!
//! Modules for programs that want one particular algorithm, or build their own objects:
//!
//! - [`gates`]: every algorithm of the catalogue, by name.
//!   [`k_exclusion`](doorway_core::k_exclusion) and [`k_assignment`](doorway_core::k_assignment)
//!   help you choose one.
//! - `raw`, with the feature `lock_api`: raw mutexes for that crate, from the algorithms that fit
//!   it.
//! - [`observed`]: slots and pools that report their holders, waiters and histograms, and emit
//!   `tracing` events.
//! - [`waiting`]: how threads and tasks wait, and why no waiter sleeps through a change.
//! - [`native`]: the memory that the algorithms run on, for programs that compose the texts of
//!   [`doorway_core`] themselves.
//!
//! ```
//! use doorway::Slots;
//!
//! let licences = Slots::new(3)?;
//! let mine = licences.acquire()?;
//! assert_eq!(mine.slot(), 0); // at most three are inside, and each has a slot of its own
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # When not to use this
//! For a mutex, use `std::sync::Mutex` or `parking_lot`. To limit rates, use a rate limiter. To
//! count bytes, use another semaphore.

#![deny(unsafe_code)]
// docs.rs says beside each item which feature it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod algorithm;
pub mod combining;
pub mod gates;
pub mod mutex;
pub mod native;
pub mod observed;
pub mod pool;
#[cfg(feature = "lock_api")]
pub mod raw;
pub mod resilient;
pub mod rooms;
pub mod shared;
pub mod slots;
mod threads;
mod tools;
pub mod waiting;

pub use combining::{CallError, Combining};
pub use doorway_core::k_exclusion::turnstile::Closed;
pub use doorway_core::registry::SizeError;
pub use mutex::{LockError, Mutex, MutexGuard};
pub use pool::{Lent, OwnedLent, Pool};
pub use resilient::{Resilient, ResilientBuildError};
pub use rooms::{
    EnterError, EnterTimeoutError, OwnedRoomGuard, RoomGuard, Rooms, RoomsBuildError, TaskRoomGuard, TryEnterError,
};
pub use slots::{
    Acquire, AcquireError, AcquireMany, AcquireManyOwned, AcquireOwned, AcquireTimeoutError, OwnedSlotGuard, SlotGuard,
    Slots, TooMany, TryAcquireError,
};

/// Runs the example on the registry's page as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
