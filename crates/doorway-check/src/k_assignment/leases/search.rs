//! Breadth first over every order of moves; then, on the whole graph, whether everything ends.

use super::moves::{Move, State};
use super::token::Token;
use super::{Claim, Leases};
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::fmt;
use std::hash::BuildHasher as _;

/// A run that breaks a claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The claim.
    pub claim: Claim,
    /// A shortest run; of one that goes on for ever, the way to its cycle is a shortest one.
    pub run: Vec<Move>,
    /// The move from which the run repeats for ever, but for the numbers of revisions.
    pub repeats_from: Option<usize>,
    /// What the store and the clients have after each move.
    pub states: Vec<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (what, state)) in self.run.iter().zip(&self.states).enumerate() {
            if self.repeats_from == Some(i) {
                writeln!(f, "       from here, for ever:")?;
            }
            writeln!(f, "  {:>3}  {:<52} {state}", i + 1, what.to_string())?;
        }
        Ok(())
    }
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
    /// Whether every state was looked at.
    pub complete: bool,
    /// A claim that does not hold.
    pub failure: Option<Failure>,
}

impl Report {
    /// Whether the claim holds; `None` if that was not decided.
    #[must_use]
    pub fn holds(&self, claim: Claim) -> Option<bool> {
        match &self.failure {
            Some(failure) => (failure.claim == claim).then_some(false),
            None => self.complete.then_some(true),
        }
    }

    /// What `doorway replay` reads, if a claim fails.
    #[must_use]
    pub fn token(&self) -> Option<Token> {
        self.failure.as_ref().map(|failure| Token::new(self.leases, failure))
    }

    /// How much was looked at.
    #[must_use]
    pub fn coverage(&self) -> String {
        let extent = match (&self.failure, self.complete) {
            (Some(_), _) => "up to the failure",
            (None, true) => "complete",
            (None, false) => "NOT complete",
        };
        let Self { states, moves, ends, inside, .. } = self;
        format!("{states} states, {moves} moves, {ends} ends, at most {inside} inside, {extent}")
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match &self.failure {
            None if self.complete => "all claims hold".to_owned(),
            None => "nothing found".to_owned(),
            Some(failure) => format!("{} FAILS", failure.claim),
        };
        writeln!(f, "{}: {verdict}; {}", self.leases, self.coverage())?;
        self.failure.as_ref().map_or(Ok(()), |failure| failure.fmt(f))
    }
}

struct Graph {
    leases: Leases,
    states: Vec<State>,
    index: HashTable<u32>,
    /// The state before it, and the move.
    from: Vec<Option<(u32, Move)>>,
}

impl Graph {
    fn new(leases: Leases) -> Self {
        let mut graph = Self { leases, states: Vec::new(), index: HashTable::new(), from: Vec::new() };
        graph.number(State::new(&leases).normal(), None);
        graph
    }

    /// The number of a state, which is new if it is the number of states there were.
    fn number(&mut self, state: State, from: Option<(u32, Move)>) -> u32 {
        let (hasher, fresh) = (FxBuildHasher, self.states.len() as u32);
        let (hash, states) = (hasher.hash_one(&state), &self.states);
        let same = |&at: &u32| states[at as usize] == state;
        let entry = self.index.entry(hash, same, |&at| hasher.hash_one(&states[at as usize]));
        let number = *entry.or_insert(fresh).get();
        if number == fresh {
            self.states.push(state);
            self.from.push(from);
        }
        number
    }

    fn next(&self, at: usize, what: Move) -> State {
        let mut next = self.states[at].clone();
        next.act(&self.leases, what);
        next.normal()
    }

    /// The run to a state, and a run that goes on from there.
    fn failure(&self, claim: Claim, at: usize, round: Vec<Move>) -> Failure {
        let (mut run, mut now) = (Vec::new(), at);
        while let Some((before, what)) = self.from[now] {
            run.push(what);
            now = before as usize;
        }
        run.reverse();
        let repeats_from = (!round.is_empty()).then_some(run.len());
        run.extend(round);
        Failure { claim, states: shown(&self.leases, &run), run, repeats_from }
    }

    /// The moves round a cycle, and the state at which it begins; from a state that leads to one.
    fn cycle(&self, from: usize, leads_round: impl Fn(usize) -> bool) -> (usize, Vec<Move>) {
        let (mut visited, mut moves) = (vec![from], Vec::new());
        loop {
            let at = visited[visited.len() - 1];
            let onward = self.states[at].moves(self.leases.mutant).into_iter().filter(|(_, by_itself)| *by_itself);
            let known = |state: State| {
                let hash = FxBuildHasher.hash_one(&state);
                self.index.find(hash, |&at| self.states[at as usize] == state).map(|&at| at as usize)
            };
            let next = onward.filter_map(|(what, _)| Some((known(self.next(at, what))?, what)));
            let Some((to, what)) = next.into_iter().find(|(to, _)| leads_round(*to)) else { return (at, Vec::new()) };
            moves.push(what);
            if let Some(begins) = visited.iter().position(|&seen| seen == to) {
                return (to, moves.split_off(begins));
            }
            visited.push(to);
        }
    }
}

/// What the store and the clients have after each move, with revisions as the store counts them.
pub(super) fn shown(leases: &Leases, run: &[Move]) -> Vec<String> {
    let mut state = State::new(leases);
    let after = |&what: &Move| {
        state.act(leases, what);
        state.to_string()
    };
    run.iter().map(after).collect()
}

pub(super) fn check(leases: Leases, mut goes_on: impl FnMut(usize) -> bool) -> Report {
    let mut graph = Graph::new(leases);
    let mut report = Report { leases, states: 1, moves: 0, ends: 0, inside: 0, complete: false, failure: None };
    // The moves that happen by themselves: how many lead out of each state, and into which.
    let mut onward: Vec<Vec<u32>> = Vec::new();
    let mut at = 0;
    while at < graph.states.len() {
        let mut leads_to = Vec::new();
        for (what, by_itself) in graph.states[at].moves(leases.mutant) {
            let next = graph.next(at, what);
            report.moves += 1;
            report.inside = report.inside.max(next.inside());
            let (fresh, failed) = (graph.states.len() as u32, next.failed());
            let to = graph.number(next, Some((at as u32, what)));
            if by_itself {
                leads_to.push(to);
            }
            if let Some(claim) = failed.filter(|_| to == fresh) {
                report.states = graph.states.len();
                report.failure = Some(graph.failure(claim, to as usize, Vec::new()));
                return report;
            }
        }
        report.states = graph.states.len();
        if leads_to.is_empty() {
            report.ends += 1;
            if !graph.states[at].is_over() {
                report.failure = Some(graph.failure(Claim::NothingLost, at, Vec::new()));
                return report;
            }
        }
        onward.push(leads_to);
        at += 1;
        if graph.states.len() > u32::MAX as usize / 2 || !goes_on(graph.states.len()) {
            return report;
        }
    }
    report.complete = true;
    let left = lead_round(&onward);
    let first = left.iter().position(|&left| left > 0);
    report.failure = first.map(|at| {
        let (begins, round) = graph.cycle(at, |to| left[to] > 0);
        graph.failure(Claim::Ends, begins, round)
    });
    report
}

/// For each state, how many of its moves lead to a cycle: take away the states that lead nowhere,
/// again and again.
fn lead_round(onward: &[Vec<u32>]) -> Vec<usize> {
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
    left
}
