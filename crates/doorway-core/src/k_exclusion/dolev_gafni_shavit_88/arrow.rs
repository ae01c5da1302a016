//! An arrow: a fork of which only matters to whom it points. `i → j` means that `i` yields to `j`.
//!
//! # Source
//! Dolev, Gafni and Shavit, STOC 1988: **Construction 4**.
//!
//! # Idea
//! It points to who uses the fork, or may take it. Whoever redirects it takes the fork and offers it at once, which points to the other one; and if that one had offered it itself and died,
//! it now stands so for ever.

use super::{Fork, ForkState};
use crate::memory::{Label, Memory, Pid, Process, ReadWrite, Site};

/// An arrow between two processes.
#[derive(Debug)]
pub struct Arrow<M: Memory>(Fork<M>);

impl<M: ReadWrite> Arrow<M> {
    /// An arrow between two different processes that points to the higher. Statements as those of its [fork](Fork::new).
    pub fn new(site: &Site<'_, M>, first: Label, one: Pid, another: Pid) -> Self {
        Self(Fork::new(site, first, one, another))
    }

    /// To whom it points.
    ///
    /// # Errors
    /// If an access failed.
    pub async fn read(&self, p: &Process<M>) -> Result<Pid, M::Error> {
        Ok(match self.0.read(p).await? {
            ForkState::InUse(holder) => holder,
            ForkState::Offered(holder) => self.0.other(holder),
        })
    }

    /// Makes it point from `p` to the other one.
    ///
    /// # Errors
    /// If an access failed.
    pub async fn redirect(&self, p: &Process<M>) -> Result<(), M::Error> {
        self.0.take(p).await?;
        self.0.offer(p).await
    }
}
