//! The worst passage, exactly: remote references as longest paths.
//!
//! A passage of the measured process is a path through states in which it is outside its remainder,
//! and each step has its cost as weight. States contain no counter. If a cycle inside a passage
//! costs something, it can repeat for ever: then there is no worst passage, and the cycle shows
//! that the algorithm does not spin locally. Otherwise the strongly connected components of that
//! part of the graph cost nothing inside, and one pass over them finds the longest path.

use super::graph::{Edge, Graph};
use super::progress::Lasso;
use super::search::Search;
use super::store::{StateId, Store};
use super::{Explorer, Stop, again};
use crate::sim::{TextError, World};
use crate::trace::Trace;
use std::time::{Duration, Instant};

/// What a search for the worst passage of one process found.
#[derive(Clone, Debug)]
pub struct WorstPassage {
    /// The process that was measured.
    pub process: usize,
    /// Remote references of its worst passage.
    pub worst: Worst,
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
    /// Time spent visiting states.
    pub searching: Duration,
    /// Time spent finding the worst passage among them.
    pub measuring: Duration,
}

/// The cost of the worst passage.
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
    pub fn worst_passages(self, mut world: World, contentions: &[usize]) -> Result<Vec<WorstPassage>, TextError> {
        self.is_obeyed_by(&world)?;
        if world.rules().sparse {
            return Err(TextError::Sparse);
        }
        let initial = world.initial();
        let begun = Instant::now();
        let mut search = Search::with_graph(self, &mut world, initial)?;
        let (_, stop) = search.search(&mut world)?;
        search.refuse_panics(&world)?;
        search.cross_check_counters(&mut world)?;
        let searching = begun.elapsed();
        let among = |&contention| {
            let passage = worst_among(&mut world, &search, contention)?;
            Ok(WorstPassage { complete: stop.is_none(), stop, searching, ..passage })
        };
        contentions.iter().map(among).collect()
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
        trace: (!trace.is_empty()).then_some(trace),
        states: store.len(),
        edges: search.edges,
        complete: true,
        stop: None,
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
