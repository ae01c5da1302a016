//! The spans and events for subscribers of `tracing`, with the feature of that name; nothing
//! without it.
//!
//! Each event is emitted after the record was written, and while a guard already has the place. So
//! a subscriber that panics loses no place, and the figures stay correct.

pub(super) use told::{Wait, closed, granted, left, turned_away};

#[cfg(feature = "tracing")]
mod told {
    use crate::observed::book::Outcome;
    use crate::observed::status::Site;
    use std::time::Duration;
    use tracing::field::Empty;
    use tracing::{Span, debug, debug_span, info, trace};

    /// The span of a wait. It contains what happens while a thread waits, or while a waiting task
    /// is polled.
    pub(in crate::observed) struct Wait(Span);

    impl Wait {
        pub(in crate::observed) fn new(slots: &str, site: Site) -> Self {
            Self(debug_span!(
                target: "doorway", "wait", slots, site = %site,
                slot = Empty, fence = Empty, waited_seconds = Empty, outcome = Empty
            ))
        }

        pub(in crate::observed) fn during<T>(&self, wait: impl FnOnce() -> T) -> T {
            self.0.in_scope(wait)
        }
    }

    pub(in crate::observed) fn granted(slots: &str, slot: usize, fence: u64, waited: Option<(Duration, Wait)>) {
        let Some((waited, Wait(span))) = waited else {
            trace!(target: "doorway", slots, slot, fence, waited_seconds = 0.0, "granted");
            return;
        };
        let waited_seconds = waited.as_secs_f64();
        span.record("slot", slot).record("fence", fence);
        span.record("waited_seconds", waited_seconds).record("outcome", "granted");
        span.in_scope(|| debug!(target: "doorway", slots, slot, fence, waited_seconds, "granted"));
    }

    pub(in crate::observed) fn turned_away(slots: &str, why: Outcome, waited: Option<(Duration, Wait)>) {
        let (waited_seconds, span) = match waited {
            Some((waited, Wait(span))) => (waited.as_secs_f64(), span),
            None => (0.0, Span::none()),
        };
        let outcome = match why {
            Outcome::TimedOut => "timed out",
            Outcome::Cancelled => "cancelled",
            Outcome::Refused => "refused",
            Outcome::NoPlace => "no place",
        };
        span.record("waited_seconds", waited_seconds).record("outcome", outcome);
        span.in_scope(|| match why {
            Outcome::TimedOut => info!(target: "doorway", slots, waited_seconds, "timed out"),
            Outcome::Cancelled => debug!(target: "doorway", slots, waited_seconds, "cancelled"),
            Outcome::Refused => debug!(target: "doorway", slots, waited_seconds, "refused"),
            Outcome::NoPlace => trace!(target: "doorway", slots, "no place"),
        });
    }

    pub(in crate::observed) fn left(slots: &str, slot: usize, held: Duration) {
        trace!(target: "doorway", slots, slot, held_seconds = held.as_secs_f64(), "left");
    }

    pub(in crate::observed) fn closed(slots: &str) {
        info!(target: "doorway", slots, "closed");
    }
}

#[cfg(not(feature = "tracing"))]
mod told {
    use crate::observed::book::Outcome;
    use crate::observed::status::Site;
    use std::time::Duration;

    pub(in crate::observed) struct Wait;

    impl Wait {
        pub(in crate::observed) fn new(_: &str, _: Site) -> Self {
            Self
        }

        pub(in crate::observed) fn during<T>(&self, wait: impl FnOnce() -> T) -> T {
            wait()
        }
    }

    pub(in crate::observed) fn granted(_: &str, _: usize, _: u64, _: Option<(Duration, Wait)>) {}
    pub(in crate::observed) fn turned_away(_: &str, _: Outcome, _: Option<(Duration, Wait)>) {}
    pub(in crate::observed) fn left(_: &str, _: usize, _: Duration) {}
    pub(in crate::observed) fn closed(_: &str) {}
}
