//! The claims about an algorithm, in one place.

use crate::memory::{Instruction, Pid, Register};
use core::fmt;

/// All claims about one algorithm. Lists, tables and documentation are made from it, and tests
/// compare it with what the checker sees.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Its name on the command line.
    pub id: &'static str,
    /// A description in one line.
    pub title: &'static str,
    /// The problem it solves.
    pub problem: Problem,
    /// Its source.
    pub paper: Paper,
    /// The figure of the paper.
    pub figure: &'static str,
    /// The instructions that its text uses.
    pub instructions: &'static [Instruction],
    /// The properties that the checker knows by name and finds true.
    pub properties: &'static [&'static str],
    /// The order in which it lets processes in, as far as it promises one.
    pub fairness: &'static str,
    /// The number of processes that may crash.
    pub tolerates: Tolerates,
    /// The weakest registers with which it claims to work.
    pub registers: Register,
    /// The remote references of one passage, for each cost model with a claim.
    pub rmr: &'static [(CostModel, Bound)],
    /// The order of magnitude of its remote references on the machine it is made for: first under
    /// contention, then while at most `k` processes compete. For solutions of k-exclusion these are
    /// the columns of Anderson and Moir's Table 1.
    pub orders: Option<(&'static str, &'static str)>,
    /// The number of shared words it takes, on a memory that substitutes [this
    /// many](crate::memory::Memory::PLENTY) for an infinite row.
    pub words: fn(Sizes, usize) -> u64,
    /// The sizes for which it can be built.
    pub fits: Fits,
    /// Sizes at which an exploration completes within seconds.
    pub defaults: Defaults,
    /// Whether waiting processes can give up.
    pub can_give_up: bool,
}

/// What most algorithms have in common. An entry states only the differences.
impl Info {
    /// A mutex of reads and writes that promises no order of entry.
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

    /// A value on which processes combine their operations.
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
    /// A value with operations that return its previous value, as they would in a sequential
    /// execution. A process that is inside has its result.
    FetchAndOp,
    /// No two rooms are occupied at the same time: [`rooms`](crate::rooms).
    RoomSynchronization,
    /// A linearizable stack or queue.
    DataStructure,
    /// Any linearizable object whose operations complete as long as at most `k - 1` processes have
    /// died: [`resilient`](crate::resilient). A process that is inside has its result.
    ResilientObject,
}

impl Problem {
    /// The meaning of the second of the [`Sizes`].
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

/// What there are `k` of, besides the `n` processes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Second {
    /// Places: how many processes may be inside.
    Places,
    /// Rooms.
    Rooms,
    /// Slots: the largest number of elements.
    Slots,
}

impl Second {
    /// The name of its option on the command line, and of the number itself.
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
    /// The place where it appeared.
    pub venue: &'static str,
}

impl Paper {
    /// Our own work.
    pub const DOORWAY: Self = Self { short: "doorway", title: "doorway", venue: "this project" };
}

/// The number of crashes outside the remainder section that an algorithm tolerates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tolerates {
    /// None: a process that stops may block all others.
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
    /// Cache-coherent, write-through without allocation: a write costs 1 and leaves no valid copy.
    /// The papers count this way.
    Cc,
    /// Cache-coherent: a write costs 1 and leaves the writer with a valid copy.
    CcWriteBack,
    /// Cache-coherent: a write to a line that the process holds exclusively is free.
    CcExclusive,
    /// Distributed shared memory: an access to a variable that lives elsewhere costs 1.
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

/// A claimed upper bound on the remote references of one passage.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// At most this many.
    AtMost {
        /// The formula, for people.
        formula: &'static str,
        /// The formula, for machines. Its arguments are the sizes and the contention, that is, the
        /// largest number of processes outside their remainder sections.
        at: fn(Sizes, usize) -> u64,
    },
    /// Bounded, without a claimed constant.
    Order(&'static str),
    /// No bound: processes spin on remote memory.
    Unbounded,
}

impl Bound {
    /// The bound at these sizes and this contention, or `None` if no number is claimed.
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

/// The sizes for which an algorithm can be built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fits {
    /// Any `n`, any `k`.
    Any,
    /// Any `n`, `k = 1`.
    OneInside,
    /// `n = 2`, `k = 1`.
    TwoProcesses,
    /// Any `n`, and `k` at least `n`: all processes may be inside.
    AllInside,
    /// The same, and `k` at most this.
    AllInsideOf(usize),
    /// Any `n`, and `k` at most this.
    UpTo(usize),
}

impl Fits {
    /// Whether all processes may be inside, so that `k` follows from `n`.
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
    /// Passages of each process. `None` means no limit, for algorithms with finitely many states.
    pub passages: Option<u32>,
}

/// `n` processes and `k` places (or [something else](Problem::second)). `k >= n` is allowed; then
/// no process waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// Processes.
    pub n: usize,
    /// Places.
    pub k: usize,
}

impl Sizes {
    /// Validates sizes.
    ///
    /// ```
    /// use doorway_core::registry::{SizeError, Sizes};
    /// assert!(Sizes::new(3, 5).is_ok());
    /// assert_eq!(Sizes::new(0, 1), Err(SizeError::NoProcess));
    /// ```
    ///
    /// # Errors
    /// Returns an error if one of them is zero or above [`Pid::LIMIT`].
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
    /// Checks that this algorithm can be built for these sizes. A size that is not given gets its
    /// default.
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
    /// The same as for [`Sizes::new`], or if the algorithm does not support the sizes.
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

    /// Returns the one number that applies to this algorithm: its second size, under its
    /// [name](Second).
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
    /// Returns an error if a number is given that the algorithm does not have.
    pub fn second<const N: usize>(&self, given: [(Second, Option<usize>); N]) -> Result<Option<usize>, SizeError> {
        let has = self.problem.second();
        match given.iter().find(|(other, size)| *other != has && size.is_some()) {
            Some(&(given, _)) => Err(SizeError::Other { id: self.id, has, given }),
            None => Ok(given.iter().find_map(|(_, size)| *size)),
        }
    }

    /// The claim in a cost model.
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
    /// `n` is too large: there are not enough process names.
    TooManyProcesses(usize),
    /// `k` exceeds the largest possible number of processes.
    TooManyPlaces(usize),
    /// A mutex was asked to let several processes in.
    OnlyOneInside {
        /// The algorithm.
        id: &'static str,
        /// The requested `k`.
        k: usize,
    },
    /// An object was asked to keep some processes outside.
    AllInside {
        /// The object.
        id: &'static str,
        /// The number of processes.
        n: usize,
        /// The requested number of processes inside.
        k: usize,
    },
    /// An object was asked for more names than its words have room for.
    TooManyNames {
        /// The object.
        id: &'static str,
        /// The requested number of names.
        k: usize,
        /// The largest possible number.
        most: usize,
    },
    /// It would take more shared words than this memory has.
    TooManyWords {
        /// The algorithm.
        id: &'static str,
        /// The number of words it would take.
        words: u64,
    },
    /// The algorithm has no such size.
    Other {
        /// The algorithm.
        id: &'static str,
        /// The size that it has.
        has: Second,
        /// The size that was given.
        given: Second,
    },
    /// A two-process algorithm was asked for another number of processes.
    OnlyTwoProcesses {
        /// The algorithm.
        id: &'static str,
        /// The requested number of processes.
        n: usize,
    },
}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProcess => write!(f, "n = 0 leaves no process to run; give at least one process"),
            Self::NoPlace => write!(f, "0 places would let no caller in; give at least one place or room"),
            Self::TooManyProcesses(n) => {
                write!(f, "n = {n} processes are too many; give at most {}", Pid::LIMIT)
            }
            Self::TooManyPlaces(k) => {
                write!(f, "{k} places are too many; give at most {}", Pid::LIMIT)
            }
            Self::OnlyOneInside { id, k } => {
                write!(
                    f,
                    "{id} solves mutual exclusion, so k is 1, not {k}; for more places use a k-exclusion algorithm"
                )
            }
            Self::AllInside { id, n, k } => {
                write!(f, "{id} keeps no process out, so k is not {k} but {n} or more; omit --k")
            }
            Self::TooManyNames { id, k, most } => {
                write!(f, "{id} has space for {most} names, not for {k}; give k = {most} or less")
            }
            Self::TooManyWords { id, words } => {
                write!(
                    f,
                    "{id} would take {words} shared words at these sizes; use fewer processes, or a tree or fast path"
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
