//! What `doorway status` saw, for people and for programs.

use super::advice;
use super::process::Processes;
use crate::output::visible;
use doorway::shared::{Error, Holder, Known, Mode, Status, Waiter};
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What it saw of one file.
pub(super) struct Seen {
    pub(super) name: PathBuf,
    pub(super) status: Result<Status, Error>,
}

/// One look at all files that were asked for.
pub(super) struct Look {
    /// None if one file was asked for.
    pub(super) directory: Option<PathBuf>,
    pub(super) files: Vec<Seen>,
    pub(super) at: SystemTime,
}

impl Look {
    pub(super) fn is_fine(&self) -> bool {
        self.files.iter().all(|seen| seen.status.is_ok())
    }

    pub(super) fn as_text(&self) -> String {
        let mut text = String::new();
        if let Some(directory) = &self.directory {
            let directory = visible(&directory.to_string_lossy());
            match self.files.len() {
                0 => {
                    let _ = writeln!(text, "no names in {directory}\n`doorway run -n K NAME -- CMD` creates one");
                }
                _ => {
                    let _ = writeln!(text, "in {directory}");
                }
            }
        }
        for seen in &self.files {
            if !text.is_empty() {
                text.push('\n');
            }
            let name = visible(&seen.name.to_string_lossy());
            match &seen.status {
                Ok(status) => self.describe(&mut text, &name, status),
                Err(error) => {
                    let _ = writeln!(text, "{name}: {}", advice(error));
                }
            }
        }
        text
    }

    fn describe(&self, text: &mut String, name: &str, status: &Status) {
        let Status { slots, mode, bypass, holders, waiters, .. } = status;
        let held = format!("{} of {slots} slots held", holders.len());
        let _ = writeln!(text, "{name}: {held}, {} waiting, mode {mode}{}", waiters.len(), bypass_of(*bypass));
        if self.directory.is_none() {
            let _ = writeln!(text, "{}", visible(&status.path.to_string_lossy()));
        }
        let processes = Processes::of(&status.path);
        if !holders.is_empty() {
            let rows = holders.iter().map(|holder| self.holder(holder, name, *mode, &processes)).collect();
            table(text, ["SLOT", "FENCE", "PID", "FOR", "LABEL", "COMMAND"], rows);
        }
        if !waiters.is_empty() {
            let rows = waiters.iter().enumerate().map(|(at, waiter)| self.waiter(at, waiter, &processes)).collect();
            table(text, ["LINE", "OFFER", "PID", "FOR", "LABEL", "COMMAND"], rows);
        }
    }

    fn holder(&self, holder: &Holder, name: &str, mode: Mode, processes: &Processes) -> [String; 6] {
        let Holder { slot, fence, .. } = *holder;
        let [pid, since, label, command] = self.known(&holder.known, processes);
        let command = match (holder.dead, mode) {
            (false, _) => command,
            (true, Mode::Reclaim) => "dead: the slot comes back now".to_owned(),
            (true, _) => format!("dead: the slot stays taken until `doorway break {name} {slot}`"),
        };
        [slot.to_string(), fence.to_string(), pid, since, label, command]
    }

    fn waiter(&self, at: usize, waiter: &Waiter, processes: &Processes) -> [String; 6] {
        let [pid, since, label, command] = self.known(&waiter.known, processes);
        let offered = waiter.offered.map_or_else(String::new, |slot| format!("slot {slot}"));
        let command = if waiter.dead { "dead".to_owned() } else { command };
        [(at + 1).to_string(), offered, pid, since, label, command]
    }

    fn known(&self, known: &Known, processes: &Processes) -> [String; 4] {
        let pid = known.pid.map_or_else(|| "?".to_owned(), |pid| pid.to_string());
        let since = known.since.map_or_else(|| "?".to_owned(), |since| duration(passed(since, self.at)));
        let label = known.label.as_deref().map(visible).unwrap_or_default();
        let command = processes.command(known).map_or_else(|| "?".to_owned(), |words| line(&words));
        [pid, since, label, command]
    }

    pub(super) fn as_json(&self) -> Document {
        let directory = match (&self.directory, &self.files[..]) {
            (Some(directory), _) => Some(directory.as_path()),
            (None, [Seen { status: Ok(status), .. }]) => status.path.parent(),
            _ => None,
        };
        Document {
            directory: directory.map(text_of),
            files: self.files.iter().map(|seen| self.file_as_json(seen)).collect(),
        }
    }

    fn file_as_json(&self, seen: &Seen) -> FileRow {
        let name = text_of(&seen.name);
        let status = match &seen.status {
            Ok(status) => status,
            Err(error) => return FileRow { name, error: Some(error.to_string()), file: None },
        };
        let processes = Processes::of(&status.path);
        let process = |known: &Known, dead: bool| ProcessRow {
            pid: known.pid,
            dead,
            label: known.label.clone(),
            since: known.since.map(|since| passed(SystemTime::UNIX_EPOCH, since).as_secs_f64()),
            seconds: known.since.map(|since| passed(since, self.at).as_secs_f64()),
            command: if dead { None } else { processes.command(known) },
        };
        let holder = |holder: &Holder| HolderRow {
            slot: holder.slot,
            fence: holder.fence,
            process: process(&holder.known, holder.dead),
        };
        let waiter =
            |waiter: &Waiter| WaiterRow { offered: waiter.offered, process: process(&waiter.known, waiter.dead) };
        let file = Contents {
            path: text_of(&status.path),
            slots: status.slots,
            seats: status.seats,
            mode: status.mode.to_string(),
            bypass: status.bypass,
            holders: status.holders.iter().map(holder).collect(),
            waiters: status.waiters.iter().map(waiter).collect(),
        };
        FileRow { name, error: None, file: Some(file) }
    }
}

/// Strict order needs no word.
fn bypass_of(bypass: u16) -> String {
    if bypass == 0 { String::new() } else { format!(", bypass {bypass}") }
}

fn text_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Described in `docs/command.md`. Fields are added, never removed.
#[derive(Serialize)]
pub(super) struct Document {
    directory: Option<String>,
    files: Vec<FileRow>,
}

#[derive(Serialize)]
struct FileRow {
    name: String,
    error: Option<String>,
    #[serde(flatten)]
    file: Option<Contents>,
}

#[derive(Serialize)]
struct Contents {
    path: String,
    slots: usize,
    seats: usize,
    mode: String,
    bypass: u16,
    holders: Vec<HolderRow>,
    waiters: Vec<WaiterRow>,
}

#[derive(Serialize)]
struct HolderRow {
    slot: usize,
    fence: u64,
    #[serde(flatten)]
    process: ProcessRow,
}

#[derive(Serialize)]
struct WaiterRow {
    offered: Option<usize>,
    #[serde(flatten)]
    process: ProcessRow,
}

#[derive(Serialize)]
struct ProcessRow {
    pid: Option<u32>,
    dead: bool,
    label: Option<String>,
    /// In seconds since the start of 1970.
    since: Option<f64>,
    seconds: Option<f64>,
    command: Option<Vec<String>>,
}

/// A process in a sentence.
pub(super) fn described(known: &Known, processes: &Processes) -> String {
    let mut text = known.pid.map_or_else(|| "an unknown process".to_owned(), |pid| format!("process {pid}"));
    if let Some(label) = &known.label {
        let _ = write!(text, " [{}]", visible(label));
    }
    if let Some(since) = known.since {
        let _ = write!(text, " for {}", duration(passed(since, SystemTime::now())));
    }
    if let Some(words) = processes.command(known) {
        let _ = write!(text, ": {}", line(&words));
    }
    text
}

/// The clock may have been set back in the meantime.
fn passed(since: SystemTime, now: SystemTime) -> Duration {
    now.duration_since(since).unwrap_or_default()
}

/// `12s`, `3m05s`, `2h07m`, `4d03h`: the two largest units.
fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{minutes}m{:02}s", seconds % 60),
        3600..86_400 => format!("{hours}h{:02}m", minutes % 60),
        _ => format!("{days}d{:02}h", hours % 24),
    }
}

/// A command line as one would type it.
fn line(words: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,@%+{}".contains(c);
    let quoted = |word: &String| -> String {
        let is_plain = !word.is_empty() && word.chars().all(plain);
        visible(&if is_plain { Cow::Borrowed(word) } else { Cow::Owned(format!("'{}'", word.replace('\'', r"'\''"))) })
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// Aligns columns; the last two are flush left. A column without text is left out.
fn table(text: &mut String, heads: [&str; 6], rows: Vec<[String; 6]>) {
    let used: Vec<usize> = (0..heads.len()).filter(|at| rows.iter().any(|row| !row[*at].is_empty())).collect();
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0).max(heads[at].len());
    for row in std::iter::once(heads.map(str::to_owned)).chain(rows.iter().cloned()) {
        let mut line = String::new();
        for &at in &used {
            let _ = match at {
                0..4 => write!(line, "  {:>1$}", row[at], width(at)),
                _ => write!(line, "  {:<1$}", row[at], width(at)),
            };
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_for_people() {
        let of = |seconds| duration(Duration::from_secs(seconds));
        assert_eq!(
            [0, 59, 60, 185, 3600, 7_620, 86_400, 356_400].map(of),
            ["0s", "59s", "1m00s", "3m05s", "1h00m", "2h07m", "1d00h", "4d03h"]
        );
        assert_eq!(passed(SystemTime::now() + Duration::from_secs(60), SystemTime::now()), Duration::ZERO);
    }

    #[test]
    fn command_lines_can_be_typed_and_cannot_hurt_a_terminal() {
        let of = |words: &[&str]| line(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["make", "-j4", "CC=gcc"]), "make -j4 CC=gcc");
        assert_eq!(of(&["sh", "-c", "echo it's", ""]), r"sh -c 'echo it'\''s' ''");
        assert_eq!(of(&["x", "\x1b[2J"]), r"x '\u{1b}[2J'");
    }
}
