//! The command as its users run it.

mod kit;

use kit::{code, doorway, json, refused, text};
use serde_json::Value;
use std::process::{Command, Stdio};

#[test]
fn list_as_json_has_every_field() {
    let list = json("list --json");
    let ids: Vec<&str> = list.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    let all = doorway_core::registry::ALL.iter().chain(doorway_core::registry::OBJECTS);
    assert_eq!(ids, all.map(|info| info.id).chain(["leases"]).collect::<Vec<_>>());
    let chain = list.as_array().unwrap().iter().find(|row| row["id"] == "am-chain").unwrap();
    assert_eq!(chain["problem"], "k-exclusion");
    assert_eq!(chain["figure"], "2");
    assert_eq!(chain["instructions"], serde_json::json!(["read", "write", "fetch-and-add"]));
    assert_eq!(chain["rmr"]["cc"], "7(N-k)");
    assert_eq!(chain["tolerates"], "k-1");
    assert_eq!(chain["registers"], "atomic");
    assert!(chain["paper"].as_str().unwrap().contains("Anderson & Moir 1994"));
    assert!(chain["properties"].as_array().unwrap().iter().any(|p| p == "I2"));
    assert_eq!(chain["defaults"], serde_json::json!({ "n": 4, "k": 2, "k_is": "k", "passages": null }));
    assert_eq!(list[1]["defaults"]["passages"], 2);
}

#[test]
fn both_lists_have_the_same_entries() {
    let text = text("list");
    let listed: Vec<&str> =
        text.lines().filter(|line| !line.starts_with(' ')).filter_map(|line| Some(line.split_once(": ")?.0)).collect();
    let list = json("list --json");
    let ids: Vec<&str> = list.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(listed, ids);
    let queue = list.as_array().unwrap().iter().find(|row| row["id"] == "room-queue").unwrap();
    assert_eq!((&queue["problem"], &queue["defaults"]["k_is"]), (&"data structure".into(), &"slots".into()));
    let mutants = json("list --mutants --json");
    let without_7 = mutants.as_array().unwrap().iter().find(|row| row["id"] == "mutant:am-chain-without-7").unwrap();
    assert_eq!((&without_7["of"], &without_7["breaks"]), (&"am-chain".into(), &"never-stuck".into()));
}

/// Names like `I3` or `CL5` are explained on the pages of their papers; names in words are
/// explained in one place.
#[test]
fn the_documentation_explains_every_property_that_has_a_name_in_words() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/checking.md");
    let page = std::fs::read_to_string(page).unwrap();
    let table = page.split("You can ask for these properties.").nth(1).unwrap();
    let rows = table.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let explained: String = rows.filter_map(|row| row.split('|').nth(1)).collect();
    let list = json("list --json");
    let claimed = list.as_array().unwrap().iter().flat_map(|row| row["properties"].as_array().unwrap());
    let names: std::collections::BTreeSet<&str> =
        claimed.map(|name| name.as_str().unwrap()).chain(["no-panic", "one-waits", "overtaking"]).collect();
    let in_words = |name: &&&str| !name.contains(|c: char| c.is_ascii_uppercase());
    for name in names.iter().filter(in_words) {
        assert!(explained.contains(&format!("`{name}`")), "docs/checking.md does not explain {name}");
    }
    assert!(names.iter().filter(in_words).count() > 15);
    let known: Vec<&str> = explained.split('`').skip(1).step_by(2).collect();
    for name in known {
        assert!(names.contains(name), "docs/checking.md explains {name}, which nothing claims");
    }
}

#[test]
fn list_shows_every_algorithm() {
    let text = String::from_utf8(doorway("list").stdout).unwrap();
    for id in doorway_core::registry::ALL.iter().map(|info| info.id) {
        assert!(text.lines().any(|line| line.starts_with(&format!("{id}: "))), "{text}");
    }
}

/// Slots between machines are not in the registry: their machine is another one.
#[test]
fn leases_have_a_machine_of_their_own() {
    let usual = text("check leases");
    for claim in ["fences", "unique-names", "order", "told-of-its-loss", "give-ups-end", "nothing-lost", "ends"] {
        let holds = |line: &str| line.split_whitespace().eq([claim, "holds"]);
        assert!(usual.lines().any(holds), "{claim}: {usual}");
    }
    assert!(usual.contains("complete for 1 passage of each client"), "{usual}");
    let report = json("check leases --n 2 --doubts 0 --pauses 0 --crashes 1 --give-ups --breaks 1 --json");
    assert_eq!((&report["complete"], &report["crashes"], &report["breaks"]), (&true.into(), &1.into(), &1.into()));
    assert!(report["properties"].as_array().unwrap().iter().all(|p| p["holds"] == true), "{report}");
    assert_eq!(code("check leases --max-states 10"), 3);

    let failed = doorway("check leases --no-fences");
    assert_eq!(failed.status.code(), Some(1));
    let said = String::from_utf8(failed.stdout).unwrap();
    assert!(said.contains("fences            FAILS after 7 steps"), "{said}");
    let token = said.lines().find_map(|line| line.strip_prefix("doorway replay ")).unwrap();
    assert!(text(&format!("replay {token}")).contains("c0 uses what its slot guards"));
    assert_eq!(json(&format!("replay {token} --json"))["breaks"], true);
    // With fences, the same run breaks nothing.
    let (before, after) = token.split_once("b0n/").unwrap();
    assert_eq!(code(&format!("replay {before}b0/{after}")), 1);
    refused("replay dl1/leases/2,1", &["whole token"]);

    let mutant = json("check mutant:leases-tries-for-ever --json");
    let ends = mutant["properties"].as_array().unwrap().iter().find(|p| p["name"] == "ends").unwrap();
    assert_eq!(ends["holds"], false);
    let round = text(&format!("replay {}", ends["replay"].as_str().unwrap()));
    assert!(round.contains("from here, for ever"), "{round}");
    refused("check leases --registers safe", &["--registers"]);
    refused("check leases --n 17", &["16"]);
    refused("check leases --passages unbounded", &["--passages"]);
    refused("check am-chain --doubts 1", &["no store with leases", "--doubts"]);
    refused("check mutant:leases-no-recept", &["did you mean mutant:leases-no-receipt?"]);
    refused("explain leases", &["machine of its own"]);
}

#[test]
fn check_as_json_has_every_field() {
    let report = json("check am-chain --n 3 --k 1 --json");
    assert_eq!(report["algorithm"], "am-chain");
    assert_eq!((&report["n"], &report["k"]), (&3.into(), &1.into()));
    assert_eq!((&report["registers"], &report["crashes"]), (&"atomic".into(), &0.into()));
    assert!(report["passages"].is_null());
    assert_eq!((&report["states"], &report["edges"]), (&6867.into(), &20601.into()));
    assert_eq!(report["complete"], true);
    let properties = report["properties"].as_array().unwrap();
    assert_eq!(properties.len(), 11);
    assert!(properties.iter().all(|p| p["holds"] == true && p.get("trace").is_none()));
    assert!(report.get("with_all_names").is_none());
    let few = json("check am-chain --n 3 --k 1 --symmetric --property k-exclusion --json");
    assert_eq!((&few["with_all_names"], few["states"].as_u64() < Some(6867)), (&6867.into(), true));
}

#[test]
fn a_failure_has_a_trace_and_exit_code_1() {
    assert_eq!(code("check mutant:am-chain-without-7"), 1);
    let report = json("check mutant:am-chain-without-7 --json");
    assert_eq!(report["complete"], false);
    let failed = report["properties"].as_array().unwrap().iter().find(|p| p["holds"] == false).unwrap();
    assert_eq!(failed["name"], "never-stuck");
    let steps = failed["trace"]["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 5);
    assert_eq!(steps[0]["process"], 0);
    assert_eq!(steps[0]["statement"], 2);
    assert_eq!(steps[0]["instruction"], "fetch-and-add");
}

/// One of each problem: the tests of the core search all of them.
#[test]
fn what_is_listed_holds_by_default() {
    for id in ["tas", "am-chain", "am-assign", "ya-combining", "universal", "rooms", "room-stack", "sticky-names"] {
        assert_eq!(code(&format!("check {id}")), 0, "{id}");
    }
}

#[test]
fn properties_can_be_chosen() {
    let report = json("check ya-two --property I6 --property I0 --property I6 --json");
    let names: Vec<&str> =
        report["properties"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["I6", "I0"]);
    refused("check ya-two --property I66", &["I66", "I6", "mutual-exclusion"]);
}

#[test]
fn passages_can_be_bounded() {
    assert_eq!(json("check bakery --n 2 --passages 3 --property T --json")["states"], 1627);
    assert_eq!(json("check am-chain --n 2 --k 1 --passages 2 --json")["passages"], 2);
    assert_eq!(json("check bakery --n 1 --passages unbounded --json")["complete"], true);
    refused("check bakery --passages 0", &["at least 1"]);
}

#[test]
fn a_limit_ends_the_search_with_what_was_covered() {
    for limit in ["--max-states 1000", "--max-memory 100K"] {
        let args = format!("check am-chain --n 4 --k 1 {limit}");
        assert_eq!(code(&args), 3, "{args}");
        let report = json(&format!("{args} --json"));
        assert_eq!(report["complete"], false);
        let undecided = report["properties"].as_array().unwrap().iter().filter(|p| p["holds"].is_null()).count();
        assert_eq!(undecided, 10, "what should happen sometimes did");
        let text = String::from_utf8(doorway(&args).stdout).unwrap();
        assert!(text.contains("NOT complete") && text.contains("not decided"), "{text}");
    }
    let bounded = json("check bakery --n 3 --passages unbounded --max-states 50000 --json");
    assert_eq!((&bounded["states"], &bounded["complete"]), (&50_000.into(), &false.into()));
}

#[test]
fn keep_can_be_distrusted() {
    assert_eq!(json("check ya-two --no-keep --json")["states"], 1538);
    assert_eq!(json("check ya-two --cross-check --json")["states"], 672);
    refused("check ya-two --no-keep --cross-check", &["cannot be used with"]);
    let little = "check ya-two --compare-keep 0";
    assert_eq!(code(little), 3);
    let rests = "provided `keep` is right: 0 of ";
    let text = String::from_utf8(doorway(little).stdout).unwrap();
    assert!(text.contains(&format!("mutual-exclusion  holds, {rests}")), "{text}");
    let report = json(&format!("{little} --json"));
    assert!(report["properties"][0]["provided"].as_str().unwrap().starts_with(rests), "{report}");
    assert_eq!(code(&format!("{little} --believe-keep")), 0);
}

#[test]
fn bad_input_is_refused_with_advice() {
    refused("check am-chian", &["am-chian", "did you mean am-chain?"]);
    refused("check xyzzy-plugh", &["doorway list"]);
    refused("check", &["such as bakery", "doorway list"]);
    refused("explore --n 3", &["such as bakery", "doorway list"]);
    refused("check am-chain -n 3", &["two hyphens: --n"]);
    refused("rmr am-chain -k 1", &["two hyphens: --k"]);
    refused("check AM-CHAIN", &["did you mean am-chain?"]);
    refused("check mutant:xyzzy", &["doorway list --mutants"]);
    refused("check am-fast --k 18446744073709551615", &["at most 65535"]);
    refused("check mutant:am-chain-witout-7", &["did you mean mutant:am-chain-without-7?"]);
    refused("check am-chain --n 0", &["at least one process"]);
    refused("check am-chain --k 0", &["at least one place"]);
    refused("check am-chain --n 99999999", &["at most 65535"]);
    refused("check bakery --k 2", &["k is 1"]);
    refused("check ya-two --n 3", &["exactly two"]);
    refused("check am-chain --n minus-one", &["--n", "give a whole number"]);
    refused("check am-chain --n -1", &["invalid value '-1' for '--n"]);
    refused("check am-chain --max-memory lots", &["512M"]);
    refused("check am-chain --max-states 0", &["--max-states"]);
    refused("check am-chain --frobnicate", &["--frobnicate"]);
    refused("check", &["<ID>"]);
    refused("chekc am-chain", &["check"]);
}

#[test]
fn more_places_than_processes_is_legal() {
    let text = String::from_utf8(doorway("check am-chain --n 2 --k 5").stdout).unwrap();
    assert!(text.contains("no such part"), "{text}");
    let report = json("check am-chain --n 2 --k 5 --json");
    assert_eq!((&report["states"], &report["complete"]), (&4.into(), &true.into()));
    assert_eq!(code("check am-fast --n 2 --k 2"), 0);
}

#[test]
fn a_closed_pipe_is_no_error() {
    for args in [&["list", "--json"][..], &["check", "ya-two"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_doorway"))
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take()); // no reader
        let out = child.wait_with_output().unwrap();
        assert_eq!(out.status.code(), Some(0), "{args:?}");
        assert!(out.stderr.is_empty(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    }
}

#[test]
fn the_tour_shows_what_there_is() {
    let out = doorway("tour");
    assert_eq!(out.status.code(), Some(0));
    let text = String::from_utf8(out.stdout).unwrap();
    for words in [
        "doorway check am-chain",
        "complete",
        "up to 1 crash",
        "p1 crashed at",
        "FAILS after 7 steps",
        "p2 inside",
        "repeats for ever",
        "bound 14, worst found 14 (exhaustive)",
        "bound 392, worst found 392 (adversary)",
        "died inside",
    ] {
        assert!(text.contains(words), "the tour lacks {words:?}");
    }
}

#[test]
fn crashes_are_tolerated_up_to_k_minus_1() {
    assert_eq!(code("check am-chain --n 3 --k 2 --crashes 1"), 0);
    assert_eq!(json("check am-chain --n 3 --k 2 --crashes 1 --json")["crashes"], 1);
    assert_eq!(code("check am-chain --n 3 --k 2 --crashes 2"), 1);
    refused("check am-chain --give-ups", &["cannot give up"]);
    refused("check am-chain --n 65 --k 1 --crashes 1 --property k-exclusion", &["at most 64"]);
    refused("check tas --n 65 --property deadlock-free", &["at most 64", "such as exclusion and never-stuck"]);
    for so_many in ["tas --property never-stuck", "sticky-names", "rooms --property never-stuck"] {
        assert_eq!(code(&format!("check {so_many} --n 65 --max-states 200")), 3, "{so_many}");
    }
}

#[test]
fn a_mutant_is_checked_with_the_crashes_and_give_ups_it_needs() {
    let report = json("check mutant:seats-does-not-tell --json");
    assert_eq!((&report["crashes"], &report["complete"]), (&1.into(), &false.into()));
    let harmless = "check mutant:seats-does-not-tell --crashes 0";
    assert_eq!(code(harmless), 3, "what it keeps cannot be wholly compared");
    assert_eq!(code(&format!("{harmless} --believe-keep")), 0);
    assert_eq!(code("check mutant:turnstile-signals-blindly"), 1);
    assert_eq!(code("check turnstile --n 2 --k 1 --give-ups --believe-keep"), 0);
}

#[test]
fn an_order_of_arrival_without_a_doorway_does_not_hold() {
    assert_eq!(code("check tas --property first-come-first-served"), 3);
    assert_eq!(code("check bakery --n 2 --passages 1 --property first-come-first-served"), 0);
}

#[test]
fn registers_are_weakened_as_far_as_declared() {
    let safe = json("check bakery --n 2 --passages 3 --registers safe --json");
    assert_eq!((&safe["registers"], &safe["states"], &safe["complete"]), (&"safe".into(), &40858.into(), &true.into()));
    assert_eq!(code("check ya-two --registers safe"), 0);
    assert_eq!(code("check ya-two --registers safe --force --property mutual-exclusion"), 1);
    refused("check bakery --registers holy", &["safe, monotone, regular or atomic"]);
}

#[test]
fn registers_are_told_apart() {
    let cells = json("registers ya-two bakery --states 200000 --json");
    let outcome = |id: &str, kind: &str| {
        let is_it = |cell: &&Value| cell["id"] == id && cell["registers"] == kind;
        cells.as_array().unwrap().iter().find(is_it).unwrap()["outcome"].clone()
    };
    assert_eq!(outcome("bakery", "safe"), "holds");
    assert_eq!(outcome("ya-two", "atomic"), "holds");
    assert_eq!(outcome("ya-two", "regular")["fails"]["property"], "mutual-exclusion");
    assert_eq!(code("registers ya-two --states 10"), 3);
    refused("registers tas", &["tas", "only read and write", "bakery"]);
}

#[test]
fn rmr_as_json_has_every_field() {
    let exact = json("rmr am-chain --n 3 --k 1 --json");
    let wanted = serde_json::json!({
        "algorithm": "am-chain", "n": 3, "k": 1, "model": "cc", "contention": 3, "worst": 14, "bound": 14,
        "method": "exhaustive", "complete": true, "local_spin": true
    });
    assert_eq!(exact, wanted);
    let remote = json("rmr tas --model dsm --json");
    assert_eq!((&remote["worst"], &remote["local_spin"]), (&Value::Null, &false.into()));
    let hunted = json("rmr am-chain --n 64 --k 8 --method adversary --json");
    assert_eq!((&hunted["worst"], &hunted["complete"]), (&392.into(), &false.into()));
    assert!(hunted["local_spin"].is_null(), "an adversary proves no local spin");
    assert_eq!(json("rmr ya-two --model dsm --contention 1 --json")["worst"], 5);
    let random = json("rmr am-chain --n 8 --k 2 --method random --runs 2 --steps 100000 --json");
    assert!(random["worst"].as_u64().unwrap() <= 42);
    refused("rmr am-chain --n 3 --contention 4", &["only 3 processes"]);
    refused("rmr am-chain --contention 0", &["--contention"]);
    refused("rmr am-chain --model numa", &["cc-wb"]);
}

#[test]
fn a_failure_can_be_replayed() {
    let report = json("check mutant:ya-two-4-before-1 --json");
    let failed = report["properties"].as_array().unwrap().iter().find(|p| p["holds"] == false).unwrap();
    let token = failed["replay"].as_str().unwrap();
    let again = json(&format!("replay {token} --json"));
    assert_eq!(again["steps"], failed["trace"]["steps"]);
    let text = String::from_utf8(doorway(&format!("replay {token}")).stdout).unwrap();
    assert!(text.contains("breaks mutual-exclusion") && text.contains("p0 inside, p1 inside"), "{text}");
    assert!(String::from_utf8(doorway(&format!("replay {token} --latex")).stdout).unwrap().contains("tabular"));
    refused("replay dw1/nonsense", &["cannot be read as a token"]);
    refused("replay tas", &["tas is an algorithm, not a token", "--schedule"]);
    refused("replay dw1/tas/3,1/-/c0/atomic/nonsense//811c9dc5", &["damaged", "no property \"nonsense\""]);
    refused("replay dw1/am-dsm-chain/60000,1/-/c0/atomic/k-exclusion/0/0", &["memory limit"]);
    refused(&format!("replay {}", token.replace("4-before-1", "4-before-2")), &["stale"]);
}

#[test]
fn a_schedule_can_be_followed() {
    let run = |words: &str| {
        let args = ["replay", "am-chain", "--n", "2", "--k", "1", "--schedule", words];
        Command::new(env!("CARGO_BIN_EXE_doorway")).args(args).output().unwrap()
    };
    let out = String::from_utf8(run("p0.2 p1.2.3.4.5~ p0! ").stdout).unwrap();
    assert!(out.contains("p0 crashed at slot1.6, p1 waits at slot1.5 (Q = p1)"), "{out}");
    assert_eq!(run("p0.3").status.code(), Some(2));
    // Its counters grow for ever, and no process is ever inside.
    refused("replay universal-in-use --schedule p0>in", &["never gets there"]);
}

#[test]
fn sampling_finds_failures_and_proves_nothing() {
    assert_eq!(code("check mutant:am-chain-lacks-a-slot --method random"), 1);
    assert_eq!(code("check mutant:bakery-breaks-no-ties --method pct --length 40"), 1);
    let out = doorway("check am-chain --n 6 --k 3 --method pct --runs 50 --property k-exclusion");
    assert_eq!(out.status.code(), Some(3));
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.contains("proves nothing") && text.contains("probability at least"), "{text}");
}

#[test]
fn a_small_graph_can_be_drawn() {
    let file = std::env::temp_dir().join(format!("doorway-{}.dot", std::process::id()));
    assert_eq!(code(&format!("check am-chain --n 2 --k 1 --dot {}", file.display())), 0);
    let graph = std::fs::read_to_string(&file).unwrap();
    assert_eq!(graph.matches(" -> ").count(), 116);
    std::fs::remove_file(&file).unwrap();
}

/// A graph that is too large to draw, or cannot be written, changes no verdict.
#[test]
fn a_large_graph_is_summed_up() {
    let file = std::env::temp_dir().join(format!("doorway-large-{}.dot", std::process::id()));
    for (args, exit) in [("check am-chain --n 4 --k 2", 0), ("check mutant:am-chain-without-7 --n 4", 1)] {
        let out = doorway(&format!("{args} --dot {}", file.display()));
        assert_eq!(out.status.code(), Some(exit));
        assert!(String::from_utf8_lossy(&out.stdout).contains("never-stuck"));
        assert!(String::from_utf8_lossy(&out.stderr).contains("more than 2000 states"));
        let graph = std::fs::read_to_string(&file).unwrap();
        assert!(graph.starts_with("digraph states {\n  summary [") && graph.contains("strongly connected"), "{graph}");
        std::fs::remove_file(&file).unwrap();
    }
    for option in ["dot", "svg", "html"] {
        let out = doorway(&format!("check mutant:am-chain-without-7 --{option} /nowhere/file"));
        assert_eq!(out.status.code(), Some(1), "{option}");
        assert!(String::from_utf8_lossy(&out.stdout).contains("FAILS after 5 steps"), "{option}");
        assert!(String::from_utf8_lossy(&out.stderr).contains("cannot write /nowhere/file"), "{option}");
    }
    // But if all is well otherwise, a script learns that there is no file.
    let out = doorway("check ya-two --dot /nowhere/file");
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stdout).contains("672 states"));
}

/// The file `-` is standard output, and nothing else is written there.
#[test]
fn files_go_to_standard_output() {
    let split = |args: &str, exit: i32| {
        let out = doorway(args);
        assert_eq!(out.status.code(), Some(exit), "{args}");
        (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap())
    };
    let (page, report) = split("check mutant:am-chain-without-7 --html -", 1);
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"), "{page}");
    assert!(report.contains("FAILS after 5 steps"), "{report}");
    let (page, report) = split("check ya-two --html -", 0);
    assert!(page.is_empty() && report.contains("I6") && report.contains("no page was written"), "{report}");
    let (page, report) = split("check mutant:am-chain-without-7 --html - --json", 1);
    assert!(page.starts_with("<!doctype html>"));
    assert_eq!(serde_json::from_str::<Value>(&report).unwrap()["algorithm"], "mutant:am-chain-without-7");
    let (page, report) = split("check mutant:am-chain-without-7 --method random --runs 100 --html -", 1);
    assert!(page.starts_with("<!doctype html>") && report.contains("proves nothing"), "{report}");
    let (page, run) = split("replay am-chain --n 2 --k 1 --schedule p0.2 --html -", 0);
    assert!(page.starts_with("<!doctype html>") && run.contains("X -= 1"), "{run}");
    let (graph, report) = split("check am-chain --n 2 --k 1 --dot -", 0);
    assert!(graph.starts_with("digraph") && graph.ends_with("}\n") && report.contains("never-stuck"), "{graph}");
    let (picture, _) = split("check am-chain --n 2 --k 1 --svg -", 0);
    assert!(picture.starts_with("<svg"));
    refused("check am-chain --dot - --html -", &["only one file can be -"]);
}

/// What one command can be told about a machine, the others can be told too.
#[test]
fn commands_share_the_options_of_machines() {
    let seats = "seats --n 2 --k 1 --crashes 1 --restarts 1 --late-deaths --hints";
    let page = text(&format!("explain {seats} --max-states 2000"));
    assert!(page.contains("up to 1 crash, up to 1 restart, deaths (noticed late; hints)"), "{page}");
    for command in ["check", "explore", "explain", "faults"] {
        refused(&format!("{command} am-chain --crashes 1 --restarts 1"), &["does not notice deaths; omit --restarts"]);
        refused(&format!("{command} am-chain --alike"), &["no symmetric states"]);
        refused(&format!("{command} am-chain --line 3"), &["no line of tickets"]);
        refused(&format!("{command} am-chain --force"), &["--registers"]);
        refused(&format!("{command} am-chain --crashes 9"), &["cannot crash 9 times"]);
    }
    refused("replay dw1/tas/4,1/-/c0/atomic/starvation-free/0/0 --n 2", &["says its sizes itself", "--n"]);
    refused("explore dw1/tas/4,1/-/c0/atomic/starvation-free/0/0 --late-deaths --crashes 1", &["omit --crashes"]);
    assert_eq!(json("faults ya-two --passages 1 --json")["passages"], 1);
}

#[test]
fn theorems_are_measured_against_their_bounds() {
    let found = json("rmr --theorems --theorem 1 --theorem 10 --n 2 --json");
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    let last = &rows[1];
    assert_eq!((&last["theorem"], &last["algorithm"], &last["model"]), (&"1".into(), &"am-chain".into(), &"cc".into()));
    assert_eq!((&last["contention"], &last["bound"], &last["worst"]), (&2.into(), &7.into(), &7.into()));
    assert_eq!(last["method"], "exhaustive");
    // Each exchange lost to another process costs one reference: it returns what it saw, so there
    // is nothing to read again.
    assert_eq!(found["lost_exchanges"], serde_json::json!([9, 10, 11, 12, 13]));
    let text = String::from_utf8(doorway("rmr --theorems --theorem 5 --n 64 --k 2 --contention 64").stdout).unwrap();
    assert!(text.contains("reached adversary") && text.contains("Table 1"), "{text}");
    refused("rmr --theorems --n 5", &["no row", "(64,8)", "1+k"]);
    refused("rmr --theorems --theorem 11", &["no row"]);
    refused("rmr --theorems --theorem 1 --theorem 11", &["no row"]);
    refused("rmr --theorems --n 2 --contention 3", &["no row", "2k or N"]);
    refused("rmr am-chain --theorem 1", &["cannot be used"]);
    refused("rmr", &["<ID>"]);
    refused("rmr --theorems am-chain", &["cannot be used"]);
}

#[test]
fn a_decrement_by_compare_and_swap_costs_more() {
    let worst = |args: &str| json(&format!("rmr am-graceful --n 3 --k 1 --json {args}"))["worst"].as_u64().unwrap();
    assert!(worst("--without-bounded-decrement") > worst(""));
}

#[test]
fn bench_says_where_the_benchmarks_are() {
    for asked in ["bench", "bench slots --quick", "bench rooms --scale 0.01 --json", "bench --help"] {
        let command = format!("\n  cargo run --release -p doorway-lab -- {asked}\n");
        refused(asked, &["benchmarks are in the lab", &command]);
    }
    assert!(text("--help").contains("Say how to run the benchmarks"));
}

#[test]
fn an_algorithm_is_explained() {
    let page = text("explain am-chain --n 3 --k 1");
    for part in ["Q names the waiter", "slot.5", "7(N-k) remote references a passage (14 at", "I3 holds", "drop:"] {
        assert!(page.contains(part), "{part} is missing:\n{page}");
    }
    refused("explain am-chian", &["did you mean am-chain?"]);
    refused("explain am-chain --rooms 2", &["rooms"]);
}

#[test]
fn a_page_is_written_for_a_failure_and_for_nothing_else() {
    let file = std::env::temp_dir().join(format!("doorway-page-{}.html", std::process::id()));
    let name = file.display();
    assert_eq!(code(&format!("check ya-two --html {name}")), 0);
    assert!(!file.exists(), "nothing failed");
    assert_eq!(code(&format!("check mutant:am-chain-without-7 --html {name}")), 1);
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("<!doctype html>"));
    assert_eq!(code(&format!("replay am-chain --n 2 --k 1 --schedule p0.2 --html {name}")), 0);
    std::fs::remove_file(&file).unwrap();
    refused("replay am-chain --n 2 --k 1 --schedule p0.2 --html /nowhere/page.html", &["cannot write /nowhere"]);
}

#[test]
fn what_cannot_be_explored_is_refused() {
    refused("explore am-chian", &["did you mean am-chain?"]);
    refused("explore am-chain --give-ups", &["cannot give up"]);
    refused("explore am-chain --crashes 9", &["cannot crash"]);
    refused("explore am-chain --crashes 1 --restarts 1", &["does not notice deaths"]);
    refused("explore dw1/am-chain/3,2/-/c2/atomic/never-stuck/0.0c.1.1c.2x3/69d79a13", &["stale"]);
    refused("explore dw1/am-chain/3,2/-/c2/atomic/never-stuck/0.0c.1.1c.2x3/69d79a12 --n 2", &["omit --n"]);
}
