//! A value that processes share: it is in a file, and each of them maps it.

#![allow(unsafe_code)]

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::fs::OpenOptions;
use std::io;
use std::ops::Deref;
use std::path::Path;
use std::ptr::NonNull;

/// A type that may be in memory that other processes write.
///
/// # Safety
/// All-zero bytes must be a valid value of the type, and it must have no destructor. Everything in
/// it must be atomic, or be reached by address only, through functions that expect other processes.
pub(super) unsafe trait Shareable: Sync {}

/// A value in a file.
pub(super) struct Mapped<T: Shareable> {
    value: NonNull<T>,
}

// SAFETY: the mapping lasts until this is dropped, on any thread, and `T` may be shared.
unsafe impl<T: Shareable> Send for Mapped<T> {}
// SAFETY: as above.
unsafe impl<T: Shareable> Sync for Mapped<T> {}

impl<T: Shareable> Mapped<T> {
    /// A new file, all zero.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        OpenOptions::new().write(true).create_new(true).open(path)?.set_len(size_of::<T>() as u64)?;
        Self::attach(path)
    }

    /// A file that [`create`](Self::create) has made for the same type.
    pub(super) fn attach(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        if file.metadata()?.len() != size_of::<T>() as u64 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the file and the value differ in length"));
        }
        // SAFETY: a new mapping, at an address that the kernel chooses.
        let pages = unsafe {
            let access = ProtFlags::READ | ProtFlags::WRITE;
            mmap(std::ptr::null_mut(), size_of::<T>(), access, MapFlags::SHARED, &file, 0)
        }?;
        let value = NonNull::new(pages.cast()).ok_or_else(|| io::Error::other("mapped at zero"))?;
        Ok(Self { value })
    }
}

impl<T: Shareable> Deref for Mapped<T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the file is as long as the value, and is mapped until `drop`. A page is aligned
        // for it. It began as zeroes, which `Shareable` guarantees to be a value.
        unsafe { self.value.as_ref() }
    }
}

impl<T: Shareable> Drop for Mapped<T> {
    fn drop(&mut self) {
        // SAFETY: this is what was mapped, and no borrow of it is left.
        let _ = unsafe { munmap(self.value.as_ptr().cast(), size_of::<T>()) };
    }
}
