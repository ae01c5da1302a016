//! Classic algorithms, written against the public interface only, and verdicts known from the
//! literature.
//!
//! A row of [`CASES`] is one question. The texts are in the folder beside this file; what each
//! paper claims stands above its text. `cargo test -p doorway-check --test checker classics --
//! --nocapture` prints what was found.

mod texts;

use Asks::{DeadlockFreedom, MutualExclusion, NeverStuck, StarvationFreedom};
use doorway_check::property::View;
use doorway_check::sim::{Keep, Phase, TextError};
use doorway_check::trace::Trace;
use doorway_check::{Explorer, Property, Report};
use doorway_core::memory::Register::{Atomic, Regular, Safe};
use std::fmt::Write as _;
use texts::burns::BurnsLynch;
use texts::dekker::Dekker;
use texts::dijkstra::Dijkstra;
use texts::filter::Filter;
use texts::hyman::Hyman;
use texts::kessels::Kessels;
use texts::knuth::Knuth;
use texts::lamport::{OneBit, ThreeBit};
use texts::peterson::Peterson;
use texts::szymanski::{Exit, Flag, FlagOfBits, Reads, ThreeBitLinearWait};
use texts::{Registers, all};

/// What is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Asks {
    MutualExclusion,
    /// In no state can all processes that are under way only wait.
    NeverStuck,
    /// Whenever a process tries to enter, some process enters.
    DeadlockFreedom,
    StarvationFreedom,
}

impl Asks {
    fn property(self) -> Property {
        match self {
            MutualExclusion => Property::exclusion("asked", 1),
            NeverStuck => Property::never_stuck("asked"),
            DeadlockFreedom => Property::deadlock_free("asked"),
            StarvationFreedom => Property::starvation_free("asked"),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    Holds,
    Fails,
}
use Answer::{Fails, Holds};

struct Case {
    algorithm: &'static str,
    n: usize,
    registers: Registers,
    asks: Asks,
    expected: Answer,
    /// The source; empty if we know of none for this size.
    source: &'static str,
}

const fn row(
    algorithm: &'static str,
    n: usize,
    registers: Registers,
    asks: Asks,
    expected: Answer,
    source: &'static str,
) -> Case {
    Case { algorithm, n, registers, asks, expected, source }
}

/// A separate search of these texts, with the register definitions of the mCRL2 examples. Where it
/// says that deadlock freedom holds, it has found that no process is ever stuck.
const RECOMPUTED: &str = "recomputed";
/// Spin, of a model in which a write has a beginning and an end: `ci/spin/filter-regular.pml`.
const SPIN: &str = "Spin";
const MCRL2: &str = "mCRL2, examples/academic/non-atomic_registers, Readme";

#[rustfmt::skip]
const CASES: &[Case] = &[
    row("Peterson", 2, all(Atomic), MutualExclusion, Holds, "Peterson 1981"),
    row("Peterson", 2, all(Atomic), DeadlockFreedom, Holds, "Peterson 1981"),
    row("Peterson, turn first", 2, all(Atomic), MutualExclusion, Fails, "folklore"),
    row("Dekker", 2, all(Atomic), MutualExclusion, Holds, "Dijkstra 1965, EWD 123"),
    row("Dekker", 2, all(Atomic), DeadlockFreedom, Holds, "Dijkstra 1965, EWD 123"),
    row("Dekker, RW-safe", 2, all(Atomic), MutualExclusion, Holds, "Buhr, Dice and Hesselink 2016"),
    row("Dekker, RW-safe", 2, all(Atomic), DeadlockFreedom, Holds, "Buhr, Dice and Hesselink 2016"),
    row("Hyman", 2, all(Atomic), MutualExclusion, Fails, "Knuth 1966"),
    row("Hyman", 2, all(Atomic), DeadlockFreedom, Holds, ""),
    row("Kessels", 2, all(Atomic), MutualExclusion, Holds, "Kessels 1982"),
    row("Kessels", 2, all(Atomic), DeadlockFreedom, Holds, "Kessels 1982"),

    row("Dijkstra", 2, all(Atomic), MutualExclusion, Holds, "Dijkstra 1965, CACM"),
    row("Dijkstra", 2, all(Atomic), DeadlockFreedom, Holds, "Dijkstra 1965, CACM"),
    row("Dijkstra", 3, all(Atomic), MutualExclusion, Holds, "Dijkstra 1965, CACM"),
    row("Dijkstra", 3, all(Atomic), DeadlockFreedom, Holds, "Dijkstra 1965, CACM"),
    row("Dijkstra", 4, all(Atomic), MutualExclusion, Holds, "Dijkstra 1965, CACM"),
    row("Dijkstra", 4, all(Atomic), DeadlockFreedom, Holds, "Dijkstra 1965, CACM"),
    row("Knuth", 2, all(Atomic), MutualExclusion, Holds, "Knuth 1966"),
    row("Knuth", 2, all(Atomic), DeadlockFreedom, Holds, "Knuth 1966"),
    row("Knuth", 3, all(Atomic), MutualExclusion, Holds, "Knuth 1966"),
    row("Knuth", 3, all(Atomic), DeadlockFreedom, Holds, "Knuth 1966"),
    row("Knuth", 4, all(Atomic), MutualExclusion, Holds, "Knuth 1966"),
    row("Knuth", 4, all(Atomic), DeadlockFreedom, Holds, "Knuth 1966"),
    row("Lamport, one bit", 2, all(Atomic), MutualExclusion, Holds, "Lamport 1986"),
    row("Lamport, one bit", 2, all(Atomic), DeadlockFreedom, Holds, "Lamport 1986"),
    row("Lamport, one bit", 3, all(Atomic), MutualExclusion, Holds, "Lamport 1986"),
    row("Lamport, one bit", 3, all(Atomic), DeadlockFreedom, Holds, "Lamport 1986"),
    row("Lamport, one bit", 4, all(Atomic), MutualExclusion, Holds, "Lamport 1986"),
    row("Lamport, one bit", 4, all(Atomic), DeadlockFreedom, Holds, "Lamport 1986"),
    row("Lamport, three bits", 2, all(Atomic), MutualExclusion, Holds, "Lamport 1986"),
    row("Lamport, three bits", 2, all(Atomic), DeadlockFreedom, Holds, "Lamport 1986"),
    row("Lamport, three bits", 3, all(Atomic), MutualExclusion, Holds, "Lamport 1986"),
    row("Lamport, three bits", 3, all(Atomic), DeadlockFreedom, Holds, "Lamport 1986"),
    row("Burns-Lynch", 2, all(Atomic), MutualExclusion, Holds, "Burns and Lynch 1993"),
    row("Burns-Lynch", 2, all(Atomic), DeadlockFreedom, Holds, "Burns and Lynch 1993"),
    row("Burns-Lynch", 3, all(Atomic), MutualExclusion, Holds, "Burns and Lynch 1993"),
    row("Burns-Lynch", 3, all(Atomic), DeadlockFreedom, Holds, "Burns and Lynch 1993"),
    row("Burns-Lynch", 4, all(Atomic), MutualExclusion, Holds, "Burns and Lynch 1993"),
    row("Burns-Lynch", 4, all(Atomic), DeadlockFreedom, Holds, "Burns and Lynch 1993"),

    row("Szymanski, flag", 2, all(Atomic), MutualExclusion, Holds, "Szymanski 1988"),
    row("Szymanski, flag", 2, all(Atomic), DeadlockFreedom, Holds, "Szymanski 1988"),
    row("Szymanski, flag", 3, all(Atomic), MutualExclusion, Holds, "Szymanski 1988"),
    row("Szymanski, flag", 3, all(Atomic), DeadlockFreedom, Holds, "Szymanski 1988"),
    row("Szymanski, flag", 4, all(Atomic), MutualExclusion, Holds, "Szymanski 1988"),
    row("Szymanski, flag", 4, all(Atomic), DeadlockFreedom, Holds, "Szymanski 1988"),
    // The Readme says that it excludes, with three processes and atomic registers, if no process
    // reads during the exit.
    row("Szymanski, flag of bits", 2, all(Atomic), MutualExclusion, Holds, ""),
    row("Szymanski, flag of bits", 2, all(Atomic), DeadlockFreedom, Holds, ""),
    row("Szymanski, flag of bits", 3, all(Atomic), MutualExclusion, Fails, ""),
    row("Szymanski, flag of bits", 3, all(Atomic), DeadlockFreedom, Fails, ""),
    row("Szymanski, flag of bits, door out first", 2, all(Atomic), MutualExclusion, Holds, ""),
    row("Szymanski, flag of bits, door out first", 2, all(Atomic), DeadlockFreedom, Holds, ""),
    row("Szymanski, flag of bits, door out first", 3, all(Atomic), MutualExclusion, Holds, ""),
    row("Szymanski, flag of bits, door out first", 3, all(Atomic), DeadlockFreedom, Holds, ""),
    row("Szymanski, flag of bits, door out first", 4, all(Atomic), MutualExclusion, Holds, ""),
    row("Szymanski, flag of bits, door out first", 4, all(Atomic), DeadlockFreedom, Holds, ""),
    row("Szymanski, three bits", 2, all(Atomic), MutualExclusion, Holds, ""),
    row("Szymanski, three bits", 2, all(Atomic), DeadlockFreedom, Holds, ""),
    row("Szymanski, three bits", 3, all(Atomic), MutualExclusion, Fails, MCRL2),
    row("Szymanski, three bits", 3, all(Atomic), DeadlockFreedom, Holds, ""),
    row("Szymanski, three bits, s first", 2, all(Atomic), MutualExclusion, Holds, ""),
    row("Szymanski, three bits, s first", 2, all(Atomic), DeadlockFreedom, Holds, ""),
    row("Szymanski, three bits, s first", 3, all(Atomic), MutualExclusion, Fails, ""),
    row("Szymanski, three bits, s first", 3, all(Atomic), DeadlockFreedom, Holds, ""),

    row("Peterson", 2, all(Atomic), StarvationFreedom, Holds, "Peterson 1981"),
    row("Dekker", 2, all(Atomic), StarvationFreedom, Holds, "folklore"),
    row("Dekker, RW-safe", 2, all(Safe), MutualExclusion, Holds, "Buhr, Dice and Hesselink 2016"),
    row("Dekker, RW-safe", 2, all(Safe), DeadlockFreedom, Holds, "Buhr, Dice and Hesselink 2016"),
    row("Kessels", 2, all(Atomic), StarvationFreedom, Holds, "Kessels 1982"),
    row("Dijkstra", 3, all(Atomic), StarvationFreedom, Fails, "Knuth 1966"),
    row("Knuth", 3, all(Atomic), StarvationFreedom, Holds, "Knuth 1966"),
    row("Lamport, one bit", 3, all(Atomic), StarvationFreedom, Fails, "Lamport 1986"),
    row("Lamport, one bit", 3, all(Safe), MutualExclusion, Holds, "Lamport 1986"),
    row("Lamport, one bit", 3, all(Safe), DeadlockFreedom, Holds, "Lamport 1986"),
    row("Lamport, one bit", 3, all(Safe), StarvationFreedom, Fails, "Lamport 1986"),
    row("Lamport, three bits", 3, all(Atomic), StarvationFreedom, Holds, "Lamport 1986"),
    row("Lamport, three bits", 3, all(Safe), MutualExclusion, Holds, "Lamport 1986"),
    row("Lamport, three bits", 3, all(Safe), DeadlockFreedom, Holds, "Lamport 1986"),
    row("Lamport, three bits", 3, all(Safe), StarvationFreedom, Holds, "Lamport 1986"),
    row("Burns-Lynch", 3, all(Atomic), StarvationFreedom, Fails, "Burns and Lynch 1993"),
    row("Szymanski, flag", 2, all(Atomic), StarvationFreedom, Holds, "Szymanski 1988"),
    row("Szymanski, flag", 3, all(Atomic), StarvationFreedom, Holds, "Szymanski 1988"),
    row("Peterson", 2, all(Regular), MutualExclusion, Fails, RECOMPUTED), // `turn` has two writers
    row("Peterson", 2, all(Safe), MutualExclusion, Fails, RECOMPUTED), // `turn` has two writers
    row("Peterson", 2, Registers { one_writer: Regular, many_writers: Atomic }, MutualExclusion, Holds, RECOMPUTED),
    row("Peterson", 2, Registers { one_writer: Regular, many_writers: Atomic }, StarvationFreedom, Holds, RECOMPUTED),
    row("Peterson", 2, Registers { one_writer: Safe, many_writers: Atomic }, MutualExclusion, Holds, RECOMPUTED),
    row("Peterson", 2, Registers { one_writer: Safe, many_writers: Atomic }, StarvationFreedom, Holds, RECOMPUTED),
    row("Dekker", 2, all(Regular), MutualExclusion, Holds, RECOMPUTED),
    row("Dekker", 2, all(Regular), DeadlockFreedom, Fails, RECOMPUTED),
    row("Dekker", 2, all(Regular), StarvationFreedom, Fails, RECOMPUTED),
    row("Dekker", 2, all(Safe), MutualExclusion, Holds, RECOMPUTED),
    row("Dekker", 2, all(Safe), DeadlockFreedom, Fails, RECOMPUTED),
    row("Dekker", 2, all(Safe), StarvationFreedom, Fails, RECOMPUTED),
    row("Dekker, RW-safe", 2, all(Atomic), StarvationFreedom, Holds, RECOMPUTED),
    row("Dekker, RW-safe", 2, all(Regular), MutualExclusion, Holds, RECOMPUTED),
    row("Dekker, RW-safe", 2, all(Regular), DeadlockFreedom, Holds, RECOMPUTED),
    row("Dekker, RW-safe", 2, all(Regular), StarvationFreedom, Holds, RECOMPUTED),
    row("Dekker, RW-safe", 2, all(Safe), StarvationFreedom, Holds, RECOMPUTED),
    row("Kessels", 2, all(Regular), MutualExclusion, Fails, RECOMPUTED),
    row("Kessels", 2, all(Safe), MutualExclusion, Fails, RECOMPUTED),
    row("Dijkstra", 3, all(Regular), MutualExclusion, Holds, RECOMPUTED),
    row("Dijkstra", 3, all(Regular), DeadlockFreedom, Holds, RECOMPUTED),
    row("Dijkstra", 3, all(Regular), StarvationFreedom, Fails, RECOMPUTED),
    row("Dijkstra", 3, all(Safe), MutualExclusion, Holds, RECOMPUTED),
    row("Dijkstra", 3, all(Safe), NeverStuck, Holds, RECOMPUTED),
    row("Dijkstra", 3, all(Safe), DeadlockFreedom, Fails, ""),
    row("Dijkstra", 3, all(Safe), StarvationFreedom, Fails, RECOMPUTED),
    row("Knuth", 3, all(Regular), MutualExclusion, Holds, RECOMPUTED),
    row("Knuth", 3, all(Regular), DeadlockFreedom, Holds, RECOMPUTED),
    row("Knuth", 3, all(Regular), StarvationFreedom, Holds, RECOMPUTED),
    row("Knuth", 3, all(Safe), MutualExclusion, Holds, RECOMPUTED),
    row("Knuth", 3, all(Safe), NeverStuck, Holds, RECOMPUTED),
    row("Knuth", 3, all(Safe), DeadlockFreedom, Fails, ""),
    row("Knuth", 3, all(Safe), StarvationFreedom, Fails, RECOMPUTED),
    row("Lamport, one bit", 3, all(Regular), MutualExclusion, Holds, RECOMPUTED),
    row("Lamport, one bit", 3, all(Regular), DeadlockFreedom, Holds, RECOMPUTED),
    row("Lamport, one bit", 3, all(Regular), StarvationFreedom, Fails, RECOMPUTED),
    row("Lamport, three bits", 3, all(Regular), MutualExclusion, Holds, RECOMPUTED),
    row("Lamport, three bits", 3, all(Regular), DeadlockFreedom, Holds, RECOMPUTED),
    row("Lamport, three bits", 3, all(Regular), StarvationFreedom, Holds, RECOMPUTED),
    row("Burns-Lynch", 3, all(Regular), MutualExclusion, Holds, RECOMPUTED),
    row("Burns-Lynch", 3, all(Regular), DeadlockFreedom, Holds, RECOMPUTED),
    row("Burns-Lynch", 3, all(Regular), StarvationFreedom, Fails, RECOMPUTED),
    row("Burns-Lynch", 3, all(Safe), MutualExclusion, Holds, RECOMPUTED),
    row("Burns-Lynch", 3, all(Safe), DeadlockFreedom, Holds, RECOMPUTED),
    row("Burns-Lynch", 3, all(Safe), StarvationFreedom, Fails, RECOMPUTED),
    row("Szymanski, flag", 2, all(Regular), MutualExclusion, Fails, RECOMPUTED),
    row("Szymanski, flag", 2, all(Safe), MutualExclusion, Fails, RECOMPUTED),
    row("Szymanski, flag", 3, all(Regular), MutualExclusion, Fails, RECOMPUTED),
    row("Szymanski, flag", 3, all(Safe), MutualExclusion, Fails, RECOMPUTED),
    row("Szymanski, flag of bits, door out first", 3, all(Atomic), StarvationFreedom, Holds, RECOMPUTED),
    row("Szymanski, flag of bits, door out first", 3, all(Regular), MutualExclusion, Fails, RECOMPUTED),
    row("Szymanski, flag of bits, door out first", 3, all(Safe), MutualExclusion, Fails, RECOMPUTED),
    row("Szymanski, three bits", 2, all(Atomic), StarvationFreedom, Holds, RECOMPUTED),
    row("Szymanski, three bits", 2, all(Regular), MutualExclusion, Fails, RECOMPUTED),
    row("Szymanski, three bits", 2, all(Safe), MutualExclusion, Fails, RECOMPUTED),
    row("Szymanski, three bits, s first", 2, all(Atomic), StarvationFreedom, Holds, RECOMPUTED),
    row("Szymanski, three bits, s first", 2, all(Regular), MutualExclusion, Holds, RECOMPUTED),
    row("Szymanski, three bits, s first", 2, all(Regular), DeadlockFreedom, Holds, RECOMPUTED),
    row("Szymanski, three bits, s first", 2, all(Regular), StarvationFreedom, Holds, RECOMPUTED),
    row("Szymanski, three bits, s first", 2, all(Safe), MutualExclusion, Holds, RECOMPUTED),
    row("Szymanski, three bits, s first", 2, all(Safe), DeadlockFreedom, Holds, RECOMPUTED),
    row("Szymanski, three bits, s first", 2, all(Safe), StarvationFreedom, Holds, RECOMPUTED),
    row("Szymanski, three bits, s first", 3, all(Regular), MutualExclusion, Fails, RECOMPUTED),
    row("Szymanski, three bits, s first", 3, all(Safe), MutualExclusion, Fails, RECOMPUTED),
    row("Peterson, filter", 3, all(Atomic), MutualExclusion, Holds, "Peterson 1981"),
    row("Peterson, filter", 3, all(Atomic), StarvationFreedom, Holds, "Peterson 1981"),
    row("Peterson, filter", 3, all(Regular), MutualExclusion, Fails, SPIN),
    row("Peterson, filter", 3, all(Regular), StarvationFreedom, Holds, SPIN), // `last` has three writers
];

type Run = fn(Explorer<'_>, usize, Registers) -> Result<Report, TextError>;

#[rustfmt::skip]
const ALGORITHMS: &[(&str, Run)] = &[
    ("Peterson", |search, _, r| search.run(|site| Peterson::new(site, r))),
    ("Peterson, turn first", |search, _, r| search.run(|site| Peterson::with_turn_first(site, r))),
    ("Dekker", |search, _, r| search.run(|site| Dekker::new(site, r))),
    ("Dekker, RW-safe", |search, _, r| search.run(|site| Dekker::made_rw_safe(site, r))),
    ("Hyman", |search, _, r| search.run(|site| Hyman::new(site, r))),
    ("Kessels", |search, _, r| search.run(|site| Kessels::new(site, r))),
    ("Dijkstra", |search, n, r| search.run(|site| Dijkstra::new(site, n, r))),
    ("Peterson, filter", |search, n, r| search.run(|site| Filter::new(site, n, r))),
    ("Knuth", |search, n, r| search.run(|site| Knuth::new(site, n, r))),
    ("Lamport, one bit", |search, n, r| search.run(|site| OneBit::new(site, n, r))),
    ("Lamport, three bits", |search, n, r| search.run(|site| ThreeBit::new(site, n, r))),
    ("Burns-Lynch", |search, n, r| search.run(|site| BurnsLynch::new(site, n, r))),
    ("Szymanski, flag", |search, n, r| search.run(|site| Flag::new(site, n, r))),
    ("Szymanski, flag of bits", |search, n, r| search.run(|site| FlagOfBits::new(site, n, r, Exit::IntentFirst))),
    ("Szymanski, flag of bits, door out first", |search, n, r| search.run(|site| FlagOfBits::new(site, n, r, Exit::DoorOutFirst))),
    ("Szymanski, three bits", |search, n, r| search.run(|site| ThreeBitLinearWait::new(site, n, r, Reads::WaitFirst))),
    ("Szymanski, three bits, s first", |search, n, r| search.run(|site| ThreeBitLinearWait::new(site, n, r, Reads::ShutFirst))),
];

fn run(algorithm: &str, n: usize, registers: Registers, search: Explorer<'_>) -> Report {
    let (_, run) = ALGORITHMS.iter().find(|(name, _)| *name == algorithm).unwrap_or_else(|| panic!("no {algorithm}"));
    run(search, n, registers).unwrap_or_else(|e| panic!("{algorithm}, n={n}: {e}"))
}

fn atomic(algorithm: &str, n: usize, search: Explorer<'_>) -> Report {
    run(algorithm, n, all(Atomic), search)
}

#[test]
fn every_verdict_is_the_expected_one() {
    let mut surprises = String::new();
    for case in CASES {
        let search = Explorer::new(case.n).registers(Safe).property(case.asks.property());
        let report = run(case.algorithm, case.n, case.registers, search);
        let verdict = report.verdict("asked");
        let found = match verdict.holds {
            Some(true) => "holds",
            Some(false) => "fails",
            None => "is not decided",
        };
        let question = format!("{}, n={}, {} registers: {:?}", case.algorithm, case.n, case.registers, case.asks);
        println!("{question} {found} ({} states) {}", report.states, case.source);
        if verdict.holds != Some(case.expected == Holds) {
            let trace = verdict.trace.as_ref().map_or(String::new(), ToString::to_string);
            let _ = writeln!(surprises, "{question} {found} {}\n{trace}", case.source);
        }
    }
    assert!(surprises.is_empty(), "not as expected:\n{surprises}");
}

/// A lock that lets no process in excludes all of them.
#[test]
fn every_process_gets_in_sometimes() {
    for (algorithm, _) in ALGORITHMS {
        let search = (0..2).fold(Explorer::new(2), |search, p| {
            let inside = move |v: &View<'_>| v.phase(p) == Phase::Inside;
            search.property(Property::sometimes(format!("p{p} inside"), inside))
        });
        atomic(algorithm, 2, search).assert_holds();
    }
}

/// Without `keep`, the loops in which texts start again have no end. A search with a limit finds
/// the same failures, after as many steps.
#[test]
fn what_the_texts_keep_hides_nothing_nearby() {
    let small = |case: &&Case| case.asks == MutualExclusion && case.registers == all(Atomic) && case.n < 4;
    for case in CASES.iter().filter(small) {
        let search = || Explorer::new(case.n).registers(Safe).property(case.asks.property());
        let trusted = run(case.algorithm, case.n, case.registers, search());
        let limit = if case.expected == Fails { 2_000_000 } else { (10 * trusted.states).min(200_000) };
        let ignored = run(case.algorithm, case.n, case.registers, search().keep(Keep::Ignored).max_states(limit));
        let shortest = |report: &Report| report.verdict("asked").trace.as_ref().map(Trace::len);
        assert_eq!(shortest(&trusted), shortest(&ignored), "{}, n={}", case.algorithm, case.n);
    }
}

/// Published as broken with three processes. The third is needed: it arrives while the door is
/// being shut, and makes the first open it again when the second has already gone through.
#[test]
fn szymanskis_three_bits_let_two_of_three_in() {
    let report = atomic("Szymanski, three bits", 3, Explorer::new(3).property(MutualExclusion.property()));
    let trace = report.verdict("asked").trace.as_ref().expect("it fails");
    println!("{trace}");
    assert_eq!(trace.len(), 27, "{trace}");
    let inside = trace.end.iter().filter(|whereabouts| whereabouts.section == "inside").count();
    let acted = (0..3).filter(|&p| trace.steps.iter().any(|step| step.process == p)).count();
    assert_eq!((inside, acted), (2, 3), "{trace}");
}
