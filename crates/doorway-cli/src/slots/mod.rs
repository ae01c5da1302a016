//! Slots between processes, from the outside: `doorway status`, `doorway break`, `doorway rm`.
//!
//! | file | |
//! |---|---|
//! | `mod` | `break` and `rm`; which file is meant, and what its errors advise |
//! | `status` | `status`: what is looked at, and when |
//! | `show` | what was seen, as a table and as JSON |
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
  doorway rm gpu --force                even then: for a while there may be twice as many holders";

/// Which file is meant.
#[derive(clap::Args)]
struct Which {
    /// The name, or a path with a `/` in it
    #[arg(value_name = "NAME")]
    name: PathBuf,
    #[command(flatten)]
    sharing: Sharing,
}

#[derive(clap::Args)]
struct Sharing {
    /// For a file of several users: its permissions, as `chmod` has them, such as 660
    #[arg(long, value_name = "MODE", value_parser = octal)]
    permissions: Option<u32>,
}

fn octal(text: &str) -> Result<u32, String> {
    match u32::from_str_radix(text, 8) {
        Ok(mode) if mode <= 0o777 => Ok(mode),
        _ => Err("take octal digits as for `chmod`, such as 660".to_owned()),
    }
}

impl Sharing {
    fn existing(&self, name: &Path) -> Builder {
        let builder = Builder::existing(name);
        match self.permissions {
            Some(permissions) => builder.permissions(permissions),
            None => builder,
        }
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

/// The text of an error, with what to do next by this command.
fn advice(error: &Error) -> String {
    let text = match error {
        Error::Missing(path) => format!(
            "there is no {}; `doorway status` lists the names in use, and `doorway run` makes a new one",
            path.display()
        ),
        Error::InUse(path) => format!(
            "{} is in use; `doorway status` shows by which processes: end them first, or take --force",
            path.display()
        ),
        Error::NotOurs(_) => format!("{error}; if several users share it, say so by --permissions"),
        Error::Directory(path) => not_ours(path),
        error => error.to_string(),
    };
    visible(&text)
}

/// The text of [`Error::Directory`], in words of this command.
pub(crate) fn not_ours(directory: &Path) -> String {
    format!(
        "{} belongs to another user, or other users may write it; make it yours with mode 0700, name another directory \
         by DOORWAY_DIR, or say --permissions if several users share it",
        directory.display()
    )
}

/// Says why something could not be done. What no file could ever satisfy is bad usage.
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
    /// The slot, as `doorway status` numbers them
    slot: usize,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Only if the holder still has this fence, as `doorway status` shows it
    #[arg(long, value_name = "FENCE")]
    fence: Option<u64>,
}

pub(crate) fn break_slot(args: &BreakArgs) -> Result<Exit, String> {
    let (slots, status) = match args.which.existing().open().and_then(|slots| Ok((slots.status()?, slots))) {
        Ok((status, slots)) => (slots, status),
        Err(error) => return Ok(refused(&error)),
    };
    if args.slot >= status.slots {
        return Ok(refused(&Error::NoSuchSlot { slot: args.slot, slots: status.slots }));
    }
    let (slot, name) = (args.slot, args.which.shown());
    let Some(holder) = status.holders.iter().find(|holder| holder.slot == slot) else {
        eprintln!("doorway: nobody holds slot {slot} of {name}; `doorway status` shows the slots that are held");
        return Ok(Exit::Failed);
    };
    if let Some(fence) = args.fence.filter(|fence| *fence != holder.fence) {
        eprintln!(
            "doorway: slot {slot} of {name} has another holder, with fence {} instead of {fence}; look at it by \
             `doorway status`",
            holder.fence
        );
        return Ok(Exit::Failed);
    }
    if holder.dead && status.mode == Mode::Reclaim {
        print(&format!("the holder of slot {slot} of {name} was dead, and the slot has come back\n"))?;
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
            print(&format!("slot {slot} of {name} is broken: fences up to {fence} are outdated\n"))?;
            Ok(Exit::Fine)
        }
        Ok(None) => {
            eprintln!("doorway: slot {slot} of {name} has changed hands meanwhile, and nothing was done");
            Ok(Exit::Failed)
        }
        Err(error) => Ok(refused(&error)),
    }
}

/// Who loses the slot, and what that does not mean.
fn warning(name: &str, holder: &Holder, processes: &Processes) -> String {
    let slot = holder.slot;
    let by = show::described(&holder.known, processes);
    if holder.dead {
        return format!("slot {slot} of {name} was held by {by}, which is dead; look at what it left half done");
    }
    let stop = processes.to_end(&holder.known).map(|those| format!("\nTo stop it first: kill {those}"));
    let stop = stop.unwrap_or_default();
    format!(
        "slot {slot} of {name} is held by {by}\n\
         To break the slot does not stop that process. It may go on with what the slot stands for, beside the\n\
         next holder.{stop}"
    )
}

/// Asks on a terminal. Without one, nobody can answer.
fn is_confirmed() -> Result<bool, String> {
    if !stdin().is_terminal() || !stderr().is_terminal() {
        return Err("there is no terminal to ask on; add --yes to break the slot without a question".to_owned());
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
    /// Even if processes use it: for a while there may then be twice as many holders
    #[arg(long, short)]
    force: bool,
}

pub(crate) fn rm(args: &RmArgs) -> Result<Exit, String> {
    let builder = args.which.existing();
    // Only if it is forced: a process that looks at the file has it open itself.
    let users = if args.force { users(&builder) } else { None };
    match if args.force { builder.remove_by_force() } else { builder.remove() } {
        Ok(()) => {}
        Err(error) => return Ok(refused(&error)),
    }
    if let Some((holders, waiters)) = users.filter(|users| *users != (0, 0)) {
        eprintln!(
            "{holders} holders and {waiters} waiters had it open. Holders go on, waiters end with an error, and the \
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
