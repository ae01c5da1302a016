//! Properties of all fair runs, and mistakes that checkers have made with them.

use doorway_check::sample::{Choose, Sampler};
use doorway_check::sim::{Part, Rules, Sim, SimVar, World};
use doorway_check::{Explorer, Property, Report, subject};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Mark, Process, Register, Site};
use doorway_core::registry::Sizes;
use std::convert::Infallible;
use std::rc::Rc;

fn check(id: &str, (n, k): (usize, usize), rules: Rules, names: &[&str]) -> Report {
    let subject = subject::find(id).unwrap();
    let sizes = Sizes { n, k };
    let mut properties = subject.askable(sizes);
    properties.retain(|p| names.contains(&p.name()));
    assert_eq!(properties.len(), names.len());
    let rules = rules.for_properties(&properties);
    Explorer::new(n)
        .believe_keep(true)
        .properties(properties)
        .keep_going(true)
        .explore(subject.world(sizes, rules).unwrap())
        .unwrap()
}

const ALL: [&str; 4] = ["never-stuck", "deadlock-free", "bounded-exit", "starvation-free"];

fn verdicts(report: &Report) -> Vec<Option<bool>> {
    report.verdicts.iter().map(|v| v.holds).collect()
}

#[test]
fn test_and_set_starves_and_nothing_worse() {
    let report = check("tas", (3, 1), Rules::default(), &ALL);
    assert_eq!(verdicts(&report), [Some(true), Some(true), Some(true), Some(false)]);
    let trace = report.verdict("starvation-free").trace.as_ref().unwrap();
    let cycle = &trace.steps[trace.repeats_from.unwrap()..];
    // In the cycle p0 looks and fails, and the others go through: that is starvation.
    assert!(cycle.iter().any(|s| s.process == 0 && s.waits), "{trace}");
    assert!(cycle.iter().all(|s| s.process != 0 || s.now != Some("inside")), "{trace}");
    assert_eq!(trace.why_fair.len(), 3);
    assert!(trace.to_string().contains("repeats for ever"));
}

#[test]
fn the_papers_algorithms_starve_nobody() {
    for (id, sizes, passages) in [
        ("bakery", (2, 1), Some(3)),
        ("ya-two", (2, 1), None),
        ("am-chain", (3, 1), None),
        ("am-chain", (4, 3), None),
        ("am-fast", (3, 2), None),
    ] {
        let report = check(id, sizes, Rules::with_passages(passages), &ALL);
        assert_eq!(verdicts(&report), [Some(true); 4], "{id}");
    }
}

fn tolerates_k_minus_1_crashes(id: &str, (n, k): (usize, usize)) {
    let rules = |crashes| Rules { crashes, ..Rules::default() };
    let tolerated = check(id, (n, k), rules(k - 1), &ALL);
    assert_eq!(verdicts(&tolerated), [Some(true); 4], "{id} ({n},{k})");
    let too_many = check(id, (n, k), rules(k), &["starvation-free"]);
    assert_eq!(verdicts(&too_many), [Some(false)], "{id} ({n},{k})");
    // Exclusion survives any number of crashes.
    assert_eq!(verdicts(&check(id, (n, k), rules(n), &["k-exclusion"])), [Some(true)]);
    println!("{id} ({n},{k}), {} crashes: {} states", k - 1, tolerated.states);
}

#[test]
#[ignore = "takes a quarter of a minute; ci/long-searches.sh runs it"]
fn a_longer_chain_tolerates_a_crash_and_not_two() {
    tolerates_k_minus_1_crashes("am-chain", (4, 2));
}

#[test]
fn k_minus_1_crashes_anywhere_are_tolerated_and_k_are_not() {
    for (id, sizes) in [("am-chain", (3, 2)), ("am-chain", (4, 3)), ("am-fast", (3, 2))] {
        tolerates_k_minus_1_crashes(id, sizes);
    }
    // A mutex tolerates none.
    for id in ["ya-two", "tas"] {
        let report = check(id, (2, 1), Rules { crashes: 1, ..Rules::default() }, &["starvation-free"]);
        assert_eq!(verdicts(&report), [Some(false)], "{id}");
    }
}

#[test]
fn a_sleeper_needs_a_process_that_wakes_it() {
    // With a crash between write and wake the chain still serves all: the next process that leaves
    // wakes the sleeper too.
    let rules = Rules { crashes: 1, wakes: true, ..Rules::default() };
    assert_eq!(verdicts(&check("am-chain", (3, 2), rules, &ALL)), [Some(true); 4]);
    // Where each process waits on its own word, no other may have reason to write it; timed sleeps
    // help.
    for id in ["am-dsm-chain", "am-dsm-assign"] {
        let rules = |timed_sleeps| Rules { crashes: 1, wakes: true, timed_sleeps, ..Rules::with_passages(Some(1)) };
        assert_eq!(verdicts(&check(id, (3, 2), rules(false), &["never-stuck"])), [Some(false)], "{id}");
        assert_eq!(verdicts(&check(id, (3, 2), rules(true), &ALL)), [Some(true); 4], "{id}");
    }
    // One of two processes dies before its wake: the other sleeps for ever, unless sleeps are
    // timed.
    let last_wake = |timed_sleeps| {
        let rules = Rules { crashes: 1, wakes: true, timed_sleeps, passages: Some(1), ..Rules::default() };
        let text = |x: Rc<SimVar<u64>>, p: Process<Sim>| async move {
            let at = p.on(Part::ROOT);
            if p.pid().index() == 0 {
                let _ = at.at(1).write(&x, 1).await;
            } else {
                let _ = at.at(2).read(&x).await;
                let _ = at.at(3).wait_until(&x, |x| x == 1).await;
            }
        };
        let world = World::of_programs(2, rules, |site| site.var("x", 0u64), text).unwrap();
        let written = |v: &doorway_check::property::View<'_>, p: usize| p == 1 && v.at(1, 3) && v.get::<u64>("x") == 1;
        let gets_on = Property::leads_to("gets on", written, |v, _| !v.at(1, 3));
        Explorer::new(2).believe_keep(true).property(gets_on).explore(world).unwrap().verdict("gets on").holds
    };
    assert_eq!(last_wake(false), Some(false));
    assert_eq!(last_wake(true), Some(true));
}

#[test]
fn a_truncated_graph_decides_no_progress() {
    let subject = subject::find("am-chain").unwrap();
    let sizes = Sizes { n: 3, k: 1 };
    let world = subject.world(sizes, Rules::default()).unwrap();
    let report = Explorer::new(3)
        .believe_keep(true)
        .properties(subject.claims(sizes))
        .max_states(6_866) // all but one
        .explore(world)
        .unwrap();
    for name in ["starvation-free", "deadlock-free", "bounded-exit"] {
        assert_eq!(report.verdict(name).holds, None, "{name}");
    }
}

/// p0 waits for `x`; p1 does what the test says.
fn waiter<F: Future<Output = ()> + 'static>(
    rules: Rules,
    property: Property,
    p1: impl Fn(Rc<SimVar<u64>>, Process<Sim>) -> F + Copy + 'static,
) -> Option<bool> {
    let text = move |x: Rc<SimVar<u64>>, p: Process<Sim>| async move {
        if p.pid().index() == 0 {
            let _ = p.on(Part::ROOT).at(9).wait_until(&x, |x| x == 1).await;
        } else {
            p1(x, p).await;
        }
    };
    let build = |site: &Site<'_, Sim>| site.var("x", 0u64);
    let world = World::of_programs(2, rules, build, text).unwrap();
    Explorer::new(2).believe_keep(true).property(property).explore(world).unwrap().verdicts[0].holds
}

fn gets_through() -> Property {
    Property::leads_to("gets through", |v, p| p == 0 && v.at(0, 9), |v, _| !v.at(0, 9))
}

#[test]
fn a_cycle_in_which_somebody_never_moves_is_not_fair() {
    // p1 has begun and will write 1, so it is not a fair run that p0 spins alone for ever. A
    // checker without fairness would report it.
    let once = Property::leads_to("gets through", |v, p| p == 0 && v.at(0, 9) && v.at(1, 2), |v, _| !v.at(0, 9));
    let holds = waiter(Rules::with_passages(Some(1)), once, |x, p| async move {
        let at = p.on(Part::ROOT);
        let _ = at.at(1).read(&x).await;
        let _ = at.at(2).write(&x, 1).await;
    });
    assert_eq!(holds, Some(true));
}

#[test]
fn a_chance_that_is_there_now_and_then_may_be_missed_for_ever() {
    // p1 raises and lowers x for ever; p0 always looks at the wrong moment. Weak fairness does not
    // help it.
    let holds = waiter(Rules::default(), gets_through(), |x, p| async move {
        let at = p.on(Part::ROOT);
        let _ = at.at(1).write(&x, 1).await;
        let _ = at.at(2).write(&x, 0).await;
    });
    assert_eq!(holds, Some(false));
}

#[test]
fn a_process_in_its_remainder_or_stopped_owes_nothing() {
    // p1 need not start, so p0 may wait for ever; and once p1 has made its passages, no process
    // waits for its steps.
    let never_sets = |x: Rc<SimVar<u64>>, p: Process<Sim>| async move {
        let _ = p.on(Part::ROOT).at(1).read(&x).await;
    };
    assert_eq!(waiter(Rules::default(), gets_through(), never_sets), Some(false));
    assert_eq!(waiter(Rules::with_passages(Some(1)), gets_through(), never_sets), Some(false));
}

#[test]
fn fairness_is_asked_of_the_component_where_the_bad_thing_lasts() {
    // The graph as a whole is one component in which p1 steps. Where p0 waits and x is 0, p1 must
    // step too, and then x is 1 and stays so until p0 has gone through. A filter on the outer
    // component would report a cycle of p0 alone.
    let holds = waiter(Rules::default(), gets_through_once_begun(), |x, p| async move {
        let at = p.on(Part::ROOT);
        let _ = at.at(1).read(&x).await;
        let _ = at.at(2).write(&x, 1).await;
        let _ = at.at(3).wait_until(&x, |x| x == 0).await; // it is never lowered: p1 stays here
    });
    assert_eq!(holds, Some(true));
}

fn gets_through_once_begun() -> Property {
    Property::leads_to("gets through", |v, p| p == 0 && v.at(0, 9) && v.at(1, 2..=3), |v, _| !v.at(0, 9))
}

#[test]
fn orders_of_arrival() {
    let asks = ["first-come-first-served", "first-in-first-enabled"];
    let bakery = check("bakery", (3, 1), Rules::with_passages(Some(1)), &asks);
    assert_eq!(verdicts(&bakery), [Some(true), Some(true)]);
    // Without a doorway there is no order of arrival, and nothing is decided.
    assert_eq!(verdicts(&check("am-chain", (3, 1), Rules::default(), &asks)), [None, None]);
    let mutant = check("mutant:bakery-draws-the-maximum", (2, 1), Rules::with_passages(Some(2)), &asks[..1]);
    assert_eq!(verdicts(&mutant), [Some(false)]);
}

/// Test-and-set with a doorway: a process that has left it may still be overtaken.
struct TurnedAway {
    taken: SimVar<bool>,
    here: SimVar<u64>,
}

impl KExclusion<Sim> for TurnedAway {
    type Held = ();
    type Refusal = Infallible;
    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        let p = p.on(Part::ROOT);
        p.at(1).read(&self.here).await?;
        p.mark(Mark::DoorwayEnds);
        p.keep(2, &());
        Ok(p.spin_until(|| async { Ok((!p.at(2).test_and_set(&self.taken).await?).then_some(())) }).await?)
    }
    async fn release(&self, p: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        p.on(Part::ROOT).at(3).write(&self.taken, false).await
    }
}

#[test]
fn overtaking_is_noticed() {
    let search = |n, property| {
        let build = |site: &Site<'_, Sim>| TurnedAway { taken: site.var("taken", false), here: site.var("here", 0) };
        Explorer::new(n).believe_keep(true).property(property).run(build).unwrap().verdicts[0].clone()
    };
    let fcfs = search(2, Property::first_come("fcfs", 1));
    assert_eq!((fcfs.holds, fcfs.trace.map(|t| t.len())), (Some(false), Some(3)));
    // One process can overtake two only if there are three.
    assert_eq!(search(2, Property::first_come("2-fcfs", 2)).holds, Some(true));
    assert_eq!(search(3, Property::first_come("2-fcfs", 2)).holds, Some(false));
    // A process that was overtaken cannot enter alone: the other is inside.
    let fife = search(2, Property::first_enabled("fife"));
    assert_eq!((fife.holds, fife.trace.map(|t| t.len())), (Some(false), Some(3)));
}

/// The cycle of a lasso leads back to its start, every process that must step in it does, and the
/// victim makes no progress.
#[test]
fn a_lasso_is_a_run_that_can_be_repeated() {
    let cases = [
        ("tas", (3, 1), Rules::default(), "starvation-free"),
        ("am-chain", (3, 2), Rules { crashes: 2, ..Rules::default() }, "starvation-free"),
        ("ya-two", (2, 1), Rules { crashes: 1, ..Rules::default() }, "deadlock-free"),
        ("mutant:am-chain-7-names-p0", (3, 1), Rules::default(), "deadlock-free"),
        ("mutant:am-fast-waits-to-leave-its-slots", (3, 1), Rules::default(), "bounded-exit"),
        ("mutant:ya-two-without-6", (2, 1), Rules::default(), "starvation-free"),
        (
            "ya-two",
            (2, 1),
            Rules { registers: Register::Safe, force_registers: true, ..Rules::default() },
            "starvation-free",
        ),
    ];
    for (id, (n, k), rules, property) in cases {
        let report = check(id, (n, k), rules, &[property]);
        let trace = report.verdict(property).trace.as_ref().unwrap_or_else(|| panic!("{id} {property}"));
        let from = trace.repeats_from.unwrap();
        let mut world = subject::find(id).unwrap().world(Sizes { n, k }, rules).unwrap();
        let mut state = world.initial();
        let mut states = vec![state.clone()];
        for &action in &trace.actions {
            assert!(world.act(&mut state, action).unwrap().is_some(), "{id}: {action:?} cannot happen");
            states.push(state.clone());
        }
        assert_eq!(states[from], state, "{id}: the cycle leads back\n{trace}");
        assert!(from < trace.len(), "{id}: the cycle is not empty");
        if property != "bounded-exit" {
            for p in 0..n {
                let steps = trace.actions[from..].iter().any(|a| a.process == p);
                let idle =
                    world.has_crashed(&state, p) || world.phase(&state, p) == doorway_check::sim::Phase::Remainder;
                assert!(steps || idle, "{id}: p{p} is treated unfairly\n{trace}");
            }
        }
    }
}

#[test]
fn why_a_cycle_is_fair_is_said_process_by_process() {
    let why = |id, sizes, rules| {
        let report = check(id, sizes, rules, &["starvation-free"]);
        report.verdict("starvation-free").trace.clone().unwrap().why_fair
    };
    assert_eq!(
        why("tas", (3, 1), Rules::default()),
        ["p0 takes 1 step, and never gets on", "p1 takes 3 steps", "p2 takes 3 steps"]
    );
    let crashed = why("am-chain", (3, 1), Rules { crashes: 1, ..Rules::default() });
    let says = |words: &str| crashed.iter().filter(|line| line.contains(words)).count();
    assert_eq!((says("has crashed"), says("takes 1 step, and never gets on")), (1, 1), "{crashed:?}");
    let mut outside = why("mutant:tas-never-clears", (2, 1), Rules::with_passages(Some(1)));
    outside.sort_by_key(|line| line.contains("passages"));
    assert!(outside[0].contains("takes 1 step, and never gets on"), "{outside:?}");
    assert!(outside[1].contains("has made its passages"), "{outside:?}");
}

/// All but `waits` leave at once; `waits` waits in its exit section for what never comes.
struct OneNeverLeaves {
    waits: usize,
    never: SimVar<bool>,
    x: SimVar<u64>,
}

impl KExclusion<Sim> for OneNeverLeaves {
    type Held = ();
    type Refusal = Infallible;
    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        p.on(Part::ROOT).at(1).read(&self.x).await?;
        Ok(())
    }
    async fn release(&self, p: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        let at = p.on(Part::ROOT);
        at.at(2).read(&self.x).await?;
        if p.pid().index() == self.waits {
            at.at(3).wait_until(&self.never, |x| x).await?;
        }
        Ok(())
    }
}

#[test]
fn an_exit_that_one_process_never_leaves_is_noticed_whichever_it_is() {
    for (waits, expected) in [(0, false), (1, false), (2, false), (9, true)] {
        let build =
            |site: &Site<'_, Sim>| OneNeverLeaves { waits, never: site.var("never", false), x: site.var("x", 0) };
        for property in [Property::bounded_exit("asked"), Property::starvation_free("asked")] {
            let report = Explorer::new(3).believe_keep(true).property(property).run(build).unwrap();
            assert_eq!(report.verdict("asked").holds, Some(expected), "{waits}");
        }
    }
}

#[test]
fn whoever_owes_a_wake_is_not_done() {
    // The last passage of a process ends with its wake; a fair run does not stop before it.
    for id in ["am-chain", "ya-two", "bakery"] {
        let rules = Rules { wakes: true, ..Rules::with_passages(Some(1)) };
        let report = check(id, (2, 1), rules, &ALL);
        assert_eq!(verdicts(&report), [Some(true); 4], "{id}");
    }
}

#[test]
fn an_order_of_arrival_without_doorways_is_not_decided() {
    let asks = ["first-come-first-served", "first-in-first-enabled"];
    for verdict in check("tas", (2, 1), Rules::default(), &asks).verdicts {
        assert_eq!(
            (verdict.holds, verdict.vacuous),
            (None, Some("the text marks no end of a doorway (`p.mark(Mark::DoorwayEnds)`)"))
        );
    }
    for verdict in check("bakery", (2, 1), Rules::with_passages(Some(1)), &asks).verdicts {
        assert_eq!(verdict.vacuous, None);
    }
}

#[test]
fn samples_find_a_lost_wake_up() {
    let rules = Rules { crashes: 1, wakes: true, passages: Some(1), ..Rules::default() };
    let text = |x: Rc<SimVar<u64>>, p: Process<Sim>| async move {
        let at = p.on(Part::ROOT);
        if p.pid().index() == 0 {
            let _ = at.at(1).write(&x, 1).await;
        } else {
            let _ = at.at(2).read(&x).await;
            let _ = at.at(3).wait_until(&x, |x| x == 1).await;
        }
    };
    for choose in [Choose::Random, Choose::Priorities { depth: 3 }] {
        let mut world = World::of_programs(2, rules, |site| site.var("x", 0u64), text).unwrap();
        let sampler = Sampler { choose, runs: 20_000, length: 12, seed: 3 };
        let sampled = sampler.run(&mut world, vec![Property::never_stuck("never-stuck")]).unwrap();
        assert_eq!(sampled.verdicts[0].holds, Some(false), "{choose:?}");
    }
}

/// If the bad thing begins outside the cycle, the way into the cycle is part of the run.
#[test]
fn a_lasso_has_a_way_in() {
    let world = || {
        let text = |x: Rc<SimVar<u64>>, p: Process<Sim>| async move {
            let at = p.on(Part::ROOT);
            let _ = at.at(1).fetch_add(&x, 1).await;
            let _ = at.at(2).read(&x).await;
            let _ = at.at(3).wait_until(&x, |x| x == 9).await;
        };
        World::of_programs(2, Rules::default(), |site| site.var("x", 0u64), text).unwrap()
    };
    let ends = Property::leads_to("ends", |v, p| v.at(p, 2), |v, p| v.phase(p) == doorway_check::sim::Phase::Remainder);
    let report = Explorer::new(2).believe_keep(true).property(ends).explore(world()).unwrap();
    let trace = report.verdict("ends").trace.as_ref().unwrap();
    let from = trace.repeats_from.unwrap();
    let (mut world, mut state) = (world(), None);
    let mut at = world.initial();
    for (i, &action) in trace.actions.iter().enumerate() {
        if i == from {
            state = Some(at.clone());
        }
        world.act(&mut at, action).unwrap().unwrap();
    }
    assert_eq!(state, Some(at), "{trace}");
    assert!(trace.steps[..from].iter().any(|s| s.statement == 2), "the way in passes 2\n{trace}");
}
