//! Who is to be notified of what: wakers by the address of a bell.

use super::{Lock, Platform};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Waker;

/// Something that waits: a task, or a thread that waits for several variables.
pub struct Waiter<P: Platform>(P::Lock<State>);

#[derive(Default)]
struct State {
    notified: bool,
    waker: Option<Waker>,
}

impl<P: Platform> std::fmt::Debug for Waiter<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Waiter")
    }
}

impl<P: Platform> Default for Waiter<P> {
    fn default() -> Self {
        Self(P::Lock::new(State::default()))
    }
}

impl<P: Platform> Waiter<P> {
    /// It begins to wait: earlier notifications do not count.
    pub fn begin(&self) {
        drop(self.0.with(std::mem::take));
    }

    /// Whether it has been notified since it began. If not, this waker is woken when it is, in place of an earlier one.
    pub fn poll(&self, waker: &Waker) -> bool {
        // Cloned before, and the old one dropped after: both may run anything, and what they run may change a variable and notify this waiter.
        let new = waker.clone();
        let (notified, old) = self.0.with(|state| {
            let old = if state.notified { Some(new) } else { state.waker.replace(new) };
            (state.notified, old)
        });
        drop(old);
        notified
    }

    /// Whether it has been notified since it began.
    pub fn is_notified(&self) -> bool {
        self.0.with(|state| state.notified)
    }

    fn notify(&self) {
        let waker = self.0.with(|state| {
            state.notified = true;
            state.waker.take()
        });
        // Outside the lock: a waker may run anything. One that panics must not take the one who woke it along.
        if let Some(waker) = waker {
            let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
        }
    }
}

type Entries<P> = Vec<(usize, Arc<Waiter<P>>)>;

/// Waiters by the address of the bell they listen to.
pub struct Table<P: Platform> {
    buckets: Box<[P::Lock<Entries<P>>]>,
}

impl<P: Platform> std::fmt::Debug for Table<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Table")
    }
}

impl<P: Platform> Default for Table<P> {
    fn default() -> Self {
        Self { buckets: (0..P::BUCKETS).map(|_| P::Lock::new(Vec::new())).collect() }
    }
}

impl<P: Platform> Table<P> {
    fn bucket(&self, address: usize) -> &P::Lock<Entries<P>> {
        // Bells are 16 bytes apart or more; the product spreads neighbours.
        &self.buckets[(address / 16).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (usize::BITS - P::BUCKETS.ilog2())]
    }

    /// Adds a waiter, and sets the flag that says so, while nobody can wake.
    pub(super) fn add(&self, address: usize, waiter: &Arc<Waiter<P>>, set_flag: impl FnOnce()) {
        self.bucket(address).with(|entries| {
            if !entries.iter().any(|(at, w)| *at == address && Arc::ptr_eq(w, waiter)) {
                entries.push((address, Arc::clone(waiter)));
            }
            set_flag();
        });
    }

    /// Takes a waiter out again.
    pub fn remove(&self, address: usize, waiter: &Arc<Waiter<P>>) {
        self.bucket(address).with(|entries| entries.retain(|(at, w)| !(*at == address && Arc::ptr_eq(w, waiter))));
    }

    /// Takes out all waiters of an address, clears the flag, and notifies them.
    pub(super) fn wake(&self, address: usize, clear_flag: impl FnOnce()) {
        // Nearly always there is one, and a list of none is not allocated.
        let (first, others) = self.bucket(address).with(|entries| {
            clear_flag();
            let first = entries.iter().position(|(at, _)| *at == address).map(|place| entries.swap_remove(place));
            (first, entries.extract_if(.., |(at, _)| *at == address).collect::<Vec<_>>())
        });
        first.iter().chain(&others).for_each(|(_, waiter)| waiter.notify());
    }

    /// How many entries there are: none, when nobody waits.
    #[must_use]
    pub fn len(&self) -> usize {
        self.buckets.iter().map(|bucket| bucket.with(|entries| entries.len())).sum()
    }

    /// Whether nobody waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
