//! Breadth first over every order of moves; then, on the whole graph, whether everything ends.

use super::moves::{Move, State};
use super::{Claim, Faults, Leases};
use rustc_hash::FxBuildHasher;
use std::collections::HashMap;
use std::fmt;

/// A run that breaks a claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The claim.
    pub claim: Claim,
    /// A shortest run.
    pub run: Vec<Move>,
    /// What the store and the clients have after each move.
    pub states: Vec<String>,
}

/// What a search found, and what it covered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// What was searched.
    pub leases: Leases,
    /// Different states.
    pub states: usize,
    /// Moves between them.
    pub moves: usize,
    /// States in which nothing can happen without a fault.
    pub ends: usize,
    /// The most clients that believed to be inside at once.
    pub inside: usize,
    /// A claim that does not hold.
    pub failure: Option<Failure>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Leases { n, k, passages, last_tries, faults, compares, mutant } = self.leases;
        let faults: Faults = faults;
        write!(f, "leases n={n} k={k}, {passages} passages each, {faults}")?;
        write!(f, "{}", if last_tries { ", the last client tries" } else { "" })?;
        write!(f, "{}", if compares { "" } else { ", the resource compares no fences" })?;
        if let Some(mutant) = mutant {
            write!(f, ", fault {}", mutant.id())?;
        }
        let (verdict, extent) = match &self.failure {
            None => ("all claims hold".to_owned(), "complete"),
            Some(failure) => (format!("{} FAILS", failure.claim), "up to the failure"),
        };
        writeln!(
            f,
            ": {verdict}; {} states, {} moves, {} ends, at most {} inside, {extent}",
            self.states, self.moves, self.ends, self.inside
        )?;
        let Some(failure) = &self.failure else { return Ok(()) };
        for (i, (what, state)) in failure.run.iter().zip(&failure.states).enumerate() {
            writeln!(f, "  {:>3}  {:<52} {state}", i + 1, what.to_string())?;
        }
        Ok(())
    }
}

struct Graph {
    leases: Leases,
    states: Vec<State>,
    /// The state before it, and the move.
    from: Vec<Option<(u32, Move)>>,
}

impl Graph {
    fn failure(&self, claim: Claim, at: usize) -> Failure {
        let (mut run, mut now) = (Vec::new(), at);
        while let Some((before, what)) = self.from[now] {
            run.push(what);
            now = before as usize;
        }
        run.reverse();
        let mut state = State::new(&self.leases);
        let after = |&what: &Move| {
            state.act(&self.leases, what);
            state.to_string()
        };
        let states = run.iter().map(after).collect();
        Failure { claim, run, states }
    }
}

pub(super) fn check(leases: Leases) -> Report {
    let first = State::new(&leases);
    let mut index: HashMap<State, u32, FxBuildHasher> = HashMap::default();
    index.insert(first.clone(), 0);
    let mut graph = Graph { leases, states: vec![first], from: vec![None] };
    let mut report = Report { leases, states: 1, moves: 0, ends: 0, inside: 0, failure: None };
    // The moves that happen by themselves: how many lead out of each state, and into which.
    let mut onward: Vec<Vec<u32>> = Vec::new();
    let mut at = 0;
    while at < graph.states.len() {
        let moves = graph.states[at].moves(leases.mutant);
        let mut leads_to = Vec::new();
        for &(what, by_itself) in &moves {
            let mut next = graph.states[at].clone();
            next.act(&leases, what);
            report.moves += 1;
            report.inside = report.inside.max(next.inside());
            let fresh = graph.states.len() as u32;
            let to = *index.entry(next).or_insert_with_key(|next| {
                graph.states.push(next.clone());
                graph.from.push(Some((at as u32, what)));
                fresh
            });
            if by_itself {
                leads_to.push(to);
            }
            if to == fresh
                && let Some(claim) = graph.states[to as usize].failed()
            {
                report.states = graph.states.len();
                report.failure = Some(graph.failure(claim, to as usize));
                return report;
            }
        }
        if leads_to.is_empty() {
            report.ends += 1;
            if !graph.states[at].is_over() {
                report.states = graph.states.len();
                report.failure = Some(graph.failure(Claim::NothingLost, at));
                return report;
            }
        }
        onward.push(leads_to);
        at += 1;
    }
    report.states = graph.states.len();
    report.failure = goes_round(&onward).map(|at| graph.failure(Claim::Ends, at));
    report
}

/// A state that is on a cycle, or behind one: take away the states that lead nowhere, again and
/// again.
fn goes_round(onward: &[Vec<u32>]) -> Option<usize> {
    let mut left: Vec<usize> = onward.iter().map(Vec::len).collect();
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); onward.len()];
    for (from, to) in onward.iter().enumerate() {
        to.iter().for_each(|&to| before[to as usize].push(from as u32));
    }
    let mut todo: Vec<usize> = (0..left.len()).filter(|&at| left[at] == 0).collect();
    while let Some(at) = todo.pop() {
        for &from in &before[at] {
            left[from as usize] -= 1;
            if left[from as usize] == 0 {
                todo.push(from as usize);
            }
        }
    }
    left.iter().position(|&left| left > 0)
}
