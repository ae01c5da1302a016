//! Crash-tolerant admission control: at most `k` of `n` get in.
//!
//! - [`Gate`]: an algorithm of the catalogue, for threads. [`Tas`], [`Bakery`], [`YaTwo`], [`AmChain`] and [`AmFast`] are gates by name.
//! - [`native`]: the memory they run on, for who composes algorithms of [`doorway_core`] directly.
//!
//! ```
//! use doorway::AmFast;
//!
//! // Eight threads, of which three may use the licence server at a time. Up to two of them may die inside.
//! let gate = AmFast::new(8, 3)?;
//! let mut me = gate.join().expect("eight places for members, and nobody has joined yet");
//! {
//!     let _inside = me.acquire();
//!     // at most three threads are here
//! }
//! # Ok::<(), doorway::SizeError>(())
//! ```
//!
//! # When not to use this
//! For a mutex among threads that do not die, take `std::sync::Mutex` or `parking_lot`: these gates spin and yield, they do not
//! yet park. They are for who wants *exactly* the paper's algorithm, with the paper's bounds.

#![forbid(unsafe_code)]

mod gate;
pub mod native;

pub use doorway_core::registry::{SizeError, Sizes};
pub use gate::{Full, Gate, Guard, Member, Refusal};

use doorway_core::registry;

/// The [test-and-set lock](doorway_core::mutex::TestAndSetLock): one bit, and no fairness.
pub type Tas = Gate<registry::TestAndSetBit>;
/// Lamport's [Bakery](doorway_core::mutex::lamport_74::Bakery): first come, first served, from reads and writes.
pub type Bakery = Gate<registry::LamportBakery>;
/// Yang and Anderson's [two-process mutex](doorway_core::mutex::yang_anderson_93::TwoProcess): each spins on its own memory.
pub type YaTwo = Gate<registry::YangAndersonTwo>;
/// Anderson and Moir's [chain](doorway_core::k_exclusion::anderson_moir_94::Chain): survives `k - 1` deaths.
pub type AmChain = Gate<registry::AndersonMoirChain>;
/// Anderson and Moir's [fast path](doorway_core::k_exclusion::anderson_moir_94::FastPath): cheap while at most `k` compete.
pub type AmFast = Gate<registry::AndersonMoirFast>;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
