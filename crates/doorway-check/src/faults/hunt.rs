//! Every single-statement fault of an algorithm, and the claim that notices it.

use super::{Fault, Kind, Place, Value};
use crate::Explorer;
use crate::explore::Stop;
use crate::replay::Token;
use crate::sim::{Rules, Statement, TextError};
use crate::subject::Subject;
use doorway_core::memory::Instruction;
use doorway_core::registry::Sizes;
use std::collections::BTreeSet;

/// The result of a fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// A claim fails.
    Noticed {
        /// The claim.
        claim: String,
        /// After how many steps; 0 for a claim about what should happen sometimes.
        steps: usize,
        /// The token of the run, if there is one.
        token: Option<String>,
    },
    /// Every claim still holds.
    Missed,
    /// It changes nothing. For instance, no other access of the process comes between the write and
    /// the end of its passage.
    Idle,
    /// The search stopped before anything failed.
    Undecided(Stop),
    /// The text cannot run with it.
    Impossible(TextError),
}

/// A fault and its result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// The fault.
    pub fault: Fault,
    /// Its result.
    pub outcome: Outcome,
    /// States that were found.
    pub states: usize,
}

/// Tries faults of one algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Hunt {
    /// The algorithm.
    pub subject: Subject,
    /// Its sizes.
    pub sizes: Sizes,
    /// The rules of the machine.
    pub rules: Rules,
    /// The limit on the states of the search for one fault.
    pub max_states: usize,
}

impl Hunt {
    /// The statements of the algorithm, found by a search without faults, and whether these are
    /// all.
    ///
    /// # Errors
    /// Returns an error if its text cannot be run.
    pub fn statements(&self, is_asked_for: impl Fn() -> bool) -> Result<(BTreeSet<Statement>, bool), TextError> {
        let world = self.subject.world(self.sizes, self.rules)?;
        let explorer = Explorer::new(self.sizes.n).max_states(self.max_states).stop_when(is_asked_for);
        let report = explorer.explore(world)?;
        Ok((report.statements, report.complete))
    }

    /// Finds the claim that notices a fault first.
    #[must_use]
    pub fn search(&self, fault: &Fault, is_asked_for: impl Fn() -> bool) -> Found {
        let subject = Subject { faults: self.subject.faults.and(fault.clone().into()), ..self.subject };
        let properties = subject.claims(self.sizes);
        let rules = self.rules.for_properties(&properties);
        let explorer =
            Explorer::new(self.sizes.n).properties(properties).max_states(self.max_states).stop_when(is_asked_for);
        let explorer = explorer.believe_keep(true); // a search with faults cannot compare it
        let report = match subject.world(self.sizes, rules).and_then(|world| explorer.explore(world)) {
            Ok(report) => report,
            Err(e) => return Found { fault: fault.clone(), outcome: Outcome::Impossible(e), states: 0 },
        };
        let outcome = match (report.failure(), report.stop) {
            (Some(failed), _) => Outcome::Noticed {
                claim: failed.name.to_string(),
                steps: failed.trace.as_ref().map_or(0, crate::trace::Trace::len),
                token: failed
                    .trace
                    .as_ref()
                    .map(|trace| Token::new(&subject, self.sizes, rules, &failed.name, trace).to_string()),
            },
            (None, Some(stop)) => Outcome::Undecided(stop),
            (None, None) if !report.faults_without_effect.is_empty() => Outcome::Idle,
            (None, None) => Outcome::Missed,
        };
        Found { fault: fault.clone(), outcome, states: report.states }
    }
}

/// The faults of these statements, one statement each: no access is dropped, deferred or split
/// twice.
///
/// A read is also dropped with either bit as its answer. With the initial value of the variable as
/// the only answer, every algorithm that looks before any process came would seem to work.
#[must_use]
pub fn candidates(statements: &BTreeSet<Statement>) -> Vec<Fault> {
    let mut faults = Vec::new();
    for Statement { part, label, does, waits } in statements {
        let part = if part.is_empty() { super::ROOT.to_owned() } else { part.clone() };
        let at = |kind: Kind| Fault::At(Place::of(Some(part.clone()), Some(*label)), kind);
        let mut add = |kind: Kind| {
            let fault = at(kind);
            if !faults.contains(&fault) {
                faults.push(fault);
            }
        };
        match does {
            Instruction::Read if *waits => add(Kind::NoWait),
            Instruction::Read => [0, 1].into_iter().for_each(|bit| add(Kind::Drop(Some(Value::Number(bit))))),
            Instruction::Write => {
                add(Kind::Drop(None));
                add(Kind::Defer(None, None));
            }
            _ => {
                add(Kind::Drop(None));
                add(Kind::Split);
            }
        }
    }
    // A statement that waits in some turns but not in others counts as a wait.
    let waits: Vec<Place> = faults
        .iter()
        .filter_map(|fault| match fault {
            Fault::At(place, Kind::NoWait) => Some(place.clone()),
            _ => None,
        })
        .collect();
    faults.retain(|fault| !matches!(fault, Fault::At(place, Kind::Drop(Some(_))) if waits.contains(place)));
    faults
}
