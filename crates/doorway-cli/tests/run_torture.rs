//! `doorway run`, whose wrappers, sweepers, guardians and commands are killed at random: no slot is
//! lost or given out twice, and no process is left behind. `ci/run-torture.sh` runs it for longer.
#![cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]

mod kit;

use kit::run::{Place, eventually, is_alive, kill};
use std::process::{Child, Stdio};
use std::time::Duration;

const SLOTS: usize = 2;
/// How many commands run or wait at the same time.
const AT_ONCE: usize = 5;

/// A child of a process, if it has one: of a wrapper its guardian or its sweeper, of a sweeper the
/// guardian, of a guardian its command.
fn child(process: u32) -> Option<u32> {
    let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).ok()?;
    children.split_whitespace().next()?.parse().ok()
}

/// Kills some of them, in any order. Skips those that do not exist yet, or no longer.
fn kill_some(wrapper: u32, rng: &mut fastrand::Rng) -> usize {
    // With a sweeper these are the four; without, the last is a child of the command.
    let mut chosen: Vec<u32> = std::iter::successors(Some(wrapper), |process| child(*process)).take(4).collect();
    rng.shuffle(&mut chosen);
    let mut killed = 0;
    for process in chosen {
        // The wrapper was not waited for. The others may have ended since, but to reuse their
        // numbers in this moment would take some thousand processes.
        if rng.bool() && is_alive(process) {
            kill(process, libc::SIGKILL);
            killed += 1;
        }
        if rng.bool() {
            std::thread::sleep(Duration::from_micros(rng.u64(0..500)));
        }
    }
    killed
}

#[test]
fn whoever_is_killed_no_slot_is_lost_and_nobody_is_left() {
    let asked = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let runs = asked("DOORWAY_RUN_TORTURE").unwrap_or(60);
    let mut rng = fastrand::Rng::with_seed(asked("DOORWAY_RUN_SEED").unwrap_or(1));
    let place = Place::new();
    let over = place.0.join("over");
    // A kernel lock for each slot: it is free when all processes that inherited it have ended.
    let script = format!(
        "flock -n -E 99 {0}/witness-$DOORWAY_SLOT sleep 0.0$1; [ $? != 99 ] || echo $DOORWAY_SLOT >>{1}; sleep 0.00$2 &",
        place.0.display(),
        over.display()
    );
    let slots = SLOTS.to_string();
    let mut running: Vec<Child> = Vec::new();
    let (mut killed, mut unhurt) = (0, 0);
    for run in 0..runs {
        // Slots that are released on purpose have another name, without a witness.
        let (name, how) = match rng.u32(0..10) {
            0..5 => ("x", "hold"),
            5..9 => ("x", "kill"),
            _ => ("released", "release"),
        };
        let script = if how == "release" { "exec sleep 0.01" } else { &script };
        let (long, short) = (rng.u32(1..4).to_string(), rng.u32(1..9).to_string());
        let mut command = place.run(&["-n", &slots, name, "--orphans", how, "--", "sh", "-c", script, "sh"]);
        running.push(command.args([&long, &short]).stderr(Stdio::null()).spawn().unwrap());
        std::thread::sleep(Duration::from_micros(rng.u64(0..8000)));
        if rng.u32(0..10) < 7 {
            let victim = rng.usize(..running.len());
            killed += kill_some(running[victim].id(), &mut rng);
        }
        while running.len() >= AT_ONCE || (run + 1 == runs && !running.is_empty()) {
            let mut first = running.remove(0);
            unhurt += usize::from(first.wait().unwrap().code() == Some(0));
        }
    }
    place.nobody_is_left();
    assert!(!over.exists(), "a slot was given twice: {:?}", std::fs::read_to_string(&over));
    for name in ["x", "released"] {
        let opened = doorway::shared::Builder::new(name, SLOTS).directory(&place.0).open().unwrap();
        let mut guards = Vec::new();
        eventually("all slots are free", || {
            guards.extend(opened.try_acquire());
            guards.len() == SLOTS
        });
        drop(guards);
        assert!(opened.status().unwrap().waiters.is_empty());
    }
    println!("{runs} runs, {killed} processes killed, {unhurt} commands ended well; all slots free, nobody left");
    assert!(killed > 0 && unhurt > 0);
}
