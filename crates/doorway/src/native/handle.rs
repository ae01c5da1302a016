//! A process's handle on native memory: it decides how the process waits.

use super::Cell;
use crate::tools::{once, thread};
use crate::waiting::{Bell, Place, Policy, Set, Table, Threads, Waiter, contained};
use doorway_core::memory::Word;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::Waker;
use std::time::Instant;

once! {
    /// Who waits for what, in this process.
    pub(super) static TABLE: Table<Threads> = Table::default();
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
    pub(super) policy: Policy,
    /// How many turns the next wait may spin.
    pub(super) spins: AtomicU32,
    /// Whether waits give the task's waker to the table, and not the thread to the kernel.
    pub(super) as_task: AtomicBool,
    give_up_at: Mutex<Option<Instant>>,
    /// How reads register the waiter, if the turn they belong to may end in a sleep: one of the ways below, for
    /// all reads of a turn. What is registered in one way wakes nobody that sleeps in the other.
    pub(super) records: AtomicU8,
    recorded: Mutex<Recorded>,
    waiter: OnceLock<Arc<Waiter<Threads>>>,
}

impl Default for Native {
    fn default() -> Self {
        Self::new()
    }
}

/// Reads register nothing.
pub(super) const NOWHERE: u8 = 0;
/// Reads note the sequence of each variable, to sleep on all of them.
pub(super) const AS_SEQUENCES: u8 = 1;
/// Reads enter the waiter in the table.
pub(super) const IN_TABLE: u8 = 2;

/// Where a turn registered.
#[derive(Default, Debug)]
pub(super) struct Recorded {
    /// Entries of the table.
    entries: Vec<Place>,
    /// Sequences to sleep on, with what they were.
    pub(super) sequences: Vec<(usize, u32)>,
    /// Alarms that were set for this wait, by where they are. They stay from turn to turn.
    alarms: Vec<(usize, Set)>,
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
            recorded: Mutex::new(Recorded { entries: Vec::new(), sequences: Vec::new(), alarms: Vec::new() }),
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

    /// When a wait is to be given up, if it can be.
    pub(super) fn deadline(&self, abortable: bool) -> Option<Instant> {
        if abortable { *self.give_up_at.lock().unwrap_or_else(PoisonError::into_inner) } else { None }
    }

    pub(super) fn waiter(&self) -> &Arc<Waiter<Threads>> {
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
        let in_table = self.records.load(Relaxed) == IN_TABLE;
        match (v.alarm(), v.bell()) {
            // What is left there of a wait that is over wakes a waiter that has begun anew: it looks again.
            (Some(alarm), _) if in_table => {
                let at = std::ptr::from_ref(alarm) as usize;
                let ours = |&(of, set): &(usize, Set)| of == at && alarm.is_set(set);
                // One that an earlier turn has set and nobody has rung since will wake the waiter. To set it anew would wake
                // the waiter at once, turn for turn.
                if !recorded.alarms.iter().any(ours) {
                    let set = loop {
                        match alarm.set(&Threads, Waker::from(Arc::clone(self.waiter()))) {
                            Some(set) => break set,
                            None => thread::yield_now(),
                        }
                    };
                    recorded.alarms.retain(|(of, _)| *of != at);
                    recorded.alarms.push((at, set));
                }
            }
            (_, Some(bell)) if in_table => recorded.entries.push(bell.notify(&TABLE, self.waiter())),
            (alarm, bell) => {
                let heard = alarm.map(|alarm| alarm.listen(&Threads)).or_else(|| bell.map(Bell::listen));
                recorded.sequences.extend(heard.map(|(word, heard)| (std::ptr::from_ref(word) as usize, heard)));
            }
        }
    }

    /// The wait is over, or a new turn begins.
    pub(super) fn take_recorded(&self) -> Recorded {
        let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        let alarms = std::mem::take(&mut recorded.alarms);
        std::mem::replace(&mut *recorded, Recorded { alarms, ..Recorded::default() })
    }

    pub(super) fn forget(recorded: &Recorded) {
        recorded.entries.iter().for_each(|place| TABLE.remove(*place));
    }

    #[inline]
    pub(super) fn records_no_more(&self) {
        if self.records.load(Relaxed) != NOWHERE {
            self.records.store(NOWHERE, Relaxed);
            Self::forget(&self.take_recorded());
            self.recorded.lock().unwrap_or_else(PoisonError::into_inner).alarms.clear();
        }
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
        if let Some(alarm) = self.alarm() {
            alarm.ring(&Threads);
        } else if let Some(bell) = self.bell() {
            bell.ring(&Threads, || &TABLE);
        }
    }
}
