//! Seats as processes use them that die and are followed by others: a new process first takes its seat. Where anybody can
//! die, what the slots guard is there too, and says what it sees.

use crate::sim::{Rules, Sim, SimCell, SimVar, TextError, World};
use doorway_core::Failure;
use doorway_core::k_assignment::seats::{Grant, Seats};
use doorway_core::k_exclusion::{Abortable, KExclusion};
use doorway_core::memory::{Here, Memory, Pid, Process, Site, decl};
use doorway_core::registry::Sizes;
use std::convert::Infallible;
use std::future::Future;

/// What a text must offer to be used so.
pub(crate) trait Text: Abortable<Sim, Held = Grant, Refusal = Infallible> + 'static {
    /// Takes the seat of the process, if nobody has it.
    fn register(&self, p: &Process<Sim>) -> impl Future<Output = Result<bool, Infallible>>;
}

impl Text for Seats<Sim> {
    fn register(&self, p: &Process<Sim>) -> impl Future<Output = Result<bool, Infallible>> {
        self.register(p)
    }
}

/// The statements of what the slots guard.
const ENTERS: u16 = 401;
const IS_TOLD: u16 = 402;
const LEAVES: u16 = 403;

/// What the slots guard. Whoever enters leaves its fence behind, and says when it has left.
struct Guarded {
    /// The last fence in each slot, and whether its process is inside.
    last: Vec<SimCell<u64>>,
    /// How many were told of a death.
    told: SimVar<u64>,
}

impl Guarded {
    async fn enters(&self, p: Here<'_, Sim>, grant: Grant) -> Result<(), Infallible> {
        let now = grant.fence << 1 | 1;
        let before = p.at(ENTERS).keeping(&grant).swap(&self.last[grant.slot], now).await?;
        if before & 1 == 1 && !grant.died {
            p.holds("untold", true);
        }
        if before >> 1 >= grant.fence {
            p.holds("old fence", true);
        }
        if grant.died {
            p.at(IS_TOLD).keeping(&grant).fetch_add(&self.told, 1).await?;
        }
        Ok(())
    }

    async fn leaves(&self, p: Here<'_, Sim>, grant: Grant) -> Result<(), Infallible> {
        let inside = grant.fence << 1 | 1;
        let left = p.at(LEAVES).keeping(&grant).compare_swap(&self.last[grant.slot], inside, inside - 1).await?;
        if left.is_err() {
            p.shows("overlapped", true);
        }
        Ok(())
    }
}

/// Passages of processes with seats.
struct Passages<T> {
    text: T,
    /// Whether each process has its seat, where some have not.
    seated: Option<Vec<SimCell<bool>>>,
    guarded: Option<Guarded>,
}

impl<T: Text> Passages<T> {
    /// A new process takes its seat.
    async fn takes_its_seat(&self, p: &Process<Sim>) -> Result<(), Infallible> {
        let Some(seated) = &self.seated else { return Ok(()) };
        let (here, seated) = (p.on(Sim::ROOT), &seated[p.pid().index()]);
        if here.at(0).keeping(&()).read(seated).await? {
            return Ok(());
        }
        here.spin_until(|| async { Ok(self.text.register(p).await?.then_some(())) }).await?;
        here.at(0).keeping(&"seated").write(seated, true).await
    }

    async fn is_inside(&self, p: &Process<Sim>, grant: Grant) -> Result<Grant, Infallible> {
        if let Some(guarded) = &self.guarded {
            guarded.enters(p.on(Sim::ROOT), grant).await?;
        }
        Ok(grant)
    }
}

impl<T: Text> KExclusion<Sim> for Passages<T> {
    type Held = Grant;
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<Grant, Failure<Infallible>> {
        self.takes_its_seat(p).await?;
        let grant = self.text.acquire(p).await?;
        Ok(self.is_inside(p, grant).await?)
    }

    async fn release(&self, p: &Process<Sim>, grant: Grant) -> Result<(), Infallible> {
        if let Some(guarded) = &self.guarded {
            guarded.leaves(p.on(Sim::ROOT), grant).await?;
        }
        self.text.release(p, grant).await
    }
}

impl<T: Text> Abortable<Sim> for Passages<T> {
    type Attempt = T::Attempt;

    async fn try_acquire(
        &self,
        p: &Process<Sim>,
        attempt: &mut T::Attempt,
    ) -> Result<Option<Grant>, Failure<Infallible>> {
        self.takes_its_seat(p).await?;
        match self.text.try_acquire(p, attempt).await? {
            Some(grant) => Ok(Some(self.is_inside(p, grant).await?)),
            None => Ok(None),
        }
    }

    async fn leave(&self, p: &Process<Sim>, attempt: T::Attempt) -> Result<Option<Grant>, Infallible> {
        match self.text.leave(p, attempt).await? {
            Some(grant) => Ok(Some(self.is_inside(p, grant).await?)),
            None => Ok(None),
        }
    }
}

/// A machine whose processes pass with seats. The last so many `newcomers` have to take theirs first.
pub(crate) fn world<T: Text>(
    Sizes { n, k }: Sizes,
    rules: Rules,
    newcomers: usize,
    text: impl FnOnce(&Site<'_, Sim>) -> T,
) -> Result<World, TextError> {
    let build = |site: &Site<'_, Sim>| {
        let (text, sim) = (text(site), site.memory());
        for seat in 0..n.saturating_sub(newcomers) {
            sim.begins_locked(seat);
        }
        let seated = (newcomers > 0 || rules.deaths.restarts > 0).then(|| {
            let seated = site.row("seated", n, |p| decl(false).private(Pid::new(p)));
            seated.iter().take(n.saturating_sub(newcomers)).for_each(|cell| sim.begins_with(cell, true));
            seated
        });
        let guarded = (rules.crashes > 0)
            .then(|| Guarded { last: site.row("last", k, |_| decl(0)), told: site.var("told", 0u64) });
        Passages { text, seated, guarded }
    };
    if rules.give_ups { World::of_abortable(n, rules, build) } else { World::new(n, rules, build) }
}

/// The shipped text, used so.
pub(crate) fn shipped(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
    world(sizes, rules, 0, |site| Seats::new(site, sizes.n, sizes.k))
}
