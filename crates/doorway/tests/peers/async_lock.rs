//! After `tests/semaphore.rs` of async-lock.

use crate::task_kit::block_on;
use crate::{Task, slots};
use doorway::{Slots, TryAcquireError};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier};
use std::thread;

#[test]
fn try_acquire() {
    let slots = Slots::new(2).unwrap();
    let (one, _two) = (slots.try_acquire().unwrap(), slots.try_acquire().unwrap());
    assert_eq!(slots.try_acquire().unwrap_err(), TryAcquireError::NoPlace);
    drop(one);
    assert!(slots.try_acquire().is_ok());
}

#[test]
fn stress() {
    let slots = Slots::new(5).unwrap();
    thread::scope(|s| {
        for _ in 0..20 {
            s.spawn(|| (0..100).for_each(|_| drop(block_on(slots.acquire_async()).unwrap())));
        }
    });
    let mut five: Vec<_> = (0..5).map(|_| slots.try_acquire().unwrap()).collect();
    assert!(slots.try_acquire().is_err());
    drop(five.remove(1));
    assert_eq!(slots.try_acquire().unwrap().slot(), 1);
}

#[test]
fn as_mutex() {
    let (slots, inside) = (Slots::new(1).unwrap(), AtomicUsize::new(0));
    let section = || {
        let _guard = block_on(slots.acquire_async()).unwrap();
        assert_eq!(inside.fetch_add(1, SeqCst), 0);
        inside.fetch_sub(1, SeqCst);
    };
    thread::scope(|s| {
        s.spawn(section);
        section();
    });
}

/// Two callers are inside at the same time, each waiting for the other.
#[test]
fn multi_resource() {
    let (slots, both) = (Slots::new(2).unwrap(), Barrier::new(2));
    let meets = || {
        let _guard = block_on(slots.acquire_async()).unwrap();
        both.wait();
    };
    thread::scope(|s| {
        s.spawn(meets);
        meets();
    });
}

#[test]
fn lifetime() {
    let future = {
        let slots = Arc::new(Slots::new(2).unwrap());
        slots.acquire_owned_async()
    };
    let guard = Task::new(future).ends().unwrap();
    assert_eq!(guard.issuer().available(), 1);
}

#[test]
fn yields_when_contended() {
    let slots = Arc::new(Slots::new(1).unwrap());
    let held = slots.try_acquire().unwrap();
    let mut task = Task::new(slots.acquire_async());
    task.waits();
    drop(held);
    assert!(task.is_woken());
    let held = task.ends().unwrap();
    let mut task = Task::new(slots.acquire_owned_async());
    task.waits();
    drop(held);
    assert!(task.is_woken());
    assert!(task.ends().is_ok());
}

#[test]
fn smoke_blocking() {
    let slots = Arc::new(Slots::new(2).unwrap());
    let (one, _two) = (slots.acquire().unwrap(), slots.acquire_owned().unwrap());
    assert!(slots.try_acquire().is_err());
    drop(one);
    assert!(slots.try_acquire().is_ok());
}

#[test]
fn smoke_arc_blocking() {
    let slots = Arc::new(Slots::new(2).unwrap());
    let (one, two) = (slots.acquire_owned().unwrap(), slots.acquire_owned().unwrap());
    assert!(slots.try_acquire_owned().is_err());
    drop(one);
    assert!(slots.try_acquire_owned().is_ok());
    let slots = {
        let weak = Arc::downgrade(&slots);
        drop(slots);
        weak.upgrade().expect("the guard keeps the slots alive")
    };
    drop(two);
    assert_eq!(slots.available(), 2);
}

#[test]
fn available_permits() {
    let slots = Slots::new(2).unwrap();
    assert_eq!(slots.available(), 2);
    let _guard = slots.try_acquire().unwrap();
    assert_eq!(slots.available(), 1);
}

/// A guard that is forgotten (`mem::forget`) keeps its place, here as there. Here it also keeps its
/// slot, and the place still counts.
#[test]
fn add_permits_to_forgotten_ones() {
    let (slots, let_in) = (slots(0, 50), AtomicUsize::new(0));
    thread::scope(|s| {
        for _ in 0..50 {
            s.spawn(|| {
                std::mem::forget(block_on(slots.acquire_async()).unwrap());
                let_in.fetch_add(1, SeqCst);
            });
        }
        assert_eq!(let_in.load(SeqCst), 0);
        slots.add(50).unwrap();
    });
    assert_eq!((let_in.load(SeqCst), slots.available(), slots.places()), (50, 0, 50));
}

#[test]
fn add_permits_one_at_a_time() {
    let slots = slots(0, 16);
    let (mut first, mut second) = (Task::new(slots.acquire_async()), Task::new(slots.acquire_async()));
    first.waits();
    second.waits();
    slots.add(1).unwrap();
    let held = first.ends().unwrap();
    second.waits();
    drop(held);
}

/// Growing, by one or by several, lets in as many waiters, whether they try or wait.
#[test]
fn set_size_grow() {
    let slots = slots(2, 4);
    let _held = (slots.try_acquire().unwrap(), slots.try_acquire().unwrap());
    let mut waiter = Task::new(slots.acquire_async());
    waiter.waits();
    slots.add(1).unwrap(); // set_size(3)
    assert!(waiter.is_woken());
    let _third = waiter.ends().unwrap();
    assert!(slots.try_acquire().is_err());
    slots.add(1).unwrap();
    assert!(slots.try_acquire().is_ok());
}

/// Theirs may shrink below the number of permits that are out, and later ones then wait for more
/// returns. Here `forget` removes places that are free, and says how many these were. A place that
/// is held goes with its guard.
#[test]
fn differs_shrinking() {
    let slots = Slots::new(2).unwrap();
    let (one, two) = (slots.try_acquire().unwrap(), slots.try_acquire().unwrap());
    let mut waiter = Task::new(slots.acquire_async());
    waiter.waits();
    assert_eq!((slots.forget(1), slots.places()), (0, 2)); // theirs: set_size(1)
    two.forget();
    assert_eq!(slots.places(), 1);
    waiter.waits();
    drop(one);
    assert!(waiter.is_woken());
    let third = waiter.ends().unwrap();
    assert!(slots.try_acquire().is_err());
    drop(third);
    assert_eq!((slots.forget(5), slots.places()), (1, 0));
}

/// Theirs wakes a waiter, and the first caller to arrive takes the permit. Here the place belongs
/// to the waiter from the moment it is free.
#[test]
fn differs_a_newcomer_does_not_pass() {
    let slots = Slots::new(1).unwrap();
    let held = slots.acquire().unwrap();
    let mut waiter = Task::new(slots.acquire_async());
    waiter.waits();
    drop(held);
    assert_eq!(slots.try_acquire().unwrap_err(), TryAcquireError::NoPlace);
    let mut newcomer = Task::new(slots.acquire_async());
    newcomer.waits();
    drop(waiter.ends().unwrap());
    assert!(newcomer.ends().is_ok());
}

/// Theirs is never closed, so its `acquire` returns no error; and `new` accepts any number.
#[test]
fn differs_closing_and_sizes() {
    let slots = Slots::new(1).unwrap();
    slots.close();
    assert!(slots.acquire().is_err());
    assert!(Slots::new(0).is_err());
    static FEW: Slots = Slots::const_new(2); // theirs is `const` for any number
    assert_eq!(FEW.acquire().unwrap().slot(), 0);
}
