//! `(j+1, j)`-exclusion in distributed shared memory: one slot of the chain, with bounded memory.
//!
//! # Problem
//! As [`CcSlot`](super::CcSlot), but a waiter reads only variables that are local to it.
//!
//! # Source
//! Anderson and Moir, PODC 1994: **Figure 6**, Theorem 5. Statements 1 and 22 (the stage before)
//! belong to [`Chain`](super::Chain).
//!
//! # Idea
//! `Q` says where the waiter waits: at which of its own locations. A process that must wait first
//! releases the waiter it finds, then tries to take its place by compare-and-swap. Of two processes
//! that found the same waiter only one succeeds. The other one is let in, since a place has been
//! freed. A process that is about to write to a location it found in `Q` *pins* the location in
//! `R`, and looks at `Q` once more. A location that is pinned, or may still be in `Q`, is not used
//! again. Of `j + 2` locations at most `j` are pinned by others and one is `last`, so one is always
//! free.
//!
//! # Shared variables
//! | name         | range          | initially | home    | written at        | meaning |
//! |--------------|----------------|-----------|---------|-------------------|---------|
//! | `X`          | `-1..=j`       | `j`       | nobody  | 2, 16             | free slots; `-1`: one process too many |
//! | `Q`          | `(pid, 0..j+2)`| (any, 0)  | nobody  | 11                | where a process may still be waiting |
//! | `P[p][0..j+2]` | bool         | any       | `p`     | 6, 10, 20         | whether `p`, waiting there, may go on |
//! | `R[p][0..j+2]` | `0..=j+1`    | 0         | `p`     | 8, 15, 18, 21     | how many processes may still write to `P[p][..]` |
//! | `last[p]`    | `0..j+2`       | 0         | private | 12                | the only location of `p` that can be in `Q` |
//!
//! # Invariants (all checked; the paper gives none for this figure)
//! - assumed (D0): `|{p : p@{2..21}}| <= j + 1`
//! - (D1) `X = j - |{p : p@{3..16}}|`
//! - (D2) `R[x] = |{p : p.u = x and p@{9..15, 19..21}}|`
//! - (D3) `p@{6..11}` implies `Q != (p, p.next)`: no process finds a location before it is
//!   announced
//! - (D4) `p@{7..11}` implies `not P[p][p.next]`: no process releases `p` too soon
//! - (D5) `p@4` implies `p.next != last[p]`: the search ends within `j + 1` turns
//! - (D6) `|{p : p@16}| <= j` — this is k-exclusion
//!
//! # Cost, faults, fairness
//! At most 14 remote references a passage in DSM (8 in: 2, 7, 8, 9, 10, 11, 13, 15; 6 out: 16 to
//! 21; Theorem 5), and 7 if at most `j` processes compete. Starvation-free while at most `j - 1`
//! processes crash, anywhere.
//!
//! # Departures from the paper
//! None.

use super::{Loc, Slot, Stage};
use crate::Failure;
use crate::memory::{CompareSwap, FetchAdd, Mark, Memory, Pid, Process, Site, decl};
use core::convert::Infallible;

/// The shared variables of Figure 6.
#[derive(Debug)]
pub struct DsmSlot<M: Memory> {
    part: M::Part,
    x: M::Var<i64>,
    q: M::Var<Loc>,
    p: M::Table<bool>,
    r: M::Table<i64>,
    last: M::Row<u64>,
    first: usize,
    locations: u64,
}

impl<M: FetchAdd + CompareSwap> DsmSlot<M> {
    /// A slot of this stage that lets `j` of `j + 1` processes pass.
    pub fn new(site: &Site<'_, M>, stage: &Stage, j: usize) -> Self {
        let (members, locations) = (stage.members.clone(), j + 2);
        let first = members.start;
        Self {
            part: site.here(),
            x: site.var("X", j as i64),
            q: site.var("Q", Loc { pid: Pid::new(first), loc: 0 }),
            p: site.table("P", members.clone(), locations, decl(false).only_while_watched()),
            r: site.table("R", members.clone(), locations, 0),
            last: site.row("last", members.len(), |i| decl(0).private(Pid::new(first + i))),
            first,
            locations: locations as u64,
        }
    }

    fn last(&self, p: Pid) -> &M::Cell<u64> {
        &self.last[p.index() - self.first]
    }
}

impl<M: FetchAdd + CompareSwap> Slot<M> for DsmSlot<M> {
    type Refusal = Infallible;

    fn part(&self) -> M::Part {
        self.part
    }

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let p = p.on(self.part);
        if p.at(2).fetch_add(&self.x, -1).await? == 0 {
            // No slot was free, so find a location that no other process may still write to,
            let mut next = Loc { pid: p.pid(), loc: p.at(3).read(self.last(p.pid())).await? };
            loop {
                next.loc = (next.loc + 1) % self.locations; // 3, and 5 from then on
                p.shows("next", next);
                if p.at(4).keeping(&next).read(&self.r[next.at()]).await? == 0 {
                    break;
                }
            }
            p.at(6).keeping(&next).write(&self.p[next.at()], false).await?;
            p.watches(&self.p[next.at()]);
            let u = p.at(7).keeping(&next).read(&self.q).await?; // see where a process waits now,
            p.shows("u", u);
            p.at(8).keeping(&(next, u)).fetch_add(&self.r[u.at()], 1).await?; // pin its location,
            if p.at(9).keeping(&(next, u)).read(&self.q).await? == u {
                p.at(10).keeping(&(next, u)).write(&self.p[u.at()], true).await?; // release it,
                if p.at(11).keeping(&(next, u)).compare_swap(&self.q, u, next).await?.is_ok() {
                    // and take its place, unless another did.
                    p.at(12).write(self.last(p.pid()), next.loc).await?;
                    if p.at(13).keeping(&(next, u)).read(&self.x).await? < 0 {
                        p.at(14).keeping(&(next, u)).wait_until(&self.p[next.at()], |released| released).await?;
                    }
                }
            }
            p.watches_no_more(&self.p[next.at()]);
            p.hides("next");
            p.at(15).keeping(&u).fetch_add(&self.r[u.at()], -1).await?;
            p.hides("u");
        }
        p.mark(Mark::Rests(16));
        Ok(())
    }

    async fn release(&self, p: &Process<M>) -> Result<(), M::Error> {
        let p = p.on(self.part);
        p.at(16).fetch_add(&self.x, 1).await?; // Free the slot first, so that a process at 13 sees it,
        let u = p.at(17).keeping(&()).read(&self.q).await?; // then release the waiter that already looked.
        p.shows("u", u);
        p.at(18).keeping(&u).fetch_add(&self.r[u.at()], 1).await?;
        if p.at(19).keeping(&u).read(&self.q).await? == u {
            p.at(20).keeping(&u).write(&self.p[u.at()], true).await?;
        }
        p.at(21).keeping(&u).fetch_add(&self.r[u.at()], -1).await?;
        p.hides("u");
        Ok(())
    }
}
