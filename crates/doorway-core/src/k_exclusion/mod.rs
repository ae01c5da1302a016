//! k-exclusion: at most `k` of `N` processes inside, even when some have died.
//!
//! # Problem
//! Processes run *passages* for ever: entry section, critical section, exit section, remainder.
//!
//! - **k-exclusion** (safety): at most `k` processes are in their critical sections, whoever has crashed.
//! - **Progress**: if at most `k - 1` processes crash outside their remainders, each other process in its
//!   entry (exit) section reaches its critical section (remainder).
//!
//! A crash is undetectable and final: the process takes no further step, wherever it stands. With `k = 1` this is
//! [mutual exclusion](crate::mutex), which tolerates none.
//!
//! # Solutions
//! See the [catalogue](crate::registry). The parts compose: [`FastPath`](anderson_moir_94::FastPath) goes around any two
//! solutions, a [`Chain`](anderson_moir_94::Chain) is made of [slots](anderson_moir_94::CcSlot).

pub mod anderson_moir_94;

use crate::Failure;
use crate::memory::{Memory, Process};
use core::fmt::Debug;

/// A solution of k-exclusion on the memory `M`.
///
/// ```
/// use doorway::native::{Native, now};
/// use doorway_core::k_exclusion::{KExclusion, anderson_moir_94::Chain};
/// use doorway_core::memory::{Pid, Process, Site};
///
/// let chain = Chain::new(&Site::new(&Native::new()), 3, 2);
/// let (p, q) = (Process::new(Pid::new(0), Native::new()), Process::new(Pid::new(1), Native::new()));
/// let a = now(chain.acquire(&p)).unwrap();
/// let b = now(chain.acquire(&q)).unwrap(); // k = 2: both are inside
/// now(chain.release(&p, a)).unwrap();
/// now(chain.release(&q, b)).unwrap();
/// ```
pub trait KExclusion<M: Memory> {
    /// What one passage carries from entry to exit (fast or slow, a name). Private to the process: neither a shared
    /// variable nor a field of `self`. In texts that use [`keep`](crate::memory::Here::keep) the checker tells values apart by their `Debug`.
    type Held: Debug;
    /// Why the algorithm itself may turn a process away; [`Infallible`](core::convert::Infallible) if it never does.
    type Refusal: Debug;

    /// The entry section.
    ///
    /// # Cancel safety
    /// Dropping this future part-way **is a crash** of `p`, unless the solution is also [`Abortable`] and
    /// [`Abortable::leave`] runs.
    ///
    /// # Errors
    /// [`Failure::Memory`] leaves `p` where it stood, as a crash does. [`Failure::Refused`] leaves it in its remainder.
    fn acquire(&self, p: &Process<M>) -> impl Future<Output = Result<Self::Held, Failure<M::Error, Self::Refusal>>>;

    /// The exit section.
    ///
    /// # Errors
    /// If an access failed; `p` then stands where it stood, as after a crash.
    fn release(&self, p: &Process<M>, held: Self::Held) -> impl Future<Output = Result<(), M::Error>>;
}

/// A solution whose waiting processes can give up.
///
/// Beside entry and exit it has a third section, [`leave`](Self::leave). What `leave` needs to know (a ticket, whether it was announced) is
/// the [`Attempt`](Self::Attempt), which lives outside the entry's future, so that a timeout or a drop can still run it.
pub trait Abortable<M: Memory>: KExclusion<M> {
    /// How far an entry has come.
    type Attempt: Default + Debug;

    /// The entry section with waits that can be abandoned: `None` if the process was asked to give up, after
    /// which [`leave`](Self::leave) must run.
    ///
    /// # Errors
    /// As [`KExclusion::acquire`].
    #[expect(clippy::type_complexity, reason = "each layer says something: may fail, may give up, what is held")]
    fn try_acquire(
        &self,
        p: &Process<M>,
        attempt: &mut Self::Attempt,
    ) -> impl Future<Output = Result<Option<Self::Held>, Failure<M::Error, Self::Refusal>>>;

    /// Withdraws an attempt, wherever it had come to. `Some` if the process was let in meanwhile and must release.
    ///
    /// # Errors
    /// If an access failed; `p` then stands where it stood, as after a crash.
    fn leave(
        &self,
        p: &Process<M>,
        attempt: Self::Attempt,
    ) -> impl Future<Output = Result<Option<Self::Held>, M::Error>>;
}
