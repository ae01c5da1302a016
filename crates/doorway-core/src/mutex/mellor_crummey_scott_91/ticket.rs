//! Mutual exclusion by tickets: each process draws a number, and processes are served in order.
//!
//! # Problem
//! Mutual exclusion, first come, first served, with two words.
//!
//! # Source
//! Mellor-Crummey and Scott 1991, the ticket lock, without its proportional backoff. The idea is
//! older (Reed and Kanodia 1979). This text follows textbooks; we did not compare it with the
//! original print. Statement numbers are ours.
//!
//! # Idea
//! Fetch-and-add draws a ticket, so no two tickets are equal. The process inside announces at its
//! exit which ticket comes next.
//!
//! # Shared variables
//! | name      | range  | initially | home   | written at | meaning |
//! |-----------|--------|-----------|--------|------------|---------|
//! | `Next`    | 0..2^w | 0         | nobody | 1, 6       | the next ticket to be drawn |
//! | `Serving` | 0..2^w | 0         | nobody | 4          | the ticket that may be inside |
//!
//! Numbers are modulo 2^w, where `w` is [just large enough](ticket_bits) for `N` tickets. That
//! suffices because numbers are only compared for equality, and at most `N` tickets are
//! outstanding.
//!
//! # At once
//! A process that will not wait draws a ticket only if that ticket is being served. It reads
//! `Serving` (5), and exchanges `Next` if it holds the same number (6). In between, 2^w other
//! processes may have come and gone, and the number may be the same again although another process
//! is inside. The process therefore looks at `Serving` once more at 2, as every process does. With
//! the smallest number of bits for `N` tickets it may then have to wait. With [64
//! bits](TicketLock::with_bits) this never happens in practice.
//!
//! # Invariants (checked)
//! - (C) `Next - Serving = |{p : p@{2,3}}|`, modulo 2^w
//! - (U) the tickets of the processes at `{2,3}` differ, and the process at 3 has the ticket
//!   `Serving`
//!
//! # Cost, faults, fairness
//! Unbounded remote references in the DSM model, where a waiter reads `Serving` remotely. At most
//! `c+2` in the CC model if `c` processes compete, because each exit before a process's own turn
//! invalidates its copy (the figure is ours). No crash is tolerated. First come, first served; the
//! doorway is statement 1.

use crate::Failure;
use crate::k_exclusion::{AtOnce, KExclusion};
use crate::memory::{CompareSwap, FetchAdd, Here, Mark, Memory, Process, Site, decl, fit};
use crate::mutex::MutualExclusion;
use core::convert::Infallible;

/// Two counters.
#[derive(Debug)]
pub struct TicketLock<M: Memory> {
    part: M::Part,
    bits: u32,
    next: M::Var<u64>,
    serving: M::Var<u64>,
}

/// The number of bits that tickets need so that those of `n` processes differ.
///
/// ```
/// use doorway_core::mutex::mellor_crummey_scott_91::ticket_bits;
/// assert_eq!([1, 2, 3, 4, 5].map(ticket_bits), [1, 1, 2, 2, 3]);
/// ```
#[must_use]
pub const fn ticket_bits(n: usize) -> u32 {
    let bits = n.next_power_of_two().trailing_zeros();
    if bits == 0 { 1 } else { bits }
}

impl<M: Memory> TicketLock<M> {
    /// A lock made from two existing variables of `bits` bits, which must be zero: for locks that
    /// must exist before the program runs.
    pub const fn over(part: M::Part, bits: u32, next: M::Var<u64>, serving: M::Var<u64>) -> Self {
        Self { part, bits, next, serving }
    }
}

impl<M: FetchAdd> TicketLock<M> {
    /// A lock for `n` processes.
    pub fn new(site: &Site<'_, M>, n: usize) -> Self {
        Self::with_bits(site, ticket_bits(n))
    }

    /// A lock whose tickets have `bits` bits, for as many processes as these can distinguish.
    pub fn with_bits(site: &Site<'_, M>, bits: u32) -> Self {
        Self {
            part: site.here(),
            bits,
            next: site.var("Next", decl(0).wraps_at(bits)),
            serving: site.var("Serving", decl(0).wraps_at(bits)),
        }
    }
}

impl<M: FetchAdd> TicketLock<M> {
    /// Waits until the ticket is served: statement 2.
    async fn wait(&self, p: Here<'_, M>, mine: u64) -> Result<u64, M::Error> {
        p.holds("ticket", mine);
        p.at(2).keeping(&mine).wait_until(&self.serving, |turn| turn == mine).await?;
        p.mark(Mark::Rests(3));
        Ok(mine)
    }

    /// The ticket of the process inside, for a process that did not keep it. Only the process
    /// inside may ask.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn served(&self, p: &Process<M>) -> Result<u64, M::Error> {
        p.on(self.part).at(4).read(&self.serving).await
    }
}

impl<M: FetchAdd> MutualExclusion<M> for TicketLock<M> {}

impl<M: FetchAdd> KExclusion<M> for TicketLock<M> {
    /// The ticket.
    type Held = u64;
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<u64, Failure<M::Error>> {
        let p = p.on(self.part);
        let mine = p.at(1).fetch_add(&self.next, 1).await?;
        p.mark(Mark::DoorwayEnds);
        Ok(self.wait(p, mine).await?)
    }

    async fn release(&self, p: &Process<M>, mine: u64) -> Result<(), M::Error> {
        // Only the process inside writes it. It therefore holds our own ticket and need not be
        // read.
        p.on(self.part).at(4).write(&self.serving, fit::<u64>(mine.wrapping_add(1), self.bits)).await
    }
}

impl<M: FetchAdd + CompareSwap> AtOnce<M> for TicketLock<M> {
    async fn acquire_at_once(&self, p: &Process<M>) -> Result<Option<u64>, Failure<M::Error>> {
        let p = p.on(self.part);
        let turn = p.at(5).read(&self.serving).await?;
        if p.at(6)
            .keeping(&turn)
            .compare_swap(&self.next, turn, fit::<u64>(turn.wrapping_add(1), self.bits))
            .await?
            .is_err()
        {
            return Ok(None); // another process has drawn that ticket
        }
        p.mark(Mark::DoorwayEnds);
        Ok(Some(self.wait(p, turn).await?))
    }
}
