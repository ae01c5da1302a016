//! What users of [`Slots`] rely on.

mod slots_kit;

use doorway::slots::{OwnedSlotGuard, Permit, Unnumbered};
use doorway::waiting::Policy;
use doorway::{AcquireError, AcquireTimeoutError, Closed, SizeError, Slots, TooMany, TryAcquireError};
use slots_kit::{Bell, block_on, look, until};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// Long enough for everything that must happen.
const LONG: Duration = Duration::from_secs(600);
/// The shortest duration.
const TINY: Duration = Duration::from_nanos(1);

fn shared(places: usize) -> Arc<Slots> {
    Arc::new(Slots::new(places).unwrap())
}

fn is_waiting(slots: &Slots, units: u64) -> bool {
    look(slots).waiting == units
}

type Waits = Pin<Box<dyn Future<Output = Result<OwnedSlotGuard, Closed>> + Send>>;

/// A task that asked for a place, and its waker.
fn ask(slots: &Arc<Slots>) -> (Waits, Arc<Bell>) {
    let slots = Arc::clone(slots);
    (Box::pin(async move { slots.acquire_owned_async().await }), Arc::default())
}

fn poll<F: Future + Unpin>(future: &mut F, bell: &Arc<Bell>) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(&Waker::from(Arc::clone(bell))))
}

fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Takes all places at once.
fn all_can_be_taken(slots: &Slots) {
    let places = slots.places();
    let guards: Vec<_> = (0..places).map(|_| slots.try_acquire().unwrap()).collect();
    assert_eq!(guards.iter().map(Permit::slot).collect::<Vec<_>>(), (0..places).collect::<Vec<_>>());
    assert_eq!(slots.try_acquire().unwrap_err(), TryAcquireError::NoPlace);
}

/// Callers that gave up are ghosts in line until the front reaches them. They do not count as
/// waiting.
#[test]
fn debug_tells_the_living_from_those_that_gave_up() {
    let slots = Slots::new(3).unwrap();
    let debug = || {
        let text = format!("{slots:?}");
        text.split_once("waiting: ").unwrap().1.trim_end_matches(" }").to_owned()
    };
    let held = slots.acquire_many(3).unwrap();
    let mut patient = Box::pin(slots.acquire_async());
    assert!(poll_once(patient.as_mut()).is_pending());
    assert_eq!(debug(), "1");
    {
        let mut gives_up = pin!(slots.acquire_async());
        assert!(poll_once(gives_up.as_mut()).is_pending());
        assert_eq!(debug(), "2");
    }
    assert_eq!(debug(), "1, gave_up: 1");
    let mut behind = Box::pin(slots.acquire_many_async(2));
    assert!(poll_once(behind.as_mut()).is_pending());
    {
        let mut gives_up = pin!(slots.acquire_many_async(2));
        assert!(poll_once(gives_up.as_mut()).is_pending());
        assert_eq!(debug(), "5, gave_up: 1"); // counts the places that are asked for
    }
    assert_eq!(debug(), "3, gave_up: 3");
    drop(patient);
    assert_eq!(debug(), "2, gave_up: 2"); // ghosts without a waiter before them are gone
    drop(held);
    assert!(poll_once(behind.as_mut()).is_ready());
    assert_eq!(debug(), "0");
}

#[test]
fn sizes_that_make_no_sense_are_refused() {
    assert_eq!(Slots::new(0).unwrap_err(), SizeError::NoPlace);
    assert!(matches!(Slots::new(Slots::MOST + 1), Err(SizeError::TooManyPlaces(_))));
    assert!(matches!(Slots::new(1).unwrap().room_for(Slots::MOST + 1), Err(SizeError::TooManyPlaces(_))));
}

/// Slots that are made before the program runs equal those that are made later.
#[test]
fn a_static_is_like_any_other() {
    static MADE: [Slots; 3] = [Slots::const_new(1), Slots::const_new(5), Slots::const_new(16)];
    for made in &MADE {
        let new = Slots::new(made.places()).unwrap();
        assert_eq!(format!("{made:?}"), format!("{new:?}"));
        assert_eq!(made.add(17).unwrap_err(), new.add(17).unwrap_err()); // the same room
        for slots in [made, &new] {
            let fences: Vec<_> = (0..3).map(|_| slots.acquire().unwrap().fence()).collect();
            assert!(fences.is_sorted_by(|a, b| a < b), "{fences:?}");
            all_can_be_taken(slots);
            let all = slots.acquire_many(slots.places()).unwrap();
            thread::scope(|s| {
                let waits: Vec<_> = (0..3).map(|_| s.spawn(|| slots.acquire().unwrap().slot())).collect();
                until(slots, |slots| is_waiting(slots, 3));
                drop(all);
                assert!(waits.into_iter().all(|waits| waits.join().unwrap() < slots.places()));
            });
        }
    }
    assert!(catch_unwind(|| Slots::const_new(0)).is_err());
    assert!(catch_unwind(|| Slots::const_new(17)).is_err());
}

#[test]
fn slots_are_unique_and_the_lowest_free_one_comes_first() {
    for places in [5, 64, 65, 200] {
        let slots = Slots::new(places).unwrap();
        let mut guards: Vec<_> = (0..places).map(|_| slots.acquire().unwrap()).collect();
        assert_eq!(guards.iter().map(Permit::slot).collect::<Vec<_>>(), (0..places).collect::<Vec<_>>());
        drop(guards.remove(3));
        drop(guards.remove(1));
        assert_eq!(slots.acquire().unwrap().slot(), 1);
        let (one, three) = (slots.acquire().unwrap(), slots.acquire().unwrap());
        assert_eq!((one.slot(), three.slot(), slots.available()), (1, 3, 0));
    }
}

#[test]
fn a_waiter_is_let_in() {
    let slots = shared(1);
    let held = slots.acquire().unwrap();
    let waits = thread::spawn({
        let slots = Arc::clone(&slots);
        move || slots.acquire().unwrap().slot()
    });
    until(&slots, |slots| is_waiting(slots, 1));
    assert_eq!((slots.available(), slots.try_acquire().unwrap_err()), (0, TryAcquireError::NoPlace));
    drop(held);
    assert_eq!(waits.join().unwrap(), 0);
    all_can_be_taken(&slots);
}

#[test]
fn every_policy_lets_threads_in() {
    let policies = [Policy::PARK, Policy::YIELD, Policy::PARK.turns(0, 0)];
    for policy in policies.into_iter().chain([Policy::PARK.at_most(Duration::from_millis(1))]) {
        let slots = Slots::new(1).unwrap().with_policy(policy);
        let (turns, inside) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    for _ in 0..300 {
                        let _guard = slots.acquire().unwrap();
                        assert_eq!(inside.fetch_add(1, SeqCst), 0);
                        turns.fetch_add(1, SeqCst);
                        inside.fetch_sub(1, SeqCst);
                    }
                });
            }
        });
        assert_eq!(turns.load(SeqCst), 900);
    }
}

#[test]
fn times_of_all_kinds_run_out_or_do_not() {
    let slots = Slots::new(1).unwrap();
    let now = Instant::now();
    // A free place is taken, whatever the timeout.
    for timeout in [Duration::ZERO, TINY, LONG, Duration::MAX] {
        assert_eq!(slots.acquire_timeout(timeout).unwrap().slot(), 0);
        assert_eq!(slots.acquire_many_timeout(1, timeout).unwrap().slots(), [0]);
    }
    for deadline in [now.checked_sub(Duration::from_millis(1)).unwrap_or(now), now, now + LONG] {
        assert_eq!(slots.acquire_deadline(deadline).unwrap().slot(), 0);
        assert_eq!(slots.acquire_many_deadline(1, deadline).unwrap().slots(), [0]);
    }
    let held = slots.acquire().unwrap();
    for timeout in [Duration::ZERO, TINY, Duration::from_millis(2)] {
        assert_eq!(slots.acquire_timeout(timeout).unwrap_err(), AcquireTimeoutError::TimedOut);
        assert_eq!(slots.acquire_many_timeout(1, timeout).unwrap_err(), AcquireTimeoutError::TimedOut);
        assert_eq!(slots.acquire_deadline(Instant::now() + timeout).unwrap_err(), AcquireTimeoutError::TimedOut);
        assert_eq!(slots.acquire_many_deadline(1, now).unwrap_err(), AcquireTimeoutError::TimedOut);
    }
    drop(held);
    all_can_be_taken(&slots);
}

#[test]
fn a_timeout_beyond_the_end_of_time_is_none() {
    let slots = shared(1);
    for far in [Duration::MAX, Duration::from_secs(u64::MAX / 2), LONG] {
        let held = slots.acquire().unwrap();
        let waits = thread::spawn({
            let slots = Arc::clone(&slots);
            move || slots.acquire_timeout(far).map(|guard| guard.slot())
        });
        until(&slots, |slots| is_waiting(slots, 1));
        drop(held);
        assert_eq!(waits.join().unwrap(), Ok(0));
    }
    // The same with the farthest possible point in time.
    let mut far = Instant::now();
    for step in (0..64).rev() {
        far = far.checked_add(Duration::from_secs(1 << step)).unwrap_or(far);
    }
    let held = slots.acquire().unwrap();
    thread::scope(|s| {
        let waits = s.spawn(|| slots.acquire_deadline(far).map(|guard| guard.slot()));
        until(&slots, |slots| is_waiting(slots, 1));
        drop(held);
        assert_eq!(waits.join().unwrap(), Ok(0));
    });
}

#[test]
fn a_caller_that_gives_up_loses_nothing_of_others() {
    let slots = shared(1);
    let held = slots.acquire().unwrap();
    let (mut first, first_bell) = ask(&slots);
    assert!(poll(&mut first, &first_bell).is_pending());
    let (mut dropped, dropped_bell) = ask(&slots);
    assert!(poll(&mut dropped, &dropped_bell).is_pending());
    let (mut last, last_bell) = ask(&slots);
    assert!(poll(&mut last, &last_bell).is_pending());
    drop(dropped);
    assert_eq!(slots.acquire_timeout(TINY).unwrap_err(), AcquireTimeoutError::TimedOut);
    drop(held);
    assert_eq!((first_bell.rings(), dropped_bell.rings(), last_bell.rings()), (1, 0, 0));
    let Poll::Ready(Ok(guard)) = poll(&mut first, &first_bell) else { panic!("it is let in") };
    assert!(poll(&mut last, &last_bell).is_pending());
    drop(guard);
    let Poll::Ready(Ok(guard)) = poll(&mut last, &last_bell) else { panic!("past a caller that gave up") };
    drop(guard);
    all_can_be_taken(&slots);
}

#[test]
fn a_future_that_is_dropped_after_its_grant_passes_the_place_on() {
    let slots = shared(1);
    let held = slots.acquire().unwrap();
    let (mut first, first_bell) = ask(&slots);
    let (mut second, second_bell) = ask(&slots);
    assert!(poll(&mut first, &first_bell).is_pending() && poll(&mut second, &second_bell).is_pending());
    drop(held);
    assert_eq!((first_bell.rings(), second_bell.rings()), (1, 0));
    drop(first);
    assert_eq!(second_bell.rings(), 1);
    assert!(matches!(poll(&mut second, &second_bell), Poll::Ready(Ok(_))));
    all_can_be_taken(&slots);
}

#[test]
fn futures_that_are_never_polled_ask_for_nothing() {
    let slots = shared(1);
    drop(ask(&slots));
    let (mut asks, bell) = ask(&slots);
    let held = slots.try_acquire().unwrap();
    assert!(poll(&mut asks, &bell).is_pending());
    drop(held);
    assert!(matches!(poll(&mut asks, &bell), Poll::Ready(Ok(_))));
}

/// Wakers may differ from poll to poll, and only the last one counts.
#[test]
fn the_last_waker_is_woken() {
    let slots = shared(1);
    let held = slots.acquire().unwrap();
    let (mut asks, first) = ask(&slots);
    let second = Arc::default();
    assert!(poll(&mut asks, &first).is_pending() && poll(&mut asks, &second).is_pending());
    drop(held);
    assert_eq!((first.rings(), second.rings()), (0, 1));
}

/// A task may be polled on different threads and keeps its place in line.
#[test]
fn a_task_that_moves_to_another_thread_keeps_its_place() {
    let slots = shared(1);
    let held = slots.acquire().unwrap();
    let (mut asks, bell) = ask(&slots);
    assert!(poll(&mut asks, &bell).is_pending());
    let slot = thread::spawn(move || block_on(asks).map(|guard| guard.slot()));
    drop(held);
    assert_eq!(slot.join().unwrap(), Ok(0));
}

#[test]
fn guards_that_own_go_anywhere() {
    let slots = shared(2);
    let guard = {
        let slots = Arc::clone(&slots);
        slots.acquire_owned().unwrap()
    };
    let other = block_on(slots.acquire_owned_async()).unwrap();
    assert_eq!(slots.try_acquire_owned().unwrap_err(), TryAcquireError::NoPlace);
    assert_eq!(slots.acquire_timeout_owned(TINY).unwrap_err(), AcquireTimeoutError::TimedOut);
    assert_eq!(slots.acquire_deadline_owned(Instant::now()).unwrap_err(), AcquireTimeoutError::TimedOut);
    let (sender, receiver) = mpsc::channel::<OwnedSlotGuard>();
    let far = thread::spawn(move || receiver.iter().map(|guard| guard.slot()).sum::<usize>());
    sender.send(guard).unwrap();
    sender.send(other).unwrap();
    drop(sender);
    assert_eq!(far.join().unwrap(), 1);
    let (one, two) = (slots.acquire_many_owned(1).unwrap(), slots.try_acquire_many_owned(1).unwrap());
    drop(slots); // they live on in the guards
    assert_eq!((one.slot(), two.slot()), (0, 1));
}

#[test]
fn two_callers_that_want_two_of_two_do_not_block_each_other() {
    let slots = Slots::new(2).unwrap();
    let inside = AtomicUsize::new(0);
    thread::scope(|s| {
        for i in 0..4 {
            let (slots, inside) = (&slots, &inside);
            s.spawn(move || {
                for _ in 0..500 {
                    let both =
                        if i % 2 == 0 { slots.acquire_many(2) } else { block_on(slots.acquire_many_async(2)) }.unwrap();
                    assert_eq!((both.slots(), inside.fetch_add(1, SeqCst)), (vec![0, 1], 0));
                    inside.fetch_sub(1, SeqCst);
                }
            });
        }
    });
    all_can_be_taken(&slots);
}

#[test]
fn none_is_refused_and_so_are_too_many() {
    let slots = Slots::new(3).unwrap();
    let all = slots.acquire_many(3).unwrap();
    assert_eq!(slots.acquire_many(0).unwrap_err(), AcquireError::Nothing);
    assert_eq!(slots.try_acquire_many(0).unwrap_err(), TryAcquireError::Nothing);
    assert_eq!(block_on(slots.acquire_many_async(0)).unwrap_err(), AcquireError::Nothing);
    assert_eq!(slots.acquire_many_timeout(0, Duration::ZERO).unwrap_err(), AcquireTimeoutError::Nothing);
    let too_many = TooMany { asked: 4, most: 3 };
    assert_eq!(slots.acquire_many(4).unwrap_err(), AcquireError::TooMany(too_many));
    assert_eq!(slots.try_acquire_many(4).unwrap_err(), TryAcquireError::TooMany(too_many));
    assert_eq!(slots.acquire_many_timeout(4, LONG).unwrap_err(), AcquireTimeoutError::TooMany(too_many));
    assert_eq!(block_on(slots.acquire_many_async(4)).unwrap_err(), AcquireError::TooMany(too_many));
    assert!(slots.acquire_many(usize::MAX).is_err());
    drop(all);
    all_can_be_taken(&slots);
}

/// Asks for the largest number of places, and for those at which tickets and gates run out of bits.
/// Newcomers that try first are refused like all others.
#[test]
fn too_many_are_refused_by_every_kind_of_slots() {
    fn refuses<N: doorway::slots::Numbering>(slots: &Slots<N>) {
        let _held = slots.acquire().unwrap();
        for bits in [2, 16, 17, 31, 32, 40, 41, 42, 43, 53, 54, 63].into_iter().filter(|&bits| bits < usize::BITS) {
            for asked in [1usize << bits, (1 << bits) + 1, usize::MAX - bits as usize] {
                let too_many = TooMany { asked, most: 2 };
                assert_eq!(slots.acquire_many(asked).map(drop).unwrap_err(), AcquireError::TooMany(too_many));
                assert_eq!(slots.try_acquire_many(asked).map(drop).unwrap_err(), TryAcquireError::TooMany(too_many));
                let timed = slots.acquire_many_timeout(asked, Duration::ZERO).map(drop);
                assert_eq!(timed.unwrap_err(), AcquireTimeoutError::TooMany(too_many));
                let task = block_on(slots.acquire_many_async(asked)).map(drop);
                assert_eq!(task.unwrap_err(), AcquireError::TooMany(too_many));
            }
        }
        assert_eq!(slots.available(), 1);
    }
    refuses(&Slots::new(2).unwrap());
    refuses(&Slots::new(2).unwrap().unfair());
    refuses(&Slots::new(2).unwrap().without_numbers());
    refuses(&Slots::new(2).unwrap().unfair().without_numbers());
}

/// One place is free, and still no caller passes one that came earlier and wants two.
#[test]
fn a_caller_behind_one_that_wants_many_waits_with_it() {
    let slots = shared(2);
    let (first, second) = (slots.acquire().unwrap(), slots.acquire().unwrap());
    let mut two = pin!(slots.acquire_many_async(2));
    assert!(poll_once(two.as_mut()).is_pending());
    let (mut one, bell) = ask(&slots);
    assert!(poll(&mut one, &bell).is_pending());
    drop(first);
    assert!(poll_once(two.as_mut()).is_pending() && poll(&mut one, &bell).is_pending());
    assert_eq!(slots.try_acquire().unwrap_err(), TryAcquireError::NoPlace);
    drop(second);
    assert_eq!(bell.rings(), 0);
    let Poll::Ready(Ok(both)) = poll_once(two.as_mut()) else { panic!("both are free") };
    assert_eq!(both.slots(), [0, 1]);
    assert!(poll(&mut one, &bell).is_pending());
    drop(both);
    assert!(matches!(poll(&mut one, &bell), Poll::Ready(Ok(_))));
}

/// The caller already had one of its two places.
#[test]
fn a_caller_that_gives_up_with_a_part_gives_it_to_the_next() {
    let slots = shared(2);
    let (first, second) = (slots.acquire().unwrap(), slots.acquire().unwrap());
    let (mut one, bell) = ask(&slots);
    {
        let mut two = pin!(slots.acquire_many_async(2));
        assert!(poll_once(two.as_mut()).is_pending());
        assert!(poll(&mut one, &bell).is_pending());
        drop(first);
        assert!(poll_once(two.as_mut()).is_pending());
        assert_eq!(bell.rings(), 0);
    }
    assert_eq!(bell.rings(), 1);
    let Poll::Ready(Ok(guard)) = poll(&mut one, &bell) else { panic!("it is next") };
    drop((guard, second));
    assert_eq!(slots.acquire_many(2).unwrap().slots(), [0, 1]);
}

#[test]
fn guards_can_be_split_and_each_part_goes_for_itself() {
    let slots = shared(4);
    let mut all = slots.acquire_many_owned(4).unwrap();
    assert!(all.split(5).is_none());
    // A guard of nothing would have no slot of its own.
    assert!(all.split(0).is_none() && all.split(4).is_none());
    let mut two = all.split(2).unwrap();
    assert_eq!((all.slots(), two.slots()), (vec![0, 1], vec![2, 3]));
    assert_eq!(all.fence(), two.fence()); // that of the grant
    let one = two.split(1).unwrap();
    drop(two);
    assert_eq!((slots.available(), slots.acquire().unwrap().slot()), (1, 2));
    assert!(all.split(2).is_none());
    let rest = all.split(1).unwrap();
    assert_eq!((all.slot(), rest.slot()), (0, 1));
    drop(all);
    assert_eq!(slots.available(), 2);
    thread::spawn(move || drop((one, rest))).join().unwrap();
    all_can_be_taken(&slots);
}

#[test]
fn forgotten_places_are_gone_and_their_slots_are_not() {
    let slots = Slots::new(4).unwrap();
    let mut three = slots.acquire_many(3).unwrap();
    three.split(1).unwrap().forget();
    assert_eq!((slots.places(), slots.available()), (3, 1));
    assert_eq!(slots.acquire().unwrap().slot(), 2);
    three.forget();
    assert_eq!((slots.places(), slots.available()), (1, 1));
    assert_eq!(slots.acquire_many(2).unwrap_err(), AcquireError::TooMany(TooMany { asked: 2, most: 1 }));
    assert_eq!((slots.forget(0), slots.forget(7), slots.forget(1)), (0, 1, 0));
    assert_eq!((slots.places(), slots.available()), (0, 0));
    slots.add(2).unwrap();
    all_can_be_taken(&slots);
}

#[test]
fn places_can_be_added_as_long_as_there_is_room() {
    let slots = Slots::new(1).unwrap();
    let room = slots.add(usize::MAX).unwrap_err().most + 1;
    assert!(room >= 1);
    assert_eq!(slots.add(room).unwrap_err(), TooMany { asked: room, most: room - 1 });
    slots.add(0).unwrap();
    slots.add(room - 1).unwrap();
    assert_eq!(slots.add(1).unwrap_err(), TooMany { asked: 1, most: 0 });
    assert_eq!((slots.places(), slots.available()), (room, room));
    all_can_be_taken(&slots);

    let slots = Slots::new(3).unwrap().room_for(2).unwrap();
    assert_eq!(slots.places(), 3);
    let slots = slots.room_for(1000).unwrap();
    slots.add(997).unwrap();
    all_can_be_taken(&slots);
}

/// However many places are added at once.
#[test]
fn places_that_are_added_let_all_waiters_in() {
    for added in [1, 7, 63, 999] {
        let slots = Arc::new(Slots::new(1).unwrap().room_for(added + 1).unwrap());
        let _held = slots.acquire().unwrap();
        let mut waiting: Vec<_> = (0..20).map(|_| ask(&slots)).collect();
        assert!(waiting.iter_mut().all(|(task, bell)| poll(task, bell).is_pending()));
        slots.add(added).unwrap();
        let polled: Vec<_> = waiting.iter_mut().map(|(task, bell)| poll(task, bell)).collect();
        let inside: Vec<_> = polled.iter().map(Poll::is_ready).collect();
        assert_eq!(inside, (0..20).map(|i| i < added).collect::<Vec<_>>(), "{added} more");
    }
}

#[test]
fn places_that_a_leaked_waiter_left_are_there_when_room_is_made_or_the_bound_changes() {
    let with_a_leaked_waiter = || {
        let slots = Slots::new(2).unwrap().bypass(8);
        let guards = [slots.acquire().unwrap(), slots.acquire().unwrap()];
        let mut waits = slots.acquire_async();
        assert!(poll(&mut waits, &Arc::default()).is_pending());
        std::mem::forget(waits);
        drop(guards); // these places are for newcomers: no waiter looks for them
        slots
    };
    let has_both = |slots: Slots<_>| {
        let _guards = [slots.try_acquire().unwrap(), slots.try_acquire().unwrap()];
        assert!(slots.try_acquire().is_err());
    };
    has_both(with_a_leaked_waiter());
    has_both(with_a_leaked_waiter().bypass(9));
    has_both(with_a_leaked_waiter().room_for(20).unwrap());
}

#[test]
fn the_slots_of_a_leaked_guard_are_nobody_elses_when_room_is_made() {
    let mut slots = Slots::new(8).unwrap();
    {
        let mut held: Vec<_> = (0..7).map(|_| slots.acquire().unwrap()).collect();
        std::mem::forget(held.remove(5));
        std::mem::forget(held.remove(1));
    }
    std::mem::forget(slots.acquire_many(2).unwrap());
    // Up to 16 slots are in flags, more of them in a bitmap.
    for room in [16, 17, 200] {
        let fence = slots.acquire().unwrap().fence();
        slots = slots.room_for(room).unwrap();
        assert_eq!((slots.places(), slots.available()), (8, 4));
        let rest = slots.acquire_many(4).unwrap();
        assert_eq!(rest.slots(), [3, 4, 6, 7], "0, 1, 2 and 5 are leaked; room for {room}");
        assert!(rest.fence() > fence);
        drop(rest);
        assert_eq!(slots.acquire().unwrap().slot(), 3);
    }
}

#[test]
fn room_is_made_without_losing_what_was_said_before() {
    let slots = Slots::new(2).unwrap().unfair();
    std::mem::forget(slots.acquire().unwrap());
    let slots = slots.room_for(100).unwrap();
    assert_eq!((slots.places(), slots.available()), (2, 1));
    slots.close();
    assert!(slots.room_for(200).unwrap().is_closed());
}

#[test]
fn closing_turns_away_all_waiters() {
    let slots = shared(1);
    let held = slots.acquire().unwrap();
    let threads: Vec<_> = (0..4)
        .map(|i| {
            let slots = Arc::clone(&slots);
            thread::spawn(move || match i % 2 {
                0 => slots.acquire().map(drop).unwrap_err(),
                _ => match slots.acquire_timeout(LONG) {
                    Err(AcquireTimeoutError::Closed) => Closed,
                    other => panic!("{other:?}"),
                },
            })
        })
        .collect();
    until(&slots, |slots| is_waiting(slots, 4));
    let mut tasks: Vec<_> = (0..4).map(|_| ask(&slots)).collect();
    assert!(tasks.iter_mut().all(|(task, bell)| poll(task, bell).is_pending()));
    let mut many = pin!(slots.acquire_many_async(1));
    assert!(poll_once(many.as_mut()).is_pending());
    slots.close();
    slots.close(); // which changes nothing
    threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), Closed));
    for (task, bell) in &mut tasks {
        assert_eq!(bell.rings(), 1);
        assert!(matches!(poll(task, bell), Poll::Ready(Err(Closed))));
    }
    assert!(matches!(poll_once(many.as_mut()), Poll::Ready(Err(AcquireError::Closed))));
    assert!(slots.is_closed() && held.slot() == 0);
    drop(held);
    assert!(slots.acquire().is_err());
}

#[test]
fn nobody_gets_in_after_it_was_closed() {
    for slots in [Slots::new(2).unwrap(), Slots::new(2).unwrap().unfair()] {
        let held = slots.acquire().unwrap();
        slots.close();
        let late = Instant::now() + LONG;
        assert_eq!(slots.acquire().unwrap_err(), Closed);
        assert_eq!(slots.try_acquire().unwrap_err(), TryAcquireError::Closed);
        assert_eq!(slots.acquire_timeout(LONG).unwrap_err(), AcquireTimeoutError::Closed);
        assert_eq!(slots.acquire_deadline(late).unwrap_err(), AcquireTimeoutError::Closed);
        assert_eq!(slots.acquire_many(2).unwrap_err(), AcquireError::Closed);
        assert_eq!(block_on(slots.acquire_async()).unwrap_err(), Closed);
        assert_eq!(block_on(slots.acquire_many_async(2)).unwrap_err(), AcquireError::Closed);
        slots.add(1).unwrap();
        assert_eq!((slots.forget(1), slots.places()), (0, 3));
        held.forget();
        assert_eq!(slots.places(), 2);
        assert!(format!("{slots:?}").contains("closed: true"));
    }
}

/// Polls all woken tasks until none is left. Each is inside for a moment.
fn drain(slots: &Arc<Slots>, tasks: &mut Vec<(Waits, Arc<Bell>)>) {
    while !tasks.is_empty() {
        let before = tasks.len();
        tasks.retain_mut(|(task, bell)| bell.takes() == 0 || poll(task, bell).is_pending());
        assert!(tasks.len() < before, "no task was woken: {slots:?}");
    }
}

/// Tickets that were given up do not stay in line, even if the place stays held.
#[test]
fn a_line_of_given_up_tickets_is_empty() {
    let slots = shared(1);
    for round in 0..3 {
        let held = slots.acquire().unwrap();
        for i in 0..500 {
            if i % 2 == round % 2 {
                let (mut task, bell) = ask(&slots);
                assert!(poll(&mut task, &bell).is_pending());
            } else {
                assert_eq!(slots.acquire_timeout(TINY).unwrap_err(), AcquireTimeoutError::TimedOut);
            }
            assert!(is_waiting(&slots, 0));
        }
        let (mut last, bell) = ask(&slots);
        assert!(poll(&mut last, &bell).is_pending());
        drop(held);
        assert_eq!(bell.rings(), 1);
        drain(&slots, &mut vec![(last, bell)]);
        all_can_be_taken(&slots);
    }
}

/// Waiters are let in by arrival, however many there are, and whether they move past those that
/// gave up or are not polled in between.
#[test]
fn very_many_are_let_in_in_order() {
    are_let_in_in_order(50_000, true);
    are_let_in_in_order(50_000, false);
}

#[test]
#[ignore = "takes a minute; ci/stress.sh runs it"]
fn a_million_are_let_in_in_order() {
    are_let_in_in_order(1_000_000, true);
    are_let_in_in_order(1_000_000, false);
}

fn are_let_in_in_order(many: usize, move_up: bool) {
    let slots = shared(1);
    let held = slots.acquire().unwrap();
    let bell = Arc::<Bell>::default();
    let mut waiting: Vec<_> = (0..many).map(|_| slots.acquire_owned_async()).collect();
    assert!(waiting.iter_mut().all(|task| poll(task, &bell).is_pending()));
    assert!(is_waiting(&slots, many as u64) && !look(&slots).camping);
    // A third of them give up.
    let mut i = 0;
    waiting.retain(|_| {
        i += 1;
        i % 3 != 0
    });
    let mut asked = bell.takes(); // a waiter with ghosts behind it was asked to move
    assert_eq!(asked, 1);
    while move_up && asked > 0 {
        // Each one that moves asks the one before it.
        assert!(waiting.iter_mut().rev().all(|task| poll(task, &bell).is_pending()));
        asked = bell.takes();
    }
    drop(held);
    for (i, task) in waiting.iter_mut().enumerate() {
        let rings = bell.takes();
        // One that was woken before, and did not run since, is not woken again.
        asked -= usize::from(rings == 0);
        assert!(rings <= 1);
        let Poll::Ready(guard) = poll(task, &bell) else { panic!("{i} was not the next") };
        drop(guard.unwrap());
    }
    assert_eq!(asked, 0);
    all_can_be_taken(&slots);
}

/// A line of the largest length: later callers wait in front of it.
#[test]
#[ignore = "takes a minute; ci/stress.sh runs it"]
fn a_full_line_drains_and_is_closed() {
    // The largest number that the gate can count.
    const FULL: usize = 1 << 21;
    let bell = Arc::<Bell>::default();
    for close in [false, true] {
        let slots = shared(1);
        let held = slots.acquire().unwrap();
        let mut waiting: Vec<_> = (0..FULL).map(|_| slots.acquire_owned_async()).collect();
        assert!(waiting.iter_mut().all(|task| poll(task, &bell).is_pending()));
        assert!(look(&slots).camping);
        let mut beyond: Vec<_> = (0..20).map(|_| ask(&slots)).collect();
        assert!(beyond.iter_mut().all(|(task, bell)| poll(task, bell).is_pending()));
        assert_eq!(slots.acquire_timeout(TINY).unwrap_err(), AcquireTimeoutError::TimedOut);
        beyond.truncate(10);
        thread::scope(|s| {
            let threads: Vec<_> = (0..3).map(|_| s.spawn(|| slots.acquire().map(drop))).collect();
            if close {
                slots.close();
                threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), Err(Closed)));
                for (task, bell) in &mut beyond {
                    assert_eq!(bell.rings(), 1);
                    assert!(matches!(poll(task, bell), Poll::Ready(Err(Closed))));
                }
                assert!(waiting.iter_mut().all(|task| matches!(poll(task, &bell), Poll::Ready(Err(Closed)))));
                return;
            }
            waiting.truncate(FULL / 8); // the others give up
            drop(held);
            for task in &mut waiting {
                while poll(task, &bell).is_pending() {
                    thread::yield_now(); // a thread may be inside
                }
            }
            while !beyond.is_empty() {
                beyond.retain_mut(|(task, bell)| bell.takes() == 0 || poll(task, bell).is_pending());
                thread::yield_now();
            }
            threads.into_iter().for_each(|thread| thread.join().unwrap().unwrap());
        });
        if !close {
            all_can_be_taken(&slots);
        }
    }
}

#[test]
fn debug_says_which_slots_are_held_and_how_many_wait() {
    let slots = shared(3);
    assert_eq!(format!("{slots:?}"), "Slots { places: 3, held: 0, slots: [], waiting: 0 }");
    let (zero, _one, _two) = (slots.acquire().unwrap(), slots.acquire().unwrap(), slots.acquire().unwrap());
    assert_eq!(format!("{zero:?}"), "Permit { places: 1, slots: [0], .. }");
    drop(zero);
    assert_eq!(format!("{slots:?}"), "Slots { places: 3, held: 2, slots: [1, 2], waiting: 0 }");
    let _zero = slots.acquire().unwrap();
    let (mut task, bell) = ask(&slots);
    assert!(poll(&mut task, &bell).is_pending());
    assert_eq!(format!("{slots:?}"), "Slots { places: 3, held: 3, slots: [0, 1, 2], waiting: 1 }");
    slots.close();
    assert!(format!("{slots:?}").ends_with("closed: true }"));
    let permits = Slots::new(1).unwrap().without_numbers().unfair();
    assert_eq!(format!("{permits:?}"), "Slots { places: 1, held: 0, waiting: 0, unfair: true }");
}

#[test]
fn fences_are_unique_and_grow() {
    let slots = Slots::new(3).unwrap();
    let guard = slots.acquire().unwrap();
    assert_eq!(guard.fence(), guard.fence());
    let seen = Mutex::new(BTreeSet::from([guard.fence()]));
    thread::scope(|s| {
        for _ in 0..3 {
            s.spawn(|| {
                let mut before = 0;
                for _ in 0..300 {
                    let fence = slots.acquire().unwrap().fence();
                    assert!(fence > before);
                    assert!(seen.lock().unwrap().insert(fence), "{fence} twice");
                    before = fence;
                }
            });
        }
    });
}

/// A holder that was thought dead asks for its number only after its successor did.
#[test]
fn a_fence_is_fixed_on_entry() {
    let slots = Slots::new(1).unwrap();
    let thought_dead = slots.acquire().unwrap();
    slots.add(1).unwrap();
    let successor = slots.acquire().unwrap();
    let of_the_successor = successor.fence();
    assert!(thought_dead.fence() < of_the_successor);
    // The same without slots, and through the line.
    let permits = Slots::new(1).unwrap().without_numbers();
    let thought_dead = permits.acquire().unwrap();
    let mut waits = pin!(permits.acquire_async());
    assert!(poll_once(waits.as_mut()).is_pending());
    permits.add(1).unwrap();
    let Poll::Ready(Ok(successor)) = poll_once(waits.as_mut()) else { panic!("there is a place") };
    assert!(thought_dead.fence() < successor.fence());
}

/// Threads that hold a slot one after the other see its numbers grow, whichever took a ticket
/// first. So do guards of several slots.
#[test]
fn fences_of_a_slot_grow() {
    const K: usize = 3;
    let slots = Slots::new(K).unwrap();
    let largest: [AtomicU64; K] = Default::default();
    let sees = |slot: usize, fence: u64| {
        let before = largest[slot].swap(fence, SeqCst);
        assert!(fence > before, "slot {slot}: {fence} after {before}");
    };
    thread::scope(|s| {
        for thread in 0..4 {
            let (slots, sees) = (&slots, &sees);
            s.spawn(move || {
                for i in 0..300 {
                    let guard = slots.acquire_many(1 + (thread + i) % 2).unwrap();
                    guard.slots().into_iter().for_each(|slot| sees(slot, guard.fence()));
                }
            });
        }
    });
    // Also after the slots are rebuilt.
    let slots = slots.room_for(100).unwrap();
    let guard = slots.acquire().unwrap();
    sees(guard.slot(), guard.fence());
}

/// A guard that had to wait was counted in line, and leaves the line when it is forgotten.
/// Otherwise the count of the line would overflow after 2^20 units.
#[test]
fn forgetting_what_had_to_wait_leaves_nothing_in_line() {
    let slots = Slots::new(Slots::MOST).unwrap().without_numbers();
    for _ in 0..40 {
        let all = slots.acquire_many(Slots::MOST).unwrap();
        let mut waits = pin!(slots.acquire_many_async(Slots::MOST));
        assert!(poll_once(waits.as_mut()).is_pending());
        drop(all);
        let Poll::Ready(Ok(guard)) = poll_once(waits.as_mut()) else { panic!("it is next") };
        guard.forget();
        assert_eq!((slots.places(), slots.available()), (0, 0));
        slots.add(Slots::MOST).unwrap();
        assert!(!slots.is_closed());
        assert_eq!(slots.available(), Slots::MOST);
    }
    assert_eq!(slots.add(1).unwrap_err(), TooMany { asked: 1, most: 0 });
}

/// A caller that waits for more places than are left gets an error, and does not hold up the
/// callers behind it.
#[test]
fn a_waiter_for_more_places_than_are_left_gets_an_error() {
    let slots = shared(3);
    let (first, second) = (slots.acquire().unwrap(), slots.acquire().unwrap());
    let mut many = pin!(slots.acquire_many_async(3));
    let (mut one, bell) = ask(&slots);
    assert!(poll_once(many.as_mut()).is_pending() && poll(&mut one, &bell).is_pending());
    first.forget();
    let too_many = TooMany { asked: 3, most: 2 };
    assert!(matches!(poll_once(many.as_mut()), Poll::Ready(Err(AcquireError::TooMany(why))) if why == too_many));
    assert!(poll(&mut one, &bell).is_ready());
    drop(second);
    // A thread, too, with and without a time limit.
    let held = slots.acquire().unwrap();
    thread::scope(|s| {
        let waits = s.spawn(|| slots.acquire_many(2).map(drop).unwrap_err());
        let timed = s.spawn(|| slots.acquire_many_timeout(2, LONG).map(drop).unwrap_err());
        while !format!("{slots:?}").contains("waiting: 3") {
            thread::yield_now();
        }
        held.forget();
        let too_many = TooMany { asked: 2, most: 1 };
        assert_eq!(waits.join().unwrap(), AcquireError::TooMany(too_many));
        assert_eq!(timed.join().unwrap(), AcquireTimeoutError::TooMany(too_many));
    });
    all_can_be_taken(&slots);
}

/// A caller waits for one place even if there is none: one may be added.
#[test]
fn a_waiter_for_one_place_waits_until_one_is_added() {
    let slots = shared(1);
    let held = slots.acquire().unwrap();
    let (mut one, bell) = ask(&slots);
    assert!(poll(&mut one, &bell).is_pending());
    held.forget();
    assert!(poll(&mut one, &bell).is_pending());
    assert_eq!((slots.places(), slots.try_acquire().unwrap_err()), (0, TryAcquireError::NoPlace));
    slots.add(1).unwrap();
    assert!(poll(&mut one, &bell).is_ready());
}

/// The number of free places never exceeds the number of places, whatever other threads do
/// meanwhile.
#[test]
fn no_more_are_available_than_there_are_places() {
    let slots = Slots::new(2).unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                while !done.load(SeqCst) {
                    drop(slots.acquire().unwrap());
                }
            });
        }
        for _ in 0..200_000 {
            let available = slots.available();
            assert!(available <= 2, "{available} of 2");
        }
        done.store(true, SeqCst);
    });
}

#[test]
fn there_are_never_more_places_than_the_most() {
    let slots = Slots::new(Slots::MOST).unwrap();
    assert_eq!(slots.add(1).unwrap_err(), TooMany { asked: 1, most: 0 });
    assert_eq!(slots.add(usize::MAX).unwrap_err(), TooMany { asked: usize::MAX, most: 0 });
    assert_eq!(slots.forget(1), 1);
    slots.add(1).unwrap();
    assert_eq!((slots.places(), slots.available()), (Slots::MOST, Slots::MOST));
}

#[test]
fn a_panic_gives_the_place_back() {
    let slots = shared(2);
    let panics = || {
        let _many = slots.acquire_many(2).unwrap();
        std::panic::resume_unwind(Box::new("on purpose")); // without a message
    };
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    all_can_be_taken(&slots);
    let in_a_task = async {
        let _guard = slots.acquire_async().await.unwrap();
        std::panic::resume_unwind(Box::new("on purpose"));
    };
    assert!(catch_unwind(AssertUnwindSafe(|| block_on(in_a_task))).is_err());
    all_can_be_taken(&slots);
}

#[test]
fn a_death_inside_costs_one_place_and_nothing_else() {
    let slots = shared(3);
    std::mem::forget(slots.acquire().unwrap());
    for _ in 0..10 {
        let (one, two) = (slots.acquire().unwrap(), slots.acquire().unwrap());
        assert_eq!((one.slot(), two.slot(), slots.available()), (1, 2, 0));
        let (mut next, bell) = ask(&slots);
        assert!(poll(&mut next, &bell).is_pending());
        drop(one);
        assert!(matches!(poll(&mut next, &bell), Poll::Ready(Ok(_))));
    }
    assert_eq!((slots.available(), slots.places()), (2, 3));
    // A guard that was waited for and granted dies, too.
    let (one, two) = (slots.acquire().unwrap(), slots.acquire().unwrap());
    let (mut next, bell) = ask(&slots);
    assert!(poll(&mut next, &bell).is_pending());
    drop((one, two));
    let Poll::Ready(Ok(guard)) = poll(&mut next, &bell) else { panic!("it is let in") };
    std::mem::forget(guard);
    assert_eq!(slots.available(), 1);
    assert_eq!(slots.acquire().unwrap().slot(), 2);
}

/// Each one starts when the one before it is seen to wait.
#[test]
fn threads_and_tasks_are_let_in_as_they_came() {
    for unfair in [false, true] {
        let slots = Slots::new(1).unwrap();
        let slots = Arc::new(if unfair { slots.unfair() } else { slots });
        let order = Arc::new(Mutex::new(Vec::new()));
        let held = slots.acquire().unwrap();
        let all: Vec<_> = (0..8)
            .map(|i| {
                let (slots, order) = (Arc::clone(&slots), Arc::clone(&order));
                let come = {
                    let slots = Arc::clone(&slots);
                    move || {
                        let guard = match i % 3 {
                            0 => slots.acquire().unwrap(),
                            1 => block_on(slots.acquire_async()).unwrap(),
                            _ => slots.acquire_timeout(LONG).unwrap(),
                        };
                        order.lock().unwrap().push(i);
                        drop(guard);
                    }
                };
                let thread = thread::spawn(come);
                until(&slots, |slots| is_waiting(slots, i + 1));
                thread
            })
            .collect();
        drop(held);
        all.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(*order.lock().unwrap(), (0..8).collect::<Vec<_>>());
    }
}

/// Free places are for newcomers, but no place is free while a caller is in line.
#[test]
fn an_unfair_newcomer_does_not_pass_a_waiter_in_line() {
    let slots = Arc::new(Slots::new(1).unwrap().unfair());
    let held = slots.acquire().unwrap();
    let (mut first, bell) = ask(&slots);
    assert!(poll(&mut first, &bell).is_pending());
    drop(held);
    assert_eq!(slots.try_acquire().unwrap_err(), TryAcquireError::NoPlace);
    assert_eq!(slots.acquire_timeout(TINY).unwrap_err(), AcquireTimeoutError::TimedOut);
    let (mut second, second_bell) = ask(&slots);
    assert!(poll(&mut second, &second_bell).is_pending());
    let Poll::Ready(Ok(guard)) = poll(&mut first, &bell) else { panic!("it was first") };
    drop(guard);
    assert!(matches!(poll(&mut second, &second_bell), Poll::Ready(Ok(_))));
    all_can_be_taken(&slots);
}

#[test]
fn without_numbers_all_else_is_the_same() {
    let permits: Arc<Slots<Unnumbered>> = Arc::new(Slots::new(3).unwrap().without_numbers());
    let mut all = permits.acquire_many_owned(3).unwrap();
    let one = all.split(1).unwrap();
    assert_eq!((all.places(), one.places(), permits.available()), (2, 1, 0));
    one.forget();
    drop(all);
    assert_eq!((permits.places(), permits.available()), (2, 2));
    permits.add(1).unwrap();
    assert!(permits.acquire_many(3).is_ok());
    let permits = Slots::new(1).unwrap().without_numbers().room_for(500).unwrap();
    permits.add(499).unwrap();
    assert_eq!(permits.try_acquire_many(256).unwrap().places(), 256);
}

#[test]
fn errors_say_what_to_do() {
    let too_many = TooMany { asked: 4, most: 3 };
    assert!(too_many.to_string().contains("room for at most 3; ask for fewer, or reserve room"));
    let asked = "4 places were asked for, and there are only 3; ask for fewer, or add places";
    assert_eq!(AcquireError::TooMany(too_many).to_string(), asked);
    assert_eq!(TryAcquireError::TooMany(too_many).to_string(), asked);
    assert!(TryAcquireError::NoPlace.to_string().contains("try again"));
    assert!(AcquireTimeoutError::TimedOut.to_string().contains("wait longer"));
    assert_eq!(AcquireError::Closed.to_string(), Closed.to_string());
}

/// A holder that leaves just before the slots are closed, or just after, lets no waiter in. No
/// place is lost by that.
#[test]
fn once_it_is_closed_no_waiter_gets_in() {
    fn is_refused<N: doorway::slots::Numbering>(slots: Slots<N>, units: usize, leaves_before: bool) {
        let held = slots.acquire_many(2).unwrap();
        let mut context = Context::from_waker(Waker::noop());
        {
            let mut one = pin!(slots.acquire_async());
            let mut several = pin!(slots.acquire_many_async(units));
            assert!(one.as_mut().poll(&mut context).is_pending());
            assert!(several.as_mut().poll(&mut context).is_pending());
            let mut held = Some(held);
            drop(held.take_if(|_| leaves_before));
            slots.close();
            drop(held);
            assert!(matches!(one.as_mut().poll(&mut context), Poll::Ready(Err(Closed))));
            assert!(matches!(several.as_mut().poll(&mut context), Poll::Ready(Err(AcquireError::Closed))));
        }
        assert_eq!((slots.places(), slots.available()), (2, 2));
    }
    for (units, leaves_before) in [(1, false), (1, true), (2, false), (2, true)] {
        is_refused(Slots::new(2).unwrap(), units, leaves_before);
        is_refused(Slots::new(2).unwrap().unfair(), units, leaves_before);
        is_refused(Slots::new(2).unwrap().without_numbers(), units, leaves_before);
        is_refused(Slots::new(2).unwrap().bypass(64), units, leaves_before);
        is_refused(Slots::new(2).unwrap().bypass(0), units, leaves_before);
    }
    for _ in 0..20 {
        let slots = Slots::new(1).unwrap();
        let held = slots.acquire().unwrap();
        thread::scope(|s| {
            let waits = s.spawn(|| slots.acquire().is_ok());
            while !format!("{slots:?}").contains("waiting: 1") {
                thread::yield_now();
            }
            slots.close();
            drop(held);
            assert!(!waits.join().unwrap());
        });
    }
}

/// Callers that give up without being polled, in whatever order. The last ones first is how
/// executors and collections of futures often drop their tasks. Each one that is asked to move then
/// gives up instead. If each had to look at all others, this would take minutes.
#[test]
fn a_crowd_can_give_up_in_any_order() {
    const MANY: usize = 100_000;
    let orders: [fn(usize) -> usize; 3] = [|i| i, |i| MANY - 1 - i, |i| MANY - 1 - (2 * i % MANY + 2 * i / MANY)];
    for order in orders {
        let slots = shared(1);
        let held = slots.acquire().unwrap();
        let (mut first, first_bell) = ask(&slots);
        assert!(poll(&mut first, &first_bell).is_pending());
        let mut crowd: Vec<_> = (0..MANY).map(|_| Some(slots.acquire_owned_async())).collect();
        assert!(crowd.iter_mut().flatten().all(|one| poll(one, &Arc::default()).is_pending()));
        (0..MANY).for_each(|i| assert!(crowd[order(i)].take().is_some()));
        drop(held);
        assert!(matches!(poll(&mut first, &first_bell), Poll::Ready(Ok(_))));
        all_can_be_taken(&slots);
    }
}

#[test]
fn threads_that_share_a_guard_get_one_fence() {
    let slots = Slots::new(2).unwrap();
    let mut before = 0;
    for _ in 0..200 {
        let guard = slots.acquire().unwrap();
        let start = Barrier::new(4);
        let ask = || {
            start.wait();
            guard.fence()
        };
        let fences: Vec<u64> = thread::scope(|scope| {
            let threads = [0; 4].map(|_| scope.spawn(ask));
            threads.map(|thread| thread.join().unwrap()).to_vec()
        });
        assert!(fences.iter().all(|&fence| fence == guard.fence() && fence > before), "{fences:?} after {before}");
        before = guard.fence();
    }
}

#[test]
fn a_guard_that_is_not_asked_for_its_fence_makes_no_difference() {
    for asked in [true, false] {
        let slots = Slots::new(2).unwrap();
        let first = slots.acquire().unwrap();
        let _never = slots.acquire().unwrap();
        let number = if asked { first.fence() } else { 0 };
        drop(first);
        let second = slots.acquire().unwrap();
        assert!(second.slot() == 0 && second.fence() > number);
        // A number that is made late is that of its own ticket.
        let late = slots.add(1).map(|()| slots.acquire().unwrap()).unwrap();
        let last = slots.add(1).map(|()| slots.acquire().unwrap()).unwrap();
        let of_the_last = last.fence();
        assert!(late.fence() < of_the_last && second.fence() < late.fence());
    }
}
