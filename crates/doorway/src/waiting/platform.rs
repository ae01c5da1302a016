//! The parts of the wait layer, as traits, so that tools can substitute their own atomics and
//! locks.

use crate::tools::{AtomicU8, AtomicU32, Mutex, thread};
use std::cell::UnsafeCell;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Instant;

/// A sequence number: a 32-bit atomic, sequentially consistent.
pub trait Sequence {
    /// A sequence number of zero.
    fn new() -> Self;
    /// The value.
    fn load(&self) -> u32;
    /// Adds one.
    fn bump(&self);
    /// Replaces the value.
    fn store(&self, new: u32);
    /// Replaces the value if it is `old`. Returns whether it was.
    fn exchange(&self, old: u32, new: u32) -> bool;
}

/// A few flags: an 8-bit atomic, sequentially consistent.
pub trait Flags {
    /// Flags of which none is set.
    fn new() -> Self;
    /// The flags that are set.
    fn load(&self) -> u8;
    /// Sets these flags.
    fn set(&self, flags: u8);
    /// Clears these flags.
    fn clear(&self, flags: u8);
}

/// A mutex.
pub trait Lock<T> {
    /// A mutex around this value.
    fn new(value: T) -> Self;
    /// Calls `f` with the value, under the lock.
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R;
}

/// A value without a lock. The caller knows by other means which process may touch it.
pub trait Unlocked<T> {
    /// A cell with this value.
    fn new(value: T) -> Self;
    /// Calls `f` with the value. The caller must ensure that no other process touches it meanwhile.
    fn with<R>(&self, f: impl FnOnce(*mut T) -> R) -> R;
}

/// Atomics, locks, and sleep.
pub trait Platform: Sized {
    /// The number of lists in the [table](super::Table): a power of two, at least 2. With few
    /// lists, tasks that wait for different things share one.
    const BUCKETS: usize = 512;

    /// What threads sleep on.
    type Sequence: Sequence;
    /// The flags of listeners.
    type Flags: Flags;
    /// A mutex.
    type Lock<T>: Lock<T>;
    /// A value without a lock.
    type Unlocked<T>: Unlocked<T>;

    /// Sleeps while the word is `expected`, until woken or until the deadline. May also wake for no
    /// reason.
    fn sleep(&self, word: &Self::Sequence, expected: u32, until: Option<Instant>);

    /// Wakes all threads that sleep on the word.
    fn wake_all(&self, word: &Self::Sequence);

    /// Lets other threads run, before the caller looks again at something that one of them is about
    /// to finish.
    fn lets_others_run(&self) {
        thread::yield_now();
    }

    /// Sleeps while each word, given by its address, has its expected value, until one is woken or
    /// until the deadline. May also wake for no reason. Returns `false`, without having slept, if
    /// the platform does not support this.
    fn sleep_any(&self, _words: &[(usize, u32)], _until: Option<Instant>) -> bool {
        false
    }
}

/// The threads of this process.
#[derive(Clone, Copy, Default, Debug)]
pub struct Threads;

impl Sequence for AtomicU32 {
    fn new() -> Self {
        Self::new(0)
    }
    fn load(&self) -> u32 {
        self.load(SeqCst)
    }
    fn bump(&self) {
        self.fetch_add(1, SeqCst);
    }
    fn store(&self, new: u32) {
        self.store(new, SeqCst);
    }
    fn exchange(&self, old: u32, new: u32) -> bool {
        self.compare_exchange(old, new, SeqCst, SeqCst).is_ok()
    }
}

impl Flags for AtomicU8 {
    fn new() -> Self {
        Self::new(0)
    }
    #[inline(always)]
    fn load(&self) -> u8 {
        self.load(SeqCst)
    }
    fn set(&self, flags: u8) {
        self.fetch_or(flags, SeqCst);
    }
    fn clear(&self, flags: u8) {
        self.fetch_and(!flags, SeqCst);
    }
}

impl<T> Lock<T> for Mutex<T> {
    fn new(value: T) -> Self {
        Self::new(value)
    }
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        // A panic cannot poison this: the value is consistent between any two operations on it.
        f(&mut self.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T> Unlocked<T> for UnsafeCell<T> {
    fn new(value: T) -> Self {
        Self::new(value)
    }
    fn with<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.get())
    }
}

/// Processes that share memory. Their sleeps should be [bounded in time](super::Policy::at_most),
/// because a process may be killed between its change and its wake-up.
#[cfg(all(any(target_os = "linux", target_os = "android"), not(any(miri, doorway_portable))))]
#[derive(Clone, Copy, Default, Debug)]
pub struct Processes;
