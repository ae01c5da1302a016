//! What is sent to the store, and what it answers.

use super::Held;
use alloc::vec::Vec;

/// The number of a transaction that wrote; 0 stands for "no such key".
pub type Revision = u64;

/// A name for the passages of a client, one at a time. No two leases of a store have the same
/// number, ever.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Chair {
    /// The lease of its client.
    pub lease: u64,
    /// Which chair of that client.
    pub number: u64,
}

/// A key that is compared or deleted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Key {
    /// What became of the chair's last attempt to enter.
    Receipt(Chair),
    /// The chair waits.
    Waits(Chair),
    /// The slot is held.
    Slot(usize),
}

/// A comparison.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Compare {
    /// The key was changed last at this revision; 0: there is none.
    Changed(Key, Revision),
    /// The key was created at this revision.
    Created(Key, Revision),
    /// No chair waits.
    NobodyWaits,
    /// Every chair that waits has this ticket or a later one.
    NobodyWaitsBefore(Revision),
}

/// What became of an attempt to enter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// It got this slot.
    Granted(usize),
    /// It waits.
    Waits,
    /// It got nothing, and does not wait.
    Refused,
}

/// A part of a transaction. Every key is attached to the lease of its chair.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// Writes the receipt of a chair.
    PutReceipt(Chair, Outcome),
    /// The chair waits.
    PutWaits(Chair),
    /// The chair holds the slot.
    PutSlot(usize, Chair),
    /// Deletes the key.
    Delete(Key),
    /// Another transaction, in the same step.
    Nested(Txn),
    /// Reads [`Answer::receipt`].
    ReadReceipt(Chair),
    /// Reads [`Answer::waits`].
    ReadWaits(Chair),
    /// Reads [`Answer::slots`].
    ReadSlots,
    /// Reads [`Answer::oldest`].
    ReadOldest,
}

/// A transaction: one step of the store.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Txn {
    /// If all of these hold,
    pub when: Vec<Compare>,
    /// these are done in order;
    pub then: Vec<Op>,
    /// otherwise these.
    pub otherwise: Vec<Op>,
}

/// A receipt as it was read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Receipt {
    /// What became of the attempt.
    pub outcome: Outcome,
    /// The revision at which it was written.
    pub changed: Revision,
}

/// What the store answers to a transaction. What was not read is empty.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Answer {
    /// Whether the comparisons of the outermost transaction held.
    pub done: bool,
    /// The store's revision after the transaction.
    pub revision: Revision,
    /// The receipt of the chair.
    pub receipt: Option<Receipt>,
    /// The ticket of the chair.
    pub waits: Option<Revision>,
    /// All slots that are held.
    pub slots: Vec<(usize, Held)>,
    /// The oldest that waits.
    pub oldest: Option<Revision>,
    /// The number of slots.
    pub k: usize,
}
