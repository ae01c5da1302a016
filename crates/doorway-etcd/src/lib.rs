//! Slots between machines, in etcd: at most `k` holders at a time, first come, first served. Each
//! holder has a slot number and a fence.
//!
//! [`Slots`] are kept in a cluster that runs already. A client that dies or is cut off loses its
//! slots after a [time](Builder::ttl), and the next in line gets them. A passage costs two round
//! trips, whatever the number of clients.
//!
//! ```no_run
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! use doorway_etcd::Slots;
//! let endpoints = ["http://10.0.0.1:2379", "http://10.0.0.2:2379", "http://10.0.0.3:2379"];
//! let licences = Slots::connect(endpoints, "licences", 10).await?;
//! let mine = licences.acquire().await?;
//! tokio::select! {
//!     () = work(mine.slot(), mine.fence()) => mine.release().await?,
//!     () = mine.lost() => eprintln!("stopped: another client may have slot {}", mine.slot()),
//! }
//! # Ok(()) }
//! # async fn work(_: usize, _: u64) {}
//! ```
//!
//! # What a lease cannot promise
//! A holder that is paused for longer than its lease does not know that it has lost its slot. For a
//! moment, two clients may believe that they hold it. No lease prevents that. If it matters, pass
//! the [fence](Guard::fence) to the resource that the slot protects, and let the resource refuse
//! older fences. The page `docs/machines.md` shows how, and has a table of what happens when
//! something fails.
//!
//! # How it works
//! The protocol is a text that a model checker runs: [`doorway_core::k_assignment::leases`]. This
//! crate sends what the text says. It also does the following:
//!
//! - Each `Slots` has one watch. When the watch has ended, the crate reads all keys anew, and opens
//!   another watch.
//! - It sends a request again, unchanged, until there is an answer.
//! - After a member has failed, it does not use that member for a while.
//! - It pauses before it tries anything again, each time for longer.

#![forbid(unsafe_code)]
#![warn(missing_docs, missing_debug_implementations, unreachable_pub)]

pub mod blocking;
mod builder;
mod clock;
mod cluster;
mod errors;
mod guard;
mod keys;
mod mirror;
mod session;
mod slots;
mod status;

pub use builder::Builder;
pub use errors::{Error, ReleaseError, TimeoutError, TryAcquireError};
#[cfg(feature = "tls")]
pub use etcd_client::{Certificate, Identity, TlsOptions};
pub use guard::Guard;
pub use slots::Slots;
pub use status::{Holder, Known, Status, Waiter};

/// Runs the example of the page as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Runs the examples of the page about machines.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/machines.md")]
struct Machines;
