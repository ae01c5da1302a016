//! Writing to a reader that may have gone away, such as `head`. That is not an error.

use std::io::{ErrorKind, Result, Write};

/// Whether a process still reads what is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reader {
    /// The text was written.
    There,
    /// The reader has gone away, and no process reads the text.
    Gone,
}

/// Writes text, and flushes it.
///
/// # Errors
/// Returns an error if the text cannot be written for any reason but that the reader has gone away.
///
/// # Examples
/// ```
/// use doorway_check::output::{Reader, write};
/// let (reader, mut writer) = std::io::pipe()?;
/// assert_eq!(write(&mut writer, "one\n")?, Reader::There);
/// drop(reader);
/// assert_eq!(write(&mut writer, "two\n")?, Reader::Gone);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write(out: &mut dyn Write, text: &str) -> Result<Reader> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(Reader::There),
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(Reader::Gone),
        Err(e) => Err(e),
    }
}
