//! Software combining by threads: each history is recorded, and must be explained by some order.

use doorway::combining::{Add, CallError, Combinable, Combining, Store};
use doorway::waiting::Policy;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Barrier, OnceLock};
use std::thread;

#[derive(Clone, Copy)]
struct Called<O> {
    op: O,
    result: u64,
    begun: u64,
    ended: u64,
}

/// Lets threads call operations, and records when each began and ended.
fn record<F>(object: &Combining<F>, threads: usize, calls: u64, op: fn(u64) -> F::Op) -> Vec<Called<F::Op>>
where
    F: Combinable<Value = u64>,
    F::Op: Send,
    Combining<F>: Sync,
{
    let (clock, start) = (AtomicU64::new(0), Barrier::new(threads));
    let run = |thread: u64| {
        start.wait();
        let call = |i| {
            let op = op(thread * calls + i + 1);
            let begun = clock.fetch_add(1, SeqCst);
            let result = object.fetch_and_op(op).unwrap();
            Called { op, result, begun, ended: clock.fetch_add(1, SeqCst) }
        };
        (0..calls).map(call).collect::<Vec<_>>()
    };
    thread::scope(|s| {
        let all: Vec<_> = (0..threads as u64).map(|t| s.spawn(move || run(t))).collect();
        all.into_iter().flat_map(|t| t.join().unwrap()).collect()
    })
}

/// Where no value occurs twice, the results determine one order: each operation was applied to the
/// result of the one before it. This order must not reverse two operations of which one ended
/// before the other began.
fn assert_explained<F: Combinable<Value = u64>>(history: &[Called<F::Op>], first: u64, last: u64) {
    let by_result: HashMap<u64, usize> = history.iter().enumerate().map(|(i, call)| (call.result, i)).collect();
    assert_eq!(by_result.len(), history.len(), "a value came twice");
    let (mut value, mut latest_begin) = (first, 0);
    for _ in 0..history.len() {
        let call = history[*by_result.get(&value).expect("an operation is applied to this value")];
        assert!(call.ended > latest_begin, "it ended before an earlier operation of the order began");
        latest_begin = latest_begin.max(call.begun);
        value = F::apply(call.op, value);
    }
    assert_eq!(value, last);
}

/// Maps `x -> 48271 x + plus` on 24 bits, which do not commute. The bits above count the
/// operations, so that no value occurs twice.
struct Counted;

const BITS: u32 = 24;

fn counted(maps: u64, x: u64) -> u64 {
    maps << BITS | x & ((1 << BITS) - 1)
}

impl Combinable for Counted {
    type Op = u64;
    type Value = u64;
    fn compose(first: u64, second: u64) -> u64 {
        Self::apply(second, first)
    }
    fn apply(op: u64, value: u64) -> u64 {
        let times = 48_271u64.wrapping_pow((op >> BITS) as u32);
        counted((op >> BITS) + (value >> BITS), times.wrapping_mul(value).wrapping_add(op))
    }
}

#[test]
fn some_order_explains_what_threads_saw() {
    for threads in [1, 2, 3, 4, 5, 8] {
        let calls = 6_000 / threads as u64;
        let stores = Combining::<Store>::new(0, threads).unwrap();
        let history = record(&stores, threads, calls, |i| i);
        assert_explained::<Store>(&history, 0, stores.into_inner());
        let sums = Combining::<Add>::new(0, threads).unwrap();
        let history = record(&sums, threads, calls, |i| i);
        assert_explained::<Add>(&history, 0, sums.into_inner());
        let maps = Combining::<Counted>::new(1, threads).unwrap().with_policy(Policy::YIELD);
        let history = record(&maps, threads, calls, |i| counted(1, i));
        assert_explained::<Counted>(&history, 1, maps.into_inner());
    }
}

#[test]
fn more_threads_at_a_time_than_it_was_made_for_are_told_so() {
    static COUNT: OnceLock<Combining<Asks>> = OnceLock::new();
    /// An addition during which another thread, and this one, ask for a second addition.
    struct Asks;
    impl Combinable for Asks {
        type Op = u64;
        type Value = u64;
        fn compose(first: u64, second: u64) -> u64 {
            first + second
        }
        fn apply(op: u64, value: u64) -> u64 {
            let count = COUNT.get().unwrap();
            let refused = thread::spawn(|| count.fetch_and_op(1)).join().unwrap().unwrap_err();
            assert_eq!(refused, CallError::TooManyThreads { most: 1 });
            assert_eq!(
                refused.to_string(),
                "built for 1 thread at a time, and another thread is using it now; build it for more"
            );
            assert_eq!(count.fetch_and_op(1).unwrap_err(), CallError::WithinAnother);
            assert!(format!("{count:?}").ends_with("threads: 1, in_use: 1, .. }"));
            value + op
        }
    }
    let count = COUNT.get_or_init(|| Combining::new(0, 1).unwrap());
    assert_eq!(count.fetch_and_op(1), Ok(0));
    assert_eq!(format!("{count:?}"), "Combining { value: 1, threads: 1, in_use: 0, .. }");
}

#[test]
fn a_number_comes_back_when_its_call_ends() {
    let count = Combining::<Add>::new(0, 1).unwrap();
    for _ in 0..10 {
        thread::scope(|s| s.spawn(|| count.fetch_and_op(1)).join().unwrap().unwrap());
    }
    assert_eq!(count.into_inner(), 10);
}

thread_local! {
    static AGAIN: std::cell::RefCell<Option<std::rc::Rc<Combining<Nested>>>> = const { std::cell::RefCell::new(None) };
}

/// Calls the object from within.
struct Nested;

impl Combinable for Nested {
    type Op = u64;
    type Value = u64;
    fn compose(first: u64, second: u64) -> u64 {
        first + second
    }
    fn apply(op: u64, value: u64) -> u64 {
        let within = AGAIN.with_borrow(|again| again.as_ref().map(|object| object.fetch_and_op(1)));
        assert_eq!(within, Some(Err(CallError::WithinAnother)));
        value + op
    }
}

#[test]
fn an_operation_within_an_operation_is_refused() {
    let object = std::rc::Rc::new(Combining::<Nested>::new(0, 1).unwrap());
    AGAIN.set(Some(std::rc::Rc::clone(&object)));
    assert_eq!(object.fetch_and_op(5), Ok(0));
    assert_eq!(object.load(), 5);
}
