//! Unexplored means undecided, and the report names what was really used.

mod kit;

use kit::{code, doorway, json, refused, text};
use serde_json::Value;

fn verdict<'a>(report: &'a Value, name: &str) -> &'a Value {
    let properties = report["properties"].as_array().unwrap();
    &properties.iter().find(|p| p["name"] == name).unwrap()["holds"]
}

#[test]
fn few_switches_decide_nothing_that_they_do_not_break() {
    // Two processes one after the other are safe whatever the text.
    let mutant = "check mutant:bakery-never-opens-its-doorway --property mutual-exclusion";
    assert_eq!(code(&format!("{mutant} --switches 1")), 3);
    assert_eq!(code(&format!("{mutant} --switches 2")), 1, "a failure that was found is one");

    let few = json("check am-chain --n 3 --k 1 --switches 2 --json");
    assert_eq!((&few["complete"], &few["switches"]), (&false.into(), &2.into()));
    assert_eq!(few["stopped"], "only runs that change hands at most 2 times");
    assert!(verdict(&few, "k-exclusion").is_null());
    assert_eq!(*verdict(&few, "k-enter-together"), true, "one run is enough to show what happens sometimes");
    let text = text("check am-chain --n 3 --k 1 --switches 2");
    assert!(text.contains("k-exclusion       not decided"), "{text}");
    assert!(text.contains("NOT complete: only runs that change hands at most 2 times"), "{text}");
}

#[test]
fn a_front_that_lags_less_than_it_can_decides_nothing() {
    let args = "check turnstile --n 2 --k 1 --lag 1 --property k-exclusion";
    assert_eq!(code(args), 3);
    assert!(text(args).contains("NOT complete: only runs in which the front is at most 1 ticket behind"));
}

#[test]
fn a_bound_on_what_processes_do_is_named() {
    let line = text("check turnstile --n 2 --k 1 --give-ups --line 1");
    assert!(line.contains("complete for a line of 1 ticket") && line.contains("line: 1"), "{line}");
    let passages = text("check am-chain --n 2 --k 1 --passages 1");
    assert!(passages.contains("complete for 1 passage of each process"), "{passages}");
}

#[test]
fn registers_are_those_that_were_used() {
    let unweakened = text("check am-chain --n 3 --k 1 --registers safe");
    assert!(unweakened.contains("atomic registers (not safe: no variable declares"), "{unweakened}");
    assert!(unweakened.contains("--force") && !unweakened.contains("safe registers"), "{unweakened}");
    let report = json("check am-chain --n 3 --k 1 --registers safe --json");
    assert_eq!((&report["registers"], &report["registers_asked"]), (&"atomic".into(), &"safe".into()));

    let safe = text("check bakery --n 2 --passages 1 --registers safe");
    assert!(safe.contains(", safe registers, "), "{safe}");
    let some = text("check kbakery-nonatomic --n 2 --k 1 --passages 1 --registers safe --property k-exclusion");
    assert!(some.contains("registers as declared: ") && some.contains("monotone (--force weakens all)"), "{some}");
    let forced = text("check ya-two --registers safe --force --property mutual-exclusion");
    assert!(forced.contains(", safe registers, forced, "), "{forced}");
}

#[test]
fn memory_is_limited_before_the_first_step_too() {
    let args = "check am-dsm-chain --n 5000 --max-memory 256M";
    assert_eq!(code(args), 3);
    let out = text(args);
    assert!(out.contains("NOT complete: the variables of am-dsm-chain with n=5000, k="), "{out}");
    assert!(out.contains("TiB, more than ") && out.contains("the memory limit of 256.00 MiB"), "{out}");
    assert!(out.contains("give smaller sizes or a larger --max-memory"), "{out}");
    let report = json(&format!("{args} --json"));
    assert_eq!((&report["states"], &report["complete"]), (&0.into(), &false.into()));
    assert!(report["properties"].as_array().unwrap().iter().all(|p| p["holds"].is_null()));
    assert_eq!(code("check am-dsm-chain --n 5000 --max-memory 256M --method random"), 3);

    assert_eq!(code("rmr am-dsm-chain --n 65535 --k 2"), 3, "an exhaustive search that cannot begin");
    refused("replay am-dsm-chain --n 65535 --schedule p0.2", &["memory limit", "smaller sizes"]);
}

#[test]
fn a_limit_names_itself_and_its_option() {
    for (option, words) in [
        (
            "--max-memory 100K",
            "the search reached its memory limit of 100.00 KiB; give smaller sizes or a larger --max-memory",
        ),
        ("--max-memory 100KiB", "100.00 KiB;"),
        ("--max-memory 102400B", "100.00 KiB;"),
        ("--max-states 1", "the search reached its limit of 1 state; give a larger --max-states"),
        ("--max-states 2000", "the search reached its limit of 2,000 states"),
    ] {
        let args = format!("check am-chain --n 4 --k 1 {option}");
        assert_eq!(code(&args), 3);
        assert!(text(&args).contains("NOT complete: the search reached its"), "{}", text(&args));
        assert!(text(&args).contains(words), "{}", text(&args));
        assert!(json(&format!("{args} --json"))["stopped"].as_str().unwrap().contains(words), "{args}");
    }
    let sampled =
        text("check bakery --passages 100 --method random --length 5000 --max-memory 100K --property mutual-exclusion");
    assert!(sampled.contains("100.00 KiB; give smaller sizes or a larger --max-memory"), "{sampled}");
}

#[test]
fn what_must_be_at_least_one_says_so() {
    for args in ["check tas --max-states 0", "rmr tas --max-states 0", "registers ya-two --states 0"] {
        refused(args, &["states", "whole number, at least 1", "finds nothing"]);
    }
    for args in ["check tas --method random --runs 0", "check turnstile --line 0", "rmr tas --contention 0"] {
        refused(args, &["whole number, at least 1"]);
    }
    for size in ["0", "0K", "1.5G", "1T", "lots", "KiB"] {
        refused(&format!("check tas --max-memory {size}"), &["--max-memory", "512M or 8GiB"]);
    }
}

#[test]
fn an_expensive_passage_that_was_not_found_is_not_ruled_out() {
    assert_eq!(code("rmr am-chain --n 3 --k 1"), 0);
    assert_eq!(code("rmr am-chain --n 3 --k 1 --max-states 10"), 3);
    assert_eq!(code("rmr am-chain --n 8 --k 2 --method adversary"), 3);
    let report = json("rmr am-chain --n 3 --k 1 --max-states 10 --json");
    let stopped = "the search reached its limit of 10 states; give a larger --max-states";
    assert_eq!((&report["complete"], &report["stopped"]), (&false.into(), &stopped.into()));
}

#[test]
fn an_option_without_effect_is_refused() {
    refused("check tas --line 1", &["tas has no line of tickets", "--line"]);
    refused("check rooms --give-ups --line 1", &["rooms has no line of tickets"]);
    refused("check resilient --lag 1", &["resilient has no front", "--lag"]);
    refused("check turnstile-simple --lag 1", &["no front"]);
    refused("check turnstile --passages 2 --lag 1", &["or omit --passages"]);
    refused("check tas --alike", &["tas declares no symmetric states", "--alike"]);
    refused("check turnstile --alike", &["--alike"]);
    refused("check ya-two --force", &["--registers"]);
    refused("check ya-two --registers atomic --force", &["no effect on atomic registers"]);
    refused("check tas --crashes 4", &["3 processes", "4 times"]);
    refused("check tas --n 1 --crashes 2", &["the one process cannot crash 2 times"]);
    for option in ["--runs 5", "--length 5", "--seed 5"] {
        refused(&format!("check tas {option}"), &[option.split(' ').next().unwrap(), "--method random"]);
    }
    for option in ["--max-states 5", "--switches 5", "--keep-going", "--cross-check"] {
        let words = [option.split(' ').next().unwrap(), "no effect on samples"];
        refused(&format!("check tas --method random {option}"), &words);
    }
    refused("check tas --depth 3", &["--method pct"]);
    refused("check tas --method random --depth 3", &["--method pct"]);
    refused("check tas --method pct --depth 4294967295", &["--depth", "1000"]);
    refused("check tas --method random --runs 0", &["--runs"]);

    for option in ["--runs 5", "--steps 5", "--seed 5"] {
        refused(&format!("rmr tas {option}"), &[option.split(' ').next().unwrap(), "exhaustive"]);
    }
    for option in ["--passages 1", "--max-states 5"] {
        let args = format!("rmr tas --method adversary {option}");
        refused(&args, &[option.split(' ').next().unwrap(), "exhaustive"]);
    }
    refused("rmr tas --without-bounded-decrement", &["no bounded decrement"]);
}

#[test]
fn sizes_are_refused_in_the_words_they_were_given_in() {
    refused("check room-stack --slots 0", &["--slots 0", "at least one slot"]);
    refused("check rooms --rooms 0", &["--rooms 0", "at least one room"]);
    refused("check rooms --rooms 65536", &["--rooms 65536", "at most 65535"]);
    refused("rmr rooms --k 2", &["give --rooms and not --k"]);
    refused("replay room-stack --slots 0 --schedule p0.1", &["at least one slot"]);
    refused("check room-segment-stack --slots 16", &["up to 15 slots"]);
    refused("check room-dynamic-stack --slots 17", &["up to 16 slots"]);
    refused("check bakery --registers safe --passages 4294967295", &["torn read", "--passages 21843 or fewer"]);
    refused("replay dw1/bakery/3,1/4294967295/c0/safe/T/0.0.1/0", &["torn read"]);
    refused("check tas --n 65", &["progress is decided for at most 64 processes"]);
    refused("check tas --n 65 --crashes 1 --property mutual-exclusion", &["crashes", "at most 64 processes"]);
}

#[test]
fn what_a_token_says_is_judged_on_its_run() {
    let stuck = "dw1/mutant:am-chain-without-7/2,1/-/c0/atomic/never-stuck/0.1x3.0/75250951";
    assert_eq!(code(&format!("replay {stuck}")), 0);
    assert!(text(&format!("replay {stuck}")).contains("k=1 breaks never-stuck"));
    let report = json(&format!("replay {stuck} --json"));
    assert_eq!((&report["property"], &report["breaks"]), (&"never-stuck".into(), &true.into()));
    let other_property = stuck.replace("never-stuck", "k-exclusion");
    // The sound text does the same so far, and then it goes on.
    let other_id = stuck.replace("mutant:am-chain-without-7", "am-chain");
    for (token, property) in [(other_property, "k-exclusion"), (other_id, "never-stuck")] {
        assert_eq!(code(&format!("replay {token}")), 1);
        let out = text(&format!("replay {token}"));
        assert!(out.contains(&format!("does NOT break {property}, although the token says so")), "{out}");
        assert!(out.contains("X -= 1, was 1"), "the run is shown all the same: {out}");
        let report = json(&format!("replay {token} --json"));
        assert_eq!((&report["property"], &report["breaks"]), (&property.into(), &false.into()));
    }
    let nonsense = stuck.replace("never-stuck", "luck");
    refused(
        &format!("replay {nonsense}"),
        &["no property \"luck\"", "copy the whole token", "check mutant:am-chain-without-7 again"],
    );
}

#[test]
fn a_schedule_for_a_process_that_is_not_there_says_so() {
    let out = doorway("replay ya-two --schedule p7.2");
    let message = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert!(message.contains("there are 2 processes, p0 to p1"), "{message}");
    assert!(!message.contains("no word"), "{message}");
}

#[test]
fn what_holds_because_there_is_nothing_to_ask_says_so_in_json_too() {
    let report = json("check am-chain --n 2 --k 3 --json");
    let of = |name: &str| report["properties"].as_array().unwrap().iter().find(|p| p["name"] == name).unwrap().clone();
    assert_eq!(of("I1")["why"], "there is no such part");
    assert!(of("k-exclusion").get("why").is_none());
}
