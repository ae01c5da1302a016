//! A process's handle on native memory: it decides how the process waits.

use super::Cell;
use crate::tools::{once, thread, thread_local};
use crate::waiting::{Bell, Habit, Patience, Place, Policy, Set, Table, Threads, Waiter, contained};
use doorway_core::memory::{Pid, Process, Word};
use std::cell::Cell as Local;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::Waker;
use std::time::Instant;

once! {
    /// The waiters of this process, by what they wait for.
    pub(super) static TABLE: Table<Threads> = Table::default();
}

thread_local! {
    /// What this thread has learnt from its waits.
    static HABIT: Local<Habit> = const { Local::new(Habit::NEW) };
}

/// Makes accesses that do not wait, for texts that do not tell processes apart.
pub(crate) static ANYONE: Process<Native> = Process::new(Pid::new(0), Native::new());

/// The memory of this process, for its threads and tasks.
///
/// This is a handle for one process of an algorithm. Each handle decides how it waits, and all see
/// the same variables.
///
/// # Examples
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
    /// Whether a wait of this handle has slept.
    has_slept: AtomicBool,
    /// Whether a wait leaves the task's waker in the table, instead of putting the thread to sleep.
    pub(super) as_task: AtomicBool,
    give_up_at: Mutex<Option<Instant>>,
    /// How reads register the waiter, if their turn may end in a sleep: one of the ways below, for
    /// all reads of a turn. A registration of one kind does not wake a waiter that sleeps in the
    /// other way.
    pub(super) records: AtomicU8,
    recorded: Mutex<Recorded>,
    waiter: OnceLock<Arc<Waiter<Threads>>>,
    /// Whether rows that texts give back are freed.
    pub(super) frees_rows: bool,
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

/// Where a turn has registered.
#[derive(Default, Debug)]
pub(super) struct Recorded {
    /// Entries of the table.
    entries: Vec<Place>,
    /// Sequences to sleep on, with their values.
    pub(super) sequences: Vec<(usize, u32)>,
    /// Alarms that were set for this wait, by address. They stay from turn to turn.
    alarms: Vec<(usize, Set)>,
}

impl Native {
    /// A handle that waits as [`Policy::PARK`] says.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            policy: Policy::PARK,
            spins: AtomicU32::new(Policy::PARK.spins),
            has_slept: AtomicBool::new(false),
            as_task: AtomicBool::new(false),
            give_up_at: Mutex::new(None),
            records: AtomicU8::new(NOWHERE),
            recorded: Mutex::new(Recorded { entries: Vec::new(), sequences: Vec::new(), alarms: Vec::new() }),
            waiter: OnceLock::new(),
            frees_rows: false,
        }
    }

    /// Sets how this handle waits.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self.spins = AtomicU32::new(policy.spins);
        self
    }

    /// How this handle waits.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// Sets whether waits are those of a task (they return `Pending` and register a waker) or of a
    /// thread (they block).
    pub fn wait_as_task(&self, as_task: bool) {
        // Only the process of this handle reads it. A thread that hands the handle to another
        // thread hands the flag over with it.
        self.as_task.store(as_task, Relaxed);
    }

    /// Sets a deadline: from then on, waits that can be abandoned are. Threads read the clock; a
    /// task is asked when it is polled.
    pub fn give_up_at(&self, time: Option<Instant>) {
        *self.give_up_at.lock().unwrap_or_else(PoisonError::into_inner) = time;
    }

    /// The next wait spins as long as this thread has lately found useful.
    pub(super) fn spin_as_usual(&self) {
        self.spins.store(HABIT.with(Local::get).spins(), Relaxed);
    }

    /// This thread learns from the waits of this handle.
    pub(super) fn learn(&self) {
        let after = |habit: Habit| habit.after(self.spins.load(Relaxed), self.has_slept.load(Relaxed));
        HABIT.with(|habit| habit.set(after(habit.get())));
    }

    /// Lets other threads run, if the last wait of this thread slept: see [`Habit::defers`].
    pub(crate) fn let_others_go_first() {
        let defers = HABIT.with(|habit| {
            let (defers, after) = habit.get().defers();
            habit.set(after);
            defers
        });
        if defers {
            thread::yield_now();
        }
    }

    /// A wait is about to sleep.
    pub(super) fn sleeps(&self, patience: &Patience) {
        self.spins.store(patience.after_a_sleep(), Relaxed);
        self.has_slept.store(true, Relaxed);
    }

    /// The deadline of a wait that can be abandoned.
    pub(super) fn deadline(&self, abortable: bool) -> Option<Instant> {
        if abortable { *self.give_up_at.lock().unwrap_or_else(PoisonError::into_inner) } else { None }
    }

    pub(super) fn waiter(&self) -> &Arc<Waiter<Threads>> {
        self.waiter.get_or_init(Arc::default)
    }

    /// Called before each access that a turn may depend on.
    #[inline(always)]
    pub(super) fn looks_at<T: Word>(&self, v: &Cell<T>) {
        // `ANYONE` does not wait, so its reads are never recorded. Where a text is inlined, the
        // compiler knows the caller.
        let waits = !std::ptr::eq(self, ANYONE.memory());
        if T::AWAITED && waits && self.records.load(Relaxed) != NOWHERE {
            self.record(v);
        }
    }

    #[cold]
    fn record<T: Word>(&self, v: &Cell<T>) {
        let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        let in_table = self.records.load(Relaxed) == IN_TABLE;
        match (v.alarm(), v.bell()) {
            // An alarm that is left from a wait that is over may wake a new wait, which then looks
            // again.
            (Some(alarm), _) if in_table => {
                let at = std::ptr::from_ref(alarm) as usize;
                let ours = |&(of, set): &(usize, Set)| of == at && alarm.is_set(set);
                // If an earlier turn set this alarm and it has not rung since, it will wake the
                // waiter. Setting it again would wake the waiter at once, turn after turn.
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

    /// Takes the registrations, when the wait is over or a new turn begins.
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
        // This may be the last owner of a task's waker, whose destructor may panic.
        if let Some(waiter) = self.waiter.take() {
            contained(|| drop(waiter));
        }
    }
}

impl<T: Word> Cell<T> {
    /// Called after each change: wakes every waiter of the variable.
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
