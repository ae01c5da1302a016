//! Fair runs without end that break a property of progress, among the states from one state on.

use super::seek::Found;
use crate::property::{Property, Test, View};
use crate::sim::{Action, Phase, State, World};
use std::collections::VecDeque;

/// A step between two states that were found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) to: u32,
    pub(crate) action: Action,
    pub(crate) entered: bool,
    pub(crate) gives_up: bool,
}

/// A run that breaks a property for ever, and the step from which it repeats. `stop` is asked
/// before each process.
pub(super) fn find(
    world: &World,
    found: &Found,
    edges: &[Vec<Edge>],
    property: &Property,
    stop: &dyn Fn() -> bool,
) -> Option<(Vec<Action>, usize)> {
    let processes = || (0..world.processes()).take_while(|_| !stop());
    let n = world.processes();
    let graph = Graph { world, found, edges };
    let parts = world.layout().parts_of_kind(property.kind);
    match &property.test {
        Test::LeadsTo(so, then, endless) => parts.iter().find_map(|&part| {
            let of = |s: u32, p: usize, holds: &dyn Fn(&View<'_>, usize) -> bool| {
                holds(&View::new(world, &found.states[s as usize]).of(part), p)
            };
            processes().find_map(|p| {
                let crashed = |s: u32| world.has_crashed(&found.states[s as usize], p);
                let lasts = |s: u32| !of(s, p, &**then) && !crashed(s);
                let begins = |s: u32| lasts(s) && of(s, p, &**so);
                graph.lasso(&lasts, &begins, &|edge| *endless || !edge.gives_up, None)
            })
        }),
        Test::DeadlockFree => {
            let waits = |s: u32| {
                let state = &found.states[s as usize];
                (0..n).any(|p| world.phase(state, p) == Phase::Entry && !world.has_crashed(state, p))
            };
            graph.lasso(&waits, &waits, &|edge| !edge.entered && !edge.gives_up, None)
        }
        Test::BoundedExit => processes().find_map(|p| {
            let exits = |s: u32| world.phase(&found.states[s as usize], p) == Phase::Exit;
            graph.lasso(&exits, &exits, &|edge| !edge.gives_up, Some(p))
        }),
        _ => None,
    }
}

struct Graph<'a> {
    world: &'a World,
    found: &'a Found,
    edges: &'a [Vec<Edge>],
}

impl Graph<'_> {
    /// A cycle in which `lasts` holds, reached from where `begins` holds without leaving `lasts`: a
    /// fair one or, if a process is named, one in which that process steps.
    fn lasso(
        &self,
        lasts: &dyn Fn(u32) -> bool,
        begins: &dyn Fn(u32) -> bool,
        follows: &dyn Fn(&Edge) -> bool,
        steps: Option<usize>,
    ) -> Option<(Vec<Action>, usize)> {
        let within: Vec<bool> = (0..self.edges.len() as u32).map(lasts).collect();
        let goes = |edge: &Edge| follows(edge) && within[edge.to as usize];
        let roots: Vec<u32> = (0..self.edges.len() as u32).filter(|&s| within[s as usize] && begins(s)).collect();
        let from_roots = self.reach(&roots, &goes, |_| false).1;
        let all = components(self.edges, &|s: u32| within[s as usize] && from_roots[s as usize].is_some(), &goes);
        let mut number = vec![usize::MAX; self.edges.len()];
        for (i, members) in all.iter().enumerate() {
            members.iter().for_each(|&s| number[s as usize] = i);
        }
        let suits = |i: &usize| {
            let stays = |e: &Edge| goes(e) && number[e.to as usize] == *i;
            let own = |p: usize| {
                let mut inner = all[*i].iter().flat_map(|&s| &self.edges[s as usize]).filter(|e| stays(e));
                inner.any(|e| e.action.process == p && !e.action.is_crash())
            };
            steps.map_or_else(|| self.is_fair(&all[*i], &stays), own)
        };
        let chosen = (0..all.len()).filter(suits).min_by_key(|&i| all[i].iter().copied().min())?;
        let is_member = |s: u32| number[s as usize] == chosen;
        // The way to a root is a shortest one; from there on the bad thing lasts.
        let (last, came) = self.reach(&roots, &goes, is_member);
        let entry = last?;
        let lead_in = unwind(&came, entry);
        let root = lead_in.first().map_or(entry, |(s, _)| *s);
        let mut way = self.found.way(root);
        way.extend(lead_in.iter().map(|(_, edge)| edge.action));
        let from = way.len();
        way.extend(self.round(entry, &|e| goes(e) && is_member(e.to)).iter().map(|edge| edge.action));
        Some((way, from))
    }

    /// Whether every process steps within a component, or need not; `stays` says which steps do.
    fn is_fair(&self, members: &[u32], stays: &dyn Fn(&Edge) -> bool) -> bool {
        let inner = |s: u32| self.edges[s as usize].iter().filter(|e| stays(e));
        let any = members.iter().any(|&s| inner(s).next().is_some());
        let idle = |state: &State, p: usize| self.world.is_idle(state, p);
        let steps = |p: usize| {
            members.iter().any(|&s| {
                idle(&self.found.states[s as usize], p)
                    || inner(s).any(|e| e.action.process == p && !e.action.is_crash())
            })
        };
        any && (0..self.world.processes()).all(steps)
    }

    /// A way round a component with a step of every process that steps there.
    fn round(&self, start: u32, inner: &dyn Fn(&Edge) -> bool) -> Vec<Edge> {
        let mut way: Vec<Edge> = Vec::new();
        let mut at = start;
        for p in 0..self.world.processes() {
            let of_p = |e: &Edge| e.action.process == p && !e.action.is_crash() && inner(e);
            if way.iter().any(&of_p) {
                continue;
            }
            let has_one = |s: u32| self.edges[s as usize].iter().any(&of_p);
            let (to, came) = self.reach(&[at], inner, has_one);
            let Some(to) = to else { continue };
            way.extend(unwind(&came, to).iter().map(|(_, edge)| *edge));
            let Some(own) = self.edges[to as usize].iter().find(|e| of_p(e)) else { continue };
            way.push(*own);
            at = own.to;
        }
        if at != start || way.is_empty() {
            // If no process must step, any cycle will do.
            if way.is_empty()
                && let Some(first) = self.edges[at as usize].iter().find(|e| inner(e))
            {
                way.push(*first);
                at = first.to;
            }
            let (to, came) = self.reach(&[at], inner, |s| s == start);
            way.extend(to.map_or(Vec::new(), |to| unwind(&came, to)).iter().map(|(_, edge)| *edge));
        }
        way
    }

    /// Breadth-first from these states, until one is as wanted: that one, and how each state was
    /// reached.
    fn reach(&self, from: &[u32], goes: &dyn Fn(&Edge) -> bool, wanted: impl Fn(u32) -> bool) -> (Option<u32>, Came) {
        let mut came: Came = vec![None; self.edges.len()];
        let mut todo: VecDeque<u32> = from.iter().copied().collect();
        from.iter().for_each(|&s| came[s as usize] = Some(None));
        while let Some(s) = todo.pop_front() {
            if wanted(s) {
                return (Some(s), came);
            }
            for edge in self.edges[s as usize].iter().filter(|e| goes(e)) {
                if came[edge.to as usize].is_none() {
                    came[edge.to as usize] = Some(Some((s, *edge)));
                    todo.push_back(edge.to);
                }
            }
        }
        (None, came)
    }
}

/// For each state that was reached: the state before it and the step, unless it was the first.
type Came = Vec<Option<Option<(u32, Edge)>>>;

/// The way to a state.
fn unwind(came: &Came, mut to: u32) -> Vec<(u32, Edge)> {
    let mut way = Vec::new();
    while let Some(Some((before, edge))) = came[to as usize] {
        way.push((before, edge));
        to = before;
    }
    way.reverse();
    way
}

/// The strongly connected components of a part of the graph: Tarjan's algorithm, without recursion.
pub(crate) fn components(
    edges: &[Vec<Edge>],
    within: &dyn Fn(u32) -> bool,
    goes: &dyn Fn(&Edge) -> bool,
) -> Vec<Vec<u32>> {
    const NEW: u32 = u32::MAX;
    let n = edges.len();
    let (mut index, mut low, mut on_stack) = (vec![NEW; n], vec![0u32; n], vec![false; n]);
    let (mut stack, mut found, mut next) = (Vec::new(), Vec::new(), 0u32);
    for root in (0..n as u32).filter(|&s| within(s)) {
        if index[root as usize] != NEW {
            continue;
        }
        let mut calls = vec![(root, 0usize)];
        while let Some(&mut (s, ref mut at)) = calls.last_mut() {
            let here = s as usize;
            if *at == 0 && index[here] == NEW {
                (index[here], low[here]) = (next, next);
                next += 1;
                stack.push(s);
                on_stack[here] = true;
            }
            if let Some(edge) = edges[here].get(*at) {
                *at += 1;
                let to = edge.to as usize;
                if !goes(edge) || !within(edge.to) {
                    continue;
                }
                if index[to] == NEW {
                    calls.push((edge.to, 0));
                } else if on_stack[to] {
                    low[here] = low[here].min(index[to]);
                }
                continue;
            }
            calls.pop();
            if let Some((before, _)) = calls.last() {
                let before = *before as usize;
                low[before] = low[before].min(low[here]);
            }
            if low[here] == index[here] {
                let mut members = Vec::new();
                while let Some(member) = stack.pop() {
                    on_stack[member as usize] = false;
                    members.push(member);
                    if member == s {
                        break;
                    }
                }
                found.push(members);
            }
        }
    }
    found
}
