//! After `tokio/tests/sync_semaphore.rs` and `sync_semaphore_owned.rs` of tokio.

use crate::task_kit::block_on;
use crate::{Task, slots};
use doorway::slots::Permit;
use doorway::{AcquireError, Closed, OwnedSlotGuard, SizeError, Slots, TooMany, TryAcquireError};
use std::sync::{Arc, mpsc};
use std::task::{Context, Wake, Waker};
use std::thread;

#[test]
fn differs_no_permits() {
    assert_eq!(Slots::new(0).unwrap_err(), SizeError::NoPlace);
    // How to begin with no places:
    let slots = Slots::new(1).unwrap();
    assert_eq!((slots.forget(1), slots.places()), (1, 0));
    assert_eq!(slots.try_acquire().unwrap_err(), TryAcquireError::NoPlace);
}

#[test]
fn try_acquire() {
    let slots = Arc::new(Slots::new(1).unwrap());
    {
        let first = slots.try_acquire();
        assert!(first.is_ok());
        assert_eq!(slots.try_acquire().unwrap_err(), TryAcquireError::NoPlace);
        assert_eq!(slots.try_acquire_owned().unwrap_err(), TryAcquireError::NoPlace);
    }
    let owned = slots.try_acquire_owned();
    assert!(owned.is_ok() && slots.try_acquire_owned().is_err());
    drop(owned);
    assert!(slots.try_acquire().is_ok());
}

#[test]
fn try_acquire_many_owned() {
    let slots = Arc::new(Slots::new(42).unwrap());
    {
        let all = slots.try_acquire_many_owned(42).unwrap();
        assert_eq!(all.places(), 42);
        assert!(slots.try_acquire_owned().is_err());
    }
    let (_most, _rest) = (slots.try_acquire_many_owned(32).unwrap(), slots.try_acquire_many_owned(10).unwrap());
    assert_eq!(slots.try_acquire_owned().unwrap_err(), TryAcquireError::NoPlace);
}

#[test]
fn acquire() {
    let slots = Arc::new(Slots::new(1).unwrap());
    let held = slots.try_acquire_owned().unwrap();
    let tasks = [
        thread::spawn({
            let slots = Arc::clone(&slots);
            move || block_on(slots.acquire_async()).map(drop)
        }),
        thread::spawn({
            let slots = Arc::clone(&slots);
            move || block_on(slots.acquire_owned_async()).map(drop)
        }),
    ];
    drop(held);
    tasks.into_iter().for_each(|task| task.join().unwrap().unwrap());
    assert_eq!(slots.available(), 1);
}

#[test]
fn acquire_many_owned() {
    let slots = Arc::new(Slots::new(42).unwrap());
    let most = slots.try_acquire_many_owned(32).unwrap();
    let (tell, told) = mpsc::channel();
    let task = thread::spawn({
        let slots = Arc::clone(&slots);
        move || {
            block_on(async {
                let _ten = slots.acquire_many_owned_async(10).await.unwrap();
                tell.send(()).unwrap();
                slots.acquire_many_owned_async(32).await.unwrap().places()
            })
        }
    });
    told.recv().unwrap();
    drop(most);
    assert_eq!(task.join().unwrap(), 32);
}

#[test]
fn add_permits() {
    let slots = Arc::new(slots(0, 16));
    let task = thread::spawn({
        let slots = Arc::clone(&slots);
        move || block_on(slots.acquire_owned_async()).map(drop)
    });
    slots.add(1).unwrap();
    task.join().unwrap().unwrap();
    assert_eq!(slots.available(), 1);
}

#[test]
fn add_permits_open_and_closed() {
    for (size, add) in (0..4).flat_map(|size| (0..4).map(move |add| (size, add))) {
        for closed in [false, true] {
            let slots = slots(size, 16);
            if closed {
                slots.close();
            }
            slots.add(add).unwrap();
            assert_eq!((slots.available(), slots.is_closed()), (size + add, closed), "{size} + {add}");
        }
    }
}

/// Closing wakes the waiter. That drops the last reference to its waker, which gives a place back.
/// There the place is available at once. Here the waiter is in line until it is polled or dropped,
/// and as long as callers are in line, no place is available.
#[test]
fn differs_close_drops_wakers_outside_lock() {
    struct GivesBackWhenDropped(#[expect(dead_code, reason = "it is dropped")] OwnedSlotGuard);
    impl Wake for GivesBackWhenDropped {
        fn wake(self: Arc<Self>) {}
    }

    for places in [1, 2] {
        for is_polled in [false, true] {
            let slots = Arc::new(Slots::new(places).unwrap());
            let mut waiter = Task::new(slots.acquire_many_async(places));
            let all = slots.try_acquire_many_owned(places).unwrap();
            let waker = Waker::from(Arc::new(GivesBackWhenDropped(all)));
            assert!(waiter.future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            drop(waker);
            slots.close(); // and this does not block
            assert_eq!(slots.available(), 0);
            if is_polled {
                assert_eq!(waiter.ends().unwrap_err(), AcquireError::Closed);
                assert_eq!(slots.available(), places);
            }
            drop(waiter);
            assert_eq!(slots.available(), places);
        }
    }
}

/// Closing wakes a waiter, whose waker adds a place. It is available once the waiter has been
/// turned away.
#[test]
fn differs_close_wakes_waiters_outside_lock() {
    struct AddsWhenWoken(Arc<Slots>);
    impl Wake for AddsWhenWoken {
        fn wake(self: Arc<Self>) {
            self.0.add(1).unwrap();
        }
    }

    let slots = Arc::new(slots(0, 16));
    let mut waiter = Task::new(slots.acquire_async());
    let waker = Waker::from(Arc::new(AddsWhenWoken(Arc::clone(&slots))));
    assert!(waiter.future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    slots.close();
    assert_eq!((slots.places(), slots.available()), (1, 0));
    assert_eq!(waiter.ends().unwrap_err(), Closed);
    assert_eq!(slots.available(), 1);
}

#[test]
fn close_wakes_all_waiters() {
    let slots = slots(0, 16);
    let mut waiters: Vec<_> = (0..100).map(|_| Task::new(slots.acquire_async())).collect();
    waiters.iter_mut().for_each(Task::waits);
    slots.close();
    assert!(waiters.iter().all(Task::is_woken));
    assert!(waiters.iter_mut().all(|waiter| waiter.ends().is_err()));
}

#[test]
fn forget() {
    let slots = Arc::new(Slots::new(1).unwrap());
    let held = slots.try_acquire().unwrap();
    assert_eq!(slots.available(), 0);
    held.forget();
    assert_eq!((slots.available(), slots.places()), (0, 0));
    assert!(slots.try_acquire().is_err());

    slots.add(1).unwrap();
    slots.try_acquire_owned().unwrap().forget();
    assert!(slots.try_acquire_owned().is_err());
}

#[test]
fn forget_open() {
    for (size, less) in (0..4).flat_map(|size| (0..4).map(move |less| (size, less))) {
        let slots = slots(size, 16);
        let left = size.saturating_sub(less);
        assert_eq!(slots.forget(less), size - left);
        assert_eq!((slots.available(), slots.is_closed()), (left, false), "{size} - {less}");
    }
}

/// Theirs removes permits from a closed semaphore. Here a closed object removes nothing, because
/// nothing can be taken any more.
#[test]
fn differs_forget_closed() {
    let slots = Slots::new(3).unwrap();
    slots.close();
    assert_eq!((slots.forget(2), slots.places()), (0, 3));
}

#[test]
fn merge() {
    let slots = Arc::new(Slots::new(3).unwrap());
    {
        let mut one = slots.try_acquire().unwrap();
        assert_eq!(slots.available(), 2);
        let two = slots.try_acquire_many(2).unwrap();
        assert_eq!(slots.available(), 0);
        one.merge(two).unwrap();
        assert_eq!((one.places(), slots.available()), (3, 0));
    }
    assert_eq!(slots.available(), 3);
    {
        let mut one = slots.try_acquire_owned().unwrap();
        one.merge(slots.try_acquire_many_owned(2).unwrap()).unwrap();
        assert_eq!((one.places(), slots.available()), (3, 0));
    }
    assert_eq!(slots.available(), 3);
}

/// Theirs panics. Here the guard comes back.
#[test]
fn differs_merge_unrelated_permits() {
    let (these, those) = (Arc::new(Slots::new(3).unwrap()), Arc::new(Slots::new(3).unwrap()));
    let mut mine = these.try_acquire_owned().unwrap();
    let yours = mine.merge(those.try_acquire_owned().unwrap()).unwrap_err().0;
    assert!(Arc::ptr_eq(yours.issuer(), &those) && Arc::ptr_eq(mine.issuer(), &these));
    assert_eq!((these.available(), those.available()), (2, 2));
}

/// A guard always holds a place. Theirs may hold nothing.
#[test]
fn differs_split() {
    let slots = Arc::new(Slots::new(5).unwrap());
    let mut three = slots.try_acquire_many(3).unwrap();
    let one = three.split(1).unwrap();
    assert_eq!((slots.available(), three.places(), one.places()), (2, 2, 1));
    assert!(three.split(0).is_none() && three.split(2).is_none() && three.split(3).is_none());
    drop(three);
    assert_eq!(slots.available(), 4);
    drop(one);
    assert_eq!(slots.available(), 5);

    let mut owned = slots.try_acquire_many_owned(2).unwrap();
    let other = owned.split(1).unwrap();
    assert_ne!(owned.slot(), other.slot());
    drop(owned);
    assert_eq!((slots.available(), other.places()), (4, 1));
}

#[test]
fn permit_semaphore() {
    let slots = Arc::new(Slots::new(2).unwrap());
    assert!(std::ptr::eq(*slots.try_acquire().unwrap().issuer(), &raw const *slots));
    assert!(Arc::ptr_eq(slots.try_acquire_owned().unwrap().issuer(), &slots));
}

#[test]
fn stress_test() {
    let slots = Arc::new(Slots::new(5).unwrap());
    thread::scope(|s| {
        for i in 0..8 {
            let slots = &slots;
            s.spawn(move || {
                for _ in 0..125 {
                    if i % 2 == 0 {
                        drop(block_on(slots.acquire_async()).unwrap());
                    } else {
                        drop(block_on(slots.acquire_owned_async()).unwrap());
                    }
                }
            });
        }
    });
    let five: Vec<_> = (0..5).map(|_| slots.try_acquire().unwrap()).collect();
    assert_eq!(five.iter().map(Permit::slot).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    assert!(slots.try_acquire().is_err());
}

/// Their limit is half a word, and exceeding it panics. Ours is 65,535, and exceeding it is an
/// error.
#[test]
fn differs_max_permits() {
    assert_eq!(Slots::MOST, 65_535);
    let full = slots(0, Slots::MOST);
    full.add(Slots::MOST).unwrap();
    assert_eq!(full.available(), Slots::MOST);
    assert_eq!(full.add(1).unwrap_err().most, 0);

    assert!(matches!(Slots::new(Slots::MOST + 1), Err(SizeError::TooManyPlaces(_))));
    let almost = Slots::new(Slots::MOST - 1).unwrap();
    almost.add(1).unwrap();
    assert!(almost.add(1).is_err());

    // Theirs panics here too.
    let one = Arc::new(Slots::new(1).unwrap());
    for asked in [Slots::MOST + 1, 1 << (usize::BITS - 1), usize::MAX] {
        let too_many = TooMany { asked, most: 1 };
        assert_eq!(one.try_acquire_many(asked).unwrap_err(), TryAcquireError::TooMany(too_many));
        assert_eq!(one.acquire_many_owned(asked).unwrap_err(), AcquireError::TooMany(too_many));
        let waiter = Task::new(one.acquire_many_async(asked)).ends();
        assert_eq!(waiter.unwrap_err(), AcquireError::TooMany(too_many));
    }
}

#[test]
fn blocking_acquire() {
    let slots = Arc::new(Slots::new(5).unwrap());
    let one = slots.acquire().unwrap();
    let two = slots.acquire_many(2).unwrap();
    assert_eq!((one.places(), two.places(), slots.available()), (1, 2, 2));
    let owned = slots.acquire_owned().unwrap();
    let more = slots.acquire_many_owned(1).unwrap();
    assert_eq!(slots.available(), 0);
    drop((one, two, owned, more));
    assert_eq!(slots.available(), 5);
}

#[test]
fn blocking_acquire_waits_for_permit() {
    let slots = Arc::new(slots(0, 16));
    let thread = thread::spawn({
        let slots = Arc::clone(&slots);
        move || slots.acquire().map(drop)
    });
    slots.add(1).unwrap();
    thread.join().unwrap().unwrap();
}

#[test]
fn blocking_acquire_closed() {
    let slots = Arc::new(Slots::new(2).unwrap());
    slots.close();
    assert_eq!(slots.acquire().unwrap_err(), Closed);
    assert_eq!(slots.acquire_owned().unwrap_err(), Closed);
    assert_eq!(slots.acquire_many(2).unwrap_err(), AcquireError::Closed);
    assert_eq!(slots.acquire_many_owned(2).unwrap_err(), AcquireError::Closed);
}

/// Theirs panics when a thread of its runtime blocks. Ours knows no runtime: a blocking call in a
/// task works, and blocks.
#[test]
fn differs_blocking_acquire_in_async_context() {
    let slots = Slots::new(1).unwrap();
    assert_eq!(block_on(async { slots.acquire().unwrap().slot() }), 0);
}
