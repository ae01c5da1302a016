//! What can go wrong. Each message says what to do.

use std::fmt;

/// What can go wrong with slots in etcd. Outages are no errors: calls wait until the cluster
/// answers.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// There is no endpoint, or one is not an address.
    BadEndpoints(String),
    /// The name is empty, or contains a control character.
    BadName(String),
    /// The number of slots is 0 or larger than 100,000.
    BadSlots(usize),
    /// There are no slots of this name.
    Missing(String),
    /// The cluster has another number of slots under this name.
    OtherSlots {
        /// The number in the store.
        found: usize,
        /// The number that was asked for.
        asked: usize,
    },
    /// A key under the prefix is not one of ours.
    NotSlots(String),
    /// There is no such slot.
    NoSuchSlot {
        /// The slot that was asked for.
        slot: usize,
        /// The number of slots.
        slots: usize,
    },
    /// The cluster refuses the request, and would refuse it again.
    Refused(String),
    /// The cluster did not answer in the time that was given for connecting.
    Unreachable(String),
    /// A task called a method of [`blocking`](crate::blocking).
    InATask,
    /// The runtime in which the slots were connected has ended, so nothing can answer any more.
    RuntimeEnded,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadEndpoints(which) => {
                write!(f, "{which:?} is no endpoint; write one or more such as http://10.0.0.1:2379")
            }
            Self::BadName(name) => write!(f, "{name:?} cannot be a name; use letters, digits, `-`, `_` and `/`"),
            Self::BadSlots(k) => write!(f, "{k} slots are not possible; use between 1 and 100,000"),
            Self::Missing(name) => {
                write!(f, "there are no slots {name:?} in this cluster; connect with a number first")
            }
            Self::OtherSlots { found, asked } => write!(
                f,
                "the cluster has {found} slots of this name, not {asked}; ask for {found}, or use another name"
            ),
            Self::NotSlots(key) => write!(f, "the key {key:?} is not one of slots; use another name or prefix"),
            Self::NoSuchSlot { slot, slots } => write!(f, "there is no slot {slot}; there are {slots}, from 0"),
            Self::Refused(why) => write!(f, "etcd refuses the request: {why}"),
            Self::Unreachable(why) => write!(f, "etcd does not answer: {why}; look at the endpoints and the cluster"),
            Self::InATask => f.write_str(
                "a task must not block; use `doorway_etcd::Slots`, or call this in `tokio::task::spawn_blocking`",
            ),
            Self::RuntimeEnded => {
                f.write_str("the runtime in which the slots were connected has ended; connect again, in one that runs")
            }
        }
    }
}

impl std::error::Error for Error {}

/// Why no slot was taken without waiting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TryAcquireError {
    /// No slot is free, or another client waits.
    NoPlace,
    /// Something else.
    Failed(Error),
}

impl fmt::Display for TryAcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPlace => f.write_str("no slot is free; wait with `acquire`, or try again later"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TryAcquireError {}

/// Why waiting for a limited time ended without a slot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TimeoutError {
    /// The time ran out.
    TimedOut,
    /// Something else.
    Failed(Error),
}

impl fmt::Display for TimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut => f.write_str("no slot became free in that time; allow more, or try again later"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TimeoutError {}

/// Why a slot could not be given back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReleaseError {
    /// It was lost before: the lease had ended, or the slot was broken. Another client may have had
    /// it meanwhile.
    Lost,
    /// The cluster refuses the request. The client goes on trying in the background.
    Failed(Error),
}

impl fmt::Display for ReleaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost => f.write_str("the slot was lost before it was given back; compare fences where it matters"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ReleaseError {}
