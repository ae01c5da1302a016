//! A stack that grows by segments: nothing is ever copied.
//!
//! # Problem
//! That of the [stack of Figure 4](super::DynamicStack), for any number of pushes in a turn.
//!
//! # Source
//! Our own, on Figure 4 of Blelloch, Cheng and Gibbons. Statement numbers are ours.
//!
//! # Idea
//! Segment `s` has `first * 2^s` slots, and an element stays where it was put. Who finds no space asks for another segment, and the last one out of the push room makes one: only there nobody can look at
//! the table of segments.
//!
//! # Shared variables
//! | name       | range      | initially | home   | written at | meaning |
//! |------------|------------|-----------|--------|------------|---------|
//! | `top`      | -p..size+p | 0         | nobody | 1, 3, 5, 6 | how many elements there are, when nobody is inside |
//! | `start`    | bool       | no        | nobody | 2, 13      | whether somebody found no space in this turn |
//! | `doubled`  | 0..g       | 0         | nobody | 14         | the last segment there is |
//! | `segment0`, ... | value | anything  | nobody | 4          | the segments |
//!
//! # Cost, faults, fairness
//! As [Figure 4](super::DynamicStack), without its copying. Without a bound on pushes in a turn, others can fill a new segment before one that tries again: once for each doubling (checked).

use super::dynamic_stack::Grows;
use super::{IN, OUT, Rooms, Width};
use crate::Failure;
use crate::memory::{CompareSwap, FetchAdd, Memory, Process, Site};
use crate::rooms::Refusal;
use alloc::vec::Vec;

const SEGMENTS: [&str; 4] = ["segment0", "segment1", "segment2", "segment3"];

/// A stack of segments.
#[derive(Debug)]
pub struct SegmentStack<M: Memory> {
    part: M::Part,
    rooms: Rooms<M, Grows<M>>,
    first: usize,
    top: M::Var<i64>,
    segments: Vec<M::Row<u64>>,
}

/// The segment of element `e`, and its place there, if the first segment has `first` slots.
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

impl<M: Memory> SegmentStack<M> {
    /// The first of `segments` segments (up to 4) has `first` slots. `unwritten` is what a slot holds before it is written.
    pub fn new(site: &Site<'_, M>, first: usize, segments: usize, unwritten: u64, width: Width) -> Self {
        let inner = site.part("rooms", None);
        let segment = |(i, name): (usize, &&'static str)| site.row(name, first << i, |_| unwritten.into());
        Self {
            part: site.here(),
            rooms: Rooms::with(&inner, 2, width, Grows::new(site)),
            first,
            top: site.var("top", 0),
            segments: SEGMENTS.iter().take(segments.max(1)).enumerate().map(segment).collect(),
        }
    }

    /// How many elements there can be.
    #[must_use]
    pub fn most(first: usize, segments: usize) -> usize {
        first * ((1 << segments.clamp(1, SEGMENTS.len())) - 1)
    }

    fn slot(&self, e: i64) -> &M::Cell<u64> {
        let (segment, at) = place(self.first, e as usize);
        &self.segments[segment][at]
    }
}

impl<M: FetchAdd + CompareSwap> SegmentStack<M> {
    /// Adds an element; `false` if there is no space, and no more can be had.
    ///
    /// # Errors
    /// If an access failed, or the room refuses.
    pub async fn push(&self, p: &Process<M>, y: u64) -> Result<bool, Failure<M::Error, Refusal>> {
        let here = p.on(self.part);
        let mut retries = 0_u64;
        here.part(&(y, retries));
        let mut inside = self.rooms.enter(p, IN).await?;
        let fits = loop {
            here.keep(1, &inside);
            let j = here.at(1).fetch_add(&self.top, 1).await?;
            here.keep(7, &(&inside, j));
            let doubled = here.at(7).read(&self.rooms.last_out().doubled).await? as usize;
            if j < Self::most(self.first, doubled + 1) as i64 {
                here.keep(4, &(&inside, j));
                here.at(4).write(self.slot(j), y).await?;
                break true;
            }
            let fits = doubled + 1 < self.segments.len();
            if fits {
                here.keep(2, &inside);
                here.at(2).write(&self.rooms.last_out().start, true).await?;
            }
            here.keep(3, &(&inside, fits));
            here.at(3).fetch_add(&self.top, -1).await?;
            if !fits {
                break false;
            }
            here.part_done();
            retries += 1;
            here.shows("retries", retries);
            here.part(&(y, retries));
            inside = self.rooms.change(p, inside, IN).await?;
        };
        here.part_done();
        here.part(&fits);
        self.rooms.exit(p, inside).await?;
        here.part_done();
        here.hides("retries");
        Ok(fits)
    }

    /// Takes the element that was added last; `None` if there is none.
    ///
    /// # Errors
    /// If an access failed, or the room refuses.
    pub async fn pop(&self, p: &Process<M>) -> Result<Option<u64>, Failure<M::Error, Refusal>> {
        let here = p.on(self.part);
        let inside = self.rooms.enter(p, OUT).await?;
        here.keep(5, &inside);
        let j = here.at(5).fetch_add(&self.top, -1).await?;
        let x = if j <= 0 {
            here.keep(6, &inside);
            here.at(6).fetch_add(&self.top, 1).await?;
            None
        } else {
            here.keep(8, &(&inside, j));
            Some(here.at(8).read(self.slot(j - 1)).await?)
        };
        here.part(&x);
        self.rooms.exit(p, inside).await?;
        here.part_done();
        Ok(x)
    }
}
