//! Random small programs: the explorer finds exactly the states that naive enumeration of
//! interleavings finds, and the same deadlocks.

use doorway_check::sim::{Keep, Rules, Sim, SimCell, SimVar, World};
use doorway_check::{Explorer, Property};
use doorway_core::memory::{Process, Site};
use proptest::prelude::*;
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

#[derive(Clone, Copy, Debug)]
enum Instr {
    Read(usize),
    Write(usize, u64),
    Add(usize, u64),
    Or(usize, u64),
    BoundedDecrement(usize),
    TestAndSet,
    Swap(usize, u64),
    CompareSwap(usize, u64, u64),
    Wait(usize, u64),
    /// A step that is not an access: a program that begins with a wait begins with it.
    Begin,
}

fn instr() -> impl Strategy<Value = Instr> {
    let (v, x) = (0..2usize, 0..3u64);
    prop_oneof![
        v.clone().prop_map(Instr::Read),
        (v.clone(), x.clone()).prop_map(|(v, x)| Instr::Write(v, x)),
        (v.clone(), prop_oneof![Just(1), Just(u64::MAX)]).prop_map(|(v, d)| Instr::Add(v, d)),
        (v.clone(), x.clone()).prop_map(|(v, m)| Instr::Or(v, m)),
        v.clone().prop_map(Instr::BoundedDecrement),
        Just(Instr::TestAndSet),
        (v.clone(), x.clone()).prop_map(|(v, x)| Instr::Swap(v, x)),
        (v.clone(), x.clone(), x.clone()).prop_map(|(v, a, b)| Instr::CompareSwap(v, a, b)),
        (v, x).prop_map(|(v, x)| Instr::Wait(v, x)),
    ]
}

type Programs = Vec<Vec<Instr>>;

/// Two processes with up to five instructions, or three with up to three.
fn programs() -> impl Strategy<Value = Programs> {
    let of = |n, most| prop::collection::vec(prop::collection::vec(instr(), 0..=most), n);
    prop_oneof![of(2, 5), of(3, 3)]
}

// ---- naively: a second implementation of the instructions, and plain recursion over all
// interleavings

/// Shared variables (two numbers and a bit), and for each process what it has seen.
type Naive = ([u64; 3], Vec<Vec<u64>>);

/// What the next instruction sees and does to the variables; `None` for a wait that fails.
fn naive_step(vars: [u64; 3], instr: Instr) -> Option<([u64; 3], u64)> {
    let mut after = vars;
    let saw = match instr {
        Instr::Read(v) => vars[v],
        Instr::Write(v, x) => {
            after[v] = x;
            0
        }
        Instr::Add(v, d) => {
            after[v] = vars[v].wrapping_add(d);
            vars[v]
        }
        Instr::Or(v, m) => {
            after[v] |= m;
            vars[v]
        }
        Instr::BoundedDecrement(v) => {
            if vars[v] > 0 {
                after[v] -= 1;
            }
            vars[v]
        }
        Instr::TestAndSet => {
            after[2] = 1;
            vars[2]
        }
        Instr::Swap(v, x) => {
            after[v] = x;
            vars[v]
        }
        Instr::CompareSwap(v, a, b) => {
            if vars[v] == a {
                after[v] = b;
            }
            vars[v]
        }
        Instr::Begin => 0,
        Instr::Wait(v, x) if vars[v] == x => x,
        Instr::Wait(..) => return None,
    };
    Some((after, saw))
}

/// A program that waits at once, at the latest at its end, begins with a step of its own.
fn spell_out(program: &[Instr]) -> Vec<Instr> {
    let waits_at_once = matches!(program.first(), None | Some(Instr::Wait(..)));
    waits_at_once.then_some(Instr::Begin).into_iter().chain(program.iter().copied()).collect()
}

/// Records the state, and continues with each process in turn.
fn enumerate(programs: &Programs, state: &Naive, found: &mut BTreeSet<Naive>) {
    found.insert(state.clone());
    for (p, program) in programs.iter().enumerate() {
        let Some(&instr) = program.get(state.1[p].len()) else { continue };
        if let Some((vars, saw)) = naive_step(state.0, instr) {
            let mut next = (vars, state.1.clone());
            next.1[p].push(saw);
            enumerate(programs, &next, found);
        }
    }
}

/// Whether some process has begun, and none that has can go on.
fn is_deadlock(programs: &Programs, (vars, saw): &Naive) -> bool {
    let begun = || (0..programs.len()).filter(|&p| !saw[p].is_empty());
    let stuck = |p: usize| programs[p].get(saw[p].len()).is_none_or(|&instr| naive_step(*vars, instr).is_none());
    begun().next().is_some() && begun().all(stuck)
}

// ---- the same programs in the simulator

struct Vars {
    number: Vec<SimCell<u64>>,
    bit: SimVar<bool>,
    never: SimVar<bool>,
}

async fn body(vars: Rc<Vars>, p: Process<Sim>, programs: Rc<Programs>) {
    let at = p.on(doorway_check::sim::Part::ROOT).at(1);
    for instr in &programs[p.pid().index()] {
        let Ok(()) = match *instr {
            Instr::Read(v) => at.read(&vars.number[v]).await.map(|_| ()),
            Instr::Write(v, x) => at.write(&vars.number[v], x).await,
            Instr::Add(v, d) => at.fetch_add(&vars.number[v], d).await.map(|_| ()),
            Instr::Or(v, m) => at.fetch_or(&vars.number[v], m).await.map(|_| ()),
            Instr::BoundedDecrement(v) => at.bounded_decrement(&vars.number[v]).await.map(|_| ()),
            Instr::TestAndSet => at.test_and_set(&vars.bit).await.map(|_| ()),
            Instr::Swap(v, x) => at.swap(&vars.number[v], x).await.map(|_| ()),
            Instr::CompareSwap(v, a, b) => at.compare_swap(&vars.number[v], a, b).await.map(|_| ()),
            Instr::Begin => unreachable!("only the naive enumeration is given it"),
            Instr::Wait(v, x) => at.wait_until(&vars.number[v], |y| y == x).await.map(|_| ()),
        };
    }
    // Stays here, so that the local state still tells what was seen.
    let _ = at.wait_until(&vars.never, |x| x).await;
}

fn world(programs: &Programs, keep: Keep) -> World {
    let text = Rc::new(programs.clone());
    let build = |site: &Site<'_, Sim>| Vars {
        number: site.row("number", 2, |_| 0.into()),
        bit: site.var("bit", false),
        never: site.var("never", false),
    };
    let rules = Rules { keep, ..Rules::default() };
    World::of_programs(programs.len(), rules, build, move |vars, p| body(vars, p, Rc::clone(&text))).unwrap()
}

/// All states, with what each process has seen.
fn simulate(programs: &Programs) -> BTreeSet<Naive> {
    let mut world = world(programs, Keep::Ignored);
    let (mut seen, mut todo) = (BTreeSet::new(), VecDeque::from([world.initial()]));
    while let Some(state) = todo.pop_front() {
        let saw = (0..programs.len()).map(|p| world.history(&state, p)).collect();
        if seen.insert(([state.vars[0], state.vars[1], state.vars[2]], saw)) {
            for p in 0..programs.len() {
                let mut next = state.clone();
                world.step(&mut next, p).unwrap();
                todo.push_back(next);
            }
        }
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_explorer_agrees_with_naive_enumeration(programs in programs()) {
        let initial = ([0; 3], vec![Vec::new(); programs.len()]);
        let mut naive = BTreeSet::new();
        let spelt_out: Programs = programs.iter().map(|p| spell_out(p)).collect();
        enumerate(&spelt_out, &initial, &mut naive);

        prop_assert_eq!(&simulate(&programs), &naive);
        let explore = |keep| {
            Explorer::new(programs.len())
                .property(Property::never_stuck("never-stuck"))
                .property(Property::always("never decided early", |_| true))
                .keep_going(true)
                .explore(world(&programs, keep))
                .unwrap()
        };
        let (report, merged) = (explore(Keep::Ignored), explore(Keep::Trusted));
        prop_assert!(report.complete && merged.complete);
        prop_assert_eq!(report.states, naive.len());
        prop_assert_eq!(report.edges as usize, naive.len() * programs.len());
        // Local states that go on alike are one, so there are fewer. No value is lost by that.
        let values = naive.iter().map(|(values, _)| values).collect::<BTreeSet<_>>().len();
        prop_assert!((values..=report.states).contains(&merged.states));
        // Each step that is not a failed turn lets one process see one more value.
        let steps = |(_, saw): &Naive| saw.iter().map(Vec::len).sum::<usize>();
        let shortest = naive.iter().filter(|state| is_deadlock(&spelt_out, state)).map(steps).min();
        for report in [report, merged] {
            let trace = report.verdict("never-stuck").trace.as_ref();
            prop_assert_eq!(trace.map(doorway_check::trace::Trace::len), shortest);
        }
    }
}
