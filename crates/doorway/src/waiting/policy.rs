//! How long to spin, whether to yield, whether to sleep.

use std::sync::LazyLock;
use std::time::Duration;

/// How a thread waits. A value: give a handle another one, and everything that waits through it waits so.
///
/// | policy | when to take it |
/// |---|---|
/// | [`Policy::PARK`] | by default: spins briefly, yields a few times, then sleeps |
/// | [`Policy::SLEEP`] | cores are shared with other programs: spins briefly, then sleeps. What [`Slots`](crate::Slots) with several places take by default |
/// | [`Policy::YIELD`] | waits are short and there are no more threads than cores; never asks the kernel to sleep |
/// | [`Policy::SPIN`] | every waiting thread has a core of its own, and latency is all that counts. With more threads than cores it burns what the others need |
/// | [`Policy::at_most`] | whoever should wake it may die before: it looks again after this long |
///
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
    /// Turns that are spent spinning at the most, each twice as long as the one before; none on a machine with one core, and fewer where waits have
    /// lately ended in a sleep all the same.
    pub spins: u32,
    /// Turns after those in which the processor is offered to others; `u32::MAX`: all.
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
    /// It yields rather than spins, within the same patience: where all cores are taken, a yield hands the core to whom is waited for, and spinning keeps it
    /// from them; where one is free, a yield is short (`doorway-lab bench wait`).
    pub const PARK: Self = Self { spins: 4, yields: 8, parks: true, nap: None };

    /// Spins briefly, then sleeps.
    ///
    /// It does not yield: where others want the core, a yield gives it to them for a whole time slice, and with strict hand-over everybody waits for that.
    pub const SLEEP: Self = Self { spins: 6, yields: 0, parks: true, nap: None };

    /// The same, but it spins and yields for at most this many turns before it sleeps. Without any,
    /// it sleeps at once.
    ///
    /// ```
    /// use doorway::waiting::Policy;
    /// let asleep_at_once = Policy::PARK.turns(0, 0);
    /// assert!(asleep_at_once.parks && asleep_at_once.spins == 0);
    /// ```
    #[must_use]
    pub const fn turns(self, spins: u32, yields: u32) -> Self {
        Self { spins, yields, ..self }
    }

    /// The same, but no sleep is longer.
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

/// Whether this process has one core only. Not whether the thread has that asks first: one that is pinned says nothing of the others.
static ALONE: LazyLock<bool> = LazyLock::new(|| cores() == 1);

/// Cores of the main thread: those that the process was given, unless the program has pinned that one too.
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

/// How often a wait has come to nothing so far, and how many turns it may spin.
#[derive(Default, Debug)]
pub struct Patience {
    turns: u32,
    spins: u32,
}

impl Patience {
    /// A wait that may spin for so many turns, if its policy allows as many.
    #[must_use]
    pub fn new(spins: u32) -> Self {
        Self { turns: 0, spins }
    }

    /// How many turns the next wait may spin, of one that had this many and had to sleep in the end: half of them. One that did not sleep may spin for a turn more, up to what
    /// the policy says. So a handle spins for as long as that has lately been of use.
    #[must_use]
    pub fn after_a_sleep(&self) -> u32 {
        self.spins / 2
    }

    /// Passes the time until the next turn, as long as the policy says not to sleep; whether it is time to sleep.
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
