//! Resilient objects: any sequential object, shared by any number of processes, up to `k - 1` of
//! which may die.
//!
//! # Problem
//! `N` processes call operations of one object. Each operation takes effect at one moment between
//! its call and its return. It returns as long as at most `k - 1` processes have died in the middle
//! of an operation (*(k-1)-resilient*).
//!
//! # Source
//! Anderson and Moir's methodology (PODC 1994, sections 1 and 5): a wait-free object for `k`
//! processes within k-assignment. At most `k` processes are inside at a time, and the name of each
//! process says as which of the `k` it acts. While at most `k` processes compete, no process waits
//! for another. The object inside is [ours](Universal).
//!
//! | id | what | remote references | |
//! |---|---|---|---|
//! | `universal` | the inside alone, for `k` processes | `25k + 15` | wait-free, whichever processes die |
//! | `resilient` | within `turnstile-slots` | a function of `k`, not of `N`, plus one for each process that gave up | `k - 1` may die |
//! | `resilient-am` | within `am-assign` | those of `am-assign` and `25k + 15` | `k - 1` may die |
//! | `universal-in-use` | `universal` with copies and operations that fail, looks, and remembered buffers | | for the checker |

pub mod entries;
pub mod in_words;
mod store;
mod universal;
mod words;

pub use store::{Asked, Store};
pub use universal::{Pool, Universal};
pub use words::{Announced, Applied, Buffer, Buffers, Hazard, Head, MOST_BUFFERS, MOST_NAMES, Orphan};

use crate::Failure;
use crate::k_assignment::KAssignment;
use crate::memory::{CompareSwap, Mark, Memory, Process, Site, within};

/// An object for any number of processes, up to `k - 1` of which may die: a [universal
/// construction](Universal) for `k` processes within k-assignment.
#[derive(Debug)]
pub struct Resilient<M: Memory, A, S> {
    part: M::Part,
    names: A,
    inside: Universal<M, S>,
}

impl<M: Memory, A, S: Store<M>> Resilient<M, A, S> {
    /// Builds the object. `names` builds a solution of k-assignment.
    pub fn new(site: &Site<'_, M>, k: usize, pool: Pool, store: S, names: impl FnOnce(&Site<'_, M>) -> A) -> Self {
        Self {
            part: site.here(),
            names: names(&site.part("names", None)),
            inside: Universal::new(&site.part("inside", None), k, pool, store),
        }
    }

    /// The part that at most `k` processes share.
    pub fn inside(&self) -> &Universal<M, S> {
        &self.inside
    }
}

impl<M: CompareSwap, A: KAssignment<M>, S: Store<M>> Resilient<M, A, S> {
    /// Applies an operation.
    ///
    /// # Errors
    /// Returns an error if an access failed, or if the k-assignment refuses. The inner result is an
    /// error if a copy of the state failed.
    pub async fn perform(
        &self,
        p: &Process<M>,
        op: S::Op,
    ) -> Result<Result<S::Response, S::Panic>, Failure<M::Error, A::Refusal>> {
        let (response, held) = self.enter(p, op).await?;
        let here = p.on(self.part);
        within!(here, &S::told(&response), self.leave(p, held).await?);
        Ok(response)
    }

    /// Like [`perform`](Self::perform), but keeps the name. [`leave`](Self::leave) must give it
    /// back.
    ///
    /// # Errors
    /// The same as for [`perform`](Self::perform).
    #[allow(clippy::type_complexity)] // a response, and what is held
    pub async fn enter(
        &self,
        p: &Process<M>,
        op: S::Op,
    ) -> Result<(Result<S::Response, S::Panic>, A::Held), Failure<M::Error, A::Refusal>> {
        let here = p.on(self.part);
        here.mark(Mark::Rests(1));
        let held = within!(here, &S::tag(&op), self.names.acquire(p).await?);
        here.mark(Mark::Rests(2));
        let response = within!(here, &held, self.inside.perform(p, A::name(&held), op).await?);
        Ok((response, held))
    }

    /// Gives the name back.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn leave(&self, p: &Process<M>, held: A::Held) -> Result<(), M::Error> {
        let here = p.on(self.part);
        here.mark(Mark::Rests(3));
        within!(here, &(), self.names.release(p, held).await?);
        Ok(())
    }
}
