//! The lab's command.
#![cfg(target_os = "linux")]

use doorway_core::registry;
use serde_json::Value;
use std::process::{Command, Output};

fn lab(args: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_doorway-lab")).args(args.split_whitespace()).output().unwrap()
}

fn json(args: &str) -> Value {
    let out = lab(args);
    assert!(out.status.success() && out.stderr.is_empty(), "{args}: {}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

/// Bad usage: exit code 2, nothing on standard output, and a message that has this word.
fn refused(args: &str, word: &str) {
    let out = lab(args);
    let message = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!((out.status.code(), out.stdout.len()), (Some(2), 0), "{args}: {message}");
    assert!(message.contains(word), "{args}: {message:?} lacks {word:?}");
}

#[test]
fn help_names_everything_that_can_be_measured() {
    let help = |args: &str| String::from_utf8(lab(args).stdout).unwrap();
    assert!(help("--help").contains("bench"));
    let benches = help("bench --help");
    for what in ["wait", "slots", "openings", "mutex", "combining", "rooms", "resilient", "processes", "checkers"] {
        assert!(benches.contains(&format!("\n  {what} ")), "{benches}");
        assert!(help(&format!("bench {what} --help")).contains("--quick"), "{what}");
    }
    assert!(help("bench rooms --help").contains("--scale") && help("bench mutex --help").contains("--simulated"));
}

#[test]
fn bad_usage_is_refused() {
    refused("", "Usage: doorway-lab");
    refused("bench", "resilient");
    refused("bench nothing", "nothing");
    refused("bench etcd --quick", "protoc");
    refused("bench wait --rounds 0", "rounds");
    refused("bench rooms --scale 11", "from 0.00001 to 10");
    refused("bench rooms --scale 1 --simulated", "cannot be used");
    refused("bench pass nobody 1", "nobody");
    refused("bench party nonsense", "cannot read the orders");
    refused("bench checker doorway nonsense 1", "cannot read the orders");
    assert!(lab("bench pass sem_t 3").status.success());
}

#[test]
fn what_is_measured_is_shown_as_text_and_as_json() {
    let text = String::from_utf8(lab("bench combining --quick --rounds 5").stdout).unwrap();
    assert!(text.contains("fetch-and-add") && text.contains("one addition, 8 threads"), "{text}");
    assert_eq!(json("bench combining --rounds 5 --json")["additions"].as_array().unwrap().len(), 4);
    assert_eq!(json("bench openings --rounds 40 --json")["openings"].as_array().unwrap().len(), 8);
}

#[test]
fn bench_wait_as_json_has_every_field() {
    let report = json("bench wait --quick --rounds 20 --json");
    let machine = report["machine"].as_object().unwrap();
    for field in ["processors", "pinned", "load_before", "used_by_others", "warning"] {
        assert!(machine.contains_key(field), "{machine:?}");
    }
    assert_eq!(report["effort"], serde_json::json!({ "repetitions": 1, "rounds": 20, "tiny": true }));
    let contests: Vec<&Value> =
        ["hand_over", "crowd"].iter().flat_map(|part| report[part].as_array().unwrap()).collect();
    for contest in &contests {
        assert!(contest["place"].is_string() && contest["waiters"].is_u64() && contest["control"].is_number());
        for peer in contest["peers"].as_array().unwrap() {
            for number in ["wall_ns", "cpu_ns", "wall_ratio", "cpu_ratio"] {
                assert!(peer[number].is_number(), "{number}: {contest}");
            }
            assert_eq!(peer["wall_range_ns"].as_array().map(Vec::len), Some(2));
        }
    }
    for (what, peers) in [
        ("thread to thread", "doorway PARK,doorway YIELD,doorway SPIN,std park,event-listener,parking_lot"),
        ("task to task", "doorway, one waits,doorway,event-listener,tokio Notify"),
        ("thread to task", "doorway PARK,doorway YIELD,doorway SPIN,event-listener,tokio Notify"),
        ("wake all 32 threads", "doorway PARK,doorway YIELD,std park,event-listener,parking_lot"),
        ("wake one of 8 tasks", "doorway,event-listener,tokio Notify"),
    ] {
        let contest = contests.iter().find(|contest| contest["what"] == what).unwrap();
        let names: Vec<&str> =
            contest["peers"].as_array().unwrap().iter().map(|peer| peer["peer"].as_str().unwrap()).collect();
        assert_eq!(names.join(","), peers, "{what}");
    }
    // All but those for two processes, and objects, which exclude no process.
    let measured = report["throughput"].as_array().unwrap();
    let for_two_or_no_gate = ["ya-two", "peterson-fischer", "ya-combining", "universal"];
    for info in registry::ALL.iter().filter(|info| !for_two_or_no_gate.contains(&info.id)) {
        let row = measured.iter().find(|row| row["algorithm"] == info.id).unwrap();
        for number in [
            "n",
            "k",
            "section_ns",
            "few_mops",
            "many_mops",
            "ratio",
            "few_cpu_ns",
            "many_cpu_ns",
            "few_handed_over",
            "many_handed_over",
            "control",
        ] {
            assert!(row[number].is_number(), "{number}: {row}");
        }
        assert!(row["collapsed"].is_boolean());
    }
    for passage in report["uncontended"].as_array().unwrap() {
        for number in ["n", "k", "park_ns", "bare_ns", "ratio", "control"] {
            assert!(passage[number].is_number(), "{number}: {passage}");
        }
    }
    for goal in report["goals"].as_array().unwrap() {
        assert!(goal["what"].is_string() && goal["goal"].is_string() && goal["met"].is_boolean(), "{goal}");
    }
}

#[test]
fn bench_slots_as_json_has_every_field() {
    let report = json("bench slots --quick --rounds 5 --json");
    assert!(report["machine"]["processors"].is_u64());
    assert_eq!(report["effort"], serde_json::json!({ "repetitions": 1, "rounds": 5, "tiny": true }));
    assert_eq!(report["faults"], serde_json::json!([]));
    let check = |part: &str, numbers: &[&str], expected: &[&str]| {
        for cell in report[part].as_array().unwrap() {
            assert!(cell["k"].is_u64() && cell["control"].is_number(), "{cell}");
            for peer in cell["peers"].as_array().unwrap() {
                for number in numbers {
                    assert!(peer[number].is_number(), "{part}, {number}: {peer}");
                }
            }
        }
        let first = report[part][0]["peers"].as_array().unwrap();
        let names: Vec<&str> = first.iter().map(|peer| peer["peer"].as_str().unwrap()).collect();
        assert_eq!(names, expected, "{part}");
    };
    let (ours, unfair, lot) = ("doorway", "doorway unfair", "parking_lot condvar");
    let others = ["tokio", "async-lock", "std condvar", lot, "sem_t"];
    let alone = [&[ours, unfair, "doorway no numbers", "doorway no numbers, unfair"], &others[..]].concat();
    check("alone", &["cpu_ns", "ratio"], &alone);
    let timed = ["wait_p50_ns", "wait_p99_ns", "wait_p999_ns"];
    let numbers = [&["ops", "cpu_ns", "cpu_beyond_work_ns", "handed_over", "share"], &timed[..]].concat();
    let bypass = ["doorway bypass 64", "doorway no numbers, bypass 64"];
    let first = [&[ours, unfair], &bypass[..], &["tokio", "parking_lot fair unlock"]].concat();
    check("threads", &numbers, &[&first, &others[1..]].concat());
    let numbers = ["ops", "cpu_ns", "cancelled", "share", "most_inside", "lost", "gained", "stuck"];
    check("tasks", &numbers, &[ours, unfair, "async-lock", "tokio"]);
    let verdicts = report["verdicts"].as_array().unwrap();
    assert!(verdicts.iter().any(|verdict| verdict["what"] == "CPU time alone, doorway against sem_t"));
    for verdict in verdicts {
        assert!(["measured", "median", "cells"].iter().all(|number| verdict[number].is_number()), "{verdict}");
        assert!(["what", "goal", "over", "worst"].iter().all(|text| verdict[text].is_string()), "{verdict}");
        assert!(verdict["met"].is_boolean(), "{verdict}");
    }
}

#[test]
fn bench_checkers_as_json_has_every_field() {
    let report = json("bench checkers --rounds 1 --json");
    // Without Spin it says so, and measures the others.
    let without_spin =
        report["faults"].as_array().unwrap().iter().all(|fault| fault.as_str().unwrap().contains("Spin"));
    assert!(without_spin, "{}", report["faults"]);
    for part in ["searches", "hunts"] {
        for search in report[part].as_array().unwrap() {
            for number in ["wall_s", "cpu_s", "peak", "threads", "successes", "repetitions"] {
                assert!(search[number].is_number(), "{part}, {number}: {search}");
            }
        }
    }
    let searches = report["searches"].as_array().unwrap();
    assert!(searches.len() >= 5 && searches.iter().all(|search| search["found"]["states"] == 58), "{searches:?}");
    let ours = &report["hunts"][0];
    assert_eq!((&ours["checker"], &ours["found"]["steps"]), (&"doorway".into(), &7.into()));
    assert_eq!(report["lines"].as_array().unwrap().len(), 9);
}

/// The tables of the page are what the newest record says.
#[test]
fn the_page_on_checkers_quotes_its_record() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(here.join("../../docs/checkers.md")).unwrap();
    let names = std::fs::read_dir(here.join("records")).unwrap().map(|entry| entry.unwrap().file_name().into_string());
    let newest = names.filter_map(Result::ok).filter(|name| name.ends_with("-checkers.txt")).max().unwrap();
    assert!(page.contains(&format!("records/{newest}")), "the page names another record than {newest}");
    let record = std::fs::read_to_string(here.join("records").join(newest)).unwrap();
    let blocks: Vec<&str> = page.split("```text\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(blocks.len() == 4 && blocks.iter().all(|block| block.lines().count() > 4));
    assert!(blocks.iter().all(|block| record.contains(block)), "{page}");
}
