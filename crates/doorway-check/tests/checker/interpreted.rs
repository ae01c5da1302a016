//! Random programs with loops. Everything that a process knows is in its future, so local states
//! are merged by their bytes. A search finds the same as an explorer that interprets the programs
//! itself. No random run breaks a formula that a search says holds.

use crate::temporal::{F, formula};
use doorway_check::prelude::*;
use doorway_check::property::{Formula, holds};
use doorway_check::sim::{Keep, Rules, World};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// Each is one access, and then a jump by what was seen. Registers and variables count to 3.
#[derive(Clone, Copy, Debug)]
enum Does {
    /// Into a register.
    Read { v: usize, into: usize },
    /// A register and something more.
    Write { v: usize, from: usize, plus: u64 },
    /// Exchanges a register and a variable.
    Swap { v: usize, with: usize },
    /// Reads, and goes elsewhere if that is what a register contains.
    JumpIf { v: usize, is: usize, to: usize },
}

const LENGTH: usize = 5;
const MOST: u64 = 3;

/// Not a list, which would be elsewhere.
type Program = [Does; LENGTH];

fn does() -> impl Strategy<Value = Does> {
    let (v, r) = (0..2usize, 0..2usize);
    prop_oneof![
        (v.clone(), r.clone()).prop_map(|(v, into)| Does::Read { v, into }),
        (v.clone(), r.clone(), 0..MOST).prop_map(|(v, from, plus)| Does::Write { v, from, plus }),
        (v.clone(), r.clone()).prop_map(|(v, with)| Does::Swap { v, with }),
        (v, r, 0..=LENGTH).prop_map(|(v, is, to)| Does::JumpIf { v, is, to }),
    ]
}

fn programs() -> impl Strategy<Value = [Program; 2]> {
    let program = || [does(), does(), does(), does(), does()];
    [program(), program()]
}

/// Where a process is, and its registers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
struct At {
    /// Whether its passage has begun.
    begun: bool,
    line: usize,
    registers: [u64; 2],
}

type State = ([u64; 2], [At; 2]);

fn step(program: &Program, vars: &mut [u64; 2], at: &mut At) {
    let r = &mut at.registers;
    let mut line = at.line + 1;
    match program[at.line] {
        Does::Read { v, into } => r[into] = vars[v],
        Does::Write { v, from, plus } => vars[v] = (r[from] + plus) % MOST,
        Does::Swap { v, with } => std::mem::swap(&mut vars[v], &mut r[with]),
        Does::JumpIf { v, is, to } if vars[v] == r[is] => line = to,
        Does::JumpIf { .. } => {}
    }
    (at.begun, at.line) = (true, line);
    if line == LENGTH {
        *at = At::default();
    }
}

/// The values of the variables in all states.
fn explored(programs: &[Program; 2]) -> BTreeSet<[u64; 2]> {
    let (mut been, mut todo) = (BTreeSet::<State>::new(), vec![State::default()]);
    while let Some((vars, at)) = todo.pop() {
        if been.insert((vars, at)) {
            for p in 0..2 {
                let (mut vars, mut at) = (vars, at);
                step(&programs[p], &mut vars, &mut at[p]);
                todo.push((vars, at));
            }
        }
    }
    been.into_iter().map(|(vars, _)| vars).collect()
}

fn predicate(i: usize) -> Formula {
    match i {
        0 => holds("x", |v| v.get::<u64>("x") == 1),
        1 => holds("y", |v| v.get::<u64>("y") == 1),
        _ => holds("p0 is outside", |v| v.phase(0) == Phase::Remainder),
    }
}

/// Whether no fair run breaks a formula, of those that are found at random. Each goes on until a
/// state comes again.
fn holds_at_random(programs: &[Program; 2], f: &F) -> bool {
    let mut random = fastrand::Rng::with_seed(7);
    (0..300).all(|_| {
        let (mut states, mut steps) = (vec![State::default()], Vec::new());
        // One of them may rest for a while, or for ever.
        let rests = random.usize(..3);
        let from = loop {
            let (mut vars, mut at) = states[states.len() - 1];
            let p = if rests < 2 && !at[rests].begun && random.u8(..8) > 0 { 1 - rests } else { random.usize(..2) };
            step(&programs[p], &mut vars, &mut at[p]);
            steps.push(p);
            // Not always at the first time: a longer circle may be fair.
            let been = states.iter().position(|&state| state == (vars, at));
            if let Some(from) = been.filter(|_| random.bool() || states.len() > 100) {
                break from;
            }
            states.push((vars, at));
        };
        let fair = |p: usize| steps[from..].contains(&p) || !states[from].1[p].begun;
        let run: Vec<_> = states.iter().map(|(vars, at)| [vars[0] == 1, vars[1] == 1, !at[0].begun]).collect();
        !(fair(0) && fair(1)) || f.holds_on(&run, from, 0)
    })
}

/// The same, by a search, and whether it says that a formula holds.
fn searched(programs: [Program; 2], threads: usize, f: Option<&F>) -> (BTreeSet<[u64; 2]>, Report) {
    let rules = Rules { keep: Keep::Trusted, ..Rules::default() };
    let build = |site: &Site<'_, Sim>| [site.var("x", 0u64), site.var("y", 0u64)];
    let world = World::of_programs(2, rules, build, move |vars, p| {
        let program = programs[p.pid().index()];
        async move {
            let here = p.on(Sim::ROOT);
            let (mut line, mut r) = (0, [0u64; 2]);
            while line < LENGTH {
                let at = here.at(line as u16 + 1);
                line += 1;
                match program[line - 1] {
                    Does::Read { v, into } => {
                        let Ok(x) = at.read(&vars[v]).await;
                        r[into] = x;
                    }
                    Does::Write { v, from, plus } => {
                        let Ok(()) = at.write(&vars[v], (r[from] + plus) % MOST).await;
                    }
                    Does::Swap { v, with } => {
                        let Ok(x) = at.swap(&vars[v], r[with]).await;
                        r[with] = x;
                    }
                    Does::JumpIf { v, is, to } => {
                        let Ok(x) = at.read(&vars[v]).await;
                        if x == r[is] {
                            line = to;
                        }
                    }
                }
            }
        }
    })
    .unwrap();
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let sees = Arc::clone(&seen);
    let all = Property::always("seen", move |v| {
        sees.lock().unwrap().insert([v.get::<u64>("x"), v.get::<u64>("y")]);
        true
    });
    let f = f.map(|f| Property::ltl("f", f.of(predicate)));
    let report =
        Explorer::new(2).believe_keep(true).threads(threads).property(all).properties(f).explore(world).unwrap();
    let seen = seen.lock().unwrap().clone();
    (seen, report)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn plain_loops_reach_what_an_interpreter_reaches(programs in programs()) {
        let (seen, report) = searched(programs, 1, None);
        prop_assert!(report.complete, "{}", report);
        prop_assert_eq!(seen, explored(&programs));
    }

    #[test]
    fn no_random_run_breaks_a_formula_that_holds(programs in programs(), f in formula()) {
        let (_, one) = searched(programs, 1, Some(&f));
        let verdict = one.verdict("f");
        prop_assert!(verdict.holds == Some(false) || holds_at_random(&programs, &f), "{}\n{}", f.of(predicate), one);
        // A run that is shown was evaluated by itself. Two threads find the same.
        let (_, two) = searched(programs, 2, Some(&f));
        let shown = |report: &Report| (report.states, report.edges, report.verdict("f").trace.clone());
        prop_assert_eq!(shown(&one), shown(&two));
    }
}
