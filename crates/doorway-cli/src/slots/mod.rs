//! Slots between processes, seen from outside: `doorway status`, `doorway break`, `doorway rm`.
//!
//! | file | |
//! |---|---|
//! | `mod` | `break` and `rm`; which file is meant, and the advice of its errors |
//! | `status` | `status`: what it looks at, and when |
//! | `show` | what it saw, as a table and as JSON |
//! | `process` | the command line of a process that holds or waits |

mod process;
mod show;
mod status;

pub(crate) use status::{Args as StatusArgs, run as status};

use crate::Exit;
use crate::output::{print, visible};
use doorway::shared::{Builder, Error, Holder, Mode, Slots};
use process::Processes;
use std::io::{IsTerminal as _, Write as _, stderr, stdin};
use std::path::{Path, PathBuf};

pub(crate) const STATUS_EXAMPLES: &str = "\
Examples:
  doorway status                        all names
  doorway status gpu                    one of them
  doorway status gpu --watch            again every second
  doorway status gpu --json | jq '.files[0].holders[].pid'
  doorway status /run/gpus/slots --permissions 660
                                        a file of several users";

pub(crate) const BREAK_EXAMPLES: &str = "\
Examples:
  doorway status gpu                    which slot is stuck?
  doorway break gpu 2                   asks before it does anything
  doorway break gpu 2 --yes --fence 17  for scripts: only if the holder is still that one";

pub(crate) const RM_EXAMPLES: &str = "\
Examples:
  doorway rm gpu                        refused while a process has it open
  doorway rm gpu --force                even then; old and new holders may overlap for a while";

/// The file that the user means.
#[derive(clap::Args)]
struct Which {
    /// The name, or a path that contains a `/`
    #[arg(value_name = "NAME")]
    name: PathBuf,
    #[command(flatten)]
    sharing: Sharing,
}

#[derive(clap::Args)]
struct Sharing {
    /// For a file that several users share: its permissions, as for `chmod`, such as 660
    #[arg(long, value_name = "OCTAL", value_parser = octal)]
    permissions: Option<u32>,
    /// The directory of the names, instead of the usual place or DOORWAY_DIR
    #[arg(long, value_name = "PATH")]
    directory: Option<PathBuf>,
}

fn octal(text: &str) -> Result<u32, String> {
    match u32::from_str_radix(text, 8) {
        Ok(mode) if mode <= 0o777 => Ok(mode),
        _ => Err("give octal digits as for `chmod`, such as 660".to_owned()),
    }
}

impl Sharing {
    fn existing(&self, name: &Path) -> Builder {
        let mut builder = Builder::existing(name);
        if let Some(permissions) = self.permissions {
            builder = builder.permissions(permissions);
        }
        if let Some(directory) = &self.directory {
            builder = builder.directory(directory);
        }
        builder
    }
}

impl Which {
    fn existing(&self) -> Builder {
        self.sharing.existing(&self.name)
    }

    fn shown(&self) -> String {
        visible(&self.name.to_string_lossy())
    }
}

/// The text of an error, and what to do next with this command.
fn advice(error: &Error) -> String {
    let text = match error {
        Error::Missing(path) => format!(
            "there is no {}; `doorway status` lists the names in use, and `doorway run` creates a new one; if it was \
             given --directory, give the same here",
            path.display()
        ),
        Error::InUse(path) => format!(
            "{} is in use; `doorway status` shows by which processes; end them first, or add --force",
            path.display()
        ),
        Error::NotOurs(_) => format!("{error}; if several users share it, give its --permissions"),
        Error::Directory(path) => not_ours(path),
        error => error.to_string(),
    };
    visible(&text)
}

/// The text of [`Error::Directory`], in the words of this command.
pub(crate) fn not_ours(directory: &Path) -> String {
    format!(
        "{} belongs to another user, or other users can write to it; make it yours with mode 0700, set DOORWAY_DIR \
         to another directory, or give --permissions if several users share it",
        directory.display()
    )
}

/// Prints why something could not be done. A request that no file could satisfy is bad usage.
fn refused(error: &Error) -> Exit {
    eprintln!("doorway: {}", advice(error));
    match error {
        Error::BadName(_) | Error::NoSuchSlot { .. } | Error::Unsupported => Exit::BadUsage,
        _ => Exit::Failed,
    }
}

#[derive(clap::Args)]
pub(crate) struct BreakArgs {
    #[command(flatten)]
    which: Which,
    /// The slot, as numbered by `doorway status`
    slot: usize,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
    /// Break the slot only if its holder still has this fence, as shown by `doorway status`
    #[arg(long, value_name = "FENCE")]
    fence: Option<u64>,
    /// For slots between machines: the addresses of an etcd cluster, separated by commas
    #[arg(long, value_name = "ENDPOINTS", conflicts_with = "permissions")]
    etcd: Option<String>,
}

pub(crate) fn break_slot(args: &BreakArgs) -> Result<Exit, String> {
    if let Some(endpoints) = &args.etcd {
        let name = args.which.name.to_string_lossy();
        let is_confirmed = || if args.yes { Ok(true) } else { is_confirmed() };
        return crate::etcd::break_slot(endpoints, &name, args.slot, args.fence, is_confirmed);
    }
    let (slots, status) = match args.which.existing().open().and_then(|slots| Ok((slots.status()?, slots))) {
        Ok((status, slots)) => (slots, status),
        Err(error) => return Ok(refused(&error)),
    };
    if args.slot >= status.slots {
        return Ok(refused(&Error::NoSuchSlot { slot: args.slot, slots: status.slots }));
    }
    let (slot, name) = (args.slot, args.which.shown());
    let Some(holder) = status.holders.iter().find(|holder| holder.slot == slot) else {
        eprintln!("doorway: slot {slot} of {name} is free; `doorway status` shows the slots that are held");
        return Ok(Exit::Failed);
    };
    if let Some(fence) = args.fence.filter(|fence| *fence != holder.fence) {
        eprintln!(
            "doorway: slot {slot} of {name} has another holder, with fence {} instead of {fence}; see \
             `doorway status`",
            holder.fence
        );
        return Ok(Exit::Failed);
    }
    if holder.dead && status.mode == Mode::Reclaim {
        print(&format!("the holder of slot {slot} of {name} is dead, and the slot has come back\n"))?;
        return Ok(Exit::Fine);
    }
    eprintln!("{}", warning(&name, holder, &Processes::of(&status.path)));
    if !args.yes && !is_confirmed()? {
        eprintln!("nothing was done");
        return Ok(Exit::Failed);
    }
    break_it(&slots, &name, holder)
}

fn break_it(slots: &Slots, name: &str, holder: &Holder) -> Result<Exit, String> {
    let Holder { slot, fence, .. } = *holder;
    match slots.break_holder(slot, fence) {
        Ok(Some(_)) => {
            print(&format!("slot {slot} of {name} is broken: fences up to {fence} are stale\n"))?;
            Ok(Exit::Fine)
        }
        Ok(None) => {
            eprintln!("doorway: slot {slot} of {name} has changed hands in the meantime; nothing was done");
            Ok(Exit::Failed)
        }
        Err(error) => Ok(refused(&error)),
    }
}

/// Which process loses the slot, and what that does not mean.
fn warning(name: &str, holder: &Holder, processes: &Processes) -> String {
    let slot = holder.slot;
    let by = show::described(&holder.known, processes);
    if holder.dead {
        return format!("slot {slot} of {name} was held by {by}, which is dead; check what it left unfinished");
    }
    let stop = processes.to_end(&holder.known).map(|those| format!("\nTo stop it first: kill {those}"));
    let stop = stop.unwrap_or_default();
    format!(
        "slot {slot} of {name} is held by {by}\n\
         Breaking the slot does not stop that process: it may go on using what the slot stands for, at the same time\n\
         as the next holder.{stop}"
    )
}

/// Asks on a terminal. Without one, there is no way to answer.
fn is_confirmed() -> Result<bool, String> {
    if !stdin().is_terminal() || !stderr().is_terminal() {
        return Err("there is no terminal to ask on; add --yes to break the slot without asking".to_owned());
    }
    eprint!("Break it? [y/N] ");
    stderr().flush().map_err(|e| e.to_string())?;
    let mut answer = String::new();
    stdin().read_line(&mut answer).map_err(|e| format!("cannot read the answer: {e}"))?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

#[derive(clap::Args)]
pub(crate) struct RmArgs {
    #[command(flatten)]
    which: Which,
    /// Remove the file even if processes use it: old and new holders may overlap for a while
    #[arg(long, short)]
    force: bool,
}

pub(crate) fn rm(args: &RmArgs) -> Result<Exit, String> {
    let builder = args.which.existing();
    // Only if it is forced: this process opens the file itself in order to look.
    let users = if args.force { users(&builder) } else { None };
    match if args.force { builder.remove_by_force() } else { builder.remove() } {
        Ok(()) => {}
        Err(error) => return Ok(refused(&error)),
    }
    if let Some((holders, waiters)) = users.filter(|users| *users != (0, 0)) {
        eprintln!(
            "it was in use, with {holders} held and {waiters} waiting. Holders go on, waiters fail with an error, and the \
             next process that\nopens the name gets a new file with all slots free."
        );
    }
    print(&format!("removed {}\n", args.which.shown()))?;
    Ok(Exit::Fine)
}

fn users(builder: &Builder) -> Option<(usize, usize)> {
    let status = builder.open().ok()?.status().ok()?;
    let living = status.holders.iter().filter(|holder| !holder.dead).count();
    Some((living, status.waiters.iter().filter(|waiter| !waiter.dead).count()))
}
