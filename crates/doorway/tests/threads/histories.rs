//! Records histories of queues, stacks and a resilient ring among threads, and asks whether some
//! order of their operations explains the results. An independent library decides that:
//! `todc-utils` searches for the order.

use crate::rooms_kit::Dice;
use doorway::Resilient;
use doorway::resilient::Ring;
use doorway::rooms::{GrowingStack, Queue, Stack};
use std::collections::VecDeque;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;
use todc_utils::{Action, History, Specification, WGLChecker};

#[derive(Clone, PartialEq, Eq, Debug)]
enum Operation {
    /// The values that were pushed, and how many of them went in.
    Push(Vec<u32>, usize),
    /// How many values were asked for, and which came.
    Pop(usize, Vec<u32>),
}

#[derive(Clone, Debug)]
struct Recorded {
    thread: usize,
    operation: Operation,
    begin: u64,
    end: u64,
}

/// How a queue or a stack behaves with a single user.
struct Alone<const LAST_IN_FIRST_OUT: bool, const CAPACITY: usize>;

impl<const LAST_IN_FIRST_OUT: bool, const CAPACITY: usize> Specification for Alone<LAST_IN_FIRST_OUT, CAPACITY> {
    type State = VecDeque<u32>;
    type Operation = Operation;

    fn init() -> VecDeque<u32> {
        VecDeque::new()
    }

    fn apply(operation: &Operation, state: &VecDeque<u32>) -> (bool, VecDeque<u32>) {
        let mut state = state.clone();
        let as_recorded = match operation {
            Operation::Push(values, went) => {
                let fits = values.len().min(CAPACITY - state.len());
                state.extend(&values[..fits]);
                fits == *went
            }
            Operation::Pop(most, came) => {
                let got = (*most).min(state.len());
                let values: Vec<u32> = if LAST_IN_FIRST_OUT {
                    state.split_off(state.len() - got).into()
                } else {
                    state.drain(..got).collect()
                };
                values == *came
            }
        };
        (as_recorded, state)
    }
}

/// Whether some order explains the history, such that each operation comes before all that began
/// after it had ended.
fn has_an_order<S: Specification<Operation = Operation>>(history: &[Recorded]) -> bool {
    let mut actions = Vec::new();
    for Recorded { thread, operation, begin, end } in history {
        actions.push((*begin, (*thread, Action::Call(operation.clone()))));
        actions.push((*end, (*thread, Action::Response(operation.clone()))));
    }
    actions.sort_by_key(|&(time, _)| time);
    WGLChecker::<S>::is_linearizable(History::from_actions(actions.into_iter().map(|(_, action)| action).collect()))
}

const THREADS: u32 = 3;
const EACH: u32 = 5;

/// Lets threads push and pop at random, and records the results.
fn record(seed: u64, batches: bool, act: impl Fn(Operation) -> Operation + Sync) -> Vec<Recorded> {
    let (clock, begin) = (AtomicU64::new(0), Barrier::new(THREADS as usize));
    let (clock, begin, act) = (&clock, &begin, &act);
    thread::scope(|s| {
        let threads: Vec<_> = (0..THREADS)
            .map(|t| {
                s.spawn(move || {
                    let mut dice = Dice::new(seed * 10 + u64::from(t));
                    let mut history = Vec::new();
                    begin.wait();
                    for i in 0..EACH {
                        let count = if batches { 1 + dice.roll(3) } else { 1 };
                        let first = (t * EACH + i) * 10;
                        let operation = match dice.roll(2) {
                            0 => Operation::Push((first..first + count as u32).collect(), 0),
                            _ => Operation::Pop(count, Vec::new()),
                        };
                        let begin = clock.fetch_add(1, SeqCst);
                        let operation = act(operation);
                        let end = clock.fetch_add(1, SeqCst);
                        history.push(Recorded { thread: t as usize, operation, begin, end });
                    }
                    history
                })
            })
            .collect();
        threads.into_iter().flat_map(|t| t.join().unwrap()).collect()
    })
}

macro_rules! acts {
    ($object:ident, $push_all:expr, $push:expr) => {
        |operation| match operation {
            Operation::Push(values, _) if values.len() == 1 => {
                let went = usize::from($push(&$object, values[0]));
                Operation::Push(values, went)
            }
            Operation::Push(values, _) => {
                let mut batch = values.clone();
                let went = $push_all(&$object, &mut batch);
                assert_eq!(batch, values[went..]);
                Operation::Push(values, went)
            }
            Operation::Pop(1, _) => Operation::Pop(1, $object.pop().into_iter().collect()),
            Operation::Pop(most, _) => Operation::Pop(most, $object.pop_many(most)),
        }
    };
}

const RUNS: u64 = 100;

fn of_a_queue<const CAPACITY: usize>(seed: u64) -> Vec<Recorded> {
    let queue = Queue::new(CAPACITY).unwrap();
    record(seed, seed % 2 == 1, acts!(queue, Queue::push_all, |q: &Queue<u32>, value| q.push(value).is_ok()))
}

fn of_a_stack<const CAPACITY: usize>(seed: u64) -> Vec<Recorded> {
    let stack = Stack::new(CAPACITY).unwrap();
    record(seed, seed % 2 == 1, acts!(stack, Stack::push_all, |s: &Stack<u32>, value| s.push(value).is_ok()))
}

fn all_have_an_order<S: Specification<Operation = Operation>>(record: impl Fn(u64) -> Vec<Recorded>) {
    for seed in 0..RUNS {
        let history = record(seed);
        assert!(has_an_order::<S>(&history), "{history:#?}");
    }
}

#[test]
fn histories_of_a_queue_have_an_order() {
    all_have_an_order::<Alone<false, 1>>(of_a_queue::<1>);
    all_have_an_order::<Alone<false, 2>>(of_a_queue::<2>);
    all_have_an_order::<Alone<false, 4>>(of_a_queue::<4>);
}

#[test]
fn histories_of_a_stack_have_an_order() {
    all_have_an_order::<Alone<true, 1>>(of_a_stack::<1>);
    all_have_an_order::<Alone<true, 2>>(of_a_stack::<2>);
    all_have_an_order::<Alone<true, 3>>(of_a_stack::<3>);
}

/// Single values only: a batch for which the stack has to grow is pushed in parts.
#[test]
fn histories_of_a_stack_that_grows_have_an_order() {
    all_have_an_order::<Alone<true, { usize::MAX }>>(|seed| {
        let stack = GrowingStack::with_capacity(1).unwrap();
        let never = |_: &GrowingStack<u32>, _: &mut Vec<u32>| unreachable!();
        record(seed, false, acts!(stack, never, |s: &GrowingStack<u32>, value| s.push(value).is_ok()))
    });
}

/// Three threads, and one, two or three names: some threads wait for others, or help them.
#[test]
fn histories_of_a_resilient_ring_have_an_order() {
    for k in 1..=3 {
        all_have_an_order::<Alone<false, 2>>(|seed| {
            let ring = Resilient::new(Ring::new(2), k).unwrap().with_pauses(0);
            record(seed, false, |operation| match operation {
                Operation::Push(values, _) => {
                    let went = usize::from(ring.push(values[0]).is_ok());
                    Operation::Push(values, went)
                }
                Operation::Pop(most, _) => {
                    let came: Vec<u32> = ring.pop().into_iter().collect();
                    assert!(ring.read(Ring::len) <= 2);
                    Operation::Pop(most, came)
                }
            })
        });
    }
}

fn recorded(thread: usize, operation: Operation, begin: u64, end: u64) -> Recorded {
    Recorded { thread, operation, begin, end }
}

#[test]
fn a_history_without_an_order_is_found_out() {
    type OfTwo = Alone<false, 2>;
    // One value is being pushed while another one has arrived, and both have to be first.
    let impossible = [
        recorded(0, Operation::Push(vec![1], 1), 0, 9),
        recorded(1, Operation::Push(vec![2], 1), 1, 2),
        recorded(1, Operation::Pop(1, vec![1]), 3, 4),
        recorded(1, Operation::Pop(1, vec![]), 5, 6),
    ];
    assert!(!has_an_order::<OfTwo>(&impossible));
    let mut possible = impossible.clone();
    possible[3].operation = Operation::Pop(1, vec![2]);
    assert!(has_an_order::<OfTwo>(&possible));
    // A push was refused as full, though a value had left.
    let full = [
        recorded(0, Operation::Push(vec![1, 2], 2), 0, 1),
        recorded(0, Operation::Pop(1, vec![1]), 2, 3),
        recorded(0, Operation::Push(vec![3], 0), 4, 5),
    ];
    assert!(!has_an_order::<OfTwo>(&full));
}

/// Recorded histories in which one value is replaced by another: by one that occurs twice, or that
/// was never pushed.
#[test]
fn a_recorded_history_with_a_fault_is_found_out() {
    let mut faults = 0;
    for seed in 0..RUNS {
        let history = of_a_queue::<4>(seed);
        let first = |(i, recorded): (usize, &Recorded)| match &recorded.operation {
            Operation::Pop(_, came) => Some((i, *came.first()?)),
            Operation::Push(..) => None,
        };
        let came: Vec<(usize, u32)> = history.iter().enumerate().filter_map(first).collect();
        for &(i, value) in &came {
            let others = came.iter().map(|&(_, other)| other).filter(|&other| other != value);
            for instead in others.chain([u32::MAX]) {
                let mut wrong = history.clone();
                let Operation::Pop(_, came) = &mut wrong[i].operation else { unreachable!() };
                came[0] = instead;
                assert!(!has_an_order::<Alone<false, 4>>(&wrong), "{wrong:#?}");
                faults += 1;
            }
        }
    }
    assert!(faults > 100, "{faults}");
}
