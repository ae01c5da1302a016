//! Mutual exclusion for two processes that spin on their own memory only.
//!
//! # Problem
//! Mutual exclusion from atomic reads and writes, with a constant number of remote references even on a machine without
//! coherent caches.
//!
//! # Source
//! Yang and Anderson, PODC 1993: **Figure 1**, invariants (I0) to (I16).
//!
//! # Idea
//! Both say "I compete" (`C`) and then sign `T`; who signed *last* waits. Instead of watching `T`, which is remote, each waits on its own `P`,
//! which the rival raises: 1 says "I have signed `T` now", so that it is settled who was last, 2 says "I have left".
//! A process that must wait for the news 1 may itself owe it to the rival, and pays first (6, 7).
//!
//! # Shared variables
//! | name   | range   | initially | home   | written at  | meaning |
//! |--------|---------|-----------|--------|-------------|---------|
//! | `C[s]` | pid, –  | –         | nobody | 1, 12       | who competes on side `s` |
//! | `T`    | pid     | any       | nobody | 2           | who signed last |
//! | `P[i]` | 0..=2   | 0         | `i`    | 3, rival 7, 14 | 1: the rival has signed `T`; 2: the rival has left |
//!
//! # Invariants (all checked, for both assignments of `i` and `j`)
//! - (I0) `i@{0,1,13,14}` exactly if `C[i] = –`; (I1) `i@{2..12}` exactly if `C[i] = i`
//! - (I6) not both at 11 — this is mutual exclusion
//! - (I8) not both at 8 with both `P` zero; (I11) not both at 10: nobody waits for each other
//! - the other fourteen stand beside the checker's claims for `ya-two`
//!
//! # Cost, faults, fairness
//! At most 10 remote references a passage in the DSM model (1, 2, 4, 5, 6, 7, 9, 12, 13, 14), 5 uncontended; at most 11 with
//! write-back caches. No crash is tolerated. Starvation-free: who signed `T` first goes first.
//!
//! # Departures from the paper
//! 1. The tail of the figure is misnumbered in print; the invariants fix it as 11 critical section, 12 to 14 exit, as here.
//! 2. The figure knows both processes by name. Here, as a [node](Node) needs it, a process has a side and learns its rival's name: from `C` at 4, on the
//!    way out from `T` at 13. That is one read each, for the question and the answer; a rival that has gone by 7 gets a 1 that it forgets at its next 3.

use crate::Failure;
use crate::k_exclusion::KExclusion;
use crate::memory::{Domain, Mark, Memory, Pid, Process, ReadWrite, Site, decl};
use crate::mutex::{MutualExclusion, Node, Side};
use core::ops::Range;

/// The shared variables of Figure 1. As a lock of its own, for the processes 0 and 1; as a [node](Node), for two sides.
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

    /// A mutex between two sides that these processes can come to.
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

    /// Where a process waits.
    fn p(&self, p: Pid) -> &M::Cell<u64> {
        &self.p[p.index() - self.members.start]
    }

    /// Who signed last.
    pub(super) fn signed(&self) -> &M::Cell<Pid> {
        &self.t
    }

    /// Whether this can be the name of a rival. It always is, unless a read was torn, on registers that are not atomic.
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
                    p.at(7).keeping(&rival).write(self.p(rival), 1).await?; // tell the rival, who may wait at 8 for just this news,
                }
                p.hides("rival");
                p.at(8).keeping(&()).wait_until(self.p(me), |x| x != 0).await?; // and wait until it is settled who signed last.
                if p.at(9).keeping(&()).read(&self.t).await? == me {
                    p.at(10).keeping(&()).wait_until(self.p(me), |x| x > 1).await?; // It was us: wait until the rival has left.
                }
            }
        }
        p.hides("rival");
        p.mark(Mark::Rests(11));
        Ok(())
    }

    async fn leave(&self, p: &Process<M>, side: Side) -> Result<(), M::Error> {
        let p = p.on(self.part);

        p.at(12).write(&self.c[side.index()], None).await?; // first free the way, so that a rival not yet at 4 passes,
        let last = p.at(13).keeping(&()).read(&self.t).await?;
        if last != p.pid() && self.is_member(last) {
            p.at(14).keeping(&last).write(self.p(last), 2).await?; // then release the one who signed after us.
        }
        Ok(())
    }
}

impl<M: ReadWrite> MutualExclusion<M> for TwoProcess<M> {}

impl<M: ReadWrite> TwoProcess<M> {
    /// The side of a process, where each has one of its own.
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
