//! The turnstile: its invariants, and the hard interleavings step by step.
//!
//! An entry past an empty line is 1 to 3 (for several units 1, 25, 26, 27), and into an empty line
//! 1, 2, 3, 5, 6, 7, 8. An exit is 9. Helping the ticket at the front is 10, 13, 14, 15, and
//! helping a ghost 10, 13, 16, 17, 18, 19; both end with 10 and 29. Giving up is 20, 21.

mod line;
mod look;
mod more;
mod moving;
mod returning;
mod simple;

use crate::common::{ask, inside, tolerates_k_minus_1_crashes, values};
use doorway_check::property::View;
use doorway_check::schedule::{Runner, ScheduleError};
use doorway_check::sim::{Keep, Phase, Rules};
use doorway_check::{Explorer, Property, subject};
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

/// A machine to walk by hand. Passages are bounded, so that tickets stay what they are.
fn run(id: &str, n: usize, k: usize) -> Runner {
    let rules = Rules { crashes: n, passages: Some(20), ..give_ups() };
    Runner::new(subject::find(id).unwrap().world(Sizes { n, k }, rules).unwrap())
}

// If a number of states changes, exploration has changed: look before you update it.

#[test]
fn all_claims_hold() {
    explore("turnstile", (1, 1), Rules::default(), 12);
    explore("turnstile", (2, 1), Rules::default(), 703);
    explore("turnstile", (2, 2), Rules::default(), 174);
    explore("turnstile", (3, 1), Rules::default(), 75_513);
}

#[test]
fn all_claims_hold_for_two_of_three_when_one_may_die() {
    let rules = Rules { crashes: 1, ..Rules::default() };
    explore("turnstile", (3, 2), Rules { passages: Some(1), ..rules }, 164_352);
}

#[test]
fn all_claims_hold_when_waiting_processes_give_up() {
    explore("turnstile", (2, 1), give_ups(), 9_334);
    explore("turnstile", (2, 2), Rules { crashes: 1, ..give_ups() }, 406);
    explore("turnstile-many", (2, 1), give_ups(), 12_586);
    explore("turnstile-many", (2, 2), give_ups(), 19_686);
    explore("turnstile-unfair", (2, 1), give_ups(), 14_298);
    explore("turnstile-slots", (2, 1), give_ups(), 13_050);
    explore("turnstile-slots", (2, 2), Rules { crashes: 1, ..give_ups() }, 1_482);
}

#[test]
fn all_claims_hold_with_tries_before_the_doorway() {
    explore("turnstile-unfair", (2, 1), Rules::default(), 1_282);
    explore("turnstile-unfair", (3, 2), Rules { passages: Some(1), ..Rules::default() }, 12_844);
}

#[test]
fn all_claims_hold_for_names_over_it() {
    explore("turnstile-slots", (2, 2), Rules::default(), 790);
    explore("turnstile-slots", (2, 2), Rules { crashes: 1, ..Rules::default() }, 1_482);
    explore("turnstile-slots", (3, 2), Rules { passages: Some(1), ..Rules::default() }, 118_425);
    explore("turnstile-bits", (2, 2), Rules { crashes: 1, ..give_ups() }, 1_482);
    explore("turnstile-bits", (3, 2), Rules { passages: Some(1), ..Rules::default() }, 118_425);
}

#[test]
fn asking_for_several_can_starve_before_the_doorway_and_not_after_it() {
    // Other processes that draw make its 27 fail, again and again. Once it has its tickets, it gets
    // in.
    let (id, sizes) = ("turnstile-many", Sizes { n: 2, k: 2 });
    assert_eq!(ask(id, (2, 2), Rules::default(), &["starvation-free"]).verdict("starvation-free").holds, Some(false));
    let waits = |v: &View<'_>, p: usize| v.phase(p) == Phase::Entry && v.shown::<u64>(p, "units").is_some();
    let served = Property::leads_to("served", waits, move |v, p| !waits(v, p));
    let leaves = Property::leads_to("leaves", |v, p| v.phase(p) == Phase::Exit, |v, p| v.phase(p) != Phase::Exit);
    let world = subject::find(id).unwrap().world(sizes, Rules::default()).unwrap();
    Explorer::new(2).believe_keep(true).property(served).property(leaves).explore(world).unwrap().assert_holds();
}

#[test]
fn what_is_kept_is_all_that_matters() {
    what_is_kept_matters(&[(2, 1, Some(1)), (2, 2, Some(1))]);
}

#[test]
#[ignore = "takes minutes; ci/long-searches.sh runs it"]
fn what_is_kept_is_all_that_matters_in_the_large() {
    what_is_kept_matters(&[(2, 1, None), (2, 1, Some(2)), (2, 2, Some(2)), (3, 1, Some(1))]);
}

fn what_is_kept_matters(instances: &[(usize, usize, Option<u32>)]) {
    for id in ["turnstile", "turnstile-unfair", "turnstile-many", "turnstile-slots", "turnstile-bits"] {
        for &(n, k, passages) in instances {
            let rules = Rules { keep: Keep::CrossChecked, passages, ..give_ups() };
            let subject = subject::find(id).unwrap();
            let sizes = Sizes { n, k };
            let claims = subject.claims(sizes);
            let world = subject.world(sizes, rules.for_properties(&claims)).unwrap();
            Explorer::new(n).believe_keep(true).properties(claims).explore(world).unwrap().assert_holds();
        }
    }
}

#[test]
fn k_minus_1_crashes_anywhere_are_tolerated_and_k_are_not() {
    tolerates_k_minus_1_crashes("turnstile", 2, 1, None);
    for id in ["turnstile", "turnstile-unfair", "turnstile-slots"] {
        tolerates_k_minus_1_crashes(id, 3, 2, Some(1));
    }
    // No number of crashes and give-ups lets too many processes in.
    let rules = |crashes, passages| Rules { crashes, passages, ..give_ups() };
    ask("turnstile", (2, 1), rules(2, None), &["k-exclusion", "T1", "T3"]).assert_holds();
    ask("turnstile", (3, 2), rules(3, Some(1)), &["k-exclusion", "T1", "T3"]).assert_holds();
    ask("turnstile-many", (2, 2), rules(2, Some(2)), &["units-inside", "T1", "T3"]).assert_holds();
    // Two dead among two places: a newcomer waits for ever.
    let mut r = run("turnstile", 3, 2);
    r.follow("p0>in  p0!  p1>in  p1!  p2.1.2.3.5.6.7.8~").unwrap();
    assert!(r.is_deadlock().unwrap());
}

// Signals.

#[test]
fn an_exit_before_the_announcement_is_seen_by_it() {
    let mut r = run("turnstile", 2, 1);
    r.follow("p0.1.2.3  p1.1.2.3").unwrap(); // p1 is not enabled, and no other process knows of it
    assert_eq!((values(&r, ["next", "gate"]), inside(&r)), (["2", "1/0"].map(str::to_owned), vec![0]));
    r.follow("p0.9").unwrap(); // so there is no ticket to help,
    r.follow("p1.5.6.7").unwrap(); // and p1 sees that it is enabled.
    assert_eq!((values(&r, ["gate", "front"]), inside(&r)), (["2/1", "2"].map(str::to_owned), vec![1]));
    r.follow("p1.9.29").unwrap();
    assert_eq!(values(&r, ["gate"]), ["3/0"]);
}

#[test]
fn an_exit_after_the_announcement_signals() {
    let mut r = run("turnstile", 2, 1);
    r.follow("p0.1.2.3  p1.1.2.3.5.6.7.8~").unwrap();
    assert_eq!(values(&r, ["gate", "front", "rec[1]"]), ["1/1", "1", "-7 Signalled"]);
    r.follow("p0.9.10.13  p1.8~  p0.14  p1.8").unwrap();
    assert_eq!((values(&r, ["rec[1]"]), inside(&r)), (["1 Signalled".to_owned()], vec![1]));
    // No process waits for the rest of the help.
    r.follow("p1.9.29  p0.15.10.29").unwrap();
    assert_eq!(values(&r, ["gate", "front"]), ["3/0", "2"]);
}

#[test]
fn a_helper_that_sleeps_holds_nobody_up() {
    let mut r = run("turnstile", 3, 1);
    r.follow("p0>in  p1.1.2.3.5.6.7.8~  p2.1.2.3.5.8~  p0.9.10.13.14").unwrap();
    r.follow("p1.8  p1.9.10.11.10.13.14.15.10  p2.8").unwrap();
    assert_eq!((values(&r, ["front"]), inside(&r)), (["3".to_owned()], vec![2]));
    r.follow("p0.15.10.29").unwrap(); // its 15 comes too late
    assert_eq!(values(&r, ["front"]), ["3"]);
}

// Ghosts.

#[test]
fn a_ghost_is_exited_when_the_front_reaches_it() {
    let mut r = run("turnstile", 2, 1);
    r.follow("p0>in  p1.1.2.3.5.6.7.8?.20.21").unwrap();
    assert_eq!(values(&r, ["gate", "rec[1]"]), ["1/1", "1 Gone"]); // still in line
    r.follow("p0.9.10.13.16.17.18").unwrap();
    assert_eq!(values(&r, ["gate", "front"]), ["3*/0", "1"]);
    r.follow("p0.19").unwrap();
    assert_eq!(values(&r, ["front"]), ["2+1"]);
    r.follow("p0>out  p1>in").unwrap();
}

#[test]
fn a_signalled_process_cannot_give_up() {
    let mut r = run("turnstile", 2, 1);
    r.follow("p0>in  p1.1.2.3.5.6.7.8?.20  p0.9.10.13.14").unwrap();
    r.follow("p1.21.20.9.29").unwrap(); // its compare-and-swap fails, and it exits
    assert_eq!(values(&r, ["gate", "rec[1]"]), ["3/0", "1 Signalled"]);
}

/// p2 exits the ghost that p1's exit enabled, and dies with what both owe.
const TWO_UNITS_FOR_ONE_DEATH: &str = "p1>in  p2>in  p0.1.2.3.5.6.7.8?.20.21  p0.1.2.3.5.8~ \
     p1.9  p2.9  p2.10.13.16.17.18.19  p2!  p1.10";

#[test]
fn a_helper_looks_again_when_others_passed_ghosts() {
    let mut r = run("turnstile", 3, 2);
    r.follow(TWO_UNITS_FOR_ONE_DEATH).unwrap();
    assert_eq!(values(&r, ["gate", "front"]), ["5*/1", "3+1"]); // all that p1 owed has been dealt with,
    r.follow("p1.12.10.13.14.15").unwrap(); // but not what that enabled
    r.follow("p0.8").unwrap();
    assert_eq!(inside(&r), [0]);
    r.follow("p1>out  p1>in  p0>out  p0>in").unwrap();
}

#[test]
fn fails_when_nobody_looks_again() {
    let mut r = run("mutant:turnstile-never-looks-again", 3, 2);
    r.follow(TWO_UNITS_FOR_ONE_DEATH).unwrap();
    r.follow("p1>out").unwrap();
    assert!(r.is_deadlock().unwrap());
    assert_eq!(r.follow("p0>in").unwrap_err(), ScheduleError::Never { word: "p0>in".to_owned() });
}

/// p1 announces to an empty line and may move the front past 3, which p0 has and which is enabled.
const THE_FRONT_MAY_JUMP: &str = "p0>in  p1.1.2.3  p0.9  p0.1.41.25.26.27  p1.5.6  p0.5.8.45?";

#[test]
fn what_was_enabled_when_it_was_announced_is_not_given_up() {
    let mut r = run("turnstile-many", 2, 2);
    r.follow(THE_FRONT_MAY_JUMP).unwrap();
    assert_eq!(values(&r, ["next", "gate", "front"]), ["5", "4/3", "0"]);
    r.follow("p0.20.21  p1.7").unwrap(); // only ticket 4
    assert_eq!(values(&r, ["front", "rec[3]", "rec[4]"]), ["4", "-5 Signalled", "4 Gone"]);
    r.follow("p0.40.10.29.9.10.13.16.17.18.19").unwrap(); // 3 is exited by p0, and then the ghost
    assert_eq!((values(&r, ["gate", "front"]), inside(&r)), (["6*/1", "5+1"].map(str::to_owned), vec![1]));
    r.follow("p0>out  p1>out  p0>in").unwrap();
    assert_eq!(inside(&r), [0]);
}

#[test]
fn fails_when_what_was_enabled_is_given_up() {
    let mut r = run("mutant:turnstile-many-gives-up-what-is-enabled", 2, 2);
    r.follow(THE_FRONT_MAY_JUMP).unwrap();
    r.follow("p0.20.21.20.21  p1.7").unwrap();
    assert_eq!(values(&r, ["front", "rec[3]", "rec[4]"]), ["4", "3 Gone", "4 Gone"]); // 3 is behind the front
    r.follow("p1>out").unwrap();
    assert_eq!(r.follow("p0>in").unwrap_err(), ScheduleError::Never { word: "p0>in".to_owned() });
}

/// p3 waits with ticket 2, and p0, which asks for two, with 3 and 4. The exits that enable 2 and 3
/// have not helped yet when p0 announces its tickets and gives 4 up.
const ONE_BEFORE_IT_IS_NOT_DEALT_WITH: &str =
    "p1>in  p2>in  p3.1.2.3.5.6.7  p0.1.41.25.26.27  p1.9  p2.9  p0.5.8.45?.20.21";

#[test]
fn giving_up_some_tickets_deals_with_those_before_them() {
    let mut r = run("turnstile-many", 4, 2);
    r.follow(ONE_BEFORE_IT_IS_NOT_DEALT_WITH).unwrap();
    assert_eq!(values(&r, ["next", "gate", "front"]), ["5", "4/3", "2"]);
    r.follow("p0.40.10.13.14.15").unwrap(); // 2 is signalled before 3 is exited
    r.follow("p3.8").unwrap();
    assert_eq!(inside(&r), [3]);
    r.follow("p0>out  p1>out  p2>out  p3>out  p0>in").unwrap();
}

#[test]
fn fails_when_it_leaves_them_behind() {
    let mut r = run("mutant:turnstile-many-leaves-others-behind", 4, 2);
    r.follow(ONE_BEFORE_IT_IS_NOT_DEALT_WITH).unwrap();
    r.follow("p0.9.10.11").unwrap(); // there is an exit more than there should be, and the front jumps over 2
    assert_eq!(values(&r, ["gate", "front"]), ["5/2", "3"]);
    r.follow("p0>out  p1>out  p2>out").unwrap();
    assert!(r.is_deadlock().unwrap());
    assert_eq!(r.follow("p3>in").unwrap_err(), ScheduleError::Never { word: "p3>in".to_owned() });
}

#[test]
fn an_exit_lasts_as_long_as_somebody_gives_up_at_the_front() {
    let mut r = run("turnstile", 2, 1);
    r.follow("p0.1.2.3  p1.1.2.3.5.6.7  p0.9.10").unwrap();
    for round in 1..10 {
        // p1 gives up, and draws again before its ghost is exited. That exit enables the new
        // ticket, and p0 owes it a signal.
        r.follow("p1.8?.20.21.1.2.3.5  p0.13.16.17.18.19.10").unwrap();
        let odd = if round % 2 == 1 { "*" } else { "" };
        assert_eq!(values(&r, ["gate", "front"]), [format!("{}{odd}/1", round + 2), format!("{}+{round}", round + 1)]);
    }
    r.follow("p0.13.14  p1.8  p0>out").unwrap();
    assert_eq!(inside(&r), [1]);
}

// The full line.

#[test]
fn a_door_that_was_closed_is_opened_again() {
    let verdict = |id: &str| ask(id, (2, 1), give_ups(), &["door-opens"]).verdict("door-opens").holds;
    assert_eq!(verdict("turnstile"), Some(true));
    assert_eq!(verdict("turnstile-unfair"), Some(true));
    assert_eq!(verdict("mutant:turnstile-never-opens-its-door"), Some(false));
    assert_eq!(verdict("mutant:turnstile-leaves-its-door"), Some(false));
}

#[test]
fn newcomers_camp_while_the_line_is_full() {
    let mut r = run("turnstile", 2, 1);
    r.follow("p0>in  p1.1.2.3.5.6.7.8?.20.21  p1.1.2.3").unwrap();
    assert_eq!(values(&r, ["next", "gate", "door"]), ["3", "1/1", "open 0"]);
    r.follow("p1.4").unwrap(); // ticket 2 is not the first that is not enabled
    assert_eq!(values(&r, ["door"]), ["full 1"]);
    r.follow("p1.5.8?.20.21  p1.1.22.23.28~").unwrap();
    r.follow("p0.9").unwrap();
    r.follow("p0>29  p0.29.22.23.24").unwrap(); // two ghosts are exited, and the next one to come is signalled
    assert_eq!(values(&r, ["next", "gate", "front", "door"]), ["3", "4/0", "4+2", "open 2"]);
    r.follow("p1.28  p1>in").unwrap();
}

#[test]
fn those_that_look_at_no_door_are_too_few_to_keep_it_closed() {
    let mut r = run("turnstile", 6, 1);
    // p1 gives up until the line is too long, and sleeps before it closes the door. The line gets
    // empty, and four processes have seen the door open.
    r.follow("p0>in  p1.1.2.3.5.6.7.8?.20.21").unwrap();
    for _ in 0..4 {
        r.follow("p1.1.2.3.5.8?.20.21").unwrap();
    }
    r.follow("p1.1.2.3  p0>out  p0.1  p2.1  p3.1  p4.1  p1.4.5.6").unwrap();
    assert_eq!((values(&r, ["door"]), inside(&r)), (["full 1".to_owned()], vec![1]));
    // They draw, and will neither wait nor look at the door again: p5 or p1 must open it.
    r.follow("p0.2  p2.2  p3.2  p4.2  p5.1.22.23  p1>out  p0.3.9  p2.3.9  p3.3.9  p4.3.9").unwrap();
    r.follow("p5>in").unwrap();
    assert_eq!((values(&r, ["door"]), inside(&r)), (["open 2".to_owned()], vec![5]));
}

#[test]
fn others_that_give_up_for_ever_starve_nobody_in_line_but_can_keep_a_helper_busy() {
    let world = subject::find("turnstile").unwrap().world(Sizes { n: 2, k: 1 }, give_ups()).unwrap();
    let in_line = Property::leads_to("in line", |v, p| v.at(p, 8), |v, p| !v.at(p, 8)).despite_give_ups();
    let helps = |v: &View<'_>, p: usize| v.at(p, 10..=19);
    let busy = Property::leads_to("helps", helps, move |v, p| !helps(v, p));
    let endless = Property::leads_to("helps, whatever others do", helps, move |v, p| !helps(v, p)).despite_give_ups();
    let asked = [in_line, busy, endless];
    let report = Explorer::new(2).believe_keep(true).properties(asked).keep_going(true).explore(world).unwrap();
    let verdicts: Vec<_> = report.verdicts.iter().map(|v| (&*v.name, v.holds)).collect();
    let expected = [("in line", Some(true)), ("helps", Some(true)), ("helps, whatever others do", Some(false))];
    assert_eq!(verdicts, expected);
}
