//! A simulated machine that runs the shipped text of an algorithm step by step.
//!
//! - [`Sim`] is the memory the text sees. Each access is one step of the machine.
//! - [`World`] is the machine: [`State`]s, and [`World::step`].
//! - [`Layout`] knows what was declared, by the papers' names.
//!
//! Nothing here searches; see [`explore`](crate::explore) for that and
//! [`schedule`](crate::schedule) for walking by hand.
//!
//! # What replay rests on
//! The text of a passage is a function of what its accesses see. It must not look at clocks, random
//! numbers or anything shared that is not a variable of the memory, and it must wait only with the
//! words for waiting. The machine notices most texts that break these rules and returns a
//! [`TextError`]. It does not always notice state that is hidden outside the memory and stays the
//! same between two consecutive runs.

mod cache;
mod calls;
mod canon;
mod crowd;
mod deaths;
mod image;
mod layout;
mod learn;
mod line;
mod locals;
mod memory;
mod numbers;
mod one;
mod op;
mod panics;
mod quiet;
mod renaming;
mod rules;
mod step;
mod survey;
mod torn;
mod unmerged;
mod watch;
mod world;

pub(crate) use cache::{Line as CacheLine, Reference};
pub use calls::Sequential;
pub(crate) use calls::{Numbered, Object};
pub use canon::{Canon, Facts, Shift};
pub use crowd::{Crowd, Moved};
pub use layout::{Layout, Part, PartInfo, VarId, VarInfo};
pub(crate) use learn::{Halt, Missing};
pub use locals::LocalId;
pub(crate) use locals::{DONE, Doubt, ROOT};
pub use memory::{Phase, Sim, SimCell, SimLate, SimTable, SimVar};
pub use numbers::{Number, Numbers};
pub use op::Op;
pub use rules::{Deaths, Keep, Rules, Sections};
pub(crate) use step::Told;
pub use step::{Action, Stepped, What};
pub(crate) use survey::Accesses;
pub use survey::CrossChecked;
pub(crate) use unmerged::Pair;
pub use watch::{Monitor, Seen};
pub(crate) use watch::{Watcher, Watches};
pub(crate) use world::is_set;
pub use world::{Machine, State, Statement, World};

use doorway_core::memory::{Label, Pid};
use std::fmt;

/// A text that cannot be run by replay.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TextError {
    /// It awaits something that is not an access.
    Lost(Pid),
    /// Run twice on the same history, it behaves differently.
    NotDeterministic(Pid),
    /// A turn of a wait reads nothing, so it can never succeed.
    EmptyTurn {
        /// The process.
        pid: Pid,
        /// The last statement before it.
        label: Label,
    },
    /// A passage makes more accesses than any bounded passage would.
    TooLong {
        /// The process.
        pid: Pid,
        /// The statement it was at.
        label: Label,
        /// How many accesses it had made.
        accesses: usize,
        /// The variable that it accesses there, and the values that it saw last.
        saw: Box<str>,
    },
    /// A turn of a wait failed and left a variable changed.
    TurnWrites {
        /// The process.
        pid: Pid,
        /// The statement.
        label: Label,
    },
    /// A turn of a wait failed, and after that the wait goes on differently.
    TurnRemembers {
        /// The process.
        pid: Pid,
        /// The statement.
        label: Label,
    },
    /// It accesses a variable that is private to another process.
    NotPrivate {
        /// The process.
        pid: Pid,
        /// The statement.
        label: Label,
    },
    /// It reads a variable whose value was declared irrelevant.
    Unwatched {
        /// The process.
        pid: Pid,
        /// The statement.
        label: Label,
    },
    /// An atomic block accesses a register that is not atomic.
    TornBlock {
        /// The process.
        pid: Pid,
        /// The statement.
        label: Label,
    },
    /// An operation begins within another, ends without having begun or without an access, begins
    /// or ends in a failed turn of a wait, or is not over when its passage is.
    Calls {
        /// The process.
        pid: Pid,
        /// The last statement before it.
        label: Label,
    },
    /// It chooses among more values than an action can tell apart.
    TooManyChoices {
        /// The process.
        pid: Pid,
        /// The statement.
        label: Label,
    },
    /// It panics where no run can be shown: before its first access, or where only costs are
    /// counted.
    Panics {
        /// The process.
        pid: Pid,
        /// The last statement before it; 0 before the first access.
        label: Label,
        /// The message of the panic.
        message: Box<str>,
    },
    /// A search of a machine whose tables are built on access.
    Sparse,
    /// Give-ups in an algorithm that does not support them.
    CannotGiveUp,
    /// A register was weakened by force, and its values are not declared.
    NoDomain {
        /// The process that reads it while it is written, or writes it while another does.
        pid: Pid,
        /// The statement.
        label: Label,
    },
    /// An explorer was given a rule, and the machine was built with another.
    OtherRules(&'static str),
    /// A search cannot be saved or resumed, and this is why.
    Saved(Box<str>),
    /// A property looks at the size of a counter, but counters are kept small.
    CounterAsked,
    /// A monitor watches a machine that takes different states for one.
    Watched,
    /// There is no process, so every property would hold of nothing.
    NoProcess,
    /// Two properties have this name, and verdicts and tokens are found by their names.
    SameName(Box<str>),
    /// States that differ in the names of processes cannot be treated as one, and this is why.
    NotSymmetric(Box<str>),
    /// The same, but this property tells them apart.
    TellsApart(Box<str>),
    /// There are more processes or variables than the rules can track.
    TooLarge,
    /// There are more processes than the whole graph can track.
    TooManyForProgress,
    /// A `keep` omits a local that still matters.
    KeepHides {
        /// The process.
        pid: Pid,
        /// The statement of the `keep`.
        label: Label,
        /// The statement at which the merged local states differ.
        later: Label,
    },
    /// It goes on differently after two histories that leave it with the same content.
    RemembersElsewhere {
        /// The process.
        pid: Pid,
        /// The statement at which it is after both.
        label: Label,
    },
    /// It sees a value that no process was known to write when its local states were found.
    Unforeseen {
        /// The process.
        pid: Pid,
        /// The statement.
        label: Label,
        /// The value, as a word.
        value: u64,
    },
    /// A fault of the memory is impossible.
    NoFault {
        /// The process.
        pid: Pid,
        /// The statement.
        label: Label,
        /// Why not.
        why: &'static str,
    },
    /// A run that was found is not a run of the text: replayed without merging, it goes
    /// differently.
    NoSuchRun {
        /// The process that does something else.
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
            Self::Lost(pid) => write!(f, "{pid} awaits something other than an access to its memory; await only accesses"),
            Self::NotDeterministic(pid) => write!(
                f,
                "{pid} behaves differently on the same history; it must depend only on what its accesses see"
            ),
            Self::EmptyTurn { pid, label } => write!(
                f,
                "{pid} waits after statement {label} without reading anything; a turn must read what it waits for"
            ),
            Self::TooLong { pid, label, accesses, saw } => {
                let saw = if saw.is_empty() { String::new() } else { format!(", where it last saw {saw}") };
                write!(
                    f,
                    "{pid} made {accesses} accesses in one passage and is at statement {label}{saw}; if a local counts the \
                     rounds of a loop there, remove it; if it waits there, write the wait as wait_until or spin_until; if a \
                     loop starts again there, call p.keep before it, with the locals that still matter"
                )
            }
            Self::TurnWrites { pid, label } => write!(
                f,
                "{pid} changes a variable at statement {label} in a failed turn of a wait; only a successful turn may change anything"
            ),
            Self::TurnRemembers { pid, label } => write!(
                f,
                "{pid} remembers the failed turns of a wait at statement {label}, and goes on differently after them; a turn \
                 carries nothing to the next, so write such a wait as an ordinary loop"
            ),
            Self::NotPrivate { pid, label } => write!(
                f,
                "{pid} accesses at statement {label} a variable that is declared private to another; give it a home without making it private"
            ),
            Self::Unwatched { pid, label } => write!(
                f,
                "{pid} reads at statement {label} a variable that its owner does not watch; watch it, or remove only_while_watched"
            ),
            Self::CannotGiveUp => f.write_str("processes cannot give up in this algorithm; check it without give-ups"),
            Self::TornBlock { pid, label } => write!(
                f,
                "{pid} accesses at statement {label}, in an atomic block, a register that is not atomic; omit --force, or remove the block"
            ),
            Self::Calls { pid, label } => write!(
                f,
                "{pid} invokes or responds out of turn after statement {label}; in each passage an operation begins, makes accesses, and ends before the next one begins"
            ),
            Self::TooManyChoices { pid, label } => {
                write!(f, "{pid} chooses at statement {label} among more than 65,532 values; split the choice in two")
            }
            Self::Panics { pid, label: 0, message } => {
                write!(f, "the text of {pid} panics before its first access: {message}")
            }
            Self::Panics { pid, label, message } => write!(
                f,
                "the text of {pid} panics after statement {label}: {message}; `doorway check` with small sizes shows a run"
            ),
            Self::Sparse => {
                write!(f, "a search needs all variables of all tables; use rules that are not sparse")
            }
            Self::NoDomain { pid, label } => write!(
                f,
                "{pid}, at statement {label}, may see any value of a register that was weakened by force, and its values are \
                 not declared; declare them with ranges_over, or force regular registers at most"
            ),
            Self::RemembersElsewhere { pid, label } => write!(
                f,
                "{pid} goes on differently from statement {label} on, although its locals are the same; a text must remember \
                 nothing outside its locals and the memory: no `Cell` in its struct, no `static`"
            ),
            Self::Saved(why) => f.write_str(why),
            Self::OtherRules(rule) => write!(
                f,
                "the explorer was given `{rule}`, but the machine was built with other rules; set `{rule}` in the Rules of the \
                 machine"
            ),
            Self::CounterAsked => f.write_str(
                "a property looks at the size of a counter, but counters are kept small; check differences of counters, or \
                 omit `normalise`",
            ),
            Self::Watched => f.write_str(
                "a monitor may tell states apart that this machine takes for one; omit `normalise` and `alike`, and bound the \
                 passages",
            ),
            Self::NoProcess => f.write_str("there is no process, so there is nothing to check; use at least one"),
            Self::SameName(name) => {
                write!(f, "two properties are called {name:?}, and verdicts are found by their names; rename one of them")
            }
            Self::NotSymmetric(why) => write!(f, "processes cannot change places: {why}"),
            Self::TellsApart(property) => write!(
                f,
                "processes cannot change places: {property} holds of a state, and not of the same state with other names of \
                 processes; omit `symmetric`, or this property"
            ),
            Self::TooLarge => write!(
                f,
                "crashes, sleeping, weak registers, the order of arrival and cost are tracked for at most 64 processes, and \
                 caches for at most 64 variables; use fewer"
            ),
            Self::TooManyForProgress => write!(
                f,
                "progress is decided for at most 64 processes; use fewer, or check only properties of states and steps, such \
                 as exclusion and never-stuck"
            ),
            Self::NoSuchRun { pid, label, step, normalised: false } => write!(
                f,
                "the run that was found is not a run of the text: at step {step} {pid}, at statement {label}, does something \
                 else without `keep`; a `keep` omits a local that matters: Keep::CrossChecked (--cross-check) may find it, \
                 Keep::Ignored (--no-keep) works without"
            ),
            Self::NoSuchRun { pid, label, step, normalised: true } => write!(
                f,
                "counters cannot be kept small: at step {step} {pid}, at statement {label}, does something else with full \
                 counters; omit `normalise`, or remove `counts` from a variable of which not only differences matter, or add \
                 what a `keep` omits"
            ),
            Self::Unforeseen { pid, label, value } => write!(
                f,
                "{pid} sees {value} at statement {label}, which no process was expected to write; search with Keep::Ignored \
                 (--no-keep)"
            ),
            Self::NoFault { pid, label, why } => {
                write!(f, "the fault is impossible: {pid}, at statement {label}, {why}; use another fault")
            }
            Self::KeepHides { pid, label, later } => write!(
                f,
                "the keep of {pid} at statement {label} omits a local that matters at statement {later}; add it"
            ),
        }
    }
}
impl std::error::Error for TextError {}
