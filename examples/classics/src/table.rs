//! The table of `docs/classics.md`: the same questions of all algorithms.

use crate::{ALL, Classic};
use doorway_check::Report;
use doorway_check::explore::thousands;
use doorway_check::prelude::*;
use doorway_check::sim::TextError;
use std::fmt::Write as _;
use std::ops::Range;

/// The kinds of registers, the strongest first.
pub static KINDS: [Register; 3] = [Register::Atomic, Register::Regular, Register::Safe];

/// A search ends after this many states, and then decides less.
pub const STATES: usize = 2_000_000;

/// What stands around the table in the page.
const BEGIN: &str = "<!-- table: begin -->\n";
const END: &str = "<!-- table: end -->";

/// The letters for what holds.
const LETTERS: [(&str, &str); 4] =
    [("mutual-exclusion", "M"), ("deadlock-free", "D"), ("starvation-free", "S"), ("first-come-first-served", "F")];

const HEAD: &str = "\
| algorithm | published | n | atomic | overtaken | regular | safe | Spin |
| --- | --- | --- | --- | --- | --- | --- | --- |
";

/// What Spin was asked, by `ci/spin.sh`.
const SPIN: &str = include_str!("../../../ci/spin/expected.txt");

/// Whether a model of this algorithm, with this many processes, is among those that Spin confirms.
#[must_use]
pub fn is_confirmed(id: &str, n: usize) -> bool {
    let n = n.to_string();
    SPIN.lines().any(|line| {
        let mut words = line.split_whitespace();
        words.next() == Some(id) && words.next() == Some(&n)
    })
}

/// A cell: what holds, what fails, what was not decided, and the number of states.
///
/// ```
/// use classics::{find, table::cell};
/// use doorway_check::prelude::Register;
///
/// let dekker = find("dekker").unwrap();
/// assert!(cell(&dekker.check(2, Register::Atomic).run()?).starts_with("M D S · "));
/// assert!(cell(&dekker.check(2, Register::Safe).run()?).starts_with("M, **not D S** · "));
/// # Ok::<(), doorway_check::sim::TextError>(())
/// ```
#[must_use]
pub fn cell(report: &Report) -> String {
    let those = |holds: Option<bool>| {
        let named = |name: &str| report.verdicts.iter().find(|v| v.name == name);
        let letters: Vec<_> =
            LETTERS.iter().filter(|(name, _)| named(name).is_some_and(|v| v.holds == holds)).map(|(_, l)| *l).collect();
        letters.join(" ")
    };
    let parts = [
        those(Some(true)),
        Some(those(Some(false))).filter(|l| !l.is_empty()).map_or(String::new(), |l| format!("**not {l}**")),
        Some(those(None)).filter(|l| !l.is_empty()).map_or(String::new(), |l| format!("{l} open")),
    ];
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let stopped = if report.complete { "" } else { ", stopped" };
    format!("{} · {}{stopped}", parts.join(", "), thousands(report.states as u64))
}

/// How often others enter while a process waits, at most; empty if that is not known.
fn overtaken(report: &Report) -> String {
    let most = report.verdicts.iter().find(|v| v.name == crate::OVERTAKEN).and_then(|v| v.most);
    most.map_or(String::new(), |most| match most {
        Worst::Bounded(most) => most.to_string(),
        Worst::Unbounded => "∞".to_owned(),
    })
}

/// The row of an algorithm with this many processes. Searches on this many threads.
///
/// # Errors
/// If its text breaks the rules of replay.
pub fn row(classic: &'static Classic, n: usize, threads: usize) -> Result<String, TextError> {
    let mut row = start(classic, n);
    for kind in KINDS {
        if classic.registers().contains(&kind) {
            let check = classic.check(n, kind).with(move |search| search.max_states(STATES).threads(threads));
            let report = check.run()?;
            let _ = write!(row, " {} |", cell(&report));
            if kind == Register::Atomic {
                let _ = write!(row, " {} |", overtaken(&report));
            }
        } else {
            row += " – |";
        }
    }
    row += if is_confirmed(classic.id, n) { " ✓ |\n" } else { "  |\n" };
    Ok(row)
}

/// How the row of an algorithm with this many processes begins.
#[must_use]
pub fn start(classic: &Classic, n: usize) -> String {
    let Classic { name, file, authors, year, .. } = classic;
    let passages = classic.passages.map_or(String::new(), |passages| format!(", {passages} passages"));
    format!("| [{name}]({file}) | {authors} {year} | {n}{passages} |")
}

/// The whole table. Each row is passed to `done` when it is known.
///
/// # Errors
/// As [`row`].
pub fn table(threads: usize, mut done: impl FnMut(&str)) -> Result<String, TextError> {
    let mut out = HEAD.to_owned();
    for classic in ALL {
        for n in classic.sizes() {
            let row = row(classic, n, threads)?;
            done(&row);
            out += &row;
        }
    }
    Ok(out)
}

/// Where the table is in the page.
///
/// # Errors
/// If the page does not say where its table begins and ends.
pub fn place(page: &str) -> Result<Range<usize>, &'static str> {
    let begin = page.find(BEGIN).map(|at| at + BEGIN.len());
    let range = begin.and_then(|begin| Some(begin..begin + page[begin..].find(END)?));
    range.ok_or("the page does not say where its table begins and ends: write `<!-- table: begin -->` and `end`")
}

/// The rows of the page, without its head.
///
/// # Errors
/// As [`place`].
pub fn rows(page: &str) -> Result<impl Iterator<Item = &str>, &'static str> {
    Ok(page[place(page)?].lines().skip(HEAD.lines().count()))
}
