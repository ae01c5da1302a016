//! Peterson and Fischer, *Economical Solutions for the Critical Section Problem in a Distributed
//! System*, STOC 1977.
//!
//! | in the paper | here |
//! |---|---|
//! | the algorithm for two processes | [`TwoProcess`], as far as we know it |
//! | its tree for `N` processes | not here: we do not have its text |

pub mod entries;
mod two_process;

pub use two_process::{Sign, TwoProcess};
