//! Waiting for a value, and closing: what [`Queue`](super::Queue), [`Stack`](super::Stack) and
//! [`GrowingStack`](super::GrowingStack) have in common.

use super::pair::Pair;
use crate::native::{Native, now, someone, sure};
use crate::waiting::Policy;
use doorway_core::memory::Site;
use doorway_core::rooms::LastOut;
use doorway_core::rooms::blelloch_cheng_gibbons_01::{Awaited, AwaitedRooms};
use std::fmt;
use std::future::ready;
use std::time::Instant;

/// Two rooms whose users can wait for each other, with what the last one out does.
pub(super) type Doors<X = ()> = AwaitedRooms<Native, Pair<X>>;

pub(super) fn doors(site: &Site<'_, Native>) -> Doors {
    doors_with(site, ())
}

pub(super) fn doors_with<X: LastOut<Native>>(site: &Site<'_, Native>, lights: X) -> Doors<X> {
    Doors::new(site, |site| Pair::new(site, lights))
}

/// The queue or stack is closed, and nothing is left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ended;

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("closed, and nothing is left; stop taking")
    }
}
impl std::error::Error for Ended {}

/// Why waiting ended without a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TakeTimeoutError {
    /// The time ran out.
    TimedOut,
    /// The queue or stack is closed, and nothing is left.
    Ended,
}

impl From<Ended> for TakeTimeoutError {
    fn from(_: Ended) -> Self {
        Self::Ended
    }
}

impl fmt::Display for TakeTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut => f.write_str("no value came in time; wait longer, or try again"),
            Self::Ended => Ended.fmt(f),
        }
    }
}
impl std::error::Error for TakeTimeoutError {}

/// Waits as a thread for a value that `look` finds, at most until the deadline.
pub(super) fn wait_as_thread<T, X: LastOut<Native>>(
    doors: &Doors<X>,
    deadline: Option<Instant>,
    mut look: impl FnMut() -> Option<T>,
) -> Result<T, TakeTimeoutError> {
    let p = someone(Policy::SLEEP);
    p.memory().give_up_at(deadline);
    found(sure(now(doors.wait_for(&p, deadline.is_some(), || ready(Ok(look()))))))
}

/// Waits as a task. Dropping the future gives up.
pub(super) async fn wait_as_task<T, X: LastOut<Native>>(
    doors: &Doors<X>,
    mut look: impl FnMut() -> Option<T>,
) -> Result<T, Ended> {
    let p = someone(Policy::SLEEP);
    p.memory().wait_as_task(true);
    ended(found(sure(doors.wait_for(&p, false, || ready(Ok(look()))).await)))
}

fn found<T>(told: Awaited<T>) -> Result<T, TakeTimeoutError> {
    match told {
        Awaited::Got(value) => Ok(value),
        Awaited::Ended => Err(TakeTimeoutError::Ended),
        Awaited::GaveUp => Err(TakeTimeoutError::TimedOut),
    }
}

/// Converts the result of a wait that has no time limit.
pub(super) fn ended<T>(told: Result<T, TakeTimeoutError>) -> Result<T, Ended> {
    told.map_err(|why| match why {
        TakeTimeoutError::Ended => Ended,
        TakeTimeoutError::TimedOut => unreachable!("a wait without a deadline is never asked to give up"),
    })
}

pub(super) fn close<X: LastOut<Native>>(doors: &Doors<X>) {
    let Ok(()) = sure(now(doors.close(&someone(super::PATIENT))));
}

/// Defines the methods that wait.
macro_rules! awaiting {
    ($([$($generics:tt)*] $of:ty, $which:literal, $example:literal;)*) => {
        $(
            impl<$($generics)*> $of {
                #[doc = concat!("Takes the ", $which, " value, and waits until there is one.")]
                ///
                /// One value wakes all waiters, and those that find nothing wait again: there is no
                /// order among them.
                ///
                /// # Errors
                /// Returns an error if it is [closed](Self::close) and nothing is left.
                ///
                /// # Examples
                /// ```
                #[doc = concat!("let jobs = doorway::rooms::", $example, "(4)?;")]
                /// std::thread::scope(|s| {
                ///     let taken = || std::iter::from_fn(|| jobs.take().ok());
                ///     let worker = s.spawn(move || taken().sum::<u32>());
                ///     (1..=3).for_each(|job| jobs.push(job).unwrap());
                ///     jobs.close(); // what is there is still taken
                ///     assert_eq!(worker.join().unwrap(), 6);
                /// });
                /// # Ok::<(), doorway::rooms::RoomsBuildError>(())
                /// ```
                pub fn take(&self) -> Result<T, Ended> {
                    awaiting::ended(awaiting::wait_as_thread(self.text.rooms(), None, || self.pop()))
                }

                /// [`take`](Self::take), but it waits no longer than `timeout`.
                ///
                /// # Errors
                /// Returns an error if the time runs out, or if it is closed and nothing is left.
                pub fn take_timeout(&self, timeout: Duration) -> Result<T, TakeTimeoutError> {
                    // There is no deadline if it would be beyond the end of time.
                    awaiting::wait_as_thread(self.text.rooms(), Instant::now().checked_add(timeout), || self.pop())
                }

                /// [`take_timeout`](Self::take_timeout) with a point in time.
                ///
                /// # Errors
                /// Returns an error if the deadline passes, or if it is closed and nothing is
                /// left.
                pub fn take_deadline(&self, deadline: Instant) -> Result<T, TakeTimeoutError> {
                    awaiting::wait_as_thread(self.text.rooms(), Some(deadline), || self.pop())
                }

                /// [`take`](Self::take) for tasks, on any executor. While others push, it waits for
                /// them as a thread does, for as long as a push takes.
                ///
                /// The last caller that leaves the room for pushes wakes the task, or the caller
                /// that closes, after it has left. So a waker may use this object itself: it may
                /// push, pop and close here.
                ///
                /// # Cancel safety
                /// Cancel safe. Dropping the future gives up exactly: it has taken nothing.
                ///
                /// # Errors
                /// Returns an error if it is closed and nothing is left.
                pub async fn take_async(&self) -> Result<T, Ended> {
                    awaiting::wait_as_task(self.text.rooms(), || self.pop()).await
                }

                /// Closes it: no more values can be pushed. Values that are left can still be
                /// taken, and waiters are told.
                ///
                /// If a push returned before, its value is there to be taken. If a push is refused,
                /// its value is not.
                pub fn close(&self) {
                    awaiting::close(self.text.rooms());
                }

                /// Whether it was closed.
                #[must_use]
                pub fn is_closed(&self) -> bool {
                    sure(now(self.text.rooms().is_closed(self.anyone())))
                }
            }
        )*
    };
}
pub(super) use awaiting;
