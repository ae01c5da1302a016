//! Variables that seem to grow for ever, when a limit has ended a search.

use super::store::{StateId, Store};
use crate::sim::{State, World};

/// How many states to look at for each of the four values, at most.
const LOOKS: usize = 1000;
/// Smaller values may only be on their way to a bound.
const NOTABLE: u64 = 5;
/// The number of states at which a search looks for the first time at what grows.
pub(super) const FIRST: usize = 1 << 16;
/// Values that grow at a steady rate up to this are taken to grow for ever.
const ENOUGH: u64 = 100;

/// Whether values have grown at a steady rate: with twice as many states, at least by a quarter.
pub(super) fn is_for_ever(values: &[u64; 4]) -> bool {
    values[3] >= ENOUGH && values.windows(2).all(|w| w[1] >= w[0] + w[0] / 4)
}

/// The variables, fields of variables and monitors whose largest values grew all the time. States
/// are numbered breadth-first, so later ones are deeper.
pub(super) fn growing(world: &World, store: &Store, initial: &State) -> Vec<(String, [u64; 4])> {
    let layout = world.layout();
    let mut names: Vec<String> = Vec::new();
    for v in layout.vars() {
        names.push(v.path.clone());
        names.extend(v.field_names().map(|field| format!("{}.{field}", v.path)));
    }
    names.extend(world.monitors().iter().map(|watcher| format!("the monitor {}", watcher.name())));
    let mut largest = vec![[0; 4]; names.len()];
    let mut state = initial.clone();
    for (window, part) in [8, 4, 2, 1].into_iter().enumerate() {
        let end = store.len() / part;
        let begin = end - end / 8;
        for id in (begin..end).step_by(((end - begin) / LOOKS).max(1)) {
            store.load(id as StateId, &mut state);
            let mut at = 0;
            let mut look = |word: u64| {
                largest[at][window] = largest[at][window].max((word as i64).unsigned_abs());
                at += 1;
            };
            for (v, &word) in layout.vars().iter().zip(&state.vars) {
                // A word of several fields is no number.
                let fields: Vec<(u32, u32)> = v.field_names().filter_map(|field| v.field(Some(field))).collect();
                look(if fields.is_empty() { word } else { 0 });
                for (lowest, bits) in fields {
                    look(word >> lowest & (u64::MAX >> (64 - bits.max(1))));
                }
            }
            state.monitors.iter().for_each(|&word| look(word));
        }
    }
    let grows = |values: &[u64; 4]| values.windows(2).all(|w| w[0] < w[1]) && values[3] >= NOTABLE;
    names.into_iter().zip(largest).filter(|(_, values)| grows(values)).collect()
}
