//! Kessels, *Arbitration Without Common Modifiable Variables*, Acta Informatica 17(2), 1982.
//!
//! | in the paper | here |
//! |---|---|
//! | the algorithm for two processes | [`TwoSides`] |
//! | its tree for `N` processes | an [`ArbitrationTree`](super::ArbitrationTree) of them |

pub mod entries;
mod two_sides;

pub use two_sides::TwoSides;
