//! Guards: what a holder has.

use super::errors::NotMine;
use super::{ANYONE, KnowsSlots, Numbered, Numbering, Slots};
use crate::native::{Cell, Native, now, sure};
use doorway_core::k_assignment::names::Names;
use doorway_core::k_assignment::{Fence, Grant, Holding, Retired};
use doorway_core::k_exclusion::bypass::{Rest, Tray};
use doorway_core::k_exclusion::turnstile::{Held, Unsettled};
use doorway_core::memory::Word;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

/// A place in [`Slots`]. The guard borrows the slots.
pub type SlotGuard<'a, N = Numbered> = Permit<&'a Slots<N>, N>;
/// A place in [`Slots`]. The guard owns a reference, so it can move anywhere.
pub type OwnedSlotGuard<N = Numbered> = Permit<Arc<Slots<N>>, N>;

/// One place, or several. Dropping this gives them back, even while a panic unwinds.
///
/// Forgetting a guard by `mem::forget` **counts as a crash inside**: its place and its slot are
/// lost, and the others go on with the places that are left. The method [`forget`](Self::forget) is
/// different: it removes the places properly.
#[must_use = "the place is given back as soon as this is dropped"]
pub struct Permit<S: Deref<Target = Slots<N>>, N: Numbering> {
    slots: S,
    /// Has no places once they have gone another way.
    holding: Holding,
    /// Made when it is asked for.
    fence: Cell<Fence>,
    numbering: PhantomData<fn() -> N>,
}

impl<N: KnowsSlots, S: Deref<Target = Slots<N>>> Permit<S, N> {
    /// The slot number: one of `0..k`, the lowest that was free. No other guard has it. For a guard
    /// that holds several places, this is the first of its [`slots`](Self::slots).
    ///
    /// The slot is free again when the guard is dropped. A guard that was forgotten (`mem::forget`)
    /// keeps it for ever.
    ///
    /// # Examples
    /// ```
    /// let slots = doorway::Slots::new(2)?;
    /// let (a, b) = (slots.acquire()?, slots.acquire()?);
    /// assert_eq!((a.slot(), b.slot()), (0, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn slot(&self) -> usize {
        self.holding.name() as usize
    }

    /// All slots, one for each place: in ascending order, unless other guards gave theirs back
    /// meanwhile.
    ///
    /// # Examples
    /// ```
    /// let slots = doorway::Slots::new(3)?;
    /// let _first = slots.acquire()?;
    /// assert_eq!(slots.acquire_many(2)?.slots(), [1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn slots(&self) -> Vec<usize> {
        self.all_slots()
    }
}

impl<S: Deref<Target = Slots<Numbered>>> Permit<S, Numbered> {
    /// Removes the guard's one place and leaves its slot taken. No other guard gets that slot until
    /// it is [revived](Slots::revive).
    pub(crate) fn retire(mut self) -> Retired {
        let holding = self.take_holding();
        sure(now(self.slots.text.retire(&ANYONE, holding)))
    }
}

impl<N: Numbering> SlotGuard<'_, N> {
    /// The same guard, with a reference to its slots.
    pub(crate) fn owned(mut self, slots: &Arc<Slots<N>>) -> OwnedSlotGuard<N> {
        debug_assert!(std::ptr::eq(self.slots, &raw const **slots), "it belongs to other slots");
        let fence = self.own_fence();
        Permit::of(Arc::clone(slots), self.take_holding(), fence)
    }
}

impl Slots {
    /// Adds a place again for a slot that was [retired](Permit::retire).
    pub(crate) fn revive(&self, slot: Retired) {
        sure(now(self.text.revive(&ANYONE, slot)));
    }
}

impl<N: Numbering, S: Deref<Target = Slots<N>>> Permit<S, N> {
    #[inline(always)]
    pub(super) fn new(slots: S, Grant { holding, ticket }: Grant) -> Self {
        Self { slots, holding, fence: Cell::of_word_early(Fence::word_of(ticket)), numbering: PhantomData }
    }

    fn of(slots: S, holding: Holding, fence: Fence) -> Self {
        Self { slots, holding, fence: Cell::of_word_early(fence.pack()), numbering: PhantomData }
    }

    /// Takes out what the guard holds, because it goes another way than by dropping the guard.
    fn take_holding(&mut self) -> Holding {
        let holding = self.holding;
        self.holding = holding.of_nothing();
        holding
    }

    /// What the fence number is, or will be made from.
    fn own_fence(&self) -> Fence {
        self.fence.value()
    }

    /// The number of places that the guard holds.
    #[must_use]
    pub fn places(&self) -> usize {
        self.holding.units()
    }

    fn all_slots(&self) -> Vec<usize> {
        let mut slot = self.holding.name();
        let mut all = Vec::with_capacity(self.places());
        for more in (0..self.places()).rev() {
            all.push(slot as usize);
            // Only a slot that is held together with another one has a next one.
            if more > 0 {
                slot = sure(now(self.slots.text.next_name(&ANYONE, slot)));
            }
        }
        all
    }

    /// The fence number. You may call this at any time and from any thread: until it is
    /// [merged](Self::merge) with another guard, the guard has the same number.
    ///
    /// The number is larger than that of every guard that was granted before this one was asked
    /// for, and larger than that of every earlier guard of the same slot. For guards that were
    /// asked for at the same time, nothing is promised. The number protects a resource from a
    /// holder that was thought dead: let the resource remember the largest number that it has seen,
    /// and refuse smaller ones. With several holders at a time, let it remember one number for each
    /// slot.
    ///
    /// The parts of a guard that is [split](Self::split) keep its number. A guard that was merged
    /// has the larger number of the two, and counts as asked for and granted when the later one
    /// was. [Without numbers](Slots::without_numbers) there are no slots, and only the first half
    /// of the promise holds. Comparing numbers of different slots is meaningless after 2^46
    /// acquires (2^54 with up to 256 places); the numbers of one slot always grow.
    ///
    /// # Examples
    /// ```
    /// let slots = doorway::Slots::new(1)?;
    /// let late = slots.acquire()?;
    /// slots.add(1)?; // the holder is thought dead
    /// let successor = slots.acquire()?;
    /// assert!(successor.fence() > late.fence()); // also if it asks later
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn fence(&self) -> u64 {
        sure(now(self.slots.text.fence(&ANYONE, self.holding, &self.fence)))
    }

    /// Drops the guard and removes its places, so there are fewer places from now on. Its slot
    /// numbers are free again.
    ///
    /// # Examples
    /// ```
    /// let slots = doorway::Slots::new(2)?;
    /// slots.acquire()?.forget();
    /// assert_eq!((slots.places(), slots.available()), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn forget(mut self) {
        let holding = self.take_holding();
        sure(now(self.slots.text.forget(&ANYONE, holding)));
    }

    /// The slots that this guard belongs to.
    ///
    /// # Examples
    /// ```
    /// let slots = doorway::Slots::new(2)?;
    /// let one = slots.acquire()?;
    /// assert_eq!(one.issuer().available(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn issuer(&self) -> &S {
        &self.slots
    }

    /// Takes over the places of another guard: the opposite of [`split`](Self::split). The result
    /// has the larger of the two [fence numbers](Self::fence).
    ///
    /// # Errors
    /// Returns the other guard, in the error, if it belongs to other slots.
    ///
    /// # Examples
    /// ```
    /// let slots = doorway::Slots::new(3)?;
    /// let mut mine = slots.acquire()?;
    /// mine.merge(slots.acquire()?).expect("they are of the same slots");
    /// assert_eq!((mine.slots(), slots.available()), (vec![0, 1], 1));
    /// drop(mine);
    /// assert_eq!(slots.available(), 3);
    ///
    /// let others = doorway::Slots::new(1)?;
    /// let refused = slots.acquire()?.merge(others.acquire()?);
    /// assert_eq!(refused.unwrap_err().0.places(), 1); // it comes back
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn merge(&mut self, mut other: Self) -> Result<(), NotMine<Self>> {
        if !std::ptr::eq(&raw const *self.slots, &raw const *other.slots) {
            return Err(NotMine(other));
        }
        let (mine, more) = (self.take_holding(), other.take_holding());
        let merged = self.slots.text.merge(&ANYONE, (mine, &self.fence), (more, &other.fence));
        let (holding, fence) = sure(now(merged));
        (self.holding, self.fence) = (holding, Cell::of_word_early(fence.pack()));
        Ok(())
    }

    /// Splits a guard that holds several places in two.
    ///
    /// The second guard gets `places` places, those with the last slots. Both guards have the same
    /// [fence number](Self::fence). Returns `None` unless both would hold at least one place.
    ///
    /// # Examples
    /// ```
    /// let slots = doorway::Slots::new(3)?;
    /// let mut most = slots.acquire_many(3)?;
    /// let one = most.split(1).unwrap();
    /// assert_eq!((most.slots(), one.slot()), (vec![0, 1], 2));
    /// assert!(most.split(0).is_none() && most.split(2).is_none());
    /// drop(most);
    /// assert_eq!(slots.available(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn split(&mut self, places: usize) -> Option<Self>
    where
        S: Clone,
    {
        // Before anything changes: cloning a handle is user code, and may panic.
        let slots = self.slots.clone();
        let split = self.slots.text.split(&ANYONE, self.holding, &self.fence, places as u64);
        let (mine, other, fence) = sure(now(split))?;
        self.holding = mine;
        Some(Self::of(slots, other, fence))
    }
}

impl<S: Deref<Target = Slots<N>>, N: Numbering> Drop for Permit<S, N> {
    #[inline(always)] // outlined, the guard is in memory, and getting in and out takes three times as long
    fn drop(&mut self) {
        let slots = &*self.slots;
        if N::PASSES
            && let Some(tray) = slots.tray()
        {
            if !self.holding.is_one_at_once() || !slots.text.has_few_names() {
                give_back(slots, self.holding);
            } else if let rest @ (Rest::Door | Rest::Settle(_) | Rest::Left(_)) =
                slots.text.end_passing_now(&ANYONE, tray, self.holding)
            {
                settle_passing(slots, tray, rest);
            }
        } else if !self.holding.is_one_at_once() || !slots.text.has_few_names() {
            give_back(slots, self.holding);
        } else if let Some(unsettled) = slots.text.end_now(&ANYONE, self.holding) {
            slots.settle_at_once(unsettled);
        }
    }
}

impl<N: Numbering> Slots<N> {
    /// For a guard of one place that did not wait. It passes on nothing else, because the compiler
    /// does not inline large arguments.
    #[cold]
    #[inline(never)]
    fn settle_at_once(&self, unsettled: Unsettled) {
        self.text.settle_now(&ANYONE, Held::of(1, false), unsettled);
    }
}

/// The rest of an exit while another caller waits.
#[inline(never)]
fn settle_passing<N: Numbering>(slots: &Slots<N>, tray: &Tray<Native>, rest: Rest) {
    sure(now(slots.text.settle_passing(&ANYONE, tray, rest)));
}

#[inline(never)]
fn give_back<N: Numbering>(slots: &Slots<N>, holding: Holding) {
    match holding.units() {
        0 => {}
        _ if N::PASSES => sure(now(slots.text.give_back(&ANYONE, slots.tray(), holding))),
        1 => {
            if let Some(unsettled) = slots.text.end_now(&ANYONE, holding) {
                slots.text.settle_now(&ANYONE, holding.held(), unsettled);
            }
        }
        _ => sure(now(slots.text.give_holding_back(&ANYONE, holding))),
    }
    if holding.held().announced {
        Native::let_others_go_first();
    }
}

impl<S: Deref<Target = Slots<N>>, N: Numbering> fmt::Debug for Permit<S, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = f.debug_struct("Permit");
        all.field("places", &self.places());
        if N::SlotNames::NAMED {
            all.field("slots", &self.all_slots());
        }
        all.finish_non_exhaustive()
    }
}
