//! What all see: who is outside its remainder, and who yields to whom. Entry, exit and the test between them, whatever moves the arrows meanwhile.
//!
//! # Source
//! Dolev, Gafni and Shavit, STOC 1988: **Construction 5** without its oracle, Definition 2, Construction Lemma 5.
//!
//! # Idea
//! `i → j` means that `i` yields to `j`, and so to all to whom `j` yields. Whoever reaches no more than `l` processes, itself among them, may enter. It is of no matter that nobody sees the graph as it is at one instant:
//! if more than `l` were inside, none of them has moved an arrow since, and of those that nobody else points to the last one to look saw all of them.
//!
//! # Shared variables
//! | name    | range | initially | home | written at | meaning |
//! |---------|-------|-----------|------|------------|---------|
//! | `x[p]`  | bit   | 0         | `p`  | 1, 11      | `p` is outside its remainder |
//! | GRAPH   | an [arrow](super::Arrow) for each pair | to the higher | | 2, 5 | who yields to whom |
//!
//! # Departures from the paper
//! X is read before GRAPH, and of GRAPH only what can make a difference: no arrow of a process outside, and none between two that are reached already.

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
    /// How many were reached.
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

    /// How many processes it is for.
    pub(super) fn n(&self) -> usize {
        self.n
    }

    /// All but this one.
    pub(super) fn others(&self, me: usize) -> impl Iterator<Item = usize> + use<M> {
        (0..self.n).filter(move |&j| j != me)
    }

    /// The beginning of the entry section: says that it is here, and yields to everybody.
    ///
    /// # Errors
    /// If an access failed.
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

    /// Whether this process is seen outside its remainder; the caller says what it [keeps](crate::memory::Here::keep).
    ///
    /// # Errors
    /// If an access failed.
    pub async fn is_here(&self, p: &Process<M>, at: Label, j: usize) -> Result<bool, M::Error> {
        p.on(self.part).at(at).read(&self.x[j]).await
    }

    /// Yields to this process.
    ///
    /// # Errors
    /// If an access failed.
    pub async fn redirect(&self, p: &Process<M>, j: usize) -> Result<(), M::Error> {
        match self.graph.of(p.pid().index(), j) {
            Some(arrow) => arrow.redirect(p).await,
            None => Ok(()),
        }
    }

    /// Whom `p` yields to, directly or not, as one look at X and GRAPH shows it. Its reads of X are statement `at`.
    ///
    /// # Errors
    /// If an access failed.
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
    /// If an access failed.
    pub async fn depart(&self, p: &Process<M>) -> Result<(), M::Error> {
        let here = p.on(self.part);
        here.at(11).keeping(&()).write(&self.x[p.pid().index()], false).await
    }
}
