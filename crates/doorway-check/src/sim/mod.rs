//! A simulated machine that runs the shipped text of an algorithm step by step.
//!
//! - [`Sim`] is the memory the text sees. Each access is one step of the machine.
//! - [`World`] is the machine: [`State`]s, and [`World::step`].
//! - [`Layout`] knows what was declared, by the papers' names.
//!
//! Nothing here searches; see [`explore`](crate::explore) for that and [`schedule`](crate::schedule) for walking by hand.
//!
//! # What replay rests on
//! The text of a passage is a function of what its accesses see: it must not look at clocks, random numbers or anything shared that is not
//! a variable of the memory, and it waits only in the words for waiting. The machine notices most texts that do otherwise and
//! returns a [`TextError`]; what it cannot notice is state hidden outside the memory that stays the same between two runs in a row.

mod cache;
mod calls;
mod canon;
mod crowd;
mod deaths;
mod layout;
mod locals;
mod memory;
mod numbers;
mod one;
mod op;
mod panics;
mod quiet;
mod rules;
mod step;
mod torn;
mod unmerged;
mod world;

pub use calls::Sequential;
pub(crate) use calls::{Numbered, Object};
pub use canon::{Canon, Facts, Shift};
pub use crowd::{Crowd, Moved};
pub use layout::{Layout, Part, PartInfo, VarId, VarInfo};
pub use locals::LocalId;
pub use memory::{Phase, Sim, SimCell, SimLate, SimTable, SimVar};
pub use numbers::{Number, Numbers};
pub use op::Op;
pub use rules::{Deaths, Keep, Rules, Sections};
pub(crate) use step::Told;
pub use step::{Action, Stepped, What};
pub(crate) use unmerged::Pair;
pub(crate) use world::is_set;
pub use world::{State, Statement, World};

use doorway_core::memory::{Label, Pid};
use std::fmt;

/// A text that cannot be run by replay.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TextError {
    /// It awaits something that is no access.
    Lost(Pid),
    /// Run twice on the same history it asks for different things.
    NotDeterministic(Pid),
    /// A turn of a wait reads nothing, so it can never succeed.
    EmptyTurn {
        /// Who.
        pid: Pid,
        /// The last statement before it.
        label: Label,
    },
    /// A passage makes more accesses than any bounded passage would.
    TooLong {
        /// Who.
        pid: Pid,
        /// The statement it was at.
        label: Label,
        /// How many accesses it had made.
        accesses: usize,
    },
    /// A turn of a wait failed and left a variable changed.
    TurnWrites {
        /// Who.
        pid: Pid,
        /// The statement.
        label: Label,
    },
    /// It accesses a variable that was declared another's private one.
    NotPrivate {
        /// Who.
        pid: Pid,
        /// The statement.
        label: Label,
    },
    /// It reads a variable whose value was said not to matter.
    Unwatched {
        /// Who.
        pid: Pid,
        /// The statement.
        label: Label,
    },
    /// An atomic block accesses a register that is not atomic.
    TornBlock {
        /// Who.
        pid: Pid,
        /// The statement.
        label: Label,
    },
    /// An operation begins within another, ends without having begun or without an access, begins or ends in a turn of a wait that fails, or is not
    /// over when its passage is.
    Calls {
        /// Who.
        pid: Pid,
        /// The last statement before it.
        label: Label,
    },
    /// It chooses among more than actions can tell apart.
    TooManyChoices {
        /// Who.
        pid: Pid,
        /// The statement.
        label: Label,
    },
    /// It panics where no run of it can be shown: before its first access, or where only costs are
    /// counted.
    Panics {
        /// The process whose text does.
        pid: Pid,
        /// The last statement before it; 0 before the first access.
        label: Label,
        /// What it says.
        message: Box<str>,
    },
    /// A machine whose tables are made as they are accessed was to be searched.
    Sparse,
    /// Waits were to be given up in an algorithm that cannot.
    CannotGiveUp,
    /// A register was weakened by force, and nobody has said which values it can take.
    NoDomain {
        /// Who reads it while it is written, or writes it while another does.
        pid: Pid,
        /// The statement.
        label: Label,
    },
    /// An explorer was told a rule, and the machine was made with another.
    OtherRules(&'static str),
    /// A property looks at how large a counter is, and counters are kept small.
    CounterAsked,
    /// There are more processes or variables than the rules can keep track of.
    TooLarge,
    /// There are more processes than what is decided on the whole graph can keep track of.
    TooManyForProgress,
    /// A `keep` left out a local that still matters.
    KeepHides {
        /// Who.
        pid: Pid,
        /// The statement of the `keep`.
        label: Label,
        /// The statement at which the merged local states differ.
        later: Label,
    },
    /// A fault of the memory cannot be made.
    NoFault {
        /// Who would.
        pid: Pid,
        /// The statement.
        label: Label,
        /// Why not.
        why: &'static str,
    },
    /// A run that was found is none of the text: run again without merging, it goes otherwise.
    NoSuchRun {
        /// Who does something else.
        pid: Pid,
        /// The statement at which the merged run had it.
        label: Label,
        /// After how many steps.
        step: usize,
        /// Whether counters were kept small.
        normalised: bool,
    },
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost(pid) => write!(f, "{pid} awaits something that is no access to its memory; await only accesses"),
            Self::NotDeterministic(pid) => write!(
                f,
                "{pid} does different things on the same history; let it depend only on what its accesses see"
            ),
            Self::EmptyTurn { pid, label } => write!(
                f,
                "{pid} waits after statement {label} without reading anything; a turn must read what it waits for"
            ),
            Self::TooLong { pid, label, accesses } => write!(
                f,
                "{pid} made {accesses} accesses in one passage and is at statement {label}; if it waits there, \
                 write the wait as wait_until or spin_until"
            ),
            Self::TurnWrites { pid, label } => write!(
                f,
                "{pid} changes a variable at statement {label} in a turn that fails; only a turn that succeeds may change something"
            ),
            Self::NotPrivate { pid, label } => write!(
                f,
                "{pid} accesses at statement {label} a variable that is declared private to another; declare it with a home only"
            ),
            Self::Unwatched { pid, label } => write!(
                f,
                "{pid} reads at statement {label} a variable that its owner does not watch; watch it, or drop only_while_watched"
            ),
            Self::CannotGiveUp => f.write_str("nobody can give up in this algorithm; check it without give-ups"),
            Self::TornBlock { pid, label } => write!(
                f,
                "{pid} accesses at statement {label}, in an atomic block, a register that is not atomic; drop --force, or the block"
            ),
            Self::Calls { pid, label } => write!(
                f,
                "{pid} invokes or responds out of turn after statement {label}; in each passage an operation begins, makes accesses, and ends before the next one begins"
            ),
            Self::TooManyChoices { pid, label } => {
                write!(f, "{pid} chooses at statement {label} among more than 65,532; choose twice among fewer")
            }
            Self::Panics { pid, label: 0, message } => {
                write!(f, "the text of {pid} panics before its first access: {message}")
            }
            Self::Panics { pid, label, message } => write!(
                f,
                "the text of {pid} panics after statement {label}: {message}; `doorway check` shows a run if sizes are small"
            ),
            Self::Sparse => {
                write!(f, "states need all variables of all tables; search a machine whose rules are not sparse")
            }
            Self::NoDomain { pid, label } => write!(
                f,
                "{pid}, at statement {label}, may see any value of a register that was made weaker by force, and nobody has said \
                 which values it can take; declare them with ranges_over, or force regular registers at the most"
            ),
            Self::OtherRules(rule) => write!(
                f,
                "the explorer was told `{rule}`, and the machine runs by rules of its own that say otherwise; set `{rule}` in \
                 the Rules that the machine is made with"
            ),
            Self::CounterAsked => f.write_str(
                "a property looks at how large a counter is, and counters are kept small; ask for differences of counters, or \
                 drop `normalise`",
            ),
            Self::TooLarge => write!(
                f,
                "crashes, sleeping, weak registers, the order of arrival and cost can be followed for at most 64 processes, \
                 and caches for at most 64 variables; take fewer"
            ),
            Self::TooManyForProgress => write!(
                f,
                "progress is decided for at most 64 processes; take fewer, or ask only for properties of states and steps, \
                 such as exclusion and never-stuck"
            ),
            Self::NoSuchRun { pid, label, step, normalised: false } => write!(
                f,
                "the run that was found is none of the text: at step {step} {pid}, at statement {label}, does something \
                 else without `keep`; a `keep` leaves out a local that matters: Keep::CrossChecked (--cross-check) may \
                 say which, Keep::Ignored (--no-keep) does without"
            ),
            Self::NoSuchRun { pid, label, step, normalised: true } => write!(
                f,
                "counters cannot be kept small: at step {step} {pid}, at statement {label}, does something else if they \
                 are as they are; drop `normalise`, or `counts` from a variable of which not only differences matter, or \
                 add what a `keep` leaves out"
            ),
            Self::NoFault { pid, label, why } => {
                write!(f, "the fault cannot be made: {pid}, at statement {label}, {why}; take another fault")
            }
            Self::KeepHides { pid, label, later } => write!(
                f,
                "the keep of {pid} at statement {label} leaves out a local that matters at statement {later}; add it"
            ),
        }
    }
}
impl std::error::Error for TextError {}
