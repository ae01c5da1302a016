//! An arrow: a fork of which only the direction matters. `i → j` means that `i` yields to `j`.
//!
//! # Source
//! Dolev, Gafni and Shavit, STOC 1988: **Construction 4**.
//!
//! # Idea
//! The arrow points to the process that uses the fork, or that may take it. A process that
//! redirects the arrow takes the fork and offers it at once, so that the arrow points to the other
//! process. If that process had offered the fork itself and died, the arrow now stands like this
//! for ever.

use super::{Fork, ForkState};
use crate::memory::{Label, Memory, Pid, Process, ReadWrite, Site};

/// An arrow between two processes.
#[derive(Debug)]
pub struct Arrow<M: Memory>(Fork<M>);

impl<M: ReadWrite> Arrow<M> {
    /// An arrow between two different processes that points to the higher one. Its statements are
    /// those of its [fork](Fork::new).
    pub fn new(site: &Site<'_, M>, first: Label, one: Pid, another: Pid) -> Self {
        Self(Fork::new(site, first, one, another))
    }

    /// The process that the arrow points to.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn read(&self, p: &Process<M>) -> Result<Pid, M::Error> {
        Ok(match self.0.read(p).await? {
            ForkState::InUse(holder) => holder,
            ForkState::Offered(holder) => self.0.other(holder),
        })
    }

    /// Makes the arrow point from `p` to the other process.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn redirect(&self, p: &Process<M>) -> Result<(), M::Error> {
        self.0.take(p).await?;
        self.0.offer(p).await
    }
}
