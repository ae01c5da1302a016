//! Model checking of the shipped text of concurrent algorithms.
//!
//! An algorithm written over [`doorway_core::memory`] runs here in a simulated memory, where each
//! access is one step of a scheduler. The [`Explorer`] tries every order of steps. It reports which
//! [properties](Property) hold and what it covered, and shows each failure by a shortest
//! [trace](trace::Trace).
//!
//! - [`sim`]: the machine.
//! - [`explore`]: the search.
//! - [`property`]: what can be checked.
//! - [`adversary`]: expensive passages, where the graph is too large.
//! - [`timed`]: machines on which an access takes time.
//! - [`sample`]: random schedules, where the graph is too large.
//! - [`at_once`]: passages that do not wait, among passages that do.
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
//! use doorway_check::{Explorer, Property};
//! use doorway_core::Failure;
//! use doorway_core::k_exclusion::KExclusion;
//! use doorway_core::memory::{Memory, Process, Site, TestAndSet};
//! use std::convert::Infallible;
//!
//! /// The simplest lock there is.
//! struct TestAndSetLock<M: Memory> {
//!     part: M::Part,
//!     taken: M::Var<bool>,
//! }
//!
//! impl<M: Memory> TestAndSetLock<M> {
//!     fn new(site: &Site<'_, M>) -> Self {
//!         Self { part: site.here(), taken: site.var("taken", false) }
//!     }
//! }
//!
//! impl<M: TestAndSet> KExclusion<M> for TestAndSetLock<M> {
//!     type Held = ();
//!     type Refusal = Infallible;
//!
//!     async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
//!         let p = p.on(self.part);
//!         let won = || async { Ok((!p.at(1).test_and_set(&self.taken).await?).then_some(())) };
//!         Ok(p.spin_until(won).await?)
//!     }
//!
//!     async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
//!         p.on(self.part).at(2).write(&self.taken, false).await
//!     }
//! }
//!
//! let report = Explorer::new(3)
//!     .property(Property::exclusion("mutual-exclusion", 1))
//!     .property(Property::deadlock_free("deadlock-free"))
//!     .run(|site| TestAndSetLock::new(site))?;
//! report.assert_holds();
//! assert_eq!(report.states, 20);// 2^3 with none inside, 3 * 2^2 with one
//!
//! // It does not admit two at a time, and the report says so.
//! let report = Explorer::new(3)
//!     .property(Property::sometimes("two inside", |v| v.inside() == 2))
//!     .run(|site| TestAndSetLock::new(site))?;
//! assert_eq!(report.verdict("two inside").holds, Some(false));
//! # Ok::<(), doorway_check::sim::TextError>(())
//! ```
//!
//! # What it does not see
//! Steps are sequentially consistent, so the checker sees no reordering of a weaker memory (mutants
//! stand in for some). A verdict holds for the sizes that were searched. Clocks, allocation and
//! everything else that is not an access are invisible.

#![forbid(unsafe_code)]

pub mod adversary;
pub mod at_once;
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
pub mod timed;
pub mod trace;
pub mod viewer;

pub use explore::{Explorer, Report};
pub use k_assignment::leases;
pub use property::Property;

/// Runs the example on the registry's page as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
