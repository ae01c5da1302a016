//! Pools: values pass from holder to holder intact, and none is lost.

use doorway::{AcquireTimeoutError, Closed, Pool, SizeError, TryAcquireError};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

#[test]
fn a_pool_of_nothing_is_refused() {
    assert_eq!(Pool::<u8>::new([]).unwrap_err(), SizeError::NoPlace);
    assert!(matches!(Pool::new(vec![0u8; 65_536]), Err(SizeError::TooManyPlaces(65_536))));
}

#[test]
fn every_value_is_lent_to_one_at_a_time() {
    // Not atomic: two holders of the same value would lose counts.
    let pool = Pool::new([0u64; 3]).unwrap();
    thread::scope(|s| {
        for _ in 0..6 {
            s.spawn(|| (0..5_000).for_each(|_| *pool.acquire().unwrap() += 1));
        }
    });
    assert_eq!(pool.into_values().iter().sum::<u64>(), 30_000);
}

#[test]
fn more_values_than_there_are_flags_for() {
    let pool = Pool::new(0..200).unwrap();
    let lent: Vec<_> = (0..200).map(|_| pool.acquire().unwrap()).collect();
    assert_eq!(lent.iter().map(|lent| **lent).collect::<HashSet<_>>().len(), 200);
    assert_eq!(pool.try_acquire().unwrap_err(), TryAcquireError::NoPlace);
    drop(lent);
    assert_eq!(pool.available(), 200);
}

#[test]
fn a_holder_that_panics_gives_its_value_back_as_it_is() {
    let pool = Pool::new([vec![1]]).unwrap();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut lent = pool.acquire().unwrap();
        lent.push(2);
        panic!("inside");
    }));
    assert!(panicked.is_err());
    assert_eq!(*pool.acquire().unwrap(), [1, 2]);
}

#[test]
fn owned_guards_outlive_the_name_of_the_pool() {
    let pool = Arc::new(Pool::new(["a".to_owned()]).unwrap());
    let mut lent = pool.acquire_owned().unwrap();
    drop(pool);
    let length = thread::spawn(move || {
        lent.push('b');
        lent.len()
    });
    assert_eq!(length.join().unwrap(), 2);
}

#[test]
fn time_runs_out_and_futures_are_dropped_without_a_trace() {
    let pool = Pool::new([1]).unwrap();
    let lent = pool.acquire().unwrap();
    assert_eq!(pool.acquire_timeout(Duration::from_millis(1)).unwrap_err(), AcquireTimeoutError::TimedOut);
    let mut context = Context::from_waker(Waker::noop());
    {
        let mut dropped = pin!(pool.acquire_async());
        assert!(dropped.as_mut().poll(&mut context).is_pending());
    }
    let mut waits = pin!(pool.acquire_async());
    assert!(waits.as_mut().poll(&mut context).is_pending());
    drop(lent);
    let Poll::Ready(Ok(lent)) = waits.as_mut().poll(&mut context) else { panic!("it is its turn") };
    assert_eq!(*lent, 1);
}

#[test]
fn what_is_taken_out_is_gone_until_another_is_added() {
    let pool = Pool::new([1, 2, 3]).unwrap();
    let (a, b) = (pool.acquire().unwrap(), pool.acquire().unwrap());
    assert_eq!(a.take(), 1);
    assert_eq!((pool.places(), pool.available()), (2, 1));
    // The slot of the value that was taken out has no holder: the next caller gets the third value.
    assert_eq!(*pool.acquire().unwrap(), 3);
    assert_eq!(pool.add(4), Ok(()));
    assert_eq!(pool.add(5), Err(5));
    assert_eq!(*pool.acquire().unwrap(), 4);
    drop(b);
    assert_eq!((pool.places(), pool.available()), (3, 3));
}

#[test]
fn draining_waits_for_what_is_lent_and_turns_others_away() {
    let pool = Pool::new(0..4).unwrap();
    let lent = pool.acquire().unwrap();
    thread::scope(|s| {
        let drained = s.spawn(|| pool.drain());
        while pool.places() > 1 {
            thread::yield_now();
        }
        drop(lent);
        let mut all = drained.join().unwrap();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3]);
    });
    assert_eq!(pool.acquire().unwrap_err(), Closed);
    assert!(pool.is_closed());
    assert!(pool.drain().is_empty());
}

#[test]
fn draining_ends_also_if_the_last_value_is_taken_by_another() {
    let pool = Pool::new([1]).unwrap();
    let lent = pool.acquire().unwrap();
    thread::scope(|s| {
        let drained = s.spawn(|| pool.drain());
        while pool.available() == 0 && !format!("{pool:?}").contains("waiting: 1") {
            thread::yield_now();
        }
        assert_eq!(lent.take(), 1);
        assert!(drained.join().unwrap().is_empty());
    });
}

#[test]
fn every_value_is_dropped_once() {
    struct Counts<'a>(&'a AtomicUsize);
    impl Drop for Counts<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    let dropped = AtomicUsize::new(0);
    let pool = Pool::new((0..5).map(|_| Counts(&dropped))).unwrap();
    drop(pool.acquire().unwrap().take());
    assert_eq!(dropped.load(SeqCst), 1);
    *pool.acquire().unwrap() = Counts(&dropped);
    assert_eq!(dropped.load(SeqCst), 2);
    drop(pool);
    assert_eq!(dropped.load(SeqCst), 6);
}

#[test]
fn a_pool_that_is_closed_or_drained_takes_no_value() {
    let pool = Pool::new([1]).unwrap();
    let value = pool.acquire().unwrap().take();
    pool.close();
    assert_eq!(pool.add(value), Err(1));
    let pool = Pool::new([1, 2]).unwrap();
    assert_eq!(pool.drain().len(), 2);
    assert_eq!((pool.add(3), pool.places()), (Err(3), 0));
}

/// A value that is added while the pool is drained is either drained, too, or comes back.
#[test]
fn no_value_is_lost_between_adding_and_draining() {
    for _ in 0..300 {
        let pool = Pool::new([1, 2]).unwrap();
        let taken = pool.acquire().unwrap().take();
        let (added, drained) = thread::scope(|s| {
            let adds = s.spawn(|| pool.add(taken));
            let drains = s.spawn(|| pool.drain());
            (adds.join().unwrap(), drains.join().unwrap())
        });
        assert_eq!(drained.len() + added.err().iter().len(), 2);
    }
}

/// A drain that is given up leaves a pool whose values can be exchanged, as before.
#[test]
fn a_pool_stays_open_after_a_drain_that_was_given_up() {
    let pool = Pool::new([1]).unwrap();
    let lent = pool.acquire().unwrap();
    {
        let mut drains = pin!(pool.drain_async());
        assert!(drains.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    assert_eq!(lent.take(), 1); // the last value
    assert_eq!((pool.is_closed(), pool.add(2)), (false, Ok(())));
    assert_eq!(pool.drain(), [2]);
    assert!(pool.is_closed());
}

#[test]
fn a_request_that_owns_goes_anywhere() {
    let pool = Arc::new(Pool::new([7]).unwrap());
    let mut asks = Box::pin(pool.acquire_owned_async());
    drop(pool); // the request keeps it
    let asked = thread::spawn(move || match asks.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(lent) => lent.map(|lent| *lent),
        Poll::Pending => panic!("the value is there"),
    });
    assert_eq!(asked.join().unwrap(), Ok(7));
}

/// A request that is leaked takes the place that it would have got, and nothing else.
#[test]
fn a_pool_can_be_configured_although_a_request_was_leaked() {
    let pool = Arc::new(Pool::new([1, 2]).unwrap());
    let both = [(); 2].map(|()| pool.acquire().unwrap());
    let mut leaked = Box::pin(pool.acquire_async());
    assert!(leaked.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    std::mem::forget(leaked);
    drop(both);
    let pool = Arc::into_inner(pool).expect("nobody else has it").unfair();
    assert!(format!("{pool:?}").contains("unfair: true"), "{pool:?}");
    assert_eq!(pool.available(), 1);
}
