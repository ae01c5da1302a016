//! What is expected of every memory, as a suite that native and simulated memory both pass.
//!
//! A [`Litmus`] is a small text for a few processes; a [`Backend`] runs it and reports the outcomes it saw: what each process returned.
//! [`run`] checks that each outcome is one that atomic, sequentially consistent memory allows. A backend that explores all
//! interleavings must also show every outcome that is allowed.
//!
//! To try a memory of your own, implement [`Backend`] for it and call [`run`].

mod litmus;
mod simulated;

pub use litmus::{Litmus, Vars};
pub use simulated::Simulated;

use std::collections::BTreeSet;

/// What the processes of a litmus test returned, one list for each.
pub type Outcome = Vec<Vec<u64>>;

/// Something that runs litmus tests on a memory.
pub trait Backend {
    /// Whether [`outcomes`](Self::outcomes) are all that are possible.
    const EXHAUSTIVE: bool;
    /// Outcomes that were seen: of many runs, or of all interleavings.
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
/// If an outcome was seen that memory must not show, or, with an exhaustive backend, one was not seen that it must.
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
