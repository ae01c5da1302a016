//! The graph and an automaton side by side: the runs of the graph that the automaton accepts.

use super::graph::{Edge, Graph};
use super::store::StateId;
use crate::property::Automaton;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// A step of both. Where no process must step, the graph may also stay as it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joint {
    pub(super) to: u32,
    pub(super) edge: Option<Edge>,
}

/// Everything that can be reached.
#[derive(Debug)]
pub(super) struct Product {
    /// A state of the graph, and a place of the automaton that allows it.
    pub(super) nodes: Vec<(StateId, u32)>,
    steps: Vec<Vec<Joint>>,
    /// The node and the step from which each was found; breadth-first, so on a shortest way.
    came: Vec<Option<(u32, Joint)>>,
}

impl Product {
    /// `masks` gives for each state the predicates that hold, and `may_stay` where the graph may
    /// stay as it is.
    pub(super) fn new(
        graph: &Graph,
        masks: &[(u64, u64)],
        automaton: &Automaton,
        mut may_stay: impl FnMut(StateId) -> bool,
    ) -> Self {
        let mut product = Self { nodes: Vec::new(), steps: Vec::new(), came: Vec::new() };
        let mut known: FxHashMap<(StateId, u32), u32> = FxHashMap::default();
        for &place in automaton.first.iter().filter(|&&place| automaton.allows(place, masks[0].0)) {
            product.add((0, place), None, &mut known);
        }
        let mut at = 0;
        while at < product.nodes.len() {
            let (s, place) = product.nodes[at];
            let stays = may_stay(s).then_some((s, None));
            let mut steps = Vec::new();
            for (to, edge) in graph.edges(s).map(|edge| (edge.to, Some(edge))).chain(stays) {
                for &next in
                    automaton.next[place as usize].iter().filter(|&&q| automaton.allows(q, masks[to as usize].0))
                {
                    let fresh = Joint { to: product.nodes.len() as u32, edge };
                    let to = product.add((to, next), Some((at as u32, fresh)), &mut known);
                    steps.push(Joint { to, edge });
                }
            }
            product.steps.push(steps);
            at += 1;
        }
        product
    }

    fn add(
        &mut self,
        node: (StateId, u32),
        came: Option<(u32, Joint)>,
        known: &mut FxHashMap<(StateId, u32), u32>,
    ) -> u32 {
        *known.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            self.came.push(came);
            self.nodes.len() as u32 - 1
        })
    }

    pub(super) fn steps(&self, node: u32) -> &[Joint] {
        self.steps.get(node as usize).map_or(&[], Vec::as_slice)
    }

    /// The first component, by the steps that `follows` allows, of which `wanted` holds. Tarjan's
    /// algorithm.
    pub(super) fn components(
        &self,
        follows: impl Fn(&Joint) -> bool,
        mut wanted: impl FnMut(&[u32], &dyn Fn(u32) -> bool) -> bool,
    ) -> Option<Vec<u32>> {
        const DONE: u32 = u32::MAX;
        let many = self.nodes.len();
        let (mut index, mut low, mut component) = (vec![0u32; many], vec![0u32; many], vec![0u32; many]);
        let (mut next, mut number, mut path, mut open) = (1, 0, Vec::<(u32, usize)>::new(), Vec::<u32>::new());
        for root in 0..many as u32 {
            if index[root as usize] != 0 {
                continue;
            }
            path.push((root, 0));
            while let Some(&mut (node, ref mut at)) = path.last_mut() {
                let this = node as usize;
                if *at == 0 && index[this] == 0 {
                    (index[this], low[this]) = (next, next);
                    next += 1;
                    open.push(node);
                }
                if let Some(step) = self.steps[this].get(*at) {
                    *at += 1;
                    if follows(step) {
                        match index[step.to as usize] {
                            0 => path.push((step.to, 0)),
                            DONE => {}
                            seen => low[this] = low[this].min(seen),
                        }
                    }
                    continue;
                }
                path.pop();
                if let Some(&(parent, _)) = path.last() {
                    low[parent as usize] = low[parent as usize].min(low[this]);
                }
                if low[this] == index[this] {
                    let from = open.iter().rposition(|&o| o == node).expect("a root of a component is open");
                    number += 1;
                    for &member in &open[from..] {
                        index[member as usize] = DONE;
                        component[member as usize] = number;
                    }
                    if wanted(&open[from..], &|node| component[node as usize] == number) {
                        return Some(open.split_off(from));
                    }
                    open.truncate(from);
                }
            }
        }
        None
    }

    /// A shortest way into a component, and a cycle there: with a step of each process that has
    /// one, and through a place of each condition. Steps that stay are left out.
    #[allow(clippy::type_complexity)]
    pub(super) fn lasso(
        &self,
        members: &[u32],
        automaton: &Automaton,
        follows: impl Fn(&Joint) -> bool,
    ) -> (Vec<(StateId, Edge)>, Vec<(StateId, Edge)>) {
        let mut sorted = members.to_vec();
        sorted.sort_unstable();
        let is_member = |node: u32| sorted.binary_search(&node).is_ok();
        // Nodes are numbered breadth-first.
        let start = sorted[0];
        let mut lead_in = Vec::new();
        let mut at = start;
        while let Some((from, step)) = self.came[at as usize] {
            lead_in.extend(step.edge.map(|edge| (self.nodes[from as usize].0, edge)));
            at = from;
        }
        lead_in.reverse();
        let inside = |node: u32| self.steps(node).iter().filter(|step| follows(step) && is_member(step.to));
        let mut missing: u64 = 0;
        for step in members.iter().flat_map(|&node| inside(node)) {
            missing |= step.edge.map_or(0, |edge| 1 << edge.process());
        }
        let mut owed: Vec<usize> = (0..automaton.again.len()).collect();
        let meets = |owed: &mut Vec<usize>, node: u32| {
            owed.retain(|&condition| !automaton.again[condition][self.nodes[node as usize].1 as usize]);
        };
        meets(&mut owed, start);
        let (mut at, mut cycle) = (start, Vec::new());
        while missing != 0 || !owed.is_empty() || at != start {
            let wanted = |step: &Joint| {
                if missing != 0 {
                    step.edge.is_some_and(|edge| missing >> edge.process() & 1 == 1)
                } else if let Some(&condition) = owed.first() {
                    automaton.again[condition][self.nodes[step.to as usize].1 as usize]
                } else {
                    step.to == start
                }
            };
            let mut came: FxHashMap<u32, Option<(u32, Joint)>> = FxHashMap::from_iter([(at, None)]);
            let mut todo = VecDeque::from([at]);
            let mut way = Vec::new();
            'search: while let Some(node) = todo.pop_front() {
                for &step in inside(node) {
                    if wanted(&step) {
                        way.push((node, step));
                        while let Some(&Some(before)) = came.get(&way[way.len() - 1].0) {
                            way.push(before);
                        }
                        way.reverse();
                        break 'search;
                    }
                    came.entry(step.to).or_insert_with(|| {
                        todo.push_back(step.to);
                        Some((node, step))
                    });
                }
            }
            let Some(&(_, last)) = way.last() else { break };
            for (node, step) in way {
                missing &= !step.edge.map_or(0, |edge| 1 << edge.process());
                meets(&mut owed, step.to);
                cycle.extend(step.edge.map(|edge| (self.nodes[node as usize].0, edge)));
            }
            at = last.to;
        }
        (lead_in, cycle)
    }
}
