//! `doorway status`, `doorway break` and `doorway rm`.
#![cfg(target_os = "linux")]

use doorway::shared::{Builder, Mode, Previous, ReleaseError, Slots};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// A directory of names of the test's own, which is removed with it.
struct Place(PathBuf);

impl Place {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("doorway-cli-slots-{}-{test}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn slots(&self, name: &str, slots: usize) -> Slots {
        Builder::new(name, slots).directory(&self.0).open().unwrap()
    }

    fn command(&self, args: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_doorway"));
        command.args(args.split_whitespace()).env("DOORWAY_DIR", &self.0).stdin(Stdio::null());
        command
    }

    fn doorway(&self, args: &str) -> Output {
        self.command(args).output().unwrap()
    }

    /// Its standard output, if this is its exit code.
    fn text(&self, code: i32, args: &str) -> String {
        let out = self.doorway(args);
        let errors = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(code), "{args}: {errors}");
        String::from_utf8(out.stdout).unwrap()
    }

    fn json(&self, code: i32, args: &str) -> Value {
        serde_json::from_str(&self.text(code, args)).unwrap()
    }

    /// It ends with this code, and its message contains all these words.
    fn refused(&self, code: i32, args: &str, words: &[&str]) {
        let out = self.doorway(args);
        let message = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(code), "{args}: {message}");
        for word in words {
            assert!(message.contains(word), "{args}: {message:?} lacks {word:?}");
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn my_command() -> Vec<String> {
    std::env::args().collect()
}

#[test]
fn status_shows_holders_and_waiters_with_their_command_lines() {
    let place = Place::new("status");
    let slots = Builder::new("gpu", 1).directory(&place.0).label("bell\x07\x1b[2J\u{202e}").open().unwrap();
    let held = slots.acquire().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| slots.acquire().unwrap());
        while slots.status().unwrap().waiters.is_empty() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let text = place.text(0, "status gpu");
        assert!(text.starts_with("gpu: 1 of 1 slots held, 1 waiting, mode reclaim\n"), "{text}");
        for words in
            [place.0.join("gpu").to_str().unwrap(), &std::process::id().to_string(), r"bell\u{7}\u{1b}[2J\u{202e}"]
        {
            assert!(text.contains(words), "{text:?} lacks {words:?}");
        }
        assert!(!text.contains(['\x1b', '\x07', '\u{202e}']), "{text:?}");
        let json = place.text(0, "status gpu --json");
        assert!(!json.contains(['\x1b', '\x07', '\u{202e}']) && json.contains(r"\u202e"), "{json:?}");

        let status = place.json(0, "status gpu --json");
        assert_eq!(status["directory"], place.0.to_str().unwrap());
        let file = &status["files"][0];
        assert_eq!(
            (&file["name"], &file["slots"], &file["mode"], &file["error"]),
            (&json!("gpu"), &json!(1), &json!("reclaim"), &Value::Null)
        );
        assert_eq!((&file["path"], &file["seats"]), (&json!(place.0.join("gpu").to_str().unwrap()), &json!(256)));
        let (holder, waiter) = (&file["holders"][0], &file["waiters"][0]);
        assert_eq!((&holder["slot"], &holder["fence"]), (&json!(0), &json!(held.fence())));
        assert_eq!(waiter["offered"], Value::Null);
        for process in [holder, waiter] {
            assert_eq!((&process["pid"], &process["dead"]), (&json!(std::process::id()), &json!(false)));
            assert_eq!(process["label"], "bell\x07\x1b[2J\u{202e}");
            assert_eq!(process["command"], json!(my_command()));
            assert!(process["since"].as_f64() > Some(1e9) && process["seconds"].as_f64() >= Some(0.0), "{process}");
        }
        drop(held);
    });
}

#[test]
fn a_file_that_cannot_be_read_does_not_hide_the_others() {
    let place = Place::new("others");
    let slots = place.slots("good", 2);
    let _held = slots.acquire().unwrap();
    drop(place.slots("version", 1));
    let newer = fs::OpenOptions::new().read(true).write(true).open(place.0.join("version")).unwrap();
    let mut header = [0; 64];
    newer.read_exact_at(&mut header, 0).unwrap();
    header[8] = 9;
    let add = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    let sum = header[..56].iter().fold(0xcbf2_9ce4_8422_2325, add);
    header[56..].copy_from_slice(&sum.to_le_bytes());
    newer.write_all_at(&header, 0).unwrap();
    fs::write(place.0.join("damaged"), "nothing of ours").unwrap();
    assert!(Command::new("mkfifo").arg(place.0.join("fifo")).status().unwrap().success());
    let text = place.text(1, "status");
    for words in ["good: 1 of 2 slots held", "version: ", "version 9", "damaged: ", "never writes", "fifo: "] {
        assert!(text.contains(words), "{text} lacks {words:?}");
    }
    let status = place.json(1, "status --json");
    let files = status["files"].as_array().unwrap();
    let with_error: Vec<(&str, bool)> =
        files.iter().map(|file| (file["name"].as_str().unwrap(), file["error"].is_string())).collect();
    assert_eq!(with_error, [("damaged", true), ("fifo", true), ("good", false), ("version", true)]);
    assert_eq!(files[2]["holders"].as_array().unwrap().len(), 1);
    // One by one they say the same.
    assert!(place.text(1, "status damaged").contains("never writes"));
    assert_eq!(place.json(0, "status good --json")["files"][0]["path"], files[2]["path"]);
}

#[test]
fn no_names_and_names_that_are_none() {
    let place = Place::new("none");
    assert!(place.text(0, "status").contains("no names"));
    assert_eq!(place.json(0, "status --json"), json!({ "directory": place.0.to_str().unwrap(), "files": [] }));
    let missing = place.json(1, "status nobody --json");
    assert_eq!(missing["files"][0]["name"], "nobody");
    assert!(missing["files"][0]["error"].as_str().unwrap().contains("there is no"));
    assert!(place.text(1, "status nobody").contains("doorway run"), "it says what to do");
    let elsewhere = Place::new("elsewhere");
    let there = format!("--directory {}", elsewhere.0.display());
    drop(elsewhere.slots("here", 1));
    assert!(place.text(1, "status here").contains("--directory"), "it says where else to look");
    assert!(place.text(0, &format!("status here {there}")).contains("0 of 1 slots held"));
    assert!(place.text(0, &format!("status {there}")).contains("here"));
    assert!(place.text(0, &format!("rm here {there}")).contains("here"));
    assert_eq!(fs::read_dir(&place.0).unwrap().count(), 0, "to look makes nothing");
    for bad in ["status .hidden", "break -- -x 0", "rm .."] {
        place.refused(2, bad, &["1 to 64"]);
    }
    place.refused(2, &format!("status {}", "n".repeat(300)), &["1 to 64"]);
    place.refused(2, "status gpu --permissions 9", &["chmod"]);
    fs::create_dir(place.0.join("open")).unwrap();
    fs::set_permissions(place.0.join("open"), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let mut command = place.command("status");
    let out = command.env("DOORWAY_DIR", place.0.join("open")).output().unwrap();
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&out.stderr).contains("0700"), "it says what to do");
}

/// A handle that goes without giving its slot back counts as a dead process.
fn die_inside(slots: Slots) {
    std::mem::forget(slots.acquire().unwrap());
    drop(slots);
}

#[test]
fn the_dead_are_shown_and_what_they_held_comes_back() {
    let place = Place::new("dead");
    die_inside(place.slots("back", 1));
    assert!(place.text(0, "status back").contains("dead: the slot comes back"));
    assert!(place.text(0, "status back").starts_with("back: 0 of 1 slots held"));
    die_inside(place.slots("back", 1));
    assert!(place.text(0, "break back 0").contains("has come back"), "without a question");

    die_inside(Builder::new("kept", 1).directory(&place.0).mode(Mode::Tolerate).open().unwrap());
    for _ in 0..2 {
        assert!(place.text(0, "status kept").contains("doorway break kept 0"));
        let holder = &place.json(0, "status kept --json")["files"][0]["holders"][0];
        assert_eq!((&holder["dead"], &holder["command"]), (&json!(true), &Value::Null));
    }
    assert!(place.text(0, "break kept 0 --yes").contains("is broken"));
    assert!(place.text(0, "status kept").starts_with("kept: 0 of 1 slots held"));
}

#[test]
fn a_slot_is_broken_only_if_that_is_meant() {
    let place = Place::new("break");
    let slots = place.slots("gpu", 2);
    place.refused(1, "break gpu 0 --yes", &["slot 0 of gpu is free"]);
    let held = slots.acquire().unwrap();
    let (slot, fence) = (held.slot(), held.fence());
    place.refused(2, &format!("break gpu {slot}"), &["--yes", "does not stop that process", "To stop it first"]);
    place.refused(2, "break gpu 2 --yes", &["no slot 2", "0 to 1"]);
    place.refused(1, &format!("break gpu {slot} --yes --fence {}", fence + 1), &["another holder"]);
    place.refused(1, "break nobody 0 --yes", &["there is no", "doorway status"]);
    assert_eq!(slots.status().unwrap().holders.len(), 1, "nothing was done so far");
    assert!(place.text(0, &format!("break gpu {slot} --yes --fence {fence}")).contains("is broken"));
    assert_eq!(held.release(), Err(ReleaseError::Broken));
    let all = [slots.acquire().unwrap(), slots.acquire().unwrap()];
    let next = all.iter().find(|next| next.slot() == slot).unwrap();
    assert!(matches!(next.previous(), Previous::Broken(_)) && next.fence() > fence);
}

#[test]
fn a_terminal_is_asked() {
    let place = Place::new("ask");
    let slots = place.slots("gpu", 1);
    let held = slots.acquire().unwrap();
    let ask = |answer: &str| {
        let doorway = env!("CARGO_BIN_EXE_doorway");
        let mut script = Command::new("script");
        script.args(["-qec", &format!("'{doorway}' break gpu 0"), "/dev/null"]).env("DOORWAY_DIR", &place.0);
        let Ok(mut child) = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() else { return None };
        child.stdin.as_mut().unwrap().write_all(answer.as_bytes()).unwrap();
        let out = child.wait_with_output().unwrap();
        Some((out.status.code(), String::from_utf8_lossy(&out.stdout).into_owned()))
    };
    let Some((code, text)) = ask("n\n") else {
        eprintln!("SKIPPED: there is no script(1) to make a terminal with");
        return;
    };
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("[y/N]") && text.contains("nothing was done"), "{text}");
    assert_eq!(slots.status().unwrap().holders.len(), 1);
    let (code, text) = ask("y\n").unwrap();
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(held.release(), Err(ReleaseError::Broken));
}

#[test]
fn what_is_in_use_is_removed_by_force_only() {
    let place = Place::new("rm");
    place.refused(1, "rm gpu", &["there is no"]);
    let slots = place.slots("gpu", 1);
    let held = slots.acquire().unwrap();
    place.refused(1, "rm gpu", &["in use", "doorway status", "--force"]);
    let forced = place.doorway("rm gpu --force");
    assert_eq!(forced.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&forced.stderr).contains("with 1 held and 0 waiting"));
    assert!(held.release().is_err());
    drop(place.slots("gpu", 3));
    assert_eq!(place.text(0, "rm gpu"), "removed gpu\n");
    assert!(!place.0.join("gpu").exists());
    // A damaged file can be removed too.
    fs::write(place.0.join("damaged"), "nothing of ours").unwrap();
    assert_eq!(place.text(0, "rm --force damaged"), "removed damaged\n");
    // A path works like a name.
    drop(place.slots("gpu", 3));
    let path = place.0.join("gpu");
    assert_eq!(place.text(0, &format!("rm {}", path.display())), format!("removed {}\n", path.display()));
}

fn watched(place: &Path, args: &str) -> std::process::Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_doorway"));
    command.args(args.split_whitespace()).env("DOORWAY_DIR", place);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn to_watch_is_to_look_again_until_nobody_reads() {
    let place = Place::new("watch");
    let slots = place.slots("gpu", 1);
    let mut child = watched(&place.0, "status gpu --watch --json --every 0.01");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut holders = || {
        let status: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        status["files"][0]["holders"].as_array().unwrap().len()
    };
    assert_eq!(holders(), 0);
    let held = slots.acquire().unwrap();
    while holders() == 0 {}
    drop(held);
    while holders() == 1 {}
    drop(lines);
    let out = child.wait_with_output().unwrap();
    assert_eq!((out.status.code(), out.stderr), (Some(0), Vec::new()), "it ends without a word");

    let mut child = watched(&place.0, "status --watch --every 0.01");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let twice = lines.by_ref().map(Result::unwrap).filter(|line| line.starts_with("gpu: ")).take(2).count();
    assert_eq!(twice, 2, "and no escape is in the way: the lines begin with the name");
    drop(lines);
    assert_eq!(child.wait().unwrap().code(), Some(0));

    let out = watched(&place.0, "status --every 2").wait_with_output().unwrap();
    assert_eq!((out.status.code(), String::from_utf8(out.stderr).unwrap().contains("--watch")), (Some(2), true));
}

#[test]
fn what_doorway_runs_is_shown_as_its_user_wrote_it() {
    let place = Place::new("run");
    for args in ["run -n 1 gpu -- sleep 1000", "run -n 1 gpu sleep 1000", "jobserver -n 1 gpu -- sleep 1000"] {
        let mut running = watched(&place.0, args);
        let command = loop {
            let status: Value = serde_json::from_slice(&place.doorway("status gpu --json").stdout).unwrap();
            let command = &status["files"][0]["holders"][0]["command"];
            if command.is_array() {
                break command.clone();
            }
        };
        assert_eq!(command, json!(["sleep", "1000"]), "{args}");
        assert!(Command::new("kill").arg(running.id().to_string()).status().unwrap().success());
        assert_eq!(running.wait().unwrap().code(), Some(128 + 15));
    }
}

#[test]
fn a_closed_standard_output_is_no_error() {
    let place = Place::new("closed");
    drop(place.slots("gpu", 1));
    // Closed from the start, so that no write fails: there is no reader, and watching must end.
    for args in ["status --watch --every 0.01", "status gpu --json --watch --every 0.01", "status"] {
        let script = format!("exec '{}' {args} >&-", env!("CARGO_BIN_EXE_doorway"));
        let mut shell = Command::new("timeout");
        shell.args(["60", "sh", "-c", &script]).env("DOORWAY_DIR", &place.0).stdin(Stdio::null());
        let out = shell.output().unwrap();
        assert_eq!((out.status.code(), out.stderr), (Some(0), Vec::new()), "{args}");
    }
    let mut child = watched(&place.0, "status");
    drop(child.stdout.take());
    let out = child.wait_with_output().unwrap();
    assert_eq!((out.status.code(), out.stderr), (Some(0), Vec::new()));
}

#[test]
fn rm_does_not_touch_files_of_others() {
    let place = Place::new("not-slots");
    for (name, text) in [("thesis", "precious\n"), ("empty", ""), ("short", "doorway")] {
        let path = place.0.join(name);
        fs::write(&path, text).unwrap();
        let shown = path.display().to_string();
        place.refused(1, &format!("rm {shown}"), &["not a file of slots", "delete it like any other file"]);
        place.refused(1, &format!("rm --force {shown}"), &["not a file of slots"]);
        // Under a name it was a file of slots once: it can be removed by force.
        place.refused(1, &format!("rm {name}"), &["not a file of slots"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        place.text(0, &format!("rm --force {name}"));
        assert!(!path.exists());
    }
}

#[test]
fn many_slots_have_more_seats() {
    let place = Place::new("many-slots");
    let all: Vec<Slots> = (0..300).map(|_| place.slots("many", 300)).collect();
    assert!(all.iter().map(Slots::try_acquire).collect::<Vec<_>>().iter().all(Result::is_ok));
}
