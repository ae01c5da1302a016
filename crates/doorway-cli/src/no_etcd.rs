//! Slots between machines, in a command that was built without them.

use crate::{Exit, NO_ETCD};

pub(crate) fn status(_: &str, _: &str, _: bool) -> Result<Exit, String> {
    Err(NO_ETCD.to_owned())
}

pub(crate) fn break_slot(
    _: &str,
    _: &str,
    _: usize,
    _: Option<u64>,
    _: impl FnOnce() -> Result<bool, String>,
) -> Result<Exit, String> {
    Err(NO_ETCD.to_owned())
}
