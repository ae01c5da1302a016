//! Algorithms of the catalogue for threads: a gate, its members, and guards.

use crate::native::{Native, now, sizes};
use crate::waiting::Policy;
use doorway_core::Failure;
use doorway_core::k_assignment::KAssignment;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Pid, Process, Site};
use doorway_core::registry::{Entry, SizeError};

pub use doorway_core::registry::Sizes;

use std::convert::Infallible;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

/// One algorithm, built for `n` threads, of which `k` may be inside.
///
/// The papers' algorithms know each process by a name. A thread gets a name when it
/// [joins](Self::join) and keeps it until its [`Member`] is dropped.
///
/// # Examples
/// ```
/// use doorway::gates::AmChain;
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// let gate = AmChain::new(4, 2)?; // four threads, two inside
/// let inside = AtomicUsize::new(0);
/// std::thread::scope(|s| {
///     for _ in 0..4 {
///         let mut me = gate.join().unwrap();
///         s.spawn(|| {
///             let mut me = me; // the member moves into its thread
///             for _ in 0..1000 {
///                 let _guard = me.acquire();
///                 assert!(inside.fetch_add(1, Ordering::SeqCst) < 2);
///                 inside.fetch_sub(1, Ordering::SeqCst);
///             }
///         });
///     }
/// });
/// # Ok::<(), doorway::SizeError>(())
/// ```
pub struct Gate<E: Entry> {
    algorithm: E::On<Native>,
    sizes: Sizes,
    policy: Policy,
    names: Mutex<FreeNames>,
}

/// The names that no member has.
struct FreeNames {
    free: Vec<Pid>,
    /// How many members crashed inside. Their names are never free again.
    crashed: usize,
}

impl<E: Entry> Gate<E> {
    /// Builds a gate for `n` members, of which `k` may be inside.
    ///
    /// # Errors
    /// Returns an error if the algorithm does not support these sizes, or if it would take more
    /// than a gigabyte or two.
    ///
    /// # Examples
    /// ```
    /// use doorway::{SizeError, gates::{AmChain, Bakery}};
    /// assert!(AmChain::new(2, 5).is_ok()); // no thread ever waits
    /// assert_eq!(AmChain::new(2, 0).unwrap_err(), SizeError::NoPlace);
    /// assert_eq!(Bakery::new(8, 2).unwrap_err().to_string(),
    ///     "bakery solves mutual exclusion, so k is 1, not 2; for more places use a k-exclusion algorithm");
    /// ```
    pub fn new(n: usize, k: usize) -> Result<Self, SizeError> {
        let sizes = sizes::<E>(n, k)?;
        Ok(Self {
            algorithm: E::build(&Site::new(&Native::new()), sizes),
            sizes,
            policy: Policy::default(),
            names: Mutex::new(FreeNames { free: (0..n).rev().map(Pid::new).collect(), crashed: 0 }),
        })
    }

    /// Sets how the members wait.
    ///
    /// # Examples
    /// ```
    /// use doorway::{waiting::Policy, gates::AmFast};
    /// let gate = AmFast::new(4, 2)?.with_policy(Policy::YIELD);
    /// drop(gate.join().unwrap().acquire());
    /// # Ok::<(), doorway::SizeError>(())
    /// ```
    #[must_use]
    pub fn with_policy(self, policy: Policy) -> Self {
        Self { policy, ..self }
    }

    /// The sizes that this gate was built for.
    #[must_use]
    pub fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// Makes the caller one of the `n` members.
    ///
    /// # Errors
    /// Returns [`Full`] if all `n` names are taken.
    pub fn join(&self) -> Result<Member<E, &Self>, Full> {
        Member::new(self)
    }

    /// [`join`](Self::join) for threads that outlive the scope of the gate.
    ///
    /// # Errors
    /// Returns [`Full`] if all `n` names are taken.
    ///
    /// # Examples
    /// ```
    /// let gate = std::sync::Arc::new(doorway::gates::AmFast::new(2, 1)?);
    /// let mut me = gate.join_owned().unwrap();
    /// std::thread::spawn(move || drop(me.acquire())).join().unwrap();
    /// # Ok::<(), doorway::SizeError>(())
    /// ```
    pub fn join_owned(self: &Arc<Self>) -> Result<Member<E, Arc<Self>>, Full> {
        Member::new(Arc::clone(self))
    }

    fn names(&self) -> std::sync::MutexGuard<'_, FreeNames> {
        // A panic cannot poison this: the list is consistent between any two operations on it.
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E: Entry> fmt::Debug for Gate<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").field("algorithm", &E::INFO.id).field("sizes", &self.sizes).finish_non_exhaustive()
    }
}

/// All names of a gate are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Full {
    /// The number of members that this gate was built for.
    pub members: usize,
    /// How many of them crashed inside. Their names never come back.
    pub crashed: usize,
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.crashed {
            0 => write!(f, "all {} names are taken; build the gate for more members, or drop one", self.members),
            lost => {
                write!(
                    f,
                    "all {} names are taken, {lost} of them by members that crashed; build a new gate",
                    self.members
                )
            }
        }
    }
}
impl std::error::Error for Full {}

/// One of the `n` processes of a gate. It has its own name until it is dropped.
///
/// A member is not `Clone`, and it cannot be used twice at a time. So two threads are never the
/// same process.
///
/// # Examples
/// A member enters once at a time:
///
/// ```compile_fail,E0499
/// let gate = doorway::gates::AmChain::new(2, 1).unwrap();
/// let mut me = gate.join().unwrap();
/// let (a, b) = (me.acquire(), me.acquire());
/// # drop((a, b));
/// ```
pub struct Member<E: Entry, G: Deref<Target = Gate<E>>> {
    gate: G,
    process: Process<Native>,
    /// `true` from the first step of an entry to the last step of its exit. It stays `true` if a
    /// guard is forgotten: that process has crashed inside, and its name is never used again.
    outside_remainder: bool,
}

impl<E: Entry, G: Deref<Target = Gate<E>>> Member<E, G> {
    fn new(gate: G) -> Result<Self, Full> {
        let (name, crashed) = {
            let mut names = gate.names();
            (names.free.pop(), names.crashed)
        };
        let pid = name.ok_or(Full { members: gate.sizes.n, crashed })?;
        let memory = Native::new().with_policy(gate.policy);
        Ok(Self { gate, process: Process::new(pid, memory), outside_remainder: false })
    }

    /// The member's name: one of `0..n`.
    #[must_use]
    pub fn name(&self) -> usize {
        self.process.pid().index()
    }

    /// Waits until the member is inside. For algorithms that may refuse entry.
    ///
    /// # Blocking
    /// Spins, yields, then sleeps until the algorithm lets the member in, as the gate's [`Policy`]
    /// says.
    ///
    /// # Errors
    /// Returns the algorithm's refusal. The member is outside then.
    ///
    /// # Panics
    /// Panics if an earlier guard was forgotten (`mem::forget`): this process has crashed inside.
    ///
    /// # Examples
    /// ```
    /// let gate = doorway::gates::Bakery::new(3, 1).unwrap();
    /// let mut me = gate.join().unwrap();
    /// assert!(me.acquire_or_refused().is_ok());
    /// ```
    pub fn acquire_or_refused(&mut self) -> Result<Guard<'_, E>, Refusal<E>> {
        self.begin(false);
        let acquired = now(self.gate.algorithm.acquire(&self.process));
        self.guard(acquired)
    }

    /// [`acquire_or_refused`](Self::acquire_or_refused) for tasks: it registers a waker instead of
    /// blocking.
    ///
    /// # Cancel safety
    /// Not cancel safe: these algorithms cannot give up. Dropping the future after it was polled
    /// and before it is ready **counts as a crash** during entry. It uses up one of the `k - 1`
    /// crashes that the algorithm tolerates, and the member's name is lost.
    ///
    /// # Errors
    /// Returns the algorithm's refusal. The member is outside then.
    ///
    /// # Panics
    /// Panics if an earlier guard was forgotten, or if an earlier future was dropped: this process
    /// has crashed.
    pub async fn acquire_or_refused_async(&mut self) -> Result<Guard<'_, E>, Refusal<E>> {
        self.begin(true);
        let acquired = self.gate.algorithm.acquire(&self.process).await;
        self.guard(acquired)
    }

    fn begin(&mut self, as_task: bool) {
        assert!(
            !self.outside_remainder,
            "{} was left inside: its guard was forgotten, or its future dropped, which is a crash; join the gate again for a new name",
            self.process.pid()
        );
        self.outside_remainder = true;
        self.process.memory().wait_as_task(as_task);
    }

    fn guard(
        &mut self,
        acquired: Result<Held<E>, Failure<Infallible, Refusal<E>>>,
    ) -> Result<Guard<'_, E>, Refusal<E>> {
        match acquired {
            Ok(held) => Ok(Guard {
                algorithm: &self.gate.algorithm,
                process: &self.process,
                held: Some(held),
                outside_remainder: &mut self.outside_remainder,
            }),
            Err(Failure::Memory(impossible)) => match impossible {},
            Err(Failure::Refused(why)) => {
                self.outside_remainder = false;
                Err(why)
            }
        }
    }

    /// Waits until the member is inside. The member leaves when the guard is dropped.
    ///
    /// # Blocking
    /// Spins, yields, then sleeps until the algorithm lets the member in, as the gate's [`Policy`]
    /// says.
    ///
    /// # Panics
    /// Panics if an earlier guard was forgotten (`mem::forget`): this process has crashed inside.
    ///
    /// # Examples
    /// ```
    /// let gate = doorway::gates::AmChain::new(3, 2).unwrap();
    /// let (mut me, mut you) = (gate.join().unwrap(), gate.join().unwrap());
    /// let (a, b) = (me.acquire(), you.acquire()); // both are inside
    /// # drop((a, b));
    /// ```
    pub fn acquire(&mut self) -> Guard<'_, E>
    where
        E::On<Native>: KExclusion<Native, Refusal = Infallible>,
    {
        let Ok(guard) = self.acquire_or_refused();
        guard
    }

    /// [`acquire`](Self::acquire) for tasks.
    ///
    /// It runs on any executor, and threads and tasks may share a gate. The guard is the same type,
    /// and leaving never waits.
    ///
    /// # Cancel safety
    /// Not cancel safe, for the reason given at
    /// [`acquire_or_refused_async`](Self::acquire_or_refused_async).
    ///
    /// # Panics
    /// Panics if an earlier guard was forgotten, or if an earlier future was dropped: this process
    /// has crashed.
    ///
    /// # Examples
    /// ```
    /// # use std::{future::Future, pin::pin, task::{Context, Poll, Waker}};
    /// let gate = doorway::gates::AmFast::new(2, 1)?;
    /// let (mut thread, mut task) = (gate.join().unwrap(), gate.join().unwrap());
    /// let inside = thread.acquire();
    /// let mut future = pin!(task.acquire_async());
    /// let mut context = Context::from_waker(Waker::noop());
    /// assert!(future.as_mut().poll(&mut context).is_pending());
    /// drop(inside);
    /// assert!(future.as_mut().poll(&mut context).is_ready());
    /// # Ok::<(), doorway::SizeError>(())
    /// ```
    pub async fn acquire_async(&mut self) -> Guard<'_, E>
    where
        E::On<Native>: KExclusion<Native, Refusal = Infallible>,
    {
        let Ok(guard) = self.acquire_or_refused_async().await;
        guard
    }
}

impl<E: Entry, G: Deref<Target = Gate<E>>> Drop for Member<E, G> {
    fn drop(&mut self) {
        let mut names = self.gate.names();
        if self.outside_remainder {
            names.crashed += 1;
        } else {
            names.free.push(self.process.pid());
        }
    }
}

impl<E: Entry, G: Deref<Target = Gate<E>>> fmt::Debug for Member<E, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member").field("gate", &*self.gate).field("name", &self.name()).finish()
    }
}

/// The reason with which algorithm `E` may refuse entry.
pub type Refusal<E> = <<E as Entry>::On<Native> as KExclusion<Native>>::Refusal;

type Held<E> = <<E as Entry>::On<Native> as KExclusion<Native>>::Held;

/// Keeps its member inside. The member leaves when the guard is dropped, even while a panic
/// unwinds.
///
/// Forgetting a guard (`mem::forget`) **counts as a crash inside**: its place is lost, and the
/// other members go on if the algorithm tolerates that crash.
#[must_use = "the holder leaves as soon as the guard is dropped"]
pub struct Guard<'m, E: Entry> {
    algorithm: &'m E::On<Native>,
    process: &'m Process<Native>,
    held: Option<Held<E>>,
    outside_remainder: &'m mut bool,
}

impl<E: Entry> Guard<'_, E>
where
    E::On<Native>: KAssignment<Native>,
{
    /// The holder's name: one of `0..k`, which no other holder has.
    ///
    /// The name is free again when the guard is dropped, even while a panic unwinds. A forgotten
    /// guard keeps its name for ever.
    ///
    /// # Examples
    /// ```
    /// let gate = doorway::gates::AmAssign::new(8, 3)?; // eight threads, three connections
    /// let (mut me, mut you) = (gate.join().unwrap(), gate.join().unwrap());
    /// let (mine, yours) = (me.acquire(), you.acquire());
    /// assert_eq!((mine.slot(), yours.slot()), (0, 1));
    /// # Ok::<(), doorway::SizeError>(())
    /// ```
    #[must_use]
    pub fn slot(&self) -> usize {
        self.held.as_ref().map_or(0, E::On::<Native>::name)
    }
}

impl<E: Entry> Drop for Guard<'_, E> {
    fn drop(&mut self) {
        if let Some(held) = self.held.take() {
            self.process.memory().wait_as_task(false);
            let Ok(()) = now(self.algorithm.release(self.process, held));
            *self.outside_remainder = false;
        }
    }
}

impl<E: Entry> fmt::Debug for Guard<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("algorithm", &E::INFO.id).field("process", &self.process.pid()).finish()
    }
}

macro_rules! gates {
    ($($name:ident)*) => {
        $(
            #[doc = concat!("[`", stringify!($name), "`](doorway_core::registry::", stringify!($name), ") as a gate.")]
            pub type $name = Gate<doorway_core::registry::$name>;
        )*
    };
}
doorway_core::every_algorithm!(gates);
