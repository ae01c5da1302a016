//! The k-Bakery from atomic registers: k-exclusion by reads and writes, with local spinning.
//!
//! # Problem
//! k-exclusion, k-first come first served or first in first enabled, with `O(N)` remote references
//! and no instruction stronger than a read and a write.
//!
//! # Source
//! Danek, PODC 2010: **Figure 2**. With [`Order::FirstEnabled`] the text includes its shaded lines
//! (17, the second half of 19, 22 and 23).
//!
//! # Idea
//! Each process draws a ticket larger than all it sees, and enters once fewer than `k` processes go
//! before it. To spin locally, a waiter never looks at another process's ticket. Instead each
//! process tells every other one what it wants, in a word that is local to the listener. A process
//! that is still drawing may come out with a small ticket, so it first announces its *old* one
//! (14), with which it goes before all others. Once a waiter has seen a process with a larger
//! ticket, or not competing, it no longer waits for it: all later tickets of that process are
//! larger too. *Shaded:* a process that enters captures all processes with smaller tickets, and a
//! captured process need not wait.
//!
//! # Shared variables
//! | name            | range     | initially | home | written at        | meaning |
//! |-----------------|-----------|-----------|------|-------------------|---------|
//! | `Want[q][p]`    | 0.. or ∞  | ∞         | `q`  | by `p`: 14, 16, 25 | what `p` tells `q`: the ticket it competes with; ∞: none |
//! | `Ticket[p]`     | 0..       | 0         | `p`  | 152               | `p`'s last ticket. Never reset |
//! | `Capture[q][p]` | 0..       | 0         | `q`  | by `p`: 23        | shaded: `p` entered with this ticket. Never reset: it counts only if it is larger than `q`'s |
//! | `own[p]`        | 0..       | 0         | private | 152            | what `p` knows of `Ticket[p]` |
//!
//! # Invariants (checked)
//! - (W) `Want[i][p] = ∞` for all `i` if `p@0`; `Want[i][p] = Ticket[p]` for all `i` if
//!   `p@{151, 152, 21..24}`
//! - (T) the ticket that `p@152` is about to write is larger than its last
//! - (L3) a process that is past its doorway, is not in its exit section, and has a smaller
//!   (ticket, name) than `p@{21, 22}`, is in `pred` of `p`
//! - (C) shaded: `Capture[q][p] <= Ticket[p]`, with equality for all `q` if `p@24`
//!
//! # Cost, faults, fairness
//! In the DSM model every passage makes `4(N-1)` remote references, shaded `5(N-1)`: waiting costs
//! none. In the CC model it makes at most `8(N-1) + 1`, shaded `12(N-1) + 1`. These bounds are
//! reached: of each other process, a waiter sees the old ticket, the ticket, the end, and once more
//! the old ticket. Tolerates `k - 1` crashes; bounded exit.
//!
//! # Departures from the paper
//! 1. Statement 15 is one line in the paper and several accesses: 151 reads one ticket, 152 writes
//!    the process's own.
//! 2. The first index is the process that a word is local to, the second its writer: the paper's
//!    `Want[p][q]` is `Want[q][p]` here.
//! 3. A process neither reads nor writes what it would tell itself, and it knows its own ticket.
//! 4. Tickets are 64-bit words. A process that would need a larger one withdraws at 251 and returns
//!    [`NoTicketLeft`] instead of wrapping round.

use super::{NoTicketLeft, Order, Wants, after, bits, others, without};
use crate::Failure;
use crate::k_exclusion::KExclusion;
use crate::memory::{Domain, Label, Mark, Memory, Pid, Process, ReadWrite, Site, decl};
use alloc::vec::Vec;

/// The shared variables of the k-Bakery.
#[derive(Debug)]
pub struct KBakery<M: Memory> {
    part: M::Part,
    n: usize,
    k: usize,
    want: M::Table<Wants>,
    ticket: M::Row<u64>,
    capture: Option<M::Table<u64>>,
    own: M::Row<u64>,
}

impl<M: ReadWrite> KBakery<M> {
    /// Lets `k` of `n` processes in, in this order.
    pub fn new(site: &Site<'_, M>, n: usize, k: usize, order: Order) -> Self {
        Self {
            part: site.here(),
            n,
            k,
            want: site.table("Want", 0..n, n, decl(Wants::NOTHING).ranges_over(Domain::Naturals)),
            ticket: site.row("Ticket", n, |p| decl(0).home(Pid::new(p)).ranges_over(Domain::Naturals)),
            capture: (order == Order::FirstEnabled)
                .then(|| site.table("Capture", 0..n, n, decl(0).ranges_over(Domain::Naturals))),
            own: site.row("own", n, |p| decl(0).private(Pid::new(p))),
        }
    }

    /// Tells all other processes that `p` does not compete.
    async fn wants_nothing(&self, p: &Process<M>, label: Label) -> Result<(), M::Error> {
        let (p, me) = (p.on(self.part), p.pid().index());
        for i in others(self.n, me) {
            p.at(label).keeping(&i).write(&self.want[(i, me)], Wants::NOTHING).await?;
        }
        Ok(())
    }
}

impl<M: ReadWrite> KExclusion<M> for KBakery<M> {
    type Held = ();
    type Refusal = NoTicketLeft;

    async fn acquire(&self, process: &Process<M>) -> Result<(), Failure<M::Error, NoTicketLeft>> {
        let p = process.on(self.part);
        let me = p.pid().index();

        let old = p.at(14).read(&self.own[me]).await?;
        for i in others(self.n, me) {
            p.at(14).keeping(&(i, old)).write(&self.want[(i, me)], Wants::ticket(old)).await?; // i now waits for us,
        }
        let mut max = old;
        for i in others(self.n, me) {
            max = max.max(p.at(151).keeping(&(i, max)).read(&self.ticket[i]).await?);
        }
        let Some(mine) = after(max) else {
            self.wants_nothing(process, 251).await?;
            return Err(Failure::Refused(NoTicketLeft));
        };
        p.shows("draws", mine);
        p.at(152).keeping(&mine).write(&self.ticket[me], mine).await?;
        p.at(152).write(&self.own[me], mine).await?;
        p.hides("draws");
        p.mark(Mark::DoorwayEnds);
        for i in others(self.n, me) {
            p.at(16).keeping(&(i, mine)).write(&self.want[(i, me)], Wants::ticket(mine)).await?; // which i knows now.
        }

        let mut pred: Vec<usize> = others(self.n, me).collect();
        let mut captured = false;
        while pred.len() >= self.k && !captured {
            let before = &pred;
            // A turn that strikes no process out changes nothing and leads back to here.
            let turn = || async move {
                p.shows("pred", bits(before));
                let (mut gone, mut captured) = (Vec::new(), false);
                for &i in before {
                    if (Wants::ticket(mine), me)
                        < (
                            p.at(21)
                                .keeping(&(i, mine, without(before, &gone), gone.is_empty()))
                                .read(&self.want[(me, i)])
                                .await?,
                            i,
                        )
                    {
                        gone.push(i); // for good: its next tickets are larger still
                        p.shows("pred", bits(&without(before, &gone)));
                    }
                }
                if let Some(capture) = &self.capture {
                    for i in others(self.n, me) {
                        captured |= mine
                            < p.at(22)
                                .keeping(&(i, mine, without(before, &gone), gone.is_empty(), captured))
                                .read(&capture[(me, i)])
                                .await?;
                    }
                }
                Ok((captured || !gone.is_empty()).then_some((gone, captured)))
            };
            let (gone, was_captured) = p.spin_until(turn).await?;
            pred.retain(|i| !gone.contains(i));
            captured = was_captured;
        }
        p.hides("pred");

        if let Some(capture) = &self.capture {
            for i in others(self.n, me) {
                p.at(23).keeping(&(i, mine)).write(&capture[(i, me)], mine).await?;
            }
        }
        p.mark(Mark::Rests(24));
        Ok(())
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        self.wants_nothing(p, 25).await
    }
}
