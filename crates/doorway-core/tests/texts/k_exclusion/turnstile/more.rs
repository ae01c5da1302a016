//! What else a turnstile can do: entering only if that is possible at once, closing, more places
//! and fewer. Each process has a role.

use doorway_check::property::{ONE_WAITS, View};
use doorway_check::schedule::Runner;
use doorway_check::sim::{Phase, Rules, Sim, World};
use doorway_check::{Explorer, Property, Report};
use doorway_core::Failure;
use doorway_core::k_exclusion::turnstile::{
    self, Attempt, Door, Endless, Gate, Held, Limits, Line, Next, Ring, Stands, Tried, Turnstile,
};
use doorway_core::k_exclusion::{Abortable, KExclusion};
use doorway_core::memory::{Process, Site};
use std::convert::Infallible;

/// What a process does in each of its passages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    Passes,
    /// Asks for this many units, and never gives up.
    Waits(u64),
    /// Asks for this many units, and always gives up if it would have to wait.
    Leaves(u64),
    /// Enters only if it can at once.
    Tries,
    /// The same, and does not try again if another process drew a ticket meanwhile.
    TriesOnce,
    Closes,
    /// Gives back a unit that it does not have.
    Adds,
    /// The same, and does not help.
    AddsOnly,
    /// Gives back this many units that it does not have.
    AddsMany(u64),
    /// Asks for this many units.
    Asks(u64),
    /// Enters, and takes its place along.
    Forgets,
    /// The same, and stays in line.
    ForgetsInLine,
    /// A fault: gives up a far ticket as if its record were its own.
    GivesUpFar,
}
use Role::{
    Adds, AddsMany, AddsOnly, Asks, Closes, Forgets, ForgetsInLine, GivesUpFar, Leaves, Passes, Tries, TriesOnce, Waits,
};

/// Why a process is not inside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    Closed,
    TooMany,
    NothingFree,
    /// The process did not want to be.
    Done,
}

struct Roles<L = Ring<Sim>> {
    turnstile: Turnstile<Sim, L>,
    roles: &'static [Role],
}

impl<L: Line<Sim>> Roles<L> {
    fn role(&self, p: &Process<Sim>) -> Role {
        self.roles[p.pid().index()]
    }

    async fn help_after(&self, p: &Process<Sim>, held: Held, helps: bool) -> Result<(), Infallible> {
        if let Some(unsettled) = self.turnstile.give_back(p, held).await?
            && helps
        {
            self.turnstile.settle(p, held, unsettled).await?;
        }
        Ok(())
    }
}

fn refused(e: Failure<Infallible, turnstile::Refused>) -> Failure<Infallible, Refused> {
    match e {
        Failure::Memory(impossible) => match impossible {},
        Failure::Refused(turnstile::Refused::Closed) => Failure::Refused(Refused::Closed),
        Failure::Refused(turnstile::Refused::TooMany(_)) => Failure::Refused(Refused::TooMany),
    }
}

impl<L: Line<Sim>> KExclusion<Sim> for Roles<L> {
    type Held = Held;
    type Refusal = Refused;

    async fn acquire(&self, p: &Process<Sim>) -> Result<Held, Failure<Infallible, Refused>> {
        let held = self.try_acquire(p, &mut Attempt::default()).await?;
        Ok(held.expect("only a process that may give up is asked to"))
    }

    async fn release(&self, p: &Process<Sim>, held: Held) -> Result<(), Infallible> {
        match self.role(p) {
            Forgets => self.turnstile.forget(p, held).await,
            ForgetsInLine => self.turnstile.forget(p, Held { announced: false, ..held }).await,
            _ => self.turnstile.release(p, held).await,
        }
    }
}

impl<L: Line<Sim>> Abortable<Sim> for Roles<L> {
    type Attempt = Attempt;

    async fn try_acquire(
        &self,
        p: &Process<Sim>,
        attempt: &mut Attempt,
    ) -> Result<Option<Held>, Failure<Infallible, Refused>> {
        match self.role(p) {
            Passes | Forgets | ForgetsInLine | GivesUpFar => {
                self.turnstile.try_acquire(p, attempt).await.map_err(refused)
            }
            Waits(units) => {
                let held = self.turnstile.acquire_units(p, units).await.map_err(refused)?;
                Ok(Some(held))
            }
            Leaves(units) => {
                let drawn = self.turnstile.draw(p, units).await?;
                match self.turnstile.stand(p, drawn, units, attempt, true).await.map_err(refused)? {
                    Stands::Inside(held) => Ok(Some(held)),
                    Stands::InLine { .. } | Stands::GivesUp => Ok(None),
                }
            }
            role @ (Tries | TriesOnce) => match self.turnstile.draw_if_enabled(p, 1, role == TriesOnce).await? {
                Tried::Drawn(drawn) => self.turnstile.enter(p, drawn, 1, attempt, false).await.map_err(refused),
                Tried::NoPlace => Err(Failure::Refused(Refused::NothingFree)),
                Tried::Closed => Err(Failure::Refused(Refused::Closed)),
                Tried::TooMany(_) => Err(Failure::Refused(Refused::TooMany)),
            },
            Closes => {
                self.turnstile.close(p).await?;
                Err(Failure::Refused(Refused::Done))
            }
            Asks(units) => self.turnstile.try_acquire_units(p, units, attempt).await.map_err(refused),
            role @ (Adds | AddsOnly | AddsMany(_)) => {
                let units = if let AddsMany(units) = role { units } else { 1 };
                self.help_after(p, Held::of(units, false), role != AddsOnly).await?;
                Err(Failure::Refused(Refused::Done))
            }
        }
    }

    async fn leave(&self, p: &Process<Sim>, mut attempt: Attempt) -> Result<Option<Held>, Infallible> {
        if let (GivesUpFar, Attempt::InLine { far, .. }) = (self.role(p), &mut attempt) {
            *far = false;
        }
        self.turnstile.leave(p, attempt).await
    }
}

fn world(k: usize, roles: &'static [Role], rules: Rules) -> World {
    world_of(Limits::for_processes(roles.len(), roles.len()), k, roles, rules)
}

fn world_of(limits: Limits, k: usize, roles: &'static [Role], rules: Rules) -> World {
    let build = |site: &Site<'_, Sim>| Roles { turnstile: Turnstile::with_limits(site, k, limits, 0), roles };
    World::of_abortable(roles.len(), rules, build).unwrap()
}

/// With an endless line of at most this many rings.
pub(super) fn world_with_rings(rings: usize, k: usize, roles: &'static [Role], rules: Rules) -> World {
    world_with_lost(rings, (k, 0), roles, rules)
}

/// The same, where some places are lost, as if their holders were stuck.
pub(super) fn world_with_lost(rings: usize, places: (usize, usize), roles: &'static [Role], rules: Rules) -> World {
    world_keeping(u32::MAX, rings, places, roles, rules)
}

/// The same, where all rings but the first `kept` go back.
pub(super) fn world_keeping(
    kept: u32,
    rings: usize,
    (k, lost): (usize, usize),
    roles: &'static [Role],
    rules: Rules,
) -> World {
    // All tickets may be drawn at once, so that no process waits before the door.
    let more =
        |role: &Role| if let Waits(units) | Leaves(units) | Asks(units) = role { *units as usize - 1 } else { 0 };
    let tickets = roles.len() + roles.iter().map(more).sum::<usize>();
    let limits = Limits::for_growing(tickets, tickets);
    let build = |site: &Site<'_, Sim>| -> Roles<Endless<Sim>> {
        let turnstile = Turnstile::endless_with_lost(site, k, lost, limits, rings, 0).keeping_rings(kept);
        Roles { turnstile, roles }
    };
    World::of_abortable(roles.len(), rules, build).unwrap()
}

pub(super) fn rules(passages: u32) -> Rules {
    Rules { give_ups: true, ..Rules::with_passages(Some(passages)) }
}

/// At most this many processes are inside, and none waits for ever.
fn explore(
    k: usize,
    roles: &'static [Role],
    rules: Rules,
    inside: usize,
    more: impl IntoIterator<Item = Property>,
) -> Report {
    let report = explore_world(world(k, roles, rules), inside, more);
    println!("{k} {roles:?}: {} states", report.states);
    report
}

/// The same in this world.
pub(super) fn explore_world(world: World, inside: usize, more: impl IntoIterator<Item = Property>) -> Report {
    let report = Explorer::new(world.processes())
        .believe_keep(true)
        .property(Property::exclusion("k-exclusion", inside))
        .property(Property::never_stuck("never-stuck"))
        .property(Property::starvation_free("starvation-free"))
        .property(Property::sometimes("the most that may be inside", move |v| v.inside() == inside))
        .properties(more)
        .explore(world)
        .unwrap();
    assert!(report.complete || report.failure().is_some());
    report
}

fn run(k: usize, roles: &'static [Role]) -> Runner {
    Runner::new(world(k, roles, Rules { crashes: 1, ..rules(5) }))
}

fn inside(r: &Runner) -> Vec<usize> {
    r.view().processes().filter(|&p| r.view().phase(p) == Phase::Inside).collect()
}

// Only if at once.

#[test]
fn a_try_waits_for_nobody() {
    // It never stands at 8, and passes no process that waits.
    let never_waits = || Property::always("never waits", |v| v.label(0) != 8);
    for roles in [&[Tries, Passes], &[TriesOnce, Passes], &[Tries, TriesOnce]] {
        explore(1, roles, rules(3), 1, [never_waits()]).assert_holds();
    }
    explore(1, &[Tries, Passes, Passes], rules(1), 1, [never_waits()]).assert_holds();
    explore(2, &[Tries, Passes, TriesOnce], rules(1), 2, [never_waits()]).assert_holds();
}

#[test]
fn a_try_draws_no_ticket_that_is_not_enabled() {
    let mut r = run(1, &[Tries, Passes, TriesOnce]);
    r.follow("p1>in  p0.25.26").unwrap();
    assert_eq!((r.value("next"), inside(&r)), (Some("1".to_owned()), vec![1]));
    r.follow("p1>out  p0.25.26  p1.1.2.3  p0.27").unwrap(); // p1 was faster, so it looks again
    r.follow("p0.25.26").unwrap();
    r.follow("p1>out  p2.25.26  p1.1.2  p2.27").unwrap(); // this one does not
    assert_eq!(r.value("next"), Some("3".to_owned()));
    assert_eq!(r.view().phase(2), Phase::Remainder);
}

// Closed.

#[test]
fn nobody_waits_for_ever_when_it_is_closed() {
    // A process that holds a unit at the time of closing can still leave, and no newcomer comes in.
    for roles in [&[Closes, Passes], &[Closes, Tries], &[Closes, Closes]] {
        let report = explore(1, roles, rules(2), usize::from(roles[1] != Closes), []);
        report.assert_holds();
    }
    explore(1, &[Closes, Passes, Passes], rules(1), 1, []).assert_holds();
    explore(2, &[Closes, Passes, Passes], rules(1), 2, []).assert_holds();
    explore(1, &[Closes, Passes, Tries], rules(1), 1, []).assert_holds();
    explore(1, &[Closes, Passes, Passes], Rules { give_ups: false, ..rules(2) }, 1, []).assert_holds();
}

#[test]
fn once_it_is_closed_nobody_waits_for_the_dead() {
    let verdict = |crashes, wholly: bool| {
        let is_closed = move |v: &View<'_>| {
            let closer_left = v.phase(0) == Phase::Remainder;
            v.get::<Gate>("gate").closed && (closer_left || !wholly)
        };
        let turned_away = Property::leads_to(
            "turned away",
            move |v, p| is_closed(v) && v.phase(p) == Phase::Entry,
            |v, p| v.phase(p) != Phase::Entry,
        );
        let rules = Rules { crashes, give_ups: false, ..rules(1) };
        let world = world(1, &[Closes, Passes, Passes], rules);
        Explorer::new(3).believe_keep(true).property(turned_away).explore(world).unwrap().verdict("turned away").holds
    };
    assert_eq!((verdict(1, true), verdict(2, true)), (Some(true), Some(true)));
    // A process that dies half-way through closing may have told no waiter.
    assert_eq!((verdict(1, false), verdict(2, false)), (Some(true), Some(false)));
}

#[test]
fn a_closer_that_dies_lets_nobody_in_either() {
    let rules = Rules { crashes: 1, ..rules(1) };
    let exclusion = Property::exclusion("k-exclusion", 1);
    let report = Explorer::new(3)
        .believe_keep(true)
        .property(exclusion)
        .explore(world(1, &[Closes, Passes, Passes], rules))
        .unwrap();
    report.assert_holds();
}

/// A process that is refused has seen a shut door or a closed gate. No process gets in through a
/// closed gate, so the door must not be shut before it.
#[test]
fn the_gate_is_closed_before_the_door_is_shut() {
    let explore = |rules| {
        let closed = |v: &View<'_>| !v.get::<Door>("door").is_shut() || v.get::<Gate>("gate").closed;
        let property = Property::always("shut only if closed", closed);
        Explorer::new(3)
            .believe_keep(true)
            .property(property)
            .explore(world(1, &[Closes, Passes, Tries], rules))
            .unwrap()
    };
    explore(rules(1)).assert_holds();
    let faulty = Rules { faults: "defer:32>30".parse().unwrap(), ..rules(1) };
    assert!(explore(faulty).failure().is_some());
}

#[test]
fn those_in_line_are_turned_away_and_those_inside_leave() {
    let mut r = run(1, &[Closes, Passes, Passes, Tries]);
    r.follow("p1>in  p2.1.2.3.5.6.7.8~  p0.31.32.30.33.34.35.36").unwrap();
    assert_eq!(r.value("door"), Some("shut".to_owned()));
    assert_eq!(r.value("rec[1]"), Some("1 Shut".to_owned()));
    r.follow("p2.8.20.21  p1>out").unwrap(); // p2 leaves as if it gave up
    r.follow("p2.1  p1.1  p3.25.26").unwrap(); // all are refused
    assert_eq!(inside(&r), [0usize; 0]);
    assert!(r.view().processes().all(|p| r.view().phase(p) == Phase::Remainder));
    let gate = r.view().get::<Gate>("gate");
    assert_eq!((gate.line, gate.closed), (0, true)); // the ghost was exited
}

#[test]
fn a_process_signalled_while_it_is_turned_away_exits() {
    let mut r = run(1, &[Closes, Passes, Passes]);
    r.follow("p1>in  p2.1.2.3.5.6.7.8~  p0.31.32.30.33.34.35.36  p2.8").unwrap();
    r.follow("p1.9.10.13.14  p2.20.9  p1>out  p2>out").unwrap();
    assert_eq!(inside(&r), [0usize; 0]);
    assert_eq!(r.view().get::<Gate>("gate").line, 0);
}

// More places, and fewer.

#[test]
fn a_unit_more_lets_one_more_in() {
    explore(1, &[Adds, Passes, Passes], rules(1), 2, []).assert_holds();
    explore(1, &[Adds, Passes, Passes], Rules { give_ups: false, ..rules(2) }, 2, []).assert_holds();
    explore(1, &[Adds, Adds, Passes], rules(1), 1, []).assert_holds();
    // From none.
    let mut r = run(0, &[Adds, Passes, Passes]);
    r.follow("p1.1.2.3.5.6.8~  p2.1.2.3.5.8~").unwrap();
    assert!(r.is_deadlock().unwrap());
    r.follow("p0.9  p0>out  p1.8  p2.8~  p1>out  p2.8").unwrap();
}

#[test]
fn a_unit_more_signals_a_waiter() {
    let wait = "p1>in  p2.1.2.3.5.6.7.8~";
    let mut r = run(1, &[Adds, Passes, Passes]);
    r.follow(wait).unwrap().follow("p0.9.10.13.14  p2.8").unwrap();
    assert_eq!(inside(&r), [1, 2]);
    r.follow("p0>out  p1>out  p2>out").unwrap();
    // Without help no process tells the waiter.
    let mut r = run(1, &[AddsOnly, Passes, Passes]);
    r.follow(wait).unwrap().follow("p0.9  p2.8~").unwrap();
}

#[test]
fn a_unit_that_is_kept_is_gone() {
    // A process that forgets leaves one place of two.
    explore(2, &[Forgets, Passes, Passes], rules(1), 2, []).assert_holds();
    let mut r = run(2, &[Forgets, Passes, Passes]);
    r.follow("p0>in  p0>out  p1>in  p2.1.2.3.5.6.7.8~").unwrap();
    assert_eq!(inside(&r), [1]);
    r.follow("p1>out  p2.8").unwrap();
    // None is left of one.
    let report = explore(1, &[Forgets, Passes], Rules { give_ups: false, ..rules(1) }, 1, []);
    assert_eq!(report.verdict("never-stuck").holds, Some(false));
    // One more makes up for it.
    let mut r = run(1, &[Forgets, Passes, Adds]);
    r.follow("p0>in  p0>out  p1.1.2.3.5.6.7.8~  p2.9  p2>out  p1.8").unwrap();
}

/// A process that had to wait is counted in line. If it takes its place along, it leaves the line
/// too. Otherwise the count would grow for ever, and run into its neighbour in the end.
#[test]
fn a_unit_that_is_kept_leaves_the_line() {
    let verdict = |forgets: &'static [Role]| {
        let nobody_is_left = Property::always("nobody is left in line", |v| {
            let out = v.processes().all(|p| v.phase(p) == Phase::Remainder);
            !out || v.get::<Gate>("gate").line == 0
        });
        let world = world(2, forgets, Rules { give_ups: false, ..rules(1) });
        Explorer::new(3)
            .believe_keep(true)
            .property(nobody_is_left)
            .explore(world)
            .unwrap()
            .verdict("nobody is left in line")
            .holds
    };
    assert_eq!(verdict(&[Forgets, Passes, Passes]), Some(true));
    assert_eq!(verdict(&[ForgetsInLine, Passes, Passes]), Some(false));
}

// More processes in the doorway than the ring has records.

/// A ring so short that two waiters share a record.
const SHORT: Limits = Limits { ring: 2, full: 2, clear: 1, places: 1 };

fn far_tickets_keep_to_the_limit(passages: u32) {
    let report = Explorer::new(3)
        .believe_keep(true)
        .property(Property::exclusion("k-exclusion", 1))
        .property(Property::sometimes("far", |v| v.processes().any(|p| v.label(p) == 46)))
        .explore(world_of(SHORT, 1, &[Passes; 3], rules(passages)))
        .unwrap();
    report.assert_holds();
    assert!(report.complete);
    println!("{} states", report.states);
}

#[test]
#[ignore = "takes minutes; ci/long-searches.sh runs it"]
fn far_tickets_keep_to_the_limit_in_two_passages() {
    far_tickets_keep_to_the_limit(2);
}

#[test]
fn a_far_ticket_is_not_given_up_before_its_record_is_free() {
    far_tickets_keep_to_the_limit(1);
    let exclusion = || Property::exclusion("k-exclusion", 1);
    let world = |roles, rules| world_of(SHORT, 1, roles, rules);
    // It takes no more than two processes in line and one that gives up.
    let faulty = world(&[Passes, Passes, GivesUpFar], rules(2));
    let report = Explorer::new(3).believe_keep(true).property(exclusion()).keep_going(true).explore(faulty).unwrap();
    assert_eq!(report.verdict("k-exclusion").holds, Some(false));
    // p1 waits with ticket 1. p2 wants to give up ticket 2, whose record is that of 0: it stays in
    // line until its turn comes.
    let mut r = Runner::new(world(&[Passes; 3], rules(3)));
    r.follow("p0>in  p1.1.2.3.5.6.7.8~  p2.1.2.3.5.8.47?").unwrap();
    let record = r.value("rec[0]");
    r.follow("p2.20.46.20~").unwrap();
    assert_eq!((r.value("rec[0]"), inside(&r)), (record, vec![0]));
    r.follow("p0>out  p1.8  p1>out  p2>out").unwrap();
    let gate = r.view().get::<Gate>("gate");
    assert_eq!((gate.line, inside(&r)), (0, vec![]));
}

/// A known exception to what the type of records says: a far ticket waits for a record together
/// with the ticket that still has this record. This takes one process inside, and three in line of
/// a ring of two. The two waiters then wake each other again and again.
#[test]
fn a_far_ticket_waits_where_an_earlier_one_waits() {
    let alone = world_of(SHORT, 1, &[Passes; 3], rules(1));
    Explorer::new(3).believe_keep(true).property(Property::one_waits()).explore(alone).unwrap().assert_holds();
    let together = world_of(SHORT, 1, &[Passes; 4], rules(1));
    let report = Explorer::new(4).believe_keep(true).property(Property::one_waits()).explore(together).unwrap();
    let verdict = report.verdict(ONE_WAITS);
    println!("{} states", report.states);
    assert_eq!(verdict.holds, Some(false));
}

#[test]
fn closing_reaches_far_tickets_too() {
    let world = world_of(SHORT, 1, &[Closes, Passes, Passes, Passes], Rules { give_ups: false, ..rules(1) });
    let report = Explorer::new(4)
        .believe_keep(true)
        .property(Property::exclusion("k-exclusion", 1))
        .property(Property::starvation_free("starvation-free"))
        .property(Property::sometimes("far", |v| v.processes().any(|p| v.label(p) == 47)))
        .explore(world)
        .unwrap();
    report.assert_holds();
    println!("{} states", report.states);
}

/// Two processes wait where there is no place, and three units come. This is more than a quarter of
/// a ring, the limit up to which `for_ring` lets others draw at once.
const MANY_MORE: &[Role] = &[AddsMany(3), Passes, Passes];

#[test]
fn many_units_more_let_everybody_in_line_in() {
    let verdict = |places| {
        let let_in = Property::leads_to(
            "let in",
            |v, p| v.get::<Gate>("gate").open == 3 && v.phase(p) == Phase::Entry,
            |v, p| v.phase(p) != Phase::Entry,
        );
        let world = world_of(Limits::for_ring(8, places), 0, MANY_MORE, rules(1));
        Explorer::new(3).believe_keep(true).property(let_in).explore(world).unwrap().verdict("let in").holds
    };
    assert_eq!(verdict(3), Some(true));
    // With more units than the ring was made for, a helper may take waiters in line for tickets
    // that no process has announced.
    assert_eq!(verdict(1), Some(false));
    let mut r = Runner::new(world_of(Limits::for_ring(8, 3), 0, MANY_MORE, rules(1)));
    r.follow("p1.1.2.3.5.6.8~  p2.1.2.3.5.8~  p0.9.10.13.14.15.10.13.14.15  p1.8  p2.8").unwrap();
    assert_eq!((r.value("front"), inside(&r)), (Some("2".to_owned()), vec![1, 2]));
    r.follow("p0>out  p1>out  p2>out").unwrap();
}

// Several at once.

#[test]
fn asking_for_several_draws_no_tickets_beyond_the_ring() {
    let limits = Limits::for_ring(16, 4);
    let mut r = Runner::new(world_of(limits, 4, &[Asks(4); 6], rules(2)));
    r.follow("p5>in").unwrap();
    // Five processes have looked, and all find room. One draws, and the others must look again.
    r.follow("p0.1.41.25.26  p1.1.41.25.26  p2.1.41.25.26  p3.1.41.25.26  p4.1.41.25.26").unwrap();
    r.follow("p0.27  p1.27.25.26  p2.27.25.26  p3.27.25.26  p4.27.25.26").unwrap();
    r.follow("p1.27  p2.27.25.26  p3.27.25.26  p4.27.25.26").unwrap();
    assert_eq!((r.value("next"), r.value("gate")), (Some("12".to_owned()), Some("4/0".to_owned())));
    // Four more would be too far from being enabled.
    r.follow("p2.4  p3.4  p4.4  p2.22.23.28~  p3.22.23.28~  p4.22.23.28~").unwrap();
    assert_eq!((r.value("next"), r.value("door")), (Some("12".to_owned()), Some("full 1".to_owned())));
    r.follow("p0.5.6.7.8.45~  p1.5.8.45~  p5>out  p0.8  p0>out  p1.8  p1>out").unwrap();
    assert_eq!(r.value("door"), Some("open 2".to_owned()));
    r.follow("p2.28  p2>in  p2>out  p3.28  p3>in  p3>out  p4.28  p4>in  p4>out").unwrap();
    assert_eq!(r.value("next"), Some("24".to_owned()));
}

#[test]
fn no_interleaving_of_processes_that_ask_for_several_is_too_long() {
    let limits = Limits::for_ring(4, 2);
    let fits = Property::always("fits", move |v| {
        v.get::<Gate>("gate").distance(v.get::<Next>("next").ticket()) <= limits.full as i64
    });
    let world = world_of(limits, 2, &[Asks(2); 3], rules(1));
    let report = Explorer::new(3)
        .believe_keep(true)
        .property(fits)
        .property(Property::never_stuck("never-stuck"))
        .property(Property::sometimes("as full as may be", move |v| {
            v.get::<Gate>("gate").distance(v.get::<Next>("next").ticket()) == limits.full as i64
        }))
        .explore(world)
        .unwrap();
    report.assert_holds();
    assert!(report.complete);
    println!("{} states", report.states);
}
