//! Faults that a memory seeds into a text, by statement number.
//!
//! A text says for each access which part and which statement it belongs to. So the simulated memory can leave an access
//! out, put it off, or give it another value, and the text itself stays as it is: what is shipped is what has the fault.
//!
//! ```
//! use doorway_check::faults::Faults;
//! let faults: Faults = "drop:slot1.7".parse()?;
//! assert_eq!(faults.to_string(), "drop:slot1.7");
//!
//! // A fault stands behind the name of an algorithm, and is checked like one.
//! let chain = doorway_check::subject::find("am-chain+drop:slot1.7").unwrap();
//! assert_eq!(chain.faults, faults);
//! # Ok::<(), doorway_check::faults::FaultError>(())
//! ```
//!
//! | fault | what becomes of the access |
//! | --- | --- |
//! | `drop:7` | it is not made. A text that expects an answer gets one as if it had been made first of all |
//! | `drop:7=VALUE` | the same, and this is the answer |
//! | `defer:7` | it is made after the next access of the process, or when the passage ends |
//! | `defer:7>9` | it is made after the next access at statement 9 |
//! | `split:7` | it reads and writes in one step; now it does so in two |
//! | `blind:7` | it compares and swaps; now it swaps whatever it finds, and the text is told that it compared well |
//! | `force:7` | the same, and the text is told what it found |
//! | `nowait:7` | a wait that reads here looks once and goes on |
//! | `read:7=VALUE`, `read:7+1`, `read:7-1`, `read:7!` | the text is told another value than it found |
//! | `read:7=1>2` | the text is told 2 where it found 1; so with `write` |
//! | `write:7=VALUE`, `write:7+1`, `write:7-1`, `write:7!` | another value is written (or added) than the text says |
//! | `to:7:VAR` | it goes to another variable |
//! | `wait:7:VAR=VALUE`, `wait:7:VAR!=VALUE` | before it, the process waits for this |
//! | `then-wait:7:VAR=VALUE` | after it, the process waits for this |
//! | `set:7:VAR=VALUE`, `then-set:7:VAR=VALUE` | before it, or after it, the process also writes this |
//! | `init:VAR=VALUE`, `init:VAR+1`, `init:VAR-1` | no access: a variable begins with another value |
//! | `bits:VAR=2` | no access: a variable has no more bits than this |
//! | `atomic:VAR` | no access: a register that the text takes to be weaker is atomic |
//!
//! - A statement is `7` wherever there is one, `root.7` of the algorithm as a whole, `slot.7` of every part of that kind,
//!   and `slot1.7` or `block0.slot1.7` of one part. `slot1.*` are all statements of that part. `7@p1` is the statement 7 of
//!   process 1 only.
//! - A variable is `X` in the part of the access, or `slot1.X` of another part. `flag[2]` is one of a row, `flag[me]` and
//!   `flag[me+1]` follow the number of the process, and `flag[+1]` the place that the access goes to; rows are rings here.
//!   `init:flag` is the whole row.
//! - A value is a number, `true`, `false`, a process such as `p1`, `me`, `nobody`, or `seen`: what the process saw there,
//!   if it has read nothing else since.
//! - Several faults have commas between them.
//!
//! What was put off belongs to the local state of its process, as the second half of a split access does. Otherwise states
//! would be taken for one that are not, and a run could be missed.

mod hunt;
mod parse;

pub use hunt::{Found, Hunt, Outcome, candidates};
pub use parse::FaultError;

use crate::sim::{Op, PartInfo};
use doorway_core::memory::{Label, Pid};
use std::sync::{Mutex, PoisonError};

/// Faults that a memory seeds together. None, unless told otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Faults(&'static [Fault]);

impl Faults {
    /// No fault.
    pub const NONE: Self = Self(&[]);

    /// These, for as long as the program runs: machines and tokens pass them around by the hundred.
    #[must_use]
    pub fn new(faults: Vec<Fault>) -> Self {
        static KNOWN: Mutex<Vec<&'static [Fault]>> = Mutex::new(Vec::new());
        if faults.is_empty() {
            return Self::NONE;
        }
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(same) = known.iter().find(|same| ***same == *faults) {
            return Self(same);
        }
        known.push(faults.leak());
        Self(known[known.len() - 1])
    }

    /// These and others.
    #[must_use]
    pub fn and(self, others: Self) -> Self {
        if others.is_empty() { self } else { Self::new(self.0.iter().chain(others.0).cloned().collect()) }
    }

    /// Whether one of them tells a text what it saw before.
    pub(crate) fn ask_for_what_was_seen(self) -> bool {
        let asks = |fault: &Fault| {
            matches!(fault, Fault::At(_, Kind::Drop(Some(Value::Seen)) | Kind::Defer(_, Some(Value::Seen))))
        };
        self.0.iter().any(asks)
    }

    /// Each of them.
    #[must_use]
    pub fn all(self) -> &'static [Fault] {
        self.0
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }
}

impl std::fmt::Debug for Faults {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

/// One fault; see the [table](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// In what becomes of an access.
    At(Place, Kind),
    /// In what a variable begins with.
    Init(Target, Change),
    /// In how many bits a variable has.
    Bits(Target, u32),
    /// In how weak a variable may be.
    Atomic(Target),
}

/// What becomes of an access.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// It is not made, and a text that expects an answer is told this.
    Drop(Option<Value>),
    /// It is made after the next access, or the next one at this statement; the text is told this meanwhile.
    Defer(Option<Place>, Option<Value>),
    /// Its read and its write are two steps.
    Split,
    /// It swaps without comparing, and the text is told that it compared well.
    Blind,
    /// The same, and the text is told what it found.
    Force,
    /// A wait that reads here looks once.
    NoWait,
    /// The text is told another value.
    Read(Change),
    /// Another value is written.
    Write(Change),
    /// It goes to another variable.
    To(Target),
    /// The process waits until the variable has the value, or until it has another.
    Wait(When, Target, bool, Value),
    /// The process also writes this.
    Set(When, Target, Value),
}

/// Before the access, or after it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum When {
    /// Before it.
    Before,
    /// After it.
    After,
}

/// A statement.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// Of which part, or of which kind of parts; `None`: of any.
    pub part: Option<String>,
    /// Its number; `None`: each of that part.
    pub label: Option<Label>,
    /// Of this process only.
    pub process: Option<usize>,
}

/// The algorithm as a whole, where parts are named.
const ROOT: &str = "root";

/// Whether a part is meant by this name: its full one, the end of it, its kind, or the name of the whole.
pub(crate) fn is_called(part: &PartInfo, name: &str) -> bool {
    let ends = || part.path.strip_suffix(name).is_some_and(|outer| outer.ends_with('.'));
    part.path == name || part.kind == name || part.path.is_empty() && name == ROOT || ends()
}

impl Place {
    /// Whether it is this statement of this part.
    pub(crate) fn is(&self, pid: Pid, part: &PartInfo, label: Label) -> bool {
        self.label.is_none_or(|known| known == label)
            && self.process.is_none_or(|p| p == pid.index())
            && self.part.as_ref().is_none_or(|name| is_called(part, name))
    }
}

/// A variable.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Target {
    /// Of which part; `None`: of the part of the access.
    pub part: Option<String>,
    /// Its name; empty if it is the row that the access goes to.
    pub name: String,
    /// Its place in a row.
    pub index: Option<Index>,
}

/// A place in a row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Index {
    /// This one.
    Is(usize),
    /// So far from the number of the process.
    FromMe(i64),
    /// So far from where the access goes.
    FromHere(i64),
}

/// What becomes of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Change {
    /// This instead.
    Is(Value),
    /// The second where it was the first.
    Of(Value, Value),
    /// So much more.
    Plus(i64),
    /// True if it was false, and false otherwise.
    Not,
}

/// A value of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// A number; 0 and 1 are also false and true.
    Number(i64),
    /// A bit.
    Bit(bool),
    /// A process.
    Process(usize),
    /// The process that accesses.
    Me,
    /// No process.
    Nobody,
    /// What the process saw there, if that is what it read last in this passage; else what the variable begins with.
    Seen,
}

/// Whether the access reads and writes in one step.
pub(crate) fn reads_and_writes(op: Op) -> bool {
    op.instruction().is_some() && !matches!(op, Op::Read(_) | Op::Write(..))
}

impl From<Fault> for Faults {
    fn from(fault: Fault) -> Self {
        Self::new(vec![fault])
    }
}
