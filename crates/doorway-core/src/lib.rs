#![doc = include_str!("../README.md")]
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
