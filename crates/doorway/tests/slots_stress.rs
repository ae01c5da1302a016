//! Threads and tasks in a crowd, a fifth of which give up half-way.
//!
//! Each entry checks that no more are inside than allowed, and that no other guard has the same
//! slots. The end checks that all places can be taken, and that no waker was left behind. A few
//! rounds run by default; `ci/stress.sh` goes on for as long as it is told, with other seeds.

mod slots_kit;

use doorway::Slots;
use doorway::slots::OwnedSlotGuard;
use slots_kit::{Bell, block_on};
use std::fmt::Debug;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// Xorshift: fast, and the same everywhere.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        let mut dice = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        (0..8).for_each(|_| {
            dice.roll(2);
        });
        dice
    }

    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        // The upper bits are of better quality.
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % sides
    }
}

#[derive(Clone, Copy, Debug)]
struct Round {
    seed: u64,
    places: usize,
    unfair: bool,
    /// The largest number of places that a caller asks for, and how many of four callers ask for
    /// several.
    most: usize,
    greedy: u64,
    /// Threads that block, and threads that run tasks.
    threads: usize,
    executors: usize,
    tasks: usize,
    pinned: bool,
    /// How many times each caller asks.
    asks: usize,
}

struct World {
    round: Round,
    slots: Arc<Slots>,
    inside: AtomicUsize,
    taken: Vec<AtomicBool>,
    /// Counts entries and callers that gave up. As long as it grows, nothing hangs.
    progress: AtomicU64,
    passages: AtomicU64,
    given_up: AtomicU64,
}

impl World {
    fn new(round: Round) -> Arc<Self> {
        let slots = Slots::new(round.places).unwrap();
        Arc::new(Self {
            round,
            slots: Arc::new(if round.unfair { slots.unfair() } else { slots }),
            inside: AtomicUsize::new(0),
            taken: (0..round.places).map(|_| AtomicBool::new(false)).collect(),
            progress: AtomicU64::new(0),
            passages: AtomicU64::new(0),
            given_up: AtomicU64::new(0),
        })
    }

    fn enter(&self, guard: OwnedSlotGuard) -> OwnedSlotGuard {
        let inside = self.inside.fetch_add(guard.places(), SeqCst) + guard.places();
        assert!(inside <= self.round.places, "{inside} are inside: {self:?}");
        for slot in guard.slots() {
            assert!(!self.taken[slot].swap(true, SeqCst), "slot {slot} is held twice: {self:?}");
        }
        guard
    }

    fn exit(&self, guard: OwnedSlotGuard) {
        guard.slots().into_iter().for_each(|slot| self.taken[slot].store(false, SeqCst));
        self.inside.fetch_sub(guard.places(), SeqCst);
        drop(guard);
        self.passages.fetch_add(1, SeqCst);
        self.progress.fetch_add(1, SeqCst);
    }

    /// Passes through with a guard, which is held for a moment.
    fn pass(&self, guard: OwnedSlotGuard, dice: &mut Dice) {
        let guard = self.enter(guard);
        match dice.roll(8) {
            0 => thread::yield_now(),
            1 => (0..dice.roll(200)).for_each(|_| std::hint::spin_loop()),
            _ => {}
        }
        self.exit(guard);
    }

    fn gave_up(&self) {
        self.given_up.fetch_add(1, SeqCst);
        self.progress.fetch_add(1, SeqCst);
    }

    fn places(&self, dice: &mut Dice) -> usize {
        if dice.roll(4) < self.round.greedy { 1 + dice.roll(self.round.most as u64) as usize } else { 1 }
    }

    fn thread_asks(&self, dice: &mut Dice) {
        let places = self.places(dice);
        let guard = match dice.roll(10) {
            0 | 1 => self.slots.acquire_many_timeout_owned(places, Duration::from_nanos(1 << dice.roll(20))).ok(),
            2 => self.slots.try_acquire_many_owned(places).ok(),
            3 => Some(block_on(self.slots.acquire_many_owned_async(places)).unwrap()),
            _ if places == 1 => Some(self.slots.acquire_owned().unwrap()),
            _ => Some(self.slots.acquire_many_owned(places).unwrap()),
        };
        match guard {
            Some(guard) => self.pass(guard, dice),
            None => self.gave_up(),
        }
    }

    /// Runs several tasks on one thread. One in five is dropped while it waits.
    fn tasks_ask(&self, dice: &mut Dice) {
        type Asks = Pin<Box<dyn Future<Output = OwnedSlotGuard>>>;
        let me = thread::current();
        let mut asks = self.round.asks;
        let mut waiting: Vec<(Asks, Arc<Bell>, bool)> = Vec::new();
        let mut held: Vec<OwnedSlotGuard> = Vec::new();
        let bells: Vec<Arc<Bell>> = (0..self.round.tasks).map(|_| Arc::new(Bell::of(me.clone()))).collect();
        loop {
            while waiting.len() < self.round.tasks && asks > 0 {
                asks -= 1;
                let (slots, places) = (Arc::clone(&self.slots), self.places(dice));
                let task: Asks = Box::pin(async move { slots.acquire_many_owned_async(places).await.unwrap() });
                let free = |bell: &&Arc<Bell>| !waiting.iter().any(|(_, used, _)| Arc::ptr_eq(used, bell));
                let bell = Arc::clone(bells.iter().find(free).unwrap());
                bell.rings_once();
                waiting.push((task, bell, dice.roll(5) == 0));
            }
            if waiting.is_empty() && held.is_empty() {
                break;
            }
            let mut moved = false;
            let mut i = 0;
            while i < waiting.len() {
                let (task, bell, may_be_dropped) = &mut waiting[i];
                let woken = bell.takes() > 0;
                let ready = woken.then(|| task.as_mut().poll(&mut Context::from_waker(&Waker::from(Arc::clone(bell)))));
                match ready {
                    Some(Poll::Ready(guard)) => {
                        held.push(self.enter(guard));
                        drop(waiting.remove(i));
                        moved = true;
                    }
                    // It may have been let in since.
                    _ if *may_be_dropped && dice.roll(3) == 0 => {
                        drop(waiting.remove(i));
                        self.gave_up();
                        moved = true;
                    }
                    _ => {
                        moved |= woken;
                        i += 1;
                    }
                }
            }
            held.extract_if(.., |_| dice.roll(2) == 0).for_each(|guard| self.exit(guard));
            // A thread that parks must hold nothing, or it might never be woken.
            if !moved
                && held.is_empty()
                && !waiting.is_empty()
                && !waiting.iter().any(|(_, _, may_be_dropped)| *may_be_dropped)
            {
                thread::park();
            }
        }
        // Another thread may still be waking one. If one was left behind, this hangs.
        while bells.iter().any(|bell| Arc::strong_count(bell) > 1) {
            thread::yield_now();
        }
    }
}

impl Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} after {} passages, {:?}", self.round, self.passages.load(SeqCst), self.slots)
    }
}

#[cfg(target_os = "linux")]
fn pin_to_a_core(i: usize) {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let allowed = sched_getaffinity(None).unwrap();
    let cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core)).collect();
    let mut one = CpuSet::new();
    one.set(cores[i % cores.len()]);
    sched_setaffinity(None, &one).unwrap();
}

#[cfg(not(target_os = "linux"))]
fn pin_to_a_core(_: usize) {}

/// After this long without progress, the test counts as hanging.
const PATIENCE: Duration = Duration::from_secs(60);

fn run(round: Round) -> (u64, u64) {
    let world = World::new(round);
    let (done, all_done) = mpsc::channel();
    // Not in a scope: if a thread hangs, the one that reports it must not wait for it.
    for i in 0..round.threads + round.executors {
        let (world, done) = (Arc::clone(&world), done.clone());
        thread::spawn(move || {
            if round.pinned {
                pin_to_a_core(i);
            }
            let mut dice = Dice::new(round.seed << 8 | i as u64);
            if i < round.threads {
                (0..round.asks).for_each(|_| world.thread_asks(&mut dice));
            } else {
                world.tasks_ask(&mut dice);
            }
            done.send(()).unwrap();
        });
    }
    drop(done);
    let (mut finished, mut before, mut since) = (0, 0, Instant::now());
    while finished < round.threads + round.executors {
        match all_done.recv_timeout(Duration::from_millis(500)) {
            Ok(()) => finished += 1,
            Err(mpsc::RecvTimeoutError::Disconnected) => panic!("a thread has panicked: {world:?}"),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
        let progress = world.progress.load(SeqCst);
        if progress != before {
            (before, since) = (progress, Instant::now());
        }
        assert!(since.elapsed() < PATIENCE, "a thread hangs: {world:?}");
    }
    let all: Vec<_> = (0..round.places).filter_map(|_| world.slots.try_acquire().ok()).collect();
    assert_eq!(all.len(), round.places, "places were lost: {world:?}");
    (world.passages.load(SeqCst), world.given_up.load(SeqCst))
}

fn rounds(seed: u64) -> impl Iterator<Item = Round> {
    let calm = Round {
        seed,
        places: 1,
        unfair: false,
        most: 1,
        greedy: 1,
        threads: 3,
        executors: 1,
        tasks: 4,
        pinned: false,
        asks: 1500,
    };
    [
        calm,
        Round { places: 2, most: 2, pinned: true, ..calm },
        Round { places: 3, most: 3, unfair: true, ..calm },
        Round { places: 70, most: 5, tasks: 40, threads: 2, executors: 3, ..calm },
        // More callers wait than fit in the line.
        Round { tasks: 30, executors: 2, ..calm },
        Round { tasks: 60, executors: 2, places: 2, unfair: true, pinned: true, ..calm },
        Round { places: 5, most: 5, threads: 6, executors: 2, pinned: true, ..calm },
        // Callers that ask for many places at once could overrun the ring, if nothing prevented it.
        Round { places: 8, most: 8, greedy: 3, threads: 12, asks: 500, ..calm },
        Round { places: 128, most: 128, greedy: 3, threads: 10, executors: 2, asks: 300, ..calm },
        Round { threads: 8, executors: 0, ..calm },
        Round { threads: 0, executors: 3, tasks: 8, places: 2, ..calm },
    ]
    .into_iter()
}

/// How long to run, if that was given.
fn seconds() -> Option<u64> {
    std::env::var("DOORWAY_STRESS_SECONDS").ok().and_then(|seconds| seconds.parse().ok())
}

#[test]
fn a_crowd_of_threads_and_tasks_of_which_some_give_up() {
    let (mut passages, mut given_up, begun) = (0, 0, Instant::now());
    let first = std::env::var("DOORWAY_STRESS_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1994);
    let last = seconds().map_or(first, |_| u64::MAX);
    for seed in first..=last {
        for round in rounds(seed) {
            let (passed, gave_up) = run(round);
            assert!(passed > 0 && gave_up > 0, "{round:?}: {passed} passed, {gave_up} gave up");
            passages += passed;
            given_up += gave_up;
        }
        if seconds().is_some_and(|seconds| begun.elapsed() > Duration::from_secs(seconds)) {
            println!("seeds {first} to {seed}");
            break;
        }
    }
    println!("{passages} passages, {given_up} given up");
}
