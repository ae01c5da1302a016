//! Observed pools.

use super::{Lent, OwnedLent, Slots, Status};
use crate::Closed;
use crate::slots::{AcquireTimeoutError, TryAcquireError};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An observed [`Pool`](crate::Pool). This is a handle: clones refer to the same pool.
///
/// # Examples
/// ```
/// let devices = doorway::Pool::new(["left", "right"])?.observed("devices");
/// let lent = devices.acquire()?;
/// let status = devices.status();
/// assert_eq!((status.holders[0].slot, status.available), (lent.slot(), 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Pool<T> {
    pool: Arc<crate::Pool<T>>,
    slots: Slots,
}

impl<T> crate::Pool<T> {
    /// Makes the pool observable, so that it can report its [status](Pool::status). See
    /// [`Slots::observed`](crate::Slots::observed).
    #[must_use]
    pub fn observed(self, name: impl Into<Cow<'static, str>>) -> Pool<T> {
        let slots = Slots::of(Arc::clone(self.slots()), name.into());
        Pool { pool: Arc::new(self), slots }
    }
}

/// The methods for threads: those of the slots, with the value of the slot.
macro_rules! ways_in {
    ($($borrowed:ident$(, $owned:ident)?($($argument:ident: $type:ty)?) -> $error:ty;)*) => {
        impl<T> Pool<T> {
            $(
                #[doc = concat!("See [`", stringify!($borrowed), "`](crate::Pool::", stringify!($borrowed), ").")]
                ///
                /// # Errors
                /// The same.
                #[track_caller]
                pub fn $borrowed(&self, $($argument: $type)?) -> Result<Lent<'_, T>, $error> {
                    Ok(self.slots.$borrowed($($argument)?)?.lends(|permit| self.pool.lend(permit)))
                }

                $(
                    #[doc = concat!("See [`", stringify!($owned), "`](crate::Pool::", stringify!($owned), ").")]
                    ///
                    /// # Errors
                    /// The same.
                    #[track_caller]
                    pub fn $owned(&self) -> Result<OwnedLent<T>, $error> {
                        Ok(self.slots.$owned()?.lends(|permit| self.pool.lend_owned(permit)))
                    }
                )?
            )*
        }
    };
}

ways_in! {
    acquire, acquire_owned() -> Closed;
    try_acquire, try_acquire_owned() -> TryAcquireError;
    acquire_timeout(timeout: Duration) -> AcquireTimeoutError;
    acquire_deadline(deadline: Instant) -> AcquireTimeoutError;
}

impl<T> Pool<T> {
    /// See [`acquire_async`](crate::Pool::acquire_async).
    ///
    /// # Errors
    /// The same as for [`acquire_async`](crate::Pool::acquire_async).
    #[track_caller]
    pub fn acquire_async(&self) -> impl Future<Output = Result<Lent<'_, T>, Closed>> {
        let asks = self.slots.acquire_async();
        async { Ok(asks.await?.lends(|permit| self.pool.lend(permit))) }
    }

    /// See [`acquire_owned_async`](crate::Pool::acquire_owned_async).
    ///
    /// # Errors
    /// The same as for [`acquire_owned_async`](crate::Pool::acquire_owned_async).
    #[track_caller]
    pub fn acquire_owned_async(&self) -> impl Future<Output = Result<OwnedLent<T>, Closed>> + use<T> {
        let (asks, pool) = (self.slots.acquire_owned_async(), Arc::clone(&self.pool));
        async move { Ok(asks.await?.lends(|permit| pool.lend_owned(permit))) }
    }

    /// Takes a status. A value that is lent counts as a place that is held.
    #[must_use]
    pub fn status(&self) -> Status {
        self.slots.status()
    }

    /// The name of this pool.
    #[must_use]
    pub fn name(&self) -> &str {
        self.slots.name()
    }

    /// See [`places`](crate::Pool::places).
    #[must_use]
    pub fn places(&self) -> usize {
        self.slots.places()
    }

    /// See [`available`](crate::Pool::available).
    #[must_use]
    pub fn available(&self) -> usize {
        self.slots.available()
    }

    /// See [`close`](crate::Pool::close).
    pub fn close(&self) {
        self.slots.close();
    }

    /// See [`is_closed`](crate::Pool::is_closed).
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.slots.is_closed()
    }

    /// See [`add`](crate::Pool::add).
    ///
    /// # Errors
    /// The same as for [`add`](crate::Pool::add).
    pub fn add(&self, value: T) -> Result<(), T> {
        self.pool.add(value)
    }

    /// See [`drain`](crate::Pool::drain). The values that it takes out do not count as lent.
    pub fn drain(&self) -> Vec<T> {
        self.pool.drain()
    }

    /// See [`drain_async`](crate::Pool::drain_async).
    pub async fn drain_async(&self) -> Vec<T> {
        self.pool.drain_async().await
    }
}

impl<T> Clone for Pool<T> {
    fn clone(&self) -> Self {
        Self { pool: Arc::clone(&self.pool), slots: self.slots.clone() }
    }
}

impl<T> fmt::Debug for Pool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("pool", &self.pool).field("slots", &self.slots).finish()
    }
}
