//! Slots between processes whose users do unexpected things: futures that are dropped at the worst
//! moment, wakers that drop or poll what they wake, files that are damaged and removed.
#![cfg(all(
    target_os = "linux",
    target_endian = "little",
    target_pointer_width = "64",
    not(any(miri, doorway_portable))
))]

mod shared_kit;

use doorway::shared::{Builder, Error, Mode, Previous, Slots};
use shared_kit::Place;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// Long enough for everything that ends at all.
const LONG: Duration = Duration::from_secs(30);

/// A task that owns itself. Waking it runs `woken` with it, at once.
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

    /// Polls the task, and drops it when it is done.
    fn poll(self: &Arc<Self>) {
        let taken = self.future.lock().unwrap().take();
        let Some(mut future) = taken else { return };
        if future.as_mut().poll(&mut Context::from_waker(&Waker::from(Arc::clone(self)))).is_pending() {
            *self.future.lock().unwrap() = Some(future);
        }
    }

    /// Drops the task, as an executor does at its end.
    fn cancel(self: &Arc<Self>) {
        let taken = self.future.lock().unwrap().take();
        drop(taken);
    }
}

/// Runs a closure in its own thread, which may never end.
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

#[test]
fn a_waker_may_drop_the_task_that_is_in_line_for_a_seat() {
    let place = Place::new("waker-drops");
    let slots = Arc::new(Builder::new(place.file(), 1).waiters(1).open().unwrap());
    ends(move || {
        let held = slots.acquire().unwrap();
        let theirs = || Arc::clone(&slots);
        let (one, other) = (theirs(), theirs());
        let in_line = Task::new(|_| (), async move { drop(one.acquire_async().await) });
        let behind = Task::new(Task::cancel, async move { drop(other.acquire_async().await) });
        in_line.poll();
        behind.poll();
        in_line.cancel(); // its seat goes to the task behind it, which is woken
        drop(held);
        drop(slots.try_acquire().unwrap());
    });
}

#[test]
fn the_last_use_of_a_handle_may_end_in_a_waker() {
    let place = Place::new("last-use");
    let slots = Arc::new(Slots::open(place.file(), 1).unwrap());
    let other = Slots::open(place.file(), 1).unwrap();
    let held = other.acquire().unwrap();
    let gone = Arc::downgrade(&slots);
    // Waking the task runs it: it enters, leaves and drops the handle.
    let (tell, told) = mpsc::channel();
    let task = Task::new(Task::poll, async move {
        drop(slots.acquire_async().await.unwrap());
        drop(slots);
        let _ = tell.send(());
    });
    task.poll();
    assert!(gone.upgrade().is_some());
    drop(held);
    assert_eq!(told.recv_timeout(LONG), Ok(()), "the handle is dropped, in its own thread");
    drop(task);
    assert!(gone.upgrade().is_none());
    drop(other);
    Slots::remove(place.file()).unwrap();
}

/// A waker that owns a future, and drops it.
struct Keeps(#[allow(dead_code)] Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>);

impl Wake for Keeps {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn a_waker_that_is_replaced_may_drop_another_task() {
    for waiters in [1, 8] {
        let place = Place::new(&format!("replaced-{waiters}"));
        let slots = Arc::new(Builder::new(place.file(), 1).waiters(waiters).open().unwrap());
        ends(move || {
            let held = slots.acquire().unwrap();
            let waits = || {
                let slots = Arc::clone(&slots);
                let mut future: Pin<Box<dyn Future<Output = ()> + Send>> =
                    Box::pin(async move { drop(slots.acquire_async().await) });
                assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
                future
            };
            let (_in_line, dropped, mut polled) = (waits(), waits(), waits());
            let keeps = Waker::from(Arc::new(Keeps(Mutex::new(Some(dropped)))));
            assert!(polled.as_mut().poll(&mut Context::from_waker(&keeps)).is_pending());
            drop(keeps); // the task that was polled has the last reference
            assert!(polled.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            drop(held);
        });
    }
}

#[test]
fn a_file_that_is_in_use_is_not_removed_though_its_header_is_damaged() {
    let place = Place::new("damaged-in-use");
    let slots = Slots::open(place.file(), 1).unwrap();
    let _held = slots.acquire().unwrap();
    let file = File::options().write(true).open(place.file()).unwrap();
    file.set_len(file.metadata().unwrap().len() + 1).unwrap();
    assert_eq!(Slots::remove(place.file()), Err(Error::InUse(place.file())));
    drop(_held);
    drop(slots);
    Slots::remove(place.file()).unwrap();
}

#[test]
fn a_handle_that_refuses_work_lets_nobody_in_that_waited_for_a_seat() {
    let place = Place::new("behind");
    let slots = Builder::new(place.file(), 1).waiters(1).open().unwrap();
    let held = slots.acquire().unwrap();
    let mut context = Context::from_waker(Waker::noop());
    let mut in_line = Box::pin(slots.acquire_async());
    let mut behind = pin!(slots.acquire_async());
    assert!(in_line.as_mut().poll(&mut context).is_pending());
    assert!(behind.as_mut().poll(&mut context).is_pending());
    Builder::existing(place.file()).remove_by_force().unwrap();
    assert_eq!(slots.status().unwrap_err(), Error::Deleted(place.file()));
    drop(held);
    drop(in_line);
    let Poll::Ready(Err(refused)) = behind.as_mut().poll(&mut context) else { panic!("it was let in") };
    assert_eq!(refused, Error::Deleted(place.file()));
}

#[test]
fn a_waker_has_room_to_work() {
    /// Needs more stack than a small thread has.
    fn works(task: &Arc<Task>) {
        let room = std::hint::black_box([1u8; 256 << 10]);
        if room.iter().all(|byte| *byte == 1) {
            task.poll();
        }
    }
    let place = Place::new("room");
    let slots = Arc::new(Slots::open(place.file(), 1).unwrap());
    let other = Slots::open(place.file(), 1).unwrap();
    let held = other.acquire().unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let (theirs, finished) = (Arc::clone(&slots), Arc::clone(&done));
    let task = Task::new(works, async move {
        drop(theirs.acquire_async().await.unwrap());
        finished.store(true, SeqCst);
    });
    task.poll();
    drop(held);
    while !done.load(SeqCst) {
        std::thread::yield_now();
    }
}

#[test]
fn to_look_for_slots_makes_no_directory() {
    let place = Place::new("looks");
    let nowhere = place.path().join("nowhere");
    let missing = Error::Missing(nowhere.join("slots"));
    assert_eq!(Slots::attach(nowhere.join("slots")).unwrap_err(), missing);
    assert_eq!(Slots::remove(nowhere.join("slots")), Err(missing));
    assert!(!nowhere.exists());
    let refused = Slots::open(nowhere.join("deep/slots"), 1).unwrap_err();
    assert_eq!(refused, Error::NoDirectory(nowhere), "only the last directory is made");
}

#[test]
fn many_tasks_give_up_in_any_order() {
    const MANY: usize = 100_000; // if each looked at all the others, this would take minutes
    let place = Place::new("many");
    let slots = Slots::open(place.file(), 1).unwrap();
    let held = slots.acquire().unwrap();
    let mut context = Context::from_waker(Waker::noop());
    let mut waits = || {
        let mut task = Box::pin(slots.acquire_async());
        assert!(task.as_mut().poll(&mut context).is_pending());
        Some(task)
    };
    let mut tasks: Vec<_> = (0..MANY).map(|_| waits()).collect();
    let mut last = waits();
    for i in (1..MANY).rev().step_by(2).chain((0..MANY).step_by(2)) {
        tasks[i] = None;
    }
    assert!(last.as_mut().unwrap().as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(held);
    assert!(slots.try_acquire().is_err(), "one waits");
    drop(last);
    assert!(slots.try_acquire().is_ok());
}

/// The news is in the word of the slot, whatever other processes have noted beside it.
#[test]
fn a_break_is_not_taken_for_a_death() {
    const SLOT: u64 = 4096 + 128 + 128;
    let place = Place::new("told");
    let slots = Slots::open(place.file(), 1).unwrap();
    let file = File::options().write(true).open(place.file()).unwrap();
    let put = |at: u64, word: u64| file.write_all_at(&word.to_le_bytes(), SLOT + at).unwrap();
    for (news, fence_noted) in [(1, 0), (1, 3), (2, 0), (2, 3), (2, 9)] {
        put(0, 4 << 15 | news << 1); // free, the last fence was 4
        put(8, fence_noted);
        let next = slots.acquire().unwrap();
        let broken = matches!(next.previous(), Previous::Broken(_));
        assert!(broken == (news == 2) && next.previous() != &Previous::Clean, "{news}: {:?}", next.previous());
    }
}

/// Where the slots of the dead are kept, a process that died in line stays there, and keeps the
/// slot that it is offered. Other processes are let in all the same, also those that do not wait.
#[test]
fn one_that_died_in_line_keeps_nobody_from_trying() {
    const ROWS: u64 = 4096 + 128 + 128 + 2 * 128;
    let place = Place::new("died-in-line");
    let slots = Builder::new(place.file(), 2).mode(Mode::Tolerate).open().unwrap();
    let file = File::options().write(true).open(place.file()).unwrap();
    let put = |at: u64, word: u64| file.write_all_at(&word.to_le_bytes(), at).unwrap();
    // A seat without an owner waits with ticket 0.
    let dead = 9;
    put(4096 + 128, 1);
    put(ROWS + dead * 128, 1);
    put(4096, 1 << dead);
    let mine = slots.try_acquire().unwrap();
    assert_eq!(mine.slot(), 1, "the first is its own");
    assert_eq!(slots.status().unwrap().holders.len(), 2);
    assert!(slots.try_acquire().is_err());
    drop(mine);
    assert_eq!(slots.try_acquire().unwrap().slot(), 1);
}

/// A holder's slot is broken before it writes its name. It then writes its name over that of the
/// next holder. When the next holder leaves, the slot names neither.
#[test]
fn what_a_broken_holder_writes_late_goes_with_the_next_that_leaves() {
    const NOTE: u64 = 4096 + 128 + 128 + 8;
    let place = Place::new("late-note");
    let slots = Slots::open(place.file(), 1).unwrap();
    let broken = slots.acquire().unwrap();
    slots.break_slot(0).unwrap();
    let next = slots.acquire().unwrap();
    assert!(next.fence() > broken.fence());
    let file = File::options().read(true).write(true).open(place.file()).unwrap();
    file.write_all_at(&broken.fence().to_le_bytes(), NOTE).unwrap();
    drop(next);
    let mut note = [0; 8];
    file.read_exact_at(&mut note, NOTE).unwrap();
    assert_eq!(u64::from_le_bytes(note), 0);
    // Nor does a broken holder that leaves late erase what a later one wrote.
    let later = slots.acquire().unwrap();
    drop(broken);
    assert_eq!(slots.status().unwrap().holders[0].known.pid, Some(std::process::id()));
    file.read_exact_at(&mut note, NOTE).unwrap();
    assert_eq!(u64::from_le_bytes(note), later.fence());
}
