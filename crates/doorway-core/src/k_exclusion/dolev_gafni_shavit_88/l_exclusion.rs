//! `l`-exclusion from safe bits, with ids that are fixed or grow while a process waits.
//!
//! # Problem
//! `l`-exclusion for `N` processes that have nothing but safe bits with one writer each. Up to
//! `l - 1` processes may die, even half-way through writing a bit. (The paper's `l` is `k`
//! elsewhere.)
//!
//! # Source
//! Dolev, Gafni and Shavit, STOC 1988: **Constructions 6 and 8**, Construction Lemmas 6 and 8,
//! Corollary 2. `AS_PRINTED` follows them exactly.
//!
//! # Idea
//! Each process keeps yielding to the processes with larger ids. That alone can block all of them
//! for ever behind a dead process that yields to the largest and to which the largest yields. So
//! each process says in RANGE which processes it reaches, and every process yields to those that
//! the larger ones reach, too. Then nothing leads back from the dead to the living. With fixed ids
//! the largest process is served; with [ids](super::Ids) that grow during a wait, every process is.
//!
//! # Shared variables
//! X and GRAPH of the [board](super::Board); [ID](super::Ids); and RANGE, an [arrow](super::Arrow)
//! for each pair, which points from `p` to a process that `p` reached, or saw in its remainder. All
//! are safe bits: `9N(N-1) + N` of them with ID, `6N(N-1) + N` without.
//!
//! # Statements
//! 1 `x := true`, 2 yield to all, 3 increment ID, 4 observe ID, 5 update GRAPH, 6 Reach, 7 update
//! RANGE, 8 (as printed only) Reach once more for the test, 9 critical section, 10 initialize ID,
//! 11 `x := false`; 12 (as printed only) `x_j` once more for RANGE. The statements of forks are
//! counted from 20 in GRAPH, 30 in RANGE, 40 in ID.
//!
//! # Invariants (checked)
//! - (X) a process that is past 1 and not yet at 11 has `x[p]`
//! - (W), (H) of each [fork](super::Fork)
//! - (CL5) among the processes inside is one that reached all of them
//!
//! # Cost, faults, fairness
//! An exit section makes at most `2N - 1` writes. One turn of the loop reads at most `N(N-1)/2`
//! forks and `N(N-1)/2 + (N-1)²` arrows, and redirects at most all arrows of the process. A waiter
//! reads others' bits, so references are unbounded in the DSM model. In the CC model a passage of
//! two processes with ids that grow costs at most 98 (`doorway rmr dgs`); with fixed ids there is
//! no bound.
//!
//! Tolerates `l - 1` crashes, even half-way through writing a bit; only `l` slow processes can slow
//! another one down. With ID, starvation-free. Without, the process with the largest id among those
//! outside their remainders is served.
//!
//! # Departures from the paper
//! 1. `if not x_j then redirect(i, j, GRAPH)` is omitted from 5. As printed, a process can be
//!    passed for ever at `N = 2`, `l = 1`, without a crash and without a read that overlaps a
//!    write. It sees `x_j` false, the other process arrives and yields, and only then does it yield
//!    itself. `mutant:dgs-keeps-the-graph-rule`
//! 2. Reach is evaluated once in each turn, at 6, for RANGE and for the test. As printed it is
//!    evaluated anew for each. A process can then see an arrow between two dead processes one way
//!    for RANGE and the other way for the test, for ever.
//! 3. `x_j` is read once for all that depends on it. As printed it is read once more. If its writer
//!    died half-way, it can be false in Reach and true in the next line, for ever.
//!
//! The cases are in `tests/texts/k_exclusion/dolev_gafni_shavit_88/mod.rs`.

use super::{Arrow, Board, Ids, Pairs, Reached};
use crate::Failure;
use crate::k_exclusion::KExclusion;
use crate::memory::{Mark, Memory, Process, ReadWrite, Site, within};
use alloc::vec::Vec;
use core::convert::Infallible;

/// The shared variables of Construction 8, or of Construction 6 if ids do not grow.
#[derive(Debug)]
pub struct LExclusion<M: Memory, const IDS_GROW: bool, const AS_PRINTED: bool> {
    part: M::Part,
    l: usize,
    board: Board<M>,
    range: Pairs<Arrow<M>>,
    ids: Option<Ids<M>>,
}

impl<M: ReadWrite, const IDS_GROW: bool, const AS_PRINTED: bool> LExclusion<M, IDS_GROW, AS_PRINTED> {
    /// Lets `l` of `n` processes in.
    pub fn new(site: &Site<'_, M>, n: usize, l: usize) -> Self {
        Self {
            part: site.here(),
            l,
            board: Board::new(site, n),
            range: Pairs::new(&site.part("RANGE", None), n, 30, Arrow::new),
            ids: IDS_GROW.then(|| Ids::new(&site.part("ID", None), n)),
        }
    }

    /// From L to the test: the processes that `p` reached, if it may enter.
    async fn turn(&self, p: &Process<M>) -> Result<Option<Reached>, M::Error> {
        let here = p.on(self.part);
        let me = p.pid().index();
        let n = self.board.n();
        let above: Vec<bool> = match &self.ids {
            None => (0..n).map(|j| j > me).collect(),
            Some(ids) => {
                here.mark(Mark::Rests(3));
                ids.increment(p).await?;
                here.mark(Mark::Rests(4));
                let counts = ids.observe(p).await?;
                (0..n).map(|j| (counts[j], j) > (counts[me], me)).collect()
            }
        };
        here.mark(Mark::Rests(5));
        self.update_graph(p, &above).await?;
        if AS_PRINTED {
            self.update_range_as_printed(p).await?;
            let reached = self.board.reach(p, 8).await?;
            return Ok((reached.count() <= self.l).then_some(reached));
        }
        here.mark(Mark::Rests(6));
        let reached = self.board.reach(p, 6).await?;
        let to: Vec<bool> = (0..n).map(|j| reached.set[j] || !reached.x[j]).collect();
        let enters = (reached.count() <= self.l).then_some(reached);
        here.mark(Mark::Rests(7));
        for j in self.board.others(me).filter(|&j| to[j]) {
            within!(
                here,
                &(7, j, &to[j..], enters.as_ref().map(|reached| &reached.set)),
                self.redirect_range(p, j).await?
            );
        }
        Ok(enters)
    }

    /// `update(GRAPH)`: yields to the processes above `p`, and to those that they reach.
    async fn update_graph(&self, p: &Process<M>, above: &[bool]) -> Result<(), M::Error> {
        let here = p.on(self.part);
        let me = p.pid().index();
        for j in self.board.others(me) {
            if AS_PRINTED {
                here.keep(5, &("not", j, &above[j..]));
                let is_here = self.board.is_here(p, 5, j).await?;
                here.mark(Mark::Rests(5));
                if !is_here {
                    within!(here, &(5, "not", j, &above[j..]), self.board.redirect(p, j).await?);
                }
            }
            if !above[j] {
                continue;
            }
            here.keep(5, &(j, &above[j..]));
            let is_here = self.board.is_here(p, 5, j).await?; // C
            here.mark(Mark::Rests(5));
            if !is_here {
                continue;
            }
            within!(here, &(5, j, &above[j..]), self.board.redirect(p, j).await?);
            for k in self.board.others(me) {
                let Some(arrow) = self.range.of(j, k) else { continue };
                here.part(&(5, j, k, &above[j..]));
                let to = arrow.read(p).await?;
                if to.index() == k {
                    within!(here, &"and yields", self.board.redirect(p, k).await?);
                }
                here.part_done();
            }
        }
        Ok(())
    }

    async fn redirect_range(&self, p: &Process<M>, j: usize) -> Result<(), M::Error> {
        match self.range.of(p.pid().index(), j) {
            Some(arrow) => arrow.redirect(p).await,
            None => Ok(()),
        }
    }

    /// `update(RANGE)` as printed: Reach and `x_j` anew for each `j`.
    async fn update_range_as_printed(&self, p: &Process<M>) -> Result<(), M::Error> {
        let here = p.on(self.part);
        for j in self.board.others(p.pid().index()) {
            here.mark(Mark::Rests(7));
            let reached = within!(here, &(7, j), self.board.reach(p, 7).await?.set[j]);
            here.keep(12, &j);
            if reached || !self.board.is_here(p, 12, j).await? {
                here.mark(Mark::Rests(7));
                within!(here, &(7, "redirect", j), self.redirect_range(p, j).await?);
            }
        }
        Ok(())
    }
}

impl<M: ReadWrite, const IDS_GROW: bool, const AS_PRINTED: bool> KExclusion<M> for LExclusion<M, IDS_GROW, AS_PRINTED> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let here = p.on(self.part);
        self.board.arrive(p).await?;
        let reached = here.go_round_until(|| self.turn(p)).await?; // L
        here.mark(Mark::Rests(9));
        here.holds("S", reached.mask());
        Ok(())
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        if let Some(ids) = &self.ids {
            ids.initialize(p).await?; // 10
        }
        self.board.depart(p).await
    }
}
