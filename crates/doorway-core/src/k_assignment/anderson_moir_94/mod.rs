//! Anderson and Moir, *Using k-Exclusion to Implement Resilient, Scalable Shared Objects*, PODC
//! 1994: names.

pub mod entries;
mod renaming;

pub use renaming::{Named, Renaming};
