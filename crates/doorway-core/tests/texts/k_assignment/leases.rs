//! Slots between machines, against a store whose clients pause, die and lose answers.

use doorway_check::leases::{Claim, Faults, LateClock, Leases, Move, Mutant, Terms};

const DOUBTS: fn(u8) -> Faults = |doubts| Faults { doubts, ..Faults::NONE };

/// All claims hold, and the search says what it covered.
#[track_caller]
fn holds(leases: Leases) {
    let report = leases.check();
    print!("{report}");
    assert!(report.failure.is_none(), "{report}");
    assert!(report.ends > 0);
}

/// Requests in doubt, pauses, deaths, give-ups and breaks, and pairs of them.
fn faults() -> impl Iterator<Item = Faults> {
    let one = Faults::NONE;
    [
        Faults { pauses: 1, ..one },
        Faults { deaths: 1, ..one },
        Faults { give_ups: 1, ..one },
        Faults { breaks: 1, ..one },
    ]
    .into_iter()
}

#[test]
fn two_clients_and_one_slot() {
    let two = Leases::new(2, 1);
    holds(Leases { passages: 2, ..two });
    holds(Leases { passages: 2, faults: DOUBTS(1), ..two });
    holds(Leases { faults: DOUBTS(3), ..two });
    for faults in faults() {
        holds(Leases { faults: Faults { doubts: 1, ..faults }, ..two });
    }
    let faults = Faults { pauses: 1, deaths: 1, give_ups: 1, ..Faults::NONE };
    holds(Leases { faults, ..two });
}

#[test]
fn three_clients_and_one_or_two_slots() {
    holds(Leases { faults: Faults { deaths: 1, ..Faults::NONE }, ..Leases::new(3, 1) });
    holds(Leases { faults: DOUBTS(1), ..Leases::new(3, 1) });
    holds(Leases::new(3, 2));
}

#[test]
fn a_client_that_tries() {
    let tries = Leases { last_tries: true, ..Leases::new(2, 1) };
    for faults in faults() {
        holds(Leases { faults: Faults { doubts: 1, ..faults }, ..tries });
    }
    holds(Leases { last_tries: true, ..Leases::new(3, 2) });
}

/// Minutes: `ci/etcd.sh` runs it.
#[test]
#[ignore = "minutes and gigabytes: ci/etcd.sh runs it"]
fn larger_searches() {
    for faults in faults() {
        holds(Leases { passages: 2, faults: Faults { doubts: 1, ..faults }, ..Leases::new(2, 1) });
        for k in [1, 2] {
            holds(Leases { faults, ..Leases::new(3, k) });
            holds(Leases { faults, last_tries: true, ..Leases::new(3, k) });
        }
    }
    for faults in [
        Faults { doubts: 2, breaks: 1, ..Faults::NONE },
        Faults { doubts: 2, give_ups: 1, ..Faults::NONE },
        Faults { doubts: 1, pauses: 1, breaks: 1, ..Faults::NONE },
        Faults { doubts: 1, pauses: 1, give_ups: 1, ..Faults::NONE },
    ] {
        holds(Leases { faults, ..Leases::new(2, 1) });
    }
    holds(Leases { passages: 2, faults: DOUBTS(2), ..Leases::new(2, 1) });
    holds(Leases { faults: DOUBTS(1), ..Leases::new(3, 2) });
    holds(Leases { faults: DOUBTS(2), ..Leases::new(3, 1) });
    holds(Leases { faults: Faults { deaths: 1, give_ups: 1, ..Faults::NONE }, ..Leases::new(3, 2) });
    holds(Leases { faults: Faults { pauses: 2, ..Faults::NONE }, ..Leases::new(3, 1) });
}

/// A paused client acts after its successor, unless what the slot guards compares fences.
#[test]
fn without_a_fence_a_paused_holder_breaks_exclusion() {
    let paused = Leases { faults: Faults { pauses: 1, ..Faults::NONE }, ..Leases::new(2, 1) };
    holds(paused);
    let report = Leases { compares: false, ..paused }.check();
    print!("{report}");
    let failure = report.failure.expect("a run");
    assert_eq!(failure.claim, Claim::Fences);
    let ended = failure.run.iter().position(|what| matches!(what, Move::LeaseEnds(_)));
    assert!(ended.is_some_and(|at| matches!(failure.run[at..], [.., Move::Uses(_)])), "{:?}", failure.run);
    // If no lease ends under a living client, none is needed.
    let faults = Faults { doubts: 2, deaths: 1, ..Faults::NONE };
    holds(Leases { compares: false, faults, ..Leases::new(2, 1) });
}

/// A client that looks at its clock knows of the end of its lease when the store ends it.
#[test]
fn a_client_knows_in_time_that_its_lease_has_ended() {
    for (ttl, signs) in [(2, 3), (3, 2), (4, 2)] {
        let terms = Terms { ttl, time: 3 * ttl + 4, signs, fault: None };
        let report = terms.check();
        print!("{report}");
        assert!(report.holds, "{report}");
        assert!(report.longest > ttl, "signs of life keep it: {report}");
        for fault in [LateClock::CountsFromTheAnswer, LateClock::BelievesWithoutAnAnswer] {
            let report = Terms { fault: Some(fault), ..terms }.check();
            print!("{report}");
            assert!(!report.holds && report.late > 0, "{report}");
        }
    }
}

#[test]
fn every_seeded_fault_is_noticed() {
    for &mutant in Mutant::ALL {
        let (leases, claim) = mutant.noticed();
        let report = leases.check();
        println!(
            "{:<30} {}",
            mutant.id(),
            report.failure.as_ref().map_or("not noticed".into(), |f| f.claim.to_string())
        );
        assert_eq!(report.failure.as_ref().map(|failure| failure.claim), Some(claim), "{report}");
        holds(Leases { mutant: None, ..leases });
    }
}
