//! The papers' experiments on machines whose accesses take time. Deterministic: the same figures come out everywhere.

pub mod mutex;
pub mod rooms;
