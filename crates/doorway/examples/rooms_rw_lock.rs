//! A reader-writer lock in two rooms: readers share their room, and the writers' room has a mutex.
//! Neither side can starve the other, because the rooms take turns.

use doorway::Rooms;
use doorway::rooms::{EnterError, RoomGuard};
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

doorway::named_rooms! { enum Access { Read, Write } }

struct TwoRooms<T> {
    rooms: Rooms<Access>,
    /// Excludes writers from each other. The rooms exclude readers.
    writers: Mutex<()>,
    /// Never waited for: it only turns the guarantee of the rooms into a reference.
    data: RwLock<T>,
}

/// Fields are dropped in this order: the data is released before the room.
struct Reads<'a, T> {
    data: std::sync::RwLockReadGuard<'a, T>,
    _room: RoomGuard<'a, Access>,
}

struct Writes<'a, T> {
    data: std::sync::RwLockWriteGuard<'a, T>,
    _alone: MutexGuard<'a, ()>,
    _room: RoomGuard<'a, Access>,
}

impl<T> TwoRooms<T> {
    fn new(data: T) -> Self {
        Self { rooms: Rooms::named(), writers: Mutex::new(()), data: RwLock::new(data) }
    }

    fn read(&self) -> Result<Reads<'_, T>, EnterError> {
        let room = self.rooms.enter(Access::Read)?;
        Ok(Reads { data: self.data.try_read().expect("nobody writes in the readers' room"), _room: room })
    }

    fn write(&self) -> Result<Writes<'_, T>, EnterError> {
        let room = self.rooms.enter(Access::Write)?;
        let alone = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        let data = self.data.try_write().expect("nobody reads in the writers' room, and writers are alone");
        Ok(Writes { data, _alone: alone, _room: room })
    }
}

impl<T> Deref for Reads<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.data
    }
}

impl<T> Deref for Writes<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.data
    }
}

impl<T> DerefMut for Writes<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.data
    }
}

fn main() -> Result<(), EnterError> {
    let lock = TwoRooms::new((0u64, 0u64));
    std::thread::scope(|s| {
        for writer in 0..2 {
            let lock = &lock;
            s.spawn(move || {
                for _ in 0..2000 {
                    let mut both = lock.write().expect("a thread that is outside gets in");
                    both.0 += 1;
                    both.1 += 1;
                    assert!(both.0 == both.1, "writer {writer} is alone");
                }
            });
        }
        for _ in 0..2 {
            s.spawn(|| {
                for _ in 0..2000 {
                    let both = lock.read().expect("a thread that is outside gets in");
                    assert_eq!(both.0, both.1);
                }
            });
        }
    });
    println!("{:?}", *lock.read()?);
    assert_eq!(lock.read()?.0, 4000);
    Ok(())
}
