//! Slots whose newcomers pass waiters, a bounded number of times.

use doorway::slots::Unnumbered;
use doorway::{AcquireTimeoutError, Closed, Slots, TryAcquireError};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

type Passing = Slots<doorway::slots::Passing>;

fn slots(k: usize, newcomers: u32) -> Passing {
    Slots::new(k).unwrap().bypass(newcomers)
}

/// Counts how many times it is woken.
#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

fn poll<F: Future>(future: Pin<&mut F>, wakes: &Arc<Wakes>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(&Waker::from(Arc::clone(wakes))))
}

fn passes(slots: &Passing) -> bool {
    slots.try_acquire().is_ok()
}

#[test]
fn the_first_in_line_is_passed_as_often_as_said_and_woken_once() {
    for newcomers in [0, 1, 2, 64] {
        let slots = slots(1, newcomers);
        let wakes = Arc::new(Wakes::default());
        let held = slots.acquire().unwrap();
        let mut first = pin!(slots.acquire_async());
        assert!(poll(first.as_mut(), &wakes).is_pending());
        drop(held);
        let passed = (0..).take_while(|_| passes(&slots)).count();
        assert_eq!(passed, newcomers as usize);
        // Called once, and let in.
        assert_eq!(wakes.0.load(SeqCst), 1, "{newcomers}");
        assert!(poll(first.as_mut(), &wakes).is_ready());
    }
}

#[test]
fn whoever_runs_first_gets_the_place() {
    let slots = slots(1, 5);
    let wakes = Arc::new(Wakes::default());
    let held = slots.acquire().unwrap();
    let mut first = pin!(slots.acquire_async());
    assert!(poll(first.as_mut(), &wakes).is_pending());
    drop(held);
    let passer = slots.try_acquire().unwrap();
    // The waiter was called and finds nothing: it listens again, and is called again.
    assert!(poll(first.as_mut(), &wakes).is_pending());
    assert_eq!(wakes.0.load(SeqCst), 1);
    drop(passer);
    assert_eq!(wakes.0.load(SeqCst), 2);
    assert!(poll(first.as_mut(), &wakes).is_ready());
    assert!(passes(&slots));
}

#[test]
fn a_waiter_behind_another_is_passed_as_often_again() {
    let slots = slots(1, 3);
    let wakes = Arc::new(Wakes::default());
    let held = slots.acquire().unwrap();
    let mut first = Box::pin(slots.acquire_async());
    let mut second = Box::pin(slots.acquire_async());
    assert!(poll(first.as_mut(), &wakes).is_pending() && poll(second.as_mut(), &wakes).is_pending());
    drop(held);
    assert_eq!((0..).take_while(|_| passes(&slots)).count(), 3);
    let Poll::Ready(Ok(guard)) = poll(first.as_mut(), &wakes) else { panic!("it was passed often enough") };
    assert!(poll(second.as_mut(), &wakes).is_pending());
    drop(guard);
    assert_eq!((0..).take_while(|_| passes(&slots)).count(), 3);
    assert!(poll(second.as_mut(), &wakes).is_ready());
}

#[test]
fn giving_up_loses_nothing() {
    for newcomers in [0, 1, 8] {
        let slots = slots(2, newcomers);
        let wakes = Arc::new(Wakes::default());
        for round in 0..4 {
            let (one, other) = (slots.acquire().unwrap(), slots.acquire().unwrap());
            assert_eq!(slots.acquire_timeout(Duration::from_millis(1)).unwrap_err(), AcquireTimeoutError::TimedOut);
            let mut called = Box::pin(slots.acquire_async());
            let mut next = Box::pin(slots.acquire_async());
            assert!(poll(called.as_mut(), &wakes).is_pending() && poll(next.as_mut(), &wakes).is_pending());
            if round % 2 == 0 {
                drop(one);
                drop(called); // it was called, or let in
                assert!(poll(next.as_mut(), &wakes).is_ready());
            } else {
                drop(called);
                drop(one);
                assert!(poll(next.as_mut(), &wakes).is_ready());
            }
            drop((other, next));
            assert_eq!((slots.places(), slots.available()), (2, 2));
        }
    }
}

#[test]
fn all_ways_in() {
    let slots = Arc::new(slots(3, 2).room_for(5).unwrap());
    assert_eq!(slots.newcomers_pass(), Some(2));
    let (a, b) = (slots.acquire_owned().unwrap(), slots.try_acquire_owned().unwrap());
    assert_eq!((a.slot(), b.slot()), (0, 1));
    assert_eq!(slots.try_acquire_many(2).unwrap_err(), TryAcquireError::NoPlace);
    let wakes = Arc::new(Wakes::default());
    let mut two = Box::pin(slots.acquire_many_async(2));
    assert!(poll(two.as_mut(), &wakes).is_pending());
    // No newcomer passes a caller that asks for several places.
    drop(a);
    assert!(slots.try_acquire().is_err());
    let Poll::Ready(Ok(mut two)) = poll(two.as_mut(), &wakes) else { panic!("two are free") };
    assert_eq!(two.places(), 2);
    let half = two.split(1).unwrap();
    drop(two);
    let again = slots.acquire_timeout(Duration::from_secs(5)).unwrap();
    assert!(again.fence() > half.fence());
    half.forget();
    slots.add(2).unwrap();
    assert_eq!((slots.places(), slots.available()), (4, 2));
    drop((again, b));
    assert_eq!(slots.available(), 4);
    assert!(format!("{slots:?}").contains("newcomers_pass: 2"));
    let held = slots.acquire_many(4).unwrap();
    let mut shut = Box::pin(slots.acquire_async());
    assert!(poll(shut.as_mut(), &wakes).is_pending());
    slots.close();
    let Poll::Ready(Err(Closed)) = poll(shut.as_mut(), &wakes) else { panic!("it is closed") };
    assert_eq!(slots.acquire().unwrap_err(), Closed);
    drop(held);
}

#[test]
fn a_waiter_that_was_called_can_be_turned_away() {
    let slots = slots(1, 8);
    let wakes = Arc::new(Wakes::default());
    let held = slots.acquire().unwrap();
    let mut called = Box::pin(slots.acquire_async());
    assert!(poll(called.as_mut(), &wakes).is_pending());
    drop(held);
    slots.close();
    assert!(poll(called.as_mut(), &wakes).is_ready());
    assert!(slots.is_closed());
}

#[test]
fn fence_numbers_grow_past_a_line() {
    let slots = slots(2, 4);
    let wakes = Arc::new(Wakes::default());
    let mut last = 0;
    for _ in 0..20 {
        let (a, b) = (slots.acquire().unwrap(), slots.acquire().unwrap());
        assert!(a.fence() > last && b.fence() > a.fence());
        let mut waits = Box::pin(slots.acquire_async());
        assert!(poll(waits.as_mut(), &wakes).is_pending());
        let before = b.fence();
        drop(b);
        let passer = slots.try_acquire().unwrap();
        assert!(passer.fence() > before);
        let before = passer.fence();
        drop(a);
        let Poll::Ready(Ok(waited)) = poll(waits.as_mut(), &wakes) else { panic!("a place lies there") };
        assert!(waited.fence() > before);
        last = waited.fence();
    }
    assert!(slots.room_for(40).unwrap().acquire().unwrap().fence() > last);
}

/// The cost of one death: the waiters behind it wait, while places are free for newcomers, until
/// the bound is reached.
#[test]
fn a_waiter_that_died_holds_up_those_behind_it_until_newcomers_came() {
    let slots = slots(2, 3);
    let wakes = Arc::new(Wakes::default());
    let (one, other) = (slots.acquire().unwrap(), slots.acquire().unwrap());
    let mut dead = Box::pin(slots.acquire_async());
    let mut behind = Box::pin(slots.acquire_async());
    assert!(poll(dead.as_mut(), &wakes).is_pending() && poll(behind.as_mut(), &wakes).is_pending());
    std::mem::forget(dead);
    drop((one, other));
    assert!(poll(behind.as_mut(), &wakes).is_pending());
    assert_eq!((0..).take_while(|_| passes(&slots)).count(), 3 + 3);
    // Three newcomers passed the dead waiter, which took its place along, and three passed the
    // waiter behind it.
    assert!(poll(behind.as_mut(), &wakes).is_ready());
}

fn crowd<N: doorway::slots::Numbering>(slots: &Slots<N>, k: usize, threads: usize, passages: usize)
where
    Slots<N>: Sync,
{
    let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (inside, most) = (&inside, &most);
            scope.spawn(move || {
                for i in 0..passages {
                    let guard = match (thread + i) % 5 {
                        0 => slots.acquire_timeout(Duration::from_micros(20)).ok(),
                        1 => slots.try_acquire().ok(),
                        _ => slots.acquire().ok(),
                    };
                    if guard.is_some() {
                        most.fetch_max(inside.fetch_add(1, SeqCst) + 1, SeqCst);
                        inside.fetch_sub(1, SeqCst);
                    }
                }
            });
        }
    });
    assert!(most.load(SeqCst) <= k);
    assert_eq!((slots.places(), slots.available()), (k, k));
}

#[test]
fn a_crowd_of_threads_loses_nothing() {
    for (k, newcomers) in [(1, 0), (1, 1), (1, 64), (2, 3), (4, 64)] {
        crowd(&slots(k, newcomers), k, 8, 1500);
        crowd(&Slots::new(k).unwrap().without_numbers().bypass(newcomers), k, 8, 1500);
    }
}

#[test]
fn nothing_grows() {
    println!("{} {}", size_of::<Passing>(), size_of::<Slots>());
    assert!(size_of::<Passing>() <= 512);
    assert!(size_of::<Slots<doorway::slots::Passing<Unnumbered>>>() <= 512);
}

fn once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// Places that were left for a waiter that gives up are free again, all of them.
#[test]
fn what_was_left_for_a_waiter_that_gives_up_is_free() {
    for k in [1, 2, 3, 16, 64] {
        let slots = Slots::new(k).unwrap().bypass(1);
        let held: Vec<_> = (0..k).map(|_| slots.acquire().unwrap()).collect();
        let mut gives_up = slots.acquire_async();
        assert!(once(&mut gives_up).is_pending());
        drop(held);
        drop(gives_up);
        assert_eq!(slots.available(), k);
        assert!(slots.try_acquire_many(k).is_ok());
    }
}

/// A caller that asks for several places gets what was left for the waiters before it, whether they
/// give up or get in.
#[test]
fn what_is_left_goes_to_one_that_asks_for_several() {
    for gives_up in [true, false] {
        let slots = Slots::new(3).unwrap().bypass(64);
        let held: Vec<_> = (0..3).map(|_| slots.acquire().unwrap()).collect();
        let (mut one, mut two) = (slots.acquire_async(), slots.acquire_many_async(2));
        assert!(once(&mut one).is_pending() && once(&mut two).is_pending());
        drop(held);
        let got = if gives_up { None } else { Some(once(&mut one)) };
        assert!(got.is_none_or(|got| matches!(got, Poll::Ready(Ok(_)))));
        drop(one);
        assert!(matches!(once(&mut two), Poll::Ready(Ok(_))));
    }
}

/// Places that are left for newcomers cannot be taken once the slots are closed.
#[test]
fn once_it_is_closed_newcomers_take_nothing() {
    let slots = Slots::new(4).unwrap().bypass(64);
    let held: Vec<_> = (0..4).map(|_| slots.acquire().unwrap()).collect();
    let mut waits = slots.acquire_async();
    assert!(once(&mut waits).is_pending());
    drop(held);
    slots.close();
    for _ in 0..6 {
        assert!(slots.acquire().is_err() && slots.try_acquire().is_err());
    }
    assert!(matches!(once(&mut waits), Poll::Ready(Err(_))));
}
