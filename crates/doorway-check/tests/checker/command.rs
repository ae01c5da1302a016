//! The command of one's own checks. `examples/peterson/tests` runs it as a program.

use doorway_check::check::command;
use doorway_check::prelude::*;
use doorway_core::k_exclusion::anderson_moir_94::Chain;
use std::path::PathBuf;

lock! {
    struct Flag: TestAndSet { taken: bool = false }
    acquire(self, p) {
        while p.at(1).test_and_set(&self.taken).await? {}
    }
    release(self, p) {
        p.at(2).write(&self.taken, false).await?;
    }
}

#[test]
fn reports_are_printed_though_a_later_check_is_refused() {
    let lock = |name, n| Check::lock(name, n, Flag::new).property(Property::exclusion("one", 1));
    let checks = [lock("first", 2), lock("second", 0)];
    let mut out = Vec::new();
    let why = command(&checks, &[], &mut out).unwrap_err().to_string();
    assert!(why.starts_with("second: "), "{why}");
    let out = String::from_utf8(out).unwrap();
    assert!(out.starts_with("first\n") && out.ends_with(")\n"), "{out}");
}

/// A file of this test alone, which is removed in the end.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("doorway-command-{}-{name}", std::process::id())))
    }

    fn name(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn told(checks: &[Check], arguments: &[&str]) -> (u8, String) {
    let mut out = Vec::new();
    let code = command(checks, arguments, &mut out).unwrap();
    (code, String::from_utf8(out).unwrap())
}

/// What does not depend on time and memory.
fn result(report: &str) -> String {
    report.split(" (").next().unwrap().to_owned()
}

const EXCLUSION: [&str; 3] = ["chain", "--property", "k-exclusion"];

fn chain(n: usize) -> Check {
    Check::lock("chain", n, move |site| Chain::new(site, n, 2)).k_exclusion(2)
}

#[test]
fn a_search_that_a_limit_ended_is_resumed() {
    let whole = told(&[chain(4)], &EXCLUSION);
    assert_eq!(whole.0, 0);
    let file = Temporary::new("resumed");
    let limited = chain(4).with(|search| search.max_states(10_000));
    let (code, first) = told(&[limited], &[&EXCLUSION[..], &["--save", file.name()]].concat());
    assert!(code == 3 && first.contains("NOT complete"), "{first}");
    let resume = format!("--resume={}", file.name());
    let (code, last) = told(&[chain(4)], &[&EXCLUSION[..], &[&resume]].concat());
    assert_eq!((code, result(&last)), (whole.0, result(&whole.1)));
    // Of another search.
    let why = command(&[chain(4)], &["chain", "--property", "never-stuck", &resume], &mut Vec::new()).unwrap_err();
    assert!(why.to_string().contains("of another search"), "{why}");
}

#[test]
fn options_that_cannot_be_obeyed_are_refused() {
    let two = [chain(2), Check::lock("other", 2, Flag::new).mutex()];
    for (arguments, why) in [
        (&["--save", "/nowhere/x"][..], "a file is of one search: give the name of one check"),
        (&["chain", "--save"], "--save needs a value"),
        (&["chain", "--json=yes"], "there is no option --json=yes"),
        (&["chain", "--property", "exclusion"], "chain has no property \"exclusion\"; it has k-exclusion, never-stuck"),
        (&["chain", "--save", "/nowhere/x", "--property", "k-exclusion"], "/nowhere/x: "),
        (&["chain", "--save", "/nowhere/x"], "with `--property`"),
        (&["chain", "--resume", "/nowhere/x", "--property", "k-exclusion"], "/nowhere/x: "),
    ] {
        let said = command(&two, arguments, &mut Vec::new()).unwrap_err().to_string();
        assert!(said.contains(why), "{arguments:?}: {said}");
    }
}

/// The name of a file, for the test that is started by another.
const FILE: &str = "DOORWAY_COMMAND_SAVES";

/// Does nothing unless [`ctrl_c_keeps_what_was_found`] starts it.
#[test]
fn a_long_search_that_is_interrupted() {
    let Ok(file) = std::env::var(FILE) else { return };
    let arguments = [&EXCLUSION[..], &["--save", &file]].concat();
    let code = command(&[chain(6)], &arguments, &mut std::io::stdout()).unwrap();
    std::process::exit(i32::from(code));
}

/// Ctrl-C ends a search. The file keeps what it knows, and another goes on from there.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_keeps_what_was_found() {
    use std::process::{Command, Stdio};

    let file = Temporary::new("interrupted");
    let interrupted = || {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "command::a_long_search_that_is_interrupted", "--nocapture"])
            .env(FILE, &file.0)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let id = child.id().to_string();
        let status = || std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let number = |line: &str, radix| {
            let status = status();
            let found = status.lines().find_map(|l| l.strip_prefix(line)).unwrap().trim().to_owned();
            u64::from_str_radix(found.split(' ').next().unwrap(), radix).unwrap()
        };
        // It listens, and has found states: they take memory.
        while number("SigCgt:", 16) & 1 << (2 - 1) == 0 || number("VmRSS:", 10) < 60_000 {
            assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
            std::thread::yield_now();
        }
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        let [printed, said] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(output.status.code(), Some(130), "{printed}{said}");
        assert!(printed.contains("NOT complete: interrupted") && printed.contains("not decided"), "{printed}");
        assert!(said.contains(&format!("--resume {}", file.name())), "{said}");
    };
    interrupted();
    let most = 2_000_000;
    let limited = || chain(6).with(move |search| search.max_states(most));
    let arguments = [&EXCLUSION[..], &["--resume", file.name()]].concat();
    let (code, last) = told(&[limited()], &arguments);
    let whole = told(&[limited()], &EXCLUSION);
    assert_eq!((code, result(&last)), (whole.0, result(&whole.1)));
}
