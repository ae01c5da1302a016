//! Writing to standard output, where a reader that has gone away is no error.

use std::io::{ErrorKind, Write as _, stdout};

/// Writes text. If nobody reads any more, that is fine.
pub(crate) fn print(text: &str) -> Result<(), String> {
    print_to_reader(text).map(|_| ())
}

/// Whether a process still reads standard output.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    There,
    Gone,
}

/// [`print`], for a command that ends when nobody reads any more.
pub(crate) fn print_to_reader(text: &str) -> Result<Reader, String> {
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(Reader::There),
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(Reader::Gone),
        Err(e) => Err(format!("cannot write to standard output: {e}")),
    }
}

/// Text that others have written, for a terminal: what controls it, or changes how other text
/// looks, is shown as an escape.
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

/// Writes one JSON document.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), String> {
    let text = serde_json::to_string_pretty(value).map_err(|e| e.to_string())?;
    print(&format!("{text}\n"))
}

/// A number with its thousands set apart.
pub(crate) fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `word` for one, `words` for more.
pub(crate) fn count(n: u64, word: &str) -> String {
    format!("{} {word}{}", thousands(n), if n == 1 { "" } else { "s" })
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
    fn thousands_are_set_apart() {
        assert_eq!(
            [0, 999, 1000, 161_880, 1_000_000].map(thousands),
            ["0", "999", "1,000", "161,880", "1,000,000"].map(str::to_owned)
        );
    }
}
