//! Mutual exclusion: at most one process inside.
//!
//! # Problem
//! This is [k-exclusion](crate::k_exclusion) with `k = 1`. Safety is **mutual exclusion**. Progress
//! is **starvation freedom**, provided that no process stops outside its remainder section. No
//! crash is tolerated. The solutions differ in what they require of the memory (safe registers,
//! atomic reads and writes, stronger instructions), in where processes spin, and in the order in
//! which they let processes in.
//!
//! Each solution is a [`KExclusion`] with `k = 1`, and declares that by implementing
//! [`MutualExclusion`]. An [`ArbitrationTree`] turns any two-process solution into one for `N`
//! processes.
//!
//! # At once or not at all
//! Some locks can be entered [at once](crate::k_exclusion::AtOnce), or else found taken without
//! leaving a trace. They are the [test-and-set lock](TestAndSetLock), the one [with
//! backoff](mellor_crummey_scott_91::BackoffLock), the [ticket
//! lock](mellor_crummey_scott_91::TicketLock), the [queue lock](mellor_crummey_scott_91::QueueLock)
//! and the [turnstile](crate::k_exclusion::turnstile::Turnstile). In each of them one exchange both
//! asks and enters. The others do not allow it:
//!
//! - With reads and writes alone, a process must announce itself before it looks for others, and
//!   others may then rely on its announcement. Taking the announcement back is a section of its
//!   own, which these papers do not have. In [Lamport's](lamport_87::FastMutex) algorithm, and
//!   therefore in Yang and Anderson's [fast path](yang_anderson_93::FastPath), a process that has
//!   signed `y` and finds itself overtaken must wait to learn whether it may clear `y` again.
//! - In [T. Anderson's](anderson_90::ArrayLock) lock, and in the queue lock [without
//!   compare-and-swap](mellor_crummey_scott_91::SwapQueueLock), the instruction that asks is also
//!   the one that joins the line.

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
/// use doorway_core::memory::spinning::{Spinning, now};
/// use doorway_core::memory::{Pid, Process, Site};
/// use doorway_core::mutex::{MutualExclusion, yang_anderson_93::TwoProcess};
///
/// let mutex = TwoProcess::new(&Site::new(&Spinning));
/// let p = Process::new(Pid::new(1), Spinning);
/// let held = now(mutex.lock(&p)).unwrap();
/// now(mutex.unlock(&p, held)).unwrap();
/// ```
pub trait MutualExclusion<M: Memory>: KExclusion<M> {
    /// The entry section: [`KExclusion::acquire`].
    ///
    /// # Errors
    /// The same as for [`KExclusion::acquire`].
    fn lock(&self, p: &Process<M>) -> impl Future<Output = Result<Self::Held, Failure<M::Error, Self::Refusal>>> {
        self.acquire(p)
    }

    /// The exit section: [`KExclusion::release`].
    ///
    /// # Errors
    /// The same as for [`KExclusion::release`].
    fn unlock(&self, p: &Process<M>, held: Self::Held) -> impl Future<Output = Result<(), M::Error>> {
        self.release(p, held)
    }
}
