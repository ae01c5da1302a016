//! Ids that grow while a process waits: the number of forks it has in use.
//!
//! # Source
//! Dolev, Gafni and Shavit, STOC 1988: **Construction 7**, Construction Lemma 7.
//!
//! # Idea
//! A waiter takes all forks that it is offered and offers none; a process that leaves offers all it
//! has. So a process that waits for ever has, in the end, all forks that it shares with the
//! processes that come and go. These have none of the forks they share with it. Its id is then
//! larger than theirs, and all processes see that.
//!
//! # Departures from the paper
//! Each fork is read once for both of its ends. The process that has it in use tells which end
//! counts it.

use super::{Fork, ForkState, Pairs};
use crate::memory::{Memory, Process, ReadWrite, Site};
use alloc::vec;
use alloc::vec::Vec;

/// ID: a [fork](Fork) for each pair.
#[derive(Debug)]
pub struct Ids<M: Memory> {
    part: M::Part,
    n: usize,
    forks: Pairs<Fork<M>>,
}

impl<M: ReadWrite> Ids<M> {
    /// Ids of `n` processes.
    pub fn new(site: &Site<'_, M>, n: usize) -> Self {
        Self { part: site.here(), n, forks: Pairs::new(site, n, 40, Fork::new) }
    }

    /// `increment_your(ID)`: takes all forks that `p` is offered.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn increment(&self, p: &Process<M>) -> Result<(), M::Error> {
        for j in 0..self.n {
            let Some(fork) = self.forks.of(p.pid().index(), j) else { continue };
            p.on(self.part).part(&("increment", j));
            fork.take(p).await?;
            p.on(self.part).part_done();
        }
        Ok(())
    }

    /// `observe(ID)`: the number of forks that each process has in use.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn observe(&self, p: &Process<M>) -> Result<Vec<usize>, M::Error> {
        let mut counts = vec![0; self.n];
        for (j, k) in (0..self.n).flat_map(|k| (0..k).map(move |j| (j, k))) {
            let Some(fork) = self.forks.of(j, k) else { continue };
            p.on(self.part).part(&("observe", j, k, &counts));
            let seen = fork.read(p).await?;
            p.on(self.part).part_done();
            if let ForkState::InUse(holder) = seen {
                counts[holder.index()] += 1;
            }
        }
        Ok(counts)
    }

    /// `initialize_your(ID)`: offers all forks that `p` has.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn initialize(&self, p: &Process<M>) -> Result<(), M::Error> {
        for j in 0..self.n {
            let Some(fork) = self.forks.of(p.pid().index(), j) else { continue };
            p.on(self.part).part(&("initialize", j));
            fork.offer(p).await?;
            p.on(self.part).part_done();
        }
        Ok(())
    }
}
