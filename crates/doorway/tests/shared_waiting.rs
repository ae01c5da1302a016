//! Threads and tasks of one process that wait for slots between processes.
#![cfg(all(
    target_os = "linux",
    target_endian = "little",
    target_pointer_width = "64",
    not(any(miri, doorway_portable))
))]

mod shared_kit;
#[allow(dead_code, reason = "only its executor is needed")]
mod task_kit;

use doorway::shared::{Builder, Previous, Slots, TimeoutError, TryAcquireError};
use shared_kit::{Peer, Place};
use std::collections::HashSet;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

#[test]
fn peer() {
    shared_kit::peer();
}

type Task<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Polls all futures that are not done, in order, until one is. Returns its index.
fn first_done<T>(futures: &mut [Option<Task<'_, T>>]) -> (usize, T) {
    let mut context = Context::from_waker(Waker::noop());
    loop {
        for (i, future) in futures.iter_mut().enumerate() {
            if let Some(pinned) = future
                && let Poll::Ready(done) = pinned.as_mut().poll(&mut context)
            {
                *future = None;
                return (i, done);
            }
        }
        std::thread::yield_now();
    }
}

#[test]
fn more_tasks_than_seats_are_served_in_order() {
    let place = Place::new("order");
    let slots = Builder::new(place.file(), 1).waiters(2).open().unwrap();
    let held = slots.acquire().unwrap();
    let mut context = Context::from_waker(Waker::noop());
    let mut tasks: Vec<_> = (0..12)
        .map(|_| {
            let mut task: Task<'_, _> = Box::pin(slots.acquire_async());
            assert!(task.as_mut().poll(&mut context).is_pending());
            Some(task)
        })
        .collect();
    assert_eq!(slots.status().unwrap().waiters.len(), 2, "two are in line, the others behind them");
    assert_eq!(slots.try_acquire().unwrap_err(), TryAcquireError::NoPlace);
    drop(held);
    for expected in 0..12 {
        let (i, guard) = first_done(&mut tasks);
        assert_eq!(i, expected);
        let guard = guard.unwrap();
        assert_eq!(*guard.previous(), Previous::Clean);
        // One task has its seat now, and gets in line when it is polled.
        for task in tasks.iter_mut().flatten() {
            assert!(task.as_mut().poll(&mut context).is_pending());
        }
        drop(guard);
        // A newcomer does not get in before the tasks that wait for a slot or for a seat.
        assert_eq!(slots.try_acquire().is_err(), expected < 11);
    }
    assert!(slots.try_acquire().is_ok());
}

/// The bits of 64 seats are in one word. The usual four words are read in another way.
#[test]
fn a_waiter_is_seen_in_every_word_of_bits() {
    for seats in [64, 256, 320] {
        // A new file each time: its seats are taken one after the other, so these are in different
        // words.
        for alone in (0..seats).step_by(64) {
            let place = Place::new("words");
            let slots = Builder::new(place.file(), 1).seats(seats).waiters(seats).open().unwrap();
            let held = slots.acquire().unwrap();
            let mut context = Context::from_waker(Waker::noop());
            let mut tasks: Vec<Task<'_, _>> = Vec::new();
            for _ in 0..=alone {
                let mut task: Task<'_, _> = Box::pin(slots.acquire_async());
                assert!(task.as_mut().poll(&mut context).is_pending());
                tasks.push(task);
            }
            let last = tasks.pop().unwrap();
            drop(tasks);
            drop(held);
            let waiters = slots.status().unwrap().waiters;
            let offered: Vec<_> = waiters.iter().map(|waiter| waiter.offered).collect();
            assert_eq!(offered, [Some(0)], "seat {alone} of {seats}");
            assert_eq!(task_kit::block_on(last).unwrap().slot(), 0);
        }
    }
}

#[test]
fn a_task_may_go_to_another_thread() {
    let place = Place::new("send");
    let slots = std::sync::Arc::new(Slots::open(place.file(), 1).unwrap());
    let held = slots.acquire_owned().unwrap();
    let theirs = std::sync::Arc::clone(&slots);
    let mut task = Box::pin(async move { theirs.acquire_owned_async().await.unwrap().slot() });
    assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    let waits = std::thread::spawn(|| task_kit::block_on(task));
    drop(held);
    assert_eq!(waits.join().unwrap(), 0);
}

#[test]
fn a_task_is_woken_by_another_process() {
    let place = Place::new("woken");
    let slots = Slots::open(place.file(), 1).unwrap();
    let mut other = Peer::new(&place.file(), 1);
    other.tell("acquire");
    assert_eq!((other.hear().as_str(), other.hear().as_str()), ("acquiring", "0 1 clean"));
    std::thread::scope(|scope| {
        let task = scope.spawn(|| task_kit::block_on(slots.acquire_async()).unwrap().previous().clone());
        while slots.status().unwrap().waiters.is_empty() {
            std::thread::yield_now();
        }
        assert_eq!(other.ask("drop"), "dropped");
        assert_eq!(task.join().unwrap(), Previous::Clean);
        // And by its death.
        other.tell("acquire");
        assert_eq!(other.hear(), "acquiring");
        other.hear();
        let task = scope.spawn(|| task_kit::block_on(slots.acquire_async()).unwrap().previous().clone());
        while slots.status().unwrap().waiters.is_empty() {
            std::thread::yield_now();
        }
        other.kill();
        assert!(matches!(task.join().unwrap(), Previous::Died(_)));
    });
}

#[test]
fn a_task_that_is_dropped_leaves_nothing_behind() {
    let place = Place::new("dropped");
    let slots = Builder::new(place.file(), 1).waiters(1).open().unwrap();
    let mut context = Context::from_waker(Waker::noop());
    for granted in [false, true] {
        let mut held = Some(slots.acquire().unwrap());
        {
            let mut in_line = pin!(slots.acquire_async());
            let mut behind = pin!(slots.acquire_async());
            assert!(in_line.as_mut().poll(&mut context).is_pending());
            assert!(behind.as_mut().poll(&mut context).is_pending());
            if granted {
                held = None; // it is granted the slot, and then dropped
            }
        }
        drop(held);
        let status = slots.status().unwrap();
        assert!(status.holders.is_empty() && status.waiters.is_empty(), "{status:?}");
        drop(slots.try_acquire().unwrap());
    }
}

#[test]
fn timeouts_are_exact_in_line_and_behind_it() {
    let place = Place::new("timeouts");
    let slots = Builder::new(place.file(), 1).waiters(1).open().unwrap();
    let held = slots.acquire().unwrap();
    std::thread::scope(|scope| {
        let briefly = || slots.acquire_timeout(Duration::from_millis(20)).unwrap_err();
        let all: Vec<_> = (0..4).map(|_| scope.spawn(briefly)).collect();
        for one in all {
            assert_eq!(one.join().unwrap(), TimeoutError::TimedOut);
        }
    });
    assert_eq!(slots.acquire_deadline(Instant::now()).unwrap_err(), TimeoutError::TimedOut);
    assert!(slots.status().unwrap().waiters.is_empty());
    drop(held);
    drop(slots.acquire_timeout(Duration::MAX).unwrap());
    assert!(slots.try_acquire().is_ok(), "nobody is left in line");
}

/// Threads of two handles, as if of two processes, with fewer seats than threads.
#[test]
fn never_more_than_k_inside_and_everybody_gets_in() {
    const K: usize = 2;
    let place = Place::new("stress");
    let handles = [0; 2].map(|_| Builder::new(place.file(), K).waiters(3).open().unwrap());
    let inside = [(); K].map(|()| AtomicBool::new(false));
    let entered = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for (i, slots) in handles.iter().chain(&handles).chain(&handles).chain(&handles).enumerate() {
            let (inside, entered) = (&inside, &entered);
            scope.spawn(move || {
                for round in 0..200 {
                    let guard = match (i + round) % 4 {
                        0 => task_kit::block_on(slots.acquire_async()).unwrap(),
                        1 => match slots.acquire_timeout(Duration::from_micros(50)) {
                            Ok(guard) => guard,
                            Err(error) => {
                                assert_eq!(error, TimeoutError::TimedOut);
                                continue;
                            }
                        },
                        _ => slots.acquire().unwrap(),
                    };
                    assert!(!inside[guard.slot()].swap(true, SeqCst), "two in slot {}", guard.slot());
                    assert_eq!(*guard.previous(), Previous::Clean);
                    std::hint::spin_loop();
                    inside[guard.slot()].store(false, SeqCst);
                    entered.fetch_add(1, SeqCst);
                }
            });
        }
    });
    assert!(entered.load(SeqCst) >= 8 * 150, "three of four rounds wait as long as it takes");
    let all: HashSet<usize> = (0..K).map(|_| handles[0].acquire().unwrap()).map(|guard| guard.slot()).collect();
    assert_eq!(all.len(), 1, "each was given back before the next was taken");
    let status = handles[0].status().unwrap();
    assert!(status.holders.is_empty() && status.waiters.is_empty(), "{status:?}");
}

#[test]
fn a_handle_that_goes_while_others_wait_wakes_them() {
    let place = Place::new("goes");
    let slots = Slots::open(place.file(), 1).unwrap();
    let going = Slots::open(place.file(), 1).unwrap();
    std::mem::forget(going.acquire().unwrap());
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| slots.acquire().unwrap().previous().clone());
        while slots.status().unwrap().waiters.is_empty() {
            std::thread::yield_now();
        }
        drop(going); // no wake-up is sent: the waiter looks on its own
        assert!(matches!(waits.join().unwrap(), Previous::Died(_)));
    });
}
