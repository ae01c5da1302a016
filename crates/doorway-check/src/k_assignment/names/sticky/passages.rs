//! Names that stick, as applications use them. Each process may begin its search at any name, so it
//! stands for all processes that use the seat in turn.

use crate::sim::{Rules, Sim, TextError, World};
use doorway_core::Failure;
use doorway_core::k_assignment::names::sticky::{StickyNames, Taken};
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Here, Mark, Memory, Process, Site};
use doorway_core::registry::Sizes;
use std::convert::Infallible;
use std::fmt::Debug;
use std::future::Future;

/// What names must offer to be used like this.
pub(crate) trait Sticky: 'static {
    /// A name that a process holds.
    type Taken: Debug;
    fn take(
        &self,
        p: Here<'_, Sim>,
        me: u64,
        first: usize,
    ) -> impl Future<Output = Result<Option<Self::Taken>, Infallible>>;
    fn is_taken(&self, p: Here<'_, Sim>, name: usize) -> impl Future<Output = Result<bool, Infallible>>;
    fn give_back(&self, p: Here<'_, Sim>, taken: Self::Taken) -> impl Future<Output = Result<(), Infallible>>;
    fn name(taken: &Self::Taken) -> usize;
}

impl Sticky for StickyNames<Sim> {
    type Taken = Taken;
    fn take(&self, p: Here<'_, Sim>, me: u64, first: usize) -> impl Future<Output = Result<Option<Taken>, Infallible>> {
        self.take(p, me, first)
    }
    fn is_taken(&self, p: Here<'_, Sim>, name: usize) -> impl Future<Output = Result<bool, Infallible>> {
        self.is_taken(p, name)
    }
    fn give_back(&self, p: Here<'_, Sim>, taken: Taken) -> impl Future<Output = Result<(), Infallible>> {
        self.give_back(p, taken)
    }
    fn name(taken: &Taken) -> usize {
        taken.name()
    }
}

/// Passages with a name.
struct Passages<S> {
    names: S,
    k: usize,
}

/// All names were taken.
#[derive(Debug)]
struct TurnedAway;

impl<S: Sticky> KExclusion<Sim> for Passages<S> {
    type Held = S::Taken;
    type Refusal = TurnedAway;

    async fn acquire(&self, p: &Process<Sim>) -> Result<S::Taken, Failure<Infallible, TurnedAway>> {
        let here = p.on(Sim::ROOT);
        let first = here.at(0).choose(self.k).await?;
        let Some(taken) = self.names.take(here, p.pid().index() as u64 + 1, first).await? else {
            here.shows("turned away", true);
            here.keep(3, &());
            // Shown values become visible only before an access.
            self.names.is_taken(here, 0).await?;
            return Err(Failure::Refused(TurnedAway));
        };
        here.holds("name", S::name(&taken) as u64);
        here.mark(Mark::Rests(4));
        Ok(taken)
    }

    async fn release(&self, p: &Process<Sim>, taken: S::Taken) -> Result<(), Infallible> {
        self.names.give_back(p.on(Sim::ROOT), taken).await
    }
}

/// A machine whose processes pass with `k` names.
pub(crate) fn world<S: Sticky>(
    Sizes { n, k }: Sizes,
    rules: Rules,
    names: impl FnOnce(&Site<'_, Sim>) -> S,
) -> Result<World, TextError> {
    World::new(n, rules, |site| Passages { names: names(site), k })
}

/// The shipped text, used like this.
pub(crate) fn shipped(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
    world(sizes, rules, |site| StickyNames::new(site, sizes.k))
}
