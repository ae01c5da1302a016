//! Mutual exclusion: at most one process inside.
//!
//! # Problem
//! [k-exclusion](crate::k_exclusion) with `k = 1`: safety is **mutual exclusion**, progress is **starvation freedom** if nobody
//! stops outside its remainder. No crash is tolerated. What the solutions differ in is what they ask of the memory (safe
//! registers, atomic reads and writes, stronger instructions), where they spin, and whom they let in first.
//!
//! Each solution is a [`KExclusion`] with `k = 1`, and says so by being a [`MutualExclusion`]. An [`ArbitrationTree`] makes one for `N` processes of any for two.
//!
//! # At once or not at all
//! Those that one can enter [at once](crate::k_exclusion::AtOnce), or find taken and be as if one had never come, are the [test-and-set lock](TestAndSetLock), the one [with
//! backoff](mellor_crummey_scott_91::BackoffLock), the [ticket lock](mellor_crummey_scott_91::TicketLock), the [queue lock](mellor_crummey_scott_91::QueueLock) and the
//! [turnstile](crate::k_exclusion::turnstile::Turnstile): one exchange asks and enters. The others are not:
//!
//! - From reads and writes alone one must announce oneself before one looks whether others are there, and others may by then count on one that has announced itself. To take that back is a section of its
//!   own, which these papers do not have. In [Lamport's](lamport_87::FastMutex), and so in Yang and Anderson's [fast path](yang_anderson_93::FastPath), who has signed `y` and finds itself overtaken must wait to
//!   learn whether it may clear `y` again.
//! - In [T. Anderson's](anderson_90::ArrayLock) and in the queue lock [without compare-and-swap](mellor_crummey_scott_91::SwapQueueLock), the instruction that asks is the one that lines up.

pub mod anderson_90;
mod arbitration_tree;
pub mod kessels_82;
pub mod lamport_74;
pub mod lamport_87;
pub mod mellor_crummey_scott_91;
pub mod peterson_81;
pub mod peterson_fischer_77;
pub mod taubenfeld_04;
pub mod yang_anderson_93;

pub use anderson_90::TestAndSetLock;
pub use arbitration_tree::{ArbitrationTree, Node, Side, levels, nodes, spins};

use crate::Failure;
use crate::k_exclusion::KExclusion;
use crate::memory::{Memory, Process};

/// A solution of k-exclusion with `k = 1`, under the literature's names for its sections.
///
/// ```
/// use doorway::native::{Native, now};
/// use doorway_core::memory::{Pid, Process, Site};
/// use doorway_core::mutex::{MutualExclusion, yang_anderson_93::TwoProcess};
///
/// let mutex = TwoProcess::new(&Site::new(&Native::new()));
/// let p = Process::new(Pid::new(1), Native::new());
/// let held = now(mutex.lock(&p)).unwrap();
/// now(mutex.unlock(&p, held)).unwrap();
/// ```
pub trait MutualExclusion<M: Memory>: KExclusion<M> {
    /// The entry section: [`KExclusion::acquire`].
    ///
    /// # Errors
    /// As there.
    fn lock(&self, p: &Process<M>) -> impl Future<Output = Result<Self::Held, Failure<M::Error, Self::Refusal>>> {
        self.acquire(p)
    }

    /// The exit section: [`KExclusion::release`].
    ///
    /// # Errors
    /// As there.
    fn unlock(&self, p: &Process<M>, held: Self::Held) -> impl Future<Output = Result<(), M::Error>> {
        self.release(p, held)
    }
}
