//! Measuring on a machine that is not quiet: CPU time, pinned, as ratios within one run, with a control.

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

/// CPU time of the children of this process that it has waited for, and of theirs; to a hundredth of a second.
#[must_use]
pub fn childrens_cpu_time() -> Duration {
    let ticks = || -> Option<u64> {
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        // Two numbers, of user and system time, thirteen words after the name, which may have spaces in it.
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

/// Keeps this thread on one processor, if the system lets it. Unpinned, busy threads may be packed onto one
/// processor, and what one wanted to measure is gone.
pub fn pin(processor: usize) -> bool {
    let Ok(allowed) = sched_getaffinity(None) else { return false };
    let Some(cpu) = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).nth(processor) else { return false };
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).is_ok()
}

/// Processes that want to run, beyond this one, as the last minute saw it; `None` if the system does not say.
#[must_use]
pub fn load() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

/// How much of the processors' time has been used so far, by everybody, and by this process and its children.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    all: f64,
    used: f64,
    own: Duration,
}

impl Usage {
    /// Now; `None` if the system does not say.
    #[must_use]
    pub fn now() -> Option<Self> {
        let stat = std::fs::read_to_string("/proc/stat").ok()?;
        let ticks: Vec<f64> =
            stat.lines().next()?.split_whitespace().skip(1).map_while(|ticks| ticks.parse().ok()).collect();
        // user nice system idle iowait irq softirq steal, and guests, which have been counted under user and nice.
        let [user, nice, system, idle, iowait, irq, softirq, steal] = ticks.get(..8)? else { return None };
        let used = user + nice + system + irq + softirq + steal;
        Some(Self { all: used + idle + iowait, used, own: process_cpu_time() + childrens_cpu_time() })
    }

    /// Of the time that all processors had since, how much others used: other processes, and what a host gave to other guests.
    #[must_use]
    pub fn of_others_since(&self) -> Option<f64> {
        let now = Self::now()?;
        let own = (now.own - self.own).as_secs_f64() * TICKS_PER_SECOND as f64;
        let all = now.all - self.all;
        (all > 0.0).then(|| ((now.used - self.used - own) / all).clamp(0.0, 1.0))
    }
}

/// Gets ready to measure: pins this thread, and says what a reader of the result must know of the machine.
#[must_use]
pub fn prepare() -> String {
    // In this order: a pinned thread sees one processor only.
    let remark = remark_on_load().unwrap_or_else(|| "the machine was quiet before".to_owned());
    let pinned = if pin(0) { "pinned to one processor" } else { "NOT pinned: the system does not let us" };
    format!("{pinned}; {remark}")
}

fn remark_on_load() -> Option<String> {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let load = load()?;
    (load > 0.5 * processors as f64).then(|| {
        format!("the machine was busy (load {load:.2} on {processors} processors): trust ratios only, and little")
    })
}

/// The CPU time of several ways to do the same thing, measured in turns, so that a slow spell hits all of them.
///
/// Returns for each the median over `rounds` of the nanoseconds of CPU time that one of `times` calls took.
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
/// If there is none.
#[must_use]
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
