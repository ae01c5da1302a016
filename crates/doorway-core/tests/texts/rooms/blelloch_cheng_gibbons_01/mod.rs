//! Rooms of Blelloch, Cheng and Gibbons: the hard interleavings, as schedules.

mod awaited;
mod batches;
mod structures;
mod work;

use crate::common::{ask, inside, run, values};
use doorway_check::schedule::Runner;
use doorway_check::sim::{Keep, Rules, World};
use doorway_check::{Explorer, subject};
use doorway_core::registry::{self, Listed, Sizes};
use doorway_core::rooms::blelloch_cheng_gibbons_01::entries::width;
use doorway_core::rooms::blelloch_cheng_gibbons_01::{LateJoin, Rooms, Width};
use doorway_core::rooms::{Changes, Visits};

const WIDE: Width = Width { bits: 8, ghosts: 8 };

/// Rooms whose counters do not wrap during the test.
fn rooms(n: usize, m: usize) -> Runner {
    let build = |site: &doorway_core::memory::Site<'_, _>| Visits::new(site, |site| Rooms::with(site, m, WIDE, ()));
    Runner::new(World::of_abortable(n, Rules { give_ups: true, ..Rules::default() }, build).unwrap())
}

fn changes(n: usize, m: usize) -> Runner {
    let build = |site: &doorway_core::memory::Site<'_, _>| Changes::new(site, |site| Rooms::with(site, m, WIDE, ()));
    Runner::new(World::new(n, Rules::default(), build).unwrap())
}

/// `activeRoom`, and for each room `wait`, `grant` and `done`.
fn state(r: &Runner, m: usize) -> String {
    let row = |name: &str| {
        let cells: Vec<String> = (0..m).map(|i| r.value(&format!("{name}[{i}]")).unwrap()).collect();
        format!("[{}]", cells.join(","))
    };
    format!("{};{};{};{}", r.value("activeRoom").unwrap(), row("wait"), row("grant"), row("done"))
}

#[test]
fn two_users_in_two_rooms_take_turns() {
    let mut r = rooms(2, 2);
    r.follow("p0.0=0 p0.2 p1.0=1 p1.2").unwrap();
    assert_eq!(state(&r, 2), "-1;[1,1];[0,0];[0,0]");
    r.follow("p0.3.4.5.30.31.33").unwrap();
    assert_eq!((state(&r, 2).as_str(), inside(&r)), ("0;[1,1];[1,0];[0,0]", vec![0]));
    r.follow("p1.3.4~ p0.14").unwrap();
    assert_eq!(state(&r, 2), "0;[1,1];[1,0];[1,0]");
    r.follow("p0.18.18.19").unwrap();
    assert_eq!(state(&r, 2), "1;[1,1];[1,0];[1,0]");
    r.follow("p0.30.31.33 p1.3").unwrap();
    assert_eq!((state(&r, 2).as_str(), inside(&r)), ("1;[1,1];[1,1];[1,0]", vec![1]));
    r.follow("p1>out").unwrap();
    assert_eq!(state(&r, 2), "-1;[1,1];[1,1];[1,1]");
}

#[test]
fn whoever_comes_late_waits_for_the_next_turn_of_its_room() {
    let mut r = rooms(3, 2);
    r.follow("p0.0=0 p0>in p1.0=0 p1.2 p2.0=1 p2.2").unwrap();
    assert_eq!(state(&r, 2), "0;[2,1];[1,0];[0,0]");
    r.follow("p1.3.4~ p0>out").unwrap();
    assert_eq!(state(&r, 2), "1;[2,1];[1,1];[1,0]");
    r.follow("p1.3.4~ p2>in p2>out").unwrap();
    assert_eq!(state(&r, 2), "0;[2,1];[2,1];[1,1]");
    r.follow("p1>in").unwrap();
    assert_eq!(inside(&r), vec![1]);
}

/// The ticket is drawn after the last done has looked at its room, and `activeRoom` was read before
/// 24.
#[test]
fn whoever_is_missed_by_the_last_done_opens_its_room_itself() {
    let mut r = rooms(2, 2);
    r.follow("p0.0=0 p0>in p0.14.18.18 p1.0=1 p1.2.3.4~ p0.18.18.24").unwrap();
    assert_eq!(state(&r, 2), "-1;[1,1];[1,0];[1,0]");
    r.follow("p1.3.4.5.30.31.33").unwrap();
    assert_eq!((state(&r, 2).as_str(), inside(&r)), ("1;[1,1];[1,1];[1,0]", vec![1]));
}

#[test]
fn a_ticket_waits_for_as_many_openings_as_there_are_rooms_and_one_more() {
    let mut r = rooms(3, 2);
    r.follow("p0.0=0 p0>in p1.0=1 p1.2 p0.14.18.18.19.30.31 p2.0=1 p2.2 p0.33").unwrap(); // opening 1: p1 only
    r.follow("p0.0=0 p0.2 p2.3.4~ p1>in p1>out p2.3.4~").unwrap(); // opening 2: room 0
    r.follow("p0>in p0>out p2.3").unwrap(); // opening 3: room 1
    assert_eq!((state(&r, 2).as_str(), inside(&r)), ("1;[2,2];[2,2];[2,1]", vec![2]));
}

/// With three bits: p0 stalls after it has counted itself done, and finds its own number in `grant`
/// seven turns later.
#[test]
fn as_printed_two_are_last_when_numbers_have_come_round() {
    let mut r = run("rooms-as-printed", 2, 2);
    r.follow("p1.0=0 p0.0=0 p0>in p1>in p0.13.14 p1>out").unwrap();
    for _ in 0..6 {
        r.follow("p1.0=0 p1>in p1>out").unwrap();
    }
    r.follow("p1.0=0 p1>in").unwrap();
    assert_eq!(state(&r, 2), "0;[1,0];[1,0];[0,0]");
    r.follow("p0.15.18.18.18.18.24 p0.0=1 p0>in").unwrap();
    assert_eq!(inside(&r), vec![0, 1]);
    assert_eq!([0, 1].map(|p| r.view().shown::<u64>(p, "inside")), [Some(1), Some(0)]);
}

#[test]
fn whoever_changes_to_the_next_room_is_let_in_at_once() {
    let mut r = changes(2, 3);
    r.follow("p0.0=0 p0.2.3.4.5.30.31.33 p1.0=2 p1.2").unwrap();
    r.follow("p0.0=1 p0.2.14.18.18.19.30.31.33").unwrap();
    assert_eq!(state(&r, 3), "1;[1,1,1];[1,1,0];[1,0,0]");
    r.follow("p0.3").unwrap();
    assert_eq!(inside(&r), vec![0]);
}

#[test]
fn whoever_gives_up_is_counted_by_the_next_opener() {
    let mut r = rooms(3, 2);
    r.follow("p0.0=0 p0>in p1.0=0 p1.2.3.4? p1.40").unwrap();
    assert_eq!(values(&r, ["grant[0]"]), ["1+1 gone"]);
    r.follow("p2.0=0 p2.2 p0.14.18.18.18.18.19.30.31.32").unwrap();
    assert_eq!(state(&r, 2), "0;[3,0];[1+1 gone,0];[2,0]");
    r.follow("p0.33 p2.3").unwrap();
    assert_eq!((state(&r, 2).as_str(), inside(&r)), ("0;[3,0];[3,0];[2,0]", vec![2]));
    r.follow("p2>out").unwrap();
    assert_eq!(state(&r, 2), "-1;[3,0];[3,0];[3,0]");
}

#[test]
fn a_room_with_ghosts_only_is_rid_of_them_and_not_opened() {
    let mut r = rooms(2, 2);
    r.follow("p0.0=0 p0>in p1.0=1 p1.2.3.4? p1.40 p0>out").unwrap();
    assert_eq!(state(&r, 2), "-1;[1,1];[1,1];[1,1]");
}

#[test]
fn whoever_gives_up_too_late_takes_its_mark_back_and_exits() {
    let mut r = rooms(2, 2);
    r.follow("p0.0=0 p0>in p1.0=1 p1.2.3.4? p0>out").unwrap();
    assert_eq!(state(&r, 2), "1;[1,1];[1,1];[1,0]");
    r.follow("p1.40").unwrap();
    assert_eq!(values(&r, ["grant[1]"]), ["1+1 gone"]);
    r.follow("p1.41 p1>out").unwrap();
    assert_eq!(state(&r, 2), "-1;[1,1];[1,1];[1,1]");
}

/// p0 and p1 take turns in room 0, each joining before the other leaves: p2 waits for room 1.
#[test]
fn joins_without_a_bound_keep_others_out() {
    let build = |site: &doorway_core::memory::Site<'_, _>| Visits::new(site, |site| LateJoin::unbounded(site, 2, WIDE));
    let mut r = Runner::new(World::new(3, Rules::default(), build).unwrap());
    r.follow("p0.0=0 p0>in p2.0=1 p2.3.4~").unwrap();
    for _ in 0..20 {
        r.follow("p1.0=0 p1>in p0>out p2.3.4~ p0.0=0 p0>in p1>out p2.3.4~").unwrap();
    }
    let bounded =
        |site: &doorway_core::memory::Site<'_, _>| Visits::new(site, |site| LateJoin::with(site, 2, WIDE, 1, ()));
    let mut r = Runner::new(World::new(3, Rules::default(), bounded).unwrap());
    r.follow("p0.0=0 p0>in p2.0=1 p2.3.4~ p1.0=0 p1>in p0>out p0.0=0").unwrap();
    assert!(r.follow("p0>in").is_err());
    r.follow("p1>out p2>in").unwrap();
    assert_eq!(inside(&r), vec![2]);
}

/// Sleeping waiters are woken, because the wait listens to both variables.
#[test]
fn nobody_sleeps_through_its_turn() {
    let rules = Rules { wakes: true, ..Rules::default() };
    let names = ["P2", "never-stuck", "P4", "P5", "P8"];
    for (id, n, m) in [("rooms", 2, 2), ("rooms", 3, 2), ("rooms", 2, 3), ("rooms-late-join", 2, 2)] {
        let report = ask(id, (n, m), rules, &names);
        report.assert_holds();
        println!("{id} ({n},{m}) asleep: {} states", report.states);
    }
    let report = ask("rooms", (2, 2), Rules { give_ups: true, ..rules }, &names);
    report.assert_holds();
    println!("rooms (2,2) asleep, give-ups: {} states", report.states);
}

#[test]
fn keep_and_shifting_can_be_trusted() {
    for (id, give_ups) in [
        ("rooms", true),
        ("rooms-change", false),
        ("rooms-try", false),
        ("rooms-strict", false),
        ("rooms-late-join", false),
    ] {
        let subject = subject::find(id).unwrap();
        let sizes = Sizes { n: 2, k: 2 };
        let claims = || subject.claims(sizes);
        for (keep, passages) in [(Keep::CrossChecked, None), (Keep::Ignored, Some(1))] {
            let rules = Rules { keep, give_ups, passages, ..Rules::default() }.for_properties(&claims());
            let world = subject.world(sizes, rules).unwrap();
            let report = Explorer::new(2).believe_keep(true).properties(claims()).explore(world).unwrap();
            report.assert_holds();
            println!("{id} {keep:?}: {} states", report.states);
        }
    }
}

/// The same holds when states are not merged that differ only in the values of counters.
#[test]
fn what_holds_of_shifted_counters_holds_of_all() {
    let (sizes, shifted) = (Sizes { n: 2, k: 2 }, ask("rooms", (2, 2), Rules::default(), &["P2"]).states);
    let width = width(&registry::Rooms::INFO, sizes);
    let build = |site: &doorway_core::memory::Site<'_, _>| Visits::new(site, |site| Rooms::with(site, 2, width, ()));
    let claims = subject::find("rooms").unwrap().claims(sizes);
    let world = World::new(2, Rules::default(), build).unwrap();
    let report = Explorer::new(2).believe_keep(true).properties(claims).explore(world).unwrap();
    report.assert_holds();
    // The counters of each room can be at any of 2^bits places.
    assert_eq!(report.states, shifted << (2 * width.bits));
}
