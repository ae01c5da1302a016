//! `doorway jobserver`: GNU make's jobserver, with slots between processes behind its tokens.
//!
//! It is `doorway run` with a guardian that gives out tokens besides.
//!
//! | file | |
//! |---|---|
//! | `mod` | what it is told |
//! | `fifo` | the pipe that tokens lie in |
//! | `tokens` | the accounts: tokens against slots |
//! | `clients` | whether anybody could still give a token back |
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
  doorway jobserver -n 8 cores -- make           at most 8 in all builds that say `cores`
  doorway jobserver -n 8 cores -- cargo build    another of them
  doorway jobserver -n 8 cores --style fifo -- ninja";

/// How clients reach the tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Style {
    /// By a path.
    Fifo,
    /// By two descriptors that they inherit.
    Pipe,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Wanted {
    /// By a path, unless the command may run a make that is older than 4.4
    Auto,
    /// By a path: GNU make 4.4 and later, cargo, ninja 1.13 and later, gcc 13 and later
    Fifo,
    /// By two descriptors that they inherit: older ones too, but not ninja
    Pipe,
}

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many jobs may run at the same time: the command itself, and one for each token. With a
    /// name, everybody who uses it must say the same number
    #[arg(short = 'n', long, value_name = "K", value_parser = run::number)]
    slots: usize,
    /// The name of slots that builds on this machine share, as in `doorway run`; without, they are
    /// this build's own
    #[arg(value_name = "NAME")]
    name: Option<OsString>,
    /// How clients reach the tokens
    #[arg(long, value_enum, default_value_t = Wanted::Auto)]
    style: Wanted,
    /// What becomes of processes that the command leaves behind, as in `doorway run`
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Orphans::Hold)]
    orphans: Orphans,
    /// A text of at most 64 bytes that `doorway status` shows
    #[arg(long, value_name = "TEXT")]
    label: Option<OsString>,
    /// Where names lie, instead of the usual place or DOORWAY_DIR
    #[arg(long, value_name = "PATH")]
    directory: Option<PathBuf>,
    /// How many may hold or wait at the same time, together, as in `doorway run`
    #[arg(long, value_name = "SEATS")]
    seats: Option<usize>,
    /// Says how long it waited for the first slot, and which style it chose
    #[arg(short, long)]
    verbose: bool,
    /// The command and its arguments. Of make and ninja, -j is left out: with it they would not
    /// listen
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
    // Slots of its own are a file as any other, with a name that nobody else takes.
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
        command: flags::without_jobs(&args.command).unwrap_or_else(|| args.command.clone()),
    };
    let own = args.name.is_none().then(|| builder(&told));
    run::run_besides(&told, &mut Jobserver { style, tokens: None, own, news: None })
}

/// What the guardian does besides.
struct Jobserver {
    style: Style,
    /// From when the command begins.
    tokens: Option<Tokens>,
    /// The file to be removed at the end, if it is this build's own.
    own: Option<Builder>,
    /// What is to be said at the next turn.
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
        let fails = |e: std::io::Error| format!("cannot make a pipe for job tokens: {e}");
        let tokens = Tokens::new(Fifo::new(&place, self.style).map_err(fails)?, slots).map_err(fails)?;
        let auth = tokens.fifo().auth();
        self.tokens = Some(tokens);
        // Before the command begins, so that the first token lies there.
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
        // Unless the tree goes on without it.
        if let Some(own) = &self.own {
            let _ = own.remove();
        }
    }
}
