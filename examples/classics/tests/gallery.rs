//! The gallery: verdicts known from the literature, the page, and Spin.

use classics::{ALL, Classic, find, table};
use doorway_check::prelude::*;
use doorway_check::sim::TextError;
use doorway_check::trace::Trace;
use std::fmt::Write as _;

/// Which registers variables are.
#[derive(Clone, Copy, Debug)]
enum Are {
    /// All variables, whatever the text declares.
    All(Register),
    /// This weak, but no weaker than the text declares.
    AsDeclared(Register),
}
use Are::{All, AsDeclared};
use Register::{Atomic, Regular, Safe};

/// A separate search of these texts, with the register definitions of the mCRL2 examples. Where it
/// says that deadlock freedom holds, it has found that no process is ever stuck.
const RECOMPUTED: &str = "recomputed";
/// Spin, of a model in which a write has a beginning and an end: `ci/spin/filter-regular.pml`.
const SPIN: &str = "Spin";
const MCRL2: &str = "mCRL2, examples/academic/non-atomic_registers, Readme";

const LETTERS: [(char, &str); 4] =
    [('M', "mutual-exclusion"), ('N', "never-stuck"), ('D', "deadlock-free"), ('S', "starvation-free")];

/// Algorithm, number of processes, registers, what holds, what fails, and the source: a paper, or
/// one of the above; empty if we know of no source for this size.
type Case = (&'static str, usize, Are, &'static str, &'static str, &'static str);

#[rustfmt::skip]
const CASES: &[Case] = &[
    ("peterson", 2, All(Atomic), "MDS", "", "Peterson 1981"),
    ("peterson", 2, All(Regular), "", "M", RECOMPUTED),
    ("peterson", 2, All(Safe), "", "M", RECOMPUTED),
    ("peterson", 2, AsDeclared(Regular), "MS", "", RECOMPUTED),
    ("peterson", 2, AsDeclared(Safe), "MS", "", RECOMPUTED),
    ("peterson-turn-first", 2, All(Atomic), "", "M", "folklore"),
    ("dekker", 2, All(Atomic), "MDS", "", "Dijkstra 1965, EWD 123; folklore"),
    ("dekker", 2, All(Regular), "M", "DS", RECOMPUTED),
    ("dekker", 2, All(Safe), "M", "DS", RECOMPUTED),
    ("dekker-rw-safe", 2, All(Atomic), "MDS", "", "Buhr, Dice and Hesselink 2016; recomputed"),
    ("dekker-rw-safe", 2, All(Regular), "MDS", "", RECOMPUTED),
    ("dekker-rw-safe", 2, All(Safe), "MDS", "", "Buhr, Dice and Hesselink 2016; recomputed"),
    ("hyman", 2, All(Atomic), "D", "M", "Knuth 1966"),
    ("kessels", 2, All(Atomic), "MDS", "", "Kessels 1982"),
    ("kessels", 2, All(Regular), "", "M", RECOMPUTED),
    ("kessels", 2, All(Safe), "", "M", RECOMPUTED),
    ("dijkstra", 2, All(Atomic), "MD", "", "Dijkstra 1965, CACM"),
    ("dijkstra", 3, All(Atomic), "MD", "S", "Dijkstra 1965, CACM; Knuth 1966"),
    ("dijkstra", 3, All(Regular), "MD", "S", RECOMPUTED),
    ("dijkstra", 3, All(Safe), "MN", "DS", RECOMPUTED),
    ("dijkstra", 4, All(Atomic), "MD", "", "Dijkstra 1965, CACM"),
    ("filter", 3, All(Atomic), "MS", "", "Peterson 1981"),
    ("filter", 3, All(Regular), "S", "M", SPIN),
    ("knuth", 2, All(Atomic), "MD", "", "Knuth 1966"),
    ("knuth", 3, All(Atomic), "MDS", "", "Knuth 1966"),
    ("knuth", 3, All(Regular), "MDS", "", RECOMPUTED),
    ("knuth", 3, All(Safe), "MN", "DS", RECOMPUTED),
    ("knuth", 4, All(Atomic), "MD", "", "Knuth 1966"),
    ("lamport-one-bit", 2, All(Atomic), "MD", "", "Lamport 1986"),
    ("lamport-one-bit", 3, All(Atomic), "MD", "S", "Lamport 1986"),
    ("lamport-one-bit", 3, All(Regular), "MD", "S", RECOMPUTED),
    ("lamport-one-bit", 3, All(Safe), "MD", "S", "Lamport 1986"),
    ("lamport-one-bit", 4, All(Atomic), "MD", "", "Lamport 1986"),
    ("lamport-three-bits", 2, All(Atomic), "MD", "", "Lamport 1986"),
    ("lamport-three-bits", 3, All(Atomic), "MDS", "", "Lamport 1986"),
    ("lamport-three-bits", 3, All(Regular), "MDS", "", RECOMPUTED),
    ("lamport-three-bits", 3, All(Safe), "MDS", "", "Lamport 1986"),
    ("burns-lynch", 2, All(Atomic), "MD", "", "Burns and Lynch 1993"),
    ("burns-lynch", 3, All(Atomic), "MD", "S", "Burns and Lynch 1993"),
    ("burns-lynch", 3, All(Regular), "MD", "S", RECOMPUTED),
    ("burns-lynch", 3, All(Safe), "MD", "S", RECOMPUTED),
    ("burns-lynch", 4, All(Atomic), "MD", "", "Burns and Lynch 1993"),
    ("szymanski-flag", 2, All(Atomic), "MDS", "", "Szymanski 1988"),
    ("szymanski-flag", 2, All(Regular), "", "M", RECOMPUTED),
    ("szymanski-flag", 2, All(Safe), "", "M", RECOMPUTED),
    ("szymanski-flag", 3, All(Atomic), "MDS", "", "Szymanski 1988"),
    ("szymanski-flag", 3, All(Regular), "", "M", RECOMPUTED),
    ("szymanski-flag", 3, All(Safe), "", "M", RECOMPUTED),
    ("szymanski-flag", 4, All(Atomic), "MD", "", "Szymanski 1988"),
    ("szymanski-flag-bits", 2, All(Atomic), "MD", "", ""),
    ("szymanski-flag-bits", 3, All(Atomic), "", "MD", ""),
    ("szymanski-flag-bits-door", 2, All(Atomic), "MD", "", ""),
    ("szymanski-flag-bits-door", 3, All(Atomic), "MDS", "", RECOMPUTED),
    ("szymanski-flag-bits-door", 3, All(Regular), "", "M", RECOMPUTED),
    ("szymanski-flag-bits-door", 3, All(Safe), "", "M", RECOMPUTED),
    ("szymanski-flag-bits-door", 4, All(Atomic), "MD", "", ""),
    ("szymanski-three-bits", 2, All(Atomic), "MDS", "", RECOMPUTED),
    ("szymanski-three-bits", 2, All(Regular), "", "M", RECOMPUTED),
    ("szymanski-three-bits", 2, All(Safe), "", "M", RECOMPUTED),
    ("szymanski-three-bits", 3, All(Atomic), "D", "M", MCRL2),
    ("szymanski-three-bits-shut", 2, All(Atomic), "MDS", "", RECOMPUTED),
    ("szymanski-three-bits-shut", 2, All(Regular), "MDS", "", RECOMPUTED),
    ("szymanski-three-bits-shut", 2, All(Safe), "MDS", "", RECOMPUTED),
    ("szymanski-three-bits-shut", 3, All(Atomic), "D", "M", ""),
    ("szymanski-three-bits-shut", 3, All(Regular), "", "M", RECOMPUTED),
    ("szymanski-three-bits-shut", 3, All(Safe), "", "M", RECOMPUTED),
];

fn check(classic: &'static Classic, n: usize, are: Are) -> Check {
    match are {
        All(registers) => classic.check(n, registers),
        AsDeclared(registers) => classic.check(n, registers).with(|search| search.force_registers(false)),
    }
}

#[test]
fn every_verdict_is_the_expected_one() {
    let mut surprises = String::new();
    for &(id, n, are, holds, fails, source) in CASES {
        let report = check(find(id).unwrap(), n, are).property(Property::never_stuck("never-stuck")).run().unwrap();
        println!("{id}, n={n}, {are:?}: {} ({} states) {source}", table::cell(&report), report.states);
        for (letter, property) in LETTERS {
            let expected = [(holds, true), (fails, false)].into_iter().find(|(letters, _)| letters.contains(letter));
            let Some((_, expected)) = expected else { continue };
            let verdict = report.verdict(property);
            if verdict.holds != Some(expected) {
                let trace = verdict.trace.as_ref().map_or(String::new(), ToString::to_string);
                let _ = writeln!(surprises, "{id}, n={n}, {are:?}: {property} {:?}, {source}\n{trace}", verdict.holds);
            }
        }
    }
    assert!(surprises.is_empty(), "not as expected:\n{surprises}");
}

/// A lock that lets no process in excludes all of them.
#[test]
fn every_process_gets_in_sometimes() {
    for classic in ALL {
        let enters = |p| Property::sometimes(format!("p{p} inside"), move |v| v.phase(p) == Phase::Inside);
        let report = classic.check(2, Atomic).properties((0..2).map(enters)).run().unwrap();
        for p in 0..2 {
            assert_eq!(report.verdict(&format!("p{p} inside")).holds, Some(true), "{}", classic.id);
        }
    }
}

/// The rows of small instances are computed again. Those of large ones must be there, and `cargo
/// run --release -p classics -- write` computes them.
#[test]
fn the_page_says_what_is_found() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/classics.md")).unwrap();
    let mut rows = table::rows(&page).unwrap();
    for classic in ALL {
        for &n in classic.small {
            assert_eq!(rows.next().map(|row| format!("{row}\n")), Some(table::row(classic, n, 1).unwrap()));
        }
        for &n in classic.large {
            let row = rows.next().unwrap_or_default();
            assert!(row.starts_with(&table::start(classic, n)), "{}, n={n}: {row}", classic.id);
        }
    }
    assert_eq!(rows.next(), None);
}

#[test]
fn every_text_has_an_id_of_its_own_and_is_where_the_page_says() {
    for (at, classic) in ALL.iter().enumerate() {
        assert!(ALL[..at].iter().all(|other| other.id != classic.id), "{} is there twice", classic.id);
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(classic.file);
        assert!(file.is_file(), "{}", classic.file);
    }
    assert!(ALL.iter().filter(|classic| classic.reads_and_writes).count() >= 25);
}

/// `ci/spin.sh` compares Spin with the same file.
#[test]
fn verdicts_equal_spins() {
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../ci/spin/expected.txt");
    let (mut compared, mut last) = (0, None);
    for line in std::fs::read_to_string(table).unwrap().lines() {
        let [id, n, _, property, verdict] = line.split_whitespace().collect::<Vec<_>>()[..] else { continue };
        let (Some(classic), Ok(n)) = (find(id), n.parse()) else { continue };
        if last.as_ref().is_none_or(|(of, _)| *of != (id.to_owned(), n)) {
            let check = classic.check(n, Atomic).property(Property::never_stuck("never-stuck"));
            last = Some(((id.to_owned(), n), check.run().unwrap()));
        }
        let (_, report) = last.as_ref().unwrap();
        assert_eq!(report.verdict(property).holds, Some(verdict == "holds"), "{line}");
        compared += 1;
    }
    assert!(compared >= 100, "{compared} rows were compared");
}

/// Published as broken with three processes. The third is needed: it arrives while the door is
/// being shut, and makes the first open it again when the second has already gone through.
#[test]
fn szymanskis_three_bits_let_two_of_three_in() {
    let report = find("szymanski-three-bits").unwrap().check(3, Atomic).run().unwrap();
    let trace: &Trace = report.verdict("mutual-exclusion").trace.as_ref().expect("it fails");
    println!("{trace}");
    assert_eq!(trace.len(), 27, "{trace}");
    let inside = trace.end.iter().filter(|whereabouts| whereabouts.section == "inside").count();
    let acted = (0..3).filter(|&p| trace.steps.iter().any(|step| step.process == p)).count();
    assert_eq!((inside, acted), (2, 3), "{trace}");
}

/// Where processes are alike, states that differ only in their names are one: with the same
/// verdicts, after the same number of steps. Where they are not, the check is refused.
#[test]
fn texts_whose_processes_are_alike_say_the_same_with_other_names() {
    let mut alike = Vec::new();
    for classic in ALL {
        for &n in classic.small {
            let check = classic.check(n, Atomic).with(|search| search.keep_going(true));
            let few = match check.clone().symmetric().run() {
                Ok(few) => few,
                Err(TextError::NotSymmetric(_)) => continue,
                Err(error) => panic!("{}: {error}", classic.id),
            };
            let all = check.run().unwrap();
            let both = (few.states, few.with_all_names.unwrap() as usize, all.states);
            assert!(both.0 <= both.2 && both.1 >= both.2, "{} {n}: {both:?}", classic.id);
            for (v, w) in few.verdicts.iter().zip(&all.verdicts).filter(|(v, _)| v.holds.is_some()) {
                let steps = |trace: &Option<Trace>| trace.as_ref().map(Trace::len);
                assert_eq!((v.holds, steps(&v.trace)), (w.holds, steps(&w.trace)), "{}: {}", classic.id, v.name);
            }
            alike.push((classic.id, n));
        }
    }
    // `turn` names a process at first, and that does not matter.
    for id in [("peterson", 2), ("dekker", 2), ("hyman", 2)] {
        assert!(alike.contains(&id), "{id:?} is not among {alike:?}");
    }
    // These look at each other in the order of their names.
    for id in [("burns-lynch", 3), ("lamport-one-bit", 3), ("bakery", 2)] {
        assert!(!alike.contains(&id), "{id:?} is among {alike:?}");
    }
}
