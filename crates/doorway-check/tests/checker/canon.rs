//! States that the canons of the turnstile merge are alike, in one ring and in an endless line.
//! With a bound on passages, the verdicts and everything that properties can see are the same with
//! a canon and without it. A wrong canon is noticed.

use doorway_check::mutants::Mutant;
use doorway_check::property::View;
use doorway_check::sim::{Canon, Facts, Layout, Phase, Rules, Shift, VarId, World};
use doorway_check::{Explorer, Property, claims, mutants, subject};
use doorway_core::k_exclusion::turnstile::{Door, Fate, Front, Gate, Left, Limits, Next, Pass, Record, Rings, TICKET};
use doorway_core::memory::{Word, fit};
use doorway_core::registry::{Info, Sizes};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// What properties can see of a process.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Seen {
    phase: u8,
    crashed: bool,
    /// 0 for dead processes.
    label: u16,
    units: u64,
    in_line: bool,
    /// For a process in line: how far its ticket is from being enabled, if it is not settled yet.
    distance: Option<i64>,
    name: Option<u64>,
}

/// What properties can see of a state, with tickets counted from the front.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Sight {
    processes: Vec<Seen>,
    open: i64,
    next: i64,
    line: u64,
    /// Whether the ghost at the front has been exited.
    exited: bool,
    door: (bool, bool),
    fates: Vec<Option<u8>>,
    /// The number of rings, how far a pass has come, and how many gave up.
    grown: Option<(u64, u8, u64)>,
}

/// The records that there are.
#[derive(Clone, Copy)]
enum Records {
    /// In one ring.
    Ring,
    /// In so many rings.
    Rings(usize),
}

fn sight(v: &View<'_>, limits: Limits, records: Records) -> Sight {
    let gate: Gate = v.get("gate");
    let mut front: Front = v.get("front");
    // While no process is in line, the front may be anywhere behind, and still be there when one
    // comes.
    let furthest = 2 * limits.places as i64 + 1;
    let behind = front.behind(gate.open);
    let (at, is_settled) = (front.ticket, gate.line > 0 || behind <= furthest);
    if behind > furthest {
        front = front.moved_to(front.ticket.wrapping_add((behind - furthest) as u64), gate.odd);
    }
    let fails = |p: usize| matches!(records, Records::Rings(_)) && v.fails_next(p);
    let process = |p: usize| {
        let crashed = v.has_crashed(p);
        let in_line = v.shown::<bool>(p, "in line").is_some();
        // A process that helps at a front that has moved on can only find that out.
        let is_stale = v.shown::<u64>(p, "front").is_some_and(|y| y != at || !is_settled);
        let ticket = v.shown::<u64>(p, "ticket").filter(|_| in_line && !crashed);
        let not_dealt_with = |t: &u64| fit::<i64>(t.wrapping_sub(front.ticket), TICKET) as i64 >= 0;
        Seen {
            phase: match v.phase(p) {
                Phase::Remainder => 0,
                Phase::Entry => 1,
                Phase::Inside => 2,
                Phase::Exit => 3,
            },
            crashed,
            label: match (crashed, is_stale, v.label(p)) {
                (true, ..) => 0,
                (_, true, _) => 10,
                // A claimer that passes a ghost for another process looks again, whether it did.
                (_, _, 19) if v.shown::<u64>(p, "front").is_none() => 52,
                // In an endless line, a process whose exchange must fail goes on with what it does
                // then, as long as it does not enter.
                (_, _, label) if fails(p) => match label {
                    7 if v.shown::<u64>(p, "ticket") >= v.shown::<u64>(p, "upto") => 8,
                    14 => 50,
                    18 => 10,
                    21 => 20,
                    54 => 52,
                    56 => 51,
                    label => label,
                },
                (.., label) => label,
            },
            units: v.shown(p, "units").unwrap_or(0),
            in_line,
            distance: ticket.filter(not_dealt_with).map(|t| gate.distance(t)),
            name: v.shown(p, "name"),
        }
    };
    let ring = limits.ring as u64;
    let fate = |i: u64| {
        let t = fit::<u64>(front.ticket.wrapping_add(i), TICKET);
        let record: Record = match records {
            Records::Ring => v.get_at("rec", (t % ring) as usize),
            Records::Rings(rings) => {
                let places = (limits.ring << rings) - limits.ring;
                (0..places).map(|i| v.get_at::<Record>("rec", i)).find(|record| record.is_of(t))?
            }
        };
        (record.ticket() == t).then_some(match record.fate() {
            Fate::Waits => 0,
            Fate::Signalled => 1,
            Fate::Gone => 2,
            Fate::Shut => 3,
            Fate::Free => 4,
            Fate::Listens => 5,
            Fate::Called => 6,
            Fate::Nudged => 7,
            Fate::Moving => 8,
        })
    };
    let grown = match records {
        Records::Ring => None,
        Records::Rings(_) => {
            Some((v.get::<Rings>("top").rings, v.get::<Pass>("pass").step as u8, v.get::<Left>("left").count))
        }
    };
    let door: Door = v.get("door");
    Sight {
        processes: v.processes().map(process).collect(),
        open: front.behind(gate.open),
        next: gate.distance(v.get::<Next>("next").ticket()),
        line: gate.line,
        exited: gate.odd != front.is_odd(),
        door: (door.is_open(), door.is_shut()),
        fates: (0..ring.max(8)).map(fate).collect(),
        grown,
    }
}

/// More than there are.
const MOST: usize = 700_000;

/// Few enough to end soon if a wrong canon creates more and more.
const MOST_IF_WRONG: usize = 100_000;

/// How many states there are, which properties hold, and what can be seen.
#[derive(PartialEq, Debug)]
struct Found {
    states: usize,
    verdicts: Vec<(String, Option<bool>)>,
    sights: BTreeSet<Sight>,
}

type Build = dyn Fn(&Layout) -> Option<Box<dyn Canon>>;

/// Explores with this canon; an error is a finding too.
fn explore(
    info: &'static Info,
    sizes: Sizes,
    rules: Rules,
    properties: Vec<Property>,
    canon: Option<&Build>,
    most: usize,
) -> Result<Found, String> {
    let n = sizes.n + usize::from(info.id.ends_with("-many"));
    let (limits, records) = if info.id.starts_with("turnstile-line") {
        let limits = Limits::for_growing(n, sizes.k);
        (limits, Records::Rings(limits.rings(n)))
    } else {
        (Limits::for_processes(n, sizes.k), Records::Ring)
    };
    let sights = Arc::new(Mutex::new(BTreeSet::new()));
    let all = Arc::clone(&sights);
    let kind =
        if ["turnstile-slots", "turnstile-bits", "turnstile-unfair"].contains(&info.id) { "exclusion" } else { "" };
    let look = Property::always("look", move |v| {
        all.lock().unwrap().insert(sight(v, limits, records));
        true
    });
    let mut properties = properties;
    properties.push(look.each(kind));
    let rules = rules.for_properties(&properties);
    let mut world: World = subject::find(info.id).unwrap().world(sizes, rules).unwrap();
    if let Some(canon) = canon {
        world = world.with_canon(canon);
    }
    let report =
        Explorer::new(sizes.n).properties(properties).keep_going(true).max_states(most).compare_keep(0).explore(world);
    let report = report.map_err(|e| e.to_string())?;
    assert!(canon.is_some() || report.complete);
    let verdicts = report.verdicts.iter().map(|v| (v.name.to_string(), v.holds)).collect();
    let sights = std::mem::take(&mut *sights.lock().unwrap());
    Ok(Found { states: report.states, verdicts, sights })
}

fn shipped(info: &'static Info, sizes: Sizes, rules: Rules) -> impl Fn(&Layout) -> Option<Box<dyn Canon>> {
    move |layout| claims::canon(info, sizes, rules, layout)
}

fn is_exact(id: &str, (n, k): (usize, usize), rules: Rules) {
    let info = subject::find(id).unwrap().info;
    let sizes = Sizes { n, k };
    let plain = explore(info, sizes, rules, claims::of(info, sizes), None, MOST).unwrap();
    let shipped = shipped(info, sizes, rules);
    let merged = explore(info, sizes, rules, claims::of(info, sizes), Some(&shipped), MOST).unwrap();
    assert!(merged.states < plain.states, "{id} ({n},{k}): {} of {}", merged.states, plain.states);
    assert_eq!(merged.verdicts, plain.verdicts, "{id} ({n},{k})");
    let (unseen, new) =
        (plain.sights.difference(&merged.sights).next(), merged.sights.difference(&plain.sights).next());
    assert!(unseen.is_none() && new.is_none(), "{id} ({n},{k}): only without it {unseen:#?}, only with it {new:#?}");
}

fn rules(passages: u32, crashes: usize) -> Rules {
    Rules { crashes, give_ups: true, ..Rules::with_passages(Some(passages)) }
}

#[test]
fn the_same_can_be_seen_with_the_canon_and_without() {
    is_exact("turnstile", (2, 1), rules(2, 0));
    is_exact("turnstile", (2, 1), rules(3, 0));
    is_exact("turnstile", (2, 1), rules(2, 2));
    is_exact("turnstile", (2, 2), rules(3, 1));
    is_exact("turnstile", (3, 1), rules(1, 0));
    is_exact("turnstile", (3, 2), rules(1, 1));
}

#[test]
fn the_same_can_be_seen_in_the_other_forms() {
    is_exact("turnstile-many", (2, 2), rules(2, 0));
    is_exact("turnstile-many", (2, 2), rules(1, 2));
    is_exact("turnstile-unfair", (2, 1), rules(2, 1));
    is_exact("turnstile-slots", (2, 1), rules(2, 1));
    is_exact("turnstile-slots", (2, 2), rules(2, 2));
    is_exact("turnstile-bits", (2, 2), rules(1, 2));
}

#[test]
fn the_same_can_be_seen_in_an_endless_line() {
    let quiet = |passages, crashes| Rules { give_ups: false, ..rules(passages, crashes) };
    is_exact("turnstile-line", (2, 1), quiet(3, 0));
    is_exact("turnstile-line", (2, 1), quiet(2, 2));
    is_exact("turnstile-line", (2, 1), rules(2, 0));
    is_exact("turnstile-line", (2, 2), rules(3, 1));
    is_exact("turnstile-line", (3, 1), quiet(1, 0));
    is_exact("turnstile-line", (3, 2), quiet(1, 1));
    is_exact("turnstile-line-many", (2, 2), rules(1, 1));
}

#[test]
#[ignore = "takes minutes; ci/long-searches.sh runs it"]
fn the_same_can_be_seen_in_an_endless_line_in_the_large() {
    is_exact("turnstile-line-many", (2, 2), rules(2, 0));
    is_exact("turnstile-line", (2, 1), rules(3, 0));
}

/// What is wrong with a canon.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wrong {
    /// No process's helping is finished early: that creates more states, and makes no difference.
    NobodyIsStale,
    /// What a process remembers decreases by one too many.
    ShiftsTooFar,
    /// What a process that has helped up to the front remembers becomes larger than what it is
    /// compared with.
    LiftsTooFar,
    /// Processes in line are not shifted.
    LeavesWaiting,
    /// The number of ghosts becomes smaller by an odd number.
    LosesParity,
    /// What the dead held is forgotten.
    ForgetsTheDead,
    /// The front moves although a process is in line.
    MovesTheFront,
    /// In an endless line: a process that claims a place moves on so far that it may find an
    /// earlier ticket there, not a later one.
    LiftsClaimers,
    /// In an endless line: such a process moves on so far that it looks at other places.
    TurnsClaimers,
    /// In an endless line: all records before the front become free.
    FreesRecords,
    /// In an endless line: a process makes an exchange at once although it may succeed.
    ExchangesAtOnce,
}

#[derive(Debug)]
struct Mutated {
    canon: Box<dyn Canon>,
    wrong: Wrong,
    front: usize,
    gate: usize,
    rec: Range<usize>,
}

impl Mutated {
    fn front(&self, vars: &[u64]) -> Front {
        Front::unpack(vars[self.front])
    }
}

impl Mutated {
    fn move_front(&self, vars: &mut [u64]) {
        let (front, gate) = (self.front(vars), Gate::unpack(vars[self.gate]));
        if self.wrong == Wrong::MovesTheFront && front.behind(gate.open) > 0 {
            vars[self.front] = front.moved_to(front.ticket.wrapping_add(1), front.is_odd()).pack();
        }
    }

    fn wrong_for(&self, vars: &[u64], facts: &Facts, mut by: Shift) -> Shift {
        let before_front = |t: u64| (fit::<i64>(t.wrapping_sub(self.front(vars).ticket), TICKET) as i64) < 0;
        match self.wrong {
            Wrong::ShiftsTooFar if facts.get("upto").is_some() => by[0] = fit::<u64>(by[0].wrapping_add(1), TICKET),
            Wrong::LiftsTooFar if facts.get("upto").is_some_and(|upto| self.front(vars).behind(upto) == 0) => {
                by[0] = fit::<u64>(by[0].wrapping_sub(1), TICKET);
            }
            Wrong::LeavesWaiting if facts.get("in line").is_some() => by[0] = 0,
            Wrong::LosesParity if facts.get("front").is_some() => by[1] = by[1].wrapping_add(1),
            Wrong::LiftsClaimers if matches!(facts.label, 51..=56) && facts.get("ticket").is_some_and(before_front) => {
                by[0] = fit::<u64>(by[0].wrapping_sub(4), TICKET);
            }
            Wrong::TurnsClaimers if matches!(facts.label, 51..=56) && facts.get("ticket").is_some_and(before_front) => {
                by[0] = fit::<u64>(by[0].wrapping_add(1), TICKET);
            }
            _ => {}
        }
        by
    }
}

impl Canon for Mutated {
    fn applies(&self, vars: &[u64], facts: &Facts) -> bool {
        self.canon.applies(vars, facts)
    }
    fn settle(&self, vars: &mut [u64]) {
        self.move_front(vars);
        self.canon.settle(vars);
    }
    fn settle_beside(&self, vars: &mut [u64], alive: &[&Facts]) {
        self.move_front(vars);
        self.canon.settle_beside(vars, alive);
    }
    fn is_stale(&self, vars: &[u64], facts: &Facts) -> bool {
        self.wrong != Wrong::NobodyIsStale && self.canon.is_stale(vars, facts)
    }
    fn is_stale_beside(&self, vars: &[u64], facts: &Facts, alive: &[&Facts]) -> bool {
        self.wrong != Wrong::NobodyIsStale && self.canon.is_stale_beside(vars, facts, alive)
    }
    fn fails_for_good(&self, vars: &[u64], facts: &Facts) -> bool {
        let exchanges = self.wrong == Wrong::ExchangesAtOnce && facts.label == 54;
        exchanges || self.canon.fails_for_good(vars, facts)
    }
    fn base(&self, vars: &[u64]) -> Shift {
        self.canon.base(vars)
    }
    fn of_process(&self, vars: &[u64], facts: &Facts) -> Shift {
        self.wrong_for(vars, facts, self.canon.of_process(vars, facts))
    }
    fn of_processes(&self, vars: &mut [u64], alive: &[&Facts]) -> Vec<Shift> {
        let by = self.canon.of_processes(vars, alive);
        if self.wrong == Wrong::FreesRecords {
            let front = self.front(vars).ticket;
            for word in &mut vars[self.rec.clone()] {
                if (fit::<i64>(Record::unpack(*word).ticket().wrapping_sub(front), TICKET) as i64) < 0 {
                    *word = 0;
                }
            }
        }
        alive.iter().zip(by).map(|(facts, by)| self.wrong_for(vars, facts, by)).collect()
    }
    fn shift(&self, vars: &mut [u64], by: Shift) {
        self.canon.shift(vars, by);
    }
    fn moved(&self, var: VarId, word: u64, by: Shift) -> u64 {
        self.canon.moved(var, word, by)
    }
    fn waiting(&self, vars: &[u64]) -> i64 {
        self.canon.waiting(vars)
    }
    fn of_the_dead(&self, facts: &Facts) -> u64 {
        if self.wrong == Wrong::ForgetsTheDead { 0 } else { self.canon.of_the_dead(facts) }
    }
}

/// Whether a canon that is wrong in this way is noticed.
fn differs(id: &str, rules: Rules, wrong: &[Wrong]) -> Vec<bool> {
    let info = subject::find(id).unwrap().info;
    let sizes = Sizes { n: 2, k: 1 };
    // With a wrong canon a process that runs alone may run for ever.
    let claims = || claims::of(info, sizes).into_iter().filter(|claim| !claim.needs_order()).collect();
    let plain = explore(info, sizes, rules, claims(), None, MOST).unwrap();
    let differs = |&wrong: &Wrong| {
        let mutated = move |layout: &Layout| {
            let names = layout.names();
            let find = |name| names.iter().position(|known| *known == name).unwrap();
            let places = names.iter().filter(|name| name.starts_with("rec[")).count();
            let (front, gate, rec) = (find("front"), find("gate"), find("rec[0]"));
            let canon = claims::canon(info, sizes, rules, layout)?;
            Some(Box::new(Mutated { canon, wrong, front, gate, rec: rec..rec + places }) as Box<dyn Canon>)
        };
        let found = explore(info, sizes, rules, claims(), Some(&mutated), MOST_IF_WRONG);
        found.map_or(true, |found| (found.verdicts, found.sights) != (plain.verdicts.clone(), plain.sights.clone()))
    };
    wrong.iter().map(differs).collect()
}

const ALL_WRONG: [Wrong; 6] = [
    Wrong::ShiftsTooFar,
    Wrong::LiftsTooFar,
    Wrong::LeavesWaiting,
    Wrong::LosesParity,
    Wrong::ForgetsTheDead,
    Wrong::MovesTheFront,
];

#[test]
fn a_wrong_canon_is_noticed() {
    assert_eq!(differs("turnstile", rules(2, 1), &[Wrong::NobodyIsStale]), [false]);
    assert_eq!(differs("turnstile", rules(2, 1), &ALL_WRONG), [true; 6]);
}

#[test]
fn a_wrong_canon_of_an_endless_line_is_noticed() {
    assert_eq!(differs("turnstile-line", rules(2, 0), &[Wrong::NobodyIsStale]), [false]);
    let quiet = Rules { give_ups: false, ..rules(2, 1) };
    assert_eq!(differs("turnstile-line", quiet, &[Wrong::ForgetsTheDead]), [true]);
    let quiet = Rules { give_ups: false, ..rules(4, 0) };
    assert_eq!(differs("turnstile-line", quiet, &[Wrong::LiftsClaimers, Wrong::TurnsClaimers]), [true; 2]);
    let wrong = [ALL_WRONG[0], ALL_WRONG[1], ALL_WRONG[2], ALL_WRONG[3], ALL_WRONG[5]];
    assert_eq!(differs("turnstile-line", rules(2, 0), &wrong), [true; 5]);
    assert_eq!(differs("turnstile-line", rules(2, 0), &[Wrong::FreesRecords, Wrong::ExchangesAtOnce]), [true; 2]);
}

/// Each fault of an endless line breaks the same property with the canon, and for two processes
/// without a bound on passages too. Two faults are left out, because they name a ticket or a place
/// by its number, which the canon changes.
#[test]
fn faults_of_an_endless_line_are_noticed_with_the_canon() {
    let of_a_line = |mutant: &&Mutant| ["turnstile-line", "turnstile-line-many"].contains(&mutant.of);
    let mut missed = Vec::new();
    for mutant in mutants::ALL.iter().filter(of_a_line) {
        let subject = subject::find(&format!("mutant:{}", mutant.name)).unwrap();
        let sizes = subject.sizes(None, None).unwrap();
        let mut asked = subject.claims(sizes);
        asked.retain(|claim| mutant.fails.is_none_or(|(property, _)| claim.name() == property));
        let fault = mutant.faults().to_string();
        if fault.contains("read:52=161") || fault.contains("also:14:[+1]") {
            continue;
        }
        let unbounded = (sizes.n == 2).then_some(None);
        for passages in [mutant.sizes.passages].into_iter().chain(unbounded) {
            let rules = Rules { passages, ..mutant.rules() }.for_properties(&asked);
            let world = subject.world(sizes, rules).unwrap();
            let world = world.with_canon(shipped(subject.info, sizes, rules));
            let search = Explorer::new(sizes.n).properties(asked.iter().cloned()).max_states(MOST).compare_keep(0);
            let report = search.explore(world);
            let fails = report.map(|report| report.failure().map(|verdict| verdict.name.to_string()));
            if fails != Ok(mutant.fails.map(|(property, _)| property.to_owned())) {
                missed.push((mutant.name, passages, fails));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}
