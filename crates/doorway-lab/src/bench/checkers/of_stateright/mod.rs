//! The locks as hand-written Stateright models, and what these share.

pub(super) mod am_chain;
pub(super) mod bakery;
pub(super) mod burns_lynch;
pub(super) mod hyman;
pub(super) mod peterson_turn_first;
pub(super) mod szymanski_three_bits;
pub(super) mod tsay;
pub(super) mod turnstile_simple;

use super::Found;
use stateright::{Checker as _, HasDiscoveries, Model, Property};
use std::fmt::Debug;
use std::hash::Hash;

/// One lock for `N` processes. A step is one access to a shared variable.
pub(super) trait Lock<const N: usize>: Debug + Send + Sync + 'static {
    /// The position of a process, with what it remembers there.
    type At: Copy + Debug + PartialEq + Hash + Send + Sync;
    /// The shared variables.
    type Shared: Copy + Debug + PartialEq + Hash + Send + Sync;

    /// How many may be inside.
    const PLACES: usize = 1;
    /// The first statement of the entry: in the remainder.
    const OUTSIDE: Self::At;
    /// The first statement of the exit: inside.
    const INSIDE: Self::At;

    fn shared(&self) -> Self::Shared;

    /// A step of `p`: where it is then, or `None` if it has to wait.
    fn step(&self, p: usize, at: Self::At, shared: &mut Self::Shared) -> Option<Self::At>;
}

/// A lock, and the number of passages after which a process stops.
#[derive(Clone, Debug)]
pub(super) struct Passages<L> {
    pub(super) lock: L,
    pub(super) most: Option<u8>,
}

#[derive(Clone, Debug, PartialEq, Hash)]
pub(super) struct State<At, Shared, const N: usize> {
    at: [At; N],
    done: [u8; N],
    shared: Shared,
}

/// A model of `N` processes.
#[derive(Debug)]
pub(super) struct Of<L, const N: usize>(pub(super) Passages<L>);

impl<L: Lock<N>, const N: usize> Model for Of<L, N> {
    type State = State<L::At, L::Shared, N>;
    type Action = usize;

    fn init_states(&self) -> Vec<Self::State> {
        vec![State { at: [L::OUTSIDE; N], done: [0; N], shared: self.0.lock.shared() }]
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<usize>) {
        actions.extend((0..N).filter(|&p| self.0.most != Some(state.done[p])));
    }

    fn next_state(&self, last: &Self::State, p: usize) -> Option<Self::State> {
        let mut next = last.clone();
        next.at[p] = self.0.lock.step(p, last.at[p], &mut next.shared)?;
        if next.at[p] == L::OUTSIDE && self.0.most.is_some() {
            next.done[p] += 1;
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::<Self>::always("exclusion", |_, state| {
                state.at.iter().filter(|&&at| at == L::INSIDE).count() <= L::PLACES
            }),
            Property::<Self>::always("never stuck", |model, state| {
                let mut begun = (0..N).filter(|&p| state.at[p] != L::OUTSIDE).peekable();
                let can_go_on = |p| model.0.lock.step(p, state.at[p], &mut state.shared.clone()).is_some();
                begun.peek().is_none() || begun.any(can_go_on)
            }),
        ]
    }
}

/// Searches, until a property fails or all states are known.
pub(super) fn search<L: Lock<N>, const N: usize>(lock: L, most: Option<u8>, threads: usize, way: Way) -> Found {
    let checker = Of::<L, N>(Passages { lock, most }).checker().threads(threads).finish_when(HasDiscoveries::Any);
    let summary = |states: usize, failure: Option<usize>| Found { states: Some(states), steps: failure, tries: None };
    // Stateright has a type for each order of search.
    macro_rules! joined {
        ($spawned:expr) => {{
            let checker = $spawned.join();
            let failure = checker.discoveries().into_values().map(|path| path.into_actions().len()).min();
            summary(checker.unique_state_count(), failure)
        }};
    }
    match way {
        Way::BreadthFirst => joined!(checker.spawn_bfs()),
        Way::DepthFirst => joined!(checker.spawn_dfs()),
    }
}

/// In which order states are visited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    BreadthFirst,
    DepthFirst,
}

/// The first process from `from` on that is not `p`.
fn other(n: usize, p: usize, from: usize) -> Option<usize> {
    (from..n).find(|&j| j != p)
}
