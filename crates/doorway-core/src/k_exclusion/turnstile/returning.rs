//! Rings that go back: a line that was long once does not keep its memory for ever.
//!
//! # Problem
//! A process that has read where a record lies may access it much later. So while any process might
//! do that, the ring must stay. Hazard pointers and epochs solve this with a table of all
//! processes, and with garbage that waits for the slowest one.
//!
//! # Idea
//! The first `kept` rings stay for ever: they are short, and nearly all lines fit. Longer rings go
//! back, all at once, when no waiter is in line. A waiter is in line as long as it may access its
//! own record. Any other process that finds more than `kept` rings *counts itself* in `top` before
//! it looks into one, and is counted until it has done with what it found. A process that empties
//! the line, or is the last that is counted, gives the rings back.
//!
//! # Shared variables
//! | name  | range                            | initially | home   | written at   | meaning |
//! |-------|----------------------------------|-----------|--------|--------------|---------|
//! | `top` | `(rings, going, users, entries)` | `(0,…)`   | nobody | 56, 103, 104, 107, 109 | [the number of rings](Rings); whether a process gives rings back; how many processes are counted, and ever were |
//!
//! # Statements
//! | statement | what |
//! |---|---|
//! | 103 | a process that sees more than `kept` rings counts itself (50, 51), and one that gives up a record in such a ring |
//! | 104 | it is done. If it was the last one, it goes on at 106 |
//! | 105 | a process that may have emptied the line looks whether there are rings to give back, and whether some process is counted |
//! | 106 | is no waiter in line? |
//! | 107 | if nothing has happened to `top` since 104 or 105, the rings are *going* |
//! | 108 | they go. A memory that cannot take a ring back keeps it, and the process makes its places free again |
//! | 109 | only `kept` rings are left |
//!
//! # Why
//! - *No record in a ring that goes matters (107)*: let `t` be a ticket in such a ring. Its process
//!   was counted before it claimed the place, and until it had announced `t`. It was not counted
//!   when the giver looked (104, 105), and no process was counted since (`entries`). So `t` was
//!   announced before the giver saw that no waiter is in line (106), and had been exited by then.
//! - *No process accesses such a record later*: a waiter, or a process that gives up, is counted or
//!   in line until it has done with its own record. Any other process is counted when it accesses
//!   the record. A process that counts itself while rings are going looks only into the first
//!   `kept`.
//! - *A ghost that was exited and not passed stays known*: the process that exits it is counted
//!   until the front has passed it. If it dies before, the rings stay.
//! - *A record that is absent is dealt with (13)*, as in the [line](super::Endless): rings go only
//!   when all tickets in them were exited.
//! - *The last one gives back*: a process that empties the line looks at `top` after that, and a
//!   process that is done looks at the gate after that. Whichever is last finds both.
//! - *While rings are going, no process makes one.* A claimer that needs one then waits as if there
//!   were no memory: it is let in in its turn. 108 takes no step that others could delay.
//! - *`entries`* counts modulo 2^34. Suppose that exactly 2^34 processes count themselves while a
//!   giver is between two steps. Then it may take back a ring that is in use.
//!
//! # Invariants (all checked)
//! - (G1) no process is about to access a record of a ring that is not there, or that is going; but
//!   for the process that gives it back
//! - (G2) `users` is the number of processes that are counted
//! - (G3) when all processes are in their remainders, and no waiter is in line, there are at most
//!   `kept` rings, unless a process died
//! - and all invariants of the line
//!
//! # Cost
//! No step while the line has at most `kept` rings. Otherwise two read-modify-writes for each wait,
//! for each signal, for each ticket that is given up, and for each record that a sweep or a pass
//! looks at. The process that gives rings back frees all of them.
//!
//! A process that stalls while it makes a ring may leave it behind: it then makes a ring which
//! `top` does not count, and fails at 56. Only ring number `kept` can be left like this. It is used
//! when the line is long again, and then goes back.
//!
//! A process that dies while it is counted keeps the rings there, and costs nothing else. One that
//! dies while rings are going keeps others from making rings: callers that find no place in the
//! first ones are let in in their turn, and cannot give up.

use super::{Endless, Line, Record, Rings, Turnstile};
use crate::memory::{FetchAdd, Here, Immediate, LateRows, in_both_forms};
use core::fmt::Debug;

impl<M: LateRows> Turnstile<M, Endless<M>> {
    /// The same, but all rings except the first `kept` go back when the line is empty.
    #[must_use]
    pub fn keeping_rings(mut self, kept: u32) -> Self {
        self.line.kept = kept;
        self
    }
}

impl<M: FetchAdd + LateRows> Turnstile<M, Endless<M>> {
    in_both_forms! {
    /// A process that may have emptied the line gives rings back, if there are any: 105 to 109.
    #[inline(always)]
    pub(super) fn give_rings_back_if_any, give_rings_back_if_any_now<K: Debug>(&self, p: Here<'_, M>, live: &K) -> () {
        if self.line.goes_back() {
            let top = access!(p.at(105).keeping(live).read(&self.line.top));
            if top.may_go(self.line.kept) {
                either!(self.give_rings_back(p, top, live), self.give_rings_back_now(p, top));
            }
        }
    }
    }

    /// 103. Returns the number of rings in which there may be tickets then.
    pub(super) async fn take_hold<K: Debug>(&self, p: Here<'_, M>, live: &K) -> Result<u32, M::Error> {
        let top = p.at(103).keeping(live).fetch_add(&self.line.top, Rings::ENTERS).await?;
        p.shows("counted", true);
        Ok(top.in_use(self.line.kept))
    }

    #[cold]
    #[inline(never)]
    pub(super) fn take_hold_now(&self, p: Here<'_, M>) -> u32
    where
        M: Immediate,
    {
        M::now(self.take_hold(p, &()))
    }

    /// 104, and what the last counted process does.
    pub(super) async fn let_go<K: Debug>(&self, p: Here<'_, M>, live: &K) -> Result<(), M::Error> {
        let top = p.at(104).keeping(live).fetch_add(&self.line.top, Rings::LEAVES).await?.after_one_left();
        p.hides("counted");
        if top.may_go(self.line.kept) {
            self.give_rings_back(p, top, live).await?;
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    pub(super) fn let_go_now(&self, p: Here<'_, M>)
    where
        M: Immediate,
    {
        M::now(self.let_go(p, &()));
    }

    #[cold]
    #[inline(never)]
    fn give_rings_back_now(&self, p: Here<'_, M>, top: Rings)
    where
        M: Immediate,
    {
        M::now(self.give_rings_back(p, top, &()));
    }

    /// Gives rings back, if no waiter is in line, and nothing has happened to `top` meanwhile: 106
    /// to 109.
    async fn give_rings_back<K: Debug>(&self, p: Here<'_, M>, top: Rings, live: &K) -> Result<(), M::Error> {
        let line = &self.line;
        let g = p.at(106).keeping(&(top, live)).read(&self.gate).await?;
        if g.line != 0 || p.at(107).keeping(&(top, live)).compare_swap(&line.top, top, top.leaving()).await?.is_err() {
            return Ok(());
        }
        if !p.give_rows_back(&line.rec, line.kept as usize) {
            for ring in line.kept..top.rings as u32 {
                for place in 0..u64::from(line.first) << ring {
                    let cell = line.record(ring, place);
                    p.at(108).keeping(&(top.rings, ring, place, live)).write(cell, Record::FREE).await?;
                }
            }
        }
        p.at(109).keeping(&(top.rings, live)).fetch_add(&line.top, top.gone(line.kept)).await?;
        Ok(())
    }
}
