//! The futures of tasks that ask for places.
//!
//! The text runs as far as it can without waiting. From then on, only its place in line is kept,
//! and each poll is one turn of the wait. So a future is small, and allocates nothing.

use super::entering::begun;
use super::numbers::Elsewhere;
use super::{ANYONE, AcquireError, Numbered, Numbering, OwnedSlotGuard, Permit, SlotGuard, Slots};
use crate::native::{Begun, Wakes, WaysIn, now, refused, sure};
use doorway_core::k_assignment::{Entered, Grant};
use doorway_core::k_exclusion::turnstile::{Attempt, Closed, Drawn, LinedUp};
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
        let told = match &mut self.state {
            State::InLine(attempt, wakes) => turn(slots, attempt, wakes, context, true),
            &mut State::Outside(places) => begin(slots, places, &mut self.state, context),
            State::Elsewhere(future) => future.as_mut().poll(context).map_err(AcquireError::from),
            State::Done => unreachable!("it has not ended"),
        };
        match told {
            Poll::Ready(told) => self.ends(told),
            Poll::Pending => Poll::Pending,
        }
    }

    #[inline]
    fn ends(&mut self, told: Result<Grant, AcquireError>) -> Poll<Result<Permit<S, N>, AcquireError>> {
        match &mut self.state {
            State::Elsewhere(_) => self.state = State::Done,
            state => state.becomes(State::Done),
        }
        let Some(slots) = self.slots.take() else { unreachable!("it ends once") };
        Poll::Ready(told.map(|grant| Permit::new(slots, grant)))
    }
}

/// Enters, if this is possible without waiting. Otherwise it waits, in the state that it leaves
/// behind.
///
/// This is the frequent case: one place, in the order of arrival. Everything is written where it
/// stays. A value that is written in pieces and then moved as a whole costs more than all the rest.
#[inline(always)]
fn begin<'a, S, N>(
    slots: &S,
    places: u64,
    state: &mut State<'a>,
    context: &mut Context<'_>,
) -> Poll<Result<Grant, AcquireError>>
where
    S: Deref<Target = Slots<N>> + Clone + Send + 'a,
    N: Numbering + 'a,
{
    if N::PASSES || places != 1 || slots.text.beside().unfair {
        return begin_otherwise(slots, places, None, state, context);
    }
    match slots.text.begin_now(&ANYONE, 1) {
        Entered::Inside(grant) => Poll::Ready(Ok(grant)),
        Entered::Not(Drawn::Waits(tickets)) => {
            let (attempt, wakes) = state.waits();
            match slots.text.line_up_now(&ANYONE, tickets, attempt) {
                LinedUp::InLine => turn(slots, attempt, wakes, context, false),
                LinedUp::Enabled(drawn) => {
                    begin_otherwise(slots, 1, Some(begun(Entered::Not(drawn), 1)), state, context)
                }
                LinedUp::Closed => Poll::Ready(Err(AcquireError::Closed)),
            }
        }
        entered => begin_otherwise(slots, 1, Some(begun(entered, 1)), state, context),
    }
}

/// The same in all other cases. `begun` is how far the task has come.
#[inline(never)]
fn begin_otherwise<'a, S, N>(
    slots: &S,
    places: u64,
    begun: Option<Begun<Slots<N>>>,
    state: &mut State<'a>,
    context: &mut Context<'_>,
) -> Poll<Result<Grant, AcquireError>>
where
    S: Deref<Target = Slots<N>> + Clone + Send + 'a,
    N: Numbering + 'a,
{
    if places == 0 {
        return Poll::Ready(Err(AcquireError::Nothing));
    }
    let mut begun = begun.unwrap_or_else(|| slots.begin(places));
    let place = loop {
        begun = match begun {
            Begun::Inside(grant) => return Poll::Ready(Ok(grant)),
            Begun::Refused(why) => return Poll::Ready(Err(why.into())),
            Begun::Outside => slots.line_up(places, false),
            Begun::Waits(place) => break place,
        };
    };
    if place.units == 1 && !place.drawn.is_kept() {
        return stand(slots, place.drawn, state, context);
    }
    let mut future = N::wait_elsewhere(slots.clone(), place);
    let told = future.as_mut().poll(context);
    *state = State::Elsewhere(future);
    told.map_err(AcquireError::from)
}

/// Gets in line with what it has drawn for one place.
fn stand<N: Numbering>(
    slots: &Slots<N>,
    drawn: Drawn,
    state: &mut State<'_>,
    context: &mut Context<'_>,
) -> Poll<Result<Grant, AcquireError>> {
    let (attempt, wakes) = state.waits();
    let stands = now(slots.text.stand_unless_closed(&ANYONE, slots.tray(), drawn, 1, attempt));
    match stands.map_err(refused)? {
        Some(grant) => Poll::Ready(Ok(grant)),
        None => turn(slots, attempt, wakes, context, false),
    }
}

impl State<'_> {
    /// From here on it may be in line, with this attempt. If anything panics before the attempt is
    /// filled in, it is not in line.
    #[inline(always)]
    fn waits(&mut self) -> (&mut Attempt, &mut Wakes) {
        self.becomes(State::InLine(Attempt::Outside, Wakes::default()));
        match self {
            State::InLine(attempt, wakes) => (attempt, wakes),
            _ => unreachable!("it was made so"),
        }
    }

    /// Assigns without dropping what was there. Only a wait elsewhere owns something to drop.
    #[inline(always)]
    fn becomes(&mut self, new: Self) {
        debug_assert!(!matches!(self, State::Elsewhere(_)), "it owns a future");
        std::mem::forget(std::mem::replace(self, new));
    }
}

/// Runs one turn of the wait in line. If the wait is not over, the task will be woken. A task that
/// has just joined the line first arranges for its wake-up. Then it looks whether its wait is over.
#[inline(always)]
fn turn<N: Numbering>(
    slots: &Slots<N>,
    attempt: &mut Attempt,
    wakes: &mut Wakes,
    context: &mut Context<'_>,
    looks_first: bool,
) -> Poll<Result<Grant, AcquireError>> {
    let (t, record) = slots.text.place(attempt).expect("it is in line for one place");
    let alarm = record.alarm().expect("one process waits for a record at a time");
    let told = || match slots.tray() {
        Some(tray) => sure(now(slots.text.turn_passing(&ANYONE, tray, (t, record), attempt))),
        None => slots.text.turn_now(&ANYONE, t, record),
    };
    // Where newcomers pass, the first look also says that the task listens.
    let mut fate = if looks_first || N::PASSES { told() } else { None };
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
    let entered = slots.text.enter_in_turn_unless_closed_now(&ANYONE, slots.tray(), attempt, fate);
    Poll::Ready(entered.map_err(AcquireError::from))
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
