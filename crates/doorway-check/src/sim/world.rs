//! A machine: shared variables, processes, and who may step.

use super::layout::Layout;
use super::layout::Part;
use super::locals::{DONE, How, Locals, Node, ROOT, Start};
use super::memory::{Phase, Running, Sim};
use super::op::Op;
use super::{LocalId, TextError};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Label, Pid, Process, Site};
use std::collections::BTreeSet;
use std::fmt;
use std::rc::Rc;

/// Whether leaving the remainder, and being inside, are steps of their own.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Sections {
    /// Neither: a process leaves its remainder with its first access, and the critical section with the first access of its
    /// exit, as in the papers. Nothing that others could notice is lost, and there are fewer states.
    #[default]
    Merged,
    /// Both, as in most hand-written models.
    Explicit,
}

/// What to do with the texts' [`keep`](doorway_core::memory::Here::keep).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Keep {
    /// Merge local states that it says are alike.
    #[default]
    Trusted,
    /// Merge, and when the search is done, run merged histories side by side to see that they are alike.
    CrossChecked,
    /// Do not merge: right whatever the texts say, and slow.
    Ignored,
}

/// How the machine runs.
#[derive(Clone, Copy, Default, Debug)]
pub struct Rules {
    /// How many passages each process makes; `None`: no bound.
    pub passages: Option<u32>,
    /// What counts as a step.
    pub sections: Sections,
    /// What to do with `keep`.
    pub keep: Keep,
}

/// A state of the machine.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// The shared variables.
    pub vars: Vec<u64>,
    /// The local state of each process.
    pub locals: Vec<LocalId>,
    /// The passages that each process has completed, where these are counted.
    pub passages: Vec<u32>,
}

/// What a step did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stepped {
    /// What the process saw.
    pub saw: u64,
    /// Whether shared memory is as it was.
    pub unchanged: bool,
    /// Whether a turn of a wait failed.
    pub failed_turn: bool,
    /// Whether a passage ended.
    pub passage_ended: bool,
}

/// A machine with its processes.
pub struct World {
    sim: Sim,
    layout: Layout,
    start: Box<Start>,
    locals: Vec<Locals>,
    rules: Rules,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("processes", &self.locals.len())
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}

impl World {
    /// A machine of `n` processes that make passages through a solution of k-exclusion.
    ///
    /// # Errors
    /// If the text awaits something that is no access.
    pub fn new<A>(n: usize, rules: Rules, build: impl FnOnce(&Site<'_, Sim>) -> A) -> Result<Self, TextError>
    where
        A: KExclusion<Sim> + 'static,
    {
        let sim = Sim::default();
        let algorithm = Rc::new(build(&Site::new(&sim)));
        let memory = sim.clone();
        let start = move |pid| -> Running {
            let (algorithm, sim) = (Rc::clone(&algorithm), memory.clone());
            Box::pin(async move {
                let p = Process::new(pid, sim.clone());
                if rules.sections == Sections::Explicit {
                    sim.section().await;
                }
                let held = match algorithm.acquire(&p).await {
                    Ok(held) => held,
                    Err(Failure::Memory(impossible)) => match impossible {},
                    Err(Failure::Refused(_)) => return,
                };
                if sim.phase() == Phase::Remainder {
                    sim.section().await; // an entry without accesses is a step all the same
                }
                sim.enters(&held);
                if rules.sections == Sections::Explicit {
                    sim.section().await;
                }
                let Ok(()) = algorithm.release(&p, held).await;
                if sim.phase() == Phase::Inside {
                    sim.section().await;
                }
            })
        };
        Self::from_passages(n, rules, sim, start)
    }

    /// A machine of `n` processes, each of which runs `body` as its passage, all of it in the entry section. For what is no
    /// solution of k-exclusion.
    ///
    /// # Errors
    /// If the text awaits something that is no access.
    pub fn of_programs<S: 'static, F>(
        n: usize,
        rules: Rules,
        build: impl FnOnce(&Site<'_, Sim>) -> S,
        body: impl Fn(Rc<S>, Process<Sim>) -> F + 'static,
    ) -> Result<Self, TextError>
    where
        F: Future<Output = ()> + 'static,
    {
        let sim = Sim::default();
        let shared = Rc::new(build(&Site::new(&sim)));
        let memory = sim.clone();
        let start = move |pid| -> Running {
            let running = body(Rc::clone(&shared), Process::new(pid, memory.clone()));
            let sim = memory.clone();
            Box::pin(async move {
                running.await;
                if sim.phase() == Phase::Remainder {
                    sim.section().await;
                }
            })
        };
        Self::from_passages(n, rules, sim, start)
    }

    fn from_passages(
        n: usize,
        rules: Rules,
        sim: Sim,
        start: impl Fn(Pid) -> Running + 'static,
    ) -> Result<Self, TextError> {
        // Far more than any passage of a text that waits in the words for waiting.
        let longest = 1000 + 100 * n;
        let locals = (0..n).map(|p| Locals::new(&sim, &start, Pid::new(p), longest)).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { layout: sim.layout(), sim, start: Box::new(start), locals, rules })
    }

    /// How many processes there are.
    #[must_use]
    pub fn processes(&self) -> usize {
        self.locals.len()
    }

    /// What was declared.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// How it runs.
    #[must_use]
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// The state before anybody's first step.
    #[must_use]
    pub fn initial(&self) -> State {
        let n = self.processes();
        let at = if self.rules.passages == Some(0) { DONE } else { ROOT };
        State {
            vars: self.layout.vars().iter().map(|v| v.init).collect(),
            locals: vec![at; n],
            passages: vec![0; if self.counts_passages() { n } else { 0 }],
        }
    }

    /// After one passage a process is done or not: nothing needs to be counted.
    pub(crate) fn counts_passages(&self) -> bool {
        self.rules.passages.is_some_and(|p| p > 1)
    }

    fn node(&self, state: &State, p: usize) -> &Node {
        &self.locals[p].nodes[state.locals[p] as usize]
    }

    /// What a process does next; [`Op::Stop`] if it has made all its passages.
    #[must_use]
    #[inline]
    pub fn next(&self, state: &State, p: usize) -> Op {
        self.node(state, p).position.op
    }

    /// In which part, and at which statement, it does that.
    #[must_use]
    pub fn next_at(&self, state: &State, p: usize) -> (Part, Label) {
        let position = &self.node(state, p).position;
        (position.part, position.label)
    }

    /// Where in its passage a process is.
    #[must_use]
    #[inline]
    pub fn phase(&self, state: &State, p: usize) -> Phase {
        self.node(state, p).position.phase
    }

    /// Whether it has left its doorway in this passage.
    #[must_use]
    pub fn past_doorway(&self, state: &State, p: usize) -> bool {
        self.node(state, p).position.doorway_done
    }

    /// The statement of a part that a process is at: the one it rests at, or is about to do; 0 if it is not in that part.
    #[must_use]
    pub fn label_in(&self, state: &State, p: usize, part: Part) -> Label {
        self.node(state, p).label_in(part)
    }

    /// What the accesses of a process have seen since its passage began, as its local state is known by: a `keep` makes several
    /// such lists one.
    #[must_use]
    pub fn history(&self, state: &State, p: usize) -> Vec<u64> {
        self.locals[p].history(state.locals[p])
    }

    /// Lets a process take its next step. A process that has stopped stays as it is.
    ///
    /// # Errors
    /// If its text breaks the rules that replay rests on.
    #[inline]
    pub fn step(&mut self, state: &mut State, p: usize) -> Result<Stepped, TextError> {
        let at = state.locals[p];
        let op = self.locals[p].nodes[at as usize].position.op;
        if op == Op::Stop {
            return Ok(Stepped { saw: 0, unchanged: true, failed_turn: false, passage_ended: false });
        }
        let before = op.var().map(|v| state.vars[v as usize]);
        let saw = op.apply(&self.layout, &mut state.vars);
        let child = self.locals[p].child(&self.sim, &*self.start, self.rules.keep, at, saw)?;
        state.locals[p] = child.to;
        let ended = child.how == How::PassageEnded;
        if ended && let Some(limit) = self.rules.passages {
            let done = match state.passages.get_mut(p) {
                Some(count) => {
                    *count += 1;
                    *count
                }
                None => 1,
            };
            if done >= limit {
                state.locals[p] = DONE;
            }
        }
        Ok(Stepped {
            saw,
            unchanged: before == op.var().map(|v| state.vars[v as usize]),
            failed_turn: child.how == How::FailedTurn,
            passage_ended: ended,
        })
    }

    /// Whether nobody can go on: someone is outside its remainder, and everyone who is has only failing turns. Those in
    /// their remainders need not start.
    ///
    /// Exact: if each such process, run alone, comes back to where it is without a change of memory, then no order of
    /// their steps changes anything for any of them. A process that will only wait but still has something else to do first is not
    /// counted as waiting; it soon will be.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn is_deadlock(&mut self, state: &State) -> Result<bool, TextError> {
        let mut anyone = false;
        for p in 0..self.processes() {
            if self.phase(state, p) != Phase::Remainder {
                anyone = true;
                if !self.only_waits(state, p)? {
                    return Ok(false);
                }
            }
        }
        Ok(anyone)
    }

    /// Whether a process, run alone, comes back to where it is, and nothing has changed.
    fn only_waits(&mut self, state: &State, p: usize) -> Result<bool, TextError> {
        let mut alone = state.clone();
        let mut been = Vec::new();
        loop {
            let stepped = self.step(&mut alone, p)?;
            let at = alone.locals[p];
            if at == state.locals[p] {
                return Ok(stepped.unchanged);
            }
            if !stepped.unchanged || stepped.passage_ended || been.contains(&at) {
                return Ok(false);
            }
            been.push(at);
        }
    }

    /// The instructions that occur in the local states found so far.
    #[must_use]
    pub fn instructions_seen(&self) -> BTreeSet<doorway_core::memory::Instruction> {
        self.locals.iter().flat_map(|l| &l.nodes).filter_map(|n| n.position.op.instruction()).collect()
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

    /// See [`Keep::CrossChecked`]. Returns how many continuations were compared.
    ///
    /// # Errors
    /// If a `keep` merged two local states that go on differently.
    pub fn cross_check(&mut self, depth: usize) -> Result<u64, TextError> {
        let mut compared = 0;
        for locals in &mut self.locals {
            compared += locals.cross_check(&self.sim, &*self.start, depth)?;
        }
        Ok(compared)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.locals.iter().map(Locals::bytes).sum()
    }
}
