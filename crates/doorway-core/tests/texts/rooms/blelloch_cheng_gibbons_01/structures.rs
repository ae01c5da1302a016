//! Structures built on rooms: stacks and a queue, linearizable over the real rooms.

use crate::common::{ask, run};
use doorway_check::sim::Rules;
use doorway_check::trace::Trace;
use doorway_core::rooms::blelloch_cheng_gibbons_01::bits_of_a_queue;

const ALL: [&str; 3] = ["linearizable", "never-stuck", "starvation-free"];

#[test]
fn stacks_and_queues_are_linearizable() {
    for (id, n, slots) in [
        ("room-stack", 2, 1),
        ("room-stack", 2, 3),
        ("room-queue", 2, 1),
        ("room-queue", 2, 2),
        ("room-dynamic-stack", 2, 4),
        ("room-segment-stack", 2, 3),
    ] {
        let report = ask(id, (n, slots), Rules::default(), &ALL);
        report.assert_holds();
        println!("{id} n={n} slots={slots}: {} states, {} edges", report.states, report.edges);
    }
}

#[test]
fn with_three_users_for_one_operation_each() {
    for (id, slots) in [("room-stack", 2), ("room-queue", 2)] {
        let report = ask(id, (3, slots), Rules::with_passages(Some(1)), &ALL);
        report.assert_holds();
        println!("{id} n=3 slots={slots}, one passage: {} states, {} edges", report.states, report.edges);
    }
}

/// Two doublings leave time for a second retry. It happens in the algorithm as printed, where a
/// user exits to retry.
#[test]
fn a_push_is_done_again_at_most_once() {
    let report = ask("room-dynamic-stack", (2, 8), Rules::with_passages(Some(4)), &["retries", "never-stuck"]);
    report.assert_holds();
    assert!(report.complete);
    println!("room-dynamic-stack n=2 slots=8, four passages: {} states", report.states);
    let mutant = "mutant:room-dynamic-stack-exits-to-retry";
    let report = ask(mutant, (2, 8), Rules::with_passages(Some(4)), &["retries"]);
    assert_eq!(report.verdict("retries").holds, Some(false));
    let report = ask("room-segment-stack", (2, 7), Rules::with_passages(Some(3)), &["retries", "never-stuck"]);
    report.assert_holds();
    assert!(report.complete);
    println!("room-segment-stack n=2 slots=7, three passages: {} states", report.states);
}

/// A first array with fewer slots than users leads to a stale element.
#[test]
fn a_first_array_that_is_too_small_is_found_out() {
    let report = ask("mutant:room-dynamic-stack-begins-too-small", (2, 4), Rules::default(), &["linearizable"]);
    let trace = report.verdict("linearizable").trace.as_ref();
    assert_eq!(trace.map(Trace::len), Some(159));
}

/// After two doublings, the elements of the first array are in the third.
#[test]
fn a_stack_that_has_doubled_twice_has_lost_nothing() {
    let report = ask("room-dynamic-stack", (1, 8), Rules::with_passages(Some(9)), &ALL[..2]);
    report.assert_holds();
    println!("room-dynamic-stack n=1 slots=8, nine passages: {} states", report.states);
}

/// Runs one user that puts (0) and takes (1), and collects the elements it took.
fn alone(id: &str, operations: &[usize]) -> Vec<String> {
    let mut runner = run(id, 1, 8);
    for operation in operations {
        runner.follow(&format!("p0.0={operation} p0>out")).unwrap();
    }
    let trace = runner.trace().unwrap().to_string();
    let took = trace.split("returns Took(").skip(1);
    took.map(|rest| rest.split("))").next().unwrap().split("  ").next().unwrap().to_owned()).collect()
}

#[test]
fn as_printed_an_empty_stack_gives_something() {
    assert_eq!(alone("room-dynamic-stack", &[1]), ["None)"]);
    assert_eq!(alone("room-dynamic-stack-as-printed", &[1]), ["Some(9"]);
}

/// No user has put a 9: it is the content of a slot before any write.
#[test]
fn as_printed_the_last_element_of_the_lower_half_is_lost() {
    const PUTS_AND_TAKES: &[usize] = &[0, 0, 0, 1, 1, 1];
    assert_eq!(alone("room-dynamic-stack", PUTS_AND_TAKES), ["Some(1"; 3]);
    assert_eq!(alone("room-dynamic-stack-as-printed", PUTS_AND_TAKES), ["Some(1", "Some(9", "Some(1"]);
}

/// Numbers wrap: with too few bits, a full queue looks empty.
#[test]
fn numbers_of_a_queue_need_enough_bits() {
    assert_eq!([(1, 2), (2, 2), (4, 2)].map(|(size, p)| bits_of_a_queue(size, p)), [3, 4, 4]);
}

/// A fetch-and-add built as a loop on compare-and-swap.
#[test]
fn a_fetch_and_add_can_be_made_of_compare_and_swap() {
    let rules = Rules { fetch_add: false, ..Rules::with_passages(Some(2)) };
    let names = ["P1", "P2", "P3", "never-stuck", "P4", "P5", "P8", "P10", "L1", "L2", "L3.1", "L3.2", "L3.3"];
    let report = ask("rooms", (2, 2), rules, &names);
    report.assert_holds();
    println!("rooms (2,2), two passages, without fetch-and-add: {} states", report.states);
    let report = ask("room-stack", (2, 2), rules, &ALL);
    report.assert_holds();
    println!("room-stack (2,2), two passages, without fetch-and-add: {} states", report.states);
}
