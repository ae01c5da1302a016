//! What is expected of every memory, as a suite that the native and the simulated memory both pass.
//!
//! A [`Litmus`] is a small text for a few processes. A [`Backend`] runs it and reports the outcomes
//! it saw, that is, what each process returned. [`run`] checks that atomic, sequentially consistent
//! memory allows each outcome. A backend that explores all interleavings must also show every
//! allowed outcome.
//!
//! To test a memory of your own, implement [`Backend`] for it and call [`run`].

mod litmus;
mod simulated;

pub use litmus::{Litmus, Vars};
pub use simulated::Simulated;

use std::collections::BTreeSet;

/// What the processes of a litmus test returned, one list for each.
pub type Outcome = Vec<Vec<u64>>;

/// Runs litmus tests on a memory.
pub trait Backend {
    /// Whether [`outcomes`](Self::outcomes) returns all possible outcomes.
    const EXHAUSTIVE: bool;
    /// The outcomes of many runs, or of all interleavings.
    fn outcomes(&self, litmus: Litmus) -> BTreeSet<Outcome>;
}

/// Runs the suite; returns the number of tests.
///
/// ```
/// use doorway_check::conformance::{self, Simulated};
/// assert_eq!(conformance::run(&Simulated), conformance::Litmus::ALL.len());
/// ```
///
/// # Panics
/// Panics if a forbidden outcome was seen, or if an exhaustive backend did not show an allowed one.
pub fn run<B: Backend>(backend: &B) -> usize {
    for &litmus in Litmus::ALL {
        let (allowed, seen) = (litmus.allowed(), backend.outcomes(litmus));
        assert!(!seen.is_empty(), "{litmus:?} has no outcome");
        for outcome in &seen {
            assert!(allowed.contains(outcome), "{litmus:?} must not come out as {outcome:?}; allowed are {allowed:?}");
        }
        if B::EXHAUSTIVE {
            assert_eq!(seen, allowed, "{litmus:?} must show every allowed outcome");
        }
    }
    Litmus::ALL.len()
}
