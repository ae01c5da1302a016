//! What is built on rooms: stacks and a queue, linearizable over the real rooms.

use crate::common::ask;
use doorway_check::schedule::Runner;
use doorway_check::sim::{Action, Rules, Sim, World};
use doorway_check::trace::Trace;
use doorway_core::memory::Memory;
use doorway_core::rooms::blelloch_cheng_gibbons_01::{DynamicStack, Width, bits_of_a_queue};
use std::cell::RefCell;
use std::rc::Rc;

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

/// With two doublings there is time for a second retry; as printed, where one exits to retry, there is one.
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

/// A first array with fewer slots than there are users: a stale element.
#[test]
fn a_first_array_that_is_too_small_is_found_out() {
    let report = ask("mutant:room-dynamic-stack-begins-too-small", (2, 4), Rules::default(), &["linearizable"]);
    let trace = report.verdict("linearizable").trace.as_ref();
    assert_eq!(trace.map(Trace::len), Some(159));
}

/// Two doublings: what was in the first array is in the third.
#[test]
fn a_stack_that_has_doubled_twice_has_lost_nothing() {
    let report = ask("room-dynamic-stack", (1, 8), Rules::with_passages(Some(9)), &ALL[..2]);
    report.assert_holds();
    println!("room-dynamic-stack n=1 slots=8, nine passages: {} states", report.states);
}

/// Runs one user, and collects what its operations return.
fn alone(as_printed: bool, operations: &'static [Option<u64>]) -> Vec<Option<u64>> {
    let answers: Rc<RefCell<Vec<Option<u64>>>> = Rc::default();
    let kept = Rc::clone(&answers);
    let width = Width::for_users(2, 0);
    let new = if as_printed { DynamicStack::as_printed } else { DynamicStack::new };
    let build = move |site: &doorway_core::memory::Site<'_, Sim>| new(site, 2, 3, 9, width);
    let world = World::of_programs(1, Rules::with_passages(Some(1)), build, move |stack, p| {
        let kept = Rc::clone(&kept);
        async move {
            let mut returned = Vec::new();
            let here = p.on(Sim::ROOT);
            for (i, operation) in operations.iter().enumerate() {
                here.part(&(i, &returned)); // what is still to come matters, whatever the stack keeps
                match operation {
                    Some(y) => assert!(stack.push(&p, *y).await.is_ok_and(|fits| fits)),
                    None => returned.push(stack.pop(&p).await.ok().flatten()),
                }
                here.part_done();
            }
            *kept.borrow_mut() = returned;
        }
    });
    let mut runner = Runner::new(world.unwrap());
    while runner.act(Action::step(0)).unwrap().is_some() {}
    answers.take()
}

#[test]
fn as_printed_an_empty_stack_gives_something() {
    assert_eq!(alone(false, &[None]), [None]);
    assert_eq!(alone(true, &[None]), [Some(9)]);
}

#[test]
fn as_printed_the_last_element_of_the_lower_half_is_lost() {
    const PUSHES_AND_POPS: &[Option<u64>] = &[Some(1), Some(2), Some(3), None, None, None];
    assert_eq!(alone(false, PUSHES_AND_POPS), [Some(3), Some(2), Some(1)]);
    assert_eq!(alone(true, PUSHES_AND_POPS), [Some(3), Some(9), Some(1)]);
}

/// Numbers that wrap: too few bits, and a queue that is full looks empty.
#[test]
fn numbers_of_a_queue_need_enough_bits() {
    assert_eq!([(1, 2), (2, 2), (4, 2)].map(|(size, p)| bits_of_a_queue(size, p)), [3, 4, 4]);
}

/// A fetch-and-add that is a loop on compare-and-swap.
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
