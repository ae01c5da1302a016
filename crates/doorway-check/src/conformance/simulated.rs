//! The simulated memory as a backend: all interleavings.

use super::{Backend, Litmus, Outcome, Vars};
use crate::sim::{Op, Rules, World};
use std::collections::{BTreeSet, HashSet};

/// The simulated memory, all interleavings of it.
#[derive(Clone, Copy, Debug)]
pub struct Simulated;

/// Marks a result that was not written.
const NOTHING: u64 = u64::MAX - 1;

impl Backend for Simulated {
    const EXHAUSTIVE: bool = true;

    fn outcomes(&self, litmus: Litmus) -> BTreeSet<Outcome> {
        let n = litmus.processes();
        let rules = Rules { passages: Some(1), ..Rules::default() };
        // A process also writes down what it returns, so that the final states show the outcomes.
        let world = World::of_programs(
            n,
            rules,
            |site| (Vars::new(site), site.row("result", n * Litmus::RESULTS, |_| NOTHING.into())),
            move |shared, p| async move {
                let (vars, results) = &*shared;
                let Ok(returned) = litmus.body(vars, &p).await;
                for (i, &x) in returned.iter().enumerate() {
                    let Ok(()) = p.on(vars.part).at(99).write(&results[p.pid().index() * Litmus::RESULTS + i], x).await;
                }
            },
        );
        let mut world = world.expect("a litmus test awaits accesses only");
        let first = world.layout().find(crate::sim::Part::ROOT, "result", 0).expect("it was just declared") as usize;

        let (mut seen, mut todo) = (HashSet::new(), vec![world.initial()]);
        let mut outcomes = BTreeSet::new();
        while let Some(state) = todo.pop() {
            let running: Vec<usize> = (0..n).filter(|&p| world.next(&state, p) != Op::Stop).collect();
            if running.is_empty() {
                let of = |p: usize| &state.vars[first + p * Litmus::RESULTS..][..Litmus::RESULTS];
                outcomes.insert((0..n).map(|p| of(p).iter().copied().filter(|&x| x != NOTHING).collect()).collect());
            }
            for p in running {
                let mut next = state.clone();
                world.step(&mut next, p).expect("a litmus test is deterministic");
                if seen.insert(next.clone()) {
                    todo.push(next);
                }
            }
        }
        outcomes
    }
}
