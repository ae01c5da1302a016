//! Slots between processes, on systems that do not support them: opening them returns an error, and
//! nothing else can happen.

use super::{Builder, Entered, Error, Known, Names, ReleaseError, Status};
use std::path::Path;
use std::time::Instant;

/// Cannot be constructed.
#[derive(Debug)]
pub(super) enum Handle {}

/// Cannot be constructed.
#[derive(Debug)]
pub(super) enum Lifeline {}

#[cfg(unix)]
impl Lifeline {
    pub(super) fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        match *self {}
    }
}

impl Handle {
    pub(super) fn open(_: &Builder) -> Result<Self, Error> {
        Err(Error::Unsupported)
    }

    pub(super) fn remove(_: &Builder, _: bool) -> Result<(), Error> {
        Err(Error::Unsupported)
    }

    pub(super) fn names(_: Option<&Path>) -> Result<Names, Error> {
        Err(Error::Unsupported)
    }

    pub(super) fn path(&self) -> &Path {
        match *self {}
    }

    pub(super) fn slots(&self) -> usize {
        match *self {}
    }

    pub(super) fn enter_at_once(&self) -> Option<Entered> {
        match *self {}
    }

    pub(super) fn enter_after_the_dead(&self) -> Result<Option<Entered>, Error> {
        match *self {}
    }

    pub(super) fn enter_by_waiting(&self, _: Option<Instant>) -> Result<Option<Entered>, Error> {
        match *self {}
    }

    pub(super) async fn enter_async(&self) -> Result<Entered, Error> {
        match *self {}
    }

    pub(super) fn leave(&self, _: &Entered) -> Result<(), ReleaseError> {
        match *self {}
    }

    pub(super) fn release(&self, _: &Entered) -> Result<(), ReleaseError> {
        match *self {}
    }

    pub(super) fn lifeline(&self, _: &Entered) -> Result<Lifeline, Error> {
        match *self {}
    }

    pub(super) fn status(&self) -> Result<Status, Error> {
        match *self {}
    }

    pub(super) fn break_slot(&self, _: usize, _: Option<u64>) -> Result<Option<Known>, Error> {
        match *self {}
    }
}
