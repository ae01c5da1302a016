//! The waiters to be notified, by the address of the bell that they listen to.

use super::{Lock, Platform};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Wake, Waker};

/// A waiter: a task, or a thread that waits for several variables.
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
    /// Begins a wait: earlier notifications do not count.
    pub fn begin(&self) {
        let old = self.0.with(std::mem::take);
        contained(|| drop(old));
    }

    /// Whether the waiter has been notified since it began. If not, the notification will wake this
    /// waker, in place of an earlier one.
    pub fn poll(&self, waker: &Waker) -> bool {
        // Cloned before the lock and dropped after it: both may run any code, which may change a
        // variable and notify this waiter.
        let new = waker.clone();
        let (notified, old) = self.0.with(|state| {
            let old = if state.notified { Some(new) } else { state.waker.replace(new) };
            (state.notified, old)
        });
        contained(|| drop(old));
        notified
    }

    /// Whether the waiter has been notified since it began.
    pub fn is_notified(&self) -> bool {
        self.0.with(|state| state.notified)
    }

    fn notify(&self) {
        let waker = self.0.with(|state| {
            state.notified = true;
            state.waker.take()
        });
        // Outside the lock: a waker may run any code.
        if let Some(waker) = waker {
            contained(|| waker.wake());
        }
    }
}

/// For an [alarm](super::Alarm), which holds a waker and not a waiter.
impl Wake for Waiter<super::Threads> {
    fn wake(self: Arc<Self>) {
        self.notify();
    }
}

/// Runs user code, such as a waker or a destructor, in the middle of another caller's operation. A
/// panic of that code does not concern the caller, and is swallowed. So is a panic in the
/// destructor of its payload.
#[inline(always)]
pub(crate) fn contained(code: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(code)) {
        drop_contained(payload);
    }
}

#[cold]
fn drop_contained(payload: Box<dyn Any + Send>) {
    // The destructor of a payload can panic with a payload whose destructor panics, and so on for
    // ever.
    catch_unwind(AssertUnwindSafe(|| drop(payload))).unwrap_or_else(std::mem::forget);
}

/// Where a waiter is registered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    address: usize,
    arrival: u64,
}

/// A waiter for one address, or the gap that it left.
struct Entry<P: Platform> {
    place: Place,
    waiter: Option<Arc<Waiter<P>>>,
}

/// Waiters for some addresses in the order of their arrival, so that a place is found by bisection.
struct Bucket<P: Platform> {
    entries: Vec<Entry<P>>,
    arrivals: u64,
    /// Entries without a waiter. They are at most half of all, so a removal moves two entries on
    /// average.
    gaps: usize,
}

impl<P: Platform> Bucket<P> {
    fn new() -> Self {
        Self { entries: Vec::new(), arrivals: 0, gaps: 0 }
    }

    fn add(&mut self, address: usize, waiter: Arc<Waiter<P>>) -> Place {
        let place = Place { address, arrival: self.arrivals };
        self.arrivals += 1;
        self.entries.push(Entry { place, waiter: Some(waiter) });
        place
    }

    fn remove(&mut self, place: Place) -> Option<Arc<Waiter<P>>> {
        let at = self.entries.binary_search_by_key(&place.arrival, |entry| entry.place.arrival).ok()?;
        let removed = self.entries[at].waiter.take()?;
        self.gaps += 1;
        if 2 * self.gaps > self.entries.len() {
            self.entries.retain(|entry| entry.waiter.is_some());
            self.gaps = 0;
        }
        Some(removed)
    }

    fn take_all_of(&mut self, address: usize) -> impl Iterator<Item = Arc<Waiter<P>>> {
        let Self { entries, gaps, .. } = self;
        entries.extract_if(.., move |entry| entry.place.address == address).filter_map(move |entry| {
            *gaps -= usize::from(entry.waiter.is_none());
            entry.waiter
        })
    }
}

/// Waiters by the address of the bell that they listen to.
pub struct Table<P: Platform> {
    buckets: Box<[P::Lock<Bucket<P>>]>,
}

impl<P: Platform> std::fmt::Debug for Table<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Table")
    }
}

impl<P: Platform> Default for Table<P> {
    fn default() -> Self {
        Self { buckets: (0..P::BUCKETS).map(|_| P::Lock::new(Bucket::new())).collect() }
    }
}

impl<P: Platform> Table<P> {
    fn bucket(&self, address: usize) -> &P::Lock<Bucket<P>> {
        // Bells are at least 16 bytes apart, and the product spreads neighbours. Its upper bits are
        // mixed best, and 64 bits are enough for any number of buckets.
        let spread = (address as u64 / 16).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        &self.buckets[(spread >> (u64::BITS - P::BUCKETS.ilog2())) as usize]
    }

    /// Adds a waiter and sets the flag, while no process can wake waiters of this bucket.
    pub(super) fn add(&self, address: usize, waiter: &Arc<Waiter<P>>, set_flag: impl FnOnce()) -> Place {
        self.bucket(address).with(|bucket| {
            set_flag();
            bucket.add(address, Arc::clone(waiter))
        })
    }

    /// Removes a waiter, unless it has been notified.
    pub fn remove(&self, place: Place) {
        // Dropped outside the lock: a waiter may own a waker, whose destructor may run any code.
        let removed = self.bucket(place.address).with(|bucket| bucket.remove(place));
        contained(|| drop(removed));
    }

    /// Removes all waiters for an address, clears the flag, and notifies them in the order of their
    /// arrival.
    pub(super) fn wake(&self, address: usize, clear_flag: impl FnOnce()) {
        // Nearly always there is one waiter, and an empty list is not allocated.
        let (first, others) = self.bucket(address).with(|bucket| {
            clear_flag();
            let mut all = bucket.take_all_of(address);
            let first = all.next();
            (first, all.collect::<Vec<_>>())
        });
        for waiter in first.into_iter().chain(others) {
            waiter.notify();
            contained(|| drop(waiter));
        }
    }

    /// The number of entries. Zero when there are no waiters.
    #[must_use]
    pub fn len(&self) -> usize {
        self.buckets.iter().map(|bucket| bucket.with(|bucket| bucket.entries.len() - bucket.gaps)).sum()
    }

    /// Whether there are no waiters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
