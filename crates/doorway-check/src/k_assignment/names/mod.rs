//! What names by themselves claim.

pub(crate) mod sticky;
