//! Mutual exclusion for `N` processes from safe registers: the Bakery.
//!
//! # Problem
//! Mutual exclusion, first come, first served, with no instruction stronger than reads and writes,
//! which need not even be atomic.
//!
//! # Source
//! Lamport 1974. Statement numbers follow Danek, *The k-Bakery*, PODC 2010, **Figure 1**, which
//! prints the algorithm for comparison.
//!
//! # Idea
//! Each process draws a ticket larger than all tickets it sees, and processes enter in the order of
//! their tickets. Two processes that draw at the same time may draw the same number; their names
//! break the tie. A process that is still drawing might end up with a small ticket. The flag
//! `Doorway` therefore says "drawing now", and other processes wait until it is cleared before they
//! compare.
//!
//! # Shared variables
//! | name         | range | initially | home | written at | meaning |
//! |--------------|-------|-----------|------|------------|---------|
//! | `Doorway[p]` | bool  | false     | `p`  | 3, 5, 51   | `p` is drawing a ticket |
//! | `Ticket[p]`  | 0..   | 0         | `p`  | 42, 10     | `p`'s place in the queue; 0: not competing |
//!
//! # Invariants (checked)
//! - (T) `Ticket[p] = 0` exactly if `p@{0, 3, 41, 42, 51}`: a process competes from the end of 42
//!   to 10
//! - (D) `Doorway[p]` exactly if `p@{41, 42, 5, 51}`
//! - (U) the process inside holds the smallest (ticket, name) among the processes past their
//!   doorways (a process in the middle of 10 has left)
//!
//! # Cost, faults, fairness
//! Unbounded remote references in the DSM model, because both waits read other processes' memory. A
//! bounded number in the CC model, without a claimed constant. No crash is tolerated. First come,
//! first served: the doorway is 3 to 5.
//!
//! # Departures from the paper
//! 1. Statement 4 is one line in the paper but several accesses: 41 reads one ticket, and 42 writes
//!    the process's own.
//! 2. A process does not read its own ticket at 41 (it is 0), nor its own variables at 7 and 8.
//! 3. Tickets are 64-bit words. A process that would need a larger ticket withdraws at 51 and
//!    receives [`TicketsExhausted`], instead of wrapping round. At one passage per nanosecond this
//!    takes centuries during which the bakery is never empty.

use crate::Failure;
use crate::k_exclusion::KExclusion;
use crate::memory::{Domain, Mark, Memory, Needs, Pid, Process, ReadWrite, Site, decl};
use crate::mutex::MutualExclusion;

/// The shared variables of the Bakery.
#[derive(Debug)]
pub struct Bakery<M: Memory> {
    part: M::Part,
    n: usize,
    doorway: M::Row<bool>,
    ticket: M::Row<u64>,
}

/// The next ticket would not fit its word, and the process has withdrawn. Tickets start again once
/// no process holds one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TicketsExhausted;

impl core::fmt::Display for TicketsExhausted {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("no larger ticket fits one word; try again once every holder of a ticket has left")
    }
}
impl core::error::Error for TicketsExhausted {}

impl<M: ReadWrite> Bakery<M> {
    /// A bakery for `n` processes.
    pub fn new(site: &Site<'_, M>, n: usize) -> Self {
        let home = |p| Pid::new(p);
        Self {
            part: site.here(),
            n,
            doorway: site
                .row("Doorway", n, |p| decl(false).home(home(p)).needs(Needs::Safe(Domain::Of(&[false, true])))),
            ticket: site.row("Ticket", n, |p| decl(0).home(home(p)).needs(Needs::Safe(Domain::Naturals))),
        }
    }

    fn others(&self, me: usize) -> impl Iterator<Item = usize> {
        (0..self.n).filter(move |&i| i != me)
    }
}

impl<M: ReadWrite> MutualExclusion<M> for Bakery<M> {}

impl<M: ReadWrite> KExclusion<M> for Bakery<M> {
    type Held = ();
    type Refusal = TicketsExhausted;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error, TicketsExhausted>> {
        let p = p.on(self.part);
        let me = p.pid().index();

        p.at(3).write(&self.doorway[me], true).await?; // from here on, others wait for our ticket,
        let mut max = 0;
        for i in self.others(me) {
            max = max.max(p.at(41).keeping(&(i, max)).read(&self.ticket[i]).await?);
        }
        let Some(mine) = max.checked_add(1) else {
            p.at(51).keeping(&()).write(&self.doorway[me], false).await?;
            return Err(Failure::Refused(TicketsExhausted));
        };
        p.at(42).keeping(&mine).write(&self.ticket[me], mine).await?;
        p.at(5).keeping(&mine).write(&self.doorway[me], false).await?; // which is final now.
        p.mark(Mark::DoorwayEnds);

        for i in self.others(me) {
            // Its ticket is final, or will be larger than ours,
            p.at(7).keeping(&(i, mine)).wait_until(&self.doorway[i], |drawing| !drawing).await?;
            // so it goes first or after us.
            p.at(8).keeping(&(i, mine)).wait_until(&self.ticket[i], |t| t == 0 || (t, i) >= (mine, me)).await?;
        }
        p.mark(Mark::Rests(9));
        Ok(())
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        p.on(self.part).at(10).write(&self.ticket[p.pid().index()], 0).await
    }
}
