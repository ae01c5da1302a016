//! Slots of a cluster, in a command that was built without them.

use super::args::Args;
use super::link::{Link, Message};
use super::unit::Unit;
use super::waiting::Ending;
use rustix::fd::BorrowedFd;

/// There is none.
pub(super) enum Held {}

impl Held {
    pub(super) fn slot(&self) -> usize {
        match *self {}
    }

    pub(super) fn fence(&self) -> u64 {
        match *self {}
    }

    pub(super) fn bell(&self) -> BorrowedFd<'_> {
        match *self {}
    }

    pub(super) fn is_newly_lost(&self) -> bool {
        match *self {}
    }

    pub(super) fn release(self) -> Option<String> {
        match self {}
    }
}

/// Says how to get them.
pub(super) fn wait(_: &Args, _: &str, _: &Link) -> Result<Unit, Ending> {
    Err(Ending::Told(Message::Failed { code: super::FAILED, why: crate::NO_ETCD.to_owned() }))
}
