//! Slots between machines: the shipped text against a store whose clients pause, die and lose
//! answers.
//!
//! [`Passage`] is the text. Here every order of these moves is tried: a request is done and
//! answered; it is done, and its answer is lost; it is delayed, and lands at any time later; a
//! mirror catches up; a lease ends while its client lives on; a client dies; a client gives up, in
//! line or while a request is under way; an operator breaks a slot, and its answers may get lost
//! too. The number of each fault is [bounded](Faults).
//!
//! States that differ only in the numbers of revisions are one state. So a run that writes for ever
//! is a cycle, and is found.
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
mod terms;
mod token;

pub use moves::Move;
pub use mutants::Mutant;
pub use search::{Failure, Report};
pub use terms::{InTime, LateClock, Terms};
pub use token::{Token, TokenError};

use crate::subject::MUTANT_PREFIX;
use crate::tables::catalogue::{DefaultSizes, Row};
use doorway_core::k_assignment::leases::Passage;
use std::fmt;

/// The name of the text, for `doorway check`.
///
/// It is not in the registry. An entry there is generic over its memory, and the checker builds it
/// over registers. This text is a machine with requests, answers and leases, and its runs have
/// other moves.
pub const ID: &str = "leases";

/// Its line in lists of algorithms.
#[must_use]
pub fn row() -> Row {
    let Leases { n, k, passages, .. } = Leases::new(2, 1);
    Row {
        id: ID,
        title: TITLE,
        problem: "k-assignment".to_owned(),
        paper: "our own".to_owned(),
        figure: "-",
        instructions: vec!["transaction"],
        properties: Claim::ALL.iter().map(|claim| claim.name()).collect(),
        fairness: "first come, first served",
        tolerates: "any number of".to_owned(),
        registers: "a store with leases".to_owned(),
        rmr: [("round trips", "2".to_owned())].into(),
        defaults: DefaultSizes { n, k, k_is: "k", passages: Some(passages.into()) },
    }
}

/// What it is.
pub const TITLE: &str = "slots between machines, in a store with leases";

/// How many faults of each kind a search tries at most, in one run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Faults {
    /// Requests whose answer is lost, or which are delayed.
    pub doubts: u8,
    /// Leases that end while their clients live on.
    pub pauses: u8,
    /// Clients that die.
    pub deaths: u8,
    /// Clients that give up.
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
    /// The resource that the slots guard never obeys an earlier holder after a later one, and never
    /// refuses the present holder.
    Fences,
    /// A client that is inside, and whose lease has not ended, is the one that the store names. So
    /// at most `k` such clients are inside, with different slots.
    Names,
    /// No client is granted a slot while an older one waits.
    Order,
    /// If nothing can happen any more without a fault, all passages of living clients are over, all
    /// slots are free, and no client waits.
    NothingLost,
    /// If no further faults happen, every run ends, no matter whether clients write.
    Ends,
    /// If a holder has lost its slot, and its mirror of the store is up to date, it is told so. A
    /// holder that the store still names is never told so.
    Loss,
    /// A client that has given up waits for no other client.
    GiveUps,
}

impl Claim {
    /// All of them.
    pub const ALL: &'static [Self] =
        &[Self::Fences, Self::Names, Self::Order, Self::Loss, Self::GiveUps, Self::NothingLost, Self::Ends];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fences => "fences",
            Self::Names => "unique-names",
            Self::Order => "order",
            Self::NothingLost => "nothing-lost",
            Self::Ends => "ends",
            Self::Loss => "told-of-its-loss",
            Self::GiveUps => "give-ups-end",
        }
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
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
    /// Whether the last client tries once instead of waiting in line.
    pub last_tries: bool,
    /// What may go wrong.
    pub faults: Faults,
    /// Whether the resource that the slots guard compares fences.
    pub compares: bool,
    /// A fault in the text.
    pub mutant: Option<Mutant>,
}

impl Leases {
    /// Clients that make one passage each, without faults.
    #[must_use]
    pub fn new(n: usize, k: usize) -> Self {
        let (passages, last_tries, faults) = (1, false, Faults::NONE);
        Self { n, k, passages, last_tries, faults, compares: true, mutant: None }
    }

    /// The text of this name, `leases`, or a mutant, such as `mutant:leases-no-receipt`, with the
    /// sizes and faults at which it is noticed.
    ///
    /// ```
    /// use doorway_check::leases::Leases;
    /// assert!(Leases::named("leases").is_some());
    /// let report = Leases::named("mutant:leases-no-receipt").unwrap().check();
    /// assert_eq!(report.failure.unwrap().claim.to_string(), "nothing-lost");
    /// assert!(Leases::named("am-chain").is_none());
    /// ```
    #[must_use]
    pub fn named(id: &str) -> Option<Self> {
        let usual = Self { faults: Faults { doubts: 1, pauses: 1, ..Faults::NONE }, ..Self::new(2, 1) };
        token::named(id).map(|mutant| mutant.map_or(usual, |mutant| mutant.noticed().0))
    }

    /// Its name.
    #[must_use]
    pub fn id(&self) -> String {
        self.mutant.map_or(ID.to_owned(), |mutant| format!("{MUTANT_PREFIX}{}", mutant.name()))
    }

    /// Why there is no such machine.
    #[must_use]
    pub fn refuses(&self) -> Option<&'static str> {
        // Each lease is a bit.
        let leases = self.n * (1 + usize::from(self.faults.pauses));
        match self {
            Self { n: 0, .. } | Self { k: 0, .. } | Self { passages: 0, .. } => {
                Some("a search of leases needs at least one client, one slot and one passage; give more")
            }
            Self { n: 17.., .. } => Some("a search of leases has room for 16 clients; give a smaller --n"),
            _ if leases > 64 => Some("there is no room for so many pauses with this many clients; give fewer --pauses"),
            _ => None,
        }
    }

    /// Tries every order of moves.
    ///
    /// # Panics
    /// Panics if it [refuses](Self::refuses).
    #[must_use]
    pub fn check(self) -> Report {
        self.check_while(|_| true)
    }

    /// The same, but the search stops once `goes_on` returns false. It is asked with the number of
    /// states found so far.
    ///
    /// ```
    /// use doorway_check::leases::{Claim, Leases};
    /// let report = Leases::new(2, 1).check_while(|states| states < 10);
    /// assert!(!report.complete && report.holds(Claim::Fences).is_none());
    /// ```
    ///
    /// # Panics
    /// The same as for [`check`](Self::check).
    #[must_use]
    pub fn check_while(self, goes_on: impl FnMut(usize) -> bool) -> Report {
        if let Some(why) = self.refuses() {
            panic!("{why}");
        }
        search::check(self, goes_on)
    }
}

impl fmt::Display for Leases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n, k, passages, last_tries, faults, compares, .. } = self;
        write!(f, "{} n={n} k={k}, {passages} passages each, {faults}", self.id())?;
        f.write_str(if *last_tries { ", the last client tries" } else { "" })?;
        f.write_str(if *compares { "" } else { ", the resource compares no fences" })
    }
}

/// The type of the text that is checked: the one that the crate for etcd drives.
pub type Text = Passage;
