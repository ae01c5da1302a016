//! The commands for slots between processes, on systems that have none: each says so.

use crate::Exit;
use doorway::shared::Error;
use std::ffi::OsString;

/// Accepts any arguments.
#[derive(clap::Args)]
pub(crate) struct Anything {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _args: Vec<OsString>,
}

pub(crate) type StatusArgs = Anything;
pub(crate) type BreakArgs = Anything;
pub(crate) type RmArgs = Anything;
pub(crate) type JobserverArgs = Anything;

pub(crate) use {refuse as status, refuse as break_slot, refuse as rm};

pub(crate) fn refuse(_: &Anything) -> Result<Exit, String> {
    Err(Error::Unsupported.to_string())
}

pub(crate) const STATUS_EXAMPLES: &str = "";
pub(crate) const BREAK_EXAMPLES: &str = "";
pub(crate) const RM_EXAMPLES: &str = "";
