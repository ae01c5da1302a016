//! The `doorway` command.

#![deny(unsafe_code)]

mod check;
mod faults;
mod interrupt;
#[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
mod jobserver;
mod list;
#[cfg(feature = "manual")]
mod manual;
mod output;
mod registers;
mod replay;
mod rmr;
#[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
mod run;
mod sizes;
#[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
mod slots;
#[cfg(not(all(target_os = "linux", target_endian = "little", target_pointer_width = "64")))]
#[path = "elsewhere.rs"]
mod slots;
#[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
mod torture;
mod tour;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// At most K at a time: slots for commands on this machine, which come back when a process is killed, and a checker for
/// the algorithms behind them.
#[derive(Parser)]
#[command(name = "doorway", version, arg_required_else_help = true)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs a command when a slot is free, and gives the slot back when it has ended (Linux)
    #[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
    Run(run::Args),
    /// Runs a command when a slot is free (Linux)
    #[cfg(not(all(target_os = "linux", target_endian = "little", target_pointer_width = "64")))]
    #[command(disable_help_flag = true)]
    Run {
        /// What to run, and how
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<std::ffi::OsString>,
    },
    /// Shows who holds slots between processes, who waits for them, and for how long (Linux)
    ///
    /// Without a name it shows all names in the directory in use. Command lines are those of
    /// processes of this user that have the file open; others are shown as `?`. With slots that
    /// come back when their holder dies, this look brings them back.
    ///
    /// Exit code: 0 all files could be read, 1 one could not (the others are shown), 2 bad usage.
    #[command(after_help = slots::STATUS_EXAMPLES)]
    Status(slots::StatusArgs),
    /// Takes a slot away from its holder, dead or alive, and gives it to the next in line (Linux)
    ///
    /// It does not stop the old holder, which may go on with what the slot stands for. The next
    /// holder is told that the slot was broken, and has a larger fence.
    ///
    /// Exit code: 0 the slot is broken, or has come back; 1 it is not: nobody holds it, the holder
    /// has changed, the answer was no, or the file cannot be used; 2 bad usage, or no terminal to
    /// ask on.
    #[command(after_help = slots::BREAK_EXAMPLES)]
    Break(slots::BreakArgs),
    /// Removes the file of a name that nobody uses (Linux)
    ///
    /// A name needs no removal: a file that nobody uses does no harm. Remove it to make it anew
    /// with another number of slots.
    ///
    /// Exit code: 0 it is removed, 1 it is in use, or there is none, 2 bad usage.
    #[command(after_help = slots::RM_EXAMPLES)]
    Rm(slots::RmArgs),
    /// Runs a build whose jobs are counted, together with other builds if they say the same name (Linux)
    ///
    /// It is a jobserver as GNU make has one: make, cargo, ninja and gcc's LTO take a token from it
    /// for every job but their first. With a name, the tokens are backed by slots that all builds
    /// with this name share. If a build is killed, all its tokens come back.
    ///
    /// Exit code: that of the command, and as in `doorway run`.
    #[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
    #[command(after_help = jobserver::EXAMPLES)]
    Jobserver(jobserver::Args),
    /// Runs a build whose jobs are counted (Linux)
    #[cfg(not(all(target_os = "linux", target_endian = "little", target_pointer_width = "64")))]
    Jobserver(slots::JobserverArgs),
    /// Shows every algorithm: problem, paper, figure, instructions, bounds
    List(list::Args),
    /// Explores all interleavings of an algorithm and says which of its properties hold
    ///
    /// Exit code: 0 all hold and the search was complete, 1 a property failed, 2 bad usage, 3 not
    /// decided: nothing failed, but the search ended at a limit, or left runs out (--switches,
    /// --lag, samples).
    ///
    /// --passages and --line bound what processes do: a search within them is complete, for that
    /// bound. The first Ctrl-C ends the search and prints what was found, with exit code 130; a
    /// second one ends the program at once.
    #[command(allow_negative_numbers = true)] // so that `--n -1` is a bad number, not an unknown option
    Check(check::Args),
    /// Tries every fault of a single statement of an algorithm, and says which claim notices it
    ///
    /// An access is dropped, put off or split, a wait does not wait. What no claim notices, nobody misses:
    /// the claims are too weak for it, the sizes too small, or the statement is not needed.
    ///
    /// Exit code: 0 all faults were decided, 2 bad usage, 3 some were not, 130 after Ctrl-C, which
    /// prints what was found so far.
    #[command(allow_negative_numbers = true)]
    Faults(faults::Args),
    /// Finds the worst number of remote references of a passage, against what is claimed
    ///
    /// Exit code: 0 if all passages are within the claim, 1 if a claimed bound is broken, 2 bad
    /// usage, 3 not decided: no passage broke it, but not all were looked at (a limit, --method
    /// adversary or random). With --theorems: 0 unless a bound is broken. Ctrl-C as in `doorway
    /// check`.
    #[command(allow_negative_numbers = true)]
    Rmr(rmr::Args),
    /// Which algorithms that only read and write work with which kind of register: atomic, regular, monotone, safe
    ///
    /// Exit code: 0 if all work with what they claim (texts as printed aside), 1 if one does not, 2 bad usage, 3 if that was not decided.
    /// Ctrl-C prints what was found so far, with exit code 130.
    #[command(allow_negative_numbers = true)]
    Registers(registers::Args),
    /// Steps through a run again, by the token that `doorway check` printed
    ///
    /// Whether the run breaks the property that the token names is judged on the run itself.
    ///
    /// Exit code: 0 if it does, and for a schedule; 1 if it does not, 2 bad usage, or a token that is
    /// stale.
    #[command(allow_negative_numbers = true)]
    Replay(replay::Args),
    /// Says how to run the benchmarks, which are in the lab
    #[command(disable_help_flag = true)]
    Bench {
        /// What to measure, and how
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Kills processes that share slots, and looks whether any slot is lost or given twice (Linux)
    ///
    /// Processes acquire and release slots of one file. They are killed with SIGKILL at any time, kill themselves just after
    /// a statement of the text, are stopped and continued, fork, exec, open and close, and the file is deleted under
    /// way. A witness in other memory notices whoever is let in twice, and what became of each death.
    ///
    /// Exit code: 0 nothing is wrong, 1 something is, 2 bad usage, 130 after Ctrl-C.
    #[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
    Torture(torture::Args),
    #[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
    #[command(hide = true)]
    TortureHerd(torture::Order),
    #[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
    #[command(hide = true)]
    TortureWorker(torture::Order),
    /// Writes what a shell needs to complete this command's words
    #[cfg(feature = "manual")]
    #[command(after_help = manual::COMPLETIONS_EXAMPLES)]
    Completions(manual::CompletionsArgs),
    /// Writes the pages for `man`
    #[cfg(feature = "manual")]
    #[command(after_help = manual::MAN_EXAMPLES)]
    Man(manual::ManArgs),
    /// Shows what there is, in a few seconds
    Tour,
}

/// Measures what it is asked for. Not a part of this command, so that nobody compiles fifteen libraries to check an algorithm.
const LAB: &str = "cargo run --release -p doorway-lab --";

/// How a command ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Exit {
    Fine,
    Failed,
    BadUsage,
    Incomplete,
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Fine => 0,
            Exit::Failed => 1,
            Exit::BadUsage => 2,
            Exit::Incomplete => 3,
            Exit::Interrupted => interrupt::EXIT_CODE,
        })
    }
}

fn main() -> ExitCode {
    #[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
    if std::env::args_os().nth(1).is_some_and(|word| word == "run") {
        run::run_alone(std::env::args_os().skip(2));
    }
    let args = Args::try_parse().unwrap_or_else(|error| {
        // Where a command's own exit codes are passed on, 2 may be one of them.
        let passes_on = std::env::args_os().nth(1).is_some_and(|word| word == "jobserver");
        if passes_on && error.use_stderr() {
            let _ = error.print();
            if !std::env::args_os().any(|word| word == "--") {
                eprintln!("The command comes after two hyphens: doorway jobserver -n 8 cores -- make");
            }
            std::process::exit(125);
        }
        error.exit()
    });
    let result = match args.command {
        Command::List(args) => list::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Faults(args) => faults::run(&args),
        Command::Rmr(args) => rmr::run(&args),
        Command::Registers(args) => registers::run(&args),
        Command::Status(args) => slots::status(&args),
        Command::Break(args) => slots::break_slot(&args),
        Command::Rm(args) => slots::rm(&args),
        Command::Replay(args) => replay::run(&args),
        #[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
        Command::Run(args) => run::run(&args),
        #[cfg(not(all(target_os = "linux", target_endian = "little", target_pointer_width = "64")))]
        Command::Run { .. } => Err(doorway::shared::Error::Unsupported.to_string()),
        #[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
        Command::Jobserver(args) => jobserver::run(&args),
        #[cfg(not(all(target_os = "linux", target_endian = "little", target_pointer_width = "64")))]
        Command::Jobserver(args) => slots::refuse(&args),
        Command::Bench { args } => Err(format!(
            "the benchmarks are in the lab, with the libraries they compare with; in the sources of doorway, run\n\n  {}",
            [LAB, "bench"].into_iter().chain(args.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
        )),
        #[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
        Command::Torture(args) => torture::run(&args),
        #[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
        Command::TortureHerd(order) => torture::herd(&order),
        #[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
        Command::TortureWorker(order) => torture::worker(&order),
        #[cfg(feature = "manual")]
        Command::Completions(args) => manual::completions(&args),
        #[cfg(feature = "manual")]
        Command::Man(args) => manual::man(&args),
        Command::Tour => tour::run(),
    };
    result
        .unwrap_or_else(|message| {
            eprintln!("doorway: {message}");
            Exit::BadUsage
        })
        .into()
}
