//! The raw mutexes under `lock_api`.

use doorway::raw::{RawTas, RawTasBackoff, RawTicket};
use lock_api::{Mutex, RawMutex};
use std::sync::Barrier;
use std::thread;

static TAS: Mutex<RawTas, u64> = Mutex::new(0);
static BACKOFF: Mutex<RawTasBackoff, u64> = Mutex::new(0);
static TICKET: Mutex<RawTicket, u64> = Mutex::new(0);

const THREADS: u64 = 4;
const ROUNDS: u64 = 2_000;

/// Some threads wait, others try until they get in.
fn counts_right<R: RawMutex + Sync>(count: &Mutex<R, u64>) {
    let once_more = |guard: &mut u64| {
        let seen = *guard;
        if seen.is_multiple_of(64) {
            thread::yield_now(); // gives other threads a chance to be where they must not be
        }
        *guard = seen + 1;
    };
    thread::scope(|s| {
        for t in 0..THREADS {
            s.spawn(move || {
                for _ in 0..ROUNDS {
                    if t % 2 == 0 {
                        once_more(&mut count.lock());
                        continue;
                    }
                    loop {
                        let Some(mut guard) = count.try_lock() else {
                            thread::yield_now();
                            continue;
                        };
                        once_more(&mut guard);
                        break;
                    }
                }
            });
        }
    });
    assert_eq!(*count.lock(), THREADS * ROUNDS);
}

#[test]
fn nothing_is_lost() {
    counts_right(&TAS);
    counts_right(&BACKOFF);
    counts_right(&TICKET);
}

fn try_finds_out<R: RawMutex + Sync>(mutex: &Mutex<R, &'static str>) {
    assert!(!mutex.is_locked());
    let guard = mutex.lock();
    assert!(mutex.is_locked());
    thread::scope(|s| s.spawn(|| assert!(mutex.try_lock().is_none())).join()).unwrap();
    drop(guard);
    assert_eq!(mutex.try_lock().as_deref(), Some(&"data"));
    assert!(!mutex.is_locked());
}

#[test]
fn an_attempt_says_whether_it_is_taken() {
    try_finds_out(&Mutex::<RawTas, _>::new("data"));
    try_finds_out(&Mutex::<RawTasBackoff, _>::new("data"));
    try_finds_out(&Mutex::<RawTicket, _>::new("data"));
}

/// A thread that waits for long enough sleeps, and is woken.
#[test]
fn a_thread_that_waits_long_is_woken() {
    fn long<R: RawMutex + Sync>(mutex: &Mutex<R, u32>) {
        let begun = Barrier::new(3);
        let guard = mutex.lock();
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    begun.wait();
                    *mutex.lock() += 1;
                });
            }
            begun.wait();
            thread::sleep(std::time::Duration::from_millis(30));
            drop(guard);
        });
        assert_eq!(*mutex.lock(), 2);
    }
    long(&Mutex::<RawTas, _>::new(0));
    long(&Mutex::<RawTasBackoff, _>::new(0));
    long(&Mutex::<RawTicket, _>::new(0));
}

#[test]
fn a_guard_may_go_to_another_thread() {
    let mutex = Mutex::<RawTicket, _>::new(1);
    let guard = mutex.lock();
    thread::scope(|s| s.spawn(move || drop(guard)).join()).unwrap();
    lock_api::MutexGuard::unlock_fair(mutex.lock());
    assert_eq!(mutex.into_inner(), 1);
}
