//! Every algorithm with four times as many threads as processors, compared with one thread per
//! processor.

use super::entrance::{Entrance, Mutex};
use super::{Effort, FEWER_THREADS, MORE_THREADS};
use crate::measure;
use doorway::native::Native;
use doorway::waiting::Policy;
use doorway::{
    SizeError,
    gates::{Gate, Member},
};
use doorway_core::registry::{self, Entry};
use serde::Serialize;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Another library's mutex that allows barging.
const BARGES: &str = "(parking_lot)";
/// The same, but a thread that unlocks hands over to a waiter.
const HANDS_OVER: &str = "(parking_lot fair)";

/// A ratio below this is marked in the table.
pub const COLLAPSED: f64 = 0.5;

/// One algorithm with few threads and with many, on gates of the same size: medians over the
/// repetitions.
#[derive(Clone, Debug, Serialize)]
pub struct Throughput {
    /// The algorithm, or another library's mutex for comparison.
    pub algorithm: &'static str,
    /// Members of the gate.
    pub n: usize,
    /// How many threads may be inside.
    pub k: usize,
    /// How long a thread stays inside.
    pub section_ns: u64,
    /// Million passages per second with two threads.
    pub few_mops: f64,
    /// Million passages per second with eight threads.
    pub many_mops: f64,
    /// The throughput with eight threads divided by that with two.
    pub ratio: f64,
    /// CPU time per passage with two threads.
    pub few_cpu_ns: f64,
    /// CPU time per passage with eight threads.
    pub many_cpu_ns: f64,
    /// With two threads: the share of passages that followed one of the other thread.
    pub few_handed_over: f64,
    /// With eight threads: the share of passages that followed one of another thread. It is larger
    /// for locks that serve in order than for those that allow barging.
    pub many_handed_over: f64,
    /// The throughput of two threads in a second run, divided by that in the first.
    pub control: f64,
    /// Whether the ratio is below [`COLLAPSED`].
    pub collapsed: bool,
}

impl Throughput {
    /// Whether this is another library's mutex, not an algorithm of the catalogue.
    #[must_use]
    pub fn is_of_others(&self) -> bool {
        self.algorithm.starts_with('(')
    }
}

#[derive(Clone, Copy)]
struct Run {
    mops: f64,
    cpu_ns: f64,
    handed_over: f64,
}

/// How long a thread stays inside.
pub(super) const SECTIONS: [Duration; 2] = [Duration::from_nanos(100), Duration::from_micros(10)];

#[inline(never)]
fn work(time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time {
        std::hint::spin_loop();
    }
}

impl<E: Entry> Entrance for Gate<E>
where
    E::On<Native>: Sync,
{
    type Member<'a>
        = Member<E, &'a Self>
    where
        Self: 'a;
    fn join(&self) -> Self::Member<'_> {
        Self::join(self).expect("there is a name for each thread")
    }
    #[inline(always)]
    fn pass(me: &mut Self::Member<'_>, inside: impl FnOnce()) -> bool {
        let guard = me.acquire_or_refused();
        if guard.is_ok() {
            inside();
        }
        guard.is_ok()
    }
}

/// What one thread did.
struct Seen {
    passages: u64,
    handed_over: u64,
    wall: Duration,
    cpu: Duration,
}

/// What the threads of a run share.
struct Shared {
    enough: AtomicBool,
    last: AtomicUsize,
    ready: Barrier,
    section: Duration,
    effort: Effort,
}

fn passes<R: Entrance>(room: &R, i: usize, shared: &Shared) -> Seen {
    let Shared { enough, last, ready, section, effort } = shared;
    let mut me = room.join();
    ready.wait();
    let (begin, cpu) = (Instant::now(), measure::cpu_time());
    let (mut passages, mut handed_over) = (0u64, 0u64);
    while !enough.load(Relaxed) {
        let passed = R::pass(&mut me, || {
            handed_over += u64::from(last.swap(i, Relaxed) != i);
            work(*section);
        });
        passages += u64::from(passed);
        // A gate that turns members away after a while ends the run for all.
        if !passed
            || passages >= u64::from(effort.rounds)
            || passages.is_multiple_of(8) && begin.elapsed() > effort.budget
        {
            break;
        }
    }
    enough.store(true, Relaxed);
    Seen { passages, handed_over, wall: begin.elapsed(), cpu: measure::cpu_time() - cpu }
}

/// Not generic, so that the same code starts the threads for every algorithm.
fn run(threads: usize, section: Duration, effort: &Effort, passes: &(dyn Fn(usize, &Shared) -> Seen + Sync)) -> Run {
    let shared = Shared {
        enough: AtomicBool::new(false),
        last: AtomicUsize::new(usize::MAX),
        ready: Barrier::new(threads),
        section,
        effort: *effort,
    };
    let (mut passages, mut handed_over) = (0u64, 0u64);
    let (mut wall, mut cpu) = (Duration::ZERO, Duration::ZERO);
    std::thread::scope(|s| {
        let start = |i| {
            let shared = &shared;
            s.spawn(move || {
                measure::pin(i % 2);
                passes(i, shared)
            })
        };
        let crowd: Vec<_> = (0..threads).map(start).collect();
        for thread in crowd {
            let seen = thread.join().expect("a member ends");
            passages += seen.passages;
            handed_over += seen.handed_over;
            (wall, cpu) = (wall.max(seen.wall), cpu + seen.cpu);
        }
    });
    let each = passages.max(1) as f64;
    Run {
        mops: passages as f64 / wall.as_secs_f64() / 1e6,
        cpu_ns: cpu.as_nanos() as f64 / each,
        handed_over: handed_over as f64 / each,
    }
}

fn throughput<R: Entrance>(
    algorithm: &'static str,
    (n, k): (usize, usize),
    section: Duration,
    effort: &Effort,
    room: impl Fn() -> R,
) -> Throughput {
    let run = |threads| {
        let room = room();
        run(threads, section, effort, &|i, shared| passes(&room, i, shared))
    };
    standing(algorithm, (n, k), section, effort.repetitions, &run)
}

fn standing(
    algorithm: &'static str,
    (n, k): (usize, usize),
    section: Duration,
    repetitions: usize,
    run: &dyn Fn(usize) -> Run,
) -> Throughput {
    let mut runs = [FEWER_THREADS, MORE_THREADS, FEWER_THREADS].map(|threads| (threads, Vec::new()));
    for _ in 0..repetitions {
        for (threads, runs) in &mut runs {
            runs.push(run(*threads));
        }
    }
    let median = |i: usize, of: fn(&Run) -> f64| measure::median(runs[i].1.iter().map(of).collect());
    let mops = [0, 1, 2].map(|i| median(i, |run| run.mops));
    let ratio = mops[1] / mops[0];
    Throughput {
        algorithm,
        n,
        k,
        section_ns: section.as_nanos() as u64,
        few_mops: mops[0],
        many_mops: mops[1],
        ratio,
        few_cpu_ns: median(0, |run| run.cpu_ns),
        many_cpu_ns: median(1, |run| run.cpu_ns),
        few_handed_over: median(0, |run| run.handed_over),
        many_handed_over: median(1, |run| run.handed_over),
        control: mops[2] / mops[0],
        collapsed: ratio < COLLAPSED,
    }
}

/// A gate of the catalogue, if it can be built with these sizes.
fn throughput_of<E: Entry>(k: usize, section: Duration, effort: &Effort) -> Result<Throughput, SizeError>
where
    E::On<Native>: Sync,
{
    Gate::<E>::new(MORE_THREADS, k)?;
    let gate = || Gate::<E>::new(MORE_THREADS, k).expect("it has just been built").with_policy(Policy::PARK);
    Ok(throughput(E::INFO.id, (MORE_THREADS, k), section, effort, gate))
}

/// All algorithms that support the sizes.
pub(super) fn throughputs(effort: &Effort, done: &mut dyn FnMut(&Throughput)) -> Vec<Throughput> {
    // Each gets half of the time that a hand-over gets, and makes as many passages as it can.
    let rounds = if effort.tiny { effort.rounds } else { u32::MAX };
    let effort = Effort { budget: (effort.budget / 2).max(Duration::from_millis(1)), rounds, ..*effort };
    let mut all = Vec::new();
    let mut add = |row: Throughput| {
        done(&row);
        all.push(row);
    };
    for section in SECTIONS {
        let mutex = (MORE_THREADS, 1);
        add(throughput(BARGES, mutex, section, &effort, || Mutex::<false>(parking_lot::Mutex::new(()))));
        add(throughput(HANDS_OVER, mutex, section, &effort, || Mutex::<true>(parking_lot::Mutex::new(()))));
        macro_rules! each {
            ($($entry:ident)*) => {$(
                for k in [1, 2] {
                    if let Ok(row) = throughput_of::<registry::$entry>(k, section, &effort) {
                        add(row);
                    }
                }
            )*};
        }
        doorway_core::every_algorithm!(each);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_that_fits_is_measured() {
        let effort = Effort { repetitions: 1, ..Effort::tiny(5) };
        let measured: Vec<_> = throughputs(&effort, &mut |_| ()).iter().map(|row| (row.algorithm, row.k)).collect();
        for info in registry::ALL {
            for k in [1, 2] {
                let fits = info.sizes(Some(MORE_THREADS), Some(k)).is_ok();
                assert_eq!(measured.contains(&(info.id, k)), fits, "{} {k}", info.id);
            }
        }
    }
}
