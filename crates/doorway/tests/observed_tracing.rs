//! What observed slots tell subscribers of `tracing`.

mod slots_kit;

use doorway::Slots;
use slots_kit::block_on;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber, subscriber};

/// A span or an event: its level, its name or message, its parent span, and its fields.
#[derive(Clone, PartialEq, Debug)]
struct Told {
    level: Level,
    what: String,
    within: Option<u64>,
    fields: BTreeMap<&'static str, String>,
}

/// A subscriber that remembers what it is told.
#[derive(Default)]
struct Remembers {
    ids: AtomicU64,
    entered: Mutex<Vec<u64>>,
    spans: Mutex<BTreeMap<u64, Told>>,
    events: Mutex<Vec<Told>>,
    /// The message that makes it panic.
    panics_at: Option<&'static str>,
}

struct Fields<'a>(&'a mut Told);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.0.what = format!("{value:?}");
        } else {
            self.0.fields.insert(field.name(), format!("{value:?}"));
        }
    }
}

impl Remembers {
    fn told(&self, metadata: &Metadata<'_>, record: impl FnOnce(&mut Fields<'_>)) -> Told {
        let within = self.entered.lock().unwrap().last().copied();
        let mut told =
            Told { level: *metadata.level(), what: metadata.name().to_owned(), within, fields: BTreeMap::new() };
        record(&mut Fields(&mut told));
        told
    }
}

impl Subscriber for Remembers {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "doorway"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let id = self.ids.fetch_add(1, SeqCst) + 1;
        let told = self.told(span.metadata(), |fields| span.record(fields));
        self.spans.lock().unwrap().insert(id, told);
        Id::from_u64(id)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        values.record(&mut Fields(self.spans.lock().unwrap().get_mut(&span.into_u64()).unwrap()));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let told = self.told(event.metadata(), |fields| event.record(fields));
        let panics = self.panics_at.is_some_and(|what| what == told.what);
        self.events.lock().unwrap().push(told);
        assert!(!panics, "a subscriber that panics");
    }

    fn enter(&self, span: &Id) {
        self.entered.lock().unwrap().push(span.into_u64());
    }

    fn exit(&self, span: &Id) {
        assert_eq!(self.entered.lock().unwrap().pop(), Some(span.into_u64()));
    }
}

fn poll_once<F: Future + Unpin>(future: &mut F) -> bool {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

fn messages(told: &Remembers) -> Vec<(Level, String)> {
    told.events.lock().unwrap().iter().map(|event| (event.level, event.what.clone())).collect()
}

#[test]
fn waits_timeouts_and_closing_are_told() {
    let told = Arc::new(Remembers::default());
    let fence = subscriber::with_default(Arc::clone(&told), || {
        let slots = Slots::new(1).unwrap().observed("gpus");
        let guard = slots.acquire().unwrap();
        assert!(slots.try_acquire().is_err());
        assert!(slots.acquire_timeout(Duration::from_millis(1)).is_err());
        let (mut waits, mut cancelled) = (slots.acquire_async(), slots.acquire_async());
        assert!(!poll_once(&mut waits) && !poll_once(&mut cancelled));
        drop(cancelled);
        drop(guard);
        let guard = block_on(waits).unwrap();
        slots.close();
        assert!(slots.acquire().is_err());
        guard.fence()
    });
    let expected = [
        (Level::TRACE, "granted"),
        (Level::TRACE, "no place"),
        (Level::INFO, "timed out"),
        (Level::DEBUG, "cancelled"),
        (Level::TRACE, "left"),
        (Level::DEBUG, "granted"),
        (Level::INFO, "closed"),
        (Level::DEBUG, "refused"),
        (Level::TRACE, "left"),
    ];
    assert_eq!(messages(&told), expected.map(|(level, what)| (level, what.to_owned())));
    let (spans, events) = (told.spans.lock().unwrap(), told.events.lock().unwrap());
    assert!(events.iter().all(|event| event.fields["slots"] == "\"gpus\""));

    // One span for each caller that waited, with its outcome.
    let outcomes: Vec<_> = spans.values().map(|span| (span.level, &*span.what, &*span.fields["outcome"])).collect();
    let wait = |outcome| (Level::DEBUG, "wait", outcome);
    assert_eq!(outcomes, [wait("\"timed out\""), wait("\"granted\""), wait("\"cancelled\"")]);
    assert!(spans.values().all(|span| span.fields["site"].contains(file!())));
    let (id, granted) = spans.iter().nth(1).unwrap();
    assert_eq!((&*granted.fields["slot"], &*granted.fields["fence"]), ("0", &*fence.to_string()));
    let event = events.iter().find(|event| event.what == "granted" && event.level == Level::DEBUG).unwrap();
    assert_eq!((event.within, &event.fields["waited_seconds"]), (Some(*id), &granted.fields["waited_seconds"]));
    let timed_out = spans.values().next().unwrap().fields["waited_seconds"].parse::<f64>().unwrap();
    assert!(timed_out >= 0.001, "it waited {timed_out} s");
}

/// A subscriber that panics loses no place, and the figures stay correct.
#[test]
fn a_subscriber_that_panics_loses_nothing() {
    for what in ["granted", "left", "timed out", "refused", "no place", "cancelled", "closed"] {
        let told = Remembers { panics_at: Some(what), ..Remembers::default() };
        let slots = Slots::new(1).unwrap().observed("gpus");
        subscriber::with_default(told, || {
            let panics = Cell::new(0);
            let call = |one: &dyn Fn()| {
                let panicked = catch_unwind(AssertUnwindSafe(one)).is_err();
                panics.set(panics.get() + u32::from(panicked));
            };
            call(&|| drop(slots.acquire()));
            call(&|| {
                let guard = slots.acquire();
                assert!(slots.try_acquire().is_err());
                drop(guard);
            });
            call(&|| {
                let guard = slots.acquire();
                assert!(slots.acquire_timeout(Duration::ZERO).is_err());
                drop(guard);
            });
            call(&|| {
                let guard = slots.acquire();
                let mut waits = slots.acquire_async();
                assert!(!poll_once(&mut waits));
                drop(waits);
                drop(guard);
            });
            call(&|| drop(slots.acquire_many(2)));
            assert!(panics.get() > 0 || what == "closed", "{what} was not told");
            let status = slots.status();
            assert_eq!((status.available, status.holders.len(), status.waiters), (1, 0, 0), "{what}: {status:?}");
            assert_eq!(status.granted, status.holds.count(), "{what}");
            call(&|| slots.close());
            assert!(slots.is_closed());
            assert_eq!(slots.status().refused, 1);
        });
    }
}
