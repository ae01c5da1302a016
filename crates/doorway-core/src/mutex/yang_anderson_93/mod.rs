//! Yang and Anderson, *Fast, Scalable Synchronization with Minimal Hardware Support*, PODC 1993.
//!
//! | in the paper | here |
//! |---|---|
//! | Figure 1, two processes | [`TwoProcess`] |
//! | Section 3, `N` processes | an [`ArbitrationTree`](super::ArbitrationTree) of them |
//! | Figure 4, with a fast path | [`FastPath`] |
//! | Section 6.2, software combining | [`Combining`], our text |

mod combining;
pub mod entries;
mod fast_path;
mod two_process;

pub use combining::{Add, Affine, Calls, Combinable, Combining, Map, Max, Min, Store, map_of};
pub use fast_path::{FastPath, PathTaken};
pub use two_process::TwoProcess;
