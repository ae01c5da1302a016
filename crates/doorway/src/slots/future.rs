//! The futures of tasks that ask for places.
//!
//! The text runs as far as it can without waiting. From then on, only its place in line is kept,
//! and each poll is one turn of the wait. So a future is small, and allocates nothing.

use super::entering::begun;
use super::numbers::Elsewhere;
use super::{ANYONE, AcquireError, Numbered, Numbering, OwnedSlotGuard, Permit, SlotGuard, Slots};
use crate::native::{Begun, Cell, Wakes, WaysIn, now, refused, sure};
use crate::waiting::{Alarm, Threads};
use doorway_core::k_assignment::{Entered, Grant};
use doorway_core::k_exclusion::turnstile::{Attempt, Closed, Drawn, Fate, LinedUp, Record, Spot};
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
    InLine(Spot, Wakes),
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
        // One after the other, the frequent cases first: what they tell stays in registers.
        if let State::InLine(spot, wakes) = &mut self.state {
            let told = turn(slots, spot, wakes, context);
            return self.ends(told);
        }
        if let State::Outside(places) = self.state {
            let told = begin(slots, places, &mut self.state, context);
            return self.ends(told);
        }
        let State::Elsewhere(future) = &mut self.state else { unreachable!("it has not ended") };
        let told = future.as_mut().poll(context).map_err(AcquireError::from);
        self.ends(told)
    }

    /// Passes on what the text told.
    #[inline(always)]
    fn ends(&mut self, told: Poll<Result<Grant, AcquireError>>) -> Poll<Result<Permit<S, N>, AcquireError>> {
        let Poll::Ready(told) = told else { return Poll::Pending };
        if let State::Elsewhere(_) = self.state {
            self.state = State::Done;
        } else {
            self.state.becomes(State::Done);
        }
        let Some(slots) = self.slots.take() else { unreachable!("it ends once") };
        Poll::Ready(match told {
            Ok(grant) => Ok(Permit::new(slots, grant)),
            Err(why) => Err(why),
        })
    }
}

/// Enters, if this is possible without waiting. Otherwise it waits, in the state that it leaves
/// behind.
///
/// This is the frequent case: one place, in order of arrival. Everything is written where it
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
    if N::PASSES || places != 1 || slots.manners.unfair {
        return begin_otherwise(slots, places, None, state, context);
    }
    match slots.text.begin_now(&ANYONE, 1) {
        Entered::Inside(grant) => Poll::Ready(Ok(grant)),
        Entered::Not(Drawn::Waits(tickets)) => match slots.text.line_up_now(&ANYONE, tickets) {
            LinedUp::InLine(attempt, record) => first_turn(slots, attempt, record, state, context),
            LinedUp::Enabled(drawn) => begin_otherwise(slots, 1, Some(begun(Entered::Not(drawn), 1)), state, context),
            LinedUp::Closed => Poll::Ready(Err(AcquireError::Closed)),
        },
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
    let mut attempt = Attempt::Outside;
    let stands = now(slots.text.stand_unless_closed(&ANYONE, slots.tray(), drawn, 1, &mut attempt));
    match (stands.map_err(refused)?, attempt) {
        (Some(grant), _) => Poll::Ready(Ok(grant)),
        (None, Attempt::One(spot)) => {
            let (_, record) = slots.text.place(spot);
            first_turn(slots, attempt, record, state, context)
        }
        (None, _) => unreachable!("it is in line for one place"),
    }
}

impl State<'_> {
    /// Assigns without dropping what was there. Only a wait elsewhere owns something to drop.
    #[inline(always)]
    fn becomes(&mut self, new: Self) {
        debug_assert!(!matches!(self, State::Elsewhere(_)), "it owns a future");
        std::mem::forget(std::mem::replace(self, new));
    }
}

/// The first turn of the wait of a task that has just joined the line. It arranges for its wake-up.
/// Then it looks whether its wait is over.
#[inline(always)]
fn first_turn<N: Numbering>(
    slots: &Slots<N>,
    attempt: Attempt,
    record: &Cell<Record>,
    state: &mut State<'_>,
    context: &mut Context<'_>,
) -> Poll<Result<Grant, AcquireError>> {
    let Attempt::One(spot) = attempt else { unreachable!("it is in line for one place") };
    // From here on, dropping the future gives up.
    state.becomes(State::InLine(spot, Wakes::default()));
    let State::InLine(spot, wakes) = state else { unreachable!("it was made so") };
    let place = (spot.ticket(), record);
    // Where newcomers pass, the first look also says that the task listens.
    let mut told = if N::PASSES { look(slots, place, attempt) } else { None };
    if told.is_none() {
        if !wakes.set(alarm(record), context.waker()) {
            return Poll::Pending;
        }
        told = look(slots, place, attempt);
    }
    let Some(fate) = told else { return Poll::Pending };
    wakes.end(alarm(record));
    goes_on(slots, spot, wakes, fate, context)
}

/// A turn of that wait.
#[inline(always)]
fn turn<N: Numbering>(
    slots: &Slots<N>,
    spot: &mut Spot,
    wakes: &mut Wakes,
    context: &mut Context<'_>,
) -> Poll<Result<Grant, AcquireError>> {
    match told(slots, *spot, wakes, context) {
        Some(fate) => goes_on(slots, spot, wakes, fate, context),
        None => Poll::Pending,
    }
}

/// What the task was told, if anything. Otherwise it will be woken.
#[inline(always)]
fn told<N: Numbering>(slots: &Slots<N>, spot: Spot, wakes: &mut Wakes, context: &mut Context<'_>) -> Option<Fate> {
    let (attempt, place) = (Attempt::One(spot), slots.text.place(spot));
    let alarm = alarm(place.1);
    let mut told = look(slots, place, attempt);
    if told.is_none() {
        if wakes.will_wake(alarm, context.waker()) {
            return None;
        }
        let looks_again = || {
            told = look(slots, place, attempt);
            told.is_some()
        };
        if wakes.poll(alarm, context.waker(), looks_again).is_pending() {
            return None;
        }
    }
    wakes.end(alarm);
    told
}

#[inline(always)]
fn alarm(record: &Cell<Record>) -> &Alarm<Threads> {
    record.alarm().expect("one process waits for a record at a time")
}

/// Looks whether the wait is over.
#[inline(always)]
fn look<N: Numbering>(slots: &Slots<N>, (t, record): (u64, &Cell<Record>), attempt: Attempt) -> Option<Fate> {
    match slots.tray() {
        Some(tray) => sure(now(slots.text.turn_passing(&ANYONE, tray, (t, record), &attempt))),
        None => slots.text.turn_now(&ANYONE, t, record),
    }
}

/// Enters when the wait is over, or moves if the task was asked to.
#[inline(always)]
fn goes_on<N: Numbering>(
    slots: &Slots<N>,
    spot: &mut Spot,
    wakes: &mut Wakes,
    fate: Fate,
    context: &mut Context<'_>,
) -> Poll<Result<Grant, AcquireError>> {
    if fate == Fate::Nudged { moves(slots, spot, wakes, context) } else { enter(slots, *spot, fate) }
}

#[inline(always)]
fn enter<N: Numbering>(slots: &Slots<N>, spot: Spot, fate: Fate) -> Poll<Result<Grant, AcquireError>> {
    let mut attempt = Attempt::One(spot);
    let entered = slots.text.enter_in_turn_unless_closed_now(&ANYONE, slots.tray(), &mut attempt, fate);
    Poll::Ready(entered.map_err(AcquireError::from))
}

/// Moves, and waits there. It may be asked to move again at once.
#[cold]
#[inline(never)]
fn moves<N: Numbering>(
    slots: &Slots<N>,
    spot: &mut Spot,
    wakes: &mut Wakes,
    context: &mut Context<'_>,
) -> Poll<Result<Grant, AcquireError>> {
    loop {
        *spot = sure(now(slots.text.move_up(&ANYONE, *spot)));
        match told(slots, *spot, wakes, context) {
            Some(Fate::Nudged) => {}
            Some(fate) => return enter(slots, *spot, fate),
            None => return Poll::Pending,
        }
    }
}

/// Dropping it gives up.
impl<S: Deref<Target = Slots<N>>, N: Numbering> Drop for Asks<'_, S, N> {
    #[inline]
    fn drop(&mut self) {
        if let (State::InLine(spot, wakes), Some(slots)) = (&mut self.state, &self.slots) {
            give_up(slots, *spot, wakes);
        }
    }
}

#[inline(never)]
fn give_up<N: Numbering>(slots: &Slots<N>, spot: Spot, wakes: &mut Wakes) {
    wakes.end(alarm(slots.text.place(spot).1));
    // Written out, so that the compiler knows which process runs it, and that it is about one
    // place.
    if let Some(grant) = slots.text.leave_unless_closed_now(&ANYONE, slots.tray(), Attempt::One(spot)) {
        slots.leave(grant);
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
