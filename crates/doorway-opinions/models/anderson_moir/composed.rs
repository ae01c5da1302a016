//! A layout of levels as a model.

use std::marker::PhantomData;

use stateright::{Model, Property};

use super::layout::{Gate, Layout};
use super::level::Level;
use crate::models::{Pid, Sections};

/// A [`Layout`] whose levels are `L`.
#[derive(Clone, Debug)]
pub(crate) struct Composed<L> {
    layout: Layout,
    passages: Option<u32>,
    sections: Sections,
    level: PhantomData<fn() -> L>,
}

/// The position of a process. Under [`Sections::Merged`] a process is never found at the first
/// statement of its entry or of its exit: it is in the remainder, or inside. The route is kept
/// while the rest of the passage depends on it (`slow` of Figure 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Pc<L: Level> {
    /// In the remainder.
    Remainder,
    /// About to ask this gate.
    Gate(usize),
    /// In the entry of the level at position `at` of its route.
    Entry { route: usize, at: usize, pc: L::Pc },
    /// 2 of Figure 7: `tas(X[name])`.
    Name { route: usize, name: Pid },
    /// In the critical section (with the name 0 if there are none).
    Inside { route: usize, name: Pid },
    /// 3 of Figure 7: `X[name] := 0`.
    Unname { route: usize, name: Pid },
    /// In the exit of the level at position `at` of its route.
    Exit { route: usize, at: usize, pc: L::Pc },
    /// About to give a place back to this gate.
    GiveBack(usize),
    /// Stopped, with all passages made.
    Done,
}

/// One process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Process<L: Level> {
    pc: Pc<L>,
    /// The number of passages it has completed (always 0 if they are not bounded).
    completed: u32,
    /// The private variables that outlive a passage, for each level.
    private: Vec<L::Private>,
}

/// A state of [`Composed`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State<L: Level> {
    processes: Vec<Process<L>>,
    /// The shared variables of each level.
    levels: Vec<L::Shared>,
    /// `X` of each gate.
    gates: Vec<i8>,
    /// `X[0..k-2]` of Figure 7.
    bits: Vec<bool>,
}

impl<L: Level> Composed<L> {
    /// The model of a layout in which each process makes `passages` passages, or never stops if
    /// that is `None`.
    pub(crate) fn new(layout: Layout, passages: Option<u32>, sections: Sections) -> Self {
        Self { layout, passages, sections, level: PhantomData }
    }

    /// The first statement of a passage, or inside.
    fn begin(&self, p: Pid) -> Pc<L> {
        if self.layout.gates > 0 { Pc::Gate(0) } else { self.enter(p, 0, 0) }
    }

    /// The first statement of the entry of the level at position `at` of the route; then the names;
    /// then inside.
    fn enter(&self, p: Pid, route: usize, at: usize) -> Pc<L> {
        if at < self.layout.routes[usize::from(p)][route].levels.len() {
            Pc::Entry { route, at, pc: L::ENTRY }
        } else {
            self.name(route, 0)
        }
    }

    /// The test for this name; inside if there is nothing to test.
    fn name(&self, route: usize, name: Pid) -> Pc<L> {
        if self.layout.names && name + 1 < self.layout.k {
            Pc::Name { route, name }
        } else {
            Pc::Inside { route, name }
        }
    }

    /// The first statement of the exit of the level before position `at` of the route; then what
    /// follows.
    fn leave(&self, p: Pid, route: usize, at: usize) -> Pc<L> {
        match at.checked_sub(1) {
            Some(at) => Pc::Exit { route, at, pc: L::EXIT },
            None => match self.layout.routes[usize::from(p)][route].give_back {
                Some(gate) => Pc::GiveBack(gate),
                None => Pc::Remainder,
            },
        }
    }

    /// The names of the processes inside.
    fn inside(state: &State<L>) -> impl Iterator<Item = Pid> {
        state.processes.iter().filter_map(|process| match process.pc {
            Pc::Inside { name, .. } => Some(name),
            _ => None,
        })
    }

    /// Makes one access, and returns the next position of the process. If it is at no statement,
    /// nothing happens.
    fn access(&self, state: &mut State<L>, p: Pid, pc: Pc<L>) -> Pc<L> {
        let routes = &self.layout.routes[usize::from(p)];
        let private = &mut state.processes[usize::from(p)].private;
        let levels = &mut state.levels;
        let mut step = |route: usize, at: usize, pc| {
            let level = routes[route].levels[at];
            L::step(self.layout.sites[level], p, pc, &mut levels[level], &mut private[level])
        };
        match pc {
            Pc::Gate(gate) => {
                let x = &mut state.gates[gate];
                let old = *x;
                if old > 0 || self.layout.gate == Gate::Plain {
                    *x -= 1;
                }
                if old > 0 {
                    self.enter(p, gate, 0)
                } else if gate + 1 < self.layout.gates {
                    Pc::Gate(gate + 1)
                } else {
                    self.enter(p, gate + 1, 0)
                }
            }
            Pc::Entry { route, at, pc } => match step(route, at, pc) {
                Some(pc) => Pc::Entry { route, at, pc },
                None => self.enter(p, route, at + 1),
            },
            Pc::Name { route, name } => {
                if std::mem::replace(&mut state.bits[usize::from(name)], true) {
                    self.name(route, name + 1)
                } else {
                    Pc::Inside { route, name }
                }
            }
            Pc::Unname { route, name } => {
                state.bits[usize::from(name)] = false;
                self.leave(p, route, routes[route].levels.len())
            }
            Pc::Exit { route, at, pc } => match step(route, at, pc) {
                Some(pc) => Pc::Exit { route, at, pc },
                None => self.leave(p, route, at),
            },
            Pc::GiveBack(gate) => {
                state.gates[gate] += 1;
                Pc::Remainder
            }
            Pc::Remainder | Pc::Inside { .. } | Pc::Done => pc,
        }
    }
}

impl<L: Level> Model for Composed<L> {
    type State = State<L>;
    type Action = Pid;

    fn init_states(&self) -> Vec<State<L>> {
        let Layout { n, k, ref sites, gates, names, .. } = self.layout;
        let process = Process { pc: Pc::Remainder, completed: 0, private: vec![L::Private::default(); sites.len()] };
        vec![State {
            processes: vec![process; usize::from(n)],
            levels: sites.iter().map(|&site| L::shared(site, n)).collect(),
            gates: vec![k as i8; gates],
            bits: vec![false; if names { usize::from(k) - 1 } else { 0 }],
        }]
    }

    fn actions(&self, state: &State<L>, actions: &mut Vec<Pid>) {
        actions.extend((0..self.layout.n).filter(|&p| {
            let process = &state.processes[usize::from(p)];
            match process.pc {
                Pc::Remainder => process.private.iter().all(L::may_begin),
                Pc::Done => false,
                _ => true,
            }
        }));
    }

    fn next_state(&self, last: &State<L>, p: Pid) -> Option<State<L>> {
        let mut next = last.clone();
        let found = last.processes[usize::from(p)].pc;
        let mut pc = match found {
            Pc::Remainder => self.begin(p),
            Pc::Inside { route, name } if self.layout.names && name + 1 < self.layout.k => Pc::Unname { route, name },
            Pc::Inside { route, .. } => self.leave(p, route, self.layout.routes[usize::from(p)][route].levels.len()),
            _ => found,
        };
        if pc == found || self.sections == Sections::Merged {
            pc = self.access(&mut next, p, pc);
        }
        let process = &mut next.processes[usize::from(p)];
        if let (Pc::Remainder, Some(passages)) = (pc, self.passages) {
            process.completed += 1;
            if process.completed == passages {
                pc = Pc::Done;
            }
        }
        process.pc = pc;
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::<Self>::always("at most k inside", |model, state| {
                Self::inside(state).count() <= usize::from(model.layout.k)
            }),
            Property::<Self>::always("names are distinct and below k", |model, state| {
                let mut taken = vec![false; usize::from(model.layout.k)];
                !model.layout.names
                    || Self::inside(state).all(|name| !std::mem::replace(&mut taken[usize::from(name)], true))
            }),
            Property::<Self>::always("no level has more than one too many", |_, state| {
                state.levels.iter().all(|level| L::places(level) >= -1)
            }),
        ]
    }
}
