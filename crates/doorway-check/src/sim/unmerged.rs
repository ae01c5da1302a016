//! The text itself beside a search that merges: the same machine without `keep`, and with full
//! counters.
//!
//! A search merges several states into one: local states that a
//! [`keep`](doorway_core::memory::Here::keep) declares alike, and states in which all
//! [counters](doorway_core::memory::Decl::counts) have advanced by the same number. What it finds
//! is a run of the text only if both declarations are true. A [`Pair`] takes each step in both
//! machines and reports where they differ.

use super::canon::Canonical;
use super::layout::VarId;
use super::locals::{Locals, Node};
use super::op::Op;
use super::step::{Action, Stepped, What};
use super::world::{State, World};
use super::{Keep, TextError};
use crate::Property;
use crate::property::View;
use doorway_core::memory::Pid;
use rustc_hash::FxHashSet;

/// More accesses than a reported run makes in one passage.
const LONGEST: usize = 100_000;

/// How many steps of a process running alone are compared, at most.
const ALONE: usize = 500;

impl World {
    /// This machine without merging, in its initial state. States merged by a
    /// [`Canon`](super::Canon) stay merged.
    pub(crate) fn unmerged(&self) -> Result<Self, TextError> {
        let mut rules = self.rules();
        (rules.keep, rules.normalise) = (Keep::Ignored, false);
        let locals = (0..self.processes()).map(|p| Locals::new(&self.sim, &*self.start, Pid::new(p), LONGEST));
        let locals = locals.collect::<Result<Vec<_>, _>>()?;
        let canon = self.canon.as_ref().map(Canonical::fresh);
        Ok(self.with_other_locals(rules, locals, canon))
    }

    /// Whether counters are kept small.
    pub(crate) fn keeps_counters_small(&self) -> bool {
        self.rules().normalise && self.layout().vars().iter().any(|v| v.counts)
    }

    /// Whether the machine treats states as one that a property of the user might tell apart:
    /// counters are kept small, or symmetric states are merged.
    pub(crate) fn takes_some_states_for_one(&self) -> bool {
        self.keeps_counters_small() || self.canon.is_some() || self.alike.is_some()
    }

    /// Whether a process is at the same place in both machines, as far as properties and other
    /// processes can see.
    fn is_where(&self, state: &State, other: &Self, theirs: &State, p: usize) -> bool {
        if self.has_crashed(state, p) && other.has_crashed(theirs, p) && self.canon.is_some() {
            return true; // dead processes that are alike are merged
        }
        let (here, there) = (&self.node(state, p).position, &other.node(theirs, p).position);
        if !self.rules().normalise {
            return here == there;
        }
        let whereabouts = |node: &Node| {
            let at = &node.position;
            (at.part, at.label, at.phase, at.doorway_done, at.rests.clone(), at.joined, at.in_block)
        };
        let asks = |op: Op| match op.var() {
            // Only differences of counters are known.
            Some(v) if self.layout().var(v).counts => (op.instruction(), Some(v), None),
            v => (op.instruction(), v, Some(op)),
        };
        whereabouts(self.node(state, p)) == whereabouts(other.node(theirs, p)) && asks(here.op) == asks(there.op)
    }

    /// Whether everything but the local states agrees with the other machine.
    fn has_the_values_of(&self, state: &State, theirs: &State) -> bool {
        let counts = |v: usize| self.rules().normalise && self.layout().var(v as VarId).counts;
        let vars = (0..state.vars.len()).all(|v| counts(v) || state.vars[v] == theirs.vars[v]);
        let rest = |s: &State| {
            let deaths = (s.crashed, s.dying, s.restarted);
            (deaths, s.writing, s.overlapped, s.passed, s.asleep, s.turns, s.cached, s.monitors.clone())
        };
        let lists = |s: &State| (s.passages.clone(), s.before.clone(), s.owes.clone());
        vars && rest(state) == rest(theirs) && lists(state) == lists(theirs)
    }
}

/// A merging machine and the same machine without merging, in the same state.
#[derive(Debug)]
pub(crate) struct Pair<'w> {
    merged: &'w mut World,
    pub(crate) plain: World,
    /// The state of the merging machine.
    at: State,
    /// The state of the text itself.
    pub(crate) text: State,
    steps: usize,
}

/// The states of the two machines.
type Place = (State, State);

impl<'w> Pair<'w> {
    /// Both machines in their initial states; operations are watched for these properties.
    pub(crate) fn new<'p>(
        merged: &'w mut World,
        initial: &State,
        properties: impl IntoIterator<Item = &'p Property>,
    ) -> Result<Self, TextError> {
        let mut plain = merged.unmerged()?;
        plain.watch_for(properties);
        let at_first = plain.initial();
        let text = State { calls: at_first.calls, monitors: at_first.monitors, ..initial.clone() };
        Ok(Self { merged, plain, at: initial.clone(), text, steps: 0 })
    }

    /// Performs an action in both machines; `None` if it cannot happen in either.
    ///
    /// # Errors
    /// Returns an error if they differ: then the text cannot do what the merging machine did.
    pub(crate) fn act(&mut self, action: Action) -> Result<Option<Stepped>, TextError> {
        self.steps += 1;
        let place = (self.at.clone(), self.text.clone());
        let (stepped, (at, text)) = self.act_at(&place, action)?;
        (self.at, self.text) = (at, text);
        Ok(stepped)
    }

    fn act_at(&mut self, (at, text): &Place, action: Action) -> Result<(Option<Stepped>, Place), TextError> {
        let (mut at, mut text) = (at.clone(), text.clone());
        let parted = self.parted(&at, action.process);
        let found = self.merged.act(&mut at, action)?;
        let did = self.plain.act(&mut text, action)?;
        let seen = |stepped: Option<Stepped>| {
            let normalised = self.merged.rules().normalise;
            stepped.map(|stepped| if normalised { Stepped { saw: 0, ..stepped } } else { stepped })
        };
        if seen(found) != seen(did) || !self.merged.has_the_values_of(&at, &text) {
            return Err(parted);
        }
        let elsewhere = |p: &usize| !self.merged.is_where(&at, &self.plain, &text, *p);
        match (0..self.merged.processes()).find(elsewhere) {
            Some(p) => Err(self.parted(&at, p)),
            None => Ok((did, (at, text))),
        }
    }

    /// The error if a process does something else from here on.
    fn parted(&self, at: &State, p: usize) -> TextError {
        let normalised = self.merged.rules().normalise;
        TextError::NoSuchRun { pid: Pid::new(p), label: self.merged.next_at(at, p).1, step: self.steps, normalised }
    }

    /// The error if the run does not show in the text what was found.
    pub(crate) fn is_no_such_run(&self, last: Option<Action>) -> TextError {
        self.parted(&self.at, last.map_or(0, |action| action.process))
    }

    /// Runs each of these processes alone in both machines, on every way it can go, until nothing
    /// new comes up.
    ///
    /// # Errors
    /// The same as for [`act`](Self::act).
    pub(crate) fn run_alone(&mut self, processes: impl IntoIterator<Item = usize>) -> Result<(), TextError> {
        for p in processes {
            let mut been = FxHashSet::default();
            let mut todo = vec![(self.at.clone(), self.text.clone())];
            while let Some(place) = todo.pop() {
                let mut actions = Vec::new();
                self.merged.actions(&place.0, p, &mut actions);
                actions.retain(|a| matches!(a.what, What::Step | What::Sees(_) | What::TimesOut));
                for action in actions {
                    let (stepped, next) = self.act_at(&place, action)?;
                    if stepped.is_some() && been.len() < ALONE && been.insert(next.clone()) {
                        todo.push(next);
                    }
                }
            }
        }
        Ok(())
    }

    /// Compares everything that can happen from here on, breadth-first, up to `most` states of the
    /// text, and whether properties agree on both. Returns how many states were compared, and
    /// whether these are all.
    ///
    /// # Errors
    /// The same as for [`act`](Self::act), and if properties disagree.
    pub(crate) fn compare_all(
        &mut self,
        most: usize,
        same: impl Fn(&View<'_>, &View<'_>) -> bool,
    ) -> Result<(u64, bool), TextError> {
        let mut been = FxHashSet::from_iter([self.text.clone()]);
        let mut todo = std::collections::VecDeque::from([(self.at.clone(), self.text.clone(), 0)]);
        while let Some((at, text, steps)) = todo.pop_front() {
            let (place, mut actions) = ((at, text), Vec::new());
            if !same(&View::new(self.merged, &place.0), &View::new(&self.plain, &place.1)) {
                return Err(TextError::CounterAsked);
            }
            (0..self.merged.processes()).for_each(|p| self.merged.actions(&place.0, p, &mut actions));
            self.steps = steps + 1;
            for action in actions {
                let (stepped, next) = self.act_at(&place, action)?;
                if stepped.is_some() && !been.contains(&next.1) {
                    if been.len() == most {
                        return Ok((most as u64, false));
                    }
                    been.insert(next.1.clone());
                    todo.push_back((next.0, next.1, self.steps));
                }
            }
        }
        Ok((been.len() as u64, true))
    }
}
