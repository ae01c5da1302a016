//! Raw mutexes for [`lock_api`], with the feature of that name.
//!
//! `lock_api` makes a mutex before the program runs, gives threads no identity, and passes nothing
//! from `lock` to `unlock`. So an algorithm fits only if its text never asks for a process number,
//! and if its variables are few and known beforehand. Three algorithms fit: the test-and-set lock,
//! the same with backoff, and the ticket lock. A queue lock needs a word for each thread, and an
//! algorithm made of reads and writes needs one for each thread that may come. Those algorithms are
//! behind [`Mutex`](crate::Mutex), which gives threads numbers.
//!
//! The texts are those of the catalogue. A mutex takes a cache line for each of its variables.
//!
//! ```
//! use doorway::raw::RawTicket;
//! static COUNT: lock_api::Mutex<RawTicket, u64> = lock_api::Mutex::new(0);
//! std::thread::scope(|s| {
//!     for _ in 0..4 {
//!         s.spawn(|| *COUNT.lock() += 1);
//!     }
//! });
//! assert_eq!(*COUNT.lock(), 4);
//! ```

// These traits are unsafe to implement: the implementor promises mutual exclusion.
#![allow(unsafe_code)]

use crate::native::{Native, Var, now};
use doorway_core::k_exclusion::{AtOnce, KExclusion};
use doorway_core::memory::{Pid, Process};
use doorway_core::mutex::TestAndSetLock;
use doorway_core::mutex::mellor_crummey_scott_91::{BackoffBit, TicketLock};
use lock_api::{GuardSend, RawMutex, RawMutexFair};

/// An arbitrary process: the texts below never ask for its number.
fn anyone() -> Process<Native> {
    Process::new(Pid::new(0), Native::new())
}

/// The [test-and-set lock](TestAndSetLock): one bit, and no fairness.
#[derive(Debug)]
pub struct RawTas(TestAndSetLock<Native>);

// SAFETY: the text provides mutual exclusion: it is searched for violations (`doorway check tas`;
// with attempts, `doorway-check/tests/checker/at_once.rs`). It does not ask which process runs it.
// The caller of `unlock` holds the lock.
unsafe impl RawMutex for RawTas {
    const INIT: Self = Self(TestAndSetLock::over((), Var::zero()));
    type GuardMarker = GuardSend;

    fn lock(&self) {
        let Ok(()) = now(self.0.acquire(&anyone()));
    }

    fn try_lock(&self) -> bool {
        let Ok(held) = now(self.0.acquire_at_once(&anyone()));
        held.is_some()
    }

    unsafe fn unlock(&self) {
        let Ok(()) = now(self.0.release(&anyone(), ()));
    }
}

/// The test-and-set lock [with exponential backoff](BackoffBit): fewer attempts, and no fairness.
/// The words on which a thread pauses are on its stack.
#[derive(Debug)]
pub struct RawTasBackoff(BackoffBit<Native>);

// SAFETY: as above (`doorway check tas-backoff`). The text's variables for pauses are private to a
// process; here they are private to a call.
unsafe impl RawMutex for RawTasBackoff {
    const INIT: Self = Self(BackoffBit::over((), Var::zero()));
    type GuardMarker = GuardSend;

    fn lock(&self) {
        let (delay, idle) = (Var::zero(), Var::zero());
        let Ok(()) = now(self.0.set(&anyone(), &delay, &idle));
    }

    fn try_lock(&self) -> bool {
        let Ok(is_inside) = now(self.0.set_at_once(&anyone()));
        is_inside
    }

    unsafe fn unlock(&self) {
        let Ok(()) = now(self.0.clear(&anyone()));
    }
}

/// The [ticket lock](TicketLock): first come, first served, with two words.
#[derive(Debug)]
pub struct RawTicket(TicketLock<Native>);

// SAFETY: as above (`doorway check ticket`). Tickets have 64 bits, so no two outstanding tickets
// are equal, however many threads there are. The holder's ticket is the one being served.
unsafe impl RawMutex for RawTicket {
    const INIT: Self = Self(TicketLock::over((), 64, Var::zero(), Var::zero()));
    type GuardMarker = GuardSend;

    fn lock(&self) {
        let Ok(_) = now(self.0.acquire(&anyone()));
    }

    fn try_lock(&self) -> bool {
        let Ok(held) = now(self.0.acquire_at_once(&anyone()));
        held.is_some()
    }

    unsafe fn unlock(&self) {
        let p = anyone();
        let Ok(ticket) = now(self.0.served(&p));
        let Ok(()) = now(self.0.release(&p, ticket));
    }
}

// SAFETY: every exit hands the lock to the next ticket.
unsafe impl RawMutexFair for RawTicket {
    unsafe fn unlock_fair(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { self.unlock() }
    }
}
