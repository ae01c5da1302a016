//! The options of the lab's command, and its output.

use clap::{Parser, Subcommand};
use doorway_lab::bench::{self, Effort};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::fmt::Display;
use std::io::stdout;
use std::num::NonZero;
use std::process::{Command, ExitCode};

/// The lab of doorway: what its types cost beside those of other libraries, in one run on this
/// machine.
#[derive(Parser)]
#[command(name = "doorway-lab", version, arg_required_else_help = true)]
struct Args {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Measure doorway beside other libraries
    ///
    /// Exit code: 0, or 2 for bad usage; it does not depend on the figures. Build with --release,
    /// or the figures mean nothing.
    #[command(arg_required_else_help = true)]
    Bench {
        #[command(subcommand)]
        what: What,
    },
}

#[derive(Subcommand)]
enum What {
    /// The wait layer beside parking_lot, std's park, event-listener and tokio: hand-overs, crowds,
    /// more threads than cores, uncontended passages
    ///
    /// Takes a few minutes. Warns if the machine was not quiet.
    Wait(How),
    /// Slots beside the semaphores of tokio, async-lock, std, parking_lot and POSIX, and beside
    /// pools: alone, with more threads than places, with many tasks
    ///
    /// Takes a quarter of an hour. Warns if the machine was not quiet. Counts instructions if
    /// valgrind is installed.
    Slots(How),
    /// How often ya-fast looks at all processes, in 100,000 critical sections with 2, 4, 8 and 16
    /// threads, beside the paper's figures
    ///
    /// Takes some seconds, or a few with --quick.
    Openings(How),
    /// Every algorithm for mutual exclusion beside std, parking_lot, spin and mcslock, alone and
    /// with up to 8 threads; then on the machines of Yang and Anderson's experiment, in simulated
    /// time
    ///
    /// Takes five minutes. Warns if the machine was not quiet. Counts instructions if valgrind is
    /// installed.
    Mutex {
        #[command(flatten)]
        how: How,
        /// Only simulate: takes some seconds, and gives the same figures everywhere
        #[arg(long)]
        simulated: bool,
    },
    /// Software combining beside fetch-and-add and mutexes: 1, 2, 4 and 8 threads add to one number
    ///
    /// Takes half a minute, or a few seconds with --quick. The instruction wins by far.
    Combining(How),
    /// Rooms, and queues and stacks in rooms, beside locks and crossbeam: the experiment of
    /// Blelloch, Cheng and Gibbons with 1, 2, 4 and 8 threads, values one by one, a room alone
    ///
    /// Takes five minutes. Warns if the machine was not quiet. Counts instructions if valgrind is
    /// installed.
    Rooms {
        #[command(flatten)]
        how: How,
        /// The share of the paper's experiment: 1 for all of its 65,520,000 nodes [default: 1/4, or
        /// 1/32 with --quick]
        #[arg(long, value_parser = scale)]
        scale: Option<f64>,
        /// Only simulate, for 1 to 30 processors: takes some seconds, and gives the same figures
        /// everywhere
        #[arg(long, conflicts_with = "scale")]
        simulated: bool,
    },
    /// Resilient objects beside Mutex, RwLock, arc-swap and software combining: no thread stops,
    /// one stops in the middle of an operation, or one pauses now and then; and k from 1 to 8
    ///
    /// Takes five minutes. Warns if the machine was not quiet.
    Resilient(How),
    /// Slots between processes beside sem_t, SEM_UNDO, robust mutexes, flock and a jobserver:
    /// alone, with 4 and 8 processes, and when holders are killed
    ///
    /// Takes five minutes. Warns if the machine was not quiet. Counts instructions if valgrind is
    /// installed.
    Processes(How),
    /// The explorer beside Stateright, Spin, loom and shuttle: states a second, bytes a state, time
    /// to the first failure, lines to write
    ///
    /// Takes seven minutes, or three with --quick. Needs spin and gcc for Spin, and goes without if
    /// they are missing; ci/checkers.sh installs them. Warns if the machine was not quiet.
    Checkers(How),
    /// Slots in etcd beside etcd's Lock and two recipes: says how, because building it needs protoc
    Etcd {
        /// Its options
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// In and out many times, through one of the peers: run to count instructions
    #[command(hide = true)]
    Pass { peer: String, times: u32 },
    /// A search of `bench checkers`
    #[command(hide = true)]
    Checker { orders: Vec<String> },
    /// A process that takes part in `bench processes`
    #[command(hide = true)]
    Party { orders: String },
}

#[derive(clap::Args)]
struct How {
    /// Measure less, in under two minutes
    #[arg(long)]
    quick: bool,
    /// Smoke test: this many rounds, once
    #[arg(long, hide = true)]
    rounds: Option<NonZero<u32>>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn main() -> ExitCode {
    let Task::Bench { what } = Args::parse().command;
    match run(&what) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("doorway-lab: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(what: &What) -> Result<(), String> {
    match what {
        What::Wait(how) => measure(how, bench::wait),
        What::Slots(how) => measure(how, |effort, progress| {
            let mut report = bench::slots::compare(effort, progress);
            if how.rounds.is_none() {
                report.count_instructions(instructions);
            }
            report
        }),
        What::Mutex { how, simulated: true } => {
            measure(how, |effort, progress| Figures(bench::mutex::simulate(effort, progress)))
        }
        What::Mutex { how, simulated: false } => measure(how, |effort, progress| {
            let mut report = bench::mutex::compare(effort, progress);
            if how.rounds.is_none() {
                report.count_instructions(instructions);
            }
            report
        }),
        What::Openings(how) => measure(how, bench::openings::count),
        What::Combining(how) => measure(how, bench::combining::compare),
        What::Resilient(how) => measure(how, bench::resilient::compare),
        What::Rooms { how, simulated: true, .. } => {
            measure(how, |effort, progress| Figures(bench::rooms::simulate(effort, progress)))
        }
        What::Rooms { how, scale, simulated: false } => measure(how, |effort, progress| {
            let mut report = bench::rooms::compare(effort, *scale, progress);
            if how.rounds.is_none() {
                report.count_instructions(instructions);
            }
            report
        }),
        What::Etcd { args } => Err(format!(
            "this benchmark is in a workspace of its own, whose client needs protoc; ci/etcd.sh shows how to get it. \
             Then, in crates/doorway-etcd:\n\n  cargo run --release --example bench -- {}",
            args.join(" ")
        )),
        What::Processes(how) => {
            let program = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
            measure(how, |effort, progress| {
                let mut report = bench::processes::compare(effort, &program, progress);
                if how.rounds.is_none() {
                    report.count_instructions(instructions);
                }
                report
            })
        }
        What::Checkers(how) => {
            let program = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
            measure(how, |effort, progress| bench::checkers::compare(effort, &program, progress))
        }
        What::Checker { orders } => {
            println!("{}", bench::checkers::take_part(orders)?);
            Ok(())
        }
        What::Party { orders } => bench::processes::take_part(orders),
        What::Pass { peer, times } => {
            let peers = [
                bench::rooms::pass_alone,
                bench::slots::pass_alone,
                bench::mutex::pass_alone,
                bench::processes::pass_alone,
            ];
            if peers.iter().any(|pass_alone| pass_alone(peer, *times)) {
                Ok(())
            } else {
                Err(format!("there is no peer `{peer}`; take a name from the tables of `doorway-lab bench`"))
            }
        }
    }
}

fn scale(text: &str) -> Result<f64, String> {
    let scale = text.parse().ok().filter(|scale| (1e-5..=10.0).contains(scale));
    scale.ok_or_else(|| "give a number from 0.00001 to 10".to_owned())
}

/// Figures and nothing else.
#[derive(Serialize)]
struct Figures<F>(Vec<F>);

impl<F: Display> Display for Figures<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().enumerate().try_for_each(|(i, figure)| write!(f, "{}{figure}", if i == 0 { "" } else { "\n" }))
    }
}

/// Instructions of a run of this program that only passes, counted by valgrind; `None` without it.
fn instructions(peer: &str, times: u32) -> Option<u64> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind.arg(std::env::current_exe().ok()?).args(["bench", "pass", peer, &times.to_string()]);
    let output = valgrind.output().ok().filter(|output| output.status.success())?;
    let said = String::from_utf8_lossy(&output.stderr);
    let (_, count) = said.lines().find_map(|line| line.split_once("Collected :"))?;
    count.trim().parse().ok()
}

fn measure<R: Serialize + Display>(
    how: &How,
    bench: impl Fn(&Effort, &mut dyn FnMut(&str)) -> R,
) -> Result<(), String> {
    let effort = match (how.rounds, how.quick) {
        (Some(rounds), _) => Effort::tiny(rounds.get()),
        (None, true) => Effort::QUICK,
        (None, false) => Effort::FULL,
    };
    // Drawn only when something changes: a drawing thread would be measured too. Not drawn without
    // a terminal.
    let bar = ProgressBar::no_length();
    if let Ok(style) = ProgressStyle::with_template("{elapsed} {msg}") {
        bar.set_style(style);
    }
    let report = bench(&effort, &mut |done| {
        bar.set_message(format!("measured: {done}"));
        bar.tick();
    });
    bar.finish_and_clear();
    let text = if how.json {
        serde_json::to_string_pretty(&report).map_err(|e| e.to_string())? + "\n"
    } else {
        report.to_string()
    };
    doorway_check::output::write(&mut stdout().lock(), &text)
        .map_err(|e| format!("cannot write to standard output: {e}"))?;
    Ok(())
}
