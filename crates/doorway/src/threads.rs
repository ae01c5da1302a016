//! Which thread is which process of a mutex, or of another object that threads use without joining.
//!
//! A thread has one of the object's process numbers for the time of a passage, by the text of
//! [`StickyNames`]. It prefers the number that it had last. So threads that are not more than there are numbers
//! soon have each its own, and touch nothing that another thread writes.
//!
//! What can be relied on: a thread is refused only if as many others as there are numbers are in a passage at that
//! moment. A thread that has ended its passages is in nobody's way, whether it lives, ends or has ended.

use crate::native::Native;
use crate::tools::thread_local;
use crate::waiting::Policy;
use doorway_core::k_assignment::names::sticky::{StickyNames, Taken};
use doorway_core::memory::{Here, Memory, Pid, Process, Site};
use std::cell::Cell;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Why a thread has no number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NoNumber {
    /// Others have all of them.
    TooManyThreads(TooManyThreads),
    /// This thread has one already.
    HasOne,
}

/// All process numbers are in use by other threads: so many there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TooManyThreads {
    pub(super) most: usize,
}

impl fmt::Display for TooManyThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.most {
            1 => f.write_str("made for 1 thread at a time, and another is in it now; make it for more"),
            most => write!(f, "made for {most} threads at a time, and as many others are in it now; make it for more"),
        }
    }
}

/// What a thread knows of itself. It has no destructor, so that it is there for as long as the thread runs any code.
struct Myself {
    /// A number that no other thread has in the life of the program; 0 before it is needed.
    id: Cell<u64>,
    /// The process number that it had last, of whichever object.
    last: Cell<usize>,
    /// How many process numbers it has now.
    has: Cell<usize>,
}

impl Myself {
    const fn new() -> Self {
        Self { id: Cell::new(0), last: Cell::new(0), has: Cell::new(0) }
    }

    #[inline]
    fn know(&self) -> (u64, usize, usize) {
        if self.id.get() == 0 {
            self.begin();
        }
        (self.id.get(), self.last.get(), self.has.get())
    }

    #[cold]
    fn begin(&self) {
        static LAST: Mutex<u64> = Mutex::new(0);
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        *last += 1;
        self.id.set(*last);
        self.last.set(*last as usize); // so that threads begin at different numbers
    }
}

thread_local! {
    static MYSELF: Myself = const { Myself::new() };
}

/// The processes of one object, and which of them threads are.
pub(super) struct ProcessNumbers {
    names: StickyNames<Native>,
    anyone: Process<Native>,
    /// One for each number; only a thread that has the number uses it.
    processes: Box<[Process<Native>]>,
}

/// A process number that this thread has. If it is not [given back](ProcessNumbers::give_back), the thread has died in its
/// passage, and the number is never used again.
pub(super) struct Number(Taken);

impl ProcessNumbers {
    pub(super) fn new(all: usize) -> Self {
        let memory = Native::default();
        let names = StickyNames::new(&Site::new(&memory), all);
        let anyone = Process::new(Pid::new(0), memory);
        Self { names, anyone, processes: (0..all).map(|p| Process::new(Pid::new(p), Native::default())).collect() }
    }

    /// The same, whose threads wait in another way.
    pub(super) fn with_policy(self, policy: Policy) -> Self {
        let with = |p| Process::new(Pid::new(p), Native::default().with_policy(policy));
        Self { processes: (0..self.processes.len()).map(with).collect(), ..self }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.processes.len()
    }

    /// The process that the thread is which has this number.
    #[inline]
    pub(super) fn process(&self, number: &Number) -> &Process<Native> {
        &self.processes[number.0.name()]
    }

    fn here(&self) -> Here<'_, Native> {
        self.anyone.on(Native::ROOT)
    }

    /// How many threads are in a passage.
    pub(super) fn in_use(&self) -> usize {
        (0..self.names.names()).filter(|&name| self.names.is_taken_now(self.here(), name)).count()
    }

    /// A number for a passage of this thread, which must have none.
    pub(super) fn take(&self) -> Result<Number, NoNumber> {
        // Where the platform takes it away from a thread that is ending, the thread is a new one for each passage.
        let (me, last, has) = MYSELF.try_with(Myself::know).unwrap_or_else(|_| Myself::new().know());
        if has > 0 && self.names.has_one_now(self.here(), me) {
            return Err(NoNumber::HasOne);
        }
        let most = self.names.names();
        let first = if last < most { last } else { last % most };
        let Some(taken) = self.names.take_now(self.here(), me, first) else {
            return Err(NoNumber::TooManyThreads(TooManyThreads { most }));
        };
        let _ = MYSELF.try_with(|myself| {
            myself.last.set(taken.name());
            myself.has.set(has + 1);
        });
        Ok(Number(taken))
    }

    /// The passage of this thread is over.
    pub(super) fn give_back(&self, number: Number) {
        self.names.give_back_now(self.here(), number.0);
        let _ = MYSELF.try_with(|myself| myself.has.set(myself.has.get() - 1));
    }
}
