//! Guards of observed objects.

use super::book::{Book, By};
use super::status::Site;
use super::trace;
use crate::pool::{Lease, Loan, Managed, Manager, Pool, Usage};
use crate::slots::{KnowsSlots, NotMine, Numbered, Permit, Slots};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A place in [`observed::Slots`](super::Slots). The guard borrows the slots.
pub type SlotGuard<'a, N = Numbered> = Held<crate::SlotGuard<'a, N>, &'a Book>;
/// A place in [`observed::Slots`](super::Slots). The guard owns a reference, so it can move
/// anywhere.
pub type OwnedSlotGuard<N = Numbered> = Held<crate::OwnedSlotGuard<N>, Arc<Book>>;
/// A value of an [`observed::Pool`](super::Pool). The guard borrows the pool.
pub type Lent<'a, T> = Held<crate::Lent<'a, T>, &'a Book>;
/// A value of an [`observed::Pool`](super::Pool). The guard owns a reference, so it can move
/// anywhere.
pub type OwnedLent<T> = Held<crate::OwnedLent<T>, Arc<Book>>;
/// A value of an [`observed::Managed`](super::Managed) pool. The guard borrows the pool.
pub type Leased<'a, M> = Held<crate::pool::Leased<'a, M>, &'a Book>;
/// A value of an [`observed::Managed`](super::Managed) pool. The guard owns a reference, so it can
/// move anywhere.
pub type OwnedLeased<M> = Held<crate::pool::OwnedLeased<M>, Arc<Book>>;

/// A guard of an observed object; see [`SlotGuard`], [`Lent`] and [`Leased`].
///
/// Use it like the guard inside: a guard of places dereferences to a [`Permit`], and a loan to its
/// value.
///
/// # Examples
/// ```
/// let gpus = doorway::Slots::new(2)?.observed("gpus");
/// let mine = gpus.acquire()?;
/// assert_eq!((mine.slot(), mine.places()), (0, 1));
/// assert_eq!(gpus.status().holders[0].fence, mine.fence());
///
/// let buffers = doorway::Pool::new([vec![1], vec![2]])?.observed("buffers");
/// let mut lent = buffers.acquire()?;
/// lent.push(3);
/// assert_eq!((lent.slot(), &*lent), (0, &vec![1, 3]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "the place is given back as soon as this is dropped"]
pub struct Held<G, B: Deref<Target = Book>> {
    // `mark` is declared first: its record goes before the guard does, so a slot that is shown as
    // held is held.
    mark: Mark<B>,
    guard: G,
}

/// Slots that are recorded as held until this is dropped.
struct Mark<B: Deref<Target = Book>> {
    book: B,
    slots: Marked,
}

/// Most guards hold one place and need no list.
enum Marked {
    One(usize),
    Several(Vec<usize>),
}

impl Marked {
    fn of<S: Deref<Target = Slots<N>>, N: KnowsSlots>(permit: &Permit<S, N>) -> Self {
        if permit.places() == 1 { Self::One(permit.slot()) } else { Self::Several(permit.slots()) }
    }

    fn all(&self) -> &[usize] {
        match self {
            Self::One(slot) => std::slice::from_ref(slot),
            Self::Several(slots) => slots,
        }
    }
}

impl<B: Deref<Target = Book>> Drop for Mark<B> {
    fn drop(&mut self) {
        if let [first, ..] = *self.slots.all() {
            let held = self.book.leaves(self.slots.all());
            trace::left(self.book.name(), first, held);
        }
    }
}

impl<S: Deref<Target = Slots<N>>, N: KnowsSlots, B: Deref<Target = Book>> Held<Permit<S, N>, B> {
    pub(super) fn new(guard: Permit<S, N>, book: B, site: Site, by: &By, at_once: bool) -> Self {
        let mark = Mark { book, slots: Marked::of(&guard) };
        mark.book.enters(mark.slots.all(), guard.fence(), site, by, at_once);
        Self { mark, guard }
    }

    /// See [`Permit::forget`].
    pub fn forget(self) {
        let Self { mark, guard } = self;
        drop(mark);
        guard.forget();
    }

    /// See [`Permit::split`]. Both parts count as held since the whole was acquired.
    ///
    /// # Examples
    /// ```
    /// let slots = doorway::Slots::new(3)?.observed("gpus");
    /// let mut most = slots.acquire_many(3)?;
    /// let one = most.split(1).unwrap();
    /// drop(most);
    /// let status = slots.status();
    /// assert_eq!((status.holders.len(), status.holders[0].slot), (1, one.slot()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn split(&mut self, places: usize) -> Option<Self>
    where
        S: Clone,
        B: Clone,
    {
        let book = self.mark.book.clone();
        let other = self.guard.split(places)?;
        self.mark.slots = Marked::of(&self.guard);
        Some(Self { mark: Mark { book, slots: Marked::of(&other) }, guard: other })
    }

    /// See [`Permit::merge`]. Each place keeps its time and its call site.
    ///
    /// # Errors
    /// Gives the other guard back if it belongs to other slots.
    pub fn merge(&mut self, other: Self) -> Result<(), NotMine<Self>> {
        let Self { mut mark, guard } = other;
        if let Err(NotMine(guard)) = self.guard.merge(guard) {
            return Err(NotMine(Self { mark, guard }));
        }
        mark.slots = Marked::Several(Vec::new()); // they are recorded as ours now
        self.mark.slots = Marked::of(&self.guard);
        self.mark.book.has_fence(self.mark.slots.all(), self.guard.fence());
        Ok(())
    }

    /// Turns the place into a loan of its value.
    pub(super) fn lends<L>(self, lend: impl FnOnce(Permit<S, N>) -> L) -> Held<L, B> {
        let Self { mark, guard } = self;
        Held { mark, guard: lend(guard) }
    }
}

/// Gives shared access only. A change to the permit would bypass the record.
impl<S: Deref<Target = Slots<N>>, N: KnowsSlots, B: Deref<Target = Book>> Deref for Held<Permit<S, N>, B> {
    type Target = Permit<S, N>;
    #[inline]
    fn deref(&self) -> &Permit<S, N> {
        &self.guard
    }
}

impl<T, P, S, B> Held<Loan<T, P, S>, B>
where
    P: Deref<Target = Pool<T>>,
    S: Deref<Target = Slots>,
    B: Deref<Target = Book>,
{
    /// The index of the value.
    #[must_use]
    pub fn slot(&self) -> usize {
        self.guard.slot()
    }

    /// See [`Permit::fence`].
    #[must_use]
    pub fn fence(&self) -> u64 {
        self.guard.fence()
    }

    /// See [`Loan::take`].
    #[must_use = "to give a value back, drop its guard"]
    pub fn take(self) -> T {
        let Self { mark, guard } = self;
        drop(mark);
        guard.take()
    }
}

impl<T, P, S, B> Deref for Held<Loan<T, P, S>, B>
where
    P: Deref<Target = Pool<T>>,
    S: Deref<Target = Slots>,
    B: Deref<Target = Book>,
{
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T, P, S, B> DerefMut for Held<Loan<T, P, S>, B>
where
    P: Deref<Target = Pool<T>>,
    S: Deref<Target = Slots>,
    B: Deref<Target = Book>,
{
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

impl<M, P, S, B> Held<Lease<M, P, S>, B>
where
    M: Manager,
    P: Deref<Target = Managed<M>>,
    S: Deref<Target = Slots>,
    B: Deref<Target = Book>,
{
    /// The loan's slot.
    #[must_use]
    pub fn slot(&self) -> usize {
        self.guard.slot()
    }

    /// See [`Lease::usage`].
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.guard.usage()
    }

    /// See [`Lease::take`].
    #[must_use = "to give a value back, drop its guard"]
    pub fn take(self) -> M::Value {
        let Self { mark, guard } = self;
        drop(mark);
        guard.take()
    }
}

impl<M, P, S, B> Deref for Held<Lease<M, P, S>, B>
where
    M: Manager,
    P: Deref<Target = Managed<M>>,
    S: Deref<Target = Slots>,
    B: Deref<Target = Book>,
{
    type Target = M::Value;
    #[inline]
    fn deref(&self) -> &M::Value {
        &self.guard
    }
}

impl<M, P, S, B> DerefMut for Held<Lease<M, P, S>, B>
where
    M: Manager,
    P: Deref<Target = Managed<M>>,
    S: Deref<Target = Slots>,
    B: Deref<Target = Book>,
{
    #[inline]
    fn deref_mut(&mut self) -> &mut M::Value {
        &mut self.guard
    }
}

impl<G: fmt::Debug, B: Deref<Target = Book>> fmt::Debug for Held<G, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Held").field(&self.guard).finish()
    }
}
