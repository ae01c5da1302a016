//! Values one by one, and an uncontended room.

use crate::bench::alone::{self, Alone, CONTROL};
use crate::bench::contest::{Contest, Contestant, Taken};
use crate::bench::entrance::{self, Entrance};
use crate::bench::{Effort, TWO_CORES};
use crate::measure;
use crossbeam_queue::{ArrayQueue, SegQueue};
use doorway::Rooms;
use doorway::rooms::{GrowingStack, LateRooms, Queue, Stack};
use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::Barrier;
use std::sync::PoisonError;
use std::time::Instant;

pub(super) const QUEUE: &str = "doorway Queue";
pub(super) const ARRAY_QUEUE: &str = "ArrayQueue";
pub(super) const ROOM: &str = "doorway Rooms";
pub(super) const PARKING_LOT: &str = "parking_lot";

/// Room for everything that threads put there at a time.
const CAPACITY: usize = 1024;
/// Pairs between two looks at the clock.
const STRIDE: u64 = 32;

/// This many threads push and pop in turns.
pub(super) fn contest(threads: usize, effort: &Effort, processors: usize) -> Contest {
    fn way(peer: &'static str, measure: impl FnMut(&Effort) -> Taken + 'static) -> Contestant {
        Contestant { peer, measure: Box::new(measure) }
    }
    let pairs = move |effort: &Effort, pair: &(dyn Fn(u64) -> bool + Sync)| pairs(threads, processors, effort, pair);
    let locked = move |effort: &Effort| {
        let queue = std::sync::Mutex::new(VecDeque::with_capacity(CAPACITY));
        let lock = || queue.lock().unwrap_or_else(PoisonError::into_inner);
        pairs(effort, &|value| {
            lock().push_back(value);
            lock().pop_front().is_some()
        })
    };
    let ways = vec![
        way(QUEUE, move |effort| {
            let queue = Queue::new(CAPACITY).expect("it is small");
            pairs(effort, &|value| queue.push(value).is_ok() && queue.pop().is_some())
        }),
        way("doorway Stack", move |effort| {
            let stack = Stack::new(CAPACITY).expect("it is small");
            pairs(effort, &|value| stack.push(value).is_ok() && stack.pop().is_some())
        }),
        way("doorway growing", move |effort| {
            let stack = GrowingStack::new();
            pairs(effort, &|value| stack.push(value).is_ok() && stack.pop().is_some())
        }),
        way(ARRAY_QUEUE, move |effort| {
            let queue = ArrayQueue::new(CAPACITY);
            pairs(effort, &|value| queue.push(value).is_ok() && queue.pop().is_some())
        }),
        way("SegQueue", move |effort| {
            let queue = SegQueue::new();
            pairs(effort, &|value| {
                queue.push(value);
                queue.pop().is_some()
            })
        }),
        way(PARKING_LOT, move |effort| {
            let queue = parking_lot::Mutex::new(VecDeque::with_capacity(CAPACITY));
            pairs(effort, &|value| {
                queue.lock().push_back(value);
                queue.lock().pop_front().is_some()
            })
        }),
        way("std Mutex", locked),
        way("control", locked),
    ];
    let what = format!("{threads} thread{}", if threads == 1 { "" } else { "s" });
    Contest::hold(what, TWO_CORES, threads, effort, ways)
}

fn pairs(threads: usize, processors: usize, effort: &Effort, pair: &(dyn Fn(u64) -> bool + Sync)) -> Taken {
    let start = Barrier::new(threads + 1);
    let thread = |i: usize| {
        measure::pin(i % processors);
        start.wait();
        let begin = Instant::now();
        let (mut made, mut found) = (0, true);
        while made == 0 || begin.elapsed() < effort.budget {
            (0..STRIDE).for_each(|i| found &= pair(black_box(i)));
            made += STRIDE;
        }
        assert!(found, "a thread that has pushed finds something");
        made
    };
    let (thread, start) = (&thread, &start);
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|i| scope.spawn(move || thread(i))).collect();
        let (begin, cpu) = (Instant::now(), measure::process_cpu_time());
        start.wait();
        let made: u64 = all.into_iter().map(|one| one.join().expect("no thread panics")).sum();
        Taken::each(made, begin.elapsed(), measure::process_cpu_time() - cpu)
    })
}

struct InRooms(Rooms);

impl Entrance for InRooms {
    type Member<'a> = &'a Self;
    fn join(&self) -> &Self {
        self
    }
    #[inline(always)]
    fn pass(me: &mut &Self, inside: impl FnOnce()) -> bool {
        let Ok(_guard) = me.0.enter(0) else { return false };
        inside();
        true
    }
}

struct InLateRooms(LateRooms);

impl Entrance for InLateRooms {
    type Member<'a> = &'a Self;
    fn join(&self) -> &Self {
        self
    }
    #[inline(always)]
    fn pass(me: &mut &Self, inside: impl FnOnce()) -> bool {
        let Ok(_guard) = me.0.enter(0) else { return false };
        inside();
        true
    }
}

struct Reads(std::sync::RwLock<()>);

impl Entrance for Reads {
    type Member<'a> = &'a Self;
    fn join(&self) -> &Self {
        self
    }
    #[inline(always)]
    fn pass(me: &mut &Self, inside: impl FnOnce()) -> bool {
        let _guard = me.0.read().unwrap_or_else(PoisonError::into_inner);
        inside();
        true
    }
}

fn ways(times: u32) -> Vec<alone::PeerAlone> {
    let lock = || entrance::Mutex::<false>(parking_lot::Mutex::new(()));
    vec![
        alone::way(ROOM, times, InRooms(Rooms::new(2).expect("there are two"))),
        alone::way("doorway LateRooms", times, InLateRooms(LateRooms::new(2, 8).expect("there are two"))),
        alone::way("std RwLock, to read", times, Reads(std::sync::RwLock::new(()))),
        alone::way(PARKING_LOT, times, lock()),
        alone::way(CONTROL, times, lock()),
    ]
}

/// One thread, in and out.
pub(super) fn alone(effort: &Effort) -> Alone {
    let (effort, times) = (*effort, effort.rounds.clamp(1, 20_000));
    let measure = move || {
        measure::pin(0);
        alone::contest("enter and leave", 1, times, &effort, ways(times))
    };
    std::thread::spawn(measure).join().expect("a lone thread does not wait")
}

/// Makes this many passages through one peer, and does nothing else, so that instructions can be
/// counted. Returns `false` if there is no peer of that name.
#[must_use]
pub fn pass_alone(peer: &str, times: u32) -> bool {
    let way = ways(times).into_iter().find(|(name, _)| *name == peer);
    way.is_some_and(|(_, mut passes)| {
        passes();
        true
    })
}
