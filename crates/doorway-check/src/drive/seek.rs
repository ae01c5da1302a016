//! A search from one state, breadth-first, for the shortest way to what is sought.

use super::Predicate;
use super::bounds::{self, Bound};
use super::lasso::{self, Edge};
use crate::explore::holds_at;
use crate::property::{Property, Test};
use crate::sim::{Action, State, TextError, What, World};
use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::hash::{Hash as _, Hasher as _};

/// What is sought.
pub(super) enum Goal<'a> {
    /// A state in which this holds.
    Holds(&'a Predicate),
    /// A state, a step or a run that breaks one of these. Of what can happen sometimes, a state in
    /// which it does. The bounds among them know what has been counted so far.
    Breaks(&'a [&'a Property], &'a [Bound<'a>]),
}

/// What was found.
pub(super) struct Sought {
    /// The way there, if there is one.
    pub(super) way: Option<Vec<Action>>,
    /// What holds or is broken there, in words.
    pub(super) found: String,
    /// How many states were looked at.
    pub(super) states: usize,
    /// Whether these are all.
    pub(super) complete: bool,
    /// Whether no way is shorter.
    pub(super) shortest: bool,
    /// From which step of the way on it repeats for ever.
    pub(super) repeats_from: Option<usize>,
    /// The property that the run as a whole breaks, and no state of it.
    pub(super) property: Option<String>,
}

/// The states found, and how.
pub(super) struct Found {
    pub(super) states: Vec<State>,
    /// The state before each, and the action that led there.
    came: Vec<(u32, Action)>,
    table: HashTable<u32>,
}

fn hash(state: &State) -> u64 {
    let mut hasher = FxHasher::default();
    state.hash(&mut hasher);
    hasher.finish()
}

impl Found {
    fn new(from: State) -> Self {
        let mut found = Self { states: Vec::new(), came: Vec::new(), table: HashTable::new() };
        found.add(from, 0, Action::step(0));
        found
    }

    /// The number of a state, and whether it is new.
    fn add(&mut self, state: State, before: u32, action: Action) -> (u32, bool) {
        let key = hash(&state);
        if let Some(&known) = self.table.find(key, |&i| self.states[i as usize] == state) {
            return (known, false);
        }
        let id = self.states.len() as u32;
        self.states.push(state);
        self.came.push((before, action));
        let states = &self.states;
        self.table.insert_unique(key, id, |&i| hash(&states[i as usize]));
        (id, true)
    }

    /// The way from the first state.
    pub(super) fn way(&self, mut to: u32) -> Vec<Action> {
        let mut way = Vec::new();
        while to != 0 {
            let (before, action) = self.came[to as usize];
            way.push(action);
            to = before;
        }
        way.reverse();
        way
    }
}

/// Searches from a state, among at most this many states.
pub(super) fn search(
    world: &mut World,
    from: State,
    goal: &Goal<'_>,
    most: usize,
    stop: &dyn Fn() -> bool,
) -> Result<Sought, TextError> {
    let (endless, bounded): (Vec<&Property>, &[Bound<'_>]) = match goal {
        Goal::Breaks(properties, bounded) => {
            (properties.iter().filter(|p| p.needs_graph() && !bounds::is_bound(p)).copied().collect(), bounded)
        }
        Goal::Holds(_) => (Vec::new(), &[]),
    };
    let of_steps = matches!(goal, Goal::Breaks(all, _) if all.iter().any(|p| matches!(p.test, Test::Unless(..) | Test::FirstCome(_) | Test::Monitor(_))));
    let mut found = Found::new(from);
    let mut edges: Vec<Vec<Edge>> = Vec::new();
    let done = |found: &Found, way, what: String, complete, repeats_from| {
        Ok(Sought {
            way,
            found: what,
            states: found.states.len(),
            complete,
            shortest: true,
            repeats_from,
            property: None,
        })
    };
    if let Some(what) = reached(world, goal, None, &found.states[0].clone())? {
        return done(&found, Some(Vec::new()), what, true, None);
    }
    let (mut at, mut actions, mut complete) = (0, Vec::new(), true);
    while at < found.states.len() {
        if stop() || found.states.len() >= most {
            complete = false;
            break;
        }
        let state = found.states[at].clone();
        actions.clear();
        (0..world.processes()).for_each(|p| world.actions(&state, p, &mut actions));
        let mut out = Vec::new();
        for &action in &actions {
            let mut next = state.clone();
            let Some(stepped) = world.act(&mut next, action)? else { continue };
            let (id, new) = found.add(next, at as u32, action);
            if !endless.is_empty() || !bounded.is_empty() {
                let entered = stepped.entered;
                out.push(Edge { to: id, action, entered, gives_up: action.what == What::GiveUp });
            }
            if new || of_steps {
                let next = found.states[id as usize].clone();
                if let Some(what) = reached(world, goal, Some((&state, stepped)), &next)? {
                    let mut way = found.way(at as u32);
                    way.push(action);
                    return done(&found, Some(way), what, true, None);
                }
            }
        }
        edges.push(out);
        at += 1;
    }
    // A run that exceeds a bound does so wherever the search has ended.
    let depth = found.way(at.saturating_sub(1) as u32).len();
    for bound in bounded {
        if let Some(way) = bound.exceeded(world, &found, &edges, stop) {
            let shortest = complete || way.len() <= depth;
            let sought = done(&found, Some(way), format!("{} is broken", bound.name()), complete, None)?;
            return Ok(Sought { shortest, property: Some(bound.name().to_owned()), ..sought });
        }
    }
    if complete {
        for property in endless {
            if let Some((way, from)) = lasso::find(world, &found, &edges, property, stop) {
                let name = property.name().to_owned();
                let sought = done(&found, Some(way), name.clone(), true, Some(from))?;
                return Ok(Sought { property: Some(name), ..sought });
            }
        }
        complete = !stop();
    }
    done(&found, None, String::new(), complete, None)
}

/// What was sought, in words, if it is here.
fn reached(
    world: &mut World,
    goal: &Goal<'_>,
    came: Option<(&State, crate::sim::Stepped)>,
    state: &State,
) -> Result<Option<String>, TextError> {
    match goal {
        Goal::Holds(predicate) => Ok(predicate.holds(world, state)?.then(|| "It is so".to_owned())),
        Goal::Breaks(properties, _) => {
            for property in *properties {
                let sometimes = matches!(property.test, Test::Sometimes(_));
                match holds_at(world, came, state, property)? {
                    Some(true) if sometimes => return Ok(Some(format!("{} happens", property.name()))),
                    Some(false) if !sometimes => return Ok(Some(format!("{} is broken", property.name()))),
                    _ => {}
                }
            }
            Ok(None)
        }
    }
}
