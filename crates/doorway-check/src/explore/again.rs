//! Every run that a search found is replayed on the text itself before it is reported.
//!
//! A search merges states because a text says that it may. If that is wrong, the search can find
//! runs that the text cannot make. Such a run is not a counterexample: it is an error of the text,
//! and is reported as one.

use crate::property::{Property, Test, View};
use crate::sim::{Action, Pair, Part, Phase, State, Stepped, TextError, World, is_set};
use crate::trace::Trace;

/// How many steps of a cycle to make if the text never returns exactly to where it was: the loop
/// closes only by `keep`, or counters grow.
const ROUND_AND_ROUND: usize = 500;

/// What a run must show, and in which parts.
pub(crate) type Shows<'p> = (&'p Property, &'p [Part]);

/// The trace of a run, replayed without merging.
///
/// # Errors
/// If the text does something else, or does not show what was found; or if it cannot be run by
/// replay.
pub(crate) fn again<'p>(
    world: &mut World,
    initial: &State,
    actions: &[Action],
    repeats_from: Option<usize>,
    shows: Option<Shows<'p>>,
) -> Result<Trace, TextError> {
    let mut pair = Pair::new(world, initial, shows.map(|(property, _)| property))?;
    let (mut before, mut last) = (pair.text.clone(), None);
    for &action in actions {
        before.clone_from(&pair.text);
        last = pair.act(action)?;
    }
    if let Some((property, parts)) = shows
        && !is_shown(&mut pair, &property.test, parts, &before, last)?
    {
        return Err(pair.is_no_such_run(actions.last().copied()));
    }
    if let Some(cycle) = repeats_from.map(|from| &actions[from.min(actions.len())..]) {
        go_round(&mut pair, cycle)?;
    }
    Trace::of(&mut pair.plain, initial, actions)
}

/// Goes round a cycle until the text is where it was before.
fn go_round(pair: &mut Pair<'_>, cycle: &[Action]) -> Result<(), TextError> {
    let mut been = vec![pair.text.clone()];
    while been.len() * cycle.len() < ROUND_AND_ROUND {
        for &action in cycle {
            pair.act(action)?;
        }
        if been.contains(&pair.text) {
            break;
        }
        been.push(pair.text.clone());
    }
    Ok(())
}

/// Whether the text's own run shows what was found. What is decided on whole graphs is shown by
/// steps alone.
fn is_shown(
    pair: &mut Pair<'_>,
    test: &Test,
    parts: &[Part],
    before: &State,
    last: Option<Stepped>,
) -> Result<bool, TextError> {
    let (world, state) = (&pair.plain, &pair.text);
    let (was, is) = (View::new(world, before), View::new(world, state));
    Ok(match test {
        Test::Always(so) => !parts.iter().all(|&part| so(&is.of(part))),
        Test::Sometimes(so) => parts.iter().any(|&part| so(&is.of(part))),
        Test::Unless(so, until) => parts.iter().any(|&part| breaks_off(&**so, &**until, &was.of(part), &is.of(part))),
        Test::FirstCome(k) => last.is_some_and(|stepped| stepped.overtook as usize >= *k),
        Test::Linearizable(_) => !world.is_linearizable(state),
        Test::NoPanic => world.panicked_process(state).is_some(),
        Test::OneWaits => {
            let text = pair.text.clone();
            pair.plain.has_two_at_a_word_of_one(&text)?
        }
        Test::NeverStuck => {
            let under_way = |p: &usize| world.phase(state, *p) != Phase::Remainder && !world.has_crashed(state, *p);
            let under_way: Vec<usize> = (0..world.processes()).filter(under_way).collect();
            pair.run_alone(under_way)?;
            true
        }
        Test::QuietWaits => {
            let text = pair.text.clone();
            pair.plain.is_noisy(&text)?
        }
        Test::FirstEnabled => {
            let passed = state.passed & !state.crashed;
            pair.run_alone((0..pair.plain.processes()).filter(|&p| is_set(passed, p)).collect::<Vec<_>>())?;
            true
        }
        Test::Monitor(watcher) => last.is_some_and(|stepped| world.is_rejected(watcher, stepped)),
        Test::LeadsTo(..)
        | Test::DeadlockFree
        | Test::BoundedExit
        | Test::AtMost(..)
        | Test::OwnSteps(..)
        | Test::Overtaking(..)
        | Test::Ltl(_) => true,
    })
}

/// Whether `so` ends for some process in this step before `until` holds.
pub(crate) fn breaks_off(
    so: impl Fn(&View<'_>, usize) -> bool,
    until: impl Fn(&View<'_>, usize) -> bool,
    before: &View<'_>,
    after: &View<'_>,
) -> bool {
    before.processes().any(|p| so(before, p) && !until(before, p) && !so(after, p) && !until(after, p))
}
