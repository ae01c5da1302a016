//! The methods that acquire. The text decides what is done, and the native memory decides how the
//! process waits.

use super::errors::Nothing;
use super::{
    ANYONE, Acquire, AcquireError, AcquireMany, AcquireManyOwned, AcquireOwned, AcquireTimeoutError, Numbering,
    OwnedSlotGuard, Permit, SlotGuard, Slots, TryAcquireError,
};
use crate::native::{Begun, Native, WaysIn, now, refused, someone, sure, ways_in};
use crate::waiting::{Away, Policy};
use doorway_core::Failure;
use doorway_core::k_assignment::{Entered, Grant};
use doorway_core::k_exclusion::turnstile::{Attempt, Closed, Drawn, Refused};
use doorway_core::memory::Process;
use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

ways_in! {
    impl [N: Numbering] Slots<N> as slots;
    SlotGuard<'_, N>, OwnedSlotGuard<N>: "It can move anywhere.";

    /// Waits for a place.
    ///
    /// | | |
    /// |---|---|
    /// | fairness | in order of arrival |
    /// | blocking | spins briefly, then sleeps; in a task, use [`acquire_async`](Self::acquire_async) |
    /// | afterwards | a thread that slept yields its processor once, when it drops the guard, so that the line dissolves |
    /// | cost | two read-modify-writes and a few loads if a place is free; one read-modify-write without numbers |
    ///
    /// # Errors
    /// Returns an error if the slots are closed.
    ///
    /// # Examples
    /// ```
    /// let slots = doorway::Slots::new(2)?;
    /// let guard = slots.acquire()?;
    /// assert_eq!(guard.slot(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    acquire, acquire_owned() -> Closed = |_| {
        let grant = slots.enter_as_thread(1).map_err(only_closed)?;
        Ok(Permit::new(slots, grant))
    };

    /// Takes a place if one is free and no caller is in line; with a [bypass](Self::bypass), if the
    /// bound allows this caller to pass.
    ///
    /// # Errors
    /// Returns an error if no place is free, or if the slots are closed.
    ///
    /// # Examples
    /// ```
    /// use doorway::{Slots, TryAcquireError};
    /// let slots = Slots::new(1)?;
    /// let _held = slots.try_acquire()?;
    /// assert_eq!(slots.try_acquire().unwrap_err(), TryAcquireError::NoPlace);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    try_acquire, try_acquire_owned() -> TryAcquireError = |_| {
        let grant = slots.at_once(1)?.ok_or(TryAcquireError::NoPlace)?;
        Ok(Permit::new(slots, grant))
    };

    /// Waits for a place, but no longer than `timeout`. A timeout of zero is
    /// [`try_acquire`](Self::try_acquire).
    ///
    /// This is as fair as [`acquire`](Self::acquire). A timeout is exact: the waiter leaves the
    /// line, and loses no place. If it is granted a place just as it gives up, it returns the
    /// guard.
    ///
    /// # Errors
    /// Returns an error if the time runs out, or if the slots are closed.
    ///
    /// # Examples
    /// ```
    /// use doorway::{Slots, AcquireTimeoutError};
    /// use std::time::Duration;
    /// let slots = Slots::new(1)?;
    /// let _held = slots.acquire()?;
    /// assert_eq!(slots.acquire_timeout(Duration::from_millis(1)).unwrap_err(), AcquireTimeoutError::TimedOut);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    acquire_timeout, acquire_timeout_owned(timeout: Duration) -> AcquireTimeoutError = |_| {
        let grant = slots.enter_within(1, timeout)?.ok_or(AcquireTimeoutError::TimedOut)?;
        Ok(Permit::new(slots, grant))
    };

    /// [`acquire_timeout`](Self::acquire_timeout) with a point in time.
    ///
    /// # Errors
    /// Returns an error if the deadline passes, or if the slots are closed.
    acquire_deadline, acquire_deadline_owned(deadline: Instant) -> AcquireTimeoutError = |_| {
        let grant = slots.enter_until(1, deadline)?.ok_or(AcquireTimeoutError::TimedOut)?;
        Ok(Permit::new(slots, grant))
    };

    /// Waits for several places at once.
    ///
    /// The caller gets in line once, for all its places. So two callers that each want both of two
    /// places cannot block each other. If a caller waits for many places, a caller that comes later
    /// waits behind it, even for one place. Callers are served in order of arrival. While others
    /// arrive at the same instant, a caller that wants several places may have to try again to get
    /// in line.
    ///
    /// # Errors
    /// Returns an error if the slots are closed, if `places` is 0, or if there are fewer than
    /// `places` places. It also returns this error if [places are removed](Self#when-places-go)
    /// while the caller waits, and fewer are left.
    ///
    /// # Examples
    /// ```
    /// use doorway::{AcquireError, Slots};
    /// let slots = Slots::new(3)?;
    /// let two = slots.acquire_many(2)?;
    /// assert_eq!(two.slots(), [0, 1]);
    /// assert!(matches!(slots.acquire_many(4), Err(AcquireError::TooMany(_)))); // it would wait for ever
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    acquire_many, acquire_many_owned(places: usize) -> AcquireError = |_| {
        let grant = slots.enter_as_thread(some(places)?)?;
        Ok(Permit::new(slots, grant))
    };

    /// Takes several places if they are free and no caller is in line.
    ///
    /// # Errors
    /// Returns an error if too few places are free, if there are fewer than `places` places, if
    /// `places` is 0, or if the slots are closed.
    try_acquire_many, try_acquire_many_owned(places: usize) -> TryAcquireError = |_| {
        let grant = slots.at_once(some(places)?)?.ok_or(TryAcquireError::NoPlace)?;
        Ok(Permit::new(slots, grant))
    };

    /// Waits for several places at once, but no longer than `timeout`.
    ///
    /// # Errors
    /// Returns an error if the time runs out, if there are fewer than `places` places, if `places`
    /// is 0, or if the slots are closed.
    acquire_many_timeout, acquire_many_timeout_owned(places: usize, timeout: Duration) -> AcquireTimeoutError = |_| {
        let grant = slots.enter_within(some(places)?, timeout)?.ok_or(AcquireTimeoutError::TimedOut)?;
        Ok(Permit::new(slots, grant))
    };

    /// [`acquire_many_timeout`](Self::acquire_many_timeout) with a point in time.
    ///
    /// # Errors
    /// Returns an error if the deadline passes, if there are fewer than `places` places, if
    /// `places` is 0, or if the slots are closed.
    acquire_many_deadline, acquire_many_deadline_owned(places: usize, deadline: Instant) -> AcquireTimeoutError = |_| {
        let grant = slots.enter_until(some(places)?, deadline)?.ok_or(AcquireTimeoutError::TimedOut)?;
        Ok(Permit::new(slots, grant))
    };
}

impl<N: Numbering> Slots<N> {
    /// [`acquire`](Self::acquire) for tasks, on any executor.
    ///
    /// For a time limit, use the executor's own: dropping the future gives up exactly.
    ///
    /// # Cancel safety
    /// Cancel safe. Dropping the future gives up exactly, at any point: no place and no wake-up is
    /// lost. The caller leaves the line; a new future starts at its end.
    ///
    /// A future that has been polled must be polled to its end or dropped. A future that is leaked
    /// (`mem::forget`, a cycle of `Arc`s) counts as a waiter that died: when its turn comes, a
    /// place is lost with it.
    ///
    /// # Errors
    /// Returns an error if the slots are closed.
    ///
    /// # Examples
    /// ```
    /// # use std::{future::Future, pin::pin, task::{Context, Poll, Waker}};
    /// let slots = doorway::Slots::new(1)?;
    /// let held = slots.acquire()?;
    /// let mut context = Context::from_waker(Waker::noop());
    /// {
    ///     let mut cancelled = pin!(slots.acquire_async());
    ///     assert!(cancelled.as_mut().poll(&mut context).is_pending());
    /// }
    /// let mut waits = pin!(slots.acquire_async());
    /// assert!(waits.as_mut().poll(&mut context).is_pending());
    /// drop(held);
    /// assert!(waits.as_mut().poll(&mut context).is_ready());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn acquire_async(&self) -> Acquire<'_, N> {
        Acquire::new(self, 1)
    }

    /// [`acquire_async`](Self::acquire_async) with a guard that owns a reference to the slots.
    ///
    /// # Errors
    /// The same as for [`acquire_async`](Self::acquire_async).
    pub fn acquire_owned_async(self: &Arc<Self>) -> AcquireOwned<N>
    where
        N: 'static,
    {
        AcquireOwned::new(Arc::clone(self), 1)
    }

    /// [`acquire_many`](Self::acquire_many) for tasks. It is as cancel safe as
    /// [`acquire_async`](Self::acquire_async).
    ///
    /// # Errors
    /// Returns an error if the slots are closed, if `places` is 0, or if there are fewer than
    /// `places` places.
    pub fn acquire_many_async(&self, places: usize) -> AcquireMany<'_, N> {
        AcquireMany::new(self, places)
    }

    /// [`acquire_many_async`](Self::acquire_many_async) with a guard that owns a reference to the
    /// slots.
    ///
    /// # Errors
    /// The same as for [`acquire_many_async`](Self::acquire_many_async).
    pub fn acquire_many_owned_async(self: &Arc<Self>, places: usize) -> AcquireManyOwned<N>
    where
        N: 'static,
    {
        AcquireManyOwned::new(Arc::clone(self), places)
    }
}

/// Checks that at least one place is asked for: a guard of no place would have no slot.
fn some(places: usize) -> Result<u64, Nothing> {
    if places == 0 { Err(Nothing) } else { Ok(places as u64) }
}

#[cold]
fn only_closed(why: Refused) -> Closed {
    match why {
        Refused::Closed => Closed,
        Refused::TooMany(_) => unreachable!("one place is never too many"),
    }
}

/// The tries of an unfair newcomer before it gets in line. The pause before a try grows with its
/// number, and the shortest pauses only disturb holders.
const TRIES: Range<u32> = 4..36;

/// A process that has drawn what it needs to wait in line.
#[derive(Debug)]
pub struct PlaceInLine {
    pub(super) drawn: Drawn,
    pub(super) units: u64,
    pub(super) attempt: Attempt,
}

impl<N: Numbering> WaysIn for Slots<N> {
    /// The number of places.
    type Wish = u64;
    type Place = PlaceInLine;
    type Inside = Grant;
    type Refusal = Refused;
    const LEARNS: bool = true;

    fn policy(&self) -> Policy {
        self.manners.policy
    }

    #[inline(always)]
    fn at_once(&self, units: u64) -> Result<Option<Grant>, Refused> {
        if N::PASSES
            && let Some(tray) = self.tray()
        {
            return match self.text.begin_passing_now(&ANYONE, tray, units, false) {
                Entered::Inside(grant) => Ok(Some(grant)),
                Entered::Not(drawn) => self.help_first(drawn, units),
                Entered::NoPlace => Ok(None),
                Entered::Refused(why) => Err(why),
            };
        }
        match self.text.begin_at_once_now(&ANYONE, units, false) {
            Entered::Inside(grant) => Ok(Some(grant)),
            Entered::Not(drawn) => self.help_first(drawn, units),
            Entered::NoPlace => Ok(None),
            Entered::Refused(why) => Err(why),
        }
    }

    /// Draws a ticket. A newcomer that need not be fair first tries to take a free place.
    #[inline(always)]
    fn begin(&self, units: u64) -> Begun<Self> {
        if N::PASSES
            && let Some(tray) = self.tray()
        {
            return begun(self.text.begin_passing_now(&ANYONE, tray, units, true), units);
        }
        if self.manners.unfair {
            return begun(self.text.begin_at_once_now(&ANYONE, units, true), units);
        }
        begun(self.text.begin_now(&ANYONE, units), units)
    }

    /// Continues for a newcomer that has tried once.
    fn line_up(&self, units: u64, may_pause: bool) -> Begun<Self> {
        let tray = self.tray();
        if (self.manners.unfair || tray.is_some()) && may_pause {
            match self.barge(units) {
                Ok(Some(grant)) => return Begun::Inside(grant),
                Ok(None) => {}
                Err(why) => return Begun::Refused(why),
            }
        }
        if tray.is_some() {
            let drawn = sure(now(self.text.draw_passing(&ANYONE, units)));
            return Begun::Waits(PlaceInLine { drawn, units, attempt: Attempt::default() });
        }
        begun(self.text.begin_now(&ANYONE, units), units)
    }

    async fn wait(
        &self,
        p: &Process<Native>,
        PlaceInLine { drawn, units, attempt }: &mut PlaceInLine,
    ) -> Result<Option<Grant>, Failure<Infallible, Refused>> {
        self.text.go_on_unless_closed(p, self.tray(), *drawn, *units, attempt, true).await
    }

    fn give_up(&self, p: &Process<Native>, place: PlaceInLine) -> Option<Grant> {
        self.text.leave_unless_closed_now(p, self.tray(), place.attempt)
    }

    fn leave(&self, grant: Grant) {
        sure(now(self.text.give_back(&ANYONE, self.tray(), grant.holding)));
    }
}

#[inline(always)]
pub(super) fn begun<N: Numbering>(entered: Entered, units: u64) -> Begun<Slots<N>> {
    match entered {
        Entered::Inside(grant) => Begun::Inside(grant),
        Entered::Not(drawn) => Begun::Waits(PlaceInLine { drawn, units, attempt: Attempt::default() }),
        Entered::NoPlace => Begun::Outside,
        Entered::Refused(why) => Begun::Refused(why),
    }
}

impl<N: Numbering> Slots<N> {
    /// Tries to take a free place, again and again, for a thread that is not in line yet.
    fn barge(&self, units: u64) -> Result<Option<Grant>, Refused> {
        let p = someone(self.policy());
        let mut away = Away::new(self.stamps());
        for tried in TRIES {
            away.pause();
            let entered = now(self.text.barge_unless_closed(&p, self.tray(), units, tried..tried + 1));
            if let Some(grant) = entered.map_err(refused)? {
                return Ok(Some(grant));
            }
            away = away.after(self.stamps());
            if away.is_over() {
                break;
            }
        }
        Ok(None)
    }

    /// Enters with a ticket that is already good for a place. The callers in line before it must be
    /// helped first.
    #[cold]
    #[inline(never)]
    fn help_first(&self, drawn: Drawn, units: u64) -> Result<Option<Grant>, Refused> {
        let (p, attempt) = (someone(self.policy()), &mut Attempt::default());
        now(self.text.go_on_unless_closed(&p, self.tray(), drawn, units, attempt, false)).map_err(refused)
    }
}
