//! How much a partial order reduction would gain: `cargo run --release -p doorway-check --example
//! partial_order`.
//!
//! Some processes go on before all others do (an *ample set*), if what they do next concerns no
//! variable that another process accesses from now on, in a way that matters. None of these steps
//! may change which processes are inside, which is all that exclusion sees. And one of them must
//! lead to a state whose steps were not tried yet, so that no process is put off for ever. The
//! choice is the most generous one: what a process can do from now on is known exactly, from a
//! search of all states, and the smallest such set of processes is taken. Both searches must see as
//! many processes inside together.

use doorway_check::sim::{Action, LocalId, Op, Phase, Rules, State, World};
use doorway_check::subject;
use doorway_core::registry::Sizes;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

/// What an access does to a variable: the variable, and whether it may change it.
type Access = (u32, bool);

fn accesses(op: Op) -> Option<Access> {
    op.var().map(|v| (v, !matches!(op, Op::Read(_))))
}

fn conflict((v, writes): Access, (w, others): Access) -> bool {
    v == w && (writes || others)
}

/// Each step of a state: the process, and where it led.
fn steps(world: &mut World, state: &State) -> Vec<(usize, State)> {
    let mut actions = Vec::new();
    (0..world.processes()).for_each(|p| world.actions(state, p, &mut actions));
    let mut all = Vec::new();
    for Action { process, what } in actions {
        let mut next = state.clone();
        if world.act(&mut next, Action { process, what }).unwrap().is_some() {
            all.push((process, next));
        }
    }
    all
}

/// How many processes are inside.
fn inside(world: &World, state: &State) -> usize {
    (0..world.processes()).filter(|&p| world.phase(state, p) == Phase::Inside).count()
}

/// For each process and local state what it can access from there on.
type Futures = Vec<HashMap<LocalId, BTreeSet<Access>>>;

/// How many states there are, how many processes are inside together, and what each can access.
fn futures(world: &mut World, initial: &State, most: usize) -> Option<(usize, usize, Futures)> {
    let n = world.processes();
    let (mut been, mut todo) = (HashSet::from([initial.clone()]), VecDeque::from([initial.clone()]));
    let mut now: Futures = vec![HashMap::new(); n];
    let mut leads: Vec<HashSet<(LocalId, LocalId)>> = vec![HashSet::new(); n];
    let mut together = 0;
    while let Some(state) = todo.pop_front() {
        together = together.max(inside(world, &state));
        for (p, now) in now.iter_mut().enumerate() {
            now.entry(state.locals[p]).or_default().extend(accesses(world.next(&state, p)));
        }
        for (p, next) in steps(world, &state) {
            leads[p].insert((state.locals[p], next.locals[p]));
            if been.len() > most {
                return None;
            }
            if been.insert(next.clone()) {
                todo.push_back(next);
            }
        }
    }
    for p in 0..n {
        while {
            let mut grown = false;
            for &(from, to) in &leads[p] {
                let more = now[p].get(&to).cloned().unwrap_or_default();
                let here = now[p].entry(from).or_default();
                let before = here.len();
                here.extend(more);
                grown |= here.len() > before;
            }
            grown
        } {}
    }
    Some((been.len(), together, now))
}

/// The smallest set of processes that may go on alone, as bits.
fn ample(world: &World, state: &State, able: &[usize], now: &Futures) -> Vec<u32> {
    let n = world.processes();
    let alone = |set: u32| {
        let inside = (0..n).filter(|p| set >> p & 1 == 1);
        inside.clone().all(|p| able.contains(&p))
            && inside.filter_map(|p| accesses(world.next(state, p))).all(|mine| {
                let others = (0..n).filter(|q| set >> q & 1 == 0);
                let mut theirs = others.filter_map(|q| now[q].get(&state.locals[q])).flatten();
                !theirs.any(|&access| conflict(mine, access))
            })
    };
    let mut sets: Vec<u32> = (1..(1u32 << n) - 1).filter(|&set| alone(set)).collect();
    sets.sort_by_key(|set| set.count_ones());
    sets
}

fn main() {
    let most = std::env::args().nth(1).map_or(400_000, |most| most.parse().expect("a number of states"));
    let rows = [
        ("tas", 3, 1, None),
        ("ticket", 4, 1, None),
        ("mcs", 3, 1, None),
        ("lamport-fast", 3, 1, None),
        ("bakery", 3, 1, Some(1)),
        ("black-white-bakery", 3, 1, Some(1)),
        ("peterson-tree", 4, 1, None),
        ("kessels-tree", 4, 1, None),
        ("ya-tree", 3, 1, Some(1)),
        ("am-chain", 4, 2, None),
        ("am-tree", 4, 1, None),
        ("am-fast", 3, 1, None),
        ("am-dsm-chain", 3, 2, Some(1)),
        ("kbakery", 3, 2, Some(1)),
        ("dgs-unfair", 2, 1, None),
        ("turnstile", 3, 2, Some(1)),
    ];
    println!("{:20} {:5} {:>9} {:>9} {:>6}", "text", "n, k", "states", "reduced", "gain");
    for (id, n, k, passages) in rows {
        let subject = subject::find(id).expect("the catalogue has it");
        let rules = Rules { passages, ..subject.rules() };
        let mut world = subject.world(Sizes { n, k }, rules).expect("it can be built");
        let initial = world.initial();
        let Some((all, together, now)) = futures(&mut world, &initial, most) else {
            println!("{id:20} {n}, {k}  more than {most}");
            continue;
        };
        let (mut been, mut todo) = (HashSet::from([initial.clone()]), VecDeque::from([initial]));
        let (mut done, mut most_inside) = (HashSet::new(), 0);
        while let Some(state) = todo.pop_front() {
            let steps = steps(&mut world, &state);
            done.insert(state.clone());
            most_inside = most_inside.max(inside(&world, &state));
            let able: Vec<usize> = (0..n).filter(|p| steps.iter().any(|(q, _)| p == q)).collect();
            let is_inside = |state: &State, p: usize| world.phase(state, p) == Phase::Inside;
            let chosen = ample(&world, &state, &able, &now).into_iter().find(|set| {
                let mut of_set = steps.iter().filter(|(p, _)| set >> p & 1 == 1);
                of_set.clone().all(|(p, next)| is_inside(&state, *p) == is_inside(next, *p))
                    && of_set.any(|(_, next)| !done.contains(next))
            });
            for (p, next) in steps {
                if chosen.is_none_or(|set| set >> p & 1 == 1) && been.insert(next.clone()) {
                    todo.push_back(next);
                }
            }
        }
        assert_eq!(most_inside, together, "{id}: the reduced search sees another number inside");
        println!("{id:20} {n}, {k}  {all:>9} {:>9} {:>6.2}", been.len(), all as f64 / been.len() as f64);
    }
}
