//! After `tests/mutex.rs` and `tests/rwlock.rs` of async-lock. Its mutex is a [`Pool`] of one value
//! here, and a mutex among threads is a [`Mutex`]. The modes of its readers-writer lock are two
//! [`Rooms`].

use crate::Task;
use crate::task_kit::block_on;
use doorway::algorithm::Mcs;
use doorway::rooms::{EnterError, TryEnterError};
use doorway::{Mutex, Pool, Rooms, TryAcquireError};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering::SeqCst};
use std::thread;

#[test]
fn mutex_smoke() {
    let one = Pool::new([()]).unwrap();
    drop(block_on(one.acquire_async()).unwrap());
    drop(block_on(one.acquire_async()).unwrap());
    drop(one.acquire().unwrap());
    drop(one.try_acquire().unwrap());
    let threads = Mutex::<_, Mcs>::new(1, ()).unwrap();
    drop(threads.lock().unwrap());
    drop(threads.try_lock().unwrap().unwrap());
}

#[test]
fn mutex_get_mut_and_into_inner() {
    let mut threads = Mutex::<_, Mcs>::new(1, 10).unwrap();
    *threads.get_mut() = 20;
    assert_eq!(threads.into_inner(), 20);
    assert_eq!(Pool::new([10]).unwrap().into_values(), [10]);
}

#[test]
fn mutex_contention() {
    let one = Arc::new(Pool::new([0]).unwrap());
    thread::scope(|s| {
        for _ in 0..20 {
            s.spawn(|| *block_on(one.acquire_owned_async()).unwrap() += 1);
        }
    });
    assert_eq!(*one.acquire().unwrap(), 20);
}

/// The future keeps the pool alive.
#[test]
fn mutex_lifetime() {
    let future = {
        let one = Arc::new(Pool::new([7]).unwrap());
        one.acquire_owned_async()
    };
    assert_eq!(*Task::new(future).ends().unwrap(), 7);
}

#[test]
fn mutex_yields_when_contended() {
    let one = Pool::new([()]).unwrap();
    let held = one.try_acquire().unwrap();
    assert_eq!(one.try_acquire().unwrap_err(), TryAcquireError::NoPlace);
    let mut task = Task::new(one.acquire_async());
    task.waits();
    drop(held);
    assert!(task.is_woken());
    assert!(task.ends().is_ok());
}

const READ: usize = 0;
const WRITE: usize = 1;

#[test]
fn rwlock_smoke() {
    let rooms = Rooms::new(2).unwrap();
    drop(block_on(rooms.enter_async(READ)).unwrap());
    drop(block_on(rooms.enter_async(WRITE)).unwrap());
    drop(rooms.enter(READ).unwrap());
    drop(rooms.try_enter(WRITE).unwrap());
    let reads = rooms.try_enter(READ).unwrap();
    thread::scope(|s| {
        s.spawn(|| assert_eq!(rooms.try_enter(WRITE).unwrap_err(), TryEnterError::Busy));
    });
    drop(reads);
    assert!(rooms.try_enter(WRITE).is_ok());
}

#[test]
fn rwlock_contention() {
    let rooms = Rooms::new(2).unwrap();
    let inside = [AtomicUsize::new(0), AtomicUsize::new(0)];
    thread::scope(|s| {
        for t in 0..4 {
            let (rooms, inside) = (&rooms, &inside);
            s.spawn(move || {
                for i in 0..200 {
                    let room = usize::from((i + t) % 4 == 0);
                    let _inside = block_on(rooms.enter_async(room)).unwrap();
                    inside[room].fetch_add(1, SeqCst);
                    assert_eq!(inside[1 - room].load(SeqCst), 0);
                    inside[room].fetch_sub(1, SeqCst);
                }
            });
        }
    });
}

/// A writer holds its room while it writes something that no reader may see. It is alone there,
/// because there is one writer.
#[test]
fn rwlock_writer_and_readers() {
    let (rooms, value) = (Rooms::new(2).unwrap(), AtomicI32::new(0));
    thread::scope(|s| {
        s.spawn(|| {
            for _ in 0..20 {
                let _inside = block_on(rooms.enter_async(WRITE)).unwrap();
                for _ in 0..50 {
                    let old = value.swap(-1, SeqCst);
                    thread::yield_now();
                    value.store(old + 1, SeqCst);
                }
            }
        });
        for _ in 0..3 {
            s.spawn(|| {
                for _ in 0..200 {
                    let _inside = block_on(rooms.enter_async(READ)).unwrap();
                    assert!(value.load(SeqCst) >= 0);
                }
            });
        }
    });
    assert_eq!(value.into_inner(), 1000);
}

#[test]
fn rwlock_yields_when_contended() {
    let rooms = Rooms::new(2).unwrap();
    for (held, asked) in [(WRITE, READ), (READ, WRITE)] {
        let inside = block_on(rooms.enter_async(held)).unwrap();
        let mut task = Task::new(rooms.enter_async(asked));
        task.waits();
        drop(inside);
        assert!(task.is_woken());
        assert!(task.ends().is_ok());
    }
}

/// Theirs has one writer at a time. A room lets in all callers that wait for it, so writers need a
/// lock among themselves.
#[test]
fn differs_writers_share_their_room() {
    let rooms = Rooms::new(2).unwrap();
    let reads = block_on(rooms.enter_async(READ)).unwrap();
    let (mut one, mut two) = (Task::new(rooms.enter_async(WRITE)), Task::new(rooms.enter_async(WRITE)));
    one.waits();
    two.waits();
    drop(reads);
    let _both = (one.ends().unwrap(), two.ends().unwrap());
}

/// Theirs lets a reader in beside readers, unless a writer waits. Here a caller that comes while
/// its room is open waits for the next turn; rooms that callers may join are `LateRooms`.
#[test]
fn differs_a_reader_waits_for_the_next_turn() {
    let rooms = Rooms::new(2).unwrap();
    let reads = block_on(rooms.enter_async(READ)).unwrap();
    let mut late = Task::new(rooms.enter_async(READ));
    late.waits();
    drop(reads);
    assert!(late.is_woken());
    assert!(late.ends().is_ok());
    let late_rooms = doorway::rooms::LateRooms::new(2, 1).unwrap();
    let _reads = late_rooms.enter(READ).unwrap();
    thread::scope(|s| {
        s.spawn(|| drop(late_rooms.enter(READ).unwrap()));
    });
}

/// Theirs upgrades a reader to a writer, and no other writer comes between. Here a reader changes
/// rooms, and callers that wait to write get in together with it. A thread that asks again, and
/// does not change, would wait for itself, and gets an error.
#[test]
fn differs_upgrading_is_changing_rooms() {
    let rooms = Rooms::new(2).unwrap();
    let reads = rooms.enter(READ).unwrap();
    assert!(matches!(rooms.enter(WRITE), Err(EnterError::InsideAlready { .. })));
    let mut other = Task::new(rooms.enter_async(WRITE));
    other.waits();
    let mut upgrades = Task::new(async move { reads.by_anyone().change_async(WRITE).await });
    let _both = (upgrades.ends().unwrap(), other.ends().unwrap());
}
