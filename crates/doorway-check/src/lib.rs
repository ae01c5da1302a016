//! x
#![forbid(unsafe_code)]
#![allow(missing_docs)]
pub mod explore;
pub mod property;
pub mod sim;
pub mod trace;
pub use explore::{Explorer, Report};
pub use property::Property;
