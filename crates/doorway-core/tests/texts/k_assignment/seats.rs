//! Seats: processes die at any step, others take their seats, and nothing is lost.

use doorway_check::claims::{Last, SeatsInUse};
use doorway_check::faults::Faults;
use doorway_check::property::View;
use doorway_check::schedule::Runner;
use doorway_check::sim::{Deaths, Rules, World};
use doorway_check::{Explorer, Property, Report, subject};
use doorway_core::k_assignment::seats::{LAST_FENCE, MOST_SEATS, MOST_SLOTS, News, Slot, Want};
use doorway_core::memory::Word;
use doorway_core::registry::Sizes;

/// No process follows the dead, and deaths are noticed at once.
const USUAL: Deaths = Deaths::DEFAULT;

fn rules(passages: u32, crashes: usize, deaths: Deaths) -> Rules {
    Rules { crashes, deaths, ..Rules::with_passages(Some(passages)) }
}

/// All claims, or those with these names.
fn search((n, k): (usize, usize), rules: Rules, fault: &str, names: &[&str]) -> Report {
    let id = if fault.is_empty() { "seats".to_owned() } else { format!("seats+{fault}") };
    let (subject, sizes) = (subject::find(&id).unwrap(), Sizes::new(n, k).unwrap());
    let mut claims = subject.claims(sizes);
    claims.retain(|claim| names.is_empty() || names.contains(&claim.name()));
    let rules = rules.for_properties(&claims);
    let world = subject.world(sizes, rules).unwrap();
    Explorer::new(n).believe_keep(true).properties(claims).max_states(3_000_000).explore(world).unwrap()
}

fn holds(sizes: (usize, usize), rules: Rules) -> usize {
    let report = search(sizes, rules, "", &[]);
    report.assert_holds();
    assert!(report.complete);
    report.states
}

#[test]
fn without_a_death_nobody_sleeps_for_ever() {
    let give_ups = |passages| Rules { give_ups: true, ..rules(passages, 0, USUAL) };
    assert_eq!(holds((2, 1), give_ups(2)), STATES[0]);
    assert_eq!(holds((3, 1), give_ups(1)), STATES[1]);
    assert_eq!(holds((3, 2), give_ups(1)), STATES[2]);
}

#[test]
#[ignore = "takes some seconds; ci/long-searches.sh runs it"]
fn what_the_dead_held_comes_back_though_two_wait() {
    assert_eq!(holds((3, 1), rules(1, 1, USUAL)), STATES[3]);
}

#[test]
fn what_the_dead_held_comes_back() {
    assert_eq!(holds((3, 2), rules(1, 1, USUAL)), STATES[4]);
}

#[test]
fn a_new_process_may_take_the_seat_of_a_dead_one_at_any_time() {
    let restarts = |restarts| Deaths { restarts, ..USUAL };
    assert_eq!(holds((2, 1), rules(1, 2, restarts(2))), STATES[5]);
}

/// A death that is noticed late is like one that comes late: nothing new is found.
#[test]
fn deaths_may_be_noticed_late() {
    let late = Deaths { restarts: 1, late: true, ..USUAL };
    assert_eq!(holds((2, 1), rules(1, 1, late)), STATES[6]);
}

/// A new process may take a seat that no process had, and bits may be in several words.
#[test]
fn seats_that_nobody_had_and_bits_in_several_words() {
    newcomers_and_words_hold(&[(2, 1, 64, 1), (2, 0, 1, 1), (3, 2, 2, 0), (3, 1, 1, 0)]);
}

#[test]
#[ignore = "takes a minute; ci/long-searches.sh runs it"]
fn the_same_of_three_of_which_one_dies() {
    newcomers_and_words_hold(&[(3, 1, 64, 1), (3, 0, 1, 1), (3, 1, 1, 1)]);
}

/// Each instance: processes, newcomers among them, bits in a word, crashes.
fn newcomers_and_words_hold(instances: &[(usize, usize, usize, usize)]) {
    for &(n, newcomers, bits_in_a_word, crashes) in instances {
        let in_use = SeatsInUse { newcomers, bits_in_a_word, ..SeatsInUse::default() };
        let sizes = Sizes { n, k: 1 };
        let claims = in_use.claims(sizes);
        let world = in_use.world(sizes, rules(1, crashes, USUAL).for_properties(&claims)).unwrap();
        let report =
            Explorer::new(n).believe_keep(true).properties(claims).max_states(3_000_000).explore(world).unwrap();
        report.assert_holds();
        assert!(report.complete);
        println!("{n}, newcomers: {newcomers}, bits: {bits_in_a_word}, crashes: {crashes}: {} states", report.states);
    }
}

/// All claims of seats whose last process does something else.
fn search_with_last(last: Last, (n, k): (usize, usize), rules: Rules, fault: &str) -> Report {
    let (in_use, sizes) = (SeatsInUse { last, ..SeatsInUse::default() }, Sizes { n, k });
    let claims = in_use.claims(sizes);
    let faults = if fault.is_empty() { Faults::NONE } else { fault.parse().unwrap() };
    let rules = Rules { faults, ..rules }.for_properties(&claims);
    Explorer::new(n)
        .believe_keep(true)
        .properties(claims)
        .max_states(3_000_000)
        .explore(in_use.world(sizes, rules).unwrap())
        .unwrap()
}

/// In a memory that never says that an owner is dead, `k - 1` may die.
#[test]
fn without_reclaiming_k_minus_1_deaths_are_tolerated_and_k_are_not() {
    let tolerates = Deaths { reclaims: false, ..USUAL };
    assert_eq!(holds((3, 2), rules(1, 1, tolerates)), STATES[7]);
    let report = search((3, 2), rules(1, 2, tolerates), "", &["every-entry-ends"]);
    assert_eq!(report.verdict("every-entry-ends").holds, Some(false));
}

fn fails(report: &Report, claim: &str, what: &str) {
    let failure = report.failure().unwrap_or_else(|| panic!("{what} survives {} states", report.states));
    assert_eq!(failure.name, claim, "{what}");
}

/// A slot may be taken away from its owner, or from a process that passes it on: then an offer is
/// void (11).
#[test]
fn a_slot_may_be_broken_at_any_step() {
    let breaks = |sizes, crashes, fault| search_with_last(Last::Breaks, sizes, rules(1, crashes, USUAL), fault);
    for (sizes, crashes) in [((2, 1), 1), ((3, 1), 0)] {
        let report = breaks(sizes, crashes, "");
        report.assert_holds();
        assert!(report.complete);
    }
    for (fault, sizes, claim) in [
        // A void offer is not noticed, or is not taken back.
        ("drop:11", (3, 1), STUCK),
        // The next owner is told nothing, or that an owner died.
        ("write:22=65540>65536", (2, 1), "P2"),
        ("write:22=65540>65538", (2, 1), "P2"),
    ] {
        fails(&breaks(sizes, 0, fault), claim, fault);
    }
}

/// A process that does not wait in line is let in once the waiters have what is free, even if one
/// of them has died.
#[test]
fn a_process_that_tries_is_not_kept_out_by_one_that_died_in_line() {
    let keeps = Deaths { reclaims: false, ..USUAL };
    let tries = |sizes, crashes, deaths, fault| search_with_last(Last::Tries, sizes, rules(1, crashes, deaths), fault);
    for (sizes, crashes, deaths) in [((3, 2), 1, keeps), ((3, 1), 0, USUAL), ((3, 1), 1, USUAL)] {
        let report = tries(sizes, crashes, deaths, "");
        report.assert_holds();
        assert!(report.complete);
    }
}

/// In a memory that never says that an owner is dead, a process that died in line stays there. It
/// is offered a slot, and the next slot is for a process that tries. If the process that would have
/// offered a slot died too, the one that tries offers it.
#[test]
fn a_process_that_tries_passes_on_what_is_free() {
    let offered = "p1>in p2>in p0>9 p0.9~ p0! p1>out p2>out";
    let waits = "p1>in p2>in p0>4 p2>out p1>22 p0>7 p0! p1.22 p1!";
    for (before, row_before, after) in
        [(offered, "G(0,1)", ["H(0,2)", "H(2,2)", "G(0,1)"]), (waits, "W(0)", ["H(0,3)", "H(2,2)", "G(0,2)"])]
    {
        let follow = |fault: &str| {
            let in_use = SeatsInUse { last: Last::Tries, ..SeatsInUse::default() };
            let faults = if fault.is_empty() { Faults::NONE } else { fault.parse().unwrap() };
            let rules = Rules { faults, ..rules(2, 2, Deaths { reclaims: false, ..USUAL }) };
            let mut run = Runner::new(in_use.world(Sizes { n: 3, k: 2 }, rules).unwrap());
            run.follow(before).unwrap();
            assert_eq!(words(&run, &["want[0]"]), [row_before]);
            let is_in = run.follow("p2>in").is_ok();
            is_in.then(|| words(&run, &["slot[0]", "slot[1]", "want[0]"]))
        };
        assert_eq!(follow("").unwrap(), after);
        // It mistakes an offer for a waiter, and passes nothing on.
        assert_eq!(follow("read:371=32770>1,drop:24@p2=9"), None);
    }
}

/// A process that is let in while it gives up passes on what it was told.
#[test]
fn a_process_that_declines_tells_the_next() {
    for (sizes, crashes) in [((3, 1), 0), ((2, 1), 1)] {
        declining_holds(sizes, crashes);
    }
    // It does not pass on the news of a death.
    let fault = "write:19@p2=98310>98306,write:20@p2=131083>131081";
    fails(&declines((3, 1), 1, fault), "P2", fault);
}

#[test]
#[ignore = "takes a quarter of a minute; ci/long-searches.sh runs it"]
fn a_process_of_three_of_which_one_dies_that_declines_tells_the_next() {
    declining_holds((3, 1), 1);
}

fn declining_holds(sizes: (usize, usize), crashes: usize) {
    let report = declines(sizes, crashes, "");
    report.assert_holds();
    assert!(report.complete);
    println!("{sizes:?}, crashes: {crashes}: {} states", report.states);
}

fn declines(sizes: (usize, usize), crashes: usize, fault: &str) -> Report {
    search_with_last(Last::Declines, sizes, Rules { give_ups: true, ..rules(1, crashes, USUAL) }, fault)
}

/// A death that wakes a sleeper is a hint. Without second looks, one case is known in which no
/// process gets on: a newcomer that saw no bits takes the slot that was just freed, and dies.
#[test]
fn hints_alone_are_not_enough() {
    let hints = |restarts| Deaths { restarts, hints: true, rechecks: false, ..USUAL };
    let stuck = |sizes, restarts| search(sizes, rules(1, 1, hints(restarts)), "", &["never-stuck"]);
    stuck((2, 1), 0).assert_holds();
    stuck((2, 1), 1).assert_holds();
    stuck((3, 2), 0).assert_holds();
    let report = stuck((3, 1), 0);
    assert_eq!(report.verdict("never-stuck").holds, Some(false));
    // With second looks the waiter gets on.
    let both = Deaths { hints: true, ..USUAL };
    search((3, 1), rules(1, 1, both), "", &["never-stuck", "P1", "P2", "P3", "P4"]).assert_holds();
}

const STUCK: &str = "never-stuck";

/// The numbers of states of the searches above.
const STATES: [usize; 8] = [21_810, 171_602, 111_140, 925_372, 407_950, 759_575, 52_679, 234_934];

fn run(n: usize, k: usize, rules: Rules) -> Runner {
    let world: World = subject::find("seats").unwrap().world(Sizes { n, k }, rules).unwrap();
    Runner::new(world)
}

fn words(run: &Runner, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| run.value(name).unwrap()).collect()
}

/// A waiter is offered the slot and dies. A new process takes its seat before the slot word names
/// the waiter.
#[test]
fn an_offer_to_one_that_died_is_followed_up_by_the_next_on_its_seat() {
    let mut run = run(2, 1, rules(1, 1, Deaths { restarts: 1, ..USUAL }));
    run.follow("p0>in  p1>9 p1.9~  p0>20  p1! p1+").unwrap();
    assert_eq!(words(&run, &["slot[0]", "want[1]"]), ["H(0,1)", "G(0,1)"]);
    run.follow("p1>254").unwrap();
    assert_eq!(words(&run, &["slot[0]", "want[1]"]), ["H(1,2)", "G(0,1)"]);
    run.follow("p1>1").unwrap();
    assert_eq!(words(&run, &["slot[0]", "want[1]", "bits[0]"]), ["F(3,died)", "0", "0"]);
    run.follow("p0.20.21 p1>in").unwrap();
    assert_eq!(words(&run, &["slot[0]"]), ["H(1,4,died)"]);
}

/// A process that clears the row of a dead one must look again if the row has changed: that seat
/// was offered a slot meanwhile.
#[test]
fn a_row_that_changes_while_it_is_cleared_is_looked_at_again() {
    let mut run = run(3, 1, rules(1, 1, USUAL));
    run.follow("p0>in  p1>9 p1.9~ p1!  p2>9 p2.9~ p2* p2>254  p0>20  p2.254.25.251.252.253").unwrap();
    assert_eq!(words(&run, &["slot[0]", "want[1]"]), ["H(1,2)", "G(0,1)"]);
    run.follow("p2.254 p2>in").unwrap();
    assert_eq!(words(&run, &["slot[0]", "want[1]"]), ["H(2,4,died)", "0"]);
}

/// If a process frees a slot and dies before it has looked again, it wakes the waiter that watches
/// it.
#[test]
fn a_death_between_freeing_and_looking_wakes_the_waiter() {
    let hints = Deaths { hints: true, rechecks: false, ..USUAL };
    let mut run = run(2, 1, rules(1, 1, hints));
    run.follow("p0>in p0>22  p1>9 p1.9~  p0.22 p0!  p1.7.71.72").unwrap();
    run.follow("p1>in").unwrap();
    assert_eq!(words(&run, &["slot[0]"]), ["H(1,3)"]);
}

/// A bit is cleared under the lock of its seat's byte, so that a new owner never loses it.
#[test]
fn a_bit_that_is_a_new_owners_stays() {
    let mut run = run(3, 1, rules(1, 1, Deaths { restarts: 1, ..USUAL }));
    run.follow("p0>in  p1>9 p1.9~ p1!  p2>9 p2.9~ p2* p2>291  p1+ p1>9 p1.9~  p2.291").unwrap();
    assert_eq!(words(&run, &["bits[0]", "want[1]"]), ["6", "W(2)"]);
    run.follow("p2>9 p2.9~  p0>out  p2>in p2>out  p1>in").unwrap();
}

/// While a process clears the bit of a dead one, no other can take that seat. If the process that
/// clears it dies too, another can.
#[test]
fn a_seat_that_is_looked_after_is_not_taken() {
    let mut run = run(3, 1, rules(1, 2, Deaths { restarts: 1, ..USUAL }));
    run.follow("p0>in  p1>9 p1.9~ p1!  p2>9 p2.9~ p2* p2>292  p1+ p1.0~  p2! p1.30").unwrap();
    assert_eq!(words(&run, &["byte[1]"]), ["2"]);
    run.follow("p1>9 p1.9~ p0>out p1* p1>in").unwrap();
}

/// A process that reclaims a slot dies: its own word is reclaimed, and still says that an owner
/// died.
#[test]
fn a_death_is_told_although_the_one_that_reclaimed_dies() {
    let mut run = run(3, 1, rules(1, 2, USUAL));
    run.follow("p0>in p0!  p1>9 p1.9~ p1* p1>28 p1.28 p1!").unwrap();
    assert_eq!(words(&run, &["slot[0]"]), ["H(1,2,died)"]);
    run.follow("p2>9 p2.9~ p2* p2>in").unwrap();
    assert_eq!(words(&run, &["slot[0]", "told"]), ["H(2,4,died)", "1"]);
    run.follow("p2>out").unwrap();
    assert_eq!(words(&run, &["slot[0]"]), ["F(4)"]);
}

/// A process that stops is not dead, however often others look.
#[test]
fn a_holder_that_stops_keeps_its_slot() {
    let mut run = run(3, 1, rules(1, 1, USUAL));
    run.follow("p0>in  p2.1 p2!  p1>9 p1.9~  p1* p1>9 p1.9~  p1* p1>9 p1.9~").unwrap();
    assert_eq!(words(&run, &["slot[0]"]), ["H(0,1)"]);
    run.follow("p0>out p1>in").unwrap();
    assert_eq!(words(&run, &["slot[0]", "told"]), ["H(1,2)", "0"]);
}

/// Until the byte is free, a dead owner counts as alive.
#[test]
fn nothing_is_reclaimed_before_a_death_is_noticed() {
    let mut run = run(2, 1, rules(1, 1, Deaths { late: true, ..USUAL }));
    run.follow("p0>in p0!  p1>9 p1.9~").unwrap();
    assert_eq!(words(&run, &["slot[0]", "byte[0]"]), ["H(0,1)", "1"]);
    run.follow("p0!~  p1* p1>in").unwrap();
    assert_eq!(words(&run, &["slot[0]", "byte[0]"]), ["H(1,3,died)", "0"]);
}

/// Where a fault shows: sizes, passages, crashes, restarts, and the claim.
type Case = (&'static str, (usize, usize), u32, usize, usize, &'static str);

/// Faults that need a death to show. Those that show without one are in the catalogue of mutants.
#[rustfmt::skip] // a table
const FAULTS: &[Case] = &[
    // 25 clears an offered row before the slot belongs to the dead process.
    ("drop:252=0", (2, 1), 1, 1, 1, "never-stuck"),
    // 25 does not look again at a row that has changed.
    ("read:254=32770>1", (2, 1), 1, 1, 1, "never-stuck"),
    // 25 clears whatever is there.
    ("blind:254", (2, 1), 1, 1, 1, "never-stuck"),
    // 25 takes a living process for dead.
    ("drop:251=0", (3, 1), 1, 1, 0, "no-panic"),
    // 28 takes the slot from any owner.
    ("blind:28", (3, 1), 1, 1, 0, "P1"),
    // 28 is never carried out.
    ("drop:28", (2, 1), 1, 1, 0, "deadlock-free"),
    // 29 clears a bit without the lock of its seat.
    ("drop:291,drop:294", (2, 1), 2, 1, 1, "first-in-first-enabled"),
    // A new process uses a seat without 31.
    ("drop:25@p0=0,drop:26@p0=0,drop:31@p0=0", (2, 1), 1, 1, 1, "never-stuck"),
    // It clears only its row, or only its slots.
    ("drop:26@p0=0", (2, 1), 1, 1, 1, "never-stuck"),
    ("drop:25@p0=0", (2, 1), 1, 1, 1, "P4"),
    // It takes a seat without its lock.
    ("drop:30", (2, 1), 1, 1, 1, "P1"),
    // Without 27 the offer becomes void: the waiter stays in line, and a younger one may pass it.
    ("drop:27=0", (3, 1), 1, 1, 0, "first-in-first-enabled"),
];

#[test]
fn faults_in_recovery_are_noticed() {
    for &(fault, sizes, passages, crashes, restarts, claim) in FAULTS {
        let report = search(sizes, rules(passages, crashes, Deaths { restarts, ..USUAL }), fault, &[]);
        let failure = report.failure().unwrap_or_else(|| panic!("{fault} survives {} states", report.states));
        assert_eq!(failure.name, claim, "{fault}");
    }
}

/// Without 27 nothing but the order is lost. Without 20 nothing is lost: the waiter makes the slot
/// its own, and until then the slot seems to belong to the process that left.
#[test]
fn what_27_and_20_are_not_needed_for() {
    what_27_and_20_do_not_change((2, 1));
}

#[test]
#[ignore = "takes a quarter of a minute; ci/long-searches.sh runs it"]
fn what_27_and_20_are_not_needed_for_where_two_wait() {
    what_27_and_20_do_not_change((3, 1));
}

fn what_27_and_20_do_not_change(sizes: (usize, usize)) {
    let order = "first-in-first-enabled";
    let others = ["k-exclusion", STUCK, "every-entry-ends", "unique-names", "P1", "P2", "P3"];
    let but_20 = [&others[..], &[order]].concat();
    let but_27 = [&others[..], &["P4"]].concat();
    for (fault, claims) in [("drop:27=0", but_27), ("drop:20", but_20)] {
        let report = search(sizes, rules(1, 1, USUAL), fault, &claims);
        report.assert_holds();
        assert!(report.complete);
        println!("{sizes:?}, {fault}: {} states", report.states);
    }
}

/// Words that no process can have written come back as errors of the memory. They are never used as
/// an index.
#[test]
fn damaged_words_are_noticed() {
    let owner_too_large = Slot::held(7, 3, News::None).pack();
    let slot_too_large = Want::Offered { slot: 9, fence: 1, news: News::None }.pack();
    for (fault, crashes) in [
        (format!("init:slot={owner_too_large}"), 1),
        ("init:slot-32768".to_owned(), 0), // the last fence
        (format!("write:19={slot_too_large}"), 0),
        ("write:19=3".to_owned(), 0),
        ("write:6=8".to_owned(), 0),
        ("init:next=4611686018427387904".to_owned(), 0),
    ] {
        let report = search((2, 1), rules(1, crashes, USUAL), &fault, &["k-exclusion"]);
        let panic = report.failure().unwrap_or_else(|| panic!("{fault} is not noticed"));
        assert_eq!(panic.name, "no-panic", "{fault}");
        let end = &panic.trace.as_ref().unwrap().end;
        let messages: Vec<&str> = end.iter().filter_map(|p| p.panicked.as_deref()).collect();
        assert!(messages.iter().all(|m| m.contains("which no process can have written")), "{fault}: {messages:?}");
    }
}

#[test]
fn words_are_what_the_file_says() {
    assert_eq!(Slot::FRESH.pack(), 0);
    assert_eq!(Slot::held(5, 3, News::Died).pack(), 3 << 15 | 5 << 3 | 0b011);
    assert_eq!(Slot::held(5, 3, News::Died).freed(News::Broken).pack(), 3 << 15 | 0b100);
    assert_eq!(Want::Waits(9).pack(), 9 << 2 | 1);
    let offer = Want::Offered { slot: 6, fence: 2, news: News::Broken };
    assert_eq!(offer.pack(), 2 << 15 | 6 << 4 | 2 << 2 | 2);
    for word in [0, 1, 2, 3, 4, 14, u64::MAX, u64::MAX - 1, u64::MAX - 2, 1 << 63, 0x1234_5678_9abc_def1] {
        assert_eq!(Slot::unpack(word).pack(), word);
        assert_eq!(Want::unpack(word).pack(), word, "{word:#x}");
    }
    assert_eq!(Slot::held(0, LAST_FENCE, News::None).taken_by(1), None);
    assert_eq!(Slot::held(MOST_SEATS - 1, 1, News::None).owner(), Some(MOST_SEATS - 1));
    let last = Want::Offered { slot: MOST_SLOTS - 1, fence: LAST_FENCE, news: News::None };
    assert_eq!(Want::unpack(last.pack()), last);
}

/// The search does reach the states that the claims are about.
#[test]
fn one_death_may_be_told_twice() {
    let told = |v: &View<'_>| v.get::<u64>("told") > 0;
    let twice = |v: &View<'_>| v.get::<u64>("told") > 1 && v.deaths() == 1;
    let sizes = Sizes { n: 2, k: 1 };
    let restarts = Deaths { restarts: 1, ..USUAL };
    let world = subject::find("seats").unwrap().world(sizes, rules(2, 1, restarts)).unwrap();
    let report = Explorer::new(2)
        .believe_keep(true)
        .property(Property::sometimes("told", told))
        .property(Property::sometimes("two are told of one death", twice))
        .max_states(3_000_000)
        .explore(world)
        .unwrap();
    report.assert_holds();
}
