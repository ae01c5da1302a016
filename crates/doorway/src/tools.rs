//! The parts, other than algorithms, that the objects for threads and tasks are made of.
//!
//! They are imported in one place so that a tool can substitute its own.
//! `doorway-opinions/tests/shuttle_mutex.rs` and `shuttle_rooms.rs` substitute shuttle's, and run
//! the same files.

#[cfg(not(all(target_has_atomic = "64", not(doorway_portable))))]
pub(crate) use portable_atomic::AtomicU64;
pub(crate) use std::sync::Mutex;
#[cfg(all(target_has_atomic = "64", not(doorway_portable)))]
pub(crate) use std::sync::atomic::AtomicU64;
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicUsize};
pub(crate) use std::{thread, thread_local};

/// A static that is initialized on first use.
macro_rules! once {
    ($(#[$doc:meta])* $vis:vis static $name:ident: $of:ty = $init:expr;) => {
        $(#[$doc])*
        $vis static $name: std::sync::LazyLock<$of> = std::sync::LazyLock::new(|| $init);
    };
}
pub(crate) use once;
