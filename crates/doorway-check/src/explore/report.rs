//! What a search found, and what it covered.

use super::{Registers, Worst, provided};
use crate::faults::Fault;
use crate::replay::Token;
use crate::sim::{CrossChecked, Rules, Statement};
use crate::trace::Trace;
use doorway_core::memory::Instruction;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

/// The result of a search. A verdict means nothing without its coverage, so both are here.
///
/// It is displayed as `doorway check` prints it, and [`json`](Self::json) gives what `--json` does.
///
/// ```
/// use doorway_check::{Explorer, Property};
/// use doorway_core::mutex::yang_anderson_93::TwoProcess;
///
/// let report = Explorer::new(2).property(Property::exclusion("mutual-exclusion", 1)).run(TwoProcess::new)?;
/// let text = report.to_string();
/// assert!(text.contains("n=2, atomic registers, no crashes, passages: unbounded"), "{text}");
/// assert!(text.contains("  mutual-exclusion  holds"), "{text}");
/// assert_eq!(report.json()["complete"], true);
/// # Ok::<(), doorway_check::sim::TextError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Report {
    /// The name of the algorithm, if it was [given](crate::Check); otherwise empty.
    pub name: String,
    /// Processes.
    pub processes: usize,
    /// How the machine ran: passages, crashes, registers.
    pub rules: Rules,
    /// What the variables were.
    pub registers: Registers,
    /// States found.
    pub states: usize,
    /// States whose steps were all tried.
    pub expanded: usize,
    /// Steps tried; failed turns count.
    pub edges: u64,
    /// Whether these are all states, within the bounds on passages and on the line, if any. A bound
    /// on [switches](Rules::switches) or on the [lag](Rules::lag) skips runs, so a search within
    /// one is never complete.
    pub complete: bool,
    /// Why the search stopped before that.
    pub stop: Option<Stop>,
    /// Bytes in use at the end.
    pub bytes: usize,
    /// If only [bits](super::Explorer::bitstate) of states were kept: the share of the states one
    /// step from those explored that was recognised as new, as an estimate.
    pub coverage: Option<f64>,
    /// The same searches: how many bits of memory there were for each state (Holzmann's hash
    /// factor). A hundred or more is good.
    pub hash_factor: Option<f64>,
    /// If states that differ only in the [names of processes](super::Explorer::symmetric) are one:
    /// how many there are with all names. These are the states of a search without `symmetric`,
    /// unless the initial state names a process: then they are those of all its images.
    pub with_all_names: Option<u64>,
    /// Local states of all processes.
    pub local_states: usize,
    /// How often a text was run.
    pub runs: u64,
    /// The instructions that were seen.
    pub instructions: BTreeSet<Instruction>,
    /// The statements that were seen.
    pub statements: BTreeSet<Statement>,
    /// The [faults](Rules::faults) that changed nothing: no process reached their statements.
    pub faults_without_effect: Vec<&'static Fault>,
    /// Time spent finding local states, and visiting states.
    pub searching: Duration,
    /// Time spent on the properties that are decided on the whole graph.
    pub judging: Duration,
    /// If a limit ended the search: the variables and monitors whose largest values grew with the
    /// depth of the search, and these values at an eighth, a quarter, a half and the end of it.
    pub growing: Vec<(String, [u64; 4])>,
    /// How far local states that a text declares alike were compared: if that was asked for, or if
    /// it could not be all.
    pub cross_checked: Option<CrossChecked>,
    /// Whether the user [believes](super::Explorer::believe_keep) what was not compared.
    pub believes_keep: bool,
    /// Where counters were kept small: how many states were compared with their counterparts with
    /// full counters, and whether these are all.
    pub counts_checked: Option<(u64, bool)>,
    /// The verdicts, in the order of the properties.
    pub verdicts: Vec<Verdict>,
}

/// Why a search stopped early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Stop {
    /// A property failed.
    Failed,
    /// It reached the limit on states.
    States,
    /// It reached the limit on memory.
    Memory,
    /// No bound was set on passages, and a variable has [grown](Report::growing) at a steady rate:
    /// the search would not end. (If a limit on states is set, the search goes on up to it.)
    Grows,
    /// It was [interrupted](super::Explorer::stop_when).
    Interrupted,
    /// Runs with more context switches than [this](Rules::switches) were skipped.
    Switches(u32),
    /// It kept only [bits](super::Explorer::bitstate) of states.
    Bits,
    /// Runs in which a counter falls further behind than [this](Rules::lag) were skipped.
    Lag(u32),
}

impl Stop {
    /// Whether what the search knows is [saved](super::Explorer::save), if that was asked for.
    pub(crate) fn is_saved(self) -> bool {
        matches!(self, Self::Interrupted | Self::States | Self::Memory | Self::Grows)
    }

    /// Why a search by these rules skips runs, even if it visits every state it finds.
    pub(super) fn of_bounds(rules: Rules) -> Option<Self> {
        rules.switches.map(Self::Switches).or(rules.lag.map(Self::Lag))
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = |n: u32| if n == 1 { "1 time".to_owned() } else { format!("{n} times") };
        match self {
            Self::Failed => f.write_str("stopped at the first failure"),
            Self::States => f.write_str("the search reached its limit on states"),
            Self::Memory => f.write_str("the search reached its limit on memory"),
            Self::Grows => f.write_str("a variable grows for ever"),
            Self::Bits => f.write_str("only bits of states were kept"),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Switches(most) => write!(f, "only runs that change hands at most {}", times(*most)),
            Self::Lag(1) => f.write_str("only runs in which the front is at most 1 ticket behind"),
            Self::Lag(most) => write!(f, "only runs in which the front is at most {most} tickets behind"),
        }
    }
}

/// The result for one property.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The property.
    pub name: Cow<'static, str>,
    /// Whether it holds; `None`: not decided.
    pub holds: Option<bool>,
    /// Why there was nothing to check: no part is of the property's kind; or the property is about
    /// doorways, and no text marks the end of one; or it is about operations, and none is called.
    /// In the last two cases it is not decided. Or it follows one process, and states that differ
    /// in the names of processes were one; then it is not decided either.
    pub vacuous: Option<&'static str>,
    /// A shortest run that shows the failure, or a state in which a *sometimes* holds.
    pub trace: Option<Trace>,
    /// Of a bound on steps: the exact maximum, if the search was complete. The trace shows it, or
    /// a cycle without end.
    pub most: Option<Worst>,
    /// If it holds, or fails without a run, only provided that the text's `keep` is right: how many
    /// of the local states that it declares alike were compared. That is not all.
    pub provided: Option<CrossChecked>,
    /// What replays the trace, if the algorithm has a name.
    pub token: Option<Token>,
}

impl Verdict {
    /// Of a property about which nothing is known.
    #[must_use]
    pub fn undecided(name: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), holds: None, vacuous: None, trace: None, most: None, provided: None, token: None }
    }

    /// Whether it would be wrong if states were merged that are not alike. A run that was shown is
    /// one of the text; but that a bound is the largest number is not shown by a run that reaches
    /// it.
    pub(super) fn rests_on_merging(&self) -> bool {
        match self.holds {
            None => false,
            Some(false) => self.trace.is_none(),
            Some(true) => self.trace.is_none() || self.most.is_some(),
        }
    }
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

    /// Whether all properties were decided and the search was complete, and no verdict holds only
    /// [provided](Verdict::provided) that `keep` is right. A user who
    /// [believes](super::Explorer::believe_keep) the text has answered for that.
    #[must_use]
    pub fn is_proven(&self) -> bool {
        let is_decided = |v: &Verdict| v.holds.is_some() && (v.provided.is_none() || self.believes_keep);
        self.complete && self.verdicts.iter().all(is_decided)
    }

    /// The report as a JSON document, as `doorway check --json` prints it.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// How many new states were taken for known ones, as an estimate, if only
    /// [bits](super::Explorer::bitstate) of states were kept. What follows from these was not seen,
    /// and is not counted.
    #[must_use]
    pub fn omitted(&self) -> Option<f64> {
        self.coverage.map(|share| self.states as f64 * (1.0 / share - 1.0))
    }

    /// Bytes held for each state.
    #[must_use]
    pub fn bytes_per_state(&self) -> f64 {
        self.bytes as f64 / self.states as f64
    }

    /// Asserts that all properties were decided and hold, that the search was complete, and that
    /// no verdict depends on a `keep` that was not wholly compared (unless the user
    /// [believes](super::Explorer::believe_keep) it). A property of parts holds if there are none.
    ///
    /// # Panics
    /// If not. The message shows the failure and its trace, what was covered, or why there was
    /// nothing to check.
    pub fn assert_holds(&self) {
        if let Some(v) = self.failure() {
            let trace = v.trace.as_ref().map_or("no run reaches such a state".to_owned(), ToString::to_string);
            let token = v.token.as_ref().map_or(String::new(), |token| format!("\n\nreplay {token}"));
            panic!("{} fails:\n{trace}{token}", v.name);
        }
        assert!(self.complete, "the search was not complete, so it does not show that anything holds:\n{self}");
        if let Some(v) = self.verdicts.iter().find(|v| v.holds.is_none()) {
            let why = v.vacuous.map_or("it was not decided within these limits".to_owned(), |why| {
                format!("it was not checked, because {why}")
            });
            panic!("{} is not decided: {why}", v.name);
        }
        if let Some((v, checked)) = self.verdicts.iter().find_map(|v| v.provided.map(|checked| (v, checked)))
            && !self.believes_keep
        {
            panic!("{} holds {}; {}", v.name, provided(checked), super::account::IF_NOT_ALL);
        }
    }
}
