//! Writing to standard output and to files. A reader that has gone away is not an error.

pub(crate) use doorway_check::explore::{count, thousands};
pub(crate) use doorway_check::output::Reader;
use std::io::{Write as _, stderr, stdout};
use std::path::{Path, PathBuf};

/// The file that stands for standard output.
const STANDARD_OUTPUT: &str = "-";

/// Where a report goes: to standard output, unless that is a file that was asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Output,
    Error,
}

impl Stream {
    /// Where the report goes beside these files.
    pub(crate) fn beside<const N: usize>(files: [&Option<PathBuf>; N]) -> Result<Self, String> {
        let is_output = |file: &&Option<PathBuf>| file.as_ref().is_some_and(|file| is_standard_output(file));
        match files.iter().copied().filter(is_output).count() {
            0 => Ok(Self::Output),
            1 => Ok(Self::Error),
            _ => Err("only one file can be - (standard output); name the others".to_owned()),
        }
    }

    /// Writes text. It is fine if the reader has gone away.
    pub(crate) fn print(self, text: &str) -> Result<(), String> {
        match self {
            Self::Output => print(text),
            Self::Error => stderr().lock().write_all(text.as_bytes()).map_err(|e| e.to_string()),
        }
    }

    /// Writes one JSON document.
    pub(crate) fn print_json(self, value: &impl serde::Serialize) -> Result<(), String> {
        let text = serde_json::to_string_pretty(value).map_err(|e| e.to_string())?;
        self.print(&format!("{text}\n"))
    }
}

pub(crate) fn is_standard_output(file: &Path) -> bool {
    file.as_os_str() == STANDARD_OUTPUT
}

/// Writes a file; `-` is standard output.
pub(crate) fn write(file: &Path, text: &str) -> Result<(), String> {
    if is_standard_output(file) {
        return print(text);
    }
    std::fs::write(file, text).map_err(|e| format!("cannot write {}: {e}", file.display()))
}

/// Writes text. It is fine if the reader has gone away.
pub(crate) fn print(text: &str) -> Result<(), String> {
    print_to_reader(text).map(|_| ())
}

/// [`print`], for a command that ends when its reader has gone away.
pub(crate) fn print_to_reader(text: &str) -> Result<Reader, String> {
    doorway_check::output::write(&mut stdout().lock(), text)
        .map_err(|e| format!("cannot write to standard output: {e}"))
}

/// Text that others have written, for a terminal: characters that control it, or change how other
/// text looks, are shown as escapes.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\'' | '"' | '\\' => shown.push(c),
            c => shown.extend(c.escape_debug()),
        }
    }
    shown
}

/// The part of a line that fits into this many columns. Characters beyond ASCII count twice: some
/// are that wide.
pub(crate) fn cut(line: &str, columns: usize) -> &str {
    let mut used = 0;
    let too_much = line.char_indices().find(|(_, c)| {
        used += if c.is_ascii() { 1 } else { 2 };
        used > columns
    });
    &line[..too_much.map_or(line.len(), |(at, _)| at)]
}

/// A JSON document in which text from others is [visible], by JSON's own escapes.
pub(crate) fn visible_json(document: &str) -> String {
    let mut shown = String::with_capacity(document.len());
    for c in document.chars() {
        if (c.is_ascii() && c != '\x7f') || c.escape_debug().eq([c]) {
            shown.push(c);
        } else {
            shown.extend(c.encode_utf16(&mut [0; 2]).iter().map(|half| format!("\\u{half:04x}")));
        }
    }
    shown
}

/// Writes one JSON document.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), String> {
    Stream::Output.print_json(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_does_not_control_the_terminal() {
        assert_eq!(visible(r#"nightly 'build' "x" \ ä 表"#), r#"nightly 'build' "x" \ ä 表"#);
        assert_eq!(visible("\x1b]0;x\x07 \u{9b}2J \r\n"), r"\u{1b}]0;x\u{7} \u{9b}2J \r\n");
        assert_eq!(visible("a\u{202e}b\u{200b}"), r"a\u{202e}b\u{200b}", "nor the order of what is shown");
    }

    #[test]
    fn a_line_fits_into_its_columns() {
        assert_eq!(["plain", "", "表表表"].map(|line| cut(line, 5)), ["plain", "", "表表"]);
        assert_eq!(cut("a表b", 3), "a表");
        assert_eq!(cut("longer", 0), "");
    }

    #[test]
    fn json_says_the_same_with_escapes() {
        let text = "a\u{202e}b\u{9b}\u{7f} ä 表 \u{1f469}\u{e0001}\n";
        let shown = visible_json(&serde_json::to_string(text).unwrap());
        assert!(
            !shown.contains('\u{202e}') && !shown.contains(['\u{9b}', '\x7f']) && !shown.contains('\u{e0001}'),
            "{shown}"
        );
        assert!(shown.contains("ä 表"), "{shown}");
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
    }
}
