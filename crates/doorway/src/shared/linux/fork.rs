//! Descriptors that stay with the process that opened them.
//!
//! A forked child has a copy of each descriptor, and a lock of an open file description lasts until
//! the last copy is closed. So the child would keep the parent's seats taken after the parent's
//! death. To prevent that, a handler of `fork` closes the copies in the child. It also counts
//! forks, so that guards and handles in the child know that they are void.
//!
//! A child made by a bare `clone` runs no handlers (`posix_spawn` makes one that lives until its
//! `exec`). If the parent dies, such a copy keeps the parent's seats for as long as it is open. The
//! seats then come back late, which is never unsafe. A parent that closes the file itself unlocks
//! its bytes first, so that no copy keeps them.

#![allow(unsafe_code)]

use rustix::fd::{BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::cell::UnsafeCell;
use std::sync::Once;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;

/// How many forks lie between the first process and this one.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// The descriptors that are open here, under a lock that `fork` takes, too.
///
/// It is a lock of the C library, and not of `std`: the handler that runs before a fork takes it,
/// and the handlers that run after the fork release it without a guard to drop.
struct Open {
    lock: UnsafeCell<libc::pthread_mutex_t>,
    descriptors: UnsafeCell<Vec<RawFd>>,
}

// SAFETY: `descriptors` is accessed only while `lock` is held, and only the C library's mutex
// functions access `lock`.
unsafe impl Sync for Open {}

static OPEN: Open =
    Open { lock: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER), descriptors: UnsafeCell::new(Vec::new()) };

extern "C" fn lock() {
    // SAFETY: a static mutex, initialized by its static initializer. No thread locks it twice,
    // because only code in this file runs under it.
    unsafe { libc::pthread_mutex_lock(OPEN.lock.get()) };
}

extern "C" fn unlock() {
    // SAFETY: as above; the caller locked it, or is the copy of the thread that did.
    unsafe { libc::pthread_mutex_unlock(OPEN.lock.get()) };
}

extern "C" fn in_child() {
    // SAFETY: the thread that forked holds the lock, and the child has no other thread.
    let descriptors = unsafe { &mut *OPEN.descriptors.get() };
    for descriptor in descriptors.iter() {
        // SAFETY: the descriptor is in the list, so it is open, and nothing else closes it. `close`
        // may be called after a fork.
        unsafe { libc::close(*descriptor) };
    }
    descriptors.clear(); // does not free the memory, which is not allowed here
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

/// Identifies a process among those that descend from each other by forks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Generation(u32);

impl Generation {
    #[inline(always)]
    pub(super) fn is_now(self) -> bool {
        // On current machines, a SeqCst load costs no more than a weaker one.
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
    /// Opens a file under the lock, so that no fork comes between opening and listing it.
    pub(super) fn open<E>(open: impl FnOnce() -> Result<OwnedFd, E>) -> Result<Self, E> {
        static HANDLERS: Once = Once::new();
        HANDLERS.call_once(|| {
            // SAFETY: the three functions are static, and do only what is allowed around a fork. If
            // the C library has no room for them, forks behave as if made by a bare `clone`.
            unsafe { libc::pthread_atfork(Some(lock), Some(unlock), Some(in_child)) };
        });
        with_open(|descriptors| {
            let raw = open()?.into_raw_fd();
            descriptors.push(raw);
            Ok(Self { raw, generation: Generation(FORKS.load(SeqCst)) })
        })
    }

    /// The process that opened the file.
    pub(super) fn generation(&self) -> Generation {
        self.generation
    }

    /// The descriptor. `None` in a forked child, where the number may belong to another file.
    pub(super) fn get(&self) -> Option<BorrowedFd<'_>> {
        // SAFETY: in the process that opened it, the descriptor is open until this is dropped.
        self.generation.is_now().then(|| unsafe { BorrowedFd::borrow_raw(self.raw) })
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        with_open(|descriptors| {
            // A forked child's list no longer has it: it was closed there.
            if self.generation.is_now() {
                descriptors.retain(|raw| *raw != self.raw);
                let all = libc::flock {
                    l_type: libc::F_UNLCK as libc::c_short,
                    l_whence: libc::SEEK_SET as libc::c_short,
                    l_start: 0,
                    l_len: 0, // to the end of all bytes
                    l_pid: 0,
                };
                // SAFETY: this process opened the descriptor, and takes it off the list under the
                // lock. So it is open until here, and nothing else closes it. The first command
                // reads `all`.
                unsafe {
                    libc::fcntl(self.raw, libc::F_OFD_SETLK, &raw const all);
                    libc::close(self.raw);
                }
            }
        });
    }
}
