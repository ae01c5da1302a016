//! Figure 3: a queue by fetch-and-add. Rooms keep enqueues and dequeues apart.
//!
//! # Problem
//! A linearizable queue of bounded size in which enqueues do not wait for each other, and neither
//! do dequeues.
//!
//! # Source
//! Blelloch, Cheng and Gibbons, Figure 3, with its statement numbers, for one element or several.
//!
//! # Idea
//! As in the [stack](super::RoomStack), `top` and `bot` only ever move by fetch-and-add. A user
//! that went too far comes back within its turn, in which no other user can succeed any more.
//!
//! # Shared variables
//! | name        | range  | initially | home   | written at | meaning |
//! |-------------|--------|-----------|--------|------------|---------|
//! | `top`       | 0..2^w | 0         | nobody | 22, 24     | where the next element goes |
//! | `bot`       | 0..2^w | 0         | nobody | 34, 36     | where the first element is |
//! | `A[0..size]`| value  | anything  | nobody | 27         | the elements, element `j` in `A[j mod size]`, in a [store](super::Store) |
//!
//! `size` is a power of two, so that numbers that wrap keep their slots. `2^w > 2 (size + pb)`,
//! since `top - bot` can be `size + pb` or `-pb` for a while; `b` is the length of the longest
//! batch, at most `size`.
//!
//! # Cost, faults, fairness
//! At most two fetch-and-adds besides those of the rooms, however long a batch is. An enqueue takes
//! effect at 22, a dequeue at 34.

use super::{Count, IN, Number, OUT, Store};
use crate::memory::{FetchAdd, Memory, Process, Site, decl, fit, in_both_forms, within};
use crate::rooms::{RoomSynchronization, or_refused};

/// The queue of Figure 3. Positions have the type `N`.
#[derive(Debug)]
pub struct RoomQueue<M: Memory, R, S, N: Number = Count> {
    part: M::Part,
    rooms: R,
    size: usize,
    bits: u32,
    top: M::Var<N>,
    bot: M::Var<N>,
    store: S,
}

/// The smallest number of bits that suffices for `p` users of a queue of this size, each with one
/// element. Batches count as `size` times as many users.
#[must_use]
pub const fn bits_of_a_queue(size: usize, p: usize) -> u32 {
    let far = 2 * (size.next_power_of_two() as u64 + p as u64);
    (far + 1).next_power_of_two().trailing_zeros()
}

impl<M: Memory, R, S, N: Number> RoomQueue<M, R, S, N> {
    /// A queue for up to `size` elements, a power of two, in that many slots of `store`. `rooms`
    /// builds two rooms. Numbers have `bits` bits.
    pub fn new(site: &Site<'_, M>, size: usize, bits: u32, store: S, rooms: impl FnOnce(&Site<'_, M>) -> R) -> Self {
        debug_assert!(size.is_power_of_two(), "numbers that wrap keep their slots only if the size is a power of two");
        Self {
            part: site.here(),
            rooms: rooms(&site.part("rooms", None)),
            size,
            bits,
            top: site.var("top", decl(N::of(0)).wraps_at(bits)),
            bot: site.var("bot", decl(N::of(0)).wraps_at(bits)),
            store,
        }
    }

    /// The largest number of elements.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// The rooms.
    pub fn rooms(&self) -> &R {
        &self.rooms
    }

    /// The elements, to be changed while no user is inside.
    pub fn store_mut(&mut self) -> &mut S {
        &mut self.store
    }

    /// `a - b`, for numbers that wrap.
    #[inline(always)]
    fn between(&self, a: N, b: N) -> i64 {
        let between = a.value().wrapping_sub(b.value());
        if N::WHOLE { between as i64 } else { fit::<i64>(between, self.bits) as i64 }
    }

    #[inline(always)]
    fn slot(&self, j: N) -> usize {
        j.value() as usize & (self.size - 1)
    }
}

impl<M: FetchAdd, R: RoomSynchronization<M>, S: Store<M>, N: Number> RoomQueue<M, R, S, N> {
    in_both_forms! {
        /// Adds the first `count` elements in hand at the end, in this order, in one visit, as far
        /// as there is space. Returns how many it added, or why the rooms turned the user away.
        #[inline(always)]
        pub fn enqueue, enqueue_now(&self, p: &Process<M>, hand: &mut S::Hand, count: usize) -> Result<usize, R::Refusal> {'text: {
            let here = p.on(self.part);
            here.part(&(count, S::told(hand)));
            let entered = either!(or_refused(self.rooms.enter(p, IN)), self.rooms.enter_now(p, IN));
            let inside = match entered {
                Ok(inside) => inside,
                Err(refusal) => break 'text Err(refusal),
            };
            here.part_done();
            // More can never fit, and the sum of all requests must not overflow.
            let most = count.min(self.size) as i64;
            let j = access!(here.at(22)
                .keeping(&(&inside, most, S::told(hand)))
                .fetch_add(&self.top, N::of(most as u64)));
            let taken = self.between(j, access!(here.at(23)
                .keeping(&(&inside, j, most, S::told(hand)))
                .read(&self.bot)));
            let fit = (self.size as i64 - taken).clamp(0, most);
            if fit > 0 {
                within!(here, &(&inside, j, fit, most), access!(self.store.put(here, 27, self.slot(j), fit as usize, hand)));
            }
            if fit < most {
                access!(here.at(24)
                    .keeping(&(&inside, fit, most, S::told(hand)))
                    .fetch_add(&self.top, N::of((fit - most) as u64)));
            }
            within!(here, &(fit, S::told(hand)), either!(self.rooms.exit(p, inside), self.rooms.exit_now(p, inside)));
            Ok(fit as usize)
        }}

        /// Takes the first elements in one visit: `count` of them, or all if there are fewer.
        /// Returns how many it took, or why the rooms turned the user away.
        #[inline(always)]
        pub fn dequeue, dequeue_now(&self, p: &Process<M>, hand: &mut S::Hand, count: usize) -> Result<usize, R::Refusal> {'text: {
            let here = p.on(self.part);
            here.part(&(count, S::told(hand)));
            let entered = either!(or_refused(self.rooms.enter(p, OUT)), self.rooms.enter_now(p, OUT));
            let inside = match entered {
                Ok(inside) => inside,
                Err(refusal) => break 'text Err(refusal),
            };
            here.part_done();
            let most = count.min(self.size) as i64;
            let j = access!(here.at(34)
                .keeping(&(&inside, most, S::told(hand)))
                .fetch_add(&self.bot, N::of(most as u64)));
            let there = self.between(access!(here.at(35)
                .keeping(&(&inside, j, most, S::told(hand)))
                .read(&self.top)), j);
            let got = there.clamp(0, most);
            if got > 0 {
                within!(here, &(&inside, j, got, most), access!(self.store.take(here, 39, self.slot(j), got as usize, hand)));
            }
            if got < most {
                access!(here.at(36)
                    .keeping(&(&inside, got, most, S::told(hand)))
                    .fetch_add(&self.bot, N::of((got - most) as u64)));
            }
            within!(here, &(got, S::told(hand)), either!(self.rooms.exit(p, inside), self.rooms.exit_now(p, inside)));
            Ok(got as usize)
        }}

        /// The slot of the first element and the number of elements, if no user is inside: 40, 41.
        pub fn extent, extent_now(&self, p: &Process<M>) -> (usize, usize) {
            let here = p.on(self.part);
            let top = access!(here.at(40).read(&self.top));
            let bot = access!(here.at(41).keeping(&top).read(&self.bot));
            (self.slot(bot), usize::try_from(self.between(top, bot)).unwrap_or(0).min(self.size))
        }
    }
}
