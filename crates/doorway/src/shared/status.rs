//! What is known of other processes: holders, waiters and deaths. Information only.

use super::Mode;
use std::fmt;
use std::path::PathBuf;
use std::time::SystemTime;

/// What is known of a process. That process wrote it, so it may be false. A process that died early
/// wrote nothing.
///
/// As text, it is the process number and the label:
///
/// ```
/// # use doorway::shared::Known;
/// let mut holder = Known::default();
/// assert_eq!(holder.to_string(), "an unknown process");
/// holder.pid = Some(4711);
/// assert_eq!(holder.to_string(), "process 4711");
/// holder.label = Some("training".to_owned());
/// assert_eq!(holder.to_string(), r#"process 4711 ("training")"#);
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Known {
    /// The process number in its own namespace.
    pub pid: Option<u32>,
    /// The process's [label](super::Builder::label).
    pub label: Option<String>,
    /// Since when the process held or waited.
    pub since: Option<SystemTime>,
}

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pid {
            Some(pid) => write!(f, "process {pid}")?,
            None => f.write_str("an unknown process")?,
        }
        // Another process wrote the label: control characters are escaped.
        self.label.as_ref().map_or(Ok(()), |label| write!(f, " ({label:?})"))
    }
}

/// What became of the previous holder.
///
/// No case will be added, because the next holder would have to handle it. So a `match` needs no
/// wildcard, and the compiler reports a case that is missing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Previous {
    /// It gave the slot back, or there was none.
    Clean,
    /// It died with the slot, or after the slot was offered to it. What the slot protects may be
    /// half done.
    Died(Known),
    /// The slot was [taken away](super::Slots::break_slot) from it. It may still be at work.
    Broken(Known),
}

/// A process that holds a slot.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Holder {
    /// The slot.
    pub slot: usize,
    /// The holder's fence.
    pub fence: u64,
    /// Whether the holder is dead. With [`Mode::Reclaim`], the slot comes back at the next look.
    pub dead: bool,
    /// What is known of the holder.
    pub known: Known,
}

/// A thread or a task that waits.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Waiter {
    /// The slot that the waiter is offered and has not taken yet.
    pub offered: Option<usize>,
    /// Whether the waiter's process is dead.
    pub dead: bool,
    /// What is known of the waiter.
    pub known: Known,
}

/// The holders and waiters at about the same time: they are read word by word while other processes
/// go on.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Status {
    /// The path of the file.
    pub path: PathBuf,
    /// The number of slots.
    pub slots: usize,
    /// The number of seats.
    pub seats: usize,
    /// What happens to the slots of dead processes.
    pub mode: Mode,
    /// How many newcomers may pass the first waiter; 0 in strict order. This is the bound in force:
    /// `k` times a power of two, for `k` slots. It is at most what
    /// [`Builder::bypass`](super::Builder::bypass) asked for.
    pub bypass: u16,
    /// The holders, by slot.
    pub holders: Vec<Holder>,
    /// The waiters: first those that are offered a slot, then the others, oldest first.
    pub waiters: Vec<Waiter>,
}
