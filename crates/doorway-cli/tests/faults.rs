//! Faults by statement number, as users write them.

mod kit;

use kit::{code, doorway, json, refused, text};

#[test]
fn a_fault_is_checked_like_an_algorithm_and_replayed() {
    let report = json("check am-chain --n 2 --k 1 --fault drop:slot1.7 --json");
    assert_eq!(report["algorithm"], "am-chain+drop:slot1.7");
    let failed = report["properties"].as_array().unwrap().iter().find(|p| p["holds"] == false).unwrap();
    assert_eq!(failed["name"], "never-stuck");
    let token = failed["replay"].as_str().unwrap();
    assert!(token.starts_with("dw1/am-chain+drop:slot1.7/2,1/"), "{token}");
    let again = text(&format!("replay {token}"));
    assert!(again.starts_with("am-chain+drop:slot1.7 with n=2, k=1 breaks never-stuck:\n"), "{again}");
    assert_eq!(code("check am-chain --n 2 --k 1 --fault drop:slot1.7"), 1);
    assert_eq!(code("check am-chain+drop:slot1.7 --n 2 --k 1"), 1);
    // Faults add up, and one that repairs another is still a fault.
    let repaired = "check am-chain+drop:7 --n 2 --k 1 --fault then-set:6:Q=me --property never-stuck";
    assert_eq!(code(repaired), 3, "what it keeps cannot be compared");
    assert_eq!(code(&format!("{repaired} --believe-keep")), 0);
}

#[test]
fn the_fault_that_the_help_suggests_is_one_at_the_usual_sizes() {
    let help = text("check --help");
    assert!(help.contains("such as drop:slot2.7,"), "{help}");
    assert_eq!(code("check am-chain --fault drop:slot2.7"), 1);
}

#[test]
fn a_fault_at_no_statement_says_so() {
    let out = doorway("check tas --n 2 --fault drop:99");
    assert_eq!(out.status.code(), Some(0));
    let message = String::from_utf8(out.stderr).unwrap();
    assert!(message.contains("the fault drop:99 changed nothing"), "{message}");
    refused("check tas --fault drop", &["\"drop\" is not a fault", "write one such as drop:7"]);
    refused("check tas --fault to:1:X", &["the fault is impossible", "a variable that there is not"]);
    refused("faults tsa", &["did you mean tas?"]);
    refused("faults tas --n 0", &[]);
}

#[test]
fn every_statement_of_a_lock_is_tried() {
    let report = json("faults am-chain --n 2 --k 1 --json");
    assert_eq!((&report["algorithm"], &report["complete"]), (&"am-chain".into(), &true.into()));
    let faults = report["faults"].as_array().unwrap();
    let of = |fault: &str| faults.iter().find(|row| row["fault"] == fault).unwrap_or_else(|| panic!("no {fault}"));
    let known = [("drop:slot1.7", "never-stuck"), ("split:slot1.2", "k-exclusion"), ("nowait:slot1.5", "k-exclusion")];
    for (fault, claim) in known {
        assert_eq!((&of(fault)["outcome"], &of(fault)["claim"]), (&"noticed".into(), &claim.into()), "{fault}");
        let token = of(fault)["token"].as_str().unwrap();
        assert_eq!(code(&format!("replay {token}")), 0, "{token}");
    }
    let out = text("faults ya-two");
    assert!(out.contains("drop:root.14"), "{out}");
    assert!(out.contains(" noticed, "), "{out}");
    assert_eq!((code("faults ya-two"), code("faults ya-two --max-states 100")), (0, 3));
}
