//! Where the elements of stacks and queues lie: behind the words, as values of any type; or in
//! words, for machines that run every interleaving.

use crate::memory::{Here, Label, Memory, ReadWrite, Site};
use alloc::vec::Vec;
use core::fmt::Debug;
use core::future::Future;

/// Slots with elements, numbered from 0: plain memory, which the implementation need not protect.
///
/// The texts guarantee that a slot is written only in the room of users that put, is read only in
/// the room of users that take, and is accessed by one user in each turn. Any other caller must
/// guarantee the same.
pub trait Store<M: Memory> {
    /// Elements that a user holds: those to be put, or space for those to be taken.
    type Hand;

    /// A value that identifies a hand, for checkers.
    fn told(hand: &Self::Hand) -> impl Debug;

    /// Moves the first `count` elements in hand to the slots starting at `slot`. The first slot
    /// follows the last one.
    fn put(
        &self,
        p: Here<'_, M>,
        label: Label,
        slot: usize,
        count: usize,
        hand: &mut Self::Hand,
    ) -> impl Future<Output = Result<(), M::Error>>;

    /// Moves `count` elements from the slots starting at `slot` to the end of those in hand. The
    /// first slot follows the last one.
    fn take(
        &self,
        p: Here<'_, M>,
        label: Label,
        slot: usize,
        count: usize,
        hand: &mut Self::Hand,
    ) -> impl Future<Output = Result<(), M::Error>>;
}

/// Slots in segments, to which more segments can be added.
pub trait SegmentStore<M: Memory>: Store<M> {
    /// The largest number of segments.
    fn most_segments(&self) -> usize;

    /// The number of slots in the first `segments` segments.
    fn slots(&self, segments: usize) -> usize;

    /// Makes this segment, which must be the first missing one. Returns `false` if there is no
    /// memory for it. Only the last one out of a room may call this, when no user is inside.
    fn grow(&self, segment: usize) -> bool;
}

/// Slots in a row of variables called `A`.
#[derive(Debug)]
pub struct InWords<M: Memory> {
    size: usize,
    slots: M::Row<u64>,
}

impl<M: Memory> InWords<M> {
    /// `size` slots. `unwritten` is the value of a slot before it is written.
    pub fn new(site: &Site<'_, M>, size: usize, unwritten: u64) -> Self {
        Self { size, slots: site.row("A", size, |_| unwritten.into()) }
    }
}

impl<M: ReadWrite> Store<M> for InWords<M> {
    type Hand = Vec<u64>;

    fn told(hand: &Vec<u64>) -> impl Debug {
        hand
    }

    async fn put(
        &self,
        p: Here<'_, M>,
        label: Label,
        slot: usize,
        count: usize,
        hand: &mut Vec<u64>,
    ) -> Result<(), M::Error> {
        put_one_by_one(p, label, count, hand, |i| &self.slots[(slot + i) % self.size]).await
    }

    async fn take(
        &self,
        p: Here<'_, M>,
        label: Label,
        slot: usize,
        count: usize,
        hand: &mut Vec<u64>,
    ) -> Result<(), M::Error> {
        take_one_by_one(p, label, count, hand, |i| &self.slots[(slot + i) % self.size]).await
    }
}

async fn put_one_by_one<'s, M: ReadWrite>(
    p: Here<'_, M>,
    label: Label,
    count: usize,
    hand: &mut Vec<u64>,
    slot: impl Fn(usize) -> &'s M::Cell<u64>,
) -> Result<(), M::Error>
where
    M::Cell<u64>: 's,
{
    for i in 0..count {
        p.at(label).keeping(&(i, count, &*hand)).write(slot(i), hand[i]).await?;
    }
    hand.drain(..count);
    Ok(())
}

async fn take_one_by_one<'s, M: ReadWrite>(
    p: Here<'_, M>,
    label: Label,
    count: usize,
    hand: &mut Vec<u64>,
    slot: impl Fn(usize) -> &'s M::Cell<u64>,
) -> Result<(), M::Error>
where
    M::Cell<u64>: 's,
{
    for i in 0..count {
        hand.push(p.at(label).keeping(&(i, count, &*hand)).read(slot(i)).await?);
    }
    Ok(())
}

const SEGMENTS: [&str; 4] = ["segment0", "segment1", "segment2", "segment3"];

/// The segment of element `e` and its place in it, if the first segment has `first` slots.
///
/// ```
/// use doorway_core::rooms::blelloch_cheng_gibbons_01::place;
/// assert_eq!([0, 1, 2, 3, 5, 6].map(|e| place(2, e)), [(0, 0), (0, 1), (1, 0), (1, 1), (1, 3), (2, 0)]);
/// ```
#[must_use]
pub const fn place(first: usize, e: usize) -> (usize, usize) {
    let segment = (e / first + 1).ilog2() as usize;
    (segment, e - first * ((1 << segment) - 1))
}

/// Segments in rows of variables called `segment0` and so on.
#[derive(Debug)]
pub struct InSegments<M: Memory> {
    first: usize,
    /// The number of segments that the text believes to be possible.
    promised: usize,
    segments: Vec<M::Row<u64>>,
}

impl<M: Memory> InSegments<M> {
    /// The first of `segments` segments (up to 4) has `first` slots. `unwritten` is the value of a
    /// slot before it is written.
    pub fn new(site: &Site<'_, M>, first: usize, segments: usize, unwritten: u64) -> Self {
        let segment = |(i, name): (usize, &&'static str)| site.row(name, first << i, |_| unwritten.into());
        let segments: Vec<_> = SEGMENTS.iter().take(segments.max(1)).enumerate().map(segment).collect();
        Self { first, promised: segments.len(), segments }
    }

    /// Makes memory run out after these segments, which a user learns only when it asks for
    /// another.
    #[must_use]
    pub fn that_runs_out(self) -> Self {
        Self { promised: self.promised + 1, ..self }
    }

    /// The largest number of elements.
    #[must_use]
    pub fn most(first: usize, segments: usize) -> usize {
        first * ((1 << segments.clamp(1, SEGMENTS.len())) - 1)
    }

    fn slot(&self, e: usize) -> &M::Cell<u64> {
        let (segment, at) = place(self.first, e);
        &self.segments[segment][at]
    }
}

impl<M: ReadWrite> Store<M> for InSegments<M> {
    type Hand = Vec<u64>;

    fn told(hand: &Vec<u64>) -> impl Debug {
        hand
    }

    async fn put(
        &self,
        p: Here<'_, M>,
        label: Label,
        slot: usize,
        count: usize,
        hand: &mut Vec<u64>,
    ) -> Result<(), M::Error> {
        put_one_by_one(p, label, count, hand, |i| self.slot(slot + i)).await
    }

    async fn take(
        &self,
        p: Here<'_, M>,
        label: Label,
        slot: usize,
        count: usize,
        hand: &mut Vec<u64>,
    ) -> Result<(), M::Error> {
        take_one_by_one(p, label, count, hand, |i| self.slot(slot + i)).await
    }
}

impl<M: ReadWrite> SegmentStore<M> for InSegments<M> {
    fn most_segments(&self) -> usize {
        self.promised
    }

    fn slots(&self, segments: usize) -> usize {
        self.first * ((1 << segments) - 1)
    }

    fn grow(&self, segment: usize) -> bool {
        segment < self.segments.len()
    }
}
