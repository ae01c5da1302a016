//! Wakers of tasks that wait for places: they are woken, and not woken for ever.

use doorway::Slots;
use doorway::slots::PollSlots;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};

/// Counts how many times it was woken.
#[derive(Default)]
struct Counts(AtomicUsize);

impl Wake for Counts {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// A task that waits for several places is polled when the number of places changes, and goes on
/// waiting. It must not keep its executor in an endless poll.
#[test]
fn a_task_that_waits_for_several_places_waits_on_when_there_are_more_of_them() {
    let slots = Slots::new(2).unwrap();
    let _held = slots.acquire_many(2).unwrap();
    let counts = Arc::new(Counts::default());
    let waker = Waker::from(Arc::clone(&counts));
    let mut future = pin!(slots.acquire_many_async(2));
    assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    slots.add(1).unwrap();
    assert_eq!(counts.0.swap(0, SeqCst), 1, "the number of places has changed");
    assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    assert_eq!(counts.0.load(SeqCst), 0, "nothing has changed since");
    slots.add(1).unwrap();
    assert!(counts.0.load(SeqCst) > 0);
    assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready());
}

/// A waker that is borrowed from here, as an executor may have it on its stack. Its clones are
/// clones of `leads_to`.
struct Borrowed {
    leads_to: Waker,
}

impl Borrowed {
    fn waker(&self) -> ManuallyDrop<Waker> {
        let raw = RawWaker::new(std::ptr::from_ref(self).cast(), &BORROWED);
        // SAFETY: the functions of `BORROWED` treat the pointer as the type that it is made of
        // here. A `Waker` has no lifetime, but the tests do not use it for longer than the
        // reference.
        ManuallyDrop::new(unsafe { Waker::from_raw(raw) })
    }
}

static BORROWED: RawWakerVTable = RawWakerVTable::new(
    |place| {
        // SAFETY: see `Borrowed::waker`.
        let leads_to = unsafe { &*place.cast::<Borrowed>() }.leads_to.clone();
        let leads_to = ManuallyDrop::new(leads_to);
        RawWaker::new(leads_to.data(), leads_to.vtable())
    },
    |_| unreachable!("it is only borrowed"),
    // SAFETY: see `Borrowed::waker`.
    |place| unsafe { &*place.cast::<Borrowed>() }.leads_to.wake_by_ref(),
    |_| {},
);

/// A future may move from one task to another, and the wakers of both may be at the same address,
/// one after the other.
#[test]
fn a_task_is_woken_though_its_waker_lies_where_that_of_another_task_lay() {
    let slots = Slots::new(1).unwrap();
    let held = slots.acquire().unwrap();
    let [first, second] = [(); 2].map(|()| Arc::new(Counts::default()));
    let mut borrowed = Borrowed { leads_to: Waker::from(Arc::clone(&first)) };
    let mut future = pin!(slots.acquire_async());
    assert!(future.as_mut().poll(&mut Context::from_waker(&borrowed.waker())).is_pending());
    borrowed.leads_to = Waker::from(Arc::clone(&second));
    assert!(future.as_mut().poll(&mut Context::from_waker(&borrowed.waker())).is_pending());
    drop(held);
    assert_eq!((first.0.load(SeqCst), second.0.load(SeqCst)), (0, 1), "the task that polled it last is woken");
    assert!(future.as_mut().poll(&mut Context::from_waker(&borrowed.waker())).is_ready());
}

static CANNOT_BE_CLONED: RawWakerVTable =
    RawWakerVTable::new(|_| panic!("this waker cannot be cloned"), |_| {}, |_| {}, |_| {});

/// A request whose waker panicked is given up: no caller in line waits behind it, and the next poll
/// asks anew.
#[test]
fn a_request_whose_waker_panics_is_given_up() {
    // SAFETY: no function of `CANNOT_BE_CLONED` uses the pointer.
    let panics = unsafe { Waker::from_raw(RawWaker::new(std::ptr::null(), &CANNOT_BE_CLONED)) };
    for (places, polled_before) in [(1, false), (1, true), (2, false), (2, true)] {
        let slots = Arc::new(Slots::new(2).unwrap());
        let held = slots.acquire_many(2).unwrap();
        let mut asks = PollSlots::new(Arc::clone(&slots));
        if polled_before {
            assert!(asks.poll_acquire_many(&mut Context::from_waker(Waker::noop()), places).is_pending());
        }
        let polled = catch_unwind(AssertUnwindSafe(|| {
            asks.poll_acquire_many(&mut Context::from_waker(&panics), places).is_pending()
        }));
        assert!(polled.is_err());
        assert!(!asks.is_waiting());
        // It is the last in line now.
        let mut other = pin!(slots.acquire_async());
        let counts = Arc::new(Counts::default());
        let waker = Waker::from(Arc::clone(&counts));
        assert!(other.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        assert!(asks.poll_acquire_many(&mut Context::from_waker(&waker), places).is_pending());
        drop(held);
        let Poll::Ready(first) = other.as_mut().poll(&mut Context::from_waker(&waker)) else {
            panic!("{places} places, polled before: {polled_before}")
        };
        drop(first.unwrap());
        let Poll::Ready(second) = asks.poll_acquire_many(&mut Context::from_waker(&waker), places) else {
            panic!("{places} places, polled before: {polled_before}")
        };
        assert_eq!(second.unwrap().slots().len(), places);
        assert_eq!(slots.available(), 2);
    }
}
