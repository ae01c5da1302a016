//! Peterson, *Myths about the Mutual Exclusion Problem*, Information Processing Letters 12(3),
//! 1981.
//!
//! | in the paper | here |
//! |---|---|
//! | the algorithm for two processes | [`TwoSides`] |
//! | for `N` processes, as Yang and Anderson's Section 7 compares with | an [`ArbitrationTree`](super::ArbitrationTree) of them |
//! | for `N` processes, by `N - 1` rounds | not here |

pub mod entries;
mod two_sides;

pub use two_sides::TwoSides;
