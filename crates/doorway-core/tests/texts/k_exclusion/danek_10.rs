//! Danek 2010: the k-Bakery's claims, the paper's counter-examples step by step, and where Figure 3
//! is wrong.

use crate::common::{
    ask, explore, explore_without_trust, inside, run, run_by, run_mutant, tolerates_k_minus_1_crashes, values,
};
use doorway_check::replay::Token;
use doorway_check::schedule::{Runner, ScheduleError};
use doorway_check::sim::Rules;
use doorway_check::{Explorer, Property, subject};
use doorway_core::k_exclusion::danek_10::{KBakery, Order, Wants};
use doorway_core::memory::Register::{Monotone, Regular, Safe};
use doorway_core::registry::{self, CostModel, Sizes};

// If a number of states changes, exploration has changed: look before you update it.

#[test]
fn the_k_bakery_does_all_it_claims() {
    for (n, k, passages, states) in [
        (1, 1, 3, 7),
        (2, 1, 4, 4_704),
        (2, 2, 2, 519),
        (3, 1, 1, 22_561),
        (3, 2, 1, 21_505),
        (3, 3, 1, 8_118),
        (3, 5, 1, 8_118),
    ] {
        explore("kbakery", n, k, Some(passages), states);
    }
}

#[test]
fn with_captures_it_does_too() {
    for (n, k, passages, states) in
        [(1, 1, 3, 7), (2, 1, 4, 12_432), (2, 2, 2, 885), (3, 1, 1, 138_929), (3, 2, 1, 123_174), (3, 3, 1, 22_870)]
    {
        explore("kbakery-fife", n, k, Some(passages), states);
    }
}

#[test]
fn from_atomic_registers_the_other_one_does_too() {
    for (n, k, passages, states) in [(1, 1, 3, 7), (2, 1, 3, 12_358), (2, 2, 2, 3_602), (3, 2, 1, 458_324)] {
        explore("kbakery-nonatomic", n, k, Some(passages), states);
    }
}

/// All claims on registers as weak as they are declared.
fn explore_torn(id: &str, (n, k): (usize, usize), passages: u32, states: usize) {
    let subject = subject::find(id).unwrap();
    let sizes = Sizes { n, k };
    let claims = subject.claims(sizes);
    let rules = Rules { registers: Safe, ..Rules::with_passages(Some(passages)) }.for_properties(&claims);
    let report =
        Explorer::new(n).believe_keep(true).properties(claims).explore(subject.world(sizes, rules).unwrap()).unwrap();
    report.assert_holds();
    assert_eq!(report.states, states, "{id} ({n},{k})");
}

#[test]
fn torn_reads_do_no_harm() {
    for (sizes, passages, states, as_printed) in
        [((2, 1), 1, 2_087, 2_087), ((2, 1), 2, 33_205, 43_832), ((2, 2), 2, 141_173, 153_813)]
    {
        explore_torn("kbakery-nonatomic", sizes, passages, states);
        explore_torn("kbakery-nonatomic-as-printed", sizes, passages, as_printed); // too small to show its fault
    }
}

#[test]
fn k_minus_1_may_crash() {
    for (id, passages) in [("kbakery", 1), ("kbakery-fife", 1)] {
        tolerates_k_minus_1_crashes(id, 3, 2, Some(passages));
    }
    for id in ["kbakery", "kbakery-fife", "kbakery-nonatomic"] {
        tolerates_k_minus_1_crashes(id, 2, 1, Some(2));
    }
}

#[test]
fn k_minus_1_may_crash_half_way_through_a_write() {
    let rules = Rules { crashes: 1, registers: Safe, ..Rules::with_passages(Some(1)) };
    let progress = ["k-exclusion", "never-stuck", "starvation-free"];
    ask("kbakery-nonatomic", (2, 2), Rules { passages: Some(2), ..rules }, &progress).assert_holds();
    ask("kbakery-nonatomic", (2, 1), Rules { passages: Some(2), ..rules }, &progress[..1]).assert_holds();
    let stuck = ask("kbakery-nonatomic", (2, 1), rules, &progress[1..2]);
    assert!(stuck.failure().is_some(), "with one place, nobody may");
}

#[test]
fn what_the_text_keeps_can_be_trusted() {
    explore_without_trust("kbakery", 2, 1, Some(2));
    explore_without_trust("kbakery", 3, 2, Some(1));
    explore_without_trust("kbakery-fife", 2, 1, Some(2));
    explore_without_trust("kbakery-nonatomic", 2, 1, Some(1));
}

#[test]
fn there_is_something_to_wait_for_and_someone_is_captured() {
    let report = Explorer::new(2)
        .believe_keep(true)
        .passages(2)
        .property(Property::sometimes("waits for a ticket", |v| {
            v.any(21, |p| v.get_in::<Wants>("Want", (p, 1 - p)) == Wants::ticket(1))
        }))
        .property(Property::sometimes("waits for a process that draws", |v| v.any(21, |p| v.at(1 - p, [151, 152]))))
        .property(Property::sometimes("equal tickets", |v| {
            v.get_at::<u64>("Ticket", 0) == 1 && v.get_at::<u64>("Ticket", 1) == 1
        }))
        .property(Property::sometimes("a capture that no longer counts", |v| {
            v.any(22, |p| v.get_in::<u64>("Capture", (p, 1 - p)) == 1)
        }))
        .run(|site| KBakery::new(site, 2, 1, Order::FirstEnabled))
        .unwrap();
    report.assert_holds();
    let captured = Property::sometimes("a process is captured", |v| {
        v.any(22, |p| v.processes().any(|q| v.get_in::<u64>("Capture", (p, q)) > v.get_at("Ticket", p)))
    });
    let report = Explorer::new(3)
        .believe_keep(true)
        .passages(1)
        .property(captured)
        .run(|site| KBakery::new(site, 3, 2, Order::FirstEnabled));
    report.unwrap().assert_holds();
}

// Sizes at which no process waits.

#[test]
fn nobody_waits_while_there_is_room_for_all() {
    for id in ["kbakery", "kbakery-fife", "kbakery-nonatomic"] {
        let mut r = run(id, 2, 2);
        r.follow("p0>in p1>in").unwrap();
        let trace = r.trace().unwrap();
        assert_eq!(inside(&r), [0, 1]);
        assert!(trace.steps.iter().all(|step| ![21, 22, 38, 39, 41, 42].contains(&step.statement)), "{trace}");
    }
}

#[test]
fn one_alone_draws_one_ticket_after_the_other() {
    for id in ["kbakery", "kbakery-fife", "kbakery-nonatomic"] {
        let mut r = run(id, 1, 1);
        for t in ["1", "2", "3"] {
            r.follow("p0>in p0>out").unwrap();
            assert_eq!(values(&r, ["Ticket[0]"]), [t]);
        }
    }
}

#[test]
fn a_process_that_finds_no_larger_ticket_withdraws() {
    // Ticket[1] is the largest there is. p0 must not wrap round, and must not go on competing with
    // its old ticket.
    let last = u64::MAX - 1;
    let report = Explorer::new(2)
        .believe_keep(true)
        .passages(2)
        .initially("Ticket[1]", last)
        .initially("own[1]", last)
        .property(Property::sometimes("p0 withdraws", |v| v.at(0, 251)))
        .property(Property::always("p0 draws nothing", |v| v.get_at::<u64>("Ticket", 0) == 0))
        .property(Property::always("a process outside wants nothing", |v| {
            !v.at(0, 0) || v.get_in::<Wants>("Want", (1, 0)) == Wants::NOTHING
        }))
        .run(|site| KBakery::new(site, 2, 1, Order::KFirstCome))
        .unwrap();
    report.assert_holds();
    // One below is the last ticket that can be drawn.
    let report = Explorer::new(2)
        .believe_keep(true)
        .passages(1)
        .initially("Ticket[1]", last - 1)
        .initially("own[1]", last - 1)
        .property(Property::sometimes("p0 draws the last", move |v| v.get_at::<u64>("Ticket", 0) == last))
        .property(Property::exclusion("mutual-exclusion", 1))
        .run(|site| KBakery::new(site, 2, 1, Order::KFirstCome))
        .unwrap();
    report.assert_holds();
}

#[test]
fn a_process_that_leaves_wants_nothing_and_keeps_its_ticket() {
    let mut r = run("kbakery", 2, 1);
    r.follow("p0>in p0>out").unwrap();
    assert_eq!(values(&r, ["Ticket[0]", "Want[1][0]"]), ["1", "∞"]);
}

// Remote references.

/// The exact worst passage over all processes, with `passages` passages each.
fn worst(id: &str, (n, k): (usize, usize), passages: u32, model: CostModel) -> String {
    let subject = subject::find(id).unwrap();
    let of = |p| {
        let rules = Rules { measure: Some((p, model)), ..Rules::with_passages(Some(passages)) };
        let passage = Explorer::new(n)
            .believe_keep(true)
            .worst_passage(subject.world(Sizes { n, k }, rules).unwrap(), n)
            .unwrap();
        assert!(passage.complete);
        passage.worst
    };
    format!("{:?}", (0..n).map(of).max().unwrap())
}

#[test]
fn a_passage_costs_what_is_claimed_and_no_less() {
    let claimed = |id: &str, n, k, model| {
        let bound = registry::find(id).unwrap().bound(model).unwrap();
        format!("Bounded({})", bound.at(Sizes { n, k }, n).unwrap())
    };
    for (id, sizes) in [
        ("kbakery", (2, 1)),
        ("kbakery", (3, 1)),
        ("kbakery", (3, 2)),
        ("kbakery-fife", (2, 1)),
        ("kbakery-fife", (3, 2)),
        ("kbakery-nonatomic", (2, 1)),
        ("kbakery-nonatomic", (3, 2)),
    ] {
        assert_eq!(
            worst(id, sizes, 1, CostModel::Dsm),
            claimed(id, sizes.0, sizes.1, CostModel::Dsm),
            "{id} {sizes:?}"
        );
    }
    for sizes in [(2, 1), (3, 1)] {
        assert_eq!(
            worst("kbakery", sizes, 2, CostModel::Cc),
            claimed("kbakery", sizes.0, sizes.1, CostModel::Cc),
            "{sizes:?}"
        );
    }
    assert_eq!(worst("kbakery", (2, 1), 5, CostModel::Cc), "Bounded(9)", "more passages cost no more");
    assert_eq!(worst("kbakery-fife", (2, 1), 5, CostModel::Cc), "Bounded(12)");
    assert_eq!(worst("kbakery-nonatomic", (2, 1), 4, CostModel::Cc), "Bounded(20)");
}

#[test]
fn looking_at_everybody_again_has_its_price() {
    let again = "mutant:kbakery-looks-at-everybody-again";
    assert_eq!(worst("kbakery", (3, 1), 2, CostModel::Cc), "Bounded(17)");
    assert_eq!(worst(again, (3, 1), 2, CostModel::Cc), "Bounded(19)");
}

#[test]
fn a_process_that_is_told_elsewhere_does_not_spin_locally() {
    assert_eq!(worst("mutant:kbakery-tells-at-home", (2, 1), 1, CostModel::Dsm), "Unbounded");
}

// The paper's cases, and ours.

/// The token of a runner's run.
fn token(id: &str, (n, k): (usize, usize), rules: Rules, property: &str, r: &mut Runner) -> String {
    let trace = r.trace().unwrap();
    Token::new(&subject::find(id).unwrap(), Sizes { n, k }, rules, property, &trace).to_string()
}

/// Whether a process can enter by its own steps alone after a run, whatever torn reads return.
fn enters_alone(token: &str, p: usize) -> bool {
    let token: Token = token.parse().unwrap();
    let mut world = subject::find(&token.id).unwrap().world(token.sizes, token.rules).unwrap();
    let mut state = world.initial();
    for &action in &token.actions {
        world.act(&mut state, action).unwrap().unwrap();
    }
    world.enters_alone(&state, p).unwrap()
}

/// The page on the paper shows this run.
fn is_on_the_page(token: &str) {
    let page = include_str!("../../../../../papers/danek_10.md");
    assert!(page.contains(token), "papers/danek_10.md lacks {token}");
}

#[test]
fn without_14_two_enter() {
    let mut r = run_mutant("kbakery-without-14");
    r.follow("p0>152 p0.152  p1>in  p0>in").unwrap(); // p1 has not heard of p0, whose ticket is smaller
    assert_eq!(inside(&r), [0, 1]);
    is_on_the_page(&token("mutant:kbakery-without-14", (2, 1), Rules::default(), "k-exclusion", &mut r));
}

#[test]
fn without_14_three_enter_where_two_may() {
    let mut r = run_mutant("kbakery-without-14-at-two-places");
    r.follow("p0>in  p1>152 p1.152.16  p2>in  p1>in").unwrap(); // p1 has told p0 only
    assert_eq!(inside(&r), [0, 1, 2]);
    is_on_the_page(&token("mutant:kbakery-without-14-at-two-places", (3, 2), Rules::default(), "k-exclusion", &mut r));
}

#[test]
fn without_captures_an_overtaken_process_may_have_to_wait_again() {
    let overtaken = "p0.14.14.14.151.151.151.152  p1>in  p2.14 p3.14";
    let rules = Rules { order: true, ..Rules::with_passages(Some(1)) };
    let mut r = run_by(rules, "kbakery", 4, 2);
    r.follow(overtaken).unwrap();
    let shown = token("kbakery", (4, 2), rules, "first-in-first-enabled", &mut r);
    assert!(!enters_alone(&shown, 0));
    assert!(matches!(r.follow("p0>in"), Err(ScheduleError::Never { .. })), "two that draw are in its way");
    is_on_the_page(&shown);

    let mut r = run_by(rules, "kbakery-fife", 4, 2);
    r.follow(overtaken).unwrap();
    assert!(enters_alone(&token("kbakery-fife", (4, 2), rules, "first-in-first-enabled", &mut r), 0));
    r.follow("p0>in").unwrap();
}

#[test]
fn a_search_finds_that_too() {
    let once = Rules::with_passages(Some(1));
    let report = ask("kbakery", (4, 2), once, &["first-in-first-enabled"]);
    assert_eq!(report.failure().map(|v| v.trace.as_ref().unwrap().len()), Some(22));
    for sizes in [(3, 1), (3, 2)] {
        ask("kbakery", sizes, once, &["first-in-first-enabled"]).assert_holds(); // k + 2 processes are needed
    }
}

#[test]
fn figure_2_needs_more_than_safe_registers() {
    let rules = Rules { registers: Safe, force_registers: true, ..Rules::with_passages(Some(1)) };
    let mut r = run_by(rules, "kbakery", 2, 1);
    r.follow("p0>16 p0.16  p1>21 p1.21=4  p0.16").unwrap(); // p1 sees a large ticket while p0 writes a small one
    assert_eq!(inside(&r), [1]);
    r.follow("p0>in").unwrap();
    assert_eq!(inside(&r), [0, 1]);
    is_on_the_page(&token("kbakery", (2, 1), rules, "k-exclusion", &mut r));
    for id in ["kbakery", "kbakery-fife"] {
        assert!(ask(id, (2, 1), rules, &["k-exclusion"]).failure().is_some(), "{id}");
        let regular = Rules { registers: Regular, passages: Some(2), ..rules };
        ask(id, (2, 1), regular, &["k-exclusion", "starvation-free", "k-first-come-first-served"]).assert_holds();
    }
}

#[test]
fn the_second_copy_helps_where_figure_2_fails() {
    let rules = Rules { registers: Safe, ..Rules::with_passages(Some(1)) };
    let mut r = run_by(rules, "kbakery-nonatomic", 2, 1);
    r.follow("p0>332 p0.332  p1>38 p1.38=18446744073709551615").unwrap(); // copy 2 is torn,
    r.follow("p1.39").unwrap(); // copy 1 is not
    assert!(matches!(r.follow("p1>in"), Err(ScheduleError::Never { .. })));
    r.follow("p0.332 p0>in").unwrap();
    assert_eq!(inside(&r), [0]);
}

/// p1 overtakes and captures p0, and two processes that draw block p0; then p1 comes back.
const OVERTAKEN: &str = "p0>312 p0.312.312  p2.301.301.302.302  p3.301.301.302.302  p1>in p1>out";

#[test]
fn without_44_a_capture_is_lost_for_good() {
    let id = "mutant:kbakery-nonatomic-without-44";
    let rules = Rules { registers: Safe, order: true, ..Rules::with_passages(Some(2)) };
    let mut r = run_by(rules, id, 4, 2);
    r.follow(OVERTAKEN).unwrap();
    r.follow("p1>451 p1.451").unwrap(); // while it captures p0 again, p0 cannot tell that it is captured
    let shown = token(id, (4, 2), rules, "first-in-first-enabled", &mut r);
    assert!(!enters_alone(&shown, 0));
    is_on_the_page(&shown);

    let id = "kbakery-nonatomic";
    let mut r = run_by(rules, id, 4, 2);
    r.follow(OVERTAKEN).unwrap();
    r.follow("p1>44 p1.44").unwrap(); // p0 has not entered since: nothing to write
    assert!(enters_alone(&token(id, (4, 2), rules, "first-in-first-enabled", &mut r), 0));
    r.follow("p1>in  p0>in").unwrap();
}

/// Two passages of p1 and p2, one of p0, and one place. p1 draws 4 because it reads a ticket that
/// is just being written. It captures p0 and is about to write 5.
const STALE_CAPTURE: &str = "p2>312 p2.312  p1>311 p1.311.311=3  p1>38  p2>in p2>out  p1>in p1>out  p1>312 p1.312";

#[test]
fn figure_3_as_printed_lets_two_in() {
    let id = "kbakery-nonatomic-as-printed";
    let rules = Rules { registers: Safe, ..Rules::with_passages(Some(2)) };
    let mut r = run_by(rules, id, 3, 1);
    r.follow(STALE_CAPTURE).unwrap();
    assert_eq!(values(&r, ["Ticket[0]", "Ticket[1]", "Ticket[2]", "Capture1[0][1]"]), ["0", "4", "1", "4"]);
    r.follow("p2>311 p2.311.311=0  p2>in").unwrap(); // a ticket below one that was drawn and used
    assert_eq!((inside(&r), values(&r, ["Ticket[2]"])), (vec![2], ["2".to_owned()]));
    r.follow("p0>311 p0.311=0.311  p0>38").unwrap();
    // Old captures are harmless only if every new ticket is larger, which is not so here.
    assert_eq!(values(&r, ["Ticket[0]", "Capture1[0][1]"]), ["3", "4"]);
    r.follow("p0>in").unwrap();
    assert_eq!(inside(&r), [0, 2]);
    is_on_the_page(&token(id, (3, 1), rules, "k-exclusion", &mut r));
}

#[test]
fn figure_3_as_printed_lets_two_in_if_torn_reads_return_only_zero() {
    let id = "kbakery-nonatomic-as-printed";
    let rules = Rules { registers: Safe, ..Rules::with_passages(Some(4)) };
    let mut r = run_by(rules, id, 4, 1);
    r.follow("p3>in p3>out  p3>in p3>out  p3>in p3>out  p1>in p1>out").unwrap();
    assert_eq!(values(&r, ["Ticket[1]", "Ticket[3]", "Capture1[0][1]"]), ["4", "3", "4"]);
    r.follow("p1>312 p1.312  p3>312 p3.312  p2>311 p2.311.311=0.311=0  p2>in").unwrap();
    r.follow("p0>311 p0.311=0.311.311=0  p0>in").unwrap();
    assert_eq!(values(&r, ["Ticket[2]", "Ticket[0]"]), ["1", "2"]);
    assert_eq!(inside(&r), [0, 2]);
    is_on_the_page(&token(id, (4, 1), rules, "k-exclusion", &mut r));
}

#[test]
fn monotone_tickets_repair_it() {
    let id = "kbakery-nonatomic";
    for registers in [Safe, Monotone] {
        let rules = Rules { registers, ..Rules::with_passages(Some(2)) };
        let mut r = run_by(rules, id, 3, 1);
        r.follow(STALE_CAPTURE).unwrap();
        r.follow("p2>311 p2.311").unwrap();
        assert!(matches!(r.follow("p2.311=0"), Err(ScheduleError::Otherwise { .. })), "it is 4 at least");
        r.follow("p2.311=4 p2>38").unwrap();
        assert_eq!(values(&r, ["Ticket[2]"]), ["5"]);
        assert!(matches!(r.follow("p2>in"), Err(ScheduleError::Never { .. })), "p1 goes first");
        r.follow("p0>311 p0.311=4.311 p0>38").unwrap();
        assert!(matches!(r.follow("p0>in"), Err(ScheduleError::Never { .. })), "and p2 before p0");
        assert!(inside(&r).is_empty());
    }
}

#[test]
fn where_n_meets_k_log_n_over_k() {
    let page = include_str!("../../../../../papers/danek_10.md");
    let ids = ["kbakery", "kbakery-fife", "kbakery-nonatomic", "am-dsm-tree", "am-dsm-fast", "am-dsm-chain"];
    let bound =
        |id: &str, k| registry::find(id).unwrap().bound(CostModel::Dsm).unwrap().at(Sizes { n: 64, k }, 64).unwrap();
    for k in [1, 2, 4, 8, 16, 32] {
        let row = page.lines().find(|line| line.starts_with(&format!("| {k} | "))).unwrap();
        let cells: Vec<u64> = row
            .split('|')
            .filter_map(|cell| cell.split_whitespace().next())
            .skip(1)
            .map(|number| number.parse().unwrap())
            .collect();
        assert_eq!(cells, ids.map(|id| bound(id, k)), "k = {k}");
    }
    let meets = |id| (1..=32).find(|&k| bound(id, k) < bound("am-dsm-tree", k));
    assert_eq!((meets("kbakery"), meets("kbakery-fife")), (Some(5), Some(6)));
}

#[test]
fn the_runs_on_the_page_can_be_made_again() {
    let page = include_str!("../../../../../papers/danek_10.md");
    let tokens: Vec<&str> = page.split(['`', ' ', '\n']).filter(|word| word.starts_with("dw1/")).collect();
    assert_eq!(tokens.len(), 8);
    for token in tokens {
        token.parse::<Token>().unwrap().replay().unwrap_or_else(|e| panic!("{token}: {e}"));
    }
}
