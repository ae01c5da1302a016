//! The bypass: its claims, its bound, and what a death costs.

use doorway_check::property::View;
use doorway_check::sim::{Rules, World};
use doorway_check::{Explorer, Property, Report, claims, subject};
use doorway_core::k_assignment::names::FlagNames;
use doorway_core::k_assignment::slots::{Passing, Slots};
use doorway_core::k_exclusion::bypass::{Bypass, Tray};
use doorway_core::k_exclusion::turnstile::{Limits, Turnstile};
use doorway_core::registry::Sizes;

fn give_ups() -> Rules {
    Rules { give_ups: true, ..Rules::default() }
}

/// Explores with all claims; they hold, and there are this many states.
fn explore(id: &str, (n, k): (usize, usize), rules: Rules, states: usize) {
    let subject = subject::find(id).unwrap();
    let sizes = Sizes { n, k };
    let claims = subject.claims(sizes);
    let world = subject.world(sizes, rules.for_properties(&claims)).unwrap();
    let report = Explorer::new(n).believe_keep(true).properties(claims).explore(world).unwrap();
    report.assert_holds();
    assert_eq!(report.states, states, "{id} ({n},{k}) {rules:?}");
}

// If a number of states changes, exploration has changed: look before you update it.

#[test]
fn all_claims_hold() {
    explore("bypass", (1, 1), Rules::default(), 23);
    explore("bypass", (2, 1), Rules::default(), 9_761);
    explore("bypass", (2, 2), Rules::default(), 380);
}

#[test]
fn all_claims_hold_when_waiting_processes_give_up() {
    explore("bypass", (2, 1), give_ups(), 74_950);
}

/// A waiter that was called looks at the tray before it listens again, as in `doorway::Slots`. With
/// three looks it can find a place once, find another one, and find that one again.
#[test]
fn all_claims_hold_if_a_called_waiter_looks_first() {
    for (gives_up, states) in [(false, 39_805), (true, 124_391)] {
        let rules = Rules { give_ups: gives_up, passages: Some(2), ..Rules::default() };
        let sizes = Sizes { n: 2, k: 1 };
        let claims = subject::find("bypass").unwrap().claims(sizes);
        let looks = Property::sometimes("a waiter looks", |v: &View<'_>| v.count(74) > 0);
        let properties: Vec<_> = claims.into_iter().chain([looks]).collect();
        let rules = rules.for_properties(&properties);
        let world = World::of_abortable(2, rules, |site| Bypass::looking(site, 2, 1, 1, 3)).unwrap();
        let report = Explorer::new(2).believe_keep(true).properties(properties).explore(world).unwrap();
        report.assert_holds();
        assert_eq!(report.states, states);
    }
}

/// With names, fence numbers and an endless line, as `doorway::Slots` run it.
#[test]
fn slots_whose_newcomers_pass_have_names_of_their_own() {
    for (passages, gives_up, states) in [(1, true, 6_388), (2, false, 108_844)] {
        let rules = Rules { passages: Some(passages), give_ups: gives_up, ..Rules::default() };
        let properties = [
            Property::exclusion("k-exclusion", 1),
            Property::never_stuck("never-stuck"),
            Property::starvation_free("starvation-free"),
            claims::bypass_bound(1, "exclusion"),
        ];
        let world = World::of_abortable(2, rules, |site| {
            let mut tray = None;
            let slots = Slots::<_, FlagNames<_>, _>::new(site, 1, Some(0), |inner| {
                tray = Some(Tray::new(inner, 1, 0).noting_stamps(inner, 0));
                let limits = Limits::for_growing(2, 1);
                Turnstile::endless(inner, 1, limits, limits.rings(2), 0).noting_tickets()
            });
            Passing::new(slots, tray.unwrap())
        });
        let report = Explorer::new(2).believe_keep(true).properties(properties).explore(world.unwrap()).unwrap();
        report.assert_holds();
        assert_eq!(report.states, states);
    }
}

/// The report of a search that asks for at most `asked` bypasses, in a text that allows `most`.
fn passed(most: u32, asked: u32, (n, k, passages): (usize, usize, u32)) -> Report {
    let rules = Rules::with_passages(Some(passages));
    let world = World::new(n, rules, |site| Bypass::new(site, n, k, most)).unwrap();
    let properties = [claims::bypass_bound(asked, ""), Property::exclusion("k-exclusion", k)];
    Explorer::new(n).believe_keep(true).properties(properties).explore(world).unwrap()
}

#[test]
fn as_many_pass_as_the_bound_says_and_no_more() {
    for (most, passages) in [(0, 2), (1, 2)] {
        passed(most, most, (2, 1, passages)).assert_holds();
        if most > 0 {
            let one_less = passed(most, most - 1, (2, 1, passages));
            assert_eq!(one_less.failure().map(|failed| &*failed.name), Some("bypass-bound"));
        }
    }
}

/// Three processes: this takes minutes, and gives the figures in the text's own documentation.
#[test]
#[ignore = "takes minutes; ci/long-searches.sh runs it"]
fn all_claims_hold_for_three() {
    explore("bypass", (3, 1), Rules::default(), 3_031_436);
    // A move that fails is tried again, so an exit has no bound where two others come back for
    // ever.
    let (subject, sizes) = (subject::find("bypass").unwrap(), Sizes { n: 3, k: 1 });
    let goes_round = [Property::bounded_exit("bounded-exit"), Property::starvation_free("starvation-free")];
    let world = subject.world(sizes, Rules::default().for_properties(&goes_round)).unwrap();
    let report = Explorer::new(3).believe_keep(true).properties(goes_round).keep_going(true).explore(world).unwrap();
    for verdict in &report.verdicts {
        assert_eq!(verdict.holds, Some(false), "{}", verdict.name);
    }
}

/// The claim that one death breaks, if any.
fn one_death(id: &str, (n, k): (usize, usize), passages: u32) -> Option<String> {
    let rules = Rules { crashes: 1, passages: Some(passages), ..Rules::default() };
    let world = subject::find(id).unwrap().world(Sizes { n, k }, rules).unwrap();
    let properties = [Property::exclusion("k-exclusion", k), Property::never_stuck("never-stuck")];
    let report = Explorer::new(n).believe_keep(true).properties(properties).explore(world).unwrap();
    report.failure().map(|failed| failed.name.to_string())
}

/// A waiter that was called dies: places are in the tray, and the waiters behind it sleep. In the
/// turnstile they do not.
#[test]
#[ignore = "takes minutes; ci/long-searches.sh runs it"]
fn one_death_in_line_can_hold_up_all_that_wait() {
    assert_eq!(one_death("bypass", (4, 2), 1).as_deref(), Some("never-stuck"));
}
