//! An interrupted search goes on where it ended, and has the result of a search that was never
//! interrupted. A file that was changed is an error. A search with bits proves nothing.

use doorway_check::explore::Stop;
use doorway_check::sim::{Rules, TextError};
use doorway_check::{Explorer, Property, Report, subject};
use doorway_core::registry::Sizes;
use std::cell::Cell;
use std::path::{Path, PathBuf};

/// A file of this test alone, which is removed in the end.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("doorway-saved-{}-{name}", std::process::id())))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// What is decided on states and steps, not on the whole graph.
fn claims(id: &str, sizes: Sizes) -> Vec<Property> {
    let mut claims = subject::find(id).unwrap().claims(sizes);
    claims.retain(|property| !property.needs_graph());
    claims
}

fn explore(id: &str, n: usize, rules: Rules, with: impl FnOnce(Explorer<'static>) -> Explorer<'static>) -> Report {
    try_explore(id, n, rules, with).unwrap()
}

fn try_explore(
    id: &str,
    n: usize,
    rules: Rules,
    with: impl FnOnce(Explorer<'static>) -> Explorer<'static>,
) -> Result<Report, TextError> {
    let sizes = Sizes { n, k: 1 };
    let claims = claims(id, sizes);
    let world = subject::find(id).unwrap().world(sizes, rules.for_properties(&claims)).unwrap();
    // An interruption would end the check of `keep`, too.
    with(Explorer::new(n).compare_keep(0).properties(claims).keep_going(true)).explore(world)
}

/// What a resumed search must agree on. It runs fewer texts, because it does not try all steps
/// again.
fn result(report: &Report) -> String {
    format!("{} {} {} {:?} {:?}", report.states, report.expanded, report.edges, report.stop, report.verdicts)
}

#[test]
fn a_resumed_search_has_the_result_of_one_that_never_ended() {
    let deaths = Rules { crashes: 1, alike: true, ..Rules::with_passages(Some(1)) };
    for (id, n, rules) in [
        ("am-chain", 3, Rules::default()),
        ("seats", 2, deaths),
        ("turnstile", 2, Rules::default()),
        ("mutant:bakery-breaks-no-ties", 3, Rules::with_passages(Some(1))),
    ] {
        let whole = explore(id, n, rules, |search| search);
        let file = Temporary::new(&format!("resumed-{n}-{}", id.replace(':', "-")));
        // By a limit on states, then by interruptions at any step, one after the other.
        let most = whole.states / 3;
        let first = explore(id, n, rules, |search| search.max_states(most).save(file.0.clone()));
        assert_eq!(first.stop, Some(Stop::States), "{id}");
        let mut rounds = 0;
        let last = loop {
            let left = Cell::new(whole.edges / 7);
            let enough = move || left.replace(left.get().saturating_sub(1)) == 0;
            let report = explore(id, n, rules, |search| {
                search.threads(2).resume(file.0.clone()).save(file.0.clone()).stop_when(enough)
            });
            if report.stop != Some(Stop::Interrupted) {
                break report;
            }
            rounds += 1;
        };
        assert!(rounds > 1, "{id} was interrupted");
        assert_eq!(result(&last), result(&whole), "{id}");
    }
}

#[test]
fn a_file_that_is_not_as_it_was_written_is_an_error() {
    let file = Temporary::new("damaged");
    explore("am-chain", 3, Rules::default(), |search| search.max_states(2000).save(file.0.clone()));
    let written = std::fs::read(&file.0).unwrap();
    let resume = |n: usize, rules: Rules| try_explore("am-chain", n, rules, |search| search.resume(file.0.clone()));
    assert!(resume(3, Rules::default()).is_ok_and(|report| report.complete));
    let is_refused = |bytes: &[u8]| {
        std::fs::write(&file.0, bytes).unwrap();
        matches!(resume(3, Rules::default()), Err(TextError::Saved(_)))
    };
    for len in [0, 1, 15, 16, 24, 31, 32, 40, written.len() / 2, written.len() - 1] {
        assert!(is_refused(&written[..len]), "cut to {len} bytes");
    }
    for at in (0..written.len()).step_by(written.len() / 40) {
        let mut changed = written.clone();
        changed[at] ^= 4;
        assert!(is_refused(&changed), "byte {at} changed");
    }
    assert!(is_refused(&[&written[..], b"more"].concat()));
    std::fs::write(&file.0, &written).unwrap();
    assert!(matches!(resume(2, Rules::default()), Err(TextError::Saved(_))), "another search");
    assert!(matches!(resume(3, Rules::with_passages(Some(1))), Err(TextError::Saved(_))), "other rules");
    let nowhere =
        try_explore("am-chain", 3, Rules::default(), |search| search.resume(Path::new("/nowhere").to_owned()));
    assert!(matches!(nowhere, Err(TextError::Saved(_))));
}

/// Otherwise a long search would be lost at its end.
#[test]
fn a_file_that_cannot_be_written_is_refused_before_the_search() {
    let looked = Cell::new(false);
    let am_chain = subject::find("am-chain").unwrap();
    let refused = Explorer::new(3)
        .property(Property::exclusion("k-exclusion", 1))
        .save(Path::new("/nowhere/file").to_owned())
        .stop_when(|| looked.replace(true))
        .explore(am_chain.world(Sizes { n: 3, k: 1 }, Rules::default()).unwrap());
    assert!(matches!(refused, Err(TextError::Saved(_))), "{refused:?}");
    assert!(!looked.get(), "it has begun");
}

/// The sum is right, but the file says that more states were explored than were.
#[test]
fn a_forged_file_is_an_error() {
    let file = Temporary::new("forged");
    explore("am-chain", 3, Rules::default(), |search| search.max_states(2000).save(file.0.clone()));
    let mut bytes = std::fs::read(&file.0).unwrap();
    // After the head: the number of states, and of those explored, in two bytes each.
    let states = [bytes[24], bytes[25]];
    assert!(states[0] >= 0x80 && states[1] < 0x80 && bytes[26] >= 0x80);
    bytes[26..28].copy_from_slice(&states);
    let end = bytes.len() - 8;
    let sum = bytes[..end]
        .iter()
        .fold(0xcbf2_9ce4_8422_2325u64, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
    std::fs::write(&file.0, &bytes).unwrap();
    let resumed = try_explore("am-chain", 3, Rules::default(), |search| search.resume(file.0.clone()));
    assert!(matches!(resumed, Err(TextError::Saved(_))), "{resumed:?}");
}

#[test]
fn what_needs_the_graph_is_not_saved() {
    let file = Temporary::new("graph");
    let search = Explorer::new(2).property(Property::starvation_free("starvation-free")).save(file.0.clone());
    let chain = subject::find("am-chain").unwrap().world(Sizes { n: 2, k: 1 }, Rules::default()).unwrap();
    assert!(matches!(search.explore(chain), Err(TextError::Saved(_))));
}

#[test]
fn bits_of_states_find_failures_and_prove_nothing() {
    let whole = explore("am-chain", 3, Rules::default(), |search| search);
    for threads in [1, 2] {
        let bits = explore("am-chain", 3, Rules::default(), |search| search.bitstate(1 << 20).threads(threads));
        assert_eq!((bits.stop, bits.complete), (Some(Stop::Bits), false));
        assert_eq!(bits.states, whole.states, "with enough bits no state is taken for another");
        assert!(bits.coverage.unwrap() > 0.999);
        let sure = bits.verdicts.iter().all(|v| v.holds != Some(true) || v.trace.is_some());
        assert!(sure, "only what happened in a run is decided: {:?}", bits.verdicts);
        let few = explore("am-chain", 3, Rules::default(), |search| search.bitstate(512).threads(threads));
        assert!(few.states < whole.states && few.coverage.unwrap() < 0.9, "{} {:?}", few.states, few.coverage);
    }
    let id = "mutant:bakery-breaks-no-ties";
    let rules = Rules::with_passages(Some(1));
    let found = |report: Report| report.failure().unwrap().trace.as_ref().unwrap().actions.clone();
    let exact = found(explore(id, 3, rules, |search| search.keep_going(false)));
    let bits = found(explore(id, 3, rules, |search| search.keep_going(false).bitstate(1 << 22)));
    assert_eq!(exact, bits);
}
