//! The turnstile on native memory, where its numbers wrap around.

use crate::slots_kit::block_on;
use doorway::native::{Native, now};
use doorway_core::k_exclusion::turnstile::{Attempt, Held, Limits, Line, MOST_RINGS, Turnstile};
use doorway_core::k_exclusion::{Abortable, KExclusion};
use doorway_core::memory::{Pid, Process, Site};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// The passages of each thread.
const PASSAGES: usize = 1500;
const THREADS: usize = 4;

/// How many tickets are drawn by the end, at most: a wait that was given up counts, too.
const TICKETS: u64 = (THREADS * PASSAGES) as u64;

/// Where something wraps around: tickets in their own words, tickets in the gate, and the marks at
/// which the front must move even with an empty line.
const PLACES: [u64; 7] = [0, 1 << 39, 3 << 39, 5 << 39, 1 << 42, 9 << 39, 1 << 54];

fn process(i: usize) -> Process<Native> {
    Process::new(Pid::new(i), Native::new())
}

fn crowds(k: usize, first: u64, give_up: bool) {
    let (native, limits) = (Native::new(), Limits::for_anybody(3));
    crowd(&Turnstile::with_limits(&Site::new(&native), k, Limits::for_ring(64, 3), first), k, first, give_up);
    crowd(&Turnstile::endless(&Site::new(&native), k, limits, MOST_RINGS, first), k, first, give_up);
    // So that rings are made and places collide as often as possible.
    let limits = Limits { ring: 1, ..limits };
    crowd(&Turnstile::endless(&Site::new(&native), k, limits, MOST_RINGS, first), k, first, give_up);
    // The same, where rings go back whenever no waiter is in line.
    // SAFETY: `crowd` releases what it acquired, once.
    let native = unsafe { native.freeing_rows() };
    for kept in 0..if first == 0 { 3 } else { 1 } {
        let line = Turnstile::endless(&Site::new(&native), k, limits, MOST_RINGS, first).keeping_rings(kept);
        crowd(&line, k, first, give_up);
        // A thread that stalled while it made a ring may have left one more.
        let made = (0..=kept + 1).find(|made| format!("{line:?}").contains(&format!("made: {made},")));
        assert!(made.is_some(), "at most {kept} rings stay: {line:?}");
    }
}

fn crowd<L: Line<Native> + Sync>(line: &Turnstile<Native, L>, k: usize, first: u64, give_up: bool) {
    let inside = AtomicUsize::new(0);
    thread::scope(|s| {
        for i in 0..THREADS {
            let inside = &inside;
            s.spawn(move || {
                let p = process(i);
                for passage in 0..PASSAGES {
                    let held = match passage % 5 {
                        0 if give_up => try_for_a_moment(line, &p),
                        1 if give_up => poll_once(line, i),
                        2 => {
                            p.memory().wait_as_task(true);
                            let held = block_on(line.acquire(&p)).unwrap();
                            p.memory().wait_as_task(false);
                            Some(held)
                        }
                        _ => Some(now(line.acquire(&p)).unwrap()),
                    };
                    let Some(held) = held else { continue };
                    let now_inside = inside.fetch_add(1, SeqCst) + 1;
                    assert!(now_inside <= k, "{now_inside} are inside, beginning at {first}: {line:?}");
                    if passage % 64 == 0 {
                        thread::yield_now();
                    }
                    inside.fetch_sub(1, SeqCst);
                    let Ok(()) = now(line.release(&p, held));
                }
            });
        }
    });
    let Ok(look) = now(line.look(&process(0)));
    assert_eq!((look.free, look.waiting, look.camping), (k as u64, 0, false), "beginning at {first}: {line:?}");
}

fn try_for_a_moment<L: Line<Native>>(line: &Turnstile<Native, L>, p: &Process<Native>) -> Option<Held> {
    p.memory().give_up_at(Some(Instant::now() + Duration::from_micros(20)));
    let mut attempt = Attempt::default();
    match now(line.try_acquire(p, &mut attempt)).unwrap() {
        Some(held) => Some(held),
        None => now(line.leave(p, attempt)).unwrap(),
    }
}

/// A task that is dropped unless it gets in at once.
fn poll_once<L: Line<Native>>(line: &Turnstile<Native, L>, i: usize) -> Option<Held> {
    let p = process(i);
    p.memory().wait_as_task(true);
    let mut attempt = Attempt::default();
    {
        let mut tries = pin!(line.try_acquire(&p, &mut attempt));
        if let std::task::Poll::Ready(held) = tries.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return held.unwrap();
        }
    }
    now(line.leave(&p, attempt)).unwrap()
}

#[test]
fn a_crowd_passes_where_numbers_wrap() {
    for place in PLACES {
        for (k, before) in [(1, TICKETS / 2), (3, 10), (2, TICKETS / 4)] {
            crowds(k, place.wrapping_sub(before), false);
        }
    }
}

#[test]
fn a_crowd_of_which_some_give_up_passes_where_numbers_wrap() {
    for place in PLACES {
        for (k, before) in [(1, TICKETS / 2), (2, 10)] {
            crowds(k, place.wrapping_sub(before), true);
        }
    }
}

/// While the line is empty, the front stays where it is, until an exit passes a mark.
#[test]
fn the_front_moves_at_a_mark_though_nobody_is_in_line() {
    let front = |line: &Turnstile<Native>| {
        let text = format!("{line:?}");
        let (_, rest) = text.split_once("front: ").unwrap();
        let digits: String =
            rest.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
        digits.parse::<u64>().unwrap()
    };
    for mark in [1u64 << 37, 3 << 37, 5 << 37, 1 << 52 | 1 << 37] {
        let line = Turnstile::with_limits(&Site::new(&Native::new()), 2, Limits::for_ring(64, 3), mark - 50);
        let p = process(0);
        let pass = || {
            let held = now(line.acquire(&p)).unwrap();
            let Ok(()) = now(line.release(&p, held));
        };
        // Two places are open from the beginning.
        (0..47).for_each(|_| pass());
        assert_eq!(front(&line), mark - 50);
        pass();
        assert_eq!(front(&line), mark);
        (0..47).for_each(|_| pass());
        assert_eq!(front(&line), mark);
    }
}
