//! The worst passage, exactly: remote references as longest paths.
//!
//! A passage of the measured process is a path through states in which it is outside its remainder,
//! and each step has its cost as weight. States contain no counter. If a cycle inside a passage
//! costs something, it can repeat for ever: then there is no worst passage, and the cycle shows
//! that the algorithm does not spin locally. Otherwise the strongly connected components of that
//! part of the graph cost nothing inside, and one pass over them finds the longest path.

use super::graph::{Edge, Graph};
use super::progress::Lasso;
use super::search::{Search, check_keep};
use super::store::{StateId, Store};
use super::{Explorer, Stop, again, count, provided, thousands};
use crate::sim::{CrossChecked, TextError, World};
use crate::trace::Trace;
use doorway_core::registry::CostModel;
use std::fmt;
use std::time::{Duration, Instant};

/// What a search for the worst passage of one process found.
#[derive(Clone, Debug)]
pub struct WorstPassage {
    /// The process that was measured.
    pub process: usize,
    /// Remote references of its worst passage.
    pub worst: Worst,
    /// How many passages each process made at most.
    pub passages: Option<u32>,
    /// A run that ends with the worst passage, or that repeats a cycle with a cost.
    pub trace: Option<Trace>,
    /// States found.
    pub states: usize,
    /// Steps tried.
    pub edges: u64,
    /// Whether these are all; otherwise the true worst case may be larger.
    pub complete: bool,
    /// Why these are not all.
    pub stop: Option<Stop>,
    /// If the text's `keep` was not wholly compared: how far. Then the true worst case may be
    /// larger.
    pub provided: Option<CrossChecked>,
    /// Time spent finding local states, and visiting states.
    pub searching: Duration,
    /// Time spent finding the worst passage among them.
    pub measuring: Duration,
}

/// A maximum: the cost of the worst passage, or the most steps of a kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Worst {
    /// At most this many.
    Bounded(u64),
    /// No bound: the process spins on remote memory.
    Unbounded,
}

impl Worst {
    /// The number, if there is one.
    #[must_use]
    pub fn bounded(self) -> Option<u64> {
        match self {
            Self::Bounded(n) => Some(n),
            Self::Unbounded => None,
        }
    }
}

/// Remote references of the worst passage of any process.
#[derive(Clone, Debug)]
pub struct Rmr {
    /// What counts as a remote reference.
    pub model: CostModel,
    /// How many processes competed at most during a measured passage.
    pub contention: usize,
    /// The worst passage of each process, in turn; fewer if the search was interrupted.
    pub passages: Vec<WorstPassage>,
    /// How many processes there are.
    pub processes: usize,
}

/// The worst passages of all processes, exactly: measures one process after the other. `search`
/// makes the search and the machine, with rules that [measure](crate::sim::Rules::measure) what it
/// is given.
///
/// ```
/// use doorway_check::Explorer;
/// use doorway_check::explore::{Worst, rmr};
/// use doorway_check::sim::{Rules, World};
/// use doorway_core::mutex::yang_anderson_93::TwoProcess;
/// use doorway_core::registry::CostModel;
///
/// let found = rmr(CostModel::Dsm, 2, 2, |measure| {
///     let rules = Rules { measure: Some(measure), ..Rules::default() };
///     Ok((Explorer::new(2), World::new(2, rules, TwoProcess::new)?))
/// })?;
/// assert_eq!(found.worst(), Worst::Bounded(10));
/// assert!(found.is_complete());
/// # Ok::<(), doorway_check::sim::TextError>(())
/// ```
///
/// # Errors
/// As [`Explorer::run`].
pub fn rmr<'a>(
    model: CostModel,
    contention: usize,
    processes: usize,
    mut search: impl FnMut((usize, CostModel)) -> Result<(Explorer<'a>, World), TextError>,
) -> Result<Rmr, TextError> {
    let mut found = Rmr { model, contention, passages: Vec::new(), processes };
    for p in 0..processes {
        let (explorer, world) = search((p, model))?;
        found.passages.push(explorer.worst_passage(world, contention)?);
        if found.stop() == Some(Stop::Interrupted) {
            break;
        }
    }
    Ok(found)
}

impl Rmr {
    /// The worst of all.
    #[must_use]
    pub fn worst(&self) -> Worst {
        self.passages.iter().map(|passage| passage.worst).max().unwrap_or(Worst::Bounded(0))
    }

    /// The passage that is the worst of all; the first of several.
    #[must_use]
    pub fn worst_passage(&self) -> Option<&WorstPassage> {
        self.passages.iter().find(|passage| passage.worst == self.worst())
    }

    /// Whether these are the worst passages: no limit ended a search. Otherwise the true worst case
    /// may be larger.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.passages.len() == self.processes && self.passages.iter().all(|passage| passage.complete)
    }

    /// If the text's `keep` was not wholly compared: how far, in the first search of which that is
    /// so.
    #[must_use]
    pub fn provided(&self) -> Option<CrossChecked> {
        self.passages.iter().find_map(|passage| passage.provided)
    }

    /// Why not.
    #[must_use]
    pub fn stop(&self) -> Option<Stop> {
        self.passages.iter().find_map(|passage| passage.stop)
    }

    /// What was searched: `passages` of each process, and `why` is said of a search that stopped.
    #[must_use]
    pub fn covered(&self, passages: Option<u32>, why: &dyn Fn(Stop) -> String) -> String {
        let sum = |of: fn(&WorstPassage) -> Duration| self.passages.iter().map(of).sum::<Duration>().as_secs_f64();
        let extent = match (self.stop(), passages) {
            (None, None) => "complete".to_owned(),
            (None, Some(p)) => format!("complete for {} of each process", count(u64::from(p), "passage")),
            (Some(stop), _) => format!("NOT complete, {}: the true worst case may be larger", why(stop)),
        };
        format!(
            "exhaustive, each process in turn: {}, {}, {extent} ({:.2} s of search, {:.2} s of measuring)",
            count(self.passages.iter().map(|passage| passage.states as u64).sum(), "state"),
            count(self.passages.iter().map(|passage| passage.edges).sum(), "edge"),
            sum(|passage| passage.searching),
            sum(|passage| passage.measuring)
        ) + &self.provided().map_or(String::new(), |checked| format!("; {}", provided(checked)))
    }
}

impl Worst {
    /// As a number of remote references.
    #[must_use]
    pub fn in_words(self) -> String {
        match self {
            Self::Bounded(n) => thousands(n),
            Self::Unbounded => "without bound: it does not spin locally".to_owned(),
        }
    }
}

impl fmt::Display for Worst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bounded(n) => f.write_str(&thousands(*n)),
            Self::Unbounded => f.write_str("without bound"),
        }
    }
}

impl fmt::Display for Rmr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "at most {} compete, model {}\n", self.contention, self.model.name())?;
        for passage in &self.passages {
            writeln!(f, "  {:5}  {}", format!("p{}", passage.process), passage.worst.in_words())?;
        }
        writeln!(f, "  worst  {}", self.worst().in_words())?;
        if let Some(trace) = self.worst_passage().and_then(|passage| passage.trace.as_ref()) {
            writeln!(f, "\n{trace}")?;
        }
        write!(
            f,
            "\n{}",
            self.covered(self.passages.first().and_then(|first| first.passages), &|stop| stop.to_string())
        )
    }
}

impl Explorer<'_> {
    /// The worst passage of the process that the machine's rules
    /// [measure](crate::sim::Rules::measure), among passages during which at most `contention`
    /// processes are outside their remainders.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    ///
    /// # Panics
    /// If the rules measure no process.
    pub fn worst_passage(self, world: World, contention: usize) -> Result<WorstPassage, TextError> {
        let mut passages = self.worst_passages(world, &[contention])?;
        Ok(passages.remove(0))
    }

    /// [`worst_passage`](Self::worst_passage) for several numbers of competitors, by one search.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    ///
    /// # Panics
    /// If the rules measure no process.
    pub fn worst_passages(mut self, mut world: World, contentions: &[usize]) -> Result<Vec<WorstPassage>, TextError> {
        self.is_obeyed_by(&world)?;
        // Nothing is asked but the cost; a step that a property counts would weigh like a
        // reference.
        self.properties.clear();
        if world.rules().sparse {
            return Err(TextError::Sparse);
        }
        let initial = world.initial();
        let begun = Instant::now();
        world.survey(&initial)?;
        let mut search = Search::with_graph(self, &mut world, initial)?;
        let (_, stop) = search.search(&mut world)?;
        search.refuse_panics(&world)?;
        world.check_contents()?;
        search.cross_check_counters(&mut world)?;
        let searching = begun.elapsed();
        let among = |&contention| {
            let passage = worst_among(&mut world, &search, contention)?;
            Ok(WorstPassage { complete: stop.is_none(), stop, searching, ..passage })
        };
        let mut passages: Vec<WorstPassage> = contentions.iter().map(among).collect::<Result<_, _>>()?;
        let most = search.explorer.to_compare(search.store.len());
        let provided = check_keep(&world, most, &|| search.is_interrupted())?;
        passages.iter_mut().for_each(|passage| passage.provided = provided);
        Ok(passages)
    }
}

/// The worst passage in a searched graph.
fn worst_among(world: &mut World, search: &Search<'_>, contention: usize) -> Result<WorstPassage, TextError> {
    let begun = Instant::now();
    let (process, _) = world.rules().measure.expect("the rules say whose references to count");
    let (store, graph) = (&search.store, search.graph.as_ref().expect("it was asked for"));
    let meter = Meter { graph, process, processes: world.processes(), contention };
    let (worst, actions, repeats) = match meter.longest() {
        Err(witness) => {
            let lasso = meter.witness(store, witness);
            let actions = lasso.actions(world, store)?;
            (Worst::Unbounded, actions, Some(lasso))
        }
        Ok(best) => {
            let (cost, way) = meter.worst_way(&best);
            let lasso = Lasso::straight(store, way);
            (Worst::Bounded(cost), lasso.actions(world, store)?, None)
        }
    };
    let from = repeats.as_ref().map(Lasso::prefix_len);
    let mut trace = again(world, &search.initial, &actions, from, None)?;
    if let Some(lasso) = repeats {
        trace.repeats(lasso.prefix_len(), vec![format!("each round costs p{process} a remote reference")]);
    }
    Ok(WorstPassage {
        process,
        worst,
        passages: world.rules().passages,
        trace: (!trace.is_empty()).then_some(trace),
        states: store.len(),
        edges: search.edges,
        complete: true,
        stop: None,
        provided: None,
        searching: Duration::ZERO,
        measuring: begun.elapsed(),
    })
}

struct Meter<'a> {
    graph: &'a Graph,
    process: usize,
    processes: usize,
    contention: usize,
}

impl Meter<'_> {
    fn all(&self) -> impl Iterator<Item = StateId> + use<> {
        0..self.graph.states() as StateId
    }

    /// Whether the process is in a passage, with few enough competitors.
    fn within(&self, s: StateId) -> bool {
        let Some(idle) = self.graph.idle(s) else { return false };
        idle >> self.process & 1 == 0 && self.processes - idle.count_ones() as usize <= self.contention
    }

    /// Whether the process is in its remainder.
    fn is_outside(&self, s: StateId) -> bool {
        self.graph.idle(s).is_some_and(|idle| idle >> self.process & 1 == 1)
    }

    /// For each state in a passage: the most that the rest of the passage can cost, if it can end
    /// at all. Or a step with a cost that can repeat.
    fn longest(&self) -> Result<Vec<Option<u32>>, (StateId, Edge, Vec<StateId>)> {
        let mut best: Vec<Option<u32>> = vec![None; self.graph.states()];
        let witness = self.graph.components(
            self.all(),
            |s| self.within(s),
            |_| true,
            |members, known| {
                let mut most: Option<u32> = None;
                for &s in members {
                    for edge in self.graph.edges(s) {
                        if self.within(edge.to) && known.is_current(edge.to) {
                            if edge.cost() > 0 {
                                return Some((s, edge, members.to_vec()));
                            }
                        } else if self.within(edge.to) {
                            most = most.max(best[edge.to as usize].map(|rest| edge.cost() as u32 + rest));
                        } else if self.is_outside(edge.to) {
                            most = most.max(Some(edge.cost() as u32));
                        }
                    }
                }
                members.iter().for_each(|&s| best[s as usize] = most);
                None
            },
        );
        witness.map_or(Ok(best), Err)
    }

    /// The way into a component, and round a cycle with a cost.
    fn witness(&self, store: &Store, (s, edge, members): (StateId, Edge, Vec<StateId>)) -> Lasso {
        let mut sorted = members;
        sorted.sort_unstable();
        let within = |t: StateId| sorted.binary_search(&t).is_ok();
        let mut cycle = vec![(s, edge)];
        if edge.to != s {
            let back = self.graph.shortest(std::iter::once(edge.to), within, |_| true, |e| e.to == s);
            cycle.extend(back.expect("within a component everything can be reached"));
        }
        Lasso::cycle(store, cycle)
    }

    /// The first step of a worst passage, and all that follow.
    fn worst_way(&self, best: &[Option<u32>]) -> (u64, Vec<(StateId, Edge)>) {
        let mut worst: Option<(u64, StateId, Edge)> = None;
        for s in self.all().filter(|&s| self.is_outside(s)) {
            for edge in self.graph.edges(s).filter(|e| e.process() == self.process) {
                let rest = match edge.to {
                    to if self.within(to) => best[to as usize],
                    to => (self.is_outside(to) && edge.cost() > 0).then_some(0), // one step
                };
                let Some(rest) = rest else { continue };
                let cost = edge.cost() + u64::from(rest);
                if worst.is_none_or(|(most, ..)| cost > most) {
                    worst = Some((cost, s, edge));
                }
            }
        }
        let Some((cost, s, edge)) = worst else { return (0, Vec::new()) };
        let mut way = vec![(s, edge)];
        loop {
            let (_, last) = way[way.len() - 1];
            if self.is_outside(last.to) {
                return (cost, way);
            }
            // Take any step that loses nothing, until something is paid or the passage is over.
            let left = best[last.to as usize];
            // If a limit cut off a state, the cost of the rest is unknown.
            let known = |to: StateId| best.get(to as usize).copied().flatten();
            let rest = |e: Edge| if self.is_outside(e.to) { Some(0) } else { known(e.to) };
            let on = self
                .graph
                .shortest(
                    std::iter::once(last.to),
                    |t| self.within(t) || self.is_outside(t),
                    |e| rest(e).map(|rest| e.cost() as u32 + rest) == left,
                    |e| e.cost() > 0 || self.is_outside(e.to),
                )
                .expect("the rest of the passage costs what was found");
            way.extend(on);
        }
    }
}
