//! States that differ only in how far counters have advanced are one state.
//!
//! An algorithm with tickets has no bound on its numbers, and packs several into a word. [`Canon`]
//! knows which fields count, and what of a process's past no longer matters. The machine then keeps
//! one state of each class. Four things happen after each step:
//!
//! - *Settling*: if the remaining accesses of a process in this round must fail, because the word
//!   it relies on has moved on, it makes them at once. They change nothing that any process reads.
//!   So does a process whose next access is an exchange of a word that has changed for good, unless
//!   it would enter or leave a section with it.
//! - *Shifting*: all counters, and the copies that processes remember, decrease by the same number.
//! - *Lifting*: everything that a process remembers of counters increases together, as long as it
//!   stays behind what it is compared with.
//! - *Forgetting* what a dead process remembered, except what properties need to know of it.
//!
//! How we know that this is exact: with a bound on passages, the verdicts and everything that
//! properties can see are the same with it and without it (`doorway-check/tests/checker/canon.rs`).

use super::layout::{Layout, VarId};
use super::learn::{Halt, Missing};
use super::locals::{How, Locals};
use super::memory::{Position, Seen};
use super::op::Op;
use super::world::{Machine, State, is_set};
use super::{LocalId, Phase, World};
use doorway_core::memory::Label;
use rustc_hash::FxHashMap;
use std::fmt::Debug;
use std::sync::Arc;

/// By how much counters decrease, one number for each kind of counter.
pub type Shift = [u64; 3];

/// The relevant part of a process's local state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Facts {
    /// The section of its passage.
    pub phase: Phase,
    /// The statement that it executes next.
    pub label: Label,
    /// The variable that it accesses then.
    pub var: Option<VarId>,
    /// The value that this variable must have if the access is to change it.
    pub expects: Option<u64>,
    shown: Vec<(&'static str, u64)>,
    /// What its last access at each statement saw, in the order of these accesses.
    seen: Vec<(Label, u64)>,
}

impl Facts {
    /// What it [shows](doorway_core::memory::Here::shows) under this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<u64> {
        self.shown.iter().find(|(known, _)| *known == name).map(|&(_, word)| word)
    }

    /// What its last access at this statement saw. If the text does not keep it, it may be what
    /// another process like it saw.
    #[must_use]
    pub fn saw(&self, label: Label) -> Option<u64> {
        self.seen.iter().find(|(known, _)| *known == label).map(|&(_, word)| word)
    }

    /// What the last of its accesses at these statements saw.
    #[must_use]
    pub fn saw_last(&self, labels: &[Label]) -> Option<u64> {
        self.seen.iter().rev().find(|(known, _)| labels.contains(known)).map(|&(_, word)| word)
    }

    /// Whether its last access at the first statement came after its last one at the second.
    #[must_use]
    pub fn did_after(&self, label: Label, other: Label) -> bool {
        let last = self.seen.iter().rev().find(|(known, _)| [label, other].contains(known));
        last.is_some_and(|&(known, _)| known == label)
    }

    /// The statement of its last access.
    #[must_use]
    pub fn came_from(&self) -> Option<Label> {
        self.seen.last().map(|&(label, _)| label)
    }
}

/// What can be replaced in the states of one algorithm without being noticed.
pub trait Canon: Debug + Send + Sync {
    /// Whether the rest of this trait is right for a state with this process in it. It is not where
    /// an invariant that it relies on is broken: such a state stands for itself, because replacing
    /// it could repair what is broken.
    fn applies(&self, _vars: &[u64], _facts: &Facts) -> bool {
        true
    }
    /// Brings the shared variables into canonical form, without regard to processes.
    fn settle(&self, vars: &mut [u64]);
    /// The same, where what may be replaced depends on the processes that are alive.
    fn settle_beside(&self, vars: &mut [u64], _alive: &[&Facts]) {
        self.settle(vars);
    }
    /// Whether the process relies on a word that has changed for good.
    fn is_stale(&self, vars: &[u64], facts: &Facts) -> bool;
    /// The same, where that depends on the processes that are alive, and it is one of them.
    fn is_stale_beside(&self, vars: &[u64], facts: &Facts, _alive: &[&Facts]) -> bool {
        self.is_stale(vars, facts)
    }
    /// Whether the process is about to exchange a word that has changed, and never becomes again
    /// what it expects.
    fn fails_for_good(&self, _vars: &[u64], _facts: &Facts) -> bool {
        false
    }
    /// Whether states may also be compared up to the names of processes. It must not matter which
    /// of two processes is which, here and in the text.
    fn suits_renaming(&self) -> bool {
        false
    }
    /// By how much the counters should decrease.
    fn base(&self, vars: &[u64]) -> Shift;
    /// By how much the copies that this process remembers should decrease.
    fn of_process(&self, vars: &[u64], facts: &Facts) -> Shift;
    /// The same for all processes that are alive, where they depend on each other. What is left in
    /// shared variables of counters may be replaced too.
    fn of_processes(&self, vars: &mut [u64], alive: &[&Facts]) -> Vec<Shift> {
        alive.iter().map(|facts| self.of_process(vars, facts)).collect()
    }
    /// Decreases the shared variables.
    fn shift(&self, vars: &mut [u64], by: Shift);
    /// What an access to this variable would have seen with smaller counters.
    fn moved(&self, var: VarId, word: u64, by: Shift) -> u64;
    /// The number of outstanding tickets; see [`Rules::line`](super::Rules::line).
    fn waiting(&self, vars: &[u64]) -> i64;
    /// Whether a counter that only some steps move is too far behind for another process to begin,
    /// if the line is limited to this many tickets.
    fn is_far_behind(&self, _vars: &[u64], _line: i64) -> bool {
        false
    }
    /// What properties need to know of the dead; those that agree on it are alike.
    fn of_the_dead(&self, facts: &Facts) -> u64;
}

/// Dead processes that are alike: the process, its phase, what it has torn, and what the canon
/// says.
pub(super) type Dead = (usize, Phase, Option<VarId>, u64);

/// A canon, and cached results.
#[derive(Debug)]
pub(super) struct Canonical {
    canon: Arc<dyn Canon>,
    facts: Vec<Vec<Option<Facts>>>,
    dead: FxHashMap<Dead, LocalId>,
}

impl Canonical {
    fn new(canon: Arc<dyn Canon>, processes: usize) -> Self {
        Self { canon, facts: vec![Vec::new(); processes], dead: FxHashMap::default() }
    }

    /// Whether states may also be compared up to the names of processes.
    pub(super) fn suits_renaming(&self) -> bool {
        self.canon.suits_renaming()
    }

    /// The same canon, with an empty cache.
    pub(super) fn fresh(&self) -> Self {
        Self::new(Arc::clone(&self.canon), self.facts.len())
    }

    fn facts(&self, p: usize, at: LocalId) -> Result<&Facts, Halt> {
        let known = self.facts[p].get(at as usize).and_then(Option::as_ref);
        known.ok_or(Halt::Missing(Missing::Facts(p, at)))
    }

    pub(super) fn learn_facts(&mut self, p: usize, at: LocalId, locals: &Locals) {
        let facts = &mut self.facts[p];
        if facts.len() <= at as usize {
            facts.resize(locals.nodes.len().max(at as usize + 1), None);
        }
        let position = &locals.nodes[at as usize].position;
        let shown = position.shown.iter().map(|&(_, name, word)| (name, word)).collect();
        let seen = locals.seen_last(at);
        let (phase, label, op) = (position.phase, position.label, position.op);
        facts[at as usize] = Some(Facts { phase, label, var: op.var(), expects: op.expects(), shown, seen });
    }

    /// The first of a class of dead processes stands for all of them.
    pub(super) fn learn_dead(&mut self, class: Dead, at: LocalId) -> LocalId {
        *self.dead.entry(class).or_insert(at)
    }
}

impl World {
    /// Keeps one state of each class of this canon.
    #[must_use]
    pub fn with_canon(mut self, canon: impl FnOnce(&Layout) -> Option<Box<dyn Canon>>) -> Self {
        let Some(canon) = canon(self.layout()) else { return self };
        let processes = self.processes();
        self.machine.canon = Some(Canonical::new(Arc::from(canon), processes));
        self
    }
}

impl Machine {
    /// Whether the line is too long for a process to begin.
    pub(super) fn is_full(&self, state: &State) -> bool {
        let (Some(most), Some(known)) = (self.rules().line, &self.canon) else { return false };
        let begins = |&p: &usize| self.phase(state, p) == Phase::Entry && !self.past_doorway(state, p);
        let coming = (0..self.processes()).filter(begins).count() as i64;
        let most = i64::from(most);
        known.canon.waiting(&state.vars) + coming >= most || known.canon.is_far_behind(&state.vars, most)
    }

    /// Replaces the state by the representative of its class.
    pub(super) fn make_canonical(&self, state: &mut State) -> Result<(), Halt> {
        let Some(known) = &self.canon else { return Ok(()) };
        for p in 0..self.processes() {
            let facts = known.facts(p, state.locals[p])?;
            if !self.has_crashed(state, p) && !known.canon.applies(&state.vars, facts) {
                return Ok(());
            }
        }
        for p in 0..self.processes() {
            if !self.has_crashed(state, p) {
                continue;
            }
            let facts = known.facts(p, state.locals[p])?;
            let (phase, facts) = (facts.phase, known.canon.of_the_dead(facts));
            // A process that died in the middle of a write leaves a variable of which reads return
            // anything.
            let torn = self.next(state, p).var().filter(|_| is_set(state.writing, p));
            let class = (p, phase, torn, facts);
            let first = known.dead.get(&class).copied();
            state.locals[p] = first.ok_or(Halt::Missing(Missing::Dead(class, state.locals[p])))?;
        }
        // Whether one process relies on what has changed may depend on where another one is.
        let mut living = self.facts_of_living(known, state)?;
        while {
            known.canon.settle_beside(&mut state.vars, &living);
            let mut steps = false;
            for p in 0..self.processes() {
                while !self.has_crashed(state, p) && {
                    let facts = known.facts(p, state.locals[p])?;
                    known.canon.is_stale_beside(&state.vars, facts, &living)
                        || known.canon.fails_for_good(&state.vars, facts) && self.stays_if_it_steps(state, p)?
                } {
                    self.step_within(state, p)?;
                    living = self.facts_of_living(known, state)?;
                    steps = true;
                }
            }
            steps
        } {}
        let base = known.canon.base(&state.vars);
        let mut shifts = known.canon.of_processes(&mut state.vars, &living).into_iter();
        for p in 0..self.processes() {
            if self.has_crashed(state, p) {
                continue;
            }
            let by = shifts.next().unwrap_or_default();
            if by == Shift::default() {
                continue;
            }
            let canon = &known.canon;
            let moved = |op: Op, word: u64| match op {
                Op::Write(..) => word,
                _ => op.var().map_or(word, |v| canon.moved(v, word, by)),
            };
            let at = state.locals[p];
            state.locals[p] = self.locals[p].shifted(at, by, moved)?;
        }
        if base != Shift::default() {
            known.canon.shift(&mut state.vars, base);
        }
        Ok(())
    }

    /// Whether a process whose next access changes nothing is in the same section after it.
    fn stays_if_it_steps(&self, state: &State, p: usize) -> Result<bool, Halt> {
        let (at, op) = (state.locals[p], self.next(state, p));
        let value = op.var().map_or(0, |v| state.vars[v as usize]);
        let child = self.locals[p].child(at, Seen { value, gave_up: false })?;
        let [here, there] = [at, child.to].map(|at| &self.locals[p].nodes[at as usize].position);
        let same = |a: &Position| (a.phase, a.doorway_done);
        Ok(child.how == How::On && child.responds.is_none() && same(here) == same(there) && !there.joined)
    }

    /// The facts of all processes that are alive, in their order.
    fn facts_of_living<'a>(&self, known: &'a Canonical, state: &State) -> Result<Vec<&'a Facts>, Halt> {
        let living = (0..self.processes()).filter(|&p| !self.has_crashed(state, p));
        living.map(|p| known.facts(p, state.locals[p])).collect()
    }
}
