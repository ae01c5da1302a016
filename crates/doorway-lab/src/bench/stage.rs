//! What measurements with many parties share: work of a known length, and the period that counts.

use super::Effort;
use crate::measure;
use hdrhistogram::Histogram;
use std::hint::black_box;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Work that takes some time: turns of a loop. The number is the same for all, so that no thread's
/// work is shorter because it was interrupted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turns(u64);

impl Turns {
    /// This many turns.
    pub(super) const fn of(number: u64) -> Self {
        Self(number)
    }

    /// The number of turns, to be sent to another process.
    pub(super) const fn number(self) -> u64 {
        self.0
    }

    /// The number of turns that last this long, on the calling thread.
    pub(super) fn lasting(time: Duration) -> Self {
        let goal = time.as_nanos() as f64;
        let mut turns = Self(1000);
        // Three times: the first number of turns is a guess, and short work seems too short,
        // because a processor begins the next turns before it has ended the last.
        for _ in 0..3 {
            turns = turns.scaled(goal / turns.takes());
        }
        turns
    }

    /// The nanoseconds that these turns take: in the fastest of several runs, because the others
    /// were disturbed.
    fn takes(self) -> f64 {
        let times = (100_000 / self.0.max(1)).clamp(1, 1000) as u32;
        let taken = measure::all_in_turns(25, times, &mut [&mut || self.work()]);
        let (least, _) = measure::range(taken.into_iter().flatten());
        least.max(1.0)
    }

    fn scaled(self, by: f64) -> Self {
        Self((self.0 as f64 * by).round().max(1.0) as u64)
    }

    #[inline(never)]
    pub(super) fn work(self) {
        // Each turn needs the one before. The length of a pause instruction would depend on the
        // processor.
        let mut value = 1u64;
        for _ in 0..self.0 {
            value = black_box(value.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        }
    }
}

const WARMS_UP: u8 = 0;
const COUNTS: u8 = 1;
const ENDS: u8 = 2;

/// Passages count from when all parties are busy until the end is announced.
pub(super) struct Stage {
    phase: AtomicU8,
    gone: AtomicUsize,
    parties: usize,
    /// A party leaves after this many passages, however long they took.
    most: u64,
}

impl Stage {
    pub(super) fn new(parties: usize, effort: &Effort) -> Self {
        let (phase, most) = if effort.tiny { (COUNTS, u64::from(effort.rounds)) } else { (WARMS_UP, u64::MAX) };
        Self { phase: AtomicU8::new(phase), gone: AtomicUsize::new(0), parties, most }
    }

    pub(super) fn goes_on(&self, counted: u64) -> bool {
        self.phase.load(Relaxed) != ENDS && counted < self.most
    }

    pub(super) fn counts(&self) -> bool {
        self.phase.load(Relaxed) == COUNTS
    }

    /// A party has ended.
    pub(super) fn goes(&self) {
        self.gone.fetch_add(1, Relaxed);
    }

    /// Waits until all parties have left, but not for ever. Returns how many have not left.
    pub(super) fn wait_for_all(&self) -> usize {
        let begin = Instant::now();
        while self.gone.load(Relaxed) < self.parties && begin.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.parties - self.gone.load(Relaxed)
    }

    /// Starts and ends the period that counts. Returns its wall time and CPU time; the calling
    /// thread sleeps in between.
    pub(super) fn direct(&self, effort: &Effort) -> (Duration, Duration) {
        if !effort.tiny {
            std::thread::sleep(effort.budget / 8);
        }
        let (begin, cpu) = (Instant::now(), measure::process_cpu_time());
        self.phase.store(COUNTS, Relaxed);
        if effort.tiny {
            self.wait_for_all();
        } else {
            std::thread::sleep(effort.budget);
        }
        self.phase.store(ENDS, Relaxed);
        (begin.elapsed(), measure::process_cpu_time() - cpu)
    }
}

/// How long acquiring took, to two digits.
pub(super) struct Waits(Histogram<u32>);

impl Waits {
    pub(super) fn new() -> Self {
        let minute = 60_000_000_000;
        Self(Histogram::new_with_bounds(1, minute, 2).expect("these are bounds"))
    }

    /// Records a passage that counts for this many.
    pub(super) fn record(&mut self, wait: Duration, passages: u64) {
        let (wait, passages) = (u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX), passages as u32);
        self.0.saturating_record_n(wait, passages);
    }

    pub(super) fn add(&mut self, others: &Self) {
        self.0.add(&others.0).expect("all have the same bounds");
    }

    /// This share of waits, in thousandths, was no longer than this.
    pub(super) fn permille(&self, share: u16) -> f64 {
        self.0.value_at_quantile(f64::from(share) / 1000.0) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_of_several_threads_have_the_percentiles_of_all_of_them() {
        let (mut one, mut other) = (Waits::new(), Waits::new());
        (1..=500).for_each(|ns| one.record(Duration::from_nanos(1000 * ns), 1));
        (501..=1000).for_each(|ns| other.record(Duration::from_nanos(1000 * ns), 1));
        one.add(&other);
        for (share, expected) in [(500, 500_000.0), (990, 990_000.0), (999, 999_000.0)] {
            let found = one.permille(share);
            assert!((found - expected).abs() <= 0.01 * expected, "{share}: {found}");
        }
    }

    #[test]
    fn waits_that_are_too_long_are_as_long_as_fits_and_none_is_nothing() {
        let mut waits = Waits::new();
        assert_eq!(waits.permille(999), 0.0);
        waits.record(Duration::from_secs(1 << 40), 8);
        assert!(waits.permille(500) > 1e9);
    }

    #[test]
    fn work_is_at_least_one_turn() {
        assert_eq!(Turns(100).scaled(0.5).0, 50);
        assert_eq!(Turns(1).scaled(0.01).0, 1);
        assert!(Turns::lasting(Duration::from_nanos(100)).0 > 0);
    }

    #[test]
    fn a_tiny_stage_counts_from_the_start_and_each_party_goes_after_its_rounds() {
        let effort = Effort::tiny(3);
        let stage = Stage::new(1, &effort);
        assert!(stage.counts() && stage.goes_on(2) && !stage.goes_on(3));
        stage.goes();
        stage.direct(&effort);
        assert!(!stage.counts() && !stage.goes_on(0));
        assert_eq!(stage.wait_for_all(), 0);
    }
}
