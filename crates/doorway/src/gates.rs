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

/// One algorithm, built for `n` threads of which `k` may be inside.
///
/// The algorithms of the papers know their processes by name. A thread gets a name by [joining](Self::join), and keeps it until
/// its [`Member`] is dropped.
///
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

/// The names that nobody has.
struct FreeNames {
    free: Vec<Pid>,
    /// How many have crashed inside; their names are never free again.
    crashed: usize,
}

impl<E: Entry> Gate<E> {
    /// A gate for `n` members, `k` of which may be inside.
    ///
    /// ```
    /// use doorway::{SizeError, gates::{AmChain, Bakery}};
    /// assert!(AmChain::new(2, 5).is_ok()); // nobody ever waits
    /// assert_eq!(AmChain::new(2, 0).unwrap_err(), SizeError::NoPlace);
    /// assert_eq!(Bakery::new(8, 2).unwrap_err().to_string(),
    ///     "bakery solves mutual exclusion, so k is 1, not 2; for more places take a k-exclusion algorithm");
    /// ```
    ///
    /// # Errors
    /// If the algorithm is not made for these sizes, or would take more than a gigabyte or two.
    pub fn new(n: usize, k: usize) -> Result<Self, SizeError> {
        let sizes = sizes::<E>(n, k)?;
        Ok(Self {
            algorithm: E::build(&Site::new(&Native::new()), sizes),
            sizes,
            policy: Policy::default(),
            names: Mutex::new(FreeNames { free: (0..n).rev().map(Pid::new).collect(), crashed: 0 }),
        })
    }

    /// The same, with members that wait in another way.
    ///
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

    /// What it was built for.
    #[must_use]
    pub fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// Becomes one of the `n`.
    ///
    /// # Errors
    /// If all `n` names are taken.
    pub fn join(&self) -> Result<Member<E, &Self>, Full> {
        Member::new(self)
    }

    /// [`join`](Self::join) for threads that outlive the scope of the gate.
    ///
    /// ```
    /// let gate = std::sync::Arc::new(doorway::gates::AmFast::new(2, 1)?);
    /// let mut me = gate.join_owned().unwrap();
    /// std::thread::spawn(move || drop(me.acquire())).join().unwrap();
    /// # Ok::<(), doorway::SizeError>(())
    /// ```
    ///
    /// # Errors
    /// If all `n` names are taken.
    pub fn join_owned(self: &Arc<Self>) -> Result<Member<E, Arc<Self>>, Full> {
        Member::new(Arc::clone(self))
    }

    fn names(&self) -> std::sync::MutexGuard<'_, FreeNames> {
        // They are whole between any two operations on them.
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
    /// How many members there are at the most.
    pub members: usize,
    /// How many of them have crashed inside; their names never come back.
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

/// One of the `n` processes of a gate, with a name of its own until it is dropped.
///
/// Neither `Clone` nor usable twice at a time, so two threads cannot be the same process:
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
    /// From the first step of an entry to the last of its exit. Stays `true` if a guard is forgotten: that process
    /// has crashed inside, and its name is never used again.
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

    /// Its name: one of `0..n`.
    #[must_use]
    pub fn name(&self) -> usize {
        self.process.pid().index()
    }

    /// Waits until it is inside, for algorithms that may refuse.
    ///
    /// ```
    /// let gate = doorway::gates::Bakery::new(3, 1).unwrap();
    /// let mut me = gate.join().unwrap();
    /// assert!(me.acquire_or_refused().is_ok());
    /// ```
    ///
    /// # Blocking
    /// Spins, yields, then sleeps until it is let in, as the gate's [`Policy`] says.
    ///
    /// # Errors
    /// If the algorithm turns the process away; it is outside then.
    ///
    /// # Panics
    /// If an earlier guard was forgotten (`mem::forget`): this process has crashed inside.
    pub fn acquire_or_refused(&mut self) -> Result<Guard<'_, E>, Refusal<E>> {
        self.begin(false);
        let acquired = now(self.gate.algorithm.acquire(&self.process));
        self.guard(acquired)
    }

    /// [`acquire_or_refused`](Self::acquire_or_refused) for tasks: it leaves a waker behind instead of blocking.
    ///
    /// # Cancel safety
    /// None: these algorithms cannot give up. To drop the future after it has been polled, and before it is ready, **is to crash** on the way in; one of the
    /// `k - 1` crashes that are tolerated is spent, and the member's name is lost.
    ///
    /// # Errors
    /// If the algorithm turns the process away; it is outside then.
    ///
    /// # Panics
    /// If an earlier guard was forgotten, or an earlier future dropped: this process has crashed.
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

    /// Waits until it is inside. It leaves when the guard is dropped.
    ///
    /// ```
    /// let gate = doorway::gates::AmChain::new(3, 2).unwrap();
    /// let (mut me, mut you) = (gate.join().unwrap(), gate.join().unwrap());
    /// let (a, b) = (me.acquire(), you.acquire()); // both are inside
    /// # drop((a, b));
    /// ```
    ///
    /// # Blocking
    /// Spins, yields, then sleeps until it is let in, as the gate's [`Policy`] says.
    ///
    /// # Panics
    /// If an earlier guard was forgotten (`mem::forget`): this process has crashed inside.
    pub fn acquire(&mut self) -> Guard<'_, E>
    where
        E::On<Native>: KExclusion<Native, Refusal = Infallible>,
    {
        let Ok(guard) = self.acquire_or_refused();
        guard
    }

    /// [`acquire`](Self::acquire) for tasks, on any executor; threads and tasks may share a gate. The guard is the same, and leaving never waits.
    ///
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
    ///
    /// # Cancel safety
    /// None, as [`acquire_or_refused_async`](Self::acquire_or_refused_async) says.
    ///
    /// # Panics
    /// If an earlier guard was forgotten, or an earlier future dropped: this process has crashed.
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

/// Why the algorithm `E` may turn a process away.
pub type Refusal<E> = <<E as Entry>::On<Native> as KExclusion<Native>>::Refusal;

type Held<E> = <<E as Entry>::On<Native> as KExclusion<Native>>::Held;

/// The holder is inside; it leaves when this is dropped, also while a panic unwinds.
///
/// To forget a guard (`mem::forget`) **is to crash inside**: the place is lost, and the others go on if the algorithm
/// tolerates it.
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
    /// The holder's name: one of `0..k`, which nobody else inside has. It goes back with the guard, also while a panic unwinds; a forgotten guard
    /// keeps it for ever.
    ///
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
