//! Waiters that move: what holds while they do, beside processes that die, close, ask for several
//! units, or leave places for newcomers.
//!
//! A look for a waiter that should move is 80, 81, 86, 84, 86, 85, and 50, 87 for each ticket.
//! Moving is 90, 91, 50, 92 to 96, 31. All places are lost at first, so that all processes wait,
//! and the last process gives some back.

use super::more::{Role, rules, world_with_lost};
use doorway_check::faults::Faults;
use doorway_check::property::{Monitor, Seen, View};
use doorway_check::sim::{Phase, Rules, Sim, World};
use doorway_check::{Explorer, Property, Report, claims};
use doorway_core::Failure;
use doorway_core::k_exclusion::bypass::{Left, Tray};
use doorway_core::k_exclusion::turnstile::{
    Attempt, Endless, Fate, Gate, Held, Limits, Pass, Record, Refused, Stands, Step, Turnstile,
};
use doorway_core::k_exclusion::{Abortable, KExclusion};
use doorway_core::memory::{Process, Site};
use std::convert::Infallible;

/// The ticket that a process waits with.
fn in_line(v: &View<'_>, p: usize) -> Option<u64> {
    v.shown::<u64>(p, "waits").filter(|_| !v.has_crashed(p))
}

fn one_ticket_each() -> Property {
    Property::always("one ticket each", |v| {
        let tickets: Vec<u64> = v.processes().filter_map(|p| in_line(v, p)).collect();
        (1..tickets.len()).all(|i| !tickets[..i].contains(&tickets[i]))
    })
}

/// Once this process has done its part, each process in its entry section comes out of it.
pub(super) fn served_after(last: usize) -> Property {
    Property::leads_to(
        "served",
        move |v, p| v.is_done(last) && !v.has_crashed(last) && v.phase(p) == Phase::Entry,
        |v, p| v.phase(p) != Phase::Entry,
    )
}

/// What holds while waiters move: each waiter has a ticket of its own, and is served once the last
/// process has done its part, although another one may die.
fn while_they_move(units: usize, last: usize) -> Vec<Property> {
    let served = served_after(last);
    let one_moves = Property::sometimes("one moves", move |v| {
        let pass = v.get::<Pass>("pass");
        v.processes().any(|p| in_line(v, p).is_some_and(|t| pass.is_at(Step::Begun, t.wrapping_sub(pass.by))))
    });
    vec![Property::exclusion("k-exclusion", units), Property::one_waits(), one_ticket_each(), served, one_moves]
}

fn search(world: World, claims: Vec<Property>, what: &str) -> Report {
    let report = Explorer::new(world.processes()).believe_keep(true).properties(claims).explore(world).unwrap();
    println!("{what}: {} states", report.states);
    report
}

/// All claims hold, and these are all states. If their number changes, exploration has changed:
/// look before you update it.
fn complete(report: &Report, states: usize) {
    report.assert_holds();
    assert_eq!((report.states, report.complete), (states, true));
}

/// Rings of 1, 2, 4, 8 and 16 places.
pub(super) const RINGS: usize = 5;
const PLACES: usize = (1 << RINGS) - 1;

/// With strict order, where the last process gives `units` back, or closes.
fn explore_moves(units: usize, roles: &'static [Role], rules: Rules) -> Report {
    let mut claims = while_they_move(units, roles.len() - 1);
    claims.push(Property::first_enabled("first-in-first-enabled"));
    let what = format!("{roles:?}, {} crashes, {:?}", rules.crashes, rules.faults);
    search(world_with_lost(RINGS, (0, units), roles, rules.for_properties(&claims)), claims, &what)
}

const ONE: &[Role] = &[Role::Passes, Role::Passes, Role::Adds];
const TWO: &[Role] = &[Role::Passes, Role::Passes, Role::AddsMany(2)];
const SEVERAL: &[Role] = &[Role::Waits(1), Role::Leaves(2), Role::AddsMany(2)];
const CLOSES: &[Role] = &[Role::Passes, Role::Passes, Role::Closes];

#[test]
fn a_waiter_moves_past_a_ghost() {
    complete(&explore_moves(1, ONE, rules(1)), 3_370_922);
}

#[test]
#[ignore = "takes minutes; ci/long-searches.sh runs it"]
fn a_waiter_moves_beside_one_that_closes() {
    complete(&explore_moves(1, CLOSES, rules(1)), 4_105_600);
}

#[test]
#[ignore = "takes minutes; ci/long-searches.sh runs it"]
fn a_waiter_moves_although_one_dies() {
    complete(&explore_moves(2, TWO, Rules { crashes: 1, ..rules(1) }), 27_254_151);
}

#[test]
#[ignore = "takes minutes; ci/long-searches.sh runs it"]
fn a_waiter_moves_beside_one_that_asks_for_several() {
    complete(&explore_moves(2, SEVERAL, rules(1)), 10_473_689);
}

const BEHIND: &str = "the last process came when all others were in line";

struct CameBehind;

impl Monitor for CameBehind {
    type State = bool;
    fn initial(&self) -> bool {
        false
    }
    fn step(&self, behind: bool, seen: &Seen<'_>) -> Option<bool> {
        let last = seen.before.processes().len() - 1;
        let comes = seen.process() == last && seen.before.phase(last) == Phase::Remainder;
        Some(if comes { seen.before.get::<Gate>("gate").line == last as u64 } else { behind })
    }
}

/// Where all places are lost for ever: no process is served. The last process gives up. Suppose
/// that it came when all others were in line. Once all have come to rest, no ghost is left behind
/// them.
fn explore_ghosts(units: usize, roles: &'static [Role], rules: Rules) -> Report {
    let rests = |v: &View<'_>, p: usize| {
        let Some(t) = v.shown::<u64>(p, "waits") else { return v.is_done(p) };
        let has_nothing_to_do = |record: Record| record.is_of(t) && record.fate() == Fate::Waits;
        v.label(p) == 8 && (0..PLACES).any(|i| has_nothing_to_do(v.get_at("rec", i)))
    };
    let waiting = |v: &View<'_>| v.processes().filter(|&p| v.phase(p) == Phase::Entry).count() as u64;
    let claims = vec![
        Property::always("no ghost is left", move |v| {
            let came_behind = v.monitor::<bool>(BEHIND) && v.processes().all(|p| rests(v, p));
            !came_behind || v.get::<Gate>("gate").line == waiting(v)
        }),
        Property::sometimes("all rest", move |v| v.monitor::<bool>(BEHIND) && v.processes().all(|p| rests(v, p))),
        Property::monitor(BEHIND, CameBehind),
        one_ticket_each(),
        Property::one_waits(),
        Property::first_enabled("first-in-first-enabled"),
    ];
    let what = format!("nobody is served: {roles:?}, {} crashes, {:?}", rules.crashes, rules.faults);
    search(world_with_lost(RINGS, (0, units), roles, rules.for_properties(&claims)), claims, &what)
}

/// The ghost gets to the front only if each of two waiters moves, the last one first.
const CHAIN: &[Role] = &[Role::Waits(1), Role::Waits(1), Role::Leaves(1)];

#[test]
fn one_pass_goes_from_waiter_to_waiter() {
    complete(&explore_ghosts(1, CHAIN, rules(1)), 433_580);
}

#[test]
#[ignore = "takes minutes; ci/long-searches.sh runs it"]
fn a_pass_finds_the_ghosts_of_two() {
    const TWO_LEAVE: &[Role] = &[Role::Waits(1), Role::Leaves(1), Role::Leaves(1)];
    complete(&explore_ghosts(1, TWO_LEAVE, rules(1)), 7_279_037);
}

/// Each of these breaks what is claimed. A pass that no process ends (98) is ended by the next
/// (83).
#[test]
#[ignore = "takes minutes; ci/long-searches.sh runs it"]
fn faults_of_moving_are_noticed() {
    let mut missed = Vec::new();
    for (units, roles, crashes, fault) in [
        (1, ONE, 0, "drop:89"),
        (1, ONE, 0, "drop:93"),
        (1, ONE, 0, "blind:93"),
        (1, ONE, 0, "blind:95"),
        (1, ONE, 0, "drop:96"),
        (1, ONE, 0, "read:99#step=0"),
        (2, TWO, 1, "drop:95"),
        (2, TWO, 1, "drop:101"),
        (1, CLOSES, 0, "read:31#closed=0"),
        (1, CLOSES, 0, "drop:97"),
        (1, CHAIN, 0, "drop:88"),
        (1, CHAIN, 0, "drop:95"),
    ] {
        let faults: Faults = fault.parse().unwrap();
        let rules = Rules { faults, crashes, ..rules(1) };
        let report =
            if roles == CHAIN { explore_ghosts(units, roles, rules) } else { explore_moves(units, roles, rules) };
        match report.failure() {
            Some(failure) => println!("{fault}: {}", failure.name),
            None => missed.push(fault),
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}

// Beside newcomers that pass.

/// A turnstile with a tray, where no process passes another: all draw tickets.
struct Beside {
    line: Turnstile<Sim, Endless<Sim>>,
    tray: Tray<Sim>,
    parts: &'static [Part],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    /// Waits, and never gives up.
    Stays,
    /// Gives up if it would have to wait.
    Leaves,
    /// Waits, and may give up.
    MayLeave,
    /// Leaves a place that it has, as a holder does.
    Adds,
}
use Part::{Adds, Leaves, MayLeave, Stays};

/// A process that only leaves a place is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Done;

impl KExclusion<Sim> for Beside {
    type Held = Held;
    type Refusal = Done;

    async fn acquire(&self, p: &Process<Sim>) -> Result<Held, Failure<Infallible, Done>> {
        let held = self.try_acquire(p, &mut Attempt::default()).await?;
        Ok(held.expect("only a process that may give up is asked to"))
    }

    async fn release(&self, p: &Process<Sim>, held: Held) -> Result<(), Infallible> {
        self.tray.release(p, &self.line, held).await
    }
}

impl Abortable<Sim> for Beside {
    type Attempt = Attempt;

    async fn try_acquire(
        &self,
        p: &Process<Sim>,
        attempt: &mut Attempt,
    ) -> Result<Option<Held>, Failure<Infallible, Done>> {
        let never = |e: Failure<Infallible, Refused>| match e {
            Failure::Memory(impossible) => impossible.into(),
            Failure::Refused(why) => unreachable!("{why}: it is never closed, and has room for all"),
        };
        match self.parts[p.pid().index()] {
            part @ (Stays | MayLeave) => {
                let drawn = self.line.draw(p, 1).await?;
                self.tray.go_on(p, &self.line, drawn, 1, attempt, part == MayLeave).await.map_err(never)
            }
            Leaves => {
                let drawn = self.line.draw(p, 1).await?;
                match self.line.stand(p, drawn, 1, attempt, true).await.map_err(never)? {
                    Stands::Inside(held) => Ok(Some(held)),
                    Stands::InLine { .. } | Stands::GivesUp => Ok(None),
                }
            }
            Adds => {
                self.tray.release(p, &self.line, Held::of(1, false)).await?;
                Err(Failure::Refused(Done))
            }
        }
    }

    async fn leave(&self, p: &Process<Sim>, attempt: Attempt) -> Result<Option<Held>, Infallible> {
        self.tray.leave(p, &self.line, attempt).await
    }
}

/// Where the last process leaves a place for newcomers, and `most` of them may take it.
fn explore_moves_beside(most: u32, parts: &'static [Part], rules: Rules) -> Report {
    let mut claims = while_they_move(1, parts.len() - 1);
    claims.extend(beside(most));
    let world = world_beside(u32::MAX, most, parts, rules.for_properties(&claims));
    search(world, claims, &format!("bypass {most}: {parts:?}, {:?}", rules.faults))
}

/// What else is claimed where newcomers may pass.
pub(super) fn beside(most: u32) -> Vec<Property> {
    let nothing_lies = |v: &View<'_>| v.get::<Left>("tray").loose == 0 || v.processes().any(|p| !v.is_done(p));
    vec![claims::bypass_bound(most, ""), Property::always("nothing lies there in the end", nothing_lies)]
}

/// A turnstile whose only place is lost, with a tray. All rings but the first `kept` go back.
pub(super) fn world_beside(kept: u32, most: u32, parts: &'static [Part], rules: Rules) -> World {
    let limits = Limits::for_growing(parts.len(), parts.len());
    let build = |site: &Site<'_, Sim>| Beside {
        line: Turnstile::endless_with_lost(site, 0, 1, limits, RINGS, 0).keeping_rings(kept),
        tray: Tray::new(site, most, 0),
        parts,
    };
    World::of_abortable(parts.len(), rules, build).unwrap()
}

#[test]
fn a_waiter_that_listens_moves() {
    complete(&explore_moves_beside(1, &[Stays, Leaves, Adds], rules(1)), 3_815_572);
}

#[test]
#[ignore = "takes minutes; ci/long-searches.sh runs it"]
fn waiters_that_listen_move_and_give_up() {
    complete(&explore_moves_beside(1, &[MayLeave, MayLeave, Adds], rules(1)), 21_864_362);
}
