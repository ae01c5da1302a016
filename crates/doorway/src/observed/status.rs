//! What a status says: plain values.

use std::borrow::Cow;
use std::fmt;
use std::panic::Location;
use std::thread::ThreadId;
use std::time::Duration;

/// Where in a program a caller asked.
pub type Site = &'static Location<'static>;

/// How things stood at one moment, and what has happened until about then.
///
/// # Which moment
/// Each of the [`holders`](Self::holders) held its slot at that moment, and each of the
/// [`waiters`](Self::waiters) waited at it. So no caller is shown twice: one that goes from slot to
/// slot meanwhile has one of them, and one that is let in meanwhile still waits. A caller that is
/// just on its way in or out may not be shown at all.
///
/// [`available`](Self::available) is read after that moment, and while all holders that are shown
/// still held. So holders and available places together are never more than the places, unless
/// somebody adds or takes away places meanwhile.
///
/// Counters and histograms are read within the call, one after the other. Each only ever grows.
///
/// # What is seen
/// Callers that came through the observed object. A guard that was `mem::forget`-ten is shown as a
/// holder for ever, and a future that was `mem::forget`-ten while it waited as a waiter: its call
/// site tells where the leak is.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Status {
    /// The name that the object was given.
    pub name: Cow<'static, str>,
    /// How many places there are.
    pub places: usize,
    /// How many of them are free: none, while a caller waits in line.
    pub available: usize,
    /// Whether it was closed.
    pub closed: bool,
    /// The places that are held, by slot. A guard of several places is shown once for each of them.
    pub holders: Vec<Holder>,
    /// How many callers wait. Callers that gave up do not.
    pub waiters: usize,
    /// How long the one that came first has waited.
    pub oldest_wait: Option<Duration>,
    /// Where they asked, the site of the oldest waiter first.
    pub waiting_at: Vec<WaitingAt>,
    /// How many calls were let in: as many as [`waits`](Self::waits) counts.
    pub granted: u64,
    /// How many waited until their time ran out.
    pub timed_out: u64,
    /// How many futures were dropped while they waited.
    pub cancelled: u64,
    /// How many were turned away: closed, too many places, or none asked for.
    pub refused: u64,
    /// How many would not wait, and found too few places free.
    pub no_place: u64,
    /// How long callers waited that were let in. Those that were let in at once are in the first
    /// bucket.
    pub waits: Histogram,
    /// How long callers waited that were not let in: their time ran out, they were cancelled, or it
    /// was closed. Without these, the waits look shorter than they are.
    pub given_up: Histogram,
    /// How long places were held that have come back, each place by itself.
    pub holds: Histogram,
}

impl Status {
    /// How many places are neither free nor held by a holder that is shown. Some are on their way
    /// to a waiter, or back. If it stays above zero while nobody comes and goes, they are lost (a
    /// future was `mem::forget`-ten), or held by callers that were not observed.
    ///
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

/// For people: a line for each place that is held, and for each call site with callers that wait.
///
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
        writeln!(f, "{name}: {} of {places} held, {waiters} waiting{closed}", self.holders.len())?;
        for Holder { slot, fence, held_for, site, caller } in &self.holders {
            writeln!(f, "  slot {slot}, fence {fence}: for {held_for:?} by {caller}, {site}")?;
        }
        for WaitingAt { site, waiters, oldest_wait } in &self.waiting_at {
            writeln!(f, "  {waiters} waiting, the first for {oldest_wait:?}: {site}")?;
        }
        Ok(())
    }
}

/// A place that is held.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Holder {
    /// Its slot.
    pub slot: usize,
    /// The fence number of its guard.
    pub fence: u64,
    /// How long it has been held.
    pub held_for: Duration,
    /// Where the holder asked for it.
    #[cfg_attr(feature = "serde", serde(serialize_with = "serializes::display"))]
    pub site: Site,
    /// What asked for it. The guard may have gone elsewhere since.
    pub caller: Caller,
}

/// What asks for a place.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Caller {
    /// A thread, by one of the ways that block, or do not wait.
    Thread {
        /// Its name, if it has one.
        name: Option<String>,
        /// Its number within the program.
        #[cfg_attr(feature = "serde", serde(serialize_with = "serializes::debug"))]
        id: ThreadId,
    },
    /// A task, by one of the ways that are awaited.
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

/// Callers that wait, and asked at the same place of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct WaitingAt {
    /// Where.
    #[cfg_attr(feature = "serde", serde(serialize_with = "serializes::display"))]
    pub site: Site,
    /// How many.
    pub waiters: usize,
    /// How long the one that came first has waited.
    pub oldest_wait: Duration,
}

/// How long things took: how many took how long, to a factor of two.
///
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
    /// How many took how long. The first bucket is for nothing at all; bucket `i` is for 2^(i-1) up
    /// to 2^i - 1 nanoseconds, and the last one for everything beyond. See
    /// [`buckets`](Self::buckets).
    #[cfg_attr(feature = "serde", serde(serialize_with = "serializes::list"))]
    pub counts: [u64; Self::BUCKETS],
    /// All together.
    pub sum: Duration,
    /// The longest.
    pub max: Duration,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: [0; Self::BUCKETS], sum: Duration::ZERO, max: Duration::ZERO }
    }
}

impl Histogram {
    /// How many buckets there are: a `u64` of nanoseconds has 65 lengths, which is up to 584 years.
    pub const BUCKETS: usize = 65;

    /// One more that took this long.
    ///
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

    /// All of another one, too.
    pub fn absorb(&mut self, other: &Self) {
        self.counts.iter_mut().zip(other.counts).for_each(|(mine, more)| *mine += more);
        self.sum = self.sum.saturating_add(other.sum);
        self.max = self.max.max(other.max);
    }

    /// How many there are in all buckets.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// How long each took on average, if there were any.
    ///
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

    /// The buckets: the longest time that belongs to each, and how many there are in it.
    ///
    /// ```
    /// let status = doorway::Slots::new(1)?.observed("gpus").status();
    /// let longest: Vec<u128> = status.waits.buckets().map(|(longest, _)| longest.as_nanos()).collect();
    /// assert_eq!(longest[..5], [0, 1, 3, 7, 15]);
    /// # Ok::<(), doorway::SizeError>(())
    /// ```
    pub fn buckets(&self) -> impl Iterator<Item = (Duration, u64)> + '_ {
        self.counts.iter().enumerate().map(|(i, &count)| (longest(i), count))
    }

    /// Bounds of a quantile: at least a part `q` of all took no longer than the upper one, and the
    /// quantile itself is not below the lower one. More is not known, and nothing is interpolated.
    /// `None` if there are none, or if `q` is not between 0 and 1.
    ///
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
        // The rank of the one that is asked for. Counts beyond 2^53 lose their last digits here.
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

/// The longest time of a bucket.
fn longest(bucket: usize) -> Duration {
    Duration::from_nanos(((1_u128 << bucket) - 1) as u64)
}

/// Those buckets that are not empty.
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
