//! For sizes too large for exhaustive search: random schedules, and schedules with random
//! priorities.
//!
//! Both look for failures and prove nothing. *By priorities* is the PCT scheduler of Burckhardt,
//! Kothari, Musuvathi and Nagarakatte (*A Randomized Scheduler with Probabilistic Guarantees of
//! Finding Bugs*, ASPLOS 2010). Each process has a random priority. Of the processes that can step,
//! the one with the highest priority does. At `depth - 1` random steps, the process that steps
//! falls to the bottom. One run finds a failure that needs `d` ordering constraints among `n`
//! processes and `L` steps with probability at least `1 / (n * L^(d-1))`.
//!
//! # Departures from the paper
//! A process whose turn fails falls to the bottom too; otherwise a waiting process would run for
//! ever. The paper assumes programs without such waits. Crashes and torn reads are drawn at random,
//! and no probability is known with them.

use crate::explore::{Verdict, again, breaks_off};
use crate::property::{Property, Test, View};
use crate::sim::{Action, State, TextError, What, World};

/// How many steps are between two calls of `goes_on`.
const STRIDE: usize = 4096;

/// A search by samples.
#[derive(Clone, Copy, Debug)]
pub struct Sampler {
    /// How to choose the process that steps.
    pub choose: Choose,
    /// How many runs.
    pub runs: u64,
    /// How many steps each run has.
    pub length: usize,
    /// The seed of the random choices.
    pub seed: u64,
}

/// How to choose the process that steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choose {
    /// Any, with equal probability.
    Random,
    /// By priorities that change `depth - 1` times.
    Priorities {
        /// How many ordering constraints the failure may need.
        depth: u32,
    },
}

/// The result of sampling.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// The result for each property: `Some(false)` with a trace, or nothing.
    pub verdicts: Vec<Verdict>,
    /// Runs made.
    pub runs: u64,
    /// Steps made.
    pub steps: u64,
    /// By priorities: a lower bound on the probability that one run finds a failure of this depth.
    pub probability: Option<f64>,
}

impl Sampler {
    /// A lower bound on the probability that one run finds a failure of the given depth; unknown
    /// for random schedules.
    #[must_use]
    pub fn probability(&self, processes: usize) -> Option<f64> {
        match self.choose {
            Choose::Random => None,
            Choose::Priorities { depth } => {
                Some(1.0 / (processes as f64 * (self.length as f64).powi(depth.max(1) as i32 - 1)))
            }
        }
    }

    /// Samples runs of a machine until a property fails or all runs are made. Properties of whole
    /// graphs stay undecided.
    ///
    /// # Errors
    /// Returns an error if a text cannot be run by replay.
    ///
    /// # Panics
    /// Panics if several properties are about objects: a machine has one.
    pub fn run(&self, world: &mut World, properties: Vec<Property>) -> Result<Sampled, TextError> {
        self.run_while(world, properties, |_| true)
    }

    /// The same, while `goes_on` returns true. It is called before each run and every few steps,
    /// with the number of bytes that the machine uses.
    ///
    /// ```
    /// use doorway_check::sample::{Choose, Sampler};
    /// use doorway_check::{sim::Rules, subject};
    /// let chain = subject::find("am-chain").unwrap();
    /// let sizes = chain.sizes(None, None).unwrap();
    /// let mut world = chain.world(sizes, Rules::default()).unwrap();
    /// let sampler = Sampler { choose: Choose::Random, runs: 10, length: 50, seed: 1 };
    /// let nothing = sampler.run_while(&mut world, chain.claims(sizes), |_bytes| false).unwrap();
    /// assert_eq!((nothing.runs, nothing.steps), (0, 0));
    /// ```
    ///
    /// # Errors
    /// Returns an error if a text cannot be run by replay.
    ///
    /// # Panics
    /// Panics if several properties are about objects: a machine has one.
    pub fn run_while(
        &self,
        world: &mut World,
        mut properties: Vec<Property>,
        mut goes_on: impl FnMut(usize) -> bool,
    ) -> Result<Sampled, TextError> {
        let named = properties.len();
        if !properties.iter().any(|p| matches!(p.test, Test::NoPanic)) {
            properties.push(Property::no_panic());
        }
        if world.has_words_of_one() && !properties.iter().any(|p| matches!(p.test, Test::OneWaits)) {
            properties.push(Property::one_waits());
        }
        world.watch_for(&properties);
        let initial = world.initial();
        let parts = |p: &Property| world.layout().parts_of_kind(p.kind);
        let asked: Vec<_> = properties.iter().map(|p| (p, parts(p))).collect();
        let mut found: Vec<Option<Vec<Action>>> = vec![None; properties.len()];
        let mut chance = fastrand::Rng::with_seed(self.seed);
        let (mut runs, mut steps) = (0, 0);
        let fails = |test: &Test| !matches!(test, Test::Sometimes(_));
        let failed =
            |found: &[Option<Vec<Action>>]| properties.iter().zip(found).any(|(p, f)| f.is_some() && fails(&p.test));
        let mut stopped = false;
        while runs < self.runs && !failed(&found) {
            stopped |= !goes_on(world.bytes());
            if stopped {
                break;
            }
            runs += 1;
            let mut order = Order::new(self, world.processes(), &mut chance);
            let (mut state, mut actions) = (initial.clone(), Vec::new());
            for at in 0..self.length {
                let Some(action) = order.choose(world, &state, &mut chance, at) else { break };
                let before = state.clone();
                let Some(stepped) = world.act(&mut state, action)? else { continue };
                actions.push(action);
                steps += 1;
                if stepped.failed_turn {
                    order.demote(action.process);
                }
                for ((property, parts), found) in asked.iter().zip(&mut found).filter(|(_, f)| f.is_none()) {
                    let (was, is) = (View::new(world, &before), View::new(world, &state));
                    let decided = match &property.test {
                        Test::Always(so) => !parts.iter().all(|&part| so(&is.of(part))),
                        Test::Sometimes(so) => parts.iter().any(|&part| so(&is.of(part))),
                        Test::Unless(so, until) => {
                            parts.iter().any(|&part| breaks_off(&**so, &**until, &was.of(part), &is.of(part)))
                        }
                        // Only a step after which nothing moves can complete a deadlock.
                        Test::NeverStuck => {
                            let may = stepped.failed_turn
                                || stepped.passage_ended
                                || action.what != What::Step
                                || state.asleep != 0;
                            may && world.is_deadlock(&state)?
                        }
                        Test::QuietWaits => world.is_noisy(&state)?,
                        Test::Linearizable(_) => !world.is_linearizable(&state),
                        Test::NoPanic => world.panicked_process(&state).is_some(),
                        Test::OneWaits => world.has_two_at_a_word_of_one(&state)?,
                        Test::FirstCome(k) => stepped.overtook as usize >= *k,
                        Test::FirstEnabled
                        | Test::LeadsTo(..)
                        | Test::DeadlockFree
                        | Test::BoundedExit
                        | Test::AtMost(..)
                        | Test::OwnSteps(..)
                        | Test::Overtaking(..)
                        | Test::Ltl(_) => false,
                        Test::Monitor(watcher) => world.is_rejected(watcher, stepped),
                    };
                    if decided {
                        *found = Some(actions.clone());
                    }
                }
                let held = || world.bytes() + actions.capacity() * size_of::<Action>();
                stopped |= (at + 1).is_multiple_of(STRIDE) && !goes_on(held());
                if stopped || failed(&found) {
                    break;
                }
            }
        }
        let probability = self.probability(world.processes());
        let mut verdicts = Vec::new();
        for (i, ((property, parts), found)) in asked.iter().zip(&found).enumerate() {
            if i >= named && found.is_none() {
                continue; // not asked for
            }
            let shows = Some((*property, &**parts));
            let trace = found.as_ref().map(|actions| again(world, &initial, actions, None, shows)).transpose()?;
            let holds = trace.as_ref().map(|_| !fails(&property.test));
            verdicts.push(Verdict {
                name: property.name.clone(),
                holds,
                vacuous: parts.is_empty().then_some("there is no such part"),
                trace,
                token: None,
                most: None,
                provided: None,
            });
        }
        Ok(Sampled { verdicts, runs, steps, probability })
    }
}

/// The priorities of the processes.
struct Order {
    /// From the lowest priority to the highest; `None` for random schedules.
    priorities: Option<Vec<usize>>,
    /// The steps at which the process that steps falls to the bottom.
    changes: Vec<usize>,
}

impl Order {
    fn new(sampler: &Sampler, processes: usize, chance: &mut fastrand::Rng) -> Self {
        let Choose::Priorities { depth } = sampler.choose else {
            return Self { priorities: None, changes: Vec::new() };
        };
        let mut priorities: Vec<usize> = (0..processes).collect();
        chance.shuffle(&mut priorities);
        let changes = (1..depth).map(|_| chance.usize(0..sampler.length.max(1))).collect();
        Self { priorities: Some(priorities), changes }
    }

    fn demote(&mut self, p: usize) {
        if let Some(priorities) = &mut self.priorities {
            priorities.retain(|&q| q != p);
            priorities.insert(0, p);
        }
    }

    fn choose(&mut self, world: &World, state: &State, chance: &mut fastrand::Rng, at: usize) -> Option<Action> {
        let mut actions = Vec::new();
        match &self.priorities {
            None => (0..world.processes()).for_each(|p| world.actions(state, p, &mut actions)),
            Some(priorities) => {
                let able = priorities.iter().rev().find(|&&p| {
                    world.actions(state, p, &mut actions);
                    !actions.is_empty()
                });
                let p = *able?;
                // Any other event is as likely as a step; a crash is a hundred times less likely.
                if chance.u8(0..100) != 0 {
                    actions.retain(|a| !a.is_crash());
                }
                if self.changes.contains(&at) {
                    self.demote(p);
                }
            }
        }
        (!actions.is_empty()).then(|| actions[chance.usize(0..actions.len())])
    }
}
