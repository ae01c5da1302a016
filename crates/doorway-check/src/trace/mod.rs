//! How a state came about: steps, for people and for machines.

mod table;

use crate::sim::{Phase, State, TextError, World};
use serde::Serialize;

/// A run from the first state, step by step.
///
/// Displayed as a table: one column for each process, and the variables that changed at the right.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Trace {
    /// The number of processes.
    #[serde(skip)]
    pub processes: usize,
    /// The steps.
    pub steps: Vec<Step>,
    /// Where everyone is at the end.
    pub end: Vec<Whereabouts>,
}

/// One step.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Step {
    /// Whose.
    pub process: usize,
    /// In which part of the algorithm; empty for the algorithm as a whole.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub part: String,
    /// At which statement.
    pub statement: u16,
    /// The instruction; `None` for a step that is no access.
    pub instruction: Option<&'static str>,
    /// What happened.
    pub did: String,
    /// Whether a turn of a wait failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
    /// The variable that changed, and its new value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<(String, String)>,
    /// The section that the step led into, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<&'static str>,
}

/// Where a process is.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Whereabouts {
    /// Its section.
    pub section: &'static str,
    /// The statement it is about to do; `None` in the remainder.
    pub statement: Option<u16>,
    /// What it would see and go on waiting, if its next step is a turn that fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<String>,
}

pub(crate) fn section(phase: Phase) -> &'static str {
    match phase {
        Phase::Remainder => "remainder",
        Phase::Entry => "entry",
        Phase::Inside => "inside",
        Phase::Exit => "exit",
    }
}

impl Trace {
    /// The run in which the processes step in this order, and the state it leads to.
    ///
    /// # Errors
    /// If a text breaks the rules that replay rests on.
    pub fn of(world: &mut World, initial: &State, order: &[usize]) -> Result<(Self, State), TextError> {
        let mut state = initial.clone();
        let mut steps = Vec::new();
        for &p in order {
            steps.push(Step::take(world, &mut state, p)?);
        }
        let mut end = Vec::new();
        for p in 0..world.processes() {
            let phase = world.phase(&state, p);
            let statement = (phase != Phase::Remainder).then(|| world.next_at(&state, p).1);
            let next = Step::take(world, &mut state.clone(), p)?;
            end.push(Whereabouts { section: section(phase), statement, waits: next.waits.then_some(next.did) });
        }
        Ok((Self { processes: world.processes(), steps, end }, state))
    }

    /// How many steps it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether nothing has happened.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

impl Step {
    /// Lets a process take its next step, and writes down what happened.
    pub(crate) fn take(world: &mut World, state: &mut State, p: usize) -> Result<Self, TextError> {
        let (op, (part, statement), before) = (world.next(state, p), world.next_at(state, p), world.phase(state, p));
        let old = op.var().map(|v| state.vars[v as usize]);
        let stepped = world.step(state, p)?;
        let layout = world.layout();
        let new = op.var().map(|v| state.vars[v as usize]);
        let after = world.phase(state, p);
        Ok(Self {
            process: p,
            part: layout.part(part).path.clone(),
            statement,
            instruction: op.instruction().map(doorway_core::memory::Instruction::name),
            did: op.describe(layout, part, stepped.saw),
            waits: stepped.failed_turn,
            changed: op
                .var()
                .filter(|_| old != new)
                .map(|v| (layout.short_name(v), layout.var(v).show(state.vars[v as usize]))),
            now: (before != after || stepped.passage_ended).then(|| section(after)),
        })
    }
}
