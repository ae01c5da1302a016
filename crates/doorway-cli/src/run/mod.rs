//! `doorway run`: a command that waits for a slot, and holds it while it runs.
//!
//! There are two processes. The *wrapper* is the one that others know. The *guardian*, its child,
//! holds the slot and is the command's parent. If the wrapper is killed, the guardian does what
//! `--orphans` says. If both are killed, the command still has a descriptor that keeps the slot.
//! With `--orphans kill`, a *sweeper* stands between the two.
//!
//! | file | |
//! |---|---|
//! | `args` | its options; the placeholders in arguments |
//! | `wrapper` | signals, stopping, the exit code |
//! | `guardian` | the slot and the command |
//! | `sweeper` | kills the command if the guardian is killed, with `--orphans kill` |
//! | `waiting` | the guardian before it has a slot |
//! | `unit` | the slot: of a file, or of a cluster |
//! | `remote` | the guardian before it has a slot of a cluster |
//! | `link` | the messages between wrapper and guardian |
//! | `line` | what people see |
//! | `tree` | the descendants of a command: adopting, waiting, killing |
//! | `cgroup` | the same, by a control group |
//! | `native` | fork, signals, starting a program |

mod args;
pub(crate) mod cgroup;
mod guardian;
mod line;
mod link;
pub(crate) mod native;
#[cfg(feature = "etcd")]
mod remote;
#[cfg(not(feature = "etcd"))]
#[path = "not_remote.rs"]
mod remote;
mod sweeper;
pub(crate) mod tree;
mod unit;
mod waiting;
mod wrapper;

use crate::slots::not_ours;
pub(crate) use args::{Args, OnLost, Orphans, number, variable};
use clap::Parser;
use clap::error::{ContextKind, ErrorKind};
use doorway::shared::Error;
pub(crate) use guardian::builder;
use link::{Link, Message};
use native::{Board, Signals};
use rustix::fd::BorrowedFd;
use rustix::process::getpid;
use std::ffi::{CString, OsString};
use std::io::Write as _;
use std::time::Duration;
pub(crate) use waiting::Bell;

const USAGE: &str = "doorway run -n <K> <NAME> [OPTIONS] -- <COMMAND>...";

/// Exit codes of doorway itself, chosen as in `timeout(1)` and shells.
const NO_WAIT: u8 = 123;
const TIMED_OUT: u8 = 124;
const FAILED: u8 = 125;
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;

// A parser of its own: building all the others would take longer than running the command.
/// Run a command when a slot is free, and give the slot back when it has ended
#[derive(Parser)]
#[command(name = "doorway run", bin_name = "doorway run", override_usage = USAGE)]
struct Alone {
    #[command(flatten)]
    args: Args,
}

/// Runs `doorway run` with these arguments, without the first two words. Never returns.
pub(crate) fn run_alone(arguments: impl Iterator<Item = OsString>) -> ! {
    match Alone::try_parse_from([OsString::from("doorway run")].into_iter().chain(arguments)) {
        Ok(Alone { args }) => run(&args),
        Err(error) => {
            let _ = error.print();
            if error.kind() == ErrorKind::MissingRequiredArgument {
                let missing = error.get(ContextKind::InvalidArg).map_or_else(String::new, ToString::to_string);
                let say = if missing.contains("--slots") {
                    Some("say how many may run at once")
                } else {
                    // Without a name, the parser takes the first word of the command for it.
                    missing.contains("<COMMAND>").then_some("give a name, and then a command")
                };
                if let Some(say) = say {
                    let _ = writeln!(std::io::stderr(), "{say}: doorway run -n 4 gpu -- python train.py");
                }
            }
            std::process::exit(if error.use_stderr() { FAILED.into() } else { 0 })
        }
    }
}

/// The command in these arguments of `doorway run`.
pub(crate) fn command_of(arguments: &[OsString]) -> Option<Vec<OsString>> {
    let words = [OsString::from("doorway run")].into_iter().chain(arguments.iter().cloned());
    Some(Alone::try_parse_from(words).ok()?.args.command)
}

/// Side work of a guardian, while the command runs.
pub(crate) trait Besides {
    /// The name of the command that the user called.
    fn speaker(&self) -> &'static str {
        "doorway run"
    }

    /// There is a slot, and the command is about to start. Returns variables for it.
    fn begin(&mut self, _args: &Args) -> Result<Vec<CString>, String> {
        Ok(Vec::new())
    }

    /// Descriptors that the command inherits.
    fn inherits(&self) -> Vec<BorrowedFd<'_>> {
        Vec::new()
    }

    /// What to poll for a reason to take a [`turn`](Self::turn).
    fn reasons(&self) -> Vec<BorrowedFd<'_>> {
        Vec::new()
    }

    /// After this time there is a reason in any case.
    fn patience(&self) -> Option<Duration> {
        None
    }

    /// Something has happened, perhaps here. `say` prints a line for people.
    fn turn(&mut self, _say: &mut dyn FnMut(String)) {}

    /// The end, even if the command never started: there is no slot any more.
    fn end(&mut self) {}

    /// The wrapper ends; the guardian may be dead.
    fn wrapper_ends(&self) {}
}

/// No side work.
impl Besides for () {}

/// Never returns.
pub(crate) fn run(args: &Args) -> ! {
    run_besides(args, &mut ())
}

/// Never returns.
pub(crate) fn run_besides(args: &Args, besides: &mut dyn Besides) -> ! {
    let code = begin(args, besides).unwrap_or_else(|error| {
        line::Line::of(besides.speaker()).say(&cannot_begin(&error));
        FAILED
    });
    native::end(code.into())
}

fn begin(args: &Args, besides: &mut dyn Besides) -> std::io::Result<u8> {
    let board = Board::new()?;
    let (link, other) = Link::pair()?;
    let signals = Signals::take_over()?;
    let wrapper = getpid();
    tree::adopt(); // the command, if the guardian is killed
    match native::fork()? {
        Some(child) => {
            drop(other);
            let line = line::Line::of(besides.speaker());
            let code = wrapper::live(child, &link, &signals, board, line, args.keeps_a_descriptor());
            besides.wrapper_ends();
            Ok(code)
        }
        None => {
            drop(link);
            if args.orphans == Orphans::Kill {
                tree::adopt();
                match native::fork() {
                    Ok(Some(guardian)) => {
                        drop(other);
                        sweeper::live(guardian, board)
                    }
                    Ok(None) => {}
                    Err(error) => {
                        other.tell(&Message::Failed { code: FAILED, why: cannot_begin(&error) });
                        native::end(0)
                    }
                }
            }
            guardian::live(args, besides, &other, &signals, board, wrapper)
        }
    }
}

fn cannot_begin(error: &std::io::Error) -> String {
    format!("cannot begin: {error}{}", limits(error.raw_os_error()))
}

/// What to do about an error of the operating system that concerns limits of this user.
fn limits(code: Option<i32>) -> &'static str {
    match code {
        Some(libc::EMFILE) => "; allow more open files: ulimit -n 64",
        Some(libc::ENFILE) => "; the processes of this machine have too many files open: end some of them",
        Some(libc::EAGAIN) => "; end some processes of this user, or allow more: ulimit -u",
        Some(libc::ENOMEM) => "; end some processes that use much memory, or allow more: ulimit -v",
        _ => "",
    }
}

/// What is wrong and what to do about it, in the words of this command.
fn advice(error: &Error, args: &Args) -> String {
    let name = args.name.display();
    match error {
        Error::OtherSlots { found, asked } => format!(
            "{name} has {found} slots, not {asked}; give -n {found}, or, if no process uses it, remove it: doorway rm \
             {name}"
        ),
        Error::OtherSeats { found, .. } => format!("{error} (--seats {found}, or doorway rm {name})"),
        Error::NoSeats { .. } => format!("{error} (doorway rm {name}, then give more --seats)"),
        Error::Directory(path) => not_ours(path),
        Error::BadName(_) => format!("{error}; or give the path of a file, with a slash in it"),
        Error::System { code, .. } if !limits(Some(*code)).is_empty() => format!("{error}{}", limits(Some(*code))),
        Error::NoPermission(path) => format!(
            "this user has no permission for {}; ask its owner; to use another place, give --directory or DOORWAY_DIR",
            path.display()
        ),
        Error::System { .. } | Error::Full(_) | Error::FileSystem { .. } | Error::NoDirectory(_) => {
            format!("{error}; to use another place, give --directory or DOORWAY_DIR")
        }
        error => error.to_string(),
    }
}
