//! What the wait layer is made of, so that other tools' atomics and locks can stand in for the real ones.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// A 32-bit atomic, sequentially consistent.
pub trait Atomic32 {
    /// With this value.
    fn new(value: u32) -> Self;
    /// Its value.
    fn load(&self) -> u32;
    /// Adds, and returns the old value.
    fn fetch_add(&self, delta: u32) -> u32;
    /// Sets bits, and returns the old value.
    fn fetch_or(&self, bits: u32) -> u32;
    /// Keeps bits, and returns the old value.
    fn fetch_and(&self, bits: u32) -> u32;
}

/// A mutex.
pub trait Lock<T> {
    /// Around this value.
    fn new(value: T) -> Self;
    /// With the value, under the lock.
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R;
}

/// Atomics, locks, and sleep.
pub trait Platform: Sized {
    /// A 32-bit atomic.
    type U32: Atomic32;
    /// A mutex.
    type Lock<T>: Lock<T>;

    /// Sleeps while the word is `expected`, until woken, until the time comes, or for no reason.
    fn sleep(&self, word: &Self::U32, expected: u32, until: Option<Instant>);

    /// Wakes all that sleep on the word.
    fn wake_all(&self, word: &Self::U32);
}

/// The threads of this process.
#[derive(Clone, Copy, Default, Debug)]
pub struct Threads;

impl Atomic32 for AtomicU32 {
    #[inline(always)]
    fn new(value: u32) -> Self {
        Self::new(value)
    }
    #[inline(always)]
    fn load(&self) -> u32 {
        self.load(SeqCst)
    }
    #[inline(always)]
    fn fetch_add(&self, delta: u32) -> u32 {
        self.fetch_add(delta, SeqCst)
    }
    #[inline(always)]
    fn fetch_or(&self, bits: u32) -> u32 {
        self.fetch_or(bits, SeqCst)
    }
    #[inline(always)]
    fn fetch_and(&self, bits: u32) -> u32 {
        self.fetch_and(bits, SeqCst)
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

#[cfg(any(target_os = "linux", target_os = "android"))]
impl Platform for Threads {
    type U32 = AtomicU32;
    type Lock<T> = Mutex<T>;

    fn sleep(&self, word: &AtomicU32, expected: u32, until: Option<Instant>) {
        use rustix::thread::futex;
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| rustix::time::Timespec::try_from(left).ok());
        // Woken, changed, interrupted, out of time: whoever sleeps looks again in any case.
        let _ = futex::wait(word, futex::Flags::PRIVATE, expected, left.as_ref());
    }

    fn wake_all(&self, word: &AtomicU32) {
        // An address of this process cannot be wrong, so nobody needs to know how many there were.
        let _ = rustix::thread::futex::wake(word, rustix::thread::futex::Flags::PRIVATE, i32::MAX.unsigned_abs());
    }
}

/// Without futexes: threads sleep on one of a few condition variables, chosen by address.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod portable {
    use super::{AtomicU32, Instant, Mutex, Platform, SeqCst, Threads};
    use std::sync::{Condvar, PoisonError};

    const PLACES: usize = 64;
    static SLEEP: [(Mutex<()>, Condvar); PLACES] = [const { (Mutex::new(()), Condvar::new()) }; PLACES];

    fn place(word: &AtomicU32) -> &'static (Mutex<()>, Condvar) {
        &SLEEP[std::ptr::from_ref(word) as usize / 16 % PLACES]
    }

    impl Platform for Threads {
        type U32 = AtomicU32;
        type Lock<T> = Mutex<T>;

        fn sleep(&self, word: &AtomicU32, expected: u32, until: Option<Instant>) {
            let (lock, bell) = place(word);
            let guard = lock.lock().unwrap_or_else(PoisonError::into_inner);
            if word.load(SeqCst) != expected {
                return;
            }
            match until.map(|until| until.saturating_duration_since(Instant::now())) {
                Some(left) => drop(bell.wait_timeout(guard, left)),
                None => drop(bell.wait(guard)),
            }
        }

        fn wake_all(&self, word: &AtomicU32) {
            let (lock, bell) = place(word);
            // Whoever has looked at the word and not yet gone to sleep holds the lock.
            drop(lock.lock().unwrap_or_else(PoisonError::into_inner));
            bell.notify_all();
        }
    }
}
