//! What tests of [`Slots`] have in common.

#![allow(dead_code)] // each test crate uses some of it

use doorway::Slots;
use doorway::slots::Numbering;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The smallest executor: one task, one thread.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(out) => return out,
            Poll::Pending => thread::park(),
        }
    }
}

/// A waker that counts, and may have a thread to wake.
#[derive(Default)]
pub(crate) struct Bell {
    rings: AtomicUsize,
    thread: Option<Thread>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.rings.fetch_add(1, SeqCst);
        if let Some(thread) = &self.thread {
            thread.unpark();
        }
    }
}

impl Bell {
    /// One that unparks this thread.
    pub(crate) fn of(thread: Thread) -> Self {
        Self { thread: Some(thread), ..Self::default() }
    }

    /// As if it had been woken.
    pub(crate) fn rings_once(&self) {
        self.rings.store(1, SeqCst);
    }

    /// How often it rang.
    pub(crate) fn rings(&self) -> usize {
        self.rings.load(SeqCst)
    }

    /// The same, and it begins anew.
    pub(crate) fn takes(&self) -> usize {
        self.rings.swap(0, SeqCst)
    }
}

/// What `Debug` says.
pub(crate) struct Look {
    pub(crate) waiting: u64,
    /// Whether more wait than fit the line.
    pub(crate) camping: bool,
}

pub(crate) fn look<N: Numbering>(slots: &Slots<N>) -> Look {
    let text = format!("{slots:?}");
    let (_, rest) = text.split_once("waiting: ").unwrap();
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap();
    Look { waiting: rest[..digits].parse().unwrap(), camping: text.contains("in_front_of_the_line: true") }
}

/// Waits until the slots are so.
pub(crate) fn until<N: Numbering>(slots: &Slots<N>, so: impl Fn(&Slots<N>) -> bool) {
    while !so(slots) {
        thread::yield_now();
    }
}
