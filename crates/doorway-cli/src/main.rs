//! The `doorway` command.

#![deny(unsafe_code)]

mod check;
#[cfg(all(feature = "etcd", target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
mod etcd;
#[cfg(all(not(feature = "etcd"), target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
#[path = "no_etcd.rs"]
mod etcd;
mod explain;
mod explore;
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
mod rules;
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

use clap::error::{ContextKind, ErrorKind};
use clap::{CommandFactory as _, Parser, Subcommand};
use std::num::ParseIntError;
use std::process::ExitCode;

/// Run at most K commands at a time on this machine, and check the algorithms that make it safe.
///
/// A slot comes back when its holder ends, even if it is killed.
#[derive(Parser)]
#[command(name = "doorway", version, arg_required_else_help = true)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a command when a slot is free, and give the slot back when it has ended (Linux)
    #[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
    Run(run::Args),
    /// Run a command when a slot is free (Linux)
    #[cfg(not(all(target_os = "linux", target_endian = "little", target_pointer_width = "64")))]
    #[command(disable_help_flag = true)]
    Run {
        /// The options and the command
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<std::ffi::OsString>,
    },
    /// Show which processes hold slots or wait for one, and for how long (Linux)
    ///
    /// Without a name, it shows every name in the directory in use. It can show a command line only
    /// for processes of this user that have the file open; for others it shows `?`. In the mode
    /// `reclaim`, it also frees the slots of dead holders.
    ///
    /// Exit code: 0 all files were read, 1 a file could not be read (the others are shown), 2 bad
    /// usage, or the output could not be written.
    #[command(after_help = slots::STATUS_EXAMPLES)]
    Status(slots::StatusArgs),
    /// Take a slot away from its holder, dead or alive, for the next waiter (Linux)
    ///
    /// This does not stop the old holder, which may go on using what the slot stands for. The next
    /// holder gets a larger fence, and is told that the slot was broken.
    ///
    /// Exit code: 0 the slot is broken, or has come back; 1 nothing was done: the slot is free, the
    /// holder has changed, the answer was no, or the file cannot be used; 2 bad usage, or no
    /// terminal to ask on.
    #[command(after_help = slots::BREAK_EXAMPLES)]
    Break(slots::BreakArgs),
    /// Remove the file of a name that no process uses (Linux)
    ///
    /// You never have to do this: an unused file does no harm. Remove it if you want the same name
    /// with another number of slots.
    ///
    /// Exit code: 0 the file is removed, 1 it is not (it is in use, does not exist, or is not a
    /// file of slots), 2 bad usage.
    #[command(after_help = slots::RM_EXAMPLES)]
    Rm(slots::RmArgs),
    /// Run a build with a limited number of jobs, shared by name between builds (Linux)
    ///
    /// This is a GNU make jobserver: make, cargo, ninja and gcc's LTO take a token from it for
    /// every job but their first. With a name, each token stands for a slot, and all builds that
    /// use the name share the slots. If a build is killed, all its tokens come back.
    ///
    /// Exit code: that of the command; the codes of doorway itself are those of `doorway run`.
    #[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
    #[command(after_help = jobserver::EXAMPLES)]
    Jobserver(jobserver::Args),
    /// Run a build with a limited number of jobs (Linux)
    #[cfg(not(all(target_os = "linux", target_endian = "little", target_pointer_width = "64")))]
    Jobserver(slots::JobserverArgs),
    /// List every algorithm: problem, paper, figure, instructions, bounds
    List(list::Args),
    /// Explore all interleavings of an algorithm, and report which of its properties hold
    ///
    /// Exit code: 0 all properties hold and the search was complete; 1 a property failed; 2 bad
    /// usage, or all properties hold and a file could not be written; 3 not decided: nothing
    /// failed, but the search stopped at a limit or skipped some runs (--switches, --lag, samples).
    ///
    /// --passages and --line bound what the processes do; a search within such a bound counts as
    /// complete. The first Ctrl-C stops the search and prints what was found, with exit code 130;
    /// the second ends the program at once.
    ///
    /// The options that begin with "Seats:", "Turnstiles:" or "Leases:" are for these algorithms
    /// only.
    // With this, `--n -1` is a bad number, not an unknown option.
    #[command(allow_negative_numbers = true, after_help = check::EXAMPLES)]
    Check(Box<check::Args>),
    /// Explain an algorithm: idea, statements, variables, invariants, cost, claims, faults
    ///
    /// The idea, the variables and the invariants come from the source of the text. The claims are
    /// searched now, at small sizes.
    ///
    /// Exit code: 0 the page was printed, 2 bad usage, 130 after Ctrl-C, which ends the searches
    /// and prints the page with what they found.
    #[command(allow_negative_numbers = true)]
    Explain(explain::Args),
    /// Drive an algorithm by hand, in a browser: choose every step, torn read and crash
    ///
    /// Serves a page on 127.0.0.1 and prints its address. The page shows what can happen next,
    /// which claims and invariants are true, and the text with the statement of every process. It
    /// searches for a violation or for a state that you describe, and gives a token for every
    /// position. The address contains a random word, and requests from other pages are refused.
    ///
    /// Exit code: 2 bad usage, or the port is not available; otherwise it runs until Ctrl-C.
    #[command(allow_negative_numbers = true, after_help = explore::examples())]
    Explore(explore::Args),
    /// Try every single-statement fault of an algorithm, and report which claim notices it
    ///
    /// A fault drops, delays or splits one access, or skips one wait. If no claim notices a fault,
    /// then the claims are too weak, the sizes are too small, or the statement is not needed.
    ///
    /// Exit code: 0 all faults were decided, 2 bad usage, 3 some faults were not decided, 130 after
    /// Ctrl-C, which prints what was found so far.
    #[command(allow_negative_numbers = true)]
    Faults(faults::Args),
    /// Find the most remote references that a passage makes, and compare with the claim
    ///
    /// Exit code: 0 all passages are within the claimed bound; 1 a passage breaks the bound; 2 bad
    /// usage; 3 not decided: no passage broke the bound, but not all were examined (a limit, or
    /// --method adversary or random). With --theorems: 0 unless a bound is broken. Ctrl-C works as
    /// in `doorway check`.
    #[command(allow_negative_numbers = true)]
    Rmr(rmr::Args),
    /// Show which registers the read-write algorithms need: atomic, regular, monotone or safe
    ///
    /// Exit code: 0 all algorithms work with the registers they claim (except texts as printed), 1
    /// one of them does not, 2 bad usage, 3 not decided. Ctrl-C prints what was found so far, with
    /// exit code 130.
    #[command(allow_negative_numbers = true)]
    Registers(registers::Args),
    /// Replay a run step by step, from the token that `doorway check` printed
    ///
    /// The replay itself decides whether the run breaks the property that the token names.
    ///
    /// Exit code: 0 the run breaks the property, or a schedule was followed; 1 the run does not
    /// break it; 2 bad usage, or a stale token.
    #[command(allow_negative_numbers = true, after_help = replay::EXAMPLES)]
    Replay(replay::Args),
    /// Say how to run the benchmarks, which are in the lab
    #[command(disable_help_flag = true)]
    Bench {
        /// The benchmark and its options
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Kill processes that share slots, and check that no slot is lost or held twice (Linux)
    ///
    /// Processes acquire and release the slots of one file. They are killed with SIGKILL at any
    /// time, or kill themselves just after a statement of the text; they are stopped and continued;
    /// they fork, exec, open and close; and the file is deleted in the middle of it all. A witness
    /// in separate memory notices if a slot has two holders, and whether every death was reported.
    ///
    /// Exit code: 0 nothing is wrong, 1 something is wrong, 2 bad usage, 130 after Ctrl-C.
    #[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
    Torture(torture::Args),
    #[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
    #[command(hide = true)]
    TortureHerd(torture::Order),
    #[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
    #[command(hide = true)]
    TortureWorker(torture::Order),
    /// Print a completion script for a shell
    #[cfg(feature = "manual")]
    #[command(after_help = manual::COMPLETIONS_EXAMPLES)]
    Completions(manual::CompletionsArgs),
    /// Write the manual pages
    #[cfg(feature = "manual")]
    #[command(after_help = manual::MAN_EXAMPLES)]
    Man(manual::ManArgs),
    /// Take a tour of the checker and the library, in a few seconds
    Tour,
}

/// Runs the benchmarks. The lab is a crate of its own, so that checking an algorithm does not
/// require compiling fifteen rival libraries.
const LAB: &str = "cargo run --release -p doorway-lab --";

/// What to do about a command that was built without slots between machines.
#[cfg(all(not(feature = "etcd"), target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
const NO_ETCD: &str = "this doorway was built without --etcd; install protoc (on Debian: protobuf-compiler and \
                       libprotobuf-dev), then, in the sources of doorway: cargo install --path crates/doorway-cli \
                       --features etcd";

/// How a command ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Exit {
    Fine,
    Failed,
    BadUsage,
    Incomplete,
    Interrupted,
}

impl Exit {
    /// This, unless all is well except that a file could not be written.
    fn unless_not(self, written: bool) -> Self {
        match self {
            Self::Fine if !written => Self::BadUsage,
            exit => exit,
        }
    }
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

/// What the parser does not say: where names come from, what a number is, and that some options
/// take two hyphens.
fn advice(error: &clap::Error) -> Option<String> {
    let argument = error.get(ContextKind::InvalidArg)?.to_string();
    match error.kind() {
        ErrorKind::MissingRequiredArgument if argument.contains("<ID>") => {
            Some("give the name of an algorithm, such as bakery; `doorway list` lists them".to_owned())
        }
        ErrorKind::ValueValidation => {
            let number = std::error::Error::source(error).is_some_and(<dyn std::error::Error>::is::<ParseIntError>);
            number.then(|| "give a whole number, such as 3".to_owned())
        }
        // `doorway run` has -n, and other commands have --n.
        ErrorKind::UnknownArgument => {
            let long = argument.strip_prefix('-').filter(|name| name.len() == 1)?;
            let all = Args::command();
            let command = all.find_subcommand(std::env::args_os().nth(1)?)?;
            let has_it = command.get_arguments().any(|known| known.get_long() == Some(long));
            has_it.then(|| format!("here this option has two hyphens: --{long}"))
        }
        _ => None,
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
                eprintln!("the command comes after two hyphens: doorway jobserver -n 8 cores -- make");
            }
            std::process::exit(125);
        }
        let _ = error.print();
        if let Some(advice) = advice(&error) {
            eprintln!("{advice}");
        }
        std::process::exit(error.exit_code())
    });
    let result = match args.command {
        Command::List(args) => list::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Explore(args) => explore::run(&args),
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
