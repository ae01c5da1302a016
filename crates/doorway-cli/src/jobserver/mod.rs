//! `doorway jobserver`: GNU make's jobserver, whose tokens stand for slots between processes.
//!
//! It is `doorway run` with a guardian that also hands out tokens.
//!
//! | file | |
//! |---|---|
//! | `mod` | its options |
//! | `fifo` | the pipe that holds the tokens |
//! | `tokens` | the accounts: tokens against slots |
//! | `clients` | whether any process could still give a token back |
//! | `flags` | what clients are told, and which style they understand |

mod clients;
mod fifo;
mod flags;
mod tokens;

use crate::run::{self, Besides, Orphans, builder, variable};
use clap::ValueEnum;
use doorway::shared::Builder;
use fifo::Fifo;
use rustix::fd::BorrowedFd;
use std::ffi::{CString, OsString};
use std::path::PathBuf;
use std::time::Duration;
use tokens::Tokens;

pub(crate) const EXAMPLES: &str = "\
Examples:
  doorway jobserver -n 8 -- make                 at most 8 jobs in this build
  doorway jobserver -n 8 cores -- make           at most 8 in all builds named `cores`
  doorway jobserver -n 8 cores -- cargo build    shares the same 8
  doorway jobserver -n 8 cores --style fifo -- ninja";

/// How clients reach the tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Style {
    /// Through a path.
    Fifo,
    /// Through two descriptors that they inherit.
    Pipe,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Wanted {
    /// A path, unless the command may run a make older than 4.4
    Auto,
    /// A path: GNU make 4.4 and later, cargo, ninja 1.13 and later, gcc 13 and later
    Fifo,
    /// Two inherited descriptors: older programs too, but not ninja
    Pipe,
}

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many jobs may run at once: the command itself, and one for each token. Every user of the
    /// name must give the same number
    #[arg(short = 'n', long, value_name = "K", value_parser = run::number)]
    slots: usize,
    /// The name of the slots that builds on this machine share, as in `doorway run` [default: slots
    /// of this build alone]
    #[arg(value_name = "NAME")]
    name: Option<OsString>,
    /// How clients reach the tokens
    #[arg(long, value_enum, default_value_t = Wanted::Auto)]
    style: Wanted,
    /// What to do with processes that outlive the command, as in `doorway run`
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Orphans::Hold)]
    orphans: Orphans,
    /// A text of at most 64 bytes that `doorway status` shows
    #[arg(long, value_name = "TEXT")]
    label: Option<OsString>,
    /// The directory of the names, instead of the usual place or DOORWAY_DIR
    #[arg(long, value_name = "PATH")]
    directory: Option<PathBuf>,
    /// How many processes may hold or wait at once, together, as in `doorway run`
    #[arg(long, value_name = "SEATS", value_parser = run::number)]
    seats: Option<usize>,
    /// Say how long it waited for the first slot, and which style it chose
    #[arg(short, long)]
    verbose: bool,
    /// The command and its arguments. The option -j of make and ninja is dropped: with it they
    /// would ignore the jobserver
    #[arg(value_name = "COMMAND", required = true, last = true)]
    command: Vec<OsString>,
}

/// Never returns.
pub(crate) fn run(args: &Args) -> ! {
    let style = match args.style {
        Wanted::Auto => flags::style_for(&args.command[0]),
        Wanted::Fifo => Style::Fifo,
        Wanted::Pipe => Style::Pipe,
    };
    // A build's own slots are a file like any other, with a name that no other build uses.
    let own = || format!("jobserver.{}.{:08x}", std::process::id(), fifo::nonce() as u32).into();
    let told = run::Args {
        slots: args.slots,
        name: args.name.clone().unwrap_or_else(own),
        timeout: None,
        no_wait: false,
        verbose: args.verbose,
        environment: Vec::new(),
        orphans: args.orphans,
        label: args.label.clone(),
        directory: args.directory.clone(),
        seats: args.seats,
        permissions: None,
        etcd: None,
        ttl: None,
        on_lost: run::OnLost::Kill,
        command: flags::without_jobs(&args.command).unwrap_or_else(|| args.command.clone()),
    };
    let own = args.name.is_none().then(|| builder(&told));
    run::run_besides(&told, &mut Jobserver { style, tokens: None, own, news: None })
}

/// The side work of the guardian.
struct Jobserver {
    style: Style,
    /// Set when the command starts.
    tokens: Option<Tokens>,
    /// The file to remove at the end, if it is this build's own.
    own: Option<Builder>,
    /// What to say at the next turn.
    news: Option<String>,
}

impl Besides for Jobserver {
    fn speaker(&self) -> &'static str {
        "doorway jobserver"
    }

    fn begin(&mut self, args: &run::Args) -> Result<Vec<CString>, String> {
        let before = std::env::var_os("MAKEFLAGS").unwrap_or_default();
        let slots = builder(args).open().map_err(|error| error.to_string())?;
        let place = slots.path().parent().map(PathBuf::from).unwrap_or_default();
        let fails = |e: std::io::Error| format!("cannot create a pipe for job tokens: {e}");
        let tokens = Tokens::new(Fifo::new(&place, self.style).map_err(fails)?, slots).map_err(fails)?;
        let auth = tokens.fifo().auth();
        self.tokens = Some(tokens);
        // Before the command starts, so that the first token is there.
        self.turn(&mut |_| {});
        if args.verbose {
            let style = match self.style {
                Style::Fifo => "a path",
                Style::Pipe => "two descriptors",
            };
            self.news = Some(format!("clients reach the jobserver by {style}, {auth}"));
        }
        Ok(vec![
            variable("MAKEFLAGS", flags::makeflags(&before, args.slots, &auth)),
            variable("CARGO_MAKEFLAGS", flags::ours(args.slots, &auth)),
        ])
    }

    fn inherits(&self) -> Vec<BorrowedFd<'_>> {
        self.tokens.iter().flat_map(|tokens| tokens.fifo().inherited()).collect()
    }

    fn reasons(&self) -> Vec<BorrowedFd<'_>> {
        self.tokens.iter().flat_map(Tokens::reasons).collect()
    }

    fn patience(&self) -> Option<Duration> {
        self.tokens.as_ref().map(Tokens::patience)
    }

    fn turn(&mut self, say: &mut dyn FnMut(String)) {
        if let Some(tokens) = &mut self.tokens {
            tokens.turn(say);
        }
        if let Some(news) = self.news.take() {
            say(news);
        }
    }

    fn end(&mut self) {
        if let Some(mut tokens) = self.tokens.take() {
            tokens.end();
        }
        if let Some(own) = &self.own {
            let _ = own.remove_by_force();
        }
    }

    fn wrapper_ends(&self) {
        // Unless other processes go on without the guardian.
        if let Some(own) = &self.own {
            let _ = own.remove();
        }
    }
}
