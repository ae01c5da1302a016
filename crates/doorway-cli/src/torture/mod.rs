//! `doorway torture`: kills, stops and replaces processes that share slots, while a witness
//! watches.
//!
//! | file | |
//! |---|---|
//! | `mod` | the list of trials, one after the other; the table |
//! | `herd` | one trial: a process that forks the others, kills them, and checks what is left |
//! | `worker` | the life of one process |
//! | `board` | the counts, and the witness |
//! | `native` | shared memory and `fork` |

mod board;
mod herd;
mod native;
mod report;
mod worker;

use crate::{Exit, interrupt};
use board::{Board, Count};
use clap::ValueEnum;
use doorway::shared::Builder;
use doorway::shared::torture::Fault;
use indicatif::{ProgressBar, ProgressStyle};
use native::Shared;
use report::Report;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What is done to the processes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Mode {
    /// SIGKILL at any time
    Random,
    /// Processes kill themselves just after a statement of the text
    Statements,
    /// SIGSTOP and SIGCONT
    Stops,
    /// Processes fork, exec, open and close all the time
    Restless,
    /// The file is deleted in the middle of it all
    Deletions,
    /// Several threads in each process, and fewer seats than threads
    Threads,
    /// The same, with threads that wait as tasks
    Tasks,
    /// The slots of the dead stay taken until a process breaks them
    Tolerate,
    /// Newcomers may pass waiters
    Bypass,
    /// All of these but the last four; some processes wait as tasks
    Mix,
}

impl Mode {
    fn kills(self) -> bool {
        self != Self::Stops
    }

    fn stops(self) -> bool {
        matches!(self, Self::Stops | Self::Mix)
    }

    fn is_restless(self) -> bool {
        matches!(self, Self::Restless | Self::Mix)
    }

    fn deletes(self) -> bool {
        matches!(self, Self::Deletions | Self::Mix)
    }

    /// Whether processes may also kill themselves after a statement.
    fn has_statements(self) -> bool {
        matches!(self, Self::Threads | Self::Tasks | Self::Tolerate | Self::Bypass | Self::Mix)
    }

    /// How many threads a process has.
    fn threads(self) -> u64 {
        if matches!(self, Self::Threads | Self::Tasks) { 4 } else { 1 }
    }

    /// Whether nearly all seats are taken, so that the seats of the dead are taken again at once.
    fn is_crowded(self) -> bool {
        self == Self::Statements
    }

    /// How many of eight disturbances are kills.
    fn eighths_of_kills(self) -> u8 {
        match self {
            Self::Statements => 1,
            Self::Stops => 0,
            Self::Random
            | Self::Restless
            | Self::Deletions
            | Self::Threads
            | Self::Tasks
            | Self::Tolerate
            | Self::Bypass
            | Self::Mix => 8,
        }
    }

    /// How many processes may be killed before one is let in. At statements they also kill
    /// themselves.
    fn kills_in_a_row(self) -> u32 {
        if self == Self::Statements { 1 } else { 16 }
    }

    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many processes to kill, in all trials together
    #[arg(long, value_name = "N", default_value_t = 2000)]
    kills: u64,
    /// What to do to the processes; may be repeated [default: all modes]
    #[arg(long = "mode", value_name = "MODE", value_enum)]
    modes: Vec<Mode>,
    /// Number of processes at a time [default: differs by trial]
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u16).range(2..=50))]
    processes: Option<u16>,
    /// Number of slots [default: differs by trial]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=200))]
    slots: Option<u16>,
    /// The longest time for all trials, in seconds
    #[arg(long, value_name = "S")]
    seconds: Option<u64>,
    /// Processes count as stuck if none is let in for this many seconds, although nothing disturbs
    /// them
    #[arg(long, value_name = "S", default_value_t = 30)]
    patience: u64,
    /// Seed of the random choices. The kernel decides which process runs first, so no two runs are
    /// the same
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// Seed this fault into the memory of the slots; the run must find it. A wrong name lists all
    /// faults
    #[arg(long, value_name = "NAME", value_parser = known_fault)]
    fault: Option<String>,
    /// The directory for the files [default: one in memory]
    #[arg(long, value_name = "PATH")]
    directory: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

fn known_fault(name: &str) -> Result<String, String> {
    if Fault::ALL.iter().any(|(known, _)| *known == name) {
        return Ok(name.to_owned());
    }
    Err(format!("give one of {}", Fault::ALL.map(|(name, _)| name).join(", ")))
}

/// The orders of a process of the torture.
#[derive(clap::Args)]
pub(crate) struct Order {
    /// A trial, as JSON.
    trial: String,
}

impl Order {
    fn trial(&self) -> Result<Trial, String> {
        let trial = serde_json::from_str(&self.trial);
        trial.map_err(|e| format!("this is a part of `doorway torture`; call that instead: {e}"))
    }
}

/// One trial.
#[derive(Clone, Serialize, Deserialize, Debug)]
struct Trial {
    mode: Mode,
    slots: usize,
    processes: usize,
    /// The longest time inside, in microseconds.
    section: u64,
    /// How many processes to kill, or to stop.
    blows: u64,
    seconds: f64,
    patience: u64,
    seed: u64,
    fault: Option<String>,
    directory: PathBuf,
}

impl Trial {
    fn options(&self) -> Builder {
        let options = Builder::new(self.directory.join("slots"), self.slots);
        match self.mode {
            Mode::Statements => options.seats(64),
            Mode::Threads | Mode::Tasks => options.seats(512).waiters(2),
            Mode::Tolerate => options.seats(4096).mode(doorway::shared::Mode::Tolerate),
            Mode::Bypass => options.seats(512).bypass(8),
            Mode::Random | Mode::Stops | Mode::Restless | Mode::Deletions | Mode::Mix => options.seats(512),
        }
    }

    fn board(&self) -> PathBuf {
        self.directory.join("board")
    }

    /// The witness of a file. After a deletion there is another file, with another witness.
    fn witness(&self, identity: u64) -> PathBuf {
        self.directory.join(format!("witness-{identity:016x}"))
    }

    fn longest(&self) -> Duration {
        Duration::try_from_secs_f64(self.seconds).unwrap_or(Duration::from_secs(1 << 30))
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(self.patience)
    }

    fn order(&self, seed: u64) -> Result<String, String> {
        serde_json::to_string(&Self { seed, ..self.clone() }).map_err(|e| e.to_string())
    }
}

pub(crate) fn herd(order: &Order) -> Result<Exit, String> {
    herd::run(&order.trial()?)?;
    Ok(Exit::Fine)
}

pub(crate) fn worker(order: &Order) -> Result<Exit, String> {
    let trial = order.trial()?;
    let board = Shared::open(&trial.board())?;
    std::process::exit(worker::live(&trial, board, trial.seed))
}

/// Mode, slots, processes, the longest time inside in microseconds, and the percentage of the
/// kills.
const TRIALS: &[(Mode, usize, usize, u64, u64)] = &[
    (Mode::Random, 1, 4, 20, 5),
    (Mode::Random, 2, 6, 0, 5),
    (Mode::Random, 2, 6, 10, 10),
    (Mode::Random, 4, 8, 100, 5),
    (Mode::Random, 3, 12, 200, 5),
    (Mode::Statements, 1, 4, 5, 10),
    (Mode::Statements, 2, 6, 5, 15),
    (Mode::Statements, 3, 9, 20, 10),
    (Mode::Stops, 2, 5, 20, 5),
    (Mode::Restless, 2, 6, 50, 5),
    (Mode::Deletions, 2, 6, 50, 5),
    (Mode::Threads, 2, 4, 20, 5),
    (Mode::Tasks, 2, 4, 20, 5),
    (Mode::Tolerate, 3, 6, 20, 5),
    (Mode::Bypass, 1, 4, 5, 5),
    (Mode::Bypass, 2, 8, 20, 5),
    (Mode::Mix, 2, 6, 20, 5),
];

/// In mode `tolerate` a dead waiter keeps its seat; after this many deaths the seats of a file run
/// out.
const MOST_OF_ONE_FILE: u64 = 1000;

impl Args {
    fn trials(&self, directory: &Path) -> Vec<Trial> {
        let mut rng = self.seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed);
        let chosen = || TRIALS.iter().filter(|trial| self.modes.is_empty() || self.modes.contains(&trial.0));
        let whole: u64 = chosen().map(|trial| trial.4).sum();
        // A trial that only stops processes takes nothing from the kills that were asked for.
        let kills: u64 = chosen().filter(|trial| trial.0.kills()).map(|trial| trial.4).sum();
        let deadly = if kills > 0 { kills } else { whole };
        let mut trials: Vec<Trial> = Vec::new();
        for (mode, slots, processes, section, share) in chosen() {
            let blows = self.kills.saturating_mul(*share).div_ceil(deadly);
            let files = if *mode == Mode::Tolerate { blows.div_ceil(MOST_OF_ONE_FILE).max(1) } else { 1 };
            for _ in 0..files {
                trials.push(Trial {
                    mode: *mode,
                    slots: self.slots.map_or(*slots, usize::from),
                    processes: self.processes.map_or(*processes, usize::from),
                    section: *section,
                    blows: blows.div_ceil(files),
                    seconds: self.seconds.map_or(f64::INFINITY, |all| (all * share) as f64 / (whole * files) as f64),
                    patience: self.patience,
                    seed: rng.u64(..),
                    fault: self.fault.clone(),
                    directory: directory.join(trials.len().to_string()),
                });
            }
        }
        // JSON has no infinity.
        for trial in &mut trials {
            trial.seconds = trial.seconds.min(1e9);
        }
        trials
    }
}

/// A directory that is removed after the run.
struct Place(PathBuf);

impl Place {
    fn new(chosen: Option<&Path>) -> Result<Self, String> {
        let memory = Path::new("/dev/shm");
        let parent = match chosen {
            Some(chosen) => chosen.to_owned(),
            None if memory.is_dir() => memory.to_owned(),
            None => std::env::temp_dir(),
        };
        let path = parent.join(format!("doorway-torture-{}", std::process::id()));
        std::fs::create_dir(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    let place = Place::new(args.directory.as_deref())?;
    let trials = args.trials(&place.0);
    let blows = trials.iter().map(|trial| trial.blows).sum();
    let style = ProgressStyle::with_template("{elapsed} {bar:30} {pos}/{len} {msg}").map_err(|e| e.to_string())?;
    let bar = interrupt::shown(ProgressBar::new(blows).with_style(style));
    let searching = interrupt::Searching::begin();
    let mut report = Report::default();
    for trial in &trials {
        bar.set_message(format!("{}, {} slots, {} processes", trial.mode.name(), trial.slots, trial.processes));
        if !try_it(trial, &bar, &mut report)? {
            break;
        }
        let _ = std::fs::remove_dir_all(&trial.directory);
        if trial.fault.is_some() && !report.is_fine() {
            break;
        }
    }
    drop(searching);
    bar.finish_and_clear();
    report.print(args.json)?;
    Ok(if interrupt::is_asked_for() {
        Exit::Interrupted
    } else if report.is_fine() {
        Exit::Fine
    } else {
        Exit::Failed
    })
}

/// Runs a trial in a process of its own; `false` after Ctrl-C.
fn try_it(trial: &Trial, bar: &ProgressBar, report: &mut Report) -> Result<bool, String> {
    std::fs::create_dir(&trial.directory).map_err(|e| format!("{}: {e}", trial.directory.display()))?;
    let board: Shared<Board> = Shared::open(&trial.board())?;
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut herd = Command::new(program);
    herd.arg("torture-herd").arg(trial.order(trial.seed)?).stdin(Stdio::null());
    let mut herd = Herd(herd.spawn().map_err(|e| e.to_string())?);
    let (begun, done) = (Instant::now(), bar.position());
    let status = loop {
        if let Some(status) = herd.0.try_wait().map_err(|e| e.to_string())? {
            break status;
        }
        let blows = if trial.mode.kills() { Count::Kills } else { Count::Stops };
        bar.set_position(done + board.get(blows).min(trial.blows));
        if interrupt::is_asked_for() {
            return Ok(false);
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    if !status.success() && !interrupt::is_asked_for() {
        board.complain(&format!("the trial ended: {status}"));
    }
    bar.set_position(done + trial.blows);
    report.add(trial, &board, begun.elapsed());
    Ok(!interrupt::is_asked_for())
}

/// The process of a trial, which is killed when this value is dropped.
struct Herd(Child);

impl Drop for Herd {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
