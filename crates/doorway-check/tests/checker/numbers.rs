//! States of seats are compared without some of their numbers, tickets and fences, because these
//! are only counts. The verdicts, and everything that properties can see, are the same with the
//! numbers and without them. If a number that matters is left out, the tests notice.

use doorway_check::property::View;
use doorway_check::replay::Token;
use doorway_check::sim::{Deaths, Layout, Number, Numbers, Phase, Rules, VarId};
use doorway_check::trace::Trace;
use doorway_check::{Explorer, Property, Report, claims, mutants, subject};
use doorway_core::k_assignment::seats::{Slot, Want};
use doorway_core::registry::Sizes;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// What can be seen of a row: nothing; its place among the waiters and whether it is called; or an
/// offer: of which slot, whether of its epoch, of the one before or of an older one, and what is
/// told with it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Row {
    Nothing,
    Waits(usize, bool),
    Offered(usize, u64, u64),
}

/// What can be seen of a process: its phase, its statement, whether it has died, and its slot with
/// the age of its fence.
type Seen = (u8, u16, bool, Option<(u64, u64)>);

/// What can be seen of a state, with numbers counted from what they are compared with.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Sight {
    processes: Vec<Seen>,
    slots: Vec<(Option<usize>, u64)>,
    rows: Vec<Row>,
    bits: u64,
    told: u64,
    /// For what each slot guards: whether the last fence is the owner's, and whether its process is
    /// inside.
    last: Vec<(bool, bool)>,
}

fn sight(v: &View<'_>, Sizes { n, k }: Sizes) -> Sight {
    let slot = |i: usize| v.get_at::<Slot>("slot", i);
    let rows: Vec<Want> = (0..n).map(|seat| v.get_at("want", seat)).collect();
    let older = |t: u64| {
        rows.iter().filter(|row| matches!(row, Want::Waits(other) | Want::Called(other) if *other < t)).count()
    };
    let row = |row: &Want| match *row {
        Want::Waits(t) => Row::Waits(older(t), false),
        Want::Called(t) => Row::Waits(older(t), true),
        Want::Offered { slot: i, fence, news } => Row::Offered(i, (slot(i).fence() - fence).min(2), news.bits()),
        Want::Nothing | Want::Damaged(_) => Row::Nothing,
    };
    let process = |p: usize| {
        let phase = match v.phase(p) {
            Phase::Remainder => 0,
            Phase::Entry => 1,
            Phase::Inside => 2,
            Phase::Exit => 3,
        };
        let has = v.shown::<u64>(p, "name").zip(v.shown::<u64>(p, "fence"));
        let has = has.map(|(i, fence)| (i, slot(i as usize).fence().wrapping_sub(fence)));
        (phase, v.label(p), v.has_crashed(p), has)
    };
    let guarded = v.declares("last", 0);
    let last = |i: usize| (v.get_at::<u64>("last", i) >> 1 == slot(i).fence(), v.get_at::<u64>("last", i) & 1 == 1);
    Sight {
        processes: v.processes().map(process).collect(),
        slots: (0..k).map(|i| (slot(i).owner(), slot(i).news().bits())).collect(),
        rows: rows.iter().map(row).collect(),
        bits: v.get("bits"),
        told: if guarded { v.get("told") } else { 0 },
        last: if guarded { (0..k).map(last).collect() } else { Vec::new() },
    }
}

type Build = dyn Fn(&Layout) -> Option<Box<dyn Numbers>>;

/// How many states there are, which properties hold, and what can be seen.
#[derive(Debug)]
struct Found {
    states: usize,
    verdicts: Vec<(String, Option<bool>)>,
    sights: BTreeSet<Sight>,
}

/// All claims of a text of seats, compared with these numbers, or exactly.
fn explore(id: &str, sizes: Sizes, rules: Rules, numbers: Option<&Build>) -> Found {
    let subject = subject::find(id).unwrap();
    let sights = Arc::new(Mutex::new(BTreeSet::new()));
    let all = Arc::clone(&sights);
    let mut properties = subject.claims(sizes);
    properties.push(Property::always("look", move |v| {
        all.lock().unwrap().insert(sight(v, sizes));
        true
    }));
    let rules = rules.for_properties(&properties);
    let mut world = subject.world(sizes, rules).unwrap();
    if let Some(numbers) = numbers {
        world = world.with_numbers(numbers);
    }
    let report = Explorer::new(sizes.n)
        .believe_keep(true)
        .properties(properties)
        .keep_going(true)
        .max_states(3_000_000)
        .explore(world);
    let report = report.unwrap();
    assert!(report.complete, "{sizes:?} {rules:?}");
    let verdicts = report.verdicts.iter().map(|v| (v.name.to_string(), v.holds)).collect();
    let sights = std::mem::take(&mut *sights.lock().unwrap());
    Found { states: report.states, verdicts, sights }
}

fn shipped(id: &str, sizes: Sizes) -> impl Fn(&Layout) -> Option<Box<dyn Numbers>> + use<> {
    let info = subject::find(id).unwrap().info;
    move |layout| claims::numbers(info, sizes, layout)
}

/// Whether one search saw nothing that the other did not see.
fn sees_no_more(less: &Found, more: &Found) -> bool {
    let unseen = less.sights.difference(&more.sights).next();
    unseen.is_none_or(|sight| panic!("not seen: {sight:#?}"))
}

fn is_exact(sizes: (usize, usize), rules: Rules) {
    is_exact_of("seats", sizes, rules);
}

fn is_exact_of(id: &str, (n, k): (usize, usize), rules: Rules) {
    let sizes = Sizes { n, k };
    let exact = explore(id, sizes, rules, None);
    let alike = explore(id, sizes, rules, Some(&shipped(id, sizes)));
    assert!(alike.states < exact.states, "({n},{k}): {} of {}", alike.states, exact.states);
    assert_eq!(alike.verdicts, exact.verdicts, "({n},{k})");
    assert!(sees_no_more(&exact, &alike) && sees_no_more(&alike, &exact));
}

fn rules(passages: u32, crashes: usize, restarts: usize) -> Rules {
    let deaths = Deaths { restarts, ..Deaths::DEFAULT };
    Rules { crashes, deaths, ..Rules::with_passages(Some(passages)) }
}

#[test]
fn the_same_can_be_seen_while_nobody_dies() {
    is_exact((2, 1), rules(2, 0, 0));
    is_exact((2, 1), rules(3, 0, 0));
    is_exact((2, 2), rules(3, 0, 0));
    is_exact((2, 1), Rules { give_ups: true, ..rules(2, 0, 0) });
    is_exact((3, 1), rules(1, 0, 0));
    is_exact((3, 2), rules(1, 0, 0));
}

#[test]
fn the_same_can_be_seen_after_deaths() {
    is_exact((2, 1), rules(1, 1, 1));
    is_exact((2, 1), rules(2, 1, 0));
    is_exact((2, 2), rules(2, 2, 2));
}

#[test]
#[ignore = "takes some seconds; ci/long-searches.sh runs it"]
fn the_same_can_be_seen_after_a_death_of_three() {
    is_exact((3, 2), rules(1, 1, 0));
}

/// Where every second owner hands its slot over, it matters which fences are even.
#[test]
fn the_same_can_be_seen_where_newcomers_pass() {
    is_exact_of("seats-bypass", (2, 1), rules(3, 0, 0));
    is_exact_of("seats-bypass", (2, 2), rules(3, 0, 0));
    is_exact_of("seats-bypass", (2, 1), Rules { give_ups: true, ..rules(2, 0, 0) });
    is_exact_of("seats-bypass", (2, 1), rules(2, 1, 1));
    is_exact_of("seats-bypass", (3, 2), rules(1, 0, 0));
}

/// Without the numbers, processes that pass for ever have finitely many states, and all that can be
/// seen there can be seen within three passages. But a process that has freed its slot checks again
/// for waiters (23), takes the slot that another has just freed, and so on, as long as another
/// comes back: its exit has no bound.
#[test]
fn passages_need_no_bound() {
    let sizes = Sizes { n: 2, k: 1 };
    let unbounded = explore("seats", sizes, Rules::default(), Some(&shipped("seats", sizes)));
    let three = explore("seats", sizes, rules(3, 0, 0), None);
    assert!(sees_no_more(&three, &unbounded) && sees_no_more(&unbounded, &three));
    assert_eq!(unbounded.verdicts, three.verdicts);
}

/// An exit has no bound if others begin passages without end. The run that shows this loops while
/// fences grow; it can be replayed.
#[test]
fn a_run_whose_numbers_grow_can_be_made_again() {
    let (subject, sizes) = (subject::find("seats").unwrap(), Sizes { n: 2, k: 1 });
    let rules = Rules { alike: true, ..Rules::default() };
    let report = hunt("seats", sizes, rules, Some("bounded-exit"));
    let trace = report.verdict("bounded-exit").trace.as_ref().unwrap();
    assert!(trace.repeats_from.is_some());
    let token = Token::new(&subject, sizes, rules, "bounded-exit", trace);
    assert_eq!(token.replay().unwrap().steps, trace.steps);
    assert_eq!(token.breaks_its_property(), Ok(true));
}

/// A waiting process is let in, however often the others pass.
#[test]
fn waiters_are_let_in_without_a_bound_on_passages() {
    for (n, k) in [(2, 1), (3, 1)] {
        let rules = Rules { alike: true, ..Rules::default() };
        hunt("seats", Sizes { n, k }, rules, Some("every-entry-ends")).assert_holds();
    }
}

/// The number that is forgotten although it matters, or is overlooked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wrong {
    /// Nothing is wrong.
    Nothing,
    /// The order of tickets.
    Tickets,
    /// Whether a fence is the slot's.
    Fences,
    /// Whether a remembered free word is still there.
    FreeWords,
    /// Numbers in what processes keep are misread.
    Kept,
}

#[derive(Debug)]
struct Mutated {
    numbers: Box<dyn Numbers>,
    wrong: Wrong,
}

impl Numbers for Mutated {
    fn in_word(&self, var: VarId, word: u64) -> (u64, Option<Number>) {
        self.numbers.in_word(var, word)
    }
    fn with(&self, var: VarId, word: u64, value: u64) -> u64 {
        self.numbers.with(var, word, value)
    }
    fn in_kept(&self, kept: &str) -> Option<(String, Vec<Number>)> {
        if self.wrong == Wrong::Kept { Some((kept.to_owned(), Vec::new())) } else { self.numbers.in_kept(kept) }
    }
    fn period(&self) -> u64 {
        self.numbers.period()
    }
    fn renumber(&self, numbers: &mut [Number]) {
        self.numbers.renumber(numbers);
        for number in numbers {
            let forgotten = match self.wrong {
                Wrong::Nothing | Wrong::Kept => false,
                Wrong::Tickets => number.of == 0,
                Wrong::Fences => number.of > 0,
                Wrong::FreeWords => number.of > 0 && number.role == 2,
            };
            if forgotten {
                number.value = 0;
            }
        }
    }
}

#[test]
fn numbers_that_matter_are_missed() {
    let (sizes, rules) = (Sizes { n: 2, k: 1 }, rules(2, 1, 0));
    let with = |wrong| {
        let build = move |layout: &Layout| {
            let numbers = shipped("seats", sizes)(layout)?;
            Some(Box::new(Mutated { numbers, wrong }) as Box<dyn Numbers>)
        };
        explore("seats", sizes, rules, Some(&build))
    };
    let exact = explore("seats", sizes, rules, None);
    let same = |found: &Found| found.verdicts == exact.verdicts && found.sights == exact.sights;
    assert!(same(&with(Wrong::Nothing)));
    for wrong in [Wrong::Tickets, Wrong::Fences, Wrong::FreeWords] {
        assert!(!same(&with(wrong)), "{wrong:?}");
    }
    // Local states with overlooked numbers are compared exactly.
    let overlooked = with(Wrong::Kept);
    assert!(same(&overlooked) && overlooked.states > with(Wrong::Nothing).states);
}

/// What a search finds for a fault, for all claims or for this one.
fn hunt(id: &str, sizes: Sizes, rules: Rules, claim: Option<&str>) -> Report {
    let subject = subject::find(id).unwrap();
    let mut claims = if claim.is_some() { subject.askable(sizes) } else { subject.claims(sizes) };
    claims.retain(|known| claim.is_none_or(|claim| known.name() == claim));
    let rules = rules.for_properties(&claims);
    let world = subject.world(sizes, rules).unwrap();
    Explorer::new(sizes.n).believe_keep(true).properties(claims).max_states(3_000_000).explore(world).unwrap()
}

/// Every mutant of seats breaks the same claim, after the same number of steps.
#[test]
fn mutants_are_found_without_the_numbers() {
    for mutant in mutants::ALL.iter().filter(|mutant| mutant.of == "seats" && mutant.run.is_none()) {
        let (n, k) = (mutant.sizes.n, mutant.sizes.k);
        let rules = Rules { alike: true, ..mutant.rules() };
        let report = hunt(&format!("mutant:{}", mutant.name), Sizes { n, k }, rules, None);
        let failure = report.failure().unwrap_or_else(|| panic!("{} survives {} states", mutant.name, report.states));
        let steps = failure.trace.as_ref().map_or(0, Trace::len);
        assert_eq!(Some((&*failure.name, steps)), mutant.fails, "{}", mutant.name);
    }
}

/// Where a fault shows: sizes, passages, crashes, restarts, and a claim that it breaks.
type Case = (&'static str, (usize, usize), u32, usize, usize, &'static str);

const BROKEN: &[Case] = &[
    ("split:3", (2, 1), 1, 0, 0, "k-exclusion"),
    ("split:3", (2, 1), 1, 0, 0, "unique-names"),
    ("drop:23=0", (2, 1), 1, 0, 0, "never-stuck"),
    ("init:slot=1", (2, 1), 1, 0, 0, "k-enter-together"),
    ("drop:19=0", (2, 1), 1, 0, 0, "bounded-exit"),
    ("drop:28", (2, 1), 1, 1, 0, "every-entry-ends"),
    ("drop:28", (2, 1), 1, 1, 0, "deadlock-free"),
    ("drop:27=0", (3, 1), 1, 1, 0, "first-in-first-enabled"),
    ("drop:30", (2, 1), 1, 1, 1, "P1"),
    ("write:19=65542>65538,write:20=98315>98313", (2, 1), 1, 1, 0, "P2"),
    ("bits:slot=16", (2, 1), 2, 1, 0, "P3"),
    ("drop:12", (2, 1), 1, 0, 0, "P4"),
];

/// For each claim, a fault that breaks it does so after the same number of steps, with the numbers
/// and without them.
#[test]
fn every_claim_can_fail_without_the_numbers() {
    let claims = subject::find("seats").unwrap().claims(Sizes { n: 2, k: 1 });
    for claim in &claims {
        assert!(BROKEN.iter().any(|(.., broken)| *broken == claim.name()), "{} is never broken", claim.name());
    }
    for &(fault, (n, k), passages, crashes, restarts, claim) in BROKEN {
        let steps = |alike| {
            let rules = Rules { alike, ..rules(passages, crashes, restarts) };
            let report = hunt(&format!("seats+{fault}"), Sizes { n, k }, rules, Some(claim));
            let verdict = report.verdict(claim);
            assert_eq!(verdict.holds, Some(false), "{fault} does not break {claim}");
            verdict.trace.as_ref().map(Trace::len)
        };
        // What repeats need not be the same cycle.
        let goes_round = claim.ends_with("-free") || ["every-entry-ends", "bounded-exit"].contains(&claim);
        let same = steps(false) == steps(true) || goes_round;
        assert!(same, "{fault}");
    }
}
