//! Assigns process numbers to threads, for a mutex or another object that threads use without
//! joining.
//!
//! A thread has one of the object's process numbers during a passage, by the text of
//! [`StickyNames`]. It prefers the number that it had last. So if there are at most as many threads
//! as numbers, each thread soon keeps its own number, and touches nothing that another thread
//! writes.
//!
//! The guarantee: a thread is refused only if all numbers belong to other threads that are in a
//! passage at that moment. A thread that has ended its passages never causes a refusal, whether it
//! goes on, is ending, or has ended.

use crate::native::Native;
use crate::tools::thread_local;
use crate::waiting::Policy;
use doorway_core::k_assignment::names::sticky::{StickyNames, Taken};
use doorway_core::memory::{Here, Memory, Pid, Process, Site};
use std::cell::Cell;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Why a thread got no number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NoNumber {
    /// Other threads have all of them.
    TooManyThreads(TooManyThreads),
    /// This thread already has one.
    HasOne,
}

/// All process numbers are in use by other threads. `most` is how many there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TooManyThreads {
    pub(super) most: usize,
}

impl fmt::Display for TooManyThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.most {
            1 => f.write_str("built for 1 thread at a time, and another thread is using it now; build it for more"),
            most => {
                write!(f, "built for {most} threads at a time, and {most} others are using it now; build it for more")
            }
        }
    }
}

/// What a thread knows about itself. It has no destructor, so it is available for as long as the
/// thread runs any code.
struct Myself {
    /// A number that no other thread has during the life of the program; 0 until it is first
    /// needed.
    id: Cell<u64>,
    /// The process number that the thread had last, in any object.
    last: Cell<usize>,
    /// How many process numbers the thread has now.
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

/// The processes of one object, and which of them are in use by threads.
pub(super) struct ProcessNumbers {
    names: StickyNames<Native>,
    anyone: Process<Native>,
    /// One for each number. Only the thread that has the number uses it.
    processes: Box<[Process<Native>]>,
}

/// A process number that this thread has. If the thread does not [give it
/// back](ProcessNumbers::give_back), it counts as dead in its passage, and the number is never used
/// again.
pub(super) struct Number(Taken);

impl ProcessNumbers {
    pub(super) fn new(all: usize) -> Self {
        let memory = Native::default();
        let names = StickyNames::new(&Site::new(&memory), all);
        let anyone = Process::new(Pid::new(0), memory);
        Self { names, anyone, processes: (0..all).map(|p| Process::new(Pid::new(p), Native::default())).collect() }
    }

    /// Sets how the threads wait.
    pub(super) fn with_policy(self, policy: Policy) -> Self {
        let with = |p| Process::new(Pid::new(p), Native::default().with_policy(policy));
        Self { processes: (0..self.processes.len()).map(with).collect(), ..self }
    }

    /// How many process numbers there are.
    pub(super) fn len(&self) -> usize {
        self.processes.len()
    }

    /// The process of the thread that has this number.
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

    /// Takes a number for a passage of this thread. Refused if the thread already has one.
    pub(super) fn take(&self) -> Result<Number, NoNumber> {
        // Some platforms destroy the thread-local while the thread is ending. Then each passage
        // counts as a new thread's.
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

    /// Ends the passage of this thread.
    pub(super) fn give_back(&self, number: Number) {
        self.names.give_back_now(self.here(), number.0);
        let _ = MYSELF.try_with(|myself| myself.has.set(myself.has.get() - 1));
    }
}
