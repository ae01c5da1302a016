//! `l`-exclusion whatever moves the arrows.
//!
//! # Source
//! Dolev, Gafni and Shavit, STOC 1988: **Construction 5**, Construction Lemma 5.
//!
//! # Idea
//! Exclusion rests on entry, exit and test alone: between two tests a process may redirect any of
//! its own arrows. Here an [`Oracle`] says which. The text promises exclusion and nothing else.

use super::Board;
use crate::Failure;
use crate::k_exclusion::KExclusion;
use crate::memory::{Mark, Memory, Process, ReadWrite, Site, within};
use core::convert::Infallible;

/// Decides which arrows a process redirects.
pub trait Oracle<M: Memory> {
    /// Whether `p` is to yield to `j` now. Whatever it reads, it reads within the caller's turn.
    fn yields(&self, p: &Process<M>, j: usize) -> impl Future<Output = Result<bool, M::Error>>;
}

/// The board, with an oracle.
#[derive(Debug)]
pub struct WithOracle<M: Memory, O> {
    part: M::Part,
    l: usize,
    board: Board<M>,
    oracle: O,
}

impl<M: ReadWrite, O: Oracle<M>> WithOracle<M, O> {
    /// Lets `l` of `n` processes in.
    pub fn new(site: &Site<'_, M>, n: usize, l: usize, oracle: O) -> Self {
        Self { part: site.here(), l, board: Board::new(site, n), oracle }
    }

    async fn turn(&self, p: &Process<M>) -> Result<Option<u64>, M::Error> {
        let here = p.on(self.part);
        for j in self.board.others(p.pid().index()) {
            here.mark(Mark::Rests(5));
            let yields = within!(here, &(5, j), self.oracle.yields(p, j).await?);
            if yields {
                here.mark(Mark::Rests(5));
                within!(here, &(5, "yields", j), self.board.redirect(p, j).await?);
            }
        }
        here.mark(Mark::Rests(6));
        let reached = self.board.reach(p, 6).await?;
        Ok((reached.count() <= self.l).then(|| reached.mask()))
    }
}

impl<M: ReadWrite, O: Oracle<M>> KExclusion<M> for WithOracle<M, O> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let here = p.on(self.part);
        self.board.arrive(p).await?;
        let reached = here.go_round_until(|| self.turn(p)).await?; // L
        here.mark(Mark::Rests(9));
        here.holds("S", reached);
        Ok(())
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        self.board.depart(p).await
    }
}
