//! Lock bytes: one for each seat, and one for all processes that have the file open. The kernel
//! drops a lock when its process has ended, and nothing else decides whether a process is dead.
//!
//! They are locks of the open file description. So two opens in one process do not disturb each
//! other, and closing another descriptor of the file drops nothing. A description never conflicts
//! with itself, so a list here records what it holds.

#![allow(unsafe_code)]

use super::super::Error;
use super::super::header::LOCKS;
use super::fork::{Descriptor, Generation};
use super::{file, system};
use rustix::fs::{self, Mode as Bits, OFlags};
use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// How a byte is locked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lock {
    Alone,
    Shared,
    Not,
}

fn region(byte: u64, lock: Lock) -> libc::flock {
    let l_type = match lock {
        Lock::Alone => libc::F_WRLCK,
        Lock::Shared => libc::F_RDLCK,
        Lock::Not => libc::F_UNLCK,
    };
    libc::flock {
        l_type: l_type as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: (LOCKS + byte).cast_signed(),
        l_len: 1,
        l_pid: 0, // required for locks of open file descriptions
    }
}

/// Locks a byte, or unlocks it. Returns `false` if another lock is in the way.
pub(super) fn lock(file: BorrowedFd<'_>, byte: u64, lock: Lock) -> Result<bool, Error> {
    lock_region(file, region(byte, lock))
}

fn lock_region(file: BorrowedFd<'_>, region: libc::flock) -> Result<bool, Error> {
    loop {
        // SAFETY: the descriptor is borrowed, hence open, and this command reads `region`.
        if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const region) } == 0 {
            return Ok(true);
        }
        match last_error() {
            Errno::AGAIN | Errno::ACCESS => return Ok(false),
            Errno::INTR => {}
            errno => return Err(system("locking a byte of the file", errno)),
        }
    }
}

/// Locks every byte, which proves that no other process has the file open. Returns `false` if one
/// has.
pub(super) fn lock_all(file: BorrowedFd<'_>) -> Result<bool, Error> {
    lock_region(file, libc::flock { l_len: 0, ..region(0, Lock::Alone) }) // to the end of all bytes
}

/// Whether another open file description has locked the byte.
fn is_locked_by_others(file: BorrowedFd<'_>, byte: u64) -> Result<bool, Error> {
    let mut region = region(byte, Lock::Alone);
    loop {
        // SAFETY: as above; this command also writes `region`.
        if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut region) } == 0 {
            return Ok(i32::from(region.l_type) != libc::F_UNLCK);
        }
        match last_error() {
            Errno::INTR => {}
            errno => return Err(system("asking for a lock of the file", errno)),
        }
    }
}

fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// The bytes of the seats, as one handle sees them.
#[derive(Debug)]
pub(super) struct Bytes {
    descriptor: Descriptor,
    seats: usize,
    /// The bytes that this handle has locked, one bit each.
    ours: Mutex<Box<[u64]>>,
}

impl Bytes {
    pub(super) fn new(descriptor: Descriptor, seats: usize) -> Self {
        Self { descriptor, seats, ours: Mutex::new(vec![0; seats.div_ceil(64)].into()) }
    }

    pub(super) fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn file(&self) -> Result<BorrowedFd<'_>, Error> {
        self.descriptor.get().ok_or(Error::Forked)
    }

    fn with_ours<T>(&self, change: impl FnOnce(&mut [u64]) -> T) -> T {
        change(&mut self.ours.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether no living process has this seat. A seat that does not exist counts as dead, and
    /// `try_lock` never takes it.
    pub(super) fn is_dead(&self, seat: usize) -> Result<bool, Error> {
        if seat >= self.seats {
            return Ok(true);
        }
        let ours = self.with_ours(|ours| ours[seat / 64] >> (seat % 64) & 1 == 1);
        Ok(!ours && !is_locked_by_others(self.file()?, seat as u64)?)
    }

    /// Takes a seat's byte if it is free. It is not free if this handle has it.
    pub(super) fn try_lock(&self, seat: usize) -> Result<bool, Error> {
        if seat >= self.seats {
            return Ok(false);
        }
        let file = self.file()?;
        // Under the lock of the list: otherwise two threads of this handle would both get the byte.
        self.with_ours(|ours| {
            let bit = 1 << (seat % 64);
            if ours[seat / 64] & bit != 0 || !lock(file, seat as u64, Lock::Alone)? {
                return Ok(false);
            }
            ours[seat / 64] |= bit;
            Ok(true)
        })
    }

    /// Gives back a byte that this handle took.
    pub(super) fn unlock(&self, seat: usize) -> Result<(), Error> {
        if seat >= self.seats {
            return Ok(());
        }
        let file = self.file()?;
        self.with_ours(|ours| {
            let bit = 1 << (seat % 64);
            if ours[seat / 64] & bit != 0 {
                lock(file, seat as u64, Lock::Not)?;
                ours[seat / 64] &= !bit;
            }
            Ok(())
        })
    }
}

impl Bytes {
    /// Opens another, read-only file description, with a lock on this seat's byte.
    ///
    /// The lock becomes a shared one, so that two descriptions can have it. A process takes a seat
    /// by locking its byte exclusively, which any shared lock prevents.
    pub(super) fn lifeline(&self, seat: usize, path: &Path) -> Result<Lifeline, Error> {
        let ours = self.file()?;
        let (flags, stat) = (OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC, file::look(ours)?);
        let itself = format!("/proc/self/fd/{}", ours.as_raw_fd());
        let opened = fs::open(itself, flags - OFlags::NOFOLLOW, Bits::empty())
            .or_else(|_| fs::open(path, flags, Bits::empty())) // without /proc
            .map_err(|errno| system("opening the file once more", errno))?;
        let other = file::look(opened.as_fd())?;
        if (other.st_dev, other.st_ino) != (stat.st_dev, stat.st_ino) {
            return Err(Error::Deleted(path.to_owned()));
        }
        // While a copy is open, no process removes the file. And no process takes the seat between
        // the two locks.
        let locked = lock(opened.as_fd(), self.seats as u64, Lock::Shared)?
            && self.with_ours(|_| {
                Ok(lock(ours, seat as u64, Lock::Shared)? && lock(opened.as_fd(), seat as u64, Lock::Shared)?)
            })?;
        if !locked {
            return Err(system("locking a byte of the file", Errno::AGAIN));
        }
        Ok(Lifeline { descriptor: opened, generation: self.descriptor.generation() })
    }
}

/// See [`Lifeline`](crate::shared::Lifeline).
#[derive(Debug)]
pub(in crate::shared) struct Lifeline {
    descriptor: OwnedFd,
    generation: Generation,
}

impl AsFd for Lifeline {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl Drop for Lifeline {
    fn drop(&mut self) {
        // A forked child has a copy, and dropping a copy ends nothing.
        if self.generation.is_now() {
            let _ = lock_region(self.as_fd(), libc::flock { l_len: 0, ..region(0, Lock::Not) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> (std::path::PathBuf, impl Fn() -> Bytes) {
        let path = std::env::temp_dir().join(format!("doorway-bytes-{}-{name}", std::process::id()));
        std::fs::write(&path, b"").unwrap();
        let opened = path.clone();
        let open = move || {
            let file = || std::fs::File::options().read(true).write(true).open(&opened).map(Into::into);
            Bytes::new(Descriptor::open(file).unwrap(), 64)
        };
        (path, open)
    }

    #[test]
    fn a_seat_is_dead_when_its_description_is_closed() {
        let (path, open) = file("closed");
        let (one, other) = (open(), open());
        assert!(one.is_dead(3).unwrap());
        assert!(one.try_lock(3).unwrap());
        assert!(!one.is_dead(3).unwrap(), "a description does not conflict with itself, but lives");
        assert!(!other.is_dead(3).unwrap() && other.is_dead(4).unwrap());
        assert!(!one.try_lock(3).unwrap() && !other.try_lock(3).unwrap());
        drop(one);
        assert!(other.is_dead(3).unwrap());
        assert!(other.try_lock(3).unwrap());
        other.unlock(3).unwrap();
        assert!(other.is_dead(3).unwrap());
        assert!(other.is_dead(64).unwrap() && !other.try_lock(64).unwrap(), "there is no such seat");
        std::fs::remove_file(path).unwrap();
    }

    /// A child that is about to run another program has such a copy for a moment.
    #[test]
    fn a_copy_of_the_descriptor_keeps_no_lock_of_one_that_was_closed() {
        let (path, open) = file("copy");
        let (one, other) = (open(), open());
        assert!(one.try_lock(3).unwrap());
        let copy = rustix::io::dup(one.descriptor().get().unwrap()).unwrap();
        drop(one);
        assert!(other.is_dead(3).unwrap());
        assert!(lock_all(other.file().unwrap()).unwrap());
        drop(copy);
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn unlocking_what_is_not_ours_does_nothing() {
        let (path, open) = file("not-ours");
        let (one, other) = (open(), open());
        assert!(one.try_lock(0).unwrap());
        other.unlock(0).unwrap();
        assert!(!other.is_dead(0).unwrap());
        std::fs::remove_file(path).unwrap();
    }
}
