//! T. E. Anderson, *The Performance of Spin Lock Alternatives for Shared-Memory Multiprocessors*,
//! IEEE Transactions on Parallel and Distributed Systems 1(1), 1990.
//!
//! | in the paper | here |
//! |---|---|
//! | spinning on test-and-set | [`TestAndSetLock`] |
//! | pauses between references | [`BackoffLock`](super::mellor_crummey_scott_91::BackoffLock), as Mellor-Crummey and Scott have it |
//! | the queue in an array | [`ArrayLock`] |

mod array;
pub mod entries;
mod test_and_set;

pub use array::{ArrayLock, slots};
pub use test_and_set::TestAndSetLock;
