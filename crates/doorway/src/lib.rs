//! Crash-tolerant admission control: at most `k` of `n` get in.
//!
//! - [`Gate`]: an algorithm of the catalogue, for threads. [`AmFast`], [`AmAssign`] and the other types below are gates by name;
//!   [`k_exclusion`](doorway_core::k_exclusion) and [`k_assignment`](doorway_core::k_assignment) say which to take when.
//! - [`waiting`]: how threads and tasks wait, and why nobody sleeps through a change.
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
//! For a mutex among threads that do not die, take `std::sync::Mutex` or `parking_lot`. These gates are for who wants *exactly* the paper's algorithm, with the paper's
//! bounds and its tolerance of crashes.

#![forbid(unsafe_code)]

mod gate;
pub mod native;
pub mod waiting;

pub use doorway_core::registry::{SizeError, Sizes};
pub use gate::{Full, Gate, Guard, Member, Refusal};

use doorway_core::registry;

/// The [test-and-set lock](doorway_core::mutex::TestAndSetLock): one bit, and no fairness.
pub type Tas = Gate<registry::TestAndSetBit>;
/// Lamport's [Bakery](doorway_core::mutex::lamport_74::Bakery): first come, first served, from reads and writes.
pub type Bakery = Gate<registry::LamportBakery>;
/// Yang and Anderson's [two-process mutex](doorway_core::mutex::yang_anderson_93::TwoProcess): each spins on its own memory.
pub type YaTwo = Gate<registry::YangAndersonTwo>;
/// Anderson and Moir's [queue](doorway_core::k_exclusion::anderson_moir_94::Queue) in atomic blocks, under a spin lock here: for comparison.
pub type AmQueue = Gate<registry::AndersonMoirQueue>;
/// Anderson and Moir's [chain](doorway_core::k_exclusion::anderson_moir_94::Chain): survives `k - 1` deaths.
pub type AmChain = Gate<registry::AndersonMoirChain>;
/// Anderson and Moir's [tree](doorway_core::k_exclusion::anderson_moir_94::Tree) of chains: cost grows with `k log(N/k)`.
pub type AmTree = Gate<registry::AndersonMoirTree>;
/// Anderson and Moir's [fast path](doorway_core::k_exclusion::anderson_moir_94::FastPath) around a tree: cheap while at most `k` compete.
pub type AmFast = Gate<registry::AndersonMoirFast>;
/// Anderson and Moir's [nested fast paths](doorway_core::k_exclusion::anderson_moir_94::NestedFastPaths): cost grows with contention. Here on
/// compare-and-swap, so lock-free and not wait-free.
pub type AmGraceful = Gate<registry::AndersonMoirGraceful>;
/// A chain of Anderson and Moir's [Figure 5](doorway_core::k_exclusion::anderson_moir_94::DsmUnboundedSlot): refuses a member that has waited 4095 times. For study.
pub type AmDsmUnbounded = Gate<registry::AndersonMoirDsmUnbounded>;
/// A chain of Anderson and Moir's [Figure 6](doorway_core::k_exclusion::anderson_moir_94::DsmSlot): each spins on its own memory.
pub type AmDsmChain = Gate<registry::AndersonMoirDsmChain>;
/// [`AmTree`] where each spins on its own memory.
pub type AmDsmTree = Gate<registry::AndersonMoirDsmTree>;
/// [`AmFast`] where each spins on its own memory.
pub type AmDsmFast = Gate<registry::AndersonMoirDsmFast>;
/// [`AmGraceful`] where each spins on its own memory.
pub type AmDsmGraceful = Gate<registry::AndersonMoirDsmGraceful>;
/// Anderson and Moir's [names](doorway_core::k_assignment::anderson_moir_94::Renaming) over [`AmFast`]: the guard says [which slot](Guard::slot) you got.
pub type AmAssign = Gate<registry::AndersonMoirAssign>;
/// The same over [`AmDsmFast`].
pub type AmDsmAssign = Gate<registry::AndersonMoirDsmAssign>;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
