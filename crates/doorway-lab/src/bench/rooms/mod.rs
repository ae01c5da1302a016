//! Rooms, and queues and stacks in rooms, beside locks and crossbeam's structures: `doorway-lab
//! bench rooms`.
//!
//! First the experiment of Blelloch, Cheng and Gibbons, section 4: threads take nodes in batches,
//! make two smaller ones of each, and give them back. Then values one by one, and an uncontended
//! room.

mod collector;
mod singles;
mod stores;

pub use collector::{Cell, Experiment, Size};
pub use singles::pass_alone;

use super::alone::Alone;
use super::contest::Contest;
use super::text::{alone, contests, head};
use super::{Effort, Goal, Machine, Watch};
use crate::figures::rooms::Figure;
pub(crate) use collector::{BATCH, GENERATIONS, ROOTS, WAITS};
use collector::{ROOMS, THREADS};
use serde::Serialize;
use singles::{ARRAY_QUEUE, PARKING_LOT, QUEUE, ROOM};
use std::fmt;

/// Everything that was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The machine.
    pub machine: Machine,
    /// The effort.
    pub effort: Effort,
    /// The experiment of the paper.
    pub experiment: Experiment,
    /// Values one by one: a push and a pop.
    pub singles: Vec<Contest>,
    /// In and out, without contention.
    pub alone: Alone,
    /// Goals for rooms.
    pub goals: Vec<Goal>,
    /// The experiment on a machine with many processors, in simulated time.
    pub simulated: Vec<Figure>,
}

/// Measures everything, and reports its progress. `scale` is the share of the paper's experiment.
#[must_use]
pub fn compare(effort: &Effort, scale: Option<f64>, progress: &mut dyn FnMut(&str)) -> Report {
    let watch = Watch::begin();
    let usual = match effort {
        effort if effort.tiny => 1.0 / 16_000.0,
        effort if effort.is_full() => 0.25,
        _ => 1.0 / 32.0,
    };
    let size = Size::scaled(scale.unwrap_or(usual));
    let alone = singles::alone(effort);
    progress("one thread alone");
    let singles: Vec<_> = THREADS.map(|threads| singles::contest(threads, effort, watch.machine.processors)).into();
    progress("values one by one");
    let experiment = collector::experiment(effort, size, watch.machine.processors, progress);
    let goals = goals(&experiment, &singles, &alone);
    let machine = watch.end();
    Report { machine, effort: *effort, experiment, singles, alone, goals, simulated: simulate(effort, progress) }
}

/// Only in simulated time: nothing is measured.
#[must_use]
pub fn simulate(effort: &Effort, progress: &mut dyn FnMut(&str)) -> Vec<Figure> {
    let cycles = if effort.tiny { u64::from(effort.rounds) } else { 200 * effort.repetitions as u64 };
    crate::figures::rooms::all(cycles, progress).expect("the texts run on every machine of the checker")
}

impl Report {
    /// Counts instructions for every peer alone. `count` runs [`pass_alone`] in a program of its
    /// own, and returns how many instructions this program executed.
    pub fn count_instructions(&mut self, count: impl Fn(&str, u32) -> Option<u64>) {
        self.alone.count_instructions(&count);
    }
}

fn goals(experiment: &Experiment, singles: &[Contest], alone: &Alone) -> Vec<Goal> {
    let mut goals = Vec::new();
    let mut goal = |what: String, measured: f64, most: f64| {
        goals.push(Goal { what, measured, goal: format!("at most {most}"), met: measured <= most });
    };
    for cell in experiment.cells.iter().filter(|cell| cell.threads == 2) {
        let Some(rooms) = cell.peer(ROOMS) else { continue };
        let what = format!(
            "batches, 2 threads, waits of {:.0} %, total work against the best of the others (overhead of a visit: {:.2} transfer times)",
            100.0 * cell.wait,
            rooms.overhead
        );
        goal(what, rooms.ratio, 1.2);
    }
    for contest in singles.iter().filter(|contest| contest.waiters <= 2) {
        let what = format!("one by one, {} threads, wall time, Queue against ArrayQueue", contest.waiters);
        goal(what, contest.ratio(QUEUE, ARRAY_QUEUE).unwrap_or(f64::NAN), 2.0);
    }
    let alone = alone.cpu_ns(ROOM).zip(alone.cpu_ns(PARKING_LOT)).map_or(f64::NAN, |(rooms, lock)| rooms / lock);
    goal("alone, CPU time, in and out of a room against parking_lot".to_owned(), alone, 3.0);
    goals
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        head(f, &self.machine, self.effort.repetitions)?;
        experiment(f, &self.experiment)?;
        preempted(f, &self.experiment, self.machine.processors)?;
        writeln!(f, "\nONE BY ONE: A PUSH AND A POP\n")?;
        contests(f, &self.singles)?;
        alone(f, std::slice::from_ref(&self.alone))?;
        writeln!(f)?;
        self.goals.iter().try_for_each(|goal| writeln!(f, "{goal}"))?;
        writeln!(f, "\nTHE EXPERIMENT ON A MACHINE WITH MANY PROCESSORS, IN SIMULATED TIME: THE PAPER'S FIGURE 5")?;
        self.simulated.iter().try_for_each(|figure| write!(f, "\n{figure}"))
    }
}

fn experiment(f: &mut fmt::Formatter<'_>, experiment: &Experiment) -> fmt::Result {
    let Experiment { size, transfer_ns, alone_ns, cells } = experiment;
    writeln!(f, "\nSECTION 4 OF THE PAPER: {} ROOTS, {} NODES, BATCHES OF {}\n", size.roots, size.nodes, BATCH)?;
    writeln!(
        f,
        "transfer time (a cycle of one thread alone without synchronization): {transfer_ns:.0} ns; {alone_ns:.2} ns a node"
    )?;
    writeln!(
        f,
        "total work is wall time times threads; overhead is that of taking or giving back a batch, in transfer times\n"
    )?;
    writeln!(
        f,
        "{:<30}{:<24}{:>12}{:>8}{:>12}{:>10}   range of total work",
        "", "", "work ns", "ratio", "CPU ns", "overhead"
    )?;
    for cell in cells {
        for (i, peer) in cell.peers.iter().enumerate() {
            let what = match i {
                0 => format!("{} threads, waits of {:.0} %", cell.threads, 100.0 * cell.wait),
                1 => format!("  perfect {:.2}, control {:.2}", cell.perfect_ns, cell.control),
                _ => String::new(),
            };
            let (low, high) = peer.work_range_ns;
            writeln!(
                f,
                "{what:<30}{:<24}{:>12.2}{:>8.2}{:>12.2}{:>10.2}   {low:.2} to {high:.2}",
                peer.peer, peer.work_ns, peer.ratio, peer.cpu_ns, peer.overhead
            )?;
        }
    }
    Ok(())
}

/// With more threads than processors, a thread is sometimes preempted inside a room, and all others
/// wait for it.
fn preempted(f: &mut fmt::Formatter<'_>, experiment: &Experiment, processors: usize) -> fmt::Result {
    writeln!(
        f,
        "\nMORE THREADS THAN PROCESSORS: CPU TIME OF A NODE AGAINST THAT WITH AS MANY THREADS AS PROCESSORS\n"
    )?;
    for wait in WAITS {
        let cell = |threads| experiment.cells.iter().find(|cell| cell.threads == threads && cell.wait == wait);
        let Some(few) = THREADS.iter().copied().rfind(|&threads| threads <= processors).and_then(cell) else {
            continue;
        };
        for many in THREADS.iter().copied().filter(|&threads| threads > processors).filter_map(cell) {
            write!(f, "{} threads against {}, waits of {:.0} %:", many.threads, few.threads, 100.0 * wait)?;
            for (peer, before) in many.peers.iter().zip(&few.peers) {
                write!(f, "  {} {:.2}", peer.peer, peer.cpu_ns / before.cpu_ns)?;
            }
            writeln!(f)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tiny_run_measures_everybody() {
        let report = compare(&Effort::tiny(20), None, &mut |_| ());
        assert_eq!((report.experiment.cells.len(), report.singles.len()), (12, 4));
        for cell in &report.experiment.cells {
            assert_eq!(cell.peers.len(), 7);
            assert!(cell.peers.iter().all(|peer| peer.work_ns > 0.0));
        }
        assert_eq!(report.goals.len(), 6);
        let text = report.to_string();
        for word in ["doorway rooms", "ArrayQueue", "Treiber", "transfer times", "8 threads", "control"] {
            assert!(text.contains(word), "{text}");
        }
        assert!(pass_alone(ROOM, 5) && !pass_alone("nobody", 5));
    }
}
