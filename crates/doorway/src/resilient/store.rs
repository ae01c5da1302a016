//! States, operations and responses of a user's types, in plain memory.

// The text that calls this decides which thread may touch what, and when. The compiler cannot know.
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

/// The payload of a panic. It is one word, so that answers stay small: an answer is written and
/// read back at once, and a read that spans two fresh writes stalls the processor.
pub(super) type Payload = Box<Box<dyn Any + Send>>;

/// `None` changes nothing.
pub(super) type Op<T> = Option<Quiet<<T as Object>::Op>>;

/// A user's value that may be dropped during another caller's operation. A panic in its destructor
/// does not concern that caller, so it is swallowed.
pub(super) struct Quiet<X>(ManuallyDrop<X>);

impl<X> Quiet<X> {
    #[inline(always)]
    pub(super) fn new(value: X) -> Self {
        Self(ManuallyDrop::new(value))
    }

    #[inline(always)]
    pub(super) fn into_inner(self) -> X {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: the value is taken once, because `this` is neither used nor dropped afterwards.
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
            // SAFETY: `self` is being dropped, so the value is not used afterwards.
            contained(|| unsafe { ManuallyDrop::drop(&mut self.0) });
        }
    }
}

/// The result of an operation.
pub(super) enum Answer<T: Object> {
    Response(Quiet<T::Response>),
    /// The response to an operation that changes nothing.
    Nothing,
    Panicked(Quiet<Payload>),
}

/// A state, and the results of the operations that produced it.
struct Place<T: Object> {
    /// `None` until the place is first used. Always `Some` in a published buffer.
    value: UnsafeCell<Option<Quiet<T>>>,
    /// The answer to the name that owns the buffer: nearly always the only answer.
    mine: UnsafeCell<Option<Answer<T>>>,
    /// The answers to the other names, indexed by name.
    others: Box<[UnsafeCell<Option<Answer<T>>>]>,
}

/// An announced operation, if there is one.
type Cell<T> = UnsafeCell<Option<Op<T>>>;

/// The buffers and cells of `K` names.
pub(super) struct Plain<T: Object, const K: usize> {
    places: Box<[CachePadded<Place<T>>]>,
    cells: Box<[CachePadded<Cell<T>>]>,
    pub(super) pauses: u32,
}

// SAFETY: only the text of the universal construction reaches what is in here. By (R3), it lets no
// thread write what another thread reads or writes. A thread reads what another has written only
// after it has seen a later write of `head` or of an announcement. A thread overwrites something
// only after it has seen that it was given up. So sharing this shares states and operations
// (`Sync`), and sends them and the responses to the thread that overwrites or takes them (`Send`).
// `Object` requires all of these bounds.
unsafe impl<T: Object, const K: usize> Sync for Plain<T, K> {}

impl<T: Object, const K: usize> Plain<T, K> {
    /// With more buffers than necessary, the search for a free one runs less often.
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
    /// The buffer was published, and it is not written while the reference lives.
    #[inline(always)]
    unsafe fn state(&self, b: Buffer) -> &T {
        // SAFETY: the caller guarantees that the buffer is not written.
        let value = unsafe { &*self.places[b.index()].value.get() };
        value.as_ref().unwrap_or_else(|| unpublished())
    }

    pub(super) fn into_state(self, b: Buffer) -> T {
        let place = self.places.into_iter().nth(b.index());
        let value = place.and_then(|place| place.into_inner().value.into_inner());
        value.unwrap_or_else(|| unpublished()).into_inner()
    }
}

/// Looks at the state under the name `p`. The caller must have the name alone until this returns.
#[inline(always)]
pub(super) fn look<T: Object, R, const K: usize>(
    inside: &Universal<Native, Plain<T, K>>,
    process: &Process<Native>,
    p: usize,
    look: impl FnOnce(&T) -> R,
) -> Result<R, Payload> {
    let b = inside.look_now(process, p)?;
    // SAFETY: `look_now` keeps the buffer unchanged until its name does something else, and the
    // caller has the name until this returns.
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
        // SAFETY: the thread that copies has seen that `from` is published, and its hazard word or
        // its name keeps `from` from being written (R3).
        let from = unsafe { self.state(from) };
        // SAFETY: `to` is a free buffer of the caller's name, so no other thread reads or writes it
        // (R3).
        let to = unsafe { &mut *self.places[to.index()].value.get() };
        // If `clone_from` panics, the old value may be in any state, and so may one whose
        // destructor panics. Then a fresh clone replaces it.
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
        // SAFETY: as in `copy`; and no thread takes a response from the buffer before it is
        // published.
        let (value, answer) = unsafe { (&mut *self.places[to.index()].value.get(), &mut *self.answer(to, q).get()) };
        let state = value.as_mut().unwrap_or_else(|| unpublished());
        let op = match op {
            Asked::InHand(op) => op,
            Asked::InCell(cell) => {
                // SAFETY: the cell was written before it was announced, and the caller's hazard
                // word or its name keeps it from being written (R3).
                let cell = unsafe { &*self.cell(q, cell).get() };
                cell.as_ref().unwrap_or(&None)
            }
        };
        // This catches panics also if the caller has the operation in hand. The state that it saw
        // may include other callers' operations, which have no effect if this state is not
        // published.
        let new = match catch_unwind(AssertUnwindSafe(|| op.as_ref().map(|op| state.apply(op)))) {
            Ok(Some(response)) => Answer::Response(Quiet::new(response)),
            Ok(None) => Answer::Nothing,
            Err(panic) => {
                *value = None; // a half-changed state may be anything
                Answer::Panicked(Quiet::new(Box::new(panic)))
            }
        };
        let applied = !matches!(new, Answer::Panicked(_));
        *answer = Some(new);
        done(applied)
    }

    #[inline(always)]
    fn put(&self, _: At<'_, Native>, p: usize, cell: u8, op: Op<T>) -> impl Future<Output = Result<(), Infallible>> {
        // SAFETY: the cell is one of the caller's, no hazard word names it, and its last
        // announcement was applied. So no other thread reads it (R3).
        unsafe { *self.cell(p, cell).get() = Some(op) };
        done(())
    }

    #[inline(always)]
    fn take(&self, _: At<'_, Native>, from: Buffer, p: usize) -> impl Future<Output = Result<Answer<T>, Infallible>> {
        // SAFETY: the state that `head` names holds the response for `p` here, so no thread
        // overwrites it, and only `p` reads it (R3).
        let answer = unsafe { &mut *self.answer(from, p).get() };
        done(answer.take().unwrap_or_else(|| unpublished()))
    }

    #[inline(always)]
    fn pause(&self) {
        (0..self.pauses).for_each(|_| spin_loop());
    }
}
