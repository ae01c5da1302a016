//! Which rooms objects the thread is inside of, so that it is not left waiting for itself.

use crate::tools::thread_local;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Whose rooms: a number that no two of them have in the life of the program. An address would come back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Id(u64);

impl Id {
    pub(super) fn new() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Relaxed) + 1)
    }
}

/// So many objects a thread can be inside of at a time and be reminded of it. Who is inside of more is not.
const MOST: usize = 4;
const FREE: u64 = 0;

thread_local! {
    static HELD: [Cell<u64>; MOST] = const { [const { Cell::new(FREE) }; MOST] };
}

/// Who is inside: this decides whether guards can go to other threads.
pub trait Who: Sized {
    /// Somebody goes in.
    fn enters(id: u64) -> Self;
    /// It goes out again.
    fn exits(&self);
}

/// A thread, whose guards stay with it.
#[derive(Debug)]
pub struct ByThread {
    place: u8,
    not_send: PhantomData<*const ()>,
}

/// Nobody in particular: a task, or whoever has the guard.
#[derive(Debug)]
pub struct ByAnyone;

impl Who for ByThread {
    #[inline(always)]
    fn enters(id: u64) -> Self {
        let place = HELD.with(|held| {
            let free = held.iter().position(|place| place.get() == FREE);
            if let Some(free) = free {
                held[free].set(id);
            }
            free.unwrap_or(MOST)
        });
        Self { place: place as u8, not_send: PhantomData }
    }

    #[inline(always)]
    fn exits(&self) {
        HELD.with(|held| {
            if let Some(place) = held.get(usize::from(self.place)) {
                place.set(FREE);
            }
        });
    }
}

impl Who for ByAnyone {
    #[inline(always)]
    fn enters(_: u64) -> Self {
        Self
    }
    #[inline(always)]
    fn exits(&self) {}
}

impl Id {
    /// As a number, for [`Who::enters`].
    #[inline(always)]
    pub(super) fn number(self) -> u64 {
        self.0
    }

    /// Whether this thread is inside, as a thread.
    #[cold]
    pub(super) fn is_held(self) -> bool {
        HELD.with(|held| held.iter().any(|place| place.get() == self.0))
    }
}
