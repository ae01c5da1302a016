//! `(j+1, j)`-exclusion in distributed shared memory: one slot of the chain, with a new location
//! for each wait.
//!
//! # Problem
//! As [`CcSlot`](super::CcSlot), but a waiter reads only variables that are local to it. For study:
//! [`DsmSlot`](super::DsmSlot) does it with bounded memory.
//!
//! # Source
//! Anderson and Moir, PODC 1994: **Figure 5**. Statements 1 and 13 (the stage before) belong to
//! [`Chain`](super::Chain).
//!
//! # Idea
//! `Q` says where the waiter waits. A process that must wait takes a location of its own that was
//! never used before, releases the waiter it finds, and tries to take its place by
//! compare-and-swap. Of two processes that found the same waiter only one succeeds; the other one
//! is let in. Because every location is new, no process writes to it on account of a wait that is
//! long over.
//!
//! # Shared variables
//! | name       | range         | initially | home    | written at | meaning |
//! |------------|---------------|-----------|---------|------------|---------|
//! | `X`        | `-1..=j`      | `j`       | nobody  | 2, 10      | free slots; `-1`: one process too many |
//! | `Q`        | `(pid, 0..)`  | (any, 0)  | nobody  | 7          | where a process may still be waiting |
//! | `P[p][0..]`| bool          | any       | `p`     | 4, 6, 12   | whether `p`, waiting there, may go on |
//! | `next[p]`  | `0..`         | 0         | private | 3          | the location that `p` used last |
//!
//! # Invariants (all checked; `p.next` is `(p, next[p])`)
//! Let A be the processes at 3 or 4, B those at 5, C those at 6 or 7 with `Q = p.v`, and D those at
//! 8 or 9; of B, C and D only those with `not P[p.next]`.
//! - assumed (I1): `|{p : p@{2..12}}| <= j + 1`
//! - (I5) `X = j - |{p : p@{3..10}}|`
//! - (I6) `p@{4..7}` implies `Q != p.next`, and `q.v != p.next` for every `q`
//! - (I7) `p@{5..7}` implies `not P[p.next]`
//! - (I8) `X < 0` and some `q@{6,7}` imply that some `r` in A, B, C or D is at 3 to 7, or that
//!   `r.next` is no process's `v`
//! - (I9) `X < 0` implies that A, B, C or D is not empty
//! - (I10) `|{p : p@10}| <= j` — this is k-exclusion
//! - (U2) `p@{5..9}` and `P[p.next]` lasts until `p@10`
//!
//! # Cost, faults, fairness
//! At most 8 remote references a passage in DSM (2, 5, 6, 7, 8 in; 10, 11, 12 out). Starvation-free
//! while at most `j - 1` processes crash, anywhere, and there are locations left.
//!
//! # Departures from the paper
//! 1. There are [plenty of locations](Memory::PLENTY), as the memory defines it, and not infinitely
//!    many. A process that has used its last one is refused, before statement 2, instead of using
//!    an old one again.
//! 2. `v` is a local variable, so (I6) and (I8) speak of the `v` of processes between 5 and 7 and
//!    between 11 and 12. In the paper it keeps its value, and nothing depends on that.

use super::{Loc, Slot, Stage};
use crate::Failure;
use crate::memory::{CompareSwap, FetchAdd, Mark, Memory, Pid, Process, Site, decl};

/// The shared variables of Figure 5.
#[derive(Debug)]
pub struct DsmUnboundedSlot<M: Memory> {
    part: M::Part,
    x: M::Var<i64>,
    q: M::Var<Loc>,
    p: M::Table<bool>,
    next: M::Row<u64>,
    first: usize,
}

/// A process has used all its locations to wait at.
///
/// ```
/// let why = doorway_core::k_exclusion::anderson_moir_94::LocationsExhausted;
/// assert!(why.to_string().contains("am-dsm-chain"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocationsExhausted;

impl core::fmt::Display for LocationsExhausted {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "the process has used all its locations to wait at; use am-dsm-chain, which uses them again")
    }
}
impl core::error::Error for LocationsExhausted {}

impl<M: FetchAdd + CompareSwap> DsmUnboundedSlot<M> {
    /// A slot of this stage that lets `j` of `j + 1` processes pass.
    pub fn new(site: &Site<'_, M>, stage: &Stage, j: usize) -> Self {
        let members = stage.members.clone();
        let first = members.start;
        Self {
            part: site.here(),
            x: site.var("X", j as i64),
            q: site.var("Q", Loc { pid: Pid::new(first), loc: 0 }),
            p: site.table("P", members.clone(), M::PLENTY, decl(false).only_while_watched()),
            next: site.row("next", members.len(), |i| decl(0).private(Pid::new(first + i))),
            first,
        }
    }
}

impl<M: FetchAdd + CompareSwap> Slot<M> for DsmUnboundedSlot<M> {
    type Refusal = LocationsExhausted;

    fn part(&self) -> M::Part {
        self.part
    }

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error, LocationsExhausted>> {
        let p = p.on(self.part);
        let mine = &self.next[p.pid().index() - self.first];
        let next = Loc { pid: p.pid(), loc: p.at(2).read(mine).await? + 1 };
        if next.loc as usize == M::PLENTY {
            return Err(Failure::Refused(LocationsExhausted));
        }
        if p.at(2).keeping(&next).fetch_add(&self.x, -1).await? == 0 {
            // No slot was free, so take a new location to wait at,
            p.at(3).write(mine, next.loc).await?;
            p.at(4).keeping(&next).write(&self.p[next.at()], false).await?;
            p.watches(&self.p[next.at()]);
            let v = p.at(5).keeping(&next).read(&self.q).await?; // see where a process waits now,
            p.shows("v", v);
            p.at(6).keeping(&(next, v)).write(&self.p[v.at()], true).await?; // release it,
            // and take its place, unless another did.
            let swapped = p.at(7).keeping(&(next, v)).compare_swap(&self.q, v, next).await?;
            p.hides("v");
            if swapped.is_ok() && p.at(8).keeping(&next).read(&self.x).await? < 0 {
                p.at(9).keeping(&next).wait_until(&self.p[next.at()], |released| released).await?;
            }
            p.watches_no_more(&self.p[next.at()]);
        }
        p.mark(Mark::Rests(10));
        Ok(())
    }

    async fn release(&self, p: &Process<M>) -> Result<(), M::Error> {
        let p = p.on(self.part);
        p.at(10).fetch_add(&self.x, 1).await?; // Free the slot first, so that a process at 8 sees it,
        let v = p.at(11).keeping(&()).read(&self.q).await?; // then release the waiter that already looked.
        p.shows("v", v);
        p.at(12).keeping(&v).write(&self.p[v.at()], true).await?;
        p.hides("v");
        Ok(())
    }
}
