//! The stored graph: components, fair cycles, longest passages.
//!
//! Every process that has not crashed and is not in its remainder always has a step (a failed turn
//! counts as one). So a run is fair if each of these processes steps for ever, and a fair run ends
//! up in a strongly connected component in which each of them has a step. A property of all fair
//! runs is therefore decided on the components *of the part of the graph where the bad thing
//! lasts*, not on those of the whole graph.

use super::store::StateId;
use std::collections::VecDeque;

/// A step between states.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) to: StateId,
    by: u16,
}

const CRASH: u16 = 1 << 15;
const ENTERS: u16 = 1 << 14;
/// Both bits: a crash never enters.
const GIVES_UP: u16 = CRASH | ENTERS;
/// The position of the cost, which has eight bits.
const COST: u32 = 6;
/// At most 64: larger systems have no graph.
const PROCESS: u16 = (1 << COST) - 1;

/// The kind of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Step,
    /// Into the critical section.
    Enters,
    Crash,
    /// A wait is abandoned.
    GivesUp,
}

impl Edge {
    pub(super) fn new(to: StateId, process: usize, kind: Kind, cost: u8) -> Self {
        let flags = match kind {
            Kind::Step => 0,
            Kind::Enters => ENTERS,
            Kind::Crash => CRASH,
            Kind::GivesUp => GIVES_UP,
        };
        Self { to, by: process as u16 | u16::from(cost) << COST | flags }
    }

    /// What it says beside where it leads.
    pub(super) fn by(self) -> u16 {
        self.by
    }

    /// The step to a state of which only that is known.
    pub(super) fn leading(to: StateId, by: u16) -> Self {
        Self { to, by }
    }

    pub(super) fn process(self) -> usize {
        usize::from(self.by & PROCESS)
    }

    pub(super) fn is_crash(self) -> bool {
        self.by & GIVES_UP == CRASH
    }

    pub(super) fn gives_up(self) -> bool {
        self.by & GIVES_UP == GIVES_UP
    }

    pub(super) fn enters(self) -> bool {
        self.by & GIVES_UP == ENTERS
    }

    pub(super) fn cost(self) -> u64 {
        u64::from((self.by >> COST) as u8)
    }
}

/// All states and steps.
#[derive(Default, Debug)]
pub(super) struct Graph {
    starts: Vec<u64>,
    to: Vec<StateId>,
    by: Vec<u16>,
    /// For each state, the processes that need not step: those that have crashed, have stopped, or
    /// are in their remainders.
    idle: Vec<u64>,
}

impl Graph {
    /// Adds the next state, with the processes that need not step in it.
    pub(super) fn add_state(&mut self, idle: u64) {
        self.starts.push(self.to.len() as u64);
        self.idle.push(idle);
    }

    /// Adds a step from the last added state.
    pub(super) fn add_edge(&mut self, edge: Edge) {
        self.to.push(edge.to);
        self.by.push(edge.by);
    }

    pub(super) fn states(&self) -> usize {
        self.idle.len()
    }

    /// The processes that need not step in a state; `None` if the search stopped before it was
    /// expanded.
    pub(super) fn idle(&self, s: StateId) -> Option<u64> {
        self.idle.get(s as usize).copied()
    }

    fn range(&self, s: StateId) -> std::ops::Range<usize> {
        let end = self.starts.get(s as usize + 1).map_or(self.to.len(), |&end| end as usize);
        self.starts[s as usize] as usize..end
    }

    pub(super) fn edges(&self, s: StateId) -> impl Iterator<Item = Edge> {
        self.range(s).map(|e| Edge { to: self.to[e], by: self.by[e] })
    }

    pub(super) fn bytes(&self) -> usize {
        self.starts.capacity() * 8 + self.to.capacity() * 4 + self.by.capacity() * 2 + self.idle.capacity() * 8
    }

    /// Tarjan's algorithm on the part of the graph where `within` holds of states and `follows` of
    /// steps. Calls `found` for each component, in reverse topological order; stops when it returns
    /// something.
    pub(super) fn components<T>(
        &self,
        roots: impl Iterator<Item = StateId>,
        within: impl Fn(StateId) -> bool,
        follows: impl Fn(Edge) -> bool,
        mut found: impl FnMut(&[StateId], &Components) -> Option<T>,
    ) -> Option<T> {
        let mut known = Components { index: vec![0; self.states()], low: vec![0; self.states()], current: 0 };
        let (mut next, mut path, mut open) = (1u32, Vec::<(StateId, usize)>::new(), Vec::<StateId>::new());
        for root in roots {
            if known.index[root as usize] != 0 || !within(root) {
                continue;
            }
            path.push((root, self.range(root).start));
            known.enter(root, &mut next);
            open.push(root);
            while let Some(&mut (s, ref mut e)) = path.last_mut() {
                if *e < self.range(s).end {
                    let edge = Edge { to: self.to[*e], by: self.by[*e] };
                    *e += 1;
                    if !follows(edge) || !within(edge.to) {
                        continue;
                    }
                    match known.index[edge.to as usize] {
                        0 => {
                            known.enter(edge.to, &mut next);
                            open.push(edge.to);
                            path.push((edge.to, self.range(edge.to).start));
                        }
                        DONE => {}
                        index => known.low[s as usize] = known.low[s as usize].min(index),
                    }
                    continue;
                }
                path.pop();
                if let Some(&(parent, _)) = path.last() {
                    known.low[parent as usize] = known.low[parent as usize].min(known.low[s as usize]);
                }
                if known.low[s as usize] == known.index[s as usize] {
                    let from = open.iter().rposition(|&o| o == s).expect("a root of a component is open");
                    known.current += 1;
                    for &member in &open[from..] {
                        known.index[member as usize] = DONE;
                        known.low[member as usize] = known.current;
                    }
                    if let Some(t) = found(&open[from..], &known) {
                        return Some(t);
                    }
                    open.truncate(from);
                }
            }
        }
        None
    }

    /// The states that can be reached from the roots where `within` holds.
    pub(super) fn reached(&self, roots: impl Iterator<Item = StateId>, within: impl Fn(StateId) -> bool) -> Vec<bool> {
        let mut reached = vec![false; self.states()];
        let mut todo = Vec::new();
        let mut meet = |s: StateId, todo: &mut Vec<StateId>| {
            if within(s) && !std::mem::replace(&mut reached[s as usize], true) {
                todo.push(s);
            }
        };
        roots.for_each(|root| meet(root, &mut todo));
        while let Some(s) = todo.pop() {
            self.edges(s).for_each(|edge| meet(edge.to, &mut todo));
        }
        reached
    }

    /// A component in which every process that must step does: a fair run can stay there for ever.
    pub(super) fn fair_component(
        &self,
        processes: usize,
        roots: impl Iterator<Item = StateId>,
        within: impl Fn(StateId) -> bool,
        follows: impl Fn(Edge) -> bool,
    ) -> Option<Vec<StateId>> {
        let all = u64::MAX >> (64 - processes);
        self.components(roots, &within, &follows, |members, known| {
            let mut steps = 0;
            for &s in members {
                for edge in self.edges(s).filter(|&e| follows(e) && within(e.to)) {
                    if known.is_current(edge.to) && !edge.is_crash() {
                        steps |= 1u64 << edge.process();
                    }
                }
            }
            (steps | self.idle[members[0] as usize] == all).then(|| members.to_vec())
        })
    }

    /// A cycle from one of `members`, the states of a component, through a step of each process
    /// that has one there.
    pub(super) fn cycle_through(
        &self,
        start: StateId,
        members: &[StateId],
        follows: impl Fn(Edge) -> bool,
    ) -> Vec<(StateId, Edge)> {
        let mut sorted = members.to_vec();
        sorted.sort_unstable();
        let within = |s: StateId| sorted.binary_search(&s).is_ok();
        let mut missing = 0u64;
        for &s in members {
            for edge in self.edges(s).filter(|&e| follows(e) && within(e.to)) {
                missing |= 1 << edge.process();
            }
        }
        let (mut at, mut cycle) = (start, Vec::new());
        while missing != 0 || at != start {
            let wanted = |edge: Edge| if missing == 0 { edge.to == start } else { missing >> edge.process() & 1 == 1 };
            let way = self
                .shortest(std::iter::once(at), within, &follows, wanted)
                .expect("within a component everything can be reached");
            for &(s, edge) in &way {
                missing &= !(1 << edge.process());
                cycle.push((s, edge));
            }
            at = way.last().map_or(at, |(_, edge)| edge.to);
        }
        cycle
    }

    /// A shortest path from one of the `roots` to a `wanted` step.
    pub(super) fn shortest(
        &self,
        roots: impl Iterator<Item = StateId>,
        within: impl Fn(StateId) -> bool,
        follows: impl Fn(Edge) -> bool,
        wanted: impl Fn(Edge) -> bool,
    ) -> Option<Vec<(StateId, Edge)>> {
        let mut came: rustc_hash::FxHashMap<StateId, Option<(StateId, Edge)>> = rustc_hash::FxHashMap::default();
        let mut todo: VecDeque<StateId> = roots.collect();
        came.extend(todo.iter().map(|&root| (root, None)));
        while let Some(s) = todo.pop_front() {
            for edge in self.edges(s).filter(|&e| follows(e) && within(e.to)) {
                if wanted(edge) {
                    let mut way = vec![(s, edge)];
                    while let Some(&Some(step)) = came.get(&way.last().expect("it begins with a step").0) {
                        way.push(step);
                    }
                    way.reverse();
                    return Some(way);
                }
                came.entry(edge.to).or_insert_with(|| {
                    todo.push_back(edge.to);
                    Some((s, edge))
                });
            }
        }
        None
    }
}

/// The state of Tarjan's algorithm.
#[derive(Debug)]
pub(super) struct Components {
    /// 0: not seen; [`DONE`]: in a finished component; otherwise the order of discovery.
    index: Vec<u32>,
    /// While open, the lowest reachable index; afterwards the number of the component.
    low: Vec<u32>,
    current: u32,
}

const DONE: u32 = u32::MAX;

impl Components {
    fn enter(&mut self, s: StateId, next: &mut u32) {
        self.index[s as usize] = *next;
        self.low[s as usize] = *next;
        *next += 1;
    }

    /// Whether a state is in the component found last.
    pub(super) fn is_current(&self, s: StateId) -> bool {
        self.index[s as usize] == DONE && self.low[s as usize] == self.current
    }
}
