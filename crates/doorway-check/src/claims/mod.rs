//! What each algorithm claims, as properties by name: exclusion, freedom from deadlock, and the invariants of its paper.
//!
//! The names are those that the [registry](doorway_core::registry) lists as an algorithm's `properties`.

mod anderson_moir;
mod lamport;
mod yang_anderson;

use crate::Property;
use crate::property::View;
use crate::sim::Phase;
use doorway_core::registry::{Info, Problem, Sizes};

/// Everything that an algorithm claims at these sizes, in the order of its registry entry.
#[must_use]
pub fn of(info: &Info, sizes: Sizes) -> Vec<Property> {
    let place = |claim: &Property| info.properties.iter().position(|name| *name == claim.name());
    let mut claims = askable(info, sizes);
    claims.retain(|claim| place(claim).is_some());
    claims.sort_by_key(place);
    claims
}

/// Everything that can be asked of an algorithm by name, whether it claims it or not.
#[must_use]
pub fn askable(info: &Info, sizes: Sizes) -> Vec<Property> {
    let mut all = askable_of_any(info.problem, sizes);
    all.extend(match info.id {
        "bakery" => lamport::bakery(),
        "ya-two" => yang_anderson::two_process(),
        "am-queue" => anderson_moir::queue(sizes),
        "am-chain" | "am-tree" => anderson_moir::cc_slots(),
        "am-fast" => together([anderson_moir::cc_slots(), anderson_moir::fast_path(sizes, "")]),
        "am-graceful" => together([anderson_moir::cc_slots(), anderson_moir::nested(sizes)]),
        "am-dsm-unbounded" => anderson_moir::dsm_unbounded_slots(),
        "am-dsm-chain" | "am-dsm-tree" => anderson_moir::dsm_slots(),
        "am-dsm-fast" => together([anderson_moir::dsm_slots(), anderson_moir::fast_path(sizes, "")]),
        "am-dsm-graceful" => together([anderson_moir::dsm_slots(), anderson_moir::nested(sizes)]),
        "am-assign" => together([
            anderson_moir::cc_slots(),
            anderson_moir::fast_path(sizes, "exclusion"),
            anderson_moir::names(sizes),
        ]),
        "am-dsm-assign" => together([
            anderson_moir::dsm_slots(),
            anderson_moir::fast_path(sizes, "exclusion"),
            anderson_moir::names(sizes),
        ]),
        _ => Vec::new(),
    });
    all
}

fn together<const N: usize>(parts: [Vec<Property>; N]) -> Vec<Property> {
    parts.into_iter().flatten().collect()
}

/// What an algorithm claims as a solution of its problem, whatever its text.
#[must_use]
pub fn of_the_problem(info: &Info, sizes: Sizes) -> Vec<Property> {
    let mut claims = askable_of_any(info.problem, sizes);
    claims.retain(|claim| info.properties.contains(&claim.name()));
    claims
}

/// What can be asked of every solution of a problem.
fn askable_of_any(problem: Problem, sizes: Sizes) -> Vec<Property> {
    let most = sizes.n.min(sizes.k);
    let (exclusion, everyone) = match problem {
        Problem::MutualExclusion => ("mutual-exclusion", "someone-enters"),
        Problem::KExclusion | Problem::KAssignment => ("k-exclusion", "k-enter-together"),
    };
    let mut all = vec![
        Property::exclusion(exclusion, sizes.k),
        Property::deadlock_free("deadlock-free"),
        Property::sometimes(everyone, move |v| v.inside() == most),
        Property::livelock_free("livelock-free"),
        Property::bounded_exit("bounded-exit"),
        Property::starvation_free("starvation-free"),
        Property::first_come("first-come-first-served", 1),
        Property::first_come("k-first-come-first-served", sizes.k),
        Property::first_enabled("first-in-first-enabled"),
    ];
    if problem == Problem::KAssignment {
        let k = sizes.k as u64;
        all.push(Property::always("unique-names", move |v| {
            let named = |p| v.shown::<u64>(p, "name").is_some_and(|name| name < k && holders(v, name) == 1);
            v.processes().filter(|&p| v.phase(p) == Phase::Inside).all(named)
        }));
    }
    all
}

/// How many hold this name. A solution of k-assignment says as a whole, not in a part, which one a process holds.
fn holders(v: &View<'_>, name: u64) -> usize {
    v.processes().filter(|&p| v.shown(p, "name") == Some(name)).count()
}
