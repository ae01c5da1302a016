//! What solutions of k-assignment claim.

pub(crate) mod anderson_moir_94;
pub mod leases;
pub(crate) mod names;
pub(crate) mod seats;
pub(crate) mod slots;
