//! Admission control for threads and tasks: at most `k` get in, and each knows its slot.
//!
//! - [`Slots`]: the semaphore that tells you which slot you got. First come, first enabled; blocking, with timeouts, async and cancel-safe, several places at once.
//! - [`Pool`]: `k` values, lent by slot.
//! - [`gates`]: the algorithms of the catalogue by name, for those that want exactly that one.
//!   [`k_exclusion`](doorway_core::k_exclusion) and [`k_assignment`](doorway_core::k_assignment) say which to take when.
//! - [`Mutex`]: data behind an algorithm of the catalogue, with threads that need not join.
//! - `raw`, with the feature `lock_api`: the algorithms that fit it as raw mutexes for that crate.
//! - [`Combining`]: a value that threads change together, from reads and writes.
//! - [`Rooms`]: any number in one room, nobody in two rooms at once; and in [`rooms`] a queue, stacks, and a work stack made of them.
//! - [`Resilient`]: any object, shared by any number of threads, of which so many may stop half-way.
//! - [`shared`]: slots between processes, in a mapped file. They survive `kill -9`. Linux only.
//! - [`waiting`]: how threads and tasks wait, and why nobody sleeps through a change.
//! - [`native`]: the memory they run on, for who composes algorithms of [`doorway_core`] directly.
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

pub mod algorithm;
pub mod combining;
pub mod gates;
pub mod mutex;
pub mod native;
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

pub use combining::Combining;
pub use doorway_core::k_exclusion::turnstile::Closed;
pub use doorway_core::registry::{SizeError, Sizes};
pub use mutex::{LockError, Mutex};
pub use pool::Pool;
pub use resilient::Resilient;
pub use rooms::Rooms;
pub use slots::{AcquireError, Slots, TimeoutError, TooMany, TryAcquireError};

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// As is that of the page.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/resilient.md")]
struct ResilientPage;
