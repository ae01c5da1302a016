//! A stack that grows by segments: nothing is ever copied.
//!
//! # Problem
//! The problem of the [stack of Figure 4](super::DynamicStack), for any number of pushes in a turn,
//! of one element or several, and with memory that can run out.
//!
//! # Source
//! Our own, based on Figure 4 of Blelloch, Cheng and Gibbons. Statement numbers are ours.
//!
//! # Idea
//! Segment `s` has `first * 2^s` slots, and an element stays where it was put. A push that finds no
//! space asks for another segment. The last one out of the push room makes it, because only then
//! can no user be looking at the table of segments.
//!
//! # Shared variables
//! | name       | range      | initially | home   | written at | meaning |
//! |------------|------------|-----------|--------|------------|---------|
//! | `top`      | -pb..size+pb | 0       | nobody | 1, 3, 5, 6 | the number of elements, when no user is inside |
//! | `start`    | bool       | no        | nobody | 2, 13      | whether a user found no space in this turn |
//! | `doubled`  | 0..g       | 0         | nobody | 14         | the last segment that exists |
//! | `segment0`, ... | value | anything  | nobody | 4          | the segments, in a [store](SegmentStore) |
//!
//! `b` is the length of the longest batch, at most `2^40`. Nothing overflows while `pb` is less
//! than `2^62`.
//!
//! # Why
//! - *no memory*: a push that asked for a segment, and finds the same number of segments in its
//!   next turn, knows that there was no memory: the last one out of the turn in which it asked has
//!   tried. No flag is necessary for that, and no user asks forever.
//!
//! # Cost, faults, fairness
//! As for [Figure 4](super::DynamicStack), without its copying. Pushes in a turn are not limited,
//! so other users can fill a new segment before a user that tries again: once for each doubling
//! (checked).

use super::{IN, Inside, OUT, Rooms, SegmentStore, Top, Whole};
use crate::Failure;
use crate::memory::{CompareSwap, FetchAdd, Here, Immediate, Memory, Process, ReadWrite, Site, in_both_forms, within};
use crate::rooms::{LastOut, Lit, Refusal, or_refused};
use core::fmt::Debug;

/// The largest number of elements that are put or taken at once, so that `top` does not overflow.
const AT_ONCE: usize = 1 << if usize::BITS > 40 { 40 } else { usize::BITS - 1 };

/// The state that the last one out of the push room maintains: the segments, and the number of
/// elements in them.
#[derive(Debug)]
pub struct Segments<M: Memory, S> {
    part: M::Part,
    start: M::Var<bool>,
    doubled: M::Var<Whole>,
    top: M::Var<Top>,
    store: S,
}

impl<M: Memory, S> Segments<M, S> {
    /// The first segment of `store` must exist.
    pub fn new(site: &Site<'_, M>, store: S) -> Self {
        Self {
            part: site.here(),
            start: site.var("start", false),
            doubled: site.var("doubled", Whole(0)),
            top: site.var("top", Top(0)),
            store,
        }
    }

    /// The elements.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// The number of elements, when no user is inside.
    pub fn top(&self) -> &M::Cell<Top> {
        &self.top
    }
}

impl<M: ReadWrite, S: SegmentStore<M>> Segments<M, S> {
    in_both_forms! {
        /// After a turn of the push room: 12 to 14.
        #[inline(always)]
        pub fn grow_if_asked, grow_if_asked_now(&self, p: &Process<M>) -> () {
            let p = p.on(self.part);
            if access!(p.at(12).keeping(&()).read(&self.start)) {
                either!(self.grow(p), self.grow_now(p));
            }
        }

        /// Statements 13 and 14.
        #[inline(never)]
        fn grow, grow_now(&self, p: Here<'_, M>) -> () {
            access!(p.at(13).keeping(&()).write(&self.start, false));
            let doubled = access!(p.at(14).keeping(&()).read(&self.doubled)).0;
            if self.store.grow(doubled as usize + 1) {
                access!(p.at(14).keeping(&doubled).write(&self.doubled, Whole(doubled + 1)));
            }
        }

        /// The number of elements that fit now: 15.
        pub fn size, size_now(&self, p: &Process<M>) -> usize {
            self.store.slots(access!(p.on(self.part).at(15).read(&self.doubled)).0 as usize + 1)
        }

        /// The number of elements, if no user is inside: 16.
        pub fn len, len_now(&self, p: &Process<M>) -> usize {
            usize::try_from(access!(p.on(self.part).at(16).read(&self.top)).0).unwrap_or(0)
        }
    }
}

impl<M: FetchAdd, S: SegmentStore<M>> Segments<M, S> {
    in_both_forms! {
        /// Puts the first `count` elements in hand on top, inside the push room: 1 to 4 and 7.
        /// Repeats this in the next turn as long as more space may appear. Returns how many it put,
        /// or why the rooms turned the user away, and how many it had put before that.
        #[inline(always)]
        pub fn put, put_now<R: Lit<M>>(&self, p: &Process<M>, rooms: &R, inside: R::Inside, hand: &mut S::Hand, count: usize) -> Result<(R::Inside, usize), (R::Refusal, usize)> {'text: {
            let here = p.on(self.part);
            let (mut inside, mut left) = (inside, count);
            let (mut retries, mut asked) = (0_u64, None);
            if count == 0 {
                break 'text Ok((inside, 0));
            }
            loop {
                let most = left.min(AT_ONCE) as i64;
                let j = access!(here.at(1)
                    .keeping(&(&inside, left, retries, asked, S::told(hand)))
                    .fetch_add(&self.top, Top(most))).0;
                let doubled = access!(here.at(7)
                    .keeping(&(&inside, j, left, retries, asked, S::told(hand)))
                    .read(&self.doubled)).0 as usize;
                let fit = (self.store.slots(doubled + 1) as i64 - j).clamp(0, most);
                if fit > 0 {
                    within!(here, &(&inside, j, fit, left, retries, asked, doubled), access!(self.store.put(here, 4, j as usize, fit as usize, hand)));
                    left -= fit as usize;
                    if left == 0 {
                        break 'text Ok((inside, count));
                    }
                }
                let goes_on = fit == most || (doubled + 1 < self.store.most_segments() && asked != Some(doubled));
                if fit < most {
                    if goes_on {
                        access!(here.at(2)
                            .keeping(&(&inside, fit, left, retries, doubled, S::told(hand)))
                            .write(&self.start, true));
                        asked = Some(doubled);
                    }
                    access!(here.at(3)
                        .keeping(&(&inside, goes_on, fit, left, retries, asked, S::told(hand)))
                        .fetch_add(&self.top, Top(fit - most)));
                }
                if !goes_on {
                    break 'text Ok((inside, count - left));
                }
                retries += 1;
                here.shows("retries", retries);
                here.part(&(left, retries, asked, S::told(hand)));
                let changed = either!(or_refused(rooms.change(p, inside, IN)), rooms.change_now(p, inside, IN));
                inside = match changed {
                    Ok(inside) => inside,
                    Err(refusal) => break 'text Err((refusal, count - left)),
                };
                here.part_done();
            }
        }}

        /// Takes up to `count` elements from the top, inside the pop room, in the order in which
        /// they lie: 5, 6 and 8. Returns how many it took.
        #[inline(always)]
        pub fn take, take_now(&self, here: Here<'_, M>, inside: &dyn Debug, hand: &mut S::Hand, count: usize) -> usize {
            let most = count.min(AT_ONCE) as i64;
            let j = access!(here.at(5).keeping(&(inside, most, S::told(hand))).fetch_add(&self.top, Top(-most))).0;
            let got = j.clamp(0, most);
            if got > 0 {
                within!(here, &(inside, j, got, most), access!(self.store.take(here, 8, (j - got) as usize, got as usize, hand)));
            }
            if got < most {
                access!(here.at(6)
                    .keeping(&(inside, got, most, S::told(hand)))
                    .fetch_add(&self.top, Top(most - got)));
            }
            got as usize
        }
    }
}

impl<M: ReadWrite, S: SegmentStore<M>> LastOut<M> for Segments<M, S> {
    async fn last_out(&self, p: &Process<M>, room: usize) -> Result<(), M::Error> {
        if room == IN { self.grow_if_asked(p).await } else { Ok(()) }
    }

    #[inline(always)]
    fn last_out_now(&self, p: &Process<M>, room: usize)
    where
        M: Immediate,
    {
        if room == IN {
            self.grow_if_asked_now(p);
        }
    }
}

impl<M: FetchAdd + CompareSwap, X: LastOut<M>> Lit<M> for Rooms<M, X> {
    type Lights = X;

    fn lights(&self) -> &X {
        self.last_out()
    }

    async fn change(&self, p: &Process<M>, inside: Inside, to: usize) -> Result<Inside, Failure<M::Error, Refusal>> {
        self.change(p, inside, to).await
    }
}

/// A stack of segments.
#[derive(Debug)]
pub struct SegmentStack<M: Memory, R> {
    part: M::Part,
    rooms: R,
}

impl<M: Memory, R: Lit<M>> SegmentStack<M, R> {
    /// The elements are in `store`. `rooms` builds two rooms whose last one out maintains the
    /// [segments](Segments).
    pub fn new<S>(site: &Site<'_, M>, store: S, rooms: impl FnOnce(&Site<'_, M>, Segments<M, S>) -> R) -> Self
    where
        R: Lit<M, Lights = Segments<M, S>>,
    {
        Self { part: site.here(), rooms: rooms(&site.part("rooms", None), Segments::new(site, store)) }
    }

    /// The rooms.
    pub fn rooms(&self) -> &R {
        &self.rooms
    }
}

impl<M: FetchAdd, S: SegmentStore<M>, R: Lit<M, Lights = Segments<M, S>>> SegmentStack<M, R> {
    in_both_forms! {
        /// Adds the first `count` elements in hand, in this order, as far as there is memory. It
        /// takes one visit, or several if the stack has to grow. Returns how many it added, or why
        /// the rooms turned the user away before it could add any.
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
            let segments = self.rooms.lights();
            let put = either!(
                segments.put(p, &self.rooms, inside, hand, count),
                segments.put_now(p, &self.rooms, inside, hand, count)
            );
            let (inside, went) = match put {
                Ok(put) => put,
                Err((refusal, went)) => {
                    here.hides("retries");
                    break 'text if went > 0 { Ok(went) } else { Err(refusal) };
                }
            };
            within!(here, &(went, S::told(hand)), either!(self.rooms.exit(p, inside), self.rooms.exit_now(p, inside)));
            here.hides("retries");
            Ok(went)
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
            let segments = self.rooms.lights();
            let got = either!(
                segments.take(here, &inside, hand, count),
                segments.take_now(here, &inside, hand, count)
            );
            within!(here, &(got, S::told(hand)), either!(self.rooms.exit(p, inside), self.rooms.exit_now(p, inside)));
            Ok(got)
        }}
    }
}
