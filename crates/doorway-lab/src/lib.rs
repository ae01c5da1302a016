//! Measurements against rivals, and their records.
//!
//! - [`mod@bench`]: the types for users beside those of other libraries. `cargo run --release -p doorway-lab -- bench --help` says which.
//! - [`figures`]: the papers' experiments on machines whose accesses take time.
//! - [`measure`]: CPU time, pinning, medians.
//! - `cargo bench -p doorway-lab --bench explore`: the explorer beside Stateright, on the same models in one run.
//! - `cargo bench -p doorway-lab --bench generic`: the generic text beside the same algorithm by hand.
//!
//! Results that were looked at are kept in this crate's folder `records`. All of it needs Linux.

// Only what processes share needs it: `bench/processes`.
#![deny(unsafe_code)]
#![cfg(target_os = "linux")]

pub mod bench;
pub mod figures;
pub mod measure;
