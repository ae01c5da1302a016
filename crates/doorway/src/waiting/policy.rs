//! How long to spin, whether to yield, whether to sleep.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// How a thread waits. This is a value: a handle that is given another policy uses it for all its
/// waits.
///
/// | policy | when to use it |
/// |---|---|
/// | [`Policy::PARK`] | by default: spins briefly, yields a few times, then sleeps |
/// | [`Policy::SLEEP`] | cores are shared with other programs: spins briefly, then sleeps. The default of [`Slots`](crate::Slots) with several places |
/// | [`Policy::YIELD`] | waits are short and there are no more threads than cores; never asks the kernel to sleep |
/// | [`Policy::SPIN`] | every waiting thread has its own core, and only latency counts. With more threads than cores, it burns the time that the others need |
/// | [`Policy::at_most`] | the process that should wake it may die first: the thread looks again after this time |
///
/// # Examples
/// ```
/// use doorway::waiting::Policy;
/// use std::time::Duration;
/// assert_eq!(Policy::default(), Policy::PARK);
/// let shared = Policy::PARK.at_most(Duration::from_millis(50));
/// assert!(shared.parks && shared.nap == Some(Duration::from_millis(50)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Policy {
    /// The largest number of turns that are spent spinning, each twice as long as the one before.
    /// Zero on a machine with one core, and fewer where waits have lately ended in a sleep all the
    /// same.
    pub spins: u32,
    /// The number of turns after those in which the thread yields; `u32::MAX` means all.
    pub yields: u32,
    /// Whether to sleep after that.
    pub parks: bool,
    /// The longest sleep.
    pub nap: Option<Duration>,
}

impl Policy {
    /// Spins for ever.
    pub const SPIN: Self = Self { spins: u32::MAX, yields: 0, parks: false, nap: None };
    /// Spins briefly, then yields for ever.
    pub const YIELD: Self = Self { spins: 4, yields: u32::MAX, parks: false, nap: None };
    /// Spins briefly, yields a few times, then sleeps.
    ///
    /// It rather yields than spins. If all cores are taken, a yield gives the core to the thread
    /// for which this one waits; spinning would keep the core. If a core is free, a yield is short
    /// (`doorway-lab bench wait`).
    pub const PARK: Self = Self { spins: 4, yields: 8, parks: true, nap: None };

    /// Spins briefly, then sleeps.
    ///
    /// It does not yield. If other threads want the core, a yield gives it to them for a whole time
    /// slice; with strict hand-over, every waiter waits for that.
    pub const SLEEP: Self = Self { spins: 6, yields: 0, parks: true, nap: None };

    /// Limits spinning and yielding to at most this many turns before the thread sleeps. With 0
    /// turns of each, it sleeps at once.
    ///
    /// # Examples
    /// ```
    /// use doorway::waiting::Policy;
    /// let asleep_at_once = Policy::PARK.turns(0, 0);
    /// assert!(asleep_at_once.parks && asleep_at_once.spins == 0);
    /// ```
    #[must_use]
    pub const fn turns(self, spins: u32, yields: u32) -> Self {
        Self { spins, yields, ..self }
    }

    /// Limits the length of each sleep.
    #[must_use]
    pub const fn at_most(self, nap: Duration) -> Self {
        Self { nap: Some(nap), ..self }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::PARK
    }
}

/// Whether this process has only one core. The affinity of the thread that asks first does not
/// decide this: a pinned thread says nothing about the others.
static ALONE: LazyLock<bool> = LazyLock::new(|| cores() == 1);

/// The number of cores of the main thread: those that the process was given, unless the program has
/// pinned that thread, too.
#[cfg(all(any(target_os = "linux", target_os = "android"), not(any(miri, doorway_portable))))]
fn cores() -> usize {
    use rustix::thread::{Pid, sched_getaffinity};
    let process = i32::try_from(std::process::id()).ok().and_then(Pid::from_raw);
    process.and_then(|main| sched_getaffinity(Some(main)).ok()).map_or(0, |cores| cores.count() as usize)
}

#[cfg(not(all(any(target_os = "linux", target_os = "android"), not(any(miri, doorway_portable)))))]
fn cores() -> usize {
    std::thread::available_parallelism().map_or(0, std::num::NonZero::get)
}

/// How many sleeps in a row a thread learns from. Then it spins once as long as its policy allows,
/// because waits may have become shorter.
const PROBES: u32 = 64;

/// What a thread has learnt from its last waits: how many turns the next one may spin.
///
/// If a wait ends in a sleep all the same, spinning before it only keeps the processor from the
/// thread for which this one waits. With more threads than processors and strict order, that is so
/// in every wait.
#[derive(Clone, Copy, Debug)]
pub struct Habit {
    spins: u32,
    sleeps: u32,
    /// Whether the last wait slept, and the thread has not [let others go first](Self::defers)
    /// since.
    owes: bool,
}

impl Habit {
    /// Nothing learnt yet: each wait may spin as long as its policy allows.
    pub const NEW: Self = Self { spins: u32::MAX, sleeps: 0, owes: false };

    /// How many turns the next wait may spin.
    #[must_use]
    pub fn spins(self) -> u32 {
        self.spins
    }

    /// After a wait that would be followed by one with `spins` turns: fewer than it had itself, if
    /// it `slept`.
    #[must_use]
    pub fn after(self, spins: u32, slept: bool) -> Self {
        match (slept, self.sleeps + 1) {
            (false, _) => Self { spins, sleeps: 0, owes: false },
            (true, PROBES) => Self { owes: true, ..Self::NEW },
            (true, sleeps) => Self { spins, sleeps, owes: true },
        }
    }

    /// Whether the thread, which leaves what it waited for, should let other threads go first: once
    /// after each wait that slept.
    ///
    /// A line of sleeping threads keeps itself alive: a thread that leaves wakes the first of them,
    /// and is back at the end of the line before that one runs. Then every passage is a change of
    /// threads. If the threads that leave let the others run first, the line becomes empty, and no
    /// thread has to sleep any more.
    #[must_use]
    pub fn defers(self) -> (bool, Self) {
        (self.owes, Self { owes: false, ..self })
    }
}

/// How long a thread that is not in line stays away between two tries to get in.
///
/// Each try takes a cache line from the processor of a holder. If sections are long, that disturbs
/// no holder, and the thread should notice soon that a place is free. If others come and go
/// quickly, tries are in their way. Then the thread stays away for longer and longer, and the
/// others make more passages in less time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Away {
    /// How many others had been let in at the last try.
    entries: u64,
    /// The number of long pauses before the next try.
    pauses: u32,
    /// When it first stayed away for long. A thread that finds a place soon reads no clock.
    since: Option<Instant>,
}

impl Away {
    /// Others are quick if this many of them are let in between two tries.
    const QUICK: u64 = 3;

    /// The largest number of long pauses.
    const LONGEST: u32 = 256;

    /// This many long pauses are long enough to read the clock.
    const LONG: u32 = 16;

    /// After this time the thread gets in line in any case. With more threads than processors, it
    /// may not have run for most of that time.
    const TOO_LONG: Duration = Duration::from_millis(26);

    /// A thread that tries for the first time, after this many others were let in.
    pub(crate) fn new(entries: u64) -> Self {
        Self { entries, pauses: 0, since: None }
    }

    /// After a try in vain, and after this many others were let in.
    pub(crate) fn after(self, entries: u64) -> Self {
        let are_quick = entries.wrapping_sub(self.entries) >= Self::QUICK;
        let pauses = if are_quick { (2 * self.pauses).clamp(4, Self::LONGEST) } else { 0 };
        let since = self.since.or_else(|| (pauses >= Self::LONG).then(Instant::now));
        Self { entries, pauses, since }
    }

    /// Whether it should get in line now.
    pub(crate) fn is_over(self) -> bool {
        self.since.is_some_and(|since| since.elapsed() >= Self::TOO_LONG)
    }

    /// Stays away: up to 0.8 ms, where a pause of the processor takes 50 ns.
    pub(crate) fn pause(self) {
        if *ALONE && self.pauses > 0 {
            std::thread::yield_now(); // no other thread comes and goes meanwhile
        } else {
            (0..64 * self.pauses).for_each(|_| std::hint::spin_loop());
        }
    }
}

/// How many turns of a wait have failed so far, and how many turns it may spin.
#[derive(Default, Debug)]
pub struct Patience {
    turns: u32,
    spins: u32,
}

impl Patience {
    /// A wait that may spin for `spins` turns, if its policy allows that many.
    #[must_use]
    pub fn new(spins: u32) -> Self {
        Self { turns: 0, spins }
    }

    /// How many turns the next wait may spin after one that had to sleep in the end: half of them.
    /// After a wait that did not sleep, the next one may spin for one more turn, up to the policy's
    /// limit. So a handle spins for as long as that has lately been useful.
    #[must_use]
    pub fn after_a_sleep(&self) -> u32 {
        self.spins / 2
    }

    /// Passes the time until the next turn, unless it is time to sleep. Returns whether it is.
    pub fn is_over(&mut self, policy: &Policy) -> bool {
        let turn = self.turns;
        self.turns = self.turns.saturating_add(1);
        let spins = if policy.parks { policy.spins.min(self.spins) } else { policy.spins };
        if turn < spins && !*ALONE {
            (0..1u32 << turn.min(6)).for_each(|_| std::hint::spin_loop());
            return false;
        }
        if turn - spins.min(turn) < policy.yields || !policy.parks {
            std::thread::yield_now();
            return false;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{Away, Habit, Instant, PROBES, Patience};

    #[test]
    fn a_thread_stays_away_longer_and_longer_while_others_are_quick() {
        let mut away = Away::new(100);
        let mut then = |entries| {
            away = away.after(entries);
            away.pauses
        };
        assert_eq!([102, 105, 205, 206].map(&mut then), [0, 4, 8, 0]);
        assert_eq!((1..=9).map(|i| then(206 + 3 * i)).max(), Some(Away::LONGEST));
        assert_eq!(Away::new(u64::MAX).after(2).pauses, 4); // the count began again
    }

    #[test]
    fn a_thread_that_stayed_away_for_long_gets_in_line() {
        let away = (1..=2).fold(Away::new(0), |away, i| away.after(3 * i));
        assert!(away.since.is_none() && !away.is_over());
        let long = away.after(9);
        assert!(long.since.is_some() && long.after(9).since == long.since);
        let then = Instant::now().checked_sub(Away::TOO_LONG).expect("the machine has run for longer");
        assert!(Away { since: Some(then), ..long }.is_over());
    }

    #[test]
    fn a_thread_that_sleeps_all_the_same_spins_less_and_tries_again_later() {
        let wait = |habit: Habit| habit.after(Patience::new(habit.spins().min(6)).after_a_sleep(), true);
        let spins = |times| (0..times).fold(Habit::NEW, |habit, _| wait(habit)).spins();
        assert_eq!([0, 1, 2, 3, PROBES - 1].map(spins), [u32::MAX, 3, 1, 0, 0]);
        assert_eq!((spins(PROBES), spins(PROBES + 1)), (u32::MAX, 3));
        // A wait that did not sleep ends the row of sleeps.
        let rested = (0..PROBES - 1).fold(Habit::NEW, |habit, _| wait(habit)).after(1, false);
        assert_eq!((rested.spins(), wait(rested).spins()), (1, 0));
    }

    #[test]
    fn a_thread_lets_others_go_first_once_after_each_wait_that_slept() {
        let (defers, slept) = Habit::NEW.after(3, true).defers();
        assert!(defers && !slept.defers().0 && slept.spins() == 3);
        assert!(!Habit::NEW.defers().0 && !slept.after(3, false).defers().0);
        let again = (0..2 * PROBES).fold(slept, |habit, _| {
            let (defers, after) = habit.after(3, true).defers();
            assert!(defers);
            after
        });
        assert!(!again.after(3, true).after(3, false).defers().0);
    }

    #[test]
    #[cfg(all(target_os = "linux", not(any(miri, doorway_portable))))]
    fn a_pinned_thread_does_not_speak_for_the_process() {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
        let all = super::cores();
        let pinned = std::thread::spawn(|| {
            let allowed = sched_getaffinity(None).unwrap();
            let mut one = CpuSet::new();
            one.set((0..CpuSet::MAX_CPU).find(|&cpu| allowed.is_set(cpu)).unwrap());
            sched_setaffinity(None, &one).unwrap();
            super::cores()
        });
        assert_eq!(pinned.join().unwrap(), all);
    }
}
