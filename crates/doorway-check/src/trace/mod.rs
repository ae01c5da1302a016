//! How a state came about, step by step, for people and for programs.

mod table;

use crate::sim::{Action, Op, Phase, State, Stepped, TextError, Told, VarId, What, World, is_set};
use crate::viewer::waits_on;
use serde::Serialize;

/// A run from the initial state.
///
/// It is displayed as a table, with one column for each process and the changed variables on the
/// right.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Trace {
    /// The number of processes.
    #[serde(skip)]
    pub processes: usize,
    /// The steps.
    pub steps: Vec<Step>,
    /// The step from which the run repeats for ever, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats_from: Option<usize>,
    /// Why the repetition is fair, process by process.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub why_fair: Vec<String>,
    /// Where every process is at the end.
    pub end: Vec<Whereabouts>,
    /// The actions, as the machine takes them.
    #[serde(skip)]
    pub actions: Vec<Action>,
}

/// One step.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Step {
    /// The process.
    pub process: usize,
    /// The part of the algorithm; empty for the algorithm as a whole.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub part: String,
    /// The statement.
    pub statement: u16,
    /// The instruction; `None` for a step that is not an access.
    pub instruction: Option<&'static str>,
    /// What happened.
    pub did: String,
    /// Whether a turn of a wait failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
    /// The variables that changed, and their new values. There are several only in an atomic block,
    /// or beside a private variable.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<(String, String)>,
    /// The section that the step led into, if it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<&'static str>,
}

/// Where a process is.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Whereabouts {
    /// Its section.
    pub section: &'static str,
    /// The part of the algorithm; empty for the algorithm as a whole.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub part: String,
    /// The statement it is about to execute; `None` in the remainder.
    pub statement: Option<u16>,
    /// What it would see and wait on, if it can only wait: on one variable, or on several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<String>,
    /// Whether it has crashed there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub crashed: bool,
    /// The message of its panic, if its text panicked there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub panicked: Option<String>,
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
    /// The run of these actions.
    ///
    /// # Errors
    /// Returns an error if a text breaks the rules of replay.
    pub fn of(world: &mut World, initial: &State, actions: &[Action]) -> Result<Self, TextError> {
        let mut state = initial.clone();
        let mut steps = Vec::new();
        for &action in actions {
            steps.extend(Step::take(world, &mut state, action)?);
        }
        let mut end = Vec::new();
        for p in 0..world.processes() {
            let phase = world.phase(&state, p);
            let in_passage = phase != Phase::Remainder || world.panicked(&state, p).is_some();
            let statement = in_passage.then(|| world.next_at(&state, p).1);
            let part = world.layout().part(world.next_at(&state, p).0).path.clone();
            // Only a look ahead: a text that cannot go on has still come this far.
            let next = Step::take(world, &mut state.clone(), Action::step(p)).ok().flatten();
            let waits = next.filter(|next| next.waits).map(|next| next.did);
            let waits = waits.or_else(|| sees_until_back(world, &state, p));
            let crashed = world.has_crashed(&state, p);
            let panicked = world.panicked(&state, p).map(str::to_owned);
            end.push(Whereabouts { section: section(phase), part, statement, waits, crashed, panicked });
        }
        let (processes, actions) = (world.processes(), actions.to_vec());
        Ok(Self { processes, steps, repeats_from: None, why_fair: Vec::new(), end, actions })
    }

    /// Marks the step from which the run repeats for ever, and why that is fair.
    pub fn repeats(&mut self, from: usize, why_fair: Vec<String>) {
        self.repeats_from = Some(from);
        self.why_fair = why_fair;
    }

    /// How many steps it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether it has no steps.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

/// What a process sees on a round that leads back to where it is, if it only waits.
fn sees_until_back(world: &mut World, state: &State, p: usize) -> Option<String> {
    if world.has_crashed(state, p) || world.panicked(state, p).is_some() {
        return None;
    }
    let part = world.next_at(state, p).0;
    let reads = waits_on(world, state, p).ok().flatten()?;
    let layout = world.layout();
    let sees = |&v: &VarId| format!("{} = {}", layout.name_within(part, v), layout.var(v).show(state.vars[v as usize]));
    Some(reads.iter().map(sees).collect::<Vec<_>>().join(", "))
}

impl Step {
    /// Performs and records an action; `None` if it cannot happen.
    pub(crate) fn take(world: &mut World, state: &mut State, action: Action) -> Result<Option<Self>, TextError> {
        Ok(Self::take_watched(world, state, action, &mut |_| {})?.map(|(step, _)| step))
    }

    /// The same, with its effect, and with each access to a shared variable that it makes.
    pub(crate) fn take_watched(
        world: &mut World,
        state: &mut State,
        action: Action,
        accesses: &mut dyn FnMut(Op),
    ) -> Result<Option<(Self, Stepped)>, TextError> {
        let p = action.process;
        let (op, (part, statement), before) = (world.next(state, p), world.next_at(state, p), world.phase(state, p));
        let (old, watched) = (state.vars.clone(), state.monitors.clone());
        let was_dying = world.is_dying(state, p);
        let writing = state.writing;
        let owed = state.owes.get(p).copied().unwrap_or(0);
        let (mut begun, mut more, mut ended) = (Vec::new(), Vec::new(), Vec::new());
        let mut watch = |told: Told<'_>| match told {
            Told::Invoked(op) => begun.push(format!("calls {op}")),
            Told::Accessed(op, part, saw) => more.push((op, part, saw)),
            Told::Responded(result) => ended.push(format!("returns {result}")),
        };
        let Some(stepped) = world.act_watched(state, action, &mut watch)? else { return Ok(None) };
        // A write in two steps counts where it begins.
        let began = state.writing & !writing != 0;
        let is_an_access = matches!(action.what, What::Step | What::Sees(_) | What::GiveUp)
            && !was_dying
            && owed == 0
            && !is_set(writing, p)
            && !matches!(op, Op::Sleep(..));
        if is_an_access {
            accesses(op);
        }
        more.iter().for_each(|&(op, ..)| accesses(op));
        if began && is_an_access && world.next(state, p) != op {
            accesses(world.next(state, p));
        }
        let layout = world.layout();
        let after = world.phase(state, p);
        let begins = began.then(|| format!("{} begins", world.next(state, p).describe(layout, part, stepped.saw)));
        let chooses = matches!(op, Op::Choose(_));
        let did = match action.what {
            What::Crash => "crashes".to_owned(),
            What::CrashWakes(i) => format!("crashes, and wakes sleeper {i} that watches it"),
            What::Restart => "a new process begins here".to_owned(),
            What::Step if was_dying => "its death is noticed".to_owned(),
            What::TimesOut => "wakes up by itself".to_owned(),
            What::Step if owed != 0 => format!("wakes the sleepers of {}", layout.short_name(owed - 1)),
            What::GiveUp => format!("{}, gives up", op.describe(layout, part, stepped.saw)),
            What::Step | What::Sees(_) => {
                let first = op.describe(layout, part, stepped.saw);
                let first = match (action.what, begins) {
                    (What::Sees(_), _) if !chooses => format!("{first}, torn"),
                    (_, Some(begins)) if !chooses => begins,
                    (_, begins) => std::iter::once(first).chain(begins).collect::<Vec<_>>().join("; "),
                };
                // A process that chooses what to call calls it then.
                begun.insert(if chooses { 0 } else { begun.len() }, first);
                let more = more.iter().map(|&(op, part, saw)| op.describe(layout, part, saw));
                begun.into_iter().chain(more).chain(ended).filter(|did| !did.is_empty()).collect::<Vec<_>>().join("; ")
            }
        };
        let watchers = world.monitors().iter().zip(watched.iter().zip(&state.monitors));
        let monitors = watchers
            .filter(|(_, (was, is))| was != is)
            .map(|(watcher, (_, &is))| (watcher.name().to_owned(), watcher.show(is)));
        let step = Self {
            process: p,
            part: layout.part(part).path.clone(),
            statement,
            instruction: op.instruction().map(doorway_core::memory::Instruction::name),
            did,
            waits: stepped.failed_turn,
            changed: (0..old.len())
                .filter(|&v| old[v] != state.vars[v])
                .map(|v| (layout.short_name(v as VarId), layout.vars()[v].show(state.vars[v])))
                .chain(monitors)
                .collect(),
            now: (before != after || stepped.passage_ended).then(|| section(after)),
        };
        Ok(Some((step, stepped)))
    }
}
