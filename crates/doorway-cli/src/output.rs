//! Writing to standard output, where a reader that has gone away is no error.

use std::io::{ErrorKind, Write as _, stdout};

/// Writes text. If nobody reads any more, that is fine.
pub(crate) fn print(text: &str) -> Result<(), String> {
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(format!("cannot write to standard output: {e}")),
        _ => Ok(()),
    }
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
    fn thousands_are_set_apart() {
        assert_eq!(
            [0, 999, 1000, 161_880, 1_000_000].map(thousands),
            ["0", "999", "1,000", "161,880", "1,000,000"].map(str::to_owned)
        );
    }
}
