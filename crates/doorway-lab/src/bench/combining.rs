//! Software combining beside what it replaces: `doorway-lab bench combining`.
//!
//! Threads on two processors add 1 to one number, over and over. The figures are the wall time of
//! one addition, over all threads, and the processor time that all of them spent on it.

use super::contest::{Contest, Contestant, Taken};
use super::{Effort, Machine, TWO_CORES, Watch, text};
use crate::measure;
use doorway::Mutex;
use doorway::algorithm::YaTree;
use doorway::combining::{Add, Combining};
use serde::Serialize;
use std::fmt;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Instant;

const THREADS: [usize; 4] = [1, 2, 4, 8];
/// Additions between two looks at the clock.
const STRIDE: u64 = 32;

/// The whole report.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The machine.
    pub machine: Machine,
    /// The effort.
    pub effort: Effort,
    /// One addition, for each number of threads.
    pub additions: Vec<Contest>,
}

/// Measures for 1, 2, 4 and 8 threads, and reports its progress.
///
/// # Panics
/// Panics if an addition was lost.
#[must_use]
pub fn compare(effort: &Effort, progress: &mut dyn FnMut(&str)) -> Report {
    let watch = Watch::begin();
    let additions = THREADS.map(|threads| {
        let what = format!("one addition, {threads} thread{}", if threads == 1 { "" } else { "s" });
        let contest = Contest::hold(what, TWO_CORES, threads, effort, ways(threads));
        progress(&contest.what);
        contest
    });
    Report { machine: watch.end(), effort: *effort, additions: additions.into() }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::head(f, &self.machine, self.effort.repetitions)?;
        writeln!(f, "\nTHREADS ADD TO ONE NUMBER: ONE ADDITION\n")?;
        text::contests(f, &self.additions)
    }
}

fn ways(threads: usize) -> Vec<Contestant> {
    fn way(peer: &'static str, measure: impl FnMut(&Effort) -> Taken + 'static) -> Contestant {
        Contestant { peer, measure: Box::new(measure) }
    }
    let of_std = move |effort: &Effort| {
        let number = std::sync::Mutex::new(0u64);
        let add = || *number.lock().unwrap_or_else(std::sync::PoisonError::into_inner) += 1;
        additions(threads, effort, add, || *number.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    };
    vec![
        way("doorway", move |effort| {
            let number = Combining::<Add>::new(0, threads).expect("the number of threads is small");
            additions(threads, effort, || _ = number.fetch_and_op(1), || number.load())
        }),
        way("doorway mutex", move |effort| {
            let number = Mutex::<u64, YaTree>::new(threads + 1, 0).expect("the number of threads is small");
            let add = || *number.lock().expect("one for each thread") += 1;
            additions(threads, effort, add, || *number.lock().expect("one for the last look"))
        }),
        way("fetch-and-add", move |effort| {
            let number = AtomicU64::new(0);
            additions(threads, effort, || _ = number.fetch_add(1, SeqCst), || number.load(SeqCst))
        }),
        way("std mutex", of_std),
        way("control", of_std),
    ]
}

/// This many threads add until the time is over. Then the number must equal their additions.
fn additions(threads: usize, effort: &Effort, add: impl Fn() + Sync, sum: impl Fn() -> u64) -> Taken {
    let start = Barrier::new(threads + 1);
    let thread = |i: usize| {
        measure::pin(i % 2);
        start.wait();
        let begin = Instant::now();
        let mut made = 0;
        while made == 0 || begin.elapsed() < effort.budget {
            (0..STRIDE).for_each(|_| add());
            made += STRIDE;
        }
        made
    };
    let (thread, start) = (&thread, &start);
    let (made, wall, cpu) = std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|i| scope.spawn(move || thread(i))).collect();
        let (begin, cpu) = (Instant::now(), measure::process_cpu_time());
        start.wait();
        let made: u64 = all.into_iter().map(|one| one.join().expect("no thread panics")).sum();
        (made, begin.elapsed(), measure::process_cpu_time() - cpu)
    });
    assert_eq!(sum(), made, "an addition was lost");
    Taken::each(made, wall, cpu)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tiny_run_measures_everybody() {
        let report = compare(&Effort::tiny(5), &mut |_| ());
        assert_eq!(report.additions.iter().map(|c| c.waiters).collect::<Vec<_>>(), THREADS);
        for contest in &report.additions {
            let peers: Vec<_> = contest.peers.iter().map(|peer| peer.peer).collect();
            assert_eq!(peers, ["doorway", "doorway mutex", "fetch-and-add", "std mutex"]);
        }
        assert!(report.to_string().contains("one addition, 8 threads"));
    }
}
