//! The wait layer beside other libraries, in one run: `doorway-lab bench wait`. Also [`slots`]
//! beside other semaphores, and [`processes`] beside what the system offers between processes.
//!
//! All peers are measured in turns, on pinned threads. The figures are medians of several
//! repetitions, with CPU time beside wall time. One peer is also measured against a second copy of
//! itself, the *control*: a difference that is no larger means nothing.

mod alone;
pub mod checkers;
pub mod combining;
mod contest;
mod crowd;
mod crowded;
mod entrance;
mod handover;
pub mod mutex;
pub mod openings;
mod oversubscribed;
mod peers;
pub mod processes;
pub mod resilient;
pub mod rooms;
pub mod slots;
mod stage;
mod text;
mod uncontended;
mod verdict;

pub use contest::{Contest, Standing};
pub use oversubscribed::{COLLAPSED, Throughput};
pub use uncontended::Passage;

use crate::measure;
use serde::Serialize;
use std::time::{Duration, Instant};

/// The signal that stops a run.
const STOP: u64 = u64::MAX;
const TWO_CORES: &str = "two cores";
const ONE_CORE: &str = "one core";
const THREAD_TO_THREAD: &str = "thread to thread";
const FEWER_THREADS: usize = 2;
const MORE_THREADS: usize = 8;

/// How much to measure.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Effort {
    /// How often everything is repeated.
    pub repetitions: usize,
    /// The largest number of rounds of a measurement.
    pub rounds: u32,
    /// The longest time of a measurement.
    #[serde(skip)]
    pub budget: Duration,
    /// Whether this is only a smoke test.
    pub tiny: bool,
}

impl Effort {
    /// A few minutes.
    pub const FULL: Self = Self { repetitions: 11, rounds: 20_000, budget: Duration::from_millis(120), tiny: false };
    /// A minute.
    pub const QUICK: Self = Self { repetitions: 5, rounds: 5_000, budget: Duration::from_millis(40), tiny: false };

    /// Whether this is the full effort.
    const fn is_full(&self) -> bool {
        self.repetitions >= Self::FULL.repetitions
    }

    /// This many rounds, once: a smoke test. The figures mean nothing.
    #[must_use]
    pub const fn tiny(rounds: u32) -> Self {
        Self { repetitions: 1, rounds, budget: Duration::from_millis(4), tiny: true }
    }
}

/// Counts rounds until there were enough or the time is over.
struct Pace {
    /// The current round; the first is a warm-up.
    turns: u64,
    begin: Instant,
    most: u64,
    budget: Duration,
}

impl Pace {
    fn new(effort: &Effort) -> Self {
        Self { turns: 1, begin: Instant::now(), most: u64::from(effort.rounds), budget: effort.budget }
    }

    fn goes_on(&mut self) -> bool {
        let done = self.turns - 1;
        let enough = done >= self.most || done > 0 && done.is_multiple_of(4) && self.begin.elapsed() > self.budget;
        self.turns += u64::from(!enough);
        !enough
    }
}

/// An executor on the calling thread.
fn executor() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().expect("the system has room for an executor")
}

/// An executor with a thread on each of two processors.
fn workers() -> tokio::runtime::Runtime {
    let next = std::sync::atomic::AtomicUsize::new(0);
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .on_thread_start(move || {
            measure::pin(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % 2);
        })
        .build()
        .expect("the system has room for an executor")
}

/// Whether this peer is ours, not another library's. An algorithm of the catalogue has the name of
/// the catalogue.
fn is_ours(peer: &str) -> bool {
    peer.starts_with("doorway") || doorway_core::registry::find(peer).is_some()
}

/// The state of the machine.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// Processors that this process may use.
    pub processors: usize,
    /// Whether threads could be pinned to two of them.
    pub pinned: bool,
    /// The load average before the run.
    pub load_before: Option<f64>,
    /// The share of all processors' time that others used during the run: other processes, and
    /// other guests of the host.
    pub used_by_others: Option<f64>,
    /// A warning to readers of the figures; none if the machine was quiet.
    pub warning: Option<String>,
}

/// Watches the machine during a measurement.
struct Watch {
    machine: Machine,
    usage: Option<measure::Usage>,
}

impl Watch {
    fn begin() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let pinned = std::thread::spawn(|| measure::pin(1)).join().unwrap_or(false);
        let load_before = measure::load();
        let machine = Machine { processors, pinned, load_before, used_by_others: None, warning: None };
        Self { machine, usage: measure::Usage::now() }
    }

    fn end(self) -> Machine {
        let Self { mut machine, usage } = self;
        machine.used_by_others = usage.and_then(|usage| usage.of_others_since());
        machine.warning = warning(&machine);
        machine
    }
}

/// A goal, and whether it was reached.
#[derive(Clone, Debug, Serialize)]
pub struct Goal {
    /// What is compared.
    pub what: String,
    /// The ratio that was measured.
    pub measured: f64,
    /// The goal.
    pub goal: String,
    /// Whether it was reached.
    pub met: bool,
}

/// Everything that was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The machine.
    pub machine: Machine,
    /// The effort.
    pub effort: Effort,
    /// Two parties that hand over to each other: one hand-over.
    pub hand_over: Vec<Contest>,
    /// One changes, many wait: one round.
    pub crowd: Vec<Contest>,
    /// Every algorithm with eight threads on two processors, against two.
    pub throughput: Vec<Throughput>,
    /// Passages without contention.
    pub uncontended: Vec<Passage>,
    /// What the wait layer should reach.
    pub goals: Vec<Goal>,
}

/// Measures everything, and reports its progress.
#[must_use]
pub fn wait(effort: &Effort, progress: &mut dyn FnMut(&str)) -> Report {
    let watch = Watch::begin();
    progress("uncontended passages");
    let uncontended = uncontended::passages(effort);
    let tell = |progress: &mut dyn FnMut(&str), c: &Contest| progress(&format!("{}, {}", c.what, c.place));
    let hand_over = handover::contests(effort, &mut |c| tell(progress, c));
    let crowd = crowd::contests(effort, &mut |c| tell(progress, c));
    let throughput = oversubscribed::throughputs(effort, &mut |t| {
        progress(&format!("{}, k = {}, {} ns inside", t.algorithm, t.k, t.section_ns));
    });
    let machine = watch.end();
    let goals = goals(&hand_over, &throughput, &uncontended);
    Report { machine, effort: *effort, hand_over, crowd, throughput, uncontended, goals }
}

fn warning(machine: &Machine) -> Option<String> {
    let mut reasons = Vec::new();
    if let Some(load) = machine.load_before.filter(|&load| load > 0.3) {
        reasons.push(format!("the load was {load:.2} before the run"));
    }
    if let Some(share) = machine.used_by_others.filter(|&share| share > 0.03) {
        reasons.push(format!("others used {:.0} % of the processors during it", 100.0 * share));
    }
    if machine.processors < 2 {
        reasons.push("there is only one processor".to_owned());
    }
    if !machine.pinned {
        reasons.push("threads could not be pinned to two processors".to_owned());
    }
    (!reasons.is_empty()).then(|| format!("{}: trust only the ratios, and these with caution", reasons.join("; ")))
}

fn goals(hand_over: &[Contest], throughput: &[Throughput], uncontended: &[Passage]) -> Vec<Goal> {
    let mut goals = Vec::new();
    let on_two_cores = hand_over.iter().filter(|c| c.what.starts_with(THREAD_TO_THREAD) && c.place == TWO_CORES);
    for contest in on_two_cores {
        let measured = contest.ratio("doorway PARK", "parking_lot").unwrap_or(f64::NAN);
        let what = format!("{}, {}: doorway PARK against parking_lot", contest.what, contest.place);
        goals.push(Goal { what, measured, goal: "at most 1".to_owned(), met: measured <= 1.0 });
    }
    for section in oversubscribed::SECTIONS.map(|section| section.as_nanos() as u64) {
        let ours = throughput.iter().filter(|row| row.section_ns == section && !row.is_of_others());
        let Some(worst) = ours.min_by(|a, b| a.ratio.total_cmp(&b.ratio)) else { continue };
        let what = format!(
            "throughput of {MORE_THREADS} threads against {FEWER_THREADS}, {section} ns inside, the worst: {} (k = {})",
            worst.algorithm, worst.k
        );
        let goal = format!("at least {COLLAPSED}");
        goals.push(Goal { what, measured: worst.ratio, goal, met: !worst.collapsed });
    }
    for passage in uncontended {
        let what = format!("uncontended {} ({},{}): PARK against no bells", passage.algorithm, passage.n, passage.k);
        goals.push(Goal { what, measured: passage.ratio, goal: "at most 1.05".to_owned(), met: passage.ratio <= 1.05 });
    }
    goals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tiny_run_measures_everybody_and_names_the_best() {
        let mut said = 0;
        let report = wait(&Effort::tiny(20), &mut |_| said += 1);
        assert!(said > 10);
        assert_eq!((report.hand_over.len(), report.crowd.len(), report.uncontended.len()), (7, 16, 2));
        for contest in report.hand_over.iter().chain(&report.crowd) {
            assert!(contest.control > 0.0 && contest.peers.iter().all(|peer| peer.peer != "control"));
            let others = contest.peers.iter().filter(|peer| !peer.peer.starts_with("doorway"));
            let best = others.map(|peer| peer.wall_ratio).fold(f64::INFINITY, f64::min);
            assert!((best - 1.0).abs() < 1e-9, "{}", contest.what);
        }
        assert_eq!(report.goals.len(), 6);
        let text = report.to_string();
        for word in ["thread to task", "wake one of 32 tasks", "am-dsm-assign", "control", "goal"] {
            assert!(text.contains(word), "{text}");
        }
    }

    #[test]
    fn a_pace_ends_after_its_rounds_or_its_time() {
        let mut pace = Pace::new(&Effort { budget: Duration::from_secs(60), ..Effort::tiny(5) });
        let mut turns = Vec::new();
        while pace.goes_on() {
            turns.push(pace.turns);
        }
        assert_eq!(turns, [2, 3, 4, 5, 6]);
        let mut pace = Pace::new(&Effort { budget: Duration::ZERO, ..Effort::FULL });
        while pace.goes_on() {}
        assert_eq!(pace.turns - 1, 4);
    }
}
