//! `doorway run --orphans`: every way to kill the wrapper, the guardian and the command, each with
//! a grandchild that has none of their descriptors, and with one that has.
#![cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]

mod kit;

use doorway::shared::Previous;
use kit::run::{Place, Running, eventually, is_alive, is_stopped, kill, parent, told, touch};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

/// A grandchild in a session of its own, which closes what it inherits, and one that keeps it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Grandchild {
    Closes,
    Keeps,
}

/// The processes that SIGKILL kills.
#[derive(Clone, Copy, Debug)]
enum Killed {
    Wrapper,
    WrapperAndCommand,
    WrapperAndGuardian,
    WrapperGuardianAndCommand,
    /// With `kill`, the process between the two as well.
    WrapperSweeperAndGuardian,
    /// The command ends on its own, and leaves the grandchild behind.
    Nobody,
    Guardian,
}

/// The command says `ready`, its number and that of the grandchild.
fn start(place: &Place, how: &str, grandchild: Grandchild, killed: Killed) -> Running {
    let end = if matches!(killed, Killed::Nobody) { "exit 3" } else { "exec sleep 1000" };
    let gone = place.0.join("gone");
    let wait = format!("while [ ! -e {} ]; do sleep 0.01; done;", gone.display());
    let wait = if matches!(killed, Killed::Nobody) { wait.as_str() } else { "" };
    place.start(&["--orphans", how], &format!("{} {wait} {end}", has_a_grandchild(place, grandchild)))
}

fn has_a_grandchild(place: &Place, grandchild: Grandchild) -> String {
    let closes = if grandchild == Grandchild::Closes { "exec 40<&-;" } else { "" };
    format!(
        "setsid bash -c '{closes} echo $$ >{pid}.new; mv {pid}.new {pid}; exec sleep 1000' >/dev/null 2>&1 </dev/null &
         while [ ! -e {pid} ]; do sleep 0.01; done
         echo ready $$ $(cat {pid});",
        pid = place.0.join("pid").display(),
    )
}

fn is_held(place: &Place) -> bool {
    place.slots(1).try_acquire().is_err()
}

/// Kills, and returns whether the slot is held and whether the grandchild lives once all is quiet.
/// Then it kills the rest, and the slot must be free.
fn after(how: &str, grandchild: Grandchild, killed: Killed, held: bool, lives: bool) {
    let place = Place::new();
    let mut running = start(&place, how, grandchild, killed);
    let child = running.number(2);
    assert!(is_held(&place) && is_alive(child));
    // Guardians first: they react to the death of others.
    match killed {
        Killed::Wrapper => running.kill_wrapper(),
        Killed::Guardian => running.kill_guardian(),
        Killed::WrapperAndCommand => {
            // Both at once, as far as the guardian can tell.
            kill(running.guardian, libc::SIGSTOP);
            running.kill_command();
            running.kill_wrapper();
            kill(running.guardian, libc::SIGCONT);
        }
        Killed::WrapperAndGuardian => {
            kill(running.wrapper.id(), libc::SIGSTOP);
            running.kill_guardian();
            running.kill_wrapper();
        }
        Killed::WrapperGuardianAndCommand => {
            kill(running.wrapper.id(), libc::SIGSTOP);
            kill(running.guardian, libc::SIGSTOP);
            running.kill_command();
            running.kill_guardian();
            running.kill_wrapper();
        }
        Killed::WrapperSweeperAndGuardian => {
            let sweeper = parent(running.guardian).unwrap();
            assert_ne!(sweeper, running.wrapper.id());
            kill(running.wrapper.id(), libc::SIGSTOP);
            kill(sweeper, libc::SIGKILL);
            eventually("the sweeper is dead", || !is_alive(sweeper));
            running.kill_guardian();
            running.kill_wrapper();
        }
        Killed::Nobody => {
            touch(&place.0.join("gone"));
            assert_eq!(running.wrapper.wait().unwrap().code(), Some(3), "it is returned at once");
        }
    }
    if held {
        // It stays so, long enough for a live guardian to have looked.
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert!(is_held(&place), "{how}, {grandchild:?}, {killed:?}: the slot must be held");
    } else {
        eventually("the slot is free", || !is_held(&place));
    }
    if lives {
        assert!(is_alive(child), "{how}, {grandchild:?}, {killed:?}: the grandchild must live");
    } else {
        eventually("the grandchild is dead", || !is_alive(child));
    }
    for process in [running.command, child] {
        kill(process, libc::SIGKILL);
    }
    let _ = running.wrapper.wait();
    eventually("the slot is free at the end", || !is_held(&place));
    place.nobody_is_left();
}

macro_rules! cells {
    ($($test:ident: $how:literal, $killed:ident, $grandchild:ident => $held:literal, $lives:literal;)*) => {
        $(
            #[test]
            fn $test() {
                after($how, Grandchild::$grandchild, Killed::$killed, $held, $lives);
            }
        )*
    };
}

// Whether the slot is held, and whether the grandchild lives.
cells! {
    hold_wrapper: "hold", Wrapper, Closes => true, true;
    hold_wrapper_kept: "hold", Wrapper, Keeps => true, true;
    hold_wrapper_and_command: "hold", WrapperAndCommand, Closes => true, true;
    hold_wrapper_and_command_kept: "hold", WrapperAndCommand, Keeps => true, true;
    hold_wrapper_and_guardian: "hold", WrapperAndGuardian, Closes => true, true;
    hold_wrapper_and_guardian_kept: "hold", WrapperAndGuardian, Keeps => true, true;
    hold_all_three: "hold", WrapperGuardianAndCommand, Closes => false, true;
    hold_all_three_kept: "hold", WrapperGuardianAndCommand, Keeps => true, true;
    hold_nobody: "hold", Nobody, Closes => true, true;
    hold_nobody_kept: "hold", Nobody, Keeps => true, true;
    hold_guardian: "hold", Guardian, Closes => true, true;
    hold_guardian_kept: "hold", Guardian, Keeps => true, true;

    release_wrapper: "release", Wrapper, Closes => false, true;
    release_wrapper_and_command: "release", WrapperAndCommand, Closes => false, true;
    release_wrapper_and_guardian: "release", WrapperAndGuardian, Closes => false, true;
    release_all_three: "release", WrapperGuardianAndCommand, Closes => false, true;
    release_nobody: "release", Nobody, Closes => false, true;
    release_guardian: "release", Guardian, Closes => false, true;

    kill_wrapper: "kill", Wrapper, Closes => false, false;
    kill_wrapper_kept: "kill", Wrapper, Keeps => false, false;
    kill_wrapper_and_command: "kill", WrapperAndCommand, Closes => false, false;
    kill_wrapper_and_command_kept: "kill", WrapperAndCommand, Keeps => false, false;
    kill_wrapper_and_guardian: "kill", WrapperAndGuardian, Closes => false, false;
    kill_wrapper_and_guardian_kept: "kill", WrapperAndGuardian, Keeps => false, false;
    kill_all_three: "kill", WrapperGuardianAndCommand, Closes => false, false;
    kill_all_three_kept: "kill", WrapperGuardianAndCommand, Keeps => false, false;
    kill_sweeper_too: "kill", WrapperSweeperAndGuardian, Closes => false, true;
    kill_sweeper_too_kept: "kill", WrapperSweeperAndGuardian, Keeps => true, true;
    kill_nobody: "kill", Nobody, Closes => false, false;
    kill_nobody_kept: "kill", Nobody, Keeps => false, false;
    kill_guardian: "kill", Guardian, Closes => false, false;
    kill_guardian_kept: "kill", Guardian, Keeps => false, false;
}

/// Which ends the next holder is told of.
#[test]
fn the_next_holder_is_told_of_a_death_only_if_the_guardian_died() {
    let told = |killed: Killed| {
        let place = Place::new();
        let mut running = start(&place, "hold", Grandchild::Closes, killed);
        match killed {
            Killed::Guardian => running.kill_guardian(),
            _ => running.kill_wrapper(),
        }
        for process in [running.command, running.number(2)] {
            kill(process, libc::SIGKILL);
        }
        let guard = place.slots(1);
        let guard = guard.acquire().unwrap();
        !matches!(guard.previous(), Previous::Clean)
    };
    assert!(told(Killed::Guardian));
    assert!(!told(Killed::Wrapper), "the guardian gave the slot back when nobody was left");
}

/// The wrapper goes on without its guardian, and still knows how the command ends.
#[test]
fn the_exit_code_survives_the_guardian() {
    let place = Place::new();
    let mut running = place.start(&[], "trap 'exit 9' USR1; echo ready $$; while :; do sleep 0.01; done");
    running.kill_guardian();
    // A signal that arrives before it can be passed on is passed on later.
    kill(running.wrapper.id(), libc::SIGUSR1);
    assert_eq!(running.wrapper.wait().unwrap().code(), Some(9));
}

/// A shell has children, then becomes `doorway run`. One of them loses its parent later, and
/// arrives at the wrapper like a descendant of the command.
#[test]
fn children_that_the_wrapper_had_before_live_on() {
    for victim in ["nobody", "guardian", "sweeper", "wrapper"] {
        let place = Place::new();
        let file = |name: &str| place.0.join(name).display().to_string();
        let script = format!(
            "exec 3>&1 >/dev/null; sleep 1000 3>&- & echo $! >{before}
             (while [ ! -e {lose} ]; do sleep 0.01; done; sleep 1000 3>&- & echo $! >{late}) 3>&- &
             exec \"$0\" run --orphans kill -n 1 x -- bash -c 'echo ready $$; read line || exec sleep 1000; exit 4' >&3 3>&-",
            before = file("before"),
            lose = file("lose"),
            late = file("late"),
        );
        let mut shell = Command::new("bash");
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_doorway")]).env("DOORWAY_DIR", &place.0);
        let input = if victim == "nobody" { Stdio::piped() } else { Stdio::null() };
        let mut running = Running::new(shell.stdin(input).stdout(Stdio::piped()).spawn().unwrap());
        touch(&place.0.join("lose"));
        let number = |name: &str| std::fs::read_to_string(place.0.join(name)).ok()?.trim().parse().ok();
        eventually("it has lost its parent", || {
            number("late").is_some_and(|late| parent(late) == Some(running.wrapper.id()))
        });
        let theirs: [u32; 2] = ["before", "late"].map(|name| number(name).unwrap());
        let sweeper = parent(running.guardian).unwrap();
        match victim {
            "nobody" => std::io::Write::write_all(running.wrapper.stdin.as_mut().unwrap(), b"\n").unwrap(),
            "guardian" => running.kill_guardian(),
            "sweeper" => {
                kill(sweeper, libc::SIGKILL);
                eventually("the sweeper is dead", || !is_alive(sweeper));
                running.kill_guardian();
            }
            _ => running.kill_wrapper(),
        }
        let code = running.wrapper.wait().unwrap().code();
        let expected = match victim {
            "nobody" => Some(4),
            "wrapper" => None,
            _ => Some(128 + libc::SIGKILL),
        };
        assert_eq!(code, expected, "{victim}");
        eventually("the command is dead", || !is_alive(running.command));
        eventually("the slot is free", || !is_held(&place));
        for process in theirs {
            assert!(is_alive(process), "{victim}: {process} is not the command's");
        }
    }
}

/// A command that ends with code 7 when it is released. Before that, the test does something to its
/// file or its guardian.
fn ends_with_7(how: &str, meanwhile: impl FnOnce(&Place, &Running)) -> (i32, String) {
    let place = Place::new();
    let script = format!("echo ready $$; while [ ! -e {} ]; do sleep 0.01; done; exit 7", place.0.join("go").display());
    let mut command = place.run(&["-n", "1", "x", "--orphans", how, "--", "bash", "-c", &script]);
    let mut running = Running::new(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    meanwhile(&place, &running);
    touch(&place.0.join("go"));
    drop(running.out);
    running.wrapper.stdout = None;
    let (code, _, said) = told(running.wrapper.wait_with_output().unwrap());
    (code, said)
}

/// The file is truncated, so giving the slot back kills the guardian.
#[test]
fn the_exit_code_survives_a_guardian_that_dies_after_the_command() {
    for how in ["hold", "release", "kill"] {
        let (code, said) = ends_with_7(how, |place, _| {
            std::fs::File::options().write(true).open(place.0.join("x")).unwrap().set_len(0).unwrap();
        });
        assert_eq!(code, 7, "{how}: {said}");
        assert!(
            said.contains("was killed by SIGBUS (was the file of the slots truncated?) after the command had ended"),
            "{said}"
        );
    }
}

/// The guardian is killed after the command has ended, just before it asks the kernel how.
#[test]
fn the_exit_code_survives_a_guardian_that_dies_before_it_has_asked() {
    let strace = |guardian: u32| {
        let mut strace = Command::new("strace");
        strace.args(["-qq", "-o", "/dev/null", "-e", "trace=wait4", "-e", "inject=wait4:signal=KILL:when=1"]);
        strace.args(["-p", &guardian.to_string()]).stderr(Stdio::null()).spawn()
    };
    let traced = |guardian: u32| {
        std::fs::read_to_string(format!("/proc/{guardian}/status")).is_ok_and(|about| !about.contains("TracerPid:\t0"))
    };
    let mut skipped = false;
    let (code, said) = ends_with_7("hold", |_, running| {
        let Ok(mut tracer) = strace(running.guardian) else { return skipped = true };
        eventually("it is traced, or cannot be", || traced(running.guardian) || tracer.try_wait().unwrap().is_some());
        skipped = !traced(running.guardian);
    });
    if skipped {
        eprintln!("SKIPPED: strace is not here, or may not be used");
        return;
    }
    assert_eq!(code, 7, "{said}");
    assert!(said.contains("the guardian was killed"), "{said}");
}

/// A tree of many levels, each in a session of its own; every parent has died.
#[test]
fn killing_reaches_all_that_forked_and_lost_its_parent() {
    let place = Place::new();
    let script = "
        spread() { [ $1 = 0 ] || for i in 1 2 3; do (spread $(($1 - 1)) & setsid sleep 1000 & sleep 1000 & exit 0) & done; }
        spread 3; sleep 0.2; echo ready $$; exec sleep 1000";
    let mut running = place.start(&["--orphans", "kill"], script);
    assert!(place.left().len() > 20, "{:?}", place.left());
    running.kill_wrapper();
    place.nobody_is_left();
    assert!(!is_held(&place));
}

/// A control group is used where one can be created, and nothing of it is left.
#[test]
fn no_control_group_is_left() {
    let place = Place::new();
    let (code, out, _) = place.told(&["--orphans", "kill", "-n", "1", "x", "--", "cat", "/proc/self/cgroup"]);
    assert_eq!(code, 0);
    let Some(group) =
        out.lines().find_map(|line| line.strip_prefix("0::")).filter(|group| group.contains("doorway-run-"))
    else {
        eprintln!("skipped: no control group can be made here");
        return;
    };
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    let mount = mounts.lines().find(|line| line.split(' ').nth(2) == Some("cgroup2")).unwrap();
    let path = std::path::Path::new(mount.split(' ').nth(1).unwrap()).join(group.trim_start_matches('/'));
    assert!(!path.exists(), "{}", path.display());
}

/// `timeout -s KILL`, shells and many build runners kill the whole process group.
#[test]
fn killing_the_whole_group_leaves_nobody_with_kill() {
    for grandchild in [Grandchild::Closes, Grandchild::Keeps] {
        let place = Place::new();
        let script = format!("{} exec sleep 1000", has_a_grandchild(&place, grandchild));
        let mut command = place.run(&["-n", "1", "x", "--orphans", "kill", "--", "bash", "-c", &script]);
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut running = Running::new(command.spawn().unwrap());
        let child = running.number(2);
        assert!(is_held(&place) && is_alive(child));
        kill(running.wrapper.id().wrapping_neg(), libc::SIGKILL);
        running.wrapper.wait().unwrap();
        eventually("the grandchild is killed", || !is_alive(child));
        eventually("the slot is free", || !is_held(&place));
    }
}

/// A command that alone is stopped and continued, as `pkill -P` does it.
#[test]
fn the_wrapper_goes_on_when_only_the_command_is_let_go_on() {
    let place = Place::new();
    let go = place.0.join("go");
    let script = format!("echo ready $$; while [ ! -e {} ]; do sleep 0.01; done; exit 3", go.display());
    let mut running = place.start(&[], &script);
    let wrapper = running.wrapper.id();
    for _ in 0..3 {
        kill(running.command, libc::SIGSTOP);
        eventually("the wrapper stops with the command", || is_stopped(wrapper));
        kill(running.command, libc::SIGCONT);
        eventually("the wrapper goes on with the command", || !is_stopped(wrapper));
    }
    touch(&go);
    assert_eq!(running.wrapper.wait().unwrap().code(), Some(3));
}
