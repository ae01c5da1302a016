//! Measuring on a machine that is not quiet: CPU time, pinned threads, ratios within one run, and a
//! control.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// CPU time of this thread.
#[must_use]
pub fn cpu_time() -> Duration {
    clock(ClockId::ThreadCPUTime)
}

/// CPU time of all threads of this process.
#[must_use]
pub fn process_cpu_time() -> Duration {
    clock(ClockId::ProcessCPUTime)
}

/// CPU time of the children that this process has waited for, and of their children; to a hundredth
/// of a second.
#[must_use]
pub fn childrens_cpu_time() -> Duration {
    let ticks = || -> Option<u64> {
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        // Two numbers, user and system time, thirteen words after the name, which may contain
        // spaces.
        let (_, rest) = stat.rsplit_once(") ")?;
        rest.split(' ').skip(13).take(2).map(|ticks| ticks.parse::<u64>().ok()).sum()
    };
    Duration::from_millis(1000 / TICKS_PER_SECOND * ticks().unwrap_or(0))
}

const TICKS_PER_SECOND: u64 = 100;

fn clock(id: ClockId) -> Duration {
    let t = clock_gettime(id);
    Duration::new(t.tv_sec.unsigned_abs(), u32::try_from(t.tv_nsec).unwrap_or(0))
}

/// Keeps this thread on one processor, if the system allows it. Unpinned, busy threads may be
/// packed onto one processor, which would spoil the measurement.
pub fn pin(processor: usize) -> bool {
    let Ok(allowed) = sched_getaffinity(None) else { return false };
    let Some(cpu) = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).nth(processor) else { return false };
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).is_ok()
}

/// Processes that want to run, beyond this one, averaged over the last minute; `None` if the system
/// does not say.
#[must_use]
pub fn load() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

/// How much processor time has been used so far, in total, and by this process and its children.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    all: f64,
    used: f64,
    own: Duration,
}

impl Usage {
    /// The current values; `None` if the system does not say.
    #[must_use]
    pub fn now() -> Option<Self> {
        let stat = std::fs::read_to_string("/proc/stat").ok()?;
        let ticks: Vec<f64> =
            stat.lines().next()?.split_whitespace().skip(1).map_while(|ticks| ticks.parse().ok()).collect();
        // user nice system idle iowait irq softirq steal, and guests, which are included in user
        // and nice.
        let [user, nice, system, idle, iowait, irq, softirq, steal] = ticks.get(..8)? else { return None };
        let used = user + nice + system + irq + softirq + steal;
        Some(Self { all: used + idle + iowait, used, own: process_cpu_time() + childrens_cpu_time() })
    }

    /// The share of all processors' time since then that others used: other processes, and other
    /// virtual machines of the host.
    #[must_use]
    pub fn of_others_since(&self) -> Option<f64> {
        let now = Self::now()?;
        let own = (now.own - self.own).as_secs_f64() * TICKS_PER_SECOND as f64;
        let all = now.all - self.all;
        (all > 0.0).then(|| ((now.used - self.used - own) / all).clamp(0.0, 1.0))
    }
}

/// Prepares a measurement: pins this thread, and returns what a reader must know of the machine.
#[must_use]
pub fn prepare() -> String {
    // In this order: a pinned thread sees only one processor.
    let remark = remark_on_load().unwrap_or_else(|| "the machine was quiet before".to_owned());
    let pinned = if pin(0) { "pinned to one processor" } else { "NOT pinned: the system does not allow it" };
    format!("{pinned}; {remark}")
}

fn remark_on_load() -> Option<String> {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let load = load()?;
    (load > 0.5 * processors as f64).then(|| {
        format!("the machine was busy (load {load:.2} on {processors} processors): trust only the ratios, and these with caution")
    })
}

/// The CPU time of several ways to do the same thing, measured in turns, so that a slow spell hits
/// all of them.
///
/// Returns for each the median over `rounds` of the CPU time, in nanoseconds, of one of `times`
/// calls.
pub fn in_turns(rounds: usize, times: u32, ways: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    all_in_turns(rounds, times, ways).into_iter().map(median).collect()
}

/// [`in_turns`], but returns every round.
pub fn all_in_turns(rounds: usize, times: u32, ways: &mut [&mut dyn FnMut()]) -> Vec<Vec<f64>> {
    let mut taken = vec![Vec::with_capacity(rounds); ways.len()];
    for _ in 0..rounds {
        for (way, taken) in ways.iter_mut().zip(&mut taken) {
            let before = cpu_time();
            for _ in 0..times {
                way();
            }
            taken.push((cpu_time() - before).as_nanos() as f64 / f64::from(times));
        }
    }
    taken
}

/// The smallest and the largest value.
///
/// ```
/// assert_eq!(doorway_lab::measure::range([3.0, 1.0, 2.0]), (1.0, 3.0));
/// ```
#[must_use]
pub fn range(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let all = (f64::INFINITY, f64::NEG_INFINITY);
    values.into_iter().fold(all, |(low, high), value| (low.min(value), high.max(value)))
}

/// The middle value.
///
/// ```
/// assert_eq!(doorway_lab::measure::median(vec![3.0, 1.0, 2.0]), 2.0);
/// ```
///
/// # Panics
/// Panics if there is no value.
#[must_use]
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
