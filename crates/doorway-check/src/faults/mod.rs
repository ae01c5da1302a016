//! Faults that a memory seeds into a text, by statement number.
//!
//! A text says to which part and statement each access belongs. So the simulated memory can drop an
//! access, defer it, or change its value. The text itself stays as it is: the checker runs the text
//! that ships.
//!
//! ```
//! use doorway_check::faults::Faults;
//! let faults: Faults = "drop:slot1.7".parse()?;
//! assert_eq!(faults.to_string(), "drop:slot1.7");
//!
//! // A fault follows the name of an algorithm, and is checked like one.
//! let chain = doorway_check::subject::find("am-chain+drop:slot1.7").unwrap();
//! assert_eq!(chain.faults, faults);
//! # Ok::<(), doorway_check::faults::FaultError>(())
//! ```
//!
//! | fault | effect on the access |
//! | --- | --- |
//! | `drop:7` | it is not made. A text that expects an answer gets the initial value; a compare-and-swap is told that it succeeded |
//! | `drop:7=VALUE` | the same, with this answer |
//! | `defer:7` | it is made after the next access of the process, or at the end of the passage |
//! | `defer:7>9` | it is made after the next access at statement 9 |
//! | `split:7` | it reads and writes in one step; now in two |
//! | `blind:7` | it compares and swaps; now it always swaps, and reports success |
//! | `force:7` | the same, but it reports what it found |
//! | `insist:7` | it compares and swaps; now it repeats until it succeeds |
//! | `nowait:7` | a wait that reads here looks once, and goes on |
//! | `read:7=VALUE`, `read:7+1`, `read:7-1`, `read:7!` | the text is told another value than was found |
//! | `read:7=1>2` | the text is told 2 where 1 was found; likewise with `write` |
//! | `write:7=VALUE`, `write:7+1`, `write:7-1`, `write:7!` | another value is written (or added) than the text says |
//! | `read:7#FIELD+1`, `write:7#FIELD=VALUE`, `read:7#FIELD+OTHER` | the same for one field of the word, if it has fields |
//! | `to:7:VAR` | it goes to another variable |
//! | `early:7:VAR>9` | before it, the process reads this; its next access at statement 9 is told that value |
//! | `wait:7:VAR=VALUE`, `wait:7:VAR!=VALUE` | before it, the process waits for this |
//! | `then-wait:7:VAR=VALUE` | after it, the process waits for this |
//! | `set:7:VAR=VALUE`, `then-set:7:VAR=VALUE` | before or after it, the process also writes this |
//! | `set:7:VAR+1`, `then-set:7:VAR-1` | the same, but it adds this |
//! | `also:7:VAR`, `then-also:7:VAR#FIELD+1` | before or after it, the process writes the same value there, or a change of it |
//! | `expect:7#FIELD-1` | it compares with another value, and the text is told as if it had not |
//! | `init:VAR=VALUE`, `init:VAR+1`, `init:VAR-1` | no access: a variable has another initial value |
//! | `home:VAR=p0` | no access: a variable lives with this process |
//! | `bits:VAR=2` | no access: a variable has no more bits than this |
//! | `atomic:VAR` | no access: a register that the text assumes to be weaker is atomic |
//!
//! - A statement is `7` in any part, `root.7` in the algorithm as a whole, `slot.7` in every part
//!   of that kind, and `slot1.7` or `block0.slot1.7` in one part. `slot1.*` means all statements of
//!   that part. `7@p1` is statement 7 of process 1 only. `7[1]` is statement 7 when it goes to that
//!   place of a row, `7<4` when the last access was at 4, `7x2` the second access at 7 in a
//!   passage, and `7x2..` all from the second on. The order is `slot1.7[1]<4x2..@p1`.
//! - A variable is `X` in the part of the access, or `slot1.X` in another part. `flag[2]` is one of
//!   a row; `flag[me]` and `flag[me+1]` follow the number of the process; `flag[+1]` follows the
//!   place that the access goes to. After the last variable of a row comes the first. `init:flag`
//!   is the whole row. `gate#line` is a field of a variable, if its type has fields.
//! - A value is a number, `true`, `false`, a process such as `p1`, `me` or `nobody`. `old` is what
//!   a compare-and-swap expects to find, `at4` what the process last saw at statement 4, and `seen`
//!   what it saw there, if it has read nothing else since.
//! - If a fault does something after a compare-and-swap, it does so only if the compare-and-swap
//!   succeeded.
//! - Commas separate several faults.
//!
//! A deferred access belongs to the local state of its process, and so does the second half of a
//! split access. Otherwise different states would be merged, and a run could be missed.

mod hunt;
mod parse;

pub use hunt::{Found, Hunt, Outcome, candidates};
pub use parse::FaultError;

use crate::sim::{Op, PartInfo};
use doorway_core::memory::{Label, Pid};
use std::sync::{Mutex, PoisonError};

/// Faults that a memory seeds together. By default there are none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Faults(&'static [Fault]);

impl Faults {
    /// No fault.
    pub const NONE: Self = Self(&[]);

    /// These faults. They stay in memory while the program runs, because machines and tokens pass
    /// them around by the hundred.
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

    /// Whether one of them tells a text a value that it saw before.
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

    /// Whether one of them tells a text the value that it saw at this statement.
    pub(crate) fn ask_for_what_was_seen_at(self, label: Label) -> bool {
        let value = |value: &Value| *value == Value::At(label);
        self.0.iter().any(|fault| match fault {
            Fault::At(_, Kind::Drop(Some(told)) | Kind::Defer(_, Some(told))) => value(told),
            Fault::At(_, Kind::Read(change) | Kind::Write(change)) => {
                let mut change = change;
                while let Change::InField(_, inner) = change {
                    change = inner;
                }
                matches!(change, Change::Is(told) | Change::Of(_, told) if value(told))
            }
            _ => false,
        })
    }

    /// The statements at which one of them changes an access.
    pub(crate) fn places(self) -> impl Iterator<Item = &'static Place> {
        self.0.iter().filter_map(|fault| match fault {
            Fault::At(place, _) => Some(place),
            _ => None,
        })
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
    /// A changed access.
    At(Place, Kind),
    /// A changed initial value.
    Init(Target, Change),
    /// Fewer bits for a variable.
    Bits(Target, u32),
    /// An atomic register instead of a weaker one.
    Atomic(Target),
    /// Another home for a variable.
    Home(Target, usize),
}

/// A change of an access.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// It is not made; a text that expects an answer gets this one.
    Drop(Option<Value>),
    /// It is made after the next access, or the next one at this statement; in the meantime the
    /// text gets this answer.
    Defer(Option<Place>, Option<Value>),
    /// Its read and its write are two steps.
    Split,
    /// It swaps without comparing, and reports success.
    Blind,
    /// The same, but it reports what it found.
    Force,
    /// It repeats until it swaps.
    Insist,
    /// A wait that reads here looks once.
    NoWait,
    /// The text is told another value.
    Read(Change),
    /// Another value is written.
    Write(Change),
    /// It goes to another variable.
    To(Target),
    /// The process reads this before it; its next access at the statement is told that value.
    Early(Target, Place),
    /// The process waits until the variable has the value, or until it has another.
    Wait(When, Target, bool, Value),
    /// The process also writes or adds this.
    Set(When, Target, Change),
    /// The process writes the same value there, or a change of it.
    Also(When, Target, Option<Change>),
    /// It compares with another value.
    Expect(Change),
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
    /// The part or kind of part; `None` means any.
    pub part: Option<String>,
    /// Its number; `None` means every statement of that part.
    pub label: Option<Label>,
    /// Of this process only.
    pub process: Option<usize>,
    /// Only where it goes to this place of a row.
    pub index: Option<usize>,
    /// Only if the access before was at this statement.
    pub from: Option<Label>,
    /// Only these occurrences within a passage.
    pub times: Option<Times>,
}

/// The occurrences of an access at a statement within one passage.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Times {
    /// The first of them.
    pub first: usize,
    /// Whether later ones count too.
    pub and_later: bool,
}

/// The algorithm as a whole, where parts are named.
const ROOT: &str = "root";

/// Whether a part goes by this name: its full name, the end of it, its kind, or the name of the
/// whole.
pub(crate) fn is_called(part: &PartInfo, name: &str) -> bool {
    let ends = || part.path.strip_suffix(name).is_some_and(|outer| outer.ends_with('.'));
    part.path == name || part.kind == name || part.path.is_empty() && name == ROOT || ends()
}

impl Place {
    /// Whenever a process reaches it.
    fn of(part: Option<String>, label: Option<Label>) -> Self {
        Self { part, label, process: None, index: None, from: None, times: None }
    }

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
    /// The part; `None` means the part of the access.
    pub part: Option<String>,
    /// Its name; empty for the row that the access goes to.
    pub name: String,
    /// Its place in a row.
    pub index: Option<Index>,
    /// The field of its word; `None` means the whole word.
    pub field: Option<String>,
}

/// A place in a row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Index {
    /// This one.
    Is(usize),
    /// At this distance from the number of the process.
    FromMe(i64),
    /// At this distance from the place that the access goes to.
    FromHere(i64),
}

/// A change of a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Change {
    /// This instead.
    Is(Value),
    /// The second value in place of the first.
    Of(Value, Value),
    /// The value plus this.
    Plus(i64),
    /// True if it was false, and false otherwise.
    Not,
    /// The value plus another field of the word.
    PlusField(String),
    /// This change in one field of the word.
    InField(String, Box<Change>),
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
    /// The process that makes the access.
    Me,
    /// No process.
    Nobody,
    /// What the process last saw at this statement; otherwise the initial value of the variable.
    At(Label),
    /// What a compare-and-swap expects to find; otherwise the initial value of the variable.
    Old,
    /// What the process saw there, if it was its last read in this passage; otherwise the initial
    /// value of the variable.
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
