//! The experiment of Blelloch, Cheng and Gibbons' section 4 in simulated time: their Figure 5.
//!
//! Each processor repeats a cycle: it takes 500 nodes from a shared stack, makes two smaller nodes
//! of each, waits, and puts the new nodes back. With rooms, all processors that take are inside
//! together, and so are all that put back. With a lock, one processor at a time is inside. The
//! curves show the time of a cycle, added up over all processors, for each number of processors. A
//! flat curve is a perfect speed-up.
//!
//! # Input
//! From the paper:
//! - the nodes themselves, so that some batches put back 1000 nodes and others none;
//! - waits of any length up to twice their mean;
//! - fetch-and-add as a compare-and-swap loop, once to enter, once to exit and twice inside;
//! - five runs.
//!
//! Ours are the time of a reference, the time to move a node, and the assumption that working on a
//! node takes as long as moving it. The *transfer time* is the time of a cycle of one processor
//! without waits and without synchronization, as in the [experiment on
//! threads](crate::bench::rooms).

use crate::bench::rooms::{BATCH, GENERATIONS, ROOTS, WAITS};
use doorway_check::sim::{Rules, TextError, World};
use doorway_check::subject;
use doorway_check::timed::{Extra, Interconnect, Machine, Nanos, Run, Work};
use doorway_core::rooms::Visits;
use doorway_core::rooms::blelloch_cheng_gibbons_01::Rooms;
use serde::Serialize;
use std::fmt;

/// Numbers of processors.
pub const PROCESSORS: [usize; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 30];
/// The time to move one node, or to work on it.
const NODE: Nanos = 50;
/// Take, work, put back: a cycle without waits and without synchronization.
const TRANSFER: Nanos = 3 * NODE * BATCH as Nanos;
/// How often a visit updates the number of nodes.
const COUNTS: u32 = 2;
/// Runs to average over, each with its own waits.
const RUNS: u64 = 5;

/// A machine with coherent caches that carries many references at a time, like the paper's Sun
/// Enterprise 10000. The figures are ours.
pub const CROSSBAR: Machine =
    Machine { name: "crossbar", interconnect: Interconnect::Bus, processors: 64, near: 5, far: 500, occupied: 20 };

/// The curves for one length of the wait.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// The average wait between taking and putting back, in transfer times.
    pub wait: f64,
    /// The time of a cycle that shares nothing, in microseconds: the perfect speed-up.
    pub perfect: f64,
    /// Rooms first, then locks.
    pub curves: Vec<Curve>,
}

/// One way to share.
#[derive(Clone, Debug, Serialize)]
pub struct Curve {
    /// The name.
    pub by: &'static str,
    /// The time of a cycle in microseconds, added up over all processors, for each number of
    /// processors.
    pub total_work: Vec<f64>,
}

impl Figure {
    fn draw(wait: f64, cycles: u64) -> Result<Self, TextError> {
        let waits = (wait * TRANSFER as f64) as Nanos;
        let work = Work { references: COUNTS, stays: 0, away: [waits, 0] };
        let point = |by, processors: usize| {
            let one = |seed| {
                let run = Run { work, seed, ..Run::of_passages(2 * cycles / RUNS) };
                let mut stack = Stack::under_way(processors);
                let outcome = run.on_with(world(by, processors)?, CROSSBAR, &mut |p, visits| stack.visit(p, visits))?;
                Ok(2.0 * outcome.per_passage * processors as f64)
            };
            let runs: Vec<f64> = (1..=RUNS).map(one).collect::<Result<_, _>>()?;
            Ok(runs.iter().sum::<f64>() / RUNS as f64)
        };
        let curves = ["rooms", "mcs", "ticket", "tas-backoff"].map(|by| {
            Ok(Curve { by, total_work: PROCESSORS.into_iter().map(|p| point(by, p)).collect::<Result<_, _>>()? })
        });
        let curves = curves.into_iter().collect::<Result<_, _>>()?;
        Ok(Self { wait, perfect: (TRANSFER + waits) as f64 / 1000.0, curves })
    }

    /// The time of a cycle in microseconds, added up over all processors.
    #[must_use]
    pub fn total_work(&self, by: &str, processors: usize) -> Option<f64> {
        let at = PROCESSORS.iter().position(|&p| p == processors)?;
        self.curves.iter().find(|curve| curve.by == by).map(|curve| curve.total_work[at])
    }

    /// The smallest time with a lock.
    #[must_use]
    pub fn best_lock(&self, processors: usize) -> Option<f64> {
        let locks = self.curves.iter().filter(|curve| curve.by != "rooms");
        locks.filter_map(|lock| self.total_work(lock.by, processors)).min_by(f64::total_cmp)
    }

    /// The smallest number of processors from which on rooms are ahead of every lock; `None` if
    /// they never are.
    #[must_use]
    pub fn crossing(&self) -> Option<usize> {
        let ahead = |p: &usize| self.total_work("rooms", *p) < self.best_lock(*p);
        PROCESSORS.into_iter().rev().take_while(ahead).last()
    }

    /// What rooms cost beyond the perfect speed-up, in transfer times.
    #[must_use]
    pub fn overhead(&self, processors: usize) -> Option<f64> {
        Some((self.total_work("rooms", processors)? - self.perfect) / (TRANSFER as f64 / 1000.0))
    }
}

/// Nodes with this many generations to come.
#[derive(Clone, Copy)]
struct Alike {
    nodes: u64,
    generations: u64,
}

/// The shared stack, and what each processor has taken from it.
struct Stack {
    shared: Vec<Alike>,
    taken: Vec<Vec<Alike>>,
}

impl Stack {
    /// The stack a while after the start, when there are nodes of all generations.
    fn under_way(processors: usize) -> Self {
        let roots = Alike { nodes: ROOTS as u64, generations: u64::from(GENERATIONS) };
        let mut stack = Self { shared: vec![roots], taken: vec![Vec::new(); processors] };
        for visits in 0..20 * u64::from(GENERATIONS) {
            for p in 0..processors {
                stack.visit(p, visits);
            }
        }
        stack
    }

    /// A processor alternates: it takes a batch, to work on it afterwards, and puts back the
    /// result.
    fn visit(&mut self, p: usize, visits: u64) -> Extra {
        if visits.is_multiple_of(2) {
            let taken = self.take(p);
            Extra { stays: taken * NODE, away: taken * NODE }
        } else {
            Extra { stays: self.put_back(p) * NODE, away: 0 }
        }
    }

    /// Returns the number of nodes taken.
    fn take(&mut self, p: usize) -> u64 {
        let mut left = BATCH as u64;
        while left > 0 {
            let Some(top) = self.shared.pop() else { break };
            let taken = Alike { nodes: top.nodes.min(left), ..top };
            if taken.nodes < top.nodes {
                self.shared.push(Alike { nodes: top.nodes - taken.nodes, ..top });
            }
            self.taken[p].push(taken);
            left -= taken.nodes;
        }
        BATCH as u64 - left
    }

    /// Puts back two nodes for each that has generations to come. Returns the number of nodes.
    fn put_back(&mut self, p: usize) -> u64 {
        let mut moved = 0;
        for taken in self.taken[p].drain(..).rev().filter(|taken| taken.generations > 0) {
            self.shared.push(Alike { nodes: 2 * taken.nodes, generations: taken.generations - 1 });
            moved += 2 * taken.nodes;
        }
        moved
    }
}

fn world(by: &str, processors: usize) -> Result<World, TextError> {
    let rules = Rules { sparse: true, fetch_add: false, ..Rules::default() };
    if by == "rooms" {
        return World::new(processors, rules, |site| Visits::new(site, |site| Rooms::new(site, 2)));
    }
    let lock = subject::find(by).expect("the catalogue has it");
    let sizes = lock.sizes(Some(processors), Some(1)).expect("it is made for any number");
    lock.world(sizes, rules)
}

/// For each length of the wait, averages over this many cycles.
///
/// # Errors
/// Returns an error if an algorithm cannot be run.
pub fn all(cycles: u64, progress: &mut dyn FnMut(&str)) -> Result<Vec<Figure>, TextError> {
    let draw = |wait| {
        let figure = Figure::draw(wait, cycles);
        progress(&format!("simulated, waits of {:.0} %", 100.0 * wait));
        figure
    };
    WAITS.into_iter().map(draw).collect()
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "waits of {:.0} % of the transfer time: microseconds of all processors for a cycle, by their number; perfect: {:.0}\n",
            100.0 * self.wait,
            self.perfect
        )?;
        write!(f, "{:<14}", "")?;
        PROCESSORS.iter().try_for_each(|p| write!(f, "{p:>7}"))?;
        writeln!(f)?;
        for curve in &self.curves {
            write!(f, "{:<14}", curve.by)?;
            curve.total_work.iter().try_for_each(|work| write!(f, "{work:>7.0}"))?;
            writeln!(f)?;
        }
        write!(f, "{:<14}", "overhead")?;
        PROCESSORS.iter().filter_map(|&p| self.overhead(p)).try_for_each(|overhead| write!(f, "{overhead:>7.2}"))?;
        writeln!(f, "   of rooms, in transfer times")?;
        match self.crossing() {
            Some(p) => writeln!(f, "rooms are ahead of every lock from {p} processors on"),
            None => writeln!(f, "rooms are not ahead of every lock"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the paper says of its Figure 5.
    #[test]
    #[ignore = "takes a minute unless optimised; ci/long-searches.sh runs it"]
    fn locks_are_ahead_with_few_processors_rooms_are_flat_and_the_crossing_moves_right() {
        let figures = all(1000, &mut |_| ()).unwrap();
        for figure in &figures {
            let rooms = |p| figure.total_work("rooms", p).unwrap();
            let lock = |p| figure.best_lock(p).unwrap();
            assert!(lock(2) < rooms(2), "{figure}");
            assert!(rooms(30) < 1.1 * rooms(8), "{figure}");
            assert!(lock(30) > 1.4 * lock(20), "{figure}");
            // About one transfer time, for any number of processors and any wait.
            assert!(PROCESSORS.iter().all(|&p| figure.overhead(p).unwrap() < 1.25), "{figure}");
            assert!(PROCESSORS[9..].iter().all(|&p| figure.overhead(p).unwrap() > 0.75), "{figure}");
        }
        let crossings: Vec<usize> = figures.iter().filter_map(Figure::crossing).collect();
        assert!(crossings.len() == 3 && crossings.is_sorted_by(|a, b| a < b), "{crossings:?}");
    }

    /// Last in, first out, a batch is mostly of one generation: so it mostly comes back doubled, or
    /// not at all.
    #[test]
    fn as_many_nodes_are_put_back_as_were_taken_but_no_two_batches_alike() {
        for processors in [1, 4, 30] {
            let mut stack = Stack::under_way(processors);
            let mut put_back = Vec::new();
            for p in (0..processors).cycle().take(3000) {
                assert_eq!(stack.take(p), BATCH as u64);
                put_back.push(stack.put_back(p));
            }
            let mean = put_back.iter().sum::<u64>() / put_back.len() as u64;
            assert!((480..520).contains(&mean), "{mean}");
            assert!(put_back.contains(&0) && put_back.contains(&1000));
        }
    }
}
