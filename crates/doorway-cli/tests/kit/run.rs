//! How tests run commands with slots, and kill the processes around them.

use doorway::shared::{Builder, Slots, Status};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// Longer than anything takes here, on any machine.
pub const LIMIT: Duration = Duration::from_secs(120);

/// A directory for the slots of one test. Everything that was started in it is killed at the end.
pub struct Place(pub PathBuf);

impl Place {
    pub fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("doorway-run-{}-{}", std::process::id(), NEXT.fetch_add(1, SeqCst));
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        end_at_signals();
        Self(path)
    }

    /// `doorway run` with these words, and with `DOORWAY_DIR`.
    pub fn run(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_doorway"));
        command.arg("run").args(words).env("DOORWAY_DIR", &self.0).stdin(Stdio::null());
        command
    }

    pub fn output(&self, words: &[&str]) -> Output {
        self.run(words).output().unwrap()
    }

    /// Its exit code, its output, and its messages.
    pub fn told(&self, words: &[&str]) -> (i32, String, String) {
        told(self.output(words))
    }

    pub fn builder(&self, slots: usize) -> Builder {
        Builder::new("x", slots).directory(&self.0)
    }

    /// The slots, as another process sees them.
    pub fn slots(&self, slots: usize) -> Slots {
        self.builder(slots).open().unwrap()
    }

    /// Runs bash, which can close any descriptor, with one slot of `x`. It must print `ready` and
    /// its own number.
    pub fn start(&self, options: &[&str], script: &str) -> Running {
        let words = [options, &["-n", "1", "x", "--", "bash", "-c", script]].concat();
        Running::new(self.run(&words).stdout(Stdio::piped()).spawn().unwrap())
    }

    pub fn status(&self) -> Status {
        self.slots(1).status().unwrap()
    }

    /// All processes with the mark of this place in their environment.
    pub fn left(&self) -> Vec<u32> {
        let mark = format!("DOORWAY_DIR={}", self.0.display());
        processes().filter(|process| has(*process, mark.as_bytes())).collect()
    }

    pub fn nobody_is_left(&self) {
        eventually("nobody is left", || self.left().is_empty());
    }
}

/// `nohup` ignores hang-ups, and a shell without job control ignores interrupts in commands started
/// with `&`. Commands inherit that. So, however the tests were started, they end at these signals.
#[allow(unsafe_code)]
fn end_at_signals() {
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT] {
        // SAFETY: no handler is installed, so nothing runs at the signal.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        for process in self.left() {
            kill(process, libc::SIGKILL);
        }
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn processes() -> impl Iterator<Item = u32> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn has(process: u32, variable: &[u8]) -> bool {
    let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|entry| entry == variable) && is_alive(process)
}

pub fn told(out: Output) -> (i32, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (out.status.code().unwrap_or(-1), text(out.stdout), text(out.stderr))
}

pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LIMIT, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[allow(unsafe_code)]
pub fn kill(process: u32, signal: i32) {
    // SAFETY: the call touches no memory.
    unsafe { libc::kill(process.cast_signed(), signal) };
}

/// The status fields of a process after its name.
fn fields(process: u32) -> Option<Vec<String>> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    Some(stat.rsplit_once(") ")?.1.split(' ').map(str::to_owned).collect())
}

/// Whether it has not ended. A zombie has.
pub fn is_alive(process: u32) -> bool {
    fields(process).is_some_and(|fields| !["Z", "X"].contains(&fields[0].as_str()))
}

pub fn is_stopped(process: u32) -> bool {
    fields(process).is_some_and(|fields| fields[0] == "T")
}

pub fn parent(process: u32) -> Option<u32> {
    fields(process)?[1].parse().ok()
}

/// A command that runs.
pub struct Running {
    pub wrapper: Child,
    pub guardian: u32,
    pub command: u32,
    /// What the command printed after `ready`.
    pub words: Vec<String>,
    pub out: BufReader<std::process::ChildStdout>,
}

impl Running {
    pub fn new(mut wrapper: Child) -> Self {
        let mut out = BufReader::new(wrapper.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        assert_eq!(words.first().map(String::as_str), Some("ready"), "{line:?}");
        let command = words[1].parse().unwrap();
        Self { wrapper, guardian: parent(command).unwrap(), command, words, out }
    }

    pub fn number(&self, at: usize) -> u32 {
        self.words[at].parse().unwrap()
    }

    pub fn kill_wrapper(&mut self) {
        self.wrapper.kill().unwrap();
        self.wrapper.wait().unwrap();
    }

    pub fn kill_guardian(&self) {
        kill(self.guardian, libc::SIGKILL);
        eventually("the guardian is dead", || !is_alive(self.guardian));
    }

    pub fn kill_command(&self) {
        kill(self.command, libc::SIGKILL);
        eventually("the command is dead", || !is_alive(self.command));
    }

    /// Its output from now on.
    pub fn rest(mut self) -> String {
        let mut text = String::new();
        self.out.read_to_string(&mut text).unwrap();
        self.wrapper.wait().unwrap();
        text
    }
}

/// A file that a command waits for.
pub fn touch(path: &Path) {
    std::fs::write(path, "").unwrap();
}
