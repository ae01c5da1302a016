//! Slots between machines: the shipped text against a store whose clients pause, die and lose
//! answers.
//!
//! [`Passage`] is the text. Here every order of these moves is tried: a request is done and
//! answered; it is done, and its answer is lost; it is delayed, and lands at any time later; a
//! mirror catches up; a lease ends while its client lives on; a client dies; a waiter gives up; an
//! operator breaks a slot. The number of each fault is [bounded](Faults).
//!
//! ```
//! use doorway_check::leases::{Claim, Faults, Leases};
//!
//! // Two clients, one slot, and a lease that ends while its client is only slow.
//! let leases = Leases { faults: Faults { doubts: 1, pauses: 1, ..Faults::NONE }, ..Leases::new(2, 1) };
//! let report = leases.check();
//! assert!(report.failure.is_none(), "{report}");
//!
//! // A resource that compares no fences obeys the client that was slow.
//! let report = Leases { compares: false, ..leases }.check();
//! assert_eq!(report.failure.unwrap().claim, Claim::Fences);
//! ```

mod moves;
mod mutants;
mod search;
mod store;

pub use moves::Move;
pub use mutants::Mutant;
pub use search::{Failure, Report};

use doorway_core::k_assignment::leases::Passage;
use std::fmt;

/// How many faults of each kind a search tries at most, in one run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Faults {
    /// Requests whose answer is lost, or which are delayed.
    pub doubts: u8,
    /// Leases that end while their clients live on.
    pub pauses: u8,
    /// Clients that die.
    pub deaths: u8,
    /// Waiters that give up.
    pub give_ups: u8,
    /// Slots that an operator breaks.
    pub breaks: u8,
}

impl Faults {
    /// None.
    pub const NONE: Self = Self { doubts: 0, pauses: 0, deaths: 0, give_ups: 0, breaks: 0 };
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { doubts, pauses, deaths, give_ups, breaks } = self;
        write!(
            f,
            "{doubts} requests in doubt, {pauses} pauses, {deaths} deaths, {give_ups} give-ups, {breaks} breaks at most"
        )
    }
}

/// What is claimed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Claim {
    /// What the slots guard never obeys an earlier holder after a later one, and never refuses the
    /// one that holds the slot.
    Fences,
    /// A client that is inside, and whose lease has not ended, is the one that the store names. So
    /// at most `k` such clients are inside, with different slots.
    Names,
    /// No chair is granted a slot while an older one waits.
    Order,
    /// If nothing can happen any more without a fault, all passages of living clients are over, all
    /// slots are free, and no chair waits.
    NothingLost,
    /// Without further faults, nothing goes on for ever.
    Ends,
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fences => "fences",
            Self::Names => "unique-names",
            Self::Order => "order",
            Self::NothingLost => "nothing-lost",
            Self::Ends => "ends",
        })
    }
}

/// Clients of a store, and what may go wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leases {
    /// The number of clients.
    pub n: usize,
    /// The number of slots.
    pub k: usize,
    /// How many passages each client makes.
    pub passages: u8,
    /// The last client does not wait in line, but tries.
    pub last_tries: bool,
    /// What may go wrong.
    pub faults: Faults,
    /// Whether what the slots guard compares fences.
    pub compares: bool,
    /// A fault in the text.
    pub mutant: Option<Mutant>,
}

impl Leases {
    /// Clients that make one passage each, with nothing that goes wrong.
    #[must_use]
    pub fn new(n: usize, k: usize) -> Self {
        let (passages, last_tries, faults) = (1, false, Faults::NONE);
        Self { n, k, passages, last_tries, faults, compares: true, mutant: None }
    }

    /// Tries every order of moves.
    ///
    /// # Panics
    /// If there are more than 16 clients, or no slot.
    #[must_use]
    pub fn check(self) -> Report {
        search::check(self)
    }
}

/// The type of the text that is checked: the one that the crate for etcd drives.
pub type Text = Passage;
