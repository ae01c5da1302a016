//! Ctrl-C in a long search: what was found so far is printed.

#![cfg(target_os = "linux")]

use std::process::{Child, Command, Output, Stdio};

/// By this many clock ticks of work, every search has long begun.
const FAR_TOO_LONG: u64 = 500;

/// How many clock ticks the process has worked, and whether it handles SIGINT.
fn state_of(child: &Child) -> (u64, bool) {
    let read = |what: &str| std::fs::read_to_string(format!("/proc/{}/{what}", child.id())).unwrap();
    let (_, stat) = read("stat").rsplit_once(") ").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let worked = stat.split(' ').nth(11).unwrap().parse().unwrap();
    let status = read("status");
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap().trim();
    (worked, u64::from_str_radix(caught, 16).unwrap() & 1 << (2 - 1) != 0)
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Interrupts the command once it handles SIGINT and has worked for some ticks.
fn interrupted(args: &str, ticks: u64) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_doorway"));
    command.args(args.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    loop {
        assert!(child.try_wait().unwrap().is_none(), "{args}: it ended by itself");
        let (worked, handles) = state_of(&child);
        if handles && worked >= ticks {
            break;
        }
        if worked > ticks + FAR_TOO_LONG {
            child.kill().unwrap();
            panic!("{args}: it does not listen");
        }
        std::thread::yield_now();
    }
    interrupt(&child);
    child.wait_with_output().unwrap()
}

#[test]
fn what_was_found_is_printed() {
    let out = interrupted("check am-chain --n 6 --k 2", 0);
    let text = String::from_utf8(out.stdout).unwrap();
    assert_eq!(out.status.code(), Some(130), "{text}");
    assert!(text.contains("explored, NOT complete: interrupted"), "{text}");
    assert!(text.contains("k-exclusion       not decided"), "{text}");
}

#[test]
fn a_failure_that_was_found_is_printed_too() {
    let out = interrupted("check mutant:am-chain-lacks-a-slot --n 6 --k 2 --keep-going --json", 150);
    let report: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((out.status.code(), &report["stopped"]), (Some(130), &"interrupted".into()));
    let failed = report["properties"].as_array().unwrap().iter().find(|p| p["holds"] == false);
    assert!(failed.is_some_and(|p| p["name"] == "k-exclusion" && p["replay"].is_string()), "{report}");
}

#[test]
fn tables_are_printed_as_far_as_they_were_made() {
    let out = interrupted("registers --states 100000000 --json", 20);
    let cells: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(out.status.code(), Some(130), "{cells}");
    let outcomes: Vec<&serde_json::Value> = cells.as_array().unwrap().iter().map(|cell| &cell["outcome"]).collect();
    let missing = outcomes.iter().filter(|outcome| **outcome == "not-looked-at").count();
    assert!(missing > 0 && outcomes.len() > missing, "{outcomes:?}");
    let out = interrupted("registers --states 100000000", 0);
    let text = String::from_utf8(out.stdout).unwrap();
    assert_eq!(out.status.code(), Some(130), "{text}");
    assert!(text.contains("| not looked at |") && text.contains("interrupted, NOT complete: "), "{text}");

    let out = interrupted("rmr --theorems --steps 100000000000 --max-states 3000000 --json", 100);
    let report: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(out.status.code(), Some(130), "{report}");
    assert_eq!((&report["complete"], &report["stopped"]), (&false.into(), &"interrupted".into()));
    assert!(!report["rows"].as_array().unwrap().is_empty(), "{report}");
    let out = interrupted("rmr --theorems --steps 100000000000 --max-states 3000000", 0);
    let text = String::from_utf8(out.stdout).unwrap();
    assert_eq!(out.status.code(), Some(130), "{text}");
    assert!(text.ends_with("interrupted, NOT complete: the missing rows were not measured\n"), "{text}");
}

#[test]
fn samples_and_hunts_end_cleanly_too() {
    let out = interrupted("check am-chain --n 6 --k 2 --method random --runs 1000000000000 --property k-exclusion", 0);
    let text = String::from_utf8(out.stdout).unwrap();
    assert_eq!(out.status.code(), Some(130), "{text}");
    assert!(text.contains("which proves nothing, interrupted"), "{text}");
    for args in
        ["rmr am-chain --n 6 --k 2", "rmr am-chain --n 40 --k 4 --method random --runs 1000000 --steps 99999999999"]
    {
        let out = interrupted(args, 0);
        let text = String::from_utf8(out.stdout).unwrap();
        assert_eq!(out.status.code(), Some(130), "{text}");
        assert!(text.contains("interrupted"), "{text}");
    }
}

#[test]
fn faults_that_were_tried_are_printed() {
    let out = interrupted("faults am-chain --n 4 --k 2 --max-states 100000000", 0);
    let text = String::from_utf8(out.stdout).unwrap();
    assert_eq!(out.status.code(), Some(130), "{text}");
    assert!(text.contains(" 0 not decided, "), "{text}");
}
