//! The same steps with fewer context switches, which is easier to read.

use crate::sim::{Action, State, TextError, World};

/// Reorders actions to reduce context switches, as long as all of them can still happen and the
/// final state is still `bad`. Moves whole runs of steps of one process next to each other until no
/// move helps.
pub(super) fn fewer_switches(
    world: &mut World,
    initial: &State,
    actions: Vec<Action>,
    mut bad: impl FnMut(&mut World, &State) -> Result<bool, TextError>,
) -> Result<Vec<Action>, TextError> {
    let mut best = actions;
    loop {
        let blocks: Vec<Vec<Action>> = best.chunk_by(|a, b| a.process == b.process).map(<[_]>::to_vec).collect();
        let mut better = None;
        'moves: for from in 0..blocks.len() {
            for to in (0..=blocks.len()).filter(|&to| to != from && to != from + 1) {
                let mut order: Vec<usize> = (0..blocks.len()).filter(|&b| b != from).collect();
                order.insert(if to > from { to - 1 } else { to }, from);
                let moved: Vec<Action> = order.iter().flat_map(|&b| blocks[b].clone()).collect();
                if switches(&moved) < switches(&best)
                    && let Some(end) = run(world, initial, &moved)?
                    && bad(world, &end)?
                {
                    better = Some(moved);
                    break 'moves;
                }
            }
        }
        match better {
            Some(moved) => best = moved,
            None => return Ok(best),
        }
    }
}

fn switches(actions: &[Action]) -> usize {
    actions.windows(2).filter(|pair| pair[0].process != pair[1].process).count()
}

/// The final state, if the actions can happen.
fn run(world: &mut World, initial: &State, actions: &[Action]) -> Result<Option<State>, TextError> {
    let mut state = initial.clone();
    for &action in actions {
        if world.act(&mut state, action)?.is_none() {
            return Ok(None);
        }
    }
    Ok(Some(state))
}
