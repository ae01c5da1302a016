//! [`doorway::Slots`] beside other semaphores and pools, in one run: `doorway-lab bench slots`.
//!
//! All peers are measured in turns, as in `doorway-lab bench wait`: their memory, one thread alone,
//! more threads than places, and many tasks. The goals for [`Slots`](doorway::Slots) come last,
//! each with its figure.

mod alone;
mod memory;
mod peers;
mod tasks;
mod text;
mod threads;
mod verdicts;

pub use super::alone::{Alone, AloneStanding};
pub use super::crowded::{Cell, ThreadStanding};
pub use super::verdict::Verdict;
pub use alone::pass_alone;
pub use memory::Bytes;
pub(super) use peers::slots;
pub use tasks::{TaskCell, TaskStanding};

use super::stage::Turns;
use super::{Effort, Machine, Watch};
use crate::measure;
use serde::Serialize;

/// Everything that was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The machine.
    pub machine: Machine,
    /// The effort.
    pub effort: Effort,
    /// The memory that each peer takes.
    pub memory: Vec<Bytes>,
    /// One thread alone.
    pub alone: Vec<Alone>,
    /// More threads than places.
    pub threads: Vec<Cell>,
    /// Many tasks.
    pub tasks: Vec<TaskCell>,
    /// What must not happen: too many inside, or places lost.
    pub faults: Vec<String>,
    /// The goals, and whether they were reached.
    pub verdicts: Vec<Verdict>,
}

/// Measures everything, and reports its progress.
#[must_use]
pub fn compare(effort: &Effort, progress: &mut dyn FnMut(&str)) -> Report {
    let watch = Watch::begin();
    let memory = memory::all(effort);
    progress("memory");
    let calibrate = || {
        measure::pin(0);
        threads::SECTIONS.map(Turns::lasting)
    };
    let works = std::thread::spawn(calibrate).join().expect("work ends");
    let alone = alone::contests(effort);
    progress("one thread alone");
    let threads = threads::cells(works, watch.machine.processors, effort, &mut |cell| progress(&cell.name()));
    let tasks = tasks::cells(works[0], effort, &mut |cell| progress(&cell.name()));
    let faults = tasks::faults(&tasks);
    let verdicts = verdicts::all(&alone, &threads);
    Report { machine: watch.end(), effort: *effort, memory, alone, threads, tasks, faults, verdicts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tiny_run_measures_everybody_and_loses_nothing() {
        let mut said = 0;
        let report = compare(&Effort::tiny(5), &mut |_| said += 1);
        assert!(said > 10);
        assert_eq!((report.alone.len(), report.threads.len(), report.tasks.len()), (2, 14, 6));
        assert_eq!(report.faults, [""; 0]);
        for cell in &report.threads {
            assert!(cell.control > 0.0 && cell.peers.iter().all(|peer| peer.ops > 0.0), "{}", cell.name());
            assert_eq!(cell.peer(peers::PARKING_LOT_FAIR_UNLOCK).is_some(), cell.k == 1);
        }
        let mut report = report;
        assert!(pass_alone("sem_t", 3) && !pass_alone("nobody", 3));
        report.count_instructions(|peer, times| (peer != "tokio").then_some(500 + 7 * u64::from(times)));
        let counted = |peer| report.alone[0].peers.iter().find(|p| p.peer == peer).unwrap().instructions;
        assert_eq!((counted("sem_t"), counted("tokio")), (Some(7.0), None));
        let text = report.to_string();
        for word in ["sem_t", "IN BYTES", "k = 4, 32 threads", "1000 tasks", "control", "goal"] {
            assert!(text.contains(word), "{text}");
        }
    }
}
