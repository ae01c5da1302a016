//! The report as tables.

use super::{Report, Search};
use std::fmt;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let load = self.machine.load_before.map_or("unknown".to_owned(), |load| format!("{load:.2}"));
        let others =
            self.machine.used_by_others.map_or("unknown".to_owned(), |share| format!("{:.0} %", 100.0 * share));
        let processors = self.machine.processors;
        writeln!(f, "{processors} processors, load {load} before the run, others used {others} during it")?;
        writeln!(f, "{}", self.versions.join("; "))?;
        if let Some(warning) = &self.machine.warning {
            writeln!(f, "WARNING: {warning}")?;
        }
        searches(f, &self.searches)?;
        standings(f, &self.searches)?;
        hunts(f, &self.hunts)?;
        writeln!(f, "\nLINES OF CODE: NEITHER BLANK NOR ONLY A COMMENT\n")?;
        writeln!(f, "{:<24}{:>9}{:>9}{:>12}{:>15}", "", "doorway", "Promela", "Stateright", "loom, shuttle")?;
        for row in &self.lines {
            let number = |n: Option<usize>| n.map_or("-".to_owned(), |n| n.to_string());
            let (text, promela) = (number(row.doorway), number(row.spin));
            let (stateright, plain) = (number(row.stateright), number(row.plain));
            writeln!(f, "{:<24}{text:>9}{promela:>9}{stateright:>12}{plain:>15}", row.lock)?;
        }
        self.faults.iter().try_for_each(|fault| writeln!(f, "\nFAULT: {fault}"))
    }
}

/// The title of a row; empty if it is that of the row before.
fn title(rows: &[Search], i: usize) -> &str {
    if i > 0 && rows[i - 1].lock == rows[i].lock { "" } else { &rows[i].lock }
}

fn searches(f: &mut fmt::Formatter<'_>, rows: &[Search]) -> fmt::Result {
    writeln!(f, "\nALL STATES: EXCLUSION, AND NO PROCESS IS STUCK\n")?;
    writeln!(
        f,
        "{:<38}{:<26}{:>8}{:>10}{:>9}{:>9}{:>12}{:>13}{:>9}{:>8}{:>8}",
        "", "", "threads", "states", "wall s", "CPU s", "states/s", "by CPU", "peak MB", "bytes", "build s"
    )?;
    for (i, row) in rows.iter().enumerate() {
        let states = row.found.states.unwrap_or(0);
        // With few states, nearly all of the memory is the program's own.
        let bytes = if states < 10_000 { "-".to_owned() } else { format!("{:.0}", row.peak as f64 / states as f64) };
        writeln!(
            f,
            "{:<38}{:<26}{:>8}{states:>10}{:>9.3}{:>9.3}{:>12.0}{:>13.0}{:>9.1}{bytes:>8}{:>8}",
            title(rows, i),
            row.checker,
            row.threads,
            row.wall_s,
            row.cpu_s,
            states as f64 / row.wall_s,
            row.rate().unwrap_or(0.0),
            row.peak as f64 / 1e6,
            row.build_s.map_or(String::new(), |s| format!("{s:.1}")),
        )?;
    }
    Ok(())
}

/// Ours beside the best of the others, with one thread.
fn standings(f: &mut fmt::Formatter<'_>, rows: &[Search]) -> fmt::Result {
    writeln!(f, "\nDOORWAY AGAINST THE BEST OF THE OTHERS, ONE THREAD: MORE THAN 1 IS AHEAD\n")?;
    for ours in rows.iter().filter(|row| row.checker == "doorway" && row.threads == 1) {
        let others =
            || rows.iter().filter(|row| row.lock == ours.lock && row.threads == 1 && row.checker != ours.checker);
        let fastest = others().min_by(|a, b| a.cpu_s.total_cmp(&b.cpu_s));
        let smallest = others().min_by_key(|row| row.peak);
        let (Some(fastest), Some(smallest)) = (fastest, smallest) else { continue };
        writeln!(
            f,
            "{:<38}speed {:>5.2} ({}), memory {:>5.2} ({})",
            ours.lock,
            fastest.cpu_s / ours.cpu_s,
            fastest.checker,
            smallest.peak as f64 / ours.peak as f64,
            smallest.checker
        )?;
    }
    Ok(())
}

fn hunts(f: &mut fmt::Formatter<'_>, rows: &[Search]) -> fmt::Result {
    writeln!(f, "\nTO THE FIRST FAILURE\n")?;
    writeln!(
        f,
        "{:<52}{:<26}{:>7}{:>9}{:>9}{:>10}{:>10}{:>8}{:>8}",
        "", "", "found", "wall s", "CPU s", "states", "tries", "steps", "build s"
    )?;
    for (i, row) in rows.iter().enumerate() {
        let number = |n: Option<usize>| n.map_or("-".to_owned(), |n| n.to_string());
        writeln!(
            f,
            "{:<52}{:<26}{:>7}{:>9.3}{:>9.3}{:>10}{:>10}{:>8}{:>8}",
            title(rows, i),
            row.checker,
            format!("{}/{}", row.successes, row.repetitions),
            row.wall_s,
            row.cpu_s,
            number(row.found.states),
            number(row.found.tries),
            number(row.found.steps),
            row.build_s.map_or(String::new(), |s| format!("{s:.1}")),
        )?;
    }
    Ok(())
}
