//! For systems without futexes: threads sleep on one of a few condition variables, chosen by
//! address.

use super::{Platform, Threads};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::SeqCst};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;

const PLACES: usize = 64;
static SLEEP: [(Mutex<()>, Condvar); PLACES] = [const { (Mutex::new(()), Condvar::new()) }; PLACES];

fn place(word: &AtomicU32) -> &'static (Mutex<()>, Condvar) {
    &SLEEP[std::ptr::from_ref(word) as usize / 16 % PLACES]
}

impl Platform for Threads {
    type Sequence = AtomicU32;
    type Flags = AtomicU8;
    type Lock<T> = Mutex<T>;
    type Unlocked<T> = UnsafeCell<T>;

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
        // A thread that has looked at the word and not yet gone to sleep holds the lock.
        drop(lock.lock().unwrap_or_else(PoisonError::into_inner));
        bell.notify_all();
    }
}
