//! The board that all processes see: which of them are outside their remainders, and which yields
//! to which. It has entry, exit and the test between them, whatever moves the arrows meanwhile.
//!
//! # Source
//! Dolev, Gafni and Shavit, STOC 1988: **Construction 5** without its oracle, Definition 2,
//! Construction Lemma 5.
//!
//! # Idea
//! `i → j` means that `i` yields to `j`, and so to all processes to which `j` yields. A process
//! that reaches at most `l` processes, itself among them, may enter. It does not matter that no
//! process sees the graph as it is at one instant. Suppose that more than `l` were inside. None of
//! them has moved an arrow since it looked. Of those that no other one points to, the last one to
//! look saw all of them.
//!
//! # Shared variables
//! | name    | range | initially | home | written at | meaning |
//! |---------|-------|-----------|------|------------|---------|
//! | `x[p]`  | bit   | 0         | `p`  | 1, 11      | `p` is outside its remainder |
//! | GRAPH   | an [arrow](super::Arrow) for each pair | to the higher | | 2, 5 | which process yields to which |
//!
//! # Departures from the paper
//! X is read before GRAPH. Of GRAPH only those arrows are read that can make a difference: none of
//! a process in its remainder, and none between two processes that are reached already.

use super::{Arrow, Pairs, safe_bit};
use crate::memory::{Label, Mark, Memory, Pid, Process, ReadWrite, Site, within};
use alloc::vec;
use alloc::vec::Vec;

/// X and GRAPH.
#[derive(Debug)]
pub struct Board<M: Memory> {
    part: M::Part,
    n: usize,
    x: M::Row<bool>,
    graph: Pairs<Arrow<M>>,
}

/// What one look at the board showed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reached {
    /// For each process: whether it was seen outside its remainder.
    pub x: Vec<bool>,
    /// For each process: whether it was reached.
    pub set: Vec<bool>,
}

impl Reached {
    /// The number of processes that were reached.
    #[must_use]
    pub fn count(&self) -> usize {
        self.set.iter().filter(|&&reached| reached).count()
    }

    /// The set as a word, as far as it fits one.
    #[must_use]
    pub fn mask(&self) -> u64 {
        self.set.iter().take(64).zip(0..).filter(|(reached, _)| **reached).map(|(_, j)| 1u64 << j).sum()
    }
}

impl<M: ReadWrite> Board<M> {
    /// A board for `n` processes.
    pub fn new(site: &Site<'_, M>, n: usize) -> Self {
        Self {
            part: site.here(),
            n,
            x: site.row("x", n, |p| safe_bit(false, Pid::new(p))),
            graph: Pairs::new(&site.part("GRAPH", None), n, 20, Arrow::new),
        }
    }

    /// The number of processes it is for.
    pub(super) fn n(&self) -> usize {
        self.n
    }

    /// All processes except this one.
    pub(super) fn others(&self, me: usize) -> impl Iterator<Item = usize> + use<M> {
        (0..self.n).filter(move |&j| j != me)
    }

    /// The beginning of the entry section: `p` says that it is here, and yields to every other
    /// process.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn arrive(&self, p: &Process<M>) -> Result<(), M::Error> {
        let here = p.on(self.part);
        let me = p.pid().index();
        here.at(1).write(&self.x[me], true).await?;
        for j in self.others(me) {
            here.mark(Mark::Rests(2));
            within!(here, &(2, j), self.redirect(p, j).await?);
        }
        Ok(())
    }

    /// Whether process `j` is seen outside its remainder. The caller says what it
    /// [keeps](crate::memory::Here::keep).
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn is_here(&self, p: &Process<M>, at: Label, j: usize) -> Result<bool, M::Error> {
        p.on(self.part).at(at).read(&self.x[j]).await
    }

    /// Makes `p` yield to process `j`.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn redirect(&self, p: &Process<M>, j: usize) -> Result<(), M::Error> {
        match self.graph.of(p.pid().index(), j) {
            Some(arrow) => arrow.redirect(p).await,
            None => Ok(()),
        }
    }

    /// The processes that `p` yields to, directly or not, as one look at X and GRAPH shows them.
    /// Its reads of X are statement `at`.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn reach(&self, p: &Process<M>, at: Label) -> Result<Reached, M::Error> {
        let here = p.on(self.part);
        let me = p.pid().index();
        let mut x = vec![false; self.n];
        x[me] = true;
        for j in self.others(me) {
            x[j] = here.at(at).keeping(&(j, &x)).read(&self.x[j]).await?;
        }
        here.mark(Mark::Rests(at));
        let mut set = vec![false; self.n];
        set[me] = true;
        let mut todo = vec![me];
        while let Some(j) = todo.pop() {
            for k in 0..self.n {
                let Some(arrow) = self.graph.of(j, k).filter(|_| x[k] && !set[k]) else { continue };
                let to = within!(here, &(at, j, k, &x, &set, &todo), arrow.read(p).await?);
                if to.index() == k {
                    set[k] = true;
                    todo.push(k);
                }
            }
        }
        Ok(Reached { x, set })
    }

    /// The end of the exit section: `p` is in its remainder.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn depart(&self, p: &Process<M>) -> Result<(), M::Error> {
        let here = p.on(self.part);
        here.at(11).keeping(&()).write(&self.x[p.pid().index()], false).await
    }
}
