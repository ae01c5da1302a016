//! `(N, k)`-exclusion in the order of arrival, for processes that never give up.
//!
//! # Problem
//! k-exclusion whose cost does not depend on `N`.
//!
//! # Source
//! Our own; the first version of the [turnstile](super).
//!
//! # Idea
//! Tickets, and a count of exits: the exit that finds `x` exits before it enables ticket `x + k`. A
//! ticket is *signalled* in a cell of a ring, and the process that has it waits there. An exit
//! signals the ticket that it enables, and before it all older ones that are not signalled yet: it
//! walks back to the first of them, and then forwards. Any process can signal, and several can do
//! so at once. So a process that dies or sleeps in its exit holds no other up: the next process
//! that exits signals what it left.
//!
//! # Shared variables
//! | name         | range  | initially                            | home   | written at | meaning |
//! |--------------|--------|--------------------------------------|--------|------------|---------|
//! | `next`       | ticket | 0                                    | nobody | 1          | the next ticket |
//! | `served`     | number | 0                                    | nobody | 3          | the number of exits |
//! | `cell[0..W]` | number | `i+1` if `i < k`, otherwise `i+1-W`  | nobody | 5          | `y+1`, where `y` is the last ticket that was signalled of those that are `i` modulo `W` |
//!
//! `W` is a power of two and at least `2N + 2k`. Numbers are compared by their difference modulo
//! 2^64.
//!
//! # Why
//! - *no signal is lost*: an exit signals its ticket whether it is drawn or not. A process that
//!   draws it later finds the signal.
//! - *oldest first*: were the newest signalled first, a process could enter while another one,
//!   which came before it, still has to wait.
//! - *the ring*: each ticket that is enabled and not signalled belongs to an exit that is not
//!   finished, so there are at most `N` of them. Fewer than `N` are drawn and not enabled. A waiter
//!   is less than `W` after the first ticket that is not signalled, and has its cell for itself.
//! - *compare-and-swap (5)*: the cell only grows, so a process that comes too late changes nothing.
//!
//! # Invariants (all checked)
//! - (S1) `next - served = |{p : p@{2,3}}|`
//! - (S2) the tickets that were signalled are those before some ticket, which is at most
//!   `served + k`
//!
//! # Cost, faults, fairness
//! Without contention, three read-modify-writes and two loads. Under contention a few remote
//! references, and some more for each exit that is not finished. Tolerates `k - 1` crashes
//! anywhere. First in, first enabled; the doorway is statement 1. No process can give up: the
//! [turnstile](super) adds that, and saves one read-modify-write while no process waits.

use super::Next;
use crate::Failure;
use crate::k_exclusion::KExclusion;
use crate::memory::{Anybody, CompareSwap, FetchAdd, Mark, Memory, Process, Site, Word, decl};
use core::convert::Infallible;
use core::fmt;

/// The last ticket of a cell that was signalled, plus one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signal(pub i64);

impl Word for Signal {
    type Waiters = Anybody;
    const SIGNED: bool = true;
    const WHOLE: bool = true;
    const SPREAD: bool = true;

    #[inline(always)]
    fn pack(self) -> u64 {
        self.0 as u64
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self(word as i64)
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl Signal {
    /// Ticket `t` is signalled.
    #[must_use]
    pub const fn to(t: i64) -> Self {
        Self(t.wrapping_add(1))
    }

    /// Whether ticket `t` has been signalled, by what its cell says.
    ///
    /// ```
    /// use doorway_core::k_exclusion::turnstile::Signal;
    /// assert!(Signal::to(3).reaches(3));
    /// assert!(Signal::to(3 + 8).reaches(3)); // a later one has the cell only after that
    /// assert!(!Signal::to(3 - 8).reaches(3));
    /// ```
    #[must_use]
    #[inline(always)]
    pub const fn reaches(self, t: i64) -> bool {
        self.0.wrapping_sub(t) > 0
    }
}

/// The shared variables of the simple turnstile.
pub struct Simple<M: Memory> {
    part: M::Part,
    k: i64,
    ring: usize,
    next: M::Var<Next>,
    served: M::Var<Next>,
    cell: M::Row<Signal>,
}

impl<M: Memory> fmt::Debug for Simple<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simple").field("next", &self.next).field("served", &self.served).finish_non_exhaustive()
    }
}

impl<M: Memory> Simple<M> {
    /// Lets `k` of `n` processes in.
    pub fn new(site: &Site<'_, M>, n: usize, k: usize) -> Self {
        Self::starting_at(site, n, k, 0)
    }

    /// The same, where tickets begin with `first`. This makes no difference; tests use it to be
    /// near the point where numbers wrap.
    pub fn starting_at(site: &Site<'_, M>, n: usize, k: usize, first: i64) -> Self {
        let ring = simple_ring(n, k);
        // The first ticket that is not signalled.
        let open = first.wrapping_add(k as i64);
        let signalled = |i: usize| {
            let since = (i as i64).wrapping_sub(open) & (ring as i64 - 1);
            decl(Signal::to(open.wrapping_add(since).wrapping_sub(ring as i64)))
        };
        Self {
            part: site.here(),
            k: k as i64,
            ring,
            next: site.var("next", Next(first as u64)),
            served: site.var("served", Next(first as u64)),
            cell: site.row("cell", ring, signalled),
        }
    }

    fn cell(&self, t: i64) -> &M::Cell<Signal> {
        &self.cell[t as usize & (self.ring - 1)]
    }
}

/// The number of cells of the simple turnstile for `n` processes and `k` places.
///
/// ```
/// use doorway_core::k_exclusion::turnstile::simple_ring;
/// assert_eq!(simple_ring(3, 2), 16);
/// ```
#[must_use]
pub const fn simple_ring(n: usize, k: usize) -> usize {
    (2 * n + 2 * k).next_power_of_two()
}

impl<M: FetchAdd + CompareSwap> KExclusion<M> for Simple<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let p = p.on(self.part);
        let t = p.at(1).keeping(&()).fetch_add(&self.next, Next(1)).await?.0 as i64; // the doorway, one step
        p.mark(Mark::DoorwayEnds);
        p.shows("ticket", t);
        p.shows("counts", true);
        p.at(2).keeping(&t).wait_until(self.cell(t), |signal: Signal| signal.reaches(t)).await?;
        p.hides("ticket");
        p.mark(Mark::Rests(3));
        Ok(())
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        let p = p.on(self.part);
        let x = p.at(3).keeping(&()).fetch_add(&self.served, Next(1)).await?.0 as i64;
        p.hides("counts");
        let c = x.wrapping_add(self.k); // the ticket that this exit enables
        p.shows("upto", c);
        let mut y = c;
        loop {
            let before = y.wrapping_sub(1);
            if p.at(4).keeping(&(c, y)).read(self.cell(before)).await?.reaches(before) {
                break;
            }
            y = before;
        }
        loop {
            p.keep(5, &(c, y));
            let a_lap_ago = Signal::to(y.wrapping_sub(self.ring as i64));
            // If this fails, another process did it.
            let _ = p.at(5).compare_swap(self.cell(y), a_lap_ago, Signal::to(y)).await?;
            if y == c {
                break;
            }
            y = y.wrapping_add(1);
        }
        p.hides("upto");
        Ok(())
    }
}
