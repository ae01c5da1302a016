//! Passages that enter [at once](AtOnce) or not at all, among passages that wait.
//!
//! Processes with odd numbers try; those with even numbers wait. After a failed attempt a process
//! is back in its remainder, and may try again.

use crate::checked::{ALGORITHMS, Kind};
use crate::sim::{Rules, Sim, TextError, World};
use doorway_core::Failure;
use doorway_core::k_exclusion::{AtOnce, KExclusion};
use doorway_core::memory::Process;
use doorway_core::registry::{self, Sizes};
use std::convert::Infallible;

/// A solution in which processes with odd numbers do not wait.
#[derive(Debug)]
pub struct OddTry<A>(pub A);

/// Why a process did not get in.
#[derive(Debug)]
pub enum Refused<R> {
    /// Its attempt failed.
    NotNow,
    /// The algorithm refused it.
    By(R),
}

fn by<R>(failure: Failure<Infallible, R>) -> Failure<Infallible, Refused<R>> {
    match failure {
        Failure::Memory(impossible) => match impossible {},
        Failure::Refused(refusal) => Failure::Refused(Refused::By(refusal)),
    }
}

impl<A: AtOnce<Sim>> KExclusion<Sim> for OddTry<A> {
    type Held = A::Held;
    type Refusal = Refused<A::Refusal>;

    async fn acquire(&self, p: &Process<Sim>) -> Result<A::Held, Failure<Infallible, Self::Refusal>> {
        if p.pid().index().is_multiple_of(2) {
            return self.0.acquire(p).await.map_err(by);
        }
        self.0.acquire_at_once(p).await.map_err(by)?.ok_or(Failure::Refused(Refused::NotNow))
    }

    async fn release(&self, p: &Process<Sim>, held: A::Held) -> Result<(), Infallible> {
        self.0.release(p, held).await
    }
}

/// The names of the algorithms that can be entered at once.
pub fn all() -> impl Iterator<Item = &'static str> {
    ALGORITHMS.iter().filter(|kind| kind.at_once.is_some()).map(|kind| kind.info.id)
}

/// The algorithm of this name, with processes that try; `None` if it does not support that.
pub fn world(id: &str, sizes: Sizes, rules: Rules) -> Option<Result<World, TextError>> {
    let build = Kind::find(registry::find(id)?).at_once?;
    Some(build(sizes, rules))
}
