//! Records which rooms a thread is inside, so that the thread does not wait for itself.

use super::bookkeeping::Id;
use crate::tools::thread_local;
use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;

/// How many objects a thread is usually inside at a time, at most. Further ones are recorded in a
/// vector.
const FEW: usize = 4;
const FREE: u64 = 0;

thread_local! {
    static HELD: [Cell<u64>; FEW] = const { [const { Cell::new(FREE) }; FEW] };
}

thread_local! {
    /// Never dropped, so that it can be read until the thread has ended. It owns no memory while it
    /// is empty.
    static MORE: Cell<ManuallyDrop<Vec<u64>>> = const { Cell::new(ManuallyDrop::new(Vec::new())) };
}

/// Changes or reads the vector.
fn with_more<T>(what: impl FnOnce(&mut Vec<u64>) -> T) -> T {
    MORE.with(|more| {
        let mut ids = ManuallyDrop::into_inner(more.replace(ManuallyDrop::new(Vec::new())));
        let result = what(&mut ids);
        if !ids.is_empty() {
            more.set(ManuallyDrop::new(ids));
        }
        result
    })
}

/// Whether a guard stays with its thread ([`ByThread`]) or can move to others ([`ByAnyone`]). No
/// other type implements this.
pub trait HeldBy: Enters {}

impl HeldBy for ByThread {}
impl HeldBy for ByAnyone {}

/// What is recorded of a guard while it exists. This trait is not exported, which seals [`HeldBy`].
pub trait Enters: Sized {
    /// Records that a user enters the rooms with this number.
    fn enters(id: u64) -> Self;
    /// Records that the user leaves them again.
    fn exits(&self, id: u64);
}

/// A thread whose guards stay with it.
#[derive(Debug)]
pub struct ByThread {
    place: u8,
    not_send: PhantomData<*const ()>,
}

/// No thread in particular: a task, or the thread that has the guard at the time.
#[derive(Debug)]
pub struct ByAnyone;

impl Enters for ByThread {
    #[inline(always)]
    fn enters(id: u64) -> Self {
        let place = HELD.with(|held| match held.iter().position(|place| place.get() == FREE) {
            Some(free) => {
                held[free].set(id);
                free
            }
            None => {
                remember(id);
                FEW
            }
        });
        Self { place: place as u8, not_send: PhantomData }
    }

    #[inline(always)]
    fn exits(&self, id: u64) {
        let place = usize::from(self.place);
        if place < FEW {
            HELD.with(|held| held[place].set(FREE));
        } else {
            forget(id);
        }
    }
}

#[cold]
fn remember(id: u64) {
    with_more(|ids| ids.push(id));
}

#[cold]
fn forget(id: u64) {
    with_more(|ids| ids.iter().position(|&held| held == id).map(|place| ids.swap_remove(place)));
}

impl Enters for ByAnyone {
    #[inline(always)]
    fn enters(_: u64) -> Self {
        Self
    }
    #[inline(always)]
    fn exits(&self, _: u64) {}
}

/// Records that the thread is no longer inside, even if the code of the last exit panics.
pub(super) struct Left<'a, W: Enters>(pub(super) &'a W, pub(super) &'a Id);

impl<W: Enters> Drop for Left<'_, W> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.exits(self.1.number());
    }
}

impl Id {
    /// Whether this thread is inside, as a thread.
    #[cold]
    pub(super) fn is_held(self) -> bool {
        let id = self.number();
        HELD.with(|held| held.iter().any(|place| place.get() == id)) || with_more(|ids| ids.contains(&id))
    }
}
