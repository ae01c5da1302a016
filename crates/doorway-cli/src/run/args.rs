//! What `doorway run` is told.

use clap::ValueEnum;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use std::ffi::{CStr, CString, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

/// What follows the options in `--help`.
pub(crate) const MORE: &str = "\
Examples:
  doorway run -n 1 backup -- rsync -a /home /mnt        one at a time
  doorway run -n 4 gpu --env CUDA_VISIBLE_DEVICES={slot} -- python train.py
  doorway run -n 8 tests -- pytest --port=900{slot}     a port for each that runs
  doorway run -n 1 fetch --timeout 5m -- wget URL       gives up after five minutes

The command finds DOORWAY_SLOT (0 to K-1), DOORWAY_FENCE, DOORWAY_NAME, DOORWAY_PREVIOUS \
(clean, died or broken: what became of the last holder of the slot) and DOORWAY_FD in its \
environment. In its arguments and in --env, {slot}, {fence} and {name} are replaced; write {{slot}} \
for {slot} itself.

The slot is held until the command and all that it has started have ended (see --orphans), also if \
this program is killed: then the descriptor DOORWAY_FD keeps it, which the command inherits.

Exit code: that of the command, or 128+N if signal N ended it. 123 no slot was free (--no-wait), \
124 none became free in time (--timeout), 125 doorway itself failed, 126 the command cannot be \
executed, 127 there is no such command.";

/// What becomes of processes that the command leaves behind, and of the slot if the wrapper dies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Orphans {
    /// The slot stays taken until the last of them has ended
    Hold,
    /// The slot is given back; they go on without
    Release,
    /// They are killed, then the slot is given back
    Kill,
}

#[derive(clap::Args, Debug)]
#[command(after_help = MORE)]
pub(crate) struct Args {
    /// How many may run at the same time. Everybody who uses the name must say the same number
    #[arg(short = 'n', long, value_name = "K", allow_negative_numbers = true, value_parser = number)]
    pub(crate) slots: usize,
    /// The name of the slots: letters, digits, dots, underscores and hyphens. With a slash in it,
    /// the path of a file
    #[arg(value_name = "NAME")]
    pub(crate) name: OsString,
    /// Gives up after this time: 90, 90s, 5m, 1h30m, 500ms
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = duration)]
    pub(crate) timeout: Option<Duration>,
    /// Gives up at once if no slot is free
    #[arg(long, conflicts_with = "timeout")]
    pub(crate) no_wait: bool,
    /// Says how long it waited, and behind whom
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Sets a variable for the command; may be repeated
    #[arg(long = "env", value_name = "KEY=VALUE", value_parser = OsStringValueParser::new().try_map(setting))]
    pub(crate) environment: Vec<OsString>,
    /// What becomes of processes that the command leaves behind
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Orphans::Hold)]
    pub(crate) orphans: Orphans,
    /// A text of at most 64 bytes that `doorway status` shows to users of the same slots
    #[arg(long, value_name = "TEXT")]
    pub(crate) label: Option<OsString>,
    /// Where names lie, instead of the usual place or DOORWAY_DIR
    #[arg(long, value_name = "PATH")]
    pub(crate) directory: Option<PathBuf>,
    /// How many may hold or wait at the same time, together: a multiple of 64, at most 4096. A new
    /// name has twice as many as slots, and at least 256. One more ends with 125
    #[arg(long, value_name = "SEATS")]
    pub(crate) seats: Option<usize>,
    /// For several users: the permissions of the file, such as 660. Everybody must say the same
    #[arg(long, value_name = "OCTAL", value_parser = octal)]
    pub(crate) permissions: Option<u32>,
    /// The command and its arguments, in which {slot}, {fence} and {name} are replaced
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true)]
    pub(crate) command: Vec<OsString>,
}

pub(crate) fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "take a number, such as 4".to_owned())
}

/// Without a key and a `=`, programs would not find it.
fn setting(text: OsString) -> Result<OsString, &'static str> {
    match text.as_bytes().iter().position(|byte| *byte == b'=') {
        Some(1..) => Ok(text),
        _ => Err("say KEY=VALUE, without spaces around the ="),
    }
}

fn octal(text: &str) -> Result<u32, String> {
    u32::from_str_radix(text, 8)
        .ok()
        .filter(|bits| *bits <= 0o777)
        .ok_or_else(|| "take an octal number, such as 660".to_owned())
}

/// Numbers with units, of which the last may be missing: seconds.
fn duration(text: &str) -> Result<Duration, String> {
    const UNITS: [(&str, f64); 5] = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86400.0)];
    let fails = || format!("{text:?} is no time; take 90, 90s, 5m, 1h30m or 500ms");
    let (mut rest, mut seconds) = (text, 0.0);
    if rest.is_empty() {
        return Err(fails());
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number: f64 = rest[..end].parse().map_err(|_| fails())?;
        rest = &rest[end..];
        let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let unit = if end == 0 && rest.is_empty() { "s" } else { &rest[..end] };
        seconds += number * UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(fails)?.1;
        rest = &rest[end..];
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| {
        format!("{text:?} is too long; take 90, 90s, 5m, 1h30m or 500ms, or leave it out to wait for ever")
    })
}

/// What stands for something else in arguments.
pub(super) struct Words {
    pub(crate) slot: usize,
    pub(crate) fence: u64,
    pub(crate) name: OsString,
}

impl Words {
    /// Replaces `{slot}`, `{fence}` and `{name}`. What has two braces on each side is left with one.
    pub(crate) fn replace(&self, text: &OsStr) -> OsString {
        let (slot, fence) = (self.slot.to_string(), self.fence.to_string());
        let words: [(&[u8], &[u8]); 3] =
            [(b"{slot}", slot.as_bytes()), (b"{fence}", fence.as_bytes()), (b"{name}", self.name.as_bytes())];
        let mut rest = text.as_bytes();
        let mut done = Vec::with_capacity(rest.len());
        while let Some(&first) = rest.first() {
            let doubled = words.iter().find(|(word, _)| {
                rest.get(1..=word.len()) == Some(word) && first == b'{' && rest.get(word.len() + 1) == Some(&b'}')
            });
            if let Some((word, _)) = doubled {
                done.extend_from_slice(word);
                rest = &rest[word.len() + 2..];
            } else if let Some((word, value)) = words.iter().find(|(word, _)| rest.starts_with(word)) {
                done.extend_from_slice(value);
                rest = &rest[word.len()..];
            } else {
                done.push(first);
                rest = &rest[1..];
            }
        }
        OsString::from_vec(done)
    }
}

/// As the operating system wants it. No argument can have a zero in it, nor can a variable.
pub(super) fn c_string(text: OsString) -> CString {
    CString::new(text.into_vec()).unwrap_or_default()
}

/// The name of a variable; none if there is no `=`.
pub(super) fn key(variable: &CStr) -> Option<&[u8]> {
    let bytes = variable.to_bytes();
    bytes.iter().position(|byte| *byte == b'=').map(|end| &bytes[..end])
}

/// `KEY=VALUE`, for the environment.
pub(crate) fn variable(key: &str, value: impl AsRef<OsStr>) -> CString {
    let mut text = OsString::from(key);
    text.push("=");
    text.push(value.as_ref());
    c_string(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let of = |text| duration(text).unwrap().as_millis();
        let read = ["0", "90", "1.5", "500ms", "10s", "5m", "1h30m", "1m30", "2d"].map(of);
        assert_eq!(read, [0, 90_000, 1500, 500, 10_000, 300_000, 5_400_000, 90_000, 172_800_000]);
        for bad in ["", "s", "-1", "1x", "1 s", "ten", "1e3", "..", "9999999999999999999999d"] {
            assert!(duration(bad).unwrap_err().contains("1h30m"), "{bad}");
        }
    }

    #[test]
    fn words_are_replaced_and_doubled_ones_are_not() {
        let words = Words { slot: 3, fence: 17, name: OsString::from_vec(vec![b'g', 0xff]) };
        let of = |text: &[u8]| words.replace(OsStr::from_bytes(text)).into_vec();
        assert_eq!(of(b"--gpu={slot},{slot} {fence}"), b"--gpu=3,3 17");
        assert_eq!(of(b"{name}"), b"g\xff");
        assert_eq!(of(b"{{slot}} {{{slot}}}"), b"{slot} {{slot}}");
        assert_eq!(of(b"{ slot } {} {slot {x} }{ \xff{"), b"{ slot } {} {slot {x} }{ \xff{");
        assert_eq!(of(b""), b"");
    }
}
