//! k-assignment: at most `k` of `N` processes inside, each with a name of its own among `0..k`.
//!
//! # Problem
//! [k-exclusion](crate::k_exclusion), and:
//!
//! - **unique names** (safety): every process in its critical section holds a name of `0..k`, and
//!   no two of them hold the same.
//!
//! Names are *long-lived*: a process gives its name back with its place, and another process can
//! get it. A process that crashes inside keeps its name for ever, as it keeps its place.
//!
//! # What it is for
//! A name is an index: it says which of `k` connections, GPUs or buffers is yours, without a
//! further lock. It also turns a wait-free object for `k` processes into one that any number of
//! processes may use while up to `k - 1` of them die: a process that has name `i` acts as the `i`th
//! of the `k` processes.
//!
//! # Solutions
//! [`Renaming`](anderson_moir_94::Renaming) turns *any* solution of k-exclusion into one of
//! k-assignment, for `k` more remote references. So do [flags and bitmaps](names), which are
//! faster. These compositions have an id:
//!
//! | id | around | remote references | |
//! |---|---|---|---|
//! | `am-assign` | `am-fast` | `8k+2` while at most `k` compete, else `7k (log(N/k)+1) + k + 2` (CC) | cached words |
//! | `turnstile-slots` | `turnstile`, names from flags | a constant, and a load for each lower name that is held | cached words |
//! | `turnstile-bits` | `turnstile`, names from a bitmap | a constant, and a load for each 64 lower names | cached words |
//! | `am-dsm-assign` | `am-dsm-fast` | `15k+2`, else `14k (log(N/k)+1) + k + 2` (DSM) | own words |
//! | `seats` | nothing: [slots between processes](seats) that die, whose slots come back | a load and two compare-and-swaps alone | for memories between processes |
//! | none | nothing: [slots between machines](leases), in a store with leases | two round trips | for stores such as etcd |
//! | `sticky-names` | nothing: a process that comes while [all names](names::sticky) are taken is turned away | | for the checker |
//!
//! # Which to take
//! Use `turnstile-slots`, as `doorway::Slots`. Of the paper's solutions use `am-assign`, unless
//! processes must not spin on the memory of others. If you need no names, use the
//! [k-exclusion](crate::k_exclusion) alone. To choose another k-exclusion (a chain because
//! `N <= 2k`, say), compose it: the example below puts names around a chain.
//!
//! A process tries the lowest names first. So while few processes are inside, they reuse low names,
//! and what belongs to these names stays warm in caches.

pub mod anderson_moir_94;
pub mod leases;
pub mod names;
pub mod seats;
pub mod slots;

pub use slots::{Entered, Fence, Grant, Holding, Retired, Slots, Unfair};

use crate::k_exclusion::KExclusion;
use crate::memory::Memory;

/// A solution of k-assignment on the memory `M`.
///
/// ```
/// use doorway_core::memory::spinning::{Spinning, now};
/// use doorway_core::k_assignment::{KAssignment, anderson_moir_94::Renaming};
/// use doorway_core::k_exclusion::{KExclusion, anderson_moir_94::Chain};
/// use doorway_core::memory::{Pid, Process, Site};
///
/// fn name<A: KAssignment<Spinning>>(_: &A, held: &A::Held) -> usize {
///     A::name(held)
/// }
/// let names = Renaming::new(&Site::new(&Spinning), 2, |site| Chain::new(site, 3, 2));
/// let (p, q) = (Process::new(Pid::new(0), Spinning), Process::new(Pid::new(1), Spinning));
/// let (a, b) = (now(names.acquire(&p)).unwrap(), now(names.acquire(&q)).unwrap());
/// assert_eq!((name(&names, &a), name(&names, &b)), (0, 1));
/// ```
pub trait KAssignment<M: Memory>: KExclusion<M> {
    /// The name that a passage holds.
    fn name(held: &Self::Held) -> usize;
}
