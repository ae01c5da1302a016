//! After `unmanaged.rs` and `unmanaged_timeout.rs` of deadpool's tests.

use crate::Task;
use crate::task_kit::block_on;
use doorway::{AcquireTimeoutError, Closed, Pool, SizeError, TryAcquireError};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn basic() {
    let pool = Pool::new([(), (), ()]).unwrap();
    assert_eq!((pool.places(), pool.available()), (3, 3));
    let mut lent = Vec::new();
    for left in (0..3).rev() {
        lent.push(block_on(pool.acquire_async()).unwrap());
        assert_eq!((pool.places(), pool.available()), (3, left));
    }
    drop(lent);
    assert_eq!(pool.available(), 3);
}

#[test]
fn closing() {
    let pool = Arc::new(Pool::new([42]).unwrap());
    let lent = block_on(pool.acquire_async()).unwrap();
    let mut waiter = Task::new(pool.acquire_owned_async());
    waiter.waits();
    assert!(!pool.is_closed());
    pool.close();
    assert!(pool.is_closed() && waiter.is_woken());
    assert_eq!(waiter.ends().unwrap_err(), Closed);
    assert_eq!(block_on(pool.acquire_async()).unwrap_err(), Closed);
    assert_eq!(pool.try_acquire().unwrap_err(), TryAcquireError::Closed);
    drop(lent);
    assert_eq!(pool.try_acquire().unwrap_err(), TryAcquireError::Closed);
}

/// Theirs drops its objects when it is closed, so none is available. Here the value is back, and
/// can be taken out once the pool is no longer shared.
#[test]
fn differs_values_of_a_closed_pool() {
    let pool = Pool::new([42]).unwrap();
    let lent = pool.acquire().unwrap();
    pool.close();
    drop(lent);
    assert_eq!(pool.available(), 1);
    assert_eq!(pool.into_values(), [42]);
}

#[test]
fn concurrent() {
    let pool = Pool::new([0; 3]).unwrap();
    thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| (0..25).for_each(|_| *block_on(pool.acquire_async()).unwrap() += 1));
        }
    });
    assert_eq!((pool.places(), pool.available()), (3, 3));
    assert_eq!(pool.into_values().iter().sum::<i32>(), 100);
}

/// A pool has a slot for each of the values that it was made with. So it cannot begin empty.
#[test]
fn differs_try_add_try_remove() {
    assert_eq!(Pool::<i32>::new([]).unwrap_err(), SizeError::NoPlace);
    let pool = Pool::new([1, 2]).unwrap();
    assert_eq!(pool.add(3), Err(3)); // theirs: try_add
    assert_eq!(pool.try_acquire().unwrap().take(), 1); // theirs: try_remove
    assert_eq!(pool.places(), 1);
    assert_eq!(pool.add(3), Ok(()));
    assert_eq!(pool.places(), 2);
    assert_eq!((pool.try_acquire().unwrap().take(), pool.try_acquire().unwrap().take()), (3, 2));
    assert_eq!(pool.places(), 0);
    assert_eq!(pool.try_acquire().unwrap_err(), TryAcquireError::NoPlace);
    assert_eq!((pool.add(4), pool.add(5), pool.add(6)), (Ok(()), Ok(()), Err(6)));
}

/// To remove a value is to acquire it, which may wait, and to take it.
#[test]
fn add_remove() {
    let pool = Pool::new([1, 2]).unwrap();
    let lent = (pool.acquire().unwrap(), pool.acquire().unwrap());
    let mut removes = Task::new(pool.acquire_async());
    removes.waits();
    assert_eq!((pool.places(), pool.add(3)), (2, Err(3)));
    drop(lent.1);
    assert!(removes.is_woken());
    assert_eq!(removes.ends().unwrap().take(), 2);
    assert_eq!((pool.places(), pool.add(3)), (1, Ok(())));
    drop(lent.0);
    let mut left = [block_on(pool.acquire_async()).unwrap().take(), pool.acquire().unwrap().take()];
    left.sort_unstable();
    assert_eq!((left, pool.places()), ([1, 3], 0));
}

/// A pool without a value keeps its callers waiting, until it is closed.
#[test]
fn closing_an_empty_pool() {
    let pool = Arc::new(Pool::new([1]).unwrap());
    assert_eq!(pool.acquire().unwrap().take(), 1);
    let mut waiter = Task::new(pool.acquire_owned_async());
    waiter.waits();
    pool.close();
    assert!(waiter.is_woken());
    assert_eq!(waiter.ends().unwrap_err(), Closed);
    assert_eq!(pool.try_acquire().unwrap_err(), TryAcquireError::Closed);
}

/// Theirs waits until there is room for the value. Here `add` does not wait, and gives the value
/// back.
#[test]
fn differs_add_timeout() {
    let pool = Pool::new([1]).unwrap();
    assert_eq!(pool.add(2), Err(2));
    assert_eq!(pool.try_acquire().unwrap().take(), 1);
    let mut waiter = Task::new(pool.acquire_async());
    waiter.waits(); // for a value that is added
    assert_eq!(pool.add(2), Ok(()));
    assert!(waiter.is_woken());
    assert_eq!(*waiter.ends().unwrap(), 2);
}

/// Time limits need no runtime: threads have their own here, and tasks use that of their executor.
#[test]
fn differs_timeouts_without_a_runtime() {
    let pool = Arc::new(Pool::new([()]).unwrap());
    let lent = pool.acquire().unwrap();
    let (short, now) = (Duration::from_millis(1), Instant::now());
    assert_eq!(pool.try_acquire().unwrap_err(), TryAcquireError::NoPlace);
    assert_eq!(pool.acquire_timeout(Duration::ZERO).unwrap_err(), AcquireTimeoutError::TimedOut);
    assert_eq!(pool.acquire_timeout(short).unwrap_err(), AcquireTimeoutError::TimedOut);
    assert_eq!(pool.acquire_timeout_owned(short).unwrap_err(), AcquireTimeoutError::TimedOut);
    assert_eq!(pool.acquire_deadline(now).unwrap_err(), AcquireTimeoutError::TimedOut);
    assert_eq!(pool.acquire_deadline_owned(now).unwrap_err(), AcquireTimeoutError::TimedOut);
    drop(lent);
    assert!(Arc::ptr_eq(pool.acquire_timeout_owned(Duration::MAX).unwrap().issuer(), &pool));
}
