//! Slots as their users use them: every operation alone among processes that just pass, and all of
//! them together.

use doorway_check::property::View;
use doorway_check::sim::{Phase, Rules, Sim, SimCell, SimVar, World};
use doorway_check::{Explorer, Property, Report, claims};
use doorway_core::Failure;
use doorway_core::k_assignment::names::{BitNames, Flag, FlagNames, Names};
use doorway_core::k_assignment::slots::Fence;
use doorway_core::k_assignment::{Holding, Slots};
use doorway_core::k_exclusion::turnstile::{Attempt, Endless, Gate, Limits, Next, Places, Refused, Turnstile};
use doorway_core::k_exclusion::{Abortable, KExclusion};
use doorway_core::memory::{Memory, Process, Site};
use doorway_core::registry::{self, Sizes};
use std::convert::Infallible;

/// What a process does in a passage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    Passes,
    /// Asks for two at once.
    AsksForTwo,
    /// Enters only if it can at once.
    Tries,
    /// Tries twice before it draws a ticket.
    Barges,
    /// Takes its place along.
    Forgets,
    /// Takes its place along and leaves its name; then there is a place for that name again.
    Exchanges,
    /// Asks for two, and gives them back one by one.
    Splits,
    /// Takes one more at once, if it can, and gives both back as one.
    Merges,
    /// Adds a place, if there is room.
    Adds,
    Closes,
    Looks,
    /// A fault: splits, and gives the first of its names back twice.
    SplitsOneName,
    /// A fault: the same, but what it merges goes back twice.
    MergesTwice,
    /// A fault: takes its place and its name along for ever.
    Retires,
    /// A fault: gives what it holds back twice.
    ReleasesTwice,
    /// A fault: gives back nothing of what it holds.
    GivesNothingBack,
    /// A fault: the number free comes from one look, and the number of places from another.
    LooksTwice,
}
use Role::{
    Adds, AsksForTwo, Barges, Closes, Exchanges, Forgets, GivesNothingBack, Looks, LooksTwice, Merges, MergesTwice,
    Passes, ReleasesTwice, Retires, Splits, SplitsOneName, Tries,
};

/// Slots, and what each process does.
struct Users<N> {
    slots: Slots<Sim, N, Endless<Sim>>,
    roles: &'static [Role],
    /// Whether every process does any of these roles; otherwise each has one.
    choose: bool,
    /// Whether the first process does the first of these roles alone, and the others any of the
    /// rest.
    first_alone: bool,
    /// The fence numbers of what each process holds, which no process compares here.
    own: Vec<SimCell<Fence>>,
    /// Whether a look found more free than there are places.
    impossible: SimVar<bool>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Inside {
    role: Role,
    grant: Holding,
}

/// How far a process has come, and as what.
type Progress = (Option<Role>, Attempt);

impl<N: Names<Sim>> Users<N> {
    async fn role(&self, p: &Process<Sim>) -> Result<Role, Infallible> {
        if !self.choose {
            return Ok(self.roles[p.pid().index()]);
        }
        let roles = match (self.first_alone, p.pid().index()) {
            (false, _) => self.roles,
            (true, 0) => &self.roles[..1],
            (true, _) => &self.roles[1..],
        };
        Ok(roles[p.on(Sim::ROOT).at(99).choose(roles.len()).await?])
    }

    /// Looks. With `twice`, the number free comes from one look and the number of places from
    /// another.
    async fn look(&self, p: &Process<Sim>, twice: bool) -> Result<(), Infallible> {
        let here = p.on(Sim::ROOT);
        let look = self.slots.look(p).await?;
        here.part(&look.free);
        let places = if twice { self.slots.look(p).await?.places } else { look.places };
        here.part_done();
        // This makes an access: otherwise no property would see what a passage shows that ends
        // here.
        if look.free > places { here.at(95).write(&self.impossible, true).await } else { Ok(()) }
    }
}

/// `None`: the process did not want to be inside, or not at any price.
fn refused<T>(result: Result<T, Failure<Infallible, Refused>>) -> Result<T, Failure<Infallible, Option<Refused>>> {
    result.map_err(|failure| match failure {
        Failure::Memory(impossible) => match impossible {},
        Failure::Refused(why) => Failure::Refused(Some(why)),
    })
}

impl<N: Names<Sim>> KExclusion<Sim> for Users<N> {
    type Held = Inside;
    type Refusal = Option<Refused>;

    async fn acquire(&self, p: &Process<Sim>) -> Result<Inside, Failure<Infallible, Option<Refused>>> {
        let inside = self.try_acquire(p, &mut Progress::default()).await?;
        Ok(inside.expect("only a process that may give up is asked to"))
    }

    async fn release(&self, p: &Process<Sim>, Inside { role, grant }: Inside) -> Result<(), Infallible> {
        match role {
            Forgets => self.slots.forget(p, grant).await,
            Exchanges => {
                let retired = self.slots.retire(p, grant).await?;
                self.slots.revive(p, retired).await
            }
            Retires => self.slots.retire(p, grant).await.map(drop),
            ReleasesTwice => {
                let here = p.on(Sim::ROOT);
                here.part(&grant);
                self.slots.give_holding_back(p, grant).await?;
                here.part_done();
                self.slots.give_holding_back(p, grant).await
            }
            GivesNothingBack => self.slots.give_holding_back(p, grant.of_nothing()).await,
            Merges | MergesTwice => {
                let here = p.on(Sim::ROOT);
                here.part(&grant);
                let more = match self.slots.try_acquire_now(p, 1, false).await {
                    Ok(more) => more,
                    Err(Failure::Refused(_)) => None,
                    Err(Failure::Memory(impossible)) => match impossible {},
                };
                here.part_done();
                let all = match more {
                    Some(more) => {
                        let own = &self.own[p.pid().index()];
                        self.slots.merge(p, (grant, own), (more.holding, own)).await?.0
                    }
                    None => grant,
                };
                if role == MergesTwice {
                    here.part(&grant);
                    self.slots.give_holding_back(p, grant).await?;
                    here.part_done();
                }
                self.slots.give_holding_back(p, all).await
            }
            Splits | SplitsOneName => {
                let own = &self.own[p.pid().index()];
                let (first, second, _) = self.slots.split(p, grant, own, 1).await?.expect("it has two");
                let here = p.on(Sim::ROOT);
                here.part(&first);
                self.slots.give_holding_back(p, if role == Splits { second } else { first }).await?;
                here.part_done();
                self.slots.give_holding_back(p, first).await
            }
            _ => self.slots.give_holding_back(p, grant).await,
        }
    }
}

impl<N: Names<Sim>> Abortable<Sim> for Users<N> {
    type Attempt = Progress;

    async fn try_acquire(
        &self,
        p: &Process<Sim>,
        (known, attempt): &mut Progress,
    ) -> Result<Option<Inside>, Failure<Infallible, Option<Refused>>> {
        let role = self.role(p).await?;
        let here = p.on(Sim::ROOT);
        *known = Some(role);
        here.part(&role);
        let grant = match role {
            Passes | Forgets | Exchanges | Retires | ReleasesTwice | GivesNothingBack | Merges | MergesTwice => {
                refused(self.slots.acquire(p, 1, 0, attempt, true).await)?
            }
            AsksForTwo | Splits | SplitsOneName => refused(self.slots.acquire(p, 2, 0, attempt, true).await)?,
            Barges => refused(self.slots.acquire(p, 1, 2, attempt, true).await)?,
            Tries => match refused(self.slots.try_acquire_now(p, 1, false).await)? {
                Some(grant) => Some(grant),
                None => return Err(Failure::Refused(None)),
            },
            Adds | Closes | Looks | LooksTwice => {
                match role {
                    Adds => drop(self.slots.add(p, 1).await?),
                    Closes => self.slots.close(p).await?,
                    _ => self.look(p, role == LooksTwice).await?,
                }
                return Err(Failure::Refused(None));
            }
        };
        here.part_done();
        Ok(grant.map(|grant| Inside { role, grant: grant.holding }))
    }

    async fn leave(&self, p: &Process<Sim>, (role, attempt): Progress) -> Result<Option<Inside>, Infallible> {
        let here = p.on(Sim::ROOT);
        here.part(&role);
        let grant = self.slots.leave(p, attempt).await?;
        here.part_done();
        Ok(grant.zip(role).map(|(grant, role)| Inside { role, grant: grant.holding }))
    }
}

/// The largest number of places.
const ROOM: usize = 3;

struct Run {
    n: usize,
    k: usize,
    roles: &'static [Role],
    first_alone: bool,
    rules: Rules,
}

impl Run {
    fn new(k: usize, roles: &'static [Role], rules: Rules) -> Self {
        Self { n: roles.len(), k, roles, first_alone: false, rules }
    }

    fn limits(&self) -> Limits {
        Limits::for_growing(self.n + 1, ROOM)
    }

    fn world<N: Names<Sim> + 'static>(&self) -> World {
        let (k, limits) = (self.k, self.limits());
        let build = |site: &Site<'_, Sim>| {
            let line = |site: &Site<'_, Sim>| Turnstile::endless(site, k, limits, limits.rings(self.n + 1), 0);
            Users::<N> {
                slots: Slots::new(site, ROOM, None, line),
                roles: self.roles,
                choose: self.n != self.roles.len(),
                first_alone: self.first_alone,
                own: site.row("own", self.n, |_| Fence::Of(0).into()),
                impossible: site.var("impossible", false),
            }
        };
        World::of_abortable(self.n, self.rules, build).unwrap()
    }

    fn explore<N: Names<Sim> + 'static>(&self, properties: Vec<Property>) -> Report {
        let report = Explorer::new(self.n)
            .believe_keep(true)
            .properties(properties)
            .max_states(8_000_000)
            .explore(self.world::<N>())
            .unwrap();
        let Rules { passages, crashes, give_ups, .. } = self.rules;
        let complete = if report.complete { "complete" } else { "NOT complete" };
        println!(
            "n {} k {} {:?}{}, {passages:?} passages, {crashes} crashes, give-ups {give_ups}: {} states, {complete}",
            self.n,
            self.k,
            self.roles,
            if self.first_alone { " (the first does the first)" } else { "" },
            report.states
        );
        assert!(report.complete || report.failure().is_some());
        report
    }

    /// The invariants of the turnstile and of names, as they are claimed of `turnstile-line-slots`.
    fn invariants(&self) -> Vec<Property> {
        let info = registry::find("turnstile-line-slots").unwrap();
        let sizes = Sizes::new(self.n + 1, ROOM).unwrap();
        let of_the_text = |claim: &Property| {
            matches!(claim.name(), "T1" | "T2" | "T3" | "T4" | "T5" | "L1" | "L2" | "L4" | "B1" | "B2" | "unique-names")
        };
        let mut all: Vec<Property> = claims::of(info, sizes).into_iter().filter(of_the_text).collect();
        assert_eq!(all.len(), 11);
        all.extend([places_hold(), no_place_is_lost(), no_name_is_lost(), looks_are_possible()]);
        all
    }
}

/// Never more processes inside than there are places.
fn places_hold() -> Property {
    let holds = |v: &View<'_>| v.inside() as u64 <= v.get::<Places>("places").0;
    Property::always("no more inside than places", holds).each("exclusion")
}

fn everybody_is_out(v: &View<'_>) -> bool {
    v.processes().all(|p| v.phase(p) == Phase::Remainder && !v.has_crashed(p))
}

/// When all processes are out, all places are free and the line is empty. (Where there is no place,
/// tickets that were given up stay in line until one is added.)
fn no_place_is_lost() -> Property {
    let all_are_free = |v: &View<'_>| {
        let (gate, next) = (v.get::<Gate>("gate"), v.get::<Next>("next").ticket());
        let Places(places) = v.get("places");
        places == 0 || gate.line == 0 && -gate.distance(next) == places as i64
    };
    Property::always("no place is lost", move |v| !everybody_is_out(v) || all_are_free(v)).each("exclusion")
}

/// When all processes are out, all names are free.
fn no_name_is_lost() -> Property {
    Property::always("no name is lost", |v| {
        !everybody_is_out(v) || (0..ROOM).all(|name| !v.get_at::<Flag>("taken", name).is_taken())
    })
}

/// A look never finds more free than there are places. (What else it finds is claimed of the
/// turnstile alone.)
fn looks_are_possible() -> Property {
    Property::always("looks are possible", |v| !v.get::<bool>("impossible"))
}

fn rules(passages: u32, crashes: usize) -> Rules {
    Rules { give_ups: true, crashes, ..Rules::with_passages(Some(passages)) }
}

#[test]
fn every_operation_alone_keeps_the_invariants() {
    every_operation_alone_is_harmless(0);
}

#[test]
#[ignore = "takes half a minute; ci/long-searches.sh runs it"]
fn every_operation_alone_keeps_the_invariants_if_one_dies() {
    every_operation_alone_is_harmless(1);
}

fn every_operation_alone_is_harmless(crashes: usize) {
    // A place is left, so that no process waits for ever, even if a process dies; unless another
    // one takes the last place along.
    for roles in ALONE {
        let run = Run::new(2, roles, rules(1, crashes));
        let mut properties = run.invariants();
        if !roles.contains(&Forgets) {
            properties.push(Property::starvation_free("starvation-free"));
        }
        run.explore::<FlagNames<Sim>>(properties).assert_holds();
    }
    // Where there is one place, processes wait until one is added, or until the slots are closed.
    for roles in [&[Adds, Passes, Passes], &[Closes, Passes, Passes], &[Looks, Passes, Passes]] {
        let run = Run::new(1, roles, rules(1, crashes));
        run.explore::<FlagNames<Sim>>(run.invariants()).assert_holds();
    }
    let run = Run::new(2, &[AsksForTwo, Passes], rules(1, 1));
    run.explore::<FlagNames<Sim>>(run.invariants()).assert_holds();
    run.explore::<BitNames<Sim>>(vec![places_hold(), no_place_is_lost()]).assert_holds();
}

/// A process that asks for two has many more ways to give up.
#[test]
#[ignore = "takes minutes; ci/long-searches.sh runs it"]
fn two_at_once_keep_the_invariants_among_three() {
    let run = Run::new(2, &[AsksForTwo, Passes, Passes], rules(1, 1));
    run.explore::<FlagNames<Sim>>(run.invariants()).assert_holds();
}

/// One process does something, two others pass.
const ALONE: [&[Role]; 8] = [
    &[Passes, Passes, Passes],
    &[Tries, Passes, Passes],
    &[Barges, Passes, Passes],
    &[Forgets, Passes, Passes],
    &[Exchanges, Passes, Passes],
    &[Adds, Passes, Passes],
    &[Closes, Passes, Passes],
    &[Looks, Passes, Passes],
];

#[test]
fn a_place_that_is_forgotten_is_waited_for_by_nobody() {
    let run = Run::new(2, &[Forgets, Passes, Passes], rules(1, 0));
    run.explore::<FlagNames<Sim>>(vec![Property::starvation_free("starvation-free")]).assert_holds();
    two_at_once_get_in(&[AsksForTwo, Passes]);
}

#[test]
#[ignore = "takes minutes; ci/long-searches.sh runs it"]
fn two_at_once_get_in_among_three() {
    two_at_once_get_in(&[AsksForTwo, Passes, Passes]);
}

fn two_at_once_get_in(roles: &'static [Role]) {
    let run = Run::new(2, roles, rules(1, 0));
    run.explore::<FlagNames<Sim>>(vec![Property::leads_to("nobody waits for ever", waits, |v, p| !waits(v, p))])
        .assert_holds();
}

/// In line: before the doorway, a process that asks for two may have to try again and again.
fn waits(v: &View<'_>, p: usize) -> bool {
    v.phase(p) == Phase::Entry && v.past_doorway(p) || v.phase(p) == Phase::Exit
}

/// One process waits for two places, and another one takes a place along: the first is refused, and
/// holds no other up.
#[test]
fn a_request_for_more_places_than_are_left_is_refused() {
    for roles in [&[AsksForTwo, Forgets], &[AsksForTwo, Forgets, Passes] as &[Role]] {
        let run = Run::new(2, roles, Rules { give_ups: false, ..rules(1, 0) });
        let nobody_waits = Property::leads_to("nobody waits for ever", waits, |v, p| !waits(v, p));
        let mut properties = run.invariants();
        properties.push(nobody_waits);
        run.explore::<FlagNames<Sim>>(properties).assert_holds();
    }
}

/// Only the holder can tell the two parts of a split grant apart, so one set of values is shown for
/// both. The test can only ask what is left when all processes are out.
fn at_the_end() -> Vec<Property> {
    vec![places_hold(), no_place_is_lost(), no_name_is_lost()]
}

/// When all living processes are out, the dead have no more names than they asked for.
fn the_dead_keep_no_more(roles: &'static [Role]) -> Property {
    let asked = |p: usize| if matches!(roles[p], AsksForTwo | Splits) { 2 } else { 1 };
    Property::always("the dead keep no more than they asked for", move |v| {
        let (dead, alive): (Vec<usize>, Vec<usize>) = v.processes().partition(|&p| v.has_crashed(p));
        let taken = (0..ROOM).filter(|&name| v.get_at::<Flag>("taken", name).is_taken()).count();
        alive.into_iter().any(|p| v.phase(p) != Phase::Remainder) || taken <= dead.into_iter().map(asked).sum()
    })
}

#[test]
fn what_is_split_is_given_back_part_by_part() {
    parts_are_given_back(&[Splits, Splits]);
    parts_are_given_back(&[Splits, Passes]);
}

/// A process inside that takes another place, and one that waited for the first.
#[test]
fn what_is_merged_is_given_back_together() {
    for (k, roles) in [(2, &[Merges, Merges] as &[Role]), (2, &[Merges, Passes]), (3, &[Merges, Forgets])] {
        merged_is_given_back(k, roles);
    }
    let run = Run::new(2, &[MergesTwice, Passes], rules(1, 0));
    let report = run.explore::<FlagNames<Sim>>(vec![no_place_is_lost()]);
    assert_eq!(report.verdict("no place is lost").holds, Some(false));
}

#[test]
#[ignore = "takes a quarter of a minute; ci/long-searches.sh runs it"]
fn what_is_merged_is_given_back_together_among_three() {
    merged_is_given_back(2, &[Merges, Passes, Passes]);
}

fn merged_is_given_back(k: usize, roles: &'static [Role]) {
    let run = Run::new(k, roles, rules(1, 0));
    run.explore::<FlagNames<Sim>>(at_the_end()).assert_holds();
}

#[test]
#[ignore = "takes minutes; ci/long-searches.sh runs it"]
fn what_is_split_is_given_back_part_by_part_among_three() {
    parts_are_given_back(&[Splits, Passes, Passes]);
}

fn parts_are_given_back(roles: &'static [Role]) {
    let run = Run::new(2, roles, rules(1, 1));
    let mut properties = at_the_end();
    properties.push(the_dead_keep_no_more(roles));
    run.explore::<FlagNames<Sim>>(properties).assert_holds();
}

/// Each process does any of these roles.
#[test]
fn all_operations_together() {
    let all = &[Passes, AsksForTwo, Tries, Barges, Forgets, Exchanges, Adds, Closes, Looks];
    let run = Run { n: 2, ..Run::new(2, all, rules(1, 1)) };
    run.explore::<FlagNames<Sim>>(run.invariants()).assert_holds();
    let all = &[Splits, AsksForTwo, Forgets, Exchanges, Adds, Closes];
    let run = Run { n: 2, ..Run::new(2, all, rules(1, 1)) };
    run.explore::<FlagNames<Sim>>(at_the_end()).assert_holds();
}

/// What one operation leaves behind, the next finds.
///
/// Two processes that may each ask for two in one passage and do something else in the other, and
/// give up, have more than 8,000,000 states: that is searched without give-ups. With give-ups, one
/// process asks for two in both passages, or both processes do, or none does.
#[test]
#[ignore = "takes minutes; ci/long-searches.sh runs it"]
fn all_operations_together_twice() {
    let holds = |run: Run| run.explore::<FlagNames<Sim>>(run.invariants()).assert_holds();
    let all = &[AsksForTwo, Passes, Tries, Barges, Forgets, Exchanges, Adds, Closes, Looks];
    holds(Run { n: 2, ..Run::new(2, all, Rules { give_ups: false, ..rules(2, 0) }) });
    holds(Run { n: 2, first_alone: true, ..Run::new(2, all, rules(2, 0)) });
    holds(Run::new(2, &[AsksForTwo, AsksForTwo], rules(2, 0)));
    holds(Run { n: 2, ..Run::new(2, &all[1..], rules(2, 1)) });
}

#[test]
fn each_claim_is_seen_to_fail() {
    let fails = |k, roles, property: Property| {
        let name = property.name().to_owned();
        let run = Run::new(k, roles, rules(1, 0));
        assert_eq!(run.explore::<FlagNames<Sim>>(vec![property]).verdict(&name).holds, Some(false), "{roles:?}");
    };
    fails(2, &[SplitsOneName, Passes], no_name_is_lost());
    fails(2, &[Retires, Passes], no_name_is_lost());
    fails(2, &[GivesNothingBack, Passes], no_name_is_lost());
    fails(1, &[ReleasesTwice, Passes, Passes], places_hold());
    fails(2, &[ReleasesTwice, Passes], no_place_is_lost()); // there is one too many
    fails(2, &[GivesNothingBack, Passes], no_place_is_lost());
    fails(2, &[LooksTwice, Forgets], looks_are_possible());
    fails(2, &[GivesNothingBack, Passes], the_dead_keep_no_more(&[GivesNothingBack, Passes]));
}
