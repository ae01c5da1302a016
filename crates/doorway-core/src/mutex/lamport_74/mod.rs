//! Lamport, *A New Solution of Dijkstra's Concurrent Programming Problem*, Communications of the
//! ACM 17(8), 1974.
//!
//! | in the paper | here |
//! |---|---|
//! | the algorithm | [`Bakery`] |

mod bakery;
pub mod entries;

pub use bakery::{Bakery, TicketsExhausted};
