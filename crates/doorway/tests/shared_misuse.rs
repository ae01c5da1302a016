//! Slots between processes whose users do what nobody expects: futures that are dropped at the
//! worst moment, wakers that drop or poll what they wake, files that are damaged and removed.
#![cfg(target_os = "linux")]

mod shared_kit;

use doorway::shared::{Builder, Error, Previous, Slots};
use shared_kit::Place;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// Long enough for anything that ends at all.
const LONG: Duration = Duration::from_secs(30);

/// A task that keeps itself: whoever wakes it runs `woken` with it, at once.
struct Task {
    future: Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>,
    woken: fn(&Arc<Task>),
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        (self.woken)(&self);
    }
}

impl Task {
    fn new(woken: fn(&Arc<Task>), future: impl Future<Output = ()> + Send + 'static) -> Arc<Self> {
        Arc::new(Self { future: Mutex::new(Some(Box::pin(future))), woken })
    }

    /// Polls it; what is done is dropped.
    fn poll(self: &Arc<Self>) {
        let taken = self.future.lock().unwrap().take();
        let Some(mut future) = taken else { return };
        if future.as_mut().poll(&mut Context::from_waker(&Waker::from(Arc::clone(self)))).is_pending() {
            *self.future.lock().unwrap() = Some(future);
        }
    }

    /// As an executor does that has ended.
    fn cancel(self: &Arc<Self>) {
        let taken = self.future.lock().unwrap().take();
        drop(taken);
    }
}

/// Runs something in a thread of its own, which may never end.
fn ends(run: impl FnOnce() + Send + 'static) {
    let (tell, told) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        run();
        let _ = tell.send(());
    });
    if told.recv_timeout(LONG) == Err(mpsc::RecvTimeoutError::Timeout) {
        panic!("it never ends");
    }
    thread.join().unwrap();
}

#[test]
fn a_death_is_told_though_a_task_that_was_offered_the_slot_is_dropped() {
    let place = Place::new("declined");
    let slots = Slots::open(place.file(), 1).unwrap();
    let dies = Slots::open(place.file(), 1).unwrap();
    std::mem::forget(dies.acquire().unwrap());
    {
        let mut task = pin!(slots.acquire_async());
        assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        drop(dies);
        slots.status().unwrap();
        let status = slots.status().unwrap();
        assert_eq!((status.waiters.len(), status.waiters[0].offered), (1, Some(0)), "{status:?}");
    }
    let next = slots.try_acquire().unwrap();
    assert!(matches!(next.previous(), Previous::Died(_)), "{:?}", next.previous());
}
