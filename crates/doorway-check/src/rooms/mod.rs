//! What rooms, and the objects built on them, claim.

pub(crate) mod blelloch_cheng_gibbons_01;
