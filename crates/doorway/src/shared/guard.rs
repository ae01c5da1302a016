//! Guards: what a holder has.

use super::{Error, Kept, Previous, ReleaseError, Slots};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A slot of [`Slots`]. The guard borrows the slots.
pub type Guard<'a> = Permit<&'a Slots>;
/// A slot of [`Slots`]. The guard owns a reference, so it can move anywhere in this process.
pub type OwnedGuard = Permit<Arc<Slots>>;

/// The slot that was granted.
#[derive(Debug)]
pub(super) struct Entered {
    pub(super) slot: usize,
    pub(super) fence: u64,
    /// The seat that owns the slot.
    pub(super) seat: usize,
    /// How the previous owner ended, unless it gave the slot back.
    pub(super) previous: Option<Box<Previous>>,
}

/// A slot. Dropping this gives it back, even while a panic unwinds. The slot also comes back when
/// the process dies.
///
/// The slot belongs to the process, not to the thread. If a thread ends without dropping its guard,
/// the slot stays taken for as long as the process lives. In a [forked](super#processes-that-fork)
/// child, the guard is void.
#[must_use = "the slot is given back as soon as this is dropped"]
pub struct Permit<S: Deref<Target = Slots>> {
    slots: S,
    entered: Entered,
    is_back: bool,
}

impl<S: Deref<Target = Slots>> Permit<S> {
    #[inline(always)]
    pub(super) fn new(slots: S, entered: Entered) -> Self {
        Self { slots, entered, is_back: false }
    }

    /// The slot number: one of `0..k`, which no other holder has, in any process.
    #[must_use]
    #[inline]
    pub fn slot(&self) -> usize {
        self.entered.slot
    }

    /// The fence: a number that grows with each holder of this slot, for as long as the file
    /// exists.
    ///
    /// It protects a resource from a holder whose slot was [broken](Slots::break_slot). Let the
    /// resource remember, for each slot, the largest fence that it has seen, and refuse smaller
    /// ones. Fences of different slots are not comparable.
    ///
    /// # Examples
    /// ```
    /// # use doorway::shared::Slots;
    /// # let path = std::env::temp_dir().join(format!("doorway-fence-{}", std::process::id()));
    /// let slots = Slots::open(&path, 1)?;
    /// let first = slots.acquire()?.fence();
    /// assert!(slots.acquire()?.fence() > first);
    /// # drop(slots);
    /// # Slots::remove(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn fence(&self) -> u64 {
        self.entered.fence
    }

    /// How the previous holder ended: it gave the slot back, died with it, or lost it by
    /// [`break_slot`](Slots::break_slot).
    ///
    /// If several holders in a row died or were broken, this is what is known of the last one that
    /// recorded anything.
    ///
    /// # Examples
    /// ```
    /// use doorway::shared::{Previous, Slots};
    /// # let path = std::env::temp_dir().join(format!("doorway-previous-{}", std::process::id()));
    /// let slots = Slots::open(&path, 1)?;
    /// assert_eq!(*slots.acquire()?.previous(), Previous::Clean);
    ///
    /// let other = Slots::open(&path, 1)?;
    /// std::mem::forget(other.acquire()?);
    /// drop(other); // it died inside
    /// assert!(matches!(slots.acquire()?.previous(), Previous::Died(_)));
    /// # drop(slots);
    /// # Slots::remove(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn previous(&self) -> &Previous {
        self.entered.previous.as_deref().unwrap_or(&Previous::Clean)
    }

    /// Makes a descriptor that other processes can inherit, and that keeps the slot if this process
    /// dies.
    ///
    /// # Errors
    /// Returns an error if the file was deleted or damaged, if the system refuses another
    /// descriptor, or if this is a forked child.
    pub fn lifeline(&self) -> Result<Lifeline, Error> {
        Ok(Lifeline(self.slots.handle.lifeline(&self.entered)?))
    }

    /// Gives the slot back, and reports whether this guard had it all the time. Dropping the guard
    /// also gives the slot back, but reports nothing.
    ///
    /// # Errors
    /// Returns an error if the slot was taken away meanwhile, if the file was deleted, or if this
    /// is a forked child.
    ///
    /// # Examples
    /// ```
    /// use doorway::shared::{ReleaseError, Slots};
    /// # let path = std::env::temp_dir().join(format!("doorway-release-{}", std::process::id()));
    /// let slots = Slots::open(&path, 1)?;
    /// let guard = slots.acquire()?;
    /// slots.break_slot(guard.slot())?;
    /// assert_eq!(guard.release(), Err(ReleaseError::Broken));
    /// # drop(slots);
    /// # Slots::remove(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn release(mut self) -> Result<(), ReleaseError> {
        self.is_back = true;
        self.slots.handle.release(&self.entered)
    }
}

/// Keeps a slot taken if its holder dies, for as long as any process has a copy of it open.
///
/// A holder that starts a program may hold the slot on behalf of that program. It then makes a
/// lifeline by [`Permit::lifeline`], and lets the program inherit the
/// [descriptor](std::os::fd::AsFd). The descriptor is close-on-exec: clear `FD_CLOEXEC` in the
/// child before `exec`. If the holder is killed, the slot does not come back before the last copy
/// is closed. The kernel closes a copy when the process that has it ends. Only then is the next
/// holder told of the death.
///
/// Copies are read-only, so no program can damage the file through them. A living holder gives the
/// slot back as usual, even if other processes have copies. When this value is dropped in the
/// process that made it, its copies no longer keep the slot.
///
/// A lifeline keeps the holder's seat. Other guards of the same [`Slots`] may have the same seat:
/// all guards that were granted without a wait have it, even those that were granted later. If the
/// holder dies, the lifeline keeps their slots as well, and all of them come back together. If a
/// program must keep one slot and no other, open separate `Slots` for it, and make the lifeline
/// from their guard.
///
/// # Examples
/// ```
/// use doorway::shared::{Previous, Slots};
/// # let path = std::env::temp_dir().join(format!("doorway-lifeline-{}", std::process::id()));
/// let (holder, next) = (Slots::open(&path, 1)?, Slots::open(&path, 1)?);
/// let guard = holder.acquire()?;
/// let inherited = guard.lifeline()?; // as if another process had it
/// std::mem::forget(guard);
/// drop(holder); // it died inside
/// assert!(next.try_acquire().is_err());
/// drop(inherited);
/// assert!(matches!(next.try_acquire()?.previous(), Previous::Died(_)));
/// # drop(next);
/// # Slots::remove(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "it keeps nothing once it is dropped"]
pub struct Lifeline(Kept);

#[cfg(unix)]
impl std::os::fd::AsFd for Lifeline {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl<S: Deref<Target = Slots>> Drop for Permit<S> {
    #[inline(always)] // like that of the guards for threads
    fn drop(&mut self) {
        if !self.is_back {
            // There is no caller to report to.
            let _ = self.slots.handle.leave(&self.entered);
        }
    }
}

impl<S: Deref<Target = Slots>> fmt::Debug for Permit<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit")
            .field("slot", &self.slot())
            .field("fence", &self.fence())
            .field("previous", self.previous())
            .finish_non_exhaustive()
    }
}
