//! What the wait layer is made of, so that other tools' atomics and locks can stand in for the real ones.

use crate::tools::{AtomicU8, AtomicU32, Mutex, thread};
use std::cell::UnsafeCell;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Instant;

/// A sequence number: a 32-bit atomic, sequentially consistent.
pub trait Sequence {
    /// Zero.
    fn new() -> Self;
    /// Its value.
    fn load(&self) -> u32;
    /// Adds one.
    fn bump(&self);
    /// Replaces it.
    fn store(&self, new: u32);
    /// Replaces it if it is `old`; whether it was.
    fn exchange(&self, old: u32, new: u32) -> bool;
}

/// A few flags: an 8-bit atomic, sequentially consistent.
pub trait Flags {
    /// None is set.
    fn new() -> Self;
    /// Which are set.
    fn load(&self) -> u8;
    /// Sets these.
    fn set(&self, flags: u8);
    /// Clears these.
    fn clear(&self, flags: u8);
}

/// A mutex.
pub trait Lock<T> {
    /// Around this value.
    fn new(value: T) -> Self;
    /// With the value, under the lock.
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R;
}

/// A value without a lock: something else says which process may touch it.
pub trait Unlocked<T> {
    /// This value.
    fn new(value: T) -> Self;
    /// With the value, which no other process touches meanwhile: the caller sees to that.
    fn with<R>(&self, f: impl FnOnce(*mut T) -> R) -> R;
}

/// Atomics, locks, and sleep.
pub trait Platform: Sized {
    /// How many lists the [table](super::Table) has, a power of two from 2 on: with few, tasks that wait for different things meet in one.
    const BUCKETS: usize = 512;

    /// What threads sleep on.
    type Sequence: Sequence;
    /// Who listens.
    type Flags: Flags;
    /// A mutex.
    type Lock<T>: Lock<T>;
    /// A value without a lock.
    type Unlocked<T>: Unlocked<T>;

    /// Sleeps while the word is `expected`, until woken, until the time comes, or for no reason.
    fn sleep(&self, word: &Self::Sequence, expected: u32, until: Option<Instant>);

    /// Wakes all that sleep on the word.
    fn wake_all(&self, word: &Self::Sequence);

    /// Lets other threads run, before the caller looks again at something that one of them is about to finish.
    fn lets_others_run(&self) {
        thread::yield_now();
    }

    /// Sleeps while each word, given by its address, is as expected, until one is woken, until the time comes, or for no reason. `false` if the platform
    /// cannot; it has not slept then.
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
        // What is locked here is whole between any two operations on it.
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

/// Processes that share memory. Their sleeps should be [bounded in time](super::Policy::at_most): a process may be killed between its change and its wake-up.
#[cfg(all(any(target_os = "linux", target_os = "android"), not(any(miri, doorway_portable))))]
#[derive(Clone, Copy, Default, Debug)]
pub struct Processes;
