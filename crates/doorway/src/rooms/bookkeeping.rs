//! Numbers and flags that no algorithm reads: the only atomics of these files.
//!
//! | what | read by | why no protocol depends on it |
//! |---|---|---|
//! | [`Id`] | the thread that recorded it | each number is given out once, and nothing else is concluded from it |
//! | [`Poison`] | users that ask | no user is let in or kept out because of it; it is written before the writer exits, so a later turn sees it |
//! | [`Kept`] | threads that leave | it only saves them a lock; a thread that has kept a panic has counted it itself, and sees its own count |

use crate::tools::{AtomicBool, AtomicUsize};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Mutex, PoisonError};

/// Identifies rooms by a number that no two of them share during the life of the program. An
/// address could be reused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Id(u64);

impl Id {
    pub(super) fn new() -> Self {
        static LAST: Mutex<u64> = Mutex::new(0);
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        *last += 1;
        Self(*last)
    }

    /// The number, which is not 0.
    #[inline(always)]
    pub(super) fn number(self) -> u64 {
        self.0
    }
}

/// Whether a user panicked.
pub(super) struct Poison(AtomicBool);

impl Poison {
    pub(super) fn none() -> Self {
        Self(AtomicBool::new(false))
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.load(SeqCst)
    }

    pub(super) fn set(&self, poisoned: bool) {
        self.0.store(poisoned, SeqCst);
    }
}

/// How many panics are kept behind a lock.
pub(super) struct Kept(AtomicUsize);

impl Kept {
    pub(super) fn none() -> Self {
        Self(AtomicUsize::new(0))
    }

    #[inline(always)]
    pub(super) fn is_some(&self) -> bool {
        self.0.load(SeqCst) > 0
    }

    pub(super) fn one_more(&self) {
        self.0.fetch_add(1, SeqCst);
    }

    pub(super) fn one_less(&self) {
        self.0.fetch_sub(1, SeqCst);
    }
}
