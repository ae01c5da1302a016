//! The options of `doorway run`.

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
  doorway run -n 8 tests -- pytest --port=900{slot}     one port per command
  doorway run -n 1 fetch --timeout 5m -- wget URL       gives up after five minutes
  doorway run -n 1 nightly --etcd http://10.0.0.1:2379 -- ./nightly   one in a cluster of machines

The command finds these variables in its environment: DOORWAY_SLOT (0 to K-1), DOORWAY_FENCE, \
DOORWAY_NAME, DOORWAY_FD, and DOORWAY_PREVIOUS (clean, died or broken: how the last holder left the \
slot). In the arguments and in --env, {slot}, {fence} and {name} are replaced; write {{slot}} for a \
literal {slot}.

The slot is held until the command and every process that it has started have ended (see \
--orphans). If doorway itself is killed, the command still holds the slot: it inherits the \
descriptor DOORWAY_FD. With --orphans release there is no such descriptor, and the slot is freed.

Exit code: that of the command, or 128+N if signal N ended it. 123 no slot was free (--no-wait), \
124 none became free in time (--timeout), 125 doorway itself failed, 126 the command cannot be \
executed, 127 there is no such command.";

/// What happens to processes that outlive the command, and to the slot if the wrapper dies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Orphans {
    /// Keep the slot until the last of them has ended
    Hold,
    /// Give the slot back; they go on without it
    Release,
    /// Kill them, then give the slot back
    Kill,
}

/// What happens to a command whose slot is lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum OnLost {
    /// Kill it and every process that it has started
    Kill,
    /// Warn, and let it go on, beside the next holder
    Warn,
}

#[derive(clap::Args, Debug)]
#[command(after_help = MORE)]
pub(crate) struct Args {
    /// How many commands may run at once. Every user of the name must give the same number
    #[arg(short = 'n', long, value_name = "K", allow_negative_numbers = true, value_parser = number)]
    pub(crate) slots: usize,
    /// The name of the slots: letters, digits, dots, underscores and hyphens. If it contains a
    /// slash, it is the path of a file
    #[arg(value_name = "NAME")]
    pub(crate) name: OsString,
    /// Give up after this time: 90, 90s, 5m, 1h30m, 500ms
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = duration)]
    pub(crate) timeout: Option<Duration>,
    /// Give up at once if no slot is free
    #[arg(long, conflicts_with = "timeout")]
    pub(crate) no_wait: bool,
    /// Say how long it waited, and for which holders
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Set a variable for the command; may be repeated
    #[arg(long = "env", value_name = "KEY=VALUE", value_parser = OsStringValueParser::new().try_map(setting))]
    pub(crate) environment: Vec<OsString>,
    /// What to do with processes that outlive the command
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Orphans::Hold)]
    pub(crate) orphans: Orphans,
    /// A text of at most 64 bytes that `doorway status` shows
    #[arg(long, value_name = "TEXT")]
    pub(crate) label: Option<OsString>,
    /// The directory of the names, instead of the usual place or DOORWAY_DIR
    #[arg(long, value_name = "PATH")]
    pub(crate) directory: Option<PathBuf>,
    /// How many processes may hold or wait at once, together: a multiple of 64, at most 4096. A new
    /// name gets twice as many seats as slots, and at least 256. A process that finds no free seat
    /// ends with 125
    #[arg(long, value_name = "SEATS", value_parser = number)]
    pub(crate) seats: Option<usize>,
    /// For several users: the permissions of the file, such as 660. Every user must give the same
    #[arg(long, value_name = "OCTAL", value_parser = octal)]
    pub(crate) permissions: Option<u32>,
    /// For slots between machines: the addresses of an etcd cluster, separated by commas
    #[arg(long, value_name = "ENDPOINTS", conflicts_with_all = ["directory", "seats", "permissions"])]
    pub(crate) etcd: Option<String>,
    /// With --etcd: the slot of a machine that has died or is cut off comes back after this time
    /// [default: 10s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = duration, requires = "etcd")]
    pub(crate) ttl: Option<Duration>,
    /// With --etcd: what to do with the command if its slot is lost
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = OnLost::Kill)]
    pub(crate) on_lost: OnLost,
    /// The command and its arguments, in which {slot}, {fence} and {name} are replaced
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true)]
    pub(crate) command: Vec<OsString>,
}

impl Args {
    /// Whether the command inherits a descriptor that keeps the slot. A cluster knows none.
    pub(crate) fn keeps_a_descriptor(&self) -> bool {
        self.orphans != Orphans::Release && self.etcd.is_none()
    }

    /// Whether the command must not outlive the guardian. Where the slot is lost with the guardian,
    /// and no descriptor keeps it, the command would go on beside the next holder.
    pub(crate) fn dies_with_the_guardian(&self) -> bool {
        self.orphans == Orphans::Kill || self.etcd.is_some() && self.on_lost == OnLost::Kill
    }
}

pub(crate) fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "give a whole number, such as 4".to_owned())
}

/// Refuses a setting without a key and a `=`: programs would not find it.
fn setting(text: OsString) -> Result<OsString, &'static str> {
    match text.as_bytes().iter().position(|byte| *byte == b'=') {
        Some(1..) => Ok(text),
        _ => Err("give KEY=VALUE, without spaces around the ="),
    }
}

fn octal(text: &str) -> Result<u32, String> {
    u32::from_str_radix(text, 8)
        .ok()
        .filter(|bits| *bits <= 0o777)
        .ok_or_else(|| "give an octal number, such as 660".to_owned())
}

/// Numbers with units. The last unit may be missing, and means seconds.
fn duration(text: &str) -> Result<Duration, String> {
    const UNITS: [(&str, f64); 5] = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86400.0)];
    let fails = || format!("{text:?} is not a time; give 90, 90s, 5m, 1h30m or 500ms");
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
        format!("{text:?} is too long; give 90, 90s, 5m, 1h30m or 500ms, or omit --timeout to wait for ever")
    })
}

/// The values of the placeholders in arguments.
pub(super) struct Words {
    pub(crate) slot: usize,
    pub(crate) fence: u64,
    pub(crate) name: OsString,
}

impl Words {
    /// Replaces `{slot}`, `{fence}` and `{name}`. A word in two pairs of braces keeps one of them.
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

/// A string for the operating system. Neither an argument nor a variable can contain a zero.
pub(super) fn c_string(text: OsString) -> CString {
    CString::new(text.into_vec()).unwrap_or_default()
}

/// The name of a variable, or none if there is no `=`.
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
