//! Mutual exclusion: at most one process inside.
//!
//! # Problem
//! [k-exclusion](crate::k_exclusion) with `k = 1`: safety is **mutual exclusion**, progress is **starvation freedom** if nobody
//! stops outside its remainder. No crash is tolerated. What the solutions differ in is what they ask of the memory (safe
//! registers, atomic reads and writes, stronger instructions), where they spin, and whom they let in first.
//!
//! Each solution is a [`KExclusion`] with `k = 1`, and says so by being a [`MutualExclusion`]. An [`ArbitrationTree`] makes one for `N` processes of any for two.

pub mod anderson_90;
mod arbitration_tree;
pub mod kessels_82;
pub mod lamport_74;
pub mod lamport_87;
pub mod mellor_crummey_scott_91;
pub mod peterson_81;
pub mod peterson_fischer_77;
mod test_and_set;
pub mod yang_anderson_93;

pub use arbitration_tree::{ArbitrationTree, Node, Side, levels, nodes, spins};
pub use test_and_set::TestAndSetLock;

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
