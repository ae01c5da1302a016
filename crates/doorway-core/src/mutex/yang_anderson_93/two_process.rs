//! Mutual exclusion for two processes that spin on their own memory only.
//!
//! # Problem
//! Mutual exclusion from atomic reads and writes, with a constant number of remote references even
//! on a machine without coherent caches.
//!
//! # Source
//! Yang and Anderson, PODC 1993: **Figure 1**, invariants (I0) to (I16).
//!
//! # Idea
//! Both processes announce that they compete (`C`) and then sign `T`. The one that signed *last*
//! waits. `T` is remote, so a waiter does not watch it. It waits on its own `P`, which the rival
//! raises: 1 says "I have signed `T` now", so the last signer is settled, and 2 says "I have left".
//! A process that must wait for the 1 may itself owe it to the rival, and writes it first (6, 7).
//!
//! # Shared variables
//! | name   | range   | initially | home   | written at  | meaning |
//! |--------|---------|-----------|--------|-------------|---------|
//! | `C[s]` | pid, –  | –         | nobody | 1, 12       | the process that competes on side `s` |
//! | `T`    | pid     | any       | nobody | 2           | the process that signed last |
//! | `P[i]` | 0..=2   | 0         | `i`    | 3, rival 7, 14 | 1: the rival has signed `T`; 2: the rival has left |
//!
//! # Invariants (all checked, for both assignments of `i` and `j`)
//! - (I0) `i@{0,1,13,14}` exactly if `C[i] = –`; (I1) `i@{2..12}` exactly if `C[i] = i`
//! - (I6) not both at 11 — this is mutual exclusion
//! - (I8) not both at 8 with both `P` zero; (I11) not both at 10: the two never wait for each other
//! - the other fourteen are listed with the checker's claims for `ya-two`
//!
//! # Cost, faults, fairness
//! At most 10 remote references per passage in the DSM model (1, 2, 4, 5, 6, 7, 9, 12, 13, 14), 5
//! uncontended; at most 11 with write-back caches. No crash is tolerated. Starvation-free: the
//! process that signed `T` first goes first.
//!
//! # Departures from the paper
//! 1. The end of the figure is misnumbered in print. The invariants determine the numbers: 11 is
//!    the critical section and 12 to 14 the exit section, as here.
//! 2. The figure knows both processes by name. Here a process has a side, as a [node](Node)
//!    requires, and learns its rival's name: from `C` at 4, and on the way out from `T` at 13. One
//!    read in each place gives both the question and the answer. A rival that has left by 7 gets a
//!    1, which it forgets at its next 3.

use crate::Failure;
use crate::k_exclusion::KExclusion;
use crate::memory::{Domain, Mark, Memory, Pid, Process, ReadWrite, Site, decl};
use crate::mutex::{MutualExclusion, Node, Side};
use core::ops::Range;

/// The shared variables of Figure 1. It is a lock for the processes 0 and 1, or as a [node](Node) a
/// lock for two sides.
#[derive(Debug)]
pub struct TwoProcess<M: Memory> {
    part: M::Part,
    /// The processes that can come to it.
    members: Range<usize>,
    c: M::Row<Option<Pid>>,
    t: M::Var<Pid>,
    p: M::Row<u64>,
}

impl<M: ReadWrite> TwoProcess<M> {
    /// A mutex for the processes 0 and 1.
    pub fn new(site: &Site<'_, M>) -> Self {
        Self::between(site, 0..2)
    }

    /// A mutex between two sides, for these processes.
    pub fn between(site: &Site<'_, M>, members: Range<usize>) -> Self {
        let first = members.start;
        Self {
            part: site.here(),
            c: site.row("C", 2, |_| decl(None)),
            t: site.var("T", Pid::new(first)),
            p: site.row("P", members.len(), |i| decl(0).home(Pid::new(first + i)).ranges_over(Domain::Of(&[0, 1, 2]))),
            members,
        }
    }

    /// The word on which a process waits.
    fn p(&self, p: Pid) -> &M::Cell<u64> {
        &self.p[p.index() - self.members.start]
    }

    /// The variable that names the last signer.
    pub(super) fn signed(&self) -> &M::Cell<Pid> {
        &self.t
    }

    /// Whether this can be the name of a rival. It always is, unless the registers are not atomic
    /// and a read was torn.
    pub(super) fn is_member(&self, p: Pid) -> bool {
        self.members.contains(&p.index())
    }
}

impl<M: ReadWrite> Node<M> for TwoProcess<M> {
    async fn enter(&self, p: &Process<M>, side: Side) -> Result<(), M::Error> {
        let p = p.on(self.part);
        let me = p.pid();
        let (mine, other) = (side.index(), side.other().index());

        p.at(1).write(&self.c[mine], Some(me)).await?;
        p.at(2).keeping(&()).write(&self.t, me).await?;
        p.at(3).keeping(&()).write(self.p(me), 0).await?; // forget signals meant for an earlier passage
        if let Some(rival) = p.at(4).keeping(&()).read(&self.c[other]).await?.filter(|&rival| self.is_member(rival)) {
            p.shows("rival", rival);
            if p.at(5).keeping(&rival).read(&self.t).await? == me {
                if p.at(6).keeping(&rival).read(self.p(rival)).await? == 0 {
                    // Tell the rival, which may wait for this at 8.
                    p.at(7).keeping(&rival).write(self.p(rival), 1).await?;
                }
                p.hides("rival");
                // Wait until it is settled which process signed last.
                p.at(8).keeping(&()).wait_until(self.p(me), |x| x != 0).await?;
                if p.at(9).keeping(&()).read(&self.t).await? == me {
                    // We signed last: wait until the rival has left.
                    p.at(10).keeping(&()).wait_until(self.p(me), |x| x > 1).await?;
                }
            }
        }
        p.hides("rival");
        p.mark(Mark::Rests(11));
        Ok(())
    }

    async fn leave(&self, p: &Process<M>, side: Side) -> Result<(), M::Error> {
        let p = p.on(self.part);

        p.at(12).write(&self.c[side.index()], None).await?; // first clear the way, so that a rival before 4 passes,
        let last = p.at(13).keeping(&()).read(&self.t).await?;
        if last != p.pid() && self.is_member(last) {
            p.at(14).keeping(&last).write(self.p(last), 2).await?; // then release the process that signed after us.
        }
        Ok(())
    }
}

impl<M: ReadWrite> MutualExclusion<M> for TwoProcess<M> {}

impl<M: ReadWrite> TwoProcess<M> {
    /// The side of a process, where each process has its own.
    fn side(&self, p: &Process<M>) -> Side {
        if p.pid().index() == self.members.start { Side::Left } else { Side::Right }
    }
}

impl<M: ReadWrite> KExclusion<M> for TwoProcess<M> {
    type Held = ();
    type Refusal = core::convert::Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        Ok(self.enter(p, self.side(p)).await?)
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        self.leave(p, self.side(p)).await
    }
}
