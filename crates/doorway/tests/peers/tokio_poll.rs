//! After `tokio-util/tests/poll_semaphore.rs` of tokio.

use crate::Task;
use doorway::slots::PollSlots;
use doorway::{AcquireError, Closed, Slots};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

fn shared(places: usize) -> (Arc<Slots>, PollSlots) {
    let slots = Arc::new(Slots::new(places).unwrap());
    (Arc::clone(&slots), PollSlots::new(slots))
}

#[test]
fn it_works() {
    let (slots, mut asks) = shared(1);
    let held = slots.acquire().unwrap();
    let mut task = Task::new(poll_fn(|context| asks.poll_acquire(context)));
    task.waits();
    drop(held);
    assert!(task.is_woken());
    assert_eq!(task.ends().unwrap().slot(), 0);
    drop(task);

    slots.close();
    for _ in 0..3 {
        assert_eq!(Task::new(poll_fn(|context| asks.poll_acquire(context))).ends().unwrap_err(), Closed);
    }
}

#[test]
fn can_acquire_many_permits() {
    let (slots, mut asks) = shared(4);
    let one = Task::new(poll_fn(|context| asks.poll_acquire(context))).ends().unwrap();
    let two = Task::new(poll_fn(|context| asks.poll_acquire_many(context, 2))).ends().unwrap();
    assert_eq!(slots.available(), 1);
    drop(two);
    let mut all = Task::new(poll_fn(|context| asks.poll_acquire_many(context, 4)));
    all.waits();
    drop(one);
    assert!(all.is_woken());
    assert_eq!((all.ends().unwrap().places(), slots.available()), (4, 0));
}

/// Theirs waits for five of four permits. Ours reports at once that there are too few.
#[test]
fn differs_can_poll_different_amounts_of_permits() {
    let (slots, mut asks) = shared(4);
    let mut context = Context::from_waker(Waker::noop());
    let Poll::Ready(Err(AcquireError::TooMany(why))) = asks.poll_acquire_many(&mut context, 5) else {
        panic!("there are too few places")
    };
    assert_eq!((why.asked, why.most, asks.is_waiting()), (5, 4, false));

    let held = slots.acquire_many(4).unwrap();
    assert!(asks.poll_acquire_many(&mut context, 3).is_pending());
    let mut other = asks.clone();
    assert!(!other.is_waiting());
    assert!(other.poll_acquire(&mut context).is_pending());
    // Another number is a new request, at the end of the line.
    assert!(asks.poll_acquire_many(&mut context, 4).is_pending());
    drop(held);
    assert!(asks.poll_acquire_many(&mut context, 4).is_pending());
    let Poll::Ready(Ok(one)) = other.poll_acquire(&mut context) else { panic!("it was first") };
    assert!(asks.poll_acquire_many(&mut context, 4).is_pending());
    drop(one);
    assert!(asks.poll_acquire_many(&mut context, 4).is_ready());
}

#[test]
fn a_request_that_is_given_up_holds_nothing() {
    let (slots, mut asks) = shared(1);
    let mut context = Context::from_waker(Waker::noop());
    for gives_up in [PollSlots::give_up as fn(&mut PollSlots), |asks| *asks = asks.clone()] {
        let held = slots.acquire().unwrap();
        assert!(asks.poll_acquire(&mut context).is_pending() && asks.is_waiting());
        drop(held);
        assert_eq!(slots.available(), 0); // it is its turn
        gives_up(&mut asks);
        assert_eq!((slots.available(), asks.is_waiting()), (1, false));
    }
    assert!(Arc::ptr_eq(asks.slots(), &slots));
    assert!(format!("{asks:?}").contains("waits: false"));
}
