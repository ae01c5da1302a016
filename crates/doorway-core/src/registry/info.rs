//! What is said of an algorithm, in one place.

use crate::memory::{Instruction, Pid, Register};
use core::fmt;

/// Everything that is said of one algorithm. Lists, tables and documentation are made from it, and tests
/// compare it with what the checker sees.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// The name it goes by on the command line.
    pub id: &'static str,
    /// One line.
    pub title: &'static str,
    /// What it solves.
    pub problem: Problem,
    /// Where it is from.
    pub paper: Paper,
    /// The figure of the paper.
    pub figure: &'static str,
    /// The instructions its text uses.
    pub instructions: &'static [Instruction],
    /// What the checker can be asked about it by name, and finds true.
    pub properties: &'static [&'static str],
    /// Whom it lets in, as far as it promises.
    pub fairness: &'static str,
    /// How many processes may crash.
    pub tolerates: Tolerates,
    /// The weakest registers it claims to work with.
    pub registers: Register,
    /// Remote references of one passage, for each cost model in which something is claimed.
    pub rmr: &'static [(CostModel, Bound)],
    /// Remote references by order, on the machine it is made for: under contention, and while at most `k` compete. For solutions of
    /// k-exclusion: the columns of Anderson and Moir's Table 1.
    pub orders: Option<(&'static str, &'static str)>,
    /// How many shared words it takes, on a memory that has [this many](crate::memory::Memory::PLENTY) for a row without end.
    pub words: fn(Sizes, usize) -> u64,
    /// The sizes it can be built for.
    pub fits: Fits,
    /// Sizes at which exploring it completes in seconds.
    pub defaults: Defaults,
    /// Whether waiting processes can give up.
    pub can_give_up: bool,
}

/// What most have in common; an entry says what is different.
impl Info {
    /// A mutex of reads and writes, that promises nothing to anybody.
    pub(crate) const fn mutex(id: &'static str, title: &'static str, paper: Paper, figure: &'static str) -> Self {
        Self {
            id,
            title,
            problem: Problem::MutualExclusion,
            paper,
            figure,
            instructions: super::prelude::READ_WRITE,
            properties: &[],
            fairness: "nothing promised",
            tolerates: Tolerates::None,
            registers: Register::Atomic,
            rmr: &[(CostModel::Cc, Bound::Unbounded), (CostModel::Dsm, Bound::Unbounded)],
            orders: None,
            words: |_, _| 0,
            fits: Fits::OneInside,
            defaults: Defaults { n: 3, k: 1, passages: None },
            can_give_up: false,
        }
    }

    /// A value that processes combine their operations on.
    pub(crate) const fn fetch_and_op(
        id: &'static str,
        title: &'static str,
        paper: Paper,
        figure: &'static str,
    ) -> Self {
        Self {
            problem: Problem::FetchAndOp,
            fairness: "starvation-free",
            fits: Fits::AllInside,
            defaults: Defaults { n: 2, k: 2, passages: None },
            ..Self::mutex(id, title, paper, figure)
        }
    }

    /// A solution of k-exclusion.
    pub(crate) const fn k_exclusion(id: &'static str, title: &'static str, paper: Paper, figure: &'static str) -> Self {
        Self {
            problem: Problem::KExclusion,
            fairness: "starvation-free",
            tolerates: Tolerates::KMinusOne,
            fits: Fits::Any,
            defaults: Defaults { n: 3, k: 2, passages: None },
            ..Self::mutex(id, title, paper, figure)
        }
    }

    /// A solution of k-assignment.
    pub(crate) const fn k_assignment(
        id: &'static str,
        title: &'static str,
        paper: Paper,
        figure: &'static str,
    ) -> Self {
        Self { problem: Problem::KAssignment, ..Self::k_exclusion(id, title, paper, figure) }
    }

    /// A resilient object.
    pub(crate) const fn resilient(id: &'static str, title: &'static str, paper: Paper, figure: &'static str) -> Self {
        Self { problem: Problem::ResilientObject, ..Self::k_exclusion(id, title, paper, figure) }
    }
}

/// A problem, as the literature calls it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Problem {
    /// At most one inside: [`mutex`](crate::mutex).
    MutualExclusion,
    /// At most `k` inside: [`k_exclusion`](crate::k_exclusion).
    KExclusion,
    /// At most `k` inside, each with a name of its own: [`k_assignment`](crate::k_assignment).
    KAssignment,
    /// A value, and operations on it that return what it was, as they would one after the other. Whoever is inside has its result.
    FetchAndOp,
    /// Nobody in two rooms at once: [`rooms`](crate::rooms).
    RoomSynchronization,
    /// A stack or a queue whose operations happen one after the other, as far as anybody can tell.
    DataStructure,
    /// Any object whose operations happen one after the other, as far as anybody can tell, and end as long as at most `k - 1` processes have died: [`resilient`](crate::resilient). Whoever is
    /// inside has its result.
    ResilientObject,
}

impl Problem {
    /// What the second of the [`Sizes`] is.
    #[must_use]
    pub const fn second(self) -> Second {
        match self {
            Self::MutualExclusion | Self::KExclusion | Self::KAssignment | Self::FetchAndOp | Self::ResilientObject => {
                Second::Places
            }
            Self::RoomSynchronization => Second::Rooms,
            Self::DataStructure => Second::Slots,
        }
    }
}

/// What there are `k` of, beside `n` processes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Second {
    /// Places: how many may be inside.
    Places,
    /// Rooms.
    Rooms,
    /// Slots: how many elements there can be.
    Slots,
}

impl Second {
    /// The name of its option on the command line, and of the number.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Places => "k",
            Self::Rooms => "rooms",
            Self::Slots => "slots",
        }
    }
}

impl fmt::Display for Second {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Places => "places",
            Self::Rooms => "rooms",
            Self::Slots => "slots",
        })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MutualExclusion => "mutual exclusion",
            Self::KExclusion => "k-exclusion",
            Self::KAssignment => "k-assignment",
            Self::FetchAndOp => "fetch-and-op",
            Self::RoomSynchronization => "room synchronization",
            Self::DataStructure => "data structure",
            Self::ResilientObject => "resilient object",
        })
    }
}

/// A publication.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Paper {
    /// Authors and year, for tables.
    pub short: &'static str,
    /// Title.
    pub title: &'static str,
    /// Where it appeared.
    pub venue: &'static str,
}

impl Paper {
    /// What is our own.
    pub const DOORWAY: Self = Self { short: "doorway", title: "doorway", venue: "this project" };
}

/// How many crashes outside the remainder an algorithm tolerates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tolerates {
    /// None: whoever stops may block all others.
    None,
    /// `k - 1`, anywhere.
    KMinusOne,
}

impl Tolerates {
    /// The number for a given `k`.
    #[must_use]
    pub fn crashes(self, sizes: Sizes) -> usize {
        match self {
            Self::None => 0,
            Self::KMinusOne => sizes.k - 1,
        }
    }
}

impl fmt::Display for Tolerates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "0",
            Self::KMinusOne => "k-1",
        })
    }
}

/// What counts as a remote reference.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CostModel {
    /// Cache-coherent, write-through without allocation: a write costs 1 and leaves no valid copy. The papers' count.
    Cc,
    /// Cache-coherent, a write costs 1 and leaves the writer a valid copy.
    CcWriteBack,
    /// Cache-coherent, a write to a line held exclusively is free.
    CcExclusive,
    /// Distributed shared memory: an access to a variable that lives elsewhere.
    Dsm,
}

impl CostModel {
    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cc => "cc",
            Self::CcWriteBack => "cc-wb",
            Self::CcExclusive => "cc-ex",
            Self::Dsm => "dsm",
        }
    }
}

/// A claimed bound on the remote references of one passage.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// At most this many.
    AtMost {
        /// The formula, for people.
        formula: &'static str,
        /// The formula, for machines: sizes and the contention, the largest number of processes outside their remainders.
        at: fn(Sizes, usize) -> u64,
    },
    /// Bounded, with no constant claimed.
    Order(&'static str),
    /// No bound: it spins on remote memory.
    Unbounded,
}

impl Bound {
    /// The bound at these sizes and this contention; `None` if no number is claimed.
    #[must_use]
    pub fn at(&self, sizes: Sizes, contention: usize) -> Option<u64> {
        match self {
            Self::AtMost { at, .. } => Some(at(sizes, contention)),
            Self::Order(_) | Self::Unbounded => None,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AtMost { formula, .. } => formula,
            Self::Order(order) => order,
            Self::Unbounded => "unbounded",
        })
    }
}

/// The sizes an algorithm can be built for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fits {
    /// Any `n`, any `k`.
    Any,
    /// Any `n`, `k = 1`.
    OneInside,
    /// `n = 2`, `k = 1`.
    TwoProcesses,
    /// Any `n`, and `k` no less: everyone may be inside.
    AllInside,
    /// The same, and `k` no more than this.
    AllInsideOf(usize),
    /// Any `n`, and `k` no more than this.
    UpTo(usize),
}

impl Fits {
    /// Whether everyone may be inside, so that `k` follows from `n`.
    #[must_use]
    pub const fn keeps_nobody_out(self) -> bool {
        matches!(self, Self::AllInside | Self::AllInsideOf(_))
    }
}

/// Default sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Defaults {
    /// Processes.
    pub n: usize,
    /// Places.
    pub k: usize,
    /// Passages of each process; `None`: unbounded, for algorithms whose variables are.
    pub passages: Option<u32>,
}

/// `n` processes, `k` places (or [something else](Problem::second)). `k >= n` is legal: nobody waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// Processes.
    pub n: usize,
    /// Places.
    pub k: usize,
}

impl Sizes {
    /// Sizes within reason.
    ///
    /// ```
    /// use doorway_core::registry::{SizeError, Sizes};
    /// assert!(Sizes::new(3, 5).is_ok());
    /// assert_eq!(Sizes::new(0, 1), Err(SizeError::NoProcess));
    /// ```
    ///
    /// # Errors
    /// If one of them is zero or above [`Pid::LIMIT`].
    pub fn new(n: usize, k: usize) -> Result<Self, SizeError> {
        match (n, k) {
            (0, _) => Err(SizeError::NoProcess),
            (_, 0) => Err(SizeError::NoPlace),
            (n, _) if n > Pid::LIMIT => Err(SizeError::TooManyProcesses(n)),
            (_, k) if k > Pid::LIMIT => Err(SizeError::TooManyPlaces(k)),
            _ => Ok(Self { n, k }),
        }
    }
}

impl Info {
    /// Checks that this algorithm can be built for these sizes; what is not given is the default.
    ///
    /// ```
    /// use doorway_core::registry::{self, SizeError};
    /// let chain = registry::find("am-chain").unwrap();
    /// assert_eq!(chain.sizes(Some(5), Some(2)).unwrap().n, 5);
    /// let bakery = registry::find("bakery").unwrap();
    /// assert_eq!(bakery.sizes(None, Some(2)), Err(SizeError::OnlyOneInside { id: "bakery", k: 2 }));
    /// ```
    ///
    /// # Errors
    /// As [`Sizes::new`], or if the algorithm is not made for them.
    pub fn sizes(&self, n: Option<usize>, k: Option<usize>) -> Result<Sizes, SizeError> {
        let n = n.unwrap_or(self.defaults.n);
        let usual = if self.fits.keeps_nobody_out() { n } else { self.defaults.k };
        let sizes = Sizes::new(n, k.unwrap_or(usual))?;
        match self.fits {
            Fits::TwoProcesses if sizes.n != 2 => Err(SizeError::OnlyTwoProcesses { id: self.id, n: sizes.n }),
            Fits::OneInside | Fits::TwoProcesses if sizes.k != 1 => {
                Err(SizeError::OnlyOneInside { id: self.id, k: sizes.k })
            }
            Fits::UpTo(most) | Fits::AllInsideOf(most) if sizes.k > most => {
                Err(SizeError::TooManyNames { id: self.id, k: sizes.k, most })
            }
            Fits::AllInside | Fits::AllInsideOf(_) if sizes.k < sizes.n => {
                Err(SizeError::AllInside { id: self.id, n: sizes.n, k: sizes.k })
            }
            _ => Ok(sizes),
        }
    }

    /// The one of several numbers that the algorithm has: the second of its sizes, by what it is [called](Second).
    ///
    /// ```
    /// use doorway_core::registry::{self, Second, SizeError};
    /// let rooms = registry::find("rooms").unwrap();
    /// assert_eq!(rooms.second([(Second::Places, None), (Second::Rooms, Some(3))]), Ok(Some(3)));
    /// let wrong = SizeError::Other { id: "rooms", has: Second::Rooms, given: Second::Places };
    /// assert_eq!(rooms.second([(Second::Places, Some(2)), (Second::Rooms, None)]), Err(wrong));
    /// ```
    ///
    /// # Errors
    /// If another one is given.
    pub fn second<const N: usize>(&self, given: [(Second, Option<usize>); N]) -> Result<Option<usize>, SizeError> {
        let has = self.problem.second();
        match given.iter().find(|(other, size)| *other != has && size.is_some()) {
            Some(&(given, _)) => Err(SizeError::Other { id: self.id, has, given }),
            None => Ok(given.iter().find_map(|(_, size)| *size)),
        }
    }

    /// What is claimed in a cost model.
    #[must_use]
    pub fn bound(&self, model: CostModel) -> Option<Bound> {
        self.rmr.iter().find(|(m, _)| *m == model).map(|&(_, b)| b)
    }
}

/// Why an algorithm cannot be built for some sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SizeError {
    /// `n = 0`.
    NoProcess,
    /// `k = 0`.
    NoPlace,
    /// `n` is too large for a process name.
    TooManyProcesses(usize),
    /// `k` is more than there can be processes.
    TooManyPlaces(usize),
    /// A mutex was asked to let several in.
    OnlyOneInside {
        /// Which.
        id: &'static str,
        /// How many.
        k: usize,
    },
    /// An object was asked to keep some outside.
    AllInside {
        /// Which.
        id: &'static str,
        /// How many processes.
        n: usize,
        /// How many of them inside.
        k: usize,
    },
    /// An object was asked for more names than its words have space for.
    TooManyNames {
        /// Which.
        id: &'static str,
        /// How many.
        k: usize,
        /// How many there can be.
        most: usize,
    },
    /// It would take more shared words than this memory has.
    TooManyWords {
        /// Which.
        id: &'static str,
        /// How many.
        words: u64,
    },
    /// The algorithm has no such size.
    Other {
        /// Which.
        id: &'static str,
        /// What it has.
        has: Second,
        /// What was given.
        given: Second,
    },
    /// A two-process algorithm was asked for another number.
    OnlyTwoProcesses {
        /// Which.
        id: &'static str,
        /// How many.
        n: usize,
    },
}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProcess => write!(f, "n = 0 leaves nobody to run; give at least one process"),
            Self::NoPlace => write!(f, "k = 0 would let nobody in; give at least one place or room"),
            Self::TooManyProcesses(n) => {
                write!(f, "n = {n} is more processes than have names; give at most {}", Pid::LIMIT)
            }
            Self::TooManyPlaces(k) => {
                write!(f, "k = {k} places are too many; give at most {}", Pid::LIMIT)
            }
            Self::OnlyOneInside { id, k } => {
                write!(
                    f,
                    "{id} solves mutual exclusion, so k is 1, not {k}; for more places take a k-exclusion algorithm"
                )
            }
            Self::AllInside { id, n, k } => {
                write!(f, "{id} keeps nobody out, so k is not {k} but {n} or more; leave it away")
            }
            Self::TooManyNames { id, k, most } => {
                write!(f, "{id} has space for {most} names, not for {k}; give k = {most} or less")
            }
            Self::TooManyWords { id, words } => {
                write!(
                    f,
                    "{id} would take {words} shared words at these sizes; take fewer processes, or a tree or fast path"
                )
            }
            Self::Other { id, has, given } => {
                write!(f, "{id} has {has} and no {given}; give --{} and not --{}", has.name(), given.name())
            }
            Self::OnlyTwoProcesses { id, n } => write!(f, "{id} is for exactly two processes, so n is 2, not {n}"),
        }
    }
}
impl core::error::Error for SizeError {}
