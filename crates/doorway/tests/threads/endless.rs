//! The endless line on native memory: how it grows, and the order of arrival of very many callers.

use doorway::native::{Native, now};
use doorway_core::k_exclusion::turnstile::{Attempt, Endless, Held, Limits, MOST_RINGS, Turnstile};
use doorway_core::k_exclusion::{Abortable, KExclusion};
use doorway_core::memory::{Pid, Process, Site};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

type Line = Turnstile<Native, Endless<Native>>;

fn line(k: usize) -> Line {
    Turnstile::endless(&Site::new(&Native::new()), k, Limits::for_anybody(k), MOST_RINGS, 0)
}

/// How many rings were made, with 16 places, 32, 64 and so on.
fn rings(line: &Line) -> usize {
    let text = format!("{line:?}");
    let (_, made) = text.split_once("made: ").unwrap();
    made.split_once(',').unwrap().0.parse().unwrap()
}

fn task(i: usize) -> Process<Native> {
    let p = Process::new(Pid::new(i % 60_000), Native::new());
    p.memory().wait_as_task(true);
    p
}

fn is_ready<T>(future: Pin<&mut impl Future<Output = T>>) -> Option<T> {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(out) => Some(out),
        Poll::Pending => None,
    }
}

/// A caller that comes, waits, and gives up without getting in.
fn comes_in_vain(line: &Line, p: &Process<Native>) {
    let mut attempt = Attempt::default();
    assert!(is_ready(pin!(line.try_acquire(p, &mut attempt))).is_none());
    assert_eq!(now(line.leave(p, attempt)).unwrap(), None);
}

#[test]
fn no_ring_is_made_before_somebody_waits() {
    let (line, p) = (line(2), task(0));
    let held = [0, 1].map(|_| now(line.acquire(&p)).unwrap());
    for held in held {
        now(line.release(&p, held)).unwrap();
    }
    let _held = [0, 1].map(|_| now(line.acquire(&p)).unwrap());
    assert_eq!(rings(&line), 0);
    comes_in_vain(&line, &p);
    assert_eq!(rings(&line), 1);
}

/// One caller is stuck inside, and others come and give up: what they leave behind does not grow.
#[test]
fn places_that_were_given_up_do_not_pile_up() {
    let line = line(1);
    let (holder, p) = (task(0), task(1));
    let held = now(line.acquire(&holder)).unwrap();
    (0..300_000).for_each(|_| comes_in_vain(&line, &p));
    let look = now(line.look(&p)).unwrap();
    assert_eq!((look.waiting, look.camping, rings(&line)), (0, false, 1));
    now(line.release(&holder, held)).unwrap();
    now(line.release(&p, now(line.acquire(&p)).unwrap())).unwrap();
}

/// The callers of a line leave from the last to the first. Only the first one sweeps, and then all
/// places are free again.
#[test]
fn a_line_that_was_left_is_as_good_as_new() {
    let line = line(1);
    let holder = task(0);
    let held = now(line.acquire(&holder)).unwrap();
    for _ in 0..50 {
        let all: Vec<_> = (1..100).map(task).collect();
        let mut attempts = vec![Attempt::default(); all.len()];
        for (p, attempt) in all.iter().zip(&mut attempts) {
            assert!(is_ready(pin!(line.try_acquire(p, attempt))).is_none());
        }
        assert_eq!(now(line.look(&holder)).unwrap().waiting, 99);
        for (p, attempt) in all.iter().zip(attempts).rev() {
            assert_eq!(now(line.leave(p, attempt)).unwrap(), None);
        }
        assert_eq!(now(line.look(&holder)).unwrap().waiting, 0);
    }
    assert_eq!(rings(&line), 4); // the last has 128 places
    now(line.release(&holder, held)).unwrap();
}

/// Far more callers than a ring of a fixed size would hold, each in its turn.
#[test]
fn very_many_are_let_in_by_arrival() {
    const MANY: usize = 20_000;
    let line = line(1);
    let all: Vec<_> = (0..=MANY).map(task).collect();
    let mut holds: Held = now(line.acquire(&all[0])).unwrap();
    let mut waiting: Vec<_> = all[1..].iter().map(|p| Box::pin(line.acquire(p))).collect();
    for one in &mut waiting {
        assert!(is_ready(one.as_mut()).is_none());
    }
    assert_eq!(rings(&line), 11); // the last has 16,384 places: the other callers have theirs in older rings
    for i in 0..MANY {
        if let Some(next) = waiting.get_mut(i + 1) {
            assert!(is_ready(next.as_mut()).is_none(), "{} is let in before its turn", i + 2);
        }
        now(line.release(&all[i], holds)).unwrap();
        holds = is_ready(waiting[i].as_mut()).expect("it is its turn").unwrap();
    }
    now(line.release(&all[MANY], holds)).unwrap();
    let look = now(line.look(&all[0])).unwrap();
    assert_eq!((look.free, look.waiting), (1, 0));
}
