//! The ways in. What is done is the text's; here are threads, tasks and clocks.

use super::errors::Nothing;
use super::{AcquireError, Numbering, Permit, Slots, TimeoutError, TryAcquireError, sure};
use crate::native::{Native, now};
use doorway_core::Failure;
use doorway_core::k_assignment::{Entered, Grant};
use doorway_core::k_exclusion::turnstile::{Attempt, Closed, Drawn, Refused};
use doorway_core::k_exclusion::{Abortable, KExclusion};
use doorway_core::memory::{Pid, Process};
use std::convert::Infallible;
use std::ops::Deref;
use std::time::{Duration, Instant};

#[inline(always)]
pub(super) fn acquire<N: Numbering, S: Deref<Target = Slots<N>>>(slots: S) -> Result<Permit<S, N>, Closed> {
    let grant = slots.enter()?;
    Ok(Permit::new(slots, grant))
}

#[inline(always)]
pub(super) fn try_acquire<N: Numbering, S: Deref<Target = Slots<N>>>(
    slots: S,
) -> Result<Permit<S, N>, TryAcquireError> {
    let grant = slots.try_enter(1, false)?.ok_or(TryAcquireError::NoPlace)?;
    Ok(Permit::new(slots, grant))
}

pub(super) fn acquire_timeout<N: Numbering, S: Deref<Target = Slots<N>>>(
    slots: S,
    timeout: Duration,
) -> Result<Permit<S, N>, TimeoutError> {
    let grant = slots.enter_within(1, timeout)?;
    Ok(Permit::new(slots, grant))
}

pub(super) fn acquire_deadline<N: Numbering, S: Deref<Target = Slots<N>>>(
    slots: S,
    deadline: Instant,
) -> Result<Permit<S, N>, TimeoutError> {
    let grant = slots.enter_until(1, deadline)?;
    Ok(Permit::new(slots, grant))
}

pub(super) fn acquire_many<N: Numbering, S: Deref<Target = Slots<N>>>(
    slots: S,
    places: usize,
) -> Result<Permit<S, N>, AcquireError> {
    let grant = slots.enter_with(some(places)?)?;
    Ok(Permit::new(slots, grant))
}

pub(super) fn try_acquire_many<N: Numbering, S: Deref<Target = Slots<N>>>(
    slots: S,
    places: usize,
) -> Result<Permit<S, N>, TryAcquireError> {
    let grant = slots.try_enter(some(places)?, false)?.ok_or(TryAcquireError::NoPlace)?;
    Ok(Permit::new(slots, grant))
}

pub(super) fn acquire_many_timeout<N: Numbering, S: Deref<Target = Slots<N>>>(
    slots: S,
    places: usize,
    timeout: Duration,
) -> Result<Permit<S, N>, TimeoutError> {
    let grant = slots.enter_within(some(places)?, timeout)?;
    Ok(Permit::new(slots, grant))
}

pub(super) fn acquire_many_deadline<N: Numbering, S: Deref<Target = Slots<N>>>(
    slots: S,
    places: usize,
    deadline: Instant,
) -> Result<Permit<S, N>, TimeoutError> {
    let grant = slots.enter_until(some(places)?, deadline)?;
    Ok(Permit::new(slots, grant))
}

pub(super) async fn acquire_async<N: Numbering, S: Deref<Target = Slots<N>>>(slots: S) -> Result<Permit<S, N>, Closed> {
    let grant = slots.enter_async(1).await.map_err(only_closed)?;
    Ok(Permit::new(slots, grant))
}

pub(super) async fn acquire_many_async<N: Numbering, S: Deref<Target = Slots<N>>>(
    slots: S,
    places: usize,
) -> Result<Permit<S, N>, AcquireError> {
    let grant = slots.enter_async(some(places)?).await?;
    Ok(Permit::new(slots, grant))
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

fn refused<T>(result: Result<T, Failure<Infallible, Refused>>) -> Result<T, Refused> {
    result.map_err(|failure| match failure {
        Failure::Refused(why) => why,
        Failure::Memory(impossible) => match impossible {},
    })
}

/// What does not happen to a process that has begun.
#[cold]
fn not_a_try() -> ! {
    unreachable!("only a try ends so")
}

impl<N: Numbering> Slots<N> {
    /// One place.
    #[inline(always)]
    fn enter(&self) -> Result<Grant, Closed> {
        if self.unfair {
            return self.enter_unfairly();
        }
        match self.text.begin_now(&self.anyone, 1) {
            Entered::Inside(grant) => Ok(grant),
            entered => self.end_entering(entered, 1).map_err(only_closed),
        }
    }

    #[inline(always)]
    fn enter_unfairly(&self) -> Result<Grant, Closed> {
        match self.text.begin_at_once_now(&self.anyone, 1, true) {
            Entered::Inside(grant) => Ok(grant),
            entered => self.end_entering(entered, 1).map_err(only_closed),
        }
    }

    fn enter_with(&self, units: u64) -> Result<Grant, Refused> {
        let entered = if self.unfair {
            self.text.begin_at_once_now(&self.anyone, units, true)
        } else {
            self.text.begin_now(&self.anyone, units)
        };
        self.end_entering(entered, units)
    }

    #[cold]
    #[inline(never)]
    fn end_entering(&self, entered: Entered, units: u64) -> Result<Grant, Refused> {
        match entered {
            Entered::Inside(grant) => Ok(grant),
            Entered::Not(drawn) => Ok(self.go_on(drawn, units)?.expect(NEVER_ASKED)),
            Entered::NoPlace => self.barge(units),
            Entered::Refused(why) => Err(why),
        }
    }

    /// Newcomers that have tried once, and try again before they get in line.
    #[cold]
    #[inline(never)]
    fn barge(&self, units: u64) -> Result<Grant, Refused> {
        let p = self.waits();
        if let Some(grant) = refused(now(self.text.barge(&p, units, 1..TRIES)))? {
            return Ok(grant);
        }
        let grant = refused(now(self.text.acquire_in_turn(&p, units, &mut Attempt::default(), false)))?;
        Ok(grant.expect(NEVER_ASKED))
    }

    #[inline(always)]
    fn try_enter(&self, units: u64, once: bool) -> Result<Option<Grant>, Refused> {
        match self.text.begin_at_once_now(&self.anyone, units, once) {
            Entered::Inside(grant) => Ok(Some(grant)),
            Entered::Not(drawn) => self.go_on(drawn, units),
            Entered::NoPlace => Ok(None),
            Entered::Refused(why) => Err(why),
        }
    }

    fn enter_within(&self, units: u64, timeout: Duration) -> Result<Grant, TimeoutError> {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.enter_until(units, deadline),
            None => Ok(self.enter_with(units)?), // beyond the end of time
        }
    }

    fn enter_until(&self, units: u64, deadline: Instant) -> Result<Grant, TimeoutError> {
        if let Some(grant) = self.try_enter(units, false)? {
            return Ok(grant);
        }
        if Instant::now() >= deadline {
            return Err(TimeoutError::TimedOut);
        }
        let p = self.waits();
        p.memory().give_up_at(Some(deadline));
        let mut attempt = Attempt::default();
        let entered = refused(now(self.text.acquire_in_turn(&p, units, &mut attempt, true)))?;
        // A waiter that is let in at the last moment is in.
        entered.or_else(|| sure(now(self.text.leave(&p, attempt)))).ok_or(TimeoutError::TimedOut)
    }

    #[cold]
    #[inline(never)]
    fn go_on(&self, drawn: Drawn, units: u64) -> Result<Option<Grant>, Refused> {
        refused(now(self.text.go_on(&self.waits(), drawn, units, &mut Attempt::default(), false)))
    }

    /// A process that has to wait, with a handle of its own.
    fn waits(&self) -> Process<Native> {
        Process::new(Pid::new(0), Native::new().with_policy(self.policy))
    }

    async fn enter_async(&self, units: u64) -> Result<Grant, Refused> {
        if self.unfair
            && let Some(grant) = self.try_enter(units, true)?
        {
            return Ok(grant);
        }
        let drawn = match self.text.begin_now(&self.anyone, units) {
            Entered::Inside(grant) => return Ok(grant),
            Entered::Not(drawn) => drawn,
            Entered::NoPlace | Entered::Refused(_) => not_a_try(),
        };
        let mut waits = Waits { slots: self, p: self.waits(), attempt: Attempt::default() };
        waits.p.memory().wait_as_task(true);
        let Waits { p, attempt, .. } = &mut waits;
        let entered = self.text.go_on(p, drawn, units, attempt, false).await;
        waits.attempt = Attempt::Outside;
        Ok(refused(entered)?.expect(NEVER_ASKED))
    }
}

const NEVER_ASKED: &str = "nobody asks it to give up";

/// How often a newcomer tries that is not fair, before it gets in line.
const TRIES: u32 = 41;

/// A task that waits. If it is dropped before it is let in, it gives up.
struct Waits<'a, N: Numbering> {
    slots: &'a Slots<N>,
    p: Process<Native>,
    attempt: Attempt,
}

impl<N: Numbering> Drop for Waits<'_, N> {
    fn drop(&mut self) {
        let attempt = std::mem::take(&mut self.attempt);
        if attempt == Attempt::Outside {
            return;
        }
        self.p.memory().wait_as_task(false);
        if let Some(grant) = sure(now(self.slots.text.leave(&self.p, attempt))) {
            sure(now(self.slots.text.release(&self.p, grant)));
        }
    }
}
