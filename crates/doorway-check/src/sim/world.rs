//! A machine: shared variables, processes, and which of them may step.

use super::calls::{Heard, Monitor};
use super::canon::Canonical;
use super::layout::{FORGOTTEN, Layout, Part, VarId};
use super::locals::{DONE, Locals, Node, ROOT, Start};
use super::memory::{Phase, Running, Sim};
use super::numbers::Alike;
use super::op::Op;
use super::renaming::Renamings;
use super::rules::{Rules, Sections};
use super::survey::CrossChecked;
use super::watch::Watcher;
use super::{LocalId, TextError};
use crate::faults::Fault;
use doorway_core::Failure;
use doorway_core::k_exclusion::{Abortable, KExclusion};
use doorway_core::memory::{Home, Instruction, Label, Pid, Process, Register, Site};
use doorway_core::registry::CostModel;
use std::collections::BTreeSet;
use std::fmt;
use std::panic::Location;
use std::rc::Rc;
use std::sync::Arc;

/// A state of the machine. Components that the rules do not need stay empty.
#[derive(PartialEq, Eq, Hash, Default, Debug)]
pub struct State {
    /// The shared variables.
    pub vars: Vec<u64>,
    /// The local state of each process.
    pub locals: Vec<LocalId>,
    /// The passages that each process has completed, if they are counted.
    pub passages: Vec<u32>,
    /// The processes that have crashed, a bit for each.
    pub crashed: u64,
    /// The processes that have died without being noticed yet, a bit for each.
    pub dying: u64,
    /// How many dead processes were replaced.
    pub restarted: u32,
    /// The processes in the middle of a write, a bit for each.
    pub writing: u64,
    /// The processes in the middle of a write during which another write to the same variable ended
    /// and took effect, a bit for each.
    pub overlapped: u64,
    /// For each process in its entry section: the processes that had left their doorways when it
    /// began, and have not entered since.
    pub before: Vec<u64>,
    /// The processes that a later one has passed, a bit for each.
    pub passed: u64,
    /// The processes that sleep, a bit for each.
    pub asleep: u64,
    /// The variable whose sleepers a process is about to wake, plus 1; 0 if none.
    pub owes: Vec<u32>,
    /// The process that stepped last, plus 1 (0: none yet), and the number of context switches; if
    /// the rules bound them.
    pub turns: [u32; 2],
    /// For the measured process: the variables in its cache, and those that are in no other.
    pub cached: [u64; 2],
    /// The set of explanations for the operations called, as a number; 0 if there are none, or
    /// operations are not watched.
    pub calls: u32,
    /// The states of the [monitors](super::Monitor), as words.
    pub monitors: Vec<u64>,
}

/// By hand, because a derived `clone_from` allocates every list anew, and a search clones at every
/// step.
impl Clone for State {
    fn clone(&self) -> Self {
        Self {
            vars: self.vars.clone(),
            locals: self.locals.clone(),
            passages: self.passages.clone(),
            before: self.before.clone(),
            owes: self.owes.clone(),
            monitors: self.monitors.clone(),
            ..*self
        }
    }

    fn clone_from(&mut self, from: &Self) {
        let Self { vars, locals, passages, before, owes, monitors, .. } = self;
        vars.clone_from(&from.vars);
        locals.clone_from(&from.locals);
        passages.clone_from(&from.passages);
        before.clone_from(&from.before);
        owes.clone_from(&from.owes);
        monitors.clone_from(&from.monitors);
        let [vars, before, monitors] = [vars, before, monitors].map(std::mem::take);
        let [locals, passages, owes] = [locals, passages, owes].map(std::mem::take);
        *self = Self { vars, locals, passages, before, owes, monitors, ..*from };
    }
}

/// A statement of a text that a machine has reached.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Statement {
    /// The full name of the part it belongs to; empty for the algorithm as a whole.
    pub part: String,
    /// Its number.
    pub label: Label,
    /// Its instruction.
    pub does: Instruction,
    /// Whether a turn of a wait was seen to fail with it.
    pub waits: bool,
}

/// What is known of a machine: its rules, its variables, and the local states found so far. Several
/// threads can read it at a time.
pub struct Machine {
    layout: Layout,
    pub(super) locals: Vec<Locals>,
    rules: Rules,
    /// The kind of each variable under the rules.
    kinds: Vec<Register>,
    /// The variables that matter only while watched, and the processes that watch them.
    watched: Vec<(VarId, usize)>,
    pub(super) canon: Option<Canonical>,
    pub(super) alike: Option<Alike>,
    pub(super) renamings: Option<Renamings>,
    /// The bytes of seats, in the order of the seats.
    pub(super) bytes: Vec<VarId>,
    /// The variables whose initial value differs from their declaration.
    begins: Vec<(VarId, u64)>,
    /// What operations do to a sequential object, if they are compared with one.
    pub(super) heard: Option<Heard>,
    /// What watches each step.
    pub(super) watchers: Vec<Arc<dyn Watcher>>,
}

/// A machine with its processes: a [`Machine`], and the texts that tell what is not known of it
/// yet.
pub struct World {
    pub(super) machine: Machine,
    pub(super) sim: Sim,
    pub(super) start: Rc<Start>,
    /// Compares operations with a sequential object.
    pub(super) monitor: Option<Monitor>,
    /// The state before a step that may have to be made again.
    pub(super) before: State,
}

impl std::ops::Deref for World {
    type Target = Machine;

    fn deref(&self) -> &Machine {
        &self.machine
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine")
            .field("processes", &self.locals.len())
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("processes", &self.locals.len())
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}

/// A refusal without an access is still a step.
async fn turned_away(sim: &Sim) {
    if sim.phase() == Phase::Remainder {
        sim.section().await;
    }
}

/// From the end of the entry section to the end of the passage.
async fn inside_and_out<A: KExclusion<Sim>>(
    sim: &Sim,
    p: &Process<Sim>,
    algorithm: &A,
    held: A::Held,
    sections: Sections,
) {
    if sim.phase() == Phase::Remainder {
        sim.section().await; // an entry without accesses is still a step
    }
    sim.enters(&held);
    if sections == Sections::Explicit {
        sim.section().await;
    }
    let Ok(()) = algorithm.release(p, held).await;
    if sim.phase() == Phase::Inside {
        sim.section().await;
    }
}

/// Passages through an algorithm. Separate from what builds it, so that it is compiled once for all
/// builders.
fn passages<A: KExclusion<Sim> + 'static>(sim: Sim, sections: Sections, algorithm: Rc<A>) -> Rc<Start> {
    Rc::new(move |pid| {
        let (algorithm, sim) = (Rc::clone(&algorithm), sim.clone());
        sim.clone().begin(async move {
            let p = Process::new(pid, sim.clone());
            if sections == Sections::Explicit {
                sim.section().await;
            }
            let held = match algorithm.acquire(&p).await {
                Ok(held) => held,
                Err(Failure::Memory(impossible)) => match impossible {},
                Err(Failure::Refused(_)) => return turned_away(&sim).await,
            };
            inside_and_out(&sim, &p, &*algorithm, held, sections).await;
        })
    })
}

/// Passages through an algorithm whose waiting processes give up, if the rules say so.
fn abortable_passages<A: Abortable<Sim> + 'static>(sim: Sim, sections: Sections, algorithm: Rc<A>) -> Rc<Start> {
    Rc::new(move |pid| {
        let (algorithm, sim) = (Rc::clone(&algorithm), sim.clone());
        sim.clone().begin(async move {
            let p = Process::new(pid, sim.clone());
            if sections == Sections::Explicit {
                sim.section().await;
            }
            let mut attempt = A::Attempt::default();
            let held = match algorithm.try_acquire(&p, &mut attempt).await {
                Ok(Some(held)) => Some(held),
                Ok(None) => {
                    sim.gives_up();
                    let Ok(held) = algorithm.leave(&p, attempt).await;
                    if let Some(held) = held {
                        let Ok(()) = algorithm.release(&p, held).await;
                    }
                    None
                }
                Err(Failure::Memory(impossible)) => match impossible {},
                Err(Failure::Refused(_)) => return turned_away(&sim).await,
            };
            let Some(held) = held else { return };
            inside_and_out(&sim, &p, &*algorithm, held, sections).await;
        })
    })
}

/// With more than 64 processes none of these bits is set.
pub(crate) fn is_set(bits: u64, p: usize) -> bool {
    p < 64 && bits >> p & 1 == 1
}

impl World {
    /// A machine of `n` processes that make passages through a solution of k-exclusion.
    ///
    /// # Errors
    /// Returns an error if the text awaits something that is not an access.
    pub fn new<A>(n: usize, rules: Rules, build: impl FnOnce(&Site<'_, Sim>) -> A) -> Result<Self, TextError>
    where
        A: KExclusion<Sim> + 'static,
    {
        let sim = Sim::with_rules(&rules);
        let algorithm = Rc::new(build(&Site::new(&sim)));
        Self::from_passages(n, rules, sim.clone(), passages(sim, rules.sections, algorithm))
    }

    /// A machine of `n` processes that make passages through a solution whose waiting processes can
    /// give up. If the rules say so, they do, at every failed turn.
    ///
    /// # Errors
    /// The same as for [`new`](Self::new).
    pub fn of_abortable<A>(n: usize, rules: Rules, build: impl FnOnce(&Site<'_, Sim>) -> A) -> Result<Self, TextError>
    where
        A: Abortable<Sim> + 'static,
    {
        let sim = Sim::with_rules(&rules);
        let algorithm = Rc::new(build(&Site::new(&sim)));
        Self::from_passages(n, rules, sim.clone(), abortable_passages(sim, rules.sections, algorithm))
    }

    /// A machine of `n` processes that each run `body` as a passage, all of it in the entry
    /// section. For texts that do not solve k-exclusion.
    ///
    /// # Errors
    /// Returns an error if the text awaits something that is not an access.
    pub fn of_programs<S: 'static, F>(
        n: usize,
        rules: Rules,
        build: impl FnOnce(&Site<'_, Sim>) -> S,
        body: impl Fn(Rc<S>, Process<Sim>) -> F + 'static,
    ) -> Result<Self, TextError>
    where
        F: Future<Output = ()> + 'static,
    {
        let sim = Sim::with_rules(&rules);
        let shared = Rc::new(build(&Site::new(&sim)));
        let memory = sim.clone();
        let start = move |pid| -> Running {
            let running = body(Rc::clone(&shared), Process::new(pid, memory.clone()));
            let sim = memory.clone();
            sim.clone().begin(async move {
                running.await;
                if sim.phase() == Phase::Remainder {
                    sim.section().await;
                }
            })
        };
        Self::from_passages(n, rules, sim, Rc::new(start))
    }

    /// Not generic, so that it is compiled once and not for each of two hundred texts.
    fn from_passages(n: usize, rules: Rules, sim: Sim, start: Rc<Start>) -> Result<Self, TextError> {
        if n == 0 {
            return Err(TextError::NoProcess);
        }
        let layout = sim.layout();
        let start = sim.with_what_is_owed(start);
        let needs_bits = rules.wakes
            || rules.crashes > 0
            || rules.order
            || rules.registers < Register::Atomic
            || rules.measure.is_some();
        // A distributed memory has no caches.
        let caches = rules.measure.is_some_and(|(_, model)| model != CostModel::Dsm);
        if needs_bits && (n > 64 || layout.vars().len() > 64 && caches) {
            return Err(TextError::TooLarge);
        }
        let kind = |declared: Register| {
            if rules.force_registers { rules.registers } else { rules.registers.max(declared) }
        };
        // No other process can overlap an access to a private variable.
        let kinds = layout.vars().iter().map(|v| if v.private { Register::Atomic } else { kind(v.needs) }).collect();
        // Far more than any passage of a text that waits with the words for waiting.
        let longest = 1000 + 100 * n;
        let locals = (0..n).map(|p| Locals::new(&sim, &*start, Pid::new(p), longest)).collect::<Result<Vec<_>, _>>()?;
        let watched = (0..).zip(layout.vars()).filter_map(|(v, info)| match info.home {
            Home::Of(p) if info.watched && rules.forget => Some((v, p.index())),
            _ => None,
        });
        let watched = watched.collect();
        let (bytes, begins) = (sim.bytes_of_seats(), sim.begins());
        let (canon, alike, renamings, heard) = (None, None, None, None);
        let watchers = Vec::new();
        let machine =
            Machine { layout, locals, rules, kinds, watched, canon, alike, renamings, bytes, begins, heard, watchers };
        Ok(Self { machine, sim, start, monitor: None, before: State::default() })
    }

    /// The same machine with these rules and local states, without a monitor of operations.
    pub(super) fn with_other_locals(&self, rules: Rules, locals: Vec<Locals>, canon: Option<Canonical>) -> Self {
        let machine = Machine {
            layout: self.layout.clone(),
            locals,
            rules,
            kinds: self.kinds.clone(),
            watched: self.watched.clone(),
            canon,
            alike: None,
            renamings: None,
            bytes: self.bytes.clone(),
            begins: self.begins.clone(),
            heard: None,
            watchers: self.watchers.clone(),
        };
        let (sim, start) = (self.sim.clone(), Rc::clone(&self.start));
        Self { machine, sim, start, monitor: None, before: State::default() }
    }

    pub(super) fn into_parts(self) -> (Sim, Layout, Rc<Start>) {
        (self.sim, self.machine.layout, self.start)
    }

    /// The faults of the rules that have changed nothing so far: no process reached their
    /// statements or variables.
    #[must_use]
    pub fn faults_without_effect(&self) -> Vec<&'static Fault> {
        self.sim.faults_without_effect()
    }

    /// Compares up to `most` continuations of merged local states of each process; see
    /// [`Keep::CrossChecked`](super::Keep::CrossChecked).
    ///
    /// # Errors
    /// Returns an error if a `keep` merged two local states that continue differently.
    pub fn cross_check(&mut self, most: u64) -> Result<CrossChecked, TextError> {
        let mut sum = CrossChecked { all: true, ..CrossChecked::default() };
        for locals in &mut self.machine.locals {
            sum.add(locals.cross_check(&self.sim, &*self.start, most)?);
        }
        Ok(sum)
    }
}

impl Machine {
    /// How many processes there are.
    #[must_use]
    #[inline]
    pub fn processes(&self) -> usize {
        self.locals.len()
    }

    /// The declarations.
    #[must_use]
    #[inline]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Its rules.
    #[must_use]
    #[inline]
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// The initial state.
    #[must_use]
    pub fn initial(&self) -> State {
        let n = self.processes();
        let at = if self.rules.passages == Some(0) { DONE } else { ROOT };
        let mut state = State {
            vars: self
                .layout
                .vars()
                .iter()
                .map(|v| if v.watched && self.rules.forget { FORGOTTEN } else { v.init })
                .collect(),
            locals: vec![at; n],
            passages: vec![0; if self.counts_passages() { n } else { 0 }],
            crashed: 0,
            dying: 0,
            restarted: 0,
            writing: 0,
            overlapped: 0,
            before: vec![0; if self.rules.order { n } else { 0 }],
            passed: 0,
            asleep: 0,
            owes: vec![0; if self.rules.wakes { n } else { 0 }],
            turns: [0; 2],
            cached: [0; 2],
            calls: self.initial_calls(),
            monitors: self.watchers.iter().map(|watcher| watcher.initial()).collect(),
        };
        self.begins.iter().for_each(|&(v, word)| state.vars[v as usize] = word);
        state
    }

    /// With one passage, a process is done or not: there is nothing to count.
    pub(crate) fn counts_passages(&self) -> bool {
        self.rules.passages.is_some_and(|p| p > 1)
    }

    /// Whether the passage that a process is in is its last, if passages are counted.
    pub(crate) fn is_last_passage(&self, state: &State, p: usize) -> bool {
        state.passages.get(p).zip(self.rules.passages).is_some_and(|(&done, most)| done + 1 >= most)
    }

    /// The kind of register of a variable under the rules.
    #[must_use]
    pub fn kind(&self, v: VarId) -> Register {
        self.kinds[v as usize]
    }

    /// The kinds of registers of the variables under the rules.
    #[must_use]
    pub fn weakest_register(&self) -> Register {
        self.kinds.iter().copied().min().unwrap_or(Register::Atomic)
    }

    /// Forgets the values of variables that no process watches.
    pub(super) fn forget(&self, state: &mut State) {
        for &(v, owner) in &self.watched {
            if state.vars[v as usize] != FORGOTTEN && !self.node(state, owner).position.watched.contains(&v) {
                state.vars[v as usize] = FORGOTTEN;
            }
        }
    }

    /// Whether there are no such variables.
    pub(super) fn forgets_nothing(&self) -> bool {
        self.watched.is_empty()
    }

    #[inline]
    pub(super) fn node(&self, state: &State, p: usize) -> &Node {
        &self.locals[p].nodes[state.locals[p] as usize]
    }

    /// What a process does next; [`Op::Stop`] if it has made all its passages.
    #[must_use]
    #[inline]
    pub fn next(&self, state: &State, p: usize) -> Op {
        self.node(state, p).position.op
    }

    /// The part and the statement of that step.
    #[must_use]
    pub fn next_at(&self, state: &State, p: usize) -> (Part, Label) {
        let position = &self.node(state, p).position;
        (position.part, position.label)
    }

    /// The line of the source on which that step is written, if it is known.
    #[must_use]
    pub fn next_line(&self, state: &State, p: usize) -> Option<&'static Location<'static>> {
        self.node(state, p).position.line.0
    }

    /// The section of its passage that a process is in.
    #[must_use]
    #[inline]
    pub fn phase(&self, state: &State, p: usize) -> Phase {
        let phase = self.node(state, p).position.phase;
        // The passage of a process that still has to wake sleepers is not over.
        if phase == Phase::Remainder && self.owes(state, p) {
            return Phase::Exit;
        }
        // In the middle of a write, a process has begun something that the text has not seen done.
        if state.writing != 0 && is_set(state.writing, p) { phase.begun() } else { phase }
    }

    /// The message of a process's panic, if its text panicked: it never takes a step again.
    #[must_use]
    pub fn panicked(&self, state: &State, p: usize) -> Option<&str> {
        self.locals[p].panicked(state.locals[p])
    }

    /// The first process whose text has panicked.
    pub(crate) fn panicked_process(&self, state: &State) -> Option<usize> {
        (0..self.processes()).find(|&p| self.panicked(state, p).is_some())
    }

    /// The error of a process whose text has panicked.
    pub(crate) fn panic_of(&self, state: &State, p: usize) -> TextError {
        let message = self.panicked(state, p).unwrap_or_default().into();
        TextError::Panics { pid: Pid::new(p), label: self.next_at(state, p).1, message }
    }

    /// Whether a process has crashed.
    #[must_use]
    #[inline]
    pub fn has_crashed(&self, state: &State, p: usize) -> bool {
        state.crashed != 0 && is_set(state.crashed, p)
    }

    /// Whether a process must wake sleepers next.
    pub(crate) fn owes(&self, state: &State, p: usize) -> bool {
        state.owes.get(p).is_some_and(|&v| v != 0)
    }

    /// Whether a process sleeps: it has no step until it is woken.
    #[must_use]
    pub fn is_asleep(&self, state: &State, p: usize) -> bool {
        state.asleep != 0 && is_set(state.asleep, p)
    }

    /// Whether a process takes no step, or need not: it has crashed, sleeps, is in its remainder or
    /// is done.
    pub(crate) fn is_idle(&self, state: &State, p: usize) -> bool {
        self.cannot_step(state, p) || self.phase(state, p) == Phase::Remainder
    }

    /// Whether a process has no step, and never has one unless another process wakes it.
    pub(crate) fn cannot_step(&self, state: &State, p: usize) -> bool {
        self.has_crashed(state, p)
            || self.is_asleep(state, p) && !self.may_time_out(state, p)
            || self.next(state, p) == Op::Stop && !self.owes(state, p)
    }

    /// How many processes are outside their remainders.
    #[must_use]
    pub fn contention(&self, state: &State) -> usize {
        (0..self.processes()).filter(|&p| self.phase(state, p) != Phase::Remainder).count()
    }

    /// Whether it has left its doorway in this passage.
    #[must_use]
    pub fn past_doorway(&self, state: &State, p: usize) -> bool {
        self.node(state, p).position.doorway_done
    }

    /// The statement of a part that a process rests at or is about to execute; 0 outside the part.
    #[must_use]
    pub fn label_in(&self, state: &State, p: usize, part: Part) -> Label {
        let node = self.node(state, p);
        if state.writing != 0 && is_set(state.writing, p) && node.position.part == part {
            return node.position.label;
        }
        node.label_in(part)
    }

    /// The value of a private variable of a part, if the process
    /// [shows](doorway_core::memory::Here::shows) it.
    #[must_use]
    pub fn shown(&self, state: &State, p: usize, part: Part, name: &str) -> Option<u64> {
        let shown = &self.node(state, p).position.shown;
        shown.iter().find(|(at, known, _)| *at == part && *known == name).map(|&(.., word)| word)
    }

    /// What the accesses of a process have seen since its passage began: its local state. A `keep`
    /// merges several such lists.
    #[must_use]
    pub fn history(&self, state: &State, p: usize) -> Vec<u64> {
        self.locals[p].history(state.locals[p]).into_iter().map(|seen| seen.value).collect()
    }

    /// The instructions that occur in the local states found so far.
    #[must_use]
    pub fn instructions_seen(&self) -> BTreeSet<Instruction> {
        let positions = || self.locals.iter().flat_map(|l| &l.nodes).map(|n| &n.position);
        let block = positions().any(|p| p.in_block).then_some(Instruction::AtomicBlock);
        positions().filter_map(|p| p.op.instruction()).chain(block).collect()
    }

    /// The statements that occur in the local states found so far.
    #[must_use]
    pub fn statements_seen(&self) -> BTreeSet<Statement> {
        let mut seen: BTreeSet<(Part, Label, Instruction, bool)> = BTreeSet::new();
        for node in self.locals.iter().flat_map(|l| &l.nodes) {
            let position = &node.position;
            if let Some(does) = position.op.instruction() {
                seen.insert((position.part, position.label, does, node.is_a_turn()));
            }
        }
        let named =
            |(part, label, does, waits)| Statement { part: self.layout.part(part).path.clone(), label, does, waits };
        seen.into_iter().map(named).collect()
    }

    /// The lines on which the statements are written that occur in the local states found so far:
    /// the kind of the part, the number, the instruction, and the line.
    #[must_use]
    pub fn lines_seen(&self) -> BTreeSet<(&'static str, Label, Instruction, &'static Location<'static>)> {
        let positions = self.locals.iter().flat_map(|l| &l.nodes).map(|node| &node.position);
        let known = positions
            .filter_map(|at| Some((self.layout.part(at.part).kind, at.label, at.op.instruction()?, at.line.0?)));
        known.collect()
    }

    /// Whether any local state found so far is past a marked doorway.
    #[must_use]
    pub fn marks_doorways(&self) -> bool {
        self.locals.iter().flat_map(|l| &l.nodes).any(|n| n.position.doorway_done)
    }

    /// Whether any local state found so far begins an operation.
    #[must_use]
    pub fn calls_anything(&self) -> bool {
        self.locals.iter().flat_map(|l| &l.nodes).any(|n| n.position.invokes.is_some())
    }

    /// Local states found so far, of all processes together.
    #[must_use]
    pub fn local_states(&self) -> usize {
        self.locals.iter().map(|l| l.nodes.len() - 1).sum()
    }

    /// How often a text was run.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.locals.iter().map(|l| l.runs).sum()
    }

    /// Which optional components of a state the rules need: crashes, writes in progress, order,
    /// cache, sleep, turns, calls, deaths.
    pub(crate) fn optional_parts(&self) -> [bool; 8] {
        let torn = self.weakest_register() < Register::Atomic;
        let Rules { crashes, order, measure, wakes, switches, deaths, .. } = self.rules;
        let seats = !self.bytes.is_empty();
        let after_deaths = seats && (deaths.restarts > 0 || deaths.late);
        let (sleep, calls) = (wakes || seats, self.heard.is_some());
        [crashes > 0, torn, order, measure.is_some(), sleep, switches.is_some(), calls, after_deaths]
    }

    pub(crate) fn bytes(&self) -> usize {
        self.locals.iter().map(Locals::bytes).sum::<usize>() + self.monitor_bytes()
    }
}
