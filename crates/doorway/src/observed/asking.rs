//! Acquiring places as a thread or as a task: these call the plain object and record what happened.

use super::book::{Book, By, Outcome};
use super::guard::Held;
use super::status::Site;
use super::trace::{self, Wait};
use crate::slots::{AcquireError, AcquireTimeoutError, KnowsSlots, Numbered, Permit, Slots, TryAcquireError};
use crate::{Closed, OwnedSlotGuard, SlotGuard};
use std::fmt;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;
use std::time::Instant;

/// A caller that asks for places. If this is dropped while the caller waits, the caller was
/// cancelled.
struct Asking<B: Deref<Target = Book>> {
    book: B,
    site: Site,
    waits: Option<((u64, Instant), Wait)>,
}

impl<B: Deref<Target = Book> + Clone> Asking<B> {
    fn new(book: B, site: Site) -> Self {
        Self { book, site, waits: None }
    }

    /// Records that the caller waits from now on, unless that is recorded already.
    fn waits(&mut self) -> &Wait {
        let (_, wait) = self.waits.get_or_insert_with(|| {
            let wait = Wait::new(self.book.name(), self.site);
            (self.book.waits(self.site), wait)
        });
        wait
    }

    fn told<S, N, E>(&mut self, told: Result<Permit<S, N>, E>, by: &By) -> Result<Held<Permit<S, N>, B>, E>
    where
        S: Deref<Target = Slots<N>>,
        N: KnowsSlots,
        E: Refusal,
    {
        let why = told.as_ref().err().map(Refusal::outcome);
        let waits = self.waits.take();
        let waited = waits.map(|(noted, wait)| (self.book.waits_no_more(self.site, noted, why), wait));
        match told {
            Ok(permit) => {
                let held = Held::new(permit, self.book.clone(), self.site, by, waited.is_none());
                trace::granted(self.book.name(), held.slot(), held.fence(), waited);
                Ok(held)
            }
            Err(error) => {
                let why = error.outcome();
                if waited.is_none() {
                    self.book.turned_away(why);
                }
                trace::turned_away(self.book.name(), why, waited);
                Err(error)
            }
        }
    }
}

impl<B: Deref<Target = Book>> Drop for Asking<B> {
    fn drop(&mut self) {
        if let Some((noted, wait)) = self.waits.take() {
            let waited = self.book.waits_no_more(self.site, noted, Some(Outcome::Cancelled));
            trace::turned_away(self.book.name(), Outcome::Cancelled, Some((waited, wait)));
        }
    }
}

/// Asks on behalf of a thread. It tries first, to find out whether it has to wait.
pub(super) fn ask<S, N, E, B>(
    book: B,
    site: Site,
    at_once: impl FnOnce() -> Result<Permit<S, N>, TryAcquireError>,
    wait: impl FnOnce() -> Result<Permit<S, N>, E>,
) -> Result<Held<Permit<S, N>, B>, E>
where
    S: Deref<Target = Slots<N>>,
    N: KnowsSlots,
    E: Refusal,
    B: Deref<Target = Book> + Clone,
{
    let mut asking = Asking::new(book, site);
    let told = match at_once().map_err(E::at_once) {
        Ok(permit) => Ok(permit),
        Err(Some(why)) => Err(why),
        Err(None) => asking.waits().during(wait),
    };
    asking.told(told, &By::Thread(thread::current()))
}

/// Why a caller gets no place.
pub(super) trait Refusal: Sized {
    /// The reason with which a first try failed for good. `None` if the caller would now wait.
    fn at_once(why: TryAcquireError) -> Option<Self>;
    fn outcome(&self) -> Outcome;
}

impl Refusal for TryAcquireError {
    fn at_once(why: TryAcquireError) -> Option<Self> {
        Some(why)
    }

    fn outcome(&self) -> Outcome {
        if *self == Self::NoPlace { Outcome::NoPlace } else { Outcome::Refused }
    }
}

impl Refusal for Closed {
    fn at_once(why: TryAcquireError) -> Option<Self> {
        (why == TryAcquireError::Closed).then_some(Self)
    }

    fn outcome(&self) -> Outcome {
        Outcome::Refused
    }
}

impl Refusal for AcquireError {
    fn at_once(why: TryAcquireError) -> Option<Self> {
        match why {
            TryAcquireError::NoPlace => None,
            TryAcquireError::Closed => Some(Self::Closed),
            TryAcquireError::TooMany(too_many) => Some(Self::TooMany(too_many)),
            TryAcquireError::Nothing => Some(Self::Nothing),
        }
    }

    fn outcome(&self) -> Outcome {
        Outcome::Refused
    }
}

impl Refusal for AcquireTimeoutError {
    fn at_once(why: TryAcquireError) -> Option<Self> {
        Some(match AcquireError::at_once(why)? {
            AcquireError::Closed => Self::Closed,
            AcquireError::TooMany(too_many) => Self::TooMany(too_many),
            AcquireError::Nothing => Self::Nothing,
        })
    }

    fn outcome(&self) -> Outcome {
        if *self == Self::TimedOut { Outcome::TimedOut } else { Outcome::Refused }
    }
}

/// A task that asks for places: the future of the async methods of observed objects.
///
/// # Cancel safety
/// Cancel safe. Dropping the future gives up at any point, and loses no place. If the task waited,
/// it counts as [cancelled](super::Status::cancelled).
///
/// # Panics
/// Panics if it is polled again after it was ready.
#[must_use = "futures do nothing unless polled"]
pub struct Asks<F, B: Deref<Target = Book>> {
    // `asking` is declared first: its record goes before the future does, so a caller that is shown
    // as waiting does wait.
    asking: Asking<B>,
    future: F,
}

impl<F, B: Deref<Target = Book> + Clone> Asks<F, B> {
    pub(super) fn new(book: B, site: Site, future: F) -> Self {
        Self { asking: Asking::new(book, site), future }
    }
}

impl<F, S, N, E, B> Future for Asks<F, B>
where
    F: Future<Output = Result<Permit<S, N>, E>> + Unpin,
    S: Deref<Target = Slots<N>>,
    N: KnowsSlots,
    E: Refusal,
    B: Deref<Target = Book> + Clone + Unpin,
{
    type Output = Result<Held<Permit<S, N>, B>, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { asking, future } = self.get_mut();
        let mut poll = || Pin::new(&mut *future).poll(context);
        let told = match &asking.waits {
            Some((_, wait)) => wait.during(poll),
            None => poll(),
        };
        match told {
            Poll::Ready(told) => Poll::Ready(asking.told(told, &By::Task)),
            Poll::Pending => {
                asking.waits();
                Poll::Pending
            }
        }
    }
}

impl<F, B: Deref<Target = Book>> fmt::Debug for Asks<F, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Asking { site, waits, .. } = &self.asking;
        f.debug_struct("Asks").field("site", site).field("waits", &waits.is_some()).finish_non_exhaustive()
    }
}

/// Waits for a place.
pub type Acquire<'a, N = Numbered> = Asks<crate::Acquire<'a, N>, &'a Book>;
/// The same, with a guard that owns a reference.
pub type AcquireOwned<N = Numbered> = Asks<crate::AcquireOwned<N>, Arc<Book>>;
/// Waits for several places at once.
pub type AcquireMany<'a, N = Numbered> = Asks<crate::AcquireMany<'a, N>, &'a Book>;
/// The same, with a guard that owns a reference.
pub type AcquireManyOwned<N = Numbered> = Asks<crate::AcquireManyOwned<N>, Arc<Book>>;

const _: () = {
    const fn goes_anywhere<T: Send + Unpin>() {}
    goes_anywhere::<Acquire<'_>>();
    goes_anywhere::<AcquireManyOwned>();
    goes_anywhere::<Held<SlotGuard<'_>, &Book>>();
    goes_anywhere::<Held<OwnedSlotGuard, Arc<Book>>>();
};
