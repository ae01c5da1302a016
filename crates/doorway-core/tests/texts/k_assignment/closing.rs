//! Once slots are closed, no process gets in: the claim, what breaks it, and why the turnstile
//! alone does not promise it.

use doorway_check::faults::Faults;
use doorway_check::property::View;
use doorway_check::schedule::Runner;
use doorway_check::sim::{Keep, Part, Phase, Rules, Sim, World};
use doorway_check::{Explorer, Property, Report};
use doorway_core::Failure;
use doorway_core::k_assignment::names::{Flag, FlagNames};
use doorway_core::k_assignment::slots::Entered;
use doorway_core::k_assignment::{Grant, Slots};
use doorway_core::k_exclusion::bypass::{Left, Tray};
use doorway_core::k_exclusion::turnstile::{Attempt, Drawn, Endless, Gate, Limits, Next, Places, Refused, Turnstile};
use doorway_core::k_exclusion::{Abortable, KExclusion};
use doorway_core::memory::{Process, Site};
use std::convert::Infallible;

/// What a process does in a passage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    Closes,
    Passes,
    AsksForTwo,
    /// Enters only if it can at once.
    Tries,
    /// Tries once more before it draws a ticket.
    Barges,
    /// A fault: does not look again when it has its place.
    LooksOnce,
}
use Role::{AsksForTwo, Barges, Closes, LooksOnce, Passes, Tries};

/// Slots as `doorway::Slots` run them, and what each process does.
struct Users {
    slots: Slots<Sim, FlagNames<Sim>, Endless<Sim>>,
    tray: Option<Tray<Sim>>,
    roles: &'static [Role],
}

type Told<T> = Result<T, Failure<Infallible, Option<Refused>>>;

fn refused<T>(result: Result<T, Failure<Infallible, Refused>>) -> Told<T> {
    result.map_err(|failure| match failure {
        Failure::Memory(impossible) => match impossible {},
        Failure::Refused(why) => Failure::Refused(Some(why)),
    })
}

impl Users {
    fn role(&self, p: &Process<Sim>) -> Role {
        self.roles[p.pid().index()]
    }

    /// What a process does first: it draws a ticket. A newcomer that may pass, or that tries, takes
    /// what is there.
    async fn begin(&self, p: &Process<Sim>, role: Role, units: u64) -> Result<Entered, Infallible> {
        match &self.tray {
            Some(tray) => self.slots.begin_passing(p, tray, units, true).await,
            None if matches!(role, Tries | Barges) => self.slots.begin_at_once(p, units, true).await,
            None => self.slots.begin(p, units).await,
        }
    }

    async fn go_on(&self, p: &Process<Sim>, drawn: Drawn, units: u64, attempt: &mut Attempt) -> Told<Option<Grant>> {
        let tray = self.tray.as_ref();
        if self.role(p) != LooksOnce {
            return refused(self.slots.go_on_unless_closed(p, tray, drawn, units, attempt, true).await);
        }
        refused(match tray {
            Some(tray) => self.slots.go_on_passing(p, tray, drawn, units, attempt, true).await,
            None => self.slots.go_on(p, drawn, units, attempt, true).await,
        })
    }
}

impl KExclusion<Sim> for Users {
    type Held = Grant;
    type Refusal = Option<Refused>;

    async fn acquire(&self, p: &Process<Sim>) -> Told<Grant> {
        let inside = self.try_acquire(p, &mut Attempt::default()).await?;
        Ok(inside.expect("only a process that may give up is asked to"))
    }

    async fn release(&self, p: &Process<Sim>, grant: Grant) -> Result<(), Infallible> {
        self.slots.give_back(p, self.tray.as_ref(), grant.holding).await
    }
}

impl Abortable<Sim> for Users {
    type Attempt = Attempt;

    async fn try_acquire(&self, p: &Process<Sim>, attempt: &mut Attempt) -> Told<Option<Grant>> {
        let role = self.role(p);
        if role == Closes {
            self.slots.close(p).await?;
            return Err(Failure::Refused(None));
        }
        let units = if role == AsksForTwo { 2 } else { 1 };
        let drawn = match self.begin(p, role, units).await? {
            Entered::Inside(grant) => return Ok(Some(grant)),
            Entered::Not(drawn) => drawn,
            Entered::Refused(why) => return Err(Failure::Refused(Some(why))),
            Entered::NoPlace if role == Tries => return Err(Failure::Refused(None)),
            Entered::NoPlace => {
                if role == Barges {
                    let tray = self.tray.as_ref();
                    if let Some(grant) = refused(self.slots.barge_unless_closed(p, tray, units, 0..1).await)? {
                        return Ok(Some(grant));
                    }
                }
                self.slots.draw_passing(p, units).await?
            }
        };
        self.go_on(p, drawn, units, attempt).await
    }

    async fn leave(&self, p: &Process<Sim>, attempt: Attempt) -> Result<Option<Grant>, Infallible> {
        self.slots.leave_unless_closed(p, self.tray.as_ref(), attempt).await
    }
}

fn world(k: usize, passing: bool, roles: &'static [Role], rules: Rules) -> World {
    let (n, room) = (roles.len(), k);
    let limits = Limits::for_growing(n, room);
    let build = |site: &Site<'_, Sim>| {
        let mut tray = None;
        let slots = Slots::new(site, room, None, |site| {
            tray = passing.then(|| Tray::new(site, 1, 0));
            Turnstile::endless(site, k, limits, limits.rings(n), 0)
        });
        Users { slots, tray, roles }
    };
    World::of_abortable(n, rules, build).unwrap()
}

/// A process that saw an open gate (3, 26) has got in, and does not look again. It may still have
/// to draw its ticket (27), to read the stamps (79, after 27), or to take its names.
fn has_got_in(v: &View<'_>, p: usize) -> bool {
    let looks_again = v.of(Part::ROOT).shown::<bool>(p, "looks again").is_some();
    !looks_again && (v.at(p, 27) || v.at(p, 79) || v.at(p, 9) && v.shown::<u64>(p, "units").is_some())
}

/// The claim. A process stays in its entry section, once it is closed, until it is refused or gives
/// up.
fn closed_lets_nobody_in() -> Property {
    Property::unless(
        "closed-lets-nobody-in",
        |v, p| v.get::<Gate>("gate").closed && v.phase(p) == Phase::Entry && !has_got_in(v, p),
        |v, p| matches!(v.phase(p), Phase::Remainder | Phase::Exit),
    )
    .each("exclusion")
}

/// When all processes are out, all places are free, and none is in the tray.
fn no_place_is_lost(passing: bool) -> Property {
    let all_are_free = move |v: &View<'_>| {
        let (gate, next) = (v.get::<Gate>("gate"), v.get::<Next>("next").ticket());
        let in_tray = if passing { v.get::<Left>("tray").loose } else { 0 };
        let Places(places) = v.get("places");
        gate.line == 0 && in_tray == 0 && -gate.distance(next) == places as i64
    };
    let is_out = |v: &View<'_>, p: usize| v.phase(p) == Phase::Remainder;
    Property::always("no-place-is-lost", move |v| !v.processes().all(|p| is_out(v, p)) || all_are_free(v))
        .each("exclusion")
}

/// and all names are there.
fn no_name_is_lost(k: usize) -> Property {
    let is_out = |v: &View<'_>, p: usize| v.phase(p) == Phase::Remainder;
    let is_free = |v: &View<'_>, name: usize| !v.get_at::<Flag>("taken", name).is_taken();
    Property::always("no-name-is-lost", move |v| {
        !v.processes().all(|p| is_out(v, p)) || (0..k).all(|name| is_free(v, name))
    })
}

fn search(k: usize, passing: bool, roles: &'static [Role], rules: Rules) -> Report {
    let is_refused = |v: &View<'_>| v.get::<Gate>("gate").closed && v.inside() > 0;
    let properties = [
        closed_lets_nobody_in(),
        no_place_is_lost(passing),
        no_name_is_lost(k),
        Property::exclusion("k-exclusion", k),
        Property::never_stuck("never-stuck"),
        Property::sometimes("closed while somebody is inside", is_refused).each("exclusion"),
    ];
    let report = Explorer::new(roles.len())
        .believe_keep(true)
        .properties(properties)
        .explore(world(k, passing, roles, rules))
        .unwrap();
    println!("k {k}, passing {passing}, {roles:?}, {:?}: {} states", rules.faults, report.states);
    assert!(report.complete || report.failure().is_some());
    report
}

fn rules(passages: u32, give_ups: bool) -> Rules {
    Rules { give_ups, ..Rules::with_passages(Some(passages)) }
}

#[test]
fn once_it_is_closed_nobody_gets_in_and_no_place_is_lost() {
    for passing in [false, true] {
        search(1, passing, &[Closes, Passes], rules(2, true)).assert_holds();
        search(1, passing, &[Closes, Passes, Passes], rules(1, false)).assert_holds();
        search(1, passing, &[Closes, Tries, Passes], rules(1, false)).assert_holds();
        search(1, passing, &[Closes, Barges, Passes], rules(1, false)).assert_holds();
    }
    search(1, false, &[Closes, Passes, Passes], rules(1, true)).assert_holds();
    search(2, false, &[Closes, AsksForTwo, Passes], rules(1, false)).assert_holds();
}

#[test]
#[ignore = "takes minutes; ci/long-searches.sh runs it"]
fn once_it_is_closed_nobody_gets_in_in_the_large() {
    for passing in [false, true] {
        search(1, passing, &[Closes, Passes], Rules { keep: Keep::CrossChecked, ..rules(1, true) }).assert_holds();
    }
    search(1, true, &[Closes, Passes, Passes], rules(1, true)).assert_holds();
    search(2, true, &[Closes, AsksForTwo, Passes], rules(1, false)).assert_holds();
    search(2, false, &[Closes, AsksForTwo, Passes], rules(1, true)).assert_holds();
    search(1, false, &[Closes, Passes, Passes], rules(2, false)).assert_holds();
}

#[test]
fn the_claim_is_seen_to_fail() {
    let fails = |passing, roles, fault: &str| {
        let faults: Faults = if fault.is_empty() { Faults::default() } else { fault.parse().unwrap() };
        let report = search(1, passing, roles, Rules { faults, ..rules(1, false) });
        report.failure().map(|failed| failed.name.to_string())
    };
    let waits: &[Role] = &[Closes, Passes, Passes];
    for passing in [false, true] {
        // A process that had to wait finds the gate open, or does not look.
        assert_eq!(fails(passing, waits, "drop:31@p1").as_deref(), Some("closed-lets-nobody-in"));
        assert_eq!(fails(passing, &[Closes, LooksOnce, Passes], "").as_deref(), Some("closed-lets-nobody-in"));
        // It does not give its name back.
        assert_eq!(fails(passing, waits, "drop:root.4<31").as_deref(), Some("no-name-is-lost"));
    }
    // A newcomer that drew a ticket takes a gate for open that is closed.
    assert_eq!(fails(false, &[Closes, Passes], "read:3#closed=0").as_deref(), Some("closed-lets-nobody-in"));
    // The process that closes shuts the door, and leaves the gate open: no process that has drawn a
    // ticket notices.
    assert!(fails(false, waits, "write:32#closed=0").is_some());
}

/// Why the turnstile alone does not promise it: a waiter that was signalled gets in whenever it
/// runs. No other process can tell it anything between its signal and its next step, so it takes an
/// access after the wait.
#[test]
fn a_waiter_that_was_signalled_must_look_again() {
    for (roles, gets_in) in
        [(&[Closes, Passes, LooksOnce] as &'static [Role], true), (&[Closes, Passes, Passes], false)]
    {
        // The holder leaves before it is closed, or afterwards.
        for run in ["p1>in  p2>8  p1>out  p0.31  p0>out", "p1>in  p2>8  p0.31  p0>out  p1>out"] {
            let mut r = Runner::new(world(1, false, roles, rules(1, false)));
            r.follow(run).unwrap();
            assert!(r.view().processes().all(|p| p == 2 || r.view().phase(p) == Phase::Remainder));
            assert_eq!(r.follow("p2>in").is_ok(), gets_in, "{run}");
        }
    }
}
