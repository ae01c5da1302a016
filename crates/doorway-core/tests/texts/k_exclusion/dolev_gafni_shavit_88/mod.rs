//! Dolev, Gafni and Shavit: what holds on safe bits and with crashes half-way through a bit, and
//! what fails to the letter of the paper, step by step.

mod fork;
mod oracle;

use crate::common::ask;
use doorway_check::replay::Token;
use doorway_check::schedule::Runner;
use doorway_check::sim::{Action, Keep, Phase, Rules, State, What};
use doorway_check::{Explorer, mutants, subject};
use doorway_core::k_exclusion::dolev_gafni_shavit_88::bits;
use doorway_core::memory::Register;
use doorway_core::registry::Sizes;

const ALL: [&str; 3] = ["dgs", "dgs-unfair", "dgs-as-printed"];
const ATOMIC: Rules = Rules::DEFAULT;
const SAFE: Rules = Rules { registers: Register::Safe, ..ATOMIC };

/// Explores with all claims; they hold, and there are this many states.
fn explore(id: &str, (n, k): (usize, usize), rules: Rules, states: usize) {
    let subject = subject::find(id).unwrap();
    let sizes = Sizes { n, k };
    let claims = subject.claims(sizes);
    let report =
        Explorer::new(n).believe_keep(true).properties(claims).explore(subject.world(sizes, rules).unwrap()).unwrap();
    report.assert_holds();
    assert!(report.complete);
    assert_eq!(report.states, states, "{id} ({n},{k}) {rules:?}");
}

// If a number of states changes, exploration has changed: look before you update it.

#[test]
fn all_claims_hold_on_safe_bits() {
    for (id, states) in [("dgs", 101_752), ("dgs-unfair", 10_936), ("dgs-as-printed", 154_624)] {
        explore(id, (1, 1), SAFE, 5);
        explore(id, (2, 1), SAFE, states);
    }
}

#[test]
fn all_claims_hold_when_one_may_die_half_way_through_a_bit() {
    explore("dgs", (2, 2), Rules { crashes: 1, ..SAFE }, 371_360);
    explore("dgs-unfair", (2, 2), Rules { crashes: 1, ..SAFE }, 40_888);
}

/// However many processes die, at most `l` are inside.
#[test]
fn no_number_of_crashes_lets_too_many_in() {
    for id in ALL {
        for k in [1, 2] {
            ask(id, (2, k), Rules { crashes: 2, ..SAFE }, &["k-exclusion", "CL5"]).assert_holds();
        }
    }
}

/// To the others, a process that is slow for as long as they look is like one that has died: `l -
/// 1` slow processes slow no other down, and `l` do.
#[test]
fn only_l_slow_processes_can_slow_another_one_down() {
    let rules = |crashes| Rules { crashes, ..SAFE };
    ask("dgs", (2, 2), rules(1), &["starvation-free"]).assert_holds();
    for id in ["dgs", "dgs-unfair"] {
        let slow = ask(id, (2, 1), rules(1), &["never-stuck"]);
        let trace =
            slow.verdict("never-stuck").trace.as_ref().expect("one slow process of one place holds up the other");
        assert_eq!(trace.end.iter().filter(|p| p.crashed).count(), 1);
    }
}

#[test]
fn fixed_ids_are_unfair() {
    let report = ask("dgs-unfair", (2, 1), ATOMIC, &["starvation-free"]);
    assert_eq!(report.verdict("starvation-free").holds, Some(false));
}

/// Corollary 2 and Lemma 8 fail as printed, without a crash and with atomic registers.
#[test]
fn as_printed_a_process_is_passed_for_ever() {
    for rules in [ATOMIC, SAFE] {
        let report = ask("dgs-as-printed", (2, 1), rules, &["starvation-free"]);
        assert_eq!(report.verdict("starvation-free").holds, Some(false));
    }
}

#[test]
fn it_takes_as_many_safe_bits_as_it_says() {
    for (id, ids_grow) in [("dgs", true), ("dgs-as-printed", true), ("dgs-unfair", false)] {
        for n in 1..6 {
            let world = subject::find(id).unwrap().world(Sizes { n, k: 1 }, SAFE).unwrap();
            let (own, shared): (Vec<_>, Vec<_>) = world.layout().vars().iter().partition(|v| v.private);
            assert!(shared.iter().all(|v| v.needs == Register::Safe && v.few_bits() == Some(1)));
            assert_eq!(shared.len() as u64, bits(n, ids_grow));
            assert_eq!(own.len(), n * (n - 1) * if ids_grow { 3 } else { 2 });
        }
    }
    assert_eq!([2, 3, 4].map(|n: u64| 9 * n * (n - 1) + n), [2, 3, 4].map(|n| bits(n, true)));
}

/// Of the two `f` of a fork it only matters whether they are equal. Treating both encodings of a
/// fork as one halves the states for each fork, exactly.
#[test]
fn states_that_are_alike_are_exactly_so_many() {
    for rules in [ATOMIC, SAFE] {
        for (id, forks) in [("dgs", 3), ("dgs-unfair", 2), ("dgs-as-printed", 3)] {
            let states = |alike| ask(id, (2, 1), Rules { alike, ..rules }, &["k-exclusion", "W", "CL5"]).states;
            assert_eq!(states(true) << forks, states(false), "{id}");
        }
    }
    // The verdicts stay the same, also where dead processes are alike.
    for id in ["dgs", "dgs-unfair"] {
        explore_alike(id);
    }
}

fn explore_alike(id: &str) {
    let rules = Rules { crashes: 1, alike: true, ..SAFE };
    explore(id, (2, 2), rules, if id == "dgs" { 33_064 } else { 7_462 });
    let failing = ask(id, (2, 1), Rules { crashes: 1, alike: true, ..SAFE }, &["never-stuck"]);
    assert_eq!(failing.verdict("never-stuck").holds, Some(false));
}

/// The texts' `keep` hides nothing.
#[test]
fn what_is_kept_is_all_that_matters() {
    for id in ALL {
        let subject = subject::find(id).unwrap();
        let sizes = Sizes { n: 2, k: 1 };
        for keep in [Keep::Ignored, Keep::CrossChecked] {
            if keep == Keep::Ignored && id != "dgs-unfair" {
                continue; // would take minutes
            }
            let claims = subject.claims(sizes);
            let world = subject.world(sizes, Rules { keep, ..ATOMIC }).unwrap();
            let report = Explorer::new(2).believe_keep(true).properties(claims).explore(world).unwrap();
            report.assert_holds();
            println!("{id} {keep:?}: {} states", report.states);
        }
    }
}

/// Walks by hand, with a say in what torn reads return.
struct Walk(Runner);

/// What a torn read returns, given the statement of the whole text that the process is at, and the
/// statement that it is about to do.
type Sees = fn(u16, u16) -> bool;

impl Walk {
    fn new(id: &str, n: usize, k: usize, rules: Rules) -> Self {
        Self(Runner::new(subject::find(id).unwrap().world(Sizes { n, k }, rules).unwrap()))
    }

    fn step(&mut self, p: usize, sees: Sees) {
        let value = sees(self.0.view().label(p), self.0.next_statement(p));
        let torn = Action { process: p, what: What::Sees(u16::from(value)) };
        let action = if self.0.actions(p).contains(&torn) { torn } else { Action::step(p) };
        assert!(self.0.act(action).unwrap().is_some(), "p{p} has stopped");
    }

    fn until(&mut self, p: usize, sees: Sees, there: impl Fn(&Runner) -> bool) {
        for _ in 0..10_000 {
            if there(&self.0) {
                return;
            }
            self.step(p, sees);
        }
        panic!("p{p} never gets there");
    }

    fn until_at(&mut self, p: usize, sees: Sees, label: u16) {
        self.until(p, sees, |r| r.view().label(p) == label);
    }

    /// To L, where its first turn begins.
    fn arrive(&mut self, p: usize) {
        self.until(p, OLD, |r| [5, 6].contains(&r.view().label(p)));
    }

    /// From L to L, or inside.
    fn turn(&mut self, p: usize, sees: Sees) {
        let l = self.0.state().locals[p];
        self.step(p, sees);
        self.until(p, sees, |r| r.state().locals[p] == l || r.view().phase(p) == Phase::Inside);
    }

    fn crash(&mut self, p: usize) {
        assert!(self.0.act(Action { process: p, what: What::Crash }).unwrap().is_some());
    }

    /// Goes on with `round` until a state comes back, and returns the token of that run; `None`
    /// once one of the `waiting` is inside.
    fn lasso(&mut self, token: (&str, &str), waiting: &[usize], round: &mut dyn FnMut(&mut Self)) -> Option<String> {
        let mut been: Vec<(State, usize)> = Vec::new();
        for _ in 0..20 {
            let mut trace = self.0.trace().unwrap();
            if let Some((_, from)) = been.iter().find(|(state, _)| state == self.0.state()) {
                trace.repeats(*from, Vec::new());
                let subject = subject::find(token.0).unwrap();
                let (n, k) = (self.0.view().processes().end, subject.defaults().k);
                let rules = self.0.rules();
                return Some(Token::new(&subject, Sizes { n, k }, rules, token.1, &trace).to_string());
            }
            been.push((self.0.state().clone(), trace.len()));
            round(self);
            if waiting.iter().any(|&p| self.0.view().phase(p) == Phase::Inside) {
                return None;
            }
        }
        panic!("nobody enters and nothing repeats");
    }
}

/// The run in the table of mutants.
fn run_of(mutant: &str) -> Option<String> {
    mutants::ALL.iter().find(|m| m.name == mutant)?.run.map(str::to_owned)
}

const OLD: Sees = |_, _| false;

/// Figure 3, with `l = 2`: 2 yields to 0, which has died; 0 to 1; and 1 to 2.
fn figure_3(id: &str) -> Option<String> {
    let mut w = Walk::new(id, 3, 2, Rules { crashes: 1, ..SAFE });
    for p in [1, 0, 2] {
        w.arrive(p);
    }
    w.crash(0);
    w.lasso((id, "deadlock-free"), &[1, 2], &mut |w| [1, 2].iter().for_each(|&p| w.turn(p, OLD)))
}

#[test]
fn figure_3_blocks_everybody_without_range() {
    let mutant = "dgs-unfair-figure-3";
    assert_eq!(figure_3(&format!("mutant:{mutant}")), run_of(mutant));
    assert_eq!(figure_3("dgs-unfair"), None);
}

/// Figure 4, from the beginning: 0 and 1 have died, and 1 died half-way through `wq`. So the arrow
/// between them can be read either way.
fn figure_4(id: &str, sees: Sees) -> Option<String> {
    let mut w = Walk::new(id, 5, 3, Rules { crashes: 2, ..SAFE });
    for p in [0, 2, 3, 4, 1] {
        w.arrive(p);
    }
    w.turn(4, OLD); // says that it reaches 0, 2 and 3, but not 1
    w.0.follow("p0>28 p0.28.28").unwrap(); // 0 yields to 1
    w.crash(0);
    // 1 sees that 4 reaches 0, and yields to it.
    w.until(1, OLD, |r| r.value("GRAPH.fork0.wq[1]").as_deref() == Some("true"));
    w.0.follow("p1>28 p1.28").unwrap();
    w.crash(1);
    w.lasso((id, "deadlock-free"), &[2, 3, 4], &mut |w| [2, 3, 4].iter().for_each(|&p| w.turn(p, sees)))
}

#[test]
fn figure_4_blocks_everybody_as_printed() {
    let mutant = "dgs-unfair-as-printed";
    // 1 yields to 0 in what decides on RANGE, and 0 to 1 in the test.
    assert_eq!(figure_4(&format!("mutant:{mutant}"), |at, _| at == 8), run_of(mutant));
    for sees in [OLD, |_, _| true, |at, _| at == 6, |at, _| at == 5] {
        assert_eq!(figure_4("dgs-unfair", sees), None);
    }
}

/// A process dies half-way through saying that it left: its `x` reads false in the Reach for RANGE,
/// and true everywhere else.
fn dies_leaving(id: &str, sees: Sees) -> Option<String> {
    let mut w = Walk::new(id, 3, 2, Rules { crashes: 1, ..SAFE });
    w.until(2, OLD, |r| r.view().phase(2) == Phase::Inside);
    w.0.follow("p2.11").unwrap();
    w.crash(2);
    w.arrive(0);
    w.arrive(1);
    w.lasso((id, "deadlock-free"), &[0, 1], &mut |w| [0, 1].iter().for_each(|&p| w.turn(p, sees)))
}

#[test]
fn a_process_that_dies_leaving_blocks_everybody_as_printed() {
    let mutant = "dgs-unfair-as-printed-dies-leaving";
    assert_eq!(dies_leaving(&format!("mutant:{mutant}"), |_, does| does != 7), run_of(mutant));
    for sees in [OLD, |_, does| does == 6, |_, does| does == 5, |_, _| true] {
        assert_eq!(dies_leaving("dgs-unfair", sees), None);
    }
}

/// 1 looks while 0 is away, 0 arrives and yields, 1 yields too late, 0 enters: for ever.
#[test]
fn as_printed_a_process_is_passed_for_ever_step_by_step() {
    let id = "dgs-as-printed";
    let mut w = Walk::new(id, 2, 1, ATOMIC);
    let passed = w.lasso((id, "starvation-free"), &[1], &mut |w| {
        w.until_at(1, OLD, 5);
        w.0.follow("p1.5").unwrap(); // sees no other process
        w.until_at(0, OLD, 7);
        w.until_at(1, OLD, 8);
        w.until_at(1, OLD, 5);
        w.until(0, OLD, |r| r.view().phase(0) == Phase::Inside);
        w.until(0, OLD, |r| r.view().phase(0) == Phase::Remainder);
    });
    assert_eq!(passed.as_deref(), Some(PASSED_FOR_EVER));
    PASSED_FOR_EVER.parse::<Token>().unwrap().replay().unwrap();
}

/// `papers/dolev_gafni_shavit_88.md` has this run, too.
const PASSED_FOR_EVER: &str =
    "dw1/dgs-as-printed/2,1/-/c0/atomic/starvation-free/1x14.0x15.1x18.0x8.1.0x15.1x12.0x8.1.0x15.1x12.0x8@55/c10ba0bd";
