//! Walking a machine by hand: schedules written down as text.
//!
//! A schedule is a list of words:
//!
//! | word | meaning |
//! |---|---|
//! | `p0.2` | `p0` is about to execute statement 2, and does |
//! | `p0.2.3.4` | the same for several statements in a row |
//! | `p1.5~` | `p1` executes statement 5, which is a wait, and goes on waiting |
//! | `p1.5?` | the same, and it gives up |
//! | `p1.8=3` | statement 8 is a read that overlaps a write, and returns 3; or a choice, and picks 3 |
//! | `p1!` | `p1` crashes |
//! | `p1!~` | the death of `p1`, unnoticed so far, is noticed |
//! | `p1+` | `p1` has died, and a new process starts on its seat |
//! | `p1*` | `p1` sleeps, and wakes up on its own |
//! | `p0>in` | `p0` runs alone until it is inside |
//! | `p0>out` | `p0` runs alone until it is in its remainder |
//! | `p0>5` | `p0` runs alone until it is about to execute statement 5 |
//!
//! The statement numbers are checked: a schedule that no longer fits its algorithm is refused.
//!
//! ```
//! use doorway_check::schedule::Runner;
//! use doorway_check::sim::{Rules, World};
//! use doorway_core::k_exclusion::anderson_moir_94::Chain;
//!
//! let mut run = Runner::new(World::new(2, Rules::default(), |site| Chain::new(site, 2, 1)).unwrap());
//! run.follow("p0.2  p1.2.3.4.5~  p0.6.7  p1.5").unwrap();
//! assert_eq!(run.view().inside(), 1);
//! assert!(run.follow("p1.2").is_err()); // p1 is at 6
//! ```

use crate::explore::again;
use crate::property::View;
use crate::sim::{Action, Op, Phase, Rules, State, TextError, What, World};
use crate::trace::{Step, Trace};
use std::collections::HashSet;
use std::fmt;

/// A machine and its current state.
#[derive(Debug)]
pub struct Runner {
    world: World,
    state: State,
    actions: Vec<Action>,
}

/// Why a schedule could not be followed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ScheduleError {
    /// A word that is not part of the language.
    Word(String),
    /// There is no such process.
    NoProcess {
        /// The word of the schedule.
        word: String,
        /// How many processes there are.
        processes: usize,
    },
    /// The process is about to execute another statement.
    Elsewhere {
        /// The word of the schedule.
        word: String,
        /// Where the process is.
        at: String,
    },
    /// The step went differently: a wait that should fail succeeded, or the other way round.
    Otherwise {
        /// The word of the schedule.
        word: String,
        /// What the process did.
        did: String,
    },
    /// The process, run alone, never gets there.
    Never {
        /// The word of the schedule.
        word: String,
    },
    /// The text cannot be run by replay.
    Text(TextError),
}

impl From<TextError> for ScheduleError {
    fn from(e: TextError) -> Self {
        Self::Text(e)
    }
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => {
                write!(
                    f,
                    "{word:?} is not a word of a schedule; write p0.2, p0.2.3, p1.5~, p1.8=3, p1!, p1!~, p1+, p1*, p0>in, p0>out or p0>5"
                )
            }
            Self::NoProcess { word, processes: 1 } => {
                write!(f, "at {word:?}: there is only one process, p0; give a larger --n")
            }
            Self::NoProcess { word, processes } => {
                write!(f, "at {word:?}: there are {processes} processes, p0 to p{}; give a larger --n", processes - 1)
            }
            Self::Elsewhere { word, at } => write!(f, "at {word:?} the process is {at}"),
            Self::Otherwise { word, did } => write!(f, "at {word:?} the process did {did}"),
            Self::Never { word } => write!(f, "at {word:?} the process never gets there when it runs alone"),
            Self::Text(e) => e.fmt(f),
        }
    }
}
impl std::error::Error for ScheduleError {}

/// How many steps a process may run alone until it gets somewhere.
const MOST_STEPS_ALONE: usize = 100_000;

/// How a step should go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    GoesOn,
    Waits,
    GivesUp,
    Sees(u64),
}

impl Runner {
    /// Starts in the initial state.
    #[must_use]
    pub fn new(world: World) -> Self {
        let state = world.initial();
        Self { world, state, actions: Vec::new() }
    }

    /// Follows a schedule.
    ///
    /// # Errors
    /// Returns an error at the first word that cannot be followed. The words before it have been
    /// followed.
    pub fn follow(&mut self, schedule: &str) -> Result<&mut Self, ScheduleError> {
        for word in schedule.split_whitespace() {
            let bad = || ScheduleError::Word(word.to_owned());
            let rest = word.strip_prefix('p').ok_or_else(bad)?;
            let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(bad)?;
            let p: usize = rest[..digits].parse().map_err(|_| bad())?;
            if p >= self.world.processes() {
                return Err(ScheduleError::NoProcess { word: word.to_owned(), processes: self.world.processes() });
            }
            let (verb, tail) = rest[digits..].split_at(rest[digits..].chars().next().map_or(0, char::len_utf8));
            match verb {
                ">" => self.run_until(word, p, tail)?,
                "." => {
                    for statement in tail.split('.') {
                        let end = statement.find(|c: char| !c.is_ascii_digit()).unwrap_or(statement.len());
                        let label = statement[..end].parse().map_err(|_| bad())?;
                        let how = match (&statement[end..], statement[end..].strip_prefix('=')) {
                            ("", _) => How::GoesOn,
                            ("~", _) => How::Waits,
                            ("?", _) => How::GivesUp,
                            (_, Some(value)) => How::Sees(value.parse().map_err(|_| bad())?),
                            _ => return Err(bad()),
                        };
                        self.one_step(word, p, label, how)?;
                    }
                }
                "!" | "+" | "*" if tail.is_empty() => {
                    let what = match verb {
                        "!" => What::Crash,
                        "+" => What::Restart,
                        _ => What::TimesOut,
                    };
                    self.act(Action { process: p, what })?.ok_or_else(|| self.elsewhere(word, p))?;
                }
                "!" if tail == "~" && self.world.is_dying(&self.state, p) => {
                    self.act(Action::step(p))?.ok_or_else(|| self.elsewhere(word, p))?;
                }
                _ => return Err(bad()),
            }
        }
        Ok(self)
    }

    fn one_step(&mut self, word: &str, p: usize, label: u16, how: How) -> Result<(), ScheduleError> {
        if self.world.next_at(&self.state, p).1 != label || self.world.next(&self.state, p) == Op::Stop {
            return Err(self.elsewhere(word, p));
        }
        let mut actions = vec![Action::step(p), Action { process: p, what: What::GiveUp }];
        actions.retain(|a| (a.what == What::GiveUp) == (how == How::GivesUp));
        if let How::Sees(value) = how {
            actions.clear();
            self.world.actions(&self.state, p, &mut actions);
            let mut sees = Vec::new();
            for action in actions {
                let stepped = self.world.act(&mut self.state.clone(), action)?;
                sees.extend(stepped.filter(|s| s.saw == value).map(|_| action));
            }
            actions = sees;
        }
        let Some(&action) = actions.first() else {
            return Err(ScheduleError::Otherwise { word: word.to_owned(), did: "not see that".to_owned() });
        };
        let step = self.act(action)?.ok_or_else(|| self.elsewhere(word, p))?;
        if matches!(how, How::GoesOn | How::Waits) && step.waits != (how == How::Waits) {
            return Err(ScheduleError::Otherwise { word: word.to_owned(), did: step.did });
        }
        Ok(())
    }

    fn elsewhere(&self, word: &str, p: usize) -> ScheduleError {
        ScheduleError::Elsewhere { word: word.to_owned(), at: self.whereabouts(p) }
    }

    fn run_until(&mut self, word: &str, p: usize, goal: &str) -> Result<(), ScheduleError> {
        let label: Option<u16> = match goal {
            "in" | "out" => None,
            _ => Some(goal.parse().map_err(|_| ScheduleError::Word(word.to_owned()))?),
        };
        let mut been = HashSet::new();
        loop {
            let phase = self.world.phase(&self.state, p);
            let arrived = match (goal, label) {
                ("in", _) => phase == Phase::Inside,
                ("out", _) => phase == Phase::Remainder,
                (_, Some(label)) => self.world.next_at(&self.state, p).1 == label,
                _ => false,
            };
            if arrived {
                return Ok(());
            }
            // With growing counters, no state repeats.
            if been.len() >= MOST_STEPS_ALONE || !been.insert(self.state.clone()) {
                return Err(ScheduleError::Never { word: word.to_owned() });
            }
            self.act(Action::step(p))?.ok_or_else(|| self.elsewhere(word, p))?;
        }
    }

    fn whereabouts(&self, p: usize) -> String {
        match (self.world.phase(&self.state, p), self.world.next_at(&self.state, p).1) {
            (Phase::Remainder, label) => format!("in its remainder, before {label}"),
            (_, label) => format!("at {label}"),
        }
    }

    /// Performs an action; `None` if it cannot happen.
    ///
    /// # Errors
    /// Returns an error if a text cannot be run by replay.
    pub fn act(&mut self, action: Action) -> Result<Option<Step>, TextError> {
        let step = Step::take(&mut self.world, &mut self.state, action)?;
        self.actions.extend(step.as_ref().map(|_| action));
        Ok(step)
    }

    /// The actions so far.
    #[must_use]
    pub fn actions_so_far(&self) -> &[Action] {
        &self.actions
    }

    /// The actions that are possible for a process.
    #[must_use]
    pub fn actions(&self, p: usize) -> Vec<Action> {
        let mut actions = Vec::new();
        self.world.actions(&self.state, p, &mut actions);
        actions
    }

    /// The statement that a process is about to execute, in any part.
    #[must_use]
    pub fn next_statement(&self, p: usize) -> u16 {
        self.world.next_at(&self.state, p).1
    }

    /// The rules of the machine.
    #[must_use]
    pub fn rules(&self) -> Rules {
        self.world.rules()
    }

    /// The current state, to compare with others.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The current state.
    #[must_use]
    pub fn view(&self) -> View<'_> {
        View::new(&self.world, &self.state)
    }

    /// The value of the variable with this full name, as people write it.
    #[must_use]
    pub fn value(&self, path: &str) -> Option<String> {
        let v = self.world.layout().by_path(path)?;
        Some(self.world.layout().var(v).show(self.state.vars[v as usize]))
    }

    /// Whether no process can make progress; see [`World::is_deadlock`].
    ///
    /// # Errors
    /// Returns an error if a text cannot be run by replay.
    pub fn is_deadlock(&mut self) -> Result<bool, TextError> {
        self.world.is_deadlock(&self.state)
    }

    /// What has happened so far.
    ///
    /// # Errors
    /// Returns an error if a text cannot be run by replay.
    pub fn trace(&mut self) -> Result<Trace, TextError> {
        let initial = self.world.initial();
        again(&mut self.world, &initial, &self.actions, None, None)
    }
}
