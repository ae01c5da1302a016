//! k-exclusion: at most `k` of `N` processes inside, even when some have died.
//!
//! # Problem
//! Processes run *passages* for ever: entry section, critical section, exit section, remainder.
//!
//! - **k-exclusion** (safety): at most `k` processes are in their critical sections, whichever
//!   processes have crashed.
//! - **Progress**: if at most `k - 1` processes crash outside their remainders, each other process
//!   in its entry (exit) section reaches its critical section (remainder).
//!
//! A crash is undetectable and final: the process takes no further step, wherever it stands. With
//! `k = 1` this is [mutual exclusion](crate::mutex), which tolerates no crash.
//!
//! # Solutions
//! The table gives upper bounds on the remote references of one passage; `c` is the number of
//! processes that compete. In all solutions each process that enters gets in. All but `bypass`
//! tolerate `k - 1` crashes anywhere. In all but `bypass` each process that leaves also gets out;
//! with `bypass`, a process that leaves may be held up while newcomers pass.
//!
//! | id | under contention | while `c <= k` | waits on | shared words | needs, beside reads and writes |
//! |---|---|---|---|---|---|
//! | `am-queue` | `O(N)` | `O(N)` | its own word | `N+1` | **atomic blocks**, which no machine has |
//! | `am-chain` | `7(N-k)` | `3(N-k)` | a cached word | `2(N-k)` | fetch-and-add |
//! | `am-tree` | `7k log(N/k)` | `3k log(N/k)` | a cached word | about `2N` | fetch-and-add |
//! | `am-fast` | `7k (log(N/k)+1) + 2` | `3k+2` | a cached word | about `2N` | fetch-and-add |
//! | `am-graceful` | `(c/k) (7k+2)` | `3k+2` | a cached word | `2N` to `3N` | fetch-and-add, bounded decrement |
//! | `am-dsm-unbounded` | `8(N-k)` | `4(N-k)` | its own word | unbounded | fetch-and-add, compare-and-swap |
//! | `am-dsm-chain` | `14(N-k)` | `7(N-k)` | its own word | `Θ(N³)` | fetch-and-add, compare-and-swap |
//! | `am-dsm-tree` | `14k log(N/k)` | `7k log(N/k)` | its own word | `Θ(N k² log(N/k))` | fetch-and-add, compare-and-swap |
//! | `am-dsm-fast` | `14k (log(N/k)+1) + 2` | `7k+2` | its own word | the same, and `Θ(N k²)` | fetch-and-add, compare-and-swap |
//! | `kbakery` | `4(N-1)`, CC `8(N-1)+1` | the same | its own word | `Θ(N²)` | nothing |
//! | `kbakery-fife` | `5(N-1)`, CC `12(N-1)+1` | the same | its own word | `Θ(N²)` | nothing |
//! | `kbakery-nonatomic` | `10(N-1)` | the same | its own word | `Θ(N²)` | nothing, and reads and writes may tear |
//! | `turnstile` | a constant | a constant | a cached word | about `2N+k` | fetch-and-add, compare-and-swap |
//! | `bypass` | a constant | a constant | a cached word | about `2N+k` | fetch-and-add, compare-and-swap |
//! | `turnstile-simple` | a constant | a constant | a cached word | about `2N+2k` | fetch-and-add, compare-and-swap |
//! | `dgs` | not known | not known | the bits of all others | `12N(N-1)+N` | nothing, and these need not be atomic |
//! | `am-dsm-graceful` | `(c/k) (14k+2)` | `7k+2` | its own word | `Θ(N² k)` | fetch-and-add, compare-and-swap, bounded decrement |
//!
//! The bounds under contention are the theorems of [Anderson and Moir](anderson_moir_94), with
//! `log` to base 2 and both quotients rounded up ([exactly](anderson_moir_94::bounds)). If at most
//! `k` processes compete, the theorems allow `7k+2` and `14k+2`; the table gives what a passage
//! really costs. `doorway rmr --theorems` measures all of them.
//!
//! [`turnstile`] is our own. It is first in, first enabled, and its waiters can give up. Its
//! constant grows by a few references for each helper that is slow or dead, and for each place in
//! line that was given up. `turnstile-simple` is its first version, short enough to read first: its
//! waiters cannot give up. [`bypass`] wraps a turnstile and lets newcomers pass the waiters in
//! line, a bounded number of times; it tolerates no crash.
//!
//! # Which to take
//! - **To build something on:** `turnstile`, as `doorway::Slots`. Take one of the others if you
//!   want the paper's algorithm, have a machine without compare-and-swap, or need local spinning in
//!   a distributed memory.
//! - **Threads of one machine, usually fewer than `k` at a time:** `am-fast`. Its cost does not
//!   depend on `N` until more than `k` processes come. It is wait-free except for the waiting that
//!   exclusion itself requires.
//! - **`N <= 2k`, or nearly always full:** `am-chain`. The others are a chain with something around
//!   it.
//! - **Always full, `N` large:** `am-tree`, which is `am-fast` without the fast path.
//! - **Contention that varies between `k` and a few times `k`, on a machine with a bounded
//!   decrement:** `am-graceful`. Without that instruction it is only lock-free. Its bound is about
//!   references, not about waiting: others can overtake a process that went deep at each block on
//!   its way.
//! - **Memory without coherent caches, or where spinning on another process's word hurts:** the
//!   same solutions, with `dsm` in the name. They make twice as many remote references, and none of
//!   them while they wait.
//! - **A machine with nothing but reads and writes:** [`kbakery-fife`](danek_10), which also admits
//!   in order of arrival. At `N = 64` it takes fewer remote references than `am-dsm-tree` from
//!   `k = 6` on, in `Θ(N²)` words.
//! - **No read-modify-write at all, or reads and writes that are not even atomic:**
//!   [`dgs`](dolev_gafni_shavit_88), from `9N(N-1)+N` safe bits. A waiter reads most of them over
//!   and over.
//! - **To compare with, or to read first:** `am-queue` and `am-dsm-unbounded`.
//!
//! To know *which* of the `k` places a process has, see [`k_assignment`](crate::k_assignment). With
//! `k = 1`, a [mutex](crate::mutex) is cheaper and just as safe: no process may die then.
//!
//! The parts compose. [`FastPath`](anderson_moir_94::FastPath) goes around any two solutions, a
//! [`Tree`](anderson_moir_94::Tree) is made of any blocks, and a [`Chain`](anderson_moir_94::Chain)
//! of any [slots](anderson_moir_94::Slot).

pub mod anderson_moir_94;
pub mod bypass;
pub mod danek_10;
pub mod dolev_gafni_shavit_88;
pub mod turnstile;

use crate::Failure;
use crate::memory::{Memory, Process};
use core::fmt::Debug;

/// A solution of k-exclusion on the memory `M`.
///
/// ```
/// use doorway_core::memory::spinning::{Spinning, now};
/// use doorway_core::k_exclusion::{KExclusion, anderson_moir_94::Chain};
/// use doorway_core::memory::{Pid, Process, Site};
///
/// let chain = Chain::new(&Site::new(&Spinning), 3, 2);
/// let (p, q) = (Process::new(Pid::new(0), Spinning), Process::new(Pid::new(1), Spinning));
/// let a = now(chain.acquire(&p)).unwrap();
/// let b = now(chain.acquire(&q)).unwrap(); // k = 2: both are inside
/// now(chain.release(&p, a)).unwrap();
/// now(chain.release(&q, b)).unwrap();
/// ```
pub trait KExclusion<M: Memory> {
    /// What one passage carries from entry to exit, for instance fast or slow, or a name.
    ///
    /// It is private to the process: neither a shared variable nor a field of `self`. In texts that
    /// use [`keep`](crate::memory::Here::keep) the checker tells values apart by their `Debug`.
    type Held: Debug;
    /// Why the algorithm itself may refuse a process; [`Infallible`](core::convert::Infallible) if
    /// it never does.
    type Refusal: Debug;

    /// The entry section.
    ///
    /// # Cancel safety
    /// Dropping this future part-way **is a crash** of `p`, unless the solution is also
    /// [`Abortable`] and [`Abortable::leave`] runs.
    ///
    /// # Errors
    /// [`Failure::Memory`] leaves `p` where it stood, as a crash does. [`Failure::Refused`] leaves
    /// `p` in its remainder.
    fn acquire(&self, p: &Process<M>) -> impl Future<Output = Result<Self::Held, Failure<M::Error, Self::Refusal>>>;

    /// The exit section.
    ///
    /// # Errors
    /// Returns an error if an access failed. `p` then stands where it stood, as after a crash.
    fn release(&self, p: &Process<M>, held: Self::Held) -> impl Future<Output = Result<(), M::Error>>;
}

/// A solution whose waiters can give up.
///
/// Besides entry and exit it has a third section, [`leave`](Self::leave). What `leave` needs to
/// know (a ticket, whether it was announced) is the [`Attempt`](Self::Attempt). The attempt lives
/// outside the entry's future, so that a timeout or a drop can still run `leave`.
pub trait Abortable<M: Memory>: KExclusion<M> {
    /// How far an entry section has come.
    type Attempt: Default + Debug;

    /// The entry section, with waits that can be abandoned. Returns `None` if the process was asked
    /// to give up; [`leave`](Self::leave) must run then.
    ///
    /// # Errors
    /// The same as for [`KExclusion::acquire`].
    #[expect(clippy::type_complexity, reason = "each layer says something: may fail, may give up, what is held")]
    fn try_acquire(
        &self,
        p: &Process<M>,
        attempt: &mut Self::Attempt,
    ) -> impl Future<Output = Result<Option<Self::Held>, Failure<M::Error, Self::Refusal>>>;

    /// Withdraws an attempt, however far it had come. Returns `Some` if the process was let in
    /// meanwhile and must release.
    ///
    /// # Errors
    /// Returns an error if an access failed. `p` then stands where it stood, as after a crash.
    fn leave(
        &self,
        p: &Process<M>,
        attempt: Self::Attempt,
    ) -> impl Future<Output = Result<Option<Self::Held>, M::Error>>;
}

/// A solution that a process can enter at once or not at all.
///
/// It has one more entry section, in which no process waits for another.
///
/// ```
/// use doorway_core::memory::spinning::{Spinning, now};
/// use doorway_core::k_exclusion::{AtOnce, KExclusion};
/// use doorway_core::memory::{Pid, Process, Site};
/// use doorway_core::mutex::TestAndSetLock;
///
/// let lock = TestAndSetLock::new(&Site::new(&Spinning));
/// let (p, q) = (Process::new(Pid::new(0), Spinning), Process::new(Pid::new(1), Spinning));
/// let held = now(lock.acquire_at_once(&p)).unwrap();
/// assert!(held.is_some());
/// assert!(now(lock.acquire_at_once(&q)).unwrap().is_none());
/// now(lock.release(&p, held.unwrap())).unwrap();
/// assert!(now(lock.acquire_at_once(&q)).unwrap().is_some());
/// ```
pub trait AtOnce<M: Memory>: KExclusion<M> {
    /// Enters, or returns at once.
    ///
    /// Returns `None` if, at some time during the attempt, another process was inside or on its way
    /// in. `p` is in its remainder then, and what it did delays no other process.
    ///
    /// # Errors
    /// The same as for [`KExclusion::acquire`].
    #[expect(
        clippy::type_complexity,
        reason = "each layer says something: may fail, may come to nothing, what is held"
    )]
    fn acquire_at_once(
        &self,
        p: &Process<M>,
    ) -> impl Future<Output = Result<Option<Self::Held>, Failure<M::Error, Self::Refusal>>>;
}
