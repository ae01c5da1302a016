//! Operations compared with a sequential object: what some order explains, what no order does, and
//! an oracle that tries all orders.

use doorway_check::sample::{Choose, Sampler};
use doorway_check::schedule::Runner;
use doorway_check::sim::{Keep, Rules, Sequential, Sim, SimVar, TextError, World};
use doorway_check::{Explorer, Property, Report};
use doorway_core::memory::{Here, Memory, Process, Site, decl};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use std::rc::Rc;

/// Adds, modulo something, and returns the old value.
struct Counter(u64);

impl Sequential for Counter {
    type State = u64;
    type Op = u64;
    type Response = u64;

    fn initial(&self) -> u64 {
        0
    }

    fn apply(&self, state: &u64, delta: u64) -> (u64, u64) {
        ((state + delta) % self.0, *state)
    }
}

/// The variables of counters: the count, a copy of it, and what processes announce.
struct Vars {
    x: SimVar<u64>,
    y: SimVar<u64>,
    announced: SimVar<u64>,
}

impl Vars {
    fn new(site: &Site<'_, Sim>) -> Self {
        let var = |name| site.var(name, decl(0u64));
        Self { x: var("X"), y: var("Y"), announced: var("A") }
    }
}

/// Ways of adding to a counter, right and wrong.
#[derive(Clone, Copy, Debug)]
enum Add {
    Atomic(u64),
    /// Reads, then writes.
    InTwoSteps(u64),
    /// Atomic, and then makes a copy.
    ThenCopies(u64),
    /// Adds nothing: returns the copy.
    ReadsCopy,
    /// Adds nothing: reads twice, and returns what it read first.
    ReadsTwice,
}

impl Add {
    fn delta(self) -> u64 {
        match self {
            Self::Atomic(d) | Self::InTwoSteps(d) | Self::ThenCopies(d) => d,
            Self::ReadsCopy | Self::ReadsTwice => 0,
        }
    }

    async fn run(self, v: &Vars, p: Here<'_, Sim>) {
        p.invokes(self.delta());
        let Ok(old) = match self {
            Self::Atomic(d) | Self::ThenCopies(d) => p.at(1).fetch_add(&v.x, d).await,
            Self::InTwoSteps(_) | Self::ReadsTwice => p.at(1).read(&v.x).await,
            Self::ReadsCopy => p.at(1).read(&v.y).await,
        };
        let Ok(()) = match self {
            Self::Atomic(_) | Self::ReadsCopy => Ok(()),
            Self::InTwoSteps(d) => p.at(2).write(&v.x, old + d).await,
            Self::ThenCopies(d) => p.at(2).write(&v.y, old + d).await,
            Self::ReadsTwice => p.at(2).read(&v.x).await.map(|_| ()),
        };
        p.responds(old);
    }
}

fn world_of(rules: Rules, programs: Vec<Vec<Add>>) -> World {
    let n = programs.len();
    let body = move |v: Rc<Vars>, p: Process<Sim>| {
        let adds = programs[p.pid().index()].clone();
        async move {
            for add in adds {
                add.run(&v, p.on(Sim::ROOT)).await;
            }
        }
    };
    World::of_programs(n, rules, Vars::new, body).unwrap()
}

fn explore(programs: &[Vec<Add>]) -> Report {
    ask(world_of(Rules::with_passages(Some(1)), programs.to_vec()), 1 << 20)
}

fn ask(world: World, modulus: u64) -> Report {
    let property = Property::linearizable("linearizable", Counter(modulus));
    Explorer::new(world.processes()).property(property).explore(world).unwrap()
}

fn holds(report: &Report) -> bool {
    report.verdict("linearizable").holds.unwrap()
}

#[test]
fn an_atomic_counter_is() {
    let report = explore(&[vec![Add::Atomic(1), Add::Atomic(2)], vec![Add::Atomic(4), Add::ReadsTwice]]);
    assert!(holds(&report) && report.complete);
}

#[test]
fn a_counter_that_reads_and_then_writes_is_not() {
    let report = explore(&[vec![Add::InTwoSteps(1)], vec![Add::InTwoSteps(1)]]);
    let trace = report.verdict("linearizable").trace.clone().unwrap();
    let did: Vec<_> = trace.steps.iter().map(|s| (s.process, s.did.as_str())).collect();
    assert_eq!(did, [(1, "calls 1; X = 0"), (0, "calls 1; X = 0"), (0, "X := 1; returns 0"), (1, "X := 1; returns 0")]);
}

#[test]
fn whoever_returns_what_was_before_it_began_is_not() {
    // The reader begins after the other has counted, and another has seen that; the copy is not
    // made yet.
    let report = explore(&[vec![Add::ThenCopies(1)], vec![Add::ReadsTwice, Add::ReadsCopy]]);
    assert!(!holds(&report));
    // No process has seen it: the addition takes effect when the copy is made.
    assert!(holds(&explore(&[vec![Add::ThenCopies(1)], vec![Add::ReadsCopy, Add::ReadsCopy]])));
}

#[test]
fn an_order_that_only_real_time_forbids_is_found() {
    // It was over before the reader began.
    assert!(!holds(&explore(&[vec![Add::Atomic(1)], vec![Add::ReadsCopy]])));
}

/// Writes, and returns the old value.
struct Exchange;

impl Sequential for Exchange {
    type State = u64;
    type Op = u64;
    type Response = u64;

    fn initial(&self) -> u64 {
        0
    }

    fn apply(&self, state: &u64, new: u64) -> (u64, u64) {
        (new, *state)
    }
}

fn exchanges(atomic: bool) -> Report {
    let text = move |v: Rc<Vars>, p: Process<Sim>| async move {
        let p = p.on(Sim::ROOT);
        let Ok(chosen) = p.at(1).choose(3).await;
        let new = chosen as u64;
        p.invokes(new);
        p.keep(2, &new);
        if atomic {
            let Ok(old) = p.at(2).swap(&v.x, new).await;
            p.responds(old);
        } else {
            let Ok(old) = p.at(2).read(&v.x).await;
            p.keep(3, &(new, old));
            let Ok(()) = p.at(3).write(&v.x, new).await;
            p.responds(old);
        }
    };
    let world = World::of_programs(3, Rules::default(), Vars::new, text).unwrap();
    Explorer::new(3).property(Property::linearizable("linearizable", Exchange)).explore(world).unwrap()
}

#[test]
fn passages_need_no_bound_where_the_object_has_few_states() {
    let report = exchanges(true);
    assert!(holds(&report) && report.complete);
    assert!(!holds(&exchanges(false)));
}

/// `p0` announces an addition and makes it. A process that finds it announced, and not made, makes
/// it this many times. Every operation adds 1.
fn helps(times: u64, crashes: usize) -> Report {
    let text = move |v: Rc<Vars>, p: Process<Sim>| async move {
        let me = p.pid().index();
        let p = p.on(Sim::ROOT);
        p.invokes(1u64);
        if me == 0 {
            let Ok(()) = p.at(1).write(&v.announced, 1).await;
            let Ok(mine) = p.at(2).compare_swap(&v.announced, 1, 2).await;
            if mine.is_ok() {
                let Ok(old) = p.at(3).fetch_add(&v.x, 1).await;
                p.responds(old);
            } else {
                let Ok(old) = p.at(4).wait_until(&v.y, |y| y > 0).await;
                p.responds(old - 1);
            }
        } else {
            let Ok(found) = p.at(5).compare_swap(&v.announced, 1, 2).await;
            if found.is_ok() {
                let Ok(old) = p.at(6).fetch_add(&v.x, times).await;
                let Ok(()) = p.at(7).write(&v.y, old + 1).await;
            }
            let Ok(old) = p.at(8).fetch_add(&v.x, 1).await;
            p.responds(old);
        }
    };
    let rules = Rules { crashes, ..Rules::with_passages(Some(1)) };
    ask(World::of_programs(3, rules, Vars::new, text).unwrap(), 1 << 20)
}

#[test]
fn an_operation_that_a_crash_cut_short_may_take_effect_later_or_never() {
    for crashes in 0..=3 {
        let report = helps(1, crashes);
        assert!(holds(&report) && report.complete, "{crashes} crashes");
    }
}

#[test]
fn an_operation_that_a_crash_cut_short_does_not_take_effect_twice() {
    assert!(!holds(&helps(2, 0)));
    assert!(!holds(&helps(2, 1)));
}

#[test]
fn an_operation_that_begins_with_a_wait_begins_once() {
    let text = |v: Rc<Vars>, p: Process<Sim>| async move {
        let me = p.pid().index();
        let p = p.on(Sim::ROOT);
        let Ok(_) = p.at(1).read(&v.y).await;
        p.invokes(me as u64);
        if me == 0 {
            let Ok(seen) = p.at(2).wait_until(&v.x, |x| x > 0).await;
            p.responds(seen);
        } else {
            let Ok(old) = p.at(3).fetch_add(&v.x, 1).await;
            p.responds(old);
        }
    };
    let world =
        || World::of_programs(2, Rules::with_passages(Some(1)), Vars::new, text).unwrap().with_object(Counter(9));
    assert!(holds(&ask(world(), 9)));
    let mut run = Runner::new(world());
    run.follow("p0.1 p0.0 p0.2~ p0.2~ p1.1 p1.3 p0.2").unwrap();
    assert!(run.view().is_linearizable());
    let trace = run.trace().unwrap();
    let did: Vec<_> = trace.steps.iter().map(|s| s.did.as_str()).collect();
    assert_eq!(
        did,
        ["Y = 0", "calls 0", "X = 0", "X = 0", "Y = 0", "calls 1; X += 1, was 0; returns 0", "X = 1; returns 1"]
    );
    assert!(trace.to_string().contains("0: calls 0"), "{trace}");
}

#[test]
fn samples_find_it_too() {
    let mut world = world_of(Rules::with_passages(Some(1)), vec![vec![Add::InTwoSteps(1)]; 2]);
    let sampler = Sampler { choose: Choose::Random, runs: 1000, length: 20, seed: 1 };
    let sampled = sampler.run(&mut world, vec![Property::linearizable("linearizable", Counter(9))]).unwrap();
    assert_eq!(sampled.verdicts[0].holds, Some(false));
}

#[test]
fn where_nothing_is_called_the_property_says_so() {
    let text = |v: Rc<Vars>, p: Process<Sim>| async move {
        let Ok(_) = p.on(Sim::ROOT).at(1).read(&v.x).await;
    };
    let report = ask(World::of_programs(2, Rules::default(), Vars::new, text).unwrap(), 9);
    assert_eq!(report.verdict("linearizable").vacuous, Some("the text calls no operation (`p.invokes`)"));
}

#[test]
fn a_keep_that_hides_the_result_is_found() {
    let text = |hides: bool| {
        move |v: Rc<Vars>, p: Process<Sim>| async move {
            let p = p.on(Sim::ROOT);
            p.invokes(1u64);
            let Ok(old) = p.at(1).fetch_add(&v.x, 1).await;
            p.keep(2, &(!hides).then_some(old));
            let Ok(_) = p.at(2).read(&v.y).await;
            p.responds(old);
        }
    };
    let rules = Rules { keep: Keep::CrossChecked, ..Rules::with_passages(Some(1)) };
    let explore = |hides| {
        let world = World::of_programs(2, rules, Vars::new, text(hides)).unwrap();
        Explorer::new(2).explore(world)
    };
    assert!(explore(false).is_ok());
    assert!(matches!(explore(true), Err(TextError::KeepHides { label: 2, .. })));
}

#[test]
fn operations_out_of_turn_are_errors() {
    let explore = |wrong: usize| {
        let text = move |v: Rc<Vars>, p: Process<Sim>| async move {
            let p = p.on(Sim::ROOT);
            let Ok(_) = p.at(1).read(&v.x).await;
            match wrong {
                0 => p.responds(0u64),
                1 => (p.invokes(0u64), p.invokes(0u64)).0,
                2 => (p.invokes(0u64), p.responds(0u64)).0,
                3 => p.invokes(0u64),
                _ => {}
            }
            let turn = || async {
                let x = p.at(2).read(&v.x).await?;
                if wrong == 4 {
                    p.invokes(0u64);
                }
                Ok((x > 0).then_some(()))
            };
            if wrong == 4 {
                let Ok(()) = p.spin_until(turn).await;
            }
            let Ok(_) = p.at(3).read(&v.x).await;
        };
        World::of_programs(1, Rules::default(), Vars::new, text).and_then(|w| Explorer::new(1).explore(w))
    };
    for wrong in 0..=4 {
        assert!(matches!(explore(wrong), Err(TextError::Calls { .. })), "{wrong}");
    }
    assert!(explore(5).is_ok());
}

// ---- the oracle: all interleavings one by one, and for each complete history all orders (Wing and
// Gong)

#[derive(Clone, Copy, Debug)]
struct Called {
    delta: u64,
    result: u64,
    begun: usize,
    ended: usize,
}

/// Whether some order that respects real time explains the results.
fn some_order(calls: &[Called], count: u64) -> bool {
    let first = |a: &Called| calls.iter().all(|b| b.ended >= a.begun);
    calls.is_empty()
        || (0..calls.len()).any(|i| {
            let rest: Vec<_> = (0..calls.len()).filter(|&j| j != i).map(|j| calls[j]).collect();
            calls[i].result == count && first(&calls[i]) && some_order(&rest, count + calls[i].delta)
        })
}

#[derive(Clone, Default)]
struct Naive {
    vars: [u64; 2],
    /// For each process: how many operations it has made, whether it is in the middle of one, what
    /// that saw and when it began.
    at: Vec<(usize, Option<(u64, usize)>)>,
    done: Vec<Called>,
    time: usize,
}

/// Whether every complete history from here is explained.
fn all_explained(programs: &[Vec<Add>], state: &Naive) -> bool {
    let mut anyone = false;
    for p in 0..programs.len() {
        let (made, within) = state.at[p];
        let Some(&add) = programs[p].get(made) else { continue };
        anyone = true;
        let mut next = state.clone();
        next.time += 1;
        let [x, y] = &mut next.vars;
        let delta = add.delta();
        let (old, begun, over) = match (within, add) {
            (None, Add::Atomic(d)) => (std::mem::replace(x, *x + d), state.time, true),
            (None, Add::ReadsCopy) => (*y, state.time, true),
            (None, Add::ThenCopies(d)) => (std::mem::replace(x, *x + d), state.time, false),
            (None, Add::InTwoSteps(_) | Add::ReadsTwice) => (*x, state.time, false),
            (Some((old, begun)), Add::InTwoSteps(d)) => {
                *x = old + d;
                (old, begun, true)
            }
            (Some((old, begun)), Add::ThenCopies(d)) => {
                *y = old + d;
                (old, begun, true)
            }
            (Some((old, begun)), _) => (old, begun, true),
        };
        if over {
            next.done.push(Called { delta, result: old, begun, ended: state.time });
            next.at[p] = (made + 1, None);
        } else {
            next.at[p].1 = Some((old, begun));
        }
        if !all_explained(programs, &next) {
            return false;
        }
    }
    anyone || some_order(&state.done, 0)
}

fn add() -> impl Strategy<Value = Add> {
    prop_oneof![
        (1..3u64).prop_map(Add::Atomic),
        (0..2u64).prop_map(Add::InTwoSteps),
        (1..3u64).prop_map(Add::ThenCopies),
        Just(Add::ReadsCopy),
        Just(Add::ReadsTwice),
    ]
}

fn programs() -> impl Strategy<Value = Vec<Vec<Add>>> {
    let of = |n, most| prop::collection::vec(prop::collection::vec(add(), 1..=most), n);
    prop_oneof![of(2, 3), of(3, 1)]
}

#[test]
fn the_oracle_says_the_same_of_random_programs() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut verdicts = [0; 2];
    for _ in 0..500 {
        let programs = programs().new_tree(&mut runner).unwrap().current();
        let naive = Naive { at: vec![(0, None); programs.len()], ..Naive::default() };
        let expected = all_explained(&programs, &naive);
        assert_eq!(holds(&explore(&programs)), expected, "{programs:?}");
        verdicts[usize::from(expected)] += 1;
    }
    assert!(verdicts.iter().all(|&times| times > 50), "{verdicts:?}: both verdicts are common");
}
