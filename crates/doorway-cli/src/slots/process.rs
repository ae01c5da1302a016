//! The command line of a process that holds or waits, read at the time of the look: no file of
//! doorway's keeps a copy.

use doorway::shared::Known;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Processes that have a file open.
pub(super) struct Processes {
    /// The file as the kernel shows it among the descriptors of a process.
    file: PathBuf,
}

impl Processes {
    pub(super) fn of(file: &Path) -> Self {
        Self { file: fs::canonicalize(file).unwrap_or_else(|_| file.to_owned()) }
    }

    /// The command line of this process, if it belongs to this user and has the file open.
    ///
    /// The number may belong to another PID namespace, or to a process that ended long ago and left
    /// its slot to a child. So a process counts only if it has the file open.
    pub(super) fn command(&self, known: &Known) -> Option<Vec<String>> {
        let words = self.words(known)?;
        let words = guarded(&words).unwrap_or(words);
        Some(words.iter().map(|word| word.to_string_lossy().into_owned()).collect())
    }

    /// The processes to end so that this one gives its slot back. A guardian ignores signals; it
    /// gives the slot back when its command has ended.
    pub(super) fn to_end(&self, known: &Known) -> Option<String> {
        let (pid, words) = (known.pid?, self.words(known)?);
        if guarded(&words).is_none() {
            return Some(pid.to_string());
        }
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
        Some(children.trim().to_owned()).filter(|children| !children.is_empty())
    }

    fn words(&self, known: &Known) -> Option<Vec<OsString>> {
        let about = Path::new("/proc").join(known.pid?.to_string());
        let is_ours = fs::metadata(&about).is_ok_and(|stat| stat.uid() == rustix::process::geteuid().as_raw());
        if !is_ours || !self.is_open_in(&about) {
            return None;
        }
        let line = fs::read(about.join("cmdline")).ok()?;
        let line = line.strip_suffix(b"\0").unwrap_or(&line);
        let words: Vec<OsString> =
            line.split(|byte| *byte == 0).map(|word| OsString::from_vec(word.to_vec())).collect();
        if words[0].is_empty() {
            return None; // it is ending
        }
        Some(words)
    }

    fn is_open_in(&self, about: &Path) -> bool {
        let Ok(descriptors) = fs::read_dir(about.join("fd")) else { return false };
        // Reads the link without following it: the target may be on a file system that hangs.
        descriptors.flatten().any(|entry| fs::read_link(entry.path()).is_ok_and(|link| link == self.file))
    }
}

/// The command that `doorway run` or `doorway jobserver` runs for its user.
fn guarded(words: &[OsString]) -> Option<Vec<OsString>> {
    let [program, command, rest @ ..] = words else { return None };
    if Path::new(program).file_name()? != "doorway" {
        return None;
    }
    match command.to_str()? {
        "run" => crate::run::command_of(rest),
        "jobserver" => rest.iter().position(|word| word == "--").map(|at| rest[at + 1..].to_vec()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn a_process_that_does_not_have_the_file_open_is_not_meant() {
        let path = std::env::temp_dir().join(format!("doorway-process-{}", std::process::id()));
        let file = fs::File::create(&path).unwrap();
        let processes = Processes::of(&path);
        let of = |pid| {
            let mut known = Known::default();
            known.pid = pid;
            processes.command(&known)
        };
        assert_eq!(of(Some(std::process::id())), Some(std::env::args().collect()));
        assert_eq!(of(Some(1)), None);
        assert_eq!(of(Some(u32::MAX)), None);
        assert_eq!(of(None), None);
        drop(file);
        assert_eq!(of(Some(std::process::id())), None, "it has closed the file");
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_guarded_command_is_what_its_user_wrote() {
        let of = |line| guarded(&words(line));
        assert_eq!(of("/usr/bin/doorway run -n 4 gpu -- python train.py -- x"), Some(words("python train.py -- x")));
        assert_eq!(of("doorway jobserver -n 4 -- make -j"), Some(words("make -j")));
        assert_eq!(of("doorway run -n 4 gpu --timeout 5m nvidia-smi -L"), Some(words("nvidia-smi -L")));
        assert_eq!(of("doorway status -- x"), None);
        assert_eq!(of("doorway run -n 1 gpu --"), None);
        assert_eq!(of("python run -- x"), None);
    }
}
