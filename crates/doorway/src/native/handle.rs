//! A process's handle on native memory: it decides how the process waits.

use super::Cell;
use crate::tools::{AtomicU32 as Bed, once};
use crate::waiting::{Patience, Place, Platform, Policy, Sequence, Table, Threads, Waiter, contained};
use doorway_core::memory::{Next, Word};
use std::convert::Infallible;
use std::future::poll_fn;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Poll, Wake, Waker};
use std::time::Instant;

once! {
    /// Who waits for what, in this process.
    static TABLE: Table<Threads> = Table::default();
}

/// The memory of this process, for its threads and tasks.
///
/// A handle for one process of an algorithm: each decides for itself how it waits, and all see the same variables.
///
/// ```
/// use doorway::native::Native;
/// use doorway::waiting::Policy;
/// let impatient = Native::new().with_policy(Policy::SPIN);
/// assert_eq!(impatient.policy(), Policy::SPIN);
/// ```
#[derive(Debug)]
pub struct Native {
    policy: Policy,
    /// How many turns the next wait may spin.
    spins: AtomicU32,
    /// Whether waits give the task's waker to the table, and not the thread to the kernel.
    as_task: AtomicBool,
    give_up_at: Mutex<Option<Instant>>,
    /// How reads register the waiter, if the turn they belong to may end in a sleep: one of the ways below, for
    /// all reads of a turn. What is registered in one way wakes nobody that sleeps in the other.
    records: AtomicU8,
    recorded: Mutex<Recorded>,
    waiter: OnceLock<Arc<Waiter<Threads>>>,
}

impl Default for Native {
    fn default() -> Self {
        Self::new()
    }
}

/// Reads register nothing.
const NOWHERE: u8 = 0;
/// Reads note the sequence of each variable, to sleep on all of them.
const AS_SEQUENCES: u8 = 1;
/// Reads enter the waiter in the table.
const IN_TABLE: u8 = 2;

/// Where a turn registered.
#[derive(Default, Debug)]
struct Recorded {
    /// Entries of the table.
    entries: Vec<Place>,
    /// Sequences to sleep on, with what they were.
    sequences: Vec<(usize, u32)>,
}

/// What one wait remembers between its turns.
#[derive(Default, Debug)]
pub struct Waiting {
    patience: Patience,
    /// Whether the last turn registered what it read.
    recorded: bool,
}

impl Native {
    /// A handle that waits as [`Policy::PARK`] says.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            policy: Policy::PARK,
            spins: AtomicU32::new(Policy::PARK.spins),
            as_task: AtomicBool::new(false),
            give_up_at: Mutex::new(None),
            records: AtomicU8::new(NOWHERE),
            recorded: Mutex::new(Recorded { entries: Vec::new(), sequences: Vec::new() }),
            waiter: OnceLock::new(),
        }
    }

    /// The same with another policy.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self.spins = AtomicU32::new(policy.spins);
        self
    }

    /// How it waits.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// From now on its waits are those of a task (they return `Pending` and leave a waker behind) or of a thread (they block).
    pub fn wait_as_task(&self, as_task: bool) {
        // Only the process whose handle this is reads it; who hands the handle to another thread hands over the flag with it.
        self.as_task.store(as_task, Relaxed);
    }

    /// From now on, waits that can be abandoned are, once this time has come. Threads look at the clock; a task is asked when it is polled.
    pub fn give_up_at(&self, time: Option<Instant>) {
        *self.give_up_at.lock().unwrap_or_else(PoisonError::into_inner) = time;
    }

    /// A wait begins.
    pub(super) fn begin_waiting(&self) -> Waiting {
        self.records_no_more(); // a wait that was dropped has not said that it ended
        let spins = self.spins.load(Relaxed);
        self.spins.store(spins.saturating_add(1).min(self.policy.spins), Relaxed);
        Waiting { patience: Patience::new(spins), recorded: false }
    }

    fn deadline(&self, abortable: bool) -> Option<Instant> {
        if abortable { *self.give_up_at.lock().unwrap_or_else(PoisonError::into_inner) } else { None }
    }

    fn waiter(&self) -> &Arc<Waiter<Threads>> {
        self.waiter.get_or_init(Arc::default)
    }

    /// Before each access that a turn may depend on.
    #[inline(always)]
    pub(super) fn looks_at<T: Word>(&self, v: &Cell<T>) {
        if T::AWAITED && self.records.load(Relaxed) != NOWHERE {
            self.record(v);
        }
    }

    #[cold]
    fn record<T: Word>(&self, v: &Cell<T>) {
        let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        if self.records.load(Relaxed) == IN_TABLE {
            recorded.entries.push(v.bell.notify(&TABLE, self.waiter()));
        } else {
            recorded.sequences.push(v.bell.listen_among_others());
        }
    }

    /// The wait is over, or a new turn begins.
    fn take_recorded(&self) -> Recorded {
        std::mem::take(&mut *self.recorded.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn forget(recorded: &Recorded) {
        recorded.entries.iter().for_each(|place| TABLE.remove(*place));
    }

    #[inline]
    pub(super) fn records_no_more(&self) {
        if self.records.load(Relaxed) != NOWHERE {
            self.records.store(NOWHERE, Relaxed);
            Self::forget(&self.take_recorded());
        }
    }

    /// A turn that read only `v`, and found this word, failed.
    pub(super) async fn wait_for_one<T: Word>(
        &self,
        wait: &mut Waiting,
        abortable: bool,
        v: &Cell<T>,
        word: u64,
    ) -> Result<Next, Infallible> {
        const { assert!(T::AWAITED, "nobody waits for a variable of this type, its declaration says") };
        let deadline = self.deadline(abortable);
        if deadline.is_some_and(|time| Instant::now() >= time) {
            return Ok(Next::GiveUp);
        }
        let changed = || v.word.load(SeqCst) != word;
        if self.as_task.load(Relaxed) {
            let waiter = self.waiter();
            waiter.begin();
            let entry = Entry(v.bell.notify(&TABLE, waiter));
            if !changed() {
                notified(waiter).await;
                std::mem::forget(entry); // whoever notified it has taken it out
            }
        } else if wait.patience.is_over(&self.policy) {
            self.spins.store(wait.patience.after_a_sleep(), Relaxed);
            v.bell.sleep(&Threads, earliest(deadline, self.policy.nap), changed);
        }
        Ok(Next::TryAgain)
    }

    /// A turn that read several variables failed. To sleep, the next turn registers at each of them before it reads it: if it fails too,
    /// and nobody has changed one of them since, there is nothing to do until somebody does.
    pub(super) async fn wait_for_any(&self, wait: &mut Waiting, abortable: bool) -> Result<Next, Infallible> {
        let deadline = self.deadline(abortable);
        if deadline.is_some_and(|time| Instant::now() >= time) {
            return Ok(Next::GiveUp);
        }
        let as_task = self.as_task.load(Relaxed);
        if wait.recorded {
            let waiter = self.waiter();
            if as_task {
                let dropped = Dropped(self);
                notified(waiter).await;
                std::mem::forget(dropped);
                Self::forget(&self.take_recorded());
            } else {
                let (recorded, until) = (self.take_recorded(), earliest(deadline, self.policy.nap));
                if self.records.load(Relaxed) == IN_TABLE {
                    sleep_until_notified(waiter, until);
                } else if !Threads.sleep_any(&recorded.sequences, until) {
                    self.records.store(IN_TABLE, Relaxed); // from the next turn on
                }
                Self::forget(&recorded);
            }
            waiter.begin();
        } else if as_task || wait.patience.is_over(&self.policy) {
            self.spins.store(wait.patience.after_a_sleep(), Relaxed);
            self.waiter().begin();
            self.records.store(if as_task { IN_TABLE } else { AS_SEQUENCES }, Relaxed);
            wait.recorded = true;
        }
        Ok(Next::TryAgain)
    }
}

/// A future that was dropped while it waited has left its entries behind.
impl Drop for Native {
    fn drop(&mut self) {
        self.records_no_more();
        // It may be the last to know the waker of a task, whose destructor may panic.
        if let Some(waiter) = self.waiter.take() {
            contained(|| drop(waiter));
        }
    }
}

impl<T: Word> Cell<T> {
    /// After each change: whoever waits for the variable is woken.
    #[inline(always)]
    pub(super) fn has_changed(&self) {
        if !T::AWAITED {
            return;
        }
        self.bell.ring(&Threads, || &TABLE);
    }
}

/// A wait for several variables that is dropped while it waits takes its entries out.
struct Dropped<'a>(&'a Native);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.0.records_no_more();
        self.0.waiter().begin();
    }
}

/// An entry in the table, for as long as a future waits; whoever drops the future takes it out.
struct Entry(Place);

impl Drop for Entry {
    fn drop(&mut self) {
        TABLE.remove(self.0);
    }
}

async fn notified(waiter: &Waiter<Threads>) {
    let mut asked = false;
    poll_fn(|context| {
        // Whoever is polled again has most likely been notified, and needs no waker.
        let is_notified = (asked && waiter.is_notified()) || waiter.poll(context.waker());
        asked = true;
        if is_notified { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// What a thread sleeps on until it is notified. A word of the wait's own, and not the thread's token of
/// `std::thread::park`, which may belong to an executor on the same thread.
struct Rouse(Bed);

impl Wake for Rouse {
    fn wake(self: Arc<Self>) {
        self.0.bump();
        Threads.wake_all(&self.0);
    }
}

fn sleep_until_notified(waiter: &Waiter<Threads>, until: Option<Instant>) {
    let rouse = Arc::new(Rouse(Sequence::new()));
    let asleep = Sequence::load(&rouse.0);
    let mut is_notified = waiter.poll(&Waker::from(Arc::clone(&rouse)));
    while !is_notified && until.is_none_or(|until| Instant::now() < until) {
        Threads.sleep(&rouse.0, asleep, until);
        is_notified = waiter.is_notified();
    }
}

fn earliest(deadline: Option<Instant>, nap: Option<std::time::Duration>) -> Option<Instant> {
    let nap = nap.and_then(|nap| Instant::now().checked_add(nap));
    deadline.into_iter().chain(nap).min()
}
