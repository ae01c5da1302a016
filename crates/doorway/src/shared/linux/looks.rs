//! When a waiter looks again on its own, and the hints that wake it earlier.

use super::super::header::row;
use super::mapping::Mapping;
use super::sentinel::{DIED, WAITERS};
use std::time::Duration;

/// The delay before the first look after a hint, if the byte is still locked. Each further delay is
/// twice as long.
pub(super) const FIRST_LAG: Duration = Duration::from_micros(30);
/// The longest delay between two looks after a hint.
pub(super) const LONGEST_LAG: Duration = Duration::from_millis(4);
/// The shortest time after which a lone waiter looks again if nothing wakes it.
const SOON: Duration = Duration::from_millis(4);
/// The longest time after which a lone waiter looks again.
const LATEST: Duration = Duration::from_millis(100);
/// The longest time after which a waiter looks again, however many waiters there are.
const LATEST_OF_MANY: Duration = Duration::from_secs(60);

/// How soon a waiter looks again.
///
/// A look asks the kernel about each waiter, and the kernel goes through all locks to answer. So
/// the cost grows with the square of the number of waiters. What one waiter finds helps all of
/// them. So the more waiters there are, the less often each may look.
pub(super) struct Looks {
    waiting: u32,
}

impl Looks {
    pub(super) fn among(waiting: u32) -> Looks {
        Looks { waiting: waiting.clamp(1, 4096) }
    }

    /// The period where no wake-up can be expected.
    pub(super) fn soon(&self) -> Duration {
        (SOON * (self.waiting * self.waiting / 16).max(1)).min(LATEST_OF_MANY)
    }

    /// The period for a waiter that had waited this long when it last looked.
    pub(super) fn after(&self, waited: Duration) -> Duration {
        let latest = (LATEST * self.waiting).min(LATEST_OF_MANY);
        waited.clamp(self.soon().min(latest), latest)
    }
}

/// What a waiter learns from the word that the kernel marks at a death.
pub(super) enum Hint {
    /// The kernel will wake a sleeper that finds this value.
    Armed(u32),
    Unarmed,
    Died,
}

/// Whether the kernel has promised to mark the death of this seat's owner, and has not done so.
pub(super) fn seems_alive(mapping: &Mapping, seat: usize) -> bool {
    let hint = mapping.load_half(mapping.row(seat) + row::HINT);
    hint & DIED == 0 && hint & !WAITERS != 0
}

/// Asks for a wake-up, unless it is too late. If other processes keep changing the word, it counts
/// as unarmed.
pub(super) fn asks_to_be_woken(load: impl Fn() -> u32, replace: impl Fn(u32, u32) -> Result<u32, u32>) -> Hint {
    let mut value = load();
    for _ in 0..8 {
        if value & DIED != 0 {
            return Hint::Died;
        }
        if value & !WAITERS == 0 {
            return Hint::Unarmed;
        }
        if value & WAITERS != 0 {
            return Hint::Armed(value);
        }
        match replace(value, value | WAITERS) {
            Ok(_) => return Hint::Armed(value | WAITERS),
            Err(now) => value = now,
        }
    }
    Hint::Unarmed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_wait_the_less_often_each_looks() {
        let hour = Duration::from_secs(3600);
        let after = |waited, waiting| Looks::among(waiting).after(waited);
        for alone in [0, 1] {
            assert_eq!(after(Duration::ZERO, alone), SOON);
            assert_eq!(after(Duration::from_millis(30), alone), Duration::from_millis(30));
            assert_eq!(after(hour, alone), LATEST);
        }
        assert_eq!(after(Duration::ZERO, 16), 16 * SOON);
        assert_eq!(after(hour, 16), 16 * LATEST);
        for crowd in [1000, 4096, u32::MAX] {
            assert_eq!(after(Duration::ZERO, crowd), LATEST_OF_MANY);
            assert_eq!(after(hour, crowd), LATEST_OF_MANY);
        }
    }
}
