//! Model checking of the shipped text of concurrent algorithms.
//!
//! An algorithm written over [`doorway_core::memory`] runs here in a simulated memory, where each
//! access is one step of a scheduler. The [`Explorer`] tries every order of steps. It reports which
//! [properties](Property) hold and what it covered, and shows each failure by a shortest
//! [trace](trace::Trace).
//!
//! - [`check`]: an algorithm of your own, with everything that the algorithms of the catalogue
//!   have. [`prelude`]: what its text needs.
//! - [`sim`]: the machine.
//! - [`explore`]: the search.
//! - [`property`]: what can be checked.
//! - [`adversary`]: expensive passages, where the graph is too large.
//! - [`timed`]: machines on which an access takes time.
//! - [`sample`]: random schedules, where the graph is too large.
//! - [`at_once`]: passages that enter without waiting or not at all, among passages that wait.
//! - [`faults`]: texts with seeded faults, by statement number.
//! - [`export`]: graphs and traces for other programs. [`picture`]: graphs for people.
//! - [`trace`], [`schedule`], [`replay`]: what happened, and how to make it happen again, by hand
//!   or from a token.
//! - [`viewer`]: runs as pages that people look at. [`drive`]: a machine that people drive in a
//!   browser.
//! - [`explain`]: everything that is known of an algorithm, on one page.
//! - [`conformance`]: what is expected of every memory.
//! - [`claims`], [`mutants`], [`subject`]: the algorithms of the registry, their claims, and faulty
//!   versions of them.
//! - [`leases`]: slots between machines, whose text has a machine of its own.
//! - [`tables`]: the whole catalogue at a glance.
//!
//! # An algorithm of your own
//!
//! ```
//! use doorway_check::prelude::*;
//!
//! lock! {
//!     /// The simplest lock there is.
//!     struct TasLock: TestAndSet { taken: bool = false }
//!     acquire(self, p) {
//!         p.spin_until(|| async { Ok((!p.at(1).test_and_set(&self.taken).await?).then_some(())) }).await?;
//!     }
//!     release(self, p) {
//!         p.at(2).write(&self.taken, false).await?;
//!     }
//! }
//!
//! let lock = Check::lock("tas", 3, TasLock::new)
//!     .property(Property::exclusion("mutual-exclusion", 1))
//!     .property(Property::deadlock_free("deadlock-free"));
//! let report = lock.run()?;
//! report.assert_holds();
//! assert_eq!(report.states, 20); // 2^3 with none inside, 3 * 2^2 with one
//!
//! // A process may starve, and a cycle shows how.
//! let report = lock.property(Property::starvation_free("starvation-free")).run()?;
//! let trace = report.verdict("starvation-free").trace.as_ref().unwrap();
//! assert!(trace.repeats_from.is_some());
//! # Ok::<(), doorway_check::sim::TextError>(())
//! ```
//!
//! # What it does not see
//! Steps are sequentially consistent, so the checker does not see how a weaker memory reorders them
//! (some mutants imitate that). A verdict holds for the sizes that were searched. Clocks,
//! allocation and everything else that is not an access are invisible.

#![deny(unsafe_code)]

pub mod adversary;
pub mod at_once;
pub mod check;
mod checked;
pub mod claims;
pub mod conformance;
pub mod drive;
pub mod explain;
pub mod explore;
pub mod export;
pub mod faults;
mod k_assignment;
mod k_exclusion;
pub mod mutants;
mod mutex;
pub mod output;
pub mod picture;
pub mod property;
pub mod replay;
mod resilient;
mod rooms;
pub mod sample;
pub mod schedule;
pub mod sim;
pub mod subject;
pub mod tables;
pub mod terminal;
pub mod timed;
pub mod trace;
pub mod viewer;

pub use check::{Check, main};
pub use doorway_core;
pub use explore::{Explorer, Report};
pub use k_assignment::leases;
pub use property::Property;

pub mod prelude {
    //! Everything that the text of a lock and its check need: `use doorway_check::prelude::*;`.

    pub use crate::check::Check;
    pub use crate::explore::{Explorer, Report, Worst};
    pub use crate::property::{Property, View};
    pub use crate::sim::{Phase, Sim};
    pub use doorway_core::k_exclusion::{Abortable, KExclusion};
    pub use doorway_core::memory::{
        Bits, BoundedDecrement, Choose, CompareSwap, Decl, Domain, FetchAdd, FetchAnd, FetchOr, Home, Mark, Memory,
        Needs, Pid, Process, ReadWrite, Register, Site, Swap, TestAndSet, Word, decl,
    };
    pub use doorway_core::registry::CostModel;
    pub use doorway_core::{self, Failure, lock};
    pub use doorway_derive::Word;
}

/// Runs the example on the registry's page as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
