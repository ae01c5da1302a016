//! Managed pools: values are made when they are needed, and no place and no value is lost, whatever
//! the manager does.

use crate::slots_kit::{Uses, block_on};
use doorway::pool::{Make, MakeAsync, Managed, ManagedError, Manager, Reuse, Usage};
use std::cell::Cell;
use std::future::{Future, pending};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

/// Makes numbers, counts those that are alive, and does what it is told.
#[derive(Default)]
struct Numbers {
    next: AtomicUsize,
    alive: Arc<AtomicUsize>,
    fails: AtomicBool,
    panics: AtomicBool,
    hangs: AtomicBool,
    refuses: AtomicBool,
}

struct Number {
    number: usize,
    broken: bool,
    alive: Arc<AtomicUsize>,
}

impl Drop for Number {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, SeqCst);
    }
}

#[derive(PartialEq, Debug)]
struct Fails;

impl Manager for Numbers {
    type Value = Number;
    type Error = Fails;
    fn is_broken(&self, value: &mut Number) -> bool {
        assert!(!self.panics.load(SeqCst), "the manager was told to panic");
        value.broken
    }
}

impl Make for Numbers {
    fn make(&self) -> Result<Number, Fails> {
        assert!(!self.panics.load(SeqCst), "the manager was told to panic");
        if self.fails.load(SeqCst) {
            return Err(Fails);
        }
        self.alive.fetch_add(1, SeqCst);
        Ok(Number { number: self.next.fetch_add(1, SeqCst), broken: false, alive: Arc::clone(&self.alive) })
    }
    fn check(&self, _: &mut Number, _: &Usage) -> Result<(), Fails> {
        assert!(!self.panics.load(SeqCst), "the manager was told to panic");
        if self.refuses.load(SeqCst) { Err(Fails) } else { Ok(()) }
    }
}

impl MakeAsync for Numbers {
    async fn make(&self) -> Result<Number, Fails> {
        if self.hangs.load(SeqCst) {
            pending::<()>().await;
        }
        Make::make(self)
    }
    async fn check(&self, value: &mut Number, usage: &Usage) -> Result<(), Fails> {
        if self.hangs.load(SeqCst) {
            pending::<()>().await;
        }
        Make::check(self, value, usage)
    }
}

fn pool(places: usize) -> Managed<Numbers> {
    Managed::new(Numbers::default(), places).unwrap()
}

fn alive(pool: &Managed<Numbers>) -> usize {
    pool.manager().alive.load(SeqCst)
}

#[test]
fn values_are_made_when_they_are_needed_and_used_again() {
    let pool = pool(3);
    assert_eq!(alive(&pool), 0);
    {
        let (a, b) = (pool.acquire().unwrap(), pool.acquire().unwrap());
        assert_eq!((a.number, b.number, a.slot(), b.slot()), (0, 1, 0, 1));
    }
    // They are dropped in reverse order: the first one came back last.
    let again = pool.acquire().unwrap();
    assert_eq!((again.number, again.usage().lent, alive(&pool)), (0, 1, 2));
    let now = pool.statistics();
    assert_eq!((now.made, now.reused, now.values, now.idle, now.places), (2, 1, 2, 1, 3));
}

#[test]
fn the_oldest_is_used_by_turns() {
    let pool = pool(2).reuse(Reuse::Oldest);
    {
        let _both = (pool.acquire().unwrap(), pool.acquire().unwrap());
    }
    let numbers: Vec<usize> = (0..4).map(|_| pool.acquire().unwrap().number).collect();
    assert_eq!(numbers, [0, 1, 0, 1]);
}

#[test]
fn what_is_broken_or_refused_is_made_again() {
    let pool = pool(1);
    pool.acquire().unwrap().broken = true;
    assert_eq!((alive(&pool), pool.statistics().broken), (0, 1));
    assert_eq!(pool.acquire().unwrap().number, 1);
    pool.manager().refuses.store(true, SeqCst);
    assert_eq!(pool.acquire().unwrap().number, 2);
    let now = pool.statistics();
    assert_eq!((now.broken, now.made, now.values, alive(&pool)), (2, 3, 1, 1));
}

#[test]
fn a_manager_that_fails_keeps_no_place() {
    let pool = pool(1);
    pool.manager().fails.store(true, SeqCst);
    assert_eq!(pool.acquire().map(drop), Err(ManagedError::Make(Fails)));
    assert_eq!(pool.try_acquire().map(drop), Err(ManagedError::Make(Fails)));
    pool.manager().fails.store(false, SeqCst);
    assert!(pool.try_acquire().is_ok());
    assert_eq!(pool.statistics().failed, 2);
}

#[test]
fn a_manager_that_panics_keeps_no_place_and_no_value() {
    let pool = pool(1);
    let panics = |panics| pool.manager().panics.store(panics, SeqCst);
    panics(true); // while it makes a value
    assert!(catch_unwind(AssertUnwindSafe(|| pool.acquire().map(drop))).is_err());
    panics(false);
    let lent = pool.acquire().unwrap();
    panics(true); // while a value comes back
    assert!(catch_unwind(AssertUnwindSafe(|| drop(lent))).is_err());
    assert_eq!((alive(&pool), pool.statistics().values), (0, 0));
    panics(false);
    drop(pool.acquire().unwrap());
    panics(true); // while it checks a value
    assert!(catch_unwind(AssertUnwindSafe(|| pool.acquire().map(drop))).is_err());
    assert_eq!((alive(&pool), pool.statistics().values), (0, 0));
    panics(false);
    assert!(pool.try_acquire().is_ok());
}

#[test]
fn a_holder_that_panics_gives_its_value_back() {
    let pool = pool(1);
    let held = AssertUnwindSafe(|| {
        let _held = pool.acquire().unwrap();
        panic!("a holder panics");
    });
    assert!(catch_unwind(held).is_err());
    assert_eq!(pool.try_acquire().unwrap().number, 0);
}

#[test]
fn a_task_that_gives_up_keeps_no_place() {
    let pool = pool(1);
    let mut context = Context::from_waker(Waker::noop());
    let mut gives_up = |pool: &Managed<Numbers>| {
        let mut waits = pin!(pool.acquire_async());
        assert!(waits.as_mut().poll(&mut context).is_pending());
    };
    pool.manager().hangs.store(true, SeqCst);
    gives_up(&pool); // while a value is made
    assert_eq!((pool.statistics().values, alive(&pool)), (0, 0));
    pool.manager().hangs.store(false, SeqCst);
    drop(block_on(pool.acquire_async()).unwrap());
    pool.manager().hangs.store(true, SeqCst);
    gives_up(&pool); // while a value is checked, which is dropped
    assert_eq!((pool.statistics().values, alive(&pool)), (0, 0));
    pool.manager().hangs.store(false, SeqCst);
    let _held = block_on(pool.acquire_async()).unwrap();
    gives_up(&pool); // while it waits
    assert_eq!(pool.statistics().values, 1);
}

#[test]
fn loans_that_own_go_to_other_threads_and_time_runs_out() {
    let pool = Arc::new(pool(1));
    let lent = pool.acquire_owned().unwrap();
    assert_eq!(pool.acquire_timeout(Duration::from_millis(1)).map(drop), Err(ManagedError::TimedOut));
    assert_eq!(pool.acquire_timeout_owned(Duration::ZERO).map(drop), Err(ManagedError::TimedOut));
    assert_eq!(pool.try_acquire_owned().map(drop), Err(ManagedError::NoPlace));
    let asks = pool.acquire_owned_async(); // it borrows nothing
    let waits = thread::spawn(move || block_on(asks).unwrap().number);
    thread::spawn(move || drop(lent)).join().unwrap();
    assert_eq!(waits.join().unwrap(), 0);
}

#[test]
fn what_is_taken_out_is_replaced_and_what_is_forgotten_keeps_its_place() {
    let pool = pool(2);
    let mine = pool.acquire().unwrap().take();
    assert_eq!((mine.number, pool.statistics().values, pool.places()), (0, 0, 2));
    std::mem::forget(pool.acquire().unwrap());
    let _other = pool.acquire().unwrap();
    assert_eq!(pool.try_acquire().map(drop), Err(ManagedError::NoPlace));
}

#[test]
fn a_closed_pool_lends_nothing_and_keeps_nothing() {
    let pool = pool(2);
    let lent = pool.acquire().unwrap();
    drop(pool.acquire().unwrap());
    pool.close();
    assert!(pool.is_closed());
    assert_eq!((alive(&pool), pool.statistics().idle), (1, 0));
    assert_eq!(pool.acquire().map(drop), Err(ManagedError::Closed));
    drop(lent);
    assert_eq!((alive(&pool), pool.statistics().values), (0, 0));
    assert!(pool.drain().is_err());
}

#[test]
fn draining_waits_for_those_that_came_before() {
    let pool = pool(2);
    let lent = pool.acquire().unwrap();
    thread::scope(|s| {
        let drains = s.spawn(|| pool.drain());
        while format!("{pool:?}").contains("waiting: 0") {
            thread::yield_now();
        }
        assert!(!drains.is_finished());
        drop(lent);
        assert_eq!(drains.join().unwrap(), Ok(()));
    });
    assert_eq!((pool.is_closed(), alive(&pool)), (true, 0));
    assert!(block_on(pool.drain_async()).is_err());
}

/// Callers in line behind the one that drains get nothing, however soon they run.
#[test]
fn nobody_gets_a_value_after_draining_has_begun() {
    for _ in 0..20 {
        let pool = pool(1);
        let lent = pool.acquire().unwrap();
        thread::scope(|s| {
            let drains = s.spawn(|| pool.drain());
            while !format!("{pool:?}").contains("waiting: 1") {
                thread::yield_now();
            }
            let late: Vec<_> = (0..3).map(|_| s.spawn(|| pool.acquire().map(drop))).collect();
            while !format!("{pool:?}").contains("waiting: 4") {
                thread::yield_now();
            }
            drop(lent);
            assert_eq!(drains.join().unwrap(), Ok(()));
            assert!(late.into_iter().all(|late| late.join().unwrap() == Err(ManagedError::Closed)));
        });
        assert_eq!((alive(&pool), pool.statistics().values), (0, 0));
    }
}

#[test]
fn a_smaller_pool_keeps_no_more_values_than_places() {
    let pool = pool(4);
    let lent: Vec<_> = (0..4).map(|_| pool.acquire().unwrap()).collect();
    pool.resize(1).unwrap();
    assert_eq!((pool.places(), pool.statistics().values), (1, 4));
    drop(lent);
    assert_eq!((pool.places(), pool.statistics().values, alive(&pool)), (1, 1, 1));
    let one = pool.acquire().unwrap();
    assert!(pool.try_acquire().is_err());
    pool.resize(0).unwrap();
    pool.resize(2).unwrap();
    drop(one);
    let _both = (pool.try_acquire().unwrap(), pool.try_acquire().unwrap());
    assert!(pool.try_acquire().is_err());
    assert!(pool.resize(usize::MAX).is_err());
    assert_eq!(pool.places(), 2);
}

#[test]
fn what_is_retained_is_in_its_order_and_the_rest_is_dropped() {
    let pool = pool(4).reuse(Reuse::Oldest);
    drop((0..4).map(|_| pool.acquire().unwrap()).collect::<Vec<_>>());
    assert_eq!(pool.retain(|value, usage| usage.lent == 1 && value.number % 2 == 1), 2);
    assert_eq!((pool.acquire().unwrap().number, pool.acquire().unwrap().number), (1, 3));
    // A value is made while others are looked at. Then there is one too many, and the oldest goes.
    let made = Cell::new(0);
    let pool = self::pool(1);
    drop(pool.acquire().unwrap());
    pool.retain(|_, _| {
        made.set(pool.acquire().unwrap().number);
        true
    });
    assert_eq!((made.get(), pool.statistics().values, alive(&pool)), (1, 1, 1));
}

#[test]
fn what_lives_for_too_long_is_not_lent() {
    let pool = pool(1).living_for(Duration::ZERO);
    drop(pool.acquire().unwrap());
    thread::sleep(Duration::from_millis(1));
    assert_eq!((pool.acquire().unwrap().number, pool.statistics().expired), (1, 1));
    let long = self::pool(1).living_for(Duration::MAX).idle_for(Duration::MAX);
    drop(long.acquire().unwrap());
    assert_eq!((long.acquire().unwrap().number, long.drop_expired()), (0, 0));
}

#[test]
fn values_can_be_made_before_they_are_needed() {
    let pool = pool(3);
    assert_eq!((pool.fill(2), pool.statistics().idle), (Ok(2), 2));
    let _held = pool.acquire().unwrap();
    assert_eq!((block_on(pool.fill_async(9)), pool.statistics().idle), (Ok(2), 2));
    assert_eq!((pool.fill(1), pool.statistics().reused), (Ok(2), 1)); // to fill is not to lend
    assert_eq!(pool.retain(|_, usage| usage.lent > 0), 2);
    pool.manager().fails.store(true, SeqCst);
    assert_eq!(pool.fill(1), Err(ManagedError::Make(Fails)));
    pool.close();
    assert_eq!((pool.fill(1), block_on(pool.fill_async(1))), (Err(ManagedError::Closed), Err(ManagedError::Closed)));
}

/// Filling neither lends values nor makes them look used, so they expire all the same.
#[test]
fn values_that_are_idle_expire_although_the_pool_is_filled() {
    let pool = Managed::new(Numbers::default(), 4).unwrap().reuse(Reuse::Oldest).idle_for(Duration::from_millis(20));
    assert_eq!(pool.fill(4), Ok(4));
    thread::sleep(Duration::from_millis(30));
    assert_eq!(pool.fill(2), Ok(2));
    let now = pool.statistics();
    assert_eq!((now.expired, now.reused, now.made, now.values), (4, 0, 6, 2));
}

/// A value whose destructor looks at its pool.
struct Looks(std::sync::Weak<Managed<Lookers>>);

impl Drop for Looks {
    fn drop(&mut self) {
        if let Some(pool) = self.0.upgrade() {
            assert!(pool.statistics().places > 0);
        }
    }
}

#[derive(Default)]
struct Lookers(std::sync::OnceLock<std::sync::Weak<Managed<Lookers>>>);

impl Manager for Lookers {
    type Value = Looks;
    type Error = Fails;
}

impl Make for Lookers {
    fn make(&self) -> Result<Looks, Fails> {
        Ok(Looks(self.0.get().unwrap().clone()))
    }
}

#[test]
fn the_destructor_of_an_expired_value_may_look_at_the_pool() {
    let pool = Arc::new(Managed::new(Lookers::default(), 1).unwrap().idle_for(Duration::ZERO));
    pool.manager().0.set(Arc::downgrade(&pool)).unwrap();
    for _ in 0..3 {
        drop(pool.acquire().unwrap());
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(pool.statistics().expired, 2);
}

/// A drain waits for all places. A place that must go wakes it, and its waker may look at the pool.
#[test]
fn a_waker_of_a_drain_may_use_the_pool_that_shrinks() {
    let pool = Arc::new(pool(2));
    let (one, two) = (pool.acquire().unwrap(), pool.acquire().unwrap());
    let waker = {
        let pool = Arc::clone(&pool);
        Waker::from(Arc::new(Uses(Box::new(move || assert!(pool.places() > 0)))))
    };
    let mut drains = pin!(pool.drain_async());
    assert!(drains.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    pool.resize(1).unwrap();
    drop(one);
    assert!(drains.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    drop(two);
    assert!(drains.poll(&mut Context::from_waker(&waker)).is_ready());
}

#[test]
fn a_drain_waits_for_all_values_though_the_pool_grows() {
    let pool = pool(1);
    let lent = pool.acquire().unwrap();
    let mut context = Context::from_waker(Waker::noop());
    let mut drains = pin!(pool.drain_async());
    assert!(drains.as_mut().poll(&mut context).is_pending());
    pool.resize(2).unwrap();
    assert!(drains.as_mut().poll(&mut context).is_pending());
    assert!(!pool.is_closed());
    drop(lent);
    assert!(drains.poll(&mut context).is_ready());
    assert!(pool.is_closed());
}

#[test]
fn a_panic_while_idle_values_are_sorted_leaves_the_count_right() {
    let pool = pool(3);
    assert_eq!(pool.fill(3), Ok(3));
    let mut asked = 0;
    let panics = catch_unwind(AssertUnwindSafe(|| {
        pool.retain(|_, _| {
            asked += 1;
            assert!(asked < 2, "the second one panics");
            true
        })
    }));
    assert!(panics.is_err());
    let now = pool.statistics();
    assert_eq!((now.values, now.idle, alive(&pool)), (2, 2, 2));
    drop(pool.acquire().unwrap());
    assert_eq!(pool.statistics().made, 3); // values are still reused
}

#[test]
fn a_pool_that_is_closed_while_values_are_sorted_keeps_none() {
    let pool = pool(2);
    assert_eq!(pool.fill(2), Ok(2));
    pool.retain(|_, _| {
        pool.close();
        true
    });
    assert_eq!((pool.statistics().values, alive(&pool)), (0, 0));
}

/// A pool that grows wakes waiters, and a waker may be code that asks the pool something.
#[test]
fn a_waker_may_use_the_pool_that_grows() {
    let pool = Arc::new(pool(1));
    let _held = pool.acquire().unwrap();
    let seen = Arc::new(AtomicUsize::new(0));
    let waker = {
        let (pool, seen) = (Arc::clone(&pool), Arc::clone(&seen));
        Waker::from(Arc::new(Uses(Box::new(move || seen.store(pool.places(), SeqCst)))))
    };
    let mut waits = pin!(pool.acquire_async());
    assert!(waits.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    pool.resize(2).unwrap();
    assert_eq!(seen.load(SeqCst), 2);
    assert!(waits.poll(&mut Context::from_waker(&waker)).is_ready());
}

/// A pool that grows wakes a waiter, whose waker polls a drain. The drain must not wait there for
/// the caller that adds places: that caller goes on only afterwards.
#[test]
fn a_waker_may_poll_a_drain_of_the_pool_that_grows() {
    let pool = Arc::new(pool(1));
    pool.resize(0).unwrap();
    let waits = Arc::new(Mutex::new(Some(Box::pin({
        let pool = Arc::clone(&pool);
        async move { drop(pool.acquire_async().await) }
    }))));
    let drains = Arc::new(Mutex::new(Box::pin({
        let pool = Arc::clone(&pool);
        async move { pool.drain_async().await }
    })));
    let waker = {
        let (waits, drains) = (Arc::clone(&waits), Arc::clone(&drains));
        Waker::from(Arc::new(Uses(Box::new(move || {
            drop(waits.lock().unwrap().take()); // its place is free
            let polled = drains.lock().unwrap().as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_pending(), "more places are about to come");
        }))))
    };
    let mut polled = waits.lock().unwrap().take().unwrap();
    assert!(polled.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    *waits.lock().unwrap() = Some(polled);
    pool.resize(1).unwrap();
    assert!(waits.lock().unwrap().is_none(), "the waker ran");
    let mut drains = drains.lock().unwrap();
    assert_eq!(drains.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(())));
}

/// A drain that waits for the only place is told when that place goes.
#[test]
fn a_drain_ends_although_the_pool_shrinks_to_nothing() {
    let pool = pool(1);
    let lent = pool.acquire().unwrap();
    let mut drains = pin!(pool.drain_async());
    let context = &mut Context::from_waker(Waker::noop());
    assert!(drains.as_mut().poll(context).is_pending());
    let mut given_up = Box::pin(pool.drain_async());
    assert!(given_up.as_mut().poll(context).is_pending());
    drop(given_up);
    pool.resize(0).unwrap();
    assert!(drains.as_mut().poll(context).is_pending(), "a value is lent");
    drop(lent);
    assert_eq!(drains.poll(context), Poll::Ready(Ok(())));
    assert!(pool.is_closed() && alive(&pool) == 0 && pool.drain().is_err());
    // Without a drain, such a pool goes on.
    let pool = self::pool(1);
    let lent = pool.acquire().unwrap();
    {
        let mut given_up = pin!(pool.drain_async());
        assert!(given_up.as_mut().poll(context).is_pending());
    }
    pool.resize(0).unwrap();
    drop(lent);
    pool.resize(1).unwrap();
    assert!(pool.acquire().is_ok());
}

/// A destructor that panics keeps no other value alive.
#[test]
fn a_pool_that_is_closed_keeps_no_value_although_destructors_panic() {
    struct Panics(Arc<AtomicUsize>);
    impl Drop for Panics {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
            panic!("a destructor");
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let pool = Managed::from_fn(3, || Ok::<_, Fails>(Panics(Arc::clone(&dropped)))).unwrap();
    pool.fill(3).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| pool.close())).is_err());
    let now = pool.statistics();
    assert_eq!((dropped.load(SeqCst), now.values, now.idle), (3, 0, 0));
}

/// A request that is leaked takes the place that it would have got, and nothing else.
#[test]
fn a_pool_can_be_configured_although_a_request_was_leaked() {
    let pool = Arc::new(pool(2));
    let both = [(); 2].map(|()| pool.acquire().unwrap());
    let mut leaked = Box::pin(pool.acquire_async());
    assert!(leaked.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    std::mem::forget(leaked);
    drop(both);
    let pool = Arc::into_inner(pool).expect("nobody else has it").room_for(40).unwrap();
    pool.resize(40).unwrap();
    let all: Vec<_> = std::iter::from_fn(|| pool.try_acquire().ok()).collect();
    assert_eq!(all.len(), 39);
}

/// There are never more loans than places, and at the end the count of values is right.
#[test]
fn nothing_is_lost_while_all_of_it_happens_at_once() {
    const MOST: usize = 4;
    let pool = Managed::new(Numbers::default(), MOST).unwrap();
    let (lent, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let uses = |broken: bool, mut value: doorway::pool::Leased<'_, Numbers>| {
        most.fetch_max(lent.fetch_add(1, SeqCst) + 1, SeqCst);
        value.broken = broken;
        thread::yield_now();
        lent.fetch_sub(1, SeqCst);
    };
    thread::scope(|s| {
        for worker in 0..4 {
            let (pool, uses) = (&pool, &uses);
            s.spawn(move || {
                for turn in 0..500 {
                    match (worker + turn) % 4 {
                        0 => uses(turn % 7 == 0, pool.acquire().unwrap()),
                        1 => uses(false, block_on(pool.acquire_async()).unwrap()),
                        2 => drop(pool.acquire_timeout(Duration::from_micros(50)).map(|value| uses(false, value))),
                        _ => drop(pool.try_acquire().map(|value| drop(value.take()))),
                    }
                }
            });
        }
        s.spawn(|| {
            for turn in 0..500 {
                pool.resize(1 + turn % MOST).unwrap();
                pool.retain(|value, _| value.number % 3 != 0);
            }
            pool.resize(MOST).unwrap();
        });
    });
    assert!(most.load(SeqCst) <= MOST);
    let now = pool.statistics();
    assert_eq!((now.places, now.values, now.values), (MOST, now.idle, alive(&pool)));
    let all: Vec<_> = (0..MOST).map(|_| pool.try_acquire().unwrap()).collect();
    assert!(pool.try_acquire().is_err());
    drop(all);
}
