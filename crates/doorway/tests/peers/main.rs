//! Test cases of other libraries, applied to ours.
//!
//! Each module names the source of its cases. Only the facts carry over: the code is written anew,
//! in our names. Where our answer differs, the test is called `differs_…`, and
//! `docs/coming_from_tokio.md`, `docs/coming_from_async_lock.md` or `docs/pools.md` explains it.

mod async_lock;
mod async_lock_others;
mod deadpool_managed;
mod deadpool_unmanaged;
#[expect(dead_code, reason = "other test crates use the rest of it")]
#[path = "../task_kit/mod.rs"]
mod task_kit;
mod tokio_batch;
mod tokio_poll;
mod tokio_semaphore;

use doorway::Slots;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use task_kit::Bell;

/// Slots with this many places, possibly none, and room for `room`.
fn slots(places: usize, room: usize) -> Slots {
    let slots = Slots::new(places.max(1)).unwrap().room_for(room).unwrap();
    if places == 0 {
        assert_eq!(slots.forget(1), 1);
    }
    slots
}

/// A task that is polled by hand.
struct Task<F> {
    future: Pin<Box<F>>,
    bell: Arc<Bell>,
}

impl<F: Future> Task<F> {
    fn new(future: F) -> Self {
        Self { future: Box::pin(future), bell: Arc::default() }
    }

    fn poll(&mut self) -> Poll<F::Output> {
        self.bell.takes();
        self.future.as_mut().poll(&mut Context::from_waker(&Waker::from(Arc::clone(&self.bell))))
    }

    /// Whether it was woken since it was last polled.
    fn is_woken(&self) -> bool {
        self.bell.rings() > 0
    }

    /// Returns its output, which must be ready.
    fn ends(&mut self) -> F::Output {
        match self.poll() {
            Poll::Ready(out) => out,
            Poll::Pending => panic!("it should have ended"),
        }
    }

    fn waits(&mut self) {
        assert!(self.poll().is_pending(), "it should wait");
    }
}
