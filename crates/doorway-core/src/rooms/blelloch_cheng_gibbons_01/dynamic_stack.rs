//! Figure 4: a stack that grows.
//!
//! # Problem
//! A linearizable stack in which pushes do not wait for each other, and neither do pops. It doubles
//! its space when it is full.
//!
//! # Source
//! Blelloch, Cheng and Gibbons, Figure 4, repaired. (`room-dynamic-stack-as-printed` is not
//! repaired; its text is in the checker.) Statement numbers are ours.
//!
//! # Idea
//! As in the [stack](super::RoomStack). A push that finds no space asks for more, and the last one
//! out of the push room doubles the space: the full array becomes `B`, and `A` is new. From then on
//! each push into the upper half of `A` also copies one element of `B` to the lower half. No user
//! therefore copies more than one element, and when `A` is full, all of `B` is copied. With `copy`,
//! element `e` is in `B` if `e` is in the lower half, and in `A` otherwise.
//!
//! # Shared variables
//! | name            | range      | initially | home   | written at | meaning |
//! |-----------------|------------|-----------|--------|------------|---------|
//! | `top`           | -p..size+p | 0         | nobody | 1, 3, 8, 9 | the number of elements, when no user is inside |
//! | `start`         | bool       | no        | nobody | 2, 13      | whether a user found no space in this turn |
//! | `doubled`       | 0..g       | 0         | nobody | 14         | how often space was doubled; `A` is `array[doubled]`, `B` the one before, and there is a `B` once it is not 0 |
//! | `array0`, ...   | value      | anything  | nobody | 5, 6, 7    | the arrays, each twice as long as the one before |
//!
//! # Why
//! - *all of `B` is copied when `A` is full*: let `h` be half the size. Element `e + h` was pushed
//!   when `e` was there. It was pushed in a later turn, as long as the pushes of one turn do not
//!   exceed the length of the first array. The user that pushed it therefore copied the present
//!   `e`. Hence **the pushes of one turn must not exceed the length of the first array**: at most
//!   that many users, one push for each visit, and no latecomers.
//! - *the retry changes rooms*: the user that retries is in the very next push turn, when there is
//!   space for all users. In print it exits and begins again, and other users can fill the new
//!   space first. Here a push is repeated at most once (checked).
//!
//! # Departures
//! Printed: `j < 0` in pop, which takes an element from an empty stack, and `j < size/2`, which
//! looks for the last element of the lower half in the upper one. Here: `j <= 0` and `j <= size/2`.
//! The arrays are made in advance, so there is a last one; when it is full, a push returns that
//! there is no space.

use super::{IN, OUT, Rooms, Width};
use crate::Failure;
use crate::memory::{CompareSwap, FetchAdd, Memory, Process, ReadWrite, Site, within};
use crate::rooms::{LastOut, Refusal};
use alloc::vec::Vec;

const ARRAYS: [&str; 4] = ["array0", "array1", "array2", "array3"];

/// The state that the last one out of the push room needs: 12 to 14.
#[derive(Debug)]
pub struct Grows<M: Memory> {
    part: M::Part,
    pub(super) start: M::Var<bool>,
    pub(super) doubled: M::Var<u64>,
}

impl<M: Memory> Grows<M> {
    /// Initially no push has found the stack full.
    pub fn new(site: &Site<'_, M>) -> Self {
        Self { part: site.here(), start: site.var("start", false), doubled: site.var("doubled", 0) }
    }

    /// Whether a push of this turn found no space.
    pub fn start(&self) -> &M::Var<bool> {
        &self.start
    }

    /// The number of times that space was doubled.
    pub fn doubled(&self) -> &M::Var<u64> {
        &self.doubled
    }
}

impl<M: ReadWrite> LastOut<M> for Grows<M> {
    async fn last_out(&self, p: &Process<M>, room: usize) -> Result<(), M::Error> {
        if room != IN {
            return Ok(());
        }
        let p = p.on(self.part);
        if p.at(12).keeping(&()).read(&self.start).await? {
            p.at(13).keeping(&()).write(&self.start, false).await?;
            let doubled = p.at(14).keeping(&()).read(&self.doubled).await?;
            p.at(14).keeping(&doubled).write(&self.doubled, doubled + 1).await?;
        }
        Ok(())
    }
}

/// The stack of Figure 4.
#[derive(Debug)]
pub struct DynamicStack<M: Memory> {
    part: M::Part,
    rooms: Rooms<M, Grows<M>>,
    first: usize,
    top: M::Var<i64>,
    arrays: Vec<M::Row<u64>>,
}

/// How a push ended.
enum Pushed {
    Done(bool),
    Retries(super::Inside),
}

impl<M: Memory> DynamicStack<M> {
    /// The first of `arrays` arrays (up to 4) has `first` elements, and at most `first` users may
    /// push in one turn. `unwritten` is the value of a slot before it is written.
    pub fn new(site: &Site<'_, M>, first: usize, arrays: usize, unwritten: u64, width: Width) -> Self {
        let inner = site.part("rooms", None);
        let array = |(i, name): (usize, &&'static str)| site.row(name, first << i, |_| unwritten.into());
        Self {
            part: site.here(),
            rooms: Rooms::with(&inner, 2, width, Grows::new(site)),
            first,
            top: site.var("top", 0),
            arrays: ARRAYS.iter().take(arrays.max(1)).enumerate().map(array).collect(),
        }
    }

    /// The largest number of elements.
    #[must_use]
    pub fn most(first: usize, arrays: usize) -> usize {
        first << (arrays.clamp(1, ARRAYS.len()) - 1)
    }
}

impl<M: FetchAdd + CompareSwap> DynamicStack<M> {
    /// Adds an element. Returns `false` if there is no space and no more can be obtained.
    ///
    /// # Errors
    /// Returns an error if an access failed, or the room refuses.
    pub async fn push(&self, p: &Process<M>, y: u64) -> Result<bool, Failure<M::Error, Refusal>> {
        let here = p.on(self.part);
        let mut retries = 0_u64;
        here.part(&(y, retries));
        let mut inside = self.rooms.enter(p, IN).await?;
        loop {
            let again = match self.push_inside(p, inside, y).await? {
                Pushed::Done(fits) => {
                    here.part_done();
                    here.hides("retries");
                    return Ok(fits);
                }
                Pushed::Retries(inside) => inside,
            };
            here.part_done();
            retries += 1;
            here.shows("retries", retries);
            here.part(&(y, retries));
            inside = self.rooms.change(p, again, IN).await?;
        }
    }

    /// 1 to 7, and the exit, unless the push has to be repeated.
    async fn push_inside(&self, p: &Process<M>, inside: super::Inside, y: u64) -> Result<Pushed, M::Error> {
        let here = p.on(self.part);
        let j = here.at(1).keeping(&inside).fetch_add(&self.top, 1).await?;
        let doubled = here.at(10).keeping(&(&inside, j)).read(&self.rooms.last_out().doubled).await? as usize;
        let (size, half) = ((self.first << doubled) as i64, (self.first << doubled) as i64 / 2);
        let mut fits = true;
        if j >= size {
            fits = doubled + 1 < self.arrays.len();
            if fits {
                here.at(2).keeping(&inside).write(&self.rooms.last_out().start, true).await?;
            }
            here.at(3).keeping(&(&inside, fits)).fetch_add(&self.top, -1).await?;
            if fits {
                return Ok(Pushed::Retries(inside));
            }
        } else if doubled > 0 && j >= half {
            let e = (j - half) as usize;
            let old = here.at(4).keeping(&(&inside, j, doubled)).read(&self.arrays[doubled - 1][e]).await?;
            here.at(5).keeping(&(&inside, j, doubled, old)).write(&self.arrays[doubled][e], old).await?;
            here.at(6).keeping(&(&inside, j, doubled)).write(&self.arrays[doubled][j as usize], y).await?;
        } else if let Some(slot) = self.slot(if doubled > 0 { doubled - 1 } else { 0 }, j) {
            here.at(7).keeping(&(&inside, j, doubled)).write(slot, y).await?;
        }
        within!(here, &fits, self.rooms.exit(p, inside).await?);
        Ok(Pushed::Done(fits))
    }

    /// Takes the element that was added last. Returns `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if an access failed, or the room refuses.
    pub async fn pop(&self, p: &Process<M>) -> Result<Option<u64>, Failure<M::Error, Refusal>> {
        let here = p.on(self.part);
        let inside = self.rooms.enter(p, OUT).await?;
        let j = here.at(8).keeping(&inside).fetch_add(&self.top, -1).await?;
        let x = if j <= 0 {
            here.at(9).keeping(&inside).fetch_add(&self.top, 1).await?;
            None
        } else {
            let doubled = here.at(10).keeping(&(&inside, j)).read(&self.rooms.last_out().doubled).await? as usize;
            let half = (self.first << doubled) as i64 / 2;
            let array = if doubled > 0 && j <= half { doubled - 1 } else { doubled };
            match self.slot(array, j - 1) {
                Some(slot) => Some(here.at(11).keeping(&(&inside, j, array)).read(slot).await?),
                None => None,
            }
        };
        within!(here, &x, self.rooms.exit(p, inside).await?);
        Ok(x)
    }

    fn slot(&self, array: usize, e: i64) -> Option<&M::Cell<u64>> {
        let e = usize::try_from(e).ok().filter(|&e| e < self.first << array)?;
        Some(&self.arrays[array][e])
    }
}
