//! After `tokio/src/sync/tests/semaphore_batch.rs` and `loom_semaphore_batch.rs` of tokio.
//!
//! Theirs returns permits by number; here guards are dropped, or places added. Their cases for loom
//! run on threads here, several times: the exhaustive search covers the text, in `doorway-core`.

use crate::task_kit::block_on;
use crate::{Task, slots};
use doorway::{AcquireError, Closed, Slots, TryAcquireError};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

#[test]
fn poll_acquire_available() {
    let slots = Slots::new(100).unwrap();
    let one = Task::new(slots.acquire_async()).ends().unwrap();
    assert_eq!((one.places(), slots.available()), (1, 99));
    let five = Task::new(slots.acquire_many_async(5)).ends().unwrap();
    assert_eq!((five.places(), slots.available()), (5, 94));
    let more = Task::new(slots.acquire_many_async(5)).ends().unwrap();
    assert_eq!((more.places(), slots.available()), (5, 89));
}

#[test]
fn try_acquire_available() {
    let slots = Slots::new(100).unwrap();
    let _one = slots.try_acquire_many(1).unwrap();
    assert_eq!(slots.available(), 99);
    let _two = slots.try_acquire().unwrap();
    assert_eq!(slots.available(), 98);
    let _five = slots.try_acquire_many(5).unwrap();
    assert_eq!(slots.available(), 93);
}

#[test]
fn poll_acquire_one_unavailable() {
    let slots = Slots::new(1).unwrap();
    let first = Task::new(slots.acquire_async()).ends().unwrap();
    let mut second = Task::new(slots.acquire_async());
    second.waits();
    assert_eq!(slots.available(), 0);
    drop(first);
    assert_eq!(slots.available(), 0); // the place belongs to the waiter, which has not been polled yet
    assert!(second.is_woken());
    let second = second.ends().unwrap();
    assert_eq!(slots.available(), 0);
    drop(second);
    assert_eq!(slots.available(), 1);
}

#[test]
fn poll_acquire_many_unavailable() {
    let slots = Slots::new(5).unwrap();
    let first = Task::new(slots.acquire_async()).ends().unwrap();
    assert_eq!(slots.available(), 4);
    let mut all = Task::new(slots.acquire_many_async(5));
    all.waits();
    assert_eq!(slots.available(), 0); // no newcomer passes it
    let mut three = Task::new(slots.acquire_many_async(3));
    three.waits();
    assert_eq!(slots.available(), 0);

    drop(first);
    assert!(all.is_woken() && !three.is_woken());
    let mut all = all.ends().unwrap();
    assert_eq!((all.places(), slots.available()), (5, 0));
    drop(all.split(1).unwrap());
    assert!(!three.is_woken());
    assert_eq!(slots.available(), 0);
    drop(all.split(2).unwrap());
    assert!(three.is_woken());
    assert_eq!(three.ends().unwrap().places(), 3);
}

#[test]
fn try_acquire_unavailable() {
    let slots = Slots::new(5).unwrap();
    let one = slots.try_acquire().unwrap();
    assert_eq!(slots.available(), 4);
    assert_eq!(slots.try_acquire_many(5).unwrap_err(), TryAcquireError::NoPlace);
    drop(one);
    assert_eq!(slots.available(), 5);
    let mut all = slots.try_acquire_many(5).unwrap();
    assert_eq!(slots.try_acquire().unwrap_err(), TryAcquireError::NoPlace);
    for free in 1..=4 {
        drop(all.split(1).unwrap());
        assert_eq!(slots.available(), free);
    }
}

#[test]
fn poll_acquire_one_zero_permits() {
    let slots = slots(0, 16);
    assert_eq!(slots.available(), 0);
    let mut task = Task::new(slots.acquire_async());
    task.waits();
    slots.add(1).unwrap();
    assert!(task.is_woken());
    assert!(task.ends().is_ok());
}

#[test]
fn close_prevents_acquire() {
    let slots = Slots::new(5).unwrap();
    slots.close();
    for _ in 0..2 {
        assert_eq!(slots.available(), 5);
        assert_eq!(Task::new(slots.acquire_async()).ends().unwrap_err(), Closed);
        assert_eq!(Task::new(slots.acquire_many_async(2)).ends().unwrap_err(), AcquireError::Closed);
    }
    assert_eq!(slots.available(), 5);
}

#[test]
fn close_notifies() {
    let none = slots(0, 16);
    let mut task = Task::new(none.acquire_async());
    task.waits();
    none.close();
    assert!(task.is_woken());
    assert_eq!(task.ends().unwrap_err(), Closed);

    let slots = Slots::new(2).unwrap();
    let (first, second) = (slots.acquire().unwrap(), slots.acquire().unwrap());
    let mut waiters = [Task::new(slots.acquire_async()), Task::new(slots.acquire_async())];
    waiters.iter_mut().for_each(Task::waits);
    slots.close();
    for waiter in &mut waiters {
        assert!(waiter.is_woken());
        assert_eq!(waiter.ends().unwrap_err(), Closed);
    }
    assert_eq!(slots.available(), 0);
    drop(first);
    assert_eq!(slots.available(), 1);
    assert_eq!(Task::new(slots.acquire_async()).ends().unwrap_err(), Closed);
    drop(second);
    assert_eq!(slots.available(), 2);
}

#[test]
fn cancel_acquire_releases_permits() {
    let slots = Slots::new(10).unwrap();
    let _four = slots.try_acquire_many(4).unwrap();
    assert_eq!(slots.available(), 6);
    let mut eight = Task::new(slots.acquire_many_async(8));
    eight.waits();
    assert_eq!(slots.available(), 0);
    drop(eight);
    assert_eq!(slots.available(), 6);
    assert_eq!(slots.try_acquire_many(6).unwrap().places(), 6);
}

/// A waker that gives a place back when it is dropped, which may happen while its future is polled
/// with another waker.
#[test]
fn release_permits_at_drop() {
    struct HoldsAPlace(#[expect(dead_code, reason = "it is dropped")] Option<doorway::OwnedSlotGuard>);
    impl Wake for HoldsAPlace {
        fn wake(self: Arc<Self>) {}
    }

    let slots = Arc::new(Slots::new(1).unwrap());
    let mut task = Box::pin(async { slots.acquire_async().await.map(drop) });
    // The second poll replaces the waker of the first, which gives its place back during that poll.
    let first = Waker::from(Arc::new(HoldsAPlace(slots.try_acquire_owned().ok())));
    assert!(task.as_mut().poll(&mut Context::from_waker(&first)).is_pending());
    drop(first);
    let mut task = Task { future: task, bell: Arc::default() };
    if task.poll().is_pending() {
        assert!(task.is_woken(), "the place came back with the first waker");
        task.ends().unwrap();
    }
    assert_eq!(slots.available(), 1);
}

#[test]
fn forget_permits_basic() {
    let slots = Slots::new(10).unwrap();
    assert_eq!((slots.forget(4), slots.available()), (4, 6));
    assert_eq!((slots.forget(10), slots.available()), (6, 0));
}

/// Theirs waits for more permits than there are, since some may be added. Ours returns an error at
/// once; add places first.
#[test]
fn differs_update_permits_many_times() {
    let slots = Slots::new(5).unwrap().room_for(16).unwrap();
    let refused = Task::new(slots.acquire_many_async(7)).ends().unwrap_err();
    assert!(matches!(refused, AcquireError::TooMany(why) if (why.asked, why.most) == (7, 5)));
    slots.add(5).unwrap();
    let seven = Task::new(slots.acquire_many_async(7)).ends().unwrap();
    assert_eq!(slots.available(), 3);
    assert_eq!((slots.forget(3), slots.available(), slots.places()), (3, 0, 7));
    drop(seven);
}

/// Theirs grants a permit of nothing. Here a guard always holds a place.
#[test]
fn differs_acquire_many_of_nothing() {
    let slots = Arc::new(Slots::new(1).unwrap());
    assert_eq!(slots.acquire_many(0).unwrap_err(), AcquireError::Nothing);
    assert_eq!(slots.try_acquire_many(0).unwrap_err(), TryAcquireError::Nothing);
    assert_eq!(Task::new(slots.acquire_many_owned_async(0)).ends().unwrap_err(), AcquireError::Nothing);
}

/// `acquire_many(1)` is `acquire`: it waits in the same line, in the order of arrival, and goes on
/// waiting where no place is left.
#[test]
fn acquire_many_of_one_is_acquire() {
    let slots = Slots::new(1).unwrap();
    let held = slots.acquire().unwrap();
    let mut first = Task::new(slots.acquire_many_async(1));
    let mut second = Task::new(slots.acquire_async());
    let mut third = Task::new(slots.acquire_many_async(1));
    first.waits();
    second.waits();
    third.waits();
    held.forget(); // none is left, and all three go on waiting
    first.waits();
    slots.add(1).unwrap();
    second.waits();
    let held = first.ends().unwrap();
    assert_eq!((held.slot(), held.places()), (0, 1));
    third.waits();
    drop(held);
    third.waits();
    let held = second.ends().unwrap();
    drop(held);
    assert_eq!(third.ends().unwrap().slot(), 0);
    assert_eq!(slots.try_acquire_many(1).unwrap().slot(), 0);
    assert_eq!(slots.acquire_many(1).unwrap().slots(), [0]);
}

/// A future that is leaked while it waits counts as a waiter that died: the place that it is
/// granted is lost, and no other.
#[test]
fn a_leaked_future_takes_one_place_along() {
    let slots = Arc::new(Slots::new(2).unwrap());
    let (one, two) = (slots.acquire().unwrap(), slots.acquire().unwrap());
    let mut leaked = Task::new(slots.acquire_owned_async());
    leaked.waits();
    std::mem::forget(leaked);
    let mut next = Task::new(slots.acquire_async());
    next.waits();
    drop(one);
    next.waits(); // the place went to the leaked future
    drop(two);
    drop(next.ends().unwrap());
    assert_eq!((slots.available(), slots.places()), (1, 2));
}

const TIMES: usize = 20;

#[test]
fn basic_usage() {
    const NUM: usize = 2;
    for _ in 0..TIMES {
        let (slots, inside) = (Slots::new(NUM).unwrap(), AtomicUsize::new(0));
        let actor = || {
            let _guard = block_on(slots.acquire_async()).unwrap();
            assert!(inside.fetch_add(1, SeqCst) < NUM);
            assert!(inside.fetch_sub(1, SeqCst) <= NUM);
        };
        thread::scope(|s| {
            (0..NUM).for_each(|_| drop(s.spawn(actor)));
            actor();
        });
        assert_eq!(slots.available(), NUM);
    }
}

#[test]
fn closing() {
    for _ in 0..TIMES {
        let slots = Slots::new(1).unwrap();
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| (0..2).try_for_each(|_| block_on(slots.acquire_async()).map(drop)));
            }
            slots.close();
        });
        assert_eq!((slots.available(), slots.acquire().unwrap_err()), (1, Closed));
    }
    // Each caller that got in closes the slots.
    for _ in 0..TIMES {
        let slots = Slots::new(1).unwrap();
        let ended = AtomicUsize::new(0);
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    if let Ok(guard) = block_on(slots.acquire_async()) {
                        drop(guard);
                        slots.close();
                    }
                    ended.fetch_add(1, SeqCst);
                });
            }
        });
        assert_eq!((ended.load(SeqCst), slots.is_closed()), (3, true));
    }
}

#[test]
fn concurrent_cancel() {
    async fn poll_and_cancel(slots: &Slots) {
        poll_fn(|context| {
            for _ in 0..2 {
                // Polled once and thrown away, as a timeout does.
                let _ = pin!(slots.acquire_async()).poll(context);
            }
            Poll::Ready(())
        })
        .await;
    }
    for _ in 0..TIMES {
        let slots = slots(0, 16);
        thread::scope(|s| {
            let first = s.spawn(|| block_on(poll_and_cancel(&slots)));
            s.spawn(|| block_on(poll_and_cancel(&slots)));
            s.spawn(|| block_on(poll_and_cancel(&slots)));
            first.join().unwrap();
            slots.add(10).unwrap();
        });
        assert_eq!(slots.available(), 10);
    }
}

#[test]
fn batch() {
    for _ in 0..TIMES {
        let (slots, inside) = (Slots::new(10).unwrap(), AtomicUsize::new(0));
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    for places in [4, 10, 8] {
                        let _guard = block_on(slots.acquire_many_async(places)).unwrap();
                        inside.fetch_add(places, SeqCst);
                        assert!(inside.load(SeqCst) <= 10);
                        thread::yield_now();
                        inside.fetch_sub(places, SeqCst);
                    }
                });
            }
        });
        assert_eq!(slots.available(), 10);
    }
}

#[test]
fn release_during_acquire() {
    for _ in 0..TIMES {
        let slots = Slots::new(10).unwrap();
        let eight = slots.try_acquire_many(8).unwrap();
        thread::scope(|s| {
            s.spawn(|| block_on(slots.acquire_many_async(4)).unwrap().places());
            drop(eight);
        });
        assert_eq!(slots.available(), 10);
    }
}

#[test]
fn concurrent_permit_updates() {
    for _ in 0..TIMES {
        let slots = Slots::new(5).unwrap();
        thread::scope(|s| {
            s.spawn(|| slots.add(3).unwrap());
            s.spawn(|| std::mem::forget(slots.try_acquire().unwrap()));
            s.spawn(|| assert_eq!(slots.forget(2), 2));
        });
        assert_eq!((slots.available(), slots.places()), (5, 6));
    }
}
