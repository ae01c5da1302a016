//! How threads and processes sleep on systems with futexes.

use super::platform::{Platform, Processes, Threads};
use rustix::thread::futex::{self, Flags as FutexFlags, Wait, WaitFlags, WaitPtr, WaitvFlags};
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::cell::UnsafeCell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, AtomicU32};
use std::time::{Duration, Instant};

fn left(until: Option<Instant>) -> Option<Duration> {
    until.map(|until| until.saturating_duration_since(Instant::now()))
}

/// The largest number of words that the kernel accepts.
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
    // Kernels before 5.16 do not have this call, and some sandboxes forbid it.
    !matches!(slept, Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM))
}

/// Implements sleeping with these futexes.
macro_rules! by_futexes {
    ($($who:ty: $flags:expr, $wait_flags:expr;)*) => {
        $(
            impl Platform for $who {
                type Sequence = AtomicU32;
                type Flags = AtomicU8;
                type Lock<T> = Mutex<T>;
                type Unlocked<T> = UnsafeCell<T>;

                fn sleep(&self, word: &AtomicU32, expected: u32, until: Option<Instant>) {
                    let left = left(until).and_then(|left| Timespec::try_from(left).ok());
                    // Woken, changed, interrupted or out of time: a sleeper looks again in any
                    // case.
                    let _ = futex::wait(word, $flags, expected, left.as_ref());
                }

                fn wake_all(&self, word: &AtomicU32) {
                    // The word is borrowed, so its address is valid. The number of woken threads
                    // does not matter.
                    let _ = futex::wake(word, $flags, i32::MAX.unsigned_abs());
                }

                fn sleep_any(&self, words: &[(usize, u32)], until: Option<Instant>) -> bool {
                    sleep_any(words, $wait_flags, until)
                }
            }
        )*
    };
}

by_futexes! {
    Threads: FutexFlags::PRIVATE, WaitFlags::PRIVATE;
    Processes: FutexFlags::empty(), WaitFlags::empty();
}
