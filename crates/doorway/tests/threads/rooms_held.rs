//! A thread that would wait for itself gets an error, whichever guard it holds.

use doorway::Rooms;
use doorway::rooms::{EnterError, LateRooms, TryEnterError};
use std::sync::Arc;
use std::thread;

/// Checks that no user is inside, and that none is waited for.
fn are_empty(rooms: &Rooms) {
    for room in 0..rooms.rooms() {
        drop(rooms.try_enter(room).expect("nobody is inside"));
    }
}

/// However many objects the thread is inside, and in whichever order it leaves them.
#[test]
fn a_thread_is_reminded_of_every_object_it_is_inside_of() {
    let all: Vec<Rooms> = (0..10).map(|_| Rooms::new(2).unwrap()).collect();
    let mut inside: Vec<_> = all.iter().map(|rooms| Some(rooms.enter(0).unwrap())).collect();
    let already = TryEnterError::Refused(EnterError::InsideAlready { call: "try_enter" });
    for leaves in [9, 0, 5, 7, 1, 4, 8, 2, 6, 3] {
        for (rooms, _) in all.iter().zip(&inside).filter(|(_, inside)| inside.is_some()) {
            assert_eq!(rooms.try_enter(1).unwrap_err(), already);
        }
        inside[leaves] = None;
        are_empty(&all[leaves]);
    }
}

#[test]
fn a_thread_with_an_owned_guard_does_not_wait_for_itself() {
    let rooms = Arc::new(Rooms::new(2).unwrap());
    let inside = rooms.enter_owned(0).unwrap();
    let already = |call| EnterError::InsideAlready { call };
    assert_eq!(rooms.try_enter(1).unwrap_err(), TryEnterError::Refused(already("try_enter")));
    assert_eq!(rooms.enter(1).unwrap_err(), already("enter"));
    assert_eq!(rooms.enter_owned(0).unwrap_err(), already("enter_owned"));
    let inside = inside.change(1).unwrap();
    assert_eq!(rooms.enter(0).unwrap_err(), already("enter"));
    drop(inside);
    are_empty(&rooms);
}

/// A visit by anyone no longer belongs to this thread, which may wait for another thread to end it.
#[test]
fn a_visit_by_anyone_can_be_ended_by_another_thread() {
    let rooms = Arc::new(Rooms::new(2).unwrap());
    let owned = rooms.enter_owned(0).unwrap().by_anyone();
    let other = thread::spawn(move || drop(owned));
    let inside = rooms.enter(1).unwrap();
    other.join().unwrap();
    thread::scope(|s| {
        let borrowed = inside.by_anyone();
        s.spawn(move || drop(borrowed));
        drop(rooms.enter(0).unwrap());
    });
    are_empty(&rooms);
}

#[test]
fn a_thread_does_not_wait_for_itself_in_late_rooms() {
    let (rooms, others) = (LateRooms::new(2, 3).unwrap(), LateRooms::new(2, 3).unwrap());
    let already = EnterError::InsideAlready { call: "enter" };
    let inside = rooms.enter(0).unwrap();
    assert_eq!(rooms.enter(0).unwrap_err(), already); // it could join, if others had not joined too often
    assert_eq!(rooms.enter(1).unwrap_err(), already);
    assert_eq!(rooms.enter(2).unwrap_err(), EnterError::NoSuchRoom { room: 2, rooms: 2 });
    drop(others.enter(1).unwrap());
    drop(inside);
    drop(rooms.enter(1).unwrap());
}
