//! A status and its parts: plain values.

use std::borrow::Cow;
use std::fmt;
use std::panic::Location;
use std::thread::ThreadId;
use std::time::Duration;

/// Where in the program a caller asked for a place.
pub type Site = &'static Location<'static>;

/// The state of an object at one moment, and what happened up to about then.
///
/// # Which moment
/// Each of the [`holders`](Self::holders) held its slot at that moment, and each of the
/// [`waiters`](Self::waiters) waited at that moment. So no caller is shown twice. A caller that
/// moves from slot to slot meanwhile is shown with one of them, and a caller that is let in
/// meanwhile is shown as a waiter. A caller that is just entering or leaving may not be shown at
/// all.
///
/// [`available`](Self::available) is read after that moment, while all holders that are shown still
/// held. So the holders and the available places together never exceed the places, unless a thread
/// adds or removes places meanwhile.
///
/// Counters and histograms are read during the call, one after the other. Each only ever grows.
///
/// # What is seen
/// A status shows the callers that came through the observed object. A guard that was forgotten
/// (`mem::forget`) is shown as a holder for ever, and a future that was forgotten while it waited
/// is shown as a waiter for ever. Its call site tells where the leak is.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Status {
    /// The name that the object was given.
    pub name: Cow<'static, str>,
    /// The number of places.
    pub places: usize,
    /// How many places are free. Zero while a caller waits in line.
    pub available: usize,
    /// Whether the object was closed.
    pub closed: bool,
    /// The places that are held, by slot. A guard of several places appears once for each of them.
    pub holders: Vec<Holder>,
    /// How many callers wait. A caller that gave up does not count.
    pub waiters: usize,
    /// How long the oldest waiter has waited.
    pub oldest_wait: Option<Duration>,
    /// Where the waiters asked. The site of the oldest waiter comes first.
    pub waiting_at: Vec<WaitingAt>,
    /// How many calls got their places. Equal to the count of [`waits`](Self::waits).
    pub granted: u64,
    /// How many calls waited until their time ran out.
    pub timed_out: u64,
    /// How many futures were dropped while they waited.
    pub cancelled: u64,
    /// How many calls were refused: the object was closed, or they asked for too many places or for
    /// none.
    pub refused: u64,
    /// How many calls did not want to wait, and found too few places free.
    pub no_place: u64,
    /// How long the granted calls waited. Calls that were granted at once are in the first bucket.
    pub waits: Histogram,
    /// How long the other calls waited: their time ran out, they were cancelled, or the object was
    /// closed. Without these, waits would look shorter than they are.
    pub given_up: Histogram,
    /// How long places were held. It counts places that have come back, each place by itself.
    pub holds: Histogram,
}

impl Status {
    /// How many places are neither free nor held by a holder that is shown.
    ///
    /// Some of them may be on their way to a waiter, or back. If the number stays above zero while
    /// no caller comes or goes, the places are lost (a future was forgotten), or they are held by
    /// callers that were not observed.
    ///
    /// # Examples
    /// ```
    /// let slots = doorway::Slots::new(2)?.observed("gpus");
    /// let _held = slots.acquire()?;
    /// assert_eq!(slots.status().unaccounted(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn unaccounted(&self) -> usize {
        self.places.saturating_sub(self.available + self.holders.len())
    }
}

/// For people: one line for each place that is held, and one for each call site with waiters.
///
/// # Examples
/// ```
/// let slots = doorway::Slots::new(2)?.observed("gpus");
/// let _held = slots.acquire()?;
/// let text = slots.status().to_string();
/// assert!(text.starts_with("gpus: 1 of 2 held, 0 waiting\n  slot 0, fence "), "{text}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, places, waiters, .. } = self;
        let closed = if self.closed { ", closed" } else { "" };
        write!(f, "{name}: {} of {places} held, {waiters} waiting{closed}", self.holders.len())?;
        for Holder { slot, fence, held_for, site, caller } in &self.holders {
            write!(f, "\n  slot {slot}, fence {fence}: for {held_for:?} by {caller}, {site}")?;
        }
        for WaitingAt { site, waiters, oldest_wait } in &self.waiting_at {
            write!(f, "\n  {waiters} waiting, the first for {oldest_wait:?}: {site}")?;
        }
        Ok(())
    }
}

/// A place that is held.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Holder {
    /// The slot.
    pub slot: usize,
    /// The fence number of the guard.
    pub fence: u64,
    /// How long the place has been held.
    pub held_for: Duration,
    /// Where the holder asked for the place.
    #[cfg_attr(feature = "serde", serde(serialize_with = "serializes::display"))]
    pub site: Site,
    /// The kind of caller that asked. The guard may have moved elsewhere since.
    pub caller: Caller,
}

/// The kind of caller that asks for a place.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Caller {
    /// A thread, through a method that blocks or that only tries.
    Thread {
        /// The thread's name, if it has one.
        name: Option<String>,
        /// The thread's number within the program.
        #[cfg_attr(feature = "serde", serde(serialize_with = "serializes::debug"))]
        id: ThreadId,
    },
    /// A task, through a method that is awaited.
    Task,
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Thread { name: Some(name), .. } => write!(f, "thread {name}"),
            Self::Thread { name: None, id } => write!(f, "thread {id:?}"),
            Self::Task => f.write_str("task"),
        }
    }
}

/// The waiters that asked at one place in the program.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct WaitingAt {
    /// The place in the program.
    #[cfg_attr(feature = "serde", serde(serialize_with = "serializes::display"))]
    pub site: Site,
    /// The number of waiters.
    pub waiters: usize,
    /// How long the oldest of them has waited.
    pub oldest_wait: Duration,
}

/// A histogram of durations, exact to a factor of two.
///
/// # Examples
/// ```
/// let slots = doorway::Slots::new(1)?.observed("gpus");
/// drop(slots.acquire()?);
/// let status = slots.status();
/// assert_eq!((status.waits.count(), status.holds.count()), (1, 1));
/// assert!(status.waits.max.is_zero()); // it did not wait
/// let half = status.holds.quantile(0.5).unwrap();
/// assert!(half.contains(&status.holds.max)); // the only one there is
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Histogram {
    /// The counts. The first bucket is for a duration of zero. Bucket `i` is for 2^(i-1) to 2^i - 1
    /// nanoseconds, and the last bucket is for everything beyond. See [`buckets`](Self::buckets).
    #[cfg_attr(feature = "serde", serde(serialize_with = "serializes::list"))]
    pub counts: [u64; Self::BUCKETS],
    /// The sum of all durations.
    pub sum: Duration,
    /// The longest duration.
    pub max: Duration,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: [0; Self::BUCKETS], sum: Duration::ZERO, max: Duration::ZERO }
    }
}

impl Histogram {
    /// The number of buckets. A `u64` of nanoseconds has 65 possible bit lengths, and reaches 584
    /// years.
    pub const BUCKETS: usize = 65;

    /// Adds one duration.
    ///
    /// # Examples
    /// ```
    /// use doorway::observed::Histogram;
    /// use std::time::Duration;
    /// let mut mine = Histogram::default(); // for times of one's own, to stand beside the others
    /// (1..=1000).for_each(|micros| mine.record(Duration::from_micros(micros)));
    /// assert!(mine.quantile(0.9).unwrap().contains(&Duration::from_micros(900)));
    /// assert_eq!(mine.mean(), Some(Duration::from_nanos(500_500)));
    /// ```
    pub fn record(&mut self, took: Duration) {
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.counts[(u64::BITS - nanoseconds.leading_zeros()) as usize] += 1;
        self.sum = self.sum.saturating_add(took);
        self.max = self.max.max(took);
    }

    /// Adds all durations of another histogram.
    pub fn absorb(&mut self, other: &Self) {
        self.counts.iter_mut().zip(other.counts).for_each(|(mine, more)| *mine += more);
        self.sum = self.sum.saturating_add(other.sum);
        self.max = self.max.max(other.max);
    }

    /// The number of durations in all buckets.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The average duration. `None` if there are no durations.
    ///
    /// # Examples
    /// ```
    /// let never_used = doorway::Slots::new(1)?.observed("gpus").status();
    /// assert_eq!(never_used.waits.mean(), None);
    /// # Ok::<(), doorway::SizeError>(())
    /// ```
    #[must_use]
    pub fn mean(&self) -> Option<Duration> {
        let mean = self.sum.as_nanos().checked_div(u128::from(self.count()))?;
        Some(Duration::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX)))
    }

    /// The buckets: the longest duration that belongs to each, and how many durations it counts.
    ///
    /// # Examples
    /// ```
    /// let status = doorway::Slots::new(1)?.observed("gpus").status();
    /// let longest: Vec<u128> = status.waits.buckets().map(|(longest, _)| longest.as_nanos()).collect();
    /// assert_eq!(longest[..5], [0, 1, 3, 7, 15]);
    /// # Ok::<(), doorway::SizeError>(())
    /// ```
    pub fn buckets(&self) -> impl Iterator<Item = (Duration, u64)> + '_ {
        self.counts.iter().enumerate().map(|(i, &count)| (longest(i), count))
    }

    /// Bounds of a quantile.
    ///
    /// At least a fraction `q` of all durations is no longer than the upper bound, and the quantile
    /// itself is not below the lower bound. The histogram knows no more than that, and nothing is
    /// interpolated. Returns `None` if there are no durations, or if `q` is not between 0 and 1.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// let slots = doorway::Slots::new(1)?.observed("gpus");
    /// (0..99).try_for_each(|_| slots.acquire().map(drop))?;
    /// assert_eq!(slots.status().waits.quantile(0.99), Some(Duration::ZERO..=Duration::ZERO));
    /// assert_eq!(slots.status().waits.quantile(1.5), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<std::ops::RangeInclusive<Duration>> {
        if !(0.0..=1.0).contains(&q) {
            return None;
        }
        // The rank of the duration that is asked for. Counts beyond 2^53 lose their last digits
        // here.
        let rank = ((q * self.count() as f64).ceil() as u64).clamp(1, self.count().max(1));
        let mut so_far = 0;
        let bucket = self.counts.iter().position(|count| {
            so_far += count;
            so_far >= rank
        })?;
        let shortest = bucket.checked_sub(1).map_or(Duration::ZERO, |below| longest(below) + Duration::from_nanos(1));
        let longest = if bucket + 1 == Self::BUCKETS { self.max } else { longest(bucket).min(self.max) };
        Some(shortest.min(longest)..=longest)
    }
}

/// The longest duration of a bucket.
fn longest(bucket: usize) -> Duration {
    Duration::from_nanos(((1_u128 << bucket) - 1) as u64)
}

/// Shows the buckets that are not empty.
impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let filled: Vec<_> = self.buckets().filter(|(_, count)| *count > 0).collect();
        f.debug_struct("Histogram").field("up_to", &filled).field("sum", &self.sum).field("max", &self.max).finish()
    }
}

/// What `serde` cannot do by itself: call sites, threads, and arrays of this length.
#[cfg(feature = "serde")]
mod serializes {
    use serde::{Serialize, Serializer};
    use std::fmt::{Debug, Display};

    pub(super) fn display<T: Display, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(value)
    }

    pub(super) fn debug<T: Debug, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{value:?}"))
    }

    pub(super) fn list<S: Serializer, const N: usize>(values: &[u64; N], to: S) -> Result<S::Ok, S::Error> {
        values.as_slice().serialize(to)
    }
}
