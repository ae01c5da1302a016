//! `doorway run` on a terminal: keys reach the command once, stopping and continuing works from a
//! shell, and the waiting line goes away.
//!
//! Python creates the terminal, and bash with job control is the shell.
#![cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]

mod kit;

use kit::run::Place;
use std::process::Command;

/// Helpers for a script: a terminal with a shell in it, typing, and waiting for a text.
const TERMINAL: &str = r#"
import os, pty, select, sys, time

limit = time.monotonic() + 60
pid, terminal = pty.fork()
if pid == 0:
    os.environ.update(PS1="$ ", TERM="dumb", HISTFILE="")
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
seen = ""

def expect(text):
    """Waits for the text, and forgets all up to it."""
    global seen
    while text not in seen:
        ready, _, _ = select.select([terminal], [], [], max(0, limit - time.monotonic()))
        if not ready:
            sys.exit(f"{text!r} did not come; there was {seen!r}")
        try:
            seen += os.read(terminal, 4096).decode(errors="replace")
        except OSError:
            sys.exit(f"{text!r} did not come before the end; there was {seen!r}")
    before, seen = seen.split(text, 1)
    return before

def type(text):
    os.write(terminal, text.encode())

def shell(text):
    """A line for the shell. What is echoed is not what is expected: quotes are taken away."""
    type(text + "\n")
"#;

fn on_a_terminal(script: &str) {
    let is_there =
        |program: &str| Command::new(program).arg("--version").output().is_ok_and(|out| out.status.success());
    if !is_there("python3") || !is_there("bash") {
        println!("SKIPPED: it takes python3 and bash to try what happens on a terminal");
        return;
    }
    let place = Place::new();
    let out = Command::new("python3")
        .args(["-c", &format!("{TERMINAL}{script}")])
        .env("DOORWAY_DIR", &place.0)
        .env("RUN", concat!(env!("CARGO_BIN_EXE_doorway"), " run -n 1 x"))
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    place.nobody_is_left();
}

#[test]
fn ctrl_c_reaches_the_command_once_and_ends_a_loop_of_the_shell() {
    on_a_terminal(
        r#"
shell("""$RUN -- bash -c 'n=0; trap "n=\$((n+1))" INT; echo rea""dy; while [ $n = 0 ]; do sleep 0.01; done; sleep 0.3; echo got $n'; echo co""de $?""")
expect("ready")
type("\x03")
expect("got 1")
expect("code 0")
# It dies of it: so does the wrapper, and a loop ends.
shell("for i in 1 2 3; do $RUN -- sh -c 'echo ru''ns; exec sleep 1000'; done; echo aft''er $?")
expect("runs")
type("\x03")
rest = expect("$ ")
assert "runs" not in rest and "after" not in rest, rest
shell("$RUN -- sh -c 'echo on''ce; exec sleep 1000'")
expect("once")
type("\x03")
expect("$ ")
shell("echo co''de $?")
expect("code 130")
shell("exit")
"#,
    );
}

/// A command that makes this system call slow, if it is installed.
fn slow(call: &str) -> Option<String> {
    let slow = format!("strace -f -o /dev/null -e trace={call} -e inject={call}:delay_enter=300000");
    let works = Command::new("sh").args(["-c", &format!("{slow} true")]).output().unwrap().status.success();
    if !works {
        eprintln!("skipped: strace is not here, or may not be used");
    }
    works.then_some(slow)
}

/// The guardian is slow after it has started the command. A signal in between reaches both.
#[test]
fn ctrl_c_reaches_the_command_once_when_the_guardian_is_late() {
    let Some(slow) = slow("dup2") else { return };
    on_a_terminal(&format!(
        r#"
shell("""{slow} $RUN -- bash -c 'n=0; trap "n=\$((n+1))" INT; echo rea""dy; while [ $n = 0 ]; do :; done; sleep 1.5; echo got $n.'""")
expect("ready")
type("\x03")
expect("got ")
assert expect(".") == "1", "it came twice"
shell("exit")
"#
    ));
}

/// A signal that arrives when there is a slot and no command yet is passed on.
#[test]
fn ctrl_c_reaches_a_command_that_was_not_there_yet() {
    let Some(slow) = slow("clone") else { return };
    on_a_terminal(&format!(
        r#"
import json, subprocess
look = [os.environ["RUN"].split()[0], "status", "--json"]
def held():
    files = json.loads(subprocess.run(look, capture_output=True).stdout)["files"]
    return files and files[0]["holders"]
shell("{slow} $RUN -- sleep 1000")
while not held(): time.sleep(0.01)
type("\x03")
expect("$ ")
expect("$ ")
shell("echo co''de $?")
expect("code 130")
shell("exit")
"#
    ));
}

#[test]
fn ctrl_z_stops_the_job_and_fg_goes_on() {
    on_a_terminal(
        r#"
# Said by the last process that is started: a shell that is about to start one may miss a key.
begin = 'echo be""gun; exec sleep 1000'
for program in (begin, 'sh -c "%s"; true' % begin):
    shell("$RUN -- sh -c '%s'" % program)
    expect("begun")
    type("\x1a")
    expect("Stopped")
    expect("$ ")
    shell("jobs -l; fg")
    expect("Stopped")
    expect("sleep 1000")
    # Now it runs again, in the foreground: keys reach it.
    time.sleep(0.2)
    type("\x03")
    expect("$ ")
    shell("echo co''de $?")
    expect("code 130")
shell("exit")
"#,
    );
}

/// `less` and others stop only themselves. The shell must notice.
#[test]
fn a_command_that_stops_itself_stops_the_job() {
    on_a_terminal(
        r#"
shell("$RUN -- sh -c 'kill -TSTP $$; echo fir''st; kill -STOP $$; echo sec''ond; exit 3'")
expect("Stopped")
expect("$ ")
shell("fg")
expect("first")
expect("Stopped")
expect("$ ")
shell("fg")
expect("second")
expect("$ ")
shell("echo co''de $?")
expect("code 3")
shell("exit")
"#,
    );
}

#[test]
fn a_job_in_the_background_that_reads_the_terminal_is_stopped() {
    on_a_terminal(
        r#"
shell("$RUN -- sh -c 'read line; echo go''t $line; exit 5' &")
shell("wait %1; jobs; echo wai''ted")
expect("waited")
shell("sleep 0.2; jobs; echo loo''ked")
assert "Stopped" in expect("looked")
shell("fg")
expect("sh -c")
time.sleep(0.2)
type("hello\n")
expect("got hello")
expect("$ ")
shell("echo co''de $?")
expect("code 5")
shell("exit")
"#,
    );
}

#[test]
fn a_waiter_shows_a_line_that_goes_away_and_leaves_by_ctrl_c() {
    on_a_terminal(
        r#"
shell("$RUN --label hol''der -- sleep 1000 & sleep 0.5")
expect("$ ")
shell("$RUN -- echo never")
expect("waiting for a slot of x, 1 s; held by ")
expect("(holder)")
type("\x03")
expect("\r\x1b[K")
expect("$ ")
shell("echo co''de $?")
expect("code 130")
# Stopped while it waits, it begins when it may go on.
shell("$RUN -- echo ser''ved")
expect("waiting for a slot of x, 1 s")
type("\x1a")
expect("Stopped")
expect("$ ")
shell("kill %1; sleep 0.3; echo ki''lled")
assert "served" not in expect("killed")
shell("fg %2")
expect("served")
shell("exit")
"#,
    );
}

/// A holder may choose any label.
#[test]
fn what_a_holder_calls_itself_does_not_control_the_terminal() {
    on_a_terminal(
        r#"
shell(r"$RUN --label $'a\xe2\x80\xaeb\x1b[2J' -- sleep 1000 & sleep 0.5")
expect("$ ")
shell("$RUN -- echo never")
expect("waiting for a slot of x, 1 s; held by ")
line = expect(" for ")
assert line.endswith(r" (a\u{202e}b\u{1b}[2J)") and "\u202e" not in line and "\x1b" not in line, line
type("\x03")
expect("$ ")
shell("kill %1; wait; exit")
"#,
    );
}

/// All jobs of a shell share one terminal. A line for each background job would disturb the job in
/// the foreground.
#[test]
fn a_waiter_in_the_background_shows_no_line() {
    on_a_terminal(
        r#"
shell("$RUN -- sleep 1000 & sleep 0.5")
expect("$ ")
shell("$RUN -- echo never & sleep 2.5; echo sle''pt")
assert "waiting" not in expect("slept"), "it writes over what others show"
shell("fg %2")
expect("waiting for a slot of x, ")
type("\x03")
expect("$ ")
shell("kill %1; wait; exit")
"#,
    );
}

/// A terminal that goes away ends the command by SIGHUP, and the slot is free.
#[test]
fn a_terminal_that_is_closed_ends_the_command() {
    on_a_terminal(
        r#"
shell("$RUN -- sh -c 'echo be''gun; exec sleep 1000'")
expect("begun")
os.close(terminal)
os.waitpid(pid, 0)
"#,
    );
}
