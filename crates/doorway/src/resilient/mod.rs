//! [`Resilient`]: any object, shared by any number of threads, some of which may stop half-way.
//!
//! The page `docs/resilient.md` says when this beats a mutex, and shows what it costs.

mod am_assign;
mod errors;
mod inside;
mod objects;
mod store;

pub use am_assign::AmAssign;
pub use errors::ResilientBuildError;
pub use objects::{Change, Closures, Register, Ring, RingOp, Snapshot};

use crate::SizeError;
use crate::slots::{AcquireTimeoutError, Slots, TryAcquireError};
use crate::waiting::Policy;
use doorway_core::resilient::MOST_NAMES;
use inside::Inside;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A sequential object: its state, and its operations.
///
/// Operations are passed by reference, because several threads may run the same operation, each on
/// its own copy of the state. One of these copies becomes the new state, and the others are thrown
/// away. So `apply` must change nothing but the state. It need not be deterministic.
///
/// # Examples
/// ```
/// use doorway::resilient::{Object, Resilient};
///
/// #[derive(Clone)]
/// struct Account(u64);
///
/// struct Withdraw(u64);
///
/// impl Object for Account {
///     type Op = Withdraw;
///     type Response = Result<u64, u64>;
///     fn apply(&mut self, &Withdraw(sum): &Withdraw) -> Result<u64, u64> {
///         self.0 = self.0.checked_sub(sum).ok_or(self.0)?;
///         Ok(self.0)
///     }
/// }
///
/// let account = Resilient::new(Account(100), 2)?;
/// assert_eq!(account.apply(Withdraw(70)), Ok(30));
/// assert_eq!(account.apply(Withdraw(70)), Err(30));
/// # Ok::<(), doorway::resilient::ResilientBuildError>(())
/// ```
pub trait Object: Clone + Send + Sync {
    /// An operation and its arguments.
    type Op: Send + Sync;
    /// The result of an operation.
    type Response: Send;

    /// Changes the state, and returns the result.
    fn apply(&mut self, op: &Self::Op) -> Self::Response;
}

/// Any sequential [object](Object), shared by any number of threads, of which up to `k - 1` may
/// stop.
///
/// A thread may stop half-way through an operation, for any length of time, and no other thread has
/// to wait for it.
///
/// Each operation takes effect at one moment between its call and its return. While at most `k`
/// threads are in operations, each finishes in a bounded number of its own steps. Further threads
/// wait in [`Slots`], in order of arrival. A newcomer first tries for a moment to get in
/// [before it gets in line](Slots::unfair), unless the object admits threads
/// [in order](Self::in_order).
///
/// # What happens to the operation of a thread that stops
/// It takes effect at most once: before the thread stopped, or later, applied by another thread, or
/// never. Other threads see the object with the operation either done or not done, and never half
/// done.
///
/// # Reentrant calls
/// Do not call the object from within its own `apply`, `clone`, `drop` or `read`. Such a call needs
/// another name, and waits for itself if no name is free.
///
/// # When not to use this
/// For a counter, a flag or a word, use one atomic instruction: it is resilient for any number of
/// threads, and far faster. If no thread is ever stopped inside (no priorities, no debugger, no
/// more threads than cores), use a mutex.
///
/// # Panics
/// Panics if an `apply` panics, the operation has no effect, whichever thread ran it, and the call
/// that asked for it panics with the same payload. A `clone` that panics makes the current call
/// panic, too. If that call's operation was already announced, it may still take effect. A panic in
/// the destructor of an old state, of an operation, or of a response that no caller took is
/// swallowed.
///
/// # Cost
/// Each operation, or each batch of operations, copies the state. Keep the state to a few cache
/// lines, or make `clone` cheap (chunks behind `Arc`).
///
/// The object keeps `4k^2` states (`24k` if `k > 4`) and `k^2` operations. An old state lives until
/// its place is used again, so the resources that it holds (files, memory) are released late.
/// States are overwritten by `clone_from`, which reuses allocations if you write it by hand; the
/// derived one does not. `doorway-lab bench resilient` compares.
///
/// # Examples
/// ```
/// use doorway::resilient::{Resilient, Ring, RingOp};
///
/// let jobs = Resilient::new(Ring::new(16), 3)?; // two threads may stop in the middle of a push, and the others go on
/// assert!(jobs.push("compile").is_ok());
/// assert_eq!(jobs.pop(), Some("compile"));
/// assert_eq!(jobs.apply(RingOp::Pop), None);
/// # Ok::<(), doorway::resilient::ResilientBuildError>(())
/// ```
pub struct Resilient<T: Object, A = Slots> {
    inside: Inside<T>,
    names: A,
}

/// How long a thread that lost to another one lets it go ahead, in spins.
const PAUSES: u32 = 4;

impl<T: Object> Resilient<T> {
    /// Shares this object between threads of which up to `k - 1` may stop.
    ///
    /// # Errors
    /// Returns an error if `k` is 0 or more than [`MOST`](Self::MOST).
    ///
    /// # Examples
    /// ```
    /// use doorway::resilient::{ResilientBuildError, Register, Resilient};
    /// assert_eq!(Resilient::new(Register::new("a"), 0).unwrap_err(), ResilientBuildError::NoneInside);
    /// assert_eq!(Resilient::new(Register::new("a"), 9).unwrap_err(), ResilientBuildError::TooManyInside { asked: 9 });
    /// ```
    pub fn new(value: T, k: usize) -> Result<Self, ResilientBuildError> {
        Self::within(value, k, || Slots::new(k).map(Slots::unfair))
    }

    /// Sets how threads wait while `k` others are inside.
    #[must_use]
    pub fn with_policy(self, policy: Policy) -> Self {
        Self { names: self.names.with_policy(policy), ..self }
    }

    /// Admits threads in order of arrival, without barging.
    ///
    /// With more than `k` threads, this costs a switch of threads for nearly every operation.
    ///
    /// # Examples
    /// ```
    /// use doorway::resilient::{Register, Resilient};
    /// let turns = Resilient::new(Register::new(0), 2)?.in_order();
    /// assert_eq!(*turns.swap(1), 0);
    /// # Ok::<(), doorway::resilient::ResilientBuildError>(())
    /// ```
    #[must_use]
    pub fn in_order(self) -> Self {
        Self { names: self.names.fair(), ..self }
    }

    /// Applies an operation.
    ///
    /// # Panics
    /// Panics if the operation panics, or if cloning the state does.
    ///
    /// # Examples
    /// ```
    /// use doorway::resilient::{Closures, Resilient};
    /// let words = Resilient::new(Closures::new(vec!["one"]), 2)?;
    /// assert_eq!(words.with(|words| { words.push("two"); words.len() }), 2);
    /// # Ok::<(), doorway::resilient::ResilientBuildError>(())
    /// ```
    #[inline]
    pub fn apply(&self, op: T::Op) -> T::Response {
        let Ok(name) = self.names.acquire() else { never_closed() };
        self.inside.perform(name.slot(), op)
    }

    /// Applies an operation, unless `k` threads are inside.
    ///
    /// # Errors
    /// Gives the operation back if `k` threads are inside.
    ///
    /// # Panics
    /// The same as for [`apply`](Self::apply).
    pub fn try_apply(&self, op: T::Op) -> Result<T::Response, T::Op> {
        match self.names.try_acquire() {
            Ok(name) => Ok(self.inside.perform(name.slot(), op)),
            Err(TryAcquireError::NoPlace) => Err(op),
            Err(_) => never_closed(),
        }
    }

    /// Applies an operation, but waits no longer than `timeout` to get inside.
    ///
    /// Once inside, the operation finishes in a bounded number of steps.
    ///
    /// # Errors
    /// Gives the operation back if the time runs out first.
    ///
    /// # Panics
    /// The same as for [`apply`](Self::apply).
    ///
    /// # Examples
    /// ```
    /// use doorway::resilient::{Register, Resilient};
    /// use std::time::Duration;
    /// let name = Resilient::new(Register::new("a"), 1)?;
    /// let late = name.read(|_| name.apply_timeout("b".into(), Duration::from_millis(1))); // we are in it ourselves
    /// assert_eq!(late.map_err(|back| *back), Err("b"));
    /// assert_eq!(name.apply_timeout("b".into(), Duration::ZERO).map(|old| *old), Ok("a"));
    /// # Ok::<(), doorway::resilient::ResilientBuildError>(())
    /// ```
    pub fn apply_timeout(&self, op: T::Op, timeout: Duration) -> Result<T::Response, T::Op> {
        match self.names.acquire_timeout(timeout) {
            Ok(name) => Ok(self.inside.perform(name.slot(), op)),
            Err(AcquireTimeoutError::TimedOut) => Err(op),
            Err(_) => never_closed(),
        }
    }

    /// [`apply_timeout`](Self::apply_timeout) with a point in time.
    ///
    /// # Errors
    /// Gives the operation back if the deadline passes.
    ///
    /// # Panics
    /// The same as for [`apply`](Self::apply).
    pub fn apply_deadline(&self, op: T::Op, deadline: Instant) -> Result<T::Response, T::Op> {
        self.apply_timeout(op, deadline.saturating_duration_since(Instant::now()))
    }

    /// [`apply`](Self::apply) for tasks: the task waits for its turn without blocking a thread, and
    /// then finishes in one poll.
    ///
    /// # Cancel safety
    /// Cancel safe. If the future is dropped before it is ready, the operation has had no effect.
    ///
    /// # Panics
    /// The same as for [`apply`](Self::apply).
    pub async fn apply_async(&self, op: T::Op) -> T::Response {
        let Ok(name) = self.names.acquire_async().await else { never_closed() };
        self.inside.perform(name.slot(), op)
    }

    /// Looks at the state.
    ///
    /// The state does not change while `look` sees it: a thread that changes the object meanwhile
    /// makes a new state.
    ///
    /// # Panics
    /// Panics if `look` panics, or if cloning the state does.
    ///
    /// # Examples
    /// ```
    /// use doorway::resilient::{Resilient, Ring};
    /// let ring = Resilient::new(Ring::new(2), 2)?;
    /// ring.push(7).unwrap();
    /// assert_eq!(ring.read(|ring| ring.len()), 1);
    /// # Ok::<(), doorway::resilient::ResilientBuildError>(())
    /// ```
    pub fn read<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        let Ok(name) = self.names.acquire() else { never_closed() };
        self.inside.look(name.slot(), look)
    }

    /// How many more threads could be in an operation now without waiting. Each thread that has
    /// stopped in an operation lowers this by one.
    #[must_use]
    pub fn available(&self) -> usize {
        self.names.available()
    }
}

#[cold]
fn never_closed() -> ! {
    unreachable!("these slots are never closed")
}

impl<T: Object, A> Resilient<T, A> {
    /// The largest `k`.
    pub const MOST: usize = MOST_NAMES;

    fn within<E: Into<SizeError>>(
        value: T,
        k: usize,
        names: impl FnOnce() -> Result<A, E>,
    ) -> Result<Self, ResilientBuildError> {
        if k == 0 {
            return Err(ResilientBuildError::NoneInside);
        }
        let inside = Inside::new(value, k, PAUSES).ok_or(ResilientBuildError::TooManyInside { asked: k })?;
        Ok(Self { inside, names: names().map_err(Into::into)? })
    }

    /// Sets for how many spins a thread that lost to another one lets it go ahead.
    ///
    /// More spins improve throughput under contention, because the other thread applies operations
    /// in batches. They also make the slowest operations slower. `doorway-lab bench resilient`
    /// shows by how much.
    #[must_use]
    pub fn with_pauses(mut self, spins: u32) -> Self {
        self.inside.set_pauses(spins);
        self
    }

    /// How many threads may stop half-way: one fewer than may be inside.
    #[must_use]
    pub fn survives(&self) -> usize {
        self.inside.names() - 1
    }

    /// Gives each of the `k` names away for good. The owner of a handle never waits for another
    /// thread.
    ///
    /// # Examples
    /// ```
    /// use doorway::resilient::{Register, Resilient};
    /// use std::sync::Arc;
    /// let [mut one, mut other] = <[_; 2]>::try_from(Resilient::new(Register::new("a"), 2)?.into_handles()).unwrap();
    /// assert_eq!(*one.apply(Arc::new("b")), "a");
    /// assert_eq!(*other.apply(Arc::new("c")), "b");
    /// # Ok::<(), doorway::resilient::ResilientBuildError>(())
    /// ```
    #[must_use]
    pub fn into_handles(self) -> Vec<Handle<T>> {
        let inside = Arc::new(self.inside);
        (0..inside.names()).map(|name| Handle { inside: Arc::clone(&inside), name }).collect()
    }

    /// Returns the state.
    #[must_use]
    pub fn into_inner(self) -> T {
        self.inside.into_inner()
    }
}

/// One of the `k` names of an object, for good: its operations are wait-free.
///
/// If the handle is dropped, its name is never used again. See [`Resilient::into_handles`].
pub struct Handle<T: Object> {
    inside: Arc<Inside<T>>,
    name: usize,
}

impl<T: Object> Handle<T> {
    /// The name of this handle.
    #[must_use]
    pub fn name(&self) -> usize {
        self.name
    }

    /// Applies an operation in a bounded number of steps, whatever the other threads do.
    ///
    /// # Panics
    /// Panics if the operation panics, or if cloning the state does.
    #[inline]
    pub fn apply(&mut self, op: T::Op) -> T::Response {
        self.inside.perform(self.name, op)
    }

    /// Looks at the state, as [`Resilient::read`] does.
    ///
    /// # Panics
    /// Panics if `look` panics, or if cloning the state does.
    pub fn read<R>(&mut self, look: impl FnOnce(&T) -> R) -> R {
        self.inside.look(self.name, look)
    }
}

impl<T: Object> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("name", &self.name).finish_non_exhaustive()
    }
}

// A panic leaves the object as it was, or with the operation done, as promised above.
impl<T: Object, A> std::panic::UnwindSafe for Resilient<T, A> {}
impl<T: Object, A> std::panic::RefUnwindSafe for Resilient<T, A> {}
impl<T: Object> std::panic::UnwindSafe for Handle<T> {}
impl<T: Object> std::panic::RefUnwindSafe for Handle<T> {}

impl<T: Object + fmt::Debug> fmt::Debug for Resilient<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = f.debug_struct("Resilient");
        match self.names.try_acquire() {
            Ok(name) => self
                .inside
                .look(name.slot(), |state| all.field("state", state).field("survives", &self.survives()).finish()),
            Err(_) => all.field("survives", &self.survives()).finish_non_exhaustive(),
        }
    }
}

const _: () = {
    const fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Resilient<Ring<u8>>>();
    is_send_and_sync::<Resilient<Ring<u8>, AmAssign>>();
    is_send_and_sync::<Handle<Ring<u8>>>();
};
