//! Remote references: the exact figures, and that the adversary finds them where nothing can be searched.

use doorway_check::adversary::{Hunt, Method};
use doorway_check::explore::Worst;
use doorway_check::sim::Rules;
use doorway_check::{Explorer, subject};
use doorway_core::registry::CostModel::{self, Cc, CcExclusive, CcWriteBack, Dsm};
use doorway_core::registry::Sizes;

/// The exact worst passage over all processes.
fn worst(id: &str, (n, k): (usize, usize), model: CostModel, contention: usize) -> Worst {
    let subject = subject::find(id).unwrap();
    let sizes = Sizes { n, k };
    let of = |p| {
        let rules = Rules { measure: Some((p, model)), ..Rules::with_passages(subject.defaults().passages) };
        let passage = Explorer::new(n).worst_passage(subject.world(sizes, rules).unwrap(), contention).unwrap();
        assert!(passage.complete);
        let claimed = subject.info.bound(model).and_then(|b| b.at(sizes, contention));
        assert!(claimed.is_none_or(|c| passage.worst <= Worst::Bounded(c)), "{id} ({n},{k}) {model:?}: {passage:?}");
        passage.worst
    };
    (0..n).map(of).max().unwrap()
}

#[test]
fn theorem_1_is_reached_and_never_exceeded() {
    for (n, k) in [(2, 1), (3, 2), (3, 1), (4, 3)] {
        let levels = (n - k) as u64;
        assert_eq!(worst("am-chain", (n, k), Cc, n), Worst::Bounded(7 * levels), "({n},{k})");
        assert_eq!(worst("am-chain", (n, k), CcWriteBack, n), Worst::Bounded(6 * levels), "({n},{k})");
        assert_eq!(worst("am-chain", (n, k), CcWriteBack, k), Worst::Bounded(3 * levels), "({n},{k}), c = k");
    }
    assert_eq!(worst("am-chain", (3, 1), CcWriteBack, 2), Worst::Bounded(9));
    assert_eq!(worst("am-chain", (2, 5), Cc, 2), Worst::Bounded(0));
}

#[test]
fn the_fast_path_costs_what_was_computed_by_hand() {
    assert_eq!([1, 2].map(|c| worst("am-fast", (3, 1), CcWriteBack, c)), [Worst::Bounded(5), Worst::Bounded(14)]);
    assert_eq!(worst("am-fast", (2, 1), Cc, 1), Worst::Bounded(5));
}

#[test]
fn two_processes_pay_ten_at_most_and_five_alone() {
    assert_eq!([1, 2].map(|c| worst("ya-two", (2, 1), Dsm, c)), [Worst::Bounded(5), Worst::Bounded(10)]);
    assert_eq!([1, 2].map(|c| worst("ya-two", (2, 1), CcWriteBack, c)), [Worst::Bounded(5), Worst::Bounded(11)]);
    assert_eq!(worst("ya-two", (2, 1), CcExclusive, 2), Worst::Bounded(11));
}

#[test]
fn who_spins_on_remote_memory_is_caught() {
    for (id, sizes, model) in
        [("tas", (2, 1), Cc), ("tas", (2, 1), Dsm), ("bakery", (2, 1), Dsm), ("am-chain", (2, 1), Dsm)]
    {
        assert_eq!(worst(id, sizes, model, sizes.0), Worst::Unbounded, "{id} {model:?}");
    }
    // The witness is a cycle within a passage.
    let subject = subject::find("am-chain").unwrap();
    let rules = Rules { measure: Some((0, Dsm)), ..Rules::default() };
    let world = subject.world(Sizes { n: 2, k: 1 }, rules).unwrap();
    let trace = Explorer::new(2).worst_passage(world, 2).unwrap().trace.unwrap();
    assert!(trace.repeats_from.is_some(), "{trace}");
}

#[test]
fn the_worst_passage_comes_with_a_run_that_shows_it() {
    let subject = subject::find("am-chain").unwrap();
    let rules = Rules { measure: Some((1, Cc)), ..Rules::default() };
    let passage = Explorer::new(2).worst_passage(subject.world(Sizes { n: 2, k: 1 }, rules).unwrap(), 2).unwrap();
    let trace = passage.trace.unwrap();
    assert!(trace.steps.last().is_some_and(|s| s.process == 1 && s.now == Some("remainder")), "{trace}");
}

fn hunt(id: &str, (n, k): (usize, usize), model: CostModel, contention: usize, seed: u64) -> Worst {
    let subject = subject::find(id).unwrap();
    let hunt = Hunt {
        model,
        contention,
        method: Method::Adversary,
        runs: 12,
        passages: 3,
        steps: 2_000_000,
        enough: None,
        seed,
    };
    hunt.on(|| subject.world(Sizes { n, k }, Rules::default())).unwrap().worst
}

#[test]
fn the_adversary_reaches_the_theorems_at_large_sizes() {
    assert_eq!(hunt("am-chain", (64, 8), Cc, 64, 1), Worst::Bounded(7 * 56));
    assert_eq!(hunt("am-chain", (64, 2), Cc, 64, 1), Worst::Bounded(7 * 62));
    assert_eq!(hunt("am-chain", (64, 8), CcWriteBack, 8, 1), Worst::Bounded(3 * 56));
    // One less than the bound: what it reaches of the write-back count.
    assert!(hunt("am-chain", (64, 8), CcWriteBack, 64, 1) >= Worst::Bounded(6 * 56 - 1));
    assert_eq!(hunt("ya-two", (2, 1), Dsm, 2, 1), Worst::Bounded(10));
    assert_eq!(hunt("tas", (64, 1), Cc, 64, 1), Worst::Unbounded);
    assert_eq!(hunt("bakery", (16, 1), Dsm, 16, 1), Worst::Unbounded);
}

#[test]
fn the_adversary_agrees_with_exhaustive_search_at_small_sizes() {
    for (n, k) in [(2, 1), (3, 2), (3, 1), (4, 3)] {
        for seed in 0..5 {
            let found = hunt("am-chain", (n, k), Cc, n, seed);
            assert_eq!(found, Worst::Bounded(7 * (n - k) as u64), "({n},{k}), seed {seed}");
        }
    }
}
