//! A line on the terminal that is rewritten in place, and lines that stay. Both may repeat text of
//! other processes, so nothing in them controls the terminal.

use crate::output::{cut, visible};
use std::io::Write as _;

/// The output on standard error.
pub(super) struct Line {
    /// The name of the command that speaks.
    speaker: &'static str,
    is_shown: bool,
}

impl Line {
    pub(super) fn of(speaker: &'static str) -> Self {
        Self { speaker, is_shown: false }
    }

    /// Replaces the current line, cut at the width of the terminal.
    pub(super) fn show(&mut self, line: &str) {
        let size = rustix::termios::tcgetwinsize(rustix::stdio::stderr());
        // Some terminals do not know their width.
        let width = size.map_or(0, |size| usize::from(size.ws_col));
        let line = visible(line);
        write(&format!("\r\x1b[K{}", cut(&line, if width == 0 { 79 } else { width - 1 })));
        self.is_shown = true;
    }

    /// Removes the line.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            write("\r\x1b[K");
        }
    }

    /// Writes a line that stays.
    pub(super) fn say(&mut self, line: &str) {
        self.clear();
        write(&format!("{}: {}\n", self.speaker, visible(line)));
    }
}

/// Ignores errors: there may be no reader.
fn write(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
