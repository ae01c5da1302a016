//! What a page shows of a run is what the machine did.

use doorway_check::replay::{Token, read};
use doorway_check::sim::{Rules, TextError};
use doorway_check::viewer::{self, Record, Recorder};
use doorway_check::{Property, subject};
use doorway_core::registry::{self, CostModel};
use std::collections::BTreeSet;
use std::path::Path;

/// A run with crashes and torn reads.
const TORN: &str = "dw1/dgs-as-printed/2,1/-/c0/safe!/starvation-free/0.1x22.1s1.1s0.1s1.1s0.0x14.1.0s0.0x6.1x4.0s0.1x10.\
                    0s0.1x2.0s0.0x5.1x9.1s0.0x5.1x8.0s0.0s1x2.0.0s0.1x10.0s1.1x2.0s0.0x5.1x9.1s1.0x5.1x8.0s0.0s1x2.0@53/52c2031a";
const STUCK: &str = "dw1/mutant:am-chain-without-7/2,1/-/c0/atomic/never-stuck/0.1x3.0/75250951";
const CRASHES: &str = "dw1/am-chain/3,2/-/c2/atomic/never-stuck/0.0c.1.1c.2x3/69d79a12";

fn record(token: &str) -> Record {
    token.parse::<Token>().unwrap().record().unwrap()
}

#[test]
fn a_record_says_what_the_trace_says() {
    for token in [TORN, STUCK, CRASHES] {
        let (record, trace) = (record(token), token.parse::<Token>().unwrap().replay().unwrap());
        let seen: Vec<_> = record.steps.iter().map(|step| (step.process, step.statement, step.did.clone())).collect();
        let told: Vec<_> = trace.steps.iter().map(|step| (step.process, step.statement, step.did.clone())).collect();
        assert_eq!(seen, told);
        for (p, end) in trace.end.iter().enumerate() {
            let place = record.place(record.steps.len(), p);
            assert_eq!((place.section, place.crashed), (end.section, end.crashed));
        }
    }
}

#[test]
fn waits_crashes_halves_and_lassos_are_there() {
    let stuck = record(STUCK);
    let q = stuck.vars.iter().position(|v| v.name == "slot1.Q").unwrap() as u32;
    assert_eq!(stuck.place(5, 1).waits, Some(vec![q]));
    assert_eq!(stuck.place(4, 0).section, "inside");
    assert_eq!(stuck.property, Some(("never-stuck".to_owned(), true)));
    let never = stuck.claims.iter().position(|claim| claim == "never-stuck").unwrap();
    let judged: String = stuck.steps.iter().filter_map(|step| step.claims.chars().nth(never)).collect();
    assert_eq!(judged, "++++-");

    let crashed = record(CRASHES);
    let kinds: Vec<_> = crashed.steps.iter().map(|step| step.kind).filter(|kind| *kind != "step").collect();
    assert_eq!(kinds, ["crash", "crash"]);

    let torn = record(TORN);
    assert_eq!((torn.steps.len(), torn.repeats_from), (147, Some(53)));
    assert!(torn.steps.iter().any(|step| step.kind == "torn"));
    assert!(torn.steps.iter().any(|step| !step.half.is_empty()));
    assert!(torn.why_fair[0].ends_with("and never gets on"), "{:?}", torn.why_fair);
}

/// Every step is on a line that names a statement, in a file that is there.
#[test]
fn every_statement_has_its_line() {
    for token in [TORN, STUCK, CRASHES] {
        let record = record(token);
        for step in record.steps.iter().filter(|step| step.kind != "crash") {
            let (file, line) = step.line.unwrap();
            let text = record.sources[file].text.lines().nth(line as usize - 1).unwrap();
            assert!(text.contains("at("), "{}:{line}: {text}", record.sources[file].name);
        }
    }
    let chain = record(STUCK);
    let (_, line) = chain.steps[1].line.unwrap();
    assert!(chain.sources[0].text.lines().nth(line as usize - 1).unwrap().contains("p.at(2)"));
}

/// The first lines of every text are known, of algorithms and objects.
#[test]
fn every_text_has_a_source() {
    for info in registry::ALL.iter().chain(registry::OBJECTS) {
        let subject = subject::find(info.id).unwrap();
        let sizes = subject.sizes(None, None).unwrap();
        let world = subject.world(sizes, subject.rules()).unwrap();
        let record = Recorder::new(&world, Vec::new()).unwrap().record(&[], None).unwrap();
        let (file, _) = record.start[0].line.unwrap_or_else(|| panic!("{} has no line", info.id));
        assert!(!record.sources[file].text.is_empty(), "{}: {}", info.id, record.sources[file].name);
    }
}

/// What a process pays in a record is what the machine charges it.
#[test]
fn costs_are_those_of_the_machine() {
    for (id, run) in [
        ("am-chain", "0.1x4.0x2.1x3.2x4.0.1.2x2"),
        ("ya-two", "0x5.1x6.0x4.1x8.0x3"),
        ("mcs", "0x2.1x4.2x3.0x3.1x4.2x2"),
    ] {
        let subject = subject::find(id).unwrap();
        let sizes = subject.sizes(None, None).unwrap();
        let actions = read(run).unwrap();
        let world = subject.world(sizes, Rules::default()).unwrap();
        let record = Recorder::new(&world, Vec::new()).unwrap().record(&actions, None).unwrap();
        assert_eq!(record.steps.len(), actions.len(), "{id}");
        for p in 0..sizes.n {
            let paid = [CostModel::Cc, CostModel::Dsm].map(|model| {
                let rules = Rules { measure: Some((p, model)), ..Rules::default() };
                let mut world = subject.world(sizes, rules).unwrap();
                let mut state = world.initial();
                let mut sum = 0;
                for &action in &actions {
                    sum += world.act(&mut state, action).unwrap().unwrap().cost;
                }
                sum
            });
            assert_eq!(record.cost(actions.len(), p), paid, "{id}: p{p}");
        }
    }
}

#[test]
fn what_a_page_contains_cannot_end_its_script() -> Result<(), TextError> {
    let chain = subject::find("am-chain").unwrap();
    let world = chain.world(chain.sizes(Some(2), Some(1)).unwrap(), Rules::default())?;
    let hostile = "</script><script>alert(1)</script> {{SCRIPTS}} <!--";
    let claims = vec![Property::always(hostile, |_| true)];
    let record = Recorder::new(&world, claims)?.record(&[], None)?.titled(hostile, hostile);
    let page = viewer::page(&record);
    assert!(!page.contains("<script>alert"), "the hostile script became part of the page");
    assert_eq!(page.matches("</script>").count(), 2, "the record and the viewer");
    assert_eq!(page.matches("<title>").count(), 1);
    assert!(!page.contains("src=\"http") && !page.contains("url(http"), "nothing is fetched");
    Ok(())
}

fn files(folder: &Path, root: &Path, into: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, root, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.insert(path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/"));
        }
    }
}

/// The list of sources names every file of the texts.
#[test]
fn no_source_is_missing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../doorway-core/src");
    let mut there = BTreeSet::new();
    for problem in ["k_assignment", "k_exclusion", "mutex", "resilient", "rooms"] {
        files(&root.join(problem), &root, &mut there);
    }
    let listed: BTreeSet<String> = doorway_core::sources::FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(listed, there);
}
