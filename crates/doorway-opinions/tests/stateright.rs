//! The explorer, which runs the shipped text, finds exactly as many states and steps as
//! hand-written models do.

#[path = "../models/mod.rs"]
mod models;

use doorway_check::sim::World;
use doorway_check::{Explorer, Property, Report, sim, subject};
use doorway_core::k_assignment::anderson_moir_94::Renaming;
use doorway_core::k_exclusion::anderson_moir_94::Chain;
use doorway_core::mutex::lamport_74::Bakery;
use doorway_core::registry::Sizes;
use models::anderson_moir::composed::Composed;
use models::anderson_moir::layout::Layout;
use models::anderson_moir::level::{BoundedLocations, Level, SpinOnQ, UnboundedLocations};
use models::anderson_moir::queue::Queue;

const CONVENTIONS: [(sim::Sections, models::Sections); 2] =
    [(sim::Sections::Merged, models::Sections::Merged), (sim::Sections::Explicit, models::Sections::Explicit)];

fn assert_same(what: &str, ours: &Report, theirs: models::Explored) {
    ours.assert_holds();
    // Stateright counts the initial state among the generated ones.
    assert_eq!((ours.states, ours.edges as usize + 1), (theirs.unique, theirs.generated), "{what}");
    println!("{what}: {} states, {} edges", ours.states, ours.edges);
}

#[test]
fn bakery_has_the_states_of_a_hand_written_model() {
    for (sections, theirs) in CONVENTIONS {
        for (n, passages) in [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1)] {
            let ours = Explorer::new(n)
                .believe_keep(true)
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
                .believe_keep(true)
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

/// The size of a hand-written model of Anderson and Moir's figures, under merged sections.
#[derive(Clone, Copy, Debug)]
struct Instance {
    id: &'static str,
    n: usize,
    k: usize,
    /// The number of passages of each process, or `None` if it never stops.
    passages: Option<u32>,
    states: usize,
    edges: usize,
}

const fn of(id: &'static str, n: usize, k: usize, passages: Option<u32>, states: usize, edges: usize) -> Instance {
    Instance { id, n, k, passages, states, edges }
}

#[rustfmt::skip]
const INSTANCES: &[Instance] = &[
    // Figure 2, to check that the pieces of the other models form the chain above.
    of("am-chain", 2, 1, None, 58, 116),
    of("am-chain", 3, 2, None, 543, 1_629),
    of("am-chain", 3, 1, None, 6_867, 20_601),
    of("am-chain", 3, 1, Some(1), 3_064, 7_404),
    of("am-chain", 4, 2, None, 161_880, 647_520),
    of("am-chain", 2, 2, None, 4, 8),
    // Figure 1.
    of("am-queue", 2, 1, None, 9, 18),
    of("am-queue", 3, 1, None, 31, 93),
    of("am-queue", 3, 2, None, 31, 93),
    of("am-queue", 4, 2, None, 129, 516),
    // Figure 3a.
    of("am-tree", 3, 1, None, 1_882, 5_646),
    of("am-tree", 4, 1, None, 74_296, 297_184),
    of("am-tree", 4, 2, None, 161_880, 647_520),
    // Figure 4, Formulation B: block (min(n,2k),k), slow path an (n,k) tree.
    of("am-fast", 3, 1, Some(1), 9_556, 24_310),
    of("am-fast", 3, 1, None, 46_310, 138_930),
    of("am-fast", 3, 2, None, 36_936, 110_808),
    // Figure 3b, with an exact bounded decrement in one step.
    of("am-graceful", 3, 1, None, 14_046, 42_138),
    of("am-graceful", 4, 1, Some(1), 764_081, 2_510_231),
    // Figure 5, a chain.
    of("am-dsm-unbounded", 2, 1, Some(1), 114, 182),
    of("am-dsm-unbounded", 2, 1, Some(2), 1_683, 2_994),
    of("am-dsm-unbounded", 2, 1, Some(4), 56_479, 104_890),
    of("am-dsm-unbounded", 3, 2, Some(1), 835, 1_968),
    of("am-dsm-unbounded", 3, 2, Some(2), 127_073, 337_842),
    // Figure 6, a chain, and a tree.
    of("am-dsm-chain", 2, 1, None, 25_582, 51_164),
    of("am-dsm-chain", 3, 2, Some(1), 5_329, 14_085),
    of("am-dsm-chain", 3, 1, Some(1), 205_099, 565_956),
    of("am-dsm-tree", 3, 1, Some(1), 59_628, 162_427),
    of("am-dsm-chain", 3, 2, Some(2), 604_757, 1_713_096),
    // Figure 7 over the chain of Figure 2; with k = n over nothing.
    of("names over am-chain", 2, 2, None, 7, 14),
    of("names over am-chain", 3, 3, None, 73, 219),
    of("names over am-chain", 3, 2, None, 1_503, 4_509),
    of("names over am-chain", 4, 3, None, 34_360, 137_440),
    of("names over am-chain", 3, 1, None, 6_867, 20_601),
];

/// Searches the hand-written model.
fn hand_written(&Instance { id, n, k, passages, .. }: &Instance) -> models::Explored {
    fn levels<L: Level>(layout: Layout, passages: Option<u32>) -> models::Explored {
        models::explore(Composed::<L>::new(layout, passages, models::Sections::Merged))
    }
    let (n, k) = (n as u8, k as u8);
    match id {
        "am-queue" => models::explore(Queue { n, k, passages, sections: models::Sections::Merged }),
        "am-chain" => levels::<SpinOnQ>(Layout::chain(n, k), passages),
        "am-tree" => levels::<SpinOnQ>(Layout::tree(n, k), passages),
        "am-fast" => levels::<SpinOnQ>(Layout::fast_path(n, k), passages),
        "am-graceful" => levels::<SpinOnQ>(Layout::nested(n, k), passages),
        "am-dsm-unbounded" => levels::<UnboundedLocations>(Layout::chain(n, k), passages),
        "am-dsm-chain" => levels::<BoundedLocations>(Layout::chain(n, k), passages),
        "am-dsm-tree" => levels::<BoundedLocations>(Layout::tree(n, k), passages),
        "names over am-chain" => levels::<SpinOnQ>(Layout::chain(n, k).with_names(), passages),
        _ => panic!("no hand-written model of {id}"),
    }
}

/// Explores the shipped text. The models do not forget variables that no process watches.
fn shipped(&Instance { id, n, k, passages, .. }: &Instance) -> Report {
    let rules = sim::Rules { forget: false, ..sim::Rules::with_passages(passages) };
    let world = match id {
        "names over am-chain" => World::new(n, rules, |site| Renaming::new(site, k, |inner| Chain::new(inner, n, k))),
        _ => subject::find(id).unwrap().world(Sizes { n, k }, rules),
    };
    Explorer::new(n).believe_keep(true).property(Property::exclusion("k-exclusion", k)).explore(world.unwrap()).unwrap()
}

fn assert_sizes(instances: &[Instance]) {
    for instance in instances {
        let theirs = hand_written(instance);
        // Stateright counts the initial state among the generated ones.
        assert_eq!((theirs.unique, theirs.generated), (instance.states, instance.edges + 1), "{instance:?}");
        assert_same(&format!("{instance:?}"), &shipped(instance), theirs);
    }
}

#[test]
fn the_pieces_make_the_chain_and_the_names_alone() {
    for (_, sections) in CONVENTIONS {
        for (n, k, passages) in
            [(2, 1, None), (3, 2, Some(2)), (3, 1, None), (4, 2, None), (2, 2, None), (2, 5, Some(3))]
        {
            let pieces = Composed::<SpinOnQ>::new(Layout::chain(n, k), passages, sections);
            let whole = models::Chain { n, k, passages, sections };
            assert_eq!(models::explore(pieces), models::explore(whole), "({n},{k}), {passages:?}, {sections:?}");
        }
    }
    for (k, states) in [(2, 20), (3, 308), (4, 6_512)] {
        let names = Composed::<SpinOnQ>::new(Layout::chain(k, k).with_names(), None, models::Sections::Explicit);
        assert_eq!(models::explore(names).unique, states, "{k} names");
    }
}

#[test]
fn figures_of_anderson_and_moir_have_the_states_of_hand_written_models() {
    assert_sizes(INSTANCES);
}
