//! States that the canon of the simple turnstile merges are alike: with a bound on passages, the
//! verdicts and everything that properties can see are the same with it and without it. A wrong
//! canon is noticed.

use doorway_check::property::View;
use doorway_check::sim::{Canon, Facts, Layout, Phase, Rules, Shift, VarId, World};
use doorway_check::{Explorer, Property, claims, subject};
use doorway_core::k_exclusion::turnstile::{Next, Signal, simple_ring};
use doorway_core::registry::Sizes;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

const ID: &str = "turnstile-simple";

/// What can be seen of a process: where it is, whether it counts, and its ticket or the one that
/// its exit enables, counted from the first that is not signalled. For the dead, only whether they
/// count.
type Seen = (u8, bool, u16, bool, Option<i64>);

/// What can be seen of a state, with tickets counted from the first that is not signalled.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Sight {
    processes: Vec<Seen>,
    next: i64,
    served: i64,
    signals: Vec<i64>,
}

fn sight(v: &View<'_>, ring: usize) -> Sight {
    let signals: Vec<i64> = (0..ring).map(|i| v.get_at::<Signal>("cell", i).0).collect();
    let first = signals.iter().min().unwrap() + ring as i64 - 1;
    let process = |p: usize| {
        let phase = match v.phase(p) {
            Phase::Remainder => 0,
            Phase::Entry => 1,
            Phase::Inside => 2,
            Phase::Exit => 3,
        };
        let counts = v.shown::<bool>(p, "counts").is_some();
        if v.has_crashed(p) {
            return (phase, true, 0, counts, None);
        }
        let ticket = v.shown::<i64>(p, "ticket").or(v.shown(p, "upto"));
        // All that are signalled are alike.
        (phase, false, v.label(p), counts, ticket.map(|t| (t - first).max(-1)))
    };
    Sight {
        processes: v.processes().map(process).collect(),
        next: v.get::<Next>("next").0 as i64 - first,
        served: v.get::<Next>("served").0 as i64 - first,
        signals: (0..ring as i64).map(|i| signals[(first + i) as usize & (ring - 1)] - first).collect(),
    }
}

/// How many states there are, which properties hold, and what can be seen.
struct Found {
    states: usize,
    verdicts: Vec<(String, Option<bool>)>,
    sights: BTreeSet<Sight>,
}

type Build = dyn Fn(&Layout) -> Option<Box<dyn Canon>>;

/// Explores with this canon; an error is a finding too.
fn explore(sizes: Sizes, rules: Rules, canon: Option<&Build>) -> Result<Found, String> {
    let sights = Arc::new(Mutex::new(BTreeSet::new()));
    let (all, ring) = (Arc::clone(&sights), simple_ring(sizes.n, sizes.k));
    // With a wrong canon a process that runs alone may run for ever.
    let mut properties = claims::of(subject::find(ID).unwrap().info, sizes);
    properties.retain(|claim| !claim.needs_order());
    properties.push(Property::always("look", move |v| {
        all.lock().unwrap().insert(sight(v, ring));
        true
    }));
    let mut world: World = subject::find(ID).unwrap().world(sizes, rules.for_properties(&properties)).unwrap();
    if let Some(canon) = canon {
        world = world.with_canon(canon);
    }
    let report = Explorer::new(sizes.n)
        .believe_keep(true)
        .properties(properties)
        .keep_going(true)
        .max_states(300_000)
        .explore(world);
    let report = report.map_err(|e| e.to_string())?;
    assert!(canon.is_some() || report.complete);
    let verdicts = report.verdicts.iter().map(|v| (v.name.to_string(), v.holds)).collect();
    Ok(Found { states: report.states, verdicts, sights: std::mem::take(&mut *sights.lock().unwrap()) })
}

fn rules(passages: u32, crashes: usize) -> Rules {
    Rules { crashes, ..Rules::with_passages(Some(passages)) }
}

#[test]
fn the_same_can_be_seen_with_the_canon_and_without() {
    for (n, k, passages, crashes) in
        [(2, 1, 3, 2), (2, 2, 4, 0), (2, 2, 3, 2), (3, 1, 2, 1), (3, 2, 2, 0), (3, 2, 2, 1), (3, 3, 1, 2)]
    {
        let (sizes, rules) = (Sizes { n, k }, rules(passages, crashes));
        let shipped = move |layout: &Layout| claims::canon(subject::find(ID).unwrap().info, sizes, rules, layout);
        let plain = explore(sizes, rules, None).unwrap();
        let merged = explore(sizes, rules, Some(&shipped)).unwrap();
        assert!(merged.states < plain.states, "({n},{k}): {} of {}", merged.states, plain.states);
        assert_eq!(merged.verdicts, plain.verdicts, "({n},{k})");
        assert!(merged.sights == plain.sights, "({n},{k})");
    }
}

/// What is wrong with a canon.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wrong {
    /// A signalled ticket becomes one that is not.
    LiftsTooFar,
    /// A waiting process is not shifted.
    LeavesWaiting,
    /// What a process remembers decreases by one too many.
    ShiftsTooFar,
}

#[derive(Debug)]
struct Mutated {
    canon: Box<dyn Canon>,
    wrong: Wrong,
}

impl Canon for Mutated {
    fn settle(&self, vars: &mut [u64]) {
        self.canon.settle(vars);
    }
    fn is_stale(&self, vars: &[u64], facts: &Facts) -> bool {
        self.canon.is_stale(vars, facts)
    }
    fn base(&self, vars: &[u64]) -> Shift {
        self.canon.base(vars)
    }
    fn of_process(&self, vars: &[u64], facts: &Facts) -> Shift {
        let mut by = self.canon.of_process(vars, facts);
        match self.wrong {
            Wrong::LiftsTooFar if facts.get("upto").is_some_and(|c| c.wrapping_sub(by[0]) == u64::MAX) => {
                by[0] = by[0].wrapping_sub(1);
            }
            Wrong::LeavesWaiting if facts.get("ticket").is_some() => by[0] = 0,
            Wrong::ShiftsTooFar if facts.get("upto").is_some() => by[0] = by[0].wrapping_add(1),
            _ => {}
        }
        by
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
        self.canon.of_the_dead(facts)
    }
}

#[test]
fn a_wrong_canon_is_noticed() {
    let (info, sizes, rules) = (subject::find(ID).unwrap().info, Sizes { n: 2, k: 2 }, rules(2, 1));
    let plain = explore(sizes, rules, None).unwrap();
    for wrong in [Wrong::LiftsTooFar, Wrong::LeavesWaiting, Wrong::ShiftsTooFar] {
        let mutated = move |layout: &Layout| -> Option<Box<dyn Canon>> {
            Some(Box::new(Mutated { canon: claims::canon(info, sizes, rules, layout)?, wrong }))
        };
        let found = explore(sizes, rules, Some(&mutated));
        let differs = found
            .map_or(true, |found| (found.verdicts, found.sights) != (plain.verdicts.clone(), plain.sights.clone()));
        assert!(differs, "{wrong:?}");
    }
}
