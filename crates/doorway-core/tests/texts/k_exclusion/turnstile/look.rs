//! What a look at the turnstile finds was so: (L1) to (L4), among processes that pass, take places
//! along and add some.

use doorway_check::property::View;
use doorway_check::sim::{Part, Rules, Sim, World};
use doorway_check::{Explorer, Property, Report};
use doorway_core::Failure;
use doorway_core::k_exclusion::turnstile::{
    Attempt, Fate, Gate, Held, Limits, Look, Next, Places, Record, Refused, Turnstile,
};
use doorway_core::k_exclusion::{Abortable, KExclusion};
use doorway_core::memory::{Label, Memory, Process, Site};
use std::convert::Infallible;

/// What a process does in a passage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    Passes,
    /// Takes its place along.
    Forgets,
    Adds,
    /// Looks, by the shipped text.
    Looks,
    /// Looks, by the text below.
    LooksWith(Fault),
    /// Looks, and then counts the tickets that were given up.
    Counts,
    /// Looks, and counts by the text below.
    CountsWith(Fault),
}
use Role::{Adds, Counts, CountsWith, Forgets, Looks, LooksWith, Passes};

/// What is wrong with a look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    None,
    /// 38 before 37: units given back since `next` was read count as free, though other processes
    /// have drawn them.
    NextFirst,
    /// 37 and 39 are one: waiters are counted by the gate that was read first.
    OneGate,
    /// The number free and the number of places come from two moments, and nothing compares them.
    Uncompared,
    /// Says that nothing is free, and no process waits: a lower bound of everything.
    SaysNothing,
    /// Counts each ticket of which anything has become, signalled ones included.
    AlsoSignalled,
    /// Looks at the record of the ticket before.
    OneTooFar,
}

struct Users {
    line: Turnstile<Sim>,
    roles: &'static [Role],
}

/// The text of a look again, with faults.
async fn look(p: &Process<Sim>, fault: Fault) -> Result<(), Infallible> {
    let sim = p.memory();
    let p = p.on(Sim::ROOT);
    let gate = sim.declared::<Gate>(Part::ROOT, "gate").expect("a turnstile has one");
    let next_word = sim.declared::<Next>(Part::ROOT, "next").expect("a turnstile has one");
    let places_word = sim.declared::<Places>(Part::ROOT, "places").expect("a turnstile has them");
    let (before, next);
    if fault == Fault::NextFirst {
        p.keep(37, &());
        next = p.at(37).read(&next_word).await?.ticket();
        p.keep(38, &next);
        before = p.at(38).read(&gate).await?;
        p.shows("gate before", before);
    } else {
        p.keep(37, &());
        before = p.at(37).read(&gate).await?;
        p.shows("gate before", before);
        p.keep(38, &before);
        next = p.at(38).read(&next_word).await?.ticket();
    }
    let free = if fault == Fault::SaysNothing { 0 } else { (-before.distance(next)).max(0).unsigned_abs() };
    p.shows("free", free);
    p.shows("next before", next);
    p.keep(39, &(free, next, (fault == Fault::OneGate).then_some(before)));
    let after = p.at(39).read(&gate).await?;
    let g = if fault == Fault::OneGate { before } else { after };
    let waiting = if fault == Fault::SaysNothing { 0 } else { g.distance(next).max(0).unsigned_abs() };
    p.hides("gate before");
    p.shows("waiting", waiting);
    p.keep(48, &(free, waiting, next, g.closed));
    let places = p.at(48).read(&places_word).await?.0;
    p.hides("next before");
    p.hides("waiting");
    let free = if fault == Fault::Uncompared { free } else { free.min(places) };
    p.shows("free", free);
    p.shows("places found", places);
    p.keep(49, &(free, waiting, next, g.closed, places));
    // Here the shipped text reads the door.
    p.at(49).read(&places_word).await?;
    p.hides("free");
    p.hides("places found");
    Ok(())
}

/// A copy, with faults, of the text that counts the tickets that were given up.
async fn count(p: &Process<Sim>, look: &Look, fault: Fault) -> Result<(), Infallible> {
    let sim = p.memory();
    let p = p.on(Sim::ROOT);
    let rec = sim.declared_row::<Record>(Part::ROOT, "rec");
    let mut ghosts = 0;
    for back in (1..=look.waiting).rev() {
        let t = look.next - back;
        p.shows("judges", t);
        p.hides("gone");
        let place = (t as usize).wrapping_sub(usize::from(fault == Fault::OneTooFar)) & (rec.len() - 1);
        p.keep(57, &(ghosts, back, look.next));
        let record = p.at(57).read(&rec[place]).await?;
        let gone = match fault {
            Fault::SaysNothing => false,
            Fault::AlsoSignalled => record.is_of(t) && record.fate() != Fate::Waits,
            Fault::OneTooFar => record.fate() == Fate::Gone,
            _ => record == Record::new(t, Fate::Gone),
        };
        p.shows("gone", gone);
        ghosts += u64::from(gone);
    }
    Ok(())
}

type Refusal = Option<Refused>;

impl KExclusion<Sim> for Users {
    type Held = Held;
    type Refusal = Refusal;

    async fn acquire(&self, p: &Process<Sim>) -> Result<Held, Failure<Infallible, Refusal>> {
        let held = self.try_acquire(p, &mut Attempt::default()).await?;
        Ok(held.expect("only a process that may give up is asked to"))
    }

    async fn release(&self, p: &Process<Sim>, held: Held) -> Result<(), Infallible> {
        match self.roles[p.pid().index()] {
            Forgets => self.line.forget(p, held).await,
            _ => self.line.release(p, held).await,
        }
    }
}

impl Abortable<Sim> for Users {
    type Attempt = Attempt;

    async fn try_acquire(
        &self,
        p: &Process<Sim>,
        attempt: &mut Attempt,
    ) -> Result<Option<Held>, Failure<Infallible, Refusal>> {
        match self.roles[p.pid().index()] {
            Passes | Forgets => {
                return self.line.try_acquire(p, attempt).await.map_err(|failure| match failure {
                    Failure::Memory(impossible) => match impossible {},
                    Failure::Refused(why) => Failure::Refused(Some(why)),
                });
            }
            Adds => drop(self.line.add(p, 1, ROOM as u64).await?),
            Looks => drop(self.line.look(p).await?),
            LooksWith(fault) => look(p, fault).await?,
            Counts => {
                let look = self.line.look(p).await?;
                self.line.ghosts(p, &look).await?;
                self.line.places(p).await?; // one step more, in which properties still see the last judgement
            }
            CountsWith(fault) => {
                let look = self.line.look(p).await?;
                count(p, &look, fault).await?;
                self.line.places(p).await?;
            }
        }
        Err(Failure::Refused(None))
    }

    fn leave(&self, p: &Process<Sim>, attempt: Attempt) -> impl Future<Output = Result<Option<Held>, Infallible>> {
        self.line.leave(p, attempt)
    }
}

/// The largest number of places.
const ROOM: usize = 3;

/// Units that no process has asked for now.
fn free(v: &View<'_>) -> u64 {
    (-v.get::<Gate>("gate").distance(v.get::<Next>("next").ticket())).max(0).unsigned_abs()
}

/// Units that have been asked for and are not free now.
fn waiting(v: &View<'_>) -> u64 {
    v.get::<Gate>("gate").distance(v.get::<Next>("next").ticket()).max(0).unsigned_abs()
}

/// At the step that does this statement, the process finds what `so` says of the state in which it
/// does it. (The step itself changes nothing.)
fn finds(name: &'static str, label: Label, so: impl Fn(&View<'_>, usize) -> bool + Send + Sync + 'static) -> Property {
    Property::unless(name, move |v, p| v.at(p, label) && !v.has_crashed(p), move |v, p| v.has_crashed(p) || so(v, p))
}

fn claims(ring: usize) -> Vec<Property> {
    let free_now = |v: &View<'_>, p: usize| {
        let same = || v.shown::<Gate>(p, "gate before") == Some(v.get("gate"));
        v.shown::<u64>(p, "free").is_some_and(|found| found == free(v) || found < free(v) && !same())
    };
    let waiting_now = |v: &View<'_>, p: usize| {
        let same = || v.shown::<u64>(p, "next before") == Some(v.get::<Next>("next").ticket());
        v.shown::<u64>(p, "waiting").is_some_and(|found| found == waiting(v) || found < waiting(v) && !same())
    };
    let places_now = |v: &View<'_>, p: usize| {
        let places = v.shown::<u64>(p, "places found");
        places == Some(v.get::<Places>("places").0) && v.shown::<u64>(p, "free") <= places
    };
    let judged_now = move |v: &View<'_>, p: usize| {
        let Some(t) = v.shown::<u64>(p, "judges") else { return false };
        let record: Record = v.get_at("rec", t as usize & (ring - 1));
        v.shown(p, "gone") == Some(record == Record::new(t, Fate::Gone))
    };
    vec![
        finds("L1", 38, free_now),
        finds("L2", 39, waiting_now),
        finds("L3", 48, places_now),
        finds("L4", 57, judged_now),
    ]
}

fn explore(k: usize, roles: &'static [Role], rules: Rules) -> Report {
    let n = roles.len();
    let limits = Limits::for_processes(n + 1, ROOM);
    let build = |site: &Site<'_, Sim>| Users { line: Turnstile::with_limits(site, k, limits, 0), roles };
    let world = World::of_abortable(n, rules, build).unwrap();
    let report = Explorer::new(n)
        .believe_keep(true)
        .properties(claims(limits.ring))
        .keep_going(true)
        .max_states(2_000_000)
        .explore(world)
        .unwrap();
    println!("k {k} {roles:?}, {:?} passages, {} crashes: {} states", rules.passages, rules.crashes, report.states);
    assert!(report.complete);
    report
}

fn rules(passages: u32) -> Rules {
    Rules { give_ups: true, ..Rules::with_passages(Some(passages)) }
}

#[test]
fn what_a_look_finds_was_so() {
    for k in [1, 2] {
        for roles in [&[Looks, Passes, Passes], &[Looks, Passes, Forgets], &[Looks, Passes, Adds]] {
            explore(k, roles, Rules { crashes: 1, ..rules(1) }).assert_holds();
        }
        for roles in [&[Looks, Passes], &[Looks, Forgets], &[Looks, Adds]] {
            explore(k, roles, rules(2)).assert_holds();
        }
        explore(k, &[Counts, Passes, Passes], rules(1)).assert_holds();
        explore(k, &[Looks, Passes, Passes], Rules { give_ups: false, ..rules(2) }).assert_holds();
    }
}

/// The text above does the same as the shipped one, so its faults are faults of that one.
#[test]
fn without_a_fault_it_is_the_shipped_text() {
    let shipped = explore(2, &[Looks, Passes, Forgets], rules(1));
    let copied = explore(2, &[LooksWith(Fault::None), Passes, Forgets], rules(1));
    copied.assert_holds();
    assert_eq!((shipped.states, shipped.edges), (copied.states, copied.edges));
    let shipped = explore(1, &[Counts, Passes, Passes], rules(1));
    let copied = explore(1, &[CountsWith(Fault::None), Passes, Passes], rules(1));
    copied.assert_holds();
    assert_eq!((shipped.states, shipped.edges), (copied.states, copied.edges));
}

#[test]
fn each_claim_is_seen_to_fail() {
    let failing = |k, roles, passages| -> Vec<String> {
        let report = explore(k, roles, rules(passages));
        report.verdicts.iter().filter(|v| v.holds == Some(false)).map(|v| v.name.to_string()).collect()
    };
    assert_eq!(failing(2, &[LooksWith(Fault::NextFirst), Passes, Passes], 1), ["L1"]);
    assert_eq!(failing(1, &[LooksWith(Fault::OneGate), Passes, Passes], 1), ["L2"]);
    assert_eq!(failing(2, &[LooksWith(Fault::Uncompared), Forgets], 1), ["L3"]);
    assert_eq!(failing(1, &[LooksWith(Fault::SaysNothing), Passes, Passes], 1), ["L1", "L2"]);
    assert_eq!(failing(1, &[CountsWith(Fault::SaysNothing), Passes, Passes], 1), ["L4"]);
    assert_eq!(failing(1, &[CountsWith(Fault::AlsoSignalled), Passes, Passes], 1), ["L4"]);
    assert_eq!(failing(1, &[CountsWith(Fault::OneTooFar), Passes, Passes], 1), ["L4"]);
}
