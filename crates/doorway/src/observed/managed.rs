//! Observed managed pools.

use super::{Acquire, AcquireOwned, Asks, Book, Held, Leased, OwnedLeased, Slots, Status};
use crate::Closed;
use crate::pool::{Make, MakeAsync, ManagedError, Manager, Statistics, Usage};
use crate::slots::{Numbered, Permit, TooMany};
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An observed [`pool::Managed`](crate::pool::Managed). This is a handle: clones refer to the same
/// pool.
///
/// A caller that has a place counts as its holder, also while the manager checks or makes a value
/// for it. A caller that waits for a place counts as a waiter.
///
/// Some methods take places that are recorded for no holder, and count as
/// [unaccounted](Status::unaccounted) meanwhile: [`fill`](Self::fill) takes one for each value that
/// it makes, and [`drain`](Self::drain) takes all of them at the end. If a pool
/// [shrinks](Self::resize), a call may get a place that has to go. It then asks again, and is
/// recorded once more.
///
/// # Examples
/// ```
/// let pool = doorway::pool::Managed::from_fn(2, || Ok::<_, std::io::Error>(7))?.observed("connections");
/// let lent = pool.acquire()?;
/// let status = pool.status();
/// assert_eq!((status.holders[0].slot, status.available), (lent.slot(), 1));
/// assert_eq!(status.holders[0].site.file(), file!());
/// assert_eq!(pool.statistics().made, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Managed<M: Manager> {
    pool: Arc<crate::pool::Managed<M>>,
    slots: Slots,
}

impl<M: Manager> crate::pool::Managed<M> {
    /// Makes the pool observable, so that it can report its [status](Managed::status). See
    /// [`Slots::observed`](crate::Slots::observed). Configure the pool before this call.
    #[must_use]
    pub fn observed(self, name: impl Into<Cow<'static, str>>) -> Managed<M> {
        let slots = Slots::of(Arc::clone(self.slots()), name.into());
        Managed { pool: Arc::new(self), slots }
    }
}

type Told<T, M> = Result<T, ManagedError<<M as Manager>::Error>>;

/// A place for which the manager checks or makes a value. If that fails, the place goes back, or
/// goes for good if the pool has shrunk.
struct Place<'a, M: Manager, S: Deref<Target = crate::Slots>, B: Deref<Target = Book>> {
    held: Option<Held<Permit<S, Numbered>, B>>,
    pool: &'a crate::pool::Managed<M>,
}

impl<'a, M: Manager, S: Deref<Target = crate::Slots>, B: Deref<Target = Book>> Place<'a, M, S, B> {
    /// Returns `None` if the place had to go.
    fn of(held: Held<Permit<S, Numbered>, B>, pool: &'a crate::pool::Managed<M>) -> Option<Self> {
        let mut place = Self { held: Some(held), pool };
        (!place.goes_if_it_must()).then_some(place)
    }

    fn goes_if_it_must(&mut self) -> bool {
        let must_go = self.held.is_some() && self.pool.must_go();
        if must_go {
            // The record goes before the place does.
            self.held.take().into_iter().for_each(Held::forget);
            self.pool.has_gone();
        }
        must_go
    }

    fn lends<L>(mut self, lend: impl FnOnce(Permit<S, Numbered>) -> L) -> Held<L, B> {
        self.held.take().expect("it has not gone").lends(lend)
    }
}

impl<M: Manager, S: Deref<Target = crate::Slots>, B: Deref<Target = Book>> Drop for Place<'_, M, S, B> {
    fn drop(&mut self) {
        self.goes_if_it_must();
    }
}

/// Asks again while the places that it gets have to go.
macro_rules! admitted {
    ($pool:expr, $acquired:expr) => {
        loop {
            if let Some(place) = Place::of($acquired?, &*$pool) {
                break place;
            }
        }
    };
}

/// The methods for threads: those of the slots, with a value.
macro_rules! ways_in {
    ($($borrowed:ident, $owned:ident($($argument:ident: $type:ty)?);)*) => {
        impl<M: Make> Managed<M> {
            $(
                #[doc = concat!("See [`", stringify!($borrowed), "`](crate::pool::Managed::", stringify!($borrowed), ").")]
                ///
                /// # Errors
                /// The same.
                #[track_caller]
                pub fn $borrowed(&self, $($argument: $type)?) -> Told<Leased<'_, M>, M> {
                    let place = admitted!(self.pool, self.slots.$borrowed($($argument)?));
                    let kept = self.pool.value()?;
                    Ok(place.lends(|permit| self.pool.lease(permit, kept)))
                }

                #[doc = concat!("See [`", stringify!($owned), "`](crate::pool::Managed::", stringify!($owned), ").")]
                ///
                /// # Errors
                /// The same.
                #[track_caller]
                pub fn $owned(&self, $($argument: $type)?) -> Told<OwnedLeased<M>, M> {
                    let place = admitted!(self.pool, self.slots.$owned($($argument)?));
                    let kept = self.pool.value()?;
                    Ok(place.lends(|permit| self.pool.lease_owned(permit, kept)))
                }
            )*
        }
    };
}

ways_in! {
    acquire, acquire_owned();
    try_acquire, try_acquire_owned();
    acquire_deadline, acquire_deadline_owned(deadline: Instant);
}

impl<M: Make> Managed<M> {
    /// See [`acquire_timeout`](crate::pool::Managed::acquire_timeout).
    ///
    /// # Errors
    /// The same.
    #[track_caller]
    pub fn acquire_timeout(&self, timeout: Duration) -> Told<Leased<'_, M>, M> {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.acquire_deadline(deadline),
            None => self.acquire(), // beyond the end of time
        }
    }

    /// See [`acquire_timeout_owned`](crate::pool::Managed::acquire_timeout_owned).
    ///
    /// # Errors
    /// The same.
    #[track_caller]
    pub fn acquire_timeout_owned(&self, timeout: Duration) -> Told<OwnedLeased<M>, M> {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.acquire_deadline_owned(deadline),
            None => self.acquire_owned(),
        }
    }

    /// See [`fill`](crate::pool::Managed::fill).
    ///
    /// # Errors
    /// The same.
    pub fn fill(&self, values: usize) -> Told<usize, M> {
        self.pool.fill(values)
    }
}

impl<M: MakeAsync> Managed<M> {
    /// See [`acquire_async`](crate::pool::Managed::acquire_async).
    ///
    /// # Errors
    /// The same.
    #[track_caller]
    pub fn acquire_async(&self) -> impl Future<Output = Told<Leased<'_, M>, M>> {
        let site = Location::caller();
        let asks = move || -> Acquire<'_> { Asks::new(&*self.slots.book, site, self.slots.slots.acquire_async()) };
        async move {
            let place = admitted!(self.pool, asks().await);
            let kept = self.pool.value_async().await?;
            Ok(place.lends(|permit| self.pool.lease(permit, kept)))
        }
    }

    /// See [`acquire_owned_async`](crate::pool::Managed::acquire_owned_async).
    ///
    /// # Errors
    /// The same.
    #[track_caller]
    pub fn acquire_owned_async(&self) -> impl Future<Output = Told<OwnedLeased<M>, M>> + use<M> {
        let (pool, slots, site) = (Arc::clone(&self.pool), self.slots.clone(), Location::caller());
        let asks =
            move || -> AcquireOwned { Asks::new(Arc::clone(&slots.book), site, slots.slots.acquire_owned_async()) };
        async move {
            let place = admitted!(pool, asks().await);
            let kept = pool.value_async().await?;
            Ok(place.lends(|permit| pool.lease_owned(permit, kept)))
        }
    }

    /// See [`fill_async`](crate::pool::Managed::fill_async).
    ///
    /// # Errors
    /// The same.
    pub async fn fill_async(&self, values: usize) -> Told<usize, M> {
        self.pool.fill_async(values).await
    }
}

impl<M: Manager> Managed<M> {
    /// Takes a status: its holders and its waiters. A value that is lent counts as a place that is
    /// held.
    #[must_use]
    pub fn status(&self) -> Status {
        self.slots.status()
    }

    /// See [`statistics`](crate::pool::Managed::statistics): what became of the values.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.pool.statistics()
    }

    /// The name of this pool.
    #[must_use]
    pub fn name(&self) -> &str {
        self.slots.name()
    }

    /// See [`manager`](crate::pool::Managed::manager).
    #[must_use]
    pub fn manager(&self) -> &M {
        self.pool.manager()
    }

    /// See [`places`](crate::pool::Managed::places). While a pool shrinks, its status has more.
    #[must_use]
    pub fn places(&self) -> usize {
        self.pool.places()
    }

    /// See [`resize`](crate::pool::Managed::resize).
    ///
    /// # Errors
    /// The same.
    pub fn resize(&self, places: usize) -> Result<(), TooMany> {
        self.pool.resize(places)
    }

    /// See [`close`](crate::pool::Managed::close).
    pub fn close(&self) {
        self.slots.close();
        self.pool.close();
    }

    /// See [`is_closed`](crate::pool::Managed::is_closed).
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.pool.is_closed()
    }

    /// See [`drain`](crate::pool::Managed::drain).
    ///
    /// # Errors
    /// The same.
    pub fn drain(&self) -> Result<(), Closed> {
        self.pool.drain()
    }

    /// See [`drain_async`](crate::pool::Managed::drain_async).
    ///
    /// # Errors
    /// The same.
    pub async fn drain_async(&self) -> Result<(), Closed> {
        self.pool.drain_async().await
    }

    /// See [`retain`](crate::pool::Managed::retain).
    pub fn retain(&self, keep: impl FnMut(&mut M::Value, &Usage) -> bool) -> usize {
        self.pool.retain(keep)
    }

    /// See [`drop_expired`](crate::pool::Managed::drop_expired).
    pub fn drop_expired(&self) -> usize {
        self.pool.drop_expired()
    }
}

impl<M: Manager> Clone for Managed<M> {
    fn clone(&self) -> Self {
        Self { pool: Arc::clone(&self.pool), slots: self.slots.clone() }
    }
}

impl<M: Manager> fmt::Debug for Managed<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Managed").field("pool", &self.pool).field("slots", &self.slots).finish()
    }
}
