//! Slots between processes beside others. These tests need the lab's program, which takes part.
#![cfg(target_os = "linux")]

use doorway_lab::bench::Effort;
use doorway_lab::bench::processes::{Case, Outcome, Report, compare, pass_alone, take_part};
use std::path::Path;

const OURS: &str = "doorway shared";
const PASSING: &str = "doorway, bypass 1024";
const PEERS: [&str; 7] =
    [OURS, PASSING, "SysV SEM_UNDO", "robust mutex", "flock files", "jobserver fifo", "sem_t pshared"];

fn tiny() -> Report {
    let mut said = 0;
    let report = compare(&Effort::tiny(5), Path::new(env!("CARGO_BIN_EXE_doorway-lab")), &mut |_| said += 1);
    assert!(said > 10);
    report
}

#[test]
fn a_tiny_run_measures_all_contenders_and_sees_which_survive_a_kill() {
    let report = tiny();
    assert_eq!(report.faults, [""; 0]);

    let alone: Vec<_> = report.alone[0].peers.iter().map(|peer| peer.peer).collect();
    assert_eq!(alone, [&PEERS[..1], &["doorway shared, no times"], &PEERS[1..]].concat());

    assert_eq!(report.crowds.len(), 12);
    for cell in &report.crowds {
        let expected: Vec<_> = PEERS.into_iter().filter(|&peer| cell.k == 1 || peer != "robust mutex").collect();
        assert_eq!(cell.peers.iter().map(|peer| peer.peer).collect::<Vec<_>>(), expected);
        assert!(cell.control > 0.0);
        for peer in &cell.peers {
            assert!(peer.ops > 0.0 && peer.cpu_ns > 0.0, "{peer:?}");
            assert!((1..=cell.k as u64).contains(&peer.most_inside), "{peer:?}");
            // Every process passes five times, and for the first time after another process.
            assert!(peer.share == 1.0 && peer.handed_over > 0.0, "{peer:?}");
        }
    }

    assert_eq!(report.deaths.trials, 2);
    let deaths: Vec<_> = report.deaths.peers.iter().map(|peer| (peer.peer, peer.granted, peer.told)).collect();
    assert_eq!(deaths, [(OURS, 2, 2), ("SysV SEM_UNDO", 2, 0), ("robust mutex", 2, 2), ("flock files", 2, 0)]);

    for (fate, name) in report.fates.iter().zip(PEERS) {
        let [back, lost] = [Outcome::ComesBack, Outcome::Lost].map(|outcome| [outcome; 3]);
        let (expected, left) = match name {
            "jobserver fifo" | "sem_t pshared" => (lost, 0),
            "flock files" => ([Outcome::ComesBack, Outcome::ComesBack, Outcome::Stuck], fate.units),
            _ => (back, fate.units),
        };
        let cases: Vec<_> = Case::ALL.into_iter().zip([&expected[..], &[Outcome::ComesBack]].concat()).collect();
        assert_eq!((fate.peer, &fate.cases, fate.left), (name, &cases, left));
        assert_eq!(fate.told, [OURS, PASSING, "robust mutex"].contains(&name), "{name}");
        assert_eq!(fate.units, if name == "robust mutex" { 1 } else { 4 });
    }
    assert_eq!(report.fates.len(), PEERS.len());

    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["fates"][0]["cases"][0], serde_json::json!(["while_one_waits", "comes_back"]));
    for number in ["p50_ns", "p99_ns", "max_ns", "granted", "told"] {
        assert!(json["deaths"]["peers"][0][number].is_number(), "{number}");
    }
    for number in ["ops", "cpu_ns", "handed_over", "share", "most_inside"] {
        assert!(json["crowds"][0]["peers"][0][number].is_number(), "{number}");
    }

    assert_eq!(report.verdicts.len(), 12);
    let text = report.to_string();
    for word in ["SEM_UNDO", "k = 4, 8 processes, 10 us", "a child lives", "stuck", "LOST", "control", "goal"] {
        assert!(text.contains(word), "{text}");
    }
}

#[test]
fn orders_that_make_no_sense_are_refused() {
    assert!(take_part("nonsense").unwrap_err().contains("cannot read the orders"));
}

#[test]
fn instructions_can_be_counted_of_everybody_that_is_alone() {
    assert!(PEERS.iter().all(|peer| pass_alone(peer, 3)) && !pass_alone("nobody", 3));
}
