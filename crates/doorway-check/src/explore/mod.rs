//! Breadth-first search over all interleavings, with exact states and shortest traces.
//!
//! ```
//! use doorway_check::{Explorer, Property};
//! use doorway_core::mutex::yang_anderson_93::TwoProcess;
//!
//! let report = Explorer::new(2)
//!     .property(Property::exclusion("mutual-exclusion", 1))
//!     .property(Property::starvation_free("starvation-free"))
//!     .property(Property::sometimes("someone waits at 10", |v| v.count(10) > 0))
//!     .run(TwoProcess::new)
//!     .unwrap();
//! report.assert_holds();
//! assert!(report.complete);
//! ```

mod account;
mod again;
mod ahead;
mod bits;
mod bytes;
mod cost;
mod crew;
mod expand;
mod graph;
mod growth;
mod judged;
mod product;
mod progress;
mod recall;
mod report;
mod saved;
mod search;
mod shrink;
mod store;
mod strings;
mod table;
mod team;

pub(crate) use account::provided;
pub use account::{Account, Covered, Document, Registers, UNDECIDED, count, thousands};
pub(crate) use again::{again, breaks_off};
pub(crate) use bytes::push;
pub use cost::{Rmr, Worst, WorstPassage, rmr};
pub(crate) use judged::{breaks, holds_at};
pub use report::{Report, Stop, Verdict};

use crate::property::{Property, Test};
use crate::sim::{Keep, Rules, Sections, Sim, TextError, World};
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Register, Site};
use std::fmt;
use std::path::PathBuf;
use std::time::Instant;

/// How many properties can count steps at a time: a step has as many bits for that.
const MOST_COUNTED: usize = 8;

/// More threads than this would only wait for each other.
const MOST_THREADS: usize = 64;

/// Whether two machines run alike in one respect.
type SameRule = fn(&Rules, &Rules) -> bool;

/// Half of the free memory: a search with this limit stops cleanly before the system kills it.
#[must_use]
pub fn half_of_free_memory() -> usize {
    let free = || {
        let info = std::fs::read_to_string("/proc/meminfo").ok()?;
        let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()
    };
    free().map_or(4 << 30, |kib| kib * 1024 / 2)
}

type OnProgress<'a> = Box<dyn FnMut(&Progress) + 'a>;
type StopWhen<'a> = Box<dyn Fn() -> bool + 'a>;

/// A search: its size, its properties and its limits.
#[must_use = "an explorer does nothing until it is run"]
pub struct Explorer<'a> {
    processes: usize,
    rules: Rules,
    /// The rules that were set here, and how to compare them with a machine's.
    told: Vec<(&'static str, SameRule)>,
    properties: Vec<Property>,
    initially: Vec<(String, u64)>,
    max_states: Option<usize>,
    max_memory: Option<usize>,
    keep_going: bool,
    threads: usize,
    bitstate: Option<usize>,
    symmetric: bool,
    recall: bool,
    compare_keep: Option<u64>,
    believe_keep: bool,
    save: Option<PathBuf>,
    resume: Option<PathBuf>,
    progress: Option<OnProgress<'a>>,
    stop_when: Option<StopWhen<'a>>,
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

/// How far a search has got.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// States found.
    pub states: usize,
    /// States found whose steps have not been tried yet.
    pub frontier: usize,
    /// Bytes in use.
    pub bytes: usize,
    /// How many states are still to be found, if that can be guessed: each state leads to fewer
    /// and fewer new ones.
    pub left: Option<usize>,
}

impl<'a> Explorer<'a> {
    /// A search with this many processes.
    pub fn new(processes: usize) -> Self {
        Self {
            processes,
            rules: Rules::default(),
            told: Vec::new(),
            properties: Vec::new(),
            initially: Vec::new(),
            max_states: None,
            max_memory: None,
            keep_going: false,
            threads: 1,
            bitstate: None,
            symmetric: false,
            recall: true,
            compare_keep: None,
            believe_keep: false,
            save: None,
            resume: None,
            progress: None,
            stop_when: None,
        }
    }

    /// Checks a property.
    pub fn property(mut self, property: Property) -> Self {
        self.properties.push(property);
        self
    }

    /// Checks several properties.
    pub fn properties(mut self, properties: impl IntoIterator<Item = Property>) -> Self {
        self.properties.extend(properties);
        self
    }

    /// Each process makes this many passages; `None` (the default) means no bound. *Complete* then
    /// means complete for that bound, and progress is judged for that bound only.
    pub fn passages(mut self, passages: impl Into<Option<u32>>) -> Self {
        self.rules.passages = passages.into();
        self.told.push(("passages", |a, b| a.passages == b.passages));
        self
    }

    /// Sets all rules at once.
    pub fn rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self.told.push(("rules", |a, b| Rules { order: b.order, ..*a } == *b));
        self
    }

    /// The rules, and what the properties need.
    pub(crate) fn rules_for(&self, more: &[Property]) -> Rules {
        self.rules.for_properties(&self.properties).for_properties(more)
    }

    /// What counts as a step.
    pub fn sections(mut self, sections: Sections) -> Self {
        self.rules.sections = sections;
        self.told.push(("sections", |a, b| a.sections == b.sections));
        self
    }

    /// How to treat the text's `keep`.
    pub fn keep(mut self, keep: Keep) -> Self {
        self.rules.keep = keep;
        self.told.push(("keep", |a, b| a.keep == b.keep));
        self
    }

    /// Up to this many processes crash, at any step outside their remainders, even in the middle of
    /// a write.
    pub fn crashes(mut self, crashes: usize) -> Self {
        self.rules.crashes = crashes;
        self.told.push(("crashes", |a, b| a.crashes == b.crashes));
        self
    }

    /// Keeps counters small that the text [declares](doorway_core::memory::Decl::counts) to matter
    /// only by their differences, so that passages need no bound.
    pub fn normalise(mut self, normalise: bool) -> Self {
        self.rules.normalise = normalise;
        self.told.push(("normalise", |a, b| a.normalise == b.normalise));
        self
    }

    /// Weakens each variable to this kind of register, but no further than it declares.
    pub fn registers(mut self, registers: Register) -> Self {
        self.rules.registers = registers;
        self.told.push(("registers", |a, b| a.registers == b.registers));
        self
    }

    /// Weakens variables further than they declare.
    pub fn force_registers(mut self, force: bool) -> Self {
        self.rules.force_registers = force;
        self.told.push(("force_registers", |a, b| a.force_registers == b.force_registers));
        self
    }

    /// Gives the variable with this full name another initial word: for values that a paper calls
    /// arbitrary.
    pub fn initially(mut self, path: &str, word: u64) -> Self {
        self.initially.push((path.to_owned(), word));
        self
    }

    /// Stops the search cleanly after this many states.
    pub fn max_states(mut self, states: impl Into<Option<usize>>) -> Self {
        self.max_states = states.into();
        self
    }

    /// Stops the search cleanly when it uses this many bytes.
    pub fn max_memory(mut self, bytes: impl Into<Option<usize>>) -> Self {
        self.max_memory = bytes.into();
        self
    }

    /// Continues after a failure until all properties are decided. By default, the search stops at
    /// the first failure.
    pub fn keep_going(mut self, keep_going: bool) -> Self {
        self.keep_going = keep_going;
        self
    }

    /// Searches with this many threads (by default, one). The report is the same with any number.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.clamp(1, MOST_THREADS);
        self
    }

    /// Keeps three bits of each state, in this many bytes, instead of the state (Holzmann's
    /// supertrace). Such a search can find failures in spaces too large for memory. It proves
    /// nothing: states with the same bits are taken for one, and what holds stays undecided.
    /// Properties of whole graphs stay undecided too.
    ///
    /// ```
    /// use doorway_check::explore::Stop;
    /// use doorway_check::{Explorer, Property};
    /// use doorway_core::mutex::yang_anderson_93::TwoProcess;
    ///
    /// let exclusion = Property::exclusion("mutual-exclusion", 1);
    /// let report = Explorer::new(2).property(exclusion).bitstate(1 << 20).run(TwoProcess::new)?;
    /// assert_eq!(report.stop, Some(Stop::Bits));
    /// assert_eq!(report.verdict("mutual-exclusion").holds, None);
    /// assert!(report.coverage.unwrap() > 0.999);
    /// # Ok::<(), doorway_check::sim::TextError>(())
    /// ```
    pub fn bitstate(mut self, bytes: impl Into<Option<usize>>) -> Self {
        self.bitstate = bytes.into();
        self
    }

    /// Takes states for one that differ only in the names of processes, for processes that are all
    /// alike. The checker finds out by itself which processes can change places, and which rows
    /// have an entry for each process. Words say which processes they
    /// [name](doorway_core::memory::Word::renamed). What was used of that is checked after the
    /// search.
    ///
    /// Decides properties of states and steps that do not tell processes apart. Progress and bounds
    /// on steps follow one process, and stay undecided.
    ///
    /// ```
    /// use doorway_check::{Explorer, Property};
    /// use doorway_core::k_exclusion::anderson_moir_94::Chain;
    ///
    /// let chain = || Explorer::new(3).property(Property::exclusion("exclusion", 1));
    /// let all = chain().run(|site| Chain::new(site, 3, 1))?;
    /// let few = chain().symmetric(true).run(|site| Chain::new(site, 3, 1))?;
    /// few.assert_holds();
    /// assert_eq!(few.with_all_names, Some(all.states as u64));
    /// assert!(5 * few.states < all.states);
    /// # Ok::<(), doorway_check::sim::TextError>(())
    /// ```
    ///
    /// A text that compares the names of processes is refused, and the error says where two part.
    pub fn symmetric(mut self, symmetric: bool) -> Self {
        self.symmetric = symmetric;
        self
    }

    /// Whether a step that was made before is looked up instead of made again (by default, yes).
    /// The report is the same; with this, people can see that for themselves.
    pub fn recall(mut self, recall: bool) -> Self {
        self.recall = recall;
        self
    }

    /// How many accesses may be made after the search, in runs of the texts, to compare the local
    /// states that they [declare alike](doorway_core::memory::Here::keep). By default, two million
    /// and 16 more for each state, but at most 16 million and one more for each state. This
    /// compares all of them, unless locals that no longer matter take very many values. If it is
    /// not all, verdicts hold [provided](Verdict::provided) that `keep` is right.
    ///
    /// ```
    /// use doorway_check::prelude::*;
    ///
    /// lock! {
    ///     /// A retry loop that keeps nothing.
    ///     struct Retries: TestAndSet { taken: bool = false }
    ///     acquire(self, p) {
    ///         loop {
    ///             p.keep(1, &());
    ///             if !p.at(1).test_and_set(&self.taken).await? {
    ///                 break;
    ///             }
    ///         }
    ///     }
    ///     release(self, p) {
    ///         p.at(2).write(&self.taken, false).await?;
    ///     }
    /// }
    ///
    /// let retries = Check::lock("retries", 2, Retries::new).property(Property::exclusion("one", 1));
    /// retries.run()?.assert_holds();
    /// let report = retries.with(|explorer| explorer.compare_keep(0)).run()?;
    /// assert!(!report.is_proven());
    /// assert!(report.to_string().contains("holds, provided `keep` is right"), "{report}");
    /// # Ok::<(), doorway_check::sim::TextError>(())
    /// ```
    pub fn compare_keep(mut self, accesses: impl Into<Option<u64>>) -> Self {
        self.compare_keep = accesses.into();
        self
    }

    /// For texts whose `keep` was compared elsewhere, for instance by searches that
    /// [ignore](Keep::Ignored) it: compares less, so it is sooner done. Verdicts still say on what
    /// they rest, but count as [proven](Report::is_proven).
    pub fn believe_keep(mut self, believe: bool) -> Self {
        self.believe_keep = believe;
        self
    }

    /// Writes what the search knows to this file if a limit or an interruption ends it, so that
    /// [`resume`](Self::resume) can go on from there. Searches that decide properties of whole
    /// graphs cannot be saved.
    pub fn save(mut self, file: impl Into<Option<PathBuf>>) -> Self {
        self.save = file.into();
        self
    }

    /// Goes on where the search ended that wrote this file. Its machine, rules and properties must
    /// be the same.
    ///
    /// A damaged file is an error. So is a file of another search. Every state of the file is
    /// reached again by its steps, and some of the explored ones are explored again; all of them,
    /// if the texts say what to `keep`.
    pub fn resume(mut self, file: impl Into<Option<PathBuf>>) -> Self {
        self.resume = file.into();
        self
    }

    /// Calls this now and then.
    pub fn on_progress(mut self, call: impl FnMut(&Progress) + 'a) -> Self {
        self.progress = Some(Box::new(call));
        self
    }

    /// Stops the search cleanly as soon as this returns true, or what was set before. It is called
    /// at every step, so it must be quick, and once before each property that is decided on the
    /// whole graph. While merged local states are compared, it ends that.
    ///
    /// ```
    /// use doorway_check::explore::Stop;
    /// use doorway_check::{Explorer, Property};
    /// use doorway_core::mutex::yang_anderson_93::TwoProcess;
    ///
    /// let exclusion = Property::exclusion("mutual-exclusion", 1);
    /// let report = Explorer::new(2).property(exclusion).stop_when(|| true).run(TwoProcess::new)?;
    /// assert_eq!(report.stop, Some(Stop::Interrupted));
    /// assert_eq!(report.verdict("mutual-exclusion").holds, None);
    /// # Ok::<(), doorway_check::sim::TextError>(())
    /// ```
    pub fn stop_when(mut self, is_so: impl Fn() -> bool + 'a) -> Self {
        self.stop_when = Some(match self.stop_when.take() {
            Some(before) => Box::new(move || before() || is_so()),
            None => Box::new(is_so),
        });
        self
    }

    fn is_interrupted(&self) -> bool {
        self.stop_when.as_ref().is_some_and(|is_so| is_so())
    }

    /// Explores a solution of k-exclusion.
    ///
    /// # Errors
    /// If its text breaks the rules of replay, or if there are more processes than the rules can
    /// track.
    pub fn run<A>(self, build: impl FnOnce(&Site<'_, Sim>) -> A) -> Result<Report, TextError>
    where
        A: KExclusion<Sim> + 'static,
    {
        let world = World::new(self.processes, self.rules.for_properties(&self.properties), build)?;
        self.explore(world)
    }

    /// Explores any machine, by the rules that it was built with.
    ///
    /// ```
    /// use doorway_check::sim::{Rules, TextError, World};
    /// use doorway_check::Explorer;
    /// use doorway_core::k_exclusion::anderson_moir_94::Chain;
    ///
    /// let chain = |rules| World::new(2, rules, |site| Chain::new(site, 2, 1)).unwrap();
    /// let report = Explorer::new(2).explore(chain(Rules { crashes: 1, ..Rules::default() }))?;
    /// assert_eq!(report.rules.crashes, 1);
    /// // A rule that is set here and differs from the machine's is an error.
    /// let ignored = Explorer::new(2).crashes(1).explore(chain(Rules::default()));
    /// assert_eq!(ignored.unwrap_err(), TextError::OtherRules("crashes"));
    /// # Ok::<(), TextError>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](Self::run), and if a rule set here differs from the machine's.
    ///
    /// # Panics
    /// If the machine has another number of processes; if [`initially`](Self::initially) named a
    /// variable that does not exist; if a property about the order of arrival is checked on a
    /// machine whose rules do not track it; if several properties are about objects; or if more
    /// than eight are [bounds on counted steps](Property::at_most).
    pub fn explore(self, mut world: World) -> Result<Report, TextError> {
        assert_eq!(self.processes, world.processes(), "the explorer and the machine differ in the number of processes");
        self.is_obeyed_by(&world)?;
        let names = self.properties.iter().map(Property::name).enumerate();
        if let Some((_, name)) = names.clone().find(|(i, name)| names.clone().take(*i).any(|(_, other)| other == *name))
        {
            return Err(TextError::SameName(name.into()));
        }
        world.watch_for(&self.properties);
        let mut initial = world.initial();
        for (path, word) in &self.initially {
            let Some(v) = world.layout().by_path(path) else {
                panic!("there is no variable {path}; the variables are {:?}", world.layout().names())
            };
            initial.vars[v as usize] = *word;
        }
        if world.rules().sparse {
            return Err(TextError::Sparse);
        }
        if world.processes() > 64 && self.properties.iter().any(|p| p.test.needs_graph()) {
            return Err(TextError::TooManyForProgress);
        }
        if !world.monitors().is_empty() && world.takes_some_states_for_one() {
            return Err(TextError::Watched);
        }
        assert!(world.monitors().len() <= 64, "at most 64 monitors watch a machine");
        let counted = self.properties.iter().filter(|p| matches!(p.test, Test::AtMost(..))).count();
        assert!(counted <= MOST_COUNTED, "at most {MOST_COUNTED} bounds on counted steps can be checked at a time");
        if let Some(property) = self.properties.iter().find(|p| p.needs_order()) {
            assert!(world.rules().order, "{} is about order: set `order` in the rules of the machine", property.name());
        }
        if self.symmetric {
            world.find_renamings(&initial)?;
        }
        let begun = Instant::now();
        world.puts_off_doubts(true);
        world.survey(&initial)?;
        search::Search::new(self, &mut world, initial)?.run(&mut world, begun)
    }

    /// Checks that a machine runs by every rule that was set here.
    fn is_obeyed_by(&self, world: &World) -> Result<(), TextError> {
        let ignored = self.told.iter().find(|(_, same)| !same(&self.rules, &world.rules()));
        ignored.map_or(Ok(()), |(rule, _)| Err(TextError::OtherRules(rule)))
    }
}
