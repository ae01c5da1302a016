//! x
#![forbid(unsafe_code)]
#![allow(missing_docs)]
pub mod claims;
pub mod conformance;
pub mod explore;
pub mod mutants;
pub mod property;
pub mod schedule;
pub mod sim;
pub mod subject;
pub mod trace;
pub use explore::{Explorer, Report};
pub use property::Property;
