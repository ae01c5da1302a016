//! Figure 1(b): a stack by fetch-and-add. Rooms keep pushes and pops apart.
//!
//! # Problem
//! A linearizable stack of bounded size in which pushes do not wait for each other, and neither do
//! pops.
//!
//! # Source
//! Blelloch, Cheng and Gibbons, Figure 1(b), for one element or several. Statement numbers are
//! ours. In print a push does not check for space.
//!
//! # Idea
//! Pushes among themselves need only a fetch-and-add of `top`, which gives each a slot of its own.
//! The same holds for pops. Only a pop concurrent with a push could read a slot that is not written
//! yet. A push that goes too far comes back before its turn ends: once one push found the stack
//! full, all later pushes of the same turn do.
//!
//! # Shared variables
//! | name       | range        | initially | home   | written at | meaning |
//! |------------|--------------|-----------|--------|------------|---------|
//! | `top`      | -pb..size+pb | 0         | nobody | 1, 2, 4, 5 | the number of elements, when no user is inside |
//! | `A[0..size]`| value       | anything  | nobody | 3          | the elements, in a [store](super::Store) |
//!
//! `b` is the length of the longest batch, at most `size`. Nothing overflows while `pb` is less
//! than `2^62`.
//!
//! # Cost, faults, fairness
//! At most two fetch-and-adds besides those of the rooms, however long a batch is. A user that
//! stops inside blocks the other room. A push takes effect at 1, a pop at 4.

use super::{Store, Top};
use crate::memory::{FetchAdd, Memory, Process, Site, in_both_forms, within};
use crate::rooms::{RoomSynchronization, or_refused};

/// The room of pushes, or enqueues.
pub const IN: usize = 0;
/// The room of pops, or dequeues.
pub const OUT: usize = 1;

/// The stack of Figure 1.
#[derive(Debug)]
pub struct RoomStack<M: Memory, R, S> {
    part: M::Part,
    rooms: R,
    size: usize,
    top: M::Var<Top>,
    store: S,
}

impl<M: Memory, R, S> RoomStack<M, R, S> {
    /// A stack for up to `size` elements, in that many slots of `store`. `rooms` builds two rooms.
    pub fn new(site: &Site<'_, M>, size: usize, store: S, rooms: impl FnOnce(&Site<'_, M>) -> R) -> Self {
        Self { part: site.here(), rooms: rooms(&site.part("rooms", None)), size, top: site.var("top", Top(0)), store }
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
}

impl<M: FetchAdd, R: RoomSynchronization<M>, S: Store<M>> RoomStack<M, R, S> {
    in_both_forms! {
        /// Adds the first `count` elements in hand, in this order, in one visit, as far as there is
        /// space. Returns how many it added, or why the rooms turned the user away.
        #[inline(always)]
        pub fn push, push_now(&self, p: &Process<M>, hand: &mut S::Hand, count: usize) -> Result<usize, R::Refusal> {'text: {
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
            let j = access!(here.at(1).keeping(&(&inside, most, S::told(hand))).fetch_add(&self.top, Top(most))).0;
            let fit = (self.size as i64 - j).clamp(0, most);
            if fit > 0 {
                within!(here, &(&inside, j, fit, most), access!(self.store.put(here, 3, j as usize, fit as usize, hand)));
            }
            if fit < most {
                access!(here.at(2)
                    .keeping(&(&inside, fit, most, S::told(hand)))
                    .fetch_add(&self.top, Top(fit - most)));
            }
            within!(here, &(fit, S::told(hand)), either!(self.rooms.exit(p, inside), self.rooms.exit_now(p, inside)));
            Ok(fit as usize)
        }}

        /// Takes up to `count` elements in one visit: those that were added last, in the order in
        /// which they were added. Returns how many it took, or why the rooms turned the user away.
        #[inline(always)]
        pub fn pop, pop_now(&self, p: &Process<M>, hand: &mut S::Hand, count: usize) -> Result<usize, R::Refusal> {'text: {
            let here = p.on(self.part);
            here.part(&(count, S::told(hand)));
            let entered = either!(or_refused(self.rooms.enter(p, OUT)), self.rooms.enter_now(p, OUT));
            let inside = match entered {
                Ok(inside) => inside,
                Err(refusal) => break 'text Err(refusal),
            };
            here.part_done();
            let most = count.min(self.size) as i64;
            let k = access!(here.at(4).keeping(&(&inside, most, S::told(hand))).fetch_add(&self.top, Top(-most))).0;
            let got = k.clamp(0, most);
            if got > 0 {
                within!(here, &(&inside, k, got, most), access!(self.store.take(here, 6, (k - got) as usize, got as usize, hand)));
            }
            if got < most {
                access!(here.at(5)
                    .keeping(&(&inside, got, most, S::told(hand)))
                    .fetch_add(&self.top, Top(most - got)));
            }
            within!(here, &(got, S::told(hand)), either!(self.rooms.exit(p, inside), self.rooms.exit_now(p, inside)));
            Ok(got as usize)
        }}

        /// The number of elements, if no user is inside: 13.
        pub fn len, len_now(&self, p: &Process<M>) -> usize {
            let top = access!(p.on(self.part).at(13).read(&self.top)).0;
            usize::try_from(top).unwrap_or(0).min(self.size)
        }
    }
}
