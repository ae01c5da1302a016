//! Taubenfeld, *The Black-White Bakery Algorithm and Related Bounded-Space, Adaptive,
//! Local-Spinning and FIFO Algorithms*, DISC 2004.
//!
//! | in the paper | here |
//! |---|---|
//! | the Black-White Bakery | [`BlackWhiteBakery`] |
//! | why colour and number share a register | [`BlackWhiteBakery::in_two_registers`] |

mod black_white;
pub mod entries;

pub use black_white::{BlackWhiteBakery, Colour, ColouredTicket};
