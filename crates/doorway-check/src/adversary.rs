//! Looking for expensive passages where the graph is too large to search: an adversary, and chance.
//!
//! The result is a lower bound: some passage really costs that much. Only [exhaustive
//! search](crate::explore::Explorer::worst_passage) can show that no passage costs more.
//!
//! # The adversary
//! It measures one process, the victim, and keeps all others in its way:
//!
//! 1. Others in their entry sections go as far as they can before the victim takes a step, so that
//!    it finds everything full.
//! 2. If the victim is about to read from its cache, and another process is about to write that
//!    variable, the other goes first. In every second run, others are forced to: they leave and
//!    come back until the cached copy is invalid.
//! 3. Others stay inside until the victim waits. Then one leaves, a step at a time, until the
//!    victim can go on, and step 1 follows again.
//! 4. In half of the runs, others wait in ambush. They stop in front of every part of the algorithm
//!    (a slot, a block) that the victim has not reached yet, and go on when it arrives, so that it
//!    finds every part as full as possible. If no other process can go on, the last one to reach
//!    its ambush does.
//!
//! If a turn of the victim's wait costs something although nothing has changed, the victim can be
//! made to pay for ever: there is no bound. Runs are repeated with other choices where these rules
//! leave one, and with a share of steps that break them.

use crate::explore::Worst;
use crate::sim::{Crowd, Op, Part, Phase, TextError, World};
use doorway_core::registry::CostModel;
use std::collections::{HashSet, VecDeque};

/// A hunt for an expensive passage.
#[derive(Clone, Copy, Debug)]
pub struct Hunt {
    /// What counts as a remote reference.
    pub model: CostModel,
    /// How many processes may be outside their remainders.
    pub contention: usize,
    /// How to choose the process that steps.
    pub method: Method,
    /// How many runs to make.
    pub runs: u32,
    /// How many passages of the victim to measure in each run.
    pub passages: u32,
    /// How many steps to make in total.
    pub steps: u64,
    /// The hunt ends when a passage costs this much.
    pub enough: Option<u64>,
    /// The seed of the random choices.
    pub seed: u64,
}

/// How to choose the process that steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// By the rules above.
    Adversary,
    /// Any process, with equal probability.
    Random,
}

/// The result of a hunt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quarry {
    /// The cost of the most expensive passage.
    pub worst: Worst,
    /// Passages measured.
    pub passages: u64,
    /// Steps made.
    pub steps: u64,
}

impl Hunt {
    fn is_enough(&self, worst: Worst) -> bool {
        worst == Worst::Unbounded || self.enough.is_some_and(|enough| worst >= Worst::Bounded(enough))
    }

    /// Hunts on a new machine for each run.
    ///
    /// # Errors
    /// Returns an error if a text cannot be run.
    pub fn on(&self, fresh: impl Fn() -> Result<World, TextError>) -> Result<Quarry, TextError> {
        self.on_while(fresh, &|| true)
    }

    /// The same, while `goes_on` returns true. It is called before each step of the victim, so it
    /// must be quick.
    ///
    /// # Errors
    /// Returns an error if a text cannot be run.
    pub fn on_while(
        &self,
        fresh: impl Fn() -> Result<World, TextError>,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Quarry, TextError> {
        let mut quarry = Quarry { worst: Worst::Bounded(0), passages: 0, steps: 0 };
        let mut route = HashSet::new();
        for run in 0..self.runs {
            if quarry.steps >= self.steps || self.is_enough(quarry.worst) || !goes_on() {
                break;
            }
            let mut chance = fastrand::Rng::with_seed(self.seed.wrapping_add(u64::from(run)));
            let world = fresh()?;
            let victim = victim(world.processes());
            let crowd = Crowd::new(world, victim, self.model)?;
            let most = crowd.processes().min(self.contention);
            let mut others: Vec<usize> = (0..crowd.processes()).filter(|&p| p != victim).collect();
            let substitutes = others.split_off(others.len().min(most.saturating_sub(1)));
            // The first runs keep to the rules; later ones break them more and more often.
            let unruly = [0.0, 0.0, 0.01, 0.01, 0.1, 0.1][run as usize % 6];
            let mut chase = Chase {
                crowd,
                entering: others,
                // In half of the runs, of both kinds, the same processes always come back.
                substitutes: if run % 4 % 3 == 0 { substitutes.into() } else { VecDeque::new() },
                victim,
                leaving: Vec::new(),
                inside: Vec::new(),
                unruly,
                by_force: run % 2 == 1,
                ambushes: run % 4 < 2,
                knows_the_route: run > 0,
                in_ambush: Vec::new(),
                let_go: HashSet::new(),
                tried: 0,
                returns: 0,
                resting: Vec::new(),
                visited: HashSet::new(),
                route: std::mem::take(&mut route),
                spent: 0,
                quarry,
                goes_on,
            };
            if !chase.ambushes {
                chance.shuffle(&mut chase.entering);
            } // otherwise processes far from the victim begin
            match self.method {
                Method::Adversary => chase.run(self, &mut chance)?,
                Method::Random => chase.run_at_random(self, &mut chance)?,
            }
            quarry = chase.quarry;
            route = chase.route;
        }
        Ok(quarry)
    }
}

/// How many processes may leave and come back while the victim waits, before they stay away until
/// it moves.
const PATIENCE: usize = 16;

/// Not the first process: variables with an arbitrary owner often belong to it initially.
fn victim(processes: usize) -> usize {
    1.min(processes - 1)
}

/// One run.
struct Chase<'a> {
    crowd: Crowd,
    victim: usize,
    /// Other processes that may be able to go on in their entry sections, or to begin.
    entering: Vec<usize>,
    /// Other processes in their exit sections; the one that moves is last.
    leaving: Vec<usize>,
    inside: Vec<usize>,
    /// The share of steps that break the rules.
    unruly: f64,
    /// Whether others leave and come back only to spoil the victim's cache.
    by_force: bool,
    /// Processes that must not compete now, because there would be too many. One that leaves makes
    /// room for the first of them.
    substitutes: VecDeque<usize>,
    /// Whether others stop in front of parts that the victim has not reached.
    ambushes: bool,
    /// Whether they stop only in front of parts on the victim's route. In the first run the route
    /// is unknown.
    knows_the_route: bool,
    /// The processes in ambush; the latest is last.
    in_ambush: Vec<usize>,
    /// The processes that were let go: they do not return to an ambush in this passage.
    let_go: HashSet<usize>,
    /// How many of them were let go since the victim's last step.
    tried: usize,
    /// How many processes have left since then.
    returns: usize,
    /// The processes that come back at the victim's next step.
    resting: Vec<usize>,
    /// The parts that the victim has reached in this passage, before it was inside and after.
    visited: HashSet<(Part, bool)>,
    /// The parts that it has reached in any passage so far.
    route: HashSet<Part>,
    /// The cost of the victim's passage so far.
    spent: u64,
    quarry: Quarry,
    goes_on: &'a dyn Fn() -> bool,
}

impl Chase<'_> {
    fn may_go_on(&self, hunt: &Hunt) -> bool {
        self.quarry.steps < hunt.steps && !hunt.is_enough(self.quarry.worst) && (self.goes_on)()
    }

    fn run(&mut self, hunt: &Hunt, chance: &mut fastrand::Rng) -> Result<(), TextError> {
        let end = self.quarry.passages + u64::from(hunt.passages);
        while self.quarry.passages < end && self.may_go_on(hunt) {
            self.follow_the_victim(hunt, chance)?;
            self.everybody_goes_on(hunt)?;
            if self.unruly > 0.0 && chance.f64() < self.unruly && self.release_one(chance)? {
                continue;
            }
            if !self.crowd.is_blocked(self.victim) {
                self.spoil_its_cache(hunt, chance)?;
                if self.step_of_the_victim()? {
                    return Ok(());
                }
            } else if !self.release_one(chance)? {
                return Ok(()); // no process can go on
            }
        }
        Ok(())
    }

    /// When the victim reaches another part, the processes in ambush there go on. In such runs, a
    /// leaving process first leaves and comes back.
    fn follow_the_victim(&mut self, hunt: &Hunt, chance: &mut fastrand::Rng) -> Result<(), TextError> {
        let part = self.crowd.next_part(self.victim);
        let inside = matches!(self.crowd.phase(self.victim), Phase::Inside | Phase::Exit);
        self.route.insert(part);
        if !self.visited.insert((part, inside)) || !self.ambushes {
            return Ok(());
        }
        let (crowd, visited) = (&self.crowd, &self.visited);
        let sprung: Vec<usize> =
            self.in_ambush.extract_if(.., |q| visited.contains(&(crowd.next_part(*q), false))).collect();
        self.entering.extend(sprung);
        self.everybody_goes_on(hunt)?;
        while self.leaving.iter().any(|&q| !self.crowd.is_blocked(q)) && self.quarry.steps < hunt.steps {
            self.release_one(chance)?;
            self.everybody_goes_on(hunt)?;
        }
        Ok(())
    }

    fn everybody_goes_on(&mut self, hunt: &Hunt) -> Result<(), TextError> {
        while let Some(q) = self.entering.pop() {
            self.go_as_far_as_it_can(q, hunt)?;
        }
        Ok(())
    }

    fn run_at_random(&mut self, hunt: &Hunt, chance: &mut fastrand::Rng) -> Result<(), TextError> {
        let mut all = std::mem::take(&mut self.entering);
        all.push(self.victim);
        let end = self.quarry.passages + u64::from(hunt.passages);
        while self.quarry.passages < end && self.may_go_on(hunt) {
            let p = all[chance.usize(0..all.len())];
            if p != self.victim {
                self.step(p)?;
                self.entering.clear(); // chance chooses, not the order of waking
            } else if self.step_of_the_victim()? {
                return Ok(());
            }
        }
        Ok(())
    }

    fn step(&mut self, p: usize) -> Result<crate::sim::Moved, TextError> {
        self.quarry.steps += 1;
        let moved = self.crowd.step(p)?;
        for woken in self.crowd.take_woken() {
            if woken != self.victim && self.crowd.phase(woken) == Phase::Entry {
                self.entering.push(woken);
            }
        }
        Ok(moved)
    }

    /// Runs a process into the critical section, up to a wait, or into an ambush.
    fn go_as_far_as_it_can(&mut self, q: usize, hunt: &Hunt) -> Result<(), TextError> {
        let from = self.crowd.next_part(q);
        while matches!(self.crowd.phase(q), Phase::Remainder | Phase::Entry) && !self.crowd.is_blocked(q) {
            if self.quarry.steps >= hunt.steps {
                return Ok(());
            }
            let part = self.crowd.next_part(q);
            let may_stop = self.ambushes && part != from && !self.let_go.contains(&q);
            let is_on_its_way = !self.knows_the_route || self.route.contains(&part);
            if may_stop && is_on_its_way && !self.visited.contains(&(part, false)) {
                self.in_ambush.push(q);
                return Ok(());
            }
            self.step(q)?;
        }
        if self.crowd.phase(q) == Phase::Inside {
            self.inside.push(q);
        }
        Ok(())
    }

    /// The process comes back at once. But if many came back while the victim waited, and that did
    /// not help it, this one comes back when the victim has moved. Otherwise a few of them might
    /// keep out those that the victim waits for.
    fn comes_back(&mut self, mut q: usize) {
        self.returns += 1;
        if let Some(substitute) = self.substitutes.pop_front() {
            self.substitutes.push_back(q);
            q = substitute;
        }
        if self.returns > PATIENCE {
            self.resting.push(q);
        } else {
            self.entering.push(q);
        }
    }

    /// Lets a process that is inside, or on its way out, take a step. Returns whether there is one.
    fn release_one(&mut self, chance: &mut fastrand::Rng) -> Result<bool, TextError> {
        let able = self.leaving.iter().rposition(|&q| !self.crowd.is_blocked(q));
        let q = match able {
            Some(at) => self.leaving[at],
            None if self.inside.is_empty() => {
                // The last one; if that has not helped, the one before it, so that no process runs
                // in circles.
                let Some(last) = self.in_ambush.len().checked_sub(1) else { return Ok(false) };
                let next = self.in_ambush.remove(last - self.tried.min(last));
                self.tried = if self.tried >= last { 0 } else { self.tried + 1 };
                self.let_go.insert(next);
                self.entering.push(next);
                return Ok(true);
            }
            None => {
                let q = self.inside.swap_remove(chance.usize(0..self.inside.len()));
                self.leaving.push(q);
                q
            }
        };
        if self.step(q)?.passage_ended {
            self.leaving.retain(|&other| other != q);
            self.let_go.remove(&q);
            self.comes_back(q);
        }
        Ok(true)
    }

    /// If the victim is about to read from its cache, a process that is about to write that
    /// variable goes first.
    fn spoil_its_cache(&mut self, hunt: &Hunt, chance: &mut fastrand::Rng) -> Result<(), TextError> {
        let Op::Read(v) = self.crowd.next(self.victim) else { return Ok(()) };
        if !self.crowd.is_cached(v) {
            return Ok(());
        }
        let writes = |q: &usize| self.crowd.next(*q).var() == Some(v) && !matches!(self.crowd.next(*q), Op::Read(_));
        let writer = self.leaving.iter().chain(&self.inside).copied().find(writes);
        let Some(q) = writer else {
            // Far more than one of them needs to leave and come back.
            let patience = self.quarry.steps + 100 * self.crowd.processes() as u64;
            let back_again = |chase: &Self| !chase.crowd.is_cached(v) && chase.leaving.is_empty();
            while self.by_force && !back_again(self) && self.quarry.steps < patience {
                if !self.release_one(chance)? {
                    break;
                }
                self.everybody_goes_on(hunt)?;
            }
            return Ok(());
        };
        self.inside.retain(|&other| other != q);
        let moved = self.step(q)?;
        if moved.passage_ended {
            self.leaving.retain(|&other| other != q);
            self.let_go.remove(&q);
            self.comes_back(q);
        } else if !self.leaving.contains(&q) {
            self.leaving.push(q);
        }
        Ok(())
    }

    /// The victim takes a step. Returns whether it can be made to pay for ever.
    fn step_of_the_victim(&mut self) -> Result<bool, TextError> {
        self.tried = 0;
        self.returns = 0;
        self.entering.append(&mut self.resting);
        let was_blocked = self.crowd.is_blocked(self.victim);
        let mut moved = self.step(self.victim)?;
        self.spent += moved.cost;
        if moved.failed_turn && !was_blocked {
            // Two more turns with nothing changed: if the second still costs something, it can cost
            // for ever.
            for turn in 0..2 {
                let mut paid = 0;
                loop {
                    moved = self.step(self.victim)?;
                    paid += moved.cost;
                    if moved.failed_turn || moved.passage_ended || self.crowd.phase(self.victim) == Phase::Inside {
                        break;
                    }
                }
                self.spent += paid;
                if !moved.failed_turn {
                    break; // it made progress
                }
                if turn == 1 && paid > 0 {
                    self.quarry.worst = Worst::Unbounded;
                    return Ok(true);
                }
            }
        }
        if moved.passage_ended {
            self.quarry.passages += 1;
            self.quarry.worst = self.quarry.worst.max(Worst::Bounded(self.spent));
            self.spent = 0;
            self.visited.clear();
        }
        Ok(false)
    }
}
