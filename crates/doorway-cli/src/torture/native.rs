//! What the torture needs from the operating system and safe Rust does not offer: memory that
//! processes share, and `fork`.

#![allow(unsafe_code)]

use rustix::mm::{MapFlags, ProtFlags, mmap};
use rustix::process::Pid;
use std::fs::File;
use std::ops::Deref;
use std::path::Path;
use std::ptr::NonNull;

/// Types that consist of atomic words only. Any bytes are a valid value, and other processes may
/// change them at any time.
///
/// # Safety
/// The type must consist of atomic words only.
pub(super) unsafe trait Words {}

/// A value in a file that several processes map. It stays mapped while the process lives.
pub(super) struct Shared<T: Words>(NonNull<T>);

impl<T: Words> Clone for Shared<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Words> Copy for Shared<T> {}

impl<T: Words> std::fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shared")
    }
}

// SAFETY: the value consists of atomics.
unsafe impl<T: Words> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Words> Sync for Shared<T> {}

impl<T: Words> Shared<T> {
    /// Maps the file, and creates it, filled with zeros, if it does not exist.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path);
        let fails = |error: std::io::Error| format!("{}: {error}", path.display());
        let file = file.map_err(fails)?;
        let length = size_of::<T>();
        file.set_len(length as u64).map_err(fails)?;
        // SAFETY: a new mapping, at an address that the kernel chooses.
        let pages = unsafe {
            mmap(std::ptr::null_mut(), length, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, &file, 0)
        };
        let pages = pages.map_err(|errno| fails(errno.into()))?;
        Ok(Self(NonNull::new(pages.cast()).ok_or("the kernel has mapped nothing")?))
    }
}

impl<T: Words> Deref for Shared<T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: mapped for good, aligned to a page, and as long as the value; the file is never
        // truncated. Its words are atomic, so other processes may write them.
        unsafe { self.0.as_ref() }
    }
}

/// `None` in the child.
pub(super) fn fork() -> Result<Option<Pid>, String> {
    // SAFETY: the only other threads of a process that forks here are those of slots. They hold no
    // lock that the child needs: the allocator and the slots handle forks themselves.
    match unsafe { libc::fork() } {
        -1 => Err(format!("cannot fork: {}", std::io::Error::last_os_error())),
        child => Ok(Pid::from_raw(child)),
    }
}

/// Exits at once.
pub(super) fn end(code: i32) -> ! {
    // SAFETY: `_exit` may be called at any time.
    unsafe { libc::_exit(code) }
}
