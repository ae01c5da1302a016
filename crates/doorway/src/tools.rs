//! What objects for threads and tasks are made of beside their algorithms, in one place, so that a tool's own can stand in for it: shuttle's do in `doorway-opinions/tests/shuttle_mutex.rs` and
//! `shuttle_rooms.rs`, which run the same files.

#[cfg(not(all(target_has_atomic = "64", not(doorway_portable))))]
pub(crate) use portable_atomic::AtomicU64;
pub(crate) use std::sync::Mutex;
#[cfg(all(target_has_atomic = "64", not(doorway_portable)))]
pub(crate) use std::sync::atomic::AtomicU64;
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicUsize};
pub(crate) use std::{thread, thread_local};

/// A static that is made when it is first asked for.
macro_rules! once {
    ($(#[$doc:meta])* $vis:vis static $name:ident: $of:ty = $init:expr;) => {
        $(#[$doc])*
        $vis static $name: std::sync::LazyLock<$of> = std::sync::LazyLock::new(|| $init);
    };
}
pub(crate) use once;
