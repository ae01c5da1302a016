//! What users of queues and stacks in rooms rely on: nothing is lost, nothing is dropped twice, and
//! everything comes out in order.

use crate::rooms_kit::{Bell, Counted, Dice, Uses, block_on, poll};
use doorway::rooms::{Ended, Finished, GrowingStack, Queue, RoomsBuildError, Stack, TakeTimeoutError, WorkStack};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn sizes_that_make_no_sense_are_refused() {
    assert_eq!(Queue::<u8>::new(0).unwrap_err(), RoomsBuildError::NoCapacity);
    assert_eq!(Stack::<u8>::new(0).unwrap_err(), RoomsBuildError::NoCapacity);
    assert_eq!(GrowingStack::<u8>::with_capacity(0).unwrap_err(), RoomsBuildError::NoCapacity);
    let asked = usize::MAX;
    assert_eq!(Queue::<u64>::new(asked).unwrap_err(), RoomsBuildError::TooLarge { asked });
    assert_eq!(Stack::<u64>::new(asked).unwrap_err(), RoomsBuildError::TooLarge { asked });
    assert_eq!(
        Stack::<u64>::new(usize::MAX / 4 + 1).unwrap_err(),
        RoomsBuildError::TooLarge { asked: usize::MAX / 4 + 1 }
    );
    assert_eq!(Queue::<u8>::new(5).unwrap().capacity(), 8);
    assert_eq!(Stack::<u8>::new(5).unwrap().capacity(), 5);
}

#[test]
fn what_is_left_is_dropped_once() {
    let alive = AtomicUsize::new(0);
    let counted = |n: usize| (0..n).map(|i| Counted::new(i, &alive)).collect::<Vec<_>>();
    for (pushed, popped, again) in [(0, 0, 0), (3, 0, 0), (8, 5, 0), (8, 5, 4), (8, 8, 3), (20, 3, 0)] {
        let queue = Queue::new(8).unwrap();
        queue.push_all(&mut counted(pushed));
        drop(queue.pop_many(popped));
        queue.push_all(&mut counted(again));
        assert_eq!(alive.load(SeqCst), queue.len());
        drop(queue);
        assert_eq!(alive.load(SeqCst), 0);

        let stack = Stack::new(8).unwrap();
        stack.push_all(&mut counted(pushed));
        drop(stack.pop_many(popped));
        stack.push_all(&mut counted(again));
        assert_eq!(alive.load(SeqCst), stack.len());
        drop(stack);
        assert_eq!(alive.load(SeqCst), 0);

        let stack = GrowingStack::with_capacity(2).unwrap();
        stack.push_all(&mut counted(pushed)).unwrap();
        drop(stack.pop_many(popped));
        stack.push_all(&mut counted(again)).unwrap();
        assert_eq!(alive.load(SeqCst), stack.len());
        drop(stack);
        assert_eq!(alive.load(SeqCst), 0);

        let work = WorkStack::of(counted(pushed));
        if let Some(mut loot) = work.take(popped) {
            loot.clear();
        }
        assert_eq!(alive.load(SeqCst), work.len());
        drop(work);
        assert_eq!(alive.load(SeqCst), 0);
    }
}

#[test]
fn values_without_size_are_counted_too() {
    let queue = Queue::new(2).unwrap();
    assert_eq!(queue.push_all(&mut vec![(); 5]), 2);
    assert_eq!(queue.pop_many(5).len(), 2);
    let stack = GrowingStack::new();
    stack.push_all(&mut vec![(); 10_000]).unwrap();
    assert_eq!(stack.pop_many(usize::MAX).len(), 10_000);
}

#[test]
fn a_queue_goes_round_its_ring() {
    let queue = Queue::new(4).unwrap();
    let mut next = 0;
    let mut expected = 0;
    let mut dice = Dice::new(1);
    for _ in 0..2000 {
        let mut batch: Vec<usize> = (next..next + dice.roll(6)).collect();
        next += queue.push_all(&mut batch);
        assert_eq!(batch.first().copied().unwrap_or(next), next);
        for value in queue.pop_many(dice.roll(6)) {
            assert_eq!(value, expected);
            expected += 1;
        }
        assert_eq!(queue.len(), next - expected);
        assert_eq!(queue.is_empty(), next == expected);
    }
}

#[test]
fn a_stack_grows_segment_after_segment_and_keeps_its_order() {
    let stack = GrowingStack::with_capacity(1).unwrap();
    let mut model: Vec<usize> = Vec::new();
    let mut dice = Dice::new(2);
    for round in 0..3000 {
        let mut batch: Vec<usize> = (0..dice.roll(9)).map(|i| round * 10 + i).collect();
        model.extend(&batch);
        stack.push_all(&mut batch).unwrap();
        assert!(batch.is_empty());
        let most = dice.roll(8);
        let popped = stack.pop_many(most);
        assert_eq!(popped, model.split_off(model.len().saturating_sub(most)));
        if dice.roll(2) == 0 {
            stack.push(round).unwrap();
            model.push(round);
        } else {
            assert_eq!(stack.pop(), model.pop());
        }
        assert_eq!(stack.len(), model.len());
    }
    assert!(stack.capacity() > 64);
}

/// Producers number the values that they push. Consumers see the numbers of each producer in order,
/// and at the end each value has been seen once.
#[test]
fn a_queue_among_threads_loses_nothing_and_keeps_each_producers_order() {
    const EACH: usize = 3000;
    let alive = AtomicUsize::new(0);
    let queue = Queue::new(16).unwrap();
    let taken = AtomicUsize::new(0);
    thread::scope(|s| {
        for producer in 0..2 {
            let (queue, alive) = (&queue, &alive);
            s.spawn(move || {
                let mut dice = Dice::new(producer as u64);
                let mut next = 0;
                let mut batch = Vec::new();
                while next < EACH || !batch.is_empty() {
                    while batch.len() < 1 + dice.roll(12) && next < EACH {
                        batch.push((producer, Counted::new(next, alive)));
                        next += 1;
                    }
                    if batch.len() == 1 {
                        let value = batch.pop().expect("there is one");
                        if let Err(full) = queue.push(value) {
                            batch.push(full.0);
                        }
                    } else {
                        queue.push_all(&mut batch);
                    }
                }
            });
        }
        for consumer in 2..4 {
            let (queue, taken) = (&queue, &taken);
            s.spawn(move || {
                let mut dice = Dice::new(consumer);
                let mut seen = [None, None];
                let mut batch = Vec::new();
                while taken.load(SeqCst) < 2 * EACH {
                    match dice.roll(2) {
                        0 => drop(queue.pop().map(|value| batch.push(value))),
                        _ => drop(queue.pop_into(&mut batch, 1 + dice.roll(20))),
                    }
                    taken.fetch_add(batch.len(), SeqCst);
                    for (producer, value) in batch.drain(..) {
                        assert!(seen[producer] < Some(value.0), "out of order");
                        seen[producer] = Some(value.0);
                    }
                }
            });
        }
    });
    assert!(queue.is_empty());
    assert_eq!(alive.load(SeqCst), 0);
}

#[test]
fn stacks_among_threads_lose_nothing() {
    const EACH: usize = 4000;
    trait Piles: Sync {
        fn put(&self, batch: &mut Vec<usize>);
        fn take(&self, most: usize) -> Vec<usize>;
    }
    impl Piles for Stack<usize> {
        fn put(&self, batch: &mut Vec<usize>) {
            self.push_all(batch);
        }
        fn take(&self, most: usize) -> Vec<usize> {
            if most == 1 { self.pop().into_iter().collect() } else { self.pop_many(most) }
        }
    }
    impl Piles for GrowingStack<usize> {
        fn put(&self, batch: &mut Vec<usize>) {
            if batch.len() == 1 {
                self.push(batch.remove(0)).unwrap();
            } else {
                self.push_all(batch).unwrap();
            }
        }
        fn take(&self, most: usize) -> Vec<usize> {
            if most == 1 { self.pop().into_iter().collect() } else { self.pop_many(most) }
        }
    }
    let piles: [Box<dyn Piles>; 2] =
        [Box::new(Stack::new(9).unwrap()), Box::new(GrowingStack::with_capacity(1).unwrap())];
    for pile in &piles {
        let seen: Vec<AtomicBool> = (0..3 * EACH).map(|_| AtomicBool::new(false)).collect();
        let count = AtomicUsize::new(0);
        thread::scope(|s| {
            for t in 0..3 {
                let (pile, seen, count) = (pile, &seen, &count);
                s.spawn(move || {
                    let mut dice = Dice::new(t as u64);
                    let mut mine = (t * EACH..(t + 1) * EACH).peekable();
                    while count.load(SeqCst) < 3 * EACH {
                        let mut batch: Vec<usize> = mine.by_ref().take(dice.roll(6)).collect();
                        // Values that do not fit are kept until they do, because another thread
                        // takes.
                        loop {
                            for value in pile.take(1 + dice.roll(6)) {
                                assert!(!seen[value].swap(true, SeqCst), "{value} came out twice");
                                count.fetch_add(1, SeqCst);
                            }
                            if batch.is_empty() {
                                break;
                            }
                            pile.put(&mut batch);
                        }
                    }
                });
            }
        });
        assert!(pile.take(100).is_empty());
    }
}

/// Each node becomes two smaller ones: 16 trees of `2^(count+1) - 1` nodes.
fn work(threads: usize, count: u32) {
    let stack = WorkStack::of(vec![count; 16]);
    let done = AtomicUsize::new(0);
    thread::scope(|s| {
        for _ in 0..threads {
            s.spawn(|| {
                let mut loot = stack.take(20);
                while let Some(mut nodes) = loot {
                    let taken = nodes.len();
                    assert!(taken > 0 && taken <= 20);
                    done.fetch_add(taken, SeqCst);
                    for i in (0..taken).rev() {
                        match nodes[i] {
                            0 => drop(nodes.swap_remove(i)),
                            n => {
                                nodes[i] = n - 1;
                                nodes.push(n - 1);
                            }
                        }
                    }
                    loot = nodes.next(20);
                }
                assert!(stack.is_finished());
            });
        }
    });
    assert_eq!(done.load(SeqCst), 16 * ((1 << (count + 1)) - 1));
    assert!(stack.is_finished() && stack.is_empty() && stack.take(1).is_none());
}

#[test]
fn all_work_is_done_once_and_then_everybody_knows() {
    for threads in [1, 2, 4, 8] {
        work(threads, 9);
    }
}

#[test]
fn with_nothing_to_do_all_is_done() {
    let stack = WorkStack::<u8>::of(vec![]);
    assert!(!stack.is_finished()); // no worker has looked
    thread::scope(|s| {
        for _ in 0..3 {
            s.spawn(|| assert!(stack.take(5).is_none()));
        }
    });
    let mut more = vec![1, 2];
    assert_eq!(stack.push_all(&mut more), Err(Finished));
    assert_eq!(more, [1, 2]);
}

#[test]
fn as_many_as_there_are_can_be_asked_for() {
    let stack = WorkStack::of((0..3000).collect());
    let loot = stack.take(usize::MAX).unwrap();
    assert_eq!(*loot, (0..3000).collect::<Vec<_>>());
    let mut loot = loot.next(usize::MAX).unwrap();
    assert_eq!(loot.len(), 3000);
    loot.clear();
    assert!(loot.next(usize::MAX).is_none());
    assert_eq!(Stack::<u8>::new(2).unwrap().pop_many(usize::MAX), []);
    assert_eq!(Queue::<u8>::new(2).unwrap().pop_many(usize::MAX), []);
    assert_eq!(GrowingStack::<u8>::new().pop_many(usize::MAX), []);
}

/// Values without a size need no memory, but positions must not overflow.
#[test]
fn more_values_than_can_be_counted_are_refused() {
    const MOST: usize = if usize::BITS == 64 { 1 << (usize::BITS - 24) } else { 1 << (usize::BITS - 2) };
    assert!(matches!(Queue::<()>::new(2 * MOST), Err(RoomsBuildError::TooLarge { .. })));
    assert!(matches!(Stack::<()>::new(2 * MOST), Err(RoomsBuildError::TooLarge { .. })));
    let stack = GrowingStack::with_capacity(MOST).unwrap();
    let mut values = vec![(); 3 * MOST];
    assert_eq!(stack.push_all(&mut values).unwrap_err().0, MOST);
    assert_eq!((stack.len(), values.len()), (MOST, 2 * MOST));
    assert!(stack.push(()).is_err());
    assert_eq!(stack.pop(), Some(()));
}

#[test]
fn a_worker_with_work_keeps_others_from_going_home() {
    let stack = WorkStack::of(vec![7]);
    let gone_home = AtomicUsize::new(0);
    let all = Barrier::new(3);
    thread::scope(|s| {
        let mut loot = stack.take(1).unwrap();
        for _ in 0..2 {
            s.spawn(|| {
                all.wait();
                while let Some(mut loot) = stack.take(1) {
                    loot.clear();
                }
                gone_home.fetch_add(1, SeqCst);
            });
        }
        all.wait();
        thread::sleep(Duration::from_millis(20));
        assert_eq!(gone_home.load(SeqCst), 0);
        assert!(!stack.is_finished());
        loot.extend([8, 9]);
        loot.end().unwrap();
    });
    assert_eq!(gone_home.load(SeqCst), 2);
}

#[test]
fn a_worker_that_panics_gives_its_work_back() {
    let stack = WorkStack::of(vec![1, 2, 3]);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _loot = stack.take(2).unwrap();
        panic!("at work");
    }));
    assert!(panicked.is_err());
    let mut left = 0;
    while let Some(mut loot) = stack.take(2) {
        left += loot.len();
        loot.clear();
    }
    assert_eq!(left, 3);
}

#[test]
fn work_can_be_added_while_somebody_has_some() {
    let stack = WorkStack::of(vec![0]);
    let mut loot = stack.take(1).unwrap();
    loot.clear();
    stack.push_all(&mut vec![1, 2, 3]).unwrap();
    loot.end().unwrap();
    assert_eq!(stack.take(10).unwrap().len(), 3);
}

/// A value whose destructor panics once.
struct Panics<'a>(bool, &'a AtomicUsize);

impl Drop for Panics<'_> {
    fn drop(&mut self) {
        self.1.fetch_add(1, SeqCst);
        assert!(!self.0, "on purpose");
    }
}

/// As in a vector: the values after one whose destructor panics are dropped all the same.
#[test]
fn a_destructor_that_panics_leaves_nobody_behind() {
    fn drops(build: impl FnOnce(Vec<Panics<'_>>)) {
        let dropped = AtomicUsize::new(0);
        let values = (0..6).map(|i| Panics(i == 2, &dropped)).collect();
        assert!(catch_unwind(AssertUnwindSafe(|| build(values))).is_err());
        assert_eq!(dropped.load(SeqCst), 6);
    }
    drops(|values| {
        let stack = Stack::new(8).unwrap();
        values.into_iter().for_each(|value| stack.push(value).map_err(drop).unwrap());
    });
    drops(|values| {
        let stack = GrowingStack::with_capacity(1).unwrap();
        values.into_iter().for_each(|value| stack.push(value).map_err(drop).unwrap());
    });
    drops(|values| {
        // So that the values are at the end of the ring and at its beginning.
        let (queue, none) = (Queue::new(8).unwrap(), AtomicUsize::new(0));
        let none = Box::leak(Box::new(none));
        for _ in 0..5 {
            queue.push(Panics(false, none)).map_err(drop).unwrap();
            drop(queue.pop());
        }
        values.into_iter().for_each(|value| queue.push(value).map_err(drop).unwrap());
    });
}

/// Tests of waiting for a value, for a queue and for stacks.
macro_rules! waiting {
    ($($name:ident: $of:ident by $new:ident;)*) => {
        $(
            mod $name {
                use super::*;

                #[test]
                fn a_value_wakes_those_that_wait() {
                    let all = $of::$new(4).unwrap();
                    let taken = AtomicUsize::new(0);
                    thread::scope(|s| {
                        for i in 0..4 {
                            let (all, taken) = (&all, &taken);
                            s.spawn(move || {
                                let next = || if i % 2 == 0 { all.take() } else { block_on(all.take_async()) };
                                while let Ok(value) = next() {
                                    taken.fetch_add(value, SeqCst);
                                }
                            });
                        }
                        for value in 1..=200 {
                            while all.push(value).is_err() {
                                thread::yield_now();
                            }
                        }
                        all.close();
                    });
                    assert_eq!(taken.into_inner(), 200 * 201 / 2);
                    assert!(all.is_empty());
                }

                #[test]
                fn waiting_ends_in_time() {
                    let all = $of::<u8>::$new(4).unwrap();
                    assert_eq!(all.take_timeout(Duration::ZERO).unwrap_err(), TakeTimeoutError::TimedOut);
                    assert_eq!(all.take_timeout(Duration::from_millis(1)).unwrap_err(), TakeTimeoutError::TimedOut);
                    assert_eq!(all.take_deadline(Instant::now()).unwrap_err(), TakeTimeoutError::TimedOut);
                    all.push(1).unwrap();
                    assert_eq!(all.take_deadline(Instant::now()), Ok(1));
                    thread::scope(|s| {
                        s.spawn(|| assert_eq!(all.take_timeout(Duration::MAX), Ok(2)));
                        all.push(2).unwrap();
                    });
                }

                #[test]
                fn a_task_that_is_dropped_has_taken_nothing() {
                    let all = $of::$new(4).unwrap();
                    let bells: [Arc<Bell>; 2] = Default::default();
                    let mut stays = pin!(all.take_async());
                    {
                        let mut goes = pin!(all.take_async());
                        assert!(poll(stays.as_mut(), &bells[0]).is_pending());
                        assert!(poll(goes.as_mut(), &bells[1]).is_pending());
                        all.push(1).unwrap();
                        assert!(bells[0].takes() > 0 && bells[1].takes() > 0, "one value wakes all");
                    }
                    assert_eq!(poll(stays.as_mut(), &bells[0]), Poll::Ready(Ok(1)));
                    let mut last = pin!(all.take_async());
                    assert!(poll(last.as_mut(), &bells[0]).is_pending());
                    bells[0].takes();
                    all.close();
                    assert!(bells[0].takes() > 0);
                    assert_eq!(poll(last.as_mut(), &bells[0]), Poll::Ready(Err(Ended)));
                }

                #[test]
                fn what_is_there_is_taken_after_closing_and_nothing_is_added() {
                    let all = $of::$new(4).unwrap();
                    all.push(1).unwrap();
                    assert!(!all.is_closed());
                    all.close();
                    all.close();
                    assert!(all.is_closed());
                    assert_eq!(all.push(2).unwrap_err().0, 2);
                    let mut batch = vec![3, 4];
                    let _ = all.push_all(&mut batch);
                    assert_eq!(batch, [3, 4]);
                    assert_eq!((all.len(), all.take(), all.take()), (1, Ok(1), Err(Ended)));
                    assert_eq!((all.pop(), all.take_timeout(Duration::MAX)), (None, Err(TakeTimeoutError::Ended)));
                    assert_eq!(block_on(all.take_async()), Err(Ended));
                }

                #[test]
                fn a_waker_may_use_the_object_that_wakes_it() {
                    let all = Arc::new($of::$new(4).unwrap());
                    let uses = Arc::new(Uses(Box::new({
                        let all = Arc::clone(&all);
                        move || {
                            if let Some(value) = all.pop() {
                                all.push(value + 1).unwrap();
                            }
                        }
                    })));
                    let waker = Waker::from(uses);
                    let mut waits = pin!(all.take_async());
                    let mut context = Context::from_waker(&waker);
                    assert!(waits.as_mut().poll(&mut context).is_pending());
                    all.push(1).unwrap();
                    assert_eq!(waits.as_mut().poll(&mut context), Poll::Ready(Ok(2)));
                    let mut waits = pin!(all.take_async());
                    assert!(waits.as_mut().poll(&mut context).is_pending());
                    all.close();
                    assert_eq!(waits.as_mut().poll(&mut context), Poll::Ready(Err(Ended)));
                }

                #[test]
                fn a_waker_may_close_the_object_that_wakes_it() {
                    let all = Arc::new($of::$new(4).unwrap());
                    let closes = Arc::clone(&all);
                    let waker = Waker::from(Arc::new(Uses(Box::new(move || closes.close()))));
                    let mut waits = pin!(all.take_async());
                    let mut context = Context::from_waker(&waker);
                    assert!(waits.as_mut().poll(&mut context).is_pending());
                    all.push(1).unwrap();
                    assert_eq!(all.push(2).unwrap_err().0, 2);
                    assert_eq!(waits.as_mut().poll(&mut context), Poll::Ready(Ok(1)));
                }

                #[test]
                fn a_waker_that_panics_is_alone_with_that() {
                    let all = $of::$new(4).unwrap();
                    let waker = Waker::from(Arc::new(Uses(Box::new(|| panic!("the waker's own")))));
                    let bell = Arc::<Bell>::default();
                    let mut panics = pin!(all.take_async());
                    let mut waits = pin!(all.take_async());
                    let mut context = Context::from_waker(&waker);
                    assert!(panics.as_mut().poll(&mut context).is_pending());
                    assert!(poll(waits.as_mut(), &bell).is_pending());
                    all.push(1).unwrap();
                    assert!(bell.takes() > 0);
                    assert_eq!((all.pop(), all.len()), (Some(1), 0));
                    assert!(panics.as_mut().poll(&mut context).is_pending());
                    all.close();
                    assert_eq!(panics.as_mut().poll(&mut context), Poll::Ready(Err(Ended)));
                    assert_eq!(poll(waits.as_mut(), &bell), Poll::Ready(Err(Ended)));
                }

                #[test]
                fn tasks_that_wait_can_be_sent() {
                    fn is_send<T: Send>(_: &T) {}
                    let all = $of::<u8>::$new(4).unwrap();
                    is_send(&all.take_async());
                }
            }
        )*
    };
}

waiting! {
    queue: Queue by new;
    stack: Stack by new;
    growing_stack: GrowingStack by with_capacity;
}

#[test]
fn a_growing_stack_that_is_closed_refuses_batches() {
    let stack = GrowingStack::with_capacity(1).unwrap();
    stack.push_all(&mut vec![1, 2, 3]).unwrap();
    stack.close();
    let mut batch = vec![4, 5];
    assert_eq!(stack.push_all(&mut batch).unwrap_err().0, 0);
    assert_eq!((batch, stack.pop_many(9)), (vec![4, 5], vec![1, 2, 3]));
    assert_eq!(stack.take(), Err(Ended));
}

/// The last thread of a turn may leave it by asking for another segment.
#[test]
fn a_stack_that_grows_wakes_those_that_wait() {
    const EACH: usize = 2000;
    for seed in 0..8 {
        let stack = GrowingStack::with_capacity(1).unwrap();
        let taken = AtomicUsize::new(0);
        thread::scope(|s| {
            for i in 0..2 {
                let (stack, taken) = (&stack, &taken);
                s.spawn(move || {
                    let next = || if i == 0 { stack.take() } else { block_on(stack.take_async()) };
                    while let Ok(value) = next() {
                        taken.fetch_add(value, SeqCst);
                    }
                });
            }
            let pushers = [1, 2].map(|pusher| {
                let stack = &stack;
                s.spawn(move || {
                    let mut dice = Dice::new(10 * seed + pusher);
                    let mut left = EACH;
                    while left > 0 {
                        let now = left.min(1 + dice.roll(1 << (2 * seed)));
                        stack.push_all(&mut vec![1; now]).unwrap();
                        left -= now;
                    }
                })
            });
            pushers.into_iter().for_each(|pusher| pusher.join().unwrap());
            stack.close();
        });
        assert_eq!((taken.into_inner(), stack.len()), (2 * EACH, 0));
    }
}

/// What threads and tasks do in turn with a stack of work, each of its pieces as above.
#[test]
fn tasks_do_all_work_beside_threads() {
    const COUNT: u32 = 9;
    for workers in [1, 2, 5] {
        let stack = WorkStack::of(vec![COUNT; 16]);
        let done = AtomicUsize::new(0);
        thread::scope(|s| {
            for worker in 0..workers {
                let (stack, done) = (&stack, &done);
                s.spawn(move || {
                    let is_task = worker % 2 == 0;
                    let mut loot = if is_task { block_on(stack.take_async(20)) } else { stack.take(20) };
                    while let Some(mut nodes) = loot {
                        done.fetch_add(nodes.len(), SeqCst);
                        let left: Vec<u32> = nodes.drain(..).filter(|&node| node > 0).collect();
                        nodes.extend(left.into_iter().flat_map(|node| [node - 1; 2]));
                        loot = if is_task { block_on(nodes.next_async(20)) } else { nodes.next(20) };
                    }
                    assert!(stack.is_finished());
                });
            }
        });
        assert_eq!(done.load(SeqCst), 16 * ((1 << (COUNT + 1)) - 1));
    }
}

#[test]
fn tasks_without_work_wait_for_loot_and_learn_that_all_is_done() {
    let stack = WorkStack::of(vec![1]);
    let loot = stack.take(1).unwrap();
    let bells: [Arc<Bell>; 2] = Default::default();
    let mut stays = pin!(stack.take_async(1));
    assert!(poll(stays.as_mut(), &bells[0]).is_pending());
    {
        let mut goes = pin!(stack.take_async(1));
        assert!(poll(goes.as_mut(), &bells[1]).is_pending());
        stack.push_all(&mut vec![2]).unwrap();
        assert!(bells[0].takes() > 0 && bells[1].takes() > 0, "work wakes all");
    } // it is dropped after it was woken, and has taken nothing
    let Poll::Ready(Some(mut second)) = poll(stays.as_mut(), &bells[0]) else { panic!("there is work") };
    assert_eq!(*second, [2]);
    second.clear();
    let mut last = pin!(stack.take_async(1));
    assert!(poll(last.as_mut(), &bells[0]).is_pending());
    drop(second);
    bells[0].takes();
    assert!(poll(last.as_mut(), &bells[0]).is_pending(), "a worker has loot");
    let mut loot = loot;
    loot.clear();
    drop(loot);
    assert!(bells[0].takes() > 0, "all is done");
    assert!(matches!(poll(last.as_mut(), &bells[0]), Poll::Ready(None)));
    assert!(stack.is_finished());
}

#[test]
fn a_task_that_is_dropped_while_it_asks_for_more_has_given_back_its_loot() {
    let stack = WorkStack::of(vec![1, 2]);
    let bell = Arc::<Bell>::default();
    drop(stack.take(1).unwrap().next_async(1)); // never polled
    assert_eq!(stack.len(), 2);
    let (mut mine, mut other) = (stack.take(1).unwrap(), stack.take(1).unwrap());
    mine.clear();
    {
        let mut next = pin!(mine.next_async(1));
        assert!(poll(next.as_mut(), &bell).is_pending());
    }
    other.clear();
    drop(other);
    assert!(stack.take(1).is_none(), "no worker has loot");
}

/// The last one out of a turn wakes tasks. It does so once other rooms can be opened.
#[test]
fn a_waker_may_use_the_stack_of_work_that_wakes_it() {
    let stack = Arc::new(WorkStack::of(vec![1]));
    let loot = stack.take(1).unwrap();
    let used = Arc::new(AtomicUsize::new(0));
    let waker = Waker::from(Arc::new(Uses(Box::new({
        let (stack, used) = (Arc::clone(&stack), Arc::clone(&used));
        move || {
            used.fetch_add(1, SeqCst);
            if let Some(mut loot) = stack.take(1) {
                loot.iter_mut().for_each(|work| *work += 1);
            }
        }
    }))));
    let mut context = Context::from_waker(&waker);
    let mut waits = pin!(stack.take_async(1));
    assert!(waits.as_mut().poll(&mut context).is_pending());
    stack.push_all(&mut vec![5]).unwrap();
    assert_eq!(used.load(SeqCst), 1);
    let Poll::Ready(Some(mut got)) = waits.as_mut().poll(&mut context) else { panic!("there is work") };
    assert_eq!(*got, [6]);
    got.clear();
    drop((got, loot)); // the loot goes back: somebody may come again
    assert_eq!(stack.len(), 1);
}

#[test]
fn a_waker_that_panics_leaves_the_stack_of_work_as_it_is() {
    let stack = WorkStack::of(vec![1]);
    let loot = stack.take(1).unwrap();
    let waker = Waker::from(Arc::new(Uses(Box::new(|| panic!("the waker's own")))));
    let bell = Arc::<Bell>::default();
    let mut panics = pin!(stack.take_async(1));
    let mut waits = pin!(stack.take_async(1));
    assert!(panics.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    assert!(poll(waits.as_mut(), &bell).is_pending());
    drop(loot);
    assert!(bell.takes() > 0);
    let Poll::Ready(Some(mut loot)) = poll(waits.as_mut(), &bell) else { panic!("there is work") };
    loot.clear();
    drop(loot);
    assert!(stack.is_finished());
}

/// Cloning a waker is foreign code, too. It must not run while the waking thread is inside.
#[test]
fn a_thread_that_gives_work_back_clones_no_waker() {
    static CLONES: AtomicUsize = AtomicUsize::new(0);
    static WOKEN: AtomicUsize = AtomicUsize::new(0);
    static COUNTING: RawWakerVTable = RawWakerVTable::new(
        |_| {
            CLONES.fetch_add(1, SeqCst);
            RawWaker::new(std::ptr::null(), &COUNTING)
        },
        |_| _ = WOKEN.fetch_add(1, SeqCst),
        |_| _ = WOKEN.fetch_add(1, SeqCst),
        |_| {},
    );
    // SAFETY: the functions use no data.
    let waker = unsafe { Waker::new(std::ptr::null(), &COUNTING) };
    let stack = WorkStack::of(vec![1]);
    let loot = stack.take(1).unwrap();
    let (mut one, mut two) = (pin!(stack.take_async(1)), pin!(stack.take_async(1)));
    assert!(one.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    assert!(two.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    let before = CLONES.load(SeqCst);
    drop(loot);
    assert_eq!((CLONES.load(SeqCst) - before, WOKEN.load(SeqCst)), (0, 2));
}

#[test]
fn workers_that_are_tasks_can_be_sent() {
    fn is_send<T: Send>(_: &T) {}
    let stack = WorkStack::of(vec![1]);
    is_send(&stack.take_async(1));
    let loot = stack.take(1).unwrap();
    is_send(&loot);
    is_send(&loot.next_async(1));
}
