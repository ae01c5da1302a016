//! Whether a given run breaks a property: a token's claim is not taken on trust.

use super::breaks_off;
use super::expand::is_decided_at;
use crate::property::{Property, Test, View};
use crate::sim::{Action, Part, Phase, State, Stepped, TextError, What, World};

/// A run, step by step, and how it continues.
struct Run<'w> {
    world: &'w World,
    /// Before the first step, and after each.
    states: Vec<State>,
    steps: Vec<(Action, Stepped)>,
    parts: Vec<Part>,
    /// The state from which it repeats for ever; the last one if nothing more happens.
    from: usize,
}

/// Whether a run breaks a property. A run that repeats from some step on is taken to do so for
/// ever.
///
/// The machine must [watch](World::watch_for) for the property, and track the order of arrival if
/// the property is about that.
///
/// # Errors
/// If the text cannot be run by replay.
pub(crate) fn breaks(
    world: &mut World,
    actions: &[Action],
    repeats_from: Option<usize>,
    property: &Property,
) -> Result<bool, TextError> {
    if matches!(property.test, Test::Sometimes(_)) {
        return Ok(false); // one run cannot show that something never happens
    }
    let (mut states, mut steps) = (vec![world.initial()], Vec::new());
    for &action in actions {
        let mut next = states[states.len() - 1].clone();
        let Some(stepped) = world.act(&mut next, action)? else { return Ok(false) };
        steps.push((action, stepped));
        states.push(next);
    }
    let parts = world.layout().parts_of_kind(property.kind);
    for state in &states {
        if world.knowing(|machine| is_decided_at(property, &parts, machine, state))? {
            return Ok(true);
        }
    }
    let from = repeats_from.unwrap_or(actions.len()).min(actions.len());
    Ok(Run { world, states, steps, parts, from }.breaks(&property.test))
}

/// Whether a property holds in a state, or of the step that led there. `None` if it is decided on
/// whole runs.
///
/// # Errors
/// If the text cannot be run by replay.
pub(crate) fn holds_at(
    world: &mut World,
    came: Option<(&State, Stepped)>,
    state: &State,
    property: &Property,
) -> Result<Option<bool>, TextError> {
    let parts = world.layout().parts_of_kind(property.kind);
    Ok(match &property.test {
        test if test.needs_graph() => None,
        Test::Sometimes(_) => Some(world.knowing(|machine| is_decided_at(property, &parts, machine, state))?),
        Test::Unless(so, until) => Some(came.is_none_or(|(before, _)| {
            let (was, is) = (View::new(world, before), View::new(world, state));
            !parts.iter().any(|&part| breaks_off(&**so, &**until, &was.of(part), &is.of(part)))
        })),
        Test::FirstCome(k) => Some(came.is_none_or(|(_, stepped)| (stepped.overtook as usize) < *k)),
        Test::Monitor(watcher) => Some(came.is_none_or(|(_, stepped)| !world.is_rejected(watcher, stepped))),
        _ => Some(!world.knowing(|machine| is_decided_at(property, &parts, machine, state))?),
    })
}

impl Run<'_> {
    fn breaks(&self, test: &Test) -> bool {
        let processes = || 0..self.world.processes();
        let in_phase = |state: &State, p: usize, phase| self.world.phase(state, p) == phase;
        match test {
            Test::Unless(so, until) => self.any_part(|part| {
                let views: Vec<View<'_>> = self.states.iter().map(|s| View::new(self.world, s).of(part)).collect();
                views.windows(2).any(|step| breaks_off(&**so, &**until, &step[0], &step[1]))
            }),
            Test::FirstCome(k) => self.steps.iter().any(|(_, stepped)| stepped.overtook as usize >= *k),
            Test::Monitor(watcher) => self.steps.iter().any(|(_, stepped)| self.world.is_rejected(watcher, *stepped)),
            Test::Ltl(ltl) => {
                let fair = self.is_fair(ltl.endless) && (!ltl.all_take_part || self.all_take_part());
                let formulas = ltl.judged(self.world.processes());
                // The last state of a cycle is its first.
                let distinct = self.steps.len().max(self.from + 1);
                fair && self.any_part(|part| {
                    formulas.iter().any(|formula| {
                        let bits = |s: &State| formula.bits(&View::new(self.world, s).of(part));
                        let bits: Vec<u64> = self.states[..distinct].iter().map(bits).collect();
                        !formula.holds_of(&bits, self.from)
                    })
                })
            }
            Test::LeadsTo(so, then, endless) => {
                self.is_fair(*endless)
                    && self.any_part(|part| {
                        processes().any(|p| {
                            let of = |s: &State, holds: &dyn Fn(&View<'_>, usize) -> bool| {
                                holds(&View::new(self.world, s).of(part), p)
                            };
                            let done = |s: &State| of(s, &**then) || self.world.has_crashed(s, p);
                            // Whatever came before the last time `done` held is settled.
                            let since = self.states.iter().rposition(done).map_or(0, |last| last + 1);
                            since <= self.from && self.states[since..].iter().any(|s| of(s, &**so))
                        })
                    })
            }
            Test::DeadlockFree => {
                let waits =
                    |s: &State| processes().any(|p| in_phase(s, p, Phase::Entry) && !self.world.has_crashed(s, p));
                let enters = self.cycle().iter().any(|(_, stepped)| stepped.entered);
                self.is_fair(false) && !enters && self.states[self.from..].iter().all(waits)
            }
            Test::BoundedExit => {
                !self.gives_up()
                    && processes().any(|p| {
                        self.takes_steps(p) && self.states[self.from..].iter().all(|s| in_phase(s, p, Phase::Exit))
                    })
            }
            Test::AtMost(most, so, counted) => {
                let counts = |at: usize, _| {
                    let (was, is) =
                        (View::new(self.world, &self.states[at]), View::new(self.world, &self.states[at + 1]));
                    self.any_part(|part| counted(&was.of(part), &is.of(part)))
                };
                self.any_part(|part| processes().any(|p| self.is_more_than(*most, p, part, &**so, counts)))
            }
            Test::OwnSteps(most, so) => {
                let own = |at: usize, p| self.steps[at].0.process == p && !self.steps[at].0.is_crash();
                self.any_part(|part| processes().any(|p| self.is_more_than(*most, p, part, &**so, own)))
            }
            Test::Overtaking(most, so) => {
                let passes = |at: usize, p| self.steps[at].0.process != p && self.steps[at].1.entered;
                self.any_part(|part| processes().any(|p| self.is_more_than(*most, p, part, &**so, passes)))
            }
            // Decided at states.
            Test::Always(_)
            | Test::Sometimes(_)
            | Test::NeverStuck
            | Test::NoPanic
            | Test::OneWaits
            | Test::QuietWaits
            | Test::FirstEnabled
            | Test::Linearizable(_) => false,
        }
    }

    fn any_part(&self, holds: impl Fn(Part) -> bool) -> bool {
        self.parts.iter().any(|&part| holds(part))
    }

    /// The part that repeats for ever.
    fn cycle(&self) -> &[(Action, Stepped)] {
        &self.steps[self.from..]
    }

    fn takes_steps(&self, p: usize) -> bool {
        self.cycle().iter().any(|(action, _)| action.process == p && !action.is_crash())
    }

    fn gives_up(&self) -> bool {
        self.cycle().iter().any(|(action, _)| action.what == What::GiveUp)
    }

    /// Whether every process that must step does so for ever, and give-ups end if they should.
    fn is_fair(&self, endless: bool) -> bool {
        let state = &self.states[self.from];
        let fair = |p| self.takes_steps(p) || self.world.is_idle(state, p);
        (endless || !self.gives_up()) && (0..self.world.processes()).all(fair)
    }

    /// Whether every process that could begin another passage takes steps for ever.
    fn all_take_part(&self) -> bool {
        let state = &self.states[self.from];
        (0..self.world.processes()).all(|p| self.takes_steps(p) || self.world.cannot_step(state, p))
    }

    /// Whether more than `most` steps count for a process while `so` holds of it.
    fn is_more_than(
        &self,
        most: Option<u32>,
        p: usize,
        part: Part,
        so: impl Fn(&View<'_>, usize) -> bool,
        counts: impl Fn(usize, usize) -> bool,
    ) -> bool {
        let is_so: Vec<bool> = self.states.iter().map(|s| so(&View::new(self.world, s).of(part), p)).collect();
        let counted = |at: usize| is_so[at] && counts(at, p);
        if is_so[self.from..].iter().all(|so| *so) && (self.from..self.steps.len()).any(counted) {
            return true; // it counts once more in every round
        }
        let mut count = 0;
        (0..self.steps.len()).any(|at| {
            count = if is_so[at] { count } else { 0 } + u32::from(counted(at));
            most.is_some_and(|most| count > most)
        })
    }
}
