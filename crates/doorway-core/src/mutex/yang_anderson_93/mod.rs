//! Yang and Anderson, *Fast, Scalable Synchronization with Minimal Hardware Support*, PODC 1993.
//!
//! | in the paper | here |
//! |---|---|
//! | Figure 1, two processes | [`TwoProcess`] |

mod two_process;

pub use two_process::TwoProcess;
