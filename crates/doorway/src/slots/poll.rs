//! [`PollSlots`]: acquires places by polling, for futures that are written by hand.

use super::{AcquireError, AcquireManyOwned, Numbered, Numbering, OwnedSlotGuard, Slots};
use crate::Closed;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Acquires places by polling: for `poll_ready` of a `tower` service, for streams, and for futures
/// that are written by hand.
///
/// It keeps the pending request between two polls. So a caller that polls again keeps its place in
/// line.
///
/// # Cancel safety
/// Cancel safe. Dropping this gives up exactly. [`give_up`](Self::give_up) does the same and keeps
/// the object.
///
/// If a request is in line but no longer polled, the place that it is granted is kept from all
/// other callers. Poll it to its end, give up, or drop it.
///
/// # Examples
/// ```
/// use doorway::Slots;
/// use doorway::slots::PollSlots;
/// use std::sync::Arc;
/// use std::task::{Context, Waker};
///
/// let slots = Arc::new(Slots::new(1)?);
/// let mut asks = PollSlots::new(Arc::clone(&slots));
/// let mut context = Context::from_waker(Waker::noop());
///
/// let held = slots.acquire()?;
/// assert!(asks.poll_acquire(&mut context).is_pending()); // it is in line now
/// drop(held);
/// assert!(slots.try_acquire().is_err()); // no caller passes it
/// assert!(asks.poll_acquire(&mut context).is_ready());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PollSlots<N: Numbering + 'static = Numbered> {
    slots: Arc<Slots<N>>,
    /// The number of places that it waits for, and the wait.
    asks: Option<(usize, AcquireManyOwned<N>)>,
}

impl<N: Numbering + 'static> PollSlots<N> {
    /// Makes a poller of these slots. It asks for nothing before the first poll.
    pub fn new(slots: Arc<Slots<N>>) -> Self {
        Self { slots, asks: None }
    }

    /// [`acquire`](Slots::acquire), by polling. The task that polled last is woken.
    ///
    /// # Errors
    /// Returns an error if the slots are closed. Each later poll returns it again.
    ///
    /// # Panics
    /// The same as for [`poll_acquire_many`](Self::poll_acquire_many).
    pub fn poll_acquire(&mut self, context: &mut Context<'_>) -> Poll<Result<OwnedSlotGuard<N>, Closed>> {
        self.poll_acquire_many(context, 1).map_err(super::future::closed)
    }

    /// [`acquire_many`](Slots::acquire_many), by polling. The task that polled last is woken.
    ///
    /// A request for another number of places is a new request: it gives up its place in line and
    /// starts at the end.
    ///
    /// # Errors
    /// The same as for [`acquire_many`](Slots::acquire_many). The next poll makes a new request.
    ///
    /// # Panics
    /// Panics if cloning the waker panics. Then this gives up the request, and the next poll makes
    /// a new one.
    pub fn poll_acquire_many(
        &mut self,
        context: &mut Context<'_>,
        places: usize,
    ) -> Poll<Result<OwnedSlotGuard<N>, AcquireError>> {
        let asked = self.asks.take().filter(|(asked, _)| *asked == places);
        let (_, mut asks) = asked.unwrap_or_else(|| (places, self.slots.acquire_many_owned_async(places)));
        // If a waker panics, the request is dropped here, and thereby given up: it could not be
        // polled again.
        let told = Pin::new(&mut asks).poll(context);
        if told.is_pending() {
            self.asks = Some((places, asks));
        }
        told
    }

    /// Gives up the place in line, if it has one. The next poll makes a new request.
    pub fn give_up(&mut self) {
        self.asks = None;
    }

    /// Whether the request is in line.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.asks.is_some()
    }

    /// The slots that it polls.
    #[must_use]
    pub fn slots(&self) -> &Arc<Slots<N>> {
        &self.slots
    }
}

/// The clone polls the same slots, and is not in line.
impl<N: Numbering + 'static> Clone for PollSlots<N> {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.slots))
    }
}

impl<N: Numbering + 'static> fmt::Debug for PollSlots<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PollSlots").field("slots", &self.slots).field("waits", &self.is_waiting()).finish()
    }
}
