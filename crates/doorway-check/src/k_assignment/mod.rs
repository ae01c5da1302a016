//! What solutions of k-assignment claim.

mod anderson_moir_94;
pub(crate) mod names;
pub(crate) mod seats;
mod slots;
