//! `doorway run`: what the command gets, what it gives back, and the messages if it cannot run.
#![cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]

mod kit;

use kit::run::{Place, eventually, is_alive, kill, touch};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

#[test]
fn exit_codes_pass_through() {
    let place = Place::new();
    for code in [0, 1, 7, 125, 255] {
        assert_eq!(place.told(&["-n", "2", "x", "--", "sh", "-c", &format!("exit {code}")]).0, code);
    }
    for (signal, code) in [("TERM", 143), ("KILL", 137), ("INT", 130), ("HUP", 129)] {
        assert_eq!(place.told(&["-n", "2", "x", "sh", "-c", &format!("kill -{signal} $$")]).0, code);
    }
    place.nobody_is_left();
}

#[test]
fn what_cannot_be_run_is_told_as_shells_tell_it() {
    let place = Place::new();
    let plain = place.0.join("plain");
    touch(&plain);
    let is_told = |words: &[&str], code: i32, message: &str| {
        let (found, out, said) = place.told(&[&["-n", "1", "x", "--"], words].concat());
        assert_eq!((found, out.as_str()), (code, ""), "{words:?}: {said}");
        assert!(said.starts_with("doorway run: ") && said.contains(message), "{said}");
    };
    is_told(&["no-such-command"], 127, "in PATH");
    is_told(&["/no/such/command"], 127, "/no/such/command");
    is_told(&[""], 127, "\"\"");
    is_told(&[plain.to_str().unwrap()], 126, "Permission denied (os error 13); make it executable (chmod +x)");
    is_told(&["/"], 126, "is a directory; name a program");
    is_told(&["sleep 1"], 127, "do not quote them as one");
    // A forgotten name: the program is taken for it.
    let (code, _, said) = place.told(&["-n", "1", "sh", "no-such-script"]);
    assert_eq!(code, 127, "{said}");
    assert!(said.contains("sh was taken for the name of the slots: give a name before it"), "{said}");
    // The slot is free afterwards.
    assert_eq!(place.told(&["-n", "1", "x", "--no-wait", "--", "true"]).0, 0);
    // A script without an interpreter line is one for the shell.
    std::fs::write(&plain, "echo script $1\n").unwrap();
    std::fs::set_permissions(&plain, std::fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(place.told(&["-n", "1", "x", plain.to_str().unwrap(), "with"]).1, "script with\n");
    // The command's own PATH is searched.
    let path = format!("--env=PATH={}", place.0.display());
    assert_eq!(place.told(&["-n", "1", "x", &path, "--", "plain", "it"]).1, "script it\n");
}

#[test]
fn the_environment_says_which_slot() {
    let place = Place::new();
    let script = "echo $DOORWAY_SLOT $DOORWAY_FENCE $DOORWAY_NAME $DOORWAY_PREVIOUS $CUDA_VISIBLE_DEVICES $1 $2";
    let words = |fence: u32| format!("0 {fence} x clean gpu0,0 --port=90000 {{slot}}\n");
    let args = ["-n", "2", "x", "--env", "CUDA_VISIBLE_DEVICES=gpu{slot},{slot}", "--", "sh", "-c", script];
    let args = [&args[..], &["sh", "--port=9000{slot}", "{{slot}}"]].concat();
    assert_eq!(place.told(&args).1, words(1));
    assert_eq!(place.told(&args).1, words(2), "the fence grows");
    // Its own variables are replaced, and all others stay, however strange.
    let out = Command::new("env")
        .args([
            "-i",
            "DOORWAY_SLOT=old",
            "STRANGE=",
            env!("CARGO_BIN_EXE_doorway"),
            "run",
            "-n",
            "2",
            "y",
            "--directory",
        ])
        .args([place.0.as_os_str(), OsStr::new("/usr/bin/env")])
        .output()
        .unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.contains("DOORWAY_SLOT=0\n") && !text.contains("old"), "{text}");
}

#[test]
fn of_variables_with_one_name_the_last_one_is_there_once() {
    let place = Place::new();
    let env = |words: &[&str], key: &str| {
        let words = [&["-n", "1", "x"], words, &["--", "/usr/bin/env"]].concat();
        let out = place.run(&words).env("A", "0").output().unwrap().stdout;
        let of_key = |line: &&str| line.split('=').next() == Some(key);
        String::from_utf8(out).unwrap().lines().filter(of_key).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(env(&["--env", "A=1", "--env", "B=x", "--env", "A=2=3"], "A"), ["A=2=3"]);
    assert_eq!(env(&["--env", "A=1", "--env", "B=x", "--env", "A=2=3"], "B"), ["B=x"]);
    assert_eq!(env(&["--env", "PATH=/no", "--env", "PATH=/nowhere:{slot}"], "PATH"), ["PATH=/nowhere:0"]);
    assert_eq!(env(&["--env", "DOORWAY_SLOT=mine"], "DOORWAY_SLOT"), ["DOORWAY_SLOT=mine"]);
    assert_eq!(env(&[], "A"), ["A=0"]);
    // The command is searched in the last PATH.
    let script = place.0.join("program");
    std::fs::write(&script, "#!/bin/sh\necho found\n").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).unwrap();
    let last = format!("PATH={}", place.0.display());
    assert_eq!(place.told(&["-n", "1", "x", "--env", "PATH=/no", "--env", &last, "program"]).1, "found\n");
}

/// No command can use it to close what keeps another slot.
#[test]
fn the_descriptor_of_a_command_around_is_not_named() {
    let place = Place::new();
    let inner = |how| {
        let doorway = env!("CARGO_BIN_EXE_doorway");
        let inner = [doorway, "run", "-n", "1", "y", "--orphans", how, "--", "sh", "-c", "echo ${DOORWAY_FD-none}"];
        place.told(&[&["-n", "1", "x", "--"], &inner[..]].concat()).1
    };
    assert_eq!((inner("hold").as_str(), inner("release").as_str()), ("41\n", "none\n"));
}

/// Variables with doorway's own names are not trusted.
#[test]
fn hostile_variables_do_no_harm() {
    let place = Place::new();
    let long = "9".repeat(100_000);
    for value in ["", "-1", "x", "0", "1", "40", "../../../etc/passwd", "99999999999999999999", "\u{202e}", &long] {
        let mut command = place.run(&["-n", "1", "x", "--", "sh", "-c", "echo $DOORWAY_SLOT $DOORWAY_FD"]);
        for key in ["DOORWAY_SLOT", "DOORWAY_FENCE", "DOORWAY_NAME", "DOORWAY_PREVIOUS", "DOORWAY_FD"] {
            command.env(key, value);
        }
        assert_eq!(kit::run::told(command.output().unwrap()), (0, "0 40\n".to_owned(), String::new()), "{value:.20}");
        // Also if it has to wait.
        let slots = place.slots(1);
        let _guard = slots.acquire().unwrap();
        let waits = place.run(&["-n", "1", "x", "--timeout", "1ms", "--", "true"]).env("DOORWAY_FD", value).output();
        let (code, _, said) = kit::run::told(waits.unwrap());
        assert!(code == 124 && !said.contains("inside"), "{value:.20}: {said}");
    }
    let nowhere = place.run(&["-n", "1", "x", "--", "true"]).env("DOORWAY_DIR", &long).output().unwrap();
    assert_eq!(nowhere.status.code(), Some(125));
}

#[test]
fn arguments_that_are_no_text_arrive() {
    let place = Place::new();
    let strange = OsStr::from_bytes(b"\xff\xfe{slot}\n");
    let mut run = place.run(&["-n", "1", "x", "--label", "l"]);
    let out = run.arg("--env").arg(OsStr::from_bytes(b"A=\xff")).args(["--", "printf", "%s"]).arg(strange);
    assert_eq!(out.output().unwrap().stdout, b"\xff\xfe0\n");
    let mut run = place.run(&["-n", "1"]);
    let out = run.arg(OsStr::from_bytes(b"\xff")).arg("true").output().unwrap();
    assert_eq!(out.status.code(), Some(125));
}

#[test]
fn options_end_where_the_command_begins() {
    let place = Place::new();
    let echo = |words: &[&str]| place.told(words).1;
    assert_eq!(echo(&["-n", "1", "x", "--verbose", "echo", "--timeout", "-n", "--", "a"]), "--timeout -n -- a\n");
    assert_eq!(echo(&["-n", "1", "x", "--", "echo", "--", "a"]), "-- a\n");
    assert_eq!(echo(&["x", "-n", "1", "--timeout", "5m", "--", "echo", "b"]), "b\n");
}

#[test]
fn a_full_room_is_told_with_a_code_of_its_own() {
    let place = Place::new();
    let slots = place.slots(1);
    let guard = slots.acquire().unwrap();
    let (code, _, said) = place.told(&["-n", "1", "x", "--no-wait", "--", "true"]);
    assert_eq!(code, 123, "{said}");
    assert!(said.contains("no slot of x is free") && said.contains(&std::process::id().to_string()), "{said}");
    let (code, _, said) = place.told(&["-n", "1", "x", "--timeout", "1ms", "--", "true"]);
    assert_eq!(code, 124, "{said}");
    assert!(said.contains("became free"), "{said}");
    drop(guard);
    assert!(slots.status().unwrap().waiters.is_empty(), "it has left the line");
    assert_eq!(place.told(&["-n", "1", "x", "--timeout", "0", "--", "true"]).0, 0);
}

#[test]
fn a_waiter_is_served_and_says_how_long_it_took() {
    let place = Place::new();
    let slots = place.builder(1).label("the holder").open().unwrap();
    let guard = slots.acquire().unwrap();
    let mut run = place.run(&["-n", "1", "x", "--verbose", "--", "echo", "done"]);
    let mut waiter = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It looks for the holder once it stands in line: only then may the holder go.
    let mut waits = String::new();
    let mut lines = BufReader::new(waiter.stderr.take().unwrap());
    lines.read_line(&mut waits).unwrap();
    assert_eq!(slots.status().unwrap().waiters.len(), 1);
    assert!(waits.contains("waiting for a slot of x; held by") && waits.contains("(the holder)"), "{waits}");
    drop(guard);
    let (code, out, _) = kit::run::told(waiter.wait_with_output().unwrap());
    assert_eq!((code, out.as_str()), (0, "done\n"));
    let mut said = String::new();
    lines.read_to_string(&mut said).unwrap();
    assert!(said.contains("slot 0 of x after "), "{said}");
    let (_, _, said) = place.told(&["-n", "1", "x", "--verbose", "--", "true"]);
    assert_eq!(said, "doorway run: slot 0 of x at once\n");
}

/// Labels and command lines of others are shown with terminal control characters escaped.
#[test]
fn what_others_wrote_is_escaped() {
    let place = Place::new();
    let evil = "a\u{202e}b\u{1b}[2J\u{9b}c\r";
    let escaped = r"a\u{202e}b\u{1b}[2J\u{9b}c\r";
    let is_told = |what: &str, words: &[&str], code: i32| {
        let (found, _, said) = place.told(&[words, &["--", "true"]].concat());
        assert_eq!(found, code, "{what}: {said}");
        assert!(said.contains(escaped), "{what}: {said:?}");
        assert!(!said.contains(['\u{202e}', '\u{1b}', '\u{9b}', '\r']), "{what}: {said:?}");
    };
    let slots = place.builder(1).label(evil).open().unwrap();
    let guard = slots.acquire().unwrap();
    is_told("the holder", &["-n", "1", "x", "--no-wait"], 123);
    is_told("the holder it waits for", &["-n", "1", "x", "--verbose", "--timeout", "1ms"], 124);
    slots.break_slot(0).unwrap();
    is_told("the last holder", &["-n", "1", "x", "--verbose"], 0);
    drop(guard);
    let mut holder = place.run(&["-n", "1", "y", "--", "sh", "-c", "exec sleep 1000", evil]).spawn().unwrap();
    eventually("it runs", || place.told(&["-n", "1", "y", "--no-wait", "--", "true"]).0 == 123);
    is_told("its command line", &["-n", "1", "y", "--no-wait"], 123);
    holder.kill().unwrap();
    holder.wait().unwrap();
}

/// It cannot end well, so the user is told without asking.
#[test]
fn a_command_that_waits_for_its_own_slot_is_told() {
    let place = Place::new();
    let nested = |inner: &str| {
        let run = [env!("CARGO_BIN_EXE_doorway"), "run", "-n", "1", inner, "--timeout", "1ms", "--", "true"];
        place.told(&[&["-n", "1", "x", "--"], &run[..]].concat())
    };
    let (code, _, said) = nested("x");
    assert_eq!(code, 124);
    assert!(said.contains("inside a command that has one") && said.contains("use another name"), "{said}");
    assert_eq!(nested("y"), (0, String::new(), String::new()));
    // Other processes may stand between the two.
    let doorway = env!("CARGO_BIN_EXE_doorway");
    for how in ["hold", "release", "kill"] {
        let between = [doorway, "run", "-n", "1", "y", "--orphans", how, "--"];
        let inner = [doorway, "run", "-n", "1", "x", "--timeout", "1ms", "--", "true"];
        let (code, _, said) = place.told(&[&["-n", "1", "x", "--"], &between[..], &inner].concat());
        assert!(code == 124 && said.contains("inside a command that has one"), "{how}: {said}");
    }
    // The same name elsewhere is another one.
    let elsewhere = Place::new();
    let guard = elsewhere.slots(1);
    let guard = guard.acquire().unwrap();
    let (code, _, said) = nested(elsewhere.0.join("x").to_str().unwrap());
    assert!(code == 124 && !said.contains("inside"), "{said}");
    drop(guard);
}

#[test]
fn a_waiter_that_is_told_to_end_leaves_the_line() {
    let place = Place::new();
    let slots = place.slots(1);
    let guard = slots.acquire().unwrap();
    for (signal, code) in [(libc::SIGINT, Some(130)), (libc::SIGTERM, Some(143)), (libc::SIGKILL, None)] {
        let mut waiter = place.run(&["-n", "1", "x", "--", "true"]).spawn().unwrap();
        eventually("it waits", || slots.status().unwrap().waiters.len() == 1);
        kill(waiter.id(), signal);
        assert_eq!(waiter.wait().unwrap().code(), code);
        eventually("it has left", || slots.status().unwrap().waiters.is_empty());
    }
    // A waiter that ignores hang-ups goes on waiting.
    let mut waiter = place.run(&["-n", "1", "x", "--", "true"]);
    let mut nohup = Command::new("sh");
    nohup.arg("-c").arg("trap '' HUP; exec \"$@\"").arg("sh").arg(waiter.get_program()).args(waiter.get_args());
    waiter = nohup;
    let mut waiter = waiter.env("DOORWAY_DIR", &place.0).spawn().unwrap();
    eventually("it waits", || slots.status().unwrap().waiters.len() == 1);
    kill(waiter.id(), libc::SIGHUP);
    drop(guard);
    assert_eq!(waiter.wait().unwrap().code(), Some(0));
    place.nobody_is_left();
}

#[test]
fn the_next_holder_is_told_of_the_one_before() {
    let place = Place::new();
    let previous = || place.told(&["-n", "1", "x", "-v", "--", "sh", "-c", "echo $DOORWAY_PREVIOUS"]);
    let slots = place.slots(1);
    std::mem::forget(slots.acquire().unwrap());
    drop(slots);
    let (_, out, said) = previous();
    assert_eq!(out, "died\n");
    assert!(said.contains("died with it"), "{said}");
    assert_eq!(previous().1, "clean\n");

    let slots = place.slots(1);
    let guard = slots.acquire().unwrap();
    slots.break_slot(0).unwrap();
    assert_eq!(previous().1, "broken\n");
    drop(guard);
}

#[test]
fn a_slot_that_is_taken_away_is_told_at_the_end() {
    let place = Place::new();
    let go = place.0.join("go");
    let script = format!("echo ready $$; while [ ! -e {} ]; do sleep 0.01; done; exit 4", go.display());
    let mut run = place.run(&["-n", "1", "x", "--", "sh", "-c", &script]);
    let running = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let slots = place.slots(1);
    eventually("it runs", || slots.status().unwrap().holders.len() == 1);
    slots.break_slot(0).unwrap().unwrap();
    touch(&go);
    let (code, _, said) = kit::run::told(running.wait_with_output().unwrap());
    assert_eq!(code, 4);
    assert!(said.contains("slot 0 was taken away while the command ran"), "{said}");
}

/// The guardian ignores signals, so the command must be ended.
#[test]
fn what_is_to_be_ended_for_a_slot_is_told() {
    let place = Place::new();
    let mut running = place.start(&[], "echo ready $$; exec sleep 1000");
    let mut breaks = Command::new(env!("CARGO_BIN_EXE_doorway"));
    breaks.args(["break", "x", "0"]).env("DOORWAY_DIR", &place.0).stdin(Stdio::null());
    let (code, out, said) = kit::run::told(breaks.output().unwrap());
    assert_eq!(code, 2, "there is no terminal");
    let advice = format!("To stop it first: kill {}\n", running.command);
    assert!((out.clone() + &said).contains(&advice), "{out}{said}");
    kill(running.command, libc::SIGTERM);
    assert_eq!(running.wrapper.wait().unwrap().code(), Some(143));
    assert!(place.slots(1).try_acquire().is_ok());
}

#[test]
fn signals_are_passed_on() {
    let place = Place::new();
    let script =
        "trap 'echo got usr1' USR1; trap 'echo got term; exit 5' TERM; echo ready $$; while :; do sleep 0.01; done";
    let mut running = place.start(&[], script);
    kill(running.wrapper.id(), libc::SIGUSR1);
    let mut line = String::new();
    BufRead::read_line(&mut running.out, &mut line).unwrap();
    assert_eq!(line, "got usr1\n");
    kill(running.guardian, libc::SIGTERM); // it is ignored
    kill(running.wrapper.id(), libc::SIGTERM);
    assert_eq!(running.wrapper.wait().unwrap().code(), Some(5));
    assert_eq!(running.rest(), "got term\n");
}

/// From several processes at once, to the wrapper and to the guardian, of kinds that are queued and
/// of kinds that are not.
#[test]
fn a_storm_of_signals_ends_nothing_and_hides_nothing() {
    let place = Place::new();
    let storm = |processes: &[u32]| {
        let kinds = [libc::SIGUSR1, libc::SIGUSR2, libc::SIGWINCH, libc::SIGCONT, libc::SIGURG, libc::SIGRTMIN() + 1];
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        processes.iter().for_each(|process| kinds.iter().for_each(|kind| kill(*process, *kind)));
                    }
                });
            }
        });
    };
    let caught = "trap : USR1 USR2 WINCH CONT URG RTMIN+1; trap 'exit 5' TERM";
    let mut running = place.start(&[], &format!("{caught}; echo ready $$; while :; do sleep 0.01; done"));
    storm(&[running.wrapper.id(), running.guardian]);
    assert!(is_alive(running.command) && place.slots(1).try_acquire().is_err());
    kill(running.wrapper.id(), libc::SIGTERM);
    assert_eq!(running.wrapper.wait().unwrap().code(), Some(5));
    // A waiter ends at a signal that would end a process, whatever else arrives.
    let slots = place.slots(1);
    let guard = slots.acquire().unwrap();
    let mut waiter = place.run(&["-n", "1", "x", "--", "true"]).spawn().unwrap();
    eventually("it waits", || slots.status().unwrap().waiters.len() == 1);
    for signal in [libc::SIGWINCH, libc::SIGCONT, libc::SIGURG].repeat(500) {
        kill(waiter.id(), signal);
    }
    assert_eq!(slots.status().unwrap().waiters.len(), 1, "it waits on");
    storm(&[waiter.id()]);
    let code = waiter.wait().unwrap().code().unwrap();
    assert!([libc::SIGUSR1, libc::SIGUSR2, libc::SIGRTMIN() + 1].contains(&(code - 128)), "{code}");
    drop(guard);
    assert!(slots.try_acquire().is_ok());
    place.nobody_is_left();
}

#[test]
fn what_the_parent_ignores_and_blocks_and_has_closed_is_as_without() {
    let place = Place::new();
    // Rust itself ignores broken pipes, and opens closed streams.
    let set = "import os, signal, sys
for n in sys.argv[1].split(): signal.signal(int(n), signal.SIG_IGN)
for n in (signal.SIGPIPE, signal.SIGXFSZ):
    if str(int(n)) not in sys.argv[1].split(): signal.signal(n, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_SETMASK, [signal.SIGUSR2])
if sys.argv[2]: os.close(int(sys.argv[2]))
os.execvp(sys.argv[3], sys.argv[3:])";
    for (ignored, closed) in [("", ""), ("13", ""), ("1 17 20", "0"), ("13 17", "0")] {
        let python = |words: &[&str]| {
            let mut command = Command::new("python3");
            command.args(["-c", set, ignored, closed]).args(words).env("DOORWAY_DIR", &place.0);
            String::from_utf8(command.output().unwrap().stdout).unwrap()
        };
        let signals = ["grep", "-E", "^Sig(Ign|Blk)", "/proc/self/status"];
        let run = [env!("CARGO_BIN_EXE_doorway"), "run", "-n", "1", "x", "--orphans", "release", "--"];
        let both = |words: &[&str]| (python(words), python(&[&run[..], words].concat()));
        let (bare, with) = both(&signals);
        assert!(bare.contains("SigBlk:\t0000000000000800"), "{bare}");
        // The C library keeps two signals for itself, whatever the parent set.
        let sets = |text: &str| -> Vec<u64> {
            let words = text.split_whitespace().skip(1).step_by(2);
            words.map(|word| u64::from_str_radix(word, 16).unwrap() & !(3 << 31)).collect()
        };
        assert_eq!(sets(&bare), sets(&with), "ignored {ignored:?}");
        let (bare, with) = both(&["ls", "/proc/self/fd"]);
        assert_eq!(bare, with, "closed {closed:?}");
    }
}

#[test]
fn streams_are_closed_when_the_command_closes_them() {
    let place = Place::new();
    // Neither the wrapper nor the guardian keeps the pipe.
    let running = place.start(&[], "echo ready $$; exec >&-; exec sleep 1000");
    let (command, mut wrapper) = (running.command, running.wrapper);
    let mut out = running.out;
    assert_eq!(Read::read_to_end(&mut out, &mut Vec::new()).unwrap(), 0);
    assert!(is_alive(command));
    kill(command, libc::SIGKILL);
    assert_eq!(wrapper.wait().unwrap().code(), Some(137));
    // Background work that has released its streams delays no one, but keeps the slot. It runs
    // until it was seen.
    let seen = place.0.join("seen");
    let wait = format!("while [ ! -e {} ]; do sleep 0.01; done", seen.display());
    let running = place.start(&[], &format!("sleep 1000 >/dev/null 2>&1 & echo ready $$ $!; {wait}"));
    let sleeper = running.number(2);
    touch(&seen);
    assert_eq!(running.rest(), "");
    assert!(place.slots(1).try_acquire().is_err() && is_alive(sleeper));
    kill(sleeper, libc::SIGKILL);
    place.nobody_is_left();
}

#[test]
fn closed_output_and_errors_do_no_harm() {
    let place = Place::new();
    let shell = |script: &str| {
        let script = script.replace("RUN", concat!(env!("CARGO_BIN_EXE_doorway"), " run"));
        Command::new("sh").args(["-c", &script]).env("DOORWAY_DIR", &place.0).output().unwrap().status.code()
    };
    assert_eq!(shell("RUN -n 1 x -v -- sh -c 'exit 6' >&- 2>&- <&-"), Some(6));
    assert_eq!(shell("RUN -n 2 x -- true >&- 2>&-"), Some(125));
    assert_eq!(shell("RUN --help >&-"), Some(0));
    assert_eq!(shell("RUN >&- 2>&-"), Some(125));
}

#[test]
fn refusals_say_what_to_do() {
    let place = Place::new();
    let refused = |words: &[&str], message: &str| {
        let (code, out, said) = place.told(words);
        assert_eq!((code, out.as_str()), (125, ""), "{words:?}: {said}");
        assert!(said.contains(message), "{words:?}: {said}");
    };
    let long = "n".repeat(300);
    refused(&["-n", "1", &long, "--", "true"], "use 1 to 64 of");
    refused(&["-n", "1", "a b", "--", "true"], "with a slash in it");
    refused(&["-n", "1", "..", "--", "true"], "use 1 to 64 of");
    refused(&["-n", "1", "", "--", "true"], "use 1 to 64 of");
    refused(&["-n", "1", "x/", "--", "true"], "use 1 to 64 of");
    refused(&["-n", "1", "/", "--", "true"], "use 1 to 64 of");
    refused(&["-n", "1", "/tmp/a b", "--", "true"], "use 1 to 64 of");
    refused(&["-n", "1", "a\nb", "--", "true"], r#""a\nb" is not a valid name"#);
    refused(&["-n", "1", "no/such/x", "--", "true"], "make it first");
    refused(&["-n", "0", "x", "--", "true"], "ask for 1 to");
    refused(&["-n", "-1", "x", "--", "true"], "'-1' for '--slots <K>'");
    refused(&["-n", "many", "x", "--", "true"], "many");
    refused(&["-n", "1", "x"], "COMMAND");
    refused(&["-n", "1", "--", "true"], "give a name, and then a command: doorway run -n 4 gpu");
    refused(&["x", "--", "true"], "say how many may run at once: doorway run -n 4 gpu");
    let ttl = place.told(&["-n", "1", "x", "--ttl", "3s", "--", "true"]).2;
    assert!(ttl.contains("--etcd") && !ttl.contains("give a name"), "{ttl}");
    refused(&["-n", "1", "x", "--timeout", "soon", "--", "true"], "1h30m");
    refused(&["-n", "1", "x", "--timeout", "1", "--no-wait", "--", "true"], "--no-wait");
    refused(&["-n", "1", "x", "--env", "KEY", "--", "true"], "give KEY=VALUE");
    refused(&["-n", "1", "x", "--env", "=value", "--", "true"], "give KEY=VALUE");
    refused(&["-n", "1", "x", "--orphans", "keep", "--", "true"], "hold");
    refused(&["-n", "1", "x", "--seats", "3", "--", "true"], "multiple of 64");
    refused(&["-n", "1", "x", "--seats", "few", "--", "true"], "give a whole number");
    // No user may make a directory there, not even root.
    refused(&["-n", "1", "x", "--directory", "/sys/doorway", "--", "true"], "to use another place, give --directory");
    refused(&["-n", "1", "x", "--permissions", "9", "--", "true"], "660");
    assert_eq!(place.told(&["-n", "3", "x", "--", "true"]).0, 0);
    refused(&["-n", "4", "x", "--", "true"], "give -n 3, or, if no process uses it, remove it: doorway rm x");
    refused(&["-n", "3", "x", "--seats", "64", "--", "true"], "--seats 256");
    refused(&["-n", "1", "/etc/passwd/x", "--", "true"], "/etc/passwd is not a directory; name a directory");
    refused(&["-n", "1", "/etc/passwd/deep/x", "--", "true"], "/etc/passwd is not a directory; name a directory");
    refused(&["-n", "1", "x", "--directory", "/etc/passwd", "--", "true"], "/etc/passwd is not a directory");
    let open = place.0.join("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
    refused(&["-n", "1", "x", "--directory", open.to_str().unwrap(), "--", "true"], "or give --permissions");
    // A path is a name too.
    let path = place.0.join("deep/x");
    assert_eq!(place.told(&["-n", "1", path.to_str().unwrap(), "--", "true"]).0, 0);
}

#[test]
fn places_that_cannot_be_written_are_told() {
    let place = Place::new();
    let refused = |directory: &str, message: &str| {
        let (code, _, said) = place.told(&["-n", "1", "x", "--directory", directory, "--", "true"]);
        assert_eq!(code, 125, "{said}");
        assert!(said.contains(message) && said.contains("--directory or DOORWAY_DIR"), "{said}");
    };
    refused("/proc", "another place");
    refused("/sys", "another place");
    // Mounts of the test's own, where they are allowed.
    let full = place.0.join("full");
    std::fs::create_dir(&full).unwrap();
    let script = format!(
        "mount -t tmpfs -o size=4k,mode=700 tmpfs {full} && RUN --directory {full} -- true; echo $?
         mount -o remount,ro,size=1m {full} && RUN --directory {full} -- true; echo $?",
        full = full.display()
    )
    .replace("RUN", concat!(env!("CARGO_BIN_EXE_doorway"), " run -n 1 x"));
    let out = Command::new("unshare").args(["-rm", "sh", "-c", &script]).output();
    let Some((_, out, said)) = out.ok().map(kit::run::told).filter(|told| told.1.contains("125")) else {
        eprintln!("skipped: no mounts here");
        return;
    };
    assert_eq!(out, "125\n125\n", "{said}");
    assert!(said.contains("no room for") && said.contains("Read-only file system"), "{said}");
}

/// With few descriptors it runs, or says how to get more.
#[test]
fn a_limit_of_open_files_is_told() {
    let place = Place::new();
    let mut refused = 0;
    for how in ["hold", "release", "kill"] {
        // With 3, libraries cannot be loaded.
        for limit in 4..24 {
            let script = format!("ulimit -n {limit}; exec \"$0\" run -n 1 x --orphans {how} -- true");
            let mut shell = Command::new("sh");
            shell.args(["-c", &script, env!("CARGO_BIN_EXE_doorway")]).env("DOORWAY_DIR", &place.0);
            match kit::run::told(shell.output().unwrap()) {
                (0, _, said) => assert_eq!(said, "", "{limit}"),
                (code, _, said) => {
                    assert_eq!(code, 125, "{limit}: {said}");
                    assert!(said.contains("allow more open files: ulimit -n 64\n"), "{limit}: {said}");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 0 && refused < 3 * 15, "{refused}");
    place.nobody_is_left();
}

/// The content of the file comes from `--label`, and from nothing else.
#[test]
fn the_file_holds_neither_arguments_nor_variables() {
    let place = Place::new();
    let words = ["-n", "1", "x", "--env", "KEY=secret1", "--label", "labelled", "--", "sh", "-c"];
    let script = format!("cat {} # secret2", place.0.join("x").display());
    let out = place.run(&words).arg(script).env("OTHER", "secret3").output().unwrap().stdout;
    let has = |text: &[u8]| out.windows(text.len()).any(|window| window == text);
    assert!(has(b"labelled") && !has(b"secret"));
}

#[test]
fn the_inherited_descriptor_can_only_be_read_and_be_let_go() {
    let place = Place::new();
    let script = "echo broken >&$DOORWAY_FD; eval \"exec $DOORWAY_FD<&-\"; echo ready $$; exec sleep 1000";
    let mut running = place.start(&["--verbose"], script);
    assert!(place.slots(1).try_acquire().is_err());
    running.kill_guardian();
    running.kill_wrapper();
    assert!(is_alive(running.command));
    eventually("nothing keeps the slot", || place.slots(1).try_acquire().is_ok());
}

#[test]
fn that_nobody_reads_what_is_said_does_not_end_the_command() {
    let place = Place::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    // The guardian is killed by the command, and the wrapper says so.
    let script = "kill -9 $PPID; sleep 0.3; exit 7";
    let mut command = place.run(&["-n", "1", "x", "--", "sh", "-c", script]);
    assert_eq!(command.stderr(writer).status().unwrap().code(), Some(7));
}

#[test]
fn an_alarm_that_was_set_before_ends_the_command_as_without() {
    let place = Place::new();
    let set = "import os, signal, sys; signal.setitimer(signal.ITIMER_REAL, 0.5); os.execvp(sys.argv[1], sys.argv[1:])";
    let run = [env!("CARGO_BIN_EXE_doorway"), "run", "-n", "1", "x", "--", "sleep", "10"];
    let mut command = Command::new("python3");
    let status = command.args(["-c", set]).args(run).env("DOORWAY_DIR", &place.0).status().unwrap();
    assert_eq!(status.code(), Some(128 + libc::SIGALRM));
}
