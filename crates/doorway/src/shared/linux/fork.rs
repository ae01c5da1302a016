//! Descriptors that stay with the process that opened them.
//!
//! A forked child has a copy of each descriptor, and a lock of an open file description lasts until
//! the last copy is closed: a child would keep the parent's seats taken after the parent's death.
//! So a handler of `fork` closes the copies in the child, and counts, so that guards and handles
//! there know that they are void.
//!
//! A child made by a bare `clone` runs no handlers (`posix_spawn` makes one that lives until its
//! `exec`). If the parent dies, such a copy keeps the parent's seats for as long as it is open: late,
//! never unsafe. A parent that closes the file itself gives up its locks first, so that no copy keeps
//! them.

#![allow(unsafe_code)]

use rustix::fd::{BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::cell::UnsafeCell;
use std::sync::Once;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;

/// How many forks lie between the first process and this one.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// The descriptors that are open here, under a lock that `fork` takes too.
///
/// A lock of the C library, and not of `std`: it is taken by the handler that runs before a fork,
/// and given back by those that run after it, which have no guard to drop.
struct Open {
    lock: UnsafeCell<libc::pthread_mutex_t>,
    descriptors: UnsafeCell<Vec<RawFd>>,
}

// SAFETY: `descriptors` is accessed only while `lock` is held, and `lock` only by the functions of
// the C library made for that.
unsafe impl Sync for Open {}

static OPEN: Open =
    Open { lock: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER), descriptors: UnsafeCell::new(Vec::new()) };

extern "C" fn lock() {
    // SAFETY: a static mutex, initialised by its initialiser. Nobody locks it twice: what runs
    // under it is in this file.
    unsafe { libc::pthread_mutex_lock(OPEN.lock.get()) };
}

extern "C" fn unlock() {
    // SAFETY: as above; the caller locked it, or is the copy of the thread that did.
    unsafe { libc::pthread_mutex_unlock(OPEN.lock.get()) };
}

extern "C" fn in_child() {
    // SAFETY: the thread that forked holds the lock, and in the child there is no other.
    let descriptors = unsafe { &mut *OPEN.descriptors.get() };
    for descriptor in descriptors.iter() {
        // SAFETY: it is in the list, so it is open, and nobody else closes it. `close` may be
        // called after a fork.
        unsafe { libc::close(*descriptor) };
    }
    descriptors.clear(); // frees nothing, which could not be done here
    FORKS.fetch_add(1, SeqCst);
    unlock();
}

fn with_open<T>(change: impl FnOnce(&mut Vec<RawFd>) -> T) -> T {
    struct Unlock;
    impl Drop for Unlock {
        fn drop(&mut self) {
            unlock();
        }
    }
    lock();
    let _unlock = Unlock;
    // SAFETY: this thread holds the lock until `_unlock` is dropped.
    change(unsafe { &mut *OPEN.descriptors.get() })
}

/// Which process, of those that come from each other by forks, this is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Generation(u32);

impl Generation {
    #[inline(always)]
    pub(super) fn is_now(self) -> bool {
        // SeqCst loads cost no more than others on the machines at hand.
        FORKS.load(SeqCst) == self.0
    }
}

/// An open file that a forked child does not keep.
#[derive(Debug)]
pub(super) struct Descriptor {
    raw: RawFd,
    generation: Generation,
}

impl Descriptor {
    /// Opens one, so that no fork comes between opening it and knowing it.
    pub(super) fn open<E>(open: impl FnOnce() -> Result<OwnedFd, E>) -> Result<Self, E> {
        static HANDLERS: Once = Once::new();
        HANDLERS.call_once(|| {
            // SAFETY: the three functions are static, and do only what may be done around a fork.
            // If the C library has no room for them, forks are as if made by a bare `clone`.
            unsafe { libc::pthread_atfork(Some(lock), Some(unlock), Some(in_child)) };
        });
        with_open(|descriptors| {
            let raw = open()?.into_raw_fd();
            descriptors.push(raw);
            Ok(Self { raw, generation: Generation(FORKS.load(SeqCst)) })
        })
    }

    /// The process that it is of.
    pub(super) fn generation(&self) -> Generation {
        self.generation
    }

    /// The descriptor; none in a forked child, where the number may be another file's.
    pub(super) fn get(&self) -> Option<BorrowedFd<'_>> {
        // SAFETY: in the process that opened it, it is open until it is dropped.
        self.generation.is_now().then(|| unsafe { BorrowedFd::borrow_raw(self.raw) })
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        with_open(|descriptors| {
            // Of a forked child's list it is no part any more: it was closed there.
            if self.generation.is_now() {
                descriptors.retain(|raw| *raw != self.raw);
                let all = libc::flock {
                    l_type: libc::F_UNLCK as libc::c_short,
                    l_whence: libc::SEEK_SET as libc::c_short,
                    l_start: 0,
                    l_len: 0, // to the end of all bytes
                    l_pid: 0,
                };
                // SAFETY: this process opened it, and takes it off the list under the lock, so it is
                // open until here and nobody else closes it; `all` is what the first command reads.
                unsafe {
                    libc::fcntl(self.raw, libc::F_OFD_SETLK, &raw const all);
                    libc::close(self.raw);
                }
            }
        });
    }
}
