//! Rings that go back: the claims of the line, where the first `kept` rings stay and all others go
//! back whenever no waiter is in line.
//!
//! Rings have 1, 2, 4, 8 and 16 places. With `kept` = 0, every wait makes a ring.

use super::give_ups;
use super::more::{Role, rules, world_keeping};
use super::moving::{Part, RINGS, beside, served_after, world_beside};
use crate::common::{inside, values};
use doorway_check::faults::Faults;
use doorway_check::property::View;
use doorway_check::schedule::Runner;
use doorway_check::sim::{Keep, Rules, Sim, World};
use doorway_check::{Explorer, Property, Report, subject};
use doorway_core::k_exclusion::turnstile::{Gate, Limits, Rings, Turnstile};
use doorway_core::memory::Site;
use doorway_core::registry::Sizes;

/// (G1) to (G3), where the line has at most `rings` rings.
fn rings_go_back(rings: usize, kept: u32) -> Vec<Property> {
    let is_there = move |v: &View<'_>, ring: usize, p: usize| {
        let top = v.get::<Rings>("top");
        (ring as u64) < top.rings && (!top.going || v.at(p, 108))
    };
    let at_rest = |v: &View<'_>| v.deaths() == 0 && v.contenders() == 0 && v.get::<Gate>("gate").line == 0;
    vec![
        Property::always("G1", move |v| {
            (kept as usize..rings).all(|ring| {
                let mut places = (1 << ring) - 1..(1 << (ring + 1)) - 1;
                places.all(|i| {
                    let mut alive = v.processes().filter(|&p| !v.has_crashed(p));
                    alive.all(|p| !v.accesses_next(p, "rec", i) || is_there(v, ring, p))
                })
            })
        }),
        Property::always("G2", |v| {
            let counted = v.processes().filter(|&p| v.shown::<bool>(p, "counted").is_some()).count();
            v.get::<Rings>("top").users == counted as u64
        }),
        Property::always("G3", move |v| !at_rest(v) || v.get::<Rings>("top").rings <= u64::from(kept)),
        Property::sometimes("rings go", |v| v.get::<Rings>("top").going),
    ]
}

fn passages(passages: u32, rules: Rules) -> Rules {
    Rules { passages: Some(passages), ..rules }
}

fn world((n, k): (usize, usize), kept: u32, rules: Rules) -> World {
    let limits = Limits { ring: 1, ..Limits::for_growing(n, k) };
    let build = |site: &Site<'_, Sim>| Turnstile::endless(site, k, limits, limits.rings(n), 0).keeping_rings(kept);
    World::of_abortable(n, rules, build).unwrap()
}

/// All that the endless line claims, and that rings go back.
fn explore((n, k): (usize, usize), kept: u32, rules: Rules) -> Report {
    let mut claims = subject::find("turnstile-line").unwrap().claims(Sizes { n, k });
    claims.extend(rings_go_back(Limits::for_growing(n, k).rings(n), kept));
    let world = world((n, k), kept, rules.for_properties(&claims));
    let report = Explorer::new(n).believe_keep(true).properties(claims).explore(world).unwrap();
    println!("({n},{k}), {kept} rings stay, {} crashes: {} states", rules.crashes, report.states);
    report
}

/// All claims hold, and these are all states. If their number changes, exploration has changed:
/// look before you update it.
fn complete(report: &Report, states: usize) {
    report.assert_holds();
    assert_eq!((report.states, report.complete), (states, true));
}

#[test]
fn all_claims_hold() {
    complete(&explore((2, 1), 0, passages(1, give_ups())), 18_273);
    complete(&explore((2, 1), 0, passages(2, Rules::default())), 21_512);
    complete(&explore((2, 1), 1, passages(2, give_ups())), 391_319);
    complete(&explore((3, 1), 0, passages(1, Rules::default())), 430_970);
    complete(&explore((3, 1), 1, passages(1, Rules::default())), 198_683);
}

#[test]
#[ignore = "takes minutes; ci/long-searches.sh runs it"]
fn all_claims_hold_in_the_large() {
    complete(&explore((3, 2), 0, passages(1, Rules { crashes: 1, ..Rules::default() })), 1_361_064);
    complete(&explore((2, 1), 0, passages(2, give_ups())), 811_702);
    const MOVES: &[Role] = &[Role::Leaves(1), Role::Waits(1), Role::Adds];
    complete(&explore_roles(1, (0, 1), MOVES, rules(1)), 12_801_154);
}

#[test]
fn what_is_kept_is_all_that_matters() {
    let rules = Rules { keep: Keep::CrossChecked, ..give_ups() };
    explore((2, 1), 0, passages(1, rules)).assert_holds();
    explore((2, 1), 1, passages(2, rules)).assert_holds();
}

/// A memory that keeps rings need not make their places free: all records there are as good as
/// free.
#[test]
fn places_need_not_be_made_free() {
    let faults: Faults = "drop:108".parse().unwrap();
    let report = explore((2, 1), 0, passages(2, Rules { faults, ..Rules::default() }));
    complete(&report, 21_284);
}

/// With roles, of which the last one gives back what others wait for, or closes.
fn explore_roles(kept: u32, (k, lost): (usize, usize), roles: &'static [Role], rules: Rules) -> Report {
    let most = k + lost;
    let served = served_after(roles.len() - 1);
    let mut claims = vec![Property::exclusion("k-exclusion", most), Property::one_waits(), served];
    claims.extend(rings_go_back(RINGS, kept));
    let world = world_keeping(kept, RINGS, (k, lost), roles, rules.for_properties(&claims));
    let report = Explorer::new(roles.len()).believe_keep(true).properties(claims).explore(world).unwrap();
    println!("{kept} rings stay: {roles:?}: {} states", report.states);
    report
}

#[test]
fn rings_go_back_beside_one_that_closes_and_one_that_asks_for_several() {
    use Role::{Adds, AddsMany, Closes, Leaves, Passes, Waits};
    const CLOSES: &[Role] = &[Passes, Passes, Closes];
    const SEVERAL: &[Role] = &[Waits(2), AddsMany(2)];
    const SEVERAL_LEAVE: &[Role] = &[Leaves(2), Adds];
    for (kept, places, roles) in [(0, (1, 0), CLOSES), (1, (0, 2), SEVERAL), (1, (0, 2), SEVERAL_LEAVE)] {
        explore_roles(kept, places, roles, rules(1)).assert_holds();
    }
}

#[test]
fn rings_go_back_beside_newcomers_that_pass() {
    let mut claims = vec![Property::exclusion("k-exclusion", 1), Property::one_waits()];
    claims.extend(beside(1));
    claims.extend(rings_go_back(RINGS, 0));
    for parts in [&[Part::MayLeave, Part::Adds][..], &[Part::Stays, Part::Adds]] {
        let world = world_beside(0, 1, parts, rules(1).for_properties(&claims));
        let report =
            Explorer::new(parts.len()).believe_keep(true).properties(claims.iter().cloned()).explore(world).unwrap();
        println!("bypass: {parts:?}: {} states", report.states);
        report.assert_holds();
    }
}

/// One fault is not noticed at these sizes: `defer:19>104`, where a process that exited a ghost is
/// not counted any more when the front passes it.
#[test]
fn faults_are_noticed() {
    let mut missed = Vec::new();
    for fault in [
        // No process is counted, or none is counted out.
        "write:103#users=0,write:56#users=old,write:104=0,read:104#users=1",
        "write:104=0",
        // A process that was counted since is overlooked.
        "write:103#entries=0,write:56#entries=old",
        "blind:107",
        "read:106#line=0",
        // A process that is giving rings back never ends.
        "write:109=0",
    ] {
        let faults: Faults = fault.parse().unwrap();
        let rules = Rules { faults, ..Rules::default() };
        let one = Rules { give_ups: true, ..rules };
        let found = [((2, 1), passages(1, one)), ((2, 1), passages(2, rules)), ((3, 1), passages(1, rules))]
            .into_iter()
            .find_map(|(sizes, rules)| explore(sizes, 0, rules).failure().map(|failure| failure.name.clone()));
        match found {
            Some(name) => println!("{fault}: {name}"),
            None => missed.push(fault),
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn a_ring_goes_when_the_last_one_leaves() {
    let rules = Rules { give_ups: true, ..passages(20, Rules::default()) };
    let mut r = Runner::new(world((3, 1), 1, rules));
    r.follow("p0>in  p1.1.2.3.51.56.51.52.54.5.6.7.8~").unwrap();
    assert_eq!(values(&r, ["top", "rec[0]"]), ["1", "1 Waits"]);
    // The second ring can go back. The process that makes it is counted until it is in line.
    r.follow("p2.1.2.3.51.52.55.52.56.51.52.54").unwrap();
    assert_eq!(values(&r, ["top"]), ["2, 1 of 1 use them"]);
    r.follow("p2.5.104.106.8~").unwrap();
    assert_eq!(values(&r, ["top", "rec[1]"]), ["2, 0 of 1 use them", "2 Waits"]);
    // A helper is counted while it looks.
    r.follow("p0.9.10.50.103.13.13.104.106.14.15.10.29  p1.8").unwrap();
    r.follow("p1.9.10.50.103.13.14").unwrap();
    assert_eq!(values(&r, ["top"]), ["2, 1 of 3 use them"]);
    r.follow("p1.104.106").unwrap(); // p2 is in line
    r.follow("p1.15.10.29  p2.8").unwrap();
    assert_eq!(inside(&r), [2]);
    r.follow("p2.9.29.105.106.107.108.108.109").unwrap();
    assert_eq!(values(&r, ["top", "rec[1]", "rec[2]"]), ["1, 0 of 4 use them", "free", "free"]);
}
