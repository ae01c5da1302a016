//! Remote references: the exact figures, and that the adversary finds them where the graph is too
//! large to search.

use doorway_check::adversary::{Hunt, Method};
use doorway_check::explore::Worst;
use doorway_check::sim::{Part, Rules, Sim, SimCell, SimVar, TextError, World};
use doorway_check::{Explorer, subject};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Process, Site};
use doorway_core::registry::CostModel::{self, Cc, CcExclusive, CcWriteBack, Dsm};
use doorway_core::registry::Sizes;
use std::convert::Infallible;
use std::rc::Rc;

/// The exact worst passage over all processes, for each number of competitors: one search for all
/// of them.
fn worst<const N: usize>(id: &str, (n, k): (usize, usize), model: CostModel, contentions: [usize; N]) -> [Worst; N] {
    let subject = subject::find(id).unwrap();
    let sizes = Sizes { n, k };
    let mut worst = [Worst::Bounded(0); N];
    for p in 0..n {
        let rules = Rules { measure: Some((p, model)), ..Rules::with_passages(subject.defaults().passages) };
        let world = subject.world(sizes, rules).unwrap();
        let passages = Explorer::new(n).believe_keep(true).worst_passages(world, &contentions).unwrap();
        for ((passage, contention), worst) in passages.iter().zip(contentions).zip(&mut worst) {
            assert!(passage.complete);
            let claimed = subject.info.bound(model).and_then(|b| b.at(sizes, contention));
            let exceeds = claimed.is_some_and(|c| passage.worst > Worst::Bounded(c));
            assert!(!exceeds, "{id} ({n},{k}) {model:?}: {passage:?}");
            *worst = passage.worst.max(*worst);
        }
    }
    worst
}

#[test]
fn theorem_1_is_reached_and_never_exceeded() {
    for (n, k) in [(2, 1), (3, 2), (3, 1), (4, 3)] {
        let levels = (n - k) as u64;
        assert_eq!(worst("am-chain", (n, k), Cc, [n]), [7 * levels].map(Worst::Bounded), "({n},{k})");
        let written_back = worst("am-chain", (n, k), CcWriteBack, [n, k]);
        assert_eq!(written_back, [6 * levels, 3 * levels].map(Worst::Bounded), "({n},{k})");
    }
    assert_eq!(worst("am-chain", (3, 1), CcWriteBack, [2]), [Worst::Bounded(9)]);
    assert_eq!(worst("am-chain", (2, 5), Cc, [2]), [Worst::Bounded(0)]);
}

#[test]
fn the_fast_path_costs_what_was_computed_by_hand() {
    assert_eq!(worst("am-fast", (3, 1), CcWriteBack, [1, 2, 3]), [5, 17, 17].map(Worst::Bounded));
    assert_eq!(worst("am-fast", (2, 1), Cc, [1]), [Worst::Bounded(5)]);
    assert_eq!(worst("am-graceful", (3, 1), CcWriteBack, [1, 2, 3]), [5, 10, 13].map(Worst::Bounded));
}

#[test]
fn two_processes_pay_ten_at_most_and_five_alone() {
    assert_eq!(worst("ya-two", (2, 1), Dsm, [1, 2]), [5, 10].map(Worst::Bounded));
    assert_eq!(worst("ya-two", (2, 1), CcWriteBack, [1, 2]), [5, 11].map(Worst::Bounded));
    assert_eq!(worst("ya-two", (2, 1), CcExclusive, [2]), [Worst::Bounded(11)]);
    assert_eq!(worst("ya-tree", (3, 1), Dsm, [1, 3]), [10, 20].map(Worst::Bounded));
    // Alone, but with the path left closed; and the worst of all.
    assert_eq!(worst("ya-fast", (2, 1), Dsm, [1, 2]), [17, 26].map(Worst::Bounded));
}

#[test]
fn the_queue_locks_pay_a_constant() {
    the_queue_locks_pay(2..=3);
}

#[test]
#[ignore = "takes some seconds; ci/long-searches.sh runs it"]
fn four_processes_pay_the_queue_locks_the_same() {
    the_queue_locks_pay(4..=4);
}

fn the_queue_locks_pay(processes: std::ops::RangeInclusive<usize>) {
    for n in processes {
        for (model, at_most, alone) in [(Cc, 10, 4), (CcWriteBack, 8, 3), (Dsm, 4, 2)] {
            let swap = at_most + 1;
            assert_eq!(worst("mcs", (n, 1), model, [n, 1]), [at_most, alone].map(Worst::Bounded), "N = {n}");
            assert_eq!(worst("mcs-swap", (n, 1), model, [n, 1]), [swap, alone].map(Worst::Bounded), "N = {n}");
        }
        for model in [Cc, CcWriteBack] {
            let array = worst("anderson-array", (n, 1), model, [n, 1]);
            assert_eq!(array, [5, 4].map(Worst::Bounded), "N = {n}");
            // A process that waits for its ticket looks again after each exit.
            let ticket = worst("ticket", (n, 1), model, [1, 2, n - 1, n]);
            assert_eq!(ticket, [1, 2, n - 1, n].map(|c| Worst::Bounded(c as u64 + 2)), "N = {n}");
        }
    }
    assert_eq!(worst("peterson-fischer", (2, 1), Cc, [1, 2]), [3, 8].map(Worst::Bounded));
}

#[test]
fn trees_of_two_process_mutexes_pay_for_each_level() {
    for (id, most, cached, written_back, alone) in [("peterson-tree", 4, 7, 6, 4), ("kessels-tree", 3, 8, 8, 5)] {
        for n in 2..=most {
            let levels = if n == 2 { 1 } else { 2 };
            for (model, at_most) in [(Cc, cached), (CcWriteBack, written_back)] {
                let paid = worst(id, (n, 1), model, [n, 1]);
                assert_eq!(paid, [at_most * levels, alone * levels].map(Worst::Bounded), "{id}, N = {n}");
            }
            // A waiting process looks at variables without a home.
            assert_eq!(worst(id, (n, 1), Dsm, [1, n]), [Worst::Bounded(alone * levels), Worst::Unbounded]);
        }
    }
}

#[test]
fn alone_lamports_fast_mutex_makes_seven_accesses_whoever_else_there_is() {
    (1..=3).for_each(alone_it_makes_seven_accesses);
}

#[test]
#[ignore = "takes a quarter of a minute; ci/long-searches.sh runs it"]
fn alone_lamports_fast_mutex_makes_seven_accesses_among_four() {
    alone_it_makes_seven_accesses(4);
}

/// Two of them are to its own memory.
fn alone_it_makes_seven_accesses(n: usize) {
    for (model, accesses) in [(Cc, 7), (Dsm, 5)] {
        assert_eq!(worst("lamport-fast", (n, 1), model, [1]), [Worst::Bounded(accesses)], "N = {n}");
    }
}

#[test]
fn spinning_on_remote_memory_is_caught() {
    let rivals = ["ticket", "anderson-array", "peterson-fischer"].map(|id| (id, (2, 1), Dsm));
    let retry = ["tas-backoff", "lamport-fast"].map(|id| [Cc, Dsm].map(|model| (id, (2, 1), model)));
    let others = [("tas", (2, 1), Cc), ("tas", (2, 1), Dsm), ("bakery", (2, 1), Dsm), ("am-chain", (2, 1), Dsm)];
    for (id, sizes, model) in others.into_iter().chain(rivals).chain(retry.into_iter().flatten()) {
        assert_eq!(worst(id, sizes, model, [sizes.0]), [Worst::Unbounded], "{id} {model:?}");
    }
    // The witness is a cycle within a passage.
    let subject = subject::find("am-chain").unwrap();
    let rules = Rules { measure: Some((0, Dsm)), ..Rules::default() };
    let world = subject.world(Sizes { n: 2, k: 1 }, rules).unwrap();
    let trace = Explorer::new(2).believe_keep(true).worst_passage(world, 2).unwrap().trace.unwrap();
    assert!(trace.repeats_from.is_some(), "{trace}");
}

#[test]
fn the_worst_passage_comes_with_a_run_that_shows_it() {
    let subject = subject::find("am-chain").unwrap();
    let rules = Rules { measure: Some((1, Cc)), ..Rules::default() };
    let passage = Explorer::new(2)
        .believe_keep(true)
        .worst_passage(subject.world(Sizes { n: 2, k: 1 }, rules).unwrap(), 2)
        .unwrap();
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
    hunt.on(|| subject.world(Sizes { n, k }, Rules { sparse: true, ..Rules::default() })).unwrap().worst
}

#[test]
fn the_adversary_reaches_the_theorems_at_large_sizes() {
    assert_eq!(hunt("am-chain", (64, 8), Cc, 64, 1), Worst::Bounded(7 * 56));
    assert_eq!(hunt("am-chain", (64, 2), Cc, 64, 1), Worst::Bounded(7 * 62));
    assert_eq!(hunt("am-chain", (64, 8), CcWriteBack, 8, 1), Worst::Bounded(3 * 56));
    // One less than the bound: the most it finds with the write-back count.
    assert!(hunt("am-chain", (64, 8), CcWriteBack, 64, 1) >= Worst::Bounded(6 * 56 - 1));
    assert_eq!(hunt("ya-two", (2, 1), Dsm, 2, 1), Worst::Bounded(10));
    assert_eq!(hunt("ya-tree", (1024, 1), Dsm, 1024, 1), Worst::Bounded(100));
    // Alone from the start, the path is open.
    assert_eq!(hunt("ya-fast", (1024, 1), Dsm, 1, 1), Worst::Bounded(12));
    assert_eq!(hunt("tas", (64, 1), Cc, 64, 1), Worst::Unbounded);
    assert_eq!(hunt("bakery", (16, 1), Dsm, 16, 1), Worst::Unbounded);
}

/// 64 is the exact worst at (3, 2), one operation each.
#[test]
fn what_an_operation_of_a_resilient_object_costs_depends_on_k_and_not_on_n() {
    let found = [4, 16, 256].map(|n| hunt("resilient", (n, 2), Cc, n, 1));
    assert!(found.iter().all(|worst| (Worst::Bounded(35)..=Worst::Bounded(64)).contains(worst)), "{found:?}");
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

/// Also with fewer competitors than processes, where the victim's rivals must change while it is on
/// its way.
#[test]
fn the_adversary_finds_what_search_finds_whatever_the_contention() {
    let cases = [
        ("am-chain", (3, 1), Cc),
        ("am-tree", (3, 1), Cc),
        ("am-fast", (3, 1), Cc),
        ("am-graceful", (3, 1), Cc),
        ("am-dsm-chain", (2, 1), Dsm),
    ];
    for (id, (n, k), model) in cases {
        for (c, exact) in (1..=n).zip(worst(id, (n, k), model, [1, 2, 3])) {
            assert_eq!(hunt(id, (n, k), model, c, 1), exact, "{id} ({n},{k}), {c} compete");
        }
    }
}

#[test]
fn a_search_that_ends_at_a_limit_says_so() {
    let subject = subject::find("am-chain").unwrap();
    for most in [1, 10, 100, 1000] {
        let rules = Rules { measure: Some((0, Cc)), ..Rules::default() };
        let world = subject.world(Sizes { n: 4, k: 2 }, rules).unwrap();
        let passage = Explorer::new(4).believe_keep(true).max_states(most).worst_passage(world, 4).unwrap();
        assert!(!passage.complete && passage.worst <= Worst::Bounded(14), "{passage:?}");
    }
}

#[test]
fn passages_that_can_get_stuck_are_measured_all_the_same() {
    for mutant in doorway_check::mutants::ALL {
        let id = format!("mutant:{}", mutant.name);
        let subject = subject::find(&id).unwrap();
        let sizes = subject.sizes(None, None).unwrap();
        let rules = Rules { measure: Some((0, CcWriteBack)), ..Rules::with_passages(Some(1)) };
        let world = match subject.world(sizes, rules) {
            Err(TextError::TooLarge) => continue, // a cache holds 64 variables
            world => world.unwrap(),
        };
        let contentions: Vec<usize> = (1..=sizes.n).collect();
        match Explorer::new(sizes.n).believe_keep(true).max_states(20_000).worst_passages(world, &contentions) {
            // A text with a fault may reach a point where it cannot go on.
            Ok(_) | Err(TextError::Panics { .. } | TextError::NoSuchRun { .. }) => (),
            Err(other) => panic!("{id}: {other}"),
        }
    }
}

/// Peterson's algorithm waits on two variables at once.
struct Peterson {
    flag: Vec<SimCell<bool>>,
    turn: SimVar<u64>,
}

impl KExclusion<Sim> for Peterson {
    type Held = ();
    type Refusal = Infallible;
    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        let (p, me) = (p.on(Part::ROOT), p.pid().index());
        p.at(1).write(&self.flag[me], true).await?;
        p.at(2).write(&self.turn, 1 - me as u64).await?;
        let may_go = || async {
            let free = !p.at(3).read(&self.flag[1 - me]).await? || p.at(4).read(&self.turn).await? == me as u64;
            Ok(free.then_some(()))
        };
        Ok(p.spin_until(may_go).await?)
    }
    async fn release(&self, p: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        p.on(Part::ROOT).at(5).write(&self.flag[p.pid().index()], false).await
    }
}

#[test]
fn hunting_copes_with_waits_on_several_variables() {
    let build =
        |site: &Site<'_, Sim>| Peterson { flag: site.row("flag", 2, |_| false.into()), turn: site.var("turn", 0) };
    for model in [Cc, CcWriteBack] {
        let rules = Rules { measure: Some((0, model)), ..Rules::default() };
        let exact =
            Explorer::new(2).believe_keep(true).worst_passage(World::new(2, rules, build).unwrap(), 2).unwrap().worst;
        for method in [Method::Adversary, Method::Random] {
            let hunt =
                Hunt { model, contention: 2, method, runs: 50, passages: 20, steps: 200_000, enough: None, seed: 1 };
            let found = hunt.on(|| World::new(2, Rules::default(), build)).unwrap();
            assert!(found.passages > 100 && found.worst <= exact, "{model:?} {method:?}: {found:?} against {exact:?}");
            assert!(found.worst >= Worst::Bounded(4), "{model:?} {method:?}: {found:?}");
        }
    }
}

#[test]
fn a_passage_of_one_step_costs_that_step() {
    let rules = Rules { measure: Some((0, Cc)), ..Rules::default() };
    let one_write = |x: Rc<SimVar<u64>>, p: Process<Sim>| async move {
        let _ = p.on(Part::ROOT).at(1).write(&x, 1).await;
    };
    let world = World::of_programs(1, rules, |site| site.var("x", 0u64), one_write).unwrap();
    assert_eq!(Explorer::new(1).believe_keep(true).worst_passage(world, 1).unwrap().worst, Worst::Bounded(1));
}
