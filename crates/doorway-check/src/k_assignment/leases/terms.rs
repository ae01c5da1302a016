//! Whether a client knows in time that its lease has ended: the clock that the text uses, against a
//! store that ends leases.
//!
//! Signs of life reach the store at any time, and are answered at any time, or not at all. The
//! store ends the lease at any time after its TTL. Both clocks run at the same speed; a client that
//! looks at its clock does so at once.

use doorway_core::k_assignment::leases::{Moment, Term};
use rustc_hash::FxHashSet;
use std::fmt;

/// A seeded fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LateClock {
    /// The client counts from the answer.
    CountsFromTheAnswer,
    /// The client counts from a sign of life that was never answered.
    BelievesWithoutAnAnswer,
}

/// What is searched.
///
/// ```
/// use doorway_check::leases::{LateClock, Terms};
/// let terms = Terms { ttl: 3, time: 13, signs: 2, fault: None };
/// assert!(terms.check().holds);
/// let late = Terms { fault: Some(LateClock::CountsFromTheAnswer), ..terms };
/// assert!(!late.check().holds);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Terms {
    /// How long the lease lives.
    pub ttl: u64,
    /// How long the search looks on.
    pub time: Moment,
    /// Signs of life at most.
    pub signs: u8,
    /// A fault.
    pub fault: Option<LateClock>,
}

/// What was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InTime {
    /// What was searched.
    pub terms: Terms,
    /// Different states.
    pub states: usize,
    /// Whether the client always knew that the lease had ended when the store had ended it.
    pub holds: bool,
    /// The longest that the client kept its lease.
    pub longest: Moment,
    /// The latest that the client believed in a lease which had ended; 0 if never.
    pub late: Moment,
}

impl fmt::Display for InTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { terms: Terms { ttl, time, signs, fault }, states, holds, longest, late } = self;
        write!(f, "terms ttl={ttl}, {signs} signs of life, {time} ticks")?;
        fault.map_or(Ok(()), |fault| write!(f, ", fault {fault:?}"))?;
        let verdict = if *holds { "told in time".to_owned() } else { format!("told LATE, by {late}") };
        writeln!(f, ": {verdict}; {states} states, complete; the lease was kept for up to {longest}")
    }
}

/// A sign of life.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Sign {
    OnItsWay { asked: Moment },
    Answered { asked: Moment },
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    now: Moment,
    term: Term,
    /// When the store may end the lease; `None`: it has.
    expires: Option<Moment>,
    ended_at: Moment,
    signs: Vec<Sign>,
    left: u8,
}

impl Terms {
    /// Tries every order of signs, answers and ticks.
    #[must_use]
    pub fn check(self) -> InTime {
        let Self { ttl, time, signs, .. } = self;
        let mut report = InTime { terms: self, states: 0, holds: true, longest: 0, late: 0 };
        let mut known = FxHashSet::default();
        // The lease was asked for at 0, and granted at any time up to its TTL later.
        let begins = |granted: Moment| State {
            now: granted,
            term: Term::new(0, ttl),
            expires: Some(granted + ttl),
            ended_at: 0,
            signs: Vec::new(),
            left: signs,
        };
        let mut todo: Vec<State> = (0..=ttl).map(begins).collect();
        known.extend(todo.iter().cloned());
        while let Some(state) = todo.pop() {
            let believes = !state.term.has_ended(state.now);
            if believes {
                report.longest = report.longest.max(state.now);
            }
            if believes && state.expires.is_none() {
                report.holds = false;
                report.late = report.late.max(state.now - state.ended_at);
            }
            for next in self.after(&state, time) {
                if known.insert(next.clone()) {
                    todo.push(next);
                }
            }
        }
        report.states = known.len();
        report
    }

    fn after(self, state: &State, time: Moment) -> Vec<State> {
        let mut all = Vec::new();
        if state.now < time {
            all.push(State { now: state.now + 1, ..state.clone() });
        }
        if state.expires.is_some_and(|at| at <= state.now) {
            all.push(State { expires: None, ended_at: state.now, ..state.clone() });
        }
        // A client that knows that its lease has ended gives no sign of life.
        if state.left > 0 && !state.term.has_ended(state.now) {
            let mut next = State { left: state.left - 1, ..state.clone() };
            next.signs.push(Sign::OnItsWay { asked: state.now });
            if self.fault == Some(LateClock::BelievesWithoutAnAnswer) {
                next.term.is_kept(state.now, self.ttl);
            }
            next.signs.sort_unstable();
            all.push(next);
        }
        for i in 0..state.signs.len() {
            let mut next = state.clone();
            match next.signs.remove(i) {
                // It may get lost, or reach the store, which answers only while the lease lives.
                Sign::OnItsWay { asked } => {
                    all.push(next.clone());
                    if next.expires.is_some() {
                        next.expires = Some(state.now + self.ttl);
                        next.signs.push(Sign::Answered { asked });
                        next.signs.sort_unstable();
                        all.push(next);
                    }
                }
                Sign::Answered { asked } => {
                    all.push(next.clone());
                    let from = match self.fault {
                        Some(LateClock::CountsFromTheAnswer) => state.now,
                        _ => asked,
                    };
                    next.term.is_kept(from, self.ttl);
                    all.push(next);
                }
            }
        }
        all
    }
}
