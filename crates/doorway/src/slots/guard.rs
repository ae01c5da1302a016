//! Guards: what one holds inside.

use super::{Numbered, Numbering, Slots};
use doorway_core::k_exclusion::turnstile::{Held, Unsettled};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

/// A place in [`Slots`] that are borrowed.
pub type Guard<'a, N = Numbered> = Permit<&'a Slots<N>, N>;
/// A place in [`Slots`] that are shared: it can go anywhere.
pub type OwnedGuard<N = Numbered> = Permit<Arc<Slots<N>>, N>;

/// One place, or several. They are given back when this is dropped, also while a panic unwinds.
///
/// To `mem::forget` it **is to die inside**: place and slot are lost, and the others go on with the places that are left.
#[must_use = "the place is given back as soon as this is dropped"]
pub struct Permit<S: Deref<Target = Slots<N>>, N: Numbering> {
    slots: S,
    held: Held,
    numbers: N::Numbers,
    /// The fence number, once somebody has asked.
    fence: AtomicU64,
}

impl<S: Deref<Target = Slots<Numbered>>> Permit<S, Numbered> {
    /// Its slot: one of `0..k` that nobody else inside has, the lowest that was free. Of a guard that holds several, the lowest.
    ///
    /// It goes back with the guard; a guard that was `mem::forget`-ten keeps it for ever.
    ///
    /// ```
    /// let slots = doorway::Slots::new(2)?;
    /// let (a, b) = (slots.acquire()?, slots.acquire()?);
    /// assert_eq!((a.slot(), b.slot()), (0, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn slot(&self) -> usize {
        self.numbers.0 as usize
    }

    /// All its slots, as many as it holds places, the lowest first.
    ///
    /// ```
    /// let slots = doorway::Slots::new(3)?;
    /// let _first = slots.acquire()?;
    /// assert_eq!(slots.acquire_many(2)?.slots(), [1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn slots(&self) -> Vec<usize> {
        Numbered::all(&self.slots.names, self.numbers, self.held.units).unwrap_or_default()
    }
}

impl<S: Deref<Target = Slots>> Permit<S, Numbered> {
    /// Goes, and takes its one place along, and leaves its name taken: nobody gets that slot any more, until it is [revived](Slots::revive).
    pub(crate) fn retire(mut self) {
        self.slots.places.fetch_sub(self.places(), SeqCst);
        self.held.units = 0;
    }
}

impl Slots {
    /// There is a place again for a slot that was [retired](Permit::retire).
    pub(crate) fn revive(&self, slot: u32) {
        Numbered::free(&self.names, &self.anyone, slot);
        self.places.fetch_add(1, SeqCst);
        self.give_back(Held { units: 1, announced: false });
    }
}

impl<N: Numbering, S: Deref<Target = Slots<N>>> Permit<S, N> {
    /// For one place.
    #[inline(always)]
    pub(super) fn one(slots: S, held: Held) -> Self {
        let numbers = N::take(&slots.names, &slots.anyone);
        Self { slots, held, numbers, fence: AtomicU64::new(0) }
    }

    /// For any number of places.
    pub(super) fn many(slots: S, held: Held) -> Self {
        let numbers = N::take_many(&slots.names, &slots.anyone, held.units);
        Self { slots, held, numbers, fence: AtomicU64::new(0) }
    }

    /// How many places it holds.
    #[must_use]
    pub fn places(&self) -> usize {
        self.held.units as usize
    }

    /// A number that no other guard of these [`Slots`] has, and that is larger than that of every guard that was dropped before this one was asked for. A resource that refuses smaller numbers
    /// than it has seen is safe from a holder that was thought dead.
    ///
    /// ```
    /// let slots = doorway::Slots::new(1)?;
    /// let before = slots.acquire()?.fence();
    /// assert!(slots.acquire()?.fence() > before);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn fence(&self) -> u64 {
        match self.fence.load(SeqCst) {
            0 => {
                let new = self.slots.fences.fetch_add(1, SeqCst) + 1;
                // Of two threads that share a guard, one loses its number.
                self.fence.compare_exchange(0, new, SeqCst, SeqCst).map_or_else(|first| first, |_| new)
            }
            known => known,
        }
    }

    /// Goes, and takes its places along: there are fewer from now on. Its slots are free again.
    ///
    /// ```
    /// let slots = doorway::Slots::new(2)?;
    /// slots.acquire()?.forget();
    /// assert_eq!((slots.places(), slots.available()), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn forget(mut self) {
        // Names first: as soon as there are fewer places, there may be room for others, who need names.
        N::give_many_back(&self.slots.names, &self.slots.anyone, self.numbers, self.held.units);
        self.slots.places.fetch_sub(self.places(), SeqCst);
        self.held.units = 0; // there is nothing to give back when it is dropped
    }

    /// Two guards of one that holds several: the second holds so many, with a fence number of its own. `None` if it does not hold as many.
    ///
    /// ```
    /// let slots = doorway::Slots::new(3)?;
    /// let mut two = slots.acquire_many(3)?;
    /// let one = two.split(1).unwrap();
    /// assert_eq!((two.slots(), one.slot()), (vec![0, 1], 2));
    /// drop(two);
    /// assert_eq!(slots.available(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn split(&mut self, places: usize) -> Option<Self>
    where
        S: Clone,
    {
        let off = u64::try_from(places).ok().filter(|&places| places <= self.held.units)?;
        self.held.units -= off;
        let numbers = if off > 0 { N::after(&self.slots.names, self.numbers, self.held.units) } else { self.numbers };
        let held = Held { units: off, ..self.held };
        Some(Self { slots: self.slots.clone(), held, numbers, fence: AtomicU64::new(0) })
    }
}

impl<S: Deref<Target = Slots<N>>, N: Numbering> Drop for Permit<S, N> {
    #[inline(always)] // outlined, the guard lies in memory, and getting in and out takes three times as long
    fn drop(&mut self) {
        let slots = &*self.slots;
        if self.held != AT_ONCE || !N::give_back_at_once(&slots.names, &slots.anyone, self.numbers) {
            give_back(slots, self.held, self.numbers);
        } else if let Some(unsettled) = slots.line.give_back_now(&slots.anyone, AT_ONCE) {
            slots.settle_at_once(unsettled);
        }
    }
}

/// What one has that asked for one place and did not wait. This is why so little is done about it where it is dropped: the compiler does not inline what is large.
const AT_ONCE: Held = Held { units: 1, announced: false };

impl<N: Numbering> Slots<N> {
    #[cold]
    #[inline(never)]
    fn settle_at_once(&self, unsettled: Unsettled) {
        self.settle(AT_ONCE, unsettled);
    }
}

#[inline(never)]
fn give_back<N: Numbering>(slots: &Slots<N>, held: Held, numbers: N::Numbers) {
    if held.units > 0 {
        N::give_many_back(&slots.names, &slots.anyone, numbers, held.units);
        slots.give_back(held);
    }
}

impl<S: Deref<Target = Slots<N>>, N: Numbering> fmt::Debug for Permit<S, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = f.debug_struct("Permit");
        all.field("places", &self.held.units);
        if let Some(slots) = N::all(&self.slots.names, self.numbers, self.held.units) {
            all.field("slots", &slots);
        }
        all.finish_non_exhaustive()
    }
}
