//! Keeps foreign code out of rooms: what wakes a task runs once the waking thread is outside.
//!
//! The last one out of a turn of a [`WorkStack`](super::WorkStack) changes a variable for which
//! tasks may wait, and it does so before another room can be opened. A waker that ran there, and
//! used the same stack, would wait for itself.

use crate::tools::thread_local;
use crate::waiting::contained;
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

/// Where a thread is.
const OUTSIDE: u8 = 0;
/// In the middle of a visit. A visit runs no foreign code, so there is only one at a time.
const INSIDE: u8 = 1;
/// The same, and there are tasks to wake afterwards.
const WAKES: u8 = 2;

thread_local! {
    static WHERE: Cell<u8> = const { Cell::new(OUTSIDE) };
}

thread_local! {
    /// The tasks to wake after the visit. It is never dropped, so that it can be used until the
    /// thread has ended. It owns no memory while it is empty.
    static LATER: Cell<ManuallyDrop<Vec<Arc<Outside>>>> = const { Cell::new(ManuallyDrop::new(Vec::new())) };
}

fn take_later() -> Vec<Arc<Outside>> {
    ManuallyDrop::into_inner(LATER.with(|later| later.replace(ManuallyDrop::new(Vec::new()))))
}

/// Runs a visit, and afterwards wakes the tasks that it would have woken.
#[inline(always)]
pub(super) fn visit<T>(visit: impl FnOnce() -> T) -> T {
    /// Ends the visit, even if it panics.
    struct Ends;

    impl Drop for Ends {
        #[inline(always)]
        fn drop(&mut self) {
            if WHERE.with(|place| place.replace(OUTSIDE)) == WAKES {
                wake_all();
            }
        }
    }

    WHERE.with(|place| place.set(INSIDE));
    let _ends = Ends;
    visit()
}

/// A waker may visit a stack itself, and wake others there.
#[cold]
fn wake_all() {
    take_later().into_iter().for_each(|task| {
        contained(|| {
            task.0.wake_by_ref();
            drop(task); // this may be the last owner of the waker, whose destructor may panic
        });
    });
}

/// Wakes a task, but not in the middle of a visit.
struct Outside(Waker);

impl Wake for Outside {
    fn wake(self: Arc<Self>) {
        if WHERE.with(Cell::get) == OUTSIDE {
            self.0.wake_by_ref();
        } else {
            let mut later = take_later();
            later.push(self); // not a clone of the waker: that would run foreign code here
            LATER.with(|all| all.set(ManuallyDrop::new(later)));
            WHERE.with(|place| place.set(WAKES));
        }
    }

    fn wake_by_ref(self: &Arc<Self>) {
        Arc::clone(self).wake();
    }
}

/// Waits as a task. The task is woken while the waking thread is outside.
pub(super) async fn wait<T>(wait: impl Future<Output = T>) -> T {
    let mut wait = pin!(wait);
    std::future::poll_fn(|context| {
        // A wait that is over needs no waker.
        if let Poll::Ready(told) = wait.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return Poll::Ready(told);
        }
        let waker = Waker::from(Arc::new(Outside(context.waker().clone())));
        wait.as_mut().poll(&mut Context::from_waker(&waker))
    })
    .await
}
