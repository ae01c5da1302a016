//! The catalogue as tables, measurements against rivals, and their records.
//!
//! - [`catalogue`]: the registry as rows and tables.
//! - [`theorems`]: Anderson and Moir's theorems beside what is found.
//! - [`figures`]: the papers' experiments on machines whose accesses take time.
//! - `measure` (on Linux): CPU time, pinning, medians.
//! - `bench` (on Linux): the wait layer beside other libraries, as `doorway bench wait` runs it; slots beside other semaphores, as `doorway bench slots` does.
//! - `cargo bench -p doorway-lab --bench explore`: the explorer beside Stateright, on the same models in one run.
//! - `cargo bench -p doorway-lab --bench generic`: the generic text beside the same algorithm by hand.
//!
//! Results that were looked at are kept in this crate's folder `records`.

#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
pub mod bench;
pub mod catalogue;
pub mod figures;
#[cfg(target_os = "linux")]
pub mod measure;
pub mod registers;
pub mod theorems;
