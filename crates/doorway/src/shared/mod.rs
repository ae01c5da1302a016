//! Slots between processes: at most `k` holders on this machine, and the slot of a dead holder
//! comes back. Linux only, on 64-bit, little-endian machines.
//!
//! [`Slots`] are kept in a mapped file. There is no daemon, and nothing to start first. Each holder
//! has a slot number and a fence. If a process dies, by `kill -9` or otherwise, its slots come
//! back, and the next holder of each is [told](Permit::previous). On other systems, every `open`
//! returns [`Error::Unsupported`].
//!
//! ```
//! use doorway::shared::{Previous, Slots};
//! # let path = std::env::temp_dir().join(format!("doorway-shared-{}", std::process::id()));
//! // let path = "gpus"; // a name: programs of this user find the file by it
//! let gpus = Slots::open(&path, 4)?;
//! let mine = gpus.acquire()?;
//! if let Previous::Died(holder) = mine.previous() {
//!     eprintln!("GPU {} may need a reset: {:?} died", mine.slot(), holder.pid);
//! }
//! assert_eq!(mine.slot(), 0);
//! # drop(mine);
//! # drop(gpus);
//! # Slots::remove(&path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Names and paths
//! A name is for the programs of one user in one container. The directory of names changes when the
//! first session of the user begins. For services, for several users or for containers, use a path:
//! two files are two limits. `docs/processes.md` says which file a name stands for, and how to
//! share one.
//!
//! # Looking for the dead
//! Waiters look for dead holders, and so does [`Slots::status`]. A call that does not wait, or
//! whose time is over, looks for them once before it reports that no slot is free.
//!
//! # Order
//! A *seat* is an entry in the file, by which a process holds slots and waits in line. A handle has
//! one seat from the start. (A handle made by [`Slots::attach`] takes its seat later.) When several
//! of its threads and tasks wait at the same time, it takes more, up to a
//! [limit](Builder::waiters). If no seat is left, further threads and tasks wait inside the
//! process, in order, until a seat comes back. Only then do they get in line with other processes.
//! [`Builder::bypass`] lets newcomers pass waiters, within a bound.
//!
//! # What a holder sees
//! What a holder did before it gave its slot back *happens before* what the next holder of that
//! slot does, in any process. So a slot protects other shared memory as a mutex does, without
//! further atomics. If the previous holder died, the next one sees what it wrote until then.
//! Nothing is promised about the order of what holders of different slots do.
//!
//! # Threads
//! A slot belongs to the process. A guard may move to another thread. If a thread ends without
//! dropping its guard, the slot stays taken. Every handle that acquires slots has one thread of its
//! own, called `doorway`, which sleeps. When the process dies, this thread ends too, and the kernel
//! wakes a waiter of another process. The thread also waits in the kernel on behalf of tasks.
//!
//! # Processes that fork
//! In a forked child, all handles and guards that existed before are void: dropping a guard does
//! nothing, and every other call returns [`Error::Forked`]. The child opens the file again. This
//! relies on `pthread_atfork`. A child made by a bare `clone` must not use what it inherits, and
//! keeps the parent's slots taken until it ends. `exec` gives all slots back, as a death does. A
//! [`Lifeline`] lets another process keep a slot on purpose.
//!
//! # What is not promised
//! The users of one file trust each other. A process that may write the file can break the limit,
//! or truncate the file, which kills the processes that use it. It cannot cause undefined behaviour
//! or a hang: a word that makes no sense is reported as [`Error::Corrupt`]. `docs/processes.md` has
//! a table of what happens when a process dies, and `docs/format.md` describes the file byte by
//! byte.

#![cfg_attr(
    not(all(
        target_os = "linux",
        target_endian = "little",
        target_pointer_width = "64",
        not(any(miri, doorway_portable))
    )),
    allow(dead_code, reason = "options are never read on systems where nothing can be opened")
)]

#[cfg(not(all(
    target_os = "linux",
    target_endian = "little",
    target_pointer_width = "64",
    not(any(miri, doorway_portable))
)))]
mod elsewhere;
mod errors;
mod guard;
mod header;
#[cfg(all(
    target_os = "linux",
    target_endian = "little",
    target_pointer_width = "64",
    not(any(miri, doorway_portable))
))]
mod linux;
mod names;
mod status;

#[cfg(not(all(
    target_os = "linux",
    target_endian = "little",
    target_pointer_width = "64",
    not(any(miri, doorway_portable))
)))]
use elsewhere::{Handle, Lifeline as Kept};
pub use errors::{Error, ReleaseError, TimeoutError, TryAcquireError};
use guard::Entered;
pub use guard::{Guard, Lifeline, OwnedGuard, Permit};
#[cfg(all(
    target_os = "linux",
    target_endian = "little",
    target_pointer_width = "64",
    not(any(miri, doorway_portable))
))]
#[doc(hidden)]
pub use linux::torture;
#[cfg(all(
    target_os = "linux",
    target_endian = "little",
    target_pointer_width = "64",
    not(any(miri, doorway_portable))
))]
use linux::{Handle, Lifeline as Kept};
pub use names::{Names, names, names_in};
pub use status::{Holder, Known, Previous, Status, Waiter};

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The largest number of seats in a file.
const MOST_SEATS: usize = doorway_core::k_assignment::seats::MOST_SEATS;
/// Four words of bits: every passage reads them three times.
const SEATS: usize = 256;

/// How many seats a file gets by default: one for a process at each slot, and the same number for
/// waiters.
fn usual_seats(slots: usize) -> usize {
    slots.saturating_mul(2).min(MOST_SEATS).next_multiple_of(64).max(SEATS)
}
const WAITERS: usize = 8;

/// What happens to the slots of a process that dies.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum Mode {
    /// The slots come back, and the next holder of each is told.
    #[default]
    Reclaim,
    /// The slots stay taken until a process [breaks](Slots::break_slot) them. The others go on as
    /// long as fewer than `k` holders have died. Use this if nothing may touch what a slot protects
    /// after a crash before a person has looked at it.
    Tolerate,
}

impl Mode {
    fn number(self) -> u16 {
        match self {
            Self::Reclaim => 0,
            Self::Tolerate => 1,
        }
    }

    fn from_number(number: u16) -> Option<Self> {
        [Self::Reclaim, Self::Tolerate].into_iter().find(|mode| mode.number() == number)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reclaim => "reclaim",
            Self::Tolerate => "tolerate",
        })
    }
}

/// Options for opening slots, beyond those of [`Slots::open`].
///
/// # Examples
/// ```
/// use doorway::shared::{Builder, Mode};
/// # let directory = std::env::temp_dir().join(format!("doorway-builder-{}", std::process::id()));
/// let slots = Builder::new("licences", 3).directory(&directory).mode(Mode::Tolerate).label("nightly build").open()?;
/// let mine = slots.acquire()?;
/// assert_eq!(slots.status()?.holders[0].known.label.as_deref(), Some("nightly build"));
/// # drop(mine);
/// # drop(slots);
/// # std::fs::remove_dir_all(directory)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is opened until `open` is called"]
pub struct Builder {
    name: PathBuf,
    /// `None`: the number in the file, which must exist.
    slots: Option<usize>,
    /// `None`: the number in the file; for a new file, a number that fits the slots.
    seats: Option<usize>,
    mode: Mode,
    bypass: u16,
    directory: Option<PathBuf>,
    permissions: Option<u32>,
    group: Option<u32>,
    waiters: usize,
    label: String,
    times: bool,
    thread_stays: bool,
    /// What the program knows beyond version 1 of the file.
    features: u32,
}

impl Builder {
    /// Asks for this many slots, under this name or at this path.
    ///
    /// An argument without `/` is a name: 1 to 64 letters, digits, dots, underscores and hyphens,
    /// of which the first is a letter or a digit. The last part of a path must be such a name, too.
    ///
    /// The file of a name is in `/run/user/UID/doorway` if `/run/user/UID` exists and belongs to
    /// the user, else in `/dev/shm/doorway-UID`, else in `/tmp/doorway-UID`. If the environment
    /// variable `DOORWAY_DIR` is set, it names the directory instead. `/run/user/UID` comes and
    /// goes with log-ins: if that matters, use a path.
    ///
    /// The directory of a path is made if it is missing, but the directories above it are not. It
    /// must belong to this user or to root, and no other user may write it, unless it is sticky.
    pub fn new(name_or_path: impl AsRef<Path>, slots: usize) -> Self {
        Self { slots: Some(slots), ..Self::existing(name_or_path) }
    }

    /// Asks for a file that exists, with its own slots, seats, mode and bypass.
    pub fn existing(name_or_path: impl AsRef<Path>) -> Self {
        Self {
            name: name_or_path.as_ref().to_owned(),
            slots: None,
            seats: None,
            mode: Mode::default(),
            bypass: 0,
            directory: None,
            permissions: None,
            group: None,
            waiters: WAITERS,
            label: String::new(),
            times: true,
            thread_stays: false,
            features: header::FEATURES,
        }
    }

    /// Sets what happens to the slots of a process that dies. Every process that opens the file
    /// must ask for the same mode.
    pub fn mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// Lets newcomers pass the first waiter, at most this many times before it is served.
    ///
    /// Every process that opens the file must ask for the same number. The default, 0, is strict
    /// order.
    ///
    /// In strict order, as soon as a process waits, each passage is a switch of processes, which
    /// takes microseconds. Where holders stay inside for less than that, a bound such as 64 lets a
    /// running process come back many times before the next one is woken. Waiters wait longer for
    /// it: a waiter with `m` waiters before it is passed at most `(m + 1)` times this number. Among
    /// themselves, waiters are served in order of arrival.
    ///
    /// The slots share the bound in equal parts, each a power of two. So with `k` slots, a number
    /// below `2 k` means strict order. [`Status::bypass`] says which bound is in force: `k` times
    /// the largest power of two that is at most this number divided by `k`. The bound holds while
    /// no process dies. After a death, newcomers may pass beyond the bound, until a waiter looks
    /// for the dead.
    ///
    /// # Examples
    /// ```
    /// use doorway::shared::{Builder, Error, Slots};
    /// # let path = std::env::temp_dir().join(format!("doorway-bypass-{}", std::process::id()));
    /// let counters = Builder::new(&path, 1).bypass(64).open()?;
    /// assert_eq!(counters.status()?.bypass, 64);
    /// assert_eq!(Slots::open(&path, 1).unwrap_err(), Error::OtherBypass { found: 64, asked: 0 });
    /// # drop(counters);
    /// # Slots::remove(&path)?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn bypass(self, bypass: u16) -> Self {
        Self { bypass, ..self }
    }

    /// Sets the number of seats: the upper bound of handles and waiting threads and tasks, in all
    /// processes together. It is a multiple of 64, at most 4096.
    ///
    /// Every process that sets it must set the same number. Without this call, an existing file
    /// keeps its number, and a new file has twice as many seats as slots, and at least 256. With
    /// [`Mode::Tolerate`], the seat of a dead holder is lost with its slot.
    pub fn seats(self, seats: usize) -> Self {
        Self { seats: Some(seats), ..self }
    }

    /// Sets the directory for names.
    pub fn directory(self, directory: impl AsRef<Path>) -> Self {
        Self { directory: Some(directory.as_ref().to_owned()), ..self }
    }

    /// Shares the file between several users, with these permissions, such as `0o660`.
    ///
    /// Every user must ask for the same permissions, even to look at the file or to remove it. The
    /// directory must exist, must belong to this user or to root, and must not be world-writable
    /// unless it is sticky. All users that may write the file trust each other.
    pub fn permissions(self, permissions: u32) -> Self {
        Self { permissions: Some(permissions & 0o7777), ..self }
    }

    /// Sets the group that a new file belongs to, by its number.
    pub fn group(self, group: u32) -> Self {
        Self { group: Some(group), ..self }
    }

    /// Sets how many threads and tasks of this handle may wait in line with other processes at the
    /// same time, each with a seat. The default is 8. Further threads and tasks wait inside the
    /// process until one of these is served.
    pub fn waiters(self, waiters: usize) -> Self {
        Self { waiters, ..self }
    }

    /// Sets the label: a text of at most 64 bytes that other processes are shown for this one. A
    /// longer label is truncated.
    pub fn label(self, label: impl Into<String>) -> Self {
        Self { label: label.into(), ..self }
    }

    /// Sets whether holders record when they got their slot. Without this, an uncontended `acquire`
    /// takes some nanoseconds less.
    pub fn times(self, times: bool) -> Self {
        Self { times, ..self }
    }

    /// Promises that the main thread stays until the process ends, so that the handle can do
    /// without its own thread.
    ///
    /// If the main thread opens the file, the handle starts no thread before a task waits. This is
    /// for programs that must start quickly. The kernel then tells other processes of the death of
    /// the main thread. So that thread must stay until the process ends, and it must lock no robust
    /// mutex of the C library. The handle keeps a few pages until the process ends.
    ///
    /// In any other thread, and for the second file that is opened like this, this call changes
    /// nothing.
    ///
    /// If the main thread ends before the process does, by `pthread_exit`, waiters of other
    /// processes check whether this process lives, and find that it does; they then learn of its
    /// death late. If the main thread locks a robust mutex, the users of that mutex do not learn of
    /// its death.
    ///
    /// # Examples
    /// ```
    /// # #[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))] {
    /// use doorway::shared::{Builder, Slots};
    /// let path = std::env::temp_dir().join(format!("doorway-stays-{}", std::process::id()));
    /// let slots = Builder::new(&path, 1).thread_stays().open()?;
    /// assert_eq!(slots.acquire()?.slot(), 0);
    /// # drop(slots);
    /// # Slots::remove(&path)?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn thread_stays(self) -> Self {
        Self { thread_stays: true, ..self }
    }

    /// Opens the file, and makes it if it does not exist.
    ///
    /// # Errors
    /// Returns an error if the file cannot be made or opened, or if it differs from what was asked
    /// for. Each [error](Error) says what to do.
    pub fn open(&self) -> Result<Slots, Error> {
        Ok(Slots { handle: Handle::open(self)? })
    }

    /// Removes the file, unless a process has it open.
    ///
    /// # Errors
    /// Returns an error if there is no such file, or if it is in use.
    pub fn remove(&self) -> Result<(), Error> {
        <Handle>::remove(self, false)
    }

    /// Removes the file, even if processes use it.
    ///
    /// Waiters get [`Error::Deleted`] when they look again: within a tenth of a second
    /// for each process that waits, and at most a minute. Holders go on, and learn of it by
    /// [`release`](Permit::release). A process that opens the name again gets a new file with all
    /// slots free: **for a while there may be twice as many holders**.
    ///
    /// # Errors
    /// Returns an error if there is no such file.
    pub fn remove_by_force(&self) -> Result<(), Error> {
        <Handle>::remove(self, true)
    }
}

/// At most `k` holders at a time among all processes that open the same file. Each holder has its
/// own slot number.
///
/// See [the module](self) for names, order, threads, forks and what is not promised. Two handles in
/// one process behave like two processes.
///
/// # Cost
/// An uncontended `acquire` makes one load for each 64 seats and one compare-and-swap. Dropping the
/// guard makes one compare-and-swap, and two loads for each 64 seats. Neither makes a system call.
///
/// # Examples
/// ```
/// use doorway::shared::Slots;
/// # let path = std::env::temp_dir().join(format!("doorway-slots-{}", std::process::id()));
/// let here = Slots::open(&path, 2)?;
/// let there = Slots::open(&path, 2)?; // as if in another process
/// let (mine, yours) = (here.acquire()?, there.acquire()?);
/// assert_ne!(mine.slot(), yours.slot());
/// assert!(here.try_acquire().is_err());
/// # drop((mine, yours));
/// # drop((here, there));
/// # Slots::remove(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Slots {
    handle: Handle,
}

/// Defines each method in two forms: with a guard that borrows, and with a guard that owns a
/// reference.
macro_rules! ways_in {
    ($($(#[$doc:meta])* $borrowed:ident, $owned:ident, ($($argument:ident: $of:ty),*) -> $error:ty,
        |$slots:ident| $enter:expr;)*) => {
        impl Slots {
            $(
                $(#[$doc])*
                #[inline(always)] // like the guard's `drop`
                pub fn $borrowed(&self, $($argument: $of),*) -> Result<Guard<'_>, $error> {
                    let $slots = self;
                    let entered = $enter?;
                    Ok(Permit::new(self, entered))
                }

                #[doc = concat!("[`", stringify!($borrowed), "`](Self::", stringify!($borrowed), ") with a guard that owns a reference.")]
                ///
                /// # Errors
                /// The same.
                #[inline(always)]
                pub fn $owned(self: &Arc<Self>, $($argument: $of),*) -> Result<OwnedGuard, $error> {
                    let $slots = &**self;
                    let entered = $enter?;
                    Ok(Permit::new(Arc::clone(self), entered))
                }
            )*
        }
    };
}

ways_in! {
    /// Waits for a slot.
    ///
    /// # Blocking
    /// Sleeps in the kernel. In a task, use [`acquire_async`](Self::acquire_async).
    ///
    /// # Errors
    /// Returns an error if the file was deleted or damaged, or if this is a forked child. A handle
    /// made by [`attach`](Self::attach) takes its seat here, and fails if all seats are taken.
    acquire, acquire_owned, () -> Error,
    |slots| slots.enter();

    /// Takes a slot if one is free and no process waits; with a [bypass](Builder::bypass), if one
    /// is free.
    ///
    /// If no slot is free, it looks for dead holders and tries once more.
    ///
    /// # Errors
    /// Returns an error if no slot is free, and in the cases of [`acquire`](Self::acquire).
    try_acquire, try_acquire_owned, () -> TryAcquireError,
    |slots| slots.try_enter();

    /// Waits for a slot, but no longer than `timeout`.
    ///
    /// A timeout is exact: the waiter leaves the line. If it is granted a slot just as it gives up,
    /// it returns the guard. A duration of zero is [`try_acquire`](Self::try_acquire).
    ///
    /// # Errors
    /// Returns an error if the time runs out, and in the cases of [`acquire`](Self::acquire).
    ///
    /// # Examples
    /// ```
    /// # use doorway::shared::{Slots, TimeoutError};
    /// # use std::time::Duration;
    /// # let path = std::env::temp_dir().join(format!("doorway-timeout-{}", std::process::id()));
    /// let slots = Slots::open(&path, 1)?;
    /// let held = slots.acquire()?;
    /// assert_eq!(slots.acquire_timeout(Duration::from_millis(1)).unwrap_err(), TimeoutError::TimedOut);
    /// # drop(held);
    /// # drop(slots);
    /// # Slots::remove(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    acquire_timeout, acquire_timeout_owned, (timeout: Duration) -> TimeoutError,
    |slots| match Instant::now().checked_add(timeout) {
        Some(deadline) => slots.enter_until(deadline),
        None => slots.enter().map_err(TimeoutError::from), // beyond the end of time
    };

    /// [`acquire_timeout`](Self::acquire_timeout) with a point in time.
    ///
    /// # Errors
    /// Returns an error if the deadline passes, and in the cases of [`acquire`](Self::acquire).
    acquire_deadline, acquire_deadline_owned, (deadline: Instant) -> TimeoutError,
    |slots| slots.enter_until(deadline);
}

impl Slots {
    /// The largest number of slots.
    pub const MOST: usize = doorway_core::k_assignment::seats::MOST_SLOTS;

    /// Opens slots under a name or at a path, and makes them if they do not exist. For more
    /// options, see [`Builder`].
    ///
    /// # Errors
    /// Returns an error if the file cannot be made or opened, or if it differs from what was asked
    /// for.
    ///
    /// # Examples
    /// ```
    /// use doorway::shared::{Error, Slots};
    /// # let path = std::env::temp_dir().join(format!("doorway-open-{}", std::process::id()));
    /// let three = Slots::open(&path, 3)?;
    /// assert_eq!(Slots::open(&path, 4).unwrap_err(), Error::OtherSlots { found: 3, asked: 4 });
    /// # drop(three);
    /// # Slots::remove(&path)?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn open(name_or_path: impl AsRef<Path>, slots: usize) -> Result<Self, Error> {
        Builder::new(name_or_path, slots).open()
    }

    /// Opens an existing file as it is.
    ///
    /// This is for programs that look at slots, break them or wait for them without knowing how
    /// many there are. The handle takes no seat before it needs one.
    ///
    /// # Errors
    /// Returns an error if there is no such file, or if it cannot be opened.
    pub fn attach(name_or_path: impl AsRef<Path>) -> Result<Self, Error> {
        Builder::existing(name_or_path).open()
    }

    /// Removes the file, unless a process has it open.
    ///
    /// # Errors
    /// Returns an error if there is no such file, or if it is in use.
    ///
    /// # Examples
    /// ```
    /// use doorway::shared::{Error, Slots};
    /// # let path = std::env::temp_dir().join(format!("doorway-remove-{}", std::process::id()));
    /// let slots = Slots::open(&path, 1)?;
    /// assert_eq!(Slots::remove(&path), Err(Error::InUse(path.clone())));
    /// drop(slots);
    /// Slots::remove(&path)?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn remove(name_or_path: impl AsRef<Path>) -> Result<(), Error> {
        Builder::existing(name_or_path).remove()
    }

    #[inline(always)]
    fn enter(&self) -> Result<Entered, Error> {
        match self.handle.enter_at_once() {
            Some(entered) => Ok(entered),
            None => self.enter_by_waiting(),
        }
    }

    #[cold]
    #[inline(never)]
    fn enter_by_waiting(&self) -> Result<Entered, Error> {
        Ok(self.handle.enter_by_waiting(None)?.expect("a waiter without a deadline does not give up"))
    }

    #[inline(always)]
    fn try_enter(&self) -> Result<Entered, TryAcquireError> {
        match self.handle.enter_at_once() {
            Some(entered) => Ok(entered),
            None => self.handle.enter_after_the_dead()?.ok_or(TryAcquireError::NoPlace),
        }
    }

    #[inline(always)]
    fn enter_until(&self, deadline: Instant) -> Result<Entered, TimeoutError> {
        match self.handle.enter_at_once() {
            Some(entered) => Ok(entered),
            None => self.handle.enter_by_waiting(Some(deadline))?.ok_or(TimeoutError::TimedOut),
        }
    }

    /// [`acquire`](Self::acquire) for tasks, on any executor.
    ///
    /// For a time limit, use the executor's own: dropping the future gives up exactly.
    ///
    /// # Cancel safety
    /// Cancel safe. Dropping the future gives up at any point, and loses no slot and no wake-up.
    ///
    /// # Errors
    /// The same as for [`acquire`](Self::acquire).
    ///
    /// # Examples
    /// ```
    /// # use std::{future::Future, pin::pin, task::{Context, Waker}};
    /// # use doorway::shared::Slots;
    /// # let path = std::env::temp_dir().join(format!("doorway-async-{}", std::process::id()));
    /// let slots = Slots::open(&path, 1)?;
    /// let held = slots.acquire()?;
    /// let mut context = Context::from_waker(Waker::noop());
    /// {
    ///     let mut cancelled = pin!(slots.acquire_async());
    ///     assert!(cancelled.as_mut().poll(&mut context).is_pending());
    /// }
    /// drop(held);
    /// assert!(slots.try_acquire().is_ok()); // no caller is in line
    /// # drop(slots);
    /// # Slots::remove(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn acquire_async(&self) -> Result<Guard<'_>, Error> {
        let entered = self.handle.enter_async().await?;
        Ok(Permit::new(self, entered))
    }

    /// [`acquire_async`](Self::acquire_async) with a guard that owns a reference to the slots.
    ///
    /// # Errors
    /// The same as for [`acquire_async`](Self::acquire_async).
    pub async fn acquire_owned_async(self: &Arc<Self>) -> Result<OwnedGuard, Error> {
        let entered = self.handle.enter_async().await?;
        Ok(Permit::new(Arc::clone(self), entered))
    }

    /// The number of slots.
    #[must_use]
    pub fn places(&self) -> usize {
        self.handle.slots()
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.handle.path()
    }

    /// Reports the holders and the waiters, since when each holds or waits, and which of them are
    /// dead.
    ///
    /// With [`Mode::Reclaim`], this call also brings back the slots of the dead. The status shows
    /// the state before that.
    ///
    /// # Errors
    /// Returns an error if the file was deleted or damaged, or if this is a forked child.
    ///
    /// # Examples
    /// ```
    /// # use doorway::shared::Slots;
    /// # let path = std::env::temp_dir().join(format!("doorway-status-{}", std::process::id()));
    /// let slots = Slots::open(&path, 2)?;
    /// let guard = slots.acquire()?;
    /// let status = slots.status()?;
    /// assert_eq!(status.holders.len(), 1);
    /// assert_eq!(status.holders[0].known.pid, Some(std::process::id()));
    /// assert!(status.waiters.is_empty());
    /// # drop(guard);
    /// # drop(slots);
    /// # Slots::remove(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn status(&self) -> Result<Status, Error> {
        self.handle.status()
    }

    /// Takes a slot away from its holder, dead or alive, and gives it to the next waiter.
    ///
    /// Returns what is known of the holder. Returns `None` if the slot has no holder, or if it
    /// changes hands during the call.
    ///
    /// This does not stop the holder, which may still be at work. Stop it first, or let the
    /// resource that the slot protects compare [fences](Permit::fence). The next holder is told,
    /// and so is the old one when it [releases](Permit::release) the slot.
    ///
    /// # Errors
    /// Returns an error if there is no such slot, if the file was deleted or damaged, or if this is
    /// a forked child.
    ///
    /// # Examples
    /// ```
    /// use doorway::shared::{Previous, Slots};
    /// # let path = std::env::temp_dir().join(format!("doorway-break-{}", std::process::id()));
    /// let slots = Slots::open(&path, 1)?;
    /// let stuck = slots.acquire()?;
    /// assert_eq!(slots.break_slot(0)?.unwrap().pid, Some(std::process::id()));
    /// let next = slots.acquire()?;
    /// assert!(matches!(next.previous(), Previous::Broken(_)));
    /// assert!(next.fence() > stuck.fence());
    /// # drop(stuck);
    /// # drop(next);
    /// # drop(slots);
    /// # Slots::remove(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn break_slot(&self, slot: usize) -> Result<Option<Known>, Error> {
        self.handle.break_slot(slot, None)
    }

    /// [`break_slot`](Self::break_slot), only if the holder still has this fence: for a caller that
    /// has looked at the holder before.
    ///
    /// # Errors
    /// The same as for [`break_slot`](Self::break_slot).
    pub fn break_holder(&self, slot: usize, fence: u64) -> Result<Option<Known>, Error> {
        self.handle.break_slot(slot, Some(fence))
    }
}

impl fmt::Debug for Slots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slots").field("path", &self.path()).field("places", &self.places()).finish_non_exhaustive()
    }
}

const _: () = {
    const fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Slots>();
    is_send_and_sync::<OwnedGuard>();
    is_send_and_sync::<Guard<'_>>();
};
