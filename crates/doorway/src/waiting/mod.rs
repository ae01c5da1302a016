//! Waiting: threads sleep and tasks yield, in one place for both.
//!
//! All native code waits through this module. It spins briefly, yields, and then either puts the
//! thread to sleep or registers a waker. The handle decides how ([`Policy`], and thread or task);
//! the variable serves both at once.
//!
//! # The one argument
//! A variable has a *bell* in its cache line: two flags, *threads listen* and *tasks listen*, and a
//! 32-bit sequence number, because futexes have 32 bits and variables have 64.
//!
//! | the waiter | the changer of the variable |
//! |---|---|
//! | 1. reads the sequence | 1. changes the variable |
//! | 2. sets its flag | 2. reads the flags; if none is set, that is all |
//! | 3. reads the variable once more | 3. clears the flag, *then* bumps the sequence |
//! | 4. sleeps if the variable is unchanged, and only while the sequence is unchanged | 4. wakes all threads that sleep on the sequence |
//!
//! *No waiter sleeps through a change.* All of these steps are `SeqCst`, so they have one order. If
//! the change comes before the waiter's step 3, the waiter sees it and does not sleep. If the
//! change comes after, so does the changer's step 2, which finds the flag set, unless another
//! changer has cleared it since the waiter's step 2. Either way, a changer clears the flag after
//! the waiter has set it, and hence bumps the sequence after the waiter has read it. So the
//! sequence differs from what the waiter read, and the kernel does not let the waiter sleep; or the
//! waiter sleeps already, and is woken. Waiters may set a flag that is already set, and changers
//! clear it for all of them, because all of them are woken. Each then looks again.
//!
//! Tasks do the same with a table of wakers in place of the sequence. The flag is set and cleared
//! under the lock of the table's bucket, together with the entries that it stands for.
//!
//! *A changer that wakes no waiter pays one load*, from the cache line that it has just written.
//! *Cancelling is free*: every wake-up wakes all listeners, so a waiter that leaves never takes a
//! wake-up that was meant for another. A flag without listeners costs the next changer one needless
//! call.
//!
//! # One waiter
//! A variable for which one process waits at a time has an *alarm* in place of the bell. The waker
//! is beside the variable, and there is no table.
//!
//! # When a changer can die
//! A process may be killed between its change and its wake-up. The threads of one process die
//! together, so this matters only for memory that processes share. There, sleeps are [bounded in
//! time](Policy::at_most). The checker has the wake-up as a separate step, before which a process
//! can crash.
//!
//! Some of Anderson and Moir's algorithms wait on a common word. They survive such a crash by
//! themselves, because the next process that leaves changes the word again. The ones that wait on
//! their own words do not: `doorway check am-dsm-chain --n 3 --k 2 --passages 1 --crashes 1
//! --wakes` finds a sleeper that is never woken. With `--timed-sleeps`, all properties hold.

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
pub use policy::Policy;
pub(crate) use policy::{Away, Habit, Patience};
pub(crate) use table::{Place, Table, Waiter, contained};

/// The layer itself, for tests that run it on the atomics of other tools. It is not for users, and
/// changes without notice.
#[doc(hidden)]
pub mod internals {
    pub use super::alarm::{Alarm, Set};
    pub use super::bell::Bell;
    #[cfg(all(any(target_os = "linux", target_os = "android"), not(any(miri, doorway_portable))))]
    pub use super::platform::Processes;
    pub use super::platform::{Flags, Lock, Platform, Sequence, Threads, Unlocked};
    pub use super::policy::{Habit, Patience};
    pub use super::table::{Place, Table, Waiter};
}
