//! Bounds on steps: runs that exceed one, from a position on.
//!
//! A bound says how many steps of a kind there may be while something lasts. The count may have
//! begun before the position. So the search is among pairs: a state, and the count of a run when it
//! is there.

use super::lasso::Edge;
use super::seek::Found;
use crate::property::{Property, Test, View};
use crate::sim::{Action, Part, State, World};
use std::collections::VecDeque;

/// Whether a property is a bound on steps.
pub(super) fn is_bound(property: &Property) -> bool {
    matches!(property.test, Test::AtMost(..) | Test::OwnSteps(..)) || is_of_all_states(property)
}

/// Whether a property is decided on the whole graph only, and not from a position on.
pub(super) fn is_of_all_states(property: &Property) -> bool {
    matches!(property.test, Test::Overtaking(..) | Test::Ltl(_))
}

/// A bound, and what a run has counted so far.
pub(super) struct Bound<'p> {
    property: &'p Property,
    most: u32,
    parts: Vec<Part>,
    /// For each part, and each process.
    counted: Vec<Vec<u32>>,
}

impl<'p> Bound<'p> {
    /// Counts along the states of a run, from the initial one. `None` if the property sets no bound
    /// of this kind.
    pub(super) fn along(world: &World, property: &'p Property, states: &[State], run: &[Action]) -> Option<Self> {
        let (Test::AtMost(Some(most), ..) | Test::OwnSteps(Some(most), _)) = &property.test else { return None };
        let parts = world.layout().parts_of_kind(property.kind);
        let counted = vec![vec![0; world.processes()]; parts.len()];
        let mut bound = Self { property, most: *most, parts, counted };
        for (step, &action) in states.windows(2).zip(run) {
            for i in 0..bound.parts.len() {
                for p in 0..world.processes() {
                    let lasts = bound.lasts(world, &step[0], bound.parts[i], p);
                    let more = lasts && bound.counts(world, &step[0], &step[1], action, p);
                    let before = if lasts { bound.counted[i][p] } else { 0 };
                    bound.counted[i][p] = before + u32::from(more);
                }
            }
        }
        Some(bound)
    }

    pub(super) fn name(&self) -> &str {
        self.property.name()
    }

    /// Whether steps count for a process in a state.
    fn lasts(&self, world: &World, state: &State, part: Part, p: usize) -> bool {
        let (Test::AtMost(_, so, _) | Test::OwnSteps(_, so)) = &self.property.test else { return false };
        so(&View::new(world, state).of(part), p)
    }

    /// Whether a step is of the kind that is limited.
    fn counts(&self, world: &World, before: &State, after: &State, action: Action, p: usize) -> bool {
        match &self.property.test {
            Test::AtMost(.., counted) => {
                let (was, is) = (View::new(world, before), View::new(world, after));
                self.parts.iter().any(|&part| counted(&was.of(part), &is.of(part)))
            }
            _ => action.process == p && !action.is_crash(),
        }
    }

    /// A shortest way among these states on which more is counted than the bound allows.
    pub(super) fn exceeded(
        &self,
        world: &World,
        found: &Found,
        edges: &[Vec<Edge>],
        stop: &dyn Fn() -> bool,
    ) -> Option<Vec<Action>> {
        let each = (0..self.parts.len()).flat_map(|i| (0..world.processes()).map(move |p| (i, p)));
        let ways = each.take_while(|_| !stop()).filter_map(|(i, p)| {
            let begun = self.counted[i][p];
            let lasts: Vec<bool> =
                found.states.iter().map(|state| self.lasts(world, state, self.parts[i], p)).collect();
            let counts = |s: u32, edge: &Edge| {
                let (before, after) = (&found.states[s as usize], &found.states[edge.to as usize]);
                lasts[s as usize] && self.counts(world, before, after, edge.action, p)
            };
            self.way(begun, edges, &lasts, &counts)
        });
        ways.min_by_key(Vec::len)
    }

    /// Breadth first, over states and counts.
    fn way(
        &self,
        begun: u32,
        edges: &[Vec<Edge>],
        lasts: &[bool],
        counts: &dyn Fn(u32, &Edge) -> bool,
    ) -> Option<Vec<Action>> {
        let most = self.most;
        if begun > most {
            return Some(Vec::new());
        }
        // A larger count is never worse: only with a larger one is a state worth another look.
        let mut best: Vec<Option<u32>> = vec![None; lasts.len()];
        let count_at = |s: u32, count: u32| if lasts[s as usize] { count } else { 0 };
        let first = count_at(0, begun);
        best[0] = Some(first);
        // The state, its count, how it was reached: the place before in this list, and the action.
        let mut looked: Vec<(u32, u32, usize, Action)> = vec![(0, first, 0, Action::step(0))];
        let mut todo = VecDeque::from([0]);
        while let Some(at) = todo.pop_front() {
            let (s, count, ..) = looked[at];
            for edge in edges.get(s as usize).into_iter().flatten() {
                let more = count + u32::from(counts(s, edge));
                if more > most {
                    let mut way = vec![edge.action];
                    let mut back = at;
                    while back != 0 {
                        way.push(looked[back].3);
                        back = looked[back].2;
                    }
                    way.reverse();
                    return Some(way);
                }
                let more = count_at(edge.to, more);
                if best[edge.to as usize].is_none_or(|known| known < more) {
                    best[edge.to as usize] = Some(more);
                    looked.push((edge.to, more, at, edge.action));
                    todo.push_back(looked.len() - 1);
                }
            }
        }
        None
    }
}
