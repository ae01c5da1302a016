//! Walking a machine by hand: schedules written down as text.
//!
//! A schedule is a list of words:
//!
//! | word | meaning |
//! |---|---|
//! | `p0.2` | `p0` is about to do statement 2; it does it |
//! | `p0.2.3.4` | the same for several statements in a row |
//! | `p1.5~` | it does statement 5, which is a wait, and goes on waiting |
//! | `p0>in` | `p0` runs alone until it is inside |
//! | `p0>out` | `p0` runs alone until its passage is over |
//! | `p0>5` | `p0` runs alone until it is about to do statement 5 |
//!
//! The statement numbers are checked, so a schedule that no longer fits its algorithm says so instead of running something else.
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

use crate::property::View;
use crate::sim::{Op, Phase, State, TextError, World};
use crate::trace::{Step, Trace};
use std::fmt;

/// A machine and the state it is in.
#[derive(Debug)]
pub struct Runner {
    world: World,
    state: State,
    order: Vec<usize>,
}

/// Why a schedule could not be followed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ScheduleError {
    /// A word of the schedule is not of the language.
    Word(String),
    /// The process is about to do something else.
    Elsewhere {
        /// The word of the schedule.
        word: String,
        /// Where the process is.
        at: String,
    },
    /// The step went otherwise: a wait that should fail succeeded, or the other way round.
    Otherwise {
        /// The word of the schedule.
        word: String,
        /// What it did.
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
                write!(f, "{word:?} is no word of a schedule; write p0.2, p0.2.3, p1.5~, p0>in, p0>out or p0>5")
            }
            Self::Elsewhere { word, at } => write!(f, "at {word:?} the process is {at}"),
            Self::Otherwise { word, did } => write!(f, "at {word:?} the process did {did}"),
            Self::Never { word } => write!(f, "at {word:?} the process waits for ever"),
            Self::Text(e) => e.fmt(f),
        }
    }
}
impl std::error::Error for ScheduleError {}

impl Runner {
    /// Starts in the first state.
    #[must_use]
    pub fn new(world: World) -> Self {
        let state = world.initial();
        Self { world, state, order: Vec::new() }
    }

    /// Follows a schedule.
    ///
    /// # Errors
    /// At the first word that cannot be followed; the words before it were.
    pub fn follow(&mut self, schedule: &str) -> Result<&mut Self, ScheduleError> {
        for word in schedule.split_whitespace() {
            let bad = || ScheduleError::Word(word.to_owned());
            let rest = word.strip_prefix('p').ok_or_else(bad)?;
            let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(bad)?;
            let p: usize = rest[..digits].parse().map_err(|_| bad())?;
            if p >= self.world.processes() {
                return Err(bad());
            }
            match &rest[digits..=digits] {
                ">" => self.run_until(word, p, &rest[digits + 1..])?,
                "." => {
                    for statement in rest[digits + 1..].split('.') {
                        let waits = statement.ends_with('~');
                        let label = statement.trim_end_matches('~').parse().map_err(|_| bad())?;
                        self.one_step(word, p, label, waits)?;
                    }
                }
                _ => return Err(bad()),
            }
        }
        Ok(self)
    }

    fn one_step(&mut self, word: &str, p: usize, label: u16, waits: bool) -> Result<(), ScheduleError> {
        if self.world.next_at(&self.state, p).1 != label || self.world.next(&self.state, p) == Op::Stop {
            return Err(ScheduleError::Elsewhere { word: word.to_owned(), at: self.whereabouts(p) });
        }
        let step = self.step(p)?;
        if step.waits != waits {
            return Err(ScheduleError::Otherwise { word: word.to_owned(), did: step.did });
        }
        Ok(())
    }

    fn run_until(&mut self, word: &str, p: usize, goal: &str) -> Result<(), ScheduleError> {
        let label: Option<u16> = match goal {
            "in" | "out" => None,
            _ => Some(goal.parse().map_err(|_| ScheduleError::Word(word.to_owned()))?),
        };
        let mut been = Vec::new();
        loop {
            let phase = self.world.phase(&self.state, p);
            let step = self.step(p)?;
            let arrived = match (goal, label) {
                ("in", _) => self.world.phase(&self.state, p) == Phase::Inside,
                ("out", _) => phase != Phase::Remainder && self.world.phase(&self.state, p) == Phase::Remainder,
                (_, Some(label)) => self.world.next_at(&self.state, p).1 == label,
                _ => false,
            };
            if arrived {
                return Ok(());
            }
            if step.changed.is_some() {
                been.clear();
            }
            if been.contains(&self.state) {
                return Err(ScheduleError::Never { word: word.to_owned() });
            }
            been.push(self.state.clone());
        }
    }

    fn whereabouts(&self, p: usize) -> String {
        match (self.world.phase(&self.state, p), self.world.next_at(&self.state, p).1) {
            (Phase::Remainder, label) => format!("in its remainder, before {label}"),
            (_, label) => format!("at {label}"),
        }
    }

    /// Lets one process take one step.
    ///
    /// # Errors
    /// If its text cannot be run by replay.
    pub fn step(&mut self, p: usize) -> Result<Step, TextError> {
        self.order.push(p);
        Step::take(&mut self.world, &mut self.state, p)
    }

    /// The state it is in.
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

    /// Whether nobody can go on; see [`World::is_deadlock`].
    ///
    /// # Errors
    /// If a text cannot be run by replay.
    pub fn is_deadlock(&mut self) -> Result<bool, TextError> {
        self.world.is_deadlock(&self.state)
    }

    /// What has happened so far.
    ///
    /// # Errors
    /// If a text cannot be run by replay.
    pub fn trace(&mut self) -> Result<Trace, TextError> {
        let initial = self.world.initial();
        Ok(Trace::of(&mut self.world, &initial, &self.order)?.0)
    }
}
