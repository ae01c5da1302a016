//! Admission control for threads, tasks and processes: at most `k` get in, and each knows its slot.
//!
//! | you want | take | its guards and errors |
//! |---|---|---|
//! | at most `k` inside, in order, each with a slot | [`Slots`] | [`SlotGuard`], [`OwnedSlotGuard`]; [`Closed`], [`AcquireError`], [`TryAcquireError`], [`AcquireTimeoutError`] |
//! | `k` values, lent by slot | [`Pool`] | [`Lent`], [`OwnedLent`]; errors as of [`Slots`] |
//! | values made on demand, checked and dropped: connections | [`pool::Managed`] | [`pool::Leased`], [`pool::OwnedLeased`]; [`pool::ManagedError`] |
//! | any number in one room, nobody in two rooms at once | [`Rooms`]; queues and stacks made of them are in [`rooms`] | [`RoomGuard`], [`TaskRoomGuard`], [`OwnedRoomGuard`]; [`EnterError`], [`TryEnterError`], [`EnterTimeoutError`] |
//! | any object, of whose callers some may stop half-way | [`Resilient`] | [`ResilientBuildError`] |
//! | slots between processes, which survive `kill -9` | [`shared::Slots`] (Linux) | [`shared::Guard`], [`shared::OwnedGuard`]; [`shared::Error`] |
//! | data behind one algorithm of the catalogue | [`Mutex`], of an [`algorithm`] | [`MutexGuard`]; [`LockError`] |
//! | a value that threads change together, from reads and writes | [`Combining`] | [`CallError`] |
//!
//! Modules for those that want one algorithm and no other, or build their own:
//!
//! - [`gates`]: every algorithm of the catalogue by name. [`k_exclusion`](doorway_core::k_exclusion) and
//!   [`k_assignment`](doorway_core::k_assignment) say which to take when.
//! - `raw`, with the feature `lock_api`: the algorithms that fit it as raw mutexes for that crate.
//! - [`observed`]: slots and pools that say how they are: holders, waiters, histograms; `tracing`.
//! - [`waiting`]: how threads and tasks wait, and why nobody sleeps through a change.
//! - [`native`]: the memory they run on, for texts of [`doorway_core`] that are composed directly.
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
//! For a mutex take `std::sync::Mutex` or `parking_lot`. To limit rates, or to count bytes, see [`Slots`].

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

/// The example on the registry's page is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
