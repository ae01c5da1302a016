//! Breadth-first search over all interleavings, with exact states and shortest traces.
//!
//! ```
//! use doorway_check::{Explorer, Property};
//! use doorway_core::mutex::yang_anderson_93::TwoProcess;
//!
//! let report = Explorer::new(2)
//!     .property(Property::exclusion("mutual-exclusion", 1))
//!     .property(Property::deadlock_free("deadlock-free"))
//!     .property(Property::sometimes("someone waits at 10", |v| v.count(10) > 0))
//!     .run(|site| TwoProcess::new(site))
//!     .unwrap();
//! report.assert_holds();
//! assert!(report.complete);
//! ```

mod report;
mod store;

pub use report::{Report, Stop, Verdict};

use crate::property::{Property, Test, View};
use crate::sim::Part;
use crate::sim::{Keep, Rules, Sections, Sim, State, TextError, World};
use crate::trace::Trace;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::Site;
use std::fmt;
use store::{StateId, Store};

/// How deep [`Keep::CrossChecked`] runs merged local states side by side.
const CROSS_CHECK_DEPTH: usize = 6;
/// How many states lie between two looks at memory and progress.
const STRIDE: usize = 4096;

type OnProgress<'a> = Box<dyn FnMut(&Progress) + 'a>;

/// A search to be made: how large, of what, within which limits.
#[must_use = "an explorer does nothing until it is run"]
pub struct Explorer<'a> {
    processes: usize,
    rules: Rules,
    properties: Vec<Property>,
    initially: Vec<(String, u64)>,
    max_states: Option<usize>,
    max_memory: Option<usize>,
    keep_going: bool,
    progress: Option<OnProgress<'a>>,
}

impl fmt::Debug for Explorer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Explorer")
            .field("processes", &self.processes)
            .field("rules", &self.rules)
            .field("properties", &self.properties)
            .finish_non_exhaustive()
    }
}

/// How far a search has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// States found.
    pub states: usize,
    /// States found whose steps were not yet tried.
    pub frontier: usize,
    /// Bytes held.
    pub bytes: usize,
}

impl<'a> Explorer<'a> {
    /// A search with this many processes.
    pub fn new(processes: usize) -> Self {
        Self {
            processes,
            rules: Rules::default(),
            properties: Vec::new(),
            initially: Vec::new(),
            max_states: None,
            max_memory: None,
            keep_going: false,
            progress: None,
        }
    }

    /// Asks for a property.
    pub fn property(mut self, property: Property) -> Self {
        self.properties.push(property);
        self
    }

    /// Asks for several properties.
    pub fn properties(mut self, properties: impl IntoIterator<Item = Property>) -> Self {
        self.properties.extend(properties);
        self
    }

    /// Each process makes this many passages; `None` (the default): no bound. *Complete* then means complete for that bound.
    pub fn passages(mut self, passages: impl Into<Option<u32>>) -> Self {
        self.rules.passages = passages.into();
        self
    }

    /// What counts as a step.
    pub fn sections(mut self, sections: Sections) -> Self {
        self.rules.sections = sections;
        self
    }

    /// What to do with the text's `keep`.
    pub fn keep(mut self, keep: Keep) -> Self {
        self.rules.keep = keep;
        self
    }

    /// Starts the variable with this full name at this word instead of its declared value: for values that a paper calls
    /// arbitrary.
    pub fn initially(mut self, path: &str, word: u64) -> Self {
        self.initially.push((path.to_owned(), word));
        self
    }

    /// Ends the search cleanly after this many states.
    pub fn max_states(mut self, states: impl Into<Option<usize>>) -> Self {
        self.max_states = states.into();
        self
    }

    /// Ends the search cleanly when it holds this many bytes.
    pub fn max_memory(mut self, bytes: impl Into<Option<usize>>) -> Self {
        self.max_memory = bytes.into();
        self
    }

    /// Goes on after a property has failed, until all are decided. Otherwise the search ends with the first failure.
    pub fn keep_going(mut self, keep_going: bool) -> Self {
        self.keep_going = keep_going;
        self
    }

    /// Calls back from time to time.
    pub fn on_progress(mut self, call: impl FnMut(&Progress) + 'a) -> Self {
        self.progress = Some(Box::new(call));
        self
    }

    /// Explores a solution of k-exclusion.
    ///
    /// # Errors
    /// If its text breaks the rules that replay rests on.
    pub fn run<A>(self, build: impl FnOnce(&Site<'_, Sim>) -> A) -> Result<Report, TextError>
    where
        A: KExclusion<Sim> + 'static,
    {
        let world = World::new(self.processes, self.rules, build)?;
        self.explore(world)
    }

    /// Explores any machine; its rules stand, not this explorer's.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    ///
    /// # Panics
    /// If [`initially`](Self::initially) named a variable that does not exist.
    pub fn explore(self, mut world: World) -> Result<Report, TextError> {
        let mut initial = world.initial();
        for (path, word) in &self.initially {
            let Some(v) = world.layout().by_path(path) else {
                panic!("there is no variable {path}; there are {:?}", world.layout().names())
            };
            initial.vars[v as usize] = *word;
        }
        Search::new(self, &world, initial).run(&mut world)
    }
}

/// A property at work: the parts it is asked of, and what was found.
struct Asked {
    property: Property,
    parts: Vec<Part>,
    /// The state, and for operators over steps the step, that decided it.
    decided: Option<(StateId, Option<usize>)>,
}

impl Asked {
    /// Whether finding it decided means that it failed.
    fn fails_when_decided(&self) -> bool {
        !matches!(self.property.test, Test::Sometimes(_))
    }
}

struct Search<'a> {
    explorer: Explorer<'a>,
    asked: Vec<Asked>,
    store: Store,
    initial: State,
    edges: u64,
}

impl<'a> Search<'a> {
    fn new(mut explorer: Explorer<'a>, world: &World, initial: State) -> Self {
        let asked = std::mem::take(&mut explorer.properties)
            .into_iter()
            .map(|property| Asked { parts: world.layout().parts_of_kind(property.kind), property, decided: None })
            .collect();
        let mut store = Store::new(world);
        store.insert(&initial, 0, 0);
        Self { explorer, asked, store, initial, edges: 0 }
    }

    fn run(mut self, world: &mut World) -> Result<Report, TextError> {
        let (mut state, mut next) = (self.initial.clone(), self.initial.clone());
        let mut at = 0;
        let stop = loop {
            if at == self.store.len() {
                break None;
            }
            if at % STRIDE == 0
                && let Some(stop) = self.out_of_memory(world, at)
            {
                break Some(stop);
            }
            let id = at as StateId;
            self.store.load(id, &mut state);
            self.look_at(world, &state, id);
            let mut everyone_waits = true;
            for p in 0..world.processes() {
                if world.next(&state, p) == crate::sim::Op::Stop {
                    continue;
                }
                next.clone_from(&state);
                let stepped = world.step(&mut next, p)?;
                self.edges += 1;
                if !stepped.unchanged && world.phase(&state, p) != crate::sim::Phase::Remainder {
                    everyone_waits = false;
                }
                self.look_at_step(world, &state, &next, id, p);
                self.store.insert(&next, id, p);
            }
            if self.explorer.max_states.is_some_and(|most| self.store.len() > most) {
                break Some(Stop::States);
            }
            if everyone_waits {
                self.look_for_deadlock(world, &state, id)?;
            }
            at += 1;
            if !self.explorer.keep_going && self.asked.iter().any(|a| a.decided.is_some() && a.fails_when_decided()) {
                break Some(Stop::Failed);
            }
        };
        if world.rules().keep == Keep::CrossChecked {
            world.cross_check(CROSS_CHECK_DEPTH)?;
        }
        self.report(world, at, stop)
    }

    fn out_of_memory(&mut self, world: &World, at: usize) -> Option<Stop> {
        let states = self.store.len();
        let bytes = self.store.bytes() + world.bytes();
        if let Some(call) = &mut self.explorer.progress {
            call(&Progress { states, frontier: states - at, bytes });
        }
        self.explorer.max_memory.is_some_and(|most| bytes >= most).then_some(Stop::Memory)
    }

    fn look_at(&mut self, world: &World, state: &State, id: StateId) {
        let view = View::new(world, state);
        for asked in self.asked.iter_mut().filter(|a| a.decided.is_none()) {
            let decides = match &asked.property.test {
                Test::Always(so) => !asked.parts.iter().all(|&part| so(&view.of(part))),
                Test::Sometimes(so) => asked.parts.iter().any(|&part| so(&view.of(part))),
                Test::Unless(..) | Test::DeadlockFree => false,
            };
            if decides {
                asked.decided = Some((id, None));
            }
        }
    }

    fn look_at_step(&mut self, world: &World, state: &State, next: &State, id: StateId, by: usize) {
        let (before, after) = (View::new(world, state), View::new(world, next));
        for asked in self.asked.iter_mut().filter(|a| a.decided.is_none()) {
            if let Test::Unless(so, until) = &asked.property.test {
                let broken = asked.parts.iter().any(|&part| {
                    let (before, after) = (before.of(part), after.of(part));
                    before
                        .processes()
                        .any(|p| so(&before, p) && !until(&before, p) && !so(&after, p) && !until(&after, p))
                });
                if broken {
                    asked.decided = Some((id, Some(by)));
                }
            }
        }
    }

    fn look_for_deadlock(&mut self, world: &mut World, state: &State, id: StateId) -> Result<(), TextError> {
        for asked in self.asked.iter_mut().filter(|a| a.decided.is_none()) {
            if matches!(asked.property.test, Test::DeadlockFree) && world.is_deadlock(state)? {
                asked.decided = Some((id, None));
            }
        }
        Ok(())
    }

    fn report(self, world: &mut World, expanded: usize, stop: Option<Stop>) -> Result<Report, TextError> {
        let complete = stop.is_none();
        let mut verdicts = Vec::new();
        for asked in &self.asked {
            let (holds, trace) = match asked.decided {
                Some((id, step)) => {
                    let order: Vec<usize> = self.store.path(id).into_iter().chain(step).collect();
                    let (trace, _) = Trace::of(world, &self.initial, &order)?;
                    (Some(!asked.fails_when_decided()), Some(trace))
                }
                None => (complete.then_some(asked.fails_when_decided()), None),
            };
            verdicts.push(Verdict { name: asked.property.name.clone(), holds, trace });
        }
        Ok(Report {
            processes: world.processes(),
            passages: world.rules().passages,
            states: self.explorer.max_states.map_or(self.store.len(), |most| self.store.len().min(most)),
            expanded,
            edges: self.edges,
            complete,
            stop,
            bytes: self.store.bytes() + world.bytes(),
            local_states: world.local_states(),
            runs: world.runs(),
            instructions: world.instructions_seen(),
            verdicts,
        })
    }
}
