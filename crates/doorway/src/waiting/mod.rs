//! Waiting: threads that sleep, tasks that yield, one place for both.
//!
//! Everything native waits through this module: it spins briefly, yields, and then either puts the thread to sleep or leaves a waker behind.
//! How, the handle decides ([`Policy`], and thread or task); the variable serves both at once.
//!
//! # The one argument
//! A variable has a *bell* in its cache line: two flags, *threads listen* and *tasks listen*, and a 32-bit sequence number, because futexes have 32 bits and variables 64.
//!
//! | who waits | who changes the variable |
//! |---|---|
//! | 1. reads the sequence | 1. changes the variable |
//! | 2. sets its flag | 2. reads the flags; if none is set, that is all |
//! | 3. reads the variable once more | 3. clears the flag, *then* bumps the sequence |
//! | 4. sleeps if the variable is as it was, and only while the sequence is | 4. wakes all that sleep on the sequence |
//!
//! *Nobody sleeps through a change.* All of these are `SeqCst`, so they have one order. If the change comes before the waiter's 3, it sees it and does not
//! sleep. If it comes after, so does the changer's 2, which finds the flag set unless another changer has cleared it since the waiter's 2. Either way somebody clears the flag
//! after the waiter has set it, hence bumps the sequence after the waiter has read it: the sequence is no longer what the waiter read, and the kernel does not let it sleep, or it is
//! woken. Waiters may set a flag that stands already, and changers clear it for all of them, because all of them are woken; each then looks again.
//!
//! Tasks do the same with a table of wakers in place of the sequence: the flag is set and cleared under the lock of the table's bucket, together with the
//! entries it stands for.
//!
//! *A changer that wakes nobody pays one load* from the cache line it has just written. *Cancelling is free*: every wake-up wakes all that
//! listen, so whoever leaves takes no wake-up along that was meant for another. A flag that nobody listens to any more costs the next changer one needless call.
//!
//! # One waiter
//! A variable for which one process waits at a time has an *alarm* in place of the bell: the waker lies beside the variable, and there is no table.
//!
//! # When a changer can die
//! Between its change and its wake-up a process may be killed; threads of one process die together. For memory that processes share, sleeps are [bounded in
//! time](Policy::at_most): the checker has the wake-up as a step of its own, before which a process can crash. Of Anderson and Moir's algorithms those that wait on
//! a common word survive that by themselves, because the next one to leave changes it again; those that wait on their own do not: `doorway check am-dsm-chain --n 3 --k 2 --passages 1
//! --crashes 1 --wakes` finds a sleeper that nobody wakes, and with `--timed-sleeps` all holds.

mod alarm;
mod bell;
#[cfg(all(any(target_os = "linux", target_os = "android"), not(any(miri, doorway_portable))))]
mod futexes;
mod platform;
mod policy;
#[cfg(not(all(any(target_os = "linux", target_os = "android"), not(any(miri, doorway_portable)))))]
mod portable;
mod table;

pub(crate) use alarm::{Alarm, Set};
pub(crate) use bell::Bell;
#[cfg(all(
    target_os = "linux",
    target_endian = "little",
    target_pointer_width = "64",
    not(any(miri, doorway_portable))
))]
pub(crate) use platform::Processes;
pub(crate) use platform::{Flags, Lock, Platform, Sequence, Threads, Unlocked};
pub(crate) use policy::Patience;
pub use policy::Policy;
pub(crate) use table::{Place, Table, Waiter, contained};

/// The layer itself, for the tests that run it on the atomics of other tools. Not for users: it
/// changes without notice.
#[doc(hidden)]
pub mod internals {
    pub use super::alarm::{Alarm, Set};
    pub use super::bell::Bell;
    #[cfg(all(any(target_os = "linux", target_os = "android"), not(any(miri, doorway_portable))))]
    pub use super::platform::Processes;
    pub use super::platform::{Flags, Lock, Platform, Sequence, Threads, Unlocked};
    pub use super::policy::Patience;
    pub use super::table::{Place, Table, Waiter};
}
