//! The ways in.

use super::{AcquireError, Numbering, Permit, Slots, TimeoutError, TryAcquireError, sure};
use crate::native::{Native, now};
use doorway_core::Failure;
use doorway_core::k_exclusion::turnstile::{Attempt, Closed, Drawn, Held, Tried, Turnstile};
use doorway_core::k_exclusion::{Abortable, KExclusion};
use doorway_core::memory::{Pid, Process};
use std::ops::Deref;
use std::time::{Duration, Instant};

#[inline(always)]
pub(super) fn acquire<N: Numbering, S: Deref<Target = Slots<N>>>(slots: S) -> Result<Permit<S, N>, Closed> {
    let held = slots.enter(1)?;
    Ok(Permit::one(slots, held))
}

#[inline(always)]
pub(super) fn try_acquire<N: Numbering, S: Deref<Target = Slots<N>>>(
    slots: S,
) -> Result<Permit<S, N>, TryAcquireError> {
    let held = slots.enter_at_once(1)?;
    Ok(Permit::one(slots, held))
}

pub(super) fn acquire_timeout<N: Numbering, S: Deref<Target = Slots<N>>>(
    slots: S,
    timeout: Duration,
) -> Result<Permit<S, N>, TimeoutError> {
    let held = slots.enter_within(1, timeout)?;
    Ok(Permit::one(slots, held))
}

pub(super) fn acquire_deadline<N: Numbering, S: Deref<Target = Slots<N>>>(
    slots: S,
    deadline: Instant,
) -> Result<Permit<S, N>, TimeoutError> {
    let held = slots.enter_until(1, deadline)?;
    Ok(Permit::one(slots, held))
}

pub(super) fn acquire_many<N: Numbering, S: Deref<Target = Slots<N>>>(
    slots: S,
    places: usize,
) -> Result<Permit<S, N>, AcquireError> {
    let held = slots.enter(slots.check(places)?)?;
    Ok(Permit::many(slots, held))
}

pub(super) fn try_acquire_many<N: Numbering, S: Deref<Target = Slots<N>>>(
    slots: S,
    places: usize,
) -> Result<Permit<S, N>, TryAcquireError> {
    let held = slots.enter_at_once(slots.check(places)?)?;
    Ok(Permit::many(slots, held))
}

pub(super) fn acquire_many_timeout<N: Numbering, S: Deref<Target = Slots<N>>>(
    slots: S,
    places: usize,
    timeout: Duration,
) -> Result<Permit<S, N>, TimeoutError> {
    let held = slots.enter_within(slots.check(places)?, timeout)?;
    Ok(Permit::many(slots, held))
}

pub(super) fn acquire_many_deadline<N: Numbering, S: Deref<Target = Slots<N>>>(
    slots: S,
    places: usize,
    deadline: Instant,
) -> Result<Permit<S, N>, TimeoutError> {
    let held = slots.enter_until(slots.check(places)?, deadline)?;
    Ok(Permit::many(slots, held))
}

const NOTHING: Held = Held { units: 0, announced: false };

pub(super) async fn acquire_async<N: Numbering, S: Deref<Target = Slots<N>>>(
    slots: S,
    units: u64,
) -> Result<Permit<S, N>, Closed> {
    let held = slots.enter_async(units).await?;
    Ok(if units == 1 { Permit::one(slots, held) } else { Permit::many(slots, held) })
}

impl<N: Numbering> Slots<N> {
    #[inline(always)]
    fn enter(&self, units: u64) -> Result<Held, Closed> {
        if self.unfair || units == 0 {
            return self.enter_unfairly(units);
        }
        match self.draw(units) {
            Drawn::Inside(held) => Ok(held),
            drawn => self.wait(drawn, units),
        }
    }

    /// Those who try first.
    #[inline]
    fn enter_unfairly(&self, units: u64) -> Result<Held, Closed> {
        match self.try_once(units)? {
            Some(held) => Ok(held),
            None => self.barge(units),
        }
    }

    #[cold]
    fn barge(&self, units: u64) -> Result<Held, Closed> {
        for turn in 0..TRIES {
            if turn < SPINS {
                (0..1 << turn.min(6)).for_each(|_| std::hint::spin_loop());
            } else {
                std::thread::yield_now();
            }
            if let Some(held) = self.try_once(units)? {
                return Ok(held);
            }
        }
        match self.draw(units) {
            Drawn::Inside(held) => Ok(held),
            drawn => self.wait(drawn, units),
        }
    }

    #[inline]
    fn try_once(&self, units: u64) -> Result<Option<Held>, Closed> {
        self.draw_if_enabled(units, true)
    }

    #[inline]
    fn draw_if_enabled(&self, units: u64, once: bool) -> Result<Option<Held>, Closed> {
        if units == 0 {
            return if self.is_closed() { Err(Closed) } else { Ok(Some(NOTHING)) };
        }
        match self.line.draw_if_enabled_now(&self.anyone, units, once) {
            Tried::Drawn(Drawn::Inside(held)) => Ok(Some(held)),
            Tried::Drawn(drawn) => self.wait(drawn, units).map(Some),
            Tried::NoPlace => Ok(None),
            Tried::Closed => Err(Closed),
        }
    }

    #[inline]
    fn enter_at_once(&self, units: u64) -> Result<Held, TryAcquireError> {
        self.draw_if_enabled(units, false)?.ok_or(TryAcquireError::NoPlace)
    }

    fn enter_within(&self, units: u64, timeout: Duration) -> Result<Held, TimeoutError> {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.enter_until(units, deadline),
            None => Ok(self.enter(units)?), // beyond the end of time
        }
    }

    fn enter_until(&self, units: u64, deadline: Instant) -> Result<Held, TimeoutError> {
        if let Some(held) = self.draw_if_enabled(units, false)? {
            return Ok(held);
        }
        if Instant::now() >= deadline {
            return Err(TimeoutError::TimedOut);
        }
        match self.draw(units) {
            Drawn::Inside(held) => Ok(held),
            drawn => self.wait_until(drawn, units, Some(deadline))?.ok_or(TimeoutError::TimedOut),
        }
    }

    fn wait(&self, drawn: Drawn, units: u64) -> Result<Held, Closed> {
        let held = self.wait_until(drawn, units, None)?;
        Ok(held.expect("nobody gives up who has no deadline"))
    }

    /// One that has to wait, with a handle of its own.
    fn waits(&self) -> Process<Native> {
        Process::new(Pid::new(0), Native::new().with_policy(self.policy))
    }

    #[cold]
    #[inline(never)]
    fn wait_until(&self, drawn: Drawn, units: u64, deadline: Option<Instant>) -> Result<Option<Held>, Closed> {
        let p = self.waits();
        p.memory().give_up_at(deadline);
        let mut attempt = Attempt::default();
        match now(self.line.enter(&p, drawn, units, &mut attempt, deadline.is_some())) {
            Ok(Some(held)) => Ok(Some(held)),
            // Let in at the last moment, it is in.
            Ok(None) => Ok(sure(now(self.line.leave(&p, attempt)))),
            Err(Failure::Refused(closed)) => Err(closed),
            Err(Failure::Memory(impossible)) => match impossible {},
        }
    }

    async fn enter_async(&self, units: u64) -> Result<Held, Closed> {
        if (self.unfair || units == 0)
            && let Some(held) = self.try_once(units)?
        {
            return Ok(held);
        }
        let drawn = self.draw(units);
        if let Drawn::Inside(held) = drawn {
            return Ok(held);
        }
        let mut waits = Waits { line: &self.line, p: self.waits(), attempt: Attempt::default() };
        waits.p.memory().wait_as_task(true);
        let Waits { p, attempt, .. } = &mut waits;
        match self.line.enter(p, drawn, units, attempt, false).await {
            Ok(Some(held)) => {
                waits.attempt = Attempt::Outside;
                Ok(held)
            }
            Ok(None) => unreachable!("nobody asks it to give up"),
            Err(Failure::Refused(closed)) => Err(closed),
            Err(Failure::Memory(impossible)) => match impossible {},
        }
    }
}

/// How often one tries that is not fair, before it gets in line.
const TRIES: u32 = 40;
/// So many of these times it spins in between, and then yields.
const SPINS: u32 = 7;

/// A task that waits. If it is dropped before it is let in, it gives up.
struct Waits<'a> {
    line: &'a Turnstile<Native>,
    p: Process<Native>,
    attempt: Attempt,
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        let attempt = std::mem::take(&mut self.attempt);
        if attempt == Attempt::Outside {
            return;
        }
        self.p.memory().wait_as_task(false);
        if let Some(held) = sure(now(self.line.leave(&self.p, attempt))) {
            sure(now(self.line.release(&self.p, held)));
        }
    }
}
