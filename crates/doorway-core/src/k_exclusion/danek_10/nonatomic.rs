//! The k-Bakery from registers that are not atomic.
//!
//! # Problem
//! As [`KBakery`](super::KBakery) with first in, first enabled, but a read that overlaps a write
//! may return anything.
//!
//! # Source
//! Danek, PODC 2010: **Figure 3**, repaired (see Departures).
//!
//! # Idea
//! A process tells the others everything twice: it writes copy 1 and then copy 2. A reader takes
//! the copies in the opposite order, and at most one copy is being written at a time. So a reader
//! that finds both copies larger has seen a value that was really written, before or after. A
//! process does not renew a capture that still holds (44). So a captured process stays captured,
//! whatever it reads meanwhile.
//!
//! # Shared variables
//! `c` is 1 or 2.
//!
//! | name             | range    | initially | home    | register | written at                  | meaning |
//! |------------------|----------|-----------|---------|----------|-----------------------------|---------|
//! | `Wantc[q][p]`    | 0.. or ∞ | ∞         | `q`     | safe     | by `p`: 30`c`, 33`c`, 48`c` | what `p` tells `q`: the ticket it competes with; ∞: none |
//! | `Ticket[p]`      | 0..      | 0         | `p`     | monotone | 312                         | `p`'s last ticket. Never reset |
//! | `Capturec[q][p]` | 0..      | 0         | `q`     | safe     | by `p`: 45`c`               | `p` entered with this ticket. Never reset |
//! | `own[p]`         | 0..      | 0         | private |          | 312                         | what `p` knows of `Ticket[p]` |
//! | `shadow[p][q]`   | 0..      | 0         | private |          | 452                         | what `p` knows of `Capture1[q][p]` |
//!
//! `Want` and `Capture` are only ever compared with the reader's ticket. Of all the values that a
//! torn read may return, it is therefore enough to try one that is too small and one that is too
//! large.
//!
//! # Invariants (checked)
//! - (W) `Wantc[i][p] = ∞` for all `i` if `p@0`; `Wantc[i][p] = Ticket[p]` for all `i` if
//!   `p@{311, 312, 38, 39, 41, 42, 44, 46}`
//! - (T) the ticket that `p@312` is about to write is larger than its last
//! - (L3) a process that is past its doorway, is not in its exit section, and has a smaller
//!   (ticket, name) than `p@{38..42}`, is in `pred` of `p`
//! - (C) `Capturec[q][p] <= Ticket[p]`, and both copies are equal unless `p@{451, 452}`
//!
//! # Cost, faults, fairness
//! `8(N-1)` to `10(N-1)` remote references in the DSM model: 45 may write to no process, or to all
//! others. `O(N)` in the CC model. Tolerates `k - 1` crashes, even half-way through a write.
//! Bounded exit. First in, first enabled.
//!
//! # Departures from the paper
//! 1. **`Ticket` is monotone**: a read that overlaps a write returns at least the last value that
//!    was completely written. The paper leaves `Ticket` a safe register, and then two processes
//!    enter at `N = 3`, `k = 1`. One draws a small ticket because a larger one is just being
//!    written. Later a second one draws a ticket smaller than an old capture, and that capture lets
//!    it in. Lamport (1977) builds a monotone register from digits that are at least regular: they
//!    are written from the most significant one on and read from the least significant one on.
//!    [`as_printed`](NonatomicKBakery::as_printed) is the paper's version.
//! 2. A statement with several accesses has several numbers: 311 reads one ticket and 312 writes
//!    the process's own. After 30, 33, 45 and 48 a last digit names the copy.
//! 3. The first index is the process that a word is local to, the second its writer: the paper's
//!    `Want[p][q][c]` is `Wantc[q][p]` here. The same holds for `Capture`.
//! 4. A process neither reads nor writes what it would tell itself, and it knows what it has
//!    written: at 44 it reads only `Ticket`.
//! 5. Tickets are 64-bit words. A process that would need a larger one withdraws at 491 and 492 and
//!    returns [`NoTicketLeft`] instead of wrapping round.

use super::{NoTicketLeft, Wants, after, bits, others, without};
use crate::Failure;
use crate::k_exclusion::KExclusion;
use crate::memory::{Domain, Here, Label, Mark, Memory, Needs, Pid, Process, ReadWrite, Site, Word, decl};
use alloc::vec::Vec;

/// The shared variables of the k-Bakery from registers that are not atomic.
#[derive(Debug)]
pub struct NonatomicKBakery<M: Memory> {
    part: M::Part,
    n: usize,
    k: usize,
    want: Copies<M, Wants>,
    ticket: M::Row<u64>,
    capture: Copies<M, u64>,
    own: M::Row<u64>,
    shadow: M::Table<u64>,
}

/// What every process tells every other one, in two copies.
#[derive(Debug)]
struct Copies<M: Memory, T: Word> {
    first: M::Table<T>,
    second: M::Table<T>,
}

impl<M: ReadWrite, T: Word> Copies<M, T> {
    fn new(site: &Site<'_, M>, names: [&'static str; 2], n: usize, init: T, smallest_and_largest: &[T; 2]) -> Self {
        let safe = decl(init).needs(Needs::Safe(Domain::Of(smallest_and_largest)));
        let [first, second] = names.map(|name| site.table(name, 0..n, n, safe));
        Self { first, second }
    }

    /// Tells `to` the value `x`, in both copies: `statement` is 30 where the paper has 301 and 302.
    async fn tell(&self, p: Here<'_, M>, to: usize, x: T, statement: Label) -> Result<(), M::Error> {
        let me = p.pid().index();
        p.keep(10 * statement + 1, &(to, x));
        p.at(10 * statement + 1).write(&self.first[(to, me)], x).await?;
        p.keep(10 * statement + 2, &(to, x));
        p.at(10 * statement + 2).write(&self.second[(to, me)], x).await
    }
}

impl<M: ReadWrite> NonatomicKBakery<M> {
    /// Lets `k` of `n` processes in. Tickets are monotone registers; all others may be safe.
    pub fn new(site: &Site<'_, M>, n: usize, k: usize) -> Self {
        Self::with_tickets(site, n, k, Needs::Monotone(Domain::Naturals))
    }

    /// The same on safe registers only, as the paper has it. This is **not a solution**; the
    /// catalogue has it so that anyone can see why.
    pub fn as_printed(site: &Site<'_, M>, n: usize, k: usize) -> Self {
        Self::with_tickets(site, n, k, Needs::Safe(Domain::Naturals))
    }

    fn with_tickets(site: &Site<'_, M>, n: usize, k: usize, tickets: Needs<'_, u64>) -> Self {
        Self {
            part: site.here(),
            n,
            k,
            want: Copies::new(site, ["Want1", "Want2"], n, Wants::NOTHING, &[Wants::ticket(0), Wants::NOTHING]),
            ticket: site.row("Ticket", n, |p| decl(0).home(Pid::new(p)).needs(tickets)),
            capture: Copies::new(site, ["Capture1", "Capture2"], n, 0, &[0, u64::MAX]),
            own: site.row("own", n, |p| decl(0).private(Pid::new(p))),
            shadow: site.table("shadow", 0..n, n, decl(0).private(Pid::new(0))),
        }
    }

    /// Tells all other processes what this one wants.
    async fn wants(&self, p: Here<'_, M>, what: Wants, statement: Label) -> Result<(), M::Error> {
        for i in others(self.n, p.pid().index()) {
            self.want.tell(p, i, what, statement).await?;
        }
        Ok(())
    }
}

impl<M: ReadWrite> KExclusion<M> for NonatomicKBakery<M> {
    type Held = ();
    type Refusal = NoTicketLeft;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error, NoTicketLeft>> {
        let p = p.on(self.part);
        let me = p.pid().index();

        let old = p.at(301).read(&self.own[me]).await?;
        self.wants(p, Wants::ticket(old), 30).await?; // from here on, others wait for our ticket,
        let mut max = old;
        for i in others(self.n, me) {
            max = max.max(p.at(311).keeping(&(i, max)).read(&self.ticket[i]).await?);
        }
        let Some(mine) = after(max) else {
            self.wants(p, Wants::NOTHING, 49).await?;
            return Err(Failure::Refused(NoTicketLeft));
        };
        p.shows("draws", mine);
        p.at(312).keeping(&mine).write(&self.ticket[me], mine).await?;
        p.at(312).write(&self.own[me], mine).await?;
        p.hides("draws");
        p.mark(Mark::DoorwayEnds);
        self.wants(p, Wants::ticket(mine), 33).await?; // which they know now.

        let mut pred: Vec<usize> = others(self.n, me).collect();
        let mut captured = false;
        while pred.len() >= self.k && !captured {
            let before = &pred;
            // A turn that strikes no process out changes nothing and leads back to here.
            let turn = || async move {
                p.shows("pred", bits(before));
                let (mut gone, mut captured) = (Vec::new(), false);
                for &i in before {
                    let goes_after = |want| (Wants::ticket(mine), me) < (want, i);
                    if goes_after(
                        p.at(38)
                            .keeping(&(i, mine, without(before, &gone), gone.is_empty()))
                            .read(&self.want.second[(me, i)])
                            .await?,
                    ) && goes_after(
                        p.at(39)
                            .keeping(&(i, mine, without(before, &gone), gone.is_empty()))
                            .read(&self.want.first[(me, i)])
                            .await?,
                    ) {
                        gone.push(i); // for good: its next tickets are larger still
                        p.shows("pred", bits(&without(before, &gone)));
                    }
                }
                for i in others(self.n, me) {
                    if mine
                        < p.at(41)
                            .keeping(&(i, mine, without(before, &gone), gone.is_empty(), captured))
                            .read(&self.capture.second[(me, i)])
                            .await?
                    {
                        captured |= mine
                            < p.at(42)
                                .keeping(&(i, mine, without(before, &gone), gone.is_empty(), captured))
                                .read(&self.capture.first[(me, i)])
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

        for i in others(self.n, me) {
            let theirs = p.at(44).keeping(&(i, mine)).read(&self.ticket[i]).await?;
            // Leave a capture that holds alone: while we write it again, i could miss it.
            if p.at(44).read(&self.shadow[(me, i)]).await? <= theirs {
                self.capture.tell(p, i, mine, 45).await?;
                p.at(452).write(&self.shadow[(me, i)], mine).await?;
            }
        }
        p.mark(Mark::Rests(46));
        Ok(())
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        self.wants(p.on(self.part), Wants::NOTHING, 48).await
    }
}
