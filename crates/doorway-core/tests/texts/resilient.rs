//! The universal construction, and resilient objects: every interleaving at small sizes, and chosen
//! cases by hand.

use crate::common::{ask, explore, explore_without_trust, run, run_mutant, values};
use doorway_check::explore::Worst;
use doorway_check::property::View;
use doorway_check::schedule::Runner;
use doorway_check::sim::{Phase, Rules};
use doorway_check::{Explorer, Property, subject};
use doorway_core::registry::{CostModel, SizeError, Sizes};

#[test]
fn two_and_three_processes_share_an_object() {
    explore("universal", 1, 1, Some(3), 25);
    explore("universal", 2, 2, Some(1), 420);
    explore("universal", 2, 2, Some(2), 18_052);
    explore("universal", 3, 3, Some(1), 95_090);
}

/// Names without a process cost buffers, and nothing else.
#[test]
fn there_may_be_more_names_than_processes() {
    explore("universal", 2, 3, Some(1), 614);
}

#[test]
fn copies_and_operations_that_fail_and_looks_are_linearizable_too() {
    explore("universal-in-use", 2, 2, Some(1), 612);
    explore("universal-in-use", 2, 2, Some(2), 58_184);
    explore("universal-in-use", 3, 3, Some(1), 109_206);
}

#[test]
fn within_k_assignment_too() {
    explore("resilient", 2, 1, Some(2), 7_370);
    explore("resilient", 2, 2, Some(1), 1_382);
    explore("resilient", 3, 1, Some(1), 36_962);
    explore("resilient-am", 2, 1, Some(2), 7_298);
    explore("resilient-am", 2, 2, Some(1), 1_084);
    explore("resilient-am", 3, 1, Some(1), 31_169);
}

#[test]
fn keep_can_be_trusted() {
    explore_without_trust("universal", 2, 2, Some(1));
    explore_without_trust("universal-in-use", 2, 2, Some(1));
    explore_without_trust("resilient-am", 2, 1, Some(1));
}

const SAFE: [&str; 6] = ["linearizable", "R2", "R3", "R4", "R5", "starvation-free"];

/// Whichever processes die, and however many: the others finish, and an operation that was left
/// behind takes effect once or not at all.
#[test]
fn any_number_may_crash_within() {
    let crashes = |crashes, passages| Rules { crashes, ..Rules::with_passages(Some(passages)) };
    ask("universal", (2, 2), crashes(2, 2), &SAFE).assert_holds();
    ask("universal", (3, 3), crashes(3, 1), &SAFE).assert_holds();
    ask("universal-in-use", (2, 2), crashes(2, 1), &SAFE).assert_holds();
}

#[test]
fn one_less_than_there_are_names_may_crash() {
    for id in ["resilient", "resilient-am"] {
        let crashes = |crashes| Rules { crashes, ..Rules::with_passages(Some(1)) };
        ask(id, (2, 2), crashes(1), &SAFE).assert_holds();
        let too_many = ask(id, (3, 2), crashes(2), &["never-stuck"]);
        let trace = too_many.verdict("never-stuck").trace.as_ref().expect("two that died block the third");
        assert_eq!(trace.end.iter().filter(|p| p.crashed).count(), 2);
    }
}

/// (R6) is exact: no operation takes more steps, and some operations take that many.
#[test]
fn three_attempts_are_needed_and_suffice() {
    let most = |k: u32| 3 * (4 * k + 4) + (k + 1) + 3;
    let subject = subject::find("universal").unwrap();
    let (k, sizes) = (2, Sizes { n: 2, k: 2 });
    let asked = |steps| {
        let under_way = |v: &View<'_>, p: usize| v.phase(p) != Phase::Remainder && v.shown::<u64>(p, "p").is_some();
        // The first step is the one that starts the operation.
        let property = Property::own_steps("steps", steps - 1, under_way);
        let world = subject.world(sizes, Rules::with_passages(Some(3))).unwrap();
        let report = Explorer::new(2).believe_keep(true).property(property).explore(world).unwrap();
        report.verdict("steps").holds
    };
    assert_eq!((asked(most(k)), asked(most(k) - 1)), (Some(true), Some(false)));
}

/// One operation of `p0` when `head` is in one of its own buffers and nothing is pending; 0 is its
/// exit section.
const ALONE: &str = "p0.1.2.2.3.6.7.8.9.9.10.16.0";

#[test]
fn e1_a_process_alone_swings_head_at_once() {
    let mut r = run("universal", 2, 2);
    r.follow(ALONE).unwrap();
    let nobody = "Hazard { buffer: None, cells: 0 }";
    assert_eq!(values(&r, ["head", "val[1]", "hz[0]"]), ["Head { version: 1, buffer: b1 }", "1", nobody]);
    // A process with another name announces what it reads.
    r.follow("p1.1.2.2.3.4.5.6.7.8.9.9.10.16").unwrap();
    assert_eq!(values(&r, ["head", "val[4]"]), ["Head { version: 2, buffer: b4 }", "2"]);
}

/// `p1` announces, `p0` applies it, and `p1` takes the response out of `p0`'s buffer.
#[test]
fn e2_a_helped_process_finds_its_response() {
    let mut r = run("universal", 2, 2);
    r.follow("p1.1").unwrap();
    r.follow(ALONE).unwrap();
    r.follow("p1.2.2.3.4.5.11.12.13").unwrap();
    assert_eq!(values(&r, ["ann[1]"]), ["Announced { seq: 1, cell: 1 }"]);
    r.follow("p0.1.2.2.3.4.5.6.7.8.9.9.10.16").unwrap();
    let head = "Head { version: 2, buffer: b2 }";
    assert_eq!(values(&r, ["head", "app[2][1]"]), [head, "Applied { seq: 1, loc: Some(b2) }"]);
    r.follow("p1.1.2.2.3.4.5.16").unwrap();
    assert_eq!(values(&r, ["head", "resp[2][1]", "val[2]"]), [head, "3", "4"]);
}

/// `head`, the buffer that `p1` reads and the buffer with its response are three of four buffers.
#[test]
fn e3_all_buffers_are_needed() {
    let mut r = run("universal", 2, 2);
    r.follow("p1.1").unwrap();
    r.follow(ALONE).unwrap();
    r.follow("p1.2.2.3.4.5.11.12.13.1.2.2.3.4  p0.1.2.2.3.4.5.6.7.8.9.9.10.16.0").unwrap();
    let reads = "Hazard { buffer: Some(b1), cells: 0 }";
    assert_eq!(values(&r, ["hz[1]", "app[0][1]"]), [reads, "Applied { seq: 1, loc: Some(b0) }"]);
    r.follow(ALONE).unwrap();
    assert_eq!(values(&r, ["head"]), ["Head { version: 3, buffer: b2 }"]);
    r.follow("p0.1.2.2.3.6").unwrap();
    assert_eq!(r.view().shown::<u64>(0, "w"), Some(3));
}

/// A process that stops forever before 10 has one of the other's buffers in its hazard, and that is
/// all.
#[test]
fn e4_a_process_that_stops_for_ever_stops_nobody() {
    let mut r = run("universal", 2, 2);
    r.follow(ALONE).unwrap();
    r.follow("p1.1.2.2.3.4.5.6.7.8.9.9").unwrap();
    for _ in 0..5 {
        r.follow(ALONE).unwrap();
    }
    assert_eq!(values(&r, ["hz[1]"]), ["Hazard { buffer: Some(b1), cells: 0 }"]);
}

/// `p1` reads buffer 1 while it is recycled, and finds it to be `head` once more: in another life,
/// which has seen its operation.
const ANOTHER_LIFE: &str =
    "p1.2.2.3.4.5.11.12  p0.1.2.2.3  p1.13.1  p0.6.7.8.9.9.10.16.0  p0.1.2.2.3.4.5.6.7  p1.2.2  p0.8.9.9.10  p1.3.4.5";

#[test]
fn e5_without_versions_an_operation_is_applied_twice() {
    let run_so = |mut r: Runner| {
        r.follow("p1.1").unwrap();
        r.follow(ALONE).unwrap();
        r.follow(ANOTHER_LIFE).unwrap();
        r
    };
    let mut r = run_so(run_mutant("universal-without-versions"));
    assert_eq!(values(&r, ["val[1]", "app[1][1]"]), ["3", "Applied { seq: 1, loc: Some(b1) }"]);
    r.follow("p1.6.7.8.9.9.10").unwrap();
    assert_eq!(values(&r, ["head", "val[4]"]), ["Head { version: 0, buffer: b4 }", "4"]);

    let mut r = run_so(run("universal", 2, 2));
    r.follow("p1.1.2.2.3.4.5.16").unwrap();
    assert_eq!(values(&r, ["head", "val[1]", "resp[1][1]"]), ["Head { version: 3, buffer: b1 }", "3", "2"]);
}

#[test]
fn there_are_no_more_names_than_fit() {
    let universal = subject::find("universal").unwrap().info;
    assert_eq!(universal.sizes(Some(9), None), Err(SizeError::TooManyNames { id: "universal", k: 9, most: 8 }));
    assert_eq!(universal.sizes(Some(3), Some(2)), Err(SizeError::AllInside { id: "universal", n: 3, k: 2 }));
    let resilient = subject::find("resilient").unwrap().info;
    assert!(resilient.sizes(Some(100), Some(8)).is_ok());
}

#[test]
fn remote_references_are_within_the_bound() {
    assert_eq!(worst("universal", (2, 2), CostModel::Cc, 2, 1), (15, 16));
    assert_eq!(worst("universal", (2, 2), CostModel::Dsm, 3, 2), (48, 65));
    assert_eq!(worst("resilient-am", (2, 2), CostModel::Cc, 1, 2), (34, 83));
}

#[test]
#[ignore = "takes several seconds; ci/long-searches.sh runs it"]
fn remote_references_are_within_the_bound_at_larger_sizes() {
    assert_eq!(worst("universal", (2, 2), CostModel::Cc, 3, 2), (51, 65));
    assert_eq!(worst("universal", (3, 3), CostModel::Dsm, 1, 3), (61, 90));
}

/// The largest number of remote references of any passage, and the claimed bound.
fn worst(id: &str, (n, k): (usize, usize), model: CostModel, passages: u32, contention: usize) -> (u64, u64) {
    let subject = subject::find(id).unwrap();
    let sizes = Sizes { n, k };
    let claimed = subject.info.bound(model).and_then(|b| b.at(sizes, contention)).unwrap();
    let of = |p| {
        let rules = Rules { measure: Some((p, model)), ..Rules::with_passages(Some(passages)) };
        let passage = Explorer::new(n)
            .believe_keep(true)
            .worst_passage(subject.world(sizes, rules).unwrap(), contention)
            .unwrap();
        assert!(passage.complete && passage.worst <= Worst::Bounded(claimed), "{passage:?}");
        passage.worst.bounded().unwrap()
    };
    ((0..n).map(of).max().unwrap(), claimed)
}
