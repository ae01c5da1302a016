//! Slots between processes: what happens when processes die, stop, fork and are broken into.
#![cfg(all(
    target_os = "linux",
    target_endian = "little",
    target_pointer_width = "64",
    not(any(miri, doorway_portable))
))]

mod shared_kit;

use doorway::shared::{Builder, Error, Mode, Previous, ReleaseError, Slots, TimeoutError, TryAcquireError};
use shared_kit::{Peer, Place};
use std::sync::Arc;
use std::time::Duration;

const BRIEFLY: Duration = Duration::from_millis(30);

#[test]
fn peer() {
    shared_kit::peer();
}

#[test]
fn two_processes_share_one_limit() {
    let place = Place::new("limit");
    let slots = Slots::open(place.file(), 1).unwrap();
    let mut other = Peer::new(&place.file(), 1);
    assert_eq!(other.ask("acquire"), "acquiring");
    assert_eq!(other.hear(), "0 1 clean");
    assert_eq!(slots.try_acquire().unwrap_err(), TryAcquireError::NoPlace);
    assert_eq!(slots.acquire_timeout(BRIEFLY).unwrap_err(), TimeoutError::TimedOut);
    assert_eq!(other.ask("drop"), "dropped");
    let mine = slots.acquire().unwrap();
    assert_eq!((mine.slot(), mine.previous()), (0, &Previous::Clean));
    assert!(mine.fence() > 1);
    assert_eq!(other.ask("acquire"), "acquiring");
    drop(mine);
    assert!(other.hear().ends_with("clean"));
}

#[test]
fn a_caller_that_does_not_wait_finds_the_slot_of_a_killed_holder() {
    let place = Place::new("tries");
    let slots = Slots::open(place.file(), 1).unwrap();
    for round in 0..2 {
        let mut other = Peer::new(&place.file(), 1);
        other.tell("acquire");
        assert_eq!(other.hear(), "acquiring");
        assert!(other.hear().starts_with("0 "));
        assert!(slots.try_acquire().is_err(), "its holder lives");
        assert!(slots.acquire_timeout(Duration::ZERO).is_err());
        other.kill();
        // No process waits, so no other process looks for the dead.
        let guard =
            if round == 0 { slots.try_acquire().unwrap() } else { slots.acquire_timeout(Duration::ZERO).unwrap() };
        assert!(matches!(guard.previous(), Previous::Died(_)), "{:?}", guard.previous());
    }
}

#[test]
fn the_slot_of_a_killed_holder_comes_back_and_the_next_is_told() {
    let place = Place::new("killed");
    let slots = Slots::open(place.file(), 1).unwrap();
    let mut other = Peer::new(&place.file(), 1);
    other.tell("acquire");
    assert_eq!((other.hear().as_str(), other.hear().as_str()), ("acquiring", "0 1 clean"));
    let pid = other.pid();
    let status = slots.status().unwrap();
    assert_eq!((status.holders.len(), status.holders[0].dead), (1, false));
    assert_eq!(status.holders[0].known.pid, Some(pid));
    // A waiter is asleep when it happens.
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| {
            let guard = slots.acquire().unwrap();
            assert!(guard.fence() > 1);
            guard.previous().clone()
        });
        while slots.status().unwrap().waiters.is_empty() {
            std::thread::yield_now();
        }
        other.kill();
        let Previous::Died(known) = waits.join().unwrap() else { panic!("it was not told") };
        assert_eq!((known.pid, known.label.as_deref()), (Some(pid), Some("peer")));
        assert!(known.since.is_some());
    });
    assert_eq!(*slots.acquire().unwrap().previous(), Previous::Clean, "one is told, once");
}

/// Where waits were short, a waiter first watches only one holder: that of the last slot.
#[test]
fn a_death_is_noticed_though_waits_were_short() {
    let place = Place::new("short");
    let open = || Slots::open(place.file(), 2).unwrap();
    let (slots, keeps) = (open(), open());
    let mut other = Peer::new(&place.file(), 2);
    assert_eq!(other.ask("acquire"), "acquiring");
    assert_eq!(other.hear(), "0 1 clean");
    std::thread::scope(|scope| {
        let waits = || {
            let waits = scope.spawn(|| slots.acquire().unwrap().previous().clone());
            while slots.status().unwrap().waiters.is_empty() {
                std::thread::yield_now();
            }
            std::thread::sleep(Duration::from_millis(1)); // so that it sleeps, too
            waits
        };
        for _ in 0..10 {
            let held = keeps.acquire().unwrap();
            let waits = waits();
            drop(held);
            assert_eq!(waits.join().unwrap(), Previous::Clean);
        }
        let _held = keeps.acquire().unwrap();
        let waits = waits();
        other.kill();
        assert!(matches!(waits.join().unwrap(), Previous::Died(_)));
    });
}

#[test]
fn status_shows_a_dead_holder_and_takes_its_slot_back() {
    let place = Place::new("status");
    let slots = Slots::open(place.file(), 2).unwrap();
    let mut other = Peer::new(&place.file(), 2);
    other.tell("acquire");
    assert_eq!((other.hear().as_str(), other.hear().as_str()), ("acquiring", "0 1 clean"));
    other.kill();
    let found = slots.status().unwrap();
    assert!(found.holders.len() == 1 && found.holders[0].dead, "{found:?}");
    assert!(slots.status().unwrap().holders.is_empty());
    assert!(matches!(slots.acquire().unwrap().previous(), Previous::Died(_)));
}

#[test]
fn the_death_of_a_waiter_stops_nobody() {
    let place = Place::new("waiter");
    let slots = Slots::open(place.file(), 1).unwrap();
    let held = slots.acquire().unwrap();
    let (mut first, mut second) = (Peer::new(&place.file(), 1), Peer::new(&place.file(), 1));
    let waiters = |n| {
        while slots.status().unwrap().waiters.len() != n {
            std::thread::yield_now();
        }
    };
    assert_eq!(first.ask("acquire"), "acquiring");
    waiters(1);
    assert_eq!(second.ask("acquire"), "acquiring");
    waiters(2);
    first.kill();
    drop(held);
    assert!(second.hear().starts_with("0 "));
}

#[test]
fn a_stopped_holder_keeps_its_slot() {
    let place = Place::new("stopped");
    let slots = Slots::open(place.file(), 1).unwrap();
    let mut other = Peer::new(&place.file(), 1);
    other.tell("acquire");
    assert_eq!((other.hear().as_str(), other.hear().as_str()), ("acquiring", "0 1 clean"));
    other.signal(libc::SIGSTOP);
    assert_eq!(slots.acquire_timeout(BRIEFLY).unwrap_err(), TimeoutError::TimedOut);
    assert!(!slots.status().unwrap().holders[0].dead);
    other.signal(libc::SIGCONT);
    assert_eq!(other.ask("drop"), "dropped");
    assert_eq!(*slots.acquire().unwrap().previous(), Previous::Clean);
}

#[test]
fn a_broken_slot_goes_to_the_next_and_both_are_told() {
    let place = Place::new("broken");
    let slots = Slots::open(place.file(), 1).unwrap();
    let mut other = Peer::new(&place.file(), 1);
    other.tell("acquire");
    assert_eq!((other.hear().as_str(), other.hear().as_str()), ("acquiring", "0 1 clean"));
    let known = slots.break_slot(0).unwrap().unwrap();
    assert_eq!((known.pid, known.label.as_deref()), (Some(other.pid()), Some("peer")));
    let mine = slots.acquire().unwrap();
    let Previous::Broken(known) = mine.previous() else { panic!("{:?}", mine.previous()) };
    assert_eq!(known.pid, Some(other.pid()));
    assert_eq!(other.ask("release"), "broken");
    assert_eq!(slots.try_acquire().unwrap_err(), TryAcquireError::NoPlace, "the old holder gave nothing back");
    assert_eq!(slots.status().unwrap().holders[0].known.pid, Some(std::process::id()), "nor did it touch our name");
    drop(mine);
    assert_eq!(*slots.acquire().unwrap().previous(), Previous::Clean);
    assert_eq!(slots.break_slot(0).unwrap(), None);
    assert_eq!(slots.break_slot(1).unwrap_err(), Error::NoSuchSlot { slot: 1, slots: 1 });
}

#[test]
fn a_holder_that_has_changed_is_not_broken() {
    let place = Place::new("break-holder");
    let slots = Slots::open(place.file(), 1).unwrap();
    let first = slots.acquire().unwrap().fence();
    assert_eq!(slots.break_holder(0, first).unwrap(), None, "it has left");
    let second = slots.acquire().unwrap();
    assert_eq!(slots.break_holder(0, first).unwrap(), None, "another one has the slot");
    assert_eq!(slots.status().unwrap().holders[0].fence, second.fence());
    assert!(slots.break_holder(0, second.fence()).unwrap().is_some());
    assert_eq!(second.release(), Err(ReleaseError::Broken));
    assert_eq!(slots.break_holder(1, 1).unwrap_err(), Error::NoSuchSlot { slot: 1, slots: 1 });
}

#[test]
fn a_broken_holder_is_told_though_others_wait() {
    let place = Place::new("broken-waits");
    let slots = Slots::open(place.file(), 1).unwrap();
    let held = slots.acquire().unwrap();
    let (mut first, mut second) = (Peer::new(&place.file(), 1), Peer::new(&place.file(), 1));
    let waiters = |n| {
        while slots.status().unwrap().waiters.len() != n {
            std::thread::yield_now();
        }
    };
    assert_eq!(first.ask("acquire"), "acquiring");
    waiters(1);
    assert_eq!(second.ask("acquire"), "acquiring");
    waiters(2);
    assert!(slots.break_slot(0).unwrap().is_some());
    assert!(first.hear().contains("broken"), "the oldest has it now");
    assert_eq!(held.release(), Err(ReleaseError::Broken));
    assert_eq!(first.ask("drop"), "dropped");
    assert!(second.hear().ends_with("clean"));
}

#[test]
fn a_file_in_use_is_not_removed_unless_by_force() {
    let place = Place::new("remove");
    assert_eq!(Slots::remove(place.file()), Err(Error::Missing(place.file())));
    let mut other = Peer::new(&place.file(), 1);
    assert_eq!(Slots::remove(place.file()), Err(Error::InUse(place.file())));
    other.tell("acquire");
    assert_eq!((other.hear().as_str(), other.hear().as_str()), ("acquiring", "0 1 clean"));
    let mut waits = Peer::new(&place.file(), 1);
    assert_eq!(waits.ask("acquire"), "acquiring");
    let here = Slots::open(place.file(), 1).unwrap();
    Builder::existing(place.file()).remove_by_force().unwrap();
    let deleted = format!("{:?}", Error::Deleted(place.file()));
    assert_eq!(waits.hear(), deleted, "a waiter learns of it");
    assert_eq!(other.ask("release"), deleted, "and a holder, when it asks");
    assert_eq!(here.status().unwrap_err(), Error::Deleted(place.file()));
    assert_eq!(here.acquire().unwrap_err(), Error::Deleted(place.file()), "and lets no caller in from then on");
    // A new file under the old name is another file.
    let anew = Slots::open(place.file(), 2).unwrap();
    assert_eq!(anew.status().unwrap().slots, 2);
    drop(anew);
    Slots::remove(place.file()).unwrap();
}

#[test]
fn a_forked_child_keeps_no_slot_of_its_parent() {
    let place = Place::new("fork");
    let slots = Slots::open(place.file(), 1).unwrap();
    let mut other = Peer::new(&place.file(), 1);
    other.tell("acquire");
    assert_eq!((other.hear().as_str(), other.hear().as_str()), ("acquiring", "0 1 clean"));
    let grandchild: i32 = other.ask("fork").parse().unwrap();
    let pid = other.pid();
    other.kill();
    let guard = slots.acquire_timeout(Duration::from_secs(20));
    // SAFETY: the grandchild sleeps until it is killed, so its number is still its own.
    assert_eq!(unsafe { libc::kill(grandchild, libc::SIGKILL) }, 0, "it lived all the time");
    assert_eq!(shared_kit::told(guard.unwrap().previous()), format!("died {pid}"));
}

#[test]
fn guards_and_handles_are_void_in_a_forked_child() {
    let place = Place::new("void");
    let slots = Slots::open(place.file(), 1).unwrap();
    let guard = slots.acquire().unwrap();
    // SAFETY: the child does a few things that need no other thread, and exits without unwinding.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let path = slots.path().to_owned();
        let mut failed = 0;
        let mut check = |bit: i32, good: bool| failed |= if good { 0 } else { bit };
        check(1, guard.release() == Err(ReleaseError::Failed(Error::Forked)));
        check(2, slots.try_acquire().unwrap_err() == TryAcquireError::Failed(Error::Forked));
        check(4, slots.status().unwrap_err() == Error::Forked);
        let anew = Slots::open(&path, 1).unwrap();
        check(8, anew.try_acquire().unwrap_err() == TryAcquireError::NoPlace);
        drop(slots);
        drop(anew);
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(failed) };
    }
    let mut status = 0;
    // SAFETY: the child is ours, and the call writes `status`.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert!(libc::WIFEXITED(status), "the child died: {status:#x}");
    assert_eq!(libc::WEXITSTATUS(status), 0, "a bit for each check that failed");
    assert_eq!(slots.try_acquire().unwrap_err(), TryAcquireError::NoPlace, "the slot is still ours");
    guard.release().unwrap();
}

#[test]
fn exec_is_a_death() {
    let place = Place::new("exec");
    let slots = Slots::open(place.file(), 1).unwrap();
    let mut other = Peer::new(&place.file(), 1);
    other.tell("acquire");
    assert_eq!((other.hear().as_str(), other.hear().as_str()), ("acquiring", "0 1 clean"));
    assert_eq!(other.ask("exec"), "executing");
    let guard = slots.acquire_timeout(Duration::from_secs(60)).unwrap();
    assert!(matches!(guard.previous(), Previous::Died(_)));
}

#[test]
fn to_exit_without_dropping_a_guard_is_to_die() {
    let place = Place::new("exit");
    let slots = Slots::open(place.file(), 1).unwrap();
    let mut other = Peer::new(&place.file(), 1);
    other.tell("acquire");
    assert_eq!((other.hear().as_str(), other.hear().as_str()), ("acquiring", "0 1 clean"));
    other.tell("exit");
    let guard = slots.acquire_timeout(Duration::from_secs(60)).unwrap();
    assert!(matches!(guard.previous(), Previous::Died(_)));
}

#[test]
fn a_panic_gives_the_slot_back() {
    let place = Place::new("panic");
    let slots = Slots::open(place.file(), 1).unwrap();
    let panics = || {
        let _guard = slots.acquire().unwrap();
        std::panic::resume_unwind(Box::new(()));
    };
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
    assert_eq!(*slots.try_acquire().unwrap().previous(), Previous::Clean);
}

#[test]
fn a_stopped_waiter_keeps_what_it_is_offered() {
    let place = Place::new("stopped-waiter");
    let slots = Slots::open(place.file(), 1).unwrap();
    let held = slots.acquire().unwrap();
    let mut other = Peer::new(&place.file(), 1);
    assert_eq!(other.ask("acquire"), "acquiring");
    while slots.status().unwrap().waiters.is_empty() {
        std::thread::yield_now();
    }
    other.signal(libc::SIGSTOP);
    drop(held);
    assert_eq!(slots.acquire_timeout(BRIEFLY).unwrap_err(), TimeoutError::TimedOut);
    other.signal(libc::SIGCONT);
    assert!(other.hear().ends_with("clean"));
    assert_eq!(other.ask("drop"), "dropped");
    assert_eq!(*slots.acquire().unwrap().previous(), Previous::Clean);
}

#[test]
fn a_death_in_another_namespace_of_processes_is_noticed() {
    let place = Place::new("namespace");
    let unshare = || {
        let mut command = std::process::Command::new("unshare");
        command.args(["--pid", "--fork", "--kill-child", "--map-root-user"]);
        command
    };
    if !unshare().arg("true").status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: no namespace of processes can be made here");
        return;
    }
    let slots = Slots::open(place.file(), 1).unwrap();
    let mut command = unshare();
    command.arg(std::env::current_exe().unwrap());
    let mut other = Peer::start(command);
    assert_eq!(other.ask(&format!("open {} 1", place.file().display())), "opened");
    other.tell("acquire");
    assert_eq!((other.hear().as_str(), other.hear().as_str()), ("acquiring", "0 1 clean"));
    assert_eq!(slots.acquire_timeout(BRIEFLY).unwrap_err(), TimeoutError::TimedOut, "it lives");
    other.kill();
    let guard = slots.acquire_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(shared_kit::told(guard.previous()), "died 1", "that is its number there");
}

#[test]
fn a_guard_in_a_thread_that_ends_keeps_its_slot() {
    let place = Place::new("thread");
    let slots = Arc::new(Slots::open(place.file(), 1).unwrap());
    let theirs = Arc::clone(&slots);
    std::thread::spawn(move || std::mem::forget(theirs.acquire_owned().unwrap())).join().unwrap();
    let other = Slots::open(place.file(), 1).unwrap();
    assert_eq!(other.acquire_timeout(BRIEFLY).unwrap_err(), TimeoutError::TimedOut);
    assert!(!other.status().unwrap().holders[0].dead);
}

#[test]
fn two_handles_of_one_process_are_two_users() {
    let place = Place::new("handles");
    let (one, other) = (Slots::open(place.file(), 1).unwrap(), Slots::open(place.file(), 1).unwrap());
    let guard = one.acquire().unwrap();
    assert_eq!(other.try_acquire().unwrap_err(), TryAcquireError::NoPlace);
    std::mem::forget(guard);
    drop(one); // its seats are free: it holds nothing any more
    assert!(matches!(other.acquire().unwrap().previous(), Previous::Died(_)));
    let looks = Slots::attach(place.file()).unwrap();
    assert_eq!(looks.places(), 1);
    assert!(looks.status().unwrap().holders.is_empty());
}

#[test]
fn where_deaths_are_tolerated_a_slot_is_lost() {
    let place = Place::new("tolerate");
    let open = || Builder::new(place.file(), 2).mode(Mode::Tolerate).open().unwrap();
    let slots = open();
    let other = open();
    std::mem::forget(other.acquire().unwrap());
    drop(other);
    let status = slots.status().unwrap();
    assert!(status.holders[0].dead && status.mode == Mode::Tolerate);
    let mine = slots.acquire().unwrap();
    assert_eq!((mine.slot(), mine.previous()), (1, &Previous::Clean));
    assert_eq!(slots.acquire_timeout(BRIEFLY).unwrap_err(), TimeoutError::TimedOut);
    drop(mine);
    assert_eq!(open().acquire().unwrap().slot(), 1, "others go on with what is left");
    // A person has looked, and gives the slot back.
    assert!(slots.break_slot(0).unwrap().is_some());
    assert!(matches!(slots.acquire().unwrap().previous(), Previous::Broken(_)));
}

#[test]
fn when_all_seats_are_taken_the_error_says_so() {
    let place = Place::new("seats");
    let open = || Builder::new(place.file(), 1).seats(64).open();
    let handles: Vec<_> = (0..64).map(|_| open().unwrap()).collect();
    assert_eq!(open().unwrap_err(), Error::NoSeats { seats: 64 });
    // A second waiter of a handle that has no second seat waits for the first one's.
    let held = handles[0].acquire().unwrap();
    std::thread::scope(|scope| {
        let both: Vec<_> = (0..2).map(|_| scope.spawn(|| drop(handles[1].acquire().unwrap()))).collect();
        while handles[0].status().unwrap().waiters.is_empty() {
            std::thread::yield_now();
        }
        drop(held);
        both.into_iter().for_each(|waits| waits.join().unwrap());
    });
    drop(handles);
    assert!(open().is_ok());
}

/// The kernel reads 2048 entries of a thread's list. The seats beyond have no hint, so the waiters
/// that watch them look on their own.
#[test]
fn a_process_with_more_seats_than_the_kernel_looks_at_is_found_dead_in_all_of_them() {
    const TASKS: usize = 2100;
    let place = Place::in_memory("many-seats");
    let mut crowd = Peer::start(std::process::Command::new(std::env::current_exe().unwrap()));
    assert_eq!(crowd.ask(&format!("crowd {} {TASKS}", place.file().display())), "crowded");
    let hints = || {
        let file = std::fs::read(place.file()).unwrap();
        let rows = &file[4096 + 4096 / 8 + 128 + 128..];
        let hint = |row: &[u8]| u32::from_le_bytes(row[8..12].try_into().unwrap());
        rows.chunks(128).map(hint).filter(|hint| *hint != 0).collect::<Vec<u32>>()
    };
    assert_eq!(hints().len(), 2048);
    let pid = crowd.pid();
    crowd.kill();
    assert!(hints().iter().all(|hint| hint & 0x4000_0000 != 0), "the kernel has marked all that there are");
    let slots = Builder::new(place.file(), 1).seats(4096).open().unwrap();
    let guard = slots.acquire().unwrap();
    let Previous::Died(known) = guard.previous() else { panic!("{guard:?}") };
    assert_eq!(known.pid, Some(pid));
    let status = slots.status().unwrap();
    assert!(status.waiters.is_empty(), "{} are still in line", status.waiters.len());
}
