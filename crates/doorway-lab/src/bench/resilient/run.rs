//! Threads that call one operation after the other; some stop in the middle.

use super::peers::{Add, Peer, in_the_middle};
use crate::bench::Effort;
use crate::bench::crowded::Sampler;
use crate::bench::stage::{Turns, Waits};
use crate::measure;
use crossbeam_utils::CachePadded;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The plan of a run.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    /// Threads that go on.
    pub(super) threads: usize,
    /// Threads that stop in the middle of an operation, before the others begin.
    pub(super) stopped: usize,
    /// The work of each thread between two operations.
    pub(super) thinks: Option<Turns>,
    /// The first thread pauses this long in the middle of every n-th of its operations; only the
    /// others are measured.
    pub(super) pauses: Option<(u64, Duration)>,
    /// Whether operations are timed: two looks at the clock take longer than an operation.
    pub(super) timed: bool,
    pub(super) processors: usize,
}

/// The result of one run.
pub(super) struct Run {
    /// Operations per second, of all measured threads.
    pub(super) ops: f64,
    pub(super) cpu_ns: f64,
    /// Of the timed operations, half took no longer.
    pub(super) p50_ns: f64,
    /// 999 of 1000 took no longer.
    pub(super) p999_ns: f64,
}

/// Where stopped threads stand.
#[derive(Default)]
struct Gate {
    inside: AtomicUsize,
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn stop(&self) {
        self.inside.fetch_add(1, SeqCst);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        while !*open {
            open = self.opened.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn open(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.opened.notify_all();
    }
}

const WARMS_UP: u8 = 0;
const COUNTS: u8 = 1;
const ENDS: u8 = 2;

struct Seen {
    all: u64,
    counted: u64,
    waits: Waits,
}

fn calls<P: Peer>(peer: &P, index: usize, plan: &Plan, phase: &AtomicU8) -> Seen {
    let mut me = peer.join();
    let mut seen = Seen { all: 0, counted: 0, waits: Waits::new() };
    let mut sampler = Sampler::new();
    let pauses = plan.pauses.filter(|_| index == 0);
    loop {
        let now = phase.load(SeqCst);
        if now == ENDS {
            return seen;
        }
        let mut how = Add::Straight;
        if let Some((_, pause)) = pauses.filter(|(every, _)| seen.all.is_multiple_of(*every)) {
            in_the_middle(move || std::thread::sleep(pause));
            how = Add::AndStop;
        }
        let asked = if plan.timed { sampler.next(Instant::now) } else { None };
        P::add(&mut me, how);
        seen.all += 1;
        // An operation that ended only because a stopped thread went on at the end does not count.
        if now == COUNTS && phase.load(SeqCst) == COUNTS {
            seen.counted += 1;
            if let Some((asked, stands_for)) = asked {
                seen.waits.record(asked.elapsed(), stands_for);
            }
        }
        if let Some(thinks) = plan.thinks {
            thinks.work();
        }
    }
}

/// Runs the plan once. A thread that hangs until a stopped thread goes on has done nothing.
pub(super) fn run<P: Peer>(peer: P, plan: &Plan, effort: &Effort) -> Run {
    let peer = CachePadded::new(peer);
    let phase = CachePadded::new(AtomicU8::new(WARMS_UP));
    let gate = Arc::new(Gate::default());
    let ready = Barrier::new(plan.threads + 1);
    let (all, wall, cpu) = std::thread::scope(|s| {
        let (peer, phase, ready) = (&*peer, &*phase, &ready);
        for index in 0..plan.stopped {
            let stops = Arc::clone(&gate);
            s.spawn(move || {
                measure::pin(index % plan.processors);
                let mut me = peer.join();
                in_the_middle(move || stops.stop());
                P::add(&mut me, Add::AndStop);
            });
            // One after the other: a thread that waits for a lock cannot stop inside.
            while gate.inside.load(SeqCst) <= index {
                std::thread::yield_now();
            }
        }
        let crowd: Vec<_> = (0..plan.threads)
            .map(|index| {
                s.spawn(move || {
                    measure::pin(index % plan.processors);
                    ready.wait();
                    calls(peer, index, plan, phase)
                })
            })
            .collect();
        ready.wait();
        std::thread::sleep(effort.budget / 8);
        let (begin, cpu) = (Instant::now(), measure::process_cpu_time());
        phase.store(COUNTS, SeqCst);
        std::thread::sleep(effort.budget);
        phase.store(ENDS, SeqCst);
        let (wall, cpu) = (begin.elapsed(), measure::process_cpu_time() - cpu);
        gate.open();
        let all: Vec<Seen> = crowd.into_iter().map(|thread| thread.join().expect("a thread ends")).collect();
        (all, wall, cpu)
    });
    let made = all.iter().map(|seen| seen.all).sum::<u64>() + plan.stopped as u64;
    assert_eq!(CachePadded::into_inner(peer).number(), made, "each operation takes effect once");
    let looked_at = &all[usize::from(plan.pauses.is_some()).min(all.len() - 1)..];
    let mut waits = Waits::new();
    looked_at.iter().for_each(|seen| waits.add(&seen.waits));
    let counted = looked_at.iter().map(|seen| seen.counted).sum::<u64>() as f64;
    Run {
        ops: counted / wall.as_secs_f64(),
        cpu_ns: cpu.as_nanos() as f64 / counted.max(1.0),
        p50_ns: waits.permille(500),
        p999_ns: waits.permille(999),
    }
}
