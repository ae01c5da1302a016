//! `doorway torture`: nothing is wrong with slots between processes, and each seeded fault is
//! found.
#![cfg(target_os = "linux")]

mod kit;

use kit::{doorway, json, refused};
use serde_json::Value;

fn sum(report: &Value, key: &str) -> u64 {
    report["together"][key].as_u64().unwrap()
}

#[test]
fn the_short_form_finds_nothing() {
    let report = json("torture --kills 600 --seed 1 --json --patience 120");
    assert_eq!(report["fine"], true, "{report:#}");
    assert!(sum(&report, "kills") >= 500 && sum(&report, "stops") > 0, "{report:#}");
    for key in ["grants", "told", "forks", "opens", "timeouts", "deletions"] {
        assert!(sum(&report, key) > 0, "{key}: {report:#}");
    }
    let modes: Vec<&str> =
        report["trials"].as_array().unwrap().iter().map(|trial| trial["mode"].as_str().unwrap()).collect();
    for mode in
        ["random", "statements", "stops", "restless", "deletions", "threads", "tasks", "tolerate", "bypass", "mix"]
    {
        assert!(modes.contains(&mode), "{modes:?}");
    }
    let hit = report["killed_at_statements"].as_object().unwrap().values().filter(|n| n.as_u64() > Some(0)).count();
    assert!(hit > 10, "{report:#}");
}

/// Runs until the fault is found, and returns by what.
fn found(fault: &str, how: &str) -> Vec<String> {
    let out = doorway(&format!("torture --fault {fault} {how} --kills 20000 --seed 1 --json --patience 3"));
    let report: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(out.status.code(), Some(1), "{fault} was not found: {report:#}");
    assert_eq!(report["fine"], false);
    let keys =
        ["over_admitted", "lost", "untold", "false_deaths", "fences_out_of_order", "stuck", "errors"].into_iter();
    keys.filter(|key| sum(&report, key) > 0).map(str::to_owned).collect()
}

macro_rules! faults {
    ($($test:ident: $fault:literal, $how:literal => $($by:literal)|+;)*) => {
        $(
            #[test]
            fn $test() {
                let by = found($fault, $how);
                assert!([$($by),+].iter().any(|key| by.iter().any(|found| found == key)), "by {by:?}");
            }
        )*
    };
}

faults! {
    no_recovery: "no-recovery", "--mode random" => "stuck" | "lost";
    no_recovery_where_newcomers_pass: "no-recovery", "--mode bypass" => "stuck" | "lost";
    no_recovery_in_threads: "no-recovery", "--mode threads" => "stuck" | "lost";
    untold_to_tasks: "untold", "--mode tasks" => "untold";
    blind_take_where_slots_are_kept: "blind-take", "--mode tolerate" => "over_admitted" | "fences_out_of_order" | "false_deaths" | "untold";
    no_byte_lock: "no-byte-lock", "--mode statements" => "over_admitted" | "false_deaths" | "stuck" | "errors";
    leading_detector: "leading-detector", "--mode random" => "over_admitted" | "false_deaths" | "errors";
    fence_not_raised: "fence-not-raised", "--mode random" => "fences_out_of_order";
    untold: "untold", "--mode random" => "untold";
    cleared_before_confirmed: "cleared-before-confirmed", "--mode statements --slots 1" => "stuck" | "lost";
    freed_before_confirmed: "freed-before-confirmed", "--mode random" => "over_admitted" | "false_deaths";
    torn_swap: "torn-swap", "--mode random" => "over_admitted" | "false_deaths" | "fences_out_of_order";
    deaf: "deaf", "--mode random" => "stuck";
    blind_take: "blind-take", "--mode random" => "over_admitted";
}

#[test]
fn bad_usage_is_told() {
    refused("torture --fault nothing", &["nothing", "no-recovery"]);
    refused("torture --mode nowhere", &["nowhere", "statements"]);
    refused("torture --processes 1", &["1"]);
    refused("torture-herd {}", &["doorway torture"]);
}
