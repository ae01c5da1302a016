//! Figure 1(b): a stack by fetch-and-add, whose pushes and pops are kept apart by rooms.
//!
//! # Problem
//! A linearizable stack of bounded size in which pushes do not wait for each other, nor pops.
//!
//! # Source
//! Blelloch, Cheng and Gibbons, Figure 1(b). Statement numbers are ours. In print a push does not look whether there is room.
//!
//! # Idea
//! Pushes among themselves can do with a fetch-and-add of `top`, which gives each a slot of its own; so can pops. Only a pop beside a push could read what is not written yet.
//! Whoever goes too far comes back before its turn ends: once one push found the stack full, all later ones of the same turn do.
//!
//! # Shared variables
//! | name       | range        | initially | home   | written at | meaning |
//! |------------|--------------|-----------|--------|------------|---------|
//! | `top`      | -p..size+p   | 0         | nobody | 1, 2, 4, 5 | how many elements there are, when nobody is inside |
//! | `A[0..size]`| value       | anything  | nobody | 3          | the elements |
//!
//! # Cost, faults, fairness
//! Two fetch-and-adds at most, beside those of the rooms. Who stops inside blocks the other room. The push takes effect with 1, the pop with 4.

use crate::Failure;
use crate::memory::{FetchAdd, Memory, Process, Site};
use crate::rooms::RoomSynchronization;

/// The room of pushes, or enqueues.
pub const IN: usize = 0;
/// The room of pops, or dequeues.
pub const OUT: usize = 1;

/// The stack of Figure 1.
#[derive(Debug)]
pub struct RoomStack<M: Memory, R> {
    part: M::Part,
    rooms: R,
    size: usize,
    top: M::Var<i64>,
    slots: M::Row<u64>,
}

impl<M: Memory, R> RoomStack<M, R> {
    /// For up to `size` elements; `rooms` builds two rooms. `unwritten` is what a slot holds before it is written.
    pub fn new(site: &Site<'_, M>, size: usize, unwritten: u64, rooms: impl FnOnce(&Site<'_, M>) -> R) -> Self {
        Self {
            part: site.here(),
            rooms: rooms(&site.part("rooms", None)),
            size,
            top: site.var("top", 0),
            slots: site.row("A", size, |_| unwritten.into()),
        }
    }

    /// `A[e]`, if there is one.
    fn slot(&self, e: i64) -> Option<&M::Cell<u64>> {
        let e = usize::try_from(e).ok().filter(|&e| e < self.size)?;
        Some(&self.slots[e])
    }
}

impl<M: FetchAdd, R: RoomSynchronization<M>> RoomStack<M, R> {
    /// Adds an element; `false` if there is no space.
    ///
    /// # Errors
    /// If an access failed, or the room refuses.
    pub async fn push(&self, p: &Process<M>, y: u64) -> Result<bool, Failure<M::Error, R::Refusal>> {
        let here = p.on(self.part);
        here.part(&y);
        let inside = self.rooms.enter(p, IN).await?;
        here.part_done();
        here.keep(1, &(&inside, y));
        let j = here.at(1).fetch_add(&self.top, 1).await?;
        let slot = self.slot(j);
        let fits = slot.is_some();
        if let Some(slot) = slot {
            here.keep(3, &(&inside, j, y));
            here.at(3).write(slot, y).await?;
        } else {
            here.keep(2, &inside);
            here.at(2).fetch_add(&self.top, -1).await?;
        }
        here.part(&fits);
        self.rooms.exit(p, inside).await?;
        here.part_done();
        Ok(fits)
    }

    /// Takes the element that was added last; `None` if there is none.
    ///
    /// # Errors
    /// If an access failed, or the room refuses.
    pub async fn pop(&self, p: &Process<M>) -> Result<Option<u64>, Failure<M::Error, R::Refusal>> {
        let here = p.on(self.part);
        let inside = self.rooms.enter(p, OUT).await?;
        here.keep(4, &inside);
        let k = here.at(4).fetch_add(&self.top, -1).await?;
        let x = if let Some(slot) = self.slot(k - 1) {
            here.keep(6, &(&inside, k));
            Some(here.at(6).read(slot).await?)
        } else {
            here.keep(5, &inside);
            here.at(5).fetch_add(&self.top, 1).await?;
            None
        };
        here.part(&x);
        self.rooms.exit(p, inside).await?;
        here.part_done();
        Ok(x)
    }

    /// Adds elements, in this order, in one visit: as many as there is space for. How many these were.
    ///
    /// # Errors
    /// If an access failed, or the room refuses.
    pub async fn push_many(&self, p: &Process<M>, all: &[u64]) -> Result<usize, Failure<M::Error, R::Refusal>> {
        let here = p.on(self.part);
        here.part(&all);
        let inside = self.rooms.enter(p, IN).await?;
        here.part_done();
        let most = all.len() as i64;
        here.keep(7, &(&inside, all));
        let j = here.at(7).fetch_add(&self.top, most).await?;
        let fit = (self.size as i64 - j).clamp(0, most);
        for (i, &y) in (0..fit).zip(all) {
            let Some(slot) = self.slot(j + i) else { break };
            here.keep(8, &(&inside, j, i, all));
            here.at(8).write(slot, y).await?;
        }
        if fit < most {
            here.keep(9, &(&inside, fit, most));
            here.at(9).fetch_add(&self.top, fit - most).await?;
        }
        here.part(&fit);
        self.rooms.exit(p, inside).await?;
        here.part_done();
        Ok(fit as usize)
    }

    /// Takes elements in one visit, that which was added last first: up to `into.len()`, or as many as there are. How many these were.
    ///
    /// # Errors
    /// If an access failed, or the room refuses.
    pub async fn pop_many(&self, p: &Process<M>, into: &mut [u64]) -> Result<usize, Failure<M::Error, R::Refusal>> {
        let here = p.on(self.part);
        let most = into.len() as i64;
        here.part(&most);
        let inside = self.rooms.enter(p, OUT).await?;
        here.part_done();
        here.keep(10, &(&inside, most));
        let k = here.at(10).fetch_add(&self.top, -most).await?;
        let got = k.clamp(0, most);
        for i in 0..got {
            let Some(slot) = self.slot(k - 1 - i) else { break };
            here.keep(11, &(&inside, k, i, &*into));
            into[i as usize] = here.at(11).read(slot).await?;
        }
        if got < most {
            here.keep(12, &(&inside, got, &*into));
            here.at(12).fetch_add(&self.top, most - got).await?;
        }
        here.part(&(got, &*into));
        self.rooms.exit(p, inside).await?;
        here.part_done();
        Ok(got as usize)
    }
}
