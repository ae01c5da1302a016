//! What each algorithm claims, as properties by name: exclusion, freedom from deadlock, and the invariants of its paper.
//!
//! The names are those that the [registry](doorway_core::registry) lists as an algorithm's `properties`.

mod anderson_moir;
mod lamport;
mod yang_anderson;

use crate::Property;
use doorway_core::registry::{Info, Problem, Sizes};

/// Everything that an algorithm claims at these sizes, in the order of its registry entry.
#[must_use]
pub fn of(info: &Info, sizes: Sizes) -> Vec<Property> {
    let mut claims = of_the_problem(info.problem, sizes);
    claims.extend(match info.id {
        "bakery" => lamport::bakery(),
        "ya-two" => yang_anderson::two_process(),
        "am-chain" => anderson_moir::slots(),
        "am-fast" => anderson_moir::slots().into_iter().chain(anderson_moir::fast_path(sizes)).collect(),
        _ => Vec::new(),
    });
    claims
}

/// What every solution of a problem claims.
#[must_use]
pub fn of_the_problem(problem: Problem, sizes: Sizes) -> Vec<Property> {
    let most = sizes.n.min(sizes.k);
    let (exclusion, everyone) = match problem {
        Problem::MutualExclusion => ("mutual-exclusion", "someone-enters"),
        Problem::KExclusion => ("k-exclusion", "k-enter-together"),
    };
    vec![
        Property::exclusion(exclusion, sizes.k),
        Property::deadlock_free("deadlock-free"),
        Property::sometimes(everyone, move |v| v.inside() == most),
    ]
}
