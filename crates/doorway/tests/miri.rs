//! What Miri runs (`ci/portable.sh miri`): each object for users, with threads that sleep and tasks
//! that register wakers. Miri interprets, so there are few of them, and each does little.

use doorway::algorithm::YaTree;
use doorway::combining::{Add, Combining};
use doorway::resilient::{Object, Resilient};
use doorway::{Mutex, Pool, Rooms, Slots};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

#[test]
fn threads_sleep_until_a_slot_is_free() {
    for slots in [Slots::new(1).unwrap(), Slots::new(1).unwrap().unfair()] {
        let inside = AtomicUsize::new(0);
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    for _ in 0..2 {
                        let mine = slots.acquire().unwrap();
                        assert_eq!((mine.slot(), inside.fetch_add(1, SeqCst)), (0, 0));
                        thread::yield_now();
                        inside.fetch_sub(1, SeqCst);
                    }
                });
            }
        });
        let held = slots.acquire().unwrap();
        assert!(slots.acquire_timeout(Duration::from_millis(1)).is_err());
        drop(held);
        assert!(slots.try_acquire().is_ok());
    }
}

#[test]
fn several_slots_at_once() {
    let slots = Slots::new(3).unwrap();
    thread::scope(|s| {
        for places in 1..=3 {
            let slots = &slots;
            s.spawn(move || assert_eq!(slots.acquire_many(places).unwrap().slots().len(), places));
        }
    });
    assert_eq!(slots.available(), 3);
}

/// A waker that reports when it is woken.
struct Woken(mpsc::Sender<()>);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.send(()).unwrap();
    }
}

#[test]
fn a_task_is_woken_and_one_that_is_dropped_gives_up() {
    let slots = Slots::new(1).unwrap();
    let (sends, woken) = mpsc::channel();
    let waker = Waker::from(Arc::new(Woken(sends)));
    let held = slots.acquire().unwrap();
    {
        let mut dropped = pin!(slots.acquire_async());
        assert!(dropped.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    let mut task = pin!(slots.acquire_async());
    assert!(task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    thread::scope(|s| {
        s.spawn(move || drop(held));
        woken.recv().unwrap();
    });
    assert!(matches!(task.as_mut().poll(&mut Context::from_waker(&waker)), Poll::Ready(Ok(_))));
}

#[test]
fn values_are_lent_by_one_thread_to_the_next() {
    let pool = Pool::new([String::new()]).unwrap();
    thread::scope(|s| {
        for letter in ["a", "b", "c"] {
            let pool = &pool;
            s.spawn(move || pool.acquire().unwrap().push_str(letter));
        }
    });
    assert_eq!(pool.acquire().unwrap().len(), 3);
}

#[test]
fn nobody_is_in_two_rooms_at_once() {
    let rooms = Rooms::new(2).unwrap();
    let inside = [AtomicUsize::new(0), AtomicUsize::new(0)];
    thread::scope(|s| {
        for room in [0, 1, 0, 1] {
            let (rooms, inside) = (&rooms, &inside);
            s.spawn(move || {
                let _here = rooms.enter(room).unwrap();
                inside[room].fetch_add(1, SeqCst);
                assert_eq!(inside[1 - room].load(SeqCst), 0);
                inside[room].fetch_sub(1, SeqCst);
            });
        }
    });
}

#[test]
fn stacks_and_queues_in_rooms_lose_nothing() {
    let stack = doorway::rooms::GrowingStack::new();
    let queue = doorway::rooms::Queue::new(8).unwrap();
    thread::scope(|s| {
        for i in 0..3 {
            let (stack, queue) = (&stack, &queue);
            s.spawn(move || {
                stack.push(Box::new(i)).unwrap();
                queue.push(Box::new(i)).unwrap();
            });
        }
    });
    let mut popped = stack.pop_many(3);
    popped.sort();
    assert_eq!(popped, [0, 1, 2].map(Box::new));
    assert!(queue.pop().is_some()); // two values are left for the queue to drop
}

#[test]
fn a_value_behind_an_algorithm() {
    let counter = Mutex::<_, YaTree>::new(4, 0).unwrap();
    thread::scope(|s| {
        for _ in 0..3 {
            s.spawn(|| *counter.lock().unwrap() += 1);
        }
    });
    assert_eq!(*counter.lock().unwrap(), 3);
}

#[test]
fn a_value_that_threads_change_together() {
    let sum = Combining::<Add>::new(0, 3).unwrap();
    thread::scope(|s| {
        for _ in 0..3 {
            s.spawn(|| sum.fetch_and_op(1).unwrap());
        }
    });
    assert_eq!(sum.into_inner(), 3);
}

#[derive(Clone)]
struct Letters(String);

impl Object for Letters {
    type Op = char;
    type Response = usize;
    fn apply(&mut self, &letter: &char) -> usize {
        self.0.push(letter);
        self.0.len()
    }
}

#[test]
fn an_object_that_survives_its_users() {
    let letters = Resilient::new(Letters(String::new()), 2).unwrap();
    thread::scope(|s| {
        for letter in ['a', 'b', 'c'] {
            let letters = &letters;
            s.spawn(move || assert!(letters.apply(letter) <= 3));
        }
    });
    assert_eq!(letters.apply('d'), 4);
}

#[test]
fn slots_between_processes_say_that_there_are_none() {
    #[cfg(any(miri, doorway_portable))]
    assert!(matches!(doorway::shared::Slots::open("miri", 1), Err(doorway::shared::Error::Unsupported)));
}
