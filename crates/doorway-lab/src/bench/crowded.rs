//! Threads that enter again and again, through one peer after the other.

use super::Effort;
use super::entrance::Entrance;
use super::stage::{Stage, Turns, Waits};
use crate::measure;
use crossbeam_utils::CachePadded;
use serde::Serialize;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Peers in one cell of the table.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// How many threads may be inside.
    pub k: usize,
    /// How many threads enter again and again.
    pub threads: usize,
    /// How long a thread works inside, and then outside.
    pub section_ns: u64,
    /// The throughput of a second copy of one peer, divided by that of the peer.
    pub control: f64,
    /// The peers.
    pub peers: Vec<ThreadStanding>,
}

/// The result of a peer: medians over the repetitions.
#[derive(Clone, Debug, Serialize)]
pub struct ThreadStanding {
    /// The peer.
    pub peer: &'static str,
    /// Whether it is first come, first served.
    pub fair: bool,
    /// Passages per second.
    pub ops: f64,
    /// The slowest and the fastest repetition.
    pub ops_range: (f64, f64),
    /// CPU time of a passage, of all threads, including the work inside and outside.
    pub cpu_ns: f64,
    /// The same, without the work inside and outside.
    pub cpu_beyond_work_ns: f64,
    /// The share of passages that followed one of another thread.
    pub handed_over: f64,
    /// The median of the waits: half of them were no longer.
    pub wait_p50_ns: f64,
    /// 99 of 100 waits were no longer.
    pub wait_p99_ns: f64,
    /// 999 of 1000 waits were no longer.
    pub wait_p999_ns: f64,
    /// The smallest number of passages of a thread, divided by the largest.
    pub share: f64,
}

impl ThreadStanding {
    /// CPU time for each change of the thread that is inside.
    pub(super) fn cpu_per_hand_over_ns(&self) -> f64 {
        self.cpu_beyond_work_ns / self.handed_over
    }

    pub(super) fn is_ours(&self) -> bool {
        super::is_ours(self.peer)
    }
}

impl Cell {
    /// Whether threads have to wait.
    #[must_use]
    pub fn is_contended(&self) -> bool {
        self.threads > self.k
    }

    pub(super) fn peer(&self, name: &str) -> Option<&ThreadStanding> {
        self.peers.iter().find(|peer| peer.peer == name)
    }

    /// The other libraries that are fair, or those that are not.
    pub(super) fn others(&self, fair: bool) -> impl Iterator<Item = &ThreadStanding> {
        self.peers.iter().filter(move |peer| !peer.is_ours() && peer.fair == fair)
    }

    pub(super) fn name(&self) -> String {
        format!("k = {}, {} threads, {} ns", self.k, self.threads, self.section_ns)
    }
}

struct Run {
    ops: f64,
    cpu_ns: f64,
    handed_over: f64,
    permilles: [f64; 3],
    share: f64,
}

/// What all threads of a run do.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    pub(super) k: usize,
    pub(super) threads: usize,
    pub(super) section: Duration,
    pub(super) turns: Turns,
    pub(super) processors: usize,
}

/// Chooses the passages to time: two looks at the clock would distort a short passage. It times one
/// in [`FEW`](Self::FEW) quick passages, which counts for all of them, and every slow one.
pub(super) struct Sampler {
    /// The number of passages since the last timed one.
    turn: u64,
    every: u64,
    asked: Instant,
}

impl Sampler {
    const FEW: u64 = 8;
    const SLOW: Duration = Duration::from_micros(1);

    pub(super) fn new() -> Self {
        Self { turn: 0, every: 1, asked: Instant::now() }
    }

    /// When the current passage began, and for how many passages it counts. `None` if it is not to
    /// be timed.
    #[inline]
    pub(super) fn next(&mut self, now: impl FnOnce() -> Instant) -> Option<(Instant, u64)> {
        self.turn += 1;
        if self.turn < self.every {
            return None;
        }
        let (now, stands_for) = (now(), self.every);
        let each = (now - self.asked) / stands_for as u32;
        *self = Self { turn: 0, every: if each > Self::SLOW { 1 } else { Self::FEW }, asked: now };
        Some((now, stands_for))
    }
}

struct Seen {
    passages: u64,
    handed_over: u64,
    waits: Waits,
}

fn passes<R: Entrance>(room: &R, index: usize, plan: &Plan, stage: &Stage, last: &AtomicUsize) -> Seen {
    let mut me = room.join();
    let mut seen = Seen { passages: 0, handed_over: 0, waits: Waits::new() };
    let mut sampler = Sampler::new();
    while stage.goes_on(seen.passages) {
        let asked = sampler.next(Instant::now);
        let (mut waited, mut handed_over) = (None, false);
        R::pass(&mut me, || {
            waited = asked.map(|(asked, passages)| (asked.elapsed(), passages));
            handed_over = last.swap(index, Relaxed) != index;
            plan.turns.work();
        });
        if stage.counts() {
            seen.passages += 1;
            seen.handed_over += u64::from(handed_over);
            if let Some((waited, passages)) = waited {
                seen.waits.record(waited, passages);
            }
        }
        plan.turns.work();
    }
    seen
}

/// Not generic, so that the same code starts the threads for every peer.
fn run(plan: &Plan, effort: &Effort, passes: &Passes<'_>) -> Run {
    let stage = CachePadded::new(Stage::new(plan.threads, effort));
    let last = CachePadded::new(AtomicUsize::new(usize::MAX));
    let ready = Barrier::new(plan.threads + 1);
    let (all, wall, cpu) = std::thread::scope(|s| {
        let (stage, last, ready) = (&stage, &last, &ready);
        let crowd: Vec<_> = (0..plan.threads)
            .map(|index| {
                s.spawn(move || {
                    measure::pin(index % plan.processors);
                    ready.wait();
                    let seen = passes(index, stage, last);
                    stage.goes();
                    seen
                })
            })
            .collect();
        ready.wait();
        let (wall, cpu) = stage.direct(effort);
        let all: Vec<Seen> = crowd.into_iter().map(|thread| thread.join().expect("a thread ends")).collect();
        (all, wall, cpu)
    });
    let mut waits = Waits::new();
    all.iter().for_each(|seen| waits.add(&seen.waits));
    let total = |of: fn(&Seen) -> u64| all.iter().map(of).sum::<u64>() as f64;
    let passages = total(|seen| seen.passages);
    let (fewest, most) = measure::range(all.iter().map(|seen| seen.passages as f64));
    Run {
        ops: passages / wall.as_secs_f64(),
        cpu_ns: cpu.as_nanos() as f64 / passages.max(1.0),
        handed_over: total(|seen| seen.handed_over) / passages.max(1.0),
        permilles: [500, 990, 999].map(|share| waits.permille(share)),
        share: fewest / most.max(1.0),
    }
}

/// What the thread with this number does.
type Passes<'a> = dyn Fn(usize, &Stage, &AtomicUsize) -> Seen + Sync + 'a;
type Measure = dyn Fn(&Plan, &Effort) -> Run;

/// A peer, and how to run it.
pub(super) struct PeerInCrowd {
    peer: &'static str,
    fair: bool,
    run: Box<Measure>,
}

/// Builds a new entrance for each run.
pub(super) fn way<R: Entrance>(peer: &'static str, fair: bool, room: impl Fn(&Plan) -> R + 'static) -> PeerInCrowd {
    let run = move |plan: &Plan, effort: &Effort| {
        // Nothing else shares its cache lines.
        let room = CachePadded::new(room(plan));
        run(plan, effort, &|index, stage, last| passes(&*room, index, plan, stage, last))
    };
    PeerInCrowd { peer, fair, run: Box::new(run) }
}

fn standing(way: &PeerInCrowd, runs: &[Run], section: Duration) -> ThreadStanding {
    let median = |of: &dyn Fn(&Run) -> f64| measure::median(runs.iter().map(of).collect());
    let cpu_ns = median(&|run| run.cpu_ns);
    let [wait_p50_ns, wait_p99_ns, wait_p999_ns] = [0, 1, 2].map(|i| median(&|run| run.permilles[i]));
    ThreadStanding {
        peer: way.peer,
        fair: way.fair,
        ops: median(&|run| run.ops),
        ops_range: measure::range(runs.iter().map(|run| run.ops)),
        cpu_ns,
        // The difference may be negative if the work took less than assumed.
        cpu_beyond_work_ns: (cpu_ns - 2.0 * section.as_nanos() as f64).max(1.0),
        handed_over: median(&|run| run.handed_over),
        wait_p50_ns,
        wait_p99_ns,
        wait_p999_ns,
        share: median(&|run| run.share),
    }
}

/// Runs all peers in turns. The last is the control: a second copy of the one of that name.
pub(super) fn cell(plan: &Plan, effort: &Effort, ways: &[PeerInCrowd], control_of: &str) -> Cell {
    let mut runs: Vec<Vec<Run>> = ways.iter().map(|_| Vec::new()).collect();
    for _ in 0..effort.repetitions {
        for (way, runs) in ways.iter().zip(&mut runs) {
            runs.push((way.run)(plan, effort));
        }
    }
    let mut peers: Vec<_> = ways.iter().zip(&runs).map(|(way, runs)| standing(way, runs, plan.section)).collect();
    let twin = peers.pop().expect("there is a control");
    let Plan { k, threads, section, .. } = *plan;
    let mut cell = Cell { k, threads, section_ns: section.as_nanos() as u64, control: 0.0, peers };
    cell.control = cell.peer(control_of).map_or(f64::NAN, |peer| twin.ops / peer.ops);
    cell
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_passages_are_all_timed_and_quick_ones_now_and_then() {
        let begin = Instant::now();
        let mut sampler = Sampler { turn: 0, every: 1, asked: begin };
        let mut timed = |each: fn(u32) -> Duration| -> Vec<(u32, u64)> {
            (1..=20).filter_map(|i| Some((i, sampler.next(|| begin + each(i))?.1))).collect()
        };
        // Passages a quarter of a microsecond apart, and then twenty of a millisecond each.
        assert_eq!(timed(|i| Duration::from_nanos(250) * i), [(1, 1), (9, 8), (17, 8)]);
        let slow = timed(|i| Duration::from_millis(1) * i);
        assert_eq!(slow[..3], [(5, 8), (6, 1), (7, 1)]);
        assert_eq!(slow.len(), 16);
    }
}
