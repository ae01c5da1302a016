//! Lamport, *A Fast Mutual Exclusion Algorithm*, ACM Transactions on Computer Systems 5(1), 1987.
//!
//! | in the paper | here |
//! |---|---|
//! | the algorithm with seven accesses | [`FastMutex`] |

pub mod entries;
mod fast;

pub use fast::FastMutex;
