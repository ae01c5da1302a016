//! What tests with tasks have in common: the smallest executor, and a waker that counts.

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
    /// A waker that unparks this thread.
    pub(crate) fn of(thread: Thread) -> Self {
        Self { thread: Some(thread), ..Self::default() }
    }

    /// Acts as if it had been woken.
    pub(crate) fn rings_once(&self) {
        self.rings.store(1, SeqCst);
    }

    /// How many times it rang.
    pub(crate) fn rings(&self) -> usize {
        self.rings.load(SeqCst)
    }

    /// How many times it rang; resets the count.
    pub(crate) fn takes(&self) -> usize {
        self.rings.swap(0, SeqCst)
    }
}
