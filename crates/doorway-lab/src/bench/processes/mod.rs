//! [`doorway::shared::Slots`] beside what the system offers between processes, in one run:
//! `doorway-lab bench processes`.
//!
//! The peers are a process-shared `sem_t`, a System V semaphore with `SEM_UNDO`, a robust mutex, a
//! locked file for each slot, and the named pipe of a jobserver. The participants are processes:
//! this program, started again.
//!
//! | file | |
//! |---|---|
//! | `gates` | the peers |
//! | `mapped` | a value that processes share |
//! | `party` | what a participating process does |
//! | `scene` | what the measuring process does |
//! | `alone` | one process |
//! | `crowd` | more processes than units |
//! | `deaths` | the time from a death to the next grant |
//! | `fates` | what happens to units when processes are killed |

mod alone;
mod crowd;
mod deaths;
mod fates;
mod gates;
mod mapped;
mod party;
mod scene;
mod text;
mod verdicts;

pub use super::alone::{Alone, AloneStanding};
pub use super::verdict::Verdict;
pub use alone::pass_alone;
pub use crowd::{Crowd, CrowdStanding};
pub use deaths::{DeathStanding, Deaths};
pub use fates::{Case, Fate, Outcome};
pub use party::take_part;

use super::{Effort, Machine, Watch};
use serde::Serialize;
use std::path::Path;

/// Everything that was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The machine.
    pub machine: Machine,
    /// The effort.
    pub effort: Effort,
    /// One process alone.
    pub alone: Vec<Alone>,
    /// Processes that enter again and again.
    pub crowds: Vec<Crowd>,
    /// From the death of a holder to the next grant.
    pub deaths: Deaths,
    /// What happens to units when processes are killed.
    pub fates: Vec<Fate>,
    /// What must not happen: too many inside, stuck processes, a peer that could not be measured.
    pub faults: Vec<String>,
    /// The goals, and whether they were reached.
    pub verdicts: Vec<Verdict>,
}

/// Measures everything, and reports its progress.
///
/// `program` is started for each participating process, with the words `bench party` and its
/// orders: it must pass these to [`take_part`].
#[must_use]
pub fn compare(effort: &Effort, program: &Path, progress: &mut dyn FnMut(&str)) -> Report {
    let watch = Watch::begin();
    let cast = scene::Cast { program, processors: watch.machine.processors };
    let (alone, mut faults) = alone::contests(effort);
    progress("one process alone");
    let crowds = crowd::cells(cast, effort, &mut faults, &mut |cell| progress(&cell.name()));
    let deaths = deaths::contest(cast, effort, &mut faults);
    progress("from a death to the next grant");
    let fates = fates::table(cast, effort, &mut faults);
    progress("what becomes of units");
    let verdicts = verdicts::all(&alone, &crowds, &deaths);
    Report { machine: watch.end(), effort: *effort, alone, crowds, deaths, fates, faults, verdicts }
}
