//! What operators of slots and pools rely on: the figures are true, whatever callers do.

use crate::slots_kit::block_on;
use doorway::observed::{Book, Caller, Histogram, OwnedSlotGuard, Slots, Status};
use doorway::pool::{FromFn, Make, MakeAsync, Managed, ManagedError, Manager};
use doorway::slots::KnowsSlots;
use doorway::{AcquireError, AcquireTimeoutError, Closed, Pool, TryAcquireError};
use proptest::prelude::*;
use std::collections::{BTreeSet, HashSet};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

fn observed(places: usize) -> Slots {
    doorway::Slots::new(places).unwrap().observed("test")
}

fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// Waits until the condition holds for the status.
fn until(slots: &Slots, so: impl Fn(&Status) -> bool) -> Status {
    loop {
        let status = slots.status();
        if so(&status) {
            return status;
        }
        thread::yield_now();
    }
}

/// The slots that are held.
fn held(status: &Status) -> Vec<usize> {
    status.holders.iter().map(|holder| holder.slot).collect()
}

/// How many calls got each answer: granted, timed out, cancelled, refused, no place.
fn answers(status: &Status) -> [u64; 5] {
    [status.granted, status.timed_out, status.cancelled, status.refused, status.no_place]
}

const NOT_LONG: Duration = Duration::from_millis(1);
const LONG: Duration = Duration::from_secs(600);

/// Each method does what the plain one does, and is recorded.
#[test]
fn every_way_in_is_noted() {
    notes_every_way_in(&observed(4));
    notes_every_way_in(&doorway::Slots::new(4).unwrap().bypass(8).observed("test"));
}

fn notes_every_way_in<N: KnowsSlots + 'static>(slots: &Slots<N>) {
    let by = || Instant::now() + LONG;
    let (mut calls, mut places) = (0, 0);
    // The calls are made in this order, in one file: sites are sorted by line.
    macro_rules! each {
        ($($way:expr, $takes:expr;)*) => {$({
            let line = line!();
            let guard = $way.unwrap();
            let status = slots.status();
            (calls, places) = (calls + 1, places + $takes);
            assert_eq!((guard.places(), held(&status).len(), status.available), ($takes, $takes, 4 - $takes));
            assert_eq!(held(&status), guard.slots());
            assert!(status.holders.iter().all(|holder| holder.fence == guard.fence()));
            assert!(status.holders.iter().all(|holder| holder.site.file() == file!() && holder.site.line() >= line));
            drop(guard);
            let status = slots.status();
            assert_eq!((status.granted, status.holds.count(), status.holders.len()), (calls, places as u64, 0));
        })*};
    }
    each! {
        slots.acquire(), 1;
        slots.acquire_owned(), 1;
        slots.try_acquire(), 1;
        slots.try_acquire_owned(), 1;
        slots.acquire_timeout(LONG), 1;
        slots.acquire_timeout_owned(LONG), 1;
        slots.acquire_deadline(by()), 1;
        slots.acquire_deadline_owned(by()), 1;
        slots.acquire_many(2), 2;
        slots.acquire_many_owned(2), 2;
        slots.try_acquire_many(3), 3;
        slots.try_acquire_many_owned(3), 3;
        slots.acquire_many_timeout(4, LONG), 4;
        slots.acquire_many_timeout_owned(4, LONG), 4;
        slots.acquire_many_deadline(2, by()), 2;
        slots.acquire_many_deadline_owned(2, by()), 2;
        block_on(slots.acquire_async()), 1;
        block_on(slots.acquire_owned_async()), 1;
        block_on(slots.acquire_many_async(2)), 2;
        block_on(slots.acquire_many_owned_async(2)), 2;
    }
    assert_eq!(calls, 20);
}

#[test]
fn a_holder_is_shown_with_its_call_site_and_its_thread() {
    let slots = observed(3);
    let (mine, line) = (slots.acquire().unwrap(), line!());
    let named = thread::Builder::new().name("worker".into());
    let theirs = named.spawn({
        let slots = slots.clone();
        move || (slots.acquire_owned().unwrap(), thread::current().id())
    });
    let (theirs, worker) = theirs.unwrap().join().unwrap();
    let task = block_on(slots.acquire_async()).unwrap();
    let status = slots.status();
    assert_eq!((status.holders[0].site.file(), status.holders[0].site.line()), (file!(), line));
    let name = |name: &str| Some(name.to_owned());
    let me = thread::current();
    assert_eq!(status.holders[0].caller, Caller::Thread { name: me.name().map(str::to_owned), id: me.id() });
    assert_eq!(status.holders[1].caller, Caller::Thread { name: name("worker"), id: worker });
    assert_eq!(status.holders[1].caller.to_string(), "thread worker");
    assert_eq!((&status.holders[2].caller, status.holders[2].caller.to_string()), (&Caller::Task, "task".to_owned()));
    assert_eq!((mine.slot(), theirs.slot(), task.slot()), (0, 1, 2));
}

#[test]
fn waiters_are_shown_by_call_site_the_oldest_first() {
    let slots = observed(1);
    let guard = slots.acquire().unwrap();
    let mut first = slots.acquire_async();
    assert!(poll(&mut first).is_pending());
    let mut several: Vec<_> = (0..3).map(|_| slots.acquire_owned_async()).collect();
    assert!(several.iter_mut().all(|one| poll(one).is_pending()));
    thread::scope(|s| {
        let waits = s.spawn(|| slots.acquire().map(|guard| guard.slot()));
        let status = until(&slots, |status| status.waiters == 5);
        let sites: Vec<_> = status.waiting_at.iter().map(|at| at.waiters).collect();
        assert_eq!(sites, [1, 3, 1]);
        assert!(status.waiting_at.is_sorted_by(|a, b| a.oldest_wait >= b.oldest_wait && a.site.line() < b.site.line()));
        assert_eq!(status.oldest_wait, Some(status.waiting_at[0].oldest_wait));
        drop(first); // gives up
        assert_eq!((slots.status().waiters, slots.status().cancelled), (4, 1));
        drop(guard);
        several.into_iter().for_each(|one| drop(block_on(one).unwrap()));
        assert_eq!(waits.join().unwrap(), Ok(0));
    });
    let status = slots.status();
    assert_eq!((status.waiters, status.oldest_wait, status.waiting_at.len()), (0, None, 0));
    assert_eq!((answers(&status), status.given_up.count()), ([5, 0, 1, 0, 0], 1));
    assert_eq!(status.waits.counts[0], 1, "one was let in at once");
}

#[test]
fn a_caller_that_gives_up_does_not_count_and_its_wait_does() {
    let slots = observed(1);
    let guard = slots.acquire().unwrap();
    assert_eq!(slots.acquire_timeout(NOT_LONG).unwrap_err(), AcquireTimeoutError::TimedOut);
    assert_eq!(slots.acquire_timeout(Duration::ZERO).unwrap_err(), AcquireTimeoutError::TimedOut);
    assert_eq!(slots.acquire_deadline(Instant::now() + NOT_LONG).unwrap_err(), AcquireTimeoutError::TimedOut);
    assert_eq!(slots.try_acquire().unwrap_err(), TryAcquireError::NoPlace);
    drop(slots.acquire_async()); // never polled, so it has not asked
    let mut cancelled = slots.acquire_async();
    assert!(poll(&mut cancelled).is_pending());
    assert!(poll(&mut cancelled).is_pending()); // polled twice, and waits once
    assert_eq!(slots.status().waiters, 1);
    drop(cancelled);
    let status = slots.status();
    assert_eq!((answers(&status), status.waiters, status.given_up.count()), ([1, 3, 1, 0, 1], 0, 4));
    assert!(status.given_up.max >= NOT_LONG && status.given_up.sum >= 2 * NOT_LONG);
    drop(guard);
    assert!(slots.try_acquire().is_ok(), "nothing was left in line");
}

#[test]
fn refusals_are_counted() {
    let slots = observed(2);
    assert!(matches!(slots.acquire_many(3).unwrap_err(), AcquireError::TooMany(_)));
    assert!(matches!(slots.acquire_many_timeout(3, LONG).unwrap_err(), AcquireTimeoutError::TooMany(_)));
    assert_eq!(slots.acquire_many(0).unwrap_err(), AcquireError::Nothing);
    assert_eq!(slots.try_acquire_many(0).unwrap_err(), TryAcquireError::Nothing);
    assert_eq!(block_on(slots.acquire_many_async(0)).unwrap_err(), AcquireError::Nothing);
    let all = slots.acquire_many(2).unwrap();
    let mut waits = slots.acquire_owned_async();
    assert!(poll(&mut waits).is_pending());
    thread::scope(|s| {
        let thread = s.spawn(|| slots.acquire().map(drop));
        until(&slots, |status| status.waiters == 2);
        slots.close();
        assert_eq!(thread.join().unwrap(), Err(Closed));
    });
    assert_eq!(block_on(waits).unwrap_err(), Closed);
    assert_eq!(slots.acquire().unwrap_err(), Closed);
    assert_eq!(slots.acquire_timeout(LONG).unwrap_err(), AcquireTimeoutError::Closed);
    let status = slots.status();
    assert!(status.closed && slots.is_closed());
    assert_eq!((answers(&status), status.waiters, status.given_up.count()), ([1, 0, 0, 9, 0], 0, 2));
    drop(all);
}

#[test]
fn parts_of_a_guard_keep_its_time_and_its_site() {
    let (slots, elsewhere) = (observed(4), observed(1));
    let (mut most, line) = (slots.acquire_many(3).unwrap(), line!());
    let part = most.split(1).unwrap();
    assert!(most.split(2).is_none());
    assert_eq!(held(&slots.status()), [0, 1, 2]);
    drop(most);
    let status = slots.status();
    assert_eq!((held(&status), status.holders[0].site.line()), (vec![part.slot()], line));
    let mut other = slots.acquire().unwrap();
    let fence = other.fence();
    other.merge(part).unwrap();
    let status = slots.status();
    assert_eq!((other.places(), other.fence(), held(&status).len()), (2, fence, 2));
    assert!(status.holders.iter().all(|holder| holder.fence == fence), "{status:?}");
    let refused = other.merge(elsewhere.acquire().unwrap()).unwrap_err().0;
    assert_eq!((refused.places(), held(&elsewhere.status())), (1, vec![0]));
    other.forget();
    let status = slots.status();
    assert_eq!((status.places, status.available, status.holders.len(), status.holds.count()), (2, 2, 0, 4));
    assert_eq!((slots.add(2), slots.forget(1), slots.places()), (Ok(()), 1, 3));
    assert_eq!(slots.status().granted, 2);
}

/// It is lost, and the figures say where.
#[test]
fn a_guard_or_a_future_that_is_leaked_is_shown_for_ever() {
    let slots = observed(3);
    let (leaked, line) = (slots.acquire().unwrap(), line!());
    mem::forget(leaked);
    let status = slots.status();
    assert_eq!((held(&status), status.holders[0].site.line()), (vec![0], line));

    let rest = slots.acquire_many(2).unwrap();
    let (mut waits, line) = (slots.acquire_owned_async(), line!());
    assert!(poll(&mut waits).is_pending());
    mem::forget(waits);
    drop(rest);
    let status = slots.status();
    assert_eq!((status.available, status.unaccounted(), status.waiters), (1, 1, 1));
    assert_eq!(status.waiting_at[0].site.line(), line);
    assert_eq!(slots.acquire().unwrap().slot(), 1, "the others go on");
    let again = slots.status();
    assert_eq!((again.unaccounted(), held(&again)), (1, vec![0]));
    assert!(again.oldest_wait >= status.oldest_wait);
}

/// A waker that panics when it is woken.
struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("a waker that panics");
    }
}

#[test]
fn panics_leave_true_figures() {
    let slots = observed(1);
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _guard = slots.acquire().unwrap();
        panic!("inside");
    }));
    assert!(unwound.is_err());
    let status = slots.status();
    assert_eq!((status.available, status.holders.len(), status.holds.count()), (1, 0, 1));

    // The waker of the first waiter panics when the holder leaves.
    let guard = slots.acquire().unwrap();
    let mut waits = slots.acquire_async();
    let waker = Waker::from(Arc::new(Panics));
    assert!(Pin::new(&mut waits).poll(&mut Context::from_waker(&waker)).is_pending());
    drop(guard); // the slots hide that panic from the holder
    let status = slots.status();
    assert_eq!((status.waiters, status.holders.len(), status.holds.count()), (1, 0, 2));
    let guard = block_on(waits).unwrap();
    let status = slots.status();
    assert_eq!((answers(&status), status.waiters, held(&status)), ([3, 0, 0, 0, 0], 0, vec![0]));

    // A waker that panics when a waiter registers it.
    let mut waits = slots.acquire_async();
    // SAFETY: the functions of the table do not touch the pointer.
    let waker = unsafe { Waker::from_raw(RawWaker::new(std::ptr::null(), &PANICS_WHEN_CLONED)) };
    let unwound = catch_unwind(AssertUnwindSafe(|| Pin::new(&mut waits).poll(&mut Context::from_waker(&waker))));
    assert!(unwound.is_err());
    drop(waits);
    let status = slots.status();
    assert_eq!((answers(&status)[0], status.waiters, held(&status)), (3, 0, vec![0]));
    drop(guard);
    assert!(slots.try_acquire().is_ok());
}

static PANICS_WHEN_CLONED: RawWakerVTable =
    RawWakerVTable::new(|_| panic!("a waker that cannot be cloned"), |_| {}, |_| {}, |_| {});

#[test]
fn a_hundred_thousand_waiters_are_counted_exactly() {
    const WAITERS: usize = 100_000;
    let slots = observed(1);
    let guard = slots.acquire().unwrap();
    let mut waits: Vec<_> = (0..WAITERS).map(|_| slots.acquire_async()).collect();
    assert!(waits.iter_mut().all(|one| poll(one).is_pending()));
    let status = slots.status();
    assert_eq!((status.waiters, status.waiting_at.len()), (WAITERS, 1));
    let mut i = 0;
    waits.retain(|_| {
        i += 1;
        i % 4 == 0
    });
    let status = slots.status();
    assert_eq!((status.waiters, status.cancelled), (WAITERS / 4, (WAITERS - WAITERS / 4) as u64));
    drop(guard);
    for (n, one) in waits.iter_mut().take(100).enumerate() {
        assert!(poll(one).is_ready());
        assert_eq!(slots.status().waiters, WAITERS / 4 - n - 1);
    }
    drop(waits);
    let status = slots.status();
    assert_eq!((status.waiters, status.oldest_wait, status.available), (0, None, 1));
    assert_eq!(status.given_up.count() + status.granted, WAITERS as u64 + 1);
}

#[test]
fn the_oldest_waiter_is_the_one_that_came_first_and_is_still_there() {
    let slots = observed(1);
    let _guard = slots.acquire().unwrap();
    let wait = || {
        let mut waits = slots.acquire_async();
        assert!(poll(&mut waits).is_pending());
        (waits, Instant::now())
    };
    let (first, since) = wait();
    while since.elapsed() < NOT_LONG {
        thread::yield_now();
    }
    let before = Instant::now();
    let _second = wait();
    let status = slots.status();
    assert_eq!((status.waiters, status.waiting_at.len()), (2, 1));
    assert!(status.oldest_wait >= Some(NOT_LONG) && status.waiting_at[0].oldest_wait >= NOT_LONG);
    drop(first);
    assert!(slots.status().oldest_wait <= Some(before.elapsed()));
}

/// A status of very many holders is assembled piece by piece.
#[test]
fn thousands_of_holders_are_all_shown() {
    const PLACES: usize = 5_000;
    let slots = observed(PLACES);
    let most = slots.acquire_many(PLACES - 1).unwrap();
    let status = slots.status();
    assert_eq!((held(&status), status.available), ((0..PLACES - 1).collect(), 1));
    drop(most);
    assert_eq!((slots.status().holders.len(), slots.status().holds.count()), (0, PLACES as u64 - 1));
}

/// Sets the flag even if the test fails, so that the threads that wait for its end do not wait for
/// ever.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

/// While threads come and go, each holding one place at a time, each status describes one moment.
#[test]
fn a_status_is_of_one_moment() {
    const THREADS: usize = 4;
    for places in [2, 40] {
        let slots = observed(places);
        // Other callers hold most places, so that slots of all parts are in use.
        let kept: Vec<_> = (3..places).map(|_| slots.acquire().unwrap()).collect();
        let free = places - kept.len();
        let is_over = AtomicBool::new(false);
        let passages: u64 = thread::scope(|s| {
            let pass = || {
                let mut passages = 0;
                while !is_over.load(SeqCst) {
                    let guard = slots.acquire().unwrap();
                    thread::yield_now();
                    drop(guard);
                    passages += 1;
                }
                passages
            };
            let threads: Vec<_> = (0..THREADS).map(|_| s.spawn(pass)).collect();
            let ends = Ends(&is_over);
            let (mut granted, mut with_holders) = (0, 0);
            while with_holders < 2_000 {
                let status = slots.status();
                let callers: Vec<_> = status.holders.iter().skip(kept.len()).map(|holder| &holder.caller).collect();
                let distinct: HashSet<_> = callers.iter().collect();
                assert_eq!(distinct.len(), callers.len(), "a thread holds one place at a time: {status:?}");
                assert!(callers.len() + status.waiters <= THREADS, "nobody holds and waits: {status:?}");
                let slots: BTreeSet<_> = held(&status).into_iter().collect();
                assert_eq!(slots.len(), status.holders.len());
                assert!(status.holders.len() + status.available <= places, "{status:?}");
                assert!(status.granted >= granted, "{status:?}");
                granted = status.granted;
                with_holders += usize::from(callers.len() >= free.min(2));
            }
            drop(ends);
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        let status = slots.status();
        assert_eq!(answers(&status), [passages + kept.len() as u64, 0, 0, 0, 0]);
        assert_eq!((status.holds.count(), status.holders.len(), status.waiters), (passages, kept.len(), 0));
    }
}

/// Threads and tasks give up in the middle of everything, and each call is counted once, by its
/// outcome.
#[test]
fn calls_of_many_threads_are_counted_once() {
    const CALLS: u64 = 400;
    let slots = observed(2);
    let call = |random: &mut fastrand::Rng, told: &mut [u64; 5]| {
        let many = 1 + usize::from(random.u8(..) < 50);
        let timeout = Duration::from_nanos(random.u64(..20_000));
        match random.u8(..4) {
            0 => match slots.acquire_many_timeout(many, timeout) {
                Ok(_guard) => told[0] += 1,
                Err(_) => told[1] += 1,
            },
            1 => match slots.try_acquire_many(many + 1) {
                Ok(_guard) => told[0] += 1,
                Err(TryAcquireError::NoPlace) => told[4] += 1,
                Err(_) => told[3] += 1,
            },
            2 => {
                let mut waits = slots.acquire_many_async(many);
                let polled = poll(&mut waits);
                thread::yield_now();
                match polled {
                    Poll::Ready(guard) => (told[0], _) = (told[0] + 1, guard.unwrap()),
                    Poll::Pending => told[2] += 1,
                }
            }
            _ => {
                let _guard = slots.acquire().unwrap();
                thread::yield_now();
                told[0] += 1;
            }
        }
    };
    let told = thread::scope(|s| {
        let threads: Vec<_> = (0..4)
            .map(|seed| {
                s.spawn(move || {
                    let (mut random, mut told) = (fastrand::Rng::with_seed(seed), [0; 5]);
                    (0..CALLS).for_each(|_| call(&mut random, &mut told));
                    told
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).fold([0; 5], |mut sum, told| {
            sum.iter_mut().zip(told).for_each(|(sum, one)| *sum += one);
            sum
        })
    });
    let status = slots.status();
    assert_eq!((answers(&status), told.iter().sum::<u64>()), (told, 4 * CALLS));
    assert_eq!((status.waits.count(), status.given_up.count()), (told[0], told[1] + told[2]));
    assert_eq!((status.waiters, status.holders.len(), status.available, status.unaccounted()), (0, 0, 2, 0));
}

type Waits = doorway::observed::AcquireOwned;

/// A caller does one thing after the other, at random, and the figures match those of a plain list.
#[test]
fn figures_are_those_of_a_list() {
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..60 {
        let places = random.usize(1..20);
        let slots = observed(places);
        let (mut guards, mut waits): (Vec<OwnedSlotGuard>, Vec<Waits>) = (Vec::new(), Vec::new());
        let (mut expected, mut came_back, mut asked) = ([0; 5], 0, 0);
        for _ in 0..120 {
            let what = random.u8(0..8);
            asked += u64::from(what < 4);
            match what {
                0 => match slots.try_acquire_owned() {
                    Ok(guard) => guards.push(guard),
                    Err(_) => expected[4] += 1,
                },
                1 => match slots.acquire_timeout_owned(Duration::ZERO) {
                    Ok(guard) => guards.push(guard),
                    Err(_) => expected[1] += 1,
                },
                2 => match slots.try_acquire_many_owned(random.usize(0..4)) {
                    Ok(guard) => guards.push(guard),
                    Err(TryAcquireError::NoPlace) => expected[4] += 1,
                    Err(_) => expected[3] += 1,
                },
                3 => {
                    let mut one = slots.acquire_owned_async();
                    match poll(&mut one) {
                        Poll::Ready(guard) => guards.push(guard.unwrap()),
                        Poll::Pending => waits.push(one),
                    }
                }
                4 if !waits.is_empty() => {
                    let i = random.usize(..waits.len());
                    if let Poll::Ready(guard) = poll(&mut waits[i]) {
                        drop(waits.remove(i));
                        guards.push(guard.unwrap());
                    }
                }
                5 if !waits.is_empty() => {
                    drop(waits.remove(random.usize(..waits.len())));
                    expected[2] += 1;
                }
                6 if guards.len() > 1 => {
                    let other = guards.remove(random.usize(..guards.len()));
                    let i = random.usize(..guards.len());
                    guards[i].merge(other).unwrap();
                    if random.bool() {
                        let part = guards[i].split(1).unwrap();
                        guards.push(part);
                    }
                }
                _ if !guards.is_empty() => {
                    let guard = guards.remove(random.usize(..guards.len()));
                    came_back += guard.places() as u64;
                }
                _ => {}
            }
            let status = slots.status();
            // Each call that has no other answer and does not wait was granted.
            expected[0] = asked - expected[1..].iter().sum::<u64>() - waits.len() as u64;
            let mut all: Vec<_> =
                guards.iter().flat_map(|guard| guard.slots().into_iter().map(|slot| (slot, guard.fence()))).collect();
            all.sort_unstable();
            let shown: Vec<_> = status.holders.iter().map(|holder| (holder.slot, holder.fence)).collect();
            assert_eq!(shown, all);
            assert_eq!((answers(&status), status.waiters, status.holds.count()), (expected, waits.len(), came_back));
            assert_eq!((status.places, status.available), (places, slots.available()));
            assert!(status.unaccounted() <= waits.len(), "only what is on its way to a waiter");
        }
    }
}

#[test]
fn loans_of_a_pool_are_shown() {
    let pool = Pool::new([10, 20, 30]).unwrap().observed("pool");
    let (first, line) = (pool.acquire().unwrap(), line!());
    let mut second = block_on(pool.acquire_owned_async()).unwrap();
    *second += 1;
    let third = pool.try_acquire_owned().unwrap();
    assert_eq!((*first, *second, *third, second.slot()), (10, 21, 30, 1));
    let status = pool.status();
    assert_eq!(status.holders[1].fence, second.fence());
    assert_eq!((held(&status), status.available, &*status.name), (vec![0, 1, 2], 0, "pool"));
    assert_eq!(status.holders[0].site.line(), line);
    assert_eq!(status.holders[1].caller, Caller::Task);
    assert!(pool.acquire_timeout(NOT_LONG).is_err() && pool.try_acquire().is_err());
    let mut waits = Box::pin(pool.acquire_async());
    assert!(poll(&mut waits).is_pending());
    assert_eq!((pool.status().waiters, pool.status().waiting_at[0].site.file()), (1, file!()));
    drop(waits);
    assert_eq!(third.take(), 30);
    let status = pool.status();
    assert_eq!((held(&status), status.places, answers(&status)), (vec![0, 1], 2, [3, 1, 1, 0, 1]));
    assert_eq!(pool.add(31), Ok(()));
    assert_eq!(*pool.acquire_deadline(Instant::now() + LONG).unwrap(), 31);
    drop((first, second));
    let mut all = pool.clone().drain();
    all.sort_unstable();
    assert_eq!((all, pool.status().closed, pool.status().holds.count()), (vec![10, 21, 31], true, 4));
}

/// Makes numbers for threads and tasks, unless it is told to fail.
struct Numbers(AtomicBool, AtomicUsize);

impl Manager for Numbers {
    type Value = usize;
    type Error = &'static str;
}

impl Numbers {
    fn next(&self) -> Result<usize, &'static str> {
        if self.0.load(SeqCst) { Err("told to fail") } else { Ok(self.1.fetch_add(1, SeqCst)) }
    }
}

impl Make for Numbers {
    fn make(&self) -> Result<usize, &'static str> {
        self.next()
    }
}

impl MakeAsync for Numbers {
    async fn make(&self) -> Result<usize, &'static str> {
        self.next()
    }
}

fn managed(places: usize) -> doorway::observed::Managed<Numbers> {
    Managed::new(Numbers(AtomicBool::new(false), AtomicUsize::new(0)), places).unwrap().observed("connections")
}

#[test]
fn loans_of_a_managed_pool_are_shown() {
    let pool = managed(3);
    let (mut first, line) = (pool.acquire().unwrap(), line!());
    let second = block_on(pool.acquire_owned_async()).unwrap();
    let third = pool.try_acquire_owned().unwrap();
    *first += 10;
    assert_eq!((*first, *second, *third, second.slot(), second.usage().lent), (10, 1, 2, 1, 0));
    let status = pool.status();
    assert_eq!((held(&status), status.available, &*status.name), (vec![0, 1, 2], 0, "connections"));
    assert_eq!((status.holders[0].site.line(), status.holders[0].site.file()), (line, file!()));
    assert_eq!((status.holders[1].caller.clone(), status.holders[1].site.file()), (Caller::Task, file!()));
    assert!(pool.acquire_timeout(NOT_LONG).is_err() && pool.try_acquire().is_err());
    let mut waits = Box::pin(pool.acquire_async());
    assert!(poll(&mut waits).is_pending());
    assert_eq!((pool.status().waiters, pool.status().waiting_at[0].site.file()), (1, file!()));
    drop(waits);
    assert_eq!(third.take(), 2);
    let status = pool.status();
    assert_eq!((held(&status), status.places, answers(&status)), (vec![0, 1], 3, [3, 1, 1, 0, 1]));
    assert_eq!(*pool.acquire_deadline_owned(Instant::now() + LONG).unwrap(), 3); // a new one
    drop((first, second));
    assert_eq!((pool.statistics().made, pool.statistics().idle, pool.status().holds.count()), (4, 3, 4));
    assert_eq!((pool.clone().drain(), pool.status().closed), (Ok(()), true));
}

#[test]
fn a_managed_pool_that_cannot_make_a_value_shows_no_holder() {
    let pool = managed(1);
    pool.manager().0.store(true, SeqCst);
    assert_eq!(pool.acquire().unwrap_err(), ManagedError::Make("told to fail"));
    assert_eq!(block_on(pool.acquire_async()).unwrap_err(), ManagedError::Make("told to fail"));
    let status = pool.status();
    // It had a place, for as long as the manager tried.
    assert_eq!((held(&status), status.available, status.granted, status.holds.count()), (vec![], 1, 2, 2));
    pool.manager().0.store(false, SeqCst);
    assert_eq!(pool.acquire().map(|lent| *lent), Ok(0));
    assert_eq!(pool.fill(1), Ok(1));
}

#[test]
fn places_of_a_managed_pool_that_must_go_are_not_shown_any_more() {
    let pool = managed(2);
    let (one, two) = (pool.acquire().unwrap(), pool.acquire().unwrap());
    pool.resize(1).unwrap();
    assert_eq!((pool.places(), pool.status().holders.len()), (1, 2));
    drop(one);
    assert_eq!((held(&pool.status()), pool.status().places, pool.status().unaccounted()), (vec![1], 1, 0));
    drop(two);
    pool.close();
    assert!(pool.is_closed() && pool.status().closed);
    assert_eq!(pool.acquire().unwrap_err(), ManagedError::Closed);
}

#[test]
fn a_place_of_a_managed_pool_goes_even_if_the_manager_fails() {
    type Failing = FromFn<fn() -> Result<u8, &'static str>>;
    static POOL: OnceLock<doorway::observed::Managed<Failing>> = OnceLock::new();
    fn shrinks() -> Result<u8, &'static str> {
        POOL.get().unwrap().resize(0).map_err(|_| "it grew")?;
        Err("it shrank")
    }
    let pool = POOL.get_or_init(|| Managed::from_fn(1, shrinks as fn() -> _).unwrap().observed("shrinks"));
    assert_eq!(pool.acquire().unwrap_err(), ManagedError::Make("it shrank"));
    let status = pool.status();
    assert_eq!((held(&status), status.places, status.available), (vec![], 0, 0));
}

#[test]
fn what_is_observed_goes_where_the_plain_one_goes() {
    fn goes_anywhere<T: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe + 'static>() {}
    fn is_send<T: Send>(_: T) {}
    goes_anywhere::<Slots>();
    goes_anywhere::<OwnedSlotGuard>();
    goes_anywhere::<Status>();
    let pool = Pool::new([1]).unwrap().observed("pool");
    is_send(pool.acquire_owned_async());
    is_send(pool.acquire_async());
    goes_anywhere::<doorway::observed::Managed<Numbers>>();
    is_send(managed(1).acquire_owned_async());
    is_send(managed(1).acquire_async());
    assert!(size_of::<Book>() <= 12 << 10, "a book has {} bytes", size_of::<Book>());
    if !cfg!(feature = "tracing") {
        assert!(size_of::<Waits>() <= 128, "a future has {} bytes", size_of::<Waits>());
    }
}

proptest! {
    /// Quantiles are within the given bounds, which are at most a factor of two apart.
    #[test]
    fn quantiles_are_within_their_bounds(times in prop::collection::vec(0..u64::MAX, 1..60), shift in 0..64_u32, q in 0.0..=1.0_f64) {
        let mut times: Vec<_> = times.into_iter().map(|time| Duration::from_nanos(time >> shift)).collect();
        let mut histogram = Histogram::default();
        times.iter().for_each(|time| histogram.record(*time));
        times.sort_unstable();
        let rank = ((q * times.len() as f64).ceil() as usize).max(1);
        let bounds = histogram.quantile(q).unwrap();
        prop_assert!(bounds.contains(&times[rank - 1]), "{bounds:?} for {:?}", times[rank - 1]);
        prop_assert!(bounds.end().as_nanos() <= 2 * bounds.start().as_nanos().max(1));
        prop_assert_eq!(histogram.count(), times.len() as u64);
        prop_assert_eq!((histogram.sum, histogram.max), (times.iter().sum(), times[times.len() - 1]));
        let mut twice = histogram.clone();
        twice.absorb(&histogram);
        prop_assert_eq!((twice.quantile(q), twice.mean()), (Some(bounds), histogram.mean()));
    }
}

#[test]
fn a_histogram_of_nothing_and_of_all_there_is() {
    let mut histogram = Histogram::default();
    assert_eq!((histogram.quantile(0.5), histogram.mean(), histogram.count()), (None, None, 0));
    histogram.record(Duration::MAX); // longer than any bucket
    histogram.record(Duration::MAX);
    assert_eq!((histogram.sum, histogram.counts[64]), (Duration::MAX, 2));
    assert_eq!(histogram.quantile(0.5).map(|bounds| *bounds.end()), Some(Duration::MAX));
    for q in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert_eq!(histogram.quantile(q), None);
    }
    assert_eq!(format!("{:?}", Histogram::default()), "Histogram { up_to: [], sum: 0ns, max: 0ns }");
}
