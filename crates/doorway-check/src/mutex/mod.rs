//! What solutions of mutual exclusion claim.

pub(crate) mod anderson_90;
pub(crate) mod kessels_82;
pub(crate) mod lamport_74;
pub(crate) mod lamport_87;
pub(crate) mod mellor_crummey_scott_91;
pub(crate) mod peterson_81;
pub(crate) mod peterson_fischer_77;
pub(crate) mod taubenfeld_04;
mod two_sides;
pub(crate) mod yang_anderson_93;

use crate::property::{Labels, View};

/// Whether no two processes at these statements show the same value under this name.
pub(crate) fn differ(v: &View<'_>, labels: impl Labels + Copy, name: &str) -> bool {
    let shown = |p| v.shown::<u64>(p, name);
    let all = || v.processes().filter(|&p| v.at(p, labels));
    all().all(|p| all().filter(|&q| shown(q) == shown(p)).count() == 1)
}
