//! What each algorithm claims, as properties by name: exclusion, deadlock freedom, and the
//! invariants of its paper.
//!
//! The names are those that the [registry](doorway_core::registry) lists as an algorithm's
//! `properties`. This file holds what a problem asks of every solution. What a text claims is
//! beside its faults, under the path of its paper.

pub use crate::k_assignment::seats::{Last, SeatsInUse};
pub use crate::k_exclusion::bypass::bypass_bound;
pub use crate::mutex::yang_anderson_93::FetchAndOp;
pub use crate::resilient::Maps;

use crate::Property;
use crate::checked::{Kind, Merges};
use crate::property::View;
use crate::sim::{Canon, Layout, Numbers, Phase, Rules};
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

/// Every property that can be checked by name, claimed or not.
#[must_use]
pub fn askable(info: &Info, sizes: Sizes) -> Vec<Property> {
    together([
        askable_of_any(info, sizes),
        vec![Property::no_panic(), Property::one_waits()],
        (Kind::find(info).claims)(sizes),
    ])
}

/// What an algorithm claims as a solution of its problem.
#[must_use]
pub fn of_the_problem(info: &Info, sizes: Sizes) -> Vec<Property> {
    let mut claims = together([askable_of_any(info, sizes), (Kind::find(info).asked_of_any_text)(sizes)]);
    claims.retain(|claim| info.properties.contains(&claim.name()));
    claims
}

/// Whether it has counters that grow for ever, so that it has finitely many states only up to
/// [symmetry](canon).
#[must_use]
pub fn counts_for_ever(info: &Info) -> bool {
    matches!(Kind::find(info).merges, Merges::Always { .. })
}

/// Whether [`Rules::lag`] applies to it.
#[must_use]
pub fn lags(info: &Info) -> bool {
    Kind::find(info).merges == Merges::Always { lags: true }
}

/// Which states of an algorithm are symmetric, if that is known.
#[must_use]
pub fn canon(info: &Info, sizes: Sizes, rules: Rules, layout: &Layout) -> Option<Box<dyn Canon>> {
    (Kind::find(info).canon)(layout, sizes, rules)
}

/// Which numbers in the states of an algorithm are only counts, if that is known.
#[must_use]
pub fn numbers(info: &Info, sizes: Sizes, layout: &Layout) -> Option<Box<dyn Numbers>> {
    (Kind::find(info).numbers)(layout, sizes)
}

/// Whether it declares symmetric states although it has finitely many states; see [`Rules::alike`].
#[must_use]
pub fn has_alike(info: &Info) -> bool {
    Kind::find(info).merges == Merges::IfAsked
}

/// Whether its memory notices deaths; see [`Deaths`](crate::sim::Deaths).
#[must_use]
pub fn notices_deaths(info: &Info) -> bool {
    Kind::find(info).mortal
}

pub(crate) fn together<const N: usize>(parts: [Vec<Property>; N]) -> Vec<Property> {
    parts.into_iter().flatten().collect()
}

/// What can be checked of every solution of a problem.
fn askable_of_any(info: &Info, sizes: Sizes) -> Vec<Property> {
    let (most, problem) = (sizes.n.min(sizes.k), info.problem);
    let names = match problem {
        // These list their properties themselves.
        Problem::RoomSynchronization | Problem::DataStructure => return Vec::new(),
        Problem::MutualExclusion => MUTEX,
        Problem::KExclusion | Problem::KAssignment | Problem::FetchAndOp | Problem::ResilientObject => K_EXCLUSION,
    };
    let mut all = usual(names, sizes.k, most);
    all.insert(2, Property::quiet_waits("quiet-waits"));
    all.extend([
        Property::leads_to("every-entry-ends", is_on_its_way_in, |v, p| !is_on_its_way_in(v, p)),
        Property::leads_to("starvation-free-in-line", is_in_line, |v, p| !is_in_line(v, p)),
        Property::first_come("first-come-first-served", 1),
        Property::first_come("k-first-come-first-served", sizes.k),
        Property::first_enabled("first-in-first-enabled"),
        Property::bounded_overtaking("overtaking", None),
    ]);
    if problem == Problem::KAssignment {
        let k = sizes.k as u64;
        all.push(Property::always("unique-names", move |v| {
            let named = |p| v.shown::<u64>(p, "name").is_some_and(|name| name < k && holders(v, name) == 1);
            v.processes().filter(|&p| v.phase(p) == Phase::Inside).all(named)
        }));
    }
    all
}

/// What every good lock for `k` claims, of whose processes `most` can be inside together.
fn usual([exclusion, everyone]: [&'static str; 2], k: usize, most: usize) -> Vec<Property> {
    vec![
        Property::exclusion(exclusion, k),
        Property::never_stuck("never-stuck"),
        Property::sometimes(everyone, move |v| v.inside() == most),
        Property::deadlock_free("deadlock-free"),
        Property::bounded_exit("bounded-exit"),
        Property::starvation_free("starvation-free"),
    ]
}

impl Property {
    /// What every good mutex claims, under the names of the catalogue.
    #[must_use]
    pub fn of_a_mutex() -> Vec<Self> {
        usual(MUTEX, 1, 1)
    }

    /// What every good solution of k-exclusion for `n` processes claims.
    #[must_use]
    pub fn of_k_exclusion(n: usize, k: usize) -> Vec<Self> {
        usual(K_EXCLUSION, k, n.min(k))
    }
}

/// The names of exclusion, and of that the places are used.
const MUTEX: [&str; 2] = ["mutual-exclusion", "someone-enters"];
const K_EXCLUSION: [&str; 2] = ["k-exclusion", "k-enter-together"];

fn is_on_its_way_in(v: &View<'_>, p: usize) -> bool {
    v.phase(p) == Phase::Entry
}

/// Whether a process is on its way in and past its doorway, or on its way out.
fn is_in_line(v: &View<'_>, p: usize) -> bool {
    match v.phase(p) {
        Phase::Entry => v.past_doorway(p),
        Phase::Exit => true,
        Phase::Remainder | Phase::Inside => false,
    }
}

/// How many processes hold this name. A solution of k-assignment shows it as a whole, not in a
/// part.
pub(crate) fn holders(v: &View<'_>, name: u64) -> usize {
    let holds = |p: usize| match v.shown::<u64>(p, "names") {
        // Several names, some of which may have been given back.
        Some(names) => (names & !v.shown::<u64>(p, "gone").unwrap_or(0)) >> name & 1 == 1,
        None => v.shown(p, "name") == Some(name),
    };
    v.processes().filter(|&p| holds(p)).count()
}
