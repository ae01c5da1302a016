//! The papers' experiments on machines whose accesses take time. Deterministic: the figures are the
//! same everywhere.

pub mod mutex;
pub mod rooms;
