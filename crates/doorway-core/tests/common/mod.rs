//! What the tests of all papers need.

#![allow(dead_code)] // each test crate uses some of it

use doorway_check::schedule::Runner;
use doorway_check::sim::{Keep, Rules};
use doorway_check::{Explorer, subject};
use doorway_core::registry::Sizes;

/// Explores an algorithm with all its claims; they hold, and there are this many states.
pub(crate) fn explore(id: &str, n: usize, k: usize, passages: Option<u32>, states: usize) {
    let subject = subject::find(id).unwrap();
    let sizes = Sizes { n, k };
    let claims = subject.claims(sizes);
    let rules = Rules::with_passages(passages).for_properties(&claims);
    let report = Explorer::new(n).properties(claims).explore(subject.world(sizes, rules).unwrap()).unwrap();
    report.assert_holds();
    assert_eq!(report.states, states, "{id} ({n},{k})");
}

/// Explores an algorithm without `keep` and with cross-checked `keep`: the verdicts are the same.
pub(crate) fn explore_without_trust(id: &str, n: usize, k: usize, passages: Option<u32>) {
    let subject = subject::find(id).unwrap();
    let sizes = Sizes { n, k };
    for keep in [Keep::Ignored, Keep::CrossChecked] {
        let claims = subject.claims(sizes);
        // What is not trusted to be alike is not trusted to be forgotten either.
        let forget = keep != Keep::Ignored;
        let rules = Rules { passages, keep, forget, ..Rules::default() }.for_properties(&claims);
        let report = Explorer::new(n).properties(claims).explore(subject.world(sizes, rules).unwrap()).unwrap();
        report.assert_holds();
        println!("{id} ({n},{k}) {keep:?}: {} states", report.states);
    }
}

/// A machine to walk by hand.
pub(crate) fn run(id: &str, n: usize, k: usize) -> Runner {
    Runner::new(subject::find(id).unwrap().world(Sizes { n, k }, Rules::default()).unwrap())
}

/// A mutant to walk by hand, at the sizes where it fails.
pub(crate) fn run_mutant(name: &str) -> Runner {
    let subject = subject::find(&format!("mutant:{name}")).unwrap();
    let sizes = subject.sizes(None, None).unwrap();
    Runner::new(subject.world(sizes, Rules::default()).unwrap())
}
