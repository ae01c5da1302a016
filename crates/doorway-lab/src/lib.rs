//! Measurements against rivals, and their records.
//!
//! - [`mod@bench`]: our types beside those of other libraries. `cargo run --release -p doorway-lab
//!   -- bench --help` lists them.
//! - [`figures`]: the papers' experiments on machines whose accesses take time.
//! - [`measure`]: CPU time, pinning, medians.
//! - `cargo bench -p doorway-lab --bench generic`: the generic text beside the same algorithm by
//!   hand.
//!
//! Reviewed results are kept in this crate's folder `records`. All of it needs Linux.

// Only the memory that processes share needs unsafe code: `bench/processes`.
#![deny(unsafe_code)]
#![cfg(target_os = "linux")]

pub mod bench;
pub mod figures;
pub mod measure;
