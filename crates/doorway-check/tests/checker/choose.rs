//! Choices: every one is tried, none is a step of its own, and each can be written down.

use doorway_check::sample::{Choose, Sampler};
use doorway_check::schedule::Runner;
use doorway_check::sim::{Action, Crowd, Rules, Sim, SimVar, TextError, What, World};
use doorway_check::{Explorer, Property, Report, export};
use doorway_core::memory::{Process, Register, Site, decl};
use doorway_core::registry::CostModel;
use std::collections::BTreeSet;
use std::rc::Rc;

type Var = SimVar<u64>;

/// Each process writes what it chose of `n`, and then reads.
async fn writes_its_choice(x: Rc<Var>, p: Process<Sim>, n: usize) {
    let p = p.on(doorway_check::sim::Part::ROOT);
    let Ok(chosen) = p.at(1).choose(n).await;
    p.keep(2, &chosen);
    let Ok(()) = p.at(2).write(&x, chosen as u64 + 1).await;
    p.keep(3, &());
    let Ok(_) = p.at(3).read(&x).await;
}

fn build(site: &Site<'_, Sim>) -> Var {
    site.var("X", decl(0u64))
}

fn world(n: usize, rules: Rules, choices: usize) -> World {
    World::of_programs(n, rules, build, move |x, p| writes_its_choice(x, p, choices)).unwrap()
}

fn explore(world: World, properties: Vec<Property>) -> Report {
    Explorer::new(world.processes()).properties(properties).keep_going(true).explore(world).unwrap()
}

fn sometimes(value: u64) -> Property {
    Property::sometimes(format!("X is {value}"), move |v| v.get::<u64>("X") == value)
}

#[test]
fn every_choice_is_tried_and_no_other() {
    let report = explore(world(2, Rules::with_passages(Some(1)), 3), (1..=4).map(sometimes).collect());
    let seen: Vec<_> = report.verdicts.iter().map(|v| v.holds).collect();
    assert_eq!(seen, [Some(true), Some(true), Some(true), Some(false)]);
}

#[test]
fn more_than_64_processes_choose_too() {
    let text = |x: Rc<Var>, p: Process<Sim>| async move {
        let p = p.on(doorway_check::sim::Part::ROOT);
        let Ok(chosen) = p.at(1).choose(2).await;
        let Ok(found) = p.at(2).read(&x).await;
        let Ok(()) = p.at(3).write(&x, found + chosen as u64).await;
    };
    let world = World::of_programs(65, Rules::with_passages(Some(1)), build, text).unwrap();
    let report = Explorer::new(65).property(sometimes(1)).max_states(20_000).explore(world).unwrap();
    assert_eq!(report.verdicts[0].holds, Some(true));
}

#[test]
fn a_choice_is_one_step_with_the_access_after_it() {
    let report = explore(world(1, Rules::with_passages(Some(1)), 3), vec![sometimes(3)]);
    // Outside; three times written; three times done.
    assert_eq!((report.states, report.edges), (7, 6));
    assert_eq!(report.verdicts[0].trace.as_ref().unwrap().steps[0].did, "chooses 2 of 3; X := 3");
}

#[test]
fn among_one_or_none_there_is_nothing_to_choose() {
    for n in [0, 1] {
        let report = explore(world(1, Rules::with_passages(Some(1)), n), vec![sometimes(1)]);
        assert_eq!((report.states, report.edges, report.verdicts[0].holds), (3, 2, Some(true)));
    }
}

#[test]
fn too_many_choices_are_an_error() {
    let refused = Explorer::new(1).explore(world(1, Rules::default(), 65_533)).unwrap_err();
    assert!(matches!(refused, TextError::TooManyChoices { label: 1, .. }), "{refused}");
}

#[test]
fn choices_in_a_row_and_after_an_access_are_all_tried() {
    let text = |x: Rc<Var>, p: Process<Sim>| async move {
        let p = p.on(doorway_check::sim::Part::ROOT);
        let Ok(_) = p.at(1).read(&x).await;
        let Ok(tens) = p.at(2).choose(2).await;
        let Ok(ones) = p.at(3).choose(2).await;
        let Ok(()) = p.at(4).write(&x, (10 * tens + ones) as u64).await;
    };
    let world = || World::of_programs(1, Rules::with_passages(Some(1)), build, text).unwrap();
    let report = explore(world(), [1, 10, 11, 2].map(sometimes).into());
    let seen: Vec<_> = report.verdicts.iter().map(|v| v.holds).collect();
    assert_eq!(seen, [Some(true), Some(true), Some(true), Some(false)]);
    let mut run = Runner::new(world());
    run.follow("p0.1 p0.2=1 p0.3=0").unwrap();
    assert_eq!(run.value("X").unwrap(), "10");
}

#[test]
fn schedules_name_the_choice_and_take_the_first_if_they_do_not() {
    let mut run = Runner::new(world(2, Rules::default(), 3));
    run.follow("p0.1=2").unwrap();
    assert_eq!(run.value("X").unwrap(), "3");
    run.follow("p1>3").unwrap();
    assert_eq!(run.value("X").unwrap(), "1");
    assert!(run.follow("p0.3 p0.1=3").is_err());
}

#[test]
fn a_run_with_choices_happens_again() {
    let never = Property::always("X is not 3", |v| v.get::<u64>("X") != 3);
    let report = explore(world(2, Rules::default(), 3), vec![never]);
    let trace = report.verdicts[0].trace.clone().unwrap();
    assert_eq!(trace.actions, [Action { process: 0, what: What::Sees(2) }]);
    let mut run = Runner::new(world(2, Rules::default(), 3));
    for &action in &trace.actions {
        assert!(run.act(action).unwrap().is_some());
    }
    assert_eq!(run.value("X").unwrap(), "3");
    assert!(run.act(Action { process: 1, what: What::Sees(3) }).unwrap().is_none());
}

#[test]
fn samples_find_a_choice() {
    let never = || Property::always("X is not 40", |v| v.get::<u64>("X") != 40);
    for choose in [Choose::Random, Choose::Priorities { depth: 2 }] {
        let sampler = Sampler { choose, runs: 1000, length: 20, seed: 7 };
        let sampled = sampler.run(&mut world(2, Rules::default(), 40), vec![never()]).unwrap();
        assert_eq!(sampled.verdicts[0].holds, Some(false), "{choose:?}");
    }
}

#[test]
fn a_choice_costs_nothing() {
    for model in [CostModel::Dsm, CostModel::Cc] {
        let rules = Rules { measure: Some((0, model)), ..Rules::default() };
        let mut machine = world(1, rules, 2);
        let mut state = machine.initial();
        let stepped = machine.step(&mut state, 0).unwrap();
        assert_eq!(stepped.cost, 1, "the write and nothing else");
    }
}

#[test]
fn a_crowd_draws_its_choices() {
    let text = |x: Rc<Var>, p: Process<Sim>| async move {
        let p = p.on(doorway_check::sim::Part::ROOT);
        let Ok(chosen) = p.at(1).choose(4).await;
        for _ in 0..=chosen {
            let Ok(_) = p.at(2).read(&x).await;
        }
    };
    let machine = World::of_programs(1, Rules::default(), build, text).unwrap();
    let mut crowd = Crowd::new(machine, 0, CostModel::Dsm).unwrap();
    let mut steps_of_a_passage = || (1..).find(|_| crowd.step(0).unwrap().passage_ended).unwrap();
    let seen: BTreeSet<u32> = (0..100).map(|_| steps_of_a_passage()).collect();
    assert_eq!(seen, BTreeSet::from([1, 2, 3, 4]));
}

#[test]
fn a_choice_before_a_write_in_two_steps_is_made_when_the_write_begins() {
    let rules = Rules { registers: Register::Safe, force_registers: true, ..Rules::with_passages(Some(1)) };
    let mut run = Runner::new(world(2, rules, 3));
    let begins = run.act(Action { process: 0, what: What::Sees(1) }).unwrap().unwrap();
    assert_eq!(begins.did, "chooses 1 of 3; X := 2 begins");
    run.follow("p0.2").unwrap();
    assert_eq!(run.value("X").unwrap(), "2");
}

#[test]
fn the_graph_tells_what_is_chosen() {
    let dot = export::dot(world(1, Rules::with_passages(Some(1)), 2), 100).unwrap();
    assert!(dot.contains("p0.1 chooses 1"), "{dot}");
}
