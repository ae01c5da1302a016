//! What [`Mutex`](crate::Mutex) is made of beside its algorithm, in one place, so that a tool's own can stand in for it: shuttle's do in `doorway-lab/tests/shuttle_mutex.rs`, which runs the same files.

pub(crate) use std::sync::atomic::AtomicBool;
pub(crate) use std::sync::{Arc, Mutex, MutexGuard};
pub(crate) use std::thread_local;
