//! Algorithms that bound how many processes get in, from the literature and our own. Each is
//! written **once**, as an `async fn` over an abstract [memory](crate::memory). The same text runs
//! on native atomics, on a file that processes share, and in a model checker.
//!
//! - [`memory`]: the vocabulary of the algorithms.
//! - [`mutex`]: at most one process inside. Lamport's Bakery, Yang and Anderson's tree, and the
//!   locks with which they are compared.
//! - [`k_exclusion`]: at most `k` processes inside, and up to `k - 1` may die anywhere. Anderson
//!   and Moir's chain and fast path, Danek's k-Bakery, and our turnstile.
//! - [`k_assignment`]: the same, and each process inside has a name of its own among `0..k`. Slots
//!   for threads and tasks, and seats for processes, whose slots come back when they die.
//! - [`rooms`]: any number of processes in one room, and never two occupied rooms at once.
//! - [`resilient`]: any object, even if up to `k - 1` of its users stop in the middle of an
//!   operation.
//! - [`registry`]: all of them by name.
//!
//! No `std`, no `unsafe`, no dependencies. To *use* an algorithm, depend on the crate `doorway`; to
//! *check* one, on `doorway-check`.
//!
#![doc = include_str!("../CATALOGUE.md")]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod k_assignment;
pub mod k_exclusion;
pub mod memory;
pub mod mutex;
pub mod registry;
pub mod resilient;
pub mod rooms;
#[cfg(feature = "sources")]
pub mod sources;
mod text;

use core::convert::Infallible;
use core::fmt;

/// Why an entry section ended without letting the process in.
///
/// ```
/// use doorway_core::{Failure, mutex::lamport_74::TicketsExhausted};
/// use core::convert::Infallible;
/// let refused: Failure<Infallible, TicketsExhausted> = Failure::Refused(TicketsExhausted);
/// assert!(refused.to_string().contains("try again"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure<E, R = Infallible> {
    /// An access failed; the process stays at the statement it had reached.
    Memory(E),
    /// The algorithm turned the process away; the process is back in its remainder section.
    Refused(R),
}

impl<E, R> From<E> for Failure<E, R> {
    #[inline(always)]
    fn from(e: E) -> Self {
        Self::Memory(e)
    }
}

impl<E: fmt::Display, R: fmt::Display> fmt::Display for Failure<E, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(e) => e.fmt(f),
            Self::Refused(r) => r.fmt(f),
        }
    }
}

impl<E: core::error::Error, R: core::error::Error> core::error::Error for Failure<E, R> {}

/// Runs the example on the registry's page as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
