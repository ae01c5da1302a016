//! What each algorithm claims, as properties by name: exclusion, freedom from deadlock, and the invariants of its paper.
//!
//! The names are those that the [registry](doorway_core::registry) lists as an algorithm's `properties`.

mod anderson_moir;
mod combining;
mod danek;
mod dolev_gafni_shavit;
mod lamport;
mod mellor_crummey_scott;
mod peterson_fischer;
mod resilient;
mod rooms;
mod sticky;
pub(crate) mod structures;
mod turnstile;
mod turnstile_simple;
mod two_sides;
pub(crate) mod work;
mod yang_anderson;

pub use combining::FetchAndOp;
pub use resilient::Maps;

use crate::Property;
use crate::property::View;
use crate::sim::{Canon, Layout, Phase, Rules};
use doorway_core::k_exclusion::turnstile::Limits;
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
    let mut all = askable_of_any(info, sizes);
    all.push(Property::no_panic());
    all.extend(match info.id {
        "bakery" => lamport::bakery(),
        "tas-backoff" => mellor_crummey_scott::backoff(),
        "ticket" => mellor_crummey_scott::ticket(sizes),
        "anderson-array" => mellor_crummey_scott::array(sizes),
        "mcs" => mellor_crummey_scott::queue(),
        "mcs-swap" => mellor_crummey_scott::queue_without_compare_swap(),
        "lamport-fast" => lamport::fast(),
        "peterson-fischer" => peterson_fischer::two_process(),
        "peterson-tree" => two_sides::peterson_tree(sizes),
        "kessels-tree" => two_sides::kessels_tree(sizes),
        "ya-combining" => combining::combining(sizes),
        "ya-two" => yang_anderson::two_process(),
        "ya-tree" => yang_anderson::tree(sizes),
        "ya-fast" => together([yang_anderson::fast_path(), yang_anderson::tree(sizes)]),
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
        "kbakery" => danek::k_bakery(),
        "kbakery-fife" => danek::first_enabled_k_bakery(),
        "kbakery-nonatomic" | "kbakery-nonatomic-as-printed" => danek::nonatomic_k_bakery(),
        "dgs" | "dgs-as-printed" => dolev_gafni_shavit::invariants(),
        "dgs-unfair" => together([vec![dolev_gafni_shavit::largest_id_enters()], dolev_gafni_shavit::invariants()]),
        "turnstile" | "turnstile-unfair" => turnstile::turnstile(limits(info, sizes), turnstile_part(info)),
        "turnstile-simple" => turnstile_simple::claims(sizes),
        "turnstile-many" => together([
            vec![turnstile::units_inside(sizes.k)],
            turnstile::turnstile(limits(info, sizes), turnstile_part(info)),
        ]),
        "turnstile-slots" | "turnstile-bits" => together([
            turnstile::turnstile(limits(info, sizes), turnstile_part(info)),
            turnstile::names(sizes, info.id == "turnstile-bits"),
        ]),
        "sticky-names" => sticky::claims(sizes),
        _ if info.problem == Problem::ResilientObject => {
            together([vec![resilient::linearizable(info.id)], resilient::invariants(sizes, resilient_part(info))])
        }
        "rooms-strict" => together([rooms::lemmas(info, sizes), rooms::strict()]),
        _ if info.problem == Problem::RoomSynchronization => rooms::lemmas(info, sizes),
        _ => Vec::new(),
    });
    all
}

/// Which part of it is a turnstile.
fn turnstile_part(info: &Info) -> &'static str {
    if matches!(info.id, "turnstile-slots" | "turnstile-bits" | "turnstile-unfair") { "exclusion" } else { "" }
}

/// Which part of it is a universal construction.
fn resilient_part(info: &Info) -> &'static str {
    if matches!(info.id, "resilient" | "resilient-am") { "inside" } else { "" }
}

/// What the line of a turnstile is made for.
fn limits(info: &Info, sizes: Sizes) -> Limits {
    Limits::for_processes(sizes.n + usize::from(info.id == "turnstile-many"), sizes.k)
}

/// Whether it has counters that grow for ever, so that its states are only finitely many as far as they are [not alike](canon).
#[must_use]
pub fn counts_for_ever(info: &Info) -> bool {
    info.id.starts_with("turnstile")
}

/// Whether its states are only known to be few as far as they are not [alike](canon), though they are finitely many: counters that wrap.
#[must_use]
pub(crate) fn wraps(info: &Info) -> bool {
    // Where numbers have to wrap before anything goes wrong, a trace should show them.
    matches!(info.problem, Problem::RoomSynchronization | Problem::DataStructure) && info.id != "rooms-as-printed"
}

/// Which states of an algorithm are alike, if that is known.
#[must_use]
pub fn canon(info: &Info, sizes: Sizes, rules: Rules, layout: &Layout) -> Option<Box<dyn Canon>> {
    Some(match info.id {
        "turnstile-simple" => Box::new(turnstile_simple::Simple::new(layout, sizes)),
        _ if counts_for_ever(info) => Box::new(turnstile::Turnstile::new(layout, limits(info, sizes), rules.lag)),
        _ if wraps(info) => Box::new(rooms::Shifted::new(layout, info, sizes)?),
        _ if has_alike(info) => Box::new(dolev_gafni_shavit::Forks::new(layout)),
        _ => return None,
    })
}

/// Whether it is known which of its states are alike although they are finitely many; see [`Rules::alike`].
#[must_use]
pub fn has_alike(info: &Info) -> bool {
    info.id.starts_with("dgs")
}

fn together<const N: usize>(parts: [Vec<Property>; N]) -> Vec<Property> {
    parts.into_iter().flatten().collect()
}

/// What an algorithm claims as a solution of its problem, whatever its text.
#[must_use]
pub fn of_the_problem(info: &Info, sizes: Sizes) -> Vec<Property> {
    let mut claims = askable_of_any(info, sizes);
    if info.properties.contains(&"units-inside") {
        claims.push(turnstile::units_inside(sizes.k));
    }
    if info.properties.contains(&"door-opens") {
        claims.push(turnstile::door_opens(turnstile_part(info)));
    }
    if info.problem == Problem::RoomSynchronization {
        let beyond = |lemma: &Property| matches!(lemma.name(), "change" | "V");
        claims.extend(rooms::lemmas(info, sizes).into_iter().chain(rooms::strict()).filter(beyond));
    }
    if info.properties.contains(&"largest-id-enters") {
        claims.push(dolev_gafni_shavit::largest_id_enters());
    }
    if info.id == "sticky-names" {
        claims.push(sticky::nobody_is_turned_away(sizes));
    }
    match info.problem {
        Problem::FetchAndOp => claims.push(combining::linearizable()),
        Problem::ResilientObject => {
            // What its users' memory relies on, whatever the text.
            claims.push(resilient::linearizable(info.id));
            let relied_on = |claim: &Property| matches!(claim.name(), "R3" | "R4");
            claims.extend(resilient::invariants(sizes, resilient_part(info)).into_iter().filter(relied_on));
        }
        _ => {}
    }
    claims.retain(|claim| info.properties.contains(&claim.name()));
    claims
}

/// What can be asked of every solution of a problem.
fn askable_of_any(info: &Info, sizes: Sizes) -> Vec<Property> {
    let (most, problem) = (sizes.n.min(sizes.k), info.problem);
    let (exclusion, everyone) = match problem {
        Problem::RoomSynchronization => return rooms::properties(info, sizes),
        Problem::DataStructure => return structures::properties(info, sizes),
        Problem::MutualExclusion => ("mutual-exclusion", "someone-enters"),
        Problem::KExclusion | Problem::KAssignment | Problem::FetchAndOp | Problem::ResilientObject => {
            ("k-exclusion", "k-enter-together")
        }
    };
    let mut all = vec![
        Property::exclusion(exclusion, sizes.k),
        Property::never_stuck("never-stuck"),
        Property::quiet_waits("quiet-waits"),
        Property::sometimes(everyone, move |v| v.inside() == most),
        Property::deadlock_free("deadlock-free"),
        Property::bounded_exit("bounded-exit"),
        Property::starvation_free("starvation-free"),
        Property::leads_to("starvation-free-in-line", is_in_line, |v, p| !is_in_line(v, p)),
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

/// On its way in and past its doorway, or on its way out.
fn is_in_line(v: &View<'_>, p: usize) -> bool {
    match v.phase(p) {
        Phase::Entry => v.past_doorway(p),
        Phase::Exit => true,
        Phase::Remainder | Phase::Inside => false,
    }
}

/// How many hold this name. A solution of k-assignment says as a whole, not in a part, which one a process holds.
fn holders(v: &View<'_>, name: u64) -> usize {
    let holds = |p: usize| match v.shown::<u64>(p, "names") {
        // Several, of which some may have been given back.
        Some(names) => (names & !v.shown::<u64>(p, "gone").unwrap_or(0)) >> name & 1 == 1,
        None => v.shown(p, "name") == Some(name),
    };
    v.processes().filter(|&p| holds(p)).count()
}
