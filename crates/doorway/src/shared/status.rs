//! What is known of others: who holds, who waits, who died. Information only.

use super::Mode;
use std::path::PathBuf;
use std::time::SystemTime;

/// What is known of a process. Other processes wrote it, so it may be a lie, and a process that
/// died early wrote nothing.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Known {
    /// Its number in its own namespace.
    pub pid: Option<u32>,
    /// What it [calls itself](super::Builder::label).
    pub label: Option<String>,
    /// Since when it held or waited.
    pub since: Option<SystemTime>,
}

/// What became of the holder before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Previous {
    /// It gave the slot back, or there was none.
    Clean,
    /// It died with the slot, or after the slot was offered to it: what the slot stands for may be
    /// half done.
    Died(Known),
    /// The slot was [taken away](super::Slots::break_slot) from it. It may still be at work.
    Broken(Known),
}

/// A process that holds a slot.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Holder {
    /// Its slot.
    pub slot: usize,
    /// Its fence.
    pub fence: u64,
    /// Whether it is dead. With [`Mode::Reclaim`] the slot comes back at the next look.
    pub dead: bool,
    /// What is known of it.
    pub known: Known,
}

/// A thread or a task that waits.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Waiter {
    /// The slot that it is offered and has not taken yet.
    pub offered: Option<usize>,
    /// Whether its process is dead.
    pub dead: bool,
    /// What is known of it.
    pub known: Known,
}

/// Who holds and who waits, at about the same time: it is read word by word while others go on.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Status {
    /// The file.
    pub path: PathBuf,
    /// How many slots there are.
    pub slots: usize,
    /// How many seats there are.
    pub seats: usize,
    /// What happens to slots of the dead.
    pub mode: Mode,
    /// How many newcomers may pass the first in line; 0 in strict order. This is the bound in
    /// force: `k` times a power of two, for `k` slots, and so at most what
    /// [`Builder::bypass`](super::Builder::bypass) asked for.
    pub bypass: u16,
    /// The holders, by slot.
    pub holders: Vec<Holder>,
    /// The waiters: first those that are offered a slot, then the others, the oldest first.
    pub waiters: Vec<Waiter>,
}
