//! Pages that show runs.

use doorway_check::viewer::{self, Record};
use std::path::Path;

/// Writes a page that shows a run.
pub(crate) fn write(file: &Path, record: &Record) -> Result<(), String> {
    std::fs::write(file, viewer::page(record)).map_err(|e| format!("cannot write {}: {e}", file.display()))
}
