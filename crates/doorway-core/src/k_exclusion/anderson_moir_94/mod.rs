//! Anderson and Moir, *Using k-Exclusion to Implement Resilient, Scalable Shared Objects*, PODC 1994.
//!
//! | in the paper | here |
//! |---|---|
//! | Figure 2, one level | [`CcSlot`] |
//! | Figure 2 as a chain, Theorem 1 | [`Chain`] |
//! | Figure 4, fast path, Theorem 3 | [`FastPath`] |

mod cc_slot;
mod chain;
mod fast_path;

pub use cc_slot::CcSlot;
pub use chain::Chain;
pub use fast_path::{FastPath, Passed};
