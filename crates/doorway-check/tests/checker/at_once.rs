//! Passages that enter at once or not at all, among passages that wait: p0 and p2 wait, p1 and p3
//! try.

use doorway_check::at_once::{self, OddTry};
use doorway_check::property::View;
use doorway_check::schedule::Runner;
use doorway_check::sim::{Phase, Rules, World};
use doorway_check::{Explorer, Property, Report, claims};
use doorway_core::mutex::mellor_crummey_scott_91::TicketLock;
use doorway_core::registry::{self, Sizes};

fn rules(id: &str, n: usize) -> Rules {
    // Tickets of a turnstile grow for ever.
    let passages = if id == "turnstile" { Some(if n == 2 { 3 } else { 1 }) } else { None };
    Rules::with_passages(passages)
}

/// All claims of the algorithm. A process that tries in vain leaves its entry section, so
/// starvation freedom applies to all.
fn explore(id: &str, n: usize) -> Report {
    let sizes = Sizes { n, k: 1 };
    let claims = claims::of(registry::find(id).unwrap(), sizes);
    let rules = rules(id, n).for_properties(&claims);
    let gets_in =
        |p: usize| Property::sometimes(format!("p{p} gets in"), move |v: &View<'_>| v.phase(p) == Phase::Inside);
    let world = at_once::world(id, sizes, rules).unwrap().unwrap();
    Explorer::new(n).properties(claims).properties((0..n).map(gets_in)).explore(world).unwrap()
}

#[test]
fn what_is_claimed_holds_though_some_try() {
    for id in at_once::all() {
        for n in 2..=3 {
            explore(id, n).assert_holds();
        }
    }
    explore("ticket", 4).assert_holds();
}

#[test]
fn some_can_be_entered_at_once_and_others_cannot() {
    assert_eq!(at_once::all().count(), 5);
    assert!(at_once::world("bakery", Sizes { n: 2, k: 1 }, Rules::default()).is_none());
}

fn run(id: &str, n: usize) -> Runner {
    Runner::new(at_once::world(id, Sizes { n, k: 1 }, Rules::default()).unwrap().unwrap())
}

/// An attempt at something free succeeds. An attempt at something taken fails, and leaves nothing
/// behind.
#[test]
fn a_free_lock_is_entered_and_a_taken_one_is_not() {
    for (id, waits, leaves, tries, left) in [
        ("tas", "p0.0.1", "p0.2", "p1.1", "p1.2"),
        ("tas-backoff", "p0.1", "p0.4", "p1.1", "p1.4"),
        ("ticket", "p0.1.2", "p0.4", "p1.5.6.2", "p1.4"),
        ("mcs", "p0.1.2", "p0.7.8", "p1.1.11", "p1.7.8"),
    ] {
        let mut r = run(id, 2);
        r.follow(waits).unwrap();
        r.follow(tries.trim_end_matches(".2")).unwrap();
        assert_eq!((r.view().inside(), r.view().phase(1)), (1, Phase::Remainder), "{id}");
        r.follow(leaves).unwrap();
        r.follow(tries).unwrap();
        assert_eq!(r.view().phase(1), Phase::Inside, "{id}");
        r.follow(left).unwrap();
        r.follow(waits).unwrap();
        assert_eq!(r.view().phase(0), Phase::Inside, "{id}");
    }
}

fn ticket(bits: u32, passages: Option<u32>, property: Property) -> Report {
    let rules = Rules::with_passages(passages);
    let world = World::new(2, rules, |site| OddTry(TicketLock::with_bits(site, bits))).unwrap();
    Explorer::new(2).property(property).property(Property::exclusion("exclusion", 1)).explore(world).unwrap()
}

/// A process that tries has a ticket that is not served.
fn waits(v: &View<'_>) -> bool {
    v.at(1, 2) && v.shown::<u64>(1, "ticket").is_some_and(|mine| mine != v.get::<u64>("Serving"))
}

#[test]
fn a_try_waits_only_if_tickets_have_gone_round_meanwhile() {
    ticket(1, None, Property::sometimes("waits", waits)).assert_holds();
    let mut r = run("ticket", 2);
    r.follow("p1.5  p0.1.2.4  p0.1.2  p1.6.2~").unwrap(); // one bit: the third ticket equals the first
    assert_eq!(r.view().inside(), 1);
    ticket(64, Some(6), Property::always("never waits", |v| !waits(v))).assert_holds();
}
