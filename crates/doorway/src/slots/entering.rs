//! The ways in. What is done is the text's; how the process waits is native memory's.

use super::errors::Nothing;
use super::{
    ANYONE, Acquire, AcquireError, AcquireMany, AcquireManyOwned, AcquireOwned, AcquireTimeoutError, Numbering,
    OwnedSlotGuard, Permit, SlotGuard, Slots, TryAcquireError,
};
use crate::native::{Begun, Native, WaysIn, now, refused, someone, sure, ways_in};
use crate::waiting::Policy;
use doorway_core::Failure;
use doorway_core::k_assignment::{Entered, Grant};
use doorway_core::k_exclusion::KExclusion;
use doorway_core::k_exclusion::bypass::Tray;
use doorway_core::k_exclusion::turnstile::{Attempt, Closed, Drawn, Refused};
use doorway_core::memory::Process;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

ways_in! {
    impl [N: Numbering] Slots<N> as slots;
    SlotGuard<'_, N>, OwnedSlotGuard<N>: "It can go anywhere.";

    /// Waits until there is a place.
    ///
    /// | | |
    /// |---|---|
    /// | fairness | in the order of arrival |
    /// | blocking | spins briefly, then sleeps; in a task, take [`acquire_async`](Self::acquire_async) |
    /// | cost | two read-modify-writes and a few loads if there is a place; one without numbers |
    ///
    /// ```
    /// let slots = doorway::Slots::new(2)?;
    /// let guard = slots.acquire()?;
    /// assert_eq!(guard.slot(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If it is closed.
    acquire, acquire_owned() -> Closed = |_| {
        let grant = slots.enter_as_thread(1).map_err(only_closed)?;
        Ok(Permit::new(slots, grant))
    };

    /// Takes a place if one is free, and nobody is in line; with a [bypass](Self::bypass), if the bound allows to pass.
    ///
    /// ```
    /// use doorway::{Slots, TryAcquireError};
    /// let slots = Slots::new(1)?;
    /// let _held = slots.try_acquire()?;
    /// assert_eq!(slots.try_acquire().unwrap_err(), TryAcquireError::NoPlace);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If none is free, or if it is closed.
    try_acquire, try_acquire_owned() -> TryAcquireError = |_| {
        let grant = slots.at_once(1)?.ok_or(TryAcquireError::NoPlace)?;
        Ok(Permit::new(slots, grant))
    };

    /// Waits until there is a place, but no longer than this. With a timeout of zero it is [`try_acquire`](Self::try_acquire).
    ///
    /// Fair as [`acquire`](Self::acquire) is. Running out of time is exact: it gives its place in line up, and if it was let in at that very moment, it has its guard.
    ///
    /// ```
    /// use doorway::{Slots, AcquireTimeoutError};
    /// use std::time::Duration;
    /// let slots = Slots::new(1)?;
    /// let _held = slots.acquire()?;
    /// assert_eq!(slots.acquire_timeout(Duration::from_millis(1)).unwrap_err(), AcquireTimeoutError::TimedOut);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the time runs out, or if it is closed.
    acquire_timeout, acquire_timeout_owned(timeout: Duration) -> AcquireTimeoutError = |_| {
        let grant = slots.enter_within(1, timeout)?.ok_or(AcquireTimeoutError::TimedOut)?;
        Ok(Permit::new(slots, grant))
    };

    /// [`acquire_timeout`](Self::acquire_timeout) until a point in time.
    ///
    /// # Errors
    /// If the time comes, or if it is closed.
    acquire_deadline, acquire_deadline_owned(deadline: Instant) -> AcquireTimeoutError = |_| {
        let grant = slots.enter_until(1, deadline)?.ok_or(AcquireTimeoutError::TimedOut)?;
        Ok(Permit::new(slots, grant))
    };

    /// Waits until there are so many places at once.
    ///
    /// They are taken in line, by consecutive tickets: two who want two of two cannot block each other. Who comes after one that waits for many waits with it. In the order of arrival; but while
    /// others arrive at the same instant, one who wants several may have to try again to get into the line.
    ///
    /// ```
    /// use doorway::{AcquireError, Slots};
    /// let slots = Slots::new(3)?;
    /// let two = slots.acquire_many(2)?;
    /// assert_eq!(two.slots(), [0, 1]);
    /// assert!(matches!(slots.acquire_many(4), Err(AcquireError::TooMany(_)))); // it would wait for ever
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If it is closed, if no place was asked for, or if there are not as many places; also if [that becomes so](Self#when-places-go) while it waits.
    acquire_many, acquire_many_owned(places: usize) -> AcquireError = |_| {
        let grant = slots.enter_as_thread(some(places)?)?;
        Ok(Permit::new(slots, grant))
    };

    /// Takes so many places if they are free, and nobody is in line.
    ///
    /// # Errors
    /// If too few are free or exist, if no place was asked for, or if it is closed.
    try_acquire_many, try_acquire_many_owned(places: usize) -> TryAcquireError = |_| {
        let grant = slots.at_once(some(places)?)?.ok_or(TryAcquireError::NoPlace)?;
        Ok(Permit::new(slots, grant))
    };

    /// Waits until there are so many places at once, but no longer than this.
    ///
    /// # Errors
    /// If the time runs out, if there are not as many places, if no place was asked for, or if it is closed.
    acquire_many_timeout, acquire_many_timeout_owned(places: usize, timeout: Duration) -> AcquireTimeoutError = |_| {
        let grant = slots.enter_within(some(places)?, timeout)?.ok_or(AcquireTimeoutError::TimedOut)?;
        Ok(Permit::new(slots, grant))
    };

    /// [`acquire_many_timeout`](Self::acquire_many_timeout) until a point in time.
    ///
    /// # Errors
    /// If the time comes, if there are not as many places, if no place was asked for, or if it is closed.
    acquire_many_deadline, acquire_many_deadline_owned(places: usize, deadline: Instant) -> AcquireTimeoutError = |_| {
        let grant = slots.enter_until(some(places)?, deadline)?.ok_or(AcquireTimeoutError::TimedOut)?;
        Ok(Permit::new(slots, grant))
    };
}

impl<N: Numbering> Slots<N> {
    /// [`acquire`](Self::acquire) for tasks, on any executor. For a time limit, take the executor's own: to drop the future is exact.
    ///
    /// # Cancel safety
    /// To drop the future is to give up, at any point, and exact. It does not get its place in line back by being polled again elsewhere. A future that has been polled
    /// must be polled to its end or dropped: one that is leaked (`mem::forget`, a cycle of `Arc`s) counts as a process that died in line, and takes a place along when its turn comes.
    ///
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
    ///
    /// # Errors
    /// If it is closed.
    pub fn acquire_async(&self) -> Acquire<'_, N> {
        Acquire::new(self, 1)
    }

    /// [`acquire_async`](Self::acquire_async) with a guard that owns.
    ///
    /// # Errors
    /// The same.
    pub fn acquire_owned_async(self: &Arc<Self>) -> AcquireOwned<N>
    where
        N: 'static,
    {
        AcquireOwned::new(Arc::clone(self), 1)
    }

    /// [`acquire_many`](Self::acquire_many) for tasks. Cancel-safe as [`acquire_async`](Self::acquire_async) is.
    ///
    /// # Errors
    /// If it is closed, if no place was asked for, or if there are not as many places.
    pub fn acquire_many_async(&self, places: usize) -> AcquireMany<'_, N> {
        AcquireMany::new(self, places)
    }

    /// [`acquire_many_async`](Self::acquire_many_async) with a guard that owns.
    ///
    /// # Errors
    /// The same.
    pub fn acquire_many_owned_async(self: &Arc<Self>, places: usize) -> AcquireManyOwned<N>
    where
        N: 'static,
    {
        AcquireManyOwned::new(Arc::clone(self), places)
    }
}

/// A guard holds something: a guard of nothing would have no slot.
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

/// How often a newcomer tries that is not fair, before it gets in line.
const TRIES: u32 = 41;

/// A process that has drawn what it needs to wait in line.
#[derive(Debug)]
pub struct PlaceInLine {
    pub(super) drawn: Drawn,
    pub(super) units: u64,
    pub(super) attempt: Attempt,
}

impl<N: Numbering> WaysIn for Slots<N> {
    /// How many units.
    type Wish = u64;
    type Place = PlaceInLine;
    type Inside = Grant;
    type Refusal = Refused;

    fn policy(&self) -> Policy {
        self.text.beside().policy
    }

    #[inline(always)]
    fn at_once(&self, units: u64) -> Result<Option<Grant>, Refused> {
        if N::PASSES
            && let Some(tray) = self.tray()
        {
            return match self.text.begin_passing_now(&ANYONE, tray, units, false) {
                Entered::Inside(grant) => self.unless_closed(grant).map(Some),
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

    /// It draws a ticket. Newcomers that need not be fair try first to take what is free.
    #[inline(always)]
    fn begin(&self, units: u64) -> Begun<Self> {
        if N::PASSES
            && let Some(tray) = self.tray()
        {
            return self.begun_passing(begun(self.text.begin_passing_now(&ANYONE, tray, units, true), units));
        }
        if self.text.beside().unfair {
            return begun(self.text.begin_at_once_now(&ANYONE, units, true), units);
        }
        begun(self.text.begin_now(&ANYONE, units), units)
    }

    /// A newcomer that has tried once.
    fn line_up(&self, units: u64, may_pause: bool) -> Begun<Self> {
        if let Some(tray) = self.tray() {
            return self.line_up_passing(tray, units, may_pause);
        }
        if self.text.beside().unfair && may_pause {
            match now(self.text.barge(&someone(self.policy()), units, 1..TRIES)).map_err(refused) {
                Ok(Some(grant)) => return Begun::Inside(grant),
                Ok(None) => {}
                Err(why) => return Begun::Refused(why),
            }
        }
        begun(self.text.begin_now(&ANYONE, units), units)
    }

    async fn wait(
        &self,
        p: &Process<Native>,
        PlaceInLine { drawn, units, attempt }: &mut PlaceInLine,
    ) -> Result<Option<Grant>, Failure<Infallible, Refused>> {
        let entered = match self.tray() {
            Some(tray) => self.text.go_on_passing(p, tray, *drawn, *units, attempt, true).await,
            None => self.text.go_on(p, *drawn, *units, attempt, true).await,
        };
        match entered? {
            Some(grant) => self.unless_closed(grant).map(Some).map_err(Failure::Refused),
            None => Ok(None),
        }
    }

    fn give_up(&self, p: &Process<Native>, place: PlaceInLine) -> Option<Grant> {
        self.withdraw(p, place.attempt).and_then(|grant| self.unless_closed(grant).ok())
    }

    fn leave(&self, grant: Grant) {
        sure(match self.tray() {
            Some(tray) => now(self.text.release_passing(&ANYONE, tray, grant)),
            None => now(self.text.release(&ANYONE, grant)),
        });
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
    /// What a caller that had to wait gets. The text promises that nobody waits for ever where it is closed, and lets in
    /// the first in line if a holder leaves before that one notices. Here a caller that is let in after it was closed gives
    /// its place back: when `close` has returned, no waiter gets in.
    #[inline]
    pub(super) fn unless_closed(&self, grant: Grant) -> Result<Grant, Refused> {
        if !self.is_closed() {
            return Ok(grant);
        }
        self.leave(grant);
        Err(Refused::Closed)
    }

    /// Gives a place in line up. `Some` if it was let in before that.
    pub(super) fn withdraw(&self, p: &Process<Native>, attempt: Attempt) -> Option<Grant> {
        match self.tray() {
            Some(tray) => sure(now(self.text.leave_passing(p, tray, attempt))),
            None => self.text.withdraw_now(p, attempt),
        }
    }

    /// As good as inside: those in line before it must be helped.
    #[cold]
    #[inline(never)]
    fn help_first(&self, drawn: Drawn, units: u64) -> Result<Option<Grant>, Refused> {
        if N::PASSES
            && let Some(tray) = self.tray()
        {
            let (p, attempt) = (someone(self.policy()), &mut Attempt::default());
            return now(self.text.go_on_passing(&p, tray, drawn, units, attempt, false)).map_err(refused);
        }
        now(self.text.go_on(&someone(self.policy()), drawn, units, &mut Attempt::default(), false)).map_err(refused)
    }

    /// What a newcomer gets that may have passed a line: what lies in the tray says nothing of closing.
    #[inline]
    fn begun_passing(&self, begun: Begun<Self>) -> Begun<Self> {
        match begun {
            Begun::Inside(grant) => self.unless_closed(grant).map_or_else(Begun::Refused, Begun::Inside),
            other => other,
        }
    }

    /// A newcomer that has tried once, and may pass those in line. One that asks for several passes nobody.
    fn line_up_passing(&self, tray: &Tray<Native>, units: u64, may_pause: bool) -> Begun<Self> {
        if units == 1 && may_pause {
            match now(self.text.barge_passing(&someone(self.policy()), tray, 1..TRIES)).map_err(refused) {
                Ok(Some(grant)) => return self.begun_passing(Begun::Inside(grant)),
                Ok(None) => {}
                Err(why) => return Begun::Refused(why),
            }
        }
        let drawn = sure(now(self.text.draw_passing(&ANYONE, units)));
        Begun::Waits(PlaceInLine { drawn, units, attempt: Attempt::default() })
    }
}
