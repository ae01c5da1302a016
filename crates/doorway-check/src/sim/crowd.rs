//! A machine for many processes: it only runs forward.
//!
//! The [`World`](super::World) can restart from any state, at the price of storing all local
//! states. Here each text simply continues, so thousands of processes with thousands of accesses
//! per passage can run, but there is no way back. Choices are drawn at random, the same in every
//! run.

use super::cache::{Line, Reference};
use super::layout::{Layout, Part, VarId};
use super::memory::{GoneOn, Phase, Replay, Running, Sim};
use super::op::Op;
use super::{TextError, World};
use doorway_core::memory::{Home, Pid};
use doorway_core::registry::CostModel;
use std::fmt;
use std::rc::Rc;

/// One process of a crowd.
struct Member {
    running: Option<Running>,
    replay: Replay,
    next: Op,
    /// The variables that the turn has read so far, and their values.
    reads: Vec<(VarId, u64)>,
    /// Whether a turn failed and nothing it read has been written since.
    blocked: bool,
    /// Its next choice, if it was set.
    choice: Option<u64>,
}

/// Many processes at work.
pub struct Crowd {
    sim: Sim,
    layout: Layout,
    start: Rc<super::locals::Start>,
    vars: Vec<u64>,
    members: Vec<Member>,
    /// The processes that wait for each variable.
    watchers: Vec<Vec<usize>>,
    measured: usize,
    model: CostModel,
    /// The cache of the measured process.
    cached: Vec<Line>,
    cost: u64,
    woken: Vec<usize>,
    /// Makes the choices that texts leave open.
    chance: fastrand::Rng,
}

impl fmt::Debug for Crowd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crowd")
            .field("processes", &self.members.len())
            .field("cost", &self.cost)
            .finish_non_exhaustive()
    }
}

/// The effect of a step in a crowd.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moved {
    /// Whether a turn of a wait failed.
    pub failed_turn: bool,
    /// Whether a passage ended.
    pub passage_ended: bool,
    /// The remote references that it cost the measured process.
    pub cost: u64,
}

impl Crowd {
    /// The processes of a machine in its initial state. The remote references of one of them are
    /// counted.
    ///
    /// # Errors
    /// Returns an error if a text awaits something that is not an access.
    pub fn new(world: World, measured: usize, model: CostModel) -> Result<Self, TextError> {
        let n = world.processes();
        let (sim, layout, start) = world.into_parts();
        let vars = layout.vars().iter().map(|v| v.init).collect(); // nothing is forgotten here
        let mut crowd = Self {
            watchers: vec![Vec::new(); layout.vars().len()],
            cached: vec![Line::default(); layout.vars().len()],
            sim,
            layout,
            start,
            vars,
            members: Vec::with_capacity(n),
            measured,
            model,
            cost: 0,
            woken: Vec::new(),
            chance: fastrand::Rng::with_seed(0),
        };
        for p in 0..n {
            crowd.members.push(Member {
                running: None,
                replay: Replay::live(),
                next: Op::Stop,
                reads: Vec::new(),
                blocked: false,
                choice: None,
            });
            crowd.begin_passage(p)?;
        }
        Ok(crowd)
    }

    /// How many processes there are.
    #[must_use]
    pub fn processes(&self) -> usize {
        self.members.len()
    }

    /// The section of its passage that a process is in.
    #[must_use]
    pub fn phase(&self, p: usize) -> Phase {
        self.members[p].replay.phase()
    }

    /// Whether a process waits, and nothing it waits for has been written since it looked.
    #[must_use]
    pub fn is_blocked(&self, p: usize) -> bool {
        self.members[p].blocked
    }

    /// What a process does next.
    #[must_use]
    pub fn next(&self, p: usize) -> Op {
        self.members[p].next
    }

    /// The declarations.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The part of the algorithm that a process is about to access.
    #[must_use]
    pub fn next_part(&self, p: usize) -> Part {
        self.members[p].replay.part().unwrap_or(Part::ROOT)
    }

    /// Whether the measured process would read a variable from its cache.
    #[must_use]
    pub fn is_cached(&self, v: VarId) -> bool {
        self.cached[v as usize].valid
    }

    /// Sets the next choice of a process; the last possibility if this is too large.
    pub fn will_choose(&mut self, p: usize, choice: u64) {
        self.members[p].choice = Some(choice);
    }

    /// The processes that have stopped being blocked since the last call.
    pub fn take_woken(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.woken)
    }

    fn begin_passage(&mut self, p: usize) -> Result<(), TextError> {
        let member = &mut self.members[p];
        member.replay = Replay::live();
        member.reads.clear();
        let mut running = (self.start)(Pid::new(p));
        member.next = match self.sim.go_on(&mut running, &mut member.replay, None) {
            GoneOn::Asks(op) => op,
            GoneOn::Panicked(message) => return Err(TextError::Panics { pid: Pid::new(p), label: 0, message }),
            GoneOn::FailedTurn | GoneOn::Ended | GoneOn::Lost => return Err(TextError::Lost(Pid::new(p))),
        };
        member.running = Some(running);
        self.grow();
        Ok(())
    }

    /// Lets a process take its next step.
    ///
    /// # Errors
    /// Returns an error if its text awaits something that is not an access.
    pub fn step(&mut self, p: usize) -> Result<Moved, TextError> {
        let mut shared = !self.members[p].replay.is_joined();
        let mut moved = self.access(p)?;
        while !moved.passage_ended && !moved.failed_turn {
            // As in the other machine, private accesses and blocks are one step with their
            // neighbours.
            let joined = self.members[p].replay.is_joined();
            if shared && !joined || self.phase(p) == Phase::Inside {
                break;
            }
            shared |= !joined;
            let more = self.access(p)?;
            moved = Moved { cost: moved.cost + more.cost, ..more };
        }
        Ok(moved)
    }

    /// Makes room for the variables created since.
    fn grow(&mut self) {
        for var in self.sim.take_made() {
            self.vars.push(var.init);
            self.watchers.push(Vec::new());
            self.cached.push(Line::default());
            self.layout.vars.push(var);
        }
    }

    /// Lets a process make one access, even a private one or one within a block.
    ///
    /// # Errors
    /// Returns an error if its text awaits something that is not an access.
    pub fn access(&mut self, p: usize) -> Result<Moved, TextError> {
        let op = self.members[p].next;
        let old = op.var().map(|v| self.vars[v as usize]);
        let saw = match op {
            Op::Choose(n) => match self.members[p].choice.take() {
                Some(choice) => choice.min(n.max(1) as u64 - 1),
                None => self.chance.u64(0..n.max(1) as u64),
            },
            _ => op.apply(&self.layout, &mut self.vars),
        };
        let cost = self.charge(p, op);
        if let Some(v) = op.var() {
            if old == Some(self.vars[v as usize]) {
                self.members[p].reads.push((v, self.vars[v as usize]));
            } else {
                for q in std::mem::take(&mut self.watchers[v as usize]) {
                    if std::mem::take(&mut self.members[q].blocked) {
                        self.woken.push(q);
                    }
                }
            }
        }
        let member = &mut self.members[p];
        let label = member.replay.label().unwrap_or_default();
        member.blocked = false;
        let running = member.running.as_mut().expect("a process that steps is at work");
        let mut gone = self.sim.go_on(running, &mut member.replay, Some(saw));
        let failed_turn = gone == GoneOn::FailedTurn;
        if failed_turn {
            let may_do_otherwise = member.replay.has_gone_round();
            gone = self.sim.go_on(running, &mut member.replay, None); // up to its next turn
            // Its first read may have been overwritten before the last.
            let is_the_same = member.reads.iter().all(|&(v, found)| self.vars[v as usize] == found);
            member.blocked = is_the_same && !may_do_otherwise;
            member.reads.sort_unstable();
            member.reads.dedup();
            for (v, _) in member.reads.drain(..) {
                if !self.watchers[v as usize].contains(&p) {
                    self.watchers[v as usize].push(p);
                }
            }
        } else if old != op.var().map(|v| self.vars[v as usize]) {
            member.reads.clear();
        }
        let passage_ended = gone == GoneOn::Ended;
        match gone {
            GoneOn::Asks(op) => {
                member.next = op;
                self.grow();
            }
            GoneOn::Ended => self.begin_passage(p)?,
            GoneOn::Panicked(message) => return Err(TextError::Panics { pid: Pid::new(p), label, message }),
            GoneOn::FailedTurn | GoneOn::Lost => return Err(TextError::Lost(Pid::new(p))),
        }
        Ok(Moved { failed_turn, passage_ended, cost })
    }

    fn charge(&mut self, p: usize, op: Op) -> u64 {
        let Some(v) = op.var().filter(|&v| !self.layout.var(v).private) else { return 0 };
        let at_home = self.layout.var(v).home == Home::Of(Pid::new(self.measured));
        let reference = Reference { own: p == self.measured, reads: matches!(op, Op::Read(_)), at_home };
        let cost = u64::from(self.cached[v as usize].charge(self.model, reference));
        self.cost += cost;
        cost
    }
}
