//! [`Managed`]: a pool that makes its values, checks them before it lends them again, and drops
//! values that were idle for too long.

use crate::slots::{
    AcquireError, AcquireTimeoutError, Numbered, OwnedSlotGuard, Permit, SlotGuard, Slots, TooMany, TryAcquireError,
};
use crate::waiting::contained;
use crate::{Closed, SizeError};
use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

/// What a managed pool must know about its values, whether threads or tasks use it.
pub trait Manager {
    /// The type of the values.
    type Value;
    /// Why a value could not be made, or may not be lent again.
    type Error;

    /// Whether a value that comes back is broken. The pool drops a broken value.
    ///
    /// The pool asks whenever a loan ends, so this should look at the value and not at the network.
    fn is_broken(&self, value: &mut Self::Value) -> bool {
        let _ = value;
        false
    }
}

/// How threads make and check values.
pub trait Make: Manager {
    /// Makes a value. The caller already has a place by then.
    ///
    /// # Errors
    /// Returns an error if no value can be made. The caller that asked for a value gets the error,
    /// and its place goes to the next waiter.
    fn make(&self) -> Result<Self::Value, Self::Error>;

    /// Checks whether an idle value may be lent again.
    ///
    /// # Errors
    /// Returns an error if the value may not be lent again. The pool drops the value and lends
    /// another one.
    fn check(&self, value: &mut Self::Value, usage: &Usage) -> Result<(), Self::Error> {
        let _ = (value, usage);
        Ok(())
    }
}

/// How tasks make and check values.
pub trait MakeAsync: Manager {
    /// The same as [`Make::make`].
    ///
    /// # Errors
    /// The same as for [`Make::make`].
    fn make(&self) -> impl Future<Output = Result<Self::Value, Self::Error>> + Send;

    /// The same as [`Make::check`].
    ///
    /// # Errors
    /// The same as for [`Make::check`].
    fn check(&self, value: &mut Self::Value, usage: &Usage) -> impl Future<Output = Result<(), Self::Error>> + Send {
        let _ = (value, usage);
        async { Ok(()) }
    }
}

/// A [`Manager`] made of a function. It makes values, and accepts every idle value.
pub struct FromFn<F>(F);

impl<F> fmt::Debug for FromFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FromFn(..)")
    }
}

impl<T, E, F: Fn() -> Result<T, E>> Manager for FromFn<F> {
    type Value = T;
    type Error = E;
}

impl<T, E, F: Fn() -> Result<T, E>> Make for FromFn<F> {
    fn make(&self) -> Result<T, E> {
        (self.0)()
    }
}

/// The history of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Usage {
    /// When the value was made.
    pub made: Instant,
    /// When the value last came back, or was made.
    pub idle_since: Instant,
    /// How many times the value was lent before.
    pub lent: u64,
}

/// Which idle value is lent next.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum Reuse {
    /// The value that came back last. It is warm, and values that are not needed stay idle and
    /// expire.
    #[default]
    Newest,
    /// The value that has been idle for longest. All values are used in turn.
    Oldest,
}

/// What a managed pool has done so far, and what it contains now.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Statistics {
    /// How many values can be lent at the same time.
    pub places: usize,
    /// How many values there are, lent or idle. Values that were [taken out](Lease::take) do not
    /// count.
    pub values: usize,
    /// How many values are idle.
    pub idle: usize,
    /// How many callers wait for a place. Those that gave up do not count, and a caller that drains
    /// the pool counts once for each place that it waits for.
    pub waiting: usize,
    /// How many values were made.
    pub made: u64,
    /// How many times the manager failed to make a value.
    pub failed: u64,
    /// How many times a value was lent that had been lent before.
    pub reused: u64,
    /// How many values were dropped because the manager found them broken or rejected them.
    pub broken: u64,
    /// How many values were dropped because they were idle or alive for too long.
    pub expired: u64,
}

/// Why no value was lent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ManagedError<E> {
    /// The pool is closed.
    Closed,
    /// The time ran out while all places were taken.
    TimedOut,
    /// All places are taken now.
    NoPlace,
    /// The manager failed to make a value.
    Make(E),
}

impl<E: fmt::Display> fmt::Display for ManagedError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => Closed.fmt(f),
            Self::TimedOut => AcquireTimeoutError::TimedOut.fmt(f),
            Self::NoPlace => TryAcquireError::NoPlace.fmt(f),
            Self::Make(why) => write!(f, "no value could be made: {why}"),
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for ManagedError<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Make(why) => Some(why),
            _ => None,
        }
    }
}

impl<E> From<Closed> for ManagedError<E> {
    fn from(_: Closed) -> Self {
        Self::Closed
    }
}

impl<E> From<AcquireTimeoutError> for ManagedError<E> {
    fn from(why: AcquireTimeoutError) -> Self {
        match why {
            AcquireTimeoutError::Closed => Self::Closed,
            _ => Self::TimedOut,
        }
    }
}

impl<E> From<TryAcquireError> for ManagedError<E> {
    fn from(why: TryAcquireError) -> Self {
        match why {
            TryAcquireError::Closed => Self::Closed,
            _ => Self::NoPlace,
        }
    }
}

/// A pool that makes its values when they are needed: connections, clients, buffers.
///
/// The number of places bounds how many values are lent at the same time. A caller that gets a
/// place gets an idle value that the manager still accepts, or else a new one. Places are given in
/// the order of arrival, as [`Slots`] give them.
///
/// # Panics, crashes and leaks
/// If the manager panics, the place goes back. If a holder panics, its value goes back, and
/// [`is_broken`](Manager::is_broken) may notice. A loan that is forgotten (`mem::forget`) keeps its
/// place for ever.
///
/// # Examples
/// ```
/// use doorway::pool::{Make, Managed, Manager, Usage};
///
/// struct Connections;
/// struct Connection { sent: u32 }
///
/// impl Manager for Connections {
///     type Value = Connection;
///     type Error = std::io::Error;
///     fn is_broken(&self, connection: &mut Connection) -> bool {
///         connection.sent > 100
///     }
/// }
/// impl Make for Connections {
///     fn make(&self) -> std::io::Result<Connection> {
///         Ok(Connection { sent: 0 })
///     }
///     fn check(&self, _: &mut Connection, _: &Usage) -> std::io::Result<()> {
///         Ok(()) // a ping, say
///     }
/// }
///
/// let pool = Managed::new(Connections, 4)?;
/// pool.acquire()?.sent += 1; // the first is made now
/// assert_eq!(pool.acquire()?.sent, 1); // the same one again
/// assert_eq!((pool.statistics().made, pool.statistics().reused), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A function is enough if values need no check:
///
/// ```
/// use doorway::pool::Managed;
/// let buffers = Managed::from_fn(2, || Ok::<_, std::convert::Infallible>(Vec::<u8>::with_capacity(1 << 16)))?;
/// let mut buffer = buffers.acquire()?;
/// buffer.clear();
/// assert!(buffer.capacity() >= 1 << 16);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Managed<M: Manager> {
    slots: Arc<Slots>,
    manager: M,
    shelf: Mutex<Shelf<M::Value>>,
    idle_for: Option<Duration>,
    living_for: Option<Duration>,
    reuse: Reuse,
}

/// The idle values. The value that came back last is at the end.
struct Shelf<T> {
    idle: VecDeque<Kept<T>>,
    /// How many places the pool has. The slots have these and the excess, except for those that a
    /// caller is about to add.
    places: usize,
    /// How many places must go when they come back.
    excess: usize,
    /// How many callers are about to add places.
    growing: usize,
    /// How many callers drain the pool. While one does, the pool closes when its last place goes:
    /// that caller might wait for this place.
    drains: usize,
    /// Whether the pool is about to close because a drain holds all places, or none is left: there
    /// are no more places from now on.
    drained: bool,
    counts: Statistics,
}

/// A value with its history.
pub(crate) struct Kept<T> {
    value: T,
    usage: Usage,
}

impl<F> Managed<FromFn<F>>
where
    FromFn<F>: Manager,
{
    /// Makes a pool with this many places, whose values a function makes. The function returns a
    /// `Result`, as [`Make::make`] does.
    ///
    /// # Errors
    /// The same as for [`new`](Self::new).
    pub fn from_fn(places: usize, make: F) -> Result<Self, SizeError> {
        Self::new(FromFn(make), places)
    }
}

impl<M: Manager> Managed<M> {
    /// Makes a pool with this many places, and no value yet.
    ///
    /// # Errors
    /// Returns an error if `places` is 0 or more than [`Slots::MOST`].
    pub fn new(manager: M, places: usize) -> Result<Self, SizeError> {
        let shelf = Shelf {
            idle: VecDeque::new(),
            places,
            excess: 0,
            growing: 0,
            drains: 0,
            drained: false,
            counts: Statistics::default(),
        };
        let slots = Arc::new(Slots::new(places)?);
        Ok(Self { slots, manager, shelf: Mutex::new(shelf), idle_for: None, living_for: None, reuse: Reuse::default() })
    }

    /// Sets how long a value may be idle.
    ///
    /// A value that was idle for longer is not lent again. The pool drops it when a caller comes
    /// across it, or when you call [`drop_expired`](Self::drop_expired).
    #[must_use]
    pub fn idle_for(self, most: Duration) -> Self {
        Self { idle_for: Some(most), ..self }
    }

    /// Sets how old a value may become. An older value is not lent again, however often it is used.
    #[must_use]
    pub fn living_for(self, most: Duration) -> Self {
        Self { living_for: Some(most), ..self }
    }

    /// Sets which idle value is lent next.
    #[must_use]
    pub fn reuse(self, reuse: Reuse) -> Self {
        Self { reuse, ..self }
    }

    /// Reserves room for this many places in all, so that the pool can be [resized](Self::resize)
    /// later.
    ///
    /// # Errors
    /// The same as for [`Slots::room_for`].
    pub fn room_for(self, places: usize) -> Result<Self, SizeError> {
        self.with_slots(|slots| slots.room_for(places))
    }

    /// Makes the pool's slots [unfair](Slots::unfair).
    #[must_use]
    pub fn unfair(self) -> Self {
        self.with_slots(|slots| Ok(slots.unfair())).unwrap_or_else(|_: SizeError| unreachable!("it has its size"))
    }

    fn with_slots(self, change: impl FnOnce(Slots) -> Result<Slots, SizeError>) -> Result<Self, SizeError> {
        let Self { slots, manager, shelf, idle_for, living_for, reuse } = self;
        // The pool is not shared yet, so this is the only reference to the slots.
        let slots = Arc::try_unwrap(slots).map_or_else(Ok, |slots| change(slots).map(Arc::new))?;
        Ok(Self { slots, manager, shelf, idle_for, living_for, reuse })
    }

    /// The manager.
    pub fn manager(&self) -> &M {
        &self.manager
    }

    /// How many values can be lent at the same time.
    #[must_use]
    pub fn places(&self) -> usize {
        self.shelf().places
    }

    /// What the pool has done so far, and what it contains now. The time that this takes is
    /// proportional to the number of callers that wait.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let waiting = usize::try_from(self.slots.waiting()).unwrap_or(usize::MAX);
        let shelf = self.shelf();
        Statistics { places: shelf.places, idle: shelf.idle.len(), waiting, ..shelf.counts }
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf<M::Value>> {
        // No user code runs under this lock, so a panic cannot leave the shelf half changed.
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the pool and drops all idle values.
    ///
    /// Waiting callers get an error. A value that is lent is dropped when it comes back.
    pub fn close(&self) {
        self.slots.close();
        self.retain(|_, _| false);
    }

    /// Whether the pool was closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.slots.is_closed()
    }

    /// Waits until all values are back, then closes the pool. Callers that arrived earlier are
    /// served first.
    ///
    /// # Errors
    /// Returns an error if the pool was closed before.
    pub fn drain(&self) -> Result<(), Closed> {
        let _drains = Draining::new(self)?;
        loop {
            let all = match self.slots.places() {
                0 => None,
                places => match self.slots.acquire_many(places) {
                    Ok(permits) => Some(permits),
                    Err(AcquireError::Closed) => return self.was_drained(),
                    Err(_) => continue, // there are fewer places by now
                },
            };
            if self.is_drained(all.as_ref().map_or(0, Permit::places)) {
                self.close();
                drop(all); // only after the pool is closed: otherwise the next waiter would get in
                return Ok(());
            }
            drop(all);
            std::thread::yield_now(); // another thread is about to add places
        }
    }

    /// Whether a caller that holds this many places holds all of them, and some caller drains the
    /// pool. If so, there will never be more.
    fn is_drained(&self, held: usize) -> bool {
        let mut shelf = self.shelf();
        shelf.drained |= shelf.drains > 0 && shelf.growing == 0 && self.slots.places() == held;
        shelf.drained
    }

    /// The result of a drain that finds the pool closed.
    fn was_drained(&self) -> Result<(), Closed> {
        if self.shelf().drained { Ok(()) } else { Err(Closed) }
    }

    /// [`drain`](Self::drain) for tasks.
    ///
    /// # Cancel safety
    /// Cancel safe. If the future is dropped before it is ready, the pool goes on as before.
    ///
    /// # Errors
    /// The same as for [`drain`](Self::drain).
    pub async fn drain_async(&self) -> Result<(), Closed> {
        let _drains = Draining::new(self)?;
        loop {
            let all = match self.slots.places() {
                0 => None,
                places => match self.slots.acquire_many_async(places).await {
                    Ok(permits) => Some(permits),
                    Err(AcquireError::Closed) => return self.was_drained(),
                    Err(_) => continue, // there are fewer places by now
                },
            };
            if self.is_drained(all.as_ref().map_or(0, Permit::places)) {
                self.close();
                drop(all); // only after the pool is closed: otherwise the next waiter would get in
                return Ok(());
            }
            drop(all);
            // Another caller is about to add places. It may be the one that woke this task, and may
            // go on only when the task has returned.
            let_others_run().await;
        }
    }

    /// Keeps the idle values for which `keep` returns `true`, and drops the others. Returns how
    /// many were dropped.
    pub fn retain(&self, mut keep: impl FnMut(&mut M::Value, &Usage) -> bool) -> usize {
        // The lock is not held here: both `keep` and the values' destructors are user code.
        let rest = std::mem::take(&mut self.shelf().idle);
        let mut sorting = Sorting { pool: self, rest, kept: VecDeque::new(), dropped: 0 };
        while let Some(mut one) = sorting.rest.pop_front() {
            sorting.dropped += 1; // it is gone, whatever panics, unless it is kept
            if keep(&mut one.value, &one.usage) {
                sorting.dropped -= 1;
                sorting.kept.push_back(one);
            }
        }
        sorting.dropped
    }

    /// Drops the values that were idle or alive for too long, and returns how many. A service calls
    /// this from time to time.
    ///
    /// # Examples
    /// ```
    /// use doorway::pool::Managed;
    /// use std::time::Duration;
    /// let pool = Managed::from_fn(2, || Ok::<_, std::io::Error>(7))?.idle_for(Duration::ZERO);
    /// drop(pool.acquire()?);
    /// std::thread::sleep(Duration::from_millis(1));
    /// assert_eq!(pool.drop_expired(), 1);
    /// assert_eq!(pool.statistics().values, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn drop_expired(&self) -> usize {
        let expired = self.retain(|_, usage| !self.is_expired(usage));
        self.shelf().counts.expired += expired as u64;
        expired
    }

    fn is_expired(&self, usage: &Usage) -> bool {
        self.idle_for.is_some_and(|most| usage.idle_since.elapsed() > most)
            || self.living_for.is_some_and(|most| usage.made.elapsed() > most)
    }

    /// Changes how many values can be lent at the same time.
    ///
    /// When a pool shrinks, a place that is lent is removed when it comes back. With 0 places,
    /// callers wait until the pool grows.
    ///
    /// # Errors
    /// Returns an error if there is not enough [room](Self::room_for).
    ///
    /// # Examples
    /// ```
    /// use doorway::pool::Managed;
    /// let pool = Managed::from_fn(2, || Ok::<_, std::io::Error>(7))?;
    /// let (one, two) = (pool.acquire()?, pool.acquire()?);
    /// pool.resize(1)?;
    /// drop(one);
    /// assert!(pool.try_acquire().is_err()); // the second one has the last place
    /// drop(two);
    /// assert!(pool.try_acquire().is_ok());
    /// pool.resize(3)?;
    /// assert_eq!(pool.places(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resize(&self, places: usize) -> Result<(), TooMany> {
        let mut shelf = self.shelf();
        let (now, most) = (shelf.places, self.slots.room());
        if places > most {
            return Err(TooMany { asked: places, most });
        }
        shelf.places = places;
        if places < now {
            shelf.excess += now - places;
            let surplus = self.surplus(&mut shelf);
            drop(shelf);
            drop(surplus);
            // Free places go at once, and the others when they come back.
            while let Ok(permit) = self.slots.try_acquire() {
                if self.admit(permit).is_some() {
                    break;
                }
            }
            return Ok(());
        }
        let back = shelf.excess.min(places - now);
        shelf.excess -= back;
        let more = places - now - back;
        if more == 0 || shelf.drained {
            return Ok(());
        }
        shelf.growing += 1;
        drop(shelf);
        let _over = Growing(self);
        // Not under the lock: this wakes waiters, and their wakers may use the pool. There is room,
        // but a place that must go may still be there for a moment.
        while self.slots.add(more).is_err() {
            std::thread::yield_now();
        }
        Ok(())
    }

    /// The idle values for which no place is left. The caller drops them without the lock.
    fn surplus(&self, shelf: &mut Shelf<M::Value>) -> Vec<Kept<M::Value>> {
        let too_many = shelf.counts.values.saturating_sub(shelf.places).min(shelf.idle.len());
        shelf.counts.values -= too_many;
        shelf.idle.drain(..too_many).collect()
    }

    /// The idle value that is lent next, if there is one.
    fn take_idle(&self) -> Option<Kept<M::Value>> {
        loop {
            let mut shelf = self.shelf();
            let kept = match self.reuse {
                Reuse::Newest => shelf.idle.pop_back(),
                Reuse::Oldest => shelf.idle.pop_front(),
            }?;
            if !self.is_expired(&kept.usage) {
                return Some(kept);
            }
            shelf.counts.expired += 1;
            shelf.counts.values -= 1;
            drop(shelf); // before the value, whose destructor is user code
        }
    }

    fn is_good(&self, is_good: bool) -> bool {
        let mut shelf = self.shelf();
        if is_good {
            shelf.counts.reused += 1;
        } else {
            shelf.counts.broken += 1;
            shelf.counts.values -= 1;
        }
        is_good
    }

    /// Counts a new value, or the failure to make one.
    fn made(&self, value: Result<M::Value, M::Error>) -> Result<Kept<M::Value>, ManagedError<M::Error>> {
        let mut shelf = self.shelf();
        match value {
            Ok(value) => {
                shelf.counts.made += 1;
                shelf.counts.values += 1;
                let now = Instant::now();
                Ok(Kept { value, usage: Usage { made: now, idle_since: now, lent: 0 } })
            }
            Err(why) => {
                shelf.counts.failed += 1;
                Err(ManagedError::Make(why))
            }
        }
    }

    /// Ends a loan. The value goes back to the shelf, unless it is broken or no longer needed.
    fn take_back(&self, mut kept: Kept<M::Value>) {
        let checked = Uncounted { pool: self, armed: true };
        let is_broken = self.manager.is_broken(&mut kept.value);
        checked.over();
        kept.usage.lent += 1;
        kept.usage.idle_since = Instant::now();
        if is_broken {
            let mut shelf = self.shelf();
            shelf.counts.broken += 1;
            shelf.counts.values -= 1;
            drop(shelf);
            drop(kept);
        } else {
            self.shelve(kept);
        }
    }

    /// Puts a value on the shelf, unless it is no longer needed.
    fn shelve(&self, kept: Kept<M::Value>) {
        let mut shelf = self.shelf();
        if self.slots.is_closed() {
            shelf.counts.values -= 1;
            drop(shelf);
            drop(kept);
        } else {
            shelf.idle.push_back(kept);
            let surplus = self.surplus(&mut shelf);
            drop(shelf);
            drop(surplus);
        }
    }

    /// How many values are idle, if at least this many are, or if the pool has a value for each
    /// place.
    fn filled(&self, values: usize) -> Option<usize> {
        let shelf = self.shelf();
        (shelf.idle.len() >= values || shelf.counts.values >= shelf.places).then_some(shelf.idle.len())
    }

    /// A free place, for a value that is made before a caller asks for it.
    fn place_to_fill(&self) -> Result<Option<Place<M, &Self, &Slots>>, Closed> {
        loop {
            match self.slots.try_acquire() {
                Ok(permit) => {
                    if let Some(permit) = self.admit(permit) {
                        return Ok(Some(Place { permit: Some(permit), pool: self }));
                    }
                }
                Err(TryAcquireError::Closed) => return Err(Closed),
                Err(_) => return Ok(None),
            }
        }
    }

    /// Returns the permit, unless its place must go.
    fn admit<S: Deref<Target = Slots>>(&self, permit: Permit<S, Numbered>) -> Option<Permit<S, Numbered>> {
        if !self.must_go() {
            return Some(permit);
        }
        permit.forget();
        self.has_gone();
        None
    }

    /// Whether the caller, which has a place, must forget it. If so, [`has_gone`](Self::has_gone)
    /// follows. The lock is not held meanwhile: to forget a place wakes a caller that waits for all
    /// places.
    pub(crate) fn must_go(&self) -> bool {
        let mut shelf = self.shelf();
        let must_go = shelf.excess > 0;
        shelf.excess -= usize::from(must_go);
        must_go
    }

    /// A place is gone. A drain that waits for one place would not learn that there is none any
    /// more.
    pub(crate) fn has_gone(&self) {
        if self.is_drained(0) {
            self.close();
        }
    }

    pub(crate) fn slots(&self) -> &Arc<Slots> {
        &self.slots
    }

    /// The loan of this value, in this place.
    pub(crate) fn lease<'a>(&'a self, permit: SlotGuard<'a>, kept: Kept<M::Value>) -> Leased<'a, M> {
        Lease { kept: Some(kept), place: Place { permit: Some(permit), pool: self } }
    }

    /// The same with a reference.
    pub(crate) fn lease_owned(self: &Arc<Self>, permit: OwnedSlotGuard, kept: Kept<M::Value>) -> OwnedLeased<M> {
        Lease { kept: Some(kept), place: Place { permit: Some(permit), pool: Arc::clone(self) } }
    }
}

/// Acquires a place that may be lent. A place that came back while the pool shrank may have to go
/// instead.
macro_rules! admitted {
    ($pool:ident, $acquired:expr) => {
        loop {
            if let Some(permit) = $pool.admit($acquired?) {
                break permit;
            }
        }
    };
}

impl<M: Make> Managed<M> {
    pub(crate) fn value(&self) -> Result<Kept<M::Value>, ManagedError<M::Error>> {
        while let Some(mut kept) = self.take_idle() {
            let checked = Uncounted { pool: self, armed: true };
            let is_good = self.manager.check(&mut kept.value, &kept.usage).is_ok();
            checked.over();
            if self.is_good(is_good) {
                return Ok(kept);
            }
        }
        self.made(self.manager.make())
    }

    fn lend<'a>(&'a self, permit: SlotGuard<'a>) -> Result<Leased<'a, M>, ManagedError<M::Error>> {
        let place = Place { permit: Some(permit), pool: self };
        Ok(Lease { kept: Some(self.value()?), place })
    }

    fn lend_owned(self: &Arc<Self>, permit: OwnedSlotGuard) -> Result<OwnedLeased<M>, ManagedError<M::Error>> {
        let place = Place { permit: Some(permit), pool: Arc::clone(self) };
        Ok(Lease { kept: Some(self.value()?), place })
    }

    /// Waits for a place, and lends a value.
    ///
    /// # Errors
    /// Returns an error if the pool is closed, or if the manager fails to make a value.
    pub fn acquire(&self) -> Result<Leased<'_, M>, ManagedError<M::Error>> {
        self.lend(admitted!(self, self.slots.acquire()))
    }

    /// [`acquire`](Self::acquire) with a loan that owns a reference to the pool.
    ///
    /// # Errors
    /// The same as for [`acquire`](Self::acquire).
    pub fn acquire_owned(self: &Arc<Self>) -> Result<OwnedLeased<M>, ManagedError<M::Error>> {
        self.lend_owned(admitted!(self, self.slots.acquire_owned()))
    }

    /// Lends a value if a place is free now. It does not wait for a place, but it may have to make
    /// a value.
    ///
    /// # Errors
    /// Returns an error if all places are taken, if the pool is closed, or if the manager fails to
    /// make a value.
    pub fn try_acquire(&self) -> Result<Leased<'_, M>, ManagedError<M::Error>> {
        self.lend(admitted!(self, self.slots.try_acquire()))
    }

    /// [`try_acquire`](Self::try_acquire) with a loan that owns a reference to the pool.
    ///
    /// # Errors
    /// The same as for [`try_acquire`](Self::try_acquire).
    pub fn try_acquire_owned(self: &Arc<Self>) -> Result<OwnedLeased<M>, ManagedError<M::Error>> {
        self.lend_owned(admitted!(self, self.slots.try_acquire_owned()))
    }

    /// Waits for a place, but no longer than `timeout`, and lends a value. The timeout does not
    /// cover the time that the manager takes to check or make a value.
    ///
    /// # Errors
    /// Returns an error if the time runs out, if the pool is closed, or if the manager fails to
    /// make a value.
    pub fn acquire_timeout(&self, timeout: Duration) -> Result<Leased<'_, M>, ManagedError<M::Error>> {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.acquire_deadline(deadline),
            None => self.acquire(), // beyond the end of time
        }
    }

    /// [`acquire_timeout`](Self::acquire_timeout) with a loan that owns a reference to the pool.
    ///
    /// # Errors
    /// The same as for [`acquire_timeout`](Self::acquire_timeout).
    pub fn acquire_timeout_owned(
        self: &Arc<Self>,
        timeout: Duration,
    ) -> Result<OwnedLeased<M>, ManagedError<M::Error>> {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.acquire_deadline_owned(deadline),
            None => self.acquire_owned(),
        }
    }

    /// [`acquire_timeout`](Self::acquire_timeout) with a point in time.
    ///
    /// # Errors
    /// Returns an error if the deadline passes, if the pool is closed, or if the manager fails to
    /// make a value.
    pub fn acquire_deadline(&self, deadline: Instant) -> Result<Leased<'_, M>, ManagedError<M::Error>> {
        self.lend(admitted!(self, self.slots.acquire_deadline(deadline)))
    }

    /// [`acquire_deadline`](Self::acquire_deadline) with a loan that owns a reference to the pool.
    ///
    /// # Errors
    /// The same as for [`acquire_deadline`](Self::acquire_deadline).
    pub fn acquire_deadline_owned(
        self: &Arc<Self>,
        deadline: Instant,
    ) -> Result<OwnedLeased<M>, ManagedError<M::Error>> {
        self.lend_owned(admitted!(self, self.slots.acquire_deadline_owned(deadline)))
    }

    /// Makes values until this many are idle, or until there is one for each place. Returns how
    /// many are idle.
    ///
    /// A service calls this when it starts, so that its first callers need not wait for new values.
    /// First it drops values that were idle or alive for too long. Other idle values stay as they
    /// are, and this does not count as lending them. While a value is made, one place is taken.
    ///
    /// # Errors
    /// Returns an error if the pool is closed, or if the manager fails to make a value.
    ///
    /// # Examples
    /// ```
    /// use doorway::pool::Managed;
    /// let pool = Managed::from_fn(4, || Ok::<_, std::io::Error>(7))?;
    /// assert_eq!(pool.fill(2)?, 2);
    /// assert_eq!(pool.statistics().idle, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fill(&self, values: usize) -> Result<usize, ManagedError<M::Error>> {
        self.drop_expired();
        loop {
            let place = self.place_to_fill()?;
            match (self.filled(values), place) {
                (Some(idle), _) => return Ok(idle),
                (None, None) => return Ok(self.shelf().idle.len()),
                (None, Some(_place)) => self.shelve(self.made(self.manager.make())?),
            }
        }
    }
}

impl<M: MakeAsync> Managed<M> {
    pub(crate) async fn value_async(&self) -> Result<Kept<M::Value>, ManagedError<M::Error>> {
        while let Some(mut kept) = self.take_idle() {
            let checked = Uncounted { pool: self, armed: true };
            let is_good = self.manager.check(&mut kept.value, &kept.usage).await.is_ok();
            checked.over();
            if self.is_good(is_good) {
                return Ok(kept);
            }
        }
        self.made(self.manager.make().await)
    }

    /// Waits for a place, and lends a value.
    ///
    /// # Cancel safety
    /// Cancel safe. Dropping the future gives up at any point, and the place goes to the next
    /// waiter. A value that was being made or checked is dropped, because its protocol may be
    /// half-way through an exchange.
    ///
    /// # Errors
    /// Returns an error if the pool is closed, or if the manager fails to make a value.
    pub async fn acquire_async(&self) -> Result<Leased<'_, M>, ManagedError<M::Error>> {
        let place = Place { permit: Some(admitted!(self, self.slots.acquire_async().await)), pool: self };
        Ok(Lease { kept: Some(self.value_async().await?), place })
    }

    /// [`acquire_async`](Self::acquire_async) with a loan that owns a reference to the pool. The
    /// future owns one too, so it can be spawned as it is.
    ///
    /// # Errors
    /// The same as for [`acquire_async`](Self::acquire_async).
    pub fn acquire_owned_async(
        self: &Arc<Self>,
    ) -> impl Future<Output = Result<OwnedLeased<M>, ManagedError<M::Error>>> + use<M> {
        let pool = Arc::clone(self);
        async move {
            // Only a loan keeps a reference to the slots, not a future: it might be leaked.
            let permit = admitted!(pool, pool.slots.acquire_async().await).owned(&pool.slots);
            let place = Place { permit: Some(permit), pool: Arc::clone(&pool) };
            Ok(Lease { kept: Some(pool.value_async().await?), place })
        }
    }

    /// [`fill`](Self::fill) for tasks.
    ///
    /// # Errors
    /// The same as for [`fill`](Self::fill).
    pub async fn fill_async(&self, values: usize) -> Result<usize, ManagedError<M::Error>> {
        self.drop_expired();
        loop {
            let place = self.place_to_fill()?;
            match (self.filled(values), place) {
                (Some(idle), _) => return Ok(idle),
                (None, None) => return Ok(self.shelf().idle.len()),
                (None, Some(_place)) => self.shelve(self.made(self.manager.make().await)?),
            }
        }
    }
}

/// Lets other tasks run once.
async fn let_others_run() {
    let mut has_returned = false;
    poll_fn(|context| {
        if std::mem::replace(&mut has_returned, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Sorts idle values, which are on no shelf meanwhile. At the end, even by a panic, those that are
/// left go back, and those that are gone are taken off the count.
struct Sorting<'a, M: Manager> {
    pool: &'a Managed<M>,
    rest: VecDeque<Kept<M::Value>>,
    kept: VecDeque<Kept<M::Value>>,
    dropped: usize,
}

impl<M: Manager> Drop for Sorting<'_, M> {
    fn drop(&mut self) {
        let mut shelf = self.pool.shelf();
        shelf.counts.values -= self.dropped;
        // The values that came back meanwhile were used last.
        self.kept.append(&mut self.rest);
        self.kept.append(&mut shelf.idle);
        shelf.idle = std::mem::take(&mut self.kept);
        let surplus = if self.pool.slots.is_closed() {
            shelf.counts.values -= shelf.idle.len();
            std::mem::take(&mut shelf.idle).into()
        } else {
            self.pool.surplus(&mut shelf)
        };
        drop(shelf);
        if std::thread::panicking() {
            // A destructor that panics now would end the process.
            surplus.into_iter().for_each(|kept| contained(|| drop(kept)));
        }
    }
}

/// A caller that drains the pool, until it is done or gives up.
struct Draining<'a, M: Manager>(&'a Managed<M>);

impl<'a, M: Manager> Draining<'a, M> {
    /// Refused if the pool was closed before.
    fn new(pool: &'a Managed<M>) -> Result<Self, Closed> {
        if pool.is_closed() {
            return Err(Closed);
        }
        pool.shelf().drains += 1;
        Ok(Self(pool))
    }
}

impl<M: Manager> Drop for Draining<'_, M> {
    fn drop(&mut self) {
        self.0.shelf().drains -= 1;
    }
}

/// Takes a caller off the count of those that add places, even if a waker panics.
struct Growing<'a, M: Manager>(&'a Managed<M>);

impl<M: Manager> Drop for Growing<'_, M> {
    fn drop(&mut self) {
        self.0.shelf().growing -= 1;
    }
}

/// Takes a value off the count if its check panics or is dropped: such a value is on no shelf.
struct Uncounted<'a, M: Manager> {
    pool: &'a Managed<M>,
    armed: bool,
}

impl<M: Manager> Uncounted<'_, M> {
    fn over(mut self) {
        self.armed = false;
    }
}

impl<M: Manager> Drop for Uncounted<'_, M> {
    fn drop(&mut self) {
        if self.armed {
            self.pool.shelf().counts.values -= 1;
        }
    }
}

impl<M: Manager> fmt::Debug for Managed<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Managed")
            .field("slots", &self.slots)
            .field("statistics", &self.statistics())
            .finish_non_exhaustive()
    }
}

/// A loan from a [`Managed`] pool that borrows the pool.
pub type Leased<'a, M> = Lease<M, &'a Managed<M>, &'a Slots>;
/// A loan from a [`Managed`] pool that owns a reference to the pool, so it can move anywhere.
pub type OwnedLeased<M> = Lease<M, Arc<Managed<M>>, Arc<Slots>>;

/// A value that is lent. It goes back when this is dropped.
#[must_use = "the value goes back as soon as this is dropped"]
pub struct Lease<M: Manager, P: Deref<Target = Managed<M>>, S: Deref<Target = Slots>> {
    /// `None` only after the value has gone back.
    kept: Option<Kept<M::Value>>,
    // Declared after the value: dropping the place admits the next holder, which must find the
    // value on the shelf.
    place: Place<M, P, S>,
}

struct Place<M: Manager, P: Deref<Target = Managed<M>>, S: Deref<Target = Slots>> {
    permit: Option<Permit<S, Numbered>>,
    pool: P,
}

impl<M: Manager, P: Deref<Target = Managed<M>>, S: Deref<Target = Slots>> Drop for Place<M, P, S> {
    fn drop(&mut self) {
        if let Some(permit) = self.permit.take() {
            drop(self.pool.admit(permit));
        }
    }
}

const LENT: &str = "a loan keeps its value until it ends";

impl<M: Manager, P: Deref<Target = Managed<M>>, S: Deref<Target = Slots>> Lease<M, P, S> {
    /// The loan's slot: a number that no other loan has, below the number of places.
    #[must_use]
    pub fn slot(&self) -> usize {
        self.place.permit.as_ref().expect(LENT).slot()
    }

    /// The history of the value.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.kept.as_ref().expect(LENT).usage
    }

    /// The pool that lent the value.
    #[must_use]
    pub fn issuer(&self) -> &P {
        &self.place.pool
    }

    /// Takes the value out of the pool. The place goes to the next caller, for which the pool makes
    /// a new value.
    ///
    /// # Examples
    /// ```
    /// use doorway::pool::Managed;
    /// let pool = Managed::from_fn(1, || Ok::<_, std::io::Error>("new".to_owned()))?;
    /// let mine = pool.acquire()?.take();
    /// assert_eq!(mine, "new");
    /// assert_eq!((pool.statistics().values, pool.places()), (0, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use = "to give a value back, drop its loan"]
    pub fn take(mut self) -> M::Value {
        let kept = self.kept.take().expect(LENT);
        self.place.pool.shelf().counts.values -= 1;
        kept.value
    }
}

impl<M: Manager, P: Deref<Target = Managed<M>>, S: Deref<Target = Slots>> Drop for Lease<M, P, S> {
    fn drop(&mut self) {
        if let Some(kept) = self.kept.take() {
            self.place.pool.take_back(kept);
        }
    }
}

impl<M: Manager, P: Deref<Target = Managed<M>>, S: Deref<Target = Slots>> Deref for Lease<M, P, S> {
    type Target = M::Value;
    fn deref(&self) -> &M::Value {
        &self.kept.as_ref().expect(LENT).value
    }
}

impl<M: Manager, P: Deref<Target = Managed<M>>, S: Deref<Target = Slots>> DerefMut for Lease<M, P, S> {
    fn deref_mut(&mut self) -> &mut M::Value {
        &mut self.kept.as_mut().expect(LENT).value
    }
}

impl<M: Manager<Value: fmt::Debug>, P: Deref<Target = Managed<M>>, S: Deref<Target = Slots>> fmt::Debug
    for Lease<M, P, S>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease").field("slot", &self.slot()).field("value", &**self).finish_non_exhaustive()
    }
}
