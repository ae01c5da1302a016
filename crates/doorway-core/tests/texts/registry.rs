//! The claims of the registry about an algorithm are what the checker sees.

use crate::common::explore_without_trust;
use doorway_check::sim::{Rules, Sim};
use doorway_check::{Explorer, Property, claims, subject};
use doorway_core::memory::{Instruction, Memory};
use doorway_core::registry::{self, Info, SizeError, Sizes};
use std::collections::BTreeSet;

/// The catalogue, and the objects.
fn all() -> impl Iterator<Item = &'static Info> {
    registry::ALL.iter().chain(registry::OBJECTS)
}

/// Algorithms that are shipped as printed fail some property.
fn is_as_printed(info: &Info) -> bool {
    matches!(info.id, "rooms-as-printed" | "room-dynamic-stack-as-printed")
}

/// The algorithms whose default searches take longest.
const LONG: [&str; 8] = [
    "turnstile",
    "turnstile-many",
    "turnstile-unfair",
    "turnstile-slots",
    "turnstile-bits",
    "room-dynamic-stack",
    "room-work-stack",
    "ya-tree",
];

#[test]
fn defaults_complete_and_everything_promised_holds() {
    let (long, short): (Vec<_>, Vec<_>) = all().partition(|info| LONG.contains(&info.id));
    short.into_iter().for_each(|info| everything_promised_holds(info, info.defaults.passages));
    long.into_iter().for_each(|info| everything_promised_holds(info, Some(1)));
}

#[test]
#[ignore = "takes minutes; ci/long-searches.sh runs it"]
fn long_defaults_complete_and_everything_promised_holds() {
    let long = all().filter(|info| LONG.contains(&info.id));
    long.for_each(|info| everything_promised_holds(info, info.defaults.passages));
}

fn everything_promised_holds(info: &'static Info, passages: Option<u32>) {
    let subject = subject::find(info.id).unwrap();
    let sizes = subject.sizes(None, None).unwrap();
    let mut claims = subject.claims(sizes);
    // Checked for all, claimed by those whose turns write.
    claims.push(Property::quiet_waits("a waiter does not write"));
    let rules = Rules::with_passages(passages).for_properties(&claims);
    let world = subject.world(sizes, rules).unwrap();
    let weakest = world.layout().vars().iter().map(|v| v.needs).min();
    let report = Explorer::new(sizes.n).believe_keep(true).properties(claims).explore(world).unwrap();
    if is_as_printed(info) {
        assert!(report.failure().is_some(), "{}", info.id);
        return;
    }
    report.assert_holds();

    let declared: BTreeSet<Instruction> = info.instructions.iter().copied().collect();
    assert_eq!(report.instructions, declared, "{}: instructions seen and declared", info.id);
    assert_eq!(weakest, Some(info.registers), "{}: the weakest register declared", info.id);
}

#[test]
fn the_properties_listed_are_those_that_can_be_asked_for() {
    for info in all() {
        let claims = claims::of(info, info.sizes(None, None).unwrap());
        let names: Vec<&str> = claims.iter().map(Property::name).collect();
        assert_eq!(names, info.properties, "{}", info.id);
    }
}

#[test]
fn ids_are_unique_and_found() {
    let ids: BTreeSet<&str> = all().map(|info| info.id).collect();
    assert_eq!(ids.len(), all().count());
    assert!(ids.iter().all(|id| registry::find(id).is_some_and(|info| info.id == *id)));
    assert!(registry::find("nothing").is_none());
}

#[test]
fn sizes_that_do_not_fit_are_refused_with_advice() {
    let sizes = |id: &str, n, k| registry::find(id).unwrap().sizes(Some(n), Some(k));
    assert_eq!(sizes("am-chain", 0, 1), Err(SizeError::NoProcess));
    assert_eq!(sizes("am-chain", 1, 0), Err(SizeError::NoPlace));
    assert_eq!(sizes("am-chain", 70_000, 1), Err(SizeError::TooManyProcesses(70_000)));
    assert_eq!(sizes("bakery", 3, 2), Err(SizeError::OnlyOneInside { id: "bakery", k: 2 }));
    assert_eq!(sizes("ya-two", 3, 1), Err(SizeError::OnlyTwoProcesses { id: "ya-two", n: 3 }));
    assert!(sizes("am-fast", 2, 9).is_ok());
}

/// The texts' `keep` hides nothing: all claims also hold without it, and with merged local states
/// run side by side.
#[test]
fn keep_can_be_trusted() {
    explore_without_trust("bakery", 3, 1, Some(1));
    explore_without_trust("tas-backoff", 2, 1, None);
    explore_without_trust("ticket", 3, 1, None);
    explore_without_trust("anderson-array", 3, 1, None);
    explore_without_trust("mcs", 3, 1, Some(2));
    explore_without_trust("mcs-swap", 3, 1, Some(2));
    explore_without_trust("lamport-fast", 2, 1, Some(2));
    explore_without_trust("peterson-fischer", 2, 1, None);
    explore_without_trust("peterson-tree", 3, 1, None);
    explore_without_trust("kessels-tree", 3, 1, Some(2));
    explore_without_trust("ya-two", 2, 1, None);
    explore_without_trust("ya-tree", 3, 1, Some(1));
    explore_without_trust("ya-fast", 2, 1, Some(1));
    explore_without_trust("am-chain", 2, 1, None);
    explore_without_trust("am-chain", 3, 2, None);
    explore_without_trust("am-chain", 3, 1, Some(1));
    explore_without_trust("tas", 3, 1, None);
    explore_without_trust("am-fast", 2, 1, None);
    explore_without_trust("am-queue", 3, 2, None);
    explore_without_trust("am-tree", 3, 1, Some(1));
    explore_without_trust("am-graceful", 3, 1, Some(1));
    explore_without_trust("am-dsm-unbounded", 2, 1, Some(2));
    explore_without_trust("am-dsm-chain", 2, 1, Some(2));
    explore_without_trust("am-dsm-chain", 3, 2, Some(1));
    explore_without_trust("am-dsm-tree", 2, 1, Some(1));
    explore_without_trust("am-dsm-fast", 2, 1, Some(1));
    explore_without_trust("am-dsm-graceful", 2, 1, Some(1));
    explore_without_trust("am-assign", 3, 2, Some(1));
    explore_without_trust("am-dsm-assign", 2, 1, Some(1));
}

#[test]
fn it_takes_as_many_words_as_it_says() {
    for info in all() {
        let subject = subject::find(info.id).unwrap();
        for (n, k) in [(2, 1), (3, 1), (3, 2), (5, 2), (7, 3), (9, 2), (2, 4)] {
            let Ok(sizes) = info.sizes(Some(n), Some(k)) else { continue };
            let declared = subject.world(sizes, Rules::default()).unwrap().layout().vars().len() as u64;
            assert_eq!((info.words)(sizes, Sim::PLENTY), declared, "{} ({n},{k})", info.id);
        }
    }
}

#[test]
fn orders_are_those_of_the_bounds() {
    let bounded = registry::ALL.iter().filter_map(|info| {
        let bound = info.rmr.iter().find_map(|(_, bound)| bound.at(Sizes { n: 64, k: 8 }, 8).map(|_| *bound))?;
        Some((info, info.orders?, bound))
    });
    for (info, (contended, calm), bound) in bounded {
        let at = |n, k, c| bound.at(Sizes { n, k }, c).unwrap();
        let grows_with_n = |c: fn(usize) -> usize| at(1024, 8, c(1024)) > at(64, 8, c(64));
        assert_eq!(grows_with_n(|_| 8), calm.contains('N'), "{}: {calm}", info.id);
        assert_eq!(grows_with_n(|n| n), contended.contains('N') || contended.contains('c'), "{}: {contended}", info.id);
        // Sixteen times as many processes add four levels to a tree.
        let logarithmic = at(1024, 8, 1024) - at(64, 8, 64) == 4 * (at(128, 8, 128) - at(64, 8, 64));
        assert_eq!(logarithmic, contended.contains("log"), "{}: {contended}", info.id);
    }
}
