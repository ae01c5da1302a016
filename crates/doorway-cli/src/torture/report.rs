//! The results of the trials.

use super::board::{Board, Count};
use super::{Mode, Trial};
use crate::output::{print, print_json, thousands};
use doorway::shared::torture::{STATEMENTS, STATEMENTS_OF_BYPASS};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::time::Duration;

/// With this many kills at statements every statement is hit, barring bad luck.
const ENOUGH: u64 = 20_000;

struct Row {
    mode: Mode,
    slots: usize,
    processes: usize,
    section: u64,
    seed: u64,
    counts: Vec<u64>,
    gap: Duration,
    took: Duration,
}

impl Row {
    fn get(&self, count: Count) -> u64 {
        self.counts[count as usize]
    }
}

#[derive(Default)]
pub(super) struct Report {
    rows: Vec<Row>,
    /// How often processes killed themselves after each statement.
    killed: [u64; STATEMENTS.len()],
}

impl Report {
    pub(super) fn add(&mut self, trial: &Trial, board: &Board, took: Duration) {
        for (at, label) in STATEMENTS.iter().enumerate() {
            self.killed[at] += board.killed_at(*label);
        }
        self.rows.push(Row {
            mode: trial.mode,
            slots: trial.slots,
            processes: trial.processes,
            section: trial.section,
            seed: trial.seed,
            counts: Count::ALL.iter().map(|(count, _)| board.get(*count)).collect(),
            gap: Duration::from_nanos(board.longest_gap()),
            took,
        });
    }

    fn sum(&self, count: Count) -> u64 {
        self.rows.iter().map(|row| row.get(count)).sum()
    }

    fn not_hit(&self) -> Vec<u16> {
        let passes = self.rows.iter().any(|row| row.mode == Mode::Bypass);
        let is_run = |label: u16| passes || !STATEMENTS_OF_BYPASS.contains(&label);
        let never = STATEMENTS.into_iter().zip(self.killed).filter(|(_, killed)| *killed == 0);
        never.map(|(label, _)| label).filter(|label| is_run(*label)).collect()
    }

    fn at_statements(&self) -> u64 {
        self.killed.iter().sum()
    }

    /// Whether a statement was never hit although there were enough kills.
    fn is_short_of_statements(&self) -> bool {
        self.at_statements() >= ENOUGH && !self.not_hit().is_empty()
    }

    pub(super) fn is_fine(&self) -> bool {
        Count::WRONG.iter().all(|count| self.sum(*count) == 0)
            && !self.is_short_of_statements()
            && self.sum(Count::Grants) > 0
    }

    pub(super) fn print(&self, as_json: bool) -> Result<(), String> {
        if as_json { print_json(&self.as_json()) } else { print(&self.as_text()) }
    }

    fn as_json(&self) -> Value {
        let counts = |get: &dyn Fn(Count) -> u64| -> Map<String, Value> {
            Count::ALL.iter().map(|(count, key)| ((*key).to_owned(), get(*count).into())).collect()
        };
        let rows: Vec<Value> = self
            .rows
            .iter()
            .map(|row| {
                let mut fields = counts(&|count| row.get(count));
                fields.insert("mode".to_owned(), row.mode.name().into());
                fields.insert("slots".to_owned(), row.slots.into());
                fields.insert("processes".to_owned(), row.processes.into());
                fields.insert("section_us".to_owned(), row.section.into());
                fields.insert("seed".to_owned(), row.seed.into());
                fields.insert("longest_gap_ms".to_owned(), milliseconds(row.gap).into());
                fields.insert("seconds".to_owned(), row.took.as_secs_f64().into());
                Value::Object(fields)
            })
            .collect();
        let killed: Map<String, Value> =
            STATEMENTS.iter().zip(self.killed).map(|(label, killed)| (label.to_string(), killed.into())).collect();
        json!({
            "fine": self.is_fine(),
            "trials": rows,
            "together": counts(&|count| self.sum(count)),
            "killed_at_statements": killed,
            "statements_not_hit": self.not_hit(),
        })
    }

    fn as_text(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(
            out,
            "{:<11}{:>3}{:>4}{:>9}{:>8}{:>13}{:>9}{:>9}{:>6}{:>8}{:>8}{:>7}{:>8}{:>7}{:>7}{:>11}",
            "mode",
            "k",
            "n",
            "kills",
            "stops",
            "grants",
            "deleted",
            "over-adm",
            "lost",
            "told",
            "untold",
            "false",
            "fences",
            "stuck",
            "errors",
            "gap"
        );
        let mut line = |name: &str, k: &str, n: &str, get: &dyn Fn(Count) -> u64, gap: Duration| {
            let number = |count| thousands(get(count));
            let _ = writeln!(
                out,
                "{name:<11}{k:>3}{n:>4}{:>9}{:>8}{:>13}{:>9}{:>9}{:>6}{:>8}{:>8}{:>7}{:>8}{:>7}{:>7}{:>8.1} ms",
                number(Count::Kills),
                number(Count::Stops),
                number(Count::Grants),
                number(Count::Deletions),
                number(Count::OverAdmitted),
                number(Count::Lost),
                number(Count::Told),
                number(Count::Untold),
                number(Count::FalseDeaths),
                number(Count::Fences),
                number(Count::Stuck),
                number(Count::Errors),
                milliseconds(gap),
            );
        };
        for row in &self.rows {
            let (k, n) = (row.slots.to_string(), row.processes.to_string());
            line(&row.mode.name(), &k, &n, &|count| row.get(count), row.gap);
        }
        let gap = self.rows.iter().map(|row| row.gap).max().unwrap_or_default();
        line("together", "", "", &|count| self.sum(count), gap);
        let took: Duration = self.rows.iter().map(|row| row.took).sum();
        let _ = writeln!(
            out,
            "\n{} forks, {} execs, {} opens, {} timeouts, {} slots broken; {:.0} s",
            thousands(self.sum(Count::Forks)),
            thousands(self.sum(Count::Execs)),
            thousands(self.sum(Count::Opens)),
            thousands(self.sum(Count::Timeouts)),
            thousands(self.sum(Count::Breaks)),
            took.as_secs_f64()
        );
        if self.at_statements() > 0 {
            let each: Vec<String> = STATEMENTS
                .iter()
                .zip(self.killed)
                .map(|(label, killed)| format!("{label}: {}", thousands(killed)))
                .collect();
            let _ = writeln!(out, "\nkilled just after statement\n{}", each.join(", "));
            let not_hit: Vec<String> = self.not_hit().iter().map(u16::to_string).collect();
            let not_hit = if not_hit.is_empty() { "none".to_owned() } else { not_hit.join(", ") };
            let _ = writeln!(out, "statements not hit: {not_hit}");
        }
        let wrong: Vec<&str> = Count::ALL
            .iter()
            .filter(|(count, _)| Count::WRONG.contains(count) && self.sum(*count) > 0)
            .map(|(_, key)| *key)
            .collect();
        let verdict = if self.is_fine() {
            "nothing is wrong".to_owned()
        } else if wrong.is_empty() {
            "some statements were never hit, or no process was let in; run it again".to_owned()
        } else {
            format!("WRONG: {}", wrong.join(", "))
        };
        let _ = writeln!(out, "\n{verdict}");
        out
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
