//! The futures of tasks that ask for places.
//!
//! The text runs as far as it can without waiting. From then on, only its place in line is kept,
//! and each poll is one turn of the wait. So a future is small, and allocates nothing.

use super::entering::PlaceInLine;
use super::numbers::Elsewhere;
use super::{ANYONE, AcquireError, Numbered, Numbering, OwnedSlotGuard, Permit, SlotGuard, Slots};
use crate::native::{Begun, Wakes, WaysIn, now, refused, sure};
use doorway_core::k_assignment::Grant;
use doorway_core::k_exclusion::turnstile::{Attempt, Closed, Refused};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A task that asks for places.
struct Asks<'a, S: Deref<Target = Slots<N>>, N: Numbering> {
    /// `None` once it is part of a guard.
    slots: Option<S>,
    state: State<'a>,
    numbering: PhantomData<fn() -> N>,
}

enum State<'a> {
    /// Has not asked for this many places yet.
    Outside(u64),
    /// In line for one place.
    InLine(Attempt, Wakes),
    /// Waits for several variables, or in front of the line: that needs more state than is kept
    /// here.
    Elsewhere(Elsewhere<'a>),
    /// Has its answer.
    Done,
}

impl<'a, S, N> Asks<'a, S, N>
where
    S: Deref<Target = Slots<N>> + Clone + Send + 'a,
    N: Numbering + 'a,
{
    fn new(slots: S, places: u64) -> Self {
        Self { slots: Some(slots), state: State::Outside(places), numbering: PhantomData }
    }

    #[inline]
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Permit<S, N>, AcquireError>> {
        let Some(slots) = &self.slots else { panic!("this future was polled again after it was ready") };
        if let State::Outside(places) = self.state {
            // If anything panics, the task is not in line.
            match std::mem::replace(&mut self.state, State::Done).begin(slots, places) {
                Ok(Begins::Inside(grant)) => return self.ends(Ok(grant)),
                Ok(Begins::Waits(state)) => self.state = state,
                Err(why) => return self.ends(Err(why)),
            }
        }
        let Some(slots) = &self.slots else { unreachable!("it has not ended") };
        let told = match &mut self.state {
            State::InLine(attempt, wakes) => turn(slots, attempt, wakes, context),
            State::Elsewhere(future) => future.as_mut().poll(context),
            State::Outside(_) | State::Done => unreachable!("it has begun, and not ended"),
        };
        match told {
            Poll::Ready(told) => self.ends(told.map_err(AcquireError::from)),
            Poll::Pending => Poll::Pending,
        }
    }

    #[inline]
    fn ends(&mut self, told: Result<Grant, AcquireError>) -> Poll<Result<Permit<S, N>, AcquireError>> {
        self.state = State::Done;
        let Some(slots) = self.slots.take() else { unreachable!("it ends once") };
        Poll::Ready(told.map(|grant| Permit::new(slots, grant)))
    }
}

/// How far a task comes without waiting.
enum Begins<'a> {
    Inside(Grant),
    Waits(State<'a>),
}

impl<'a> State<'a> {
    /// Enters, if this is possible without waiting. Otherwise it is in line afterwards.
    #[inline]
    fn begin<S, N>(self, slots: &S, places: u64) -> Result<Begins<'a>, AcquireError>
    where
        S: Deref<Target = Slots<N>> + Clone + Send + 'a,
        N: Numbering + 'a,
    {
        if places == 0 {
            return Err(AcquireError::Nothing);
        }
        let mut begun = slots.begin(places);
        let PlaceInLine { drawn, units, mut attempt } = loop {
            begun = match begun {
                Begun::Inside(grant) => return Ok(Begins::Inside(grant)),
                Begun::Refused(why) => return Err(why.into()),
                Begun::Outside => slots.line_up(places, false),
                Begun::Waits(place) => break place,
            };
        };
        if units > 1 || drawn.is_kept() {
            let (slots, place) = (slots.clone(), PlaceInLine { drawn, units, attempt });
            return Ok(Begins::Waits(Self::Elsewhere(N::wait_elsewhere(slots, place))));
        }
        let stands = now(slots.text.stand_unless_closed(&ANYONE, slots.tray(), drawn, units, &mut attempt));
        let stands = stands.map_err(refused)?;
        Ok(stands.map_or_else(|| Begins::Waits(Self::InLine(attempt, Wakes::default())), Begins::Inside))
    }
}

/// Runs one turn of the wait in line. If the wait is not over, the task will be woken.
#[inline]
fn turn<N: Numbering>(
    slots: &Slots<N>,
    attempt: &mut Attempt,
    wakes: &mut Wakes,
    context: &mut Context<'_>,
) -> Poll<Result<Grant, Refused>> {
    let (t, record) = slots.text.place(attempt).expect("it is in line for one place");
    let alarm = record.alarm().expect("one process waits for a record at a time");
    let told = || {
        sure(match slots.tray() {
            Some(tray) => now(slots.text.turn_passing(&ANYONE, tray, (t, record), attempt)),
            None => now(slots.text.turn(&ANYONE, t, record)),
        })
    };
    let mut fate = told();
    if fate.is_none() {
        let looks_again = || {
            fate = told();
            fate.is_some()
        };
        if wakes.poll(alarm, context.waker(), looks_again).is_pending() {
            return Poll::Pending;
        }
    }
    wakes.end(alarm);
    let fate = fate.expect("its wait is over");
    let entered = slots.text.enter_in_turn_unless_closed(&ANYONE, slots.tray(), attempt, fate);
    Poll::Ready(now(entered).map_err(refused))
}

/// Dropping it gives up.
impl<S: Deref<Target = Slots<N>>, N: Numbering> Drop for Asks<'_, S, N> {
    fn drop(&mut self) {
        let (State::InLine(attempt, wakes), Some(slots)) = (&mut self.state, &self.slots) else { return };
        if let Some(alarm) = slots.text.place(attempt).and_then(|(_, record)| record.alarm()) {
            wakes.end(alarm);
        }
        if let Some(grant) = slots.withdraw(&ANYONE, *attempt) {
            slots.leave(grant);
        }
    }
}

macro_rules! futures {
    ($($(#[$doc:meta])* $name:ident [$($a:lifetime)?] $slots:ty: $of:lifetime => $guard:ty, $error:ty, $why:expr;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Cancel safety
            /// Cancel safe. Dropping the future gives up exactly, at any point.
            ///
            /// # Panics
            /// Panics if it is polled again after it was ready.
            #[must_use = "futures do nothing unless polled"]
            pub struct $name<$($a,)? N: Numbering + $of = Numbered>(Asks<$of, $slots, N>);

            impl<$($a,)? N: Numbering + $of> $name<$($a,)? N> {
                pub(super) fn new(slots: $slots, places: usize) -> Self {
                    Self(Asks::new(slots, places as u64))
                }
            }

            impl<$($a,)? N: Numbering + $of> fmt::Debug for $name<$($a,)? N> {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    let waits = !matches!(self.0.state, State::Outside(_) | State::Done);
                    f.debug_struct(stringify!($name)).field("waits", &waits).finish_non_exhaustive()
                }
            }

            impl<$($a,)? N: Numbering + $of> Future for $name<$($a,)? N> {
                type Output = Result<$guard, $error>;

                #[inline]
                fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
                    self.0.poll(context).map(|told| told.map_err($why))
                }
            }
        )*
    };
}

/// Why a request for one place was refused.
#[cold]
pub(super) fn closed(why: AcquireError) -> Closed {
    match why {
        AcquireError::Closed => Closed,
        AcquireError::TooMany(_) | AcquireError::Nothing => {
            unreachable!("it asks for one place, of which there are some")
        }
    }
}

futures! {
    /// Waits for a place: the return type of [`Slots::acquire_async`].
    Acquire ['a] &'a Slots<N>: 'a => SlotGuard<'a, N>, Closed, closed;
    /// Waits for a place, with a guard that owns a reference: the return type of
    /// [`Slots::acquire_owned_async`].
    AcquireOwned [] Arc<Slots<N>>: 'static => OwnedSlotGuard<N>, Closed, closed;
    /// Waits for several places at once: the return type of [`Slots::acquire_many_async`].
    AcquireMany ['a] &'a Slots<N>: 'a => SlotGuard<'a, N>, AcquireError, |why| why;
    /// Waits for several places at once, with a guard that owns a reference: the return type of
    /// [`Slots::acquire_many_owned_async`].
    AcquireManyOwned [] Arc<Slots<N>>: 'static => OwnedSlotGuard<N>, AcquireError, |why| why;
}
