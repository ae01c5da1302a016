//! Software combining over Yang and Anderson's tree: every interleaving at small sizes, and chosen
//! cases by hand.

use crate::common::{explore, explore_without_trust, values};
use doorway_check::claims::FetchAndOp;
use doorway_check::explore::Worst;
use doorway_check::schedule::Runner;
use doorway_check::sim::{Rules, Sim, World};
use doorway_check::{Explorer, Property, Report, subject};
use doorway_core::memory::{Memory, Process};
use doorway_core::mutex::yang_anderson_93::{Add, Affine, Combinable, Combining, Map, Max, Min, Store};
use doorway_core::registry::{CostModel, Sizes};
use std::rc::Rc;

/// `n` processes, each of which chooses among operations on an object that starts at 0.
fn world<F>(n: usize, rules: Rules, ops: impl Fn(usize) -> Vec<F::Op> + 'static) -> World
where
    F: Combinable<Value = u64>,
{
    let body = move |object: Rc<Combining<Sim, F>>, p: Process<Sim>| {
        let ops = ops(p.pid().index());
        async move {
            let Ok(chosen) = p.on(Sim::ROOT).at(0).choose(ops.len()).await;
            let Ok(_) = object.fetch_and_op(&p, ops[chosen]).await;
        }
    };
    World::of_programs(n, rules, |site| Combining::new(site, n, 0), body).unwrap()
}

fn check<F: Combinable<Value = u64>>(world: World) -> Report {
    let report = Explorer::new(world.processes())
        .believe_keep(true)
        .property(Property::linearizable("linearizable", FetchAndOp::<F>::new(0)))
        .property(Property::never_stuck("never-stuck"))
        .explore(world)
        .unwrap();
    report.assert_holds();
    assert!(report.complete);
    report
}

fn map(times: u32, plus: u32) -> Map {
    Map { times, plus }
}

#[test]
fn two_processes_with_two_operations_each() {
    let twice = Rules::with_passages(Some(2));
    let sum = check::<Add>(world::<Add>(2, twice, |p| vec![1 + p as u64, 4 + 4 * p as u64]));
    let stored = check::<Store>(world::<Store>(2, twice, |p| vec![1 + p as u64, 3 + p as u64]));
    let maps = check::<Affine<5>>(world::<Affine<5>>(2, twice, |p| vec![map(2, 1), map(1, 1 + p as u32)]));
    println!("{} states with add, {} with store, {} with maps", sum.states, stored.states, maps.states);
    check::<Max>(world::<Max>(2, twice, |p| vec![1 + p as u64]));
    check::<Min>(world::<Min>(2, twice, |p| vec![1 + p as u64]));
}

#[test]
fn three_processes_with_one_operation_each() {
    let once = Rules::with_passages(Some(1));
    let sum = check::<Add>(world::<Add>(3, once, |p| vec![1 << p]));
    let stored = check::<Store>(world::<Store>(3, once, |p| vec![1 + p as u64]));
    println!("{} states with add, {} with store", sum.states, stored.states);
    explore("ya-combining", 3, 3, Some(1), 135_546);
}

#[test]
fn without_a_bound_on_passages_the_maps_are_linearizable_and_nobody_starves() {
    explore("ya-combining", 2, 2, None, 458_921);
    explore("ya-combining", 1, 1, None, 12);
}

#[test]
fn keep_can_be_trusted() {
    explore_without_trust("ya-combining", 2, 2, Some(1));
}

/// A process that only looks sees the effect of all operations so far.
#[test]
fn a_look_is_an_operation_that_changes_nothing() {
    let body = |object: Rc<Combining<Sim, Affine<5>>>, p: Process<Sim>| async move {
        if p.pid().index() < 2 {
            let Ok(_) = object.fetch_and_op(&p, map(2, 1)).await;
        } else {
            for _ in 0..2 {
                p.on(Sim::ROOT).invokes(map(1, 0));
                let Ok(value) = object.load(&p).await;
                p.on(Sim::ROOT).responds(value);
            }
        }
    };
    let rules = Rules::with_passages(Some(1));
    check::<Affine<5>>(World::of_programs(3, rules, |site| Combining::new(site, 2, 0), body).unwrap());
}

fn returned(run: &mut Runner) -> Vec<(usize, String)> {
    let steps = run.trace().unwrap().steps.into_iter();
    steps.filter_map(|s| s.did.split_once("returns ").map(|(_, value)| (s.process, value.to_owned()))).collect()
}

fn adders() -> Runner {
    Runner::new(world::<Add>(2, Rules::default(), |p| vec![1 + p as u64]).with_object(FetchAndOp::<Add>::new(0)))
}

/// `p0` has passed the node when `p1` comes; its last look at the nodes finds `p1`.
#[test]
fn a_process_that_comes_while_another_is_at_the_root_is_taken_along() {
    let mut r = adders();
    r.follow("p0.0.2.1.2.3.4.4.6  p1.0.2.1.2.3.4.5.6.7.8~  p0.8.9.10.11").unwrap();
    assert_eq!(values(&r, ["V"]), ["3"]);
    r.follow("p0.12.13.12.13.14").unwrap();
    assert_eq!(values(&r, ["Res[1][0]", "Done[1][0]"]), ["1", "true"]);
    r.follow("p1.8.9.10.4.5.12.13").unwrap();
    assert_eq!(returned(&mut r), [(0, "0".to_owned()), (1, "1".to_owned())]);
    assert_eq!(values(&r, ["V"]), ["3"]);
    assert!(r.view().is_linearizable());
}

/// `p1` has only signed; when it continues, `p0` has gone. It never waits, and still finds its
/// note.
#[test]
fn a_process_too_slow_to_wait_finds_its_note() {
    let mut r = adders();
    r.follow("p0.0.2.1.2.3  p1.0.2.1.2  p0.4.5.4.6.7.10.11.12.13.12.13.14").unwrap();
    assert_eq!(values(&r, ["node1.P[1]", "V"]), ["2", "3"]);
    r.follow("p1.3.4.4.5.12.13").unwrap();
    assert_eq!(returned(&mut r), [(0, "0".to_owned()), (1, "1".to_owned())]);
    assert_eq!(values(&r, ["V"]), ["3"]);
}

/// A process that signs after the last look is not taken along, and applies its operation itself.
#[test]
fn a_process_that_comes_after_the_last_look_goes_to_the_root_itself() {
    let mut r = adders();
    r.follow("p0.0.2.1.2.3.4.4.6.8  p1.0.2.1.2.3.4.5.6.7.8~  p0.10.11.12.13.14  p1.8.9.10.4.6.8.10.11.12.13").unwrap();
    assert_eq!(returned(&mut r), [(0, "0".to_owned()), (1, "1".to_owned())]);
    assert_eq!(values(&r, ["V"]), ["3"]);
}

#[test]
fn remote_references_are_those_of_the_nodes_and_five_more_at_each_and_two() {
    let subject = subject::find("ya-combining").unwrap();
    let worst = |n: usize, passages, contention: usize| {
        let sizes = Sizes { n, k: n };
        let claimed = subject.info.bound(CostModel::Dsm).and_then(|b| b.at(sizes, contention)).unwrap();
        let of = |p| {
            let rules = Rules { measure: Some((p, CostModel::Dsm)), ..Rules::with_passages(passages) };
            let passage = Explorer::new(n)
                .believe_keep(true)
                .worst_passage(subject.world(sizes, rules).unwrap(), contention)
                .unwrap();
            assert!(passage.complete && passage.worst <= Worst::Bounded(claimed), "{passage:?}");
            passage.worst.bounded().unwrap()
        };
        ((0..n).map(of).max().unwrap(), claimed)
    };
    assert_eq!(worst(2, None, 1), (9, 9));
    assert_eq!(worst(2, None, 2), (17, 17));
    assert_eq!(worst(3, Some(1), 1), (16, 16));
    assert_eq!(worst(3, Some(1), 3), (30, 32)); // for one passage each; the bound holds for any number
}
