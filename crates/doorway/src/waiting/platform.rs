//! What the wait layer is made of, so that other tools' atomics and locks can stand in for the real ones.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// A sequence number: a 32-bit atomic, sequentially consistent.
pub trait Sequence {
    /// Zero.
    fn new() -> Self;
    /// Its value.
    fn load(&self) -> u32;
    /// Adds one.
    fn bump(&self);
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

    /// Sleeps while the word is `expected`, until woken, until the time comes, or for no reason.
    fn sleep(&self, word: &Self::Sequence, expected: u32, until: Option<Instant>);

    /// Wakes all that sleep on the word.
    fn wake_all(&self, word: &Self::Sequence);

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

/// Processes that share memory. Their sleeps should be [bounded in time](super::Policy::at_most): a process may be killed between its change and its wake-up.
#[cfg(any(target_os = "linux", target_os = "android"))]
#[derive(Clone, Copy, Default, Debug)]
pub struct Processes;

#[cfg(any(target_os = "linux", target_os = "android"))]
mod futexes {
    use super::{AtomicU8, AtomicU32, Instant, Mutex, Platform, Processes, Threads};
    use rustix::thread::futex::{self, Flags as FutexFlags, Wait, WaitFlags, WaitPtr, WaitvFlags};
    use rustix::time::{ClockId, Timespec, clock_gettime};
    use std::time::Duration;

    fn left(until: Option<Instant>) -> Option<Duration> {
        until.map(|until| until.saturating_duration_since(Instant::now()))
    }

    fn sleep(word: &AtomicU32, flags: FutexFlags, expected: u32, until: Option<Instant>) {
        let left = left(until).and_then(|left| Timespec::try_from(left).ok());
        // Woken, changed, interrupted, out of time: whoever sleeps looks again in any case.
        let _ = futex::wait(word, flags, expected, left.as_ref());
    }

    fn wake_all(word: &AtomicU32, flags: FutexFlags) {
        // The word is in front of us, so its address is not wrong, and how many there were nobody needs to know.
        let _ = futex::wake(word, flags, i32::MAX.unsigned_abs());
    }

    /// As many as the kernel takes.
    const MOST: usize = 128;

    fn sleep_any(words: &[(usize, u32)], flags: WaitFlags, until: Option<Instant>) -> bool {
        if words.is_empty() || words.len() > MOST {
            return false;
        }
        let wait = |&(address, expected): &(usize, u32)| {
            let mut wait = Wait::new();
            wait.val = u64::from(expected);
            wait.uaddr = WaitPtr::new(std::ptr::without_provenance_mut(address));
            wait.flags = flags | WaitFlags::SIZE_U32;
            wait
        };
        let waits: Vec<Wait> = words.iter().map(wait).collect();
        let until =
            left(until).and_then(|left| clock_gettime(ClockId::Monotonic).checked_add(Timespec::try_from(left).ok()?));
        let slept = futex::waitv(&waits, WaitvFlags::empty(), until.as_ref(), ClockId::Monotonic);
        // Kernels before 5.16 do not know it, and some sandboxes forbid it.
        !matches!(slept, Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM))
    }

    impl Platform for Threads {
        type Sequence = AtomicU32;
        type Flags = AtomicU8;
        type Lock<T> = Mutex<T>;

        fn sleep(&self, word: &AtomicU32, expected: u32, until: Option<Instant>) {
            sleep(word, FutexFlags::PRIVATE, expected, until);
        }

        fn wake_all(&self, word: &AtomicU32) {
            wake_all(word, FutexFlags::PRIVATE);
        }

        fn sleep_any(&self, words: &[(usize, u32)], until: Option<Instant>) -> bool {
            sleep_any(words, WaitFlags::PRIVATE, until)
        }
    }

    impl Platform for Processes {
        type Sequence = AtomicU32;
        type Flags = AtomicU8;
        type Lock<T> = Mutex<T>;

        fn sleep(&self, word: &AtomicU32, expected: u32, until: Option<Instant>) {
            sleep(word, FutexFlags::empty(), expected, until);
        }

        fn wake_all(&self, word: &AtomicU32) {
            wake_all(word, FutexFlags::empty());
        }

        fn sleep_any(&self, words: &[(usize, u32)], until: Option<Instant>) -> bool {
            sleep_any(words, WaitFlags::empty(), until)
        }
    }
}

/// Without futexes: threads sleep on one of a few condition variables, chosen by address.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod portable {
    use super::{AtomicU8, AtomicU32, Instant, Mutex, Platform, SeqCst, Threads};
    use std::sync::{Condvar, PoisonError};

    const PLACES: usize = 64;
    static SLEEP: [(Mutex<()>, Condvar); PLACES] = [const { (Mutex::new(()), Condvar::new()) }; PLACES];

    fn place(word: &AtomicU32) -> &'static (Mutex<()>, Condvar) {
        &SLEEP[std::ptr::from_ref(word) as usize / 16 % PLACES]
    }

    impl Platform for Threads {
        type Sequence = AtomicU32;
        type Flags = AtomicU8;
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
