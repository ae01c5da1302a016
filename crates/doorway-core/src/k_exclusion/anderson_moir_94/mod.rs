//! Anderson and Moir, *Using k-Exclusion to Implement Resilient, Scalable Shared Objects*, PODC
//! 1994.
//!
//! | in the paper | here |
//! |---|---|
//! | Figure 1, a queue in atomic blocks | [`Queue`] |
//! | Figure 2, one level | [`CcSlot`] |
//! | Figures 2, 5 and 6 as chains, Theorems 1 and 5 | [`Chain`] |
//! | Figure 3(a), tree, Theorems 2 and 6 | [`Tree`] |
//! | Figure 4, fast path, Theorems 3 and 7 | [`FastPath`] |
//! | Figure 3(b), nested fast paths, Theorems 4 and 8 | [`NestedFastPaths`] |
//! | Figure 5, one level | [`DsmUnboundedSlot`] |
//! | Figure 6, one level | [`DsmSlot`] |
//! | Figure 7, renaming, Theorems 9 and 10 | [`k_assignment`](crate::k_assignment::anderson_moir_94) |
//!
//! The parts compose: [`Slot`]s of any kind make a [`Chain`], and chains are the blocks of trees
//! and fast paths.

pub mod bounds;
mod cc_slot;
mod chain;
mod dsm_slot;
mod dsm_unbounded_slot;
pub mod entries;
mod fast_path;
mod loc;
mod nested;
mod queue;
mod slot;
pub mod space;
mod tree;

pub use cc_slot::CcSlot;
pub use chain::Chain;
pub use dsm_slot::DsmSlot;
pub use dsm_unbounded_slot::{DsmUnboundedSlot, LocationsExhausted};
pub use fast_path::{FastPath, Passed};
pub use loc::Loc;
pub use nested::{NestedFastPaths, Went};
pub use queue::Queue;
pub use slot::{Slot, Stage};
pub use tree::Tree;
