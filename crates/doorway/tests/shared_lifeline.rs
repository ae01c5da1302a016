//! Lifelines: a slot that outlives its holder while another process has a copy.
#![cfg(all(
    target_os = "linux",
    target_endian = "little",
    target_pointer_width = "64",
    not(any(miri, doorway_portable))
))]

use doorway::shared::{Error, Previous, Slots};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

fn place(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("doorway-lifeline-test-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

#[test]
fn a_program_that_inherits_a_copy_keeps_the_slot_of_the_dead() {
    let path = place("program");
    let (holder, next) = (Slots::open(&path, 1).unwrap(), Slots::open(&path, 1).unwrap());
    let guard = holder.acquire().unwrap();
    let lifeline = guard.lifeline().unwrap();
    let copy = lifeline.as_fd().try_clone_to_owned().unwrap();
    let mut program = Command::new("sleep").arg("1000").stdin(Stdio::from(copy)).spawn().unwrap();
    std::mem::forget(guard);
    drop(holder);
    assert!(next.try_acquire().is_err());
    assert!(next.acquire_timeout(Duration::from_millis(20)).is_err());
    assert_eq!(Slots::remove(&path), Err(Error::InUse(path.clone())));
    program.kill().unwrap();
    program.wait().unwrap();
    assert!(next.try_acquire().is_err(), "this process has one too");
    drop(lifeline);
    assert!(matches!(next.try_acquire().unwrap().previous(), Previous::Died(_)));
    drop(next);
    Slots::remove(&path).unwrap();
}

#[test]
fn a_holder_that_lives_gives_the_slot_back_whoever_has_copies() {
    let path = place("lives");
    let (holder, next) = (Slots::open(&path, 1).unwrap(), Slots::open(&path, 1).unwrap());
    let guard = holder.acquire().unwrap();
    let lifeline = guard.lifeline().unwrap();
    let second = guard.lifeline().unwrap();
    let copy = lifeline.as_fd().try_clone_to_owned().unwrap();
    guard.release().unwrap();
    assert_eq!(*next.try_acquire().unwrap().previous(), Previous::Clean);
    // The holder takes it again: the lifelines belong to its seat.
    let again = holder.acquire().unwrap();
    std::mem::forget(again);
    drop(holder);
    assert!(next.try_acquire().is_err());
    drop(lifeline);
    assert!(next.try_acquire().is_err(), "the second one keeps it");
    drop(second);
    assert!(next.try_acquire().is_ok(), "copies of one that was dropped keep nothing");
    drop(copy);
    drop(next);
    Slots::remove(&path).unwrap();
}

/// All guards of a handle that were granted at once have one seat.
#[test]
fn a_lifeline_keeps_all_that_has_the_same_seat() {
    let path = place("seat");
    let (one, other, next) =
        (Slots::open(&path, 3).unwrap(), Slots::open(&path, 3).unwrap(), Slots::open(&path, 3).unwrap());
    let guard = one.acquire().unwrap();
    let lifeline = guard.lifeline().unwrap();
    std::mem::forget([guard, one.acquire().unwrap()]);
    std::mem::forget(other.acquire().unwrap());
    drop((one, other));
    let came_back = next.try_acquire().unwrap();
    assert_eq!(came_back.slot(), 2, "that of the other handle");
    assert!(next.try_acquire().is_err());
    drop(lifeline);
    assert!(next.try_acquire().is_ok_and(|guard| guard.slot() < 2));
    drop(came_back);
    drop(next);
    Slots::remove(&path).unwrap();
}

/// Copies in a forked child end nothing, and neither does what the child drops.
#[test]
#[allow(unsafe_code)]
fn a_forked_child_that_drops_a_lifeline_ends_nothing() {
    let path = place("forked");
    let (holder, next) = (Slots::open(&path, 1).unwrap(), Slots::open(&path, 1).unwrap());
    let guard = holder.acquire().unwrap();
    let lifeline = guard.lifeline().unwrap();
    // SAFETY: the child drops its copies, asks for something that it may not have, and exits.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let refused = matches!(guard.lifeline(), Err(Error::Forked));
        drop(lifeline);
        drop(guard);
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(i32::from(!refused)) };
    }
    let mut status = 0;
    // SAFETY: the child is ours, and the call writes `status`.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!((libc::WIFEXITED(status), libc::WEXITSTATUS(status)), (true, 0));
    std::mem::forget(guard);
    drop(holder);
    assert!(next.try_acquire().is_err(), "the parent's lifeline keeps it");
    drop(lifeline);
    assert!(next.try_acquire().is_ok());
    drop(next);
    Slots::remove(&path).unwrap();
}

#[test]
fn a_copy_can_be_read_and_not_be_written() {
    let path = place("read");
    let slots = Slots::open(&path, 1).unwrap();
    let guard = slots.acquire().unwrap();
    let mut copy = File::from(guard.lifeline().unwrap().as_fd().try_clone_to_owned().unwrap());
    assert!(copy.write(b"x").is_err() && copy.set_len(0).is_err());
    assert_eq!(copy.read(&mut [0; 8]).unwrap(), 8);
    drop(guard);
    drop(slots);
    Slots::remove(&path).unwrap();
}
