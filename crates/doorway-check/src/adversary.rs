//! Looking for expensive passages where the graph is too large to search: an adversary, and chance.
//!
//! What it finds is a lower bound: a passage that really costs so much. That no passage costs more, only
//! [exhaustive search](crate::explore::Explorer::worst_passage) can say.
//!
//! # The adversary
//! It measures one process, the victim, and keeps everybody else in its way:
//!
//! 1. Others in their entry sections go as far as they can before the victim takes a step, so that it finds everything full.
//! 2. When the victim is about to read from its cache, and another is about to write that variable, the other goes first. In every second run
//!    somebody is made to: others leave and come back until the copy is spoilt.
//! 3. Others stay inside until the victim waits. Then one leaves, a step at a time, until the victim can go on, and step 1 comes again.
//!
//! If a turn of the victim's wait costs something although nothing has changed, it can be made to pay for ever: there is no bound. Runs are repeated
//! with other choices wherever these rules leave one, and with a share of steps that break them.

use crate::explore::Worst;
use crate::sim::{Crowd, Op, Phase, TextError, World};
use doorway_core::registry::CostModel;

/// A hunt for an expensive passage.
#[derive(Clone, Copy, Debug)]
pub struct Hunt {
    /// What counts as a remote reference.
    pub model: CostModel,
    /// How many processes may be outside their remainders.
    pub contention: usize,
    /// How to choose who steps.
    pub method: Method,
    /// How often to begin anew.
    pub runs: u32,
    /// How many passages of the victim to measure in each run.
    pub passages: u32,
    /// How many steps to make in all.
    pub steps: u64,
    /// A passage that costs this much is enough; the hunt ends with it.
    pub enough: Option<u64>,
    /// Chooses the choices.
    pub seed: u64,
}

/// How to choose who steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// By the rules above.
    Adversary,
    /// Any process, each as likely as the others.
    Random,
}

/// What a hunt found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quarry {
    /// The most that a passage cost.
    pub worst: Worst,
    /// Passages that were measured.
    pub passages: u64,
    /// Steps that were made.
    pub steps: u64,
}

impl Hunt {
    fn is_enough(&self, worst: Worst) -> bool {
        worst == Worst::Unbounded || self.enough.is_some_and(|enough| worst >= Worst::Bounded(enough))
    }

    /// Hunts on fresh machines, one for each run.
    ///
    /// # Errors
    /// If a text cannot be run.
    pub fn on(&self, fresh: impl Fn() -> Result<World, TextError>) -> Result<Quarry, TextError> {
        let mut quarry = Quarry { worst: Worst::Bounded(0), passages: 0, steps: 0 };
        for run in 0..self.runs {
            if quarry.steps >= self.steps || self.is_enough(quarry.worst) {
                break;
            }
            let mut chance = fastrand::Rng::with_seed(self.seed.wrapping_add(u64::from(run)));
            let crowd = Crowd::new(fresh()?, 0, self.model)?;
            let others = crowd.processes().min(self.contention);
            // The first run keeps to the rules; later ones break them more and more often.
            let unruly = [0.0, 0.0, 0.01, 0.01, 0.1, 0.1][run as usize % 6];
            let mut chase = Chase {
                crowd,
                entering: (1..others).collect(),
                leaving: Vec::new(),
                inside: Vec::new(),
                unruly,
                by_force: run % 2 == 1,
                spent: 0,
                quarry,
            };
            chance.shuffle(&mut chase.entering);
            match self.method {
                Method::Adversary => chase.run(self, &mut chance)?,
                Method::Random => chase.run_at_random(self, &mut chance, others.max(1))?,
            }
            quarry = chase.quarry;
        }
        Ok(quarry)
    }
}

const VICTIM: usize = 0;

/// One run.
struct Chase {
    crowd: Crowd,
    /// Others that may be able to go on in their entry sections, or to begin.
    entering: Vec<usize>,
    /// Others in their exit sections, the one that moves last.
    leaving: Vec<usize>,
    inside: Vec<usize>,
    /// The share of steps that break the rules.
    unruly: f64,
    /// Whether others leave and come back only to spoil the victim's cache.
    by_force: bool,
    /// What the victim's passage has cost so far.
    spent: u64,
    quarry: Quarry,
}

impl Chase {
    fn run(&mut self, hunt: &Hunt, chance: &mut fastrand::Rng) -> Result<(), TextError> {
        let end = self.quarry.passages + u64::from(hunt.passages);
        while self.quarry.passages < end && self.quarry.steps < hunt.steps && !hunt.is_enough(self.quarry.worst) {
            while let Some(q) = self.entering.pop() {
                self.go_as_far_as_it_can(q, hunt)?;
            }
            if self.unruly > 0.0 && chance.f64() < self.unruly && self.release_one(chance)? {
                continue;
            }
            if !self.crowd.is_blocked(VICTIM) {
                self.spoil_its_cache(hunt, chance)?;
                if self.step_of_the_victim()? {
                    return Ok(());
                }
            } else if !self.release_one(chance)? {
                return Ok(()); // nobody can go on
            }
        }
        Ok(())
    }

    fn run_at_random(&mut self, hunt: &Hunt, chance: &mut fastrand::Rng, processes: usize) -> Result<(), TextError> {
        let end = self.quarry.passages + u64::from(hunt.passages);
        while self.quarry.passages < end && self.quarry.steps < hunt.steps && !hunt.is_enough(self.quarry.worst) {
            let p = chance.usize(0..processes);
            if p != VICTIM {
                self.step(p)?;
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
            if woken != VICTIM && self.crowd.phase(woken) == Phase::Entry {
                self.entering.push(woken);
            }
        }
        Ok(moved)
    }

    /// Into the critical section, or up to a wait.
    fn go_as_far_as_it_can(&mut self, q: usize, hunt: &Hunt) -> Result<(), TextError> {
        while matches!(self.crowd.phase(q), Phase::Remainder | Phase::Entry) && !self.crowd.is_blocked(q) {
            if self.quarry.steps >= hunt.steps {
                return Ok(());
            }
            self.step(q)?;
        }
        if self.crowd.phase(q) == Phase::Inside {
            self.inside.push(q);
        }
        Ok(())
    }

    /// Lets one that is inside, or on its way out, take a step; whether there is one.
    fn release_one(&mut self, chance: &mut fastrand::Rng) -> Result<bool, TextError> {
        let able = self.leaving.iter().rposition(|&q| !self.crowd.is_blocked(q));
        let q = match able {
            Some(at) => self.leaving[at],
            None if self.inside.is_empty() => return Ok(false),
            None => {
                let q = self.inside.swap_remove(chance.usize(0..self.inside.len()));
                self.leaving.push(q);
                q
            }
        };
        if self.step(q)?.passage_ended {
            self.leaving.retain(|&other| other != q);
            self.entering.push(q); // it comes back at once
        }
        Ok(true)
    }

    /// If the victim is about to read from its cache, whoever is about to write that variable goes first.
    fn spoil_its_cache(&mut self, hunt: &Hunt, chance: &mut fastrand::Rng) -> Result<(), TextError> {
        let Op::Read(v) = self.crowd.next(VICTIM) else { return Ok(()) };
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
                while let Some(q) = self.entering.pop() {
                    self.go_as_far_as_it_can(q, hunt)?;
                }
            }
            return Ok(());
        };
        self.inside.retain(|&other| other != q);
        let moved = self.step(q)?;
        if moved.passage_ended {
            self.leaving.retain(|&other| other != q);
            self.entering.push(q);
        } else if !self.leaving.contains(&q) {
            self.leaving.push(q);
        }
        Ok(())
    }

    /// The victim takes a step; whether it was seen to pay without end.
    fn step_of_the_victim(&mut self) -> Result<bool, TextError> {
        let was_blocked = self.crowd.is_blocked(VICTIM);
        let mut moved = self.step(VICTIM)?;
        self.spent += moved.cost;
        if moved.failed_turn && !was_blocked {
            // Twice more, with nothing changed: what it still pays the second time it can be made to pay for ever.
            for turn in 0..2 {
                let mut paid = 0;
                loop {
                    moved = self.step(VICTIM)?;
                    paid += moved.cost;
                    if moved.failed_turn || moved.passage_ended || self.crowd.phase(VICTIM) == Phase::Inside {
                        break;
                    }
                }
                self.spent += paid;
                if !moved.failed_turn {
                    break; // it got on
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
        }
        Ok(false)
    }
}
