//! The experiment of Yang and Anderson's section 5, on this machine: `doorway-lab bench mutex`.
//!
//! Every algorithm of the catalogue for mutual exclusion, and the mutexes of others, in turns: one
//! thread alone, and more and more threads, with a small and a larger critical section. The
//! experiment on the paper's own machines is repeated in [`figures`](crate::figures::mutex).

mod peers;

pub use peers::pass_alone;

use super::alone::{Alone, CONTROL};
use super::crowded::{self, Cell, Plan, ThreadStanding};
use super::stage::Turns;
use super::text::{alone, crowded, head};
use super::{Effort, Goal, Machine, Watch};
use crate::figures::mutex::Figure;
use crate::measure;
use doorway_core::registry::{self, Bound, CostModel};
use serde::Serialize;
use std::fmt;
use std::time::Duration;

const STD: &str = "std";
const PARKING_LOT: &str = "parking_lot";
/// One place, without a number: the [turnstile](doorway_core::k_exclusion::turnstile) as
/// applications use it.
const SLOTS: [&str; 2] = ["doorway Slots", "doorway Slots unfair"];
const SPINNING: [&str; 2] = ["spin", "mcslock"];

/// How long a thread works inside, and then outside: next to nothing, and a larger section.
const SECTIONS: [Duration; 2] = [Duration::from_nanos(1), Duration::from_micros(1)];
const THREADS: [usize; 4] = [1, 2, 4, 8];

/// Everything that was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The machine.
    pub machine: Machine,
    /// The effort.
    pub effort: Effort,
    /// One thread alone.
    pub alone: Option<Alone>,
    /// More and more threads.
    pub threads: Vec<Cell>,
    /// Goals for the best algorithm that spins locally.
    pub goals: Vec<Goal>,
    /// The same on the paper's machines, in simulated time.
    pub simulated: Vec<Figure>,
}

/// Measures everything, and reports its progress.
#[must_use]
pub fn compare(effort: &Effort, progress: &mut dyn FnMut(&str)) -> Report {
    let watch = Watch::begin();
    let calibrate = || {
        measure::pin(0);
        SECTIONS.map(Turns::lasting)
    };
    let works = std::thread::spawn(calibrate).join().expect("work ends");
    let alone = peers::alone(effort);
    progress("one thread alone");
    let mut threads = Vec::new();
    for (section, turns) in SECTIONS.into_iter().zip(works) {
        for of in THREADS {
            let plan = Plan { k: 1, threads: of, section, turns, processors: watch.machine.processors };
            let cell = crowded::cell(&plan, effort, &peers::ways(of), STD);
            progress(&cell.name());
            threads.push(cell);
        }
    }
    let goals = goals(&alone, &threads);
    Report {
        machine: watch.end(),
        effort: *effort,
        alone: Some(alone),
        threads,
        goals,
        simulated: simulate(effort, progress),
    }
}

/// Only on the paper's machines: nothing is measured.
#[must_use]
pub fn simulate(effort: &Effort, progress: &mut dyn FnMut(&str)) -> Vec<Figure> {
    let sections = if effort.tiny { u64::from(effort.rounds) } else { 2_000 * effort.repetitions as u64 };
    crate::figures::mutex::all(sections, progress)
}

impl Report {
    /// Counts instructions for every peer alone. `count` runs [`pass_alone`] in a program of its
    /// own, and returns how many instructions this program executed.
    pub fn count_instructions(&mut self, count: impl Fn(&str, u32) -> Option<u64>) {
        self.alone.iter_mut().for_each(|contest| contest.count_instructions(&count));
    }
}

/// Whether every process makes a bounded number of remote references, in this model.
fn spins_locally(peer: &str, model: CostModel) -> bool {
    let bound = |info: &registry::Info| info.rmr.iter().find(|(of, _)| *of == model).map(|(_, bound)| *bound);
    let algorithm = if SLOTS.contains(&peer) { "turnstile" } else { peer };
    registry::find(algorithm).and_then(bound).is_some_and(|bound| !matches!(bound, Bound::Unbounded))
}

fn goals(alone: &Alone, cells: &[Cell]) -> Vec<Goal> {
    let mut goals = Vec::new();
    for (model, where_it_spins) in [(CostModel::Dsm, "on a word of its own"), (CostModel::Cc, "in its cache")] {
        let is_local = |peer: &str| spins_locally(peer, model);
        let quickest =
            alone.peers.iter().filter(|peer| is_local(peer.peer)).min_by(|a, b| a.cpu_ns.total_cmp(&b.cpu_ns));
        if let Some((best, std)) = quickest.zip(alone.cpu_ns(STD)) {
            let what = format!("alone, CPU time, the best that spins {where_it_spins} ({}) against std", best.peer);
            let measured = best.cpu_ns / std;
            goals.push(Goal { what, measured, goal: "at most 1.5".to_owned(), met: measured <= 1.5 });
        }
        for cell in cells.iter().filter(|cell| cell.threads == 2) {
            let Some(best) = best_of(cell, &|peer| is_local(peer.peer)) else { continue };
            for other in SPINNING.iter().filter_map(|name| cell.peer(name)) {
                let what = format!(
                    "2 threads, {} ns, throughput, the best that spins {where_it_spins} ({}) against {}",
                    cell.section_ns, best.peer, other.peer
                );
                let measured = best.ops / other.ops;
                goals.push(Goal { what, measured, goal: "more than 1".to_owned(), met: measured > 1.0 });
            }
        }
        for cell in cells.iter().filter(|cell| cell.threads == 8) {
            let fair_enough = |peer: &ThreadStanding| is_local(peer.peer) && peer.share >= 0.3;
            let Some((best, other)) = best_of(cell, &fair_enough).zip(cell.peer(PARKING_LOT)) else { continue };
            let what = format!(
                "8 threads, {} ns, throughput, the best that spins {where_it_spins} with least/most at least 0.3 ({}, {:.2}) against parking_lot",
                cell.section_ns, best.peer, best.share
            );
            let measured = best.ops / other.ops;
            goals.push(Goal { what, measured, goal: "at least 0.5".to_owned(), met: measured >= 0.5 });
        }
    }
    goals
}

fn best_of<'a>(cell: &'a Cell, of: &dyn Fn(&ThreadStanding) -> bool) -> Option<&'a ThreadStanding> {
    cell.peers.iter().filter(|peer| of(peer)).max_by(|a, b| a.ops.total_cmp(&b.ops))
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        head(f, &self.machine, self.effort.repetitions)?;
        alone(f, self.alone.as_slice())?;
        writeln!(f, "\nMORE AND MORE THREADS, PINNED TO ALL PROCESSORS IN TURN; AS MUCH WORK OUTSIDE AS INSIDE\n")?;
        crowded(f, &self.threads)?;
        writeln!(f)?;
        self.goals.iter().try_for_each(|goal| writeln!(f, "{goal}"))?;
        writeln!(f, "\nON THE PAPER'S MACHINES, IN SIMULATED TIME")?;
        self.simulated.iter().try_for_each(|figure| write!(f, "\n{figure}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use doorway_core::registry::Problem;

    #[test]
    fn a_tiny_run_measures_every_mutex_of_the_catalogue_and_of_others() {
        let report = compare(&Effort::tiny(4), &mut |_| ());
        assert_eq!((report.threads.len(), report.simulated.len()), (8, 4));
        let names: Vec<_> = report.threads[2].peers.iter().map(|peer| peer.peer).collect();
        for other in [STD, PARKING_LOT].iter().chain(&SPINNING) {
            assert!(names.contains(other), "{names:?}");
        }
        for cell in &report.threads {
            for info in registry::ALL.iter().filter(|info| info.problem == Problem::MutualExclusion) {
                let fits = info.sizes(Some(cell.threads), Some(1)).is_ok();
                assert_eq!(cell.peer(info.id).is_some(), fits, "{} with {} threads", info.id, cell.threads);
            }
            assert!(cell.peers.iter().all(|peer| peer.ops > 0.0), "{}", cell.name());
        }
        let text = report.to_string();
        for word in ["alone, CPU time", "8 threads", "lamport-fast", "Figure 3", "control"] {
            assert!(text.contains(word), "{text}");
        }
    }

    #[test]
    fn the_catalogue_says_which_mutexes_spin_locally() {
        let both = |peer| [CostModel::Dsm, CostModel::Cc].map(|model| spins_locally(peer, model));
        assert_eq!(both("mcs"), [true, true]);
        assert_eq!(both("anderson-array"), [false, true]);
        assert_eq!(both("tas"), [false, false]);
        assert_eq!(both(SLOTS[0]), [false, true]);
        assert_eq!(both("parking_lot"), [false, false]);
    }
}
