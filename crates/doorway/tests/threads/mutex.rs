//! A mutex over any algorithm: what users of a mutex rely on.

use doorway::algorithm::{
    Bakery, Dgs, Exclusive, Kbakery, KesselsTree, Mcs, PetersonTree, Tas, TasBackoff, Ticket, Turnstile, YaFast,
    YaTree, YaTwo,
};
use doorway::mutex::MutexGuard;
use doorway::native::Native;
use doorway::{LockError, Mutex, SizeError};
use doorway_core::k_exclusion::AtOnce;
use std::cell::RefCell;
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;
use std::time::Duration;

fn counts_right<E: Exclusive>(threads: usize, rounds: u64)
where
    Mutex<u64, E>: Sync,
{
    let count = Mutex::<u64, E>::new(threads, 0).unwrap();
    thread::scope(|s| {
        for _ in 0..threads {
            s.spawn(|| {
                for _ in 0..rounds {
                    let mut guard = count.lock().unwrap();
                    let seen = *guard;
                    if seen.is_multiple_of(64) {
                        thread::yield_now(); // gives other threads a chance to be where they must not be
                    }
                    *guard = seen + 1;
                }
            });
        }
    });
    assert_eq!(count.into_inner(), threads as u64 * rounds);
}

#[test]
fn nothing_is_lost() {
    counts_right::<Tas>(4, 2_000);
    counts_right::<TasBackoff>(4, 1_000);
    counts_right::<Bakery>(4, 2_000);
    counts_right::<PetersonTree>(4, 1_000);
    counts_right::<KesselsTree>(4, 1_000);
    counts_right::<YaTwo>(2, 5_000);
    counts_right::<YaTree>(4, 1_000);
    counts_right::<YaFast>(4, 1_000);
    counts_right::<Ticket>(4, 1_000);
    counts_right::<Mcs>(4, 1_000);
    counts_right::<Turnstile>(4, 2_000);
    counts_right::<Kbakery>(4, 1_000);
    counts_right::<Dgs>(2, 200);
}

#[test]
fn a_number_comes_back_when_its_passage_ends() {
    let mutex = Mutex::<_, Bakery>::new(1, 0).unwrap();
    thread::scope(|s| {
        for _ in 0..10 {
            s.spawn(|| *mutex.lock().unwrap() += 1).join().unwrap();
            *mutex.lock().unwrap() += 1; // it does not matter whether the other thread has ended or lives
        }
    });
    let guard = mutex.lock().unwrap();
    assert!(format!("{mutex:?}").contains("in_use: 1"), "{mutex:?}");
    assert_eq!(*guard, 20);
    drop(guard);
    assert!(format!("{mutex:?}").contains("in_use: 0"), "{mutex:?}");
}

/// The end of a scope does not wait for what a thread does when it ends, such as dropping its
/// thread-locals.
#[test]
fn scopes_of_as_many_threads_as_it_was_made_for_may_follow_each_other() {
    struct TakesItsTime;
    impl Drop for TakesItsTime {
        fn drop(&mut self) {
            thread::sleep(Duration::from_millis(10));
        }
    }
    thread_local! {
        static LATE: TakesItsTime = const { TakesItsTime };
    }
    let mutex = Mutex::<_, Mcs>::new(4, 0).unwrap();
    for _ in 0..20 {
        thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    *mutex.lock().expect("four at a time") += 1;
                    LATE.with(|_| {}); // ends before what the mutex may have left in this thread
                });
            }
        });
    }
    assert_eq!(mutex.into_inner(), 80);
}

#[test]
fn more_threads_at_a_time_than_it_was_made_for_are_told_so() {
    let mutex = Mutex::<_, Bakery>::new(2, 0).unwrap();
    let guard = mutex.lock().unwrap();
    thread::scope(|s| {
        let waits = s.spawn(|| *mutex.lock().unwrap() += 1);
        while !format!("{mutex:?}").contains("in_use: 2") {
            thread::yield_now();
        }
        s.spawn(|| {
            let refused = mutex.lock().unwrap_err();
            assert_eq!(refused, LockError::TooManyThreads { most: 2 });
            assert_eq!(
                refused.to_string(),
                "built for 2 threads at a time, and 2 others are using it now; build it for more"
            );
        })
        .join()
        .unwrap();
        drop(guard);
        waits.join().unwrap();
        assert!(s.spawn(|| mutex.lock().is_ok()).join().unwrap(), "they have left");
    });
}

/// Thread-locals are dropped one after the other. One that is dropped after most others holds a
/// guard, and locks once more.
#[test]
fn a_thread_that_is_ending_does_not_wait_for_itself() {
    static DATA: OnceLock<Mutex<u32, Tas>> = OnceLock::new();
    static TOLD: std::sync::Mutex<Vec<Option<LockError>>> = std::sync::Mutex::new(Vec::new());
    struct AtTheEnd(RefCell<Option<MutexGuard<'static, u32, Tas>>>);
    impl Drop for AtTheEnd {
        fn drop(&mut self) {
            let data = DATA.get().unwrap();
            let tell = || TOLD.lock().unwrap().push(data.lock().err());
            tell();
            drop(self.0.take());
            tell();
        }
    }
    thread_local! {
        static LATE: AtTheEnd = const { AtTheEnd(RefCell::new(None)) };
    }
    DATA.get_or_init(|| Mutex::new(2, 0).unwrap());
    let (ended, has_ended) = mpsc::channel();
    thread::spawn(move || {
        let thread = thread::spawn(|| {
            LATE.with(|late| {
                late.0.replace(Some(DATA.get().unwrap().lock().unwrap()));
            });
        });
        ended.send(thread.join().is_ok())
    });
    // The time limit only ends the test if there is a fault.
    assert_eq!(has_ended.recv_timeout(Duration::from_secs(60)), Ok(true));
    assert_eq!(*TOLD.lock().unwrap(), [Some(LockError::HeldByThisThread), None]);
    assert!(format!("{:?}", DATA.get().unwrap()).contains("in_use: 0"));
}

#[test]
fn a_thread_that_holds_many_waits_for_none_of_them() {
    let all: Vec<_> = (1..20).map(|n| Mutex::<_, Ticket>::new(n, ()).unwrap()).collect();
    let guards: Vec<_> = all.iter().map(|mutex| mutex.lock().unwrap()).collect();
    for mutex in &all {
        assert_eq!(mutex.lock().unwrap_err(), LockError::HeldByThisThread);
    }
    drop(guards);
    assert!(all.iter().all(|mutex| mutex.lock().is_ok()));
}

#[test]
fn a_holder_does_not_wait_for_itself() {
    let mutex = Mutex::<_, Turnstile>::new(2, ()).unwrap();
    let guard = mutex.lock().unwrap();
    assert_eq!(mutex.lock().unwrap_err(), LockError::HeldByThisThread);
    drop(guard);
    assert!(mutex.lock().is_ok());
}

#[test]
fn a_panic_inside_lets_the_next_one_in() {
    let mutex = Mutex::<_, Bakery>::new(2, 1).unwrap();
    thread::scope(|s| {
        let panics = s.spawn(|| {
            let mut guard = mutex.lock().unwrap();
            *guard = 2;
            panic!("on purpose");
        });
        assert!(panics.join().is_err());
    });
    assert_eq!(*mutex.lock().unwrap(), 2);
}

#[test]
fn a_thread_that_dies_inside_takes_its_number_along() {
    let mutex = Arc::new(Mutex::<_, Bakery>::new(2, ()).unwrap());
    let dies = Arc::clone(&mutex);
    thread::spawn(move || std::mem::forget(dies.lock().unwrap())).join().unwrap();
    assert!(format!("{mutex:?}").contains("in_use: 1"), "{mutex:?}");
}

#[test]
fn a_thread_has_a_number_of_each_mutex() {
    let all: Vec<_> = (0..20).map(|i| Mutex::<_, Tas>::new(1, i).unwrap()).collect();
    for round in 0..3 {
        for (i, mutex) in all.iter().enumerate() {
            let mut value = mutex.lock().unwrap();
            assert_eq!(*value, i + round);
            *value += 1;
        }
    }
    drop(all);
    let mut later = Mutex::<_, Tas>::new(1, 7).unwrap();
    *later.lock().unwrap() += 1;
    assert_eq!((*later.get_mut(), later.into_inner()), (8, 8));
}

#[test]
fn what_an_algorithm_is_not_made_for_is_refused() {
    assert_eq!(Mutex::<_, Bakery>::new(0, ()).unwrap_err(), SizeError::NoProcess);
    assert!(matches!(Mutex::<_, YaTwo>::new(3, ()).unwrap_err(), SizeError::OnlyTwoProcesses { .. }));
    // Refused, and not by running out of memory.
    let refused = Mutex::<_, Dgs>::new(8000, ()).unwrap_err();
    assert!(matches!(refused, SizeError::TooManyWords { id: "dgs", .. }), "{refused}");
    assert_eq!(doorway::gates::Dgs::new(8000, 1).unwrap_err(), refused);
}

#[test]
fn data_that_has_no_size_can_be_locked() {
    let bytes: Box<Mutex<[u8], Tas>> = Box::new(Mutex::<_, Tas>::new(1, [1, 2, 3]).unwrap());
    bytes.lock().unwrap()[0] = 9;
    assert_eq!(*bytes.lock().unwrap(), [9, 2, 3]);
}

/// Half of the threads call `try_lock` until they get in.
fn counts_right_though_some_try<E: Exclusive>(rounds: u64)
where
    E::On<Native>: AtOnce<Native>,
    Mutex<u64, E>: Sync,
{
    let count = Mutex::<u64, E>::new(4, 0).unwrap();
    let tried_in_vain = thread::scope(|s| {
        let threads: Vec<_> = (0..4)
            .map(|t| {
                let count = &count;
                s.spawn(move || {
                    let mut in_vain = 0u64;
                    for _ in 0..rounds {
                        let mut guard = loop {
                            let entered = if t % 2 == 0 { count.lock().map(Some) } else { count.try_lock() };
                            match entered.unwrap() {
                                Some(guard) => break guard,
                                None => in_vain += 1,
                            }
                            thread::yield_now();
                        };
                        let seen = *guard;
                        if seen.is_multiple_of(16) {
                            thread::yield_now();
                        }
                        *guard = seen + 1;
                    }
                    in_vain
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u64>()
    });
    assert_eq!(count.into_inner(), 4 * rounds);
    println!("{}: {tried_in_vain} attempts in vain", E::INFO.id);
}

#[test]
fn nothing_is_lost_though_some_try() {
    counts_right_though_some_try::<Tas>(1_000);
    counts_right_though_some_try::<TasBackoff>(1_000);
    counts_right_though_some_try::<Ticket>(1_000);
    counts_right_though_some_try::<Mcs>(1_000);
    counts_right_though_some_try::<Turnstile>(1_000);
}

#[test]
fn an_attempt_at_what_is_taken_comes_to_nothing_and_leaves_nothing() {
    fn try_it<E: Exclusive>()
    where
        E::On<Native>: AtOnce<Native>,
        Mutex<i32, E>: Sync,
    {
        let mutex = Mutex::<_, E>::new(2, 1).unwrap();
        let guard = mutex.try_lock().unwrap().expect("nobody is there");
        assert!(mutex.try_lock().unwrap().is_none(), "this thread is inside");
        thread::scope(|s| {
            s.spawn(|| (0..5).for_each(|_| assert!(mutex.try_lock().unwrap().is_none()))).join().unwrap();
        });
        drop(guard);
        *mutex.lock().unwrap() += 1;
        assert_eq!(mutex.try_lock().unwrap().as_deref(), Some(&2));
    }
    try_it::<Tas>();
    try_it::<TasBackoff>();
    try_it::<Ticket>();
    try_it::<Mcs>();
    try_it::<Turnstile>();
}

#[test]
fn one_can_be_made_of_data_alone() {
    let mutex = Mutex::<Vec<i32>, Mcs>::default();
    mutex.lock().unwrap().push(1);
    assert_eq!(mutex.into_inner(), [1]);
    assert!(format!("{:?}", Mutex::<_, Mcs>::from("data")).contains("threads: 32"));
    assert!(format!("{:?}", Mutex::<_, YaTwo>::from("data")).contains("threads: 2"));
}
