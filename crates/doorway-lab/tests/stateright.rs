//! The explorer, which runs the shipped text, finds exactly as many states and steps as hand-written models do.

#[path = "../models/mod.rs"]
mod models;

use doorway_check::{Explorer, Property, Report, sim};
use doorway_core::k_exclusion::anderson_moir_94::Chain;
use doorway_core::mutex::lamport_74::Bakery;

const CONVENTIONS: [(sim::Sections, models::Sections); 2] =
    [(sim::Sections::Merged, models::Sections::Merged), (sim::Sections::Explicit, models::Sections::Explicit)];

fn assert_same(what: &str, ours: &Report, theirs: models::Explored) {
    ours.assert_holds();
    // Stateright counts the initial state among those it generated.
    assert_eq!((ours.states, ours.edges as usize + 1), (theirs.unique, theirs.generated), "{what}");
    println!("{what}: {} states, {} edges", ours.states, ours.edges);
}

#[test]
fn bakery_has_the_states_of_a_hand_written_model() {
    for (sections, theirs) in CONVENTIONS {
        for (n, passages) in [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1)] {
            let ours = Explorer::new(n)
                .passages(passages)
                .sections(sections)
                .property(Property::exclusion("mutual-exclusion", 1))
                .run(|site| Bakery::new(site, n))
                .unwrap();
            let model = models::Bakery { n: n as u8, passages, sections: theirs };
            assert_same(&format!("bakery n={n}, {passages} passages, {sections:?}"), &ours, models::explore(model));
        }
    }
}

#[test]
fn chain_has_the_states_of_a_hand_written_model() {
    let unbounded = [(2, 1), (3, 2), (3, 1), (4, 3), (4, 2), (2, 2), (3, 3), (2, 5)].map(|(n, k)| (n, k, None));
    let bounded = [(2, 1, 1), (2, 1, 3), (3, 2, 2), (3, 1, 1), (2, 2, 2), (2, 5, 3)].map(|(n, k, p)| (n, k, Some(p)));
    for (sections, theirs) in CONVENTIONS {
        for (n, k, passages) in unbounded.into_iter().chain(bounded) {
            let ours = Explorer::new(n)
                .passages(passages)
                .sections(sections)
                .property(Property::exclusion("k-exclusion", k))
                .run(|site| Chain::new(site, n, k))
                .unwrap();
            let model = models::Chain { n: n as u8, k: k as u8, passages, sections: theirs };
            let what = format!("chain ({n},{k}), passages {passages:?}, {sections:?}");
            assert_same(&what, &ours, models::explore(model));
        }
    }
}
