//! Histories of queues and stacks, recorded among threads, and whether some order of their operations explains what they returned: Wing and Gong's search.

mod rooms_kit;

use doorway::rooms::{GrowingStack, Queue, Stack};
use rooms_kit::Dice;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;

#[derive(Clone, PartialEq, Eq, Debug)]
enum Operation {
    /// What was pushed, and how many of it went.
    Push(Vec<u32>, usize),
    /// How many were asked for, and what came.
    Pop(usize, Vec<u32>),
}

#[derive(Clone, Debug)]
struct Recorded {
    operation: Operation,
    begin: u64,
    end: u64,
}

/// What a queue or a stack does when nobody else is there.
#[derive(Clone, Copy)]
struct Model {
    last_in_first_out: bool,
    capacity: usize,
}

impl Model {
    /// The state after, if the operation returns this here.
    fn after(&self, state: &VecDeque<u32>, operation: &Operation) -> Option<VecDeque<u32>> {
        let mut state = state.clone();
        match operation {
            Operation::Push(values, went) => {
                let fits = values.len().min(self.capacity - state.len());
                state.extend(&values[..fits]);
                (fits == *went).then_some(state)
            }
            Operation::Pop(most, came) => {
                let got = (*most).min(state.len());
                let values: Vec<u32> = if self.last_in_first_out {
                    state.split_off(state.len() - got).into()
                } else {
                    state.drain(..got).collect()
                };
                (values == *came).then_some(state)
            }
        }
    }

    /// Whether some order explains it in which each comes before all that began after it had ended.
    fn explains(&self, history: &[Recorded]) -> bool {
        assert!(history.len() < 64);
        let mut seen = BTreeSet::new();
        self.search(history, 0, &VecDeque::new(), &mut seen)
    }

    fn search(
        &self,
        history: &[Recorded],
        done: u64,
        state: &VecDeque<u32>,
        seen: &mut BTreeSet<(u64, VecDeque<u32>)>,
    ) -> bool {
        if done == (1 << history.len()) - 1 {
            return true;
        }
        if !seen.insert((done, state.clone())) {
            return false;
        }
        let left = || history.iter().enumerate().filter(|(i, _)| done & (1 << i) == 0);
        let first_end = left().map(|(_, r)| r.end).min().unwrap_or(u64::MAX);
        let mut next = left().filter(|(_, r)| r.begin < first_end);
        next.any(|(i, r)| {
            self.after(state, &r.operation).is_some_and(|after| self.search(history, done | 1 << i, &after, seen))
        })
    }
}

const THREADS: u32 = 3;
const EACH: u32 = 5;

/// Threads that push and pop what the dice say, and what came of it.
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
                        history.push(Recorded { operation, begin, end: clock.fetch_add(1, SeqCst) });
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

const RUNS: u64 = 300;

#[test]
fn histories_of_a_queue_have_an_order() {
    for seed in 0..RUNS {
        let capacity = 1 << (seed % 3);
        let queue = Queue::new(capacity).unwrap();
        let acts = acts!(queue, Queue::push_all, |q: &Queue<u32>, value| q.push(value).is_ok());
        let history = record(seed, seed % 2 == 1, acts);
        let model = Model { last_in_first_out: false, capacity };
        assert!(model.explains(&history), "{history:#?}");
    }
}

#[test]
fn histories_of_a_stack_have_an_order() {
    for seed in 0..RUNS {
        let capacity = 1 + seed as usize % 4;
        let stack = Stack::new(capacity).unwrap();
        let acts = acts!(stack, Stack::push_all, |s: &Stack<u32>, value| s.push(value).is_ok());
        let history = record(seed, seed % 2 == 1, acts);
        let model = Model { last_in_first_out: true, capacity };
        assert!(model.explains(&history), "{history:#?}");
    }
}

/// Single values only: a batch for which the stack has to grow is pushed in parts.
#[test]
fn histories_of_a_stack_that_grows_have_an_order() {
    for seed in 0..RUNS {
        let stack = GrowingStack::with_capacity(1).unwrap();
        let never = |_: &GrowingStack<u32>, _: &mut Vec<u32>| unreachable!();
        let acts = acts!(stack, never, |s: &GrowingStack<u32>, value| s.push(value).is_ok());
        let history = record(seed, false, acts);
        let model = Model { last_in_first_out: true, capacity: usize::MAX };
        assert!(model.explains(&history), "{history:#?}");
    }
}

#[test]
fn a_history_without_an_order_is_found_out() {
    let queue = Model { last_in_first_out: false, capacity: 2 };
    let recorded = |operation, begin, end| Recorded { operation, begin, end };
    // One is on its way in while another has come, and both have to be first.
    let impossible = [
        recorded(Operation::Push(vec![1], 1), 0, 9),
        recorded(Operation::Push(vec![2], 1), 1, 2),
        recorded(Operation::Pop(1, vec![1]), 3, 4),
        recorded(Operation::Pop(1, vec![]), 5, 6),
    ];
    assert!(!queue.explains(&impossible));
    let mut possible = impossible.clone();
    possible[3].operation = Operation::Pop(1, vec![2]);
    assert!(queue.explains(&possible));
    // Full, though one had left.
    let full = [
        recorded(Operation::Push(vec![1, 2], 2), 0, 1),
        recorded(Operation::Pop(1, vec![1]), 2, 3),
        recorded(Operation::Push(vec![3], 0), 4, 5),
    ];
    assert!(!queue.explains(&full));
}
