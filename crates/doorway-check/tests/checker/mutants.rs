//! Every seeded fault is noticed, by the property and after the number of steps that the table
//! gives.

use doorway_check::explore::Verdict;
use doorway_check::mutants::Mutant;
use doorway_check::replay::Token;
use doorway_check::sim::{Rules, What};
use doorway_check::subject::Subject;
use doorway_check::trace::Trace;
use doorway_check::{Explorer, Property, Report, claims, leases, mutants, subject};
use doorway_core::memory::Register;
use doorway_core::registry::{self, Sizes};
use std::fmt::Write as _;

fn explore(
    mutant: &Mutant,
    properties: impl FnOnce(&Subject, Sizes) -> Vec<Property>,
) -> (Subject, Sizes, Rules, Report) {
    let subject = subject::find(&format!("mutant:{}", mutant.name)).unwrap();
    let sizes = subject.sizes(None, None).unwrap();
    let properties = properties(&subject, sizes);
    let rules = mutant.rules().for_properties(&properties);
    let world = subject.world(sizes, rules).unwrap();
    let explorer = Explorer::new(sizes.n).believe_keep(true).properties(properties);
    let report = explorer.explore(world).unwrap_or_else(|e| panic!("{}: {e}", mutant.name));
    (subject, sizes, rules, report)
}

fn steps(verdict: &Verdict) -> usize {
    verdict.trace.as_ref().map_or(0, Trace::len)
}

/// Each search answers several questions: does the property of the table fail, does the fault
/// change anything, does the token of the failure replay it, and which claim is the first to
/// notice. If that is the property of the table, one search answers all of them.
///
/// `DOORWAY_BLESS=1 cargo test` writes the table instead of comparing it.
#[test]
fn every_mutant_is_killed_and_every_control_holds_and_the_table_is_up_to_date() {
    let mut table = String::from(
        "| mutant | change | seeded by the memory, or why not | (n, k), passages | breaks | after steps | first claim to \
         notice | after steps |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for mutant in mutants::ALL {
        let mut first = (String::new(), String::new());
        match (mutant.fails, mutant.run) {
            (_, Some(run)) => shows_it(mutant, run),
            (None, None) => {
                let (.., report) = explore(mutant, Subject::claims);
                changes_something(mutant, &report);
                report.assert_holds();
            }
            (Some((property, _)), None) => {
                let noticed = explore(mutant, |subject, sizes| all_claims(mutant, subject.info, sizes));
                let noticed_by = noticed.3.failure();
                first = noticed_by.map(|v| (v.name.to_string(), steps(v).to_string())).unwrap_or_default();
                let answers = noticed_by.is_some_and(|v| v.name == property);
                is_killed(mutant, if answers { noticed } else { explore(mutant, Subject::claims) });
            }
        }
        table += &row(mutant, &first);
    }
    table.extend(leases::Mutant::ALL.iter().map(|mutant| row_of_leases(*mutant)));
    if is_blessed() {
        std::fs::write(MUTANTS, table).unwrap();
    } else {
        let written = std::fs::read_to_string(MUTANTS).unwrap();
        assert!(written == table, "MUTANTS.md is old; run DOORWAY_BLESS=1 cargo test --workspace");
    }
}

/// A row for slots between machines, which have a machine of their own: what their text sends and
/// sees is changed. Its token makes the run again.
fn row_of_leases(mutant: leases::Mutant) -> String {
    let (leases, claim) = mutant.noticed();
    let report = leases.check();
    let failure = report.failure.as_ref().unwrap_or_else(|| panic!("{} survives", mutant.name()));
    assert_eq!(failure.claim, claim, "{}", mutant.name());
    let token = report.token().unwrap();
    let read: leases::Token = token.to_string().parse().unwrap();
    assert_eq!(read, token);
    assert_eq!(read.replay(), Ok((failure.clone(), true)), "{token}");
    assert_eq!(read.repeats_from.is_some(), claim == leases::Claim::Ends, "{token}");
    // The same run is none of the text without the fault.
    let without = token.to_string().replace(&leases.id(), leases::ID);
    let without: leases::Token = without.parse().unwrap();
    assert!(!matches!(without.replay(), Ok((_, true))), "{token}");
    let leases::Leases { n, k, passages, last_tries, faults, .. } = leases;
    let leases::Faults { doubts, pauses, deaths, give_ups, breaks } = faults;
    let names = ["in doubt", "pauses", "deaths", "give-ups", "breaks"];
    let faults = names.into_iter().zip([doubts, pauses, deaths, give_ups, breaks]).filter(|(_, most)| *most > 0);
    let faults: String = faults.map(|(name, most)| format!(", {name}: {most}")).collect();
    let tries = if last_tries { ", one tries" } else { "" };
    let steps = failure.run.len();
    format!(
        "| `{}` | {} | changes what is sent, answered or seen | ({n}, {k}), {passages}{faults}{tries} | {claim} | {steps} | {claim} | {steps} |\n",
        mutant.name(),
        mutant.change()
    )
}

fn changes_something(mutant: &Mutant, report: &Report) {
    let idle = report.faults_without_effect.len();
    assert!(idle == 0 || idle < mutant.faults().all().len(), "{} changes nothing", mutant.name);
}

fn is_killed(mutant: &Mutant, (subject, sizes, rules, report): (Subject, Sizes, Rules, Report)) {
    changes_something(mutant, &report);
    let failure = report.failure().unwrap_or_else(|| panic!("{} survives", mutant.name));
    assert_eq!(Some((&*failure.name, steps(failure))), mutant.fails, "{}", mutant.name);
    happens_again(&subject, sizes, rules, failure);
}

/// A row of the table.
fn row(mutant: &Mutant, (first, earlier): &(String, String)) -> String {
    let (broken, length) = mutant.fails.map_or(("nothing (control)", String::new()), |(p, n)| (p, n.to_string()));
    let passages = mutant.sizes.passages.map_or("unbounded".to_owned(), |p| p.to_string());
    let crashes = if mutant.crashes > 0 { format!(", crashes: {}", mutant.crashes) } else { String::new() };
    let give_ups = if mutant.give_ups { ", give-ups" } else { "" };
    let registers = match mutant.registers {
        Register::Atomic => String::new(),
        weaker => format!(", {weaker} registers"),
    };
    let seeded = match mutant.why_no_memory_seeds_it() {
        Some(why) => why.to_owned(),
        None => format!("`{}`", mutant.faults()),
    };
    format!(
        "| `{}` | {} | {seeded} | ({}, {}), {passages}{crashes}{give_ups}{registers} | {broken} | {length} | {first} | {earlier} |\n",
        mutant.name, mutant.change, mutant.sizes.n, mutant.sizes.k
    )
}

/// The token of a failure, written and read, makes the same run.
fn happens_again(subject: &Subject, sizes: Sizes, rules: Rules, failure: &Verdict) {
    // What never happens has no run.
    let Some(trace) = &failure.trace else { return };
    let token = Token::new(subject, sizes, rules, &failure.name, trace);
    let line = token.to_string();
    assert!(!line.contains(char::is_whitespace), "{line}");
    let read: Token = line.parse().unwrap();
    assert_eq!(read, token);
    let again = read.replay().unwrap_or_else(|stale| panic!("{line}: {stale}"));
    assert_eq!((&again.steps, again.repeats_from), (&trace.steps, trace.repeats_from), "{line}");
    assert_eq!(read.breaks_its_property(), Ok(true), "{line}");
}

/// The run that stands for a long search can happen, and breaks the property.
fn shows_it(mutant: &Mutant, run: &str) {
    let token: Token = run.parse().unwrap();
    assert_eq!(token.id, format!("mutant:{}", mutant.name));
    assert_eq!((&*token.property, token.actions.len()), mutant.fails.unwrap(), "{}", mutant.name);
    assert!(token.actions.iter().filter(|a| a.what == What::Crash).count() <= mutant.crashes);
    token.replay().unwrap();
    assert_eq!(token.breaks_its_property(), Ok(true), "{}", mutant.name);
}

/// A run stands for a search because the search is long. If the search ends with a failure, it is
/// of the same property, after the same number of steps.
#[test]
#[ignore = "takes minutes; ci/long-searches.sh runs it"]
fn searches_find_the_runs_that_stand_for_them() {
    for mutant in mutants::ALL.iter().filter(|mutant| mutant.run.is_some()) {
        let subject = subject::find(&format!("mutant:{}", mutant.name)).unwrap();
        let sizes = subject.sizes(None, None).unwrap();
        let properties = subject.claims(sizes);
        let rules = mutant.rules().for_properties(&properties);
        let world = subject.world(sizes, rules).unwrap();
        let explorer = Explorer::new(sizes.n).believe_keep(true).properties(properties).max_states(5_000_000);
        let report = explorer.explore(world).unwrap();
        match report.failure() {
            Some(failure) => assert_eq!(Some((&*failure.name, steps(failure))), mutant.fails, "{}", mutant.name),
            None => {
                println!("{}: nothing found in {} states, complete: {}", mutant.name, report.states, report.complete);
            }
        }
        assert!(!report.complete || report.failure().is_some(), "{} survives", mutant.name);
    }
}

#[test]
fn most_mutants_are_the_shipped_text_with_a_fault() {
    let rows: Vec<&Mutant> = mutants::ALL.iter().filter(|m| m.why_no_memory_seeds_it().is_none()).collect();
    for mutant in &rows {
        assert_eq!(mutant.faults().to_string().parse(), Ok(mutant.faults()), "{}", mutant.name);
    }
    assert!(100 * rows.len() >= 80 * mutants::ALL.len(), "{} of {} are", rows.len(), mutants::ALL.len());
}

/// A text as printed is its own mutant.
fn has_mutants(info: &registry::Info) -> bool {
    !matches!(info.id, "rooms-as-printed" | "room-dynamic-stack-as-printed")
}

#[test]
fn every_algorithm_has_mutants() {
    for info in registry::ALL.iter().chain(registry::OBJECTS).filter(|info| has_mutants(info)) {
        let killed = mutants::ALL.iter().filter(|m| m.of == info.id && m.fails.is_some()).count();
        assert!(killed >= 3, "{} has {killed} mutants", info.id);
    }
}

/// The mutants' texts cannot drift from the shipped ones: without a fault they have the same states
/// and steps. Processes may give up each wait that can be given up, and the tolerated number of
/// processes may crash.
#[test]
#[ignore = "takes a quarter of a minute; ci/long-searches.sh runs it"]
fn without_a_fault_a_mutant_is_the_shipped_text() {
    let defaults = registry::ALL.iter().filter(|info| !info.can_give_up).map(|info| {
        let sizes = subject::find(info.id).unwrap().sizes(None, None).unwrap();
        (info, sizes, Rules::with_passages(info.defaults.passages))
    });
    let abortable = registry::ALL.iter().filter(|info| info.can_give_up);
    let small = abortable.flat_map(|info| {
        [(2, 1, None), (2, 2, None), (3, 1, Some(1))].map(|(n, k, passages)| {
            let crashes = if info.id == "turnstile-many" { 0 } else { k - 1 };
            (info, Sizes { n, k }, Rules { crashes, give_ups: true, ..Rules::with_passages(passages) })
        })
    });
    let objects = registry::OBJECTS.iter().filter(|info| has_mutants(info)).flat_map(|info| {
        let give_ups = [false, true].into_iter().filter(|&gives_up| !gives_up || info.can_give_up);
        // Not less than it needs to grow.
        let sizes = Sizes { n: 2, k: info.defaults.k };
        give_ups.map(move |give_ups| (info, sizes, Rules { give_ups, ..Rules::with_passages(info.defaults.passages) }))
    });
    for (info, sizes, rules) in defaults.chain(small).chain(objects) {
        let subject = subject::find(info.id).unwrap();
        let rules = rules.for_properties(&claims::of(info, sizes));
        let explore = |world| {
            let report =
                Explorer::new(sizes.n).believe_keep(true).properties(claims::of(info, sizes)).explore(world).unwrap();
            report.assert_holds();
            (report.states, report.edges)
        };
        let Some(copy) = mutants::without_fault(info.id, sizes, rules) else { continue };
        let shipped = explore(subject.world(sizes, rules).unwrap());
        assert_eq!(shipped, explore(copy.unwrap()), "{}", info.id);
    }
}

/// What can be checked of a mutant: not claims about variables that it does not declare.
fn all_claims(mutant: &Mutant, info: &registry::Info, sizes: Sizes) -> Vec<Property> {
    if mutant.has_its_variables() { claims::of(info, sizes) } else { claims::of_the_problem(info, sizes) }
}

const MUTANTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/MUTANTS.md");
const CLAIMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/CLAIMS.md");

fn is_blessed() -> bool {
    std::env::var_os("DOORWAY_BLESS").is_some()
}

/// The rows of a table, without its head; cells as they read.
fn rows(path: &str) -> Vec<Vec<String>> {
    let table = std::fs::read_to_string(path).unwrap_or_default();
    let cells = |row: &str| -> Vec<String> {
        row.trim_matches('|').split(" | ").map(|cell| cell.trim_matches([' ', '`']).to_owned()).collect()
    };
    table.lines().skip(2).map(cells).collect()
}

/// The claims that fail on this mutant, within this many states.
fn that_fail<'a>(mutant: &Mutant, info: &registry::Info, claims: &[&'a str], states: usize) -> Vec<&'a str> {
    let subject = subject::find(&format!("mutant:{}", mutant.name)).unwrap();
    let sizes = subject.sizes(None, None).unwrap();
    let search = |keep_going: bool| {
        let mut asked = all_claims(mutant, info, sizes);
        asked.retain(|claim| claims.contains(&claim.name()));
        let rules = mutant.rules().for_properties(&asked);
        let explorer =
            Explorer::new(sizes.n).believe_keep(true).properties(asked).keep_going(keep_going).max_states(states);
        explorer.explore(subject.world(sizes, rules).unwrap())
    };
    let fails =
        |report: &Report, claim: &str| report.verdicts.iter().any(|v| v.name == claim && v.holds == Some(false));
    // A text with a fault may reach a point where it cannot go on; a failure before that counts.
    let reports = [claims.len() > 1, claims.len() == 1].into_iter().filter_map(|keep_going| search(keep_going).ok());
    let failing =
        reports.map(|report| claims.iter().copied().filter(|claim| fails(&report, claim)).collect::<Vec<_>>());
    failing.into_iter().find(|failing| !failing.is_empty()).unwrap_or_default()
}

/// A check that cannot fail proves nothing: each claim fails on some mutant of its algorithm.
/// CLAIMS.md says on which. Those that the test above sees fail are not searched again.
/// `DOORWAY_BLESS=1` searches for them anew.
#[test]
fn every_claim_is_seen_to_fail() {
    let first_to_notice: Vec<(String, String)> =
        rows(MUTANTS).into_iter().map(|row| (row[0].clone(), row[6].clone())).collect();
    let known = if is_blessed() { Vec::new() } else { rows(CLAIMS) };
    let mut table = String::from("| algorithm | claim | fails on |\n| --- | --- | --- |\n");
    let mut unseen = Vec::new();
    for info in registry::ALL.iter().chain(registry::OBJECTS).filter(|info| has_mutants(info)) {
        let all = || mutants::ALL.iter().filter(|m| m.of == info.id);
        let seen_above = |claim: &str| {
            let is_noticed = |m: &&Mutant| {
                m.fails.is_some_and(|(property, _)| property == claim)
                    || first_to_notice.iter().any(|(name, first)| first == claim && m.name == name)
            };
            all().find(is_noticed)
        };
        let mut found: Vec<(&str, &Mutant)> =
            info.properties.iter().filter_map(|claim| Some((*claim, seen_above(claim)?))).collect();
        let missing = |found: &[(&str, &Mutant)]| -> Vec<&'static str> {
            info.properties.iter().copied().filter(|claim| found.iter().all(|(seen, _)| seen != claim)).collect()
        };
        for row in known.iter().filter(|row| row[0] == info.id) {
            let mutant = all().find(|m| m.name == row[2]);
            let asked = missing(&found).into_iter().find(|claim| *claim == row[1]);
            let Some((mutant, claim)) = mutant.zip(asked) else { continue };
            found.extend(that_fail(mutant, info, &[claim], 700_000).into_iter().map(|claim| (claim, mutant)));
        }
        // Most show at once. For the others a long search is worth it.
        let efforts = if is_blessed() { &[20_000, 700_000][..] } else { &[] };
        for (mutant, &states) in efforts.iter().flat_map(|states| all().map(move |m| (m, states))) {
            let missing = missing(&found);
            if missing.is_empty() {
                break;
            }
            found.extend(that_fail(mutant, info, &missing, states).into_iter().map(|claim| (claim, mutant)));
        }
        for claim in info.properties {
            match found.iter().find(|(seen, _)| seen == claim) {
                Some((_, mutant)) => drop(writeln!(table, "| `{}` | {claim} | `{}` |", info.id, mutant.name)),
                None => unseen.push((info.id, *claim)),
            }
        }
    }
    for claim in leases::Claim::ALL {
        match leases::Mutant::ALL.iter().find(|mutant| mutant.noticed().1 == *claim) {
            Some(mutant) => drop(writeln!(table, "| `{}` | {claim} | `{}` |", leases::ID, mutant.name())),
            None => unseen.push((leases::ID, claim.name())),
        }
    }
    assert!(
        unseen.is_empty(),
        "these fail on no mutant: {unseen:?}; if CLAIMS.md is old, run DOORWAY_BLESS=1 cargo test --workspace"
    );
    if is_blessed() {
        std::fs::write(CLAIMS, table).unwrap();
    }
}
