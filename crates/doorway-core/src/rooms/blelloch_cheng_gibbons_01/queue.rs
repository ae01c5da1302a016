//! Figure 3: a queue by fetch-and-add, whose enqueues and dequeues are kept apart by rooms.
//!
//! # Problem
//! A linearizable queue of bounded size in which enqueues do not wait for each other, nor dequeues.
//!
//! # Source
//! Blelloch, Cheng and Gibbons, Figure 3, with its statement numbers.
//!
//! # Idea
//! As the [stack](super::RoomStack): `top` and `bot` only ever move by fetch-and-add, and who went too far comes back within its turn, in which nobody can succeed any more.
//!
//! # Shared variables
//! | name        | range  | initially | home   | written at | meaning |
//! |-------------|--------|-----------|--------|------------|---------|
//! | `top`       | 0..2^w | 0         | nobody | 22, 24     | where the next element goes |
//! | `bot`       | 0..2^w | 0         | nobody | 34, 36     | where the first element is |
//! | `A[0..size]`| value  | anything  | nobody | 27         | the elements, element `j` in `A[j mod size]` |
//!
//! `size` is a power of two, so that numbers that wrap keep their slots; and `2^w > 2 (size + p)`, since `top - bot` can be `size + p` or `-p` for a while.
//!
//! # Cost, faults, fairness
//! Two fetch-and-adds at most, beside those of the rooms. An enqueue takes effect with 22, a dequeue with 34.

use super::{IN, OUT};
use crate::Failure;
use crate::memory::{FetchAdd, Memory, Process, Site, decl, fit};
use crate::rooms::RoomSynchronization;

/// The queue of Figure 3.
#[derive(Debug)]
pub struct RoomQueue<M: Memory, R> {
    part: M::Part,
    rooms: R,
    size: usize,
    bits: u32,
    top: M::Var<u64>,
    bot: M::Var<u64>,
    slots: M::Row<u64>,
}

impl<M: Memory, R> RoomQueue<M, R> {
    /// For up to `size` elements, or as many more as make a power of two; `rooms` builds two rooms. `unwritten` is what a slot holds before it is written. Numbers have `bits` bits.
    pub fn new(
        site: &Site<'_, M>,
        size: usize,
        bits: u32,
        unwritten: u64,
        rooms: impl FnOnce(&Site<'_, M>) -> R,
    ) -> Self {
        let size = size.next_power_of_two();
        Self {
            part: site.here(),
            rooms: rooms(&site.part("rooms", None)),
            size,
            bits,
            top: site.var("top", decl(0).wraps_at(bits)),
            bot: site.var("bot", decl(0).wraps_at(bits)),
            slots: site.row("A", size, |_| unwritten.into()),
        }
    }

    /// The smallest number of bits that does for `p` users.
    #[must_use]
    pub const fn bits(size: usize, p: usize) -> u32 {
        let far = 2 * (size.next_power_of_two() as u64 + p as u64);
        (far + 1).next_power_of_two().trailing_zeros()
    }

    fn less(&self, a: u64, b: u64) -> i64 {
        fit::<i64>(a.wrapping_sub(b), self.bits) as i64
    }

    fn slot(&self, j: u64) -> &M::Cell<u64> {
        &self.slots[j as usize & (self.size - 1)]
    }
}

impl<M: FetchAdd, R: RoomSynchronization<M>> RoomQueue<M, R> {
    /// Adds an element at the end; `false` if there is no space.
    ///
    /// # Errors
    /// If an access failed, or the room refuses.
    pub async fn enqueue(&self, p: &Process<M>, y: u64) -> Result<bool, Failure<M::Error, R::Refusal>> {
        let here = p.on(self.part);
        here.part(&y);
        let inside = self.rooms.enter(p, IN).await?;
        here.part_done();
        here.keep(22, &(&inside, y));
        let j = here.at(22).fetch_add(&self.top, 1).await?;
        here.keep(23, &(&inside, j, y));
        let fits = self.less(j, here.at(23).read(&self.bot).await?) < self.size as i64;
        if fits {
            here.keep(27, &(&inside, j, y));
            here.at(27).write(self.slot(j), y).await?;
        } else {
            here.keep(24, &inside);
            here.at(24).fetch_add(&self.top, u64::MAX).await?;
        }
        here.part(&fits);
        self.rooms.exit(p, inside).await?;
        here.part_done();
        Ok(fits)
    }

    /// Takes the first element; `None` if there is none.
    ///
    /// # Errors
    /// If an access failed, or the room refuses.
    pub async fn dequeue(&self, p: &Process<M>) -> Result<Option<u64>, Failure<M::Error, R::Refusal>> {
        let here = p.on(self.part);
        let inside = self.rooms.enter(p, OUT).await?;
        here.keep(34, &inside);
        let j = here.at(34).fetch_add(&self.bot, 1).await?;
        here.keep(35, &(&inside, j));
        let x = if self.less(here.at(35).read(&self.top).await?, j) <= 0 {
            here.keep(36, &inside);
            here.at(36).fetch_add(&self.bot, u64::MAX).await?;
            None
        } else {
            here.keep(39, &(&inside, j));
            Some(here.at(39).read(self.slot(j)).await?)
        };
        here.part(&x);
        self.rooms.exit(p, inside).await?;
        here.part_done();
        Ok(x)
    }

    /// Adds the first elements of a batch in one visit, as many as fit; how many these were. Numbers need [bits](Self::bits) for `size` times as many users.
    ///
    /// # Errors
    /// If an access failed, or the room refuses.
    pub async fn enqueue_many(&self, p: &Process<M>, all: &[u64]) -> Result<usize, Failure<M::Error, R::Refusal>> {
        let here = p.on(self.part);
        // More can never fit, and the sum of what all ask for must not run over.
        let all = &all[..all.len().min(self.size)];
        here.part(&all);
        let inside = self.rooms.enter(p, IN).await?;
        here.part_done();
        let most = all.len() as i64;
        here.keep(50, &(&inside, all));
        let j = here.at(50).fetch_add(&self.top, most as u64).await?;
        here.keep(51, &(&inside, j, all));
        let taken = self.less(j, here.at(51).read(&self.bot).await?);
        let fit = (self.size as i64 - taken).clamp(0, most);
        if fit < most {
            here.keep(52, &(&inside, j, fit, all));
            here.at(52).fetch_add(&self.top, (fit - most) as u64).await?;
        }
        for (i, &y) in (0..fit as u64).zip(all) {
            here.keep(53, &(&inside, j, i, fit, all));
            here.at(53).write(self.slot(j.wrapping_add(i)), y).await?;
        }
        here.part(&fit);
        self.rooms.exit(p, inside).await?;
        here.part_done();
        Ok(fit as usize)
    }

    /// Takes the first elements in one visit: up to `into.len()`, or as many as there are. How many these were.
    ///
    /// # Errors
    /// If an access failed, or the room refuses.
    pub async fn dequeue_many(&self, p: &Process<M>, into: &mut [u64]) -> Result<usize, Failure<M::Error, R::Refusal>> {
        let here = p.on(self.part);
        let most = into.len().min(self.size) as i64;
        here.part(&most);
        let inside = self.rooms.enter(p, OUT).await?;
        here.part_done();
        here.keep(54, &(&inside, most));
        let j = here.at(54).fetch_add(&self.bot, most as u64).await?;
        here.keep(55, &(&inside, j, most));
        let there = self.less(here.at(55).read(&self.top).await?, j);
        let got = there.clamp(0, most);
        if got < most {
            here.keep(56, &(&inside, j, got, most));
            here.at(56).fetch_add(&self.bot, (got - most) as u64).await?;
        }
        for i in 0..got as u64 {
            here.keep(57, &(&inside, j, i, got, &*into));
            into[i as usize] = here.at(57).read(self.slot(j.wrapping_add(i))).await?;
        }
        here.part(&(got, &*into));
        self.rooms.exit(p, inside).await?;
        here.part_done();
        Ok(got as usize)
    }
}
