//! The slot that a guardian holds: of a file, or of a cluster.

use super::remote;
use doorway::shared::{Error, Lifeline, OwnedGuard, Previous, ReleaseError};
use rustix::fd::BorrowedFd;

pub(super) enum Unit {
    /// Between processes.
    File(OwnedGuard),
    /// Between machines.
    #[cfg_attr(not(feature = "etcd"), allow(dead_code, reason = "there is none in a command without them"))]
    Remote(remote::Held),
}

impl Unit {
    pub(super) fn slot(&self) -> usize {
        match self {
            Self::File(guard) => guard.slot(),
            Self::Remote(held) => held.slot(),
        }
    }

    pub(super) fn fence(&self) -> u64 {
        match self {
            Self::File(guard) => guard.fence(),
            Self::Remote(held) => held.fence(),
        }
    }

    /// How the last holder ended, where that is known.
    pub(super) fn previous(&self) -> Option<&Previous> {
        match self {
            Self::File(guard) => Some(guard.previous()),
            Self::Remote(_) => None,
        }
    }

    /// What keeps the slot if this process dies.
    pub(super) fn lifeline(&self) -> Option<Result<Lifeline, Error>> {
        match self {
            Self::File(guard) => Some(guard.lifeline()),
            Self::Remote(_) => None,
        }
    }

    /// Rings when the slot is lost.
    pub(super) fn bell(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::File(_) => None,
            Self::Remote(held) => Some(held.bell()),
        }
    }

    /// Whether the slot is lost, and this is the first time that it says so.
    pub(super) fn is_newly_lost(&self) -> bool {
        match self {
            Self::File(_) => false,
            Self::Remote(held) => held.is_newly_lost(),
        }
    }

    /// Gives the slot back, and reports what was wrong with it.
    pub(super) fn release(self) -> Option<String> {
        let slot = self.slot();
        match self {
            Self::File(guard) => match guard.release() {
                Ok(()) => None,
                Err(ReleaseError::Broken) => Some(format!(
                    "slot {slot} was taken away while the command ran, or its file was overwritten; another command may \
                     have run with the same slot"
                )),
                Err(error) => Some(format!("slot {slot} cannot be given back: {error}")),
            },
            Self::Remote(held) => held.release(),
        }
    }
}
