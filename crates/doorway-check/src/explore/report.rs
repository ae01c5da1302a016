//! What a search found, and what it covered.

use crate::faults::Fault;
use crate::sim::{Rules, Statement};
use crate::trace::Trace;
use doorway_core::memory::Instruction;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

/// What a search found. A verdict without its coverage means nothing, so both are here.
#[derive(Clone, Debug)]
pub struct Report {
    /// Processes.
    pub processes: usize,
    /// How the machine ran: passages, crashes, registers.
    pub rules: Rules,
    /// States found.
    pub states: usize,
    /// States whose steps were all tried.
    pub expanded: usize,
    /// Steps tried; failed turns count.
    pub edges: u64,
    /// Whether these are all states there are: for the bounds on passages and on the line, if there
    /// are any. A bound on [switches](Rules::switches) or on the [lag](Rules::lag) leaves runs out,
    /// so a search within one is never complete.
    pub complete: bool,
    /// Why the search ended before that.
    pub stop: Option<Stop>,
    /// Bytes held at the end.
    pub bytes: usize,
    /// Local states of all processes.
    pub local_states: usize,
    /// How often a text was run.
    pub runs: u64,
    /// The instructions that were seen.
    pub instructions: BTreeSet<Instruction>,
    /// The statements that were seen.
    pub statements: BTreeSet<Statement>,
    /// The [faults](Rules::faults) that changed nothing: no process came to their statements.
    pub faults_without_effect: Vec<&'static Fault>,
    /// How long it took to visit the states.
    pub searching: Duration,
    /// How long it took to decide, on the whole graph, what is decided there.
    pub judging: Duration,
    /// How many continuations of merged local states were compared, and whether these are all, if that was asked for.
    pub cross_checked: Option<(u64, bool)>,
    /// Where counters were kept small: how many states were compared with those in which they are as they are, and whether
    /// these are all.
    pub counts_checked: Option<(u64, bool)>,
    /// The properties, in the order they were asked for.
    pub verdicts: Vec<Verdict>,
}

/// Why a search ended early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// A property failed.
    Failed,
    /// The limit of states was reached.
    States,
    /// The limit of memory was reached.
    Memory,
    /// It was [told to](super::Explorer::stop_when).
    Interrupted,
    /// Runs that change hands more often than [this](Rules::switches) were left out.
    Switches(u32),
    /// Runs in which a counter stays further behind than [this](Rules::lag) were left out.
    Lag(u32),
}

impl Stop {
    /// Why a search by these rules leaves runs out even if it visits every state it finds.
    pub(super) fn of_bounds(rules: Rules) -> Option<Self> {
        rules.switches.map(Self::Switches).or(rules.lag.map(Self::Lag))
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = |n: u32| if n == 1 { "1 time".to_owned() } else { format!("{n} times") };
        match self {
            Self::Failed => f.write_str("stopped when it had failed"),
            Self::States => f.write_str("the limit of states was reached"),
            Self::Memory => f.write_str("the limit of memory was reached"),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Switches(most) => write!(f, "only runs that change hands at most {}", times(*most)),
            Self::Lag(1) => f.write_str("only runs in which the front is at most 1 ticket behind"),
            Self::Lag(most) => write!(f, "only runs in which the front is at most {most} tickets behind"),
        }
    }
}

/// What was found of one property.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The property.
    pub name: Cow<'static, str>,
    /// Whether it holds; `None`: not decided.
    pub holds: Option<bool>,
    /// Why nothing was asked: it is about parts of a kind that there is none of, about doorways and no text marks the end of
    /// one, or about operations and none is called. About doorways and operations it is then not decided.
    pub vacuous: Option<&'static str>,
    /// A shortest run that shows it: to the failure, or to where a *sometimes* is so.
    pub trace: Option<Trace>,
}

impl Report {
    /// The verdict on a property.
    ///
    /// # Panics
    /// If it was not asked for.
    #[must_use]
    pub fn verdict(&self, name: &str) -> &Verdict {
        self.verdicts.iter().find(|v| v.name == name).unwrap_or_else(|| panic!("{name} was not asked for"))
    }

    /// The first property that failed.
    #[must_use]
    pub fn failure(&self) -> Option<&Verdict> {
        self.verdicts.iter().find(|v| v.holds == Some(false))
    }

    /// Bytes held for each state.
    #[must_use]
    pub fn bytes_per_state(&self) -> f64 {
        self.bytes as f64 / self.states as f64
    }

    /// All properties were decided and hold, and the search was complete. Of parts of a kind that there is none of, everything holds.
    ///
    /// # Panics
    /// If not: with the failure and its trace, with what was covered, or with why a property asks nothing.
    pub fn assert_holds(&self) {
        if let Some(v) = self.failure() {
            let trace = v.trace.as_ref().map_or("never so".to_owned(), ToString::to_string);
            panic!("{} fails:\n{trace}", v.name);
        }
        assert!(self.complete, "incomplete after {} states: {:?}", self.states, self.stop);
        if let Some(v) = self.verdicts.iter().find(|v| v.holds.is_none()) {
            let why = v.vacuous.map_or("it was not decided within these bounds".to_owned(), |why| {
                format!("nothing was asked, because {why}")
            });
            panic!("{} does not hold: {why}", v.name);
        }
    }
}
