//! First come, first served: a bakery without a door, and one with small variables.
//!
//! # Source
//! - [`HehnerShyamasundar`]: Hehner and Shyamasundar, *An Implementation of P and V*, Information
//!   Processing Letters 12(4), 1981, as given in Buhr, Dice and Hesselink's collection of locks.
//! - [`LycklamaHadzilacos`]: Lycklama and Hadzilacos, *A First-Come-First-Served Mutual-Exclusion
//!   Algorithm with Small Communication Variables*, TOPLAS 13(4), 1991, Figure 4, as given there.
//!
//! Lamport's Bakery (1974) and Taubenfeld's bounded one (2004) are in the catalogue (`bakery`,
//! `black-white-bakery`).
//!
//! # Idea
//! Hehner and Shyamasundar: Lamport's Bakery, where a process that draws a ticket holds ticket 0
//! meanwhile. So the others wait for it without a flag of its own, and an idle process holds the
//! largest ticket of all. Lycklama and Hadzilacos: in the doorway a process copies what the others
//! show, and then changes what it shows itself. It waits for every process that still shows what
//! was copied: these came before it. Lamport's one bit then chooses among those that came together.
//!
//! ```text
//! Hehner and Shyamasundar                    Lycklama and Hadzilacos
//! 1  ticket[i] := 0                          1  c[i] := true
//! 2  m := 1 + the largest ticket that        2  for each other j, copy[j] := turn[j][0], turn[j][1]
//!        is not that of an idle process      3  bit[i] := not bit[i]
//! 3  ticket[i] := m                          4  turn[i][bit[i]] := not turn[i][bit[i]]
//!    the doorway ends                        5  v[i] := true
//! 4  for each other j, wait until            6  c[i] := false
//!        (ticket[j], j) > (m, i)                the doorway ends
//!    critical section                        7  for each other j, wait until
//! 5  ticket[i] := idle                              not c[j], and not v[j] or turn[j] /= copy[j]
//!                                            8  Lamport's one bit, in x
//!                                               critical section
//!                                            9  x[i] := false
//!                                            10 v[i] := false
//! ```
//!
//! # Shared variables
//! | name | range | initially | written by | meaning |
//! | --- | --- | --- | --- | --- |
//! | `ticket[i]` | numbers; the largest is *idle* | idle | i | 0: draws a ticket |
//! | `c[i]` | bool | false | i | i is in its doorway |
//! | `v[i]` | bool | false | i | i competes |
//! | `turn[i][0..2]` | bool | false | i | a small clock |
//! | `x[i]` | bool | false | i | i's bit in Lamport's algorithm |
//! | `bit[i]` | bool | false | i, private | which bit of the clock changed last |
//!
//! # Claims
//! Mutual exclusion without deadlock and starvation, first come, first served, for atomic
//! registers.

use crate::{IDLE_TICKET, MOST, TICKETS, others};
use doorway_check::prelude::*;

lock! {
    /// Hehner and Shyamasundar's bakery for `n` processes. Tickets grow while it is never empty.
    pub struct HehnerShyamasundar(n: usize): ReadWrite {
        ticket: [u64; n] = decl(IDLE_TICKET).ranges_over(Domain::Of(&TICKETS)),
    }
    acquire(self, p) {
        let (i, n) = (p.pid().index(), self.n);
        p.at(1).write(&self.ticket[i], 0).await?;
        let mut mine = 0;
        for j in others(n, i) {
            let ticket = p.at(2).read(&self.ticket[j]).await?;
            if ticket != IDLE_TICKET {
                mine = mine.max(ticket);
            }
        }
        mine += 1;
        p.at(3).write(&self.ticket[i], mine).await?;
        p.mark(Mark::DoorwayEnds);
        for j in others(n, i) {
            p.at(4).wait_until(&self.ticket[j], |ticket| (ticket, j) > (mine, i)).await?;
        }
    }
    release(self, p) {
        p.at(5).write(&self.ticket[p.pid().index()], IDLE_TICKET).await?;
    }
}

lock! {
    /// Lycklama and Hadzilacos' algorithm for `n` processes. `turn[i][b]` is `turn[2 * i + b]`.
    pub struct LycklamaHadzilacos(n: usize): ReadWrite {
        c: [bool; n] = false,
        v: [bool; n] = false,
        turn: [bool; 2 * n] = false,
        x: [bool; n] = false,
        bit: [bool; n] = for i { decl(false).private(Pid::new(i)) },
    }
    acquire(self, p) {
        let (i, n) = (p.pid().index(), self.n);
        p.at(1).write(&self.c[i], true).await?;
        let mut copy = [[false; 2]; MOST];
        for j in others(n, i) {
            copy[j][0] = p.at(21).read(&self.turn[2 * j]).await?;
            copy[j][1] = p.at(22).read(&self.turn[2 * j + 1]).await?;
        }
        let bit = !p.at(31).read(&self.bit[i]).await?;
        p.at(32).write(&self.bit[i], bit).await?;
        let turn = &self.turn[2 * i + usize::from(bit)];
        let advanced = !p.at(41).read(turn).await?;
        p.at(42).write(turn, advanced).await?;
        p.at(5).write(&self.v[i], true).await?;
        p.at(6).write(&self.c[i], false).await?;
        p.mark(Mark::DoorwayEnds);
        for j in others(n, i) {
            while p.at(71).read(&self.c[j]).await?
                || p.at(72).read(&self.v[j]).await?
                    && p.at(73).read(&self.turn[2 * j]).await? == copy[j][0]
                    && p.at(74).read(&self.turn[2 * j + 1]).await? == copy[j][1]
            {}
        }
        'bit: loop {
            p.at(81).write(&self.x[i], true).await?;
            for j in 0..i {
                if p.at(82).read(&self.x[j]).await? {
                    p.at(83).write(&self.x[i], false).await?;
                    p.at(84).wait_until(&self.x[j], |x| !x).await?;
                    continue 'bit;
                }
            }
            break;
        }
        for j in i + 1..n {
            p.at(85).wait_until(&self.x[j], |x| !x).await?;
        }
    }
    release(self, p) {
        let i = p.pid().index();
        p.at(9).write(&self.x[i], false).await?;
        p.at(10).write(&self.v[i], false).await?;
    }
}
