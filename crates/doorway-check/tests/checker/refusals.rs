//! Rooms turn users away only while a room is active.
//!
//! A request that is refused at its first access leaves its user where it was, and no claim about
//! states can see that. Here leaving the remainder is a step of its own.

use doorway_check::property::View;
use doorway_check::sim::{Phase, Rules, Sections};
use doorway_check::{Explorer, Property, Report, subject};
use doorway_core::rooms::blelloch_cheng_gibbons_01::Active;

/// A user that comes without a ticket gets one, or finds a room active when it leaves.
fn turned_away() -> Property {
    let asks = |v: &View<'_>, p: usize| {
        let has_ticket = v.shown::<u64>(p, "room").is_some();
        v.phase(p) == Phase::Entry && v.at(p, [0, 1, 2, 5]) && !has_ticket
    };
    Property::unless("turned-away", asks, move |v, p| {
        !asks(v, p) && (v.phase(p) == Phase::Entry || v.get::<Active>("activeRoom") != Active::NONE)
    })
}

fn ask(name: &str, n: usize, give_ups: bool) -> Report {
    let subject = subject::find(name).unwrap();
    let sizes = subject.sizes(Some(n), Some(2)).unwrap();
    let rules = Rules { sections: Sections::Explicit, give_ups, ..Rules::default() };
    let world = subject.world(sizes, rules).unwrap();
    Explorer::new(n).believe_keep(true).properties(vec![turned_away()]).explore(world).unwrap()
}

#[test]
fn whoever_is_turned_away_finds_a_room_active() {
    ask("rooms", 2, true).assert_holds();
    ask("rooms-change", 2, true).assert_holds();
    ask("rooms-try", 3, false).assert_holds();
}

#[test]
fn turning_a_user_away_for_nothing_is_noticed() {
    for (name, give_ups, steps) in
        [("mutant:rooms-only-turns-away", true, 30), ("mutant:rooms-try-never-opens", false, 2)]
    {
        let report = ask(name, 2, give_ups);
        let failure = report.failure().unwrap_or_else(|| panic!("{name} survives"));
        assert_eq!(failure.trace.as_ref().unwrap().len(), steps, "{name}");
    }
}
