//! What solutions of k-exclusion claim.

pub(crate) mod anderson_moir_94;
pub(crate) mod bypass;
pub(crate) mod danek_10;
pub(crate) mod dolev_gafni_shavit_88;
pub(crate) mod turnstile;
