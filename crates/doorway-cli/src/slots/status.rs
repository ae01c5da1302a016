//! `doorway status`

use super::Sharing;
use super::show::{Look, Seen};
use crate::Exit;
use crate::output::{Reader, cut, print_to_reader, visible_json};
use crate::run::native::was_closed;
use doorway::shared::{Error, names, names_in};
use std::io::{IsTerminal as _, stdout};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The name, or a path that contains a `/` [default: all names in the directory in use]
    name: Option<PathBuf>,
    #[command(flatten)]
    sharing: Sharing,
    /// Print one JSON document; with --watch, one on each line
    #[arg(long)]
    json: bool,
    /// Show the status again and again, until Ctrl-C
    #[arg(long, short)]
    watch: bool,
    /// With --watch: the time from one output to the next, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = seconds, requires = "watch")]
    every: f64,
    /// For slots between machines: the addresses of an etcd cluster, separated by commas
    #[arg(long, value_name = "ENDPOINTS", conflicts_with = "permissions", requires = "name")]
    etcd: Option<String>,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.01..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("give a number of seconds from 0.01 to 86400".to_owned()),
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    if let (Some(endpoints), Some(name)) = (&args.etcd, &args.name) {
        return in_a_cluster(args, endpoints, &name.to_string_lossy());
    }
    loop {
        let look = match look(args) {
            Ok(look) => look,
            Err(error) => return Ok(super::refused(&error)),
        };
        let text = match (args.json, args.watch) {
            (true, false) => pretty(&look)?,
            (true, true) => visible_json(&serde_json::to_string(&look.as_json()).map_err(|e| e.to_string())?) + "\n",
            (false, false) => look.as_text(),
            (false, true) if stdout().is_terminal() => redrawn(&look.as_text()),
            (false, true) => look.as_text() + "\n",
        };
        // If a stream was closed when the program began, writing to it loses the text without an
        // error.
        let nobody_reads = print_to_reader(&text)? == Reader::Gone || was_closed(1);
        if nobody_reads || !args.watch {
            return Ok(if look.is_fine() { Exit::Fine } else { Exit::Failed });
        }
        std::thread::sleep(Duration::from_secs_f64(args.every));
    }
}

fn in_a_cluster(args: &Args, endpoints: &str, name: &str) -> Result<Exit, String> {
    loop {
        let exit = crate::etcd::status(endpoints, name, args.json)?;
        if !args.watch || exit != Exit::Fine || was_closed(1) {
            return Ok(exit);
        }
        std::thread::sleep(Duration::from_secs_f64(args.every));
    }
}

fn pretty(look: &Look) -> Result<String, String> {
    Ok(visible_json(&serde_json::to_string_pretty(&look.as_json()).map_err(|e| e.to_string())?) + "\n")
}

/// A file that cannot be read does not hide the others.
fn look(args: &Args) -> Result<Look, Error> {
    let seen = |name: &Path| Seen {
        name: name.to_owned(),
        status: args.sharing.existing(name).open().and_then(|slots| slots.status()),
    };
    let at = SystemTime::now();
    match &args.name {
        Some(name) => match seen(name) {
            Seen { status: Err(error @ Error::BadName(_)), .. } => Err(error),
            seen => Ok(Look { directory: None, files: vec![seen], at }),
        },
        None => {
            let found = args.sharing.directory.as_ref().map_or_else(names, names_in)?;
            let mut files: Vec<Seen> = found.names.iter().map(|name| seen(Path::new(name))).collect();
            // A file that was removed since the names were read no longer counts.
            files.retain(|seen| !matches!(seen.status, Err(Error::Missing(_) | Error::Deleted(_))));
            Ok(Look { directory: Some(found.directory), files, at })
        }
    }
}

/// Draws over the old text line by line, because clearing the whole screen first would flicker.
/// Leaves out what does not fit.
fn redrawn(text: &str) -> String {
    let (rows, columns) = match rustix::termios::tcgetwinsize(stdout()) {
        Ok(size) if size.ws_row > 0 && size.ws_col > 0 => (usize::from(size.ws_row), usize::from(size.ws_col)),
        _ => (24, 80),
    };
    let mut drawn = "\x1b[H".to_owned();
    for line in text.lines().take(rows - 1) {
        drawn.push_str(cut(line, columns));
        drawn.push_str("\x1b[K\r\n");
    }
    drawn + "\x1b[J"
}
