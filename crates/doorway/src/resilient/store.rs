//! States, operations and responses of a user's types, in plain memory.

// Who may touch what, and when, is the business of the text that calls this: the compiler cannot know.
#![allow(unsafe_code)]

use super::Object;
use crate::native::Native;
use crate::waiting::contained;
use crossbeam_utils::CachePadded;
use doorway_core::memory::{At, Process};
use doorway_core::resilient::{Asked, Buffer, Pool, Store, Universal};
use std::any::Any;
use std::cell::UnsafeCell;
use std::convert::Infallible;
use std::future::{Future, ready};
use std::hint::spin_loop;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a panic leaves. In one word, so that answers are small: they are written and taken out again at once, and a processor that has to put two words together waits for that.
pub(super) type Payload = Box<Box<dyn Any + Send>>;

/// `None` changes nothing.
pub(super) type Op<T> = Option<Quiet<<T as Object>::Op>>;

/// A user's value, dropped here in the middle of somebody else's operation: a panic of its destructor concerns nobody there, and is dropped too.
pub(super) struct Quiet<X>(ManuallyDrop<X>);

impl<X> Quiet<X> {
    #[inline(always)]
    pub(super) fn new(value: X) -> Self {
        Self(ManuallyDrop::new(value))
    }

    #[inline(always)]
    pub(super) fn into_inner(self) -> X {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: it is taken once, for `this` is neither used nor dropped afterwards.
        unsafe { ManuallyDrop::take(&mut this.0) }
    }
}

impl<X> Deref for Quiet<X> {
    type Target = X;
    #[inline(always)]
    fn deref(&self) -> &X {
        &self.0
    }
}

impl<X> DerefMut for Quiet<X> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut X {
        &mut self.0
    }
}

impl<X> Drop for Quiet<X> {
    #[inline(always)]
    fn drop(&mut self) {
        if std::mem::needs_drop::<X>() {
            // SAFETY: this is the end of it, so nobody uses it afterwards.
            contained(|| unsafe { ManuallyDrop::drop(&mut self.0) });
        }
    }
}

/// What came of an operation.
pub(super) enum Answer<T: Object> {
    Response(Quiet<T::Response>),
    /// Of none.
    Nothing,
    Panicked(Quiet<Payload>),
}

/// A state, and what came of the operations that made it.
struct Place<T: Object> {
    /// `None` until it is first used, and always something in what was published.
    value: UnsafeCell<Option<Quiet<T>>>,
    /// Of the name whose buffer it is: nearly always the only one.
    mine: UnsafeCell<Option<Answer<T>>>,
    /// Of all names.
    others: Box<[UnsafeCell<Option<Answer<T>>>]>,
}

/// An operation that was announced, if one was.
type Cell<T> = UnsafeCell<Option<Op<T>>>;

/// The buffers and cells of `K` names.
pub(super) struct Plain<T: Object, const K: usize> {
    places: Box<[CachePadded<Place<T>>]>,
    cells: Box<[CachePadded<Cell<T>>]>,
    pub(super) pauses: u32,
}

// SAFETY: only the text of the universal construction reaches what is in here, and (R3) it lets nobody write what somebody else reads or writes; what one has written another reads only after it has seen
// `head` or an announcement that was written later, and what it overwrites it has seen given up. So sharing this shares states and operations (`Sync`) and sends them and responses to the thread that overwrites
// or takes them (`Send`); `Object` asks for all of that.
unsafe impl<T: Object, const K: usize> Sync for Plain<T, K> {}

impl<T: Object, const K: usize> Plain<T, K> {
    /// With more buffers than are needed, free ones are looked for less often.
    pub(super) const POOL: Pool = Pool { buffers: if K <= 4 { 4 * K } else { 24 }, cells: K, remembers: true };

    pub(super) fn new(value: T, pauses: u32) -> Self {
        let place = |value| {
            let others = (0..K).map(|_| UnsafeCell::new(None)).collect();
            CachePadded::new(Place { value: UnsafeCell::new(value), mine: UnsafeCell::new(None), others })
        };
        let places = std::iter::once(Some(Quiet::new(value)))
            .chain((1..K * Self::POOL.buffers).map(|_| None))
            .map(place)
            .collect();
        let cells = (0..K * K).map(|_| CachePadded::new(UnsafeCell::new(None))).collect();
        Self { places, cells, pauses }
    }

    fn answer(&self, b: Buffer, q: usize) -> &UnsafeCell<Option<Answer<T>>> {
        let place = &self.places[b.index()];
        if b.index() / Self::POOL.buffers == q { &place.mine } else { &place.others[q] }
    }

    fn cell(&self, q: usize, cell: u8) -> &Cell<T> {
        &self.cells[q * K + usize::from(cell)]
    }

    /// The state in a buffer.
    ///
    /// # Safety
    /// It was published, and is not written while the reference lives.
    #[inline(always)]
    unsafe fn state(&self, b: Buffer) -> &T {
        // SAFETY: nobody writes it.
        let value = unsafe { &*self.places[b.index()].value.get() };
        value.as_ref().unwrap_or_else(|| unpublished())
    }

    pub(super) fn into_state(self, b: Buffer) -> T {
        let place = self.places.into_iter().nth(b.index());
        let value = place.and_then(|place| place.into_inner().value.into_inner());
        value.unwrap_or_else(|| unpublished()).into_inner()
    }
}

/// Looks at the state, for whoever has the name `p`; nobody else has it meanwhile.
#[inline(always)]
pub(super) fn look<T: Object, R, const K: usize>(
    inside: &Universal<Native, Plain<T, K>>,
    process: &Process<Native>,
    p: usize,
    look: impl FnOnce(&T) -> R,
) -> Result<R, Payload> {
    let b = inside.look_now(process, p)?;
    // SAFETY: a buffer that was looked for stays as it is until its name does something else, and the caller has the name until this returns.
    Ok(look(unsafe { inside.store().state(b) }))
}

#[cold]
fn unpublished() -> ! {
    unreachable!("a state is built before its buffer is published")
}

fn done<T>(x: T) -> impl Future<Output = Result<T, Infallible>> {
    ready(Ok(x))
}

impl<T: Object, const K: usize> Store<Native> for Plain<T, K> {
    type Op = Op<T>;
    type Response = Answer<T>;
    type Panic = Payload;

    const SIZES: Option<(usize, Pool)> = Some((K, Self::POOL));
    const COPIES_CAN_FAIL: bool = true;

    fn tag(_: &Op<T>) -> u64 {
        0
    }

    fn told(_: &Result<Answer<T>, Payload>) -> u64 {
        0
    }

    fn nothing() -> Op<T> {
        None
    }

    #[inline(always)]
    fn copy(
        &self,
        _: At<'_, Native>,
        from: Buffer,
        to: Buffer,
    ) -> impl Future<Output = Result<Result<(), Payload>, Infallible>> {
        // SAFETY: whoever copies has seen that `from` is published, and its hazard word or its name keeps it from being written (R3).
        let from = unsafe { self.state(from) };
        // SAFETY: `to` is a free buffer of the name that the caller has: nobody else reads or writes it (R3).
        let to = unsafe { &mut *self.places[to.index()].value.get() };
        // A value that went wrong half-way may be anything, and so may one whose old self could not be dropped: a new one then.
        if let Some(old) = to {
            match catch_unwind(AssertUnwindSafe(|| T::clone_from(old, from))) {
                Ok(()) => return done(Ok(())),
                Err(payload) => drop(Quiet::new(payload)),
            }
        }
        *to = None;
        let copied = catch_unwind(AssertUnwindSafe(|| *to = Some(Quiet::new(from.clone()))));
        done(copied.map_err(Box::new))
    }

    #[inline(always)]
    fn apply(
        &self,
        _: At<'_, Native>,
        to: Buffer,
        q: usize,
        op: Asked<'_, Op<T>>,
    ) -> impl Future<Output = Result<bool, Infallible>> {
        // SAFETY: as in `copy`, and nobody takes a response out of it before it is published.
        let (value, answer) = unsafe { (&mut *self.places[to.index()].value.get(), &mut *self.answer(to, q).get()) };
        let state = value.as_mut().unwrap_or_else(|| unpublished());
        let op = match op {
            Asked::InHand(op) => op,
            Asked::InCell(cell) => {
                // SAFETY: the cell was written before it was announced, and the caller's hazard word or its name keeps it from being written (R3).
                let cell = unsafe { &*self.cell(q, cell).get() };
                cell.as_ref().unwrap_or(&None)
            }
        };
        // Also if the caller has it in hand: what it has seen may have been changed by others, whose operations have not taken effect if this is not published.
        let new = match catch_unwind(AssertUnwindSafe(|| op.as_ref().map(|op| state.apply(op)))) {
            Ok(Some(response)) => Answer::Response(Quiet::new(response)),
            Ok(None) => Answer::Nothing,
            Err(panic) => {
                *value = None; // it may be anything
                Answer::Panicked(Quiet::new(Box::new(panic)))
            }
        };
        let applied = !matches!(new, Answer::Panicked(_));
        *answer = Some(new);
        done(applied)
    }

    #[inline(always)]
    fn put(&self, _: At<'_, Native>, p: usize, cell: u8, op: Op<T>) -> impl Future<Output = Result<(), Infallible>> {
        // SAFETY: the cell is one of the caller's that no hazard word names, and the last announcement of it was applied: nobody reads it (R3).
        unsafe { *self.cell(p, cell).get() = Some(op) };
        done(())
    }

    #[inline(always)]
    fn take(&self, _: At<'_, Native>, from: Buffer, p: usize) -> impl Future<Output = Result<Answer<T>, Infallible>> {
        // SAFETY: the state that `head` names has it for the place of the response of `p`, so nobody overwrites it, and only `p` reads it (R3).
        let answer = unsafe { &mut *self.answer(from, p).get() };
        done(answer.take().unwrap_or_else(|| unpublished()))
    }

    #[inline(always)]
    fn pause(&self) {
        (0..self.pauses).for_each(|_| spin_loop());
    }
}
