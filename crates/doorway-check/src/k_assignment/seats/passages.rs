//! Seats, used by processes that die and are replaced: a new process first takes its seat. Where a
//! process can die or lose a slot, the machine also has what the slots guard, which reports what it
//! sees.

use super::{Last, SeatsInUse};
use crate::sim::{Rules, Sim, SimCell, SimVar, TextError, World};
use doorway_core::Failure;
use doorway_core::k_assignment::seats::{Attempt, Grant, News, Seats};
use doorway_core::k_exclusion::{Abortable, KExclusion};
use doorway_core::memory::{Here, Memory, Pid, Process, Site, decl};
use doorway_core::registry::Sizes;
use std::convert::Infallible;

/// The statements of what the slots guard.
const ENTERS: u16 = 401;
const IS_TOLD: u16 = 402;
const LEAVES: u16 = 403;
const BREAKS: u16 = 404;

/// What the slots guard. A process that enters leaves its fence there, and reports when it has
/// left.
struct Guarded {
    /// The last fence in each slot, and whether its process is inside.
    last: Vec<SimCell<u64>>,
    /// How many processes were told of a death, and how many of a break.
    told: [SimVar<u64>; 2],
    /// Whether it compares fences.
    compares: bool,
}

impl Guarded {
    fn new(site: &Site<'_, Sim>, k: usize, compares: bool) -> Self {
        let told = ["told", "told broken"].map(|name| site.var(name, 0u64));
        Self { last: site.row("last", k, |_| decl(0)), told, compares }
    }

    async fn enters(&self, p: Here<'_, Sim>, grant: Grant) -> Result<(), Infallible> {
        let (last, now) = (&self.last[grant.slot], grant.fence << 1 | 1);
        let before = if self.compares {
            // The right way to guard something if a slot may be lost: it refuses every old fence.
            let mut before = p.at(ENTERS).keeping(&grant).read(last).await?;
            loop {
                if before > now {
                    return Ok(());
                }
                match p.at(ENTERS).keeping(&(grant, before)).compare_swap(last, before, now).await? {
                    Ok(_) => break before,
                    Err(other) => before = other,
                }
            }
        } else {
            p.at(ENTERS).keeping(&grant).swap(last, now).await?
        };
        if before & 1 == 1 && !grant.news.is_any() {
            p.holds("untold", true);
        }
        if before >> 1 >= grant.fence {
            p.holds("old fence", true);
        }
        let told = match grant.news {
            News::None => return Ok(()),
            News::Died => &self.told[0],
            News::Broken => &self.told[1],
        };
        p.at(IS_TOLD).keeping(&grant).fetch_add(told, 1).await?;
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
struct Passages {
    text: Seats<Sim>,
    /// Whether each process has its seat, if some have not.
    seated: Option<Vec<SimCell<bool>>>,
    guarded: Option<Guarded>,
    /// What the last process does, and how often it has meant to break a slot.
    last: Last,
    breaks: Option<SimVar<u64>>,
    /// Whether a process that only tries looks for dead owners.
    recovers: bool,
}

impl Passages {
    fn does(&self, p: &Process<Sim>, what: Last) -> bool {
        self.last == what && p.pid().index() + 1 == self.text.seats()
    }

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

    /// Takes the first slot away from its owner, if it has one.
    async fn breaks(&self, p: &Process<Sim>) -> Result<(), Infallible> {
        let Some(breaks) = &self.breaks else { return Ok(()) };
        let Some(word) = self.text.look_at_slot(p, 0).await? else { return Ok(()) };
        if word.owner().is_some() {
            p.on(Sim::ROOT).at(BREAKS).keeping(&word).fetch_add(breaks, 1).await?;
            self.text.break_slot(p, 0, word).await?;
        }
        Ok(())
    }

    /// Tries once, like a caller that does not wait.
    async fn tries(&self, p: &Process<Sim>) -> Result<Option<Grant>, Infallible> {
        if self.recovers {
            self.text.recover(p).await?;
        }
        self.text.try_past_offers(p, 0).await
    }

    async fn begins(&self, p: &Process<Sim>) -> Result<(), Infallible> {
        self.takes_its_seat(p).await?;
        if self.does(p, Last::Breaks) { self.breaks(p).await } else { Ok(()) }
    }
}

impl KExclusion<Sim> for Passages {
    type Held = Grant;
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<Grant, Failure<Infallible>> {
        self.begins(p).await?;
        let grant = if self.does(p, Last::Tries) {
            p.on(Sim::ROOT).spin_until(|| self.tries(p)).await?
        } else {
            self.text.acquire(p).await?
        };
        Ok(self.is_inside(p, grant).await?)
    }

    async fn release(&self, p: &Process<Sim>, grant: Grant) -> Result<(), Infallible> {
        if let Some(guarded) = &self.guarded {
            guarded.leaves(p.on(Sim::ROOT), grant).await?;
        }
        self.text.release(p, grant).await
    }
}

impl Abortable<Sim> for Passages {
    type Attempt = Attempt;

    async fn try_acquire(&self, p: &Process<Sim>, attempt: &mut Attempt) -> Result<Option<Grant>, Failure<Infallible>> {
        self.begins(p).await?;
        match self.text.try_acquire(p, attempt).await? {
            Some(grant) => Ok(Some(self.is_inside(p, grant).await?)),
            None => Ok(None),
        }
    }

    async fn leave(&self, p: &Process<Sim>, attempt: Attempt) -> Result<Option<Grant>, Infallible> {
        match self.text.leave(p, attempt).await? {
            Some(grant) if self.does(p, Last::Declines) => self.text.decline(p, grant).await.map(|_| None),
            Some(grant) => Ok(Some(self.is_inside(p, grant).await?)),
            None => Ok(None),
        }
    }
}

/// A machine whose processes pass with seats.
pub(crate) fn world(
    Sizes { n, k }: Sizes,
    rules: Rules,
    SeatsInUse { newcomers, bits_in_a_word, last, bypass }: SeatsInUse,
) -> Result<World, TextError> {
    let build = |site: &Site<'_, Sim>| {
        let (text, sim) = (Seats::with_words_of(site, n, k, bits_in_a_word).with_bypass(bypass), site.memory());
        for seat in 0..n.saturating_sub(newcomers) {
            sim.begins_locked(seat);
        }
        let seated = (newcomers > 0 || rules.deaths.restarts > 0).then(|| {
            let seated = site.row("seated", n, |p| decl(false).private(Pid::new(p)));
            seated.iter().take(n.saturating_sub(newcomers)).for_each(|cell| sim.begins_with(cell, true));
            seated
        });
        let breaks = (last == Last::Breaks).then(|| site.var("breaks", 0u64));
        let guarded = (rules.crashes > 0 || breaks.is_some()).then(|| Guarded::new(site, k, breaks.is_some()));
        let recovers = rules.crashes > 0 && rules.deaths.reclaims;
        Passages { text, seated, guarded, last, breaks, recovers }
    };
    if rules.give_ups { World::of_abortable(n, rules, build) } else { World::new(n, rules, build) }
}
