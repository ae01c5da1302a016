//! What users of [`Rooms`] rely on.

use crate::rooms_kit::{Bell, Dice, block_on, poll, poll_once};
use doorway::Rooms;
use doorway::rooms::{
    EnterError, EnterTimeoutError, LateRooms, OwnedRoomGuard, RoomsBuildError, StrictError, StrictRooms, TryEnterError,
};
use doorway::waiting::Policy;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

/// Long enough for everything that must happen.
const LONG: Duration = Duration::from_secs(600);

/// Checks that no user is inside, and that none is waited for.
fn are_empty<X: doorway::rooms::LastExit<usize>>(rooms: &Rooms<usize, X>) {
    for room in 0..rooms.rooms() {
        drop(rooms.try_enter(room).expect("nobody is inside"));
    }
}

/// Waits until the condition holds.
fn until(what: impl Fn() -> bool) {
    let begin = Instant::now();
    while !what() {
        assert!(begin.elapsed() < LONG);
        thread::yield_now();
    }
}

/// How many users are in each room.
struct Watch(Vec<AtomicUsize>);

impl Watch {
    fn new(rooms: usize) -> Self {
        Self((0..rooms).map(|_| AtomicUsize::new(0)).collect())
    }

    fn enters(&self, room: usize) {
        self.0[room].fetch_add(1, SeqCst);
        self.is_alone(room);
    }

    fn is_alone(&self, room: usize) {
        for (other, inside) in self.0.iter().enumerate() {
            assert!(
                other == room || inside.load(SeqCst) == 0,
                "one user is in room {other}, and another in room {room}"
            );
        }
    }

    fn exits(&self, room: usize) {
        self.is_alone(room);
        self.0[room].fetch_sub(1, SeqCst);
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|inside| inside.load(SeqCst) == 0)
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    assert_eq!(Rooms::new(0).unwrap_err(), RoomsBuildError::NoRoom);
    assert!(matches!(Rooms::new(Rooms::MOST + 1), Err(RoomsBuildError::TooManyRooms { .. })));
    let rooms = Rooms::new(3).unwrap();
    let none = EnterError::NoSuchRoom { room: 3, rooms: 3 };
    assert_eq!(rooms.enter(3).unwrap_err(), none);
    assert_eq!(rooms.try_enter(3).unwrap_err(), TryEnterError::Refused(none));
    assert_eq!(rooms.enter_timeout(3, LONG).unwrap_err(), EnterTimeoutError::Refused(none));
    assert_eq!(block_on(rooms.enter_async(3)).unwrap_err(), none);
    assert_eq!(rooms.enter(0).unwrap().change(9).unwrap_err(), EnterError::NoSuchRoom { room: 9, rooms: 3 });
    are_empty(&rooms);
}

#[test]
fn a_thread_does_not_wait_for_itself() {
    let (rooms, others) = (Rooms::new(2).unwrap(), Rooms::new(2).unwrap());
    let inside = rooms.enter(0).unwrap();
    let already = |call| EnterError::InsideAlready { call };
    assert_eq!(rooms.enter(0).unwrap_err(), already("enter"));
    assert_eq!(rooms.enter(1).unwrap_err(), already("enter"));
    assert_eq!(rooms.try_enter(1).unwrap_err(), TryEnterError::Refused(already("try_enter")));
    assert_eq!(rooms.enter_timeout(1, LONG).unwrap_err(), EnterTimeoutError::Refused(already("enter_timeout")));
    assert!(rooms.enter(1).unwrap_err().to_string().contains("`enter`"));
    let nested = others.enter(1).unwrap(); // another object has its own rooms
    let inside = inside.change(1).unwrap();
    drop(inside);
    drop(rooms.enter(0).unwrap());
    drop(nested);
    are_empty(&rooms);
    are_empty(&others);
}

#[test]
fn nobody_is_in_two_rooms_at_once_and_last_out_code_runs_once_for_each_turn() {
    for policy in [Policy::PARK, Policy::SLEEP, Policy::YIELD] {
        for count in [1, 2, 3] {
            let watch = Watch::new(count);
            let (turns, plain) = (AtomicUsize::new(0), Mutex::new(()));
            let rooms = Rooms::new(count).unwrap().with_policy(policy).on_last_exit(|_| {
                assert!(watch.is_empty());
                drop(plain.try_lock().expect("nobody else runs this"));
                turns.fetch_add(1, SeqCst);
            });
            thread::scope(|s| {
                for t in 0..4 {
                    let (rooms, watch) = (&rooms, &watch);
                    s.spawn(move || {
                        let mut dice = Dice::new(t);
                        for _ in 0..800 {
                            let room = dice.roll(count);
                            let mut inside = rooms.enter(room).unwrap();
                            watch.enters(room);
                            watch.exits(room);
                            if dice.roll(3) == 0 {
                                let to = dice.roll(count);
                                inside = inside.change(to).unwrap();
                                watch.enters(to);
                                watch.exits(to);
                            }
                            drop(inside);
                        }
                    });
                }
            });
            are_empty(&rooms);
            assert!(turns.load(SeqCst) > 0 && !rooms.is_poisoned());
        }
    }
}

#[test]
fn all_that_wait_for_a_room_are_inside_together() {
    let rooms = Arc::new(Rooms::new(2).unwrap());
    let first = rooms.enter(1).unwrap();
    let mut waits: Vec<Waits> = (0..5).map(|_| ask(&rooms, 0)).collect();
    assert!(waits.iter_mut().all(|w| poll_once(w.as_mut()).is_pending())); // all of them have tickets now
    drop(first);
    let inside: Vec<_> = waits.iter_mut().map(|w| poll_once(w.as_mut())).collect();
    assert!(inside.iter().all(|polled| matches!(polled, Poll::Ready(Ok(_)))));
    drop(inside);
    are_empty(&rooms);
}

#[test]
fn the_last_one_out_lets_in_a_caller_that_changes_rooms() {
    let rooms = Rooms::new(3).unwrap();
    let inside = rooms.enter(0).unwrap();
    // A lone user is let in at once, also into the room that it came from.
    let inside = inside.change(2).unwrap().change(2).unwrap().change(1).unwrap();
    assert_eq!(inside.room(), 1);
    assert_eq!(format!("{rooms:?}"), "Rooms { rooms: 3, open: Some(1), inside: 1, waiting: {} }");
    drop(inside);
    assert_eq!(format!("{rooms:?}"), "Rooms { rooms: 3, open: None, inside: 0, waiting: {} }");
}

#[test]
fn a_timeout_leaves_nothing_behind() {
    let rooms = Rooms::new(2).unwrap();
    let inside = rooms.enter(0).unwrap();
    thread::scope(|s| {
        for _ in 0..3 {
            s.spawn(|| {
                for room in [0, 1] {
                    let timed_out = rooms.enter_timeout(room, Duration::from_millis(3)).unwrap_err();
                    assert_eq!(timed_out, EnterTimeoutError::TimedOut);
                    assert_eq!(rooms.enter_deadline(room, Instant::now()).unwrap_err(), EnterTimeoutError::TimedOut);
                    assert_eq!(rooms.try_enter(room).unwrap_err(), TryEnterError::Busy);
                }
            });
        }
    });
    assert_eq!(format!("{rooms:?}"), "Rooms { rooms: 2, open: Some(0), inside: 1, waiting: {} }");
    drop(inside);
    are_empty(&rooms);
    drop(rooms.enter_timeout(1, LONG).unwrap());
    drop(rooms.enter_timeout(1, Duration::MAX).unwrap());
}

#[test]
fn a_caller_whose_time_ends_while_it_is_let_in_is_in_or_gone() {
    let rooms = Rooms::new(2).unwrap();
    let (watch, in_time, too_late) = (Watch::new(2), AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|s| {
        for t in 0..4 {
            let (rooms, watch, in_time, too_late) = (&rooms, &watch, &in_time, &too_late);
            s.spawn(move || {
                let mut dice = Dice::new(t);
                for _ in 0..1000 {
                    let room = dice.roll(2);
                    match rooms.enter_timeout(room, Duration::from_nanos(1 << dice.roll(18))) {
                        Ok(inside) => {
                            watch.enters(room);
                            thread::yield_now();
                            watch.exits(room);
                            drop(inside);
                            in_time.fetch_add(1, SeqCst);
                        }
                        Err(timeout) => {
                            assert_eq!(timeout, EnterTimeoutError::TimedOut);
                            too_late.fetch_add(1, SeqCst);
                        }
                    }
                }
            });
        }
    });
    assert_eq!(in_time.load(SeqCst) + too_late.load(SeqCst), 4000);
    are_empty(&rooms);
}

type Waits = Pin<Box<dyn Future<Output = Result<OwnedRoomGuard, EnterError>> + Send>>;

fn ask(rooms: &Arc<Rooms>, room: usize) -> Waits {
    let rooms = Arc::clone(rooms);
    Box::pin(async move { rooms.enter_owned_async(room).await })
}

#[test]
fn a_task_is_woken_when_its_room_is_opened() {
    let rooms = Arc::new(Rooms::new(2).unwrap());
    let inside = rooms.enter(0).unwrap();
    let bell = Arc::new(Bell::default());
    let mut waits = ask(&rooms, 1);
    assert!(poll(waits.as_mut(), &bell).is_pending());
    assert_eq!(bell.rings(), 0);
    drop(inside);
    assert!(bell.rings() >= 1);
    let Poll::Ready(Ok(guard)) = poll(waits.as_mut(), &bell) else { panic!("it was let in") };
    assert_eq!(guard.room(), 1);
    thread::spawn(move || drop(guard)).join().unwrap(); // it may move anywhere
    are_empty(&rooms);
}

/// Whenever a future is dropped, it leaves nothing behind: before the first poll, while it waits,
/// after it was let in without noticing, and while others wait behind it.
#[test]
fn a_future_can_be_dropped_at_every_poll() {
    for polls in 0..4 {
        for others in 0..3 {
            for let_in in [false, true] {
                let rooms = Arc::new(Rooms::new(2).unwrap());
                let inside = rooms.enter(0).unwrap();
                let mut waits = ask(&rooms, 1);
                for _ in 0..polls {
                    assert!(poll_once(waits.as_mut()).is_pending());
                }
                let mut behind: Vec<Waits> = (0..others).map(|i| ask(&rooms, i % 2)).collect();
                for other in &mut behind {
                    assert!(poll_once(other.as_mut()).is_pending());
                }
                if let_in {
                    drop(inside);
                    drop(waits);
                } else {
                    drop(waits);
                    drop(inside);
                }
                // The waiters behind it get in, in whichever order rooms are opened.
                let begin = Instant::now();
                while !behind.is_empty() {
                    behind.retain_mut(|other| poll_once(other.as_mut()).is_pending());
                    assert!(begin.elapsed() < LONG);
                }
                are_empty(&rooms);
            }
        }
    }
}

#[test]
fn a_change_can_be_dropped_at_every_poll() {
    for polls in 0..3 {
        let rooms = Arc::new(Rooms::new(2).unwrap());
        let inside = block_on(rooms.enter_async(0)).unwrap();
        let blocker = {
            // Another user in the same turn keeps the room open.
            let mut second = ask(&rooms, 1);
            assert!(poll_once(second.as_mut()).is_pending());
            second
        };
        let mut change = Box::pin(inside.change_async(0));
        for _ in 0..polls {
            assert!(poll_once(change.as_mut()).is_pending());
        }
        drop(change);
        let mut blocker = blocker;
        let Poll::Ready(Ok(guard)) = poll_once(blocker.as_mut()) else { panic!("room 1 has its turn") };
        drop(guard);
        are_empty(&rooms);
    }
    let rooms = Rooms::new(2).unwrap();
    let inside = block_on(rooms.enter_async(0)).unwrap();
    assert_eq!(block_on(inside.change_async(1)).unwrap().room(), 1);
}

#[test]
fn threads_and_tasks_that_give_up_get_along() {
    let rooms = Arc::new(Rooms::new(3).unwrap());
    let watch = Watch::new(3);
    thread::scope(|s| {
        for t in 0..2 {
            let (rooms, watch) = (&rooms, &watch);
            s.spawn(move || {
                let mut dice = Dice::new(t);
                for _ in 0..1500 {
                    let room = dice.roll(3);
                    let inside = rooms.enter(room).unwrap();
                    watch.enters(room);
                    watch.exits(room);
                    drop(inside);
                }
            });
        }
        for t in 2..4 {
            let (rooms, watch) = (&rooms, &watch);
            s.spawn(move || {
                let mut dice = Dice::new(t);
                for _ in 0..1500 {
                    let room = dice.roll(3);
                    let mut waits = pin!(rooms.enter_async(room));
                    let mut patience = dice.roll(4);
                    let entered = block_on(std::future::poll_fn(|context| {
                        let polled = waits.as_mut().poll(context);
                        if polled.is_pending() && patience == 0 {
                            return Poll::Ready(None);
                        }
                        patience = patience.saturating_sub(1);
                        polled.map(Some)
                    }));
                    if let Some(inside) = entered {
                        watch.enters(room);
                        watch.exits(room);
                        drop(inside.unwrap());
                    }
                }
            });
        }
    });
    are_empty(&rooms);
}

#[test]
fn a_panic_inside_leaves_the_room() {
    let turns = AtomicUsize::new(0);
    let rooms = Rooms::new(2).unwrap().on_last_exit(|_| {
        turns.fetch_add(1, SeqCst);
    });
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _inside = rooms.enter(0).unwrap();
        panic!("inside");
    }));
    assert!(panicked.is_err() && rooms.is_poisoned());
    assert_eq!(turns.load(SeqCst), 1);
    rooms.clear_poison();
    are_empty(&rooms);
    assert!(!rooms.is_poisoned());
}

#[test]
fn a_panic_of_the_last_one_out_keeps_nobody_waiting() {
    let panics = AtomicBool::new(true);
    let rooms = Rooms::new(2).unwrap().on_last_exit(|room| {
        assert!(!panics.swap(false, SeqCst), "after room {room}");
    });
    thread::scope(|s| {
        let inside = rooms.enter(0).unwrap();
        let waits = s.spawn(|| drop(rooms.enter(1).unwrap()));
        thread::sleep(Duration::from_millis(20));
        let panicked = catch_unwind(AssertUnwindSafe(|| drop(inside))).unwrap_err();
        assert_eq!(panicked.downcast_ref::<String>().unwrap(), "after room 0");
        waits.join().unwrap();
    });
    assert!(rooms.is_poisoned());
    are_empty(&rooms);
    // A user that changes rooms while the code panics has left, and has no ticket any more.
    panics.store(true, SeqCst);
    let inside = rooms.enter(0).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| inside.change(1))).is_err());
    are_empty(&rooms);
    // A thread that is already unwinding is not interrupted.
    panics.store(true, SeqCst);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _inside = rooms.enter(0).unwrap();
        panic!("first");
    }));
    assert_eq!(*panicked.unwrap_err().downcast_ref::<&str>().unwrap(), "first");
    are_empty(&rooms);
    // A future that is dropped after it was let in may be the last one out.
    panics.store(false, SeqCst);
    let inside = rooms.enter(0).unwrap();
    let mut waits = Box::pin(rooms.enter_async(1));
    assert!(poll_once(waits.as_mut()).is_pending());
    drop(inside);
    panics.store(true, SeqCst);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(waits))).is_err());
    are_empty(&rooms);
}

#[test]
fn code_of_the_last_one_out_cannot_enter() {
    type Enters = Box<dyn Fn() -> Result<(), EnterError> + Send + Sync>;
    static ENTERS: std::sync::OnceLock<Enters> = std::sync::OnceLock::new();
    static SEEN: Mutex<Option<EnterError>> = Mutex::new(None);
    let rooms = Arc::new(Rooms::new(2).unwrap().on_last_exit(|_| {
        let refused = ENTERS.get().map(|enters| enters().unwrap_err());
        *SEEN.lock().unwrap() = refused;
    }));
    let again = Arc::clone(&rooms);
    assert!(ENTERS.set(Box::new(move || again.enter(1).map(drop))).is_ok());
    drop(rooms.enter(0).unwrap());
    assert_eq!(*SEEN.lock().unwrap(), Some(EnterError::InsideAlready { call: "enter" }));
}

#[test]
fn a_caller_that_forgets_its_guard_stays_inside() {
    let rooms = Arc::new(Rooms::new(2).unwrap());
    std::mem::forget(rooms.enter(0).unwrap());
    assert_eq!(rooms.enter(1).unwrap_err(), EnterError::InsideAlready { call: "enter" });
    let other = Arc::clone(&rooms);
    let busy = thread::spawn(move || other.try_enter(0).map(drop)).join().unwrap();
    assert_eq!(busy.unwrap_err(), TryEnterError::Busy);
}

#[test]
fn latecomers_join_and_others_are_not_kept_out() {
    let rooms = LateRooms::new(2, 3).unwrap();
    let watch = Watch::new(2);
    let other = AtomicBool::new(false);
    thread::scope(|s| {
        let inside = rooms.enter(0).unwrap();
        // Three users may join. Each has left before the next one comes, while the first stays.
        for _ in 0..3 {
            s.spawn(|| drop(rooms.enter(0).unwrap())).join().unwrap();
        }
        s.spawn(|| {
            let inside = rooms.enter(1).unwrap();
            other.store(true, SeqCst);
            drop(inside);
        });
        let fourth = s.spawn(|| drop(rooms.enter(0).unwrap()));
        thread::sleep(Duration::from_millis(20));
        assert!(!fourth.is_finished() && !other.load(SeqCst));
        drop(inside);
        fourth.join().unwrap();
    });
    assert!(other.load(SeqCst));
    thread::scope(|s| {
        for t in 0..4 {
            let (rooms, watch) = (&rooms, &watch);
            s.spawn(move || {
                let mut dice = Dice::new(t);
                for _ in 0..1000 {
                    let room = dice.roll(2);
                    let inside = rooms.enter(room).unwrap();
                    watch.enters(room);
                    watch.exits(room);
                    drop(inside);
                }
            });
        }
    });
    assert!(matches!(rooms.enter(2).unwrap_err(), EnterError::NoSuchRoom { .. }));
}

#[test]
fn a_panic_of_the_last_one_out_of_a_late_room() {
    let panics = AtomicBool::new(true);
    let rooms = LateRooms::with_last_exit(2, 1, |_| assert!(!panics.swap(false, SeqCst), "out")).unwrap();
    let inside = rooms.enter(0).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| drop(inside))).is_err() && rooms.is_poisoned());
    drop(rooms.enter(1).unwrap());
}

#[test]
fn strict_rooms_refuse_what_does_not_follow() {
    assert_eq!(StrictRooms::new(1, 0).unwrap_err(), RoomsBuildError::NoUser);
    let rooms = StrictRooms::new(2, 2).unwrap();
    let (a, b) = (rooms.join().unwrap(), rooms.join().unwrap());
    assert_eq!(rooms.join().unwrap_err(), StrictError::NoMoreUsers { most: 2 });
    assert_eq!(a.exit(), Err(StrictError::Outside));
    assert_eq!(a.change(1), Err(StrictError::Outside));
    assert_eq!(a.enter(2), Err(StrictError::NoSuchRoom { room: 2, rooms: 2 }));
    a.enter(1).unwrap();
    assert_eq!(a.enter(0), Err(StrictError::Inside));
    assert_eq!(a.change(5), Err(StrictError::NoSuchRoom { room: 5, rooms: 2 }));
    assert_eq!(a.exit(), Err(StrictError::Outside)); // it has left
    b.enter(0).unwrap();
    drop(b); // leaves
    a.enter(1).unwrap();
    assert_eq!(a.exit(), Ok(true));
}

/// Several threads act as the same user. Whatever they do, no two rooms have users at once.
#[test]
fn strict_rooms_stand_threads_that_share_a_user() {
    let rooms = StrictRooms::new(2, 2).unwrap();
    let users = [rooms.join().unwrap(), rooms.join().unwrap()];
    let inside = [const { AtomicIsize::new(0) }; 2];
    let entered = AtomicUsize::new(0);
    thread::scope(|s| {
        for t in 0..4 {
            let (users, inside, entered) = (&users, &inside, &entered);
            s.spawn(move || {
                let mut dice = Dice::new(t);
                for _ in 0..1000 {
                    let (user, room) = (&users[dice.roll(2)], dice.roll(2));
                    // The thread that entered also exits. Other threads may be refused, but do not
                    // exit for it, because only this thread knows the room.
                    if user.enter(room).is_ok() {
                        entered.fetch_add(1, SeqCst);
                        inside[room].fetch_add(1, SeqCst);
                        assert_eq!(inside[1 - room].load(SeqCst), 0);
                        assert_eq!(user.enter(1 - room), Err(StrictError::Inside));
                        inside[room].fetch_sub(1, SeqCst);
                        user.exit().unwrap();
                    }
                }
            });
        }
    });
    assert!(entered.load(SeqCst) > 0);
}

#[test]
fn a_panic_of_the_last_one_out_of_strict_rooms() {
    let panics = AtomicBool::new(true);
    let rooms = StrictRooms::with_last_exit(2, 1, |_: usize| assert!(!panics.swap(false, SeqCst), "out")).unwrap();
    let me = rooms.join().unwrap();
    me.enter(0).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| me.exit())).is_err() && rooms.is_poisoned());
    me.enter(1).unwrap(); // the user was outside
    assert_eq!(me.exit(), Ok(true));
    panics.store(true, SeqCst);
    me.enter(1).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| drop(me))).is_err());
    drop(rooms.join().unwrap()); // its number came back
}

#[test]
fn waiting_threads_are_let_in_whatever_sleeps() {
    // Many more threads than processors, so that most of them sleep.
    let rooms = Rooms::new(2).unwrap();
    let entered = AtomicUsize::new(0);
    let inside = rooms.enter(0).unwrap();
    thread::scope(|s| {
        for t in 0..16 {
            let (rooms, entered) = (&rooms, &entered);
            s.spawn(move || {
                let _inside = rooms.enter(t % 2).unwrap();
                entered.fetch_add(1, SeqCst);
            });
        }
        thread::sleep(Duration::from_millis(30));
        assert_eq!(entered.load(SeqCst), 0);
        drop(inside);
        until(|| entered.load(SeqCst) == 16);
    });
    are_empty(&rooms);
}
